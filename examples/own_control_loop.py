"""A heading autopilot for the Otter, written outside of seatrial: a PD law at 10 Hz in waves."""

import math

import seatrial as st
from seatrial.spec.scenario import Participant, Start
from seatrial.spec.waves import Jonswap

TARGET = math.radians(90)
waves = Jonswap(spectrum="jonswap", significant_height=0.3, peak_period=3.0, towards=0.8)
scenario = st.Scenario(
    kind="scenario",
    name="autopilot",
    seed=7,
    duration=60.0,
    world=st.World(kind="world", name="chop", waves=waves),
    vehicles=(
        Participant(name="otter", vehicle=st.load("otter", st.Vehicle), start=Start(speed=1.4)),
    ),
)

boat = st.Simulation(scenario)
state = boat.vehicles["otter"]
while boat.time < scenario.duration:
    error = math.remainder(TARGET - state.euler[2], math.tau)
    steer = max(-250.0, min(250.0, 300.0 * error - 350.0 * state.velocity[5]))
    state = boat.step({"left_rpm": 650 + steer, "right_rpm": 650 - steer})["otter"]
    if round(boat.time, 1) % 10 == 0:
        print(f"{boat.time:4.0f} s  heading {math.degrees(state.euler[2]):6.1f}°")

assert abs(math.remainder(TARGET - state.euler[2], math.tau)) < math.radians(10)

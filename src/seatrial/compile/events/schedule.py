"""How a run cuts its time: a step that divides the periods of sensors and orders."""

import math
from fractions import Fraction

from seatrial.engine.compiled.group import Schedule
from seatrial.spec.scenario import Scenario
from seatrial.spec.sensors.base import SensorSpec

LONGEST_STEP = Fraction(1, 50)
"""Time step of a scenario that names none, unless something is sampled more often, s."""

SHORTEST_STEP = 5e-4
"""Rates that need a shorter common time step than this do not fit together, s."""


def settle_time_step(scenario: Scenario) -> Scenario:
    """The scenario with its time step written out; refuses sensors that fall between steps."""
    sensors = [sensor for p in scenario.vehicles for sensor in p.fitted]
    if scenario.time_step is not None:
        for sensor in sensors:
            _check_period(sensor, scenario.time_step)
        return scenario
    common = Fraction(scenario.control_period).limit_denominator(1_000_000)
    for sensor in sensors:
        common = _divisor(common, _period(sensor))
        if common < SHORTEST_STEP:
            raise sensor.error(
                ("rate",),
                "the rates of the sensors and the control period need a common time step below "
                f"{SHORTEST_STEP:g} s",
                value=sensor.rate,
                expected="rates whose periods are multiples of one time, such as 1, 5, 50, 200 Hz",
                mend="choose a rate that divides the highest one; "
                f"for this one, {float(_near(_period(sensor))):.6g} would do",
            )
    step = common / math.ceil(common / LONGEST_STEP)
    return scenario.model_copy(update={"time_step": float(step)})


def schedule_of(scenario: Scenario) -> Schedule:
    """Time steps per control period, and control periods per frame."""
    assert scenario.time_step is not None  # settled
    return Schedule(
        time_step=scenario.time_step,
        substeps=round(scenario.control_period / scenario.time_step),
        controls=round(scenario.frame_period / scenario.control_period),
    )


def steps_between_samples(sensor: SensorSpec, time_step: float) -> int:
    """Period of a sensor in time steps."""
    return round(1.0 / (sensor.rate * time_step))


def _period(sensor: SensorSpec) -> Fraction:
    return 1 / Fraction(sensor.rate).limit_denominator(10_000)


def _near(period: Fraction) -> Fraction:
    """The rate whose period is the nearest whole number of the longest time steps."""
    return 1 / (max(1, round(period / LONGEST_STEP)) * LONGEST_STEP)


def _divisor(a: Fraction, b: Fraction) -> Fraction:
    """The greatest common divisor of two fractions."""
    return Fraction(
        math.gcd(a.numerator * b.denominator, b.numerator * a.denominator),
        a.denominator * b.denominator,
    )


def _check_period(sensor: SensorSpec, time_step: float) -> None:
    steps = 1.0 / (sensor.rate * time_step)
    if steps < 0.999 or abs(steps - round(steps)) > 1e-6 * steps:
        raise sensor.error(
            ("rate",),
            f"`{sensor.name}` samples every {1.0 / sensor.rate:g} s, which is not a whole number "
            f"of time steps of {time_step:g} s",
            value=sensor.rate,
            expected=f"at most {1.0 / time_step:g} Hz, divided by a whole number",
            mend="leave out the scenario's `time_step`, which then follows the sensors",
        )

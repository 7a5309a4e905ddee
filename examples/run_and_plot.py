"""Run a scenario of the library, look at its figures, and draw it."""

import seatrial as st

run = st.run("otter-turning-circle", seed=1, out="turn.mcap")
otter = run.summary.vehicles["otter"]

print(f"{run.status}: {otter.distance:.0f} m at {run.real_time_factor:.0f} times real time")
for name, value in otter.indices.items():
    print(f"  {name.replace('_', ' ')}: {value:.2f}")

run.plot("turn.png")
assert run.status == "completed"

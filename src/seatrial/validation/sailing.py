"""A voyage kept in memory, for those who look at it afterwards."""

from seatrial.compile.scenario import plan_of
from seatrial.engine.run import run
from seatrial.record.memory import MemoryRecorder
from seatrial.record.reader import Recording
from seatrial.spec.scenario import Scenario


def sail(scenario: Scenario, seed: int | None = None) -> Recording:
    """Run a scenario, with another seed than its own where one is given."""
    memory = MemoryRecorder()
    run(plan_of(scenario, seed, None), [memory])
    return memory.recording()

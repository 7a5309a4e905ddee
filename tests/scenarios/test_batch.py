"""Many seeds as one program: the tracks of single runs, and nothing compiled for a new seed."""

import numpy as np
import pytest

import seatrial as st
from seatrial import programs
from seatrial.errors import SpecError

SEEDS = (3, 1, 4)
DURATION = 4.0


@pytest.fixture(scope="module")
def batch():
    return st.run_batch("otter-turning-circle", SEEDS, duration=DURATION)


def test_every_run_of_a_batch_is_the_run_of_its_seed(batch):
    """Side by side sums round differently: that is below a nanometre, a seed is centimetres."""
    assert batch.statuses == {"completed": 3}
    for seed, summary in zip(SEEDS, batch.summaries, strict=True):
        alone = st.run("otter-turning-circle", seed=seed, duration=DURATION)
        together = batch.dataset.sel(seed=seed)
        np.testing.assert_allclose(together.position, alone.dataset.position, rtol=0, atol=1e-9)
        np.testing.assert_allclose(together.velocity, alone.dataset.velocity, rtol=0, atol=1e-9)
        assert summary.vehicles["otter"].distance == pytest.approx(
            alone.summary.vehicles["otter"].distance, abs=1e-8
        )
    first, second = (batch.dataset.sel(seed=s).position.values for s in SEEDS[:2])
    assert np.abs(first - second).max() > 0.01


def test_another_seed_or_another_sea_compiles_nothing(batch):
    st.run("otter-turning-circle", seed=0, duration=1.0)
    before = programs.counts["compiled"]
    st.run("otter-turning-circle", seed=7, duration=2.0)
    described = st.load("otter-turning-circle")
    higher = described.world.model_copy(
        update={"waves": described.world.waves.model_copy(update={"code": 3})}
    )
    st.run(described.model_copy(update={"world": higher}), duration=1.0)
    st.run_batch("otter-turning-circle", (11, 12, 13), duration=1.0)
    assert programs.counts["compiled"] == before


@pytest.mark.parametrize(
    ("seeds", "words"), [((), "at least one seed"), ((-1,), "seed"), ((1.5,), "seed")]
)
def test_seeds_that_cannot_be_are_refused(seeds, words):
    with pytest.raises(SpecError, match=words):
        st.run_batch("otter-turning-circle", seeds, duration=DURATION)


def test_a_controller_that_is_asked_from_python_is_not_for_a_batch():
    class Asked:
        def start(self, vehicle):
            pass

        def control(self, time, measurements):
            return {}

    with pytest.raises(SpecError, match="cannot ask the controller of `otter`"):
        st.run_batch("otter-turning-circle", (1, 2), controllers={"otter": Asked()})


def test_seeds_may_be_numbers_of_numpy_and_nothing_else():
    assert st.run_batch("smarty-drift", np.arange(2), duration=0.2).seeds == (0, 1)
    with pytest.raises(st.SpecError, match="these are no seeds"):
        st.run_batch("smarty-drift", [None])
    with pytest.raises(st.SpecError, match="these are no seeds"):
        st.run_batch("smarty-drift", 5)

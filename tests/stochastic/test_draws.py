"""The random numbers under every sensor."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy import stats

from seatrial.sensors.noise import draws


def test_threefry_gives_the_published_known_answers():
    """Random123's known-answer tests of threefry2x32 with 20 rounds."""
    cases = [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF,) * 2, (0xFFFFFFFF,) * 2, (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    ]
    for key, counter, expected in cases:
        words = [jnp.uint32(c) for c in counter]
        found = draws.threefry(jnp.asarray(np.array(key, np.uint32)), *words)
        assert tuple(int(w) for w in found) == expected


def test_draws_are_standard_normal_and_independent():
    """Kolmogorov–Smirnov and correlations of 200,000 numbers: false alarms 1 in 10,000."""
    with jax.enable_x64(True):
        keys = jnp.asarray(np.stack([draws.key(5, name) for name in "abcd"], axis=-1))
        drawn = np.asarray(draws.normal(keys, jnp.int64(1), 10_000, 5, jnp.float64))
    assert stats.kstest(drawn.ravel(), "norm").pvalue > 1e-4
    columns = drawn.reshape(len(drawn), -1)
    correlation = np.corrcoef(np.concatenate([columns[1:], columns[:-1]], axis=1).T)
    off = np.abs(correlation[~np.eye(40, dtype=bool)])
    assert off.max() < stats.norm.isf(1e-4 / 2 / 780) / np.sqrt(len(columns))
    assert len(np.unique(drawn)) > 0.98 * drawn.size


def test_a_sample_does_not_depend_on_the_block_it_is_drawn_with():
    with jax.enable_x64(True):
        keys = jnp.asarray(draws.key(1, "x")[:, None])
        whole = np.asarray(draws.normal(keys, jnp.int64(7), 20, 3, jnp.float64))
        part = np.asarray(draws.normal(keys, jnp.int64(12), 1, 3, jnp.float64))
        fewer = np.asarray(draws.normal(keys, jnp.int64(7), 20, 2, jnp.float64))
    np.testing.assert_array_equal(whole[5], part[0])
    np.testing.assert_array_equal(whole[:, :2], fewer)

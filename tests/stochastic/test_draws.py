"""The random numbers under every sensor."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from seatrial.sensors.noise import draws, streams


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


@pytest.mark.parametrize(
    ("draw", "law"),
    [
        (streams.uniforms, stats.uniform()),
        (streams.normals, stats.norm()),
        (streams.exponentials, stats.expon()),
    ],
)
def test_numbers_of_pictures_follow_their_law_into_the_tails(draw, law):
    """A million of each: Kolmogorov and Smirnov, and as many as there should be beyond the last
    of 65,536 levels, where levels alone would show none; a false alarm in a thousand for each."""
    count = 1_000_000
    drawn = draw(streams.stream(np.array([3, 5], np.uint32), 8), count)
    assert drawn.dtype == np.float32
    assert stats.kstest(drawn, law.cdf).pvalue > 1e-3
    if law.support()[1] == np.inf:
        far = law.isf(1e-5)
        assert stats.binomtest(int((drawn > far).sum()), count, 1e-5).pvalue > 1e-3
    assert np.abs(np.corrcoef(drawn[1:], drawn[:-1])[0, 1]) < 3.3 / np.sqrt(count)


def test_numbers_of_a_sample_depend_on_its_key_and_number_alone():
    key, other = np.array([3, 5], np.uint32), np.array([3, 6], np.uint32)
    one = streams.normals(streams.stream(key, 8), 501)
    assert one.tobytes() == streams.normals(streams.stream(key, 8), 501).tobytes()
    assert np.mean(one == streams.normals(streams.stream(key, 9), 501)) < 0.01
    assert np.mean(one == streams.normals(streams.stream(other, 8), 501)) < 0.01


def test_words_are_the_same_however_many_are_drawn_at_once():
    key = np.array([3, 4], np.uint32)
    count = 4 * streams.MANY_WORDS
    words = streams.stream(key, 7).bit_generator.random_raw(count // 4)
    assert np.array_equal(streams.whole([streams.stream(key, 7)], count)[0], words.view(np.uint16))
    # What is drawn next does not depend on it either.
    one, other = streams.stream(key, 7), streams.stream(key, 7)
    streams.whole([one], count)
    other.bit_generator.random_raw(count // 4)
    assert one.random() == other.random()

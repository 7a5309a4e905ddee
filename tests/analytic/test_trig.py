"""Sine and cosine that vectorise, beside those of extended precision."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seatrial.spatial.trig import sincos, sincos_of_column, wrap, wrap_signed

ANGLES = np.random.default_rng(5).uniform(-500.0, 500.0, 200_000)


@pytest.mark.parametrize(("precision", "most"), [(np.float64, 2e-15), (np.float32, 4e-7)])
def test_errors_are_below_what_is_stated(x64: None, precision: type, most: float) -> None:
    quadrants = 0.25 * math.pi * np.arange(-600, 601)  # where one polynomial takes over
    angles = np.concatenate([ANGLES, quadrants]).astype(precision)
    sine, cosine = jax.jit(sincos)(jnp.asarray(angles))
    exact = angles.astype(np.longdouble)
    assert sine.dtype == cosine.dtype == precision
    assert np.abs(np.asarray(sine) - np.sin(exact)).max() < most
    assert np.abs(np.asarray(cosine) - np.cos(exact)).max() < most


def test_slopes_are_cosine_and_sine(x64: None) -> None:
    angles = jnp.asarray(ANGLES[:100])
    for k, other in ((0, np.cos), (1, lambda a: -np.sin(a))):
        slopes = jax.grad(lambda a, k=k: jnp.sum(sincos(a)[k]))(angles)
        assert np.allclose(slopes, other(ANGLES[:100]), rtol=0.0, atol=1e-14)


@pytest.mark.parametrize("columns", [1, 3])
def test_a_column_has_the_same_pair_but_for_rounding(x64: None, columns: int) -> None:
    angles = jnp.asarray(ANGLES[: 75 * columns].reshape(75, columns))
    plain = jax.jit(sincos)(angles)
    assert np.allclose(jax.jit(sincos_of_column)(angles), plain, rtol=0.0, atol=1e-15)
    along = jax.jvp(lambda a: jnp.stack(sincos_of_column(a)), (angles,), (angles,))[1]
    assert np.allclose(along, [plain[1] * angles, -plain[0] * angles], rtol=1e-14)
    many = jax.vmap(sincos_of_column)(jnp.stack([angles, 2.0 * angles]))
    assert np.allclose(many[0][0], plain[0], rtol=0.0, atol=1e-15)


def test_angles_are_wrapped_to_the_same_direction(x64: None) -> None:
    angles = jnp.asarray(ANGLES)
    for wrapped, low in ((wrap(angles), 0.0), (wrap_signed(angles), -math.pi)):
        assert np.all((wrapped >= low - 1e-12) & (wrapped <= low + 2.0 * math.pi + 1e-12))
        turns = (ANGLES - np.asarray(wrapped)) / (2.0 * math.pi)
        assert np.allclose(turns, np.round(turns), rtol=0.0, atol=1e-13)

"""Curves through tables and integrals of them, against SciPy's.

Planning a run needs these few lines of NumPy; SciPy's modules that hold the same take longer to
import than the rest of the planning, so SciPy is the oracle and not the part.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from scipy.integrate import cumulative_trapezoid, trapezoid
from scipy.interpolate import PchipInterpolator

from seatrial.ocean.curves import monotone_slopes, resample
from seatrial.ocean.integrals import cumulative, integral

STEPS = some.floats(0.1, 100.0)
VALUES = some.floats(-50.0, 50.0).map(lambda v: round(v, 3))  # equal neighbours happen


@some.composite
def tables(draw):
    values = draw(some.lists(VALUES, min_size=4, max_size=12))
    steps = draw(some.lists(STEPS, min_size=len(values) - 1, max_size=len(values) - 1))
    return np.concatenate([[0.0], np.cumsum(steps)]), np.array(values)


@given(tables())
def test_slopes_inside_a_table_are_those_of_pchip(table):
    x, y = table
    steepest = np.abs(np.diff(y) / np.diff(x)).max()
    expected = PchipInterpolator(x, y).derivative()(x)[1:-1]
    np.testing.assert_allclose(monotone_slopes(x, y)[1:-1], expected, atol=1e-12 * (1 + steepest))


@given(tables(), some.lists(some.floats(0.0, 1.0), min_size=1, max_size=5))
def test_values_between_inner_knots_are_those_of_pchip(table, shares):
    # In the first and last interval SciPy uses another slope at the end.
    x, y = table
    at = x[1] + np.array(shares) * (x[-2] - x[1])
    np.testing.assert_allclose(resample(x, y, at), PchipInterpolator(x, y)(at), atol=1e-10)


@given(tables())
def test_integrals_are_those_of_the_trapezoidal_rule(table):
    x, y = table
    np.testing.assert_allclose(cumulative(y, x), cumulative_trapezoid(y, x, initial=0), atol=1e-9)
    assert integral(y, x) == pytest.approx(trapezoid(y, x), abs=1e-9)

"""Many seas, one program."""

import dataclasses

import numpy as np

from seatrial.core.types import Model


def with_structure_of(model: Model, first: Model) -> Model:
    """The model with another's table of wave force contributions, so that they share a program.

    The table says which row of the force matrix goes where and belongs to the compiled program.
    It follows from the symmetry of the hull; between seas its factors differ by rounding.
    """
    own, other = model.excitation, first.excitation
    if own is None or other is None:
        raise ValueError("a model without waves has no wave forces")
    same = [c[:4] for c in own.contributions] == [c[:4] for c in other.contributions]
    if not same or not np.allclose(
        [c.factor for c in own.contributions], [c.factor for c in other.contributions], rtol=1e-9
    ):
        raise ValueError("the wave forces of these seas differ in structure")
    shared = dataclasses.replace(own, contributions=other.contributions)
    return dataclasses.replace(model, excitation=shared)

"""Frozen dataclasses that JAX can carry: a field is traced if and only if it is an array."""

import dataclasses
from typing import Any, TypeVar, cast, dataclass_transform

import jax
import numpy as np
from numpy.typing import ArrayLike, DTypeLike

T = TypeVar("T")


def static(**kwargs: Any) -> Any:
    """Declare a field that shapes the program (a name, a count, a mode) and is never traced."""
    return dataclasses.field(metadata={"static": True}, **kwargs)


def constant(values: ArrayLike, dtype: DTypeLike | None = None) -> jax.Array:
    """Values for a field of a pytree that is put together.

    They stay with NumPy until the whole pytree is handed to JAX: every `jnp.asarray` is a program
    of its own for each new shape, which has to be compiled, loaded and run.
    """
    return cast(jax.Array, np.asarray(values, dtype))


@dataclass_transform(frozen_default=True, field_specifiers=(static, dataclasses.field))
def pytree(cls: type[T]) -> type[T]:
    """Make `cls` a frozen dataclass registered with JAX; mark non-array fields `static()`."""
    frozen = dataclasses.dataclass(frozen=True)(cls)
    fields = dataclasses.fields(frozen)  # type: ignore[arg-type]  # it is a dataclass by now
    meta = [f.name for f in fields if f.metadata.get("static")]
    data = [f.name for f in fields if not f.metadata.get("static")]
    jax.tree_util.register_dataclass(frozen, data_fields=data, meta_fields=meta)
    return frozen

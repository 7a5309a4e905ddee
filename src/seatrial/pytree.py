"""Frozen dataclasses that JAX can carry: a field is traced if and only if it is an array.

A class says of each of its fields once what it is: `static()` shapes the program, `batched()`
counts vehicles on the last axis, and everything else is shared by the vehicles. `take` picks
vehicles out of anything that says so.
"""

import dataclasses
from typing import Any, TypeVar, cast, dataclass_transform

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

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


def batched(*, where: str | None = None, **kwargs: Any) -> Any:
    """Declare an array whose last axis counts vehicles, or a tree of nothing but such arrays.

    `where` names a static field of the same class that tells for each array of the tree, in the
    order of `jax.tree.leaves`, whether it counts vehicles: for a tree in which that is decided
    from case to case.
    """
    return dataclasses.field(metadata={"batched": True, "where": where}, **kwargs)


@dataclass_transform(frozen_default=True, field_specifiers=(static, batched, dataclasses.field))
def pytree(cls: type[T]) -> type[T]:
    """Make `cls` a frozen dataclass registered with JAX; mark non-array fields `static()`."""
    frozen = dataclasses.dataclass(frozen=True)(cls)
    fields = dataclasses.fields(frozen)  # type: ignore[arg-type]  # it is a dataclass by now
    meta = [f.name for f in fields if f.metadata.get("static")]
    data = [f.name for f in fields if not f.metadata.get("static")]
    jax.tree_util.register_dataclass(frozen, data_fields=data, meta_fields=meta)
    return frozen


def take(tree: T, vehicles: NDArray[np.int64]) -> T:
    """The same tree for the vehicles at the places `vehicles`, in that order, repeated or not.

    Works on the host, on finished arrays; precision stays as it is, whatever JAX is set to. An
    array that no class declares `batched()` is shared and passes as the same object.
    """
    with jax.enable_x64(True):
        return cast(T, _take(tree, vehicles))


def _take(tree: Any, vehicles: NDArray[np.int64]) -> Any:
    if dataclasses.is_dataclass(tree) and not isinstance(tree, type):
        changed = {
            field.name: _take_field(tree, field, vehicles)
            for field in dataclasses.fields(tree)
            if not field.metadata.get("static")
        }
        return dataclasses.replace(tree, **changed)
    if isinstance(tree, tuple | list):
        parts = [_take(part, vehicles) for part in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)
    if isinstance(tree, dict):
        return {key: _take(part, vehicles) for key, part in tree.items()}
    return tree


def _take_field(owner: Any, field: dataclasses.Field[Any], vehicles: NDArray[np.int64]) -> Any:
    value = getattr(owner, field.name)
    if not field.metadata.get("batched"):
        return _take(value, vehicles)
    leaves, structure = jax.tree.flatten(value)
    mask = field.metadata["where"]
    counts = (True,) * len(leaves) if mask is None else getattr(owner, mask)
    chosen = [
        jnp.asarray(np.asarray(leaf)[..., vehicles]) if counting else leaf
        for leaf, counting in zip(leaves, counts, strict=True)
    ]
    return jax.tree.unflatten(structure, chosen)

"""Arrays that stay in their file until somebody asks for a part of them."""

import math
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import xarray

Values = NDArray[Any]
Block = TypeVar("Block")


class Cache(Generic[Block]):
    """The blocks used last, up to a number of bytes."""

    def __init__(self, load: Callable[[int], tuple[Block, int]], most_bytes: int) -> None:
        self._load, self._most = load, most_bytes
        self._kept: OrderedDict[int, tuple[Block, int]] = OrderedDict()
        self._bytes = 0

    def __call__(self, number: int) -> Block:
        """A block by its number; `load` gives it with its size in bytes."""
        if number in self._kept:
            self._kept.move_to_end(number)
            return self._kept[number][0]
        block, size = self._load(number)
        self._kept[number] = block, size
        self._bytes += size
        while self._bytes > self._most and len(self._kept) > 1:
            self._bytes -= self._kept.popitem(last=False)[1][1]
        return block


class LazyArray:
    """Rows that lie in blocks, read when they are indexed: `array[10:20]`, `array[7, :, 0]`.

    It has `shape`, `dtype` and `len`, and iterates row by row with one block in memory;
    `numpy.asarray` reads all of it.
    """

    def __init__(
        self,
        counts: Sequence[int],
        shape: tuple[int, ...],
        dtype: Any,
        load: Callable[[int], Values],
    ) -> None:
        """`counts` are the rows in each block, `shape` that of a row."""
        self._edges = np.concatenate([[0], np.cumsum(np.asarray(counts, np.int64))])
        self._load = load
        self.shape = (int(self._edges[-1]), *shape)
        self.dtype = np.dtype(dtype)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        """What all of it would take in memory."""
        size: int = self.dtype.itemsize
        return math.prod(self.shape) * size

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"LazyArray(shape={self.shape}, dtype={self.dtype}, in the file)"

    def __iter__(self) -> Iterator[Values]:
        for block in range(len(self._edges) - 1):
            yield from self._load(block)[: self._edges[block + 1] - self._edges[block]]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Values:
        if copy is False:
            raise ValueError("the array is in a file; reading it makes a copy")
        return self[:].astype(dtype or self.dtype, copy=False)

    def __getitem__(self, key: Any) -> Values:
        first, *rest = key if isinstance(key, tuple) else (key,)
        if first is Ellipsis:
            first, rest = slice(None), [Ellipsis, *rest]
        rows: Values = np.asarray(np.arange(len(self))[first])
        if rows.ndim == 0:
            one: Values = self._take(rows[None])[(0, *rest)]
            return one
        if rows.ndim != 1:
            raise IndexError("the first index is a number, a slice or a list of numbers")
        found = self._take(rows)
        return np.asarray(found[(slice(None), *rest)]) if rest else found

    def _take(self, rows: Values) -> Values:
        found = np.empty((len(rows), *self.shape[1:]), self.dtype)
        blocks = np.searchsorted(self._edges, rows, side="right") - 1
        for block in np.unique(blocks):
            here = blocks == block
            found[here] = self._load(int(block))[rows[here] - self._edges[block]]
        return found


def as_variable(
    dims: tuple[str, ...], array: LazyArray, attrs: dict[str, Any]
) -> "xarray.Variable":
    """A lazy array as a variable of a Dataset, which stays in the file until it is used."""
    import xarray
    from xarray.backends import BackendArray
    from xarray.core import indexing

    class InFile(BackendArray):
        shape, dtype = array.shape, array.dtype

        def __getitem__(self, key: Any) -> Any:
            outer = indexing.IndexingSupport.OUTER
            return indexing.explicit_indexing_adapter(key, array.shape, outer, _orthogonal)

    def _orthogonal(key: tuple[Any, ...]) -> Values:
        first, rest = key[0], key[1:]
        found = array[first if not isinstance(first, np.integer) else int(first)]
        shift = 0 if np.ndim(first) == 0 and not isinstance(first, slice) else 1
        for axis in range(len(rest) - 1, -1, -1):  # from the last: a number removes its axis
            found = found[(*(slice(None),) * (axis + shift), rest[axis])]
        return np.asarray(found)

    lazy = indexing.MemoryCachedArray(indexing.LazilyIndexedArray(InFile()))  # type: ignore[no-untyped-call]
    return xarray.Variable(dims, lazy, attrs)

"""Results: blocks with their nodes, and summaries in notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np
from numpy.typing import NDArray

from ._graph import Nodes, as_objects

if TYPE_CHECKING:
    import pandas


class Block(np.lib.mixins.NDArrayOperatorsMixin):
    """A block of values between nodes, with a bound on its error.

    It has the attributes, methods and operators of its array, whose results are arrays.

    Attributes
    ----------
    array
        The values; ``numpy.asarray(block)`` is the same array.
    rows, cols
        The nodes of the rows and the meaning of the columns.
    error_bound
        A bound on the error of a value, for :func:`apply` of the norm of a column.
    run
        The report of the program.
    """

    def __init__(self, array: NDArray[Any], rows: Any, cols: Any, run: dict[str, Any]) -> None:
        self.array, self._rows, self._cols, self.run = array, rows, cols, run
        bound = run.get("error_bound")
        bound = run.get("error_estimate") if bound is None else bound
        self.error_bound: float | None = None if bound is None else float(bound)

    @property
    def rows(self) -> Sequence[Any]:
        """The nodes of the rows."""
        return _nodes(self._rows)

    @property
    def cols(self) -> Sequence[Any]:
        """The nodes of the columns, or their meaning."""
        return _nodes(self._cols)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False and dtype is not None and np.dtype(dtype) != self.array.dtype:
            raise ValueError(f"{self.array.dtype} becomes {np.dtype(dtype)} by a copy alone")
        if copy:
            return np.array(self.array, dtype)
        return self.array.astype(dtype or self.dtype, copy=False)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if "out" in options:
            options["out"] = tuple(map(_array_of, options["out"]))
        return getattr(ufunc, method)(*map(_array_of, inputs), **options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "array":  # asked by copies before the array is there
            raise AttributeError(name)
        return getattr(self.array, name)

    def __iter__(self) -> Any:
        return iter(self.array)

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, key: Any) -> Any:
        return self.array[key]

    def to_frame(self) -> pandas.DataFrame:
        """Return the values as a pandas frame, with nodes as index and columns."""
        import pandas
        return pandas.DataFrame(self.array, index=axis(self.rows), columns=axis(self.cols))

    def __repr__(self) -> str:
        bound = "" if self.error_bound is None else f", error bound {self.error_bound:.2g}"
        return f"<heatwalk.Block of {' × '.join(map(str, self.shape))} {self.dtype}{bound}>"


def _array_of(value: Any) -> Any:
    return value.array if isinstance(value, Block) else value


def _nodes(axis: Any) -> Sequence[Any]:
    """Return the nodes of an axis: all of a graph, or (nodes of a graph, rows), or a list."""
    if isinstance(axis, Nodes):
        return axis.all()
    if isinstance(axis, tuple):
        return axis[0].at(axis[1])  # type: ignore[no-any-return]
    return axis  # type: ignore[no-any-return]


def axis(nodes: Sequence[Any]) -> Any:
    """Return nodes as the index of a frame; tuples of one length become its levels."""
    import pandas
    if isinstance(nodes, range):
        return pandas.RangeIndex(len(nodes))
    if not any(isinstance(v, tuple) for v in nodes):
        return pandas.Index(list(nodes))
    if len({len(v) if isinstance(v, tuple) else -1 for v in nodes}) == 1:
        return pandas.MultiIndex.from_tuples(nodes)
    return pandas.Index(as_objects(nodes), tupleize_cols=False)

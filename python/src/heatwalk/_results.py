"""Results: blocks with their nodes, and summaries in notebooks."""

from __future__ import annotations

import html
from typing import Any, Sequence

import numpy as np


class Block:
    """A block of values between nodes, with a bound on its error.

    Attributes
    ----------
    array : numpy.ndarray
        The values; ``numpy.asarray(block)`` is the same array.
    rows, cols : list
        The nodes of the rows and the meaning of the columns.
    error_bound : float or None
        A bound on the error of a value, or of the norm of a column for :func:`apply`; None if unknown.
    run : dict
        The report of the program.
    """

    def __init__(self, array: Any, rows: Sequence[Any], cols: Sequence[Any], run: dict[str, Any]) -> None:
        self.array, self.rows, self.cols, self.run = array, rows, cols, run
        bound = run.get("error_bound")
        self.error_bound: float | None = run.get("error_estimate") if bound is None else bound

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.array if dtype is None else self.array.astype(dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.array.shape)

    @property
    def dtype(self) -> Any:
        return self.array.dtype

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, key: Any) -> Any:
        return self.array[key]

    def to_frame(self) -> Any:
        """Return the values as a pandas frame, with nodes as index and columns."""
        import pandas

        return pandas.DataFrame(self.array, index=axis(self.rows), columns=axis(self.cols))

    def _summary(self) -> list[tuple[str, str]]:
        lines = [("shape", " × ".join(map(str, self.shape)) + f" {self.dtype}")]
        parameters = self.run.get("parameters") or {}
        lines += [(str(k), str(v)) for k, v in parameters.items() if v is not None]
        if self.error_bound is not None:
            lines.append(("error bound", f"{self.error_bound:.2g}"))
        lines.append(("seconds", f"{self.run.get('seconds', 0):.3g}"))
        return lines

    def __repr__(self) -> str:
        return f"<heatwalk.Block {dict(self._summary())['shape']}>"

    def _repr_html_(self) -> str:
        return table(self._summary())


def axis(values: Sequence[Any]) -> Any:
    """Return labels of a frame; tuples are single labels, not levels, unless they are pairs."""
    if len(values) and isinstance(values[0], tuple):
        import pandas

        return pandas.MultiIndex.from_tuples(values)
    return list(values)


def table(lines: Sequence[tuple[str, str]]) -> str:
    """Return a table of names and values as HTML."""
    rows = "".join(f"<tr><th>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in lines)
    return f"<table>{rows}</table>"


def bars(names: Sequence[Any], values: Sequence[float], most: int = 20) -> str:
    """Return a bar chart as an inline SVG of a few kilobytes."""
    pairs = list(zip(names, values))
    shown, largest = pairs[:most], max([1e-300, *values])
    height = 18 * len(shown)
    body = []
    for i, (name, value) in enumerate(shown):
        text = str(name)
        text = html.escape(text if len(text) <= 24 else text[:23] + "…")
        body.append(f'<text x="150" y="{18 * i + 13}" text-anchor="end">{text}</text>'
                    f'<rect x="156" y="{18 * i + 2}" width="{200 * value / largest:.1f}" height="14" fill="#4878a8"/>'
                    f'<text x="{160 + 200 * value / largest:.1f}" y="{18 * i + 13}">{value:g}</text>')
    more = f"<p>{len(pairs) - most} more classes</p>" if len(pairs) > most else ""
    return f'<svg width="430" height="{height}" font-size="12" font-family="sans-serif">{"".join(body)}</svg>{more}'


def as_nodes(values: Sequence[Any], length: int) -> Any:
    """Return nodes as a one-dimensional array of objects, also if they are tuples."""
    array = np.empty(length, dtype=object)
    array[:] = list(values)
    return array

"""Labels of nodes as class numbers."""

from __future__ import annotations

import sys
import warnings
from typing import Any, NamedTuple

import numpy as np

from ._errors import HeatwalkWarning


class Labels(NamedTuple):
    """Class numbers of nodes: classes[code[i]] is the label of node i, code −1 for none."""

    classes: Any
    code: Any


def _is_missing(value: Any) -> bool:
    return value is None or value != value or isinstance(value, str) and value == "" or \
        not isinstance(value, (str, bytes, bool)) and isinstance(value, (int, float, np.number)) and value == -1


def encode(y: Any, n: int) -> Labels:
    """Return labels as class numbers, in the order of the sorted classes.

    Unlabelled are −1 in numbers, NaN, None, and the empty string.
    """
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    if getattr(y, "ndim", 1) == 2 and hasattr(y, "columns") and len(y.columns) > 1:
        raise ValueError(f"y is a frame; pass a column with nodes as index, as in y.set_index({y.columns[0]!r})[{y.columns[-1]!r}], "
                         "or multi_label=True for a column of 0 and 1 for each class")
    if hasattr(y, "to_numpy"):
        if hasattr(y, "isna") and not isinstance(getattr(y, "dtype", None), np.dtype):  # pandas.NA is neither None nor NaN
            y = y.astype(object).where(y.notna(), None)
        y = y.to_numpy()
    if not isinstance(y, np.ndarray) and hasattr(y, "__array__"):
        y = np.asarray(y)
    if not isinstance(y, np.ndarray):
        y = list(y)
        kinds = {type(v) for v in y}
        y = np.array(y, dtype=object if len(kinds) > 1 or kinds & {tuple, str} else None)
    if y.dtype.kind in "US":
        y = y.astype(object)
    if y.ndim == 2 and y.shape[1] == 1:
        warnings.warn("A column-vector y was passed when a 1d array was expected. Change the shape of y to (n_samples,), "
                      "for example using ravel().", _conversion_warning(), stacklevel=4)
        y = y.ravel()
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead; for several labels of a node pass multi_label=True")
    if len(y) != n:
        raise ValueError(f"y has inconsistent numbers of samples: {len(y)}, and the graph has {n} nodes")
    known = _known(y)
    values = y[known]
    if not len(values):
        raise ValueError("y has no label: all of it is -1, None or NaN")
    if y.dtype == object:
        values = np.array(values.tolist()) if len({type(v) for v in values}) == 1 and not isinstance(values[0], tuple) else values
    if values.dtype.kind == "f":
        if not np.isfinite(values).all():
            raise ValueError("Input y contains infinity or a value too large")
        if (values != np.floor(values)).any():
            raise ValueError("Unknown label type: continuous; labels are classes")
    try:
        classes, codes = np.unique(values, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"y mixes types that have no order ({error}); give all labels one type") from None
    if values.dtype.kind in "if" and len(classes) == 1 and classes[0] == 1 and known.sum() < n and (y[~known] == -1).all():
        warnings.warn("-1 means unlabelled, so that y has the class 1 only; number the classes 0 and 1", HeatwalkWarning, stacklevel=4)
    if "-1" in classes.tolist():
        warnings.warn("'-1' is a class, because it is text; None marks unlabelled nodes", HeatwalkWarning, stacklevel=4)
    code = np.full(n, -1, dtype=np.int64)
    code[known] = codes
    return Labels(classes, code)


def _conversion_warning() -> type[Warning]:
    """Return the warning class of scikit-learn if that is in use."""
    if "sklearn" in sys.modules:
        from sklearn.exceptions import DataConversionWarning

        return DataConversionWarning  # type: ignore[no-any-return]
    return HeatwalkWarning


def _known(y: Any) -> Any:
    if y.dtype == object:
        return np.array([not _is_missing(v) for v in y], dtype=bool)
    if y.dtype.kind == "f":
        return ~np.isnan(y) & (y != -1)
    if y.dtype.kind in "iu":
        return y != -1
    if y.dtype.kind == "b":
        return np.ones(len(y), dtype=bool)
    raise ValueError(f"Unknown label type: {y.dtype}")


def encode_several(y: Any, n: int) -> tuple[Any, list[list[int]], bool]:
    """Return the classes, the class numbers of each node, and whether y was an indicator matrix.

    y has an iterable of labels for each node, or is an n×k matrix of 0 and 1. A node without a label is
    unlabelled.
    """
    if hasattr(y, "toarray"):
        y = y.toarray()
    if hasattr(y, "columns") or isinstance(y, np.ndarray) and y.ndim == 2:
        matrix = y.to_numpy() if hasattr(y, "to_numpy") else y
        classes = np.array(list(y.columns)) if hasattr(y, "columns") else np.arange(matrix.shape[1])
        if len(matrix) != n:
            raise ValueError(f"y has {len(matrix)} rows, and the graph has {n} nodes")
        return classes, [list(np.flatnonzero(row == 1)) for row in matrix], True
    if len(y) != n:
        raise ValueError(f"y has {len(y)} elements, and the graph has {n} nodes")
    lists = [[] if _is_none(v) else [v] if isinstance(v, str) else list(v) for v in y]
    if not any(lists):
        raise ValueError("y has no label")
    classes = np.array(sorted({label for some in lists for label in some}))
    number = {c: i for i, c in enumerate(classes.tolist())}
    return classes, [sorted(number[label] for label in set(some)) for some in lists], False


def _is_none(value: Any) -> bool:
    return value is None or isinstance(value, float) and value != value

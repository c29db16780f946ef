"""Labels of nodes as class numbers, and attributes of nodes as numbers."""

from __future__ import annotations

import re
import sys
from typing import Any, Mapping, NamedTuple

import numpy as np
import scipy.sparse as sp

from ._errors import HeatwalkWarning, warn
from ._frame import cells, columns_of, is_missing
from ._graph import Graph, as_array, as_objects, is_pandas, nodes_of

#: Text of a date.
_TABLE = 100  # columns of a frame that is always written as a table
_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]|$)")

#: Text of classes that may mean no label, for example that of np.where(known, names, np.nan).
_WORDS = ("-1", "NA", "nan", "NaN", "None", "null", "<NA>", "NaT", "unknown", "?", "-")


class Labels(NamedTuple):
    """Class numbers of nodes: classes[code[i]] is the label of node i, code −1 for none."""
    classes: Any
    code: Any

    def of_nodes(self, mask: Any) -> Labels:
        """Return the labels of some nodes, with the classes that these have."""
        code = np.where(mask, self.code, -1)
        present = np.unique(code[code >= 0])
        return Labels(self.classes[present], np.where(code < 0, -1, np.searchsorted(present, code)).astype(np.int32))


def values_of(y: Any) -> tuple[Any, Any]:
    """Return values as an array, and a mask of None, NaN, NA, NaT and masked ones."""
    if np.ma.isMaskedArray(y):
        return y.data, np.ma.getmaskarray(y) | is_missing(y.data)
    if hasattr(y, "isna"):  # a series or an array of pandas, whose NA is no number
        missing, kind = np.asarray(y.isna()), getattr(y.dtype, "numpy_dtype", None)
        if kind is not None and kind.kind in "biu":  # not by way of float64, which has 53 bits
            return y.fillna(False if kind.kind == "b" else 0).to_numpy(dtype=kind), missing
        values = y.to_numpy()
        return np.where(missing, None, values) if values.dtype == object else values, missing
    if hasattr(y, "null_count"):  # of Arrow or polars, whose numbers beside null become floats
        y = y.to_pylist() if hasattr(y, "to_pylist") else y.to_list()
    y = as_array(y)
    if not isinstance(y, np.ndarray):
        y = list(y)
        kinds = {type(v) for v in y}
        if any(issubclass(k, (list, set, frozenset, dict, np.ndarray)) for k in kinds):
            if kinds <= {list} and len({len(v) for v in y}) == 1:
                return values_of(np.array(y))
            raise ValueError("y has several labels for a node; pass multi_label=True")
        values = np.empty(len(y), dtype=object)
        values[:] = y
        y = values if len(kinds) > 1 or tuple in kinds else np.array(y)
    if y.dtype.kind == "T":  # the variable text of NumPy 2
        y = y.astype(object)
    if y.dtype.kind == "V" or y.dtype.kind in "mM":
        raise ValueError(f"Unknown label type: {y.dtype}")
    return y, is_missing(y)


def column_of(y: Any) -> tuple[Any, Any]:
    """Return values and missing ones of a vector, or of a matrix of one column."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    if getattr(y, "ndim", 1) == 2 and hasattr(y, "columns") and len(y.columns) > 1:
        raise ValueError("y is a frame; pass a column with nodes as index, as in "
                         f"y.set_index({y.columns[0]!r})[{y.columns[-1]!r}], or multi_label=True "
                         "for a column of 0 and 1 for each class")
    if getattr(y, "ndim", 1) == 2 and hasattr(y, "columns"):
        y = y.iloc[:, 0]
    values, missing = values_of(y)
    if values.ndim == 2 and values.shape[1] == 1:
        kind = HeatwalkWarning if "sklearn" not in sys.modules else \
            __import__("sklearn.exceptions").exceptions.DataConversionWarning
        warn("A column-vector y was passed when a 1d array was expected. Change the shape of y to "
             "(n_samples,), for example using ravel().", kind)
        values, missing = values.ravel(), missing.ravel()
    if values.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {values.shape} instead; "
                         "for several labels of a node pass multi_label=True")
    return values, missing


def labels_of_sides(graph: Graph, labels_row: Any, labels_col: Any) -> dict[int, Any]:
    """Return the labels of rows and columns of a matrix by node."""
    if graph.sides is None:
        raise ValueError("labels_row and labels_col are for a matrix, or a graph of as_graph(B, bipartite=True)")
    labels, start = dict[int, Any](), 0
    for side, given, count in zip(("row", "col"), (labels_row, labels_col), graph.sides):
        if isinstance(given, Mapping):
            some = given
        elif given is not None:
            values, missing = column_of(given)
            missing |= values == -1 if values.dtype.kind in "if" else False
            if len(values) != count:
                raise ValueError(f"labels_{side} has {len(values)} elements, and the matrix {count} of them")
            some = {i: values[i] for i in np.flatnonzero(~missing).tolist()}
        else:
            some = {}
        if wrong := [i for i in some if not 0 <= i < count]:
            raise ValueError(f"labels_{side}: there is no {side} {wrong[0]}; the matrix has {count}")
        labels.update((start + i, label) for i, label in some.items())
        start += count
    return {nodes_of(graph).at([row])[0]: label for row, label in labels.items()}


def narrow(values: Any) -> Any:
    """Return an array with the type of its objects, if these are all truth values or all numbers."""
    kinds = {type(v) for v in values.tolist()} if values.dtype.kind == "O" else set()
    if kinds and kinds <= {bool, np.bool_}:
        return values.astype(np.bool_)
    if kinds and all(issubclass(k, (int, float, np.number)) and k is not bool for k in kinds):
        array = np.array(values.tolist())
        return array if array.dtype.kind in "iuf" and (array == values).all() else values
    return values


def classes_of(values: Any) -> tuple[Any, Any]:
    """Return the sorted classes, with the type of the labels, and the class number of each."""
    kind = values.dtype.kind
    if kind == "f" or kind == "O" and all(isinstance(v, (int, float, np.number)) for v in values):
        numbers = values.astype(np.float64)
        if not np.isfinite(numbers).all():
            raise ValueError("Input y contains infinity or a value too large")
        if (numbers != np.floor(numbers)).any():
            raise ValueError("Unknown label type: continuous; labels are classes")
    try:
        classes = np.unique(values) if kind != "O" else as_objects(sorted(set(values)))
    except TypeError as error:
        raise ValueError(f"y has types without order ({error}); give all labels one type") from None
    if kind != "O":
        return classes, np.searchsorted(classes, values)
    number = {c: i for i, c in enumerate(classes)}
    return classes, np.array([number[v] for v in values], dtype=np.int64)


def encode(y: Any, n: int, rows: Any = None) -> Labels:
    """Return labels as class numbers, in the order of the sorted classes.

    Of all nodes, unlabelled ones are −1 in numbers, NaN, None, NA, masked elements, and the empty text. With rows, y
    has a label for each of these, and −1 is a class.
    """
    values, missing = column_of(y)
    if len(values) != (n if rows is None else len(rows)):
        raise ValueError(f"y has inconsistent numbers of samples: {len(values)}, and the graph "
                         f"has {n} nodes" if rows is None else "X and y have inconsistent numbers "
                         f"of samples: {len(rows)} and {len(values)}")
    if rows is not None and missing.any():
        raise ValueError("Input y contains NaN; leave nodes without a label out of X")
    known, numbers = ~missing, values.dtype.kind in "if"
    if rows is None:
        if values.dtype.kind in "OUS":
            known[known] = [not isinstance(v, (str, bytes)) or len(v) > 0 for v in values[known].tolist()]
        marked = known.copy()
        if numbers:
            known &= values != -1
        elif values.dtype == object:
            known[known] = [isinstance(v, str) or v != -1 for v in values[known]]
        if missing.any() and known.any() and (marked & ~known).any():
            warn("y: -1 counts as a node without a label, as missing values do; if -1 is a class, "
                 "number the classes from 0")
        if not known.any():
            raise ValueError("y has no label: all of it is -1, None or NaN")
    classes, codes = classes_of(narrow(values[known]))
    if numbers and len(classes) == 1 and classes[0] == 1 and not known.all() and not missing.any():
        warn("-1 means unlabelled, so that y has the class 1 only; number the classes 0 and 1")
    if rows is not None and -1 in classes.tolist() and len(classes) > 2:
        warn("y: -1 is a class; leave nodes without a label out of X")
    words = [repr(v) for v in classes.tolist() if isinstance(v, str) and v in _WORDS]
    if rows is None and words:
        warn(f"y: {', '.join(words)} as a class, because it is text; None marks unlabelled nodes")
    places, code = np.flatnonzero(known) if rows is None else rows, np.full(n, -1, dtype=np.int32)
    code[places] = codes
    if (code[places] != codes).any():
        raise ValueError("X has a node twice with different labels in y; keep one of them")
    return Labels(classes, code)


def decode(classes: Any, code: Any) -> Any:
    """Return the classes of codes with the type of the classes; a blank is −1, "" or None."""
    labels = classes[code]
    blank = code < 0
    if blank.any():
        if classes.dtype.kind == "b" or classes.dtype == np.uint64:
            labels = labels.astype(object)
        elif classes.dtype.kind == "u":
            labels = labels.astype(np.int64)
        labels[blank] = {"U": "", "S": b"", "O": None, "b": None}.get(classes.dtype.kind, -1)
    return labels


def encode_several(y: Any, n: int) -> tuple[Any, Any, bool]:
    """Return the classes, the labels as an n×k matrix, and whether y was such an indicator matrix.

    y has an iterable of labels for each node, or is an indicator of 0 and 1, also as lists.
    """
    if hasattr(y, "toarray"):
        y = y.toarray()
    titles = list(y.columns) if hasattr(y, "columns") else None
    if titles is None and not (is_pandas(y) or isinstance(y, np.ndarray) and y.ndim == 1):
        y = as_array(y)
    if len(y) != n:
        raise ValueError(f"y has {len(y)} elements, and the graph has {n} nodes")
    if titles is None and not (isinstance(y, np.ndarray) and y.ndim == 2):
        y = list(y)
        kinds = {type(v) for v in y}
        lengths = {len(v) for v in y} if kinds <= {list, tuple, np.ndarray} else set()
        if len(lengths) == 1 and lengths != {0} and {v for some in y for v in some} <= {0, 1}:
            y = np.array(y)
    if titles is not None or isinstance(y, np.ndarray):
        matrix = np.asarray(as_array(y))
        if not np.isin(matrix, (0, 1)).all():
            raise ValueError("y has values other than 0 and 1, those of a matrix of labels")
        classes = np.array(range(matrix.shape[1]) if titles is None else titles)
        return classes, matrix.astype(np.int8), True
    lists = [[] if is_missing(as_objects([v]))[0] else [v] if isinstance(v, (str, bytes)) else list(v) for v in y]
    if not any(lists):
        raise ValueError("y has no label")
    labels = sorted({label for some in lists for label in some})
    number = {c: i for i, c in enumerate(labels)}
    matrix = np.zeros((n, len(labels)), dtype=np.int8)
    for row, some in enumerate(lists):
        matrix[row, [number[label] for label in some]] = 1
    return as_objects(labels) if isinstance(labels[0], tuple) else np.array(labels), matrix, False


def attributes_of(graph: Graph, features: Any) -> tuple[Any, Any]:
    """Return the rows of nodes, and their attributes: a matrix, or the columns of a frame."""
    rows = np.arange(graph.n)
    if is_pandas(features):
        features = features.to_frame() if features.ndim == 1 else features
        rows = nodes_of(graph).rows_of_index(features, "node_features")
    columns = columns_of(features) if hasattr(features, "columns") else None
    for title, column in columns or ():
        kinds = {type(v) for v in as_array(column)[:100]} if column.dtype == object else set()
        if wrong := kinds & {list, tuple, set, dict, np.ndarray}:
            raise ValueError(f"node_features: the column {title!r} has elements of type "
                             f"{wrong.pop().__name__}; give each of their numbers a column, as "
                             f"numpy.stack(frame[{title!r}]) has")
    if columns is None and not sp.issparse(features):
        features = np.asarray(as_array(features), dtype=np.float64)
        if features.ndim != 2:
            raise ValueError(f"node_features of shape {features.shape} need a row for each node")
    if features.shape[0] != len(rows):
        raise ValueError(f"node_features has {features.shape[0]} rows, and the graph has {graph.n} nodes")
    if columns is None or len(columns) <= _TABLE:
        return rows, features if columns is None else columns
    matrix = np.stack([as_array(column) for _, column in columns], axis=1)
    return rows, columns if matrix.dtype == object or is_missing(matrix).any() else matrix


def attribute_cells(column: Any) -> list[Any]:
    """Return the values of a column of attributes as they are written to a table.

    Text is quoted, so that the rules for text files, such as those of NA and inf, do not apply.
    """
    values = as_array(column)
    texts = cells(values)
    is_category = str(getattr(column, "dtype", "")) in ("category", "Categorical")
    if is_category and values.dtype.kind in "iuf":
        texts = ["" if text == "" else str(text) for text in texts]
    if all(isinstance(v, (bool, np.bool_)) or v == "" for v in texts):
        return [v if v == "" else int(v) for v in texts]
    if all(map(_DATE.match, [v for v in texts if isinstance(v, str) and v])):
        return texts
    return [f'"{v}"' if isinstance(v, str) and v else v for v in texts]

"""Graphs: conversion from other libraries, and the arrays that the program reads."""

from __future__ import annotations

import os
import sys
from typing import Any, Hashable, Iterable, Mapping, Sequence

import numpy as np
import scipy.sparse as sp

from ._errors import InputError
from ._folder import write_array


class Graph:
    """A graph that can be passed to every function of this package.

    Use :func:`as_graph` to make one. Conversion of a NetworkX or igraph graph takes longer than most
    computations, so that a graph that is used several times should be converted once.

    Attributes
    ----------
    matrix : scipy.sparse matrix or None
        The adjacency matrix in CSR form, with sorted columns; None for a file or a store.
    nodes : list or None
        The nodes of the rows; None if row i is node i.
    path : str or None
        The file or the store.
    """

    def __init__(self, matrix: Any = None, nodes: Sequence[Hashable] | None = None, path: str | None = None) -> None:
        self.matrix, self.path = matrix, path
        self.nodes = None if nodes is None else list(nodes)
        self._index: dict[Hashable, int] | None = None

    def __repr__(self) -> str:
        if self.matrix is None:
            return f"<heatwalk.Graph {self.path!r}>"
        return f"<heatwalk.Graph of {self.matrix.shape[0]} nodes and {self.matrix.nnz} entries>"

    @property
    def n(self) -> int:
        """The number of nodes."""
        if self.matrix is not None:
            return int(self.matrix.shape[0])
        return len(self.ids())

    def ids(self) -> list[Any]:
        """Return the nodes in the order of the rows; of a file or a store the ids, as text."""
        if self.nodes is None and self.matrix is None:
            from ._store import ids_of

            self.nodes = list[Hashable](ids_of(str(self.path)))
        return list(range(self.n)) if self.nodes is None else self.nodes

    def row(self, node: Hashable) -> int:
        """Return the row of a node.

        Raises
        ------
        KeyError
            The node is not in the graph.
        """
        if self.matrix is not None and self.nodes is None:
            if isinstance(node, (int, np.integer)) and 0 <= node < self.n:
                return int(node)
            raise KeyError(f"{node!r} is not a row of the matrix, which has {self.n}")
        if self._index is None:
            self._index = {v: i for i, v in enumerate(self.ids())}
        key = str(node) if self.matrix is None else node
        if key not in self._index:
            raise KeyError(f"{node!r} is not a node of the graph")
        return self._index[key]

    def bytes(self) -> int:
        """Return the bytes of the arrays that the program reads."""
        if self.matrix is None:
            return 0
        return int(self.matrix.indptr.nbytes + self.matrix.indices.nbytes + self.matrix.data.nbytes)

    def argument(self, folder: str) -> str:
        """Return the GRAPH argument of the program, after writing the arrays to a folder."""
        if self.matrix is None:
            return str(self.path)
        path = os.path.join(folder, "graph.csr")
        os.mkdir(path)
        data = self.matrix.data
        write_array(os.path.join(path, "indptr.npy"), self.matrix.indptr)
        write_array(os.path.join(path, "indices.npy"), self.matrix.indices)
        if not (data == 1).all():
            write_array(os.path.join(path, "data.npy"), data)
        return path

    def id_text(self, row: int) -> str:
        """Return the id of a row as the program knows it."""
        return str(row) if self.matrix is not None else str(self.ids()[row])


_EDGES = "A list of pairs becomes a graph by networkx.Graph(pairs)"


def _csr(matrix: Any) -> Any:
    """Return a square CSR matrix with sorted columns and without zeros, never the caller's object changed."""
    if not sp.issparse(matrix):
        matrix = np.asarray(matrix)
        if matrix.dtype == object:
            matrix = matrix.astype(np.float64)
    if matrix.dtype.kind == "c":
        raise ValueError("Complex data not supported: an adjacency matrix has real numbers")
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"an adjacency matrix has real numbers; this one has {matrix.dtype}. {_EDGES}")
    if matrix.ndim != 2:
        raise ValueError(f"an adjacency matrix has two dimensions; this array has {matrix.ndim}. Reshape your data")
    values = matrix.data if sp.issparse(matrix) and matrix.format in ("csr", "csc", "coo") else matrix
    if values.dtype.kind == "f" and isinstance(values, np.ndarray) and not np.isfinite(values).all():
        raise ValueError("Input contains NaN or infinity: weights are finite numbers")
    if 0 in matrix.shape:
        what = "sample" if matrix.shape[0] == 0 else "feature"
        raise ValueError(f"0 {what}(s) (shape={matrix.shape}) while a minimum of 1 is required: the matrix has no nodes")
    if matrix.shape[0] != matrix.shape[1]:
        way = "Rows of features become a graph by sklearn.neighbors.kneighbors_graph"
        if 2 in matrix.shape and matrix.dtype.kind in "iuf":
            way = "An edge index is an array of whole numbers of shape 2×m. " + (_EDGES if matrix.shape[1] == 2 else way)
        raise ValueError(f"an adjacency matrix is square; this one is {matrix.shape[0]}×{matrix.shape[1]}. {way}")
    if not sp.issparse(matrix):
        matrix = sp.csr_matrix(matrix)
    if matrix.format != "csr":
        matrix = matrix.tocsr()
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    data = matrix.data
    if data.dtype.kind in "if" and data.size and data.min() < 0:
        raise ValueError("Negative values in data: weights of a graph are 0 or more. "
                         "If this is a Laplacian, pass the adjacency matrix and matrix=\"laplacian\"")
    if not data.all():
        matrix = matrix.copy()
        matrix.eliminate_zeros()
        data = matrix.data
    if data.dtype not in (np.float64, np.float32, np.int64, np.int32, np.bool_):
        matrix = matrix.astype(np.float64)
    return matrix


def _is_networkx(x: Any) -> bool:
    return hasattr(x, "adjacency") and hasattr(x, "nodes") and hasattr(x, "is_directed")


def _is_igraph(x: Any) -> bool:
    return hasattr(x, "get_edgelist") and hasattr(x, "vs")


def _from_edges(source: Any, target: Any, weight: Any, n: int, directed: bool) -> Any:
    """Return the matrix of edges. Weights of several edges between two nodes are added; without weights
    they are one edge."""
    values = np.ones(len(source)) if weight is None else np.asarray(weight, dtype=np.float64)
    matrix = sp.coo_matrix((values, (source, target)), shape=(n, n)).tocsr()
    if not directed:
        loops = matrix.diagonal()
        matrix = matrix + matrix.T
        if loops.any():
            matrix = (matrix - sp.diags(loops)).tocsr()
    if weight is None:
        matrix.data[:] = 1
    return matrix


def _from_networkx(graph: Any) -> Graph:
    networkx = sys.modules["networkx"]
    nodes = list(graph.nodes)
    try:
        matrix = networkx.to_scipy_sparse_array(graph, nodelist=nodes, format="csr", dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the attribute weight of an edge is not a number: {error}") from None
    return Graph(_csr(matrix), nodes)


def _from_igraph(graph: Any) -> Graph:
    edges = np.asarray(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    weight = graph.es["weight"] if "weight" in graph.es.attributes() else None
    nodes = graph.vs["name"] if "name" in graph.vs.attributes() else None
    return Graph(_csr(_from_edges(edges[:, 0], edges[:, 1], weight, graph.vcount(), graph.is_directed())), nodes)


_TITLES = ("source", "target", "weight")


def _from_pandas(frame: Any) -> Graph:
    titles = {str(c).lower(): c for c in frame.columns}
    source, target, weight = (titles.get(t) for t in _TITLES)
    if len(frame.columns) == 2 and (source is None or target is None):
        source, target = frame.columns
    elif source is None or target is None or set(titles) - set(_TITLES):
        return _from_table(frame)
    pandas = sys.modules["pandas"]
    ends = pandas.concat([frame[source], frame[target]], ignore_index=True)
    codes, nodes = pandas.factorize(ends, sort=bool(ends.dtype.kind in "iu"))
    if (codes < 0).any():
        raise ValueError(f"a missing value in the columns {source} and {target}; drop these edges with frame.dropna()")
    m = len(frame)
    values = None if weight is None else frame[weight].to_numpy()
    directed = _csr(_from_edges(codes[:m], codes[m:], values, len(nodes), True))
    return Graph(_csr(_mirror(directed, nodes)), list(nodes))


def _mirror(matrix: Any, nodes: Any) -> Any:
    """Return the undirected matrix of directed edges. As in a file, two directions of equal weight are one edge,
    and two of different weight are an error."""
    larger, smaller = matrix.maximum(matrix.T).tocsr(), matrix.minimum(matrix.T).tocoo()
    if smaller.nnz:
        weight = np.asarray(larger[smaller.row, smaller.col]).ravel()
        different = np.flatnonzero(weight != smaller.data)
        if different.size:
            i, j = smaller.row[different[0]], smaller.col[different[0]]
            raise ValueError(f"{nodes[i]}–{nodes[j]} has weight {matrix[i, j]:g}, and {nodes[j]}–{nodes[i]} has weight {matrix[j, i]:g}; "
                             "keep one of the rows, or pass a directed graph of NetworkX")
    return larger


def _from_table(frame: Any) -> Graph:
    """Return the graph of a frame whose columns the program recognizes by their titles, as in a CSV file."""
    from . import _process
    from ._folder import call_in_folder
    from ._store import read_ids

    def work(folder: str) -> tuple[Any, list[str]]:
        table, out = os.path.join(folder, "edges.csv"), os.path.join(folder, "graph.npz")
        frame.to_csv(table, index=False)
        _process.run(["convert", table, "--header", "yes", "-o", out], {table: "graph"})
        return sp.load_npz(out), read_ids(out + ".ids")

    try:
        matrix, ids = call_in_folder(int(frame.memory_usage().sum()), work)
    except InputError as error:
        if "names no source and target" in error.message:
            error = InputError(error.message, "rename them with frame.rename(columns=...)", "graph")
        raise error from None
    values: dict[str, Hashable] = {}
    for column in frame.columns:
        for value in frame[column].unique():
            values.setdefault(str(value), value)
    return Graph(_csr(matrix), [values.get(text, text) for text in ids])


def as_graph(graph: Any, *, ids: Sequence[Hashable] | None = None) -> Graph:
    """Convert a graph of another library, once for several calls.

    Parameters
    ----------
    graph : object
        A SciPy sparse matrix or array, a dense array, a NetworkX or igraph graph, a pandas frame with
        the columns source and target (and weight), an edge index of shape (2, m) as PyTorch Geometric
        has it, the path of a graph file or a store, a :class:`Store`, or a :class:`Graph`.
    ids : sequence, optional
        The nodes of the rows, for a matrix.

    Returns
    -------
    Graph

    Examples
    --------
    >>> import numpy as np
    >>> import heatwalk as hw
    >>> hw.as_graph(np.array([[0, 1, 1], [1, 2, 3]]))
    <heatwalk.Graph of 4 nodes and 6 entries>
    """
    made = _convert(graph)
    if ids is not None:
        ids = list(ids)
        if made.matrix is None or len(ids) != made.n:
            raise ValueError(f"ids has {len(ids)} elements; give one for each row of a matrix")
        made = Graph(made.matrix, ids)
    return made


def _convert(graph: Any) -> Graph:
    if isinstance(graph, Graph):
        return graph
    if isinstance(graph, (str, os.PathLike)):
        return Graph(path=os.fspath(graph))
    if hasattr(graph, "__heatwalk_path__"):
        return Graph(path=graph.__heatwalk_path__())
    if sp.issparse(graph):
        return Graph(_csr(graph))
    if _is_networkx(graph):
        return _from_networkx(graph)
    if _is_igraph(graph):
        return _from_igraph(graph)
    if "pandas" in sys.modules and isinstance(graph, sys.modules["pandas"].DataFrame):
        square = graph.shape[0] == graph.shape[1] and all(d.kind in "biuf" for d in graph.dtypes)
        if square and (graph.shape[1] > 4 or list(graph.columns) == list(graph.index)):  # no columns of edges
            return Graph(_csr(graph.to_numpy()), None)
        return _from_pandas(graph)
    array = np.asarray(graph)
    if array.ndim == 0:
        raise ValueError(f"{type(graph).__name__} is not a graph; pass a matrix, a NetworkX or igraph graph, a pandas frame of edges, or a path")
    if array.ndim == 2 and array.shape[0] == 2 and array.shape[1] != 2 and array.dtype.kind in "iu":
        if array.size and array.min() < 0:
            raise ValueError("an edge index has row numbers from 0; this one has negative numbers")
        n = int(array.max()) + 1 if array.size else 0
        # An edge index usually has both directions of an edge, which are one edge here.
        matrix = sp.coo_matrix((np.ones(array.shape[1], dtype=bool), (array[0], array[1])), shape=(n, n)).tocsr()
        matrix = matrix.maximum(matrix.T)
        return Graph(_csr(matrix))
    return Graph(_csr(array))


def labels_of(graph: Graph, y: Mapping[Hashable, Any] | Any) -> Any:
    """Return labels as an array with an element for each row.

    A dict gives those of some nodes, and so does a pandas series, or a frame with a column for each class, with
    nodes as index, see :func:`is_by_row`.
    """
    if isinstance(y, (str, os.PathLike)):
        raise ValueError("y is a path; read the labels, as in pandas.read_csv(path, index_col=0).squeeze()")
    pandas = sys.modules.get("pandas")
    if pandas and isinstance(y, (pandas.Series, pandas.DataFrame)):
        if is_by_row(graph, y.index):
            return y
        if y.index.has_duplicates:
            raise ValueError("y has two labels for a node in its index; keep one, or pass multi_label=True with a list for each node")
        if isinstance(y, pandas.DataFrame):
            if len(y.columns) > 1:
                try:
                    rows = [graph.row(v) for v in y.index]
                except KeyError as error:
                    raise ValueError(f"y: {error.args[0]}; a frame has nodes as index, as y.set_index({y.columns[0]!r}) has") from None
                return y.set_axis(rows).reindex(range(graph.n), fill_value=0)
            y = y.iloc[:, 0]
        y = y.to_dict()
    if not isinstance(y, Mapping):
        return y
    labels = np.full(graph.n, None, dtype=object)
    for node, label in y.items():
        try:
            labels[graph.row(node)] = label
        except KeyError as error:
            raise ValueError(f"y: {error.args[0]}") from None
    return labels


def is_by_row(graph: Graph, index: Any) -> bool:
    """Report whether pandas values with an index are in the order of the rows.

    These are values for the rows of a matrix, and those with the default index, 0 to n − 1, if 0 is not a node.
    """
    if len(index) != graph.n:
        return False
    if graph.matrix is not None and graph.nodes is None:
        return True
    try:
        graph.row(0)
    except KeyError:
        return list(index) == list(range(graph.n))
    return False

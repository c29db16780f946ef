"""Graphs: conversion from other libraries, their nodes, and the arrays that the program reads."""

from __future__ import annotations

import collections
import contextlib
import itertools
import operator
import os
import pathlib
import re
import sys
import unicodedata
import weakref
import zlib
from typing import Any, Hashable, Iterable, Mapping, Sequence

import numpy as np
import scipy.sparse as sp

from . import _process
from ._errors import InputError, NotFoundError, warn
from ._folder import call_in_folder, lasting_folder, write_array
from ._frame import Choice, ask_columns, choose_columns, columns_of, is_missing, levels_of, read_table
from ._server import checksum_of, version_of


_PAIRS = "A list of pairs becomes a graph by networkx.Graph(pairs)"

#: Words of names of attributes that are large for weak edges, as in ``distance.go`` of the program.
_DISTANCES = frozenset("distance dist length len latency delay rtt ping cost hop km kilometer kilometre mile meter "
                       "metre traveltime dissimilarity resistance".split())


def _is_distance(name: str) -> bool:
    """Report whether a word of a name means a distance, as in length_m or tripDistance."""
    words = [w.lower() for w in re.findall(r"[^\W\d_]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", name))]
    return any(w in _DISTANCES or w.removesuffix("s") in _DISTANCES for w in words) or \
        any(a == "travel" and b.startswith("time") for a, b in itertools.pairwise(words))


def _split_weight(weight: Any) -> tuple[Any, bool]:
    """Return the name of an attribute, and whether weights are its reciprocals, as in ``1/distance``."""
    if isinstance(weight, str) and weight.startswith("1/"):
        return weight[2:], True
    return weight, False


def _reciprocal(values: Any) -> Any:
    """Return 1/x of numbers; 0 has no reciprocal."""
    values = np.asarray(values, dtype=np.float64)
    if (values == 0).any():
        raise ValueError("weight: a distance of 0 has no reciprocal; give it a small distance")
    return 1 / values


class Nodes:
    """The nodes of a graph in the order of its rows: numbers, objects, or the ids of a file.

    The ids of a file or a store are read when they are needed.
    """

    def __init__(self, n: int = 0, names: Iterable[Hashable] | None = None, path: str = "") -> None:
        self.path = path
        self._n: int | None = None if path else n
        self._names = None if names is None else list(names)
        self._index: dict[Hashable, int] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what use adds, so that a pickle and its hash stay the same."""
        return {**self.__dict__, "_index": None, **({"_n": None, "_names": None} if self.path else {})}

    def __len__(self) -> int:
        if self._n is None:
            self._n = int(_process.run(["info", self.path])["nodes"])
        return self._n

    @property
    def is_numbered(self) -> bool:
        """Whether node i is row i of a matrix."""
        return self._names is None and not self.path

    def all(self) -> Sequence[Any]:
        """Return all nodes; of a file or a store the ids, as text."""
        if self._names is None and self.path:
            def work(folder: str) -> list[Hashable]:
                out = os.path.join(folder, "nodes.ids")
                _process.run(["info", self.path, "--ids", out])
                with open(out, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
                    return [x[1:-1].replace('""', '"') if len(x) > 1 and x[0] == x[-1] == '"' else x
                            for x in file.read().split("\n")[:-1]]
            self._names = call_in_folder(0, work)
        return range(len(self)) if self._names is None else self._names

    def at(self, rows: Sequence[int]) -> Sequence[Any]:
        """Return the nodes of rows."""
        nodes = self.all()
        return [nodes[row] for row in rows]

    def row(self, node: Hashable) -> int:
        """Return the row of a node, or raise a KeyError."""
        if self.is_numbered:
            is_number = isinstance(node, (int, float, np.number)) and not isinstance(node, bool)
            if is_number and 0 <= node < len(self) and node == int(node):  # type: ignore[operator]
                return int(node)  # type: ignore[call-overload, no-any-return]
            raise KeyError(f"{node!r} is not a row of the matrix, which has {len(self)}")
        if self._index is None:
            self._index = {v: i for i, v in enumerate(self.all())}
        row = self._index.get(str(node) if self.path else node)
        if row is None or is_bool(node) and not (self.path or is_bool(self.at([row])[0])):
            alike = next((v for v in self.all() if str(v) == str(node)), None)
            more = "" if alike is None else f", which has {alike!r}: give both one type"
            if alike is None and (alike := next((v for v in self.all() if _look(v) == _look(node)), None)) is not None:
                more = f", which has {ascii(alike)}; this looks like {ascii(node)}"
            raise KeyError(f"{node!r} is not a node of the graph{more}")
        return row

    def rows(self, nodes: Iterable[Any], name: str) -> Any:
        """Return the rows of nodes as an array; errors name the argument."""
        array = as_array(nodes)
        if self.is_numbered and isinstance(array, np.ndarray) and array.dtype.kind in "iu":
            if not ((array < 0) | (array >= len(self))).any():
                return array.ravel().astype(np.int64)
        try:
            return np.array([self.row(v) for v in plain(nodes)], dtype=np.int64)
        except KeyError as error:
            raise ValueError(f"{name}: {error.args[0]}") from None
        except TypeError as error:
            raise ValueError(f"{name} has an element that is no node: {error}") from None

    def select(self, values: Any, name: str) -> Any:
        """Return the rows of nodes, or of those where a mask of all nodes is true."""
        array = values if is_pandas(values) else as_array(values)
        array = array if hasattr(array, "dtype") else list(array)
        is_mask = len(array) > 0 and all(map(is_bool, array))
        if not is_mask or is_bool(self.at([0])[0]):
            return self.rows(array, name)
        if np.shape(array) != (len(self),):
            raise ValueError(f"{name} is a mask of shape {np.shape(array)}; it needs an element "
                             f"for each of {len(self)} nodes")
        return np.flatnonzero(self.align(values, name))

    def rows_of_index(self, values: Any, name: str) -> Any:
        """Return the rows of the index of a series or frame, which has nodes as index."""
        if values.index.has_duplicates:
            raise ValueError(f"{name} has two values for a node in its index; keep one")
        try:
            return self.rows(values.index, name)
        except ValueError as error:
            if str(error).endswith("one type"):
                raise
            with contextlib.suppress(KeyError):
                self.row(values.index[0])  # some of the index are nodes
                raise ValueError(f"{error}; pass as_graph(edges, ids={name}.index) for a graph with "
                                 "nodes without an edge, or leave such rows out") from None
            way = f" {name}.set_index({values.columns[0]!r}) or" if values.ndim == 2 else ""
            raise ValueError(f"{error}; give it nodes as index, as{way} {name}.set_axis(nodes) "
                             f"has, or pass {name}.to_numpy() in the order of the rows") from None

    def align(self, values: Any, name: str) -> Any:
        """Return pandas values in the order of the rows; others are returned as they are."""
        if not is_pandas(values):
            return values
        rows = self.rows_of_index(values, name)
        if len(rows) != len(self):
            raise ValueError(f"{name} has {len(rows)} rows, and the graph has {len(self)} nodes")
        return values.iloc[np.argsort(rows)]


def _look(node: Any) -> str:
    """Return the text of a node as it looks: see Look in file/table/look.go."""
    text = str(node)
    if not (text.isascii() and text.isprintable()):
        text = "".join(" " if c.isspace() else c for c in unicodedata.normalize("NFC", text)
                       if c.isspace() or not (unicodedata.category(c) in ("Cc", "Cf") or "\ufe00" <= c <= "\ufe0f" or c == "\u034f"))
    return text.strip()


def _warn_of_alike(nodes: Mapping[Hashable, int]) -> None:
    """Warn of nodes that are different texts and look alike."""
    looks: dict[str, str] = {}
    pairs = []
    for node in nodes:
        if isinstance(node, str) and not (node.isascii() and node.isprintable() and node == node.strip()):
            look = _look(node)
            other = look if look in nodes else looks.setdefault(look, node)
            if other != node:
                pairs.append((other, node))
    if pairs:
        warn(f"{ascii(pairs[0][0])} and {ascii(pairs[0][1])} look alike and are different nodes ({len(pairs)} such "
             f"pair{'s'[:len(pairs) > 1]}); write them in one way if they are one node")


class Graph:
    """A graph that can be passed to every function of this package.

    Use :func:`as_graph` to make one, because conversion takes longer than most computations.

    Attributes
    ----------
    matrix
        The adjacency matrix, with sorted columns; None for a file or a store.
    columns
        The roles of the columns of a frame by title, as in {"payer": "source"}.
    path
        The file or the store, or "".
    sides
        The numbers of rows and columns of a matrix with ``bipartite=True``, or None.
    """

    def __init__(self, matrix: Any = None, names: Iterable[Hashable] | None = None,
                 path: str = "", n: int | None = None) -> None:
        self.matrix, self.path = matrix, path
        self.columns: dict[Any, str] = {}
        self.is_warned = False  # that its diagonal is left out
        self._is_temporary = False  # the store, which is removed with this object
        self.kinds: dict[str, Any] = {}  # of edges of a frame, by their text
        self.sides: tuple[int, int] | None = None  # rows and columns of the matrix of a bipartite graph
        self._edges_sum: tuple[Any, ...] = ()  # of a temporary store
        self.reading: dict[str, Any] | None = None  # arguments of as_graph for edges; None: not known
        if matrix is not None:
            n = int(matrix.shape[0])
        if names is not None:
            names = plain(names)
            if len(names) != n:
                raise ValueError(f"ids has {len(names)} elements; give one for each of {n} rows")
            first: dict[Hashable, int] = {}
            for row, name in enumerate(names):
                if first.setdefault(name, row) != row:
                    raise ValueError(f"the nodes {first[name]} and {row} have one name, {name!r}; "
                                     "name each differently")
            _warn_of_alike(first)
        self._nodes = Nodes(n or 0, names, path if n is None else "")

    def __repr__(self) -> str:
        if self._nodes.path:
            return f"<heatwalk.{type(self).__name__} {self.path!r}>"
        more = "edges with kinds or times" if self.matrix is None else f"{self.matrix.nnz} entries"
        used = ", ".join(f"{title} → {role}" for title, role in self.columns.items() if title != role)
        return f"<heatwalk.Graph of {self.n} nodes and {more}{used and ': '}{used}>"

    def __deepcopy__(self, memo: Any) -> Graph:
        return self  # it never changes, and scikit-learn copies parameters

    def __getstate__(self) -> dict[str, Any]:
        state = {**self.__dict__, "is_warned": False}
        if self._is_temporary:
            state["files"] = {f.name: f.read_bytes() for f in pathlib.Path(self.path).iterdir()}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        files = state.pop("files", {})
        self.__dict__.update(state)
        if files:
            self.path = _temporary_store(self, sum(map(len, files.values())))
            os.mkdir(self.path)
        for name, content in files.items():
            pathlib.Path(self.path, name).write_bytes(content)
        if self._nodes.path:
            self._nodes.path = self.path

    @property
    def n(self) -> int:
        """The number of nodes."""
        return len(self._nodes)

    @property
    def nodes(self) -> Sequence[Any]:
        """The nodes in the order of the rows: a range for a matrix, text for a file or a store."""
        return self._nodes.all()

    def to_scipy(self) -> sp.csr_matrix:
        """Return the adjacency matrix, for a file or a store after reading it.

        Edges with kinds and times count with weight 1, or the one that they have, and add.
        """
        if self.matrix is not None:
            return self.matrix
        def work(folder: str) -> sp.csr_matrix:
            out = os.path.join(folder, "graph.npz")
            names = {} if self._nodes.path else {self.path: "graph"}
            about, flags = _process.run(["info", self.path], names), list[str]()
            for kind in about.get("kinds", ())[:1]:  # all of them have weight 1
                flags = ["--kind-weights", kind["name"] + "=1"]
            if "first_time" in about:
                flags += ["--since", about["first_time"]]
            _process.run(["convert", self.path, "-o", out, *flags], names)
            return sp.csr_matrix(sp.load_npz(out))
        return call_in_folder(0, work)


def nodes_of(graph: Graph) -> Nodes:
    """Return the nodes of a graph."""
    return graph._nodes


def bytes_of(graph: Graph) -> int:
    """Return the bytes of the arrays that the program reads."""
    m = graph.matrix
    return 0 if m is None else int(m.indptr.nbytes + m.indices.nbytes + m.data.nbytes)


def is_store(graph: Graph) -> bool:
    """Report whether a graph is a store on disk, which takes no flags for reading files."""
    return os.path.isfile(os.path.join(graph.path, "manifest"))


def is_signed(matrix: Any) -> bool:
    """Report whether a sparse matrix has negative values."""
    return matrix is not None and matrix.nnz > 0 and bool(matrix.data.min() < 0)


def checksum(graph: Graph) -> tuple[Any, ...]:
    """Return a value that tells graphs apart: the checksums of the arrays or edges, or the path."""
    if (m := graph.matrix) is None:
        return graph._edges_sum or (os.path.realpath(graph.path),)
    arrays = m.indptr.astype(np.int64), m.indices.astype(np.int64), m.data.astype(np.float64)
    return tuple(zlib.crc32(np.ascontiguousarray(a).view(np.uint8)) for a in arrays)


_recent: dict[tuple[Any, ...], tuple[Graph, Any]] = {}  # the last one, with its version


def graph_of(source: Any) -> Graph:
    """Return the graph of an argument, for equal matrices that follow each other the same object.

    Clones and folds of an estimator have copies of its matrix. They share the conversion, and the graph that the
    program keeps open.
    """
    is_array = isinstance(source, np.ndarray) and source.dtype != object
    if not is_array and not (sp.issparse(source) and source.format == "csr"):
        return as_graph(source)
    arrays = [source] if is_array else [source.indptr, source.indices, source.data]
    key = (type(source), source.shape, *((a.dtype, checksum_of(a)) for a in arrays))
    graph, version = _recent.get(key, (None, None))
    if graph is None or version != version_of(graph):  # it may share arrays that have changed
        graph = as_graph(source)
        _recent.clear()
        _recent[key] = graph, version_of(graph)
    return graph


def argument(graph: Graph, folder: str) -> str:
    """Return the GRAPH argument of the program, after writing the arrays to a folder."""
    if graph.matrix is None:
        return os.path.join(".", graph.path) if graph.path.startswith("-") else graph.path
    path = os.path.join(folder, "graph.csr")
    os.mkdir(path)
    data = graph.matrix.data
    write_array(os.path.join(path, "indptr.npy"), graph.matrix.indptr)
    write_array(os.path.join(path, "indices.npy"), graph.matrix.indices)
    if not (data == 1).all():
        write_array(os.path.join(path, "data.npy"), data)
    return path


def is_bool(x: Any) -> bool:
    """Report whether x is a truth value, which is no number of a node."""
    return isinstance(x, (bool, np.bool_))


def plain(values: Iterable[Any]) -> list[Any]:
    """Return a list of nodes, in which numbers and text of NumPy are those of Python."""
    return [v.item() if isinstance(v, (np.number, np.bool_, np.str_)) else v for v in values]


def is_pandas(x: Any) -> bool:
    """Report whether x is a series or a frame of pandas."""
    pandas: Any = sys.modules.get("pandas")
    return bool(pandas) and isinstance(x, (pandas.Series, pandas.DataFrame))


def as_array(x: Any) -> Any:
    """Return the array of a tensor, a series and the like, and other objects as they are."""
    if np.ma.isMaskedArray(x) and np.ma.is_masked(x):
        raise ValueError("an array has masked elements; fill them, as array.filled(0) does")
    if hasattr(x, "detach"):  # a tensor of PyTorch
        x = x.detach().cpu()
    if hasattr(x, "to_numpy"):
        return x.to_numpy()
    if hasattr(x, "numpy"):
        return x.numpy()
    return np.asarray(x) if hasattr(x, "__array__") else x


def widen(matrix: Any) -> Any:
    """Return a sparse matrix in float64, if elements at the same place may overflow its type in their sum."""
    if matrix.dtype.kind not in "iuf" or matrix.dtype == np.float64 or \
            getattr(matrix, "has_canonical_format", True):  # other formats have one element at each place
        return matrix
    wide = matrix.copy()
    wide.data = matrix.data.astype(np.float64)  # astype of a matrix adds before it converts
    return wide


def _finite(matrix: Any) -> Any:
    """Return a matrix of finite real numbers, sparse or an array."""
    if sp.issparse(matrix):
        matrix = widen(matrix)
    else:
        matrix = np.asarray(as_array(matrix))
        if matrix.dtype == object:
            matrix = matrix.astype(np.float64)
    if matrix.dtype.kind == "c":
        raise ValueError("Complex data not supported: an adjacency matrix has real numbers")
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"an adjacency matrix has real numbers; this one has {matrix.dtype}. {_PAIRS}")
    if matrix.ndim != 2:
        raise ValueError(f"an adjacency matrix has two dimensions; this array has {matrix.ndim}. Reshape your data")
    kind = matrix.dtype
    if kind.kind == "f" and kind.itemsize not in (4, 8) or not kind.isnative:
        matrix = matrix.astype(np.float64)
    has_data = sp.issparse(matrix) and matrix.format in ("csr", "csc", "coo")
    values = matrix.data if has_data else matrix
    if isinstance(values, np.ndarray) and not np.isfinite(values).all():
        raise ValueError("Input contains NaN or infinity: weights are finite numbers")
    return matrix


def _csr(matrix: Any) -> Any:
    """Return a square CSR matrix with sorted columns and without zeros; the argument stays."""
    matrix = _finite(matrix)
    n, columns = matrix.shape
    if 0 in matrix.shape:
        raise ValueError(f"0 {'feature' if n else 'sample'}(s) (shape={matrix.shape}) while a "
                         "minimum of 1 is required: the matrix has no nodes")
    if n != columns:
        way = ("as_graph(B, bipartite=True) makes nodes of its rows and columns. Rows of features become a graph "
               "by sklearn.neighbors.kneighbors_graph")
        if 2 in matrix.shape and matrix.dtype.kind in "iuf":
            way = "An edge index is an array of whole numbers of shape 2×m. " + (_PAIRS if columns == 2 else way)
        raise ValueError(f"an adjacency matrix is square; this one is {n}×{columns}. {way}")
    matrix = (matrix if sp.issparse(matrix) else sp.csr_matrix(matrix)).tocsr()
    if not matrix.has_canonical_format or not matrix.data.all():
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    if is_signed(matrix) and (matrix.diagonal() > 0).any():
        raise ValueError("Negative values in data and a positive diagonal: if this is a "
                         "Laplacian, pass the adjacency matrix and matrix=\"laplacian\"")
    if matrix.dtype not in (np.float64, np.float32, np.int64, np.int32, np.bool_):
        matrix = matrix.astype(np.float64)
    return matrix


def _from_edges(ends: Any, weight: Any, n: int, directed: bool, names: Any) -> Any:
    """Return the matrix of edges, by the rules of a file: equal weights of a–b and b–a are one."""
    source, target = ends
    values = np.ones(len(source)) if weight is None else np.asarray(weight, dtype=np.float64)
    if len(values) != len(source):
        raise ValueError(f"weight has {len(values)} elements, and there are {len(source)} edges")
    matrix = sp.coo_matrix((values, (source, target)), shape=(n, n)).tocsr()
    _warn_of_zeros(np.count_nonzero(values == 0))
    if weight is None:
        matrix.data[:] = 1
    if directed:
        return _csr(matrix)
    matrix.eliminate_zeros()
    there = matrix.multiply(matrix.T != 0).tocsr().tocoo()
    back = matrix.T.multiply(matrix != 0).tocsr().tocoo().data
    apart = abs(there.data - back) > 1e-10 * np.maximum(abs(there.data), abs(back))  # not by rounding
    for e in np.flatnonzero(apart)[:1]:
        i, j = there.row[e], there.col[e]
        a, b = (i, j) if names is None else (names[i], names[j])
        raise ValueError(f"{a}–{b} has weight {there.data[e]:g}, and {b}–{a} has weight "
                         f"{back[e]:g}; keep one of them, or pass directed=True to as_graph")
    there.data = (there.data + back) / 2
    return _csr(matrix + matrix.T - there)


def _warn_of_zeros(count: int) -> None:
    """Warn of edges with weight 0, as the program does of those of a file."""
    if count:
        warn(f"graph: {count} edge{'s' * (count > 1)} with weight 0 {'are' if count > 1 else 'is'} "
             f"no edge{'s' * (count > 1)}; as_graph(graph, weight=None) counts every edge as 1")


def csr_of_networkx(graph: Any, weight: str | None, value: Any = None) -> sp.csr_matrix:
    """Return the adjacency matrix of a NetworkX graph, several times as fast as NetworkX does.

    Parallel edges without weights are one edge. With a function of weights, they are added as the others are, and the
    matrix has the sums of its values.
    """
    adjacency = dict(graph.adjacency())
    n, near = len(adjacency), list(adjacency.values())
    degrees = np.fromiter(map(len, near), np.int64, n)
    indptr = np.concatenate([[0], np.cumsum(degrees)])
    indices = _rows_of_ends(list(adjacency), itertools.chain.from_iterable(near), int(indptr[-1]))
    edges = list(map(operator.methodcaller("values"), near))
    ends: Iterable[Any] = itertools.chain.from_iterable(edges)
    counts = value is not None and graph.is_multigraph()
    if not counts and (weight is None or not any(map(any, edges))):
        matrix = sp.csr_matrix((np.ones(len(indices)), indices, indptr), shape=(n, n))
        matrix.sort_indices()
        return matrix
    if graph.is_multigraph():
        weighted = counts or any(weight in d for _, _, d in graph.edges(data=True))
        convert = (lambda w: value(_real(w))) if counts else float
        ends = ({weight: sum(convert(d.get(weight, 1)) for d in keys.values())} if weighted else {} for keys in ends)
    rows = np.repeat(np.arange(n), degrees)
    if not graph.is_directed():  # the dictionary of an edge is that of its reverse
        upper = rows <= indices
        ends, rows, indices = itertools.compress(ends, upper), rows[upper], indices[upper]
    try:
        weights = map(operator.methodcaller("get", weight, 1), ends)
        data = np.fromiter(weights if value is None else map(_real, weights), np.float64, len(rows))
    except (TypeError, ValueError) as error:
        raise ValueError(f"the attribute {weight} of an edge is not a number: {error}") from None
    if value is not None and not counts:
        data = value(data) if value is not float else data
    if not graph.is_directed():
        other = rows != indices
        rows, indices, data = (np.concatenate([x, y[other]]) for x, y in (
            (rows, indices), (indices, rows), (data, data)))
    matrix = sp.csr_matrix((data, (rows, indices)), shape=(n, n))
    matrix.sort_indices()
    return matrix


def _real(weight: Any) -> Any:
    """Return a real number; text, None and the like are left to NetworkX."""
    if isinstance(weight, (float, int, np.integer, np.floating)):
        return weight
    raise TypeError(f"{weight!r} is a {type(weight).__name__}")


def _rows_of_ends(nodes: list[Any], ends: Iterable[Any], count: int) -> Any:
    """Return the rows of the nodes that are the ends of edges."""
    n = len(nodes)
    if nodes == list(range(n)):
        return np.fromiter(ends, np.int32, count)
    if set(map(type, nodes)) == {int} and 0 <= min(nodes) and max(nodes) < 64 * n:
        rows = np.zeros(max(nodes) + 1, dtype=np.int32)
        rows[nodes] = np.arange(n)
        return rows[np.fromiter(ends, np.int64, count)]
    return np.fromiter(map(dict(zip(nodes, range(n))).__getitem__, ends), np.int32, count)


def _from_networkx(graph: Any, weight: Any, kind: Any, time: Any) -> Graph:
    nodes = list(graph.nodes)
    weight, is_reciprocal = _split_weight(weight)
    is_range = nodes == list(range(len(nodes))) and not any(is_bool(v) or isinstance(v, float) for v in nodes)
    names = None if is_range else nodes
    without = sum(weight not in data for *_, data in graph.edges(data=True))
    if weight is not None and 0 < without < graph.number_of_edges():
        warn(f"graph: {without} of {graph.number_of_edges()} edges have no attribute {weight!r} "
             "and have weight 1, as in NetworkX")
    if kind is None and time is None:
        matrix = csr_of_networkx(graph, weight, _reciprocal if is_reciprocal else None)
        if graph.is_multigraph() and (weight is None or without == graph.number_of_edges() > 0):
            loops = np.count_nonzero(matrix.diagonal())
            pairs = matrix.nnz if graph.is_directed() else (matrix.nnz + loops) // 2
            if count := graph.number_of_edges() - pairs:
                warn(f"graph: {count} parallel edges without weights are no further edges; "
                     "kind=\"key\" keeps them, and weights of edges add")
        zeros = int((matrix.data == 0).sum())
        _warn_of_zeros(zeros if graph.is_directed() else (zeros + 1) // 2)
        return Graph(_csr(matrix), names)
    edges = list(graph.edges(keys=True, data=True) if graph.is_multigraph() else
                 ((u, v, None, data) for u, v, data in graph.edges(data=True)))
    columns = {title: as_objects(e[i] for e in edges) for i, title in enumerate(["source", "target"])}
    named = {**dict(zip(columns, columns)), "weight": weight, "kind": kind, "time": time}
    for title in {kind, time, weight} - {None}:
        values = as_objects(data.get(title, 1 if title == weight else None) for _, _, _, data in edges)
        if title == "key" and graph.is_multigraph() and is_missing(values).all():
            values = as_objects(key for _, _, key, _ in edges)
        if title != weight or any(weight in data for _, _, _, data in edges):
            columns[title] = values
    if weight not in columns:
        named["weight"] = None
    elif is_reciprocal:
        named["weight"] = f"1/{weight}"
    flags = ["--directed" if graph.is_directed() else "--undirected"]
    return _from_table(list(columns.items()), named, flags, nodes)


def _from_igraph(graph: Any, weight: Any, kind: Any, time: Any) -> Graph:
    edges = np.asarray(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    titles = graph.es.attributes()
    weight, is_reciprocal = _split_weight(weight)
    names = graph.vs["name"] if "name" in graph.vs.attributes() else None
    if not graph.is_directed():
        edges = np.sort(edges, axis=1)  # so that parallel edges are added
    values = [None if title is None or title == weight and title not in titles
              else as_objects(graph.es[title]) for title in (weight, kind, time)]
    if is_reciprocal and values[0] is not None:
        values[0] = _reciprocal(values[0])
    return _of_edges(edges.T, values, graph.vcount(), graph.is_directed(), names)


def _from_table(columns: list[tuple[Any, Any]], named: dict[str, Any], flags: Sequence[str],
                nodes: Sequence[Any] = (), levels: Any = ()) -> Graph:
    """Return the graph of a table with an edge in each row, and perhaps with further nodes.

    The levels of its index are columns too, if the program can choose from all.
    """
    titles = [title for title, _ in [*levels, *columns]]
    arrays = [as_array(column) for _, column in [*levels, *columns]]
    weight, is_reciprocal = _split_weight(named.get("weight"))
    if is_reciprocal and weight in titles:
        place = titles.index(weight)
        titles[place] = next(t for t in ("weight", "inverse", "inverse weight") if t not in titles)
        arrays[place] = _reciprocal(arrays[place])
        named = {**named, "weight": titles[place]}
    if not len(arrays[0]):
        if not nodes:
            raise ValueError("graph: the frame has no rows, and so no edges; ids gives nodes")
        return Graph(sp.csr_matrix((len(nodes), len(nodes))), nodes)
    try:
        choice = choose_columns(titles, arrays, named, flags)
    except InputError:
        if not levels:
            raise
        return _from_table(columns, named, flags, nodes)
    columns_used = dict(zip(choice.titles, choice.columns))
    ends = [choice.columns[role] for role in ("source", "target")]
    if "--bipartite" in flags:
        ends = [as_objects(None if lost else f"{title}:{v}" for v, lost in zip(end, is_missing(end)))
                for title, end in zip(choice.titles, ends)]
        choice.flags.remove("--bipartite")
        choice.titles[:2] = "source", "target"  # not two kinds of nodes any more
    is_whole = not len(nodes) and all(v.dtype.kind in "iu" for v in ends) and \
        np.result_type(*ends).kind in "iu"  # not float64, of int64 and uint64
    values = np.concatenate(ends) if is_whole else as_objects(itertools.chain(nodes, *(end.tolist() for end in ends)))
    if not is_whole and {isinstance(v, str) for v in values[~is_missing(values)]} == {True, False}:
        values = as_objects(itertools.chain(map(str, nodes), *map(_texts, ends)))
    codes, names = _factorize(values, is_whole)
    graph = _of_choice(codes[len(nodes):].reshape(2, -1), choice, names)
    graph.columns = columns_used
    return graph


def _texts(values: Any) -> list[str | None]:
    """Return the ids of a column as their texts in a file: whole numbers have no point if all are whole."""
    lost = is_missing(values)
    is_whole = all(isinstance(v, (int, float)) and v == v // 1 for v in values[~lost].tolist())
    return [None if gone else str(int(v) if is_whole else v) for v, gone in zip(values.tolist(), lost)]


def _factorize(values: Any, is_sorted: bool) -> tuple[Any, list[Any]]:
    """Return the number of each value, −1 for a missing one, and the values by number."""
    if pandas := sys.modules.get("pandas"):
        codes, names = pandas.factorize(values, sort=is_sorted)
        return codes, names.tolist()
    if is_sorted:
        names, codes = np.unique(values, return_inverse=True)
        return codes, names.tolist()
    number: dict[Any, int] = {}
    lost = is_missing(values)
    codes = np.array([-1 if is_lost else number.setdefault(v, len(number))
                      for v, is_lost in zip(values.tolist(), lost)], dtype=np.int64)
    return codes, list(number)


def _of_choice(ends: Any, choice: Choice, names: Any, n: int | None = None) -> Graph:
    """Return the graph of edges between rows; those with kinds or times make a temporary store."""
    n = len(names) if n is None else n
    has_codes = len(choice.columns.keys() & {"kind", "time"}) > 0
    graph = Graph(None, names, n=n)
    try:
        if has_codes:
            if "kind" in choice.columns:
                kinds = choice.columns["kind"]
                graph.kinds = {str(v): v for v in dict.fromkeys(kinds[~is_missing(kinds)].tolist())}
            graph.path = store = _temporary_store(graph, 100 * ends.shape[1])
            folder = os.path.dirname(store)
            done = read_table("ingest", folder, choice, ends, n, store)
            graph._edges_sum = n, done["sum"]
            if count := done.get("self_loops"):
                warn(f"graph: {count} edges from a node to itself are left out")
        elif (matrix := _matrix_of_choice(ends, choice, names, n)) is not None:
            graph = Graph(matrix, names)
        else:
            def work(folder: str) -> Any:
                out = os.path.join(folder, "graph.npz")
                try:
                    read_table("convert", folder, choice, ends, n, out)
                except InputError as error:
                    if error.message == "no edges":
                        return sp.csr_matrix((n, n))
                    raise
                return _csr(sp.load_npz(out))
            graph = Graph(call_in_folder(100 * ends.shape[1], work), names)
    except InputError as error:
        error.message = re.sub(r"\b(\d+)–(\d+)\b", lambda m: "–".join(
            str(names[int(row)]) for row in m.groups()), error.message) if names else error.message
        raise
    return graph


def _matrix_of_choice(ends: Any, choice: Choice, names: Any, n: int) -> Any:
    """Return the matrix of edges, or None if only the program knows the rules for them."""
    weight = choice.columns.get("weight")
    is_number = weight is None or weight.dtype.kind in "iuf" and not is_missing(weight).any() and \
        (weight > 0).all() and (weight < 2 ** 53).all()
    if (ends < 0).any() or not is_number or len(choice.flags) != 1:
        return None
    with contextlib.suppress(ValueError):  # the error of the program names the rows
        return _from_edges(ends, weight, n, choice.flags == ["--directed"], names)
    return None


def _of_edges(ends: Any, values: Any, n: int, directed: bool, names: Any) -> Graph:
    """Return the graph of edges between rows of another library."""
    weight, kind, time = values
    if weight is not None:
        weight = np.asarray(weight, dtype=np.float64)
    if kind is None and time is None:
        return Graph(_from_edges(ends, weight, n, directed, names), names)
    columns = {"source": ends[0], "target": ends[1], "weight": weight, "kind": kind, "time": time}
    columns = {title: v for title, v in columns.items() if v is not None}
    flags = ["--directed" if directed else "--undirected"]
    return _of_choice(ends, Choice(columns, list(columns), flags), names, n)


def _from_file(path: str, named: dict[str, Any], flags: list[str]) -> Graph:
    """Return the graph of a file, from a temporary store if columns or flags are given."""
    weight = named.pop("weight")
    given = {role: str(title) for role, title in named.items() if title is not None}
    if weight != "weight":
        given["weight"] = str(weight)
    ends = [given.pop(role) for role in ("source", "target") if role in given]
    if weight is None:
        del given["weight"]
        if not ends:
            uses = [c.get("use") for c in ask_columns(path, flags, None)["columns"]]
            ends = [str(uses.index(role) + 1) for role in ("source", "target")]
    if ends and "weight" in given and not given["weight"].startswith("1/"):
        ends.append(given.pop("weight"))
    flags = [*flags, *(["--fields", ",".join(ends)] if ends else []),
             *(f"--{role}={title}" for role, title in given.items())]
    graph = Graph(path=path)
    if flags:
        graph.path = _temporary_store(graph, os.path.getsize(path))
        _process.run(["ingest", path, "-o", graph.path, *flags], {path: path})
        graph._nodes = Nodes(path=graph.path)
        graph.nodes  # before the store is removed
    return graph


def _temporary_store(graph: Graph, need: int) -> str:
    """Return the path for a store of some bytes, which is removed with the graph."""
    graph._is_temporary = True
    folder, stack = lasting_folder(need)
    weakref.finalize(graph, stack.close)
    return os.path.join(folder, "store")


def as_objects(values: Any) -> Any:
    """Return an array of objects, also of tuples."""
    values = list(values)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _from_adjacency(frame: Any) -> Graph | None:
    """Return the graph of a frame with nodes as index and columns, or None for another frame."""
    if frame.shape[0] != frame.shape[1] or not all(d.kind in "biuf" for d in frame.dtypes):
        return None
    names = list(frame.index)
    if set(frame.columns) == set(names):
        return Graph(_csr(frame[names].to_numpy(dtype=np.float64)), None if names == list(range(len(names))) else names)
    if frame.shape[1] > 4:
        raise ValueError("graph: the frame is square, and its columns are not the nodes of its "
                         "index; give both the same names, or pass frame.to_numpy()")
    return None


def _from_index(index: Any, weight: Any, num_nodes: int | None, directed: bool) -> Graph:
    """Return the graph of an edge index of shape (2, m)."""
    index = np.asarray(as_array(index))
    if index.size and index.min() < 0:
        raise ValueError("an edge index has row numbers from 0; this one has negative numbers")
    n = int(index.max()) + 1 if index.size else 0
    if num_nodes is not None and n > num_nodes:
        raise ValueError(f"num_nodes is {num_nodes}, and the edge index has node {n - 1}")
    weight = None if weight is None else np.asarray(as_array(weight)).ravel()
    return _of_edges(index, (weight, None, None), num_nodes or n, directed, None)


def as_graph(graph: Any, *, ids: Iterable[Hashable] | None = None, source: Any = None,
             target: Any = None, weight: Any = "weight", kind: Any = None, time: Any = None,
             directed: bool = False, num_nodes: int | None = None, bipartite: bool = False,
             flags: Sequence[str] = ()) -> Graph:
    """Convert a graph of another library, once for several calls.

    Parameters
    ----------
    graph
        A SciPy matrix or array, a dense array or tensor, with negative values for edges between opponents, which
        methods that need weights of 0 or more refuse; a pandas frame with nodes as index and columns; a NetworkX or
        igraph graph; a frame of pandas or polars, or an Arrow table, with the columns source, target and perhaps
        weight, and an edge in each row; an edge index of shape (2, m) or the ``Data`` of PyTorch Geometric; the path of
        a graph file or a store; a :class:`Store` or a :class:`Graph`.
    ids
        The nodes of the rows of a matrix, or of a frame all nodes, also those without an edge.
    source, target
        The columns of a frame. By default the program chooses them, and the weight, by their titles, as those of a
        file: source and target, payer and payee, from_account and to_account and so on. ``columns`` of the graph has
        the choice.
    weight
        The attribute or the column of the weights, if there is one, an array for an edge index, or None for no weights.
        "1/distance" takes the reciprocals of the column distance.
    kind, time
        The columns or attributes with the kind and the date of each edge; kind="key" takes the keys of a MultiGraph.
        The edges are kept in a temporary store. See kind_weights, since, until and half_life of :class:`Settings`.
    directed
        Whether the edges of a frame or an edge index have a direction. If not, an edge in both directions is one edge.
        Other graphs have a direction if they say so.
    num_nodes
        The number of nodes of an edge index, if the last ones have no edges.
    bipartite
        Whether rows and columns of a matrix, which need not be square, are two kinds of nodes: those of the rows are
        the first ones. Of a frame, equal values in source and target are two nodes.
    flags
        Further flags for a frame or a file, as in ``["--duplicates=max"]``; ``heatwalk help input`` lists all.

    Raises
    ------
    ValueError
        The object is no graph, or its names or weights are ambiguous.
    """
    nodes = plain(ids) if ids is not None and columns_of(graph) is not None else ()
    if len(set(nodes)) < len(nodes):
        twice = next(v for v, count in collections.Counter(nodes).items() if count > 1)
        raise ValueError(f"ids has {twice!r} twice; give each node once, as pandas.unique(ids) does")
    named = {"source": source, "target": target, "weight": weight, "kind": kind, "time": time}
    if isinstance(weight, str) and not _split_weight(weight)[1] and _is_distance(weight):
        raise ValueError(f"weight={weight!r}: a weight is large for strong edges, and by its name this one is small "
                         f"for them; pass weight='1/{weight}' for the reciprocal, or if large values are strong "
                         "edges, rename it")
    if bipartite and columns_of(graph) is None and not isinstance(graph, (str, os.PathLike)):
        return _of_sides(graph, ids)
    if bipartite:
        flags = [*flags, "--bipartite"]
    made = _convert(graph, named, directed, num_nodes, nodes, list(flags))
    if has_settings(graph):
        given = {**named, "directed": directed, "flags": list(flags)}
        usual = {"weight": "weight", "directed": False, "flags": []}
        made.reading = {name: v for name, v in given.items() if v != usual.get(name)}
    if ids is not None and not nodes:
        if made.matrix is None:
            raise ValueError("ids is for a matrix; the nodes of a file or a store have ids there")
        made = Graph(made.matrix, Nodes(made.n).align(ids, "ids"))
    return made


def has_settings(graph: Any) -> bool:
    """Report whether the arguments of :func:`as_graph` decide about the edges of an object in memory."""
    return (hasattr(graph, "adjacency") and hasattr(graph, "is_directed") or hasattr(graph, "get_edgelist")
            or columns_of(graph) is not None)


def _convert(graph: Any, named: dict[str, Any], directed: bool, num_nodes: int | None, nodes: Any,
             flags: list[str]) -> Graph:
    weight, kind, time = named["weight"], named["kind"], named["time"]
    if hasattr(graph, "adjacency") and hasattr(graph, "nodes") and hasattr(graph, "is_directed"):
        return _from_networkx(graph, weight, kind, time)
    if hasattr(graph, "get_edgelist") and hasattr(graph, "vs"):
        return _from_igraph(graph, weight, kind, time)
    is_named = any(named[role] is not None for role in ("source", "target", "kind", "time"))
    if is_pandas(graph) and graph.ndim == 1:
        raise ValueError("graph is a series; graph.reset_index(name=\"weight\") is a frame of "
                         "edges if the two ends are its index, as after groupby(…).size()")
    if is_pandas(graph) and not is_named and (made := _from_adjacency(graph)):
        return made
    if (columns := columns_of(graph)) is not None:
        if "--directed" not in flags:
            flags.append("--directed" if directed else "--undirected")
        return _from_table(columns, named, flags, nodes, levels_of(graph))
    if isinstance(graph, (str, os.PathLike)):
        if not os.path.exists(graph):
            raise NotFoundError("no such file", "pass the path of a graph file or a store", os.fspath(graph))
        return _from_file(os.fspath(graph), named, flags + ["--directed"] * directed)
    if kind is not None or time is not None or flags:
        raise ValueError("graph: kind, time and flags are for a frame, a file or a graph of NetworkX or igraph")
    if isinstance(graph, Graph):
        return graph
    if sp.issparse(graph):
        return _of_matrix(graph)
    if hasattr(graph, "edge_index"):  # the Data of PyTorch Geometric
        weight = getattr(graph, "edge_weight", None)
        return _from_index(graph.edge_index, weight, int(graph.num_nodes), directed)
    array = graph.filled(0) if np.ma.isMaskedArray(graph) else np.asarray(as_array(graph))
    if array.ndim == 0:
        raise ValueError(f"{type(graph).__name__} is not a graph; pass a matrix, a NetworkX or "
                         "igraph graph, a frame of edges, or a path")
    if array.shape == (2, 2) and array.dtype.kind == "f" and (abs(array) >= 2 ** 53).any():
        raise ValueError("this 2×2 array of floats has numbers of 2⁵³ or more, which floats do not "
                         "tell apart; an edge index is an array of whole numbers")
    if array.ndim == 2 and array.shape[0] == 2 and array.dtype.kind in "iu":
        if array.shape[1] != 2 or num_nodes is not None:
            return _from_index(array, None if isinstance(weight, str) else weight, num_nodes, directed)
        if array[0, 1] != array[1, 0] or array[0, 0] or array[1, 1]:
            raise ValueError("this 2×2 array of whole numbers may be an edge index or a matrix; "
                             "pass num_nodes for an edge index, or a scipy.sparse matrix")
    return _of_matrix(array)


def _of_sides(matrix: Any, ids: Any) -> Graph:
    """Return the graph between the rows and the columns of a matrix."""
    if len(getattr(matrix, "shape", ())) != 2:
        raise ValueError("graph: bipartite=True is for a matrix, a frame or a file")
    B = _finite(matrix)
    made = Graph(_csr(sp.bmat([[None, B], [B.T, None]])), ids)
    made.sides = B.shape
    return made


def _of_matrix(matrix: Any) -> Graph:
    """Return the graph of a matrix, with a warning if this is half of a symmetric one."""
    made = Graph(_csr(matrix))
    steps = made.matrix.indices - np.repeat(np.arange(made.n), np.diff(made.matrix.indptr))
    if len(steps) > 1 and ((steps > 0).all() or (steps < 0).all()):
        warn("graph: the matrix is strictly triangular, so that its edges have a direction; pass "
             "A + A.T if it is half of a symmetric matrix")
    return made


def labels_of(graph: Graph, y: Any, several: bool = False) -> Any:
    """Return labels with an element for each row.

    A dict gives those of some nodes, and so does a pandas series, or a frame with a column for each class (several),
    with nodes as index.
    """
    if isinstance(y, (str, os.PathLike)):
        raise ValueError("y is a path; pandas.read_csv(path, index_col=0).squeeze() reads labels")
    nodes = nodes_of(graph)
    if is_pandas(y):
        rows = nodes.rows_of_index(y, "y")
        if len(rows) == graph.n:
            return y.iloc[np.argsort(rows)]
        if y.ndim == 2 and len(y.columns) > 1:
            return y.set_axis(rows).reindex(range(graph.n), fill_value=0)
        values = as_objects((y.iloc[:, 0] if y.ndim == 2 else y).to_numpy())
    elif isinstance(y, Mapping):
        rows, values = nodes.rows(list(y), "y"), as_objects(y.values())
    else:
        return y
    labels = np.full(graph.n, None, dtype=object)
    labels[rows] = values
    return labels

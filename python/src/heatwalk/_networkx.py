"""The backend of NetworkX: its functions on the matrices and solvers of heatwalk.

``networkx.config.backend_priority = ["heatwalk"]``, or ``nx.pagerank(G, backend="heatwalk")``.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import math
import types
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse as sp

from ._graph import csr_of_networkx, is_signed
from ._matrix import eigsh, expm_multiply, solve


class BackendGraph:
    """A NetworkX graph with its matrices, which are made once for each attribute of weights."""
    __networkx_backend__ = "heatwalk"

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self.matrices: dict[Any, Any] = {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "graph":  # asked by copies before the graph is there
            raise AttributeError(name)
        return getattr(self.graph, name)

    def __getstate__(self) -> dict[str, Any]:
        return {"graph": self.graph, "matrices": {}}

    def __len__(self) -> int:
        return len(self.graph)

    def __iter__(self) -> Any:
        return iter(self.graph)

    def matrix(self, weight: str | None = "weight", value: Any = float) -> Any:
        """Return the adjacency matrix, in which the values of parallel edges are added."""
        if (weight, value) not in self.matrices:
            made = csr_of_networkx(self.graph, weight, value)
            _require(np.isfinite(made.data).all())
            self.matrices[weight, value] = made
        return self.matrices[weight, value]

    def laplacian_part(self, weight: str | None) -> Any:
        """Return the matrix of absolute weights in both directions, without its diagonal."""
        matrix = self.matrix(weight, abs)
        if self.graph.is_directed():
            matrix = matrix + matrix.T
        matrix = (matrix - sp.diags(matrix.diagonal())).tocsr()
        matrix.eliminate_zeros()
        return matrix

    def reverse(self, weight: str | None) -> Any:
        """Return the transposed adjacency matrix."""
        A = self.matrix(weight)
        return A.T.tocsr() if self.graph.is_directed() else A


def convert_from_nx(graph: Any, *args: Any, **options: Any) -> BackendGraph:
    """Return a graph of this backend."""
    return BackendGraph(graph)


def convert_to_nx(result: Any, **options: Any) -> Any:
    """Return a result for NetworkX."""
    return result.graph if isinstance(result, BackendGraph) else result


def _require(holds: Any) -> None:
    """Leave the call to NetworkX if a condition does not hold."""
    if not holds:
        raise ValueError("left to NetworkX")


_functions: dict[str, Any] = {}  # of NetworkX, by name


def _or_networkx(function: Any) -> Any:
    """Add a function, which leaves the calls that fail to NetworkX, for its result or its error."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(G: BackendGraph, *args: Any, **options: Any) -> Any:
        with contextlib.suppress(ValueError, TypeError, KeyError, ZeroDivisionError, OverflowError):
            return function(G, *args, **options)
        given = signature.bind(G.graph, *args, **options).arguments
        if "seed" in signature.parameters:  # which a decorator of NetworkX makes of a number
            given["seed"] = nx.utils.create_random_state(given.get("seed"))
        name = function.__name__
        own = getattr(nx, name, None) or getattr(nx.node_classification, name)
        return getattr(own, "orig_func", own)(**given)
    _functions[function.__name__] = call
    return call


def _vector(G: BackendGraph, values: Any) -> Any:
    """Return the values of nodes with the sum 1."""
    vector = np.array([values.get(v, 0) for v in G], dtype=float)
    _require(vector.sum() != 0)
    return vector / vector.sum()


def _limit(G: BackendGraph, x: Any, step: Any, max_iter: int, tol: float, last: Any = lambda x: x) -> dict[Any, float]:
    """Return the limit of x ← step(x) by node, with the stopping rule of NetworkX."""
    for _ in range(max_iter):
        before, x = x, step(x)
        if abs(x - before).sum() < len(G) * tol:
            return dict(zip(G, last(x).tolist()))
    raise nx.PowerIterationFailedConvergence(max_iter)


@_or_networkx
def pagerank(G: BackendGraph, alpha: float = 0.85, personalization: Any = None, max_iter: int = 100,
             tol: float = 1e-6, nstart: Any = None, weight: str | None = "weight",
             dangling: Any = None) -> dict[Any, float]:
    """Return the PageRank of each node, by power iteration as in NetworkX."""
    n = len(G)
    _require(n)
    A = G.matrix(weight)
    out = np.asarray(A.sum(axis=1)).ravel()
    scale = np.divide(1, out, out=np.zeros(n), where=out != 0)
    P, uniform, stuck = G.reverse(weight), np.full(n, 1 / n), np.flatnonzero(out == 0)
    x, p = (uniform if v is None else _vector(G, v) for v in (nstart, personalization))
    rest = p if dangling is None else _vector(G, dangling)
    def step(x: Any) -> Any:
        return alpha * (P @ (scale * x) + x[stuck].sum() * rest) + (1 - alpha) * p
    return _limit(G, x, step, max_iter, tol)


def _normalized(x: Any) -> Any:
    return x / (math.hypot(*x.tolist()) or 1)


@_or_networkx
def eigenvector_centrality(G: BackendGraph, max_iter: int = 100, tol: float = 1e-6,
                           nstart: Any = None, weight: str | None = None) -> dict[Any, float]:
    """Return the largest eigenvector of the adjacency matrix, by power iteration as in NetworkX."""
    x = np.ones(len(G)) if nstart is None else np.array([nstart[v] for v in G], dtype=float)
    _require(x.sum() and (nstart is None or len(nstart) == len(G)))
    A = G.reverse(weight)
    return _limit(G, x / x.sum(), lambda x: _normalized(x + A @ x), max_iter, tol)


@_or_networkx
def katz_centrality(G: BackendGraph, alpha: float = 0.1, beta: Any = 1.0, max_iter: int = 1000,
                    tol: float = 1e-6, nstart: Any = None, normalized: bool = True,
                    weight: str | None = None) -> dict[Any, float]:
    """Return (I − αAᵀ)⁻¹β, by iteration as in NetworkX."""
    n = len(G)
    x, b = (np.array([v[i] for i in G] if isinstance(v, dict) else np.full(n, float(v)), dtype=float)
            for v in (0 if nstart is None else nstart, beta))
    _require(n and all(len(v) == n for v in (nstart, beta) if isinstance(v, dict)))
    A = G.reverse(weight)
    last = _normalized if normalized else np.asarray
    return _limit(G, x, lambda x: alpha * (A @ x) + b, max_iter, tol, last)


def _classes(G: BackendGraph, label_name: str) -> tuple[Any, Any]:
    """Return the labels in the order of their first nodes, and an indicator of labelled nodes."""
    labels = {i: d[label_name] for i, (_, d) in enumerate(G.graph.nodes(data=True)) if label_name in d}
    _require(labels)
    number = {label: k for k, label in enumerate(dict.fromkeys(labels.values()))}
    indicator = np.zeros((len(G), len(number)))
    indicator[list(labels), [number[label] for label in labels.values()]] = 1
    return np.array(list(number)), indicator


def _propagate(P: Any, B: Any, classes: Any, max_iter: int) -> list[Any]:
    F = B if max_iter > 0 else np.zeros(B.shape)
    for _ in range(max_iter - 1):
        F = P @ F
        F += B
    return classes[np.argmax(F, axis=1)].tolist()  # type: ignore[no-any-return]


def _scaled(A: Any, left: Any, right: Any) -> Any:
    """Return diag(left)·A·diag(right)."""
    data = A.data * np.repeat(left, np.diff(A.indptr)) * right[A.indices]
    return sp.csr_matrix((data, A.indices, A.indptr), A.shape)


def _degrees(A: Any) -> Any:
    """Return the degrees of nodes, 1 for a node without edges."""
    degree = np.asarray(A.sum(axis=0)).ravel()
    return np.where(degree == 0, 1, degree)


@_or_networkx
def harmonic_function(G: BackendGraph, max_iter: int = 30, label_name: str = "label") -> list[Any]:
    """Return the label of each node by the harmonic function, with the steps of NetworkX."""
    (classes, B), A = _classes(G, label_name), G.matrix()
    left = np.where(B.any(axis=1), 0, 1 / _degrees(A))
    return _propagate(_scaled(A, left, np.ones(len(G))), B, classes, max_iter)


@_or_networkx
def local_and_global_consistency(G: BackendGraph, alpha: float = 0.99, max_iter: int = 30,
                                 label_name: str = "label") -> list[Any]:
    """Return the label of each node by local and global consistency, with the steps of NetworkX."""
    (classes, B), A = _classes(G, label_name), G.matrix()
    _require(not is_signed(A))
    root = _degrees(A) ** -0.5
    return _propagate(alpha * _scaled(A, root, root), (1 - alpha) * B, classes, max_iter)


def _inverse(resistance: Any) -> Any:
    return 1 / resistance


@_or_networkx
def resistance_distance(G: BackendGraph, nodeA: Any = None, nodeB: Any = None,
                        weight: str | None = None, invert_weight: bool = True) -> Any:
    """Return the resistance between two nodes, from a node to all, or between all nodes."""
    ends = [v for v in (nodeA, nodeB) if v is not None]
    _require(len(G) and all(v in G.graph for v in ends))
    if weight is not None:  # resistances or conductances
        weights = (w for *_, w in G.graph.edges(data=weight, default=0))
        _require(all(0 < w < math.inf for w in weights))
    inverts = invert_weight and weight is not None
    A, nodes = G.matrix(weight, _inverse if inverts else float), list(G)
    _require(sp.csgraph.connected_components(A, directed=False)[0] == 1)
    if nodeA is not None and nodeB is not None:
        b = np.zeros(len(nodes))
        b[nodes.index(nodeA)] += 1
        b[nodes.index(nodeB)] -= 1
        return float(b @ solve(A, b, rtol=1e-10)[0]) if b.any() else 0.0
    L = solve(A, np.eye(len(nodes)), rtol=1e-10)[0] if len(nodes) > 1 else np.zeros((1, 1))
    R = np.diag(L)[:, None] + np.diag(L) - L - L.T
    if ends:
        return dict(zip(nodes, R[nodes.index(ends[0])].tolist()))
    return {v: dict(zip(nodes, row)) for v, row in zip(nodes, R.tolist())}


@_or_networkx
def communicability_exp(G: BackendGraph) -> dict[Any, dict[Any, float]]:
    """Return exp(A), where A is 1 for edges of a weight other than 0."""
    A, nodes = G.matrix() != 0, list(G)
    expA = expm_multiply(A, np.eye(len(nodes)), tol=1e-10)
    return {v: dict(zip(nodes, row)) for v, row in zip(nodes, expA.tolist())}


def _laplacians(G: BackendGraph, weight: str | None, method: str) -> Any:
    """Return the nodes of each component, with the matrix of its Laplacian."""
    _require(len(G) and method in ("tracemin", "tracemin_pcg", "tracemin_lu", "lanczos", "lobpcg"))
    A = G.laplacian_part(weight)
    count, component = sp.csgraph.connected_components(A, directed=False)
    parts = (np.flatnonzero(component == c) for c in range(count))
    return [(rows, A if count == 1 else A[rows][:, rows]) for rows in parts]


def _fiedler(A: Any, normalized: bool, tol: float) -> tuple[float, Any]:
    """Return the second smallest eigenvalue of a Laplacian of a connected graph, and its vector.

    As in the examples of NetworkX, the first element of the vector is negative.
    """
    matrix = "normalized-laplacian" if normalized else "laplacian"
    roots = np.sqrt(np.ravel(A.sum(axis=1))) if normalized else np.ones(A.shape[0])
    tiny = 1e-7 * (1 if normalized else A.data.max())
    for k in (2, 10):  # more, if weak edges leave several eigenvalues to rounding
        k = min(k, A.shape[0])
        v = eigsh(A, k, which="SA", matrix=matrix, tol=min(tol, 1e-8))[1][:, 1:]
        # The sum of w(x_i − x_j)² over edges is right also if it is much smaller than the weights.
        x = v / roots[:, None]
        differences = np.repeat(x, np.diff(A.indptr), axis=0) - x[A.indices]
        sums = differences.T @ (A.data[:, None] * differences) / 2
        chosen = np.flatnonzero(sums.diagonal() < max(tiny, 2 * sums[0, 0]))
        w, u = np.linalg.eigh(sums[chosen][:, chosen])
        if w[0] > tiny:
            break
    v = v[:, chosen] @ u[:, 0]
    return float(w[0]), -v if v[0] > 0 else v


@_or_networkx
def algebraic_connectivity(G: BackendGraph, weight: str | None = "weight", normalized: bool = False,
                           tol: float = 1e-8, method: str = "tracemin_pcg", seed: Any = None) -> float:
    """Return the second smallest eigenvalue of the Laplacian."""
    parts = _laplacians(G, weight, method)
    _require(len(parts) == 1 and len(G) > 1)
    return _fiedler(parts[0][1], normalized, tol)[0]


@_or_networkx
def fiedler_vector(G: BackendGraph, weight: str | None = "weight", normalized: bool = False,
                   tol: float = 1e-8, method: str = "tracemin_pcg", seed: Any = None) -> Any:
    """Return the eigenvector of the second smallest eigenvalue of the Laplacian."""
    parts = _laplacians(G, weight, method)
    _require(len(parts) == 1 and len(G) > 2)
    return _fiedler(parts[0][1], normalized, tol)[1]


@_or_networkx
def spectral_ordering(G: BackendGraph, weight: str | None = "weight", normalized: bool = False,
                      tol: float = 1e-8, method: str = "tracemin_pcg", seed: Any = None) -> list[Any]:
    """Return the nodes of each component in the order of its Fiedler vector."""
    nodes, order = list(G), []
    for rows, A in _laplacians(G, weight, method):
        if len(rows) > 2:
            rows = rows[np.argsort(_fiedler(A, normalized, tol)[1], kind="stable")]
        order += [nodes[i] for i in rows]
    return order


#: The functions, as NetworkX finds them.
backend = types.SimpleNamespace(convert_from_nx=convert_from_nx, convert_to_nx=convert_to_nx, **_functions)


def get_info() -> dict[str, Any]:
    """Return the description of the backend for NetworkX."""
    return {"backend_name": "heatwalk", "project": "heatwalk", "package": "heatwalk",
            "short_summary": "Fast conversion, and the solvers of heatwalk.",
            "functions": {name: {} for name in _functions}}

"""The backend of NetworkX: its functions on the matrices and solvers of heatwalk.

``networkx.config.backend_priority = ["heatwalk"]``, or ``nx.pagerank(G, backend="heatwalk")``.
"""

from __future__ import annotations

import types
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse as sp

from ._graph import csr_of_networkx
from ._matrix import eigsh, expm_multiply, solve


class BackendGraph:
    """A NetworkX graph with its matrices, which are made once for each attribute of weights."""
    __networkx_backend__ = "heatwalk"

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self.matrices: dict[str | None, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["graph"], name)

    def __len__(self) -> int:
        return len(self.graph)

    def __iter__(self) -> Any:
        return iter(self.graph)

    def matrix(self, weight: str | None = "weight") -> Any:
        """Return the adjacency matrix, in which weights of parallel edges are added."""
        if weight not in self.matrices:
            self.matrices[weight] = csr_of_networkx(self.graph, weight, counts=True)
        return self.matrices[weight]

    def laplacian_part(self, weight: str | None) -> Any:
        """Return the matrix of absolute weights in both directions, without its diagonal."""
        if self.graph.is_multigraph():  # of parallel edges, the absolute values are added
            index = {v: i for i, v in enumerate(self.graph)}
            edges = [(index[u], index[v], abs(w))
                     for u, v, w in self.graph.edges(data=weight, default=1)]
            i, j, w = np.array(edges).reshape(-1, 3).T
            matrix = sp.coo_matrix((w, (i.astype(int), j.astype(int))), (len(index),) * 2).tocsr()
        else:
            matrix = abs(self.matrix(weight))
        if self.graph.is_multigraph() or self.graph.is_directed():
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


def _vector(G: BackendGraph, values: Any) -> Any:
    """Return the values of nodes with the sum 1."""
    vector = np.array([values.get(v, 0) for v in G], dtype=float)
    if vector.sum() == 0:
        raise ZeroDivisionError
    return vector / vector.sum()


def _limit(G: BackendGraph, x: Any, step: Any, max_iter: int, tol: float,
           last: Any = lambda x: x) -> dict[Any, float]:
    """Return the limit of x ← step(x) by node, with the stopping rule of NetworkX."""
    for _ in range(max_iter):
        before, x = x, step(x)
        if abs(x - before).sum() < len(G) * tol:
            return dict(zip(G, last(x).tolist()))
    raise nx.PowerIterationFailedConvergence(max_iter)


def pagerank(G: BackendGraph, alpha: float = 0.85, personalization: Any = None, max_iter: int = 100,
             tol: float = 1e-6, nstart: Any = None, weight: str | None = "weight",
             dangling: Any = None) -> dict[Any, float]:
    """Return the PageRank of each node, by power iteration as in NetworkX."""
    n = len(G)
    if n == 0:
        return {}
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
    return x / (np.linalg.norm(x) or 1)


def eigenvector_centrality(G: BackendGraph, max_iter: int = 100, tol: float = 1e-6,
                           nstart: Any = None, weight: str | None = None) -> dict[Any, float]:
    """Return the largest eigenvector of the adjacency matrix, by power iteration as in NetworkX."""
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    x = np.ones(len(G)) if nstart is None else np.array([nstart[v] for v in G], dtype=float)
    if not x.any():
        raise nx.NetworkXError("initial vector cannot have all zero values")
    A = G.reverse(weight)
    return _limit(G, x / x.sum(), lambda x: _normalized(x + A @ x), max_iter, tol)


def katz_centrality(G: BackendGraph, alpha: float = 0.1, beta: Any = 1.0, max_iter: int = 1000,
                    tol: float = 1e-6, nstart: Any = None, normalized: bool = True,
                    weight: str | None = None) -> dict[Any, float]:
    """Return (I − αAᵀ)⁻¹β, by iteration as in NetworkX."""
    n = len(G)
    if n == 0:
        return {}
    x = np.zeros(n) if nstart is None else np.array([nstart[v] for v in G], dtype=float)
    try:
        b = np.full(n, float(beta))
    except (TypeError, ValueError, AttributeError) as error:
        if set(beta) != set(G):
            raise nx.NetworkXError("beta dictionary must have a value for every node") from error
        b = np.array([beta[v] for v in G], dtype=float)
    A = G.reverse(weight)
    last = _normalized if normalized else np.asarray
    return _limit(G, x, lambda x: alpha * (A @ x) + b, max_iter, tol, last)


def _classes(G: BackendGraph, label_name: str) -> tuple[Any, Any]:
    """Return the labels in the order of their first nodes, and an indicator of labelled nodes."""
    labels = {i: d[label_name] for i, (_, d) in enumerate(G.graph.nodes(data=True))
              if label_name in d}
    if not labels:
        raise nx.NetworkXError(f"No node on the input graph is labeled by '{label_name}'.")
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


def harmonic_function(G: BackendGraph, max_iter: int = 30, label_name: str = "label") -> list[Any]:
    """Return the label of each node by the harmonic function, with the steps of NetworkX."""
    (classes, B), A = _classes(G, label_name), G.matrix()
    left = np.where(B.any(axis=1), 0, 1 / _degrees(A))
    return _propagate(_scaled(A, left, np.ones(len(G))), B, classes, max_iter)


def local_and_global_consistency(G: BackendGraph, alpha: float = 0.99, max_iter: int = 30,
                                 label_name: str = "label") -> list[Any]:
    """Return the label of each node by local and global consistency, with the steps of NetworkX."""
    (classes, B), A = _classes(G, label_name), G.matrix()
    root = _degrees(A) ** -0.5
    return _propagate(alpha * _scaled(A, root, root), (1 - alpha) * B, classes, max_iter)


def resistance_distance(G: BackendGraph, nodeA: Any = None, nodeB: Any = None,
                        weight: str | None = None,
                        invert_weight: bool = True) -> Any:
    """Return the resistance between two nodes, from a node to all, or between all nodes."""
    if len(G) == 0:
        raise nx.NetworkXError("Graph G must contain at least one node.")
    A, nodes = G.matrix(weight).copy(), list(G)
    if A.nnz and A.data.min() < 0:  # no resistances
        return nx.resistance_distance.orig_func(G.graph, nodeA, nodeB, weight, invert_weight)
    if sp.csgraph.connected_components(A, directed=False)[0] > 1:
        raise nx.NetworkXError("Graph G must be strongly connected.")
    for name, node in (("A", nodeA), ("B", nodeB)):
        if node is not None and node not in G.graph:
            raise nx.NetworkXError(f"Node {name} is not in graph G.")
    if invert_weight and weight is not None:
        if not A.data.all():
            raise ZeroDivisionError("an edge of weight 0 has no resistance")
        A.data = 1 / A.data
    if nodeA is not None and nodeB is not None:
        b = np.zeros(len(nodes))
        b[nodes.index(nodeA)] += 1
        b[nodes.index(nodeB)] -= 1
        return float(b @ solve(A, b, rtol=1e-10)[0]) if b.any() else 0.0
    L = solve(A, np.eye(len(nodes)), rtol=1e-10)[0] if len(nodes) > 1 else np.zeros((1, 1))
    R = np.diag(L)[:, None] + np.diag(L) - L - L.T
    one = nodeA if nodeA is not None else nodeB
    if one is not None:
        return dict(zip(nodes, R[nodes.index(one)].tolist()))
    return {v: dict(zip(nodes, row)) for v, row in zip(nodes, R.tolist())}


def communicability_exp(G: BackendGraph) -> dict[Any, dict[Any, float]]:
    """Return exp(A) of the graph without weights."""
    A, nodes = G.matrix(None), list(G)
    expA = expm_multiply(A, np.eye(len(nodes)), tol=1e-10)
    return {v: dict(zip(nodes, row)) for v, row in zip(nodes, expA.tolist())}


def _laplacian(G: BackendGraph, weight: str | None, method: str, least: int = 2) -> Any:
    """Return the nodes of each component, with the matrix of its Laplacian."""
    if len(G) < least:
        raise nx.NetworkXError("graph has less than two nodes." if least > 1 else "graph is empty.")
    if method not in ("tracemin", "tracemin_pcg", "tracemin_lu", "lanczos", "lobpcg"):
        raise nx.NetworkXError(f"unknown method {method!r}.")
    A = G.laplacian_part(weight)
    count, component = sp.csgraph.connected_components(A, directed=False)
    parts = (np.flatnonzero(component == c) for c in range(count))
    return [(rows, A if count == 1 else A[rows][:, rows]) for rows in parts]


def _fiedler(A: Any, normalized: bool, tol: float) -> tuple[float, Any]:
    """Return the second smallest eigenvalue of a Laplacian of a connected graph, and its vector.

    As in the examples of NetworkX, the first element of the vector is negative.
    """
    matrix = "normalized-laplacian" if normalized else "laplacian"
    w, v = eigsh(A, 2, which="SA", matrix=matrix, tol=min(tol, 1e-8))
    return float(w[1]), -v[:, 1] if v[0, 1] > 0 else v[:, 1]


def algebraic_connectivity(G: BackendGraph, weight: str | None = "weight", normalized: bool = False,
                           tol: float = 1e-8, method: str = "tracemin_pcg",
                           seed: Any = None) -> float:
    """Return the second smallest eigenvalue of the Laplacian."""
    parts = _laplacian(G, weight, method)
    return 0.0 if len(parts) > 1 else _fiedler(parts[0][1], normalized, tol)[0]


def fiedler_vector(G: BackendGraph, weight: str | None = "weight", normalized: bool = False,
                   tol: float = 1e-8, method: str = "tracemin_pcg", seed: Any = None) -> Any:
    """Return the eigenvector of the second smallest eigenvalue of the Laplacian."""
    parts = _laplacian(G, weight, method)
    if len(parts) > 1:
        raise nx.NetworkXError("graph is not connected.")
    return np.array([1.0, -1.0]) if len(G) == 2 else _fiedler(parts[0][1], normalized, tol)[1]


def spectral_ordering(G: BackendGraph, weight: str | None = "weight", normalized: bool = False,
                      tol: float = 1e-8, method: str = "tracemin_pcg",
                      seed: Any = None) -> list[Any]:
    """Return the nodes of each component in the order of its Fiedler vector."""
    nodes, order = list(G), []
    for rows, A in _laplacian(G, weight, method, 1):
        if len(rows) > 2:
            rows = rows[np.argsort(_fiedler(A, normalized, tol)[1], kind="stable")]
        order += [nodes[i] for i in rows]
    return order


_FUNCTIONS = ("algebraic_connectivity communicability_exp eigenvector_centrality fiedler_vector "
              "harmonic_function katz_centrality local_and_global_consistency pagerank "
              "resistance_distance spectral_ordering").split()

#: The functions, as NetworkX finds them.
backend = types.SimpleNamespace(convert_from_nx=convert_from_nx, convert_to_nx=convert_to_nx,
                                **{name: globals()[name] for name in _FUNCTIONS})


def get_info() -> dict[str, Any]:
    """Return the description of the backend for NetworkX."""
    return {"backend_name": "heatwalk", "project": "heatwalk", "package": "heatwalk",
            "short_summary": "Fast conversion, and the solvers of heatwalk.",
            "functions": {name: {} for name in _FUNCTIONS}}

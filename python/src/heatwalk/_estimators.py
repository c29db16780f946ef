"""Estimators with the manners of scikit-learn: numbers of nodes, and embeddings."""

from __future__ import annotations

import sys
from typing import Any, Iterable

import numpy as np
import scipy.sparse as sp

from ._errors import warn
from ._graph import Graph, as_array, as_graph, checksum, graph_of, is_pandas, labels_of, nodes_of
from ._labels import encode
from ._matrix import Array, eigsh, features_of
from ._process import Progress, Settings
from ._results import axis
from ._tables import numbers_of, predict_numbers

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
    from sklearn.exceptions import NotFittedError
except ImportError:
    from ._errors import NotFittedError
    BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin = (type("Base", (), {}) for _ in range(4))


class NodeEstimator(BaseEstimator):
    """An estimator on the nodes of one graph.

    With ``graph`` in the constructor X is a list of nodes; otherwise X is the whole graph in ``fit``, and left out or
    the same graph later.
    """
    graph: Any
    _sides: tuple[int, int] | None = None  # of the graph of fit
    _state: Any = None  # checksum of the graph of fit, or None for a graph in the constructor

    def _store(self, arguments: dict[str, Any]) -> None:
        """Store the arguments of a constructor under their names, as scikit-learn reads them."""
        self.__dict__.update((name, v) for name, v in arguments.items() if name != "self")

    def _settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in Settings.__annotations__ if hasattr(self, name)}

    def _inputs(self, X: Any, y: Any) -> tuple[Graph, Any]:
        """Return the graph, and the rows of the nodes X, or None if X is the graph."""
        if y is None and not hasattr(self, "transform"):
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but "
                             "the target y is None.")
        g = graph_of(X if self.graph is None else self.graph)
        if self.graph is None:
            return g, None
        check_index(X, y, "y")
        return g, _rows(nodes_of(g), X)

    def _fitted(self, g: Graph, **state: Any) -> Any:
        """Store the state of a fit that succeeded."""
        state.update(_state=checksum(g) if self.graph is None else (), _nodes=nodes_of(g), _sides=g.sides,
                     _reading=g.reading)
        if self.graph is None:
            state["n_features_in_"] = g.n
        self.__dict__.update(state)
        return self

    @property
    def nodes_(self) -> Any:
        """The nodes in the order of the rows."""
        self._check_fitted()
        return self._nodes.all()

    def _check_fitted(self) -> None:
        if self._state is None:
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet. Call 'fit' "
                                 "with appropriate arguments before using this estimator.")

    def _graph_of(self, X: Any) -> Graph:
        """Return the graph of X, with two kinds of nodes if that of fit has them."""
        return as_graph(X, bipartite=self._sides is not None and getattr(X, "shape", None) == self._sides)

    def _select(self, X: Any) -> Any:
        """Return the rows that X asks for, as an index of arrays."""
        self._check_fitted()
        if X is None:
            return slice(None)
        if self._state == ():
            return _rows(self._nodes, X)
        n, way = self.n_features_in_, f"use {type(self).__name__}(graph=A) with nodes as X"
        try:
            g = self._graph_of(X)
            columns = g.n
        except ValueError as error:
            if "matrix is square" not in str(error):
                raise
            columns = X.shape[1]
            if columns == n:  # as scikit-learn cuts A for the folds of a cross-validation
                raise ValueError(f"X is a block of {X.shape[0]} × {n} elements of an adjacency matrix, which is no "
                                 f"graph; to cross-validate, {way}: cross_val_score({type(self).__name__}(graph=A), "
                                 "np.arange(A.shape[0]), y)") from error
        if columns != n:
            raise ValueError(f"X has {columns} features, but {type(self).__name__} is expecting "
                             f"{n} features as input; predictions are those of the fitted graph: {way}")
        if checksum(g) != self._state:
            raise ValueError("X is not the graph of fit; predictions are those of the nodes of "
                             f"that graph: {way}, or heatwalk.load for a model of other graphs")
        return slice(None)

    def _in_order(self, X: Any, values: Any, name: str) -> Any:
        """Return values of pandas in the order of the elements of X."""
        self._check_fitted()
        if self._state != ():
            return self._nodes.align(values, name)
        check_index(X, values, name)
        return values

    def __sklearn_is_fitted__(self) -> bool:
        return self._state is not None

    def _more_tags(self) -> dict[str, Any]:  # of scikit-learn before 1.6
        return {"pairwise": self.graph is None, "requires_positive_X": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.positive_only = True
        tags.input_tags.pairwise = self.graph is None
        return tags


def _rows(nodes: Any, X: Any) -> Any:
    """Return the rows of nodes, which scikit-learn may have made a column."""
    if hasattr(X, "toarray") or hasattr(X, "adjacency"):
        raise ValueError("X is a graph; with graph= in the constructor X is a list of nodes")
    X = X if is_pandas(X) else as_array(X)
    if hasattr(X, "ndim"):
        if X.ndim == 2 and X.shape[1] == 1:
            X = X.iloc[:, 0] if is_pandas(X) else X[:, 0]
        if X.ndim != 1:
            raise ValueError(f"X has shape {X.shape}; with graph= it is a list of nodes")
    return nodes.select(X, "X")


def check_index(X: Any, values: Any, name: str) -> None:
    """Refuse a series of which only one of index and order can be meant: nodes in another order than X."""
    if not is_pandas(values):
        return
    index = values.index.tolist()
    nodes = X.index.tolist() if is_pandas(X) else np.ravel(as_array(X)).tolist()
    if index != nodes and (is_pandas(X) or set(index) == set(nodes)):
        raise ValueError(f"{name} has another index than X; pass {name}.loc[X.index] or, if its order "
                         f"is that of X, {name}.to_numpy()")


class NodeRegressor(RegressorMixin, NodeEstimator):
    """Predict a number for every node of a graph from the numbers of some.

    Parameters
    ----------
    method
        Methods of which cross-validation chooses one, as for :func:`regress`.
    graph
        The graph, as in :class:`NodeClassifier`; then X is a list of nodes.
    node_features
        Attributes of the nodes, which the methods ``hops``, ``ridge`` and ``trees`` use.
    random_state, threads, max_memory, progress
        See :class:`Settings`; random_state is for folds.

    Attributes
    ----------
    values_
        The number of each node.
    reached_
        Whether a path connects the node with a node whose number is known.
    method_, nodes_, run_
        The method that was chosen, the nodes in the order of the rows, and the program's report.
    """
    __module__ = "heatwalk"

    def __init__(self, method: str | Iterable[str] | None = None, *, graph: Any = None,
                 node_features: Any = None, random_state: Any = None, threads: int | None = None,
                 max_memory: str | int | None = None, progress: Progress = None) -> None:
        self._store(locals())

    def fit(self, X: Any, y: Any = None, *, groups: Any = None, times: Any = None) -> NodeRegressor:
        """Learn from the numbers y of the nodes X, or of all nodes of the graph X, NaN for none.

        Groups and times are those of :meth:`NodeClassifier.fit`.
        """
        g, rows = self._inputs(X, y)
        if rows is None:
            values = numbers_of(g, y)
        else:
            values, y = np.full(g.n, np.nan), np.asarray(as_array(y), dtype=np.float64).ravel()
            if len(y) != len(rows):
                raise ValueError(f"X and y have inconsistent numbers of samples: {len(rows)} and {len(y)}")
            if not np.isfinite(y).all():
                raise ValueError("Input y contains NaN or infinity; leave these nodes out of X")
            values[rows] = y
            if (values[rows] != y).any():
                raise ValueError("X has a node twice with different numbers in y; keep one of them")
        if np.isnan(values).all():
            raise ValueError("y has no number: all of it is None or NaN")
        found, run = predict_numbers(g, values, self.method, self.node_features, self._settings(), groups, times, rows)
        return self._fitted(g, values_=found["value"], reached_=found["reached"], run_=run, method_=run.get("method"))

    def predict(self, X: Any = None) -> Array:
        """Return the numbers of the nodes X, of all if it is left out or the fitted graph."""
        rows = self._select(X)
        return np.array(self.values_[rows])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R², the share of the variance of y that the predictions explain."""
        weights = self._in_order(X, sample_weight, "sample_weight")
        return float(super().score(X, self._in_order(X, y, "y"), weights))


class _Transformer:
    """Methods of a transformer whose frames have nodes as index, which scikit-learn does not wrap in a class above."""
    embedding_: Any

    def transform(self: Any, X: Any) -> Any:
        """Return the vectors of the nodes X, of all if it is None or the fitted graph.

        With ``set_output(transform="pandas")`` they are a frame, whose index is that of X if X is a frame or a series of
        nodes, and otherwise the nodes.
        """
        rows = self._select(X)
        vectors = np.array(self.embedding_[rows])
        usual = __import__("sklearn").get_config().get("transform_output") if "sklearn" in sys.modules else None
        kind = getattr(self, "_sklearn_output_config", {}).get("transform", usual)
        names = list(self.get_feature_names_out())
        if kind == "pandas":
            import pandas
            is_indexed = self._state == () and is_pandas(X)
            index = X.index if is_indexed else axis(self.nodes_ if isinstance(rows, slice) else self._nodes.at(rows))
            return pandas.DataFrame(vectors, index=index, columns=names)
        return __import__("polars").DataFrame(vectors, schema=names) if kind == "polars" else vectors

    def fit_transform(self: Any, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Embed the nodes of the graph and return the vectors of X."""
        return self.fit(X, y).transform(X)


class NodeEmbedding(_Transformer, TransformerMixin, NodeEstimator):
    """Embed the nodes of a graph as vectors of numbers.

    Eigenvectors have the norm 1; put a StandardScaler between them and a linear model.

    Parameters
    ----------
    n_components
        The number of eigenvectors.
    graph
        The graph, as in :class:`NodeClassifier`; then X is a list of nodes. Of a bipartite one the eigenvectors of
        ``"normalized-adjacency"`` are the singular vectors of the matrix of both sides.
    method
        ``"eigenvectors"``, or the walk features of the labels y, as in ``"cwk:steps=10"``, which are those of
        :func:`features` with ``honest=True``.
    matrix
        The matrix of the eigenvectors, as for :func:`eigsh`: of the smallest eigenvalues of a Laplacian, the largest of
        others, but for a trivial vector of each component.
    largest_component
        Whether only nodes of the largest component have vectors other than 0.
    random_state, threads, max_memory, progress
        See :class:`Settings`; random_state is for the folds of walk features.

    Attributes
    ----------
    embedding_, eigenvalues_, nodes_
        A row for each node, the eigenvalues or None, and the nodes in the order of the rows.
    """
    __module__ = "heatwalk"

    def __init__(self, n_components: int = 8, *, graph: Any = None, method: str = "eigenvectors",
                 matrix: str = "normalized-adjacency", largest_component: bool = False,
                 random_state: Any = None, threads: int | None = None,
                 max_memory: str | int | None = None, progress: Progress = None) -> None:
        self._store(locals())

    def fit(self, X: Any, y: Any = None) -> NodeEmbedding:
        """Embed the graph in the constructor or X; walk features take the labels y."""
        g, rows = self._inputs(X, y)
        values = None
        if self.method == "eigenvectors":
            values, vectors = self._eigenvectors(g)
            if len(values) < self.n_components:
                warn(f"n_components={self.n_components}: the graph has {len(values)} eigenvectors in addition to "
                     "those of its components")
        elif y is None:
            raise ValueError(f"the method {self.method} needs y, the labels of some nodes")
        else:
            labels = encode(labels_of(g, y) if rows is None else y, g.n, rows)
            vectors = features_of(g, labels, self.method, honest=True, **self._settings()).array
        return self._fitted(g, embedding_=vectors, eigenvalues_=values)

    def _eigenvectors(self, g: Graph) -> tuple[Any, Any]:
        A = g.to_scipy()
        matrix = sp.csr_matrix((A.data, A.indices, A.indptr), A.shape)  # indices of 32 bits, if few
        component = sp.csgraph.connected_components(matrix, directed=False)[1]
        wanted = np.asarray(abs(matrix).sum(axis=1)).ravel() > 0  # nodes with edges
        if self.largest_component:
            wanted &= component == np.bincount(component).argmax()
        rows = np.flatnonzero(wanted)
        vectors = np.zeros((g.n, self.n_components))
        if not len(rows):
            return np.zeros(0), vectors[:, :0]
        matrix = matrix[rows][:, rows]
        trivial = 0  # vectors that components alone determine, unless they have negative weights
        if self.matrix not in ("adjacency", "modularity"):
            count, component = sp.csgraph.connected_components(matrix, directed=False)
            negative = np.repeat(component, np.diff(matrix.indptr))[matrix.data < 0]
            trivial = count - len(np.unique(negative))
        which = "SA" if self.matrix.endswith("laplacian") else "LA"
        k = min(self.n_components + trivial, len(rows))
        w, v = eigsh(matrix, k, which=which, matrix=self.matrix, **self._settings())
        if which == "LA":
            w, v = w[::-1], v[:, ::-1]
        w, v = w[trivial:], v[:, trivial:]  # the program has them first
        vectors[rows, :len(w)] = v
        return w, vectors[:, :len(w)]

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the columns."""
        self._check_fitted()
        return np.array([f"nodeembedding{i}" for i in range(self.embedding_.shape[1])], dtype=object)

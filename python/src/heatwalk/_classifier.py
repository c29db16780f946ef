"""The classifier of nodes, with the manners of scikit-learn."""

from __future__ import annotations

import inspect
import os
import sys
import warnings
from typing import Any, Hashable, Mapping

import numpy as np
import scipy.sparse as sp

from ._call import Call, rows_of
from ._errors import HeatwalkWarning, NotFittedError
from ._folder import call_in_folder, write_array
from ._graph import Graph, as_graph, is_by_row, labels_of
from ._labels import encode, encode_several
from ._process import Progress
from ._results import as_nodes, bars, table


class NodeClassifier:
    """Predict the labels of all nodes of a graph from the labels of some.

    The learner is transductive: ``fit`` takes the whole graph and y with an element for each node, and
    ``predict`` returns the labels of the nodes of that graph. ``GridSearchCV`` and ``cross_val_score``
    cut rows out of the matrix, which destroys the graph; use :func:`evaluate`, or ``accuracy_``, instead.

    Parameters
    ----------
    method : str
        The method, as in ``"auto"``, ``"lp"`` or ``"diffusion:beta=2+rls"``. :func:`methods` lists all.
    node_features : array, sparse matrix or pandas frame, optional
        Attributes of the nodes, a row for each; the method ``auto`` learns from them too. The rows of a frame
        are found by its index, as the labels of a series are.
    multi_label : bool
        Whether a node may have several labels; y then has an iterable for each node, or is a matrix of
        0 and 1.
    unreached : {"blank", "prior"}
        The prediction for a node that no label reaches: none (−1 or None), or the class prior.
    random_state : int or None
        The seed of splits and folds; None means 1.
    threads, max_memory, progress
        The number of threads, the largest resident memory, such as "4GiB", and the display of progress.

    Attributes
    ----------
    classes_ : array
        The classes in sorted order.
    labels_ : array
        The label of each node, as ``predict`` returns it.
    scores_ : array of shape (n, number of classes)
        The scores as the program wrote them, with columns in the order of ``classes_``.
    reached_ : array of bool
        Whether a path connects the node with a labelled node.
    accuracy_, accuracy_stderr_ : float or None
        The accuracy at nodes without a label, estimated by cross-validation, and its standard error.
    method_, settings_ : str and dict
        The method and the parameters that were chosen.
    nodes_ : list or range
        The nodes in the order of the rows.
    run_ : dict
        The report of the program.

    Examples
    --------
    >>> import heatwalk as hw
    >>> A, y = hw.datasets.cora(labelled=270)
    >>> model = hw.NodeClassifier("lp").fit(A, y)
    >>> model.predict()[:2]
    array(['Genetic_Algorithms', 'Genetic_Algorithms'], dtype=object)
    """

    _estimator_type = "classifier"

    def __init__(self, method: str = "auto", *, node_features: Any = None, multi_label: bool = False, unreached: str = "blank",
                 random_state: int | None = 1, threads: int | None = None, max_memory: str | int | None = None,
                 progress: Progress = None) -> None:
        self.method = method
        self.node_features = node_features
        self.multi_label = multi_label
        self.unreached = unreached
        self.random_state = random_state
        self.threads = threads
        self.max_memory = max_memory
        self.progress = progress

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted(p for p in inspect.signature(cls.__init__).parameters if p != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
        return {name: getattr(self, name) for name in self._get_param_names()}

    def set_params(self, **params: Any) -> NodeClassifier:
        """Set parameters by name and return the estimator."""
        for name, value in params.items():
            if name not in self._get_param_names():
                raise ValueError(f"Invalid parameter {name!r} for estimator {self!r}. Valid parameters are: {self._get_param_names()!r}.")
            setattr(self, name, value)
        return self

    def fit(self, X: Any, y: Any = None) -> NodeClassifier:
        """Learn from the labels y of a graph X.

        Parameters
        ----------
        X : object
            The graph, in any form that :func:`as_graph` takes.
        y : array or dict
            The label of each node: −1 in numbers, NaN, None or "" for an unlabelled node; or a dict of
            the labelled nodes.

        Returns
        -------
        NodeClassifier
        """
        graph = as_graph(X)
        if y is None:
            raise ValueError("This NodeClassifier estimator requires y to be passed, but the target y is None.")
        y = labels_of(graph, y)
        if self.multi_label:
            return self._fit_several(graph, y)
        labels = encode(y, graph.n)
        self._begin(graph, labels.classes)
        if len(labels.classes) == 1:
            if X is not graph and len(y) > 1:
                warnings.warn(f"all labels are {labels.classes[0]!r}; every node gets it", HeatwalkWarning, stacklevel=2)
            self.labels_, self.scores_ = np.full(graph.n, labels.classes[0]), np.ones((graph.n, 1))
            self.reached_, self._code = np.ones(graph.n, dtype=bool), labels.code
            return self
        scores, cols, predicted = self._predictions(graph, lambda call: call.write_labels(labels))
        number = np.array([int(c) for c in cols])  # the program has the classes in the order of their first nodes
        self.scores_, self._code = scores[:, np.argsort(number)], labels.code
        code = np.where(predicted < 0, -1, number[predicted])
        self.labels_ = _decode(labels.classes, code)
        return self

    def _begin(self, graph: Graph, classes: Any) -> None:
        self.classes_, self.n_features_in_ = classes, graph.n
        self.nodes_ = range(graph.n) if graph.nodes is None else graph.nodes
        self.method_ = self.method
        self.settings_: dict[str, Any] = {}
        self.run_: dict[str, Any] = {}
        self.accuracy_: float | None = None
        self.accuracy_stderr_: float | None = None
        self._indicator = False

    def _predictions(self, graph: Graph, write_labels: Any, *more: str) -> tuple[Any, list[str], Any]:
        """Run classify and return the scores, the names of their columns and the predicted columns."""

        def work(folder: str) -> tuple[Any, list[str], Any]:
            call = Call(folder, graph, dict(threads=self.threads, max_memory=self.max_memory, progress=self.progress,
                                            random_state=1 if self.random_state is None else self.random_state))
            path = call.path("predictions.npz", "out")
            args = ["--labels", write_labels(call), "-o", path, *more]
            if self.unreached != "blank":
                args += ["--unreached", str(self.unreached)]
            if not self.multi_label:
                args += ["--method", str(self.method)]
            if self.node_features is not None:
                args += ["--node-features", _write_features(call, self.node_features)]
            self.run_ = call.run("classify", *args)
            with np.load(path) as file:
                self.reached_ = file["reached"]
                return file["features"], list(file["cols"]), file["label"]

        result = call_in_folder(graph.bytes() + 64 * graph.n, work)
        self.accuracy_, self.accuracy_stderr_ = self.run_.get("accuracy_estimate"), self.run_.get("accuracy_stderr")
        self.method_, self.settings_ = self.run_.get("method", self.method), self.run_.get("parameters") or {}
        return result

    def _fit_several(self, graph: Graph, y: Any) -> NodeClassifier:
        """Learn several labels for each node."""
        if self.method != "auto":
            raise ValueError(f"method is {self.method!r}; with multi_label=True there is one method: leave it out")
        classes, lists, indicator = encode_several([None if v is None else v for v in y] if isinstance(y, np.ndarray) and y.ndim == 1 else y, graph.n)
        self._begin(graph, classes)
        self._indicator = indicator

        def write(call: Call) -> str:
            path = call.path("labels.tsv", "y")
            with open(path, "w", encoding="utf-8") as file:
                for row, some in enumerate(lists):
                    file.writelines(f"{graph.id_text(row)}\t{code}\n" for code in some)
            return path

        scores, cols, _ = self._predictions(graph, write, "--multi-label")
        self.scores_ = np.zeros((graph.n, len(classes)), dtype=scores.dtype)
        self.scores_[:, [int(c) for c in cols]] = scores
        chosen = self.scores_ >= np.float32(self.run_["multi_label"]["threshold"])
        none = np.flatnonzero(~chosen.any(axis=1) & self.reached_)
        chosen[none, self.scores_[none].argmax(axis=1)] = True  # as in the column label of the program
        for row, some in enumerate(lists):
            if some:
                chosen[row] = False
                chosen[row, some] = True
        self._chosen = chosen
        self.labels_ = chosen.astype(int) if indicator else as_nodes([tuple(classes[c].tolist()) for c in chosen], graph.n)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> Any:
        """Learn from labels and return the label of every node."""
        return self.fit(X, y).labels_

    def _check_fitted(self) -> None:
        if hasattr(self, "labels_"):
            return
        error: Any = NotFittedError
        if "sklearn" in sys.modules:
            import sklearn.exceptions

            error = sklearn.exceptions.NotFittedError
        raise error(f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator.")

    def _check_same(self, X: Any) -> None:
        self._check_fitted()
        if X is None:
            return
        graph = as_graph(X)
        if graph.n != self.n_features_in_:
            raise ValueError(f"X has {graph.n} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input; "
                             "predictions are those of the nodes of the fitted graph: fit with all nodes, with -1 for unknown labels")

    def predict(self, X: Any = None) -> Any:
        """Return the label of every node of the fitted graph; X, if given, is that graph."""
        self._check_same(X)
        return self.labels_

    def predict_proba(self, X: Any = None) -> Any:
        """Return the probability of each class at every node, 1 at the label of a labelled node."""
        self._check_same(X)
        scores = np.array(self.scores_, dtype=np.float64)
        if self.multi_label:
            return scores
        scores /= scores.sum(axis=1, keepdims=True)
        known = np.flatnonzero(self._code >= 0)
        scores[known] = 0
        scores[known, self._code[known]] = 1
        return scores

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of nodes with a label in y that have this label in the predictions.

        With ``multi_label=True`` all labels of a node have to be right.
        """
        self._check_same(X)
        n = self.n_features_in_
        truth = labels_of(as_graph(X), y)
        if self.multi_label:
            classes, lists, _ = encode_several(truth, n)
            own = [set(np.asarray(self.classes_)[row].tolist()) for row in self._chosen]
            known = np.array([bool(some) for some in lists])
            right = np.array([own[i] == {classes[c].item() for c in some} for i, some in enumerate(lists)], dtype=float)[known]
        else:
            known = encode(truth, n).code >= 0
            pairs = zip(np.asarray(truth, dtype=object)[known], np.asarray(self.labels_, dtype=object)[known])
            right = np.array([a == b for a, b in pairs], dtype=float)
        return float(np.average(right, weights=None if sample_weight is None else np.asarray(sample_weight)[known]))

    def to_dict(self) -> dict[Hashable, Any]:
        """Return the labels by node."""
        self._check_fitted()
        return dict(zip(self.nodes_, self.labels_))

    def to_frame(self) -> Any:
        """Return a pandas frame with nodes as index: label, reached, and the score of each class."""
        self._check_fitted()
        import pandas

        frame = pandas.DataFrame(self.scores_, index=pandas.Index(as_nodes(self.nodes_, self.n_features_in_).tolist(), tupleize_cols=False), columns=list(self.classes_))
        frame.insert(0, "label", self.labels_, allow_duplicates=True)
        frame.insert(1, "reached", self.reached_, allow_duplicates=True)
        return frame

    def _more_tags(self) -> dict[str, Any]:
        return {"pairwise": True, "requires_positive_X": True, "non_deterministic": False, "multioutput": False}

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(estimator_type="classifier", target_tags=TargetTags(required=True), transformer_tags=None, regressor_tags=None,
                    classifier_tags=ClassifierTags(), input_tags=InputTags(sparse=True, pairwise=True, positive_only=True))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "labels_")

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        usual = inspect.signature(type(self).__init__).parameters
        given = [f"{k}={v!r}" for k, v in self.get_params().items() if not _is_same(v, usual[k].default)]
        return f"{type(self).__name__}({', '.join(given)})"[:N_CHAR_MAX]

    def _repr_html_(self) -> str:
        if not hasattr(self, "labels_"):
            return table([("estimator", repr(self)), ("state", "not fitted")])
        lines = [("method", self.method_), ("nodes", f"{self.n_features_in_:,}"), ("classes", str(len(self.classes_)))]
        if self.accuracy_ is not None:
            lines.append(("cross-validated accuracy", f"{100 * self.accuracy_:.1f} ± {100 * (self.accuracy_stderr_ or 0):.1f} %"))
            if (largest := self.run_.get("accuracy_majority")) is not None:
                lines.append(("largest class alone", f"{100 * largest:.1f} %"))
        lines += [(str(k), str(v)) for k, v in self.settings_.items()]
        lines.append(("not reached", f"{int((~self.reached_).sum()):,}"))
        if self.multi_label:
            counts = self._chosen.sum(axis=0)
        else:
            counts = np.array([np.count_nonzero(self.labels_ == c) for c in self.classes_])
        return table(lines) + bars(list(self.classes_), [int(c) for c in counts])


def _is_same(a: Any, b: Any) -> bool:
    return a is b or type(a) is type(b) and isinstance(a, (str, int, bool, float)) and a == b


def _decode(classes: Any, code: Any) -> Any:
    """Return the classes of codes; a blank, −1, is −1 among numbers and None otherwise."""
    if (code >= 0).all():
        return classes[code]
    if classes.dtype.kind in "iuf":
        kind = classes.dtype if classes.dtype.kind != "u" else np.int64
        return np.where(code < 0, np.array(-1, dtype=kind), classes[code])
    labels = classes.astype(object)[code]
    labels[code < 0] = None
    return labels


def _write_features(call: Call, features: Any) -> str:
    """Write attributes of nodes, a row for each, and return the path."""
    if isinstance(features, (str, os.PathLike)):
        return os.fspath(features)
    n, name = call.graph.n, "node_features"
    if isinstance(features, (list, tuple)):
        features = np.asarray(features)
    if features.shape[0] != n:
        raise ValueError(f"node_features has {features.shape[0]} rows, and the graph has {n} nodes")
    if hasattr(features, "columns"):
        path = call.path("features.csv", name)
        frame = features.copy(deep=False)
        if is_by_row(call.graph, frame.index):
            frame.index = range(n)
        else:
            frame.index = rows_of(call.graph, frame.index, name)
            if frame.index.has_duplicates:
                raise ValueError("node_features has two rows for a node in its index; keep one")
        frame.index = [call.graph.id_text(row) for row in frame.index]
        frame.to_csv(path, index_label="node")
        return path
    if sp.issparse(features):
        path = call.path("features.npz", name)
        sp.save_npz(path, sp.csr_matrix(features), compressed=False)
    else:
        path = write_array(call.path("features.npy", name), np.asarray(features, dtype=np.float64))
    call.write_ids("features.rows.ids", name, range(n))
    return path

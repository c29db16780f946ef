"""The classifier of nodes, with the manners of scikit-learn, and models for other graphs."""

from __future__ import annotations

import contextlib
import csv
import json
import operator
import os
import re
import tempfile
import zipfile
from typing import TYPE_CHECKING, Any, Hashable, Mapping

import numpy as np
import scipy.sparse as sp

from ._call import Call, rows_of, run_call
from ._errors import UsageError
from ._estimators import ClassifierMixin, NodeEmbedding, NodeEstimator, NodeRegressor, check_index
from ._folder import read_arrays
from ._frame import columns_of, write_table
from ._graph import (Graph, Nodes, as_array, as_graph, as_objects, checksum, has_settings, is_pandas, labels_of, nodes_of)
from ._labels import Labels, decode, encode, encode_several, labels_of_sides
from ._matrix import Array
from ._process import Progress, run, seed_of
from ._results import axis

if TYPE_CHECKING:
    import pandas


class NodeClassifier(ClassifierMixin, NodeEstimator):
    """Predict the labels of all nodes of a graph from the labels of some.

    With the graph in the constructor, X is a list of nodes, and ``cross_val_score``, pipelines and the like of
    scikit-learn work: ``NodeClassifier(graph=A).fit(nodes, y)``. Without it, X of ``fit`` is the graph, and y has an
    element for each node.

    Parameters
    ----------
    method
        As in ``"auto"``, ``"lp"`` or ``"diffusion:beta=2+rls"``; :func:`methods` lists all.
    graph
        A graph in any form that :func:`as_graph` takes; convert one of NetworkX once by that.
    node_features
        Attributes, a row for each node, from which ``auto`` learns too. The rows of a frame, of all nodes or some, are
        found by its index.
    multi_label
        Whether y has an iterable of labels for each node, or is a matrix of 0 and 1.
    unreached : {"blank", "prior"}, optional
        The prediction for a node that no label reaches: none (−1, "" or None), or the class prior. By default the prior
        if the graph is in the constructor, because scikit-learn scores every prediction.
    prior
        Known shares of the classes by name, as in ``{"fraud": 0.01, "honest": 0.99}``, or a file of them;
        ``"balanced"`` for equal ones.
    class_weight : dict or "balanced", optional
        How much a label of each class counts, in place of prior: the shares of the classes are those of the labels
        times these weights, 1 for classes that are not in the dict.
    edge_weights : {"given", "none", "log"}, optional
        The weights of edges: w, 1 or log(1 + w). By default auto chooses by held-out labels, and other methods
        take w.
    effort : {"low", "normal", "high"}, optional
        The time for optional stages of auto: none, about 10 or about 100 seconds of a processor.
    targets
        The nodes that can have a label, or a mask of all nodes.
    new_nodes
        Whether to keep what ``predict_new`` needs.
    precision, recall
        Ask for the probability above which nodes are of the rarest class with this precision or recall, in
        ``rare_classes_``.
    kind_weights, since, until, half_life, random_state, threads, max_memory, progress
        See :class:`Settings`; give a number as random_state for the same folds each time.

    Attributes
    ----------
    classes_
        The classes in sorted order.
    labels_
        The label of each node, with the type of y.
    scores_
        The scores of the program, with columns in the order of ``classes_``.
    reached_
        Whether a path connects the node with a labelled node.
    kind_weights_
        The weights of kinds of edges by name, or None.
    accuracy_, accuracy_stderr_
        The accuracy at nodes without a label, estimated by cross-validation, and its standard error.
    rare_classes_
        A dict for each class of at most a fifth of the labels, the rarest first: average_precision with
        average_precision_stderr, and first, the precision among the first 10, 100 and 1,000 held-out labels. With
        precision or recall, for_precision and for_recall have the threshold, and the precision and recall that other
        held-out labels have there.
    method_, settings_, nodes_, run_
        The method and the parameters that were chosen, with the "weights" of edges if the graph has some, the nodes in
        the order of the rows, and the report of the program.

    Examples
    --------
    >>> import heatwalk as hw
    >>> A, y = hw.datasets.cora(labelled=270)
    >>> model = hw.NodeClassifier("lp").fit(A, y)
    >>> model.predict()[:2]
    array(['Genetic_Algorithms', 'Genetic_Algorithms'], dtype=object)
    """
    __module__ = "heatwalk"  # where users import it from

    def __init__(self, method: str = "auto", *, graph: Any = None, node_features: Any = None,
                 multi_label: bool = False, unreached: str | None = None, prior: Any = None,
                 class_weight: Any = None, edge_weights: str | None = None, effort: str | None = None, targets: Any = None, new_nodes: bool = False,
                 precision: float | None = None, recall: float | None = None, kind_weights: Any = None, since: Any = None, until: Any = None, half_life: Any = None,
                 random_state: Any = None, threads: int | None = None, max_memory: str | int | None = None,
                 progress: Progress = None) -> None:
        self._store(locals())

    def fit(self, X: Any, y: Any = None, *, labels_row: Any = None, labels_col: Any = None, groups: Any = None,
            times: Any = None, **options: Any) -> NodeClassifier:
        """Learn from the labels y of the nodes X, or of the graph X.

        Parameters
        ----------
        X
            Nodes of the graph in the constructor, or a graph in any form that :func:`as_graph` takes.
        y
            The label of each element of X, or of each node of the graph: −1 in numbers, NaN, None or "" for none; or a
            dict of the labelled nodes.
        labels_row, labels_col
            In place of y, labels of rows and columns of a matrix whose rows and columns are two kinds of nodes, each as
            y, as in scikit-network.
        groups
            The group of each element of X, or of each node, in the form of y: labels of a group, such as accounts of one
            person, are held out together. A node without a group is one of its own. Five groups are needed.
        times
            The time of each label, a number or a date, in the form of y: held-out labels are newer than those that
            they are predicted from, and ``accuracy_`` is that of the newest fifth.
        **options
            The sample_weight of scikit-learn, as long as the y: 0 leaves a label out, and the other weights must be
            equal, because walks start at labels and no method adds weighted losses of them.

        Raises
        ------
        ValueError
            The graph or the labels are wrong, or the method does not exist.
        LimitError
            The call needs more than max_memory.
        """
        if labels_row is not None or labels_col is not None:
            if y is not None or self.graph is not None or self.multi_label:
                raise ValueError("labels_row and labels_col are labels of a matrix as X, in place of y")
            X = X if isinstance(X, Graph) else as_graph(X, bipartite=True)
            y = labels_of_sides(X, labels_row, labels_col)
        sample_weight = options.pop("sample_weight", None)
        if options:
            raise TypeError(f"fit() got an unexpected argument {options.popitem()[0]!r}")
        g, rows = self._inputs(X, y)
        counted = np.ones(g.n, dtype=bool)
        if sample_weight is not None:
            counted = _counted(g, rows, X, sample_weight)
        if self.multi_label:
            return self._fit_several(g, rows, y, counted, groups, times)
        labels = encode(labels_of(g, y) if rows is None else y, g.n, rows).of_nodes(counted)
        if len(labels.classes) < 2:
            found = "".join(f"one class, {c!r}" for c in labels.classes.tolist()) or "no label"
            where = "" if sample_weight is None else " where sample_weight is not 0"
            raise ValueError(f"y has {found}{where}; two classes are needed")
        prior = self._shares(labels)
        scores, _, code, state = self._predictions(g, lambda call: {
            **call.write_held_out(groups, times, rows), "labels": call.write_labels(labels), "prior": call.write_prior(prior, labels.classes)})
        for rare in state["rare_classes_"]:
            rare["class"] = labels.classes.tolist()[int(rare["class"])]
        return self._fitted(g, classes_=labels.classes, scores_=scores, labels_=decode(labels.classes, code),
                            _code=labels.code, _prior=prior, **state)

    def _shares(self, labels: Labels) -> Any:
        """Return the shares of the classes: the prior, or those of labels that count as class_weight has it."""
        weights = self.class_weight
        if weights is None:
            return self.prior
        if self.prior is not None:
            raise ValueError("class_weight and prior both give shares of the classes; leave one out")
        if isinstance(weights, str) and weights == "balanced":
            return weights
        classes = labels.classes.tolist()
        if not isinstance(weights, Mapping) or not set(weights) <= set(classes):
            raise ValueError(f"class_weight is {weights!r}; give \"balanced\" or a dict of the classes of y")
        counts = np.bincount(labels.code[labels.code >= 0])
        shares = counts * np.array([weights.get(c, 1) for c in classes], dtype=np.float64)
        if not (np.isfinite(shares) & (shares > 0)).all():
            raise ValueError("class_weight: weights must be finite and above 0; leave out the labels of other classes")
        return dict(zip(classes, (shares / shares.sum()).tolist()))

    def _predictions(self, graph: Graph, write_inputs: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
        """Run classify; return scores, their classes, predicted classes, and attributes."""
        unreached, seed = self._unreached(), seed_of(self.random_state)
        def work(call: Call) -> tuple[Any, Any, Any, dict[str, Any]]:
            path, model, columns = (call.path(*names) for names in (
                ("predictions.npz", "out"), ("model", "model"), ("columns", "new_nodes")))
            options = {**write_inputs(call), "o": path,
                       "method": None if self.multi_label and self.method == "auto" else self.method,
                       "multi_label": self.multi_label, "edge_weights": self.edge_weights, "effort": self.effort,
                       "unreached": None if unreached == "blank" else unreached,
                       "precision": self.precision, "recall": self.recall,
                       "targets": call.write("targets.npy", "targets", targets) or "all",
                       "node_features": call.write_attributes(self.node_features)}
            if self.graph is not None:  # perhaps one of several folds
                call.settings["graph"] = checksum(graph)
            try:
                run = call.run("classify", **options, save_model=None if self.multi_label else model,
                               save_columns=columns if self.new_nodes else None)
            except UsageError as error:
                if error.place != "save-model":
                    raise
                run = call.run("classify", **options)
            accuracy, error = (None if run.get(v) is None else float(run[v])
                               for v in ("accuracy_estimate", "accuracy_stderr"))
            parameters = dict(run.get("parameters") or {})
            if "weights" in run:
                parameters["weights"] = run["weights"]
            state = {"rare_classes_": run.get("rare_classes", []), "run_": run, "_model": b"", "_columns": b"", "_seed": seed,
                     "accuracy_": accuracy, "accuracy_stderr_": error, "method_": run.get("method", self.method),
                     "kind_weights_": run.get("kind_weights"), "settings_": parameters}
            if graph.kinds and state["kind_weights_"]:
                state["kind_weights_"] = {graph.kinds.get(kind, kind): weight for kind, weight
                                          in state["kind_weights_"].items()}
            for name, written in ("_model", model), ("_columns", columns):
                if os.path.exists(written):
                    with open(written, "rb") as file:
                        state[name] = file.read()
            *arrays, state["reached_"] = _read_predictions(path)
            return (*arrays, state)
        targets = rows_of(graph, self.targets, "targets")
        settings = {**self._settings(), "random_state": seed}
        scores, cols, predicted, state = run_call(graph, settings, 64 * graph.n, work)
        if targets is not None:  # other nodes have no label
            full = [np.zeros((graph.n, scores.shape[1]), scores.dtype), np.full(graph.n, -1), np.zeros(graph.n, bool)]
            for array, some in zip(full, (scores, predicted, state["reached_"])):
                array[targets] = some
            scores, predicted, state["reached_"] = full
        return scores, cols, predicted, state

    def _unreached(self) -> str:
        """Return the prediction for nodes that no label reaches; majority has one for every node."""
        if self.unreached or self.graph is None or self.method == "majority":
            return self.unreached or "blank"
        return "prior"

    def _fit_several(self, graph: Graph, rows: Any, y: Any, counted: Any, groups: Any, times: Any) -> NodeClassifier:
        """Learn several labels for each node."""
        if self.class_weight is not None:
            raise ValueError("class_weight is for one label a node; leave it out")
        if rows is None:
            classes, matrix, indicator = encode_several(labels_of(graph, y, several=True), graph.n)
        else:
            classes, some, indicator = encode_several(y, len(rows))
            matrix = np.zeros((graph.n, len(classes)), dtype=np.int8)
            matrix[rows] = some
        matrix[~counted] = 0
        scores, number, _, state = self._predictions(
            graph, lambda call: {**call.write_held_out(groups, times, rows),
                                 "labels": call.write("labels.npy", "y", matrix), "prior": self.prior})
        full = np.zeros((graph.n, len(classes)), dtype=scores.dtype)
        full[:, np.sort(number)] = scores
        chosen = full >= np.float32(state["run_"]["multi_label"]["threshold"])
        none = np.flatnonzero(~chosen.any(axis=1) & state["reached_"])
        chosen[none, full[none].argmax(axis=1)] = True  # as in the column label of the program
        labelled = matrix.any(axis=1)
        chosen[labelled] = matrix[labelled] != 0
        labels = chosen.astype(int) if indicator else as_objects(tuple(classes[c].tolist()) for c in chosen)
        return self._fitted(graph, classes_=classes, scores_=full, labels_=labels, _chosen=chosen, **state)

    def fit_predict(self, X: Any, y: Any = None, **labels: Any) -> Array:
        """Learn from labels, as in fit, and return the label of X, of every node for a graph."""
        return self.fit(X, y, **labels).predict(X)

    @property
    def labels_row_(self) -> Array:
        """The labels of the rows of a matrix with two kinds of nodes."""
        return np.array(self.labels_[:self._rows_and_columns()[0]])

    @property
    def labels_col_(self) -> Array:
        """The labels of the columns of a matrix with two kinds of nodes."""
        return np.array(self.labels_[self._rows_and_columns()[0]:])

    def _rows_and_columns(self) -> tuple[int, int]:
        self._check_fitted()
        if self._sides is None:
            raise AttributeError("rows and columns are one kind of nodes; fit with labels_row or labels_col")
        return self._sides

    def predict(self, X: Any = None) -> Array:
        """Return the labels of the nodes X, of all if it is left out or the fitted graph."""
        rows = self._select(X)
        return np.array(self.labels_[rows])

    def predict_proba(self, X: Any = None) -> Array:
        """Return the probabilities of the classes at the nodes X, 1 at a known label."""
        rows = self._select(X)
        scores = np.array(self.scores_[rows], dtype=np.float64)
        if self.multi_label:
            return scores
        total = scores.sum(axis=1, keepdims=True)
        scores /= np.where(total > 0, total, 1)
        code = self._code[rows]
        labelled = np.flatnonzero(code >= 0)
        scores[labelled] = 0
        scores[labelled, code[labelled]] = 1
        return scores

    def predict_log_proba(self, X: Any = None) -> Array:
        """Return the logarithms of the probabilities of the classes at the nodes X."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))  # type: ignore[no-any-return]

    def predict_set(self, X: Any = None, *, coverage: float = 0.9) -> Array:
        """Return for each node of X a tuple of classes that holds its class with the given probability.

        Without a graph in the constructor, X is the graph of ``fit``. The promise needs labels that are a random sample
        of the nodes. Classes that no label has are denoted by "other". A tuple is empty if no label reaches the node,
        or if there are too few labels for the coverage.
        """
        rows, source = self._select(X), X if self.graph is None else self.graph
        if source is None:
            raise ValueError("graph is missing; pass the graph that fit was given")
        if not self._model:
            raise ValueError("predict_set: there are no sets with several labels or a prior of each node; leave these out")
        g = as_graph(source)

        def work(call: Call) -> list[tuple[Any, ...]]:
            path = call.path("sets.tsv", "out")
            call.run("predict", model=call.write_bytes("model", self._model), o=path, sets=coverage,
                     scores="none", node_features=call.write_attributes(self.node_features))
            with open(path, encoding="utf-8", newline="") as file:
                cells = [line["set"] for line in csv.DictReader(file, delimiter="\t")]
            return [tuple(self.classes_[int(c)] if c.isdigit() else c for c in cell.split("|") if c) for cell in cells]
        sets = run_call(g, {**self._settings(), "random_state": self._seed}, 0, work)
        return as_objects(sets)[rows]

    def predict_new(self, edges: Any, *, node_features: Any = None, explain: bool = False) -> pandas.DataFrame:
        """Return the labels and probabilities of nodes that are not in the graph, from their edges alone.

        Parameters
        ----------
        edges
            Tuples of a new node, a node of the graph or another new node, and perhaps a weight and a kind; or a frame with
            these columns. Each new node is the first in some tuple; one without an edge is a tuple with None.
        node_features
            Attributes of the new nodes: a row for each, in the order of their first tuples, or a frame by index.
        explain
            Whether to add a column reasons, a dict of the share of each linked node in the label.

        Returns
        -------
        pandas.DataFrame
            A frame with the new nodes as index, and the columns label, reached, reasons and those of the classes.
        """
        self._check_fitted()
        return _predict_new(self, self._nodes, edges, node_features, explain, {**self._settings(), "random_state": self._seed})

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of nodes with a label in y that have this label in the predictions.

        With ``multi_label=True`` all labels of a node have to be right.
        """
        rows = self._select(X)
        sample_weight = self._in_order(X, sample_weight, "sample_weight")
        y = labels_of(self._graph_of(X), y) if self._state != () else self._in_order(X, y, "y")
        n = len(self.labels_[rows])
        if self.multi_label:
            classes, matrix, _ = encode_several(y, n)
            counted = matrix.any(axis=1)
            pairs = zip((frozenset(classes[some != 0].tolist()) for some in matrix[counted]),
                        (frozenset(self.classes_[c].tolist()) for c in self._chosen[rows][counted]))
        else:
            labels = encode(y, n, np.arange(n) if self._state == () else None)
            counted = labels.code >= 0
            pairs = zip(labels.classes[labels.code[counted]].tolist(), self.labels_[rows][counted].tolist())
        weights = None if sample_weight is None else np.asarray(sample_weight)[counted]
        return float(np.average([a == b for a, b in pairs], weights=weights))

    def explain(self, nodes: Any, graph: Any = None, *, number: int = 10) -> pandas.DataFrame:
        """Return the reasons for the labels of nodes: shares of labelled nodes, and links.

        Parameters
        ----------
        nodes, graph
            A node, or a list of nodes; the graph of ``fit``, unless it is in the constructor.
        number
            Labelled nodes, attributes and links to list for each node.

        Returns
        -------
        pandas.DataFrame
            A frame with the columns node, label, reason, name, detail and share, as ``heatwalk explain`` writes them:
            the shares of the reasons ``label``, ``other labels``, ``attribute``, ``other attributes`` and ``rest`` add
            up to that of ``score``. Below a ``link``, lines ``kind`` have the weight and the share of each kind of its
            edges.
        """
        self._check_fitted()
        import pandas

        if graph is None and self.graph is None:
            raise ValueError("graph is missing; pass the graph that fit was given")
        if self.multi_label:
            raise ValueError("explain: there are reasons for one label a node, not for several")
        g = as_graph(self.graph if graph is None else graph)
        state = self._state or graph is not None and checksum(as_graph(self.graph))
        if state and checksum(g) != state:
            raise ValueError("graph is not that of fit, whose predictions are explained")
        if isinstance(nodes, (str, bytes)) or not hasattr(nodes, "__iter__"):
            nodes = [nodes]
        own = nodes_of(g)
        rows_explained = rows_of(g, nodes, "nodes").tolist()
        ids = [str(v) for v in (own.at(rows_explained) if own.path else rows_explained)]

        def work(call: Call) -> dict[str, Any]:
            if self._model:
                options: dict[str, Any] = {"model": call.write_bytes("model", self._model)}
            else:
                labels = call.write_labels(Labels(self.classes_, self._code))
                options = {"labels": labels, "method": self.method,
                           "prior": call.write_prior(self._prior, self.classes_),
                           "edge_weights": self.run_.get("weights", self.edge_weights), "effort": self.effort}
            out = call.path("reasons.tsv", "out")
            return call.run("explain", *ids, **options, n=number, o=out,
                            node_features=call.write_attributes(self.node_features))

        def name(node: str) -> Any:
            return node if own.path else own.at([int(node)])[0]

        def label(text: str) -> Any:
            return self.classes_[int(text)] if text else None

        lines: list[tuple[Any, ...]] = []
        # The names of attributes of a matrix that was made of a frame.
        titles = dict(enumerate(map(str, getattr(self.node_features, "columns", ()))))
        for r in run_call(g, {**self._settings(), "random_state": self._seed}, 0, work)["nodes"]:
            rows = [("score", label(r.get("rival", "")), r["probability"], r["score"])]
            rows += [("label", name(x["node"]), label(x["label"]), x["share"]) for x in r["labels"]]
            if r["other_labels"]:
                rows += [("other labels", None, r["other_labels"], r["other_share"])]
            for x in r.get("attributes", []):
                title = x.get("name", titles.get(x["column"]))
                title = title and re.sub(r' = "(.*)"', r" = \1", title)  # text that has digits is in quotes
                rows += [("attribute", title, x["column"], x["share"])]
            if "attributes" in r:
                rows += [("other attributes", None, None, r["other_attributes_share"])]
            rows += [("rest", None, None, r["rest"])]
            for x in r["links"]:
                rows += [("link", name(x["from"]), name(x["to"]), x["importance"])]
                rows += [("kind" if "kind" in k else "edges", k.get("kind"), _of_link(k),
                          k["share"] * x["importance"]) for k in x.get("kinds", [])]
            lines += [(name(r["node"]), label(r["label"]), *row) for row in rows]
        columns = ["node", "label", "reason", "name", "detail", "share"]
        return pandas.DataFrame(lines, columns=columns, dtype=object).astype({"share": float})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, for :func:`load` and graphs with further nodes.

        Nodes and classes are kept by name: text, numbers and tuples of them.
        """
        self._check_fitted()
        if not self._model:
            raise ValueError(f"save: models of {self.method_} cannot be kept; those of auto, lp, "
                             "lgc, cwk and kernels with linear learners can, for one label a node")
        about = {"classes": self.classes_.tolist(), "type": self.classes_.dtype.str, "path": self._nodes.path,
                 "nodes": len(self._nodes) if self._nodes.is_numbered or self._nodes.path
                 else list(self.nodes_), "unreached": self._unreached(), "reading": self._reading}
        try:
            text = json.dumps(about, default=operator.methodcaller("item"))  # of NumPy
        except (TypeError, AttributeError) as error:
            raise ValueError(f"save: a node or class is neither text nor number: {error}") from None
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("about.json", text)
            archive.writestr("model", self._model)
            archive.writestr("columns", self._columns)

    def to_dict(self) -> dict[Hashable, Any]:
        """Return the labels by node."""
        self._check_fitted()
        labels = self.labels_.tolist() if self.labels_.ndim == 1 else list(self.labels_)
        return dict(zip(self.nodes_, labels))

    def to_frame(self) -> pandas.DataFrame:
        """Return a pandas frame with nodes as index: label, reached, and scores by class."""
        self._check_fitted()
        import pandas
        frame = pandas.DataFrame(self.scores_, index=axis(self.nodes_), columns=list(self.classes_))
        label = self.labels_ if self.labels_.ndim == 1 else list(self.labels_)
        frame.insert(0, "label", label, allow_duplicates=True)
        frame.insert(1, "reached", self.reached_, allow_duplicates=True)
        return frame


def _counted(graph: Graph, rows: Any, X: Any, sample_weight: Any) -> Any:
    """Return a mask of the nodes whose labels count, those with a weight other than 0."""
    if rows is None:
        sample_weight = nodes_of(graph).align(sample_weight, "sample_weight")
    else:
        check_index(X, sample_weight, "sample_weight")
    weights = np.asarray(as_array(sample_weight), dtype=np.float64)
    rows = np.arange(graph.n) if rows is None else rows
    if weights.shape != rows.shape:
        raise ValueError(f"sample_weight has shape {weights.shape}; it needs a weight for each of {len(rows)} nodes")
    if len(np.setdiff1d(weights, [0])) != 1:
        raise ValueError("sample_weight: labels count alike or, with the weight 0, not at all, because no method adds "
                         "weighted losses of labels; give 0 and 1, or class_weight for whole classes")
    counted = np.zeros(graph.n, dtype=bool)
    counted[rows[weights != 0]] = True
    return counted


def _of_link(kind: dict[str, Any]) -> str:
    """Return the weight and the times of the edges of one kind, as the program writes them."""
    times = dict.fromkeys(kind[end] for end in ("first", "last") if kind.get(end))
    return f"weight {kind['weight']:.6g}" + (", " + " to ".join(times) if times else "")


def _read_predictions(path: str) -> tuple[Any, Any, Any, Any]:
    """Return scores, the classes of their columns, predicted classes, and which are reached."""
    arrays = read_arrays(path)
    number, label = arrays["cols"].astype(np.int32), arrays["label"]
    predicted = np.where(label < 0, -1, number[label])
    return arrays["features"][:, np.argsort(number)], number, predicted, arrays["reached"]


class Model:
    """A model that :meth:`NodeClassifier.save` wrote, for graphs with further nodes and edges.

    Its attributes are classes_, the classes in sorted order, and nodes_, the nodes of ``fit``.
    """
    __module__ = "heatwalk"

    def __init__(self, path: str | os.PathLike[str]) -> None:
        try:
            with zipfile.ZipFile(path) as archive:
                about = json.loads(archive.read("about.json"))
                self._model = archive.read("model")
                self._columns = archive.read("columns") if "columns" in archive.namelist() else b""
        except (zipfile.BadZipFile, KeyError):
            raise ValueError(f"{os.fspath(path)!r} is no model; NodeClassifier.save writes one") from None
        nodes = about["nodes"]
        self.nodes_ = range(nodes) if isinstance(nodes, int) else [_hashable(v) for v in nodes]
        self._by_id, self._unreached = bool(about["path"]), about["unreached"]
        self._reading: dict[str, Any] | None = about.get("reading")
        kind = np.dtype(about["type"])
        classes = [_hashable(v) for v in about["classes"]]
        self.classes_: Array = as_objects(classes) if kind == object else np.array(classes, kind)

    def _read(self, graph: Any) -> Graph:
        """Return a graph that is read as that of the model was, or raise an error if it was read in another way."""
        want = self._reading
        if want is None or not has_settings(graph):
            g = as_graph(graph)
        else:
            has_codes = "kind" in want or "time" in want
            g = as_graph(graph, **{k: v if k == "flags" else _hashable(v) for k, v in want.items()},
                         ids=self.nodes_ if has_codes and columns_of(graph) is not None else None)
        if want is not None and g.reading is not None and g.reading != want:
            here, there = (", ".join(f"{name}={value!r}" for name, value in reading.items()) or "no arguments"
                           for reading in (g.reading, want))
            raise ValueError(f"graph: as_graph had {here}, and for the graph of the model {there}; "
                             "pass the same, or learn a model on this graph")
        return g

    def _run(self, graph: Any, node_features: Any, settings: dict[str, Any]) -> tuple[Any, Any]:
        """Return scores and class numbers, −1 for a blank, of all nodes."""
        g = self._read(graph)
        order = np.arange(g.n)
        if self._by_id != bool(nodes_of(g).path):
            raise ValueError("graph: the model was learned on the other kind of graph; pass a "
                             + ("file or a store" if self._by_id else "matrix or a graph in memory"))
        if not self._by_id:
            # The program knows nodes by their rows, so that those of the model come first, in its
            # order.
            first = nodes_of(g).rows(self.nodes_, "graph")
            order = np.concatenate([first, np.setdiff1d(order, first)])
        if g.matrix is None and (order != np.arange(g.n)).any():
            raise ValueError("graph: the nodes of the model come first in a graph with kinds or "
                             "times; pass as_graph(graph, ids=model.nodes_, …)")
        if (order != np.arange(g.n)).any():
            g = Graph(g.matrix[order][:, order].tocsr().sorted_indices(), [g.nodes[int(i)] for i in order])
            if node_features is not None and not is_pandas(node_features):  # found by name
                is_arrow = hasattr(node_features, "column_names")
                node_features = (node_features.take(order) if is_arrow else
                                 node_features[order.tolist()] if hasattr(node_features, "columns")
                                 else as_array(node_features)[order])
        def work(call: Call) -> tuple[Any, Any]:
            path = call.path("predictions.npz", "out")
            call.run("predict", model=call.write_bytes("model", self._model), o=path,
                     unreached=self._unreached, node_features=call.write_attributes(node_features))
            return _read_predictions(path)[::2]
        scores, code = run_call(g, settings, 64 * g.n, work)
        back = np.argsort(order)
        return scores[back], code[back]

    def predict(self, graph: Any, *, node_features: Any = None, **settings: Any) -> Array:
        """Return the label of every node of a graph that has the labelled nodes of the model."""
        code = self._run(graph, node_features, settings)[1]
        return decode(self.classes_, code)  # type: ignore[no-any-return]

    def predict_proba(self, graph: Any, *, node_features: Any = None, **settings: Any) -> Array:
        """Return the probability of each class at every node."""
        scores = np.array(self._run(graph, node_features, settings)[0], dtype=np.float64)
        return scores / scores.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]


    def predict_new(self, edges: Any, *, node_features: Any = None, explain: bool = False, **settings: Any) -> pandas.DataFrame:
        """Return the labels and probabilities of nodes that are not in the graph, as NodeClassifier.predict_new does."""
        n = len(self.nodes_)
        nodes = Nodes(n, None if isinstance(self.nodes_, range) else self.nodes_, "ids" if self._by_id else "")
        return _predict_new(self, nodes, edges, node_features, explain, settings)


def _predict_new(model: Any, nodes: Nodes, edges: Any, node_features: Any, explain: bool,
                 settings: dict[str, Any]) -> pandas.DataFrame:
    """Return a frame of predictions of new nodes by a model with columns of the given nodes."""
    if not model._columns:
        raise ValueError("predict_new: there are no columns of nodes; fit with new_nodes=True")
    import pandas
    columns = columns_of(edges)
    tuples = [tuple(e) for e in (edges if columns is None else zip(*(as_array(c).tolist() for _, c in columns)))]
    new: dict[Any, int] = {}
    for e in tuples:
        if not 2 <= len(e) <= 4:
            raise ValueError(f"edges: {e!r} is no tuple of a new node, a node, and perhaps a weight and a kind")
        new.setdefault(e[0], len(new))
    first = 0 if nodes.path else len(nodes)

    def id_of(node: Any) -> str:
        if nodes.path:
            return str(node)
        try:
            return str(first + new[node] if node in new else nodes.row(node))
        except KeyError as error:
            raise ValueError(f"edges: {error.args[0]}") from None
    known = [(id_of(e[0]), id_of(e[1]), *e[2:]) for e in tuples if e[1] is not None]
    ids = [id_of(node) for node in new]
    if node_features is None or isinstance(node_features, np.ndarray) and b'"attribute_names"' not in model._model:
        classes, code, full, reached, reasons = _predict_rows(model, ids, known, node_features, explain, settings)
    else:
        classes, code, full, reached, reasons = _predict_table(model, ids, known, node_features, explain, settings, list(new), first)
    scores = np.zeros((len(ids), len(model.classes_)), np.float32)
    scores[:, classes] = full
    frame = pandas.DataFrame(scores, index=axis(list(new)), columns=list(model.classes_))
    frame.insert(0, "label", decode(model.classes_, code), allow_duplicates=True)
    frame.insert(1, "reached", reached, allow_duplicates=True)
    if explain:
        names = {id_of(v): v for e in tuples for v in e[:2] if v is not None}
        frame.insert(2, "reasons", [{names[v]: share for v, share in r.items()} for r in reasons], allow_duplicates=True)
    return frame


def _predict_rows(model: Any, ids: list[str], edges: list[Any], features: Any, explain: bool,
                  settings: dict[str, Any]) -> tuple[Any, ...]:
    """Predict new nodes by columns that stay open in the program."""
    nodes: dict[str, dict[str, Any]] = {v: {"id": v, "edges": [], "explain": explain} for v in ids}
    weights: dict[Any, float] = {}
    is_directed = b'"directed":true' in model._model
    for source, target, *more in edges:
        weight = float(more[0]) if more else 1.0
        key = (source, target) if is_directed or target not in nodes else frozenset((source, target))
        if key in weights:
            if weights[key] != weight:
                raise ValueError(f"edges: {source!r} and {target!r} have two weights; add them")
            continue
        weights[key] = weight
        nodes[source]["edges"].append({"id": target, "weight": weight, "kind": str(more[1]) if len(more) > 1 else ""})
    if features is not None:
        if features.ndim != 2 or len(features) != len(ids):
            raise ValueError(f"node_features has shape {features.shape}; give a row for each of {len(ids)} new nodes")
        for node, row in zip(nodes.values(), features.astype(float).tolist()):
            node["attributes"] = row
    with contextlib.ExitStack() as stack:
        def source_of(server: Any) -> list[str]:
            return ["--columns", server.open(model, (), "", lambda: write("columns", model._columns),
                                             lambda: ["--model", write("model", model._model)])[0]]

        def write(name: str, content: bytes) -> str:
            folder = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)
            return str(file.name)
        known = {k: v for k, v in settings.items() if k in ("threads", "max_memory", "progress")}
        answer = run(["predict"], {"--new": "edges"}, source=source_of, new=list(nodes.values()), **known)
    found = answer["predictions"]
    return (np.array(answer["classes"], dtype=int), np.array([int(p["label"] or -1) for p in found]),
            [p["scores"] for p in found], [p["reached"] for p in found],
            [{r["id"]: r["share"] for r in p.get("reasons", ())} for p in found])


def _predict_table(model: Any, ids: list[str], edges: list[Any], features: Any, explain: bool, settings: dict[str, Any],
                   new: list[Any], first: int) -> tuple[Any, ...]:
    """Predict new nodes from files, because attributes need the columns of a table."""
    titles = ["source", "target", "weight", "kind"][:max(map(len, edges), default=2)]
    table = [[str(e[i]) if i < len(e) else "1" for e in edges] for i in range(len(titles))]

    reasons: dict[str, dict[str, float]] = {v: {} for v in ids}

    def work(call: Call) -> Any:
        call.first = first
        out, path, why = call.path("predictions.npz", "out"), call.path("new.csv", "edges"), call.path("why.csv", "explain")
        write_table(path, titles, table)
        with open(call.path("new.ids", "edges"), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.writelines(f"{v}\n" for v in ids)
        call.run("predict", model=call.write_bytes("model", model._model), new=path, o=out, nodes=file.name, reads_graph=False,
                 columns=call.write_bytes("columns", model._columns), node_features=call.write_attributes(features),
                 kind="kind" if len(titles) > 3 else None, explain=why if explain else None)
        if explain:
            with open(why, encoding="utf-8", errors="surrogateescape", newline="") as lines:
                for line in csv.DictReader(lines):
                    reasons[line["node"]][line["name"]] = float(line["share"])
        return [str(v) for v in read_arrays(out)["rows"]], *_read_predictions(out)
    rows, scores, number, code, reached = run_call(Graph(sp.csr_matrix((len(new), len(new))), new), settings, 0, work)
    place = {v: i for i, v in enumerate(rows)}
    order = [place[v] for v in ids]
    return np.sort(number), code[order], scores[order], reached[order], list(reasons.values())


def _hashable(value: Any) -> Any:
    """Return a value of JSON in which lists are tuples again."""
    return tuple(_hashable(v) for v in value) if isinstance(value, list) else value


load = Model  # heatwalk.load(path) reads a model
__all__ = ["Model", "NodeClassifier", "NodeEmbedding", "NodeRegressor", "load"]

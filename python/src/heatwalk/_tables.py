"""Comparisons, suggestions, numbers, ranks and the list of methods, as pandas frames."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any, Iterable, Mapping

import numpy as np

from . import _process
from ._call import Call, rows_of, run_call
from ._folder import read_arrays
from ._frame import write_table
from ._graph import Graph, as_graph, labels_of, nodes_of
from ._labels import column_of, encode, encode_several, values_of
from ._matrix import Path
from ._process import Settings
from ._results import axis

if TYPE_CHECKING:
    import pandas
    from typing_extensions import Unpack


def numbers_of(graph: Graph, y: Any) -> Any:
    """Return numbers of nodes as an array, NaN for none."""
    values, missing = column_of(labels_of(graph, y))
    if values.shape != (graph.n,):
        raise ValueError(f"y has shape {values.shape}, and the graph has {graph.n} nodes")
    try:
        numbers = np.where(missing, np.nan, values).astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y has an element that is no number: {error}") from None
    if np.isinf(numbers).any():
        raise ValueError("y contains infinity; give NaN for a node without a number")
    return numbers


def evaluate(graph: Any, y: Any, methods: str | Iterable[str] | None = None, *,
             train: float | Iterable[float] = (0.05, 0.1), splits: int = 20,
             per_class: int | Iterable[int] | None = None, split: Any = None, numbers: bool = False,
             multi_label: bool = False, node_features: Any = None, prior: Any = None,
             groups: Any = None, times: Any = None, report: Path | None = None,
             **settings: Unpack[Settings]) -> pandas.DataFrame:
    """Compare methods on random splits of the labelled nodes.

    Parameters
    ----------
    graph, y
        A graph in any form that :func:`as_graph` takes; labels, as in :meth:`NodeClassifier.fit`, or numbers.
    methods
        The methods; auto and lp if left out, for numbers those of :func:`regress`, and one alone for several labels.
    train, splits, per_class, split
        Shares of the labelled nodes to train on; the number of random splits for each share; numbers of nodes of each
        class, in place of shares; "train" or "test" for each node or some, in place of random splits.
    numbers, multi_label
        Whether y has numbers, or several labels for a node.
    node_features, prior
        As for :class:`NodeClassifier`.
    groups, times
        As for :meth:`NodeClassifier.fit`: no group is in both parts of a split, or test nodes are newer than training
        nodes. With times, there is one split for each share.
    report
        A file for the report: .html, .json or .txt.
    **settings
        Threads, max_memory, progress and random_state, see :class:`Settings`. Give a number as random_state for the
        same splits each time.

    Returns
    -------
    pandas.DataFrame
        A row for each method and share: accuracy (or F1, or the errors of numbers) with its standard error, and whether
        a paired test finds the method worse than the best one. ``attrs["run"]`` is the report of the program.
    """
    import pandas
    g = as_graph(graph)
    if methods is None and not multi_label and not numbers:
        methods = ("auto", "lp")
    def work(call: Call) -> dict[str, Any]:
        values = path = None
        known = prior
        if numbers:
            values = call.write("values.npy", "y", numbers_of(g, y))
        elif multi_label:
            matrix = encode_several(labels_of(g, y, several=True), g.n)[1]
            path = call.write("labels.npy", "y", matrix)
        else:
            labels = encode(labels_of(g, y), g.n)
            path, known = call.write_labels(labels), call.write_prior(prior, labels.classes)
        parts = {"split": _write_split(call, split)} if split is not None else {
            "splits": splits, "per_class": per_class, "train": train if per_class is None else None}
        return call.run("evaluate", **call.write_held_out(groups, times), values=values, labels=path, multi_label=multi_label,
                        method=methods, prior=known, report=report, **parts, is_random=True,
                        node_features=call.write_attributes(node_features))
    run = run_call(g, settings, 0, work)
    names = {"train_fraction": "train", "accuracy_mean": "accuracy", "accuracy_stderr": "stderr"}
    wanted = ["method", "train_fraction", "train_per_class", "accuracy_mean", "accuracy_stderr",
              "rmse", "rmse_stderr", "mae", "r2", "standing", "micro_f1", "macro_f1", "auc",
              "log_loss", "parameters", "seconds"]
    lines = [{names.get(k, k): r[k] for k in wanted if k in r} for r in run["results"]]
    frame = pandas.DataFrame(lines)
    whole = frame.select_dtypes("integer").columns.difference(["train_per_class"])
    frame[whole] = frame[whole].astype(float)  # such as accuracies of 1 alone
    if splits == 1 and "stderr" in frame:
        frame["stderr"] = np.nan
    frame.attrs["run"] = run
    return frame


def _write_split(call: Call, split: Any) -> str:
    """Write the part of each node that has one."""
    nodes, path = nodes_of(call.graph), call.path("split.csv", "split")
    values, missing = values_of(labels_of(call.graph, split))
    rows = np.flatnonzero(~missing)
    ids = nodes.at(rows.tolist()) if nodes.path else rows
    write_table(path, ["node", "part"], [ids, values[rows]])
    return path


def suggest(graph: Any, y: Any, n: int = 20, *, strategy: str = "auto", method: str = "auto", targets: Any = None,
            node_features: Any = None, prior: Any = None, edge_weights: str | None = None,
            groups: Any = None, times: Any = None, **settings: Unpack[Settings]) -> pandas.DataFrame:
    """Return nodes to label next.

    They cover the graph, which helps where linked nodes mostly share labels, or are drawn at random. docs/honesty.md has
    a table of both.

    Parameters
    ----------
    graph, y
        A graph in any form that :func:`as_graph` takes, and labels, as in :meth:`NodeClassifier.fit`.
    n
        The number of nodes, to be labelled as one batch.
    strategy
        "cover", "random", or "auto": to cover if 24 labels or more show that linked nodes share labels.
    method, targets, node_features, prior, edge_weights
        As for :class:`NodeClassifier`.
    groups, times
        As for :meth:`NodeClassifier.fit`.
    **settings
        Threads, max_memory, progress and random_state, see :class:`Settings`.

    Returns
    -------
    pandas.DataFrame
        A row for each node, the most useful first: node, the share of the graph that it covers in addition to the others (NaN
        of a node that is drawn at random), the most likely label with its probability, and the reason.
    """
    import pandas
    g = as_graph(graph)
    labels = encode(labels_of(g, y), g.n)
    chosen = rows_of(g, targets, "targets")
    def work(call: Call) -> list[list[str]]:
        path = call.path("suggestions.tsv", "out")
        call.run("suggest", **call.write_held_out(groups, times), labels=call.write_labels(labels), n=n,
                 strategy=strategy, method=method, o=path,
                 targets=call.write("targets.npy", "targets", chosen) or "all", prior=call.write_prior(prior, labels.classes),
                 edge_weights=edge_weights, node_features=call.write_attributes(node_features), is_random=True)
        with open(path, encoding="utf-8", newline="") as file:
            return list(csv.reader(file, delimiter="\t"))[1:]
    classes = labels.classes.tolist()
    lines = []
    for node, covers, label, probability, reason in run_call(g, settings, 0, work):
        own: Any = node if nodes_of(g).path else g.nodes[int(node)]
        lines.append((own, float(covers or "nan"), classes[int(label)] if label else None,
                      float(probability) if probability else None, reason))
    frame = pandas.DataFrame(lines, columns=["node", "covers", "label", "probability", "reason"])
    return frame


def predict_numbers(g: Graph, values: Any, method: str | Iterable[str] | None, node_features: Any,
                    settings: Mapping[str, Any], groups: Any = None, times: Any = None,
                    rows: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run regress and return the arrays value and reached, and the report."""
    def work(call: Call) -> tuple[dict[str, Any], dict[str, Any]]:
        out = call.path("predictions.npz", "out")
        run = call.run("regress", **call.write_held_out(groups, times, rows), method=method, values=call.write("values.npy", "y", values),
                       node_features=call.write_attributes(node_features), o=out, is_random=True)
        arrays = read_arrays(out)
        arrays["reached"] = arrays["reached"] != 0
        return arrays, run
    return run_call(g, settings, 32 * g.n, work)


def regress(graph: Any, y: Any, method: str | Iterable[str] | None = None, *,
            node_features: Any = None, groups: Any = None, times: Any = None,
            **settings: Unpack[Settings]) -> pandas.DataFrame:
    """Predict a number for every node from the numbers of some.

    Parameters
    ----------
    graph
        A graph in any form that :func:`as_graph` takes.
    y
        The numbers: NaN or None for nodes whose number is unknown, or those of some nodes.
    method
        Methods of which cross-validation chooses one, as in ``"harmonic"`` or ``"diffusion+rls"``.
    node_features
        Attributes of the nodes, which the methods ``hops``, ``ridge`` and ``trees`` use.
    groups, times
        As for :meth:`NodeClassifier.fit`.
    **settings
        Threads, max_memory, progress and random_state, see :class:`Settings`.

    Returns
    -------
    pandas.DataFrame
        A row for each node: its value, and whether a path connects it with a known number. ``attrs["run"]`` is the
        report of the program, with the cross-validated ``rmse``.
    """
    import pandas
    g = as_graph(graph)
    arrays, run = predict_numbers(g, numbers_of(g, y), method, node_features, settings, groups, times)
    frame = pandas.DataFrame(arrays, index=axis(g.nodes))
    frame.attrs["run"] = run
    return frame


def rank(graph: Any, seeds: Any, kernel: str | None = None, **settings: Unpack[Settings]) -> pandas.DataFrame:
    """Rank all nodes by their similarity to known ones.

    Parameters
    ----------
    graph
        A graph in any form that :func:`as_graph` takes.
    seeds
        The known nodes, or a mask of all nodes; or a dict of their weights. Two or more seeds are scored by the others.
    kernel
        The kernel with its parameters, as in ``"pagerank:alpha=0.7"``, which ranks by walks that start at the seeds, or
        ``"personalized-pagerank"`` for graphs with directions too. ``None`` means
        ``"regularized-commute-time:alpha=0.95"``, or with five seeds and more the kernel that held-out seeds choose;
        ``attrs["run"]["kernel"]`` names it.
    **settings
        Threads, max_memory, progress and random_state, see :class:`Settings`.

    Returns
    -------
    pandas.DataFrame
        A row for each node, the most similar first: its score, its rank, and whether it is a seed. ``attrs["run"]`` is
        the report, with the ``auc`` of seeds that are left out.
    """
    import pandas
    g, weights = as_graph(graph), None
    if isinstance(seeds, Mapping):
        weights = numbers_of(g, seeds)
        weights[weights == 0] = np.nan
        rows = np.flatnonzero(weights > 0)
    elif (rows := rows_of(g, seeds, "seeds")) is None:
        raise ValueError("seeds is missing; give the known nodes")
    def work(call: Call) -> tuple[dict[str, Any], dict[str, Any]]:
        out = call.path("ranks.npz", "out")
        chosen = {"seeds": call.write("seeds.npy", "seeds", rows)} if weights is None else {
            "seed_weights": call.write("seeds.npy", "seeds", weights)}
        run = call.run("rank", **chosen, kernel=kernel, targets="all", o=out, is_random=True)
        return read_arrays(out), run
    arrays, run = run_call(g, settings, 128 * g.n, work)
    arrays["rank"] = arrays["rank"].astype(np.int64)
    arrays["seed"] = np.zeros(g.n, dtype=bool)
    arrays["seed"][rows] = True
    frame = pandas.DataFrame(arrays, index=axis(g.nodes)).iloc[np.argsort(arrays["rank"])]
    frame.attrs["run"] = run
    return frame


def methods() -> pandas.DataFrame:
    """Return all methods, kernels and learners of nodes.

    Returns
    -------
    pandas.DataFrame
        Name, argument, command, formula, and parameters with their ranges and defaults. The argument is ``method`` (of
        the commands classify or regress), ``kernel``, or ``learner``, which follows a kernel, as in
        ``"diffusion+rls"``.
    """
    import pandas
    lines = [{"name": m["name"], "argument": m["flag"].lstrip("-"), "command": m["command"],
              "formula": m["formula"], "parameters": {p["name"]: f"{p.get('range') or '|'.join(p.get('words') or [])} "
                                                      f"(default {p.get('default')})" for p in m.get("parameters", [])}}
             for m in _process.run(["methods"])["methods"]
             if m["command"] in ("classify", "regress", "kernel", "gram classify")]
    return pandas.DataFrame(lines)

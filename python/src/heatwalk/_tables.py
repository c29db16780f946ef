"""Comparisons of methods, suggestions of nodes to label, and the list of methods, as pandas frames."""

from __future__ import annotations

import csv
import os
from typing import Any, Iterable

import numpy as np

from . import _process
from ._call import Call, rows_of
from ._folder import call_in_folder
from ._graph import Graph, as_graph, labels_of
from ._labels import encode
from ._results import axis


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError("the result is a pandas frame; install pandas") from error
    return pandas


def evaluate(graph: Any, y: Any, methods: str | Iterable[str] = ("auto", "lp"), *, train: float | Iterable[float] = (0.05, 0.1), splits: int = 20,
             random_state: int | None = 1, report: str | os.PathLike[str] | None = None, threads: int | None = None,
             max_memory: str | int | None = None, progress: _process.Progress = None) -> Any:
    """Compare methods on random splits of the labelled nodes.

    Parameters
    ----------
    graph : object
        A graph in any form that :func:`as_graph` takes.
    y : array or dict
        Labels, as in :meth:`NodeClassifier.fit`.
    methods : str or iterable of str
        The methods.
    train : float or iterable of float
        Shares of the labelled nodes to train on.
    splits : int
        The number of random splits for each share.
    report : path, optional
        A file for the whole report: .html, .json or .txt.

    Returns
    -------
    pandas.DataFrame
        A row for each method and share: accuracy with its standard error, macro-F1, and whether a paired
        test finds the method worse than the best one.

    Examples
    --------
    >>> import heatwalk as hw
    >>> A, y = hw.datasets.cora()
    >>> frame = hw.evaluate(A, y, ["lp"], train=[0.1], splits=3)
    >>> frame[["method", "train"]].values.tolist()
    [['lp', 0.1], ['majority', 0.1]]
    """
    pandas = _pandas()
    g = as_graph(graph)
    labels = encode(labels_of(g, y), g.n)

    def work(folder: str) -> Any:
        call = Call(folder, g, dict(threads=threads, max_memory=max_memory, progress=progress,
                                    random_state=1 if random_state is None else random_state))
        args = ["--labels", call.write_labels(labels), "--method", methods if isinstance(methods, str) else ",".join(methods),
                "--train", ",".join(repr(float(t)) for t in np.atleast_1d(train)), "--splits", str(splits)]
        if report is not None:
            args += ["--report", os.fspath(report)]
        return call.run("evaluate", *args)["results"]

    results = call_in_folder(g.bytes(), work)
    names = {"train_fraction": "train", "accuracy_mean": "accuracy", "accuracy_stderr": "stderr"}
    wanted = ["method", "train_fraction", "accuracy_mean", "accuracy_stderr", "standing", "macro_f1", "auc", "log_loss", "parameters", "seconds"]
    return pandas.DataFrame([{names.get(k, k): r.get(k) for k in wanted} for r in results])


def suggest(graph: Any, y: Any, n: int = 20, *, method: str = "auto", random_state: int | None = 1, threads: int | None = None,
            max_memory: str | int | None = None, progress: _process.Progress = None) -> Any:
    """Return the nodes whose labels would improve the predictions most.

    Parameters
    ----------
    graph : object
        A graph in any form that :func:`as_graph` takes.
    y : array or dict
        The labels so far, as in :meth:`NodeClassifier.fit`.
    n : int
        The number of nodes, to be labelled as one batch.

    Returns
    -------
    pandas.DataFrame
        A row for each node, the most useful first: node, the expected information gain as a share of the
        total, the most likely label with its probability, and the reason.
    """
    pandas = _pandas()
    g = as_graph(graph)
    labels = encode(labels_of(g, y), g.n)

    def work(folder: str) -> list[list[str]]:
        call = Call(folder, g, dict(threads=threads, max_memory=max_memory, progress=progress,
                                    random_state=1 if random_state is None else random_state))
        path = call.path("suggestions.tsv", "out")
        call.run("suggest", "--labels", call.write_labels(labels), "-n", str(n), "--method", method, "-o", path)
        with open(path, encoding="utf-8", newline="") as file:
            return list(csv.reader(file, delimiter="\t"))[1:]

    lines = []
    for node, gain, label, probability, reason in call_in_folder(g.bytes(), work):
        for code, name in enumerate(labels.classes):
            reason = reason.replace(f" {code} ", f" {name} ").replace(f" {code},", f" {name},")
        own: Any = node if g.matrix is None else g.ids()[int(node)]
        lines.append((own, float(gain), labels.classes[int(label)] if label else None, float(probability) if probability else None, reason))
    return pandas.DataFrame(lines, columns=["node", "gain", "label", "probability", "reason"])


def _read_nodes(path: str, graph: Graph) -> Any:
    """Return a table of the program, with the nodes of the graph as index."""
    with open(path, encoding="utf-8", newline="") as file:
        titles, *lines = csv.reader(file, delimiter="\t")
    nodes = [line[0] if graph.matrix is None else graph.ids()[int(line[0])] for line in lines]
    frame = _pandas().DataFrame(index=axis(nodes))
    for i, title in enumerate(titles[1:], start=1):
        column = [line[i] for line in lines]
        frame[title] = [v == "true" for v in column] if set(column) <= {"true", "false"} else np.array(column, dtype=float)
    return frame


def regress(graph: Any, y: Any, method: str | Iterable[str] | None = None, *, random_state: int | None = 1, threads: int | None = None,
            max_memory: str | int | None = None, progress: _process.Progress = None) -> Any:
    """Predict a number for every node from the numbers of some.

    Parameters
    ----------
    graph : object
        A graph in any form that :func:`as_graph` takes.
    y : array, dict or pandas series
        The numbers: NaN or None for nodes whose number is unknown, or those of some nodes.
    method : str or iterable of str, optional
        Methods of which cross-validation chooses one, as in ``"harmonic"`` or ``"diffusion+gp"``.

    Returns
    -------
    pandas.DataFrame
        A row for each node: its value, whether a path connects it with a known number, and with gp the
        standard deviation. ``attrs["run"]`` is the report of the program, with the cross-validated ``rmse``.

    Examples
    --------
    >>> import heatwalk as hw
    >>> path = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> hw.regress(path, {0: 1.0, 2: 3.0}, "harmonic").value.round(6).tolist()
    [1.0, 2.0, 3.0]
    """
    g = as_graph(graph)
    values = np.array(labels_of(g, y), dtype=np.float64)
    if values.shape != (g.n,):
        raise ValueError(f"y has shape {values.shape}; it needs a number or NaN for each of {g.n} nodes")
    known = np.flatnonzero(~np.isnan(values))

    def work(folder: str) -> Any:
        call = Call(folder, g, dict(threads=threads, max_memory=max_memory, progress=progress,
                                    random_state=1 if random_state is None else random_state))
        path, out = call.path("values.tsv", "y"), call.path("predictions.tsv", "out")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{g.id_text(row)}\t{values[row]!r}\n" for row in known.tolist())
        args = [] if method is None else ["--method", method if isinstance(method, str) else ",".join(method)]
        run = call.run("regress", "--values", path, "--label-fields", "1,2", "-o", out, *args)
        frame = _read_nodes(out, g)
        frame.attrs["run"] = run
        return frame

    return call_in_folder(g.bytes() + 64 * g.n, work)


def rank(graph: Any, seeds: Iterable[Any], kernel: str = "diffusion", *, sets: int = 999, random_state: int | None = 1,
         threads: int | None = None, max_memory: str | int | None = None, progress: _process.Progress = None) -> Any:
    """Rank all nodes by their similarity to known ones.

    Parameters
    ----------
    graph : object
        A graph in any form that :func:`as_graph` takes.
    seeds : sequence
        The known nodes, two or more, or a mask of all nodes.
    kernel : str
        The kernel with its parameters, as in ``"pagerank:alpha=0.7"``.
    sets : int
        Sets of random seeds for the columns z and p; 0 for neither.

    Returns
    -------
    pandas.DataFrame
        A row for each node, the most similar first: its score, z and p, its rank, and whether it is a seed.
        ``attrs["run"]`` is the report of the program, with the ``auc`` of seeds that are left out.

    Examples
    --------
    >>> import heatwalk as hw
    >>> path = [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]]
    >>> frame = hw.rank(path, [0, 1], sets=0)
    >>> [v for v in frame.index if not frame.seed[v]]
    [2, 3]
    """
    g = as_graph(graph)
    if (at := rows_of(g, seeds, "seeds")) is None:
        raise ValueError("seeds is missing; give the known nodes")

    def work(folder: str) -> Any:
        call = Call(folder, g, dict(threads=threads, max_memory=max_memory, progress=progress,
                                    random_state=1 if random_state is None else random_state))
        out = call.path("ranks.tsv", "out")
        run = call.run("rank", "--seeds", call.write_ids("seeds.ids", "seeds", at), "--kernel", kernel, "--sets", str(sets), "-o", out)
        frame = _read_nodes(out, g)
        frame.attrs["run"] = run
        return frame

    return call_in_folder(g.bytes() + 128 * g.n, work)


def methods() -> Any:
    """Return all methods, kernels and learners of nodes.

    Returns
    -------
    pandas.DataFrame
        Name, argument, command, formula, and parameters with their ranges and defaults. The argument is
        ``method`` (of the commands classify or regress), ``kernel``, or ``learner``, which stands behind a
        kernel, as in ``"diffusion+rls"``.

    Examples
    --------
    >>> import heatwalk as hw
    >>> frame = hw.methods()
    >>> frame[frame.name == "lgc"].formula.item()
    '(I − αS)⁻¹Y, learning with local and global consistency'
    """
    pandas = _pandas()
    lines = []
    for m in _process.run(["methods"])["methods"]:
        if m["command"] not in ("classify", "regress", "kernel", "gram classify"):
            continue
        parameters = {p["name"]: f"{p.get('range') or '|'.join(p.get('words') or [])} (default {p.get('default')})" for p in m.get("parameters", [])}
        lines.append({"name": m["name"], "argument": m["flag"].lstrip("-"), "command": m["command"], "formula": m["formula"], "parameters": parameters})
    return pandas.DataFrame(lines)

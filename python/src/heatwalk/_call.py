"""The arguments of a call, written to its temporary folder."""

from __future__ import annotations

import os
from typing import Any, Callable, Mapping, TypeVar

import numpy as np
import scipy.sparse as sp

from . import _process
from ._errors import warn
from ._folder import call_in_folder, write_array
from ._frame import write_table
from ._graph import (Graph, argument, as_array, bytes_of, is_pandas, is_signed, is_store, labels_of,
                     nodes_of, widen)
from ._labels import Labels, attribute_cells, attributes_of, column_of, encode
from ._server import Server, is_used, version_of

_T = TypeVar("_T")


class Call:
    """One run of the program, in a folder; with loops the diagonal counts, as in SciPy."""

    def __init__(self, folder: str, graph: Graph, settings: Mapping[str, Any], *, loops: bool = False) -> None:
        if wrong := set(settings) - set(_process.Settings.__annotations__):
            raise TypeError(f"unexpected argument {wrong.pop()!r}")
        self.folder, self.graph, self.settings = folder, graph, dict(settings)
        self.names: dict[str, str] = {}
        self.first = 0  # id of the first node in files of attributes
        self._argument, self.flags = "", list[str]()
        self._reading = ["--self-loops", "keep"] if loops and not is_store(graph) else []
        self._reading += ["--weights", "signed"] if is_signed(graph.matrix) else []
        if not nodes_of(graph).path:
            if not (loops or graph.is_warned or graph.matrix is None) and (
                    count := np.count_nonzero(graph.matrix.diagonal())):
                graph.is_warned = True
                warn(f"graph: the diagonal is left out, {count} edges from a node to itself")

    def path(self, name: str, argument: str) -> str:
        """Return the path of a file in the folder, which errors name by its argument."""
        path = os.path.join(self.folder, name)
        self.names[path] = argument
        return path

    def write(self, name: str, argument: str, array: Any) -> str | None:
        """Write an array and return the path of its file, None without an array."""
        return None if array is None else write_array(self.path(name, argument), array)

    def write_bytes(self, name: str, content: bytes) -> str:
        """Write bytes and return the path of their file, which errors name by its name."""
        with open(self.path(name, name), "wb") as file:
            file.write(content)
        return str(file.name)

    def write_labels(self, labels: Labels) -> str | None:
        """Write class numbers, −1 for none."""
        for code, label in enumerate(labels.classes.tolist()):
            for text in (f'class "{code}"', f'label is "{code}"', f'labels are "{code}"'):
                self.names[text] = text.replace(f'"{code}"', repr(label))
        return self.write("labels.npy", "y", labels.code)

    def write_held_out(self, groups: Any, times: Any, rows: Any = None) -> dict[str, Any]:
        """Write groups or times of labels, for all nodes or for those in rows, and return the options that name them."""
        if groups is not None and times is not None:
            raise ValueError("labels are held out by groups or by times; leave out one of the two")
        if groups is not None:
            codes = encode(labels_of(self.graph, groups) if rows is None else groups, self.graph.n, rows).code
            return {"groups": self.write("groups.npy", "groups", codes)}
        if times is None:
            return {}
        if getattr(getattr(times, "dtype", None), "kind", "") == "M":
            texts = [None if np.isnat(t) else str(t) for t in np.asarray(times, dtype="datetime64[us]")]
            times = type(times)(texts, index=times.index) if is_pandas(times) else texts
        values, missing = column_of(labels_of(self.graph, times) if rows is None else times)
        if values.shape != (self.graph.n if rows is None else len(rows),):
            raise ValueError(f"times has shape {values.shape}; give one for each node, or for each element of X")
        known, seconds = ~missing, np.full(self.graph.n, np.nan)
        if values.dtype.kind not in "iuf":
            try:
                dates = np.asarray([np.datetime64(v) for v in values[known].tolist()], dtype="datetime64[us]")
            except (TypeError, ValueError) as error:
                raise ValueError(f"times has an element that is neither a number nor a date: {error}") from None
            values = np.full(len(values), np.nan)
            values[known] = dates.astype(np.int64) / 1e6
        places = np.arange(self.graph.n) if rows is None else rows
        seconds[places[known]] = values[known]
        return {"split_time": self.write("times.npy", "times", seconds)}

    def write_prior(self, prior: Any, classes: Any) -> Any:
        """Write shares of classes, a dict or a file of them, by the numbers of the classes."""
        if isinstance(prior, (str, os.PathLike)) and os.path.exists(prior):
            with open(prior, encoding="utf-8") as file:
                lines = [line.rstrip("\n").split("\t") for line in file if line.strip()]
            shares = {line[0]: line[-1] for line in lines if len(line) == 2}
            if not {str(c) for c in classes.tolist()} <= shares.keys():
                return prior  # perhaps distributions of nodes
            prior = {label: v for label, v in shares.items() if v[:1].isdigit() or v[:1] == "."}
        prior = prior.to_dict() if hasattr(prior, "to_dict") else prior
        if not isinstance(prior, Mapping):
            return prior
        number = {key: i for i, c in enumerate(classes.tolist()) for key in (c, str(c))}
        if unknown := [label for label in prior if label not in number]:
            raise ValueError(f"prior: {unknown[0]!r} is no class of y")
        path = self.path("prior.tsv", "prior")
        with open(path, "w", encoding="ascii") as file:
            file.writelines(f"{number[label]}\t{float(v)!r}\n" for label, v in prior.items())
        return path

    def write_attributes(self, features: Any) -> str | None:
        """Write attributes of nodes and return the path of their file."""
        if features is None or isinstance(features, (str, os.PathLike)):
            return features if features is None else os.fspath(features)
        name, nodes = "node_features", nodes_of(self.graph)
        rows, matrix = attributes_of(self.graph, features)
        ids = nodes.at(rows) if nodes.path else (rows + self.first).tolist()
        if isinstance(matrix, list):
            columns = [(title, attribute_cells(column)) for title, column in matrix]
            columns = [(title, texts) for title, texts in columns if any(v != "" for v in texts)]
            if not columns:
                raise ValueError("node_features has no column with a value")
            path = self.path("features.csv", name)
            write_table(path, ["node", *(title for title, _ in columns)], [ids, *(texts for _, texts in columns)])
            self.flags += ["--attribute-fields", ",".join(str(i + 2) for i in range(len(columns)))]
            return path
        path = self.path("features.npz" if sp.issparse(matrix) else "features.npy", name)
        if sp.issparse(matrix):
            sp.save_npz(path, sp.csr_matrix(widen(matrix)), compressed=False)
        else:
            write_array(path, matrix)
        with open(self.path("features.rows.ids", name), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.writelines(f"{v}\n" for v in ids)
        return path

    def _path(self) -> str:
        """Return the path of the graph, after writing it if it is in memory."""
        if not self._argument:
            self._argument = argument(self.graph, self.folder)
            if not nodes_of(self.graph).path:
                self.names[self._argument] = "graph"
        return self._argument

    def _source(self, server: Server, is_plain: bool) -> list[str]:
        """Return GRAPH with flags for reading it, or the name of the graph if the server has it.

        A graph that is used for the second time stays open in the server.
        """
        if is_used(self.graph) and server.is_lasting and is_plain:
            version = version_of(self.graph)
            name, path = server.open(self.graph, self._reading, version, self._path)
            if not nodes_of(self.graph).path:
                self.names[path] = "graph"
            if name:
                return [name]
        return [self._path(), *self._reading]

    def run(self, command: str, *nodes: str, is_random: bool = False, reads_graph: bool = True,
            **options: Any) -> dict[str, Any]:
        """Run a command on the graph with options, of which those of value None or False are left out.

        A random command without random_state gets another seed each time.
        """
        settings, args = dict(self.settings), [command, *nodes, *self.flags]
        if is_random and settings.get("random_state") is None:
            settings["random_state"] = _process.seed_of(None)
        for name in ("kind_weights", "since", "until", "half_life"):
            options[name] = settings.pop(name, None)
        is_plain = settings.get("max_memory") is None and all(
            options[name] is None for name in ("kind_weights", "since", "until", "half_life"))
        for name, value in options.items():
            if value is None or value is False:
                continue
            args.append("-" + name if len(name) == 1 else "--" + name.replace("_", "-"))
            if isinstance(value, Mapping):
                texts = {kind: text for text, kind in self.graph.kinds.items()}
                value = {texts.get(kind, kind): weight for kind, weight in value.items()}
                value = [f"{kind}={float(weight)!r}" for kind, weight in value.items()]
            if value is not True:
                several = hasattr(value, "__iter__") and not isinstance(value, str)
                args.append(",".join(map(_text, value)) if several else _text(value))
        return _process.run(args, self.names, **settings, source=(lambda server: self._source(server, is_plain)) if reads_graph else None)


def run_call(graph: Graph, settings: Mapping[str, Any], need: int, work: Callable[[Call], _T],
             loops: bool = False) -> _T:
    """Return work(call), in a folder that has room for the graph and need bytes."""
    return call_in_folder(bytes_of(graph) + need, lambda folder: work(Call(folder, graph, settings, loops=loops)))


def _text(value: Any) -> str:
    """Return a value as the program takes it."""
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    value = value.item() if hasattr(value, "item") else value
    return repr(value) if isinstance(value, (int, float)) else str(value)


def rows_of(graph: Graph, nodes: Any, name: str) -> Any:
    """Return the rows of nodes, None for all."""
    if nodes is None:
        return None
    nodes = nodes if is_pandas(nodes) else as_array(nodes)
    if isinstance(nodes, (str, bytes)) or not hasattr(nodes, "__iter__"):
        raise ValueError(f"{name} is one node; give a list, as in {name}=[{nodes!r}]")
    rows = nodes_of(graph).select(nodes, name)
    if not len(rows):
        raise ValueError(f"{name} is empty; leave it out for all nodes")
    values, count = np.unique(rows, return_counts=True)
    if (count > 1).any():
        node = nodes_of(graph).at([int(values[count > 1][0])])[0]
        raise ValueError(f"{name} has {node!r} twice; keep one of them")
    return rows

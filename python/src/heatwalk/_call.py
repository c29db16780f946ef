"""The arguments of a call, written to its temporary folder."""

from __future__ import annotations

import os
from typing import Any, Mapping

import numpy as np
import scipy.sparse as sp

from . import _process
from ._errors import warn
from ._folder import write_array
from ._graph import Graph, argument, as_array, is_pandas, is_store, nodes_of
from ._labels import Labels, attributes_of


class Call:
    """One run of the program on a graph, in a temporary folder.

    With loops the diagonal of the matrix counts, as in SciPy; otherwise it is left out.
    """

    def __init__(self, folder: str, graph: Graph, settings: Mapping[str, Any], *,
                 loops: bool = False) -> None:
        if wrong := set(settings) - set(_process.Settings.__annotations__):
            raise TypeError(f"unexpected argument {wrong.pop()!r}")
        self.folder, self.graph, self.settings = folder, graph, dict(settings)
        self.names: dict[str, str] = {}
        self.argument = argument(graph, folder)
        self.flags = ["--self-loops", "keep"] if loops and not is_store(graph) else []
        if not nodes_of(graph).path:
            self.names[self.argument] = "graph"
            count = 0 if loops or graph.matrix is None else np.count_nonzero(graph.matrix.diagonal())
            if count:
                warn(f"graph: the diagonal is left out, {count} edges from a node to itself")

    def path(self, name: str, argument: str) -> str:
        """Return the path of a file in the folder, which errors name by its argument."""
        path = os.path.join(self.folder, name)
        self.names[path] = argument
        return path

    def write(self, name: str, argument: str, array: Any) -> str:
        """Write an array and return the path of its file."""
        return write_array(self.path(name, argument), array)

    def write_labels(self, labels: Labels) -> str:
        """Write class numbers, −1 for none."""
        for code, label in enumerate(labels.classes.tolist()):
            for text in (f'class "{code}"', f'label is "{code}"', f'labels are "{code}"'):
                self.names[text] = text.replace(f'"{code}"', repr(label))
        return self.write("labels.npy", "y", labels.code)

    def write_attributes(self, features: Any) -> list[str]:
        """Write attributes of nodes and return the flag with their file."""
        if features is None:
            return []
        if isinstance(features, (str, os.PathLike)):
            return ["--node-features", os.fspath(features)]
        name, matrix = "node_features", attributes_of(self.graph, features)
        if sp.issparse(matrix):
            path = self.path("features.npz", name)
            sp.save_npz(path, sp.csr_matrix(matrix), compressed=False)
        else:
            path = self.write("features.npy", name, matrix)
        nodes = nodes_of(self.graph)
        with open(self.path("features.rows.ids", name), "w", encoding="utf-8",
                  errors="surrogateescape") as file:
            file.writelines(f"{v if nodes.path else i}\n" for i,
                            v in enumerate(nodes.all() if nodes.path else range(len(nodes))))
        return ["--node-features", path]

    def run(self, command: str, *args: str, is_random: bool = False) -> dict[str, Any]:
        """Run a command; a random one without random_state gets another seed each time."""
        settings = dict(self.settings)
        if is_random and settings.get("random_state") is None:
            settings["random_state"] = _process.seed_of(None)
        flags = list(self.flags)
        for name in ("kind_weights", "since", "until", "half_life"):
            value = settings.pop(name, None)
            if isinstance(value, Mapping):
                value = ",".join(f"{kind}={float(weight)!r}" for kind, weight in value.items())
            if value is not None:
                flags.append(f"--{name.replace('_', '-')}={value}")
        return _process.run([command, self.argument, *args, *flags], self.names, **settings)


def rows_of(graph: Graph, nodes: Any, name: str) -> Any:
    """Return the rows of nodes, None for all."""
    if nodes is None:
        return None
    if is_pandas(nodes) and nodes.dtype == bool:
        nodes = nodes_of(graph).align(nodes, name)
    if not isinstance(nodes, (set, frozenset, dict)):
        nodes = as_array(nodes)
    if isinstance(nodes, (str, bytes)) or not hasattr(nodes, "__iter__"):
        raise ValueError(f"{name} is one node; give a list, as in {name}=[{nodes!r}]")
    if not isinstance(nodes, np.ndarray):
        nodes = list(nodes)
    if len(nodes) and all(isinstance(v, (bool, np.bool_)) for v in nodes):
        if np.shape(nodes) != (graph.n,):
            raise ValueError(f"{name} is a mask of shape {np.shape(nodes)}; it needs an element "
                             f"for each of {graph.n} nodes")
        rows = np.flatnonzero(nodes)
    else:
        rows = nodes_of(graph).rows(nodes, name)
    if not len(rows):
        raise ValueError(f"{name} is empty; leave it out for all nodes")
    values, first, count = np.unique(rows, return_index=True, return_counts=True)
    if (count > 1).any():
        node = nodes_of(graph).at([int(values[count > 1][0])])[0]
        raise ValueError(f"{name} has {node!r} twice; keep one of them")
    return rows

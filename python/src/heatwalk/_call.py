"""The arguments of a call, written to its temporary folder."""

from __future__ import annotations

import os
from typing import Any, Iterable, Sequence

import numpy as np

from . import _process
from ._folder import write_array
from ._graph import Graph
from ._labels import Labels


class Call:
    """One run of the program on a graph, in a temporary folder."""

    def __init__(self, folder: str, graph: Graph, settings: dict[str, Any]) -> None:
        self.folder, self.graph, self.settings = folder, graph, settings
        self.names: dict[str, str] = {}
        self.argument = graph.argument(folder)
        if graph.matrix is not None:
            self.names[self.argument] = "graph"

    def path(self, name: str, argument: str) -> str:
        """Return the path of a file in the folder, which errors name by its argument."""
        path = os.path.join(self.folder, name)
        self.names[path] = argument
        return path

    def write(self, name: str, argument: str, array: Any) -> str:
        """Write an array and return the path of its file."""
        return write_array(self.path(name, argument), array)

    def write_ids(self, name: str, argument: str, rows: Iterable[int]) -> str:
        """Write the ids of rows, one a line."""
        path = self.path(name, argument)
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(self.graph.id_text(row) + "\n" for row in rows)
        return path

    def write_labels(self, labels: Labels) -> str:
        """Write class numbers, −1 for none."""
        for code, label in enumerate(labels.classes.tolist()):
            self.names[f'class "{code}"'] = f"class {label!r}"
        return self.write("labels.npy", "y", labels.code)

    def run(self, command: str, *args: str) -> dict[str, Any]:
        """Run a command on the graph."""
        return _process.run([command, self.argument, *args], self.names, **self.settings)


def rows_of(graph: Graph, nodes: Sequence[Any] | None, name: str) -> list[int] | None:
    """Return the rows of nodes, None for all."""
    if nodes is None:
        return None
    if isinstance(nodes, (str, bytes)) or not hasattr(nodes, "__iter__"):
        raise ValueError(f"{name} is one node; give a list, as in {name}=[{nodes!r}]")
    if getattr(nodes, "dtype", None) == bool:
        if np.shape(nodes) != (graph.n,):
            raise ValueError(f"{name} is a mask of shape {np.shape(nodes)}; it needs an element for each of {graph.n} nodes")
        nodes = nodes_at(graph, np.flatnonzero(nodes).tolist())
    try:
        rows = [graph.row(v) for v in nodes]
    except KeyError as error:
        raise ValueError(f"{name}: {error.args[0]}") from None
    if not rows:
        raise ValueError(f"{name} is empty; leave it out for all nodes")
    return rows


def nodes_at(graph: Graph, rows: Sequence[int] | None) -> Any:
    """Return the nodes of rows, of all for None."""
    if graph.matrix is not None and graph.nodes is None:
        return range(graph.n) if rows is None else list(rows)
    ids = graph.ids()
    return ids if rows is None else [ids[row] for row in rows]

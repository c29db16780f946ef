"""Stores: graphs on disk, ready to be swept."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Sequence

from . import _process
from ._errors import NotFoundError, warn
from ._folder import call_in_folder
from ._graph import Graph, argument, as_graph, bytes_of, is_signed, nodes_of
from ._matrix import Path

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Store(Graph):
    """A graph on disk, compressed and ready to be swept. Every function takes it as its graph.

    Use :meth:`ingest` to make one and :meth:`open` for one that is there.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path=path)

    @classmethod
    def ingest(cls, source: Any, path: Path, *, force: bool = False, self_loops: str = "drop",
               directed: bool | None = None, kind: str | None = None, time: str | None = None,
               flags: Sequence[str] = (), **settings: Unpack[_process.Settings]) -> Store:
        """Read graph files, or a graph, into a new store.

        Parameters
        ----------
        source
            A file, several files, or a graph, whose nodes become ids as text.
        path, force
            The directory, and whether a store there is replaced.
        self_loops : {"drop", "keep"}
            The edges from a node to itself.
        directed
            Whether the edges of files have a direction; by default, if a file says so.
        kind, time
            The columns of files with the kind and the date of each edge.
        flags
            Further flags of ``heatwalk ingest``, as in ``["--fields=payer,payee"]``.
        **settings
            Threads, max_memory and progress, see :class:`Settings`.
        """
        target = os.fspath(path)
        more = [*flags, "--self-loops", self_loops, *(["--force"] if force else [])]
        if directed is not None:
            more.append("--directed" if directed else "--undirected")
        more += [f"--{name}={v}" for name, v in (("kind", kind), ("time", time)) if v is not None]
        def run(inputs: Sequence[str], *args: str) -> Store:
            names = {path: "source" for path in (*inputs, *args) if path.startswith(os.sep)}
            done = _process.run(["ingest", *inputs, "-o", target, *args, *more], names,
                                reader=_process.Reader("Store.ingest(source, path, {})", has_ends=False),
                                **dict[str, Any](settings))
            if self_loops == "drop" and (count := done.get("self_loops")):
                warn(f"source: {count} edges from a node to itself are left out; pass "
                     "self_loops=\"keep\" to keep them")
            return cls(target)
        paths = source if isinstance(source, (list, tuple)) and source else [source]
        if all(isinstance(s, (str, os.PathLike)) for s in paths):
            return run([os.fspath(s) for s in paths])
        graph = as_graph(source)
        more += ["--weights", "signed"] if is_signed(graph.matrix) else []
        def work(folder: str) -> Store:
            if nodes_of(graph).is_numbered:
                return run([argument(graph, folder)])
            ids = os.path.join(folder, "nodes.ids")
            with open(ids, "w", encoding="utf-8", errors="surrogateescape") as file:
                file.writelines(text + "\n" for text in _id_texts(graph.nodes))
            return run([argument(graph, folder)], "--nodes", ids)
        return call_in_folder(bytes_of(graph), work)

    @classmethod
    def open(cls, path: Path) -> Store:
        """Return the store in a directory, after a look at its manifest.
        """
        store = cls(os.fspath(path))
        if not os.path.isdir(store.path):
            raise NotFoundError("no such directory", "make a store with Store.ingest, or pass the "
                                "path of a graph file as graph", store.path)
        store.info()
        return store

    def info(self) -> dict[str, Any]:
        """Return counts: nodes, edges, components, the largest degree and so on."""
        return _process.run(["info", self.path])

    @property
    def ids(self) -> list[str]:
        """The ids of the nodes in the order of the rows of every result."""
        return list(self.nodes)


def _id_texts(nodes: Sequence[Any]) -> list[str]:
    """Return nodes as lines of a file of ids."""
    seen: dict[str, Any] = {}
    texts = [str(node) for node in nodes]
    for node, text in zip(nodes, texts):
        if seen.setdefault(text, node) is not node:
            raise ValueError(f"source: the nodes {seen[text]!r} and {node!r} have the same text, "
                             f"{text!r}; rename one of them")
        if not text or any(c in text for c in "\t\n\r\0"):
            raise ValueError(f"source: the node {node!r} is empty or has a tab or a line break, "
                             "which ids of a store cannot have; rename it")
    return ['"' + text.replace('"', '""') + '"' if '"' in text else text for text in texts]

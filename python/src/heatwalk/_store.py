"""Stores: graphs on disk, ready to be swept."""

from __future__ import annotations

import os
from typing import Any, Iterable

import numpy as np
import scipy.sparse as sp

from . import _process
from ._errors import StoreError
from ._folder import call_in_folder
from ._graph import as_graph


def ids_of(path: str) -> list[str]:
    """Return the ids of a store or a graph file in the order of the rows."""

    def work(folder: str) -> list[str]:
        out = os.path.join(folder, "nodes.ids")
        _process.run(["info", path, "--ids", out])
        return read_ids(out)

    return call_in_folder(0, work)


def read_ids(path: str) -> list[str]:
    """Read a file of ids, of which some may be in quotes."""
    with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        lines = file.read().split("\n")[:-1]
    return [x[1:-1].replace('""', '"') if len(x) > 1 and x[0] == x[-1] == '"' else x for x in lines]


class Store:
    """A graph on disk, compressed and ready to be swept. Every function takes it as its graph.

    Use :meth:`ingest` to make one and :meth:`open` for one that is there.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._ids: list[str] | None = None

    def __heatwalk_path__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return f"<heatwalk.Store {self.path!r}>"

    @classmethod
    def ingest(cls, source: Any, path: str | os.PathLike[str], *, threads: int | None = None, max_memory: str | int | None = None,
               progress: _process.Progress = None, **flags: Any) -> Store:
        """Read graph files, or a graph, into a new store.

        Parameters
        ----------
        source : path, list of paths, or graph
            The input.
        path : path
            The directory of the store.
        **flags
            Flags of ``heatwalk ingest``, as in ``directed=True``, ``self_loops="keep"``, ``force=True``.
            The nodes of a NetworkX graph become ids as text.

        Returns
        -------
        Store
        """
        more = [f"--{name.replace('_', '-')}" + ("" if value is True else f"={value}") for name, value in flags.items() if value not in (None, False)]
        settings = dict(threads=threads, max_memory=max_memory, progress=progress)
        target = os.fspath(path)
        if isinstance(source, (str, os.PathLike)) or isinstance(source, (list, tuple)) and source and all(isinstance(s, (str, os.PathLike)) for s in source):
            files = [source] if isinstance(source, (str, os.PathLike)) else source
            _process.run(["ingest", *map(os.fspath, files), "-o", target, *more], **settings)  # type: ignore[arg-type]
            return cls(target)
        graph = as_graph(source)

        def work(folder: str) -> None:
            args = ["ingest", graph.argument(folder), "-o", target, *more]
            if graph.nodes is not None and graph.matrix is not None:
                ids = os.path.join(folder, "nodes.ids")
                with open(ids, "w", encoding="utf-8") as file:
                    file.writelines(f"{node}\n" for node in graph.nodes)
                args += ["--nodes", ids]
            _process.run(args, {args[1]: "source"}, **settings)  # type: ignore[arg-type]

        call_in_folder(graph.bytes(), work)
        return cls(target)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Store:
        """Return the store in a directory, after a look at its manifest."""
        store = cls(os.fspath(path))
        if not os.path.isdir(store.path):
            raise StoreError(f"{store.path} is not the directory of a store", "make one with Store.ingest, or pass the path of a graph file as graph")
        store.info()
        return store

    def info(self) -> dict[str, Any]:
        """Return counts: nodes, edges, components, the largest degree and so on."""
        return _process.run(["info", self.path])

    @property
    def ids(self) -> list[str]:
        """The ids of the nodes in the order of the rows of every result."""
        if self._ids is None:
            self._ids = ids_of(self.path)
        return self._ids

    def to_scipy(self) -> Any:
        """Return the adjacency matrix as a :class:`scipy.sparse.csr_matrix`."""

        def work(folder: str) -> Any:
            out = os.path.join(folder, "graph.npz")
            _process.run(["convert", self.path, "-o", out])
            self._ids = read_ids(out + ".ids")
            return sp.csr_matrix(sp.load_npz(out))

        return call_in_folder(0, work)


def edges_to_matrix(pairs: Iterable[tuple[str, str]], ids: dict[str, int]) -> Any:
    """Return the symmetric matrix of pairs of ids."""
    rows = np.array([(ids[a], ids[b]) for a, b in pairs if a != b])
    matrix = sp.coo_matrix((np.ones(len(rows), dtype=bool), (rows[:, 0], rows[:, 1])), shape=(len(ids), len(ids))).tocsr()
    return matrix.maximum(matrix.T).astype(np.float64).tocsr()

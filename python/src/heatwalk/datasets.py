"""A built-in graph for examples and tests."""

from __future__ import annotations

import gzip
import os
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ._graph import as_graph
from ._process import seed_of


def cora(labelled: int | None = None, random_state: Any = 1) -> tuple[sp.csr_matrix, NDArray[Any]]:
    """Return the citation graph Cora: 2,708 papers with one of seven subjects.

    Parameters
    ----------
    labelled
        Keep the labels of this number of papers, drawn at random; the others are None.
    random_state
        The seed of the draw.

    Returns
    -------
    A : scipy.sparse.csr_matrix
        The adjacency matrix.
    y : numpy.ndarray
        The subject of each paper, or None.
    """
    tables = []
    for name in ("labels.tsv.gz", "edges.tsv.gz"):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cora", name)
        with gzip.open(path, "rt", encoding="utf-8") as file:
            tables.append([line.rstrip("\n").split("\t") for line in file])
    labels, edges = dict(tables[0]), tables[1]
    nodes = sorted({int(v) for pair in edges for v in pair} | {int(v) for v in labels})
    y = np.array([labels.get(str(v)) for v in nodes], dtype=object)
    if labelled is not None:
        keep = np.random.default_rng(seed_of(random_state)).permutation(len(y))[:labelled]
        y[np.setdiff1d(np.arange(len(y)), keep)] = None
    index = np.searchsorted(nodes, np.array(edges, dtype=int)).T
    index = index[:, index[0] != index[1]]
    return as_graph(index, num_nodes=len(nodes)).matrix, y

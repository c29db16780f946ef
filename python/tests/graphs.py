"""Graphs for tests."""

import os

import numpy as np
import scipy.sparse as sp


def random_graph(n, m, seed, weighted=True):
    """Return a symmetric CSR matrix of about m edges between n nodes, without loops."""
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, n, m), rng.integers(0, n, m)
    keep = i != j
    upper = sp.coo_matrix((np.ones(keep.sum()), (np.minimum(i, j)[keep], np.maximum(i, j)[keep])), shape=(n, n)).tocsr()
    upper.data[:] = rng.random(upper.nnz) + 0.5 if weighted else 1
    matrix = (upper + upper.T).tocsr()
    matrix.sort_indices()
    return matrix


def two_groups(n=60, seed=3):
    """Return a graph of two groups of n/2 nodes with few edges between them, and the group of each node."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 2
    p = np.where(group[:, None] == group, 0.3, 0.02)
    upper = np.triu(rng.random((n, n)) < p, 1)
    return sp.csr_matrix((upper + upper.T).astype(float)), group


def laplacian(matrix):
    """Return D − A."""
    return sp.diags(np.asarray(matrix.sum(axis=1)).ravel()) - matrix


def half(cases):
    """Return every second case: the even ones with NumPy 2, the others with NumPy 1, since .ci/run tests with both; all with HEATWALK_HUNT."""
    cases = list(cases)
    return cases if os.environ.get("HEATWALK_HUNT") else cases[int(np.__version__.split(".")[0]) % 2 :: 2]

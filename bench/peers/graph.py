#!/usr/bin/env python3
"""graph.py OUT.bin EDGES [NODES]: an undirected edge list as int64 n, nnz,
row pointers and int32 columns, rows in increasing order of the ids. Self loops
are dropped, as heatwalk ingest does, and their nodes kept."""
import sys

import numpy as np
import scipy.sparse as sp

edges = np.loadtxt(sys.argv[2], dtype=np.int64, usecols=(0, 1), ndmin=2)
ids = edges.ravel()
if len(sys.argv) > 3:
    ids = np.concatenate([ids, np.loadtxt(sys.argv[3], dtype=np.int64, usecols=0, ndmin=1)])
ids = np.unique(ids)
u, v = np.searchsorted(ids, edges.T)
u, v = u[u != v], v[u != v]
n = len(ids)
a = sp.coo_matrix((np.ones(2 * len(u), np.int8), (np.r_[u, v], np.r_[v, u])), shape=(n, n)).tocsr()
a.sort_indices()
with open(sys.argv[1], "wb") as f:
    np.array([n, a.nnz], np.int64).tofile(f)
    a.indptr.astype(np.int64).tofile(f)
    a.indices.astype(np.int32).tofile(f)

#!/usr/bin/env python3
"""scipy_driver.py GRAPH.bin JOB DTYPE COLUMNS REPEAT: seconds and checksum."""
import sys
import time

import numpy as np
import scipy.sparse as sp

path, job, dtype, k, repeat = sys.argv[1], sys.argv[2], np.dtype(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])
raw = np.fromfile(path, np.int64, 2)
n, nnz = int(raw[0]), int(raw[1])
indptr = np.fromfile(path, np.int64, n + 1, offset=16)
indices = np.fromfile(path, np.int32, nnz, offset=16 + 8 * (n + 1))
degree = np.diff(indptr)
scale = np.divide(1.0, degree, out=np.zeros(n), where=degree > 0)
i = np.arange(n)

if job == "walk":
    seeds = i[::20]
    classes = seeds // 20 % k
    scale[seeds] *= 0.5
    x = np.full((n, k), 1 / k, dtype)
    x[seeds] = 0
    x[seeds, classes] = 1
else:
    x = ((i[:, None] * k + np.arange(k)) % 17 + 1).astype(dtype)
a = sp.csr_matrix((np.repeat(scale, degree).astype(dtype), indices, indptr.astype(np.int32)), shape=(n, n))


def run():
    if job == "spmm":
        return a @ x
    steps = [x]
    for _ in range(10):
        y = a @ steps[-1]
        y[seeds, classes] += dtype.type(0.5)
        steps.append(y)
    return steps[-1]


y = run()
times = []
for _ in range(repeat):
    start = time.perf_counter()
    y = run()
    times.append(time.perf_counter() - start)
weight = (31 * i[:, None] + 17 * np.arange(k)) % 101 if job == "walk" else 1
print(min(times), (y.astype(float) * weight).sum())

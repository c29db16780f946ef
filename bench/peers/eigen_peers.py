"""The 20 largest eigenpairs of S of a connected graph, to 1e-8: heatwalk, SciPy's eigsh and lobpcg, SLEPc's Krylov-Schur.

usage: eigen_peers.py HEATWALK SLEPC_DRIVER EDGES.tsv...   (SciPy; the driver: mpicc slepc_driver.c -o DRIVER $(pkg-config
--cflags --libs slepc petsc)). Prints a line of a table for each graph: CPU seconds, user and system, of all threads; of
heatwalk the whole process from its store, of the others the call alone. A dash: some value is missing or wrong by 1e-6.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh, lobpcg

K, TOLERANCE = 20, 1e-8


def normalized(path):
    """S of the largest component."""
    table = pd.read_csv(path, sep="\t", header=None, comment="#", dtype=str)
    codes, _ = pd.factorize(pd.concat([table[0], table[1]]))
    u, v = codes[: len(table)], codes[len(table):]
    a = sp.coo_matrix((np.ones(2 * len(u)), (np.r_[u, v], np.r_[v, u])), shape=(codes.max() + 1,) * 2).tocsr()
    a.data[:] = 1
    _, part = connected_components(a)
    rows = np.flatnonzero(part == np.bincount(part).argmax())
    a = a[rows][:, rows]
    scale = sp.diags(np.asarray(a.sum(axis=1)).ravel() ** -0.5)
    return (scale @ a @ scale).tocsr()


def write_petsc(a, path):
    with open(path, "wb") as f:
        np.array([1211216, a.shape[0], a.shape[1], a.nnz], ">i4").tofile(f)
        np.diff(a.indptr).astype(">i4").tofile(f)
        a.indices.astype(">i4").tofile(f)
        a.data.astype(">f8").tofile(f)


def timed(solve):
    begun = time.process_time()
    values = solve()
    return time.process_time() - begun, np.sort(values)[::-1]


def started(*args):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run(args, capture_output=True, text=True, check=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, out


program, driver, *graphs = sys.argv[1:]
print("| graph | nodes | heatwalk | `eigsh` | `lobpcg` | SLEPc |\n|---|--:|--:|--:|--:|--:|")
with tempfile.TemporaryDirectory() as folder:
    for path in graphs:
        s = normalized(path)
        s.sort_indices()
        store, pairs, binary = (os.path.join(folder, name) for name in ("graph", "E.npy", "S.petsc"))
        subprocess.run([program, "ingest", path, "-o", store, "--force", "--quiet"], check=True, capture_output=True)
        seconds, out = started(program, "eigen", store, "--matrix", "normalized-adjacency", "--which", "largest", "--k", str(K),
                               "--largest-component", "-o", pairs, "--json")
        want = np.sort([v for v in json.loads(out)["values"]])[::-1]
        write_petsc(s, binary)
        cells = ["%.2f" % seconds]
        rng = np.random.default_rng(1)
        slepc = np.array(started(driver, "-f", binary, "-k", str(K))[1].split(), float)
        for seconds, values in (
            timed(lambda: eigsh(s, K, which="LA", tol=TOLERANCE, ncv=3 * K)[0]),
            timed(lambda: lobpcg(s, rng.standard_normal((s.shape[0], K)), tol=TOLERANCE, maxiter=2000)[0]),
            (slepc[0], np.sort(slepc[2:])[::-1]),
        ):
            good = len(values) == K and np.abs(values - want).max() < 1e-6
            cells.append(("%.2f" if good else "– (%.2f)") % seconds)
        name = os.path.basename(os.path.dirname(os.path.abspath(path)))
        print(f"| {name} | {s.shape[0]:,} | " + " | ".join(cells) + " |", flush=True)

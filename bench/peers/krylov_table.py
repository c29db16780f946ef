#!/usr/bin/env python3
"""krylov_table.py HEATWALK WORK EDGES.tsv [JOB...]: runs exponentials, solves
and eigenpairs in heatwalk and in SciPy in turn, checks that they agree, and
prints seconds and ratios: of heatwalk's whole command, and of SciPy's call.

JOB is exponential-K, multiply-K (expm_multiply), solve or eigen; K columns.
Files made on the way stay in WORK and are taken up again."""
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

program, work, edges = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
jobs = sys.argv[4:] or ["exponential-16", "multiply-16", "solve", "eigen"]
work.mkdir(parents=True, exist_ok=True)
here = Path(__file__).parent
name = edges.stem


def output(*command):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True).stdout


def prepare(stem, path):
    """the graph as a store and as a CSR file with the same rows"""
    binary, store = work / f"{stem}.bin", work / f"{stem}.store"
    if not binary.exists():
        output(sys.executable, here / "graph.py", binary, path)
    if not store.exists():
        output(program, "ingest", path, "-o", store, "--quiet")
    return binary, store


def largest_component():
    path = work / f"{name}-component.edges"
    if not path.exists():
        e = np.loadtxt(edges, dtype=np.int64, usecols=(0, 1), comments="#")
        n = e.max() + 1
        _, of = connected_components(sp.coo_matrix((np.ones(len(e)), (e[:, 0], e[:, 1])), shape=(n, n)), directed=False)
        np.savetxt(path, e[of[e[:, 0]] == np.bincount(of[e.ravel()]).argmax()], fmt="%d", delimiter="\t")
    return prepare(f"{name}-component", path)


def heatwalk(repeat, *words):
    """the least seconds of a command, its document and its output"""
    best = np.inf
    for _ in range(repeat):
        start = time.perf_counter()
        doc = json.loads(output(program, *words, "-o", work / "output.npy", "--json"))
        best = min(best, time.perf_counter() - start)
    return best, doc, np.load(work / "output.npy")


def apply(repeat, store, nodes, function, tolerance, k):
    """the same of a function of the graph times the block of krylov_driver.py, its checksum and the error that two programs allow"""
    i = np.arange(nodes)[:, None]
    h = (i * k + np.arange(k)).astype(np.uint32)
    for _ in range(2):
        h = (h ^ h >> 16) * np.uint32(73244475)
    np.save(work / "block.npy", (h ^ h >> 16) / 2.0**31 - 1)
    seconds, doc, y = heatwalk(repeat, "apply", store, "--function", function, "--block", work / "block.npy", "--tolerance", tolerance)
    weights = (31 * i + 17 * np.arange(k)) % 101 - 50
    return seconds, doc, (y * weights).sum(), 2 * float(tolerance) * np.linalg.norm(y) * np.linalg.norm(weights)


def scipy(binary, *arguments):
    return [float(w) for w in output(sys.executable, here / "krylov_driver.py", binary, *arguments).split()]


def line(job, ours, seconds, note):
    print(f"{job:52}{ours * 1e3:10.1f}{seconds * 1e3:12.1f}{seconds / ours:8.1f}x  {note}", flush=True)


def compare(ours, theirs, allowed):
    if abs(ours - theirs) > allowed:
        sys.exit(f"heatwalk says {ours}, SciPy {theirs}: they differ by more than {allowed}")


os.environ.setdefault("OMP_NUM_THREADS", "2")
print(f"{name + ', milliseconds':52}{'heatwalk':>10}{'SciPy':>12}{'ratio':>9}")
for job in jobs:
    kind, _, k = job.partition("-")
    if kind in ("exponential", "multiply"):
        binary, store = prepare(name, edges)
        nodes = int(np.fromfile(binary, np.int64, 1)[0])
        for beta in os.environ.get("BETAS", "0.1 1 10 100").split():
            for tolerance in ("1e-6", "1e-10"):
                try:
                    seconds, v, checksum, allowed = apply(9, store, nodes, f"exp:t=-{beta}:matrix=normalized-laplacian", tolerance, int(k))
                except subprocess.CalledProcessError as refused:  # beyond the precision of float64 beside a hub
                    print(f"exp(-{beta} L~) B, {k} columns, {tolerance}: {refused.stderr.strip()}", flush=True)
                    continue
                if kind == "exponential" or tolerance == "1e-6":
                    theirs = scipy(binary, "exponential", beta, tolerance if kind == "exponential" else "0", k, "1",
                                   *(["multiply"] if kind == "multiply" else []))
                compare(checksum, theirs[1], allowed)
                what = "expm_multiply" if kind == "multiply" else f"Chebyshev of degree {theirs[2]:.0f}"
                line(f"exp(-{beta} L~) B, {k} columns, {tolerance}", seconds, theirs[0], f"{v['sweeps']} sweeps; {what}")
    elif kind == "solve":
        binary, store = prepare(name, edges)
        nodes = int(np.fromfile(binary, np.int64, 1)[0])
        for system, alpha, label in (("von-neumann", ".9", "I - .9 S"), ("von-neumann", ".99", "I - .99 S"),
                                     ("regularized-laplacian", "1", "I + L~"), ("regularized-laplacian", "10", "I + 10 L~")):
            seconds, v, checksum, allowed = apply(3, store, nodes, f"{system}:alpha={alpha}", "1e-8", 16)
            theirs = scipy(binary, "solve", system, alpha, "1e-8", "16", "1")
            compare(checksum, theirs[1], allowed)
            line(f"{label}, 16 columns, 1e-8", seconds, theirs[0], f"{v['sweeps']} sweeps; cg with {theirs[2]:.0f} steps")
    else:
        binary, store = largest_component()
        for matrix, which, label in (("normalized-adjacency", "largest", "S largest"), ("normalized-laplacian", "smallest", "L~ smallest"),
                                     ("modularity", "largest", "M largest")):
            seconds, v, _ = heatwalk(2, "eigen", store, "--matrix", matrix, "--which", which, "--k", "20", "--tolerance", "1e-8")
            for ncv in os.environ.get("NCV", "0 60").split():
                theirs = scipy(binary, "eigen", matrix, which, "20", "1e-8", ncv, "1")
                compare(sum(v["values"]), theirs[1], 1e-6 * (1 + abs(theirs[1])))
                line(f"{label}, 20 pairs, error {max(v['error_bounds']):.0e}", seconds, theirs[0],
                     f"{v['products']} products of 4; ncv {'41 (default)' if ncv == '0' else ncv}, {theirs[2]:.0f} products, residual {theirs[3]:.0e}")

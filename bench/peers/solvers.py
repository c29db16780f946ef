#!/usr/bin/env python3
"""solvers.py WORK FOLDER [pairs|solves|exponentials|heat...]: eigenpairs, columns of L⁺ and exponentials of heatwalk and of
its peers on every graph FOLDER/NAME/edges.tsv[.gz] and on generated ones, as tables of processor seconds.

solvers.sh builds what WORK holds: heatwalk, petsc (petsc_driver.c), sampled (sampled_driver.c) and solve (the benchmark
of bench/solve_linux_test.go). GRAPHS="debian grid-300 …" selects graphs, RUNS=3 is the number of runs of each program, in turn, whose
median is printed, one for programs of more than SLOW=2 seconds, LIMIT=100 ends a program after so many seconds."""
import itertools
import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

HERE = Path(__file__).parent
WORK, FOLDER = Path(sys.argv[1]), Path(sys.argv[2])
TABLES = sys.argv[3:] or ["pairs", "solves", "exponentials", "heat"]
RUNS, LIMIT = int(os.environ.get("RUNS", 3)), int(os.environ.get("LIMIT", 100))
SLOW = float(os.environ.get("SLOW", 2))
COLUMNS = 8  # of L⁺


def grid(*sides):
    nodes = np.arange(np.prod(sides)).reshape(sides)
    ends = [(np.delete(nodes, -1, axis).ravel(), np.delete(nodes, 0, axis).ravel()) for axis in range(len(sides))]
    return np.hstack(ends)


def rmat(scale, rng):
    u, v = np.zeros((2, 16 << scale), int)
    for _ in range(scale):
        draw = rng.random(len(u))
        u, v = 2 * u + (draw >= 0.76), 2 * v + ((draw >= 0.57) & (draw < 0.76) | (draw >= 0.95))
    return u, v


def generated(n=100_000):
    """Names and edges, with weights in a third row."""
    rng = np.random.default_rng(1)
    i = np.arange(1, n)
    yield "grid 300 × 300", grid(300, 300)
    yield "grid 60 × 60 × 60", grid(60, 60, 60)
    yield "random tree", (i, (rng.random(n - 1) * i).astype(int))
    yield "star with ring", (np.r_[0 * i, i], np.r_[i, i % (n - 1) + 1])
    yield "weights over 8 orders", (*rng.integers(0, n, (2, 4 * n)), 10 ** (8 * rng.random(4 * n) - 6))
    yield "R-MAT 17", rmat(17, rng)


def given():
    for path in filter(lambda path: is_chosen(path.parent.name), sorted(FOLDER.glob("*/edges.tsv*"))):
        t = pd.read_csv(path, sep="\t", header=None, comment="#", dtype={0: str, 1: str})
        ids = np.r_[t[0], t[1]]
        codes = np.unique(ids.astype(int), return_inverse=True)[1] if t[0].str.isdecimal().all() else pd.factorize(ids)[0]
        yield path.parent.name, (codes[: len(t)], codes[len(t):], *([t[2]] if t.shape[1] > 2 else []))


def largest_component(edges):
    u, v = edges[:2]
    weights = np.asarray(edges[2], float) if len(edges) > 2 else np.ones(len(u))
    u, v, weights = u[u != v], v[u != v], weights[u != v]
    n = max(u.max(), v.max()) + 1
    a = sp.coo_matrix((np.r_[weights, weights], (np.r_[u, v], np.r_[v, u])), shape=(n, n)).tocsr()
    if len(edges) == 2:
        a.data[:] = 1
    _, part = connected_components(a)
    rows = np.flatnonzero(part == np.bincount(part).argmax())
    return a[rows][:, rows].tocsr()


def write_petsc(a, path):
    a = a.tocsr()
    a.sort_indices()
    with open(path, "wb") as f:
        np.array([1211216, *a.shape, a.nnz], ">i4").tofile(f)
        np.diff(a.indptr).astype(">i4").tofile(f)
        a.indices.astype(">i4").tofile(f)
        a.data.astype(">f8").tofile(f)


def prepare(a):
    """The graph as a store and as matrices of PETSc, with the same rows."""
    upper = sp.triu(a).tocoo()
    weights = [] if (a.data == 1).all() else [upper.data]
    pd.DataFrame(dict(enumerate([upper.row, upper.col, *weights]))).to_csv(WORK / "graph.tsv", sep="\t", header=False, index=False)
    run("heatwalk", "ingest", WORK / "graph.tsv", "-o", WORK / "store", "--force", "--quiet")
    degree = np.asarray(a.sum(axis=1)).ravel()
    laplacian = sp.csr_matrix(sp.diags(degree) - a)
    s = sp.diags(degree ** -0.5) @ a @ sp.diags(degree ** -0.5)
    write_petsc(s, WORK / "S")
    write_petsc(laplacian, WORK / "L")
    write_petsc(laplacian[:-1, :-1], WORK / "grounded")
    write_petsc(sp.identity(len(degree)) - s, WORK / "normalized")


def run(program, *arguments, env={}):
    """The processor seconds of a whole process, and its output; None if it failed or took too long."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
    out = subprocess.run([str(x) for x in (WORK / program, *arguments)], capture_output=True, text=True, preexec_fn=limit,
                         env={**os.environ, **env})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, out.stdout if out.returncode == 0 else None


def compare(jobs, tolerance):
    """Runs the jobs in turn, checks that they agree with the first, and returns the medians of their columns."""
    results = {name: [] for name in jobs}
    want = None
    for _ in range(RUNS):
        for name, job in jobs.items():
            if results[name] is None or results[name] and results[name][0][-1] > SLOW:
                continue
            columns, values = job()
            if want is None:
                want = values
            wrong = values is not None and (len(values) != len(want) or np.abs(values - want).max() > tolerance * np.abs(want).max())
            if values is None or wrong:
                print(f"{name}: {'wrong values' if wrong else 'no result'}", file=sys.stderr)
                results[name] = None
            else:
                results[name].append(columns)
    return {name: np.median(r, axis=0) if r else None for name, r in results.items()}


def driver(program, *arguments):
    def job():
        whole, out = run(program, *arguments)
        words = np.array((out or "").split(), float)
        return (None, None) if len(words) < 4 else ((*words[:3], whole), words[3:])
    return job


def pairs(name, a):
    for k in (20, 100):
        def ours():
            whole, out = run("heatwalk", "eigen", WORK / "store", "--matrix", "normalized-adjacency", "--which", "largest",
                             "--k", k, "-o", WORK / "E.npy", "--json")
            found = json.loads(out)
            return (0, 0, found["products"], whole), np.sort(found["values"])[::-1]
        r = compare({"heatwalk": ours, "SLEPc": driver("petsc", "-job", "eigen", "-f", WORK / "S", "-k", k)}, 1e-6)
        us, slepc = r.values()
        line(name, f"{k}", f"{us[3]:.2f} ({us[2]:.0f})",
             *([f"{slepc[1]:.2f} ({slepc[2]:.0f}); {slepc[3]:.2f}", f"{slepc[1] / us[3]:.2f}"] if slepc is not None else [f"> {LIMIT}", "–"]))


PETSC = {
    "CHOLMOD": "-f {work}/grounded -grounded -ksp_type preonly -pc_type cholesky -pc_factor_mat_solver_type cholmod",
    "BoomerAMG": "-f {work}/L -pc_type hypre",
    "GAMG": "-f {work}/L -pc_type gamg",
    "ICC": "-f {work}/L -pc_type icc -pc_factor_shift_type positive_definite",
}


def solves(name, a):
    rows = [j * a.shape[0] // COLUMNS for j in range(COLUMNS)]
    (WORK / "columns.ids").write_text("".join(f"{i}\n" for i in rows))

    def ours():
        whole, out = run("heatwalk", "kernel", WORK / "store", "--kernel", "pseudo-inverse:laplacian=combinatorial", "--cols",
                         WORK / "columns.ids", "--dtype", "float64", "-o", WORK / "K.npy", "--quiet")
        _, text = run("solve", "-test.run=-", "-test.bench=Solve$", "-test.benchtime=1x", env={"HEATWALK_STORE": str(WORK / "store")})
        setup, solve = (float(re.search(rf"(\S+) {unit}-s", text)[1]) for unit in ("setup", "solve"))
        return (setup, solve, 0, whole), np.load(WORK / "K.npy")[rows, range(COLUMNS)]
    listed = ",".join(map(str, rows))
    jobs = {"heatwalk": ours, "AC": driver("sampled", WORK / "L", 1, *rows), "AC2": driver("sampled", WORK / "L", 2, *rows)}
    for peer, options in PETSC.items():
        jobs[peer] = driver("petsc", "-job", "solve", "-rows", listed, *options.format(work=WORK).split())
    r = compare(jobs, 1e-5)
    cells = [f"> {LIMIT}" if c is None else f"{c[0]:.2f} + {c[1]:.2f}" + (f"; {c[3]:.2f}" if i < 3 else "") for i, c in enumerate(r.values())]
    total = {peer: c[0] + c[1] for peer, c in r.items() if c is not None}
    sampled = min(total["AC"], total["AC2"])
    line(name, *cells, f"{total['heatwalk'] / sampled:.2f}")


def exponentials(name, a):
    n, k = a.shape[0], 16
    np.save(WORK / "B.npy", np.sin(1.0 + np.arange(n)[:, None] * k + np.arange(k)))
    for t in (1, 10, 100):
        def ours():
            whole, _ = run("heatwalk", "apply", WORK / "store", "--function", f"exp:t={-t}:matrix=normalized-laplacian",
                           "--block", WORK / "B.npy", "-o", WORK / "Y.npy", "--quiet")
            return (0, 0, 0, whole), (np.load(WORK / "Y.npy") ** 2).sum(axis=0)
        r = compare({"heatwalk": ours, "SLEPc": driver("petsc", "-job", "expm", "-f", WORK / "normalized", "-t", -t, "-k", k)}, 1e-6)
        us, slepc = r.values()
        line(name, f"{t}", f"{us[3]:.2f}", *([f"{slepc[1]:.2f}; {slepc[3]:.2f}", f"{slepc[1] / us[3]:.1f}"] if slepc is not None else [f"> {LIMIT}", "–"]))


def heat(name, a):
    n = a.shape[0]
    for k, t in itertools.product((1, 16), (1, 10, 100, 1000)):
        b = np.zeros((n, k))
        b[np.arange(k) * n // k, np.arange(k)] = 1
        np.save(WORK / "B.npy", b)

        def multiply(tolerance, out):
            whole, text = run("heatwalk", "apply", WORK / "store", "--function", f"exp:t={-t}:matrix=laplacian", "--block",
                              WORK / "B.npy", "-o", WORK / out, "--tolerance", tolerance, "--json")
            return whole, json.loads(text)["sweeps"], np.load(WORK / out)

        def ours():
            whole, sweeps, y = multiply(1e-8, "Y.npy")
            error = (np.linalg.norm(y - reference, axis=0) / np.linalg.norm(reference, axis=0)).max()
            return (error, 0, sweeps, whole), np.array([float(error < 1e-8)])

        def kiops():
            columns, values = driver(sys.executable, HERE / "kiops_driver.py", WORK / "L", WORK / "B.npy", t, 1e-8, WORK / "R.npy")()
            return ((*values, *columns[1:]), np.array([float(values[0] < 1e-8)])) if columns else (None, None)
        reference = multiply(1e-10, "R.npy")[2]
        us, peer = compare({"heatwalk": ours, "KIOPS": kiops}, 1e-6).values()
        line(name, f"{k}", f"{t}", f"{us[3]:.2f} ({us[2]:.0f})", f"{us[0]:.0e}",
             *([f"{peer[1]:.2f} ({peer[2]:.0f})", f"{peer[0]:.0e}", f"{peer[1] / us[3]:.2f}"] if peer is not None else [f"> {LIMIT}", "–", "–"]))


def line(*cells):
    print("| " + " | ".join(cells) + " |", flush=True)


HEADS = {
    pairs: ("The k largest eigenpairs of S to 1e-8: heatwalk's whole command (products); SLEPc's call alone (products) and whole",
            "graph", "k", "heatwalk", "SLEPc", "SLEPc's call / heatwalk"),
    solves: (f"{COLUMNS} columns of L⁺ to 1e-8, set-up + solve; whole process", "graph", "heatwalk", "AC", "AC2", *PETSC, "heatwalk / the better AC"),
    exponentials: ("exp(−t·L̃)·B, 16 columns, to 1e-8: heatwalk's whole command; SLEPc's MFN alone and whole",
                   "graph", "t", "heatwalk", "SLEPc", "SLEPc's call / heatwalk"),
    heat: ("exp(−t·L)·B to 1e-8 of each column: heatwalk's whole command (sweeps), KIOPS's call alone (products), and errors",
           "graph", "columns", "t", "heatwalk", "error", "KIOPS", "error", "KIOPS's call / heatwalk"),
}


def is_chosen(name):
    names = os.environ.get("GRAPHS", "").split()
    words = name.split()
    return not names or words[0] in names or "-".join(words[:2]) in names


def chosen():
    for name, edges in (*given(), *generated()):
        if is_chosen(name):
            yield name, largest_component(edges)


if __name__ == "__main__":
    print(f"load {os.getloadavg()[0]:.1f}, {RUNS} runs in turn, medians of processor seconds", flush=True)
    graphs = list(chosen())
    for table in HEADS:
        if table.__name__ not in TABLES:
            continue
        title, *head = HEADS[table]
        print(f"\n{title}\n")
        line(*head)
        line(*("--:" if i else "---" for i in range(len(head))))
        for name, a in graphs:
            prepare(a)
            table(name, a)
        print(f"\nload {os.getloadavg()[0]:.1f}", flush=True)

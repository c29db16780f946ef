#!/usr/bin/env python3
"""training_table.py FEATURES.npy CLASSES.npy [SCALE]: trains support vector machines on
SCALE times the products of the features (1) by heatwalk and by LIBSVM (inside scikit-learn,
kernel in memory) in turn, by one thread each, checks that they come to the same, and prints
the least and the median user seconds of a fit, and the same by the clock.

FITS (5) a turn, TURNS (3), COSTS (1 10), TOLERANCES (1e-3 1e-6); at 1e-6 and below one
turn of one fit."""
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.update(GOMAXPROCS="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
import numpy as np


def libsvm(features, classes, scale, tolerance, cost, fits):
    from sklearn.svm import SVC

    x, y = np.load(features).astype(float), np.load(classes)
    k = x @ x.T * float(scale)
    user, wall = [], []
    for _ in range(int(fits)):
        u, t = resource.getrusage(resource.RUSAGE_SELF).ru_utime, time.perf_counter()
        m = SVC(C=float(cost), kernel="precomputed", cache_size=2000, tol=float(tolerance)).fit(k, y)
        user.append(resource.getrusage(resource.RUSAGE_SELF).ru_utime - u)
        wall.append(time.perf_counter() - t)
    start = np.concatenate([[0], np.cumsum(m.n_support_)])
    part = [slice(a, b) for a, b in zip(start, start[1:])]
    objectives = []
    for i in range(len(part)):
        for j in range(i + 1, len(part)):
            items = np.concatenate([m.support_[part[i]], m.support_[part[j]]])
            beta = np.concatenate([m.dual_coef_[j - 1, part[i]], m.dual_coef_[i, part[j]]])
            objectives.append(np.abs(beta).sum() - beta @ k[np.ix_(items, items)] @ beta / 2)
    print(json.dumps({"User": user, "Wall": wall, "Objectives": objectives, "Iterations": int(np.sum(m.n_iter_))}))


if sys.argv[1] == "libsvm":
    libsvm(*sys.argv[2:])
    sys.exit()

features, classes, scale = sys.argv[1], sys.argv[2], (sys.argv[3:] or ["1"])[0]
here = Path(__file__).resolve().parent
costs, tolerances = os.environ.get("COSTS", "1 10").split(), os.environ.get("TOLERANCES", "1e-3 1e-6").split()
with tempfile.TemporaryDirectory() as work:
    benchmark = Path(work) / "benchmark"
    subprocess.run(["go", "test", "-c", "-o", benchmark, here.parent], check=True, cwd=here)

    def heatwalk(*arguments):
        *values, fits = arguments
        env = dict(zip(("HEATWALK_FEATURES", "HEATWALK_CLASSES", "HEATWALK_SCALE", "HEATWALK_TOLERANCE", "HEATWALK_COST"), values))
        command = [benchmark, "-test.run=-", "-test.bench=Training$", f"-test.benchtime={fits}x"]
        text = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | env).stdout
        return next(line for line in text.splitlines() if line.startswith("{"))

    def other(*arguments):
        return subprocess.run([sys.executable, __file__, "libsvm", *arguments], check=True, capture_output=True, text=True).stdout

    programs = {"heatwalk": heatwalk, "LIBSVM": other}
    print("| tolerance | C | | user s, least | median | clock s, least | median | iterations | objectives differ by |")
    print("|---|---|---|--:|--:|--:|--:|--:|--:|")
    for tolerance in tolerances:
        long = float(tolerance) < 1e-5
        turns, fits = (1, 1) if long else (int(os.environ.get("TURNS", 3)), os.environ.get("FITS", "5"))
        for cost in costs:
            seen = {name: {"User": [], "Wall": []} for name in programs}
            for _ in range(turns):
                for name, train in programs.items():
                    result = json.loads(train(features, classes, scale, tolerance, cost, str(fits)))
                    for what in ("User", "Wall"):
                        seen[name][what] += result.pop(what)
                    seen[name].update(result)
            ours, theirs = (np.array(seen[name]["Objectives"]) for name in programs)
            apart = f"{np.max(np.abs(ours - theirs) / theirs):.1e}"
            spread = lambda s: f"{min(s):.3f} | {statistics.median(s):.3f}"
            for name, s in seen.items():
                print(f"| {tolerance} | {cost} | {name} | {spread(s['User'])} | {spread(s['Wall'])} | {s['Iterations']} | {apart} |")
            ratio = lambda what: [f(seen["LIBSVM"][what]) / f(seen["heatwalk"][what]) for f in (min, statistics.median)]
            print(f"| {tolerance} | {cost} | **LIBSVM / heatwalk** | " + " | ".join(f"**{r:.1f}**" for r in ratio("User") + ratio("Wall")) + " | | |", flush=True)

#!/usr/bin/env python3
"""table.py WORK: runs every job in every library in turn, twice, and prints
the fastest time of each with its ratio to heatwalk's."""
import json
import os
import subprocess
import sys
from pathlib import Path

work, here = Path(sys.argv[1]), Path(__file__).parent
threads = os.environ.get("THREADS", "2")
repeat = os.environ.get("REPEAT", "10")
columns = os.environ.get("COLUMNS", "1 5 8 16 40").split()
env = dict(os.environ, OMP_NUM_THREADS=threads, OMP_PROC_BIND="close", OMP_PLACES="cores")
PEERS = ["GraphBLAS", "Eigen", "SciPy"]


def output(*command):
    return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout


def heatwalk(job, dtype, k):
    flags = ["--columns", k] if job == "spmm" else []
    doc = json.loads(output(work / "heatwalk", "bench", job, work / "store", *flags, "--dtype", dtype,
                            "--repeat", repeat, "--threads", threads, "--json"))
    return doc["seconds_min"], doc["checksum"]


def peer(name, job, dtype, k):
    if name == "SciPy":
        out = output(sys.executable, here / "scipy_driver.py", work / "graph.bin", job, dtype, k, "3")
    elif name == "Eigen" and job != "spmm":
        return None
    else:
        out = output(work / name.lower(), threads, work / "graph.bin", job, dtype, k, repeat)
    seconds, checksum = map(float, out.split())
    return seconds, checksum


print(f"{threads} threads; milliseconds, and how many times heatwalk's")
print(f"{'job':24}{'heatwalk':>10}" + "".join(f"{p:>20}" for p in PEERS))
jobs = [("spmm", d, k) for d in ("float32", "float64") for k in columns]
jobs += [("walk", d, "5") for d in ("float32", "float64")]
for job, dtype, k in jobs:
    best = {}
    for _ in range(2):
        for name in ["heatwalk"] + PEERS:
            result = heatwalk(job, dtype, k) if name == "heatwalk" else peer(name, job, dtype, k)
            if result and (name not in best or result[0] < best[name][0]):
                best[name] = result
    ours, want = best["heatwalk"]
    line = f"{job} {dtype} k={k}".ljust(24) + f"{ours * 1e3:10.2f}"
    for name in PEERS:
        if name not in best:
            line += f"{'-':>20}"
            continue
        seconds, checksum = best[name]
        if abs(checksum - want) > 1e-4 * abs(want):
            sys.exit(f"{job} {dtype} k={k}: checksum {checksum} in {name}, {want} in heatwalk")
        line += f"{seconds * 1e3:11.2f} {seconds / ours:7.2f}x"
    print(line, flush=True)

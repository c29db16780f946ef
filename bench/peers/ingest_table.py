"""Text to a graph: ingest_table.py FILE METHOD...

Runs `heatwalk ingest` with all threads and with one, rows as the peers have
them, and as it does by default, then each METHOD in a process of its own, on the
same file. METHOD is pandas, fromstring, igraph,
mmread or strings (pandas read and factorize, then a CSR matrix); heatwalk
writes and verifies a store, the others only make a matrix in memory. Times are
without imports and without heatwalk's fsync, the least of three rounds in which
all take turns.
"""
import json, os, resource, subprocess, sys, tempfile, time


def peer(method, path):
    import numpy as np
    import scipy.sparse as sp

    def csr(u, v):
        n = int(max(u.max(), v.max())) + 1
        a = sp.coo_matrix((np.ones(len(u), np.float32), (u, v)), shape=(n, n)).tocsr()
        return a + a.T

    if method in ("pandas", "strings"):
        import pandas as pd
    elif method == "igraph":
        import igraph
    elif method == "mmread":
        import scipy.io
    start, cpu = time.perf_counter(), time.process_time()
    if method == "pandas":
        d = pd.read_csv(path, sep=" ", header=None, dtype=np.int32, engine="c")
        csr(d[0].values, d[1].values)
    elif method == "fromstring":
        with open(path) as f:
            d = np.fromstring(f.read(), dtype=np.int32, sep=" ").reshape(-1, 2)
        csr(d[:, 0], d[:, 1])
    elif method == "igraph":
        igraph.Graph.Read_Edgelist(path, directed=False)
    elif method == "mmread":
        scipy.io.mmread(path).tocsr()
    elif method == "strings":
        d = pd.read_csv(path, sep="\t", header=None, dtype=str, engine="c", na_filter=False)
        code, _ = pd.factorize(np.concatenate([d[0].values, d[1].values]))
        csr(code[:len(d)], code[len(d):])
    else:
        sys.exit("unknown method " + method)
    return time.perf_counter() - start, time.process_time() - cpu


def heatwalk(path, *flags):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as d:
        start = time.perf_counter()
        command = ["heatwalk", "ingest", path, "-o", d + "/graph", "--max-memory=512MiB", "--json", "--quiet", *flags]
        report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall - report["seconds_sync"], cpu, report["seconds_read"]


def measure(path, method):
    command = [sys.executable, "-W", "ignore", __file__, path, "--one", method]
    return tuple(map(float, subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()))


def main():
    path, methods = sys.argv[1], sys.argv[2:]
    if methods[:1] == ["--one"]:
        wall, cpu = peer(methods[1], path)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{wall} {cpu} {peak}")
        return
    size = os.path.getsize(path) / 1e6
    given = "--order=none"
    runs = {
        "heatwalk": lambda: heatwalk(path, given),
        "heatwalk, one thread": lambda: heatwalk(path, given, "--threads=1"),
        "heatwalk, order auto": lambda: heatwalk(path),
    }
    for method in methods:
        runs[method] = lambda method=method: measure(path, method)
    times = {name: [] for name in runs}
    for _ in range(3):
        for name, run in runs.items():
            times[name].append(run())
    best = min(times["heatwalk"])[0]
    for name, all in times.items():
        wall, cpu, third = min(all)
        row = f"{name:22s} {wall:7.2f} s  cpu {cpu:6.2f}  {size / wall:7.1f} MB/s  "
        print(row + (f"{wall / best:5.2f}x  peak {third:.0f} MB" if name in methods else f"reading {size / third:6.0f} MB/s"))


main()

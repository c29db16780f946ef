#!/usr/bin/env python3
"""Measure what commands of heatwalk cost before and beside their computation, as a table of processor seconds.

fixedcosts.py HEATWALK [--nodes 1000000] [--edges 5000000] [--runs 5] [--data FOLDER]

The graph is a block model, as text, SciPy's .npz and a store. FOLDER has cora/edges.tsv.gz and cora/labels.tsv.gz. Each call is a process
of its own, and its time the least of the runs. Beside it is the time in units of a product with one column of float64."""
import argparse
import gzip
import json
import os
import subprocess
import tempfile

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("heatwalk")
options.add_argument("--nodes", default="1000000")
options.add_argument("--edges", default="5000000")
options.add_argument("--runs", type=int, default=5)
options.add_argument("--data")
o = options.parse_args()
folder = tempfile.mkdtemp()
text, store, npz, ids, out = (os.path.join(folder, name) for name in ("g.tsv", "g", "g.npz", "seed.ids", "out"))


def call(*words):
    """Run heatwalk, and return its processor seconds and stdout."""
    with open(out + ".stdout", "w+b") as stdout:
        process = subprocess.Popen([o.heatwalk, *words], stdout=stdout, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"heatwalk {' '.join(words)}: status {status}")
        stdout.seek(0)
        return used.ru_utime + used.ru_stime, stdout.read()


def least(*words):
    return min(call(*words)[0] for _ in range(o.runs))


call("generate", "sbm", "--nodes", o.nodes, "--edges", o.edges, "--seed", "1", "-o", text)
call("ingest", text, "-o", store)
call("convert", store, "-o", npz)
with open(ids, "w") as f:
    f.write("0\n")
rank = ["rank", store, "--seeds", ids]
sweeps = json.loads(call(*rank, "-o", out + ".npz", "--json")[1])["sweeps"]
product = json.loads(call("bench", "spmm", store, "--columns", "1", "--dtype", "float64", "--json")[1])["processor_seconds_min"]
rows = [("start of the program", "version", least("version")),
        ("flags and help", "rank --help", least("rank", "--help")),
        ("manifest, ids, degrees, plan", "rank --dry-run, store", least(*rank, "--dry-run")),
        ("the same and a check of all entries, degrees, components", "info, store", least("info", store)),
        ("the same of .npz", "info, .npz", least("info", npz)),
        ("the same of text", "info, text", least("info", text))]
ranked = least(*rank, "-o", out + ".npz")
rows += [("one seed", "rank -o out.npz, store", ranked),
         (f"of it products of {sweeps} sweeps", "", sweeps * product),
         ("of it all else", "", ranked - sweeps * product),
         ("text in place of arrays", "rank -o out.tsv, store", least(*rank, "-o", out + ".tsv"))]
if o.data:
    with gzip.open(os.path.join(o.data, "cora", "labels.tsv.gz"), "rt") as f, open(out + ".labels", "w") as labels:
        labels.writelines(list(f)[::10])
    rows.append(("Cora, every tenth label", "classify", least("classify", os.path.join(o.data, "cora", "edges.tsv.gz"), "--labels", out + ".labels", "-o", out + ".tsv")))
print("| part | call | processor seconds | products |\n|---|---|--:|--:|")
for part, words, seconds in rows:
    print(f"| {part} | {'`' + words + '`' if words else ''} | {seconds:.3f} | {seconds / product:.1f} |")

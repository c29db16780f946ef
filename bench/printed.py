#!/usr/bin/env python3
"""Compare the accuracy that `heatwalk classify` prints with the accuracy found at the other nodes, on real graphs.

printed.py HEATWALK DATA [--graphs a,b] [--labels 100,1000,30%] [--methods auto,lp] [--draws 2] [--seeds 1]

DATA has a folder for each graph with edges.tsv.gz and labels.tsv.gz. Labels are drawn at random from the nodes that have a
class. Every line has one draw: printed accuracy with its standard error, found accuracy, and their difference in standard
errors, of printed and found together. With several seeds, of folds and samples, a line has their means, and the spread of the found accuracy:
largest less least. Behind the lines of all draws are tables by method and by graph.

With --numbers FILE, or noise, outliers or hops for made numbers, they are 100·R² of `heatwalk regress`, whose methods are "default" or a list joined by +."""
import argparse
import collections
import json
import math
import statistics
import subprocess
import tempfile

import drawnlabels

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("heatwalk")
options.add_argument("data")
options.add_argument("--graphs", default="cora,pubmed,lastfm-asia,chameleon-filtered")
options.add_argument("--labels", default="100,1000,30%,90%")
options.add_argument("--methods", default="auto,lp,lgc,beliefs,diffusion+rls,spectral+logistic")
options.add_argument("--draws", type=int, default=2)
options.add_argument("--seeds", type=int, default=1)
options.add_argument("--effort", default="full")
options.add_argument("--numbers")
o = options.parse_args()
folder = tempfile.mkdtemp()
cells = collections.defaultdict(list)
print("| graph | labels | draw | method | printed | found | difference | in standard errors | spread | seconds |")
print("|---|--:|--:|---|--:|--:|--:|--:|--:|--:|", flush=True)
for name in o.graphs.split(","):
    store, truth, lines = drawnlabels.ingest(o.heatwalk, o.data, name, folder, o.numbers)
    known = store + ".known.tsv"
    for amount in o.labels.split(","):
        number = len(lines) * int(amount[:-1]) // 100 if amount.endswith("%") else int(amount)
        for draw in range(o.draws if number < 0.95 * len(lines) else 0):
            drawnlabels.draw(known, lines, number, draw)
            for method in o.methods.split(","):
                printed, errors, found, seconds = [], [], [], 0
                for seed in range(1, o.seeds + 1):
                    flags = ["classify", store, "--labels", known, "--truth", truth, "--targets", store + ".ids", "--method", method, "--scores", "none",
                             *(["--effort", o.effort] if method == "auto" else [])]
                    if o.numbers:
                        flags = ["regress", store, "--values", known] + ([] if method == "default" else ["--method", method])
                    run = subprocess.run([o.heatwalk, *flags, "--threads", "1", "--json", "--quiet", "--unknown-ids", "skip", "--seed", str(seed),
                                          "-o", f"{folder}/out.tsv"], capture_output=True, text=True)
                    if run.returncode != 0:
                        print(f"{name} {amount} {method}: {run.stderr.splitlines()[-1]}", flush=True)
                        break
                    document = json.loads(run.stdout)
                    if o.numbers:
                        printed.append(100 * document["r2"])
                        errors.append(100 * document["r2_stderr"])
                        found.append(100 * drawnlabels.explained(f"{folder}/out.tsv", lines))
                        continue
                    if "accuracy_estimate" not in document or "accuracy_reached" not in document.get("truth", {}):
                        print(f"{name} {amount} {method}: no accuracy", flush=True)
                        break
                    printed.append(100 * document["accuracy_estimate"])
                    errors.append(100 * document["accuracy_stderr"])
                    found.append(100 * document["truth"]["accuracy_reached"])
                    nodes = document["truth"].get("nodes_reached", 0)
                    seconds += document.get("seconds", 0)
                if not found:
                    continue
                p, e, f = statistics.mean(printed), statistics.mean(errors), statistics.mean(found)
                z = (p - f) / math.sqrt(e * e + (0 if o.numbers else f * (100 - f) / max(1, nodes)))
                for key in (f"{method}, {amount}", method, name):
                    cells[key].append((p, f, z, max(found) - min(found)))
                print(f"| {name} | {number:,} | {draw + 1} | {method} | {p:.1f} ± {e:.1f} | {f:.1f} | {p - f:+.1f} | {z:+.1f} "
                      f"| {max(found) - min(found):.1f} | {seconds:.0f} |", flush=True)
print("\n| | draws | printed | found | within 2 standard errors | largest, in standard errors | least found | largest spread |")
print("|---|--:|--:|--:|--:|--:|--:|--:|")
for key, list in cells.items():
    printed, found, errors, spreads = zip(*list)
    within = statistics.mean(abs(z) <= 2 for z in errors)
    print(f"| {key} | {len(list)} | {statistics.mean(printed):.1f} | {statistics.mean(found):.1f} | {100 * within:.0f} % "
          f"| {max(errors, key=abs):+.1f} | {min(found):.1f} | {max(spreads):.1f} |")

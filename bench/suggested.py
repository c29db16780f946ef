#!/usr/bin/env python3
"""Compare labels of nodes that `heatwalk suggest` selects with as many labels of random nodes, on real graphs.

suggested.py HEATWALK DATA [--graphs a,b] [--methods auto,lp] [--labels 64] [--number 64] [--draws 20]

DATA has a folder for each graph with edges.tsv.gz and labels.tsv.gz. Every draw begins with random labels of two classes or more. A line has
the mean accuracy at nodes without a label after suggestions and after random nodes, and the difference with its standard error; then that at
all nodes, where given labels count as correct predictions, because on a small graph a set of labels decides which nodes are left; and
the number of draws in which the command draws at random, whose difference is 0."""
import argparse
import csv
import itertools
import math
import random
import statistics
import subprocess
import tempfile

import drawnlabels

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("heatwalk")
options.add_argument("data")
options.add_argument("--graphs", default="cora,lastfm-asia,chameleon-filtered,webkb-cornell,webkb-texas,blogcatalog-words")
options.add_argument("--methods", default="auto,lp")
for name, number in ("labels", 64), ("number", 64), ("draws", 20):
    options.add_argument(f"--{name}", type=int, default=number)
o = options.parse_args()
folder = tempfile.mkdtemp()


def rows(*arguments):
    """Run a command and read the table that it writes."""
    subprocess.run([o.heatwalk, *arguments, "-o", f"{folder}/out.tsv", "--quiet", "--threads", "1", "--unknown-ids", "skip"], check=True,
                   capture_output=True)
    with open(f"{folder}/out.tsv", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def difference(pairs):
    """Return the means of two columns and that of their difference with its standard error, as cells of a table."""
    error = statistics.stdev(a - b for a, b in pairs) / math.sqrt(len(pairs))
    a, b = (statistics.mean(column) for column in zip(*pairs))
    return f"{a:.1f} | {b:.1f} | {a - b:+.1f} ± {error:.1f}"


print("| graph | method | suggested | random | difference | all nodes, suggested | random | difference | at random |")
print("|---|---|--:|--:|--:|--:|--:|--:|--:|", flush=True)
for name, method in itertools.product(o.graphs.split(","), o.methods.split(",")):
    store, _, lines = drawnlabels.ingest(o.heatwalk, o.data, name, f"{tempfile.mkdtemp(dir=folder)}")
    known, classes = store + ".known.tsv", dict(lines)
    learn = [store, "--labels", known, "--targets", store + ".ids", "--method", method]
    orders = (random.Random(seed).sample(list(classes), len(classes)) for seed in itertools.count())
    orders = (order for order in orders if len({classes[node] for node in order[:o.labels]}) > 1)
    accuracies, random_draws = [], 0
    for draw, order in enumerate(itertools.islice(orders, o.draws)):
        drawnlabels.write(known, [(node, classes[node]) for node in order[:o.labels]])
        table = rows("suggest", *learn, "-n", str(o.number), "--seed", str(draw + 1))
        sets = [[row["node"] for row in table], order[o.labels:o.labels + len(table)]]
        if not any("undecided" in row["reason"] for row in table):
            sets[1] = sets[0]
            random_draws += 1
        pair = []
        for nodes in sets:
            given = set(order[:o.labels] + nodes)
            drawnlabels.write(known, [(node, classes[node]) for node in order[:o.labels] + nodes])
            right = {row["node"] for row in rows("classify", *learn, "--scores", "none") if row["label"] == classes.get(row["node"])}
            pair.append((100 * len(right - given) / (len(classes) - len(given)), 100 * len(right | given) / len(classes)))
        accuracies.append(list(zip(*pair)))
    print(f"| {name} | {method} | {' | '.join(difference(pairs) for pairs in zip(*accuracies))} | {random_draws} |", flush=True)

#!/usr/bin/env python3
"""Compare labels of nodes that `heatwalk suggest` selects with as many labels of random nodes, on real graphs.

suggested.py HEATWALK DATA [--graphs a,b] [--methods lp,auto] [--strategies cover,auto] [--labels 24] [--numbers 8,32] [--draws 10]

DATA has a folder for each graph with edges.tsv.gz and labels.tsv.gz. Every draw begins with random labels of two classes or more. A line has
the mean accuracy at nodes without a label after as many random nodes, and for each strategy the mean difference after suggestions with its
standard error, and the number of draws in which nodes were drawn at random, whose difference is 0."""
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
options.add_argument("--methods", default="lp,auto")
options.add_argument("--strategies", default="cover,auto")
options.add_argument("--numbers", default="8,32")
for name, number in ("labels", 24), ("draws", 10):
    options.add_argument(f"--{name}", type=int, default=number)
o = options.parse_args()
folder = tempfile.mkdtemp()
strategies = o.strategies.split(",")


def rows(*arguments):
    """Run a command and read the table that it writes."""
    subprocess.run([o.heatwalk, *arguments, "-o", f"{folder}/out.tsv", "--quiet", "--threads", "1", "--unknown-ids", "skip"], check=True,
                   capture_output=True)
    with open(f"{folder}/out.tsv", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


print("| graph | method | nodes | random |" + "".join(f" {s} | at random |" for s in strategies))
print("|---|---|--:|--:|" + "--:|--:|" * len(strategies), flush=True)
for name, method, number in itertools.product(o.graphs.split(","), o.methods.split(","), map(int, o.numbers.split(","))):
    store, _, lines = drawnlabels.ingest(o.heatwalk, o.data, name, f"{tempfile.mkdtemp(dir=folder)}")
    known, classes = store + ".known.tsv", dict(lines)
    learn = [store, "--labels", known, "--targets", store + ".ids", "--method", method]
    orders = (random.Random(seed).sample(list(classes), len(classes)) for seed in itertools.count())
    orders = (order for order in orders if len({classes[node] for node in order[:o.labels]}) > 1)
    base, differences, drawn = [], {s: [] for s in strategies}, dict.fromkeys(strategies, 0)

    def accuracy(nodes):
        """Return the accuracy at the nodes without a label, in percent."""
        drawnlabels.write(known, [(node, classes[node]) for node in nodes])
        right = {row["node"] for row in rows("classify", *learn, "--scores", "none") if row["label"] == classes.get(row["node"])}
        return 100 * len(right - set(nodes)) / (len(classes) - len(set(nodes)))

    for draw, order in enumerate(itertools.islice(orders, o.draws)):
        given = order[:o.labels]
        base.append(accuracy(order[:o.labels + number]))
        for strategy in strategies:
            drawnlabels.write(known, [(node, classes[node]) for node in given])
            table = rows("suggest", *learn, "-n", str(number), "--seed", str(draw + 1), "--strategy", strategy)
            is_random = all(row["reason"] == "drawn at random" for row in table)
            drawn[strategy] += is_random
            differences[strategy].append(0 if is_random else accuracy(given + [row["node"] for row in table]) - base[-1])
    cells = "".join(f" {statistics.mean(d):+.1f} ± {statistics.stdev(d) / math.sqrt(len(d)):.1f} | {drawn[s]} |" for s, d in differences.items())
    print(f"| {name} | {method} | {number} | {statistics.mean(base):.1f} |{cells}", flush=True)

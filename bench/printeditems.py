#!/usr/bin/env python3
"""Compare printed and found accuracy, or micro-F1, of items that are no nodes with a single class.

printeditems.py HEATWALK records TABLE TRUTH [--labels 30%,80%] [--learners svm,rls] [--draws 5]
printeditems.py HEATWALK gram K.npy TRUTH …
printeditems.py HEATWALK multi GRAPH TRUTH …

TRUTH has lines of an item and a class, several for an item with several labels. A line has the mean of printed less found in points, the number
of draws within two standard errors of printed and found together, the mean standard error, and seconds of a draw."""
import argparse
import collections
import csv
import gzip
import json
import math
import random
import statistics
import subprocess
import tempfile

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
for name in "heatwalk", "kind", "input", "truth":
    options.add_argument(name)
options.add_argument("--labels", default="30%,80%")
options.add_argument("--learners", default="svm,rls")
options.add_argument("--draws", type=int, default=5)
o = options.parse_args()
folder = tempfile.mkdtemp()
truth = collections.defaultdict(set)
with (gzip.open if o.truth.endswith(".gz") else open)(o.truth, "rt") as file:
    for line in file:
        item, label = line.rstrip("\n").split("\t")[:2]
        truth[item].add(label)
truth.pop("id", None)


def share(items):
    """Return the accuracy of predictions, or the micro-F1 of several labels, and its standard error for independent items, in points."""
    with open(f"{folder}/out.tsv", newline="") as file:
        rows = {row[0]: set(row[1].split("|")) - {""} for row in csv.reader(file, delimiter="\t")}
    right = sum(2 * len(truth[item] & rows[item]) for item in items)
    f1 = right / sum(len(truth[item]) + len(rows[item]) for item in items)
    return 100 * f1, 10000 * f1 * (1 - f1) / len(items)


print("| kind | learner | labels | printed | found | difference | within 2 standard errors | standard error | seconds |")
print("|---|---|--:|--:|--:|--:|--:|--:|--:|", flush=True)
for learner in o.learners.split(",") if o.kind != "multi" else ["several labels"]:
    for amount in o.labels.split(","):
        number = len(truth) * int(amount[:-1]) // 100 if amount.endswith("%") else int(amount)
        draws = []
        for draw in range(o.draws):
            known = random.Random(1000 * number + draw).sample(sorted(truth), number)
            with open(f"{folder}/known.tsv", "w") as file:
                file.writelines(f"{item}\t{label}\n" for item in known for label in sorted(truth[item]))
            flags = ["classify", o.input, "--multi-label"] if o.kind == "multi" else [o.kind, "classify", o.input, "--learner", learner]
            run = subprocess.run([o.heatwalk, *flags, "--labels", f"{folder}/known.tsv", "--threads", "1", "--json", "--quiet", "-o", f"{folder}/out.tsv"],
                                 capture_output=True, text=True, check=True)
            d = json.loads(run.stdout)
            several = d.get("multi_label", {})
            printed, error = (100 * several[k] for k in ("micro_f1", "micro_f1_stderr")) if several else (
                100 * d[k] for k in ("accuracy_estimate", "accuracy_stderr"))
            found, variance = share(truth.keys() - set(known))
            draws.append((printed, found, (printed - found) / math.hypot(error, math.sqrt(variance)), error, d.get("seconds", 0)))
        p, f, _, e, s = map(statistics.mean, zip(*draws))
        within = sum(abs(z) <= 2 for _, _, z, _, _ in draws)
        print(f"| {o.kind} | {learner} | {number:,} | {p:.1f} | {f:.1f} | {p - f:+.1f} | {within} of {len(draws)} | {e:.1f} | {s:.0f} |", flush=True)

#!/usr/bin/env python3
"""Compare predictions of new nodes with predictions of the whole graph, for docs/new.md.

newnodes.py HEATWALK DATA [--graphs a,b] [--shares 0.01,0.05,0.2] [--methods auto,lp] [--new 1000]

DATA has a folder for each graph with edges.tsv.gz and labels.tsv.gz, and perhaps features.svm.gz with a line for each line of
labels, which auto learns from. New nodes, at most a quarter, are taken out with all their edges. Prints for each graph, share of
labelled nodes and method: new nodes with a link, share with the label of the whole run, and of both predictions the accuracy, the
coverage of sets of 90 %, the Brier score, and with two classes the area under the ROC curve of the rarer class."""
import argparse
import csv
import gzip
import os
import random
import subprocess
import tempfile

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("heatwalk")
options.add_argument("data")
options.add_argument("--graphs", default="cora,lastfm-asia,pubmed,github-social,tolokers,yelpchi")
options.add_argument("--shares", default="0.01,0.05,0.2")
options.add_argument("--methods", default="auto,cwk+svm,lp,lgc,beliefs")
options.add_argument("--new", type=int, default=1000)
o = options.parse_args()
folder = tempfile.mkdtemp()


def lines(name):
    with gzip.open(f"{o.data}/{name}.gz", "rt") as file:
        return [line.split() for line in file if line.strip()]


def write(name, title, rows):
    with open(f"{folder}/{name}", "w") as file:
        file.write(title + "\n")
        file.writelines(",".join(row) + "\n" for row in rows)
    return f"{folder}/{name}"


def run(out, *args):
    subprocess.run([o.heatwalk, *args, "--sets", "0.9", "--threads", "1", "--seed", "1", "--quiet", "-o", f"{folder}/{out}"], check=True)
    with open(f"{folder}/{out}", newline="") as file:
        return {row["node"]: row for row in csv.DictReader(file)}


def area(rows, nodes, label, rare):
    """Return the area under the ROC curve of the class rare."""
    order = sorted((float(rows[v][rare]), label[v] == rare) for v in nodes)
    positive, first, ranks = sum(is_rare for _, is_rare in order), 0, 0.0
    while first < len(order):
        last = first
        while last < len(order) and order[last][0] == order[first][0]:
            last += 1
        ranks += sum(is_rare for _, is_rare in order[first:last]) * (first + last + 1) / 2
        first = last
    return (ranks - positive * (positive + 1) / 2) / (positive * (len(order) - positive))


def judge(rows, nodes, label, classes, rare):
    right = covered = brier = 0.0
    for v in nodes:
        right += rows[v]["label"] == label[v]
        covered += label[v] in rows[v]["set"].split("|")
        brier += sum((float(rows[v][c] or 0) - (c == label[v])) ** 2 for c in classes)
    cells = [f"{100 * right / len(nodes):.1f}", f"{100 * covered / len(nodes):.1f}", f"{brier / len(nodes):.3f}"]
    return cells + ([f"{area(rows, nodes, label, rare):.3f}"] if len(classes) == 2 else [""])


print("| graph | labels | method | nodes | same label | accuracy | coverage | Brier score | area |\n|---|--:|---|--:|--:|--:|--:|--:|--:|", flush=True)
for graph in o.graphs.split(","):
    edges, known = [tuple(e[:2]) for e in lines(f"{graph}/edges.tsv")], lines(f"{graph}/labels.tsv")
    label = {v: "c" + c for v, c, *_ in known}
    nodes = sorted(label)
    new = set(random.Random(1).sample(nodes, min(o.new, len(nodes) // 4)))
    rest = [e for e in edges if new.isdisjoint(e)]
    inside = {v for e in rest for v in e}
    added = [e for e in edges if not new.isdisjoint(e) and all(v in new or v in inside for v in e)]
    linked = sorted({v for e in added for v, u in (e, e[::-1]) if v in new and u in inside})
    graphs = [write(name, "source,target", part) for name, part in (("whole.csv", rest + added), ("rest.csv", rest), ("new.csv", added))]
    tables = []
    if os.path.exists(f"{o.data}/{graph}/features.svm.gz"):
        cells = {v: dict(cell.split(":") for cell in row[1:]) for (v, *_), row in zip(known, lines(f"{graph}/features.svm"))}
        columns = [str(j + 1) for j in range(max(int(j) for row in cells.values() for j in row))]
        mine = new & {v for e in added for v in e}
        for name, ids in ("whole.x.csv", inside | mine), ("rest.x.csv", inside), ("new.x.csv", mine):
            rows = ([v, *(cells[v].get(j, "0") for j in columns)] for v in sorted(ids))
            tables.append(["--node-features", write(name, "node," + ",".join("x" + j for j in columns), rows)])
    for share in map(float, o.shares.split(",")):
        drawn = random.Random(2).sample(sorted(inside & label.keys()), int(share * len(nodes)))
        labels = write("labels.csv", "node,label", [(v, label[v]) for v in drawn])
        classes = sorted({label[v] for v in drawn})
        rare = min(classes, key=[label[v] for v in drawn].count)
        for method in o.methods.split(","):
            x = tables if tables and method == "auto" else [[]] * 3
            learn = ["--labels", labels, "--method", method]
            model, kept = f"{folder}/model", f"{folder}/columns"
            whole = run("whole-out.csv", "classify", graphs[0], *learn, *x[0])
            run("rest-out.csv", "classify", graphs[1], *learn, *x[1], "--save-model", model, "--save-columns", kept)
            step = run("new-out.csv", "predict", "--model", model, "--columns", kept, "--new", graphs[2], *x[2])
            same = sum(whole[v]["label"] == step[v]["label"] for v in linked) / len(linked)
            both = zip(*(judge(rows, linked, label, classes, rare) for rows in (whole, step)))
            cells = [graph, f"{100 * share:g} %", method, str(len(linked)), f"{100 * same:.1f} %", *(" → ".join(pair).strip(" →") for pair in both)]
            print("| " + " | ".join(cells) + " |", flush=True)

#!/usr/bin/env python3
"""Measure the coverage of the sets of classes of `heatwalk classify --sets` on real graphs.

coverage.py HEATWALK DATA [--graphs a,b] [--labels 100,300,1000] [--draws 5] [--coverage 0.9] [--method auto]

DATA has a folder for each graph with edges.tsv.gz and labels.tsv.gz. Labels are drawn at random from the nodes that have a
class. The coverage is that of the other nodes with a class that a label reaches. Prints a table for bench/results/promises.md."""
import argparse
import json
import statistics
import subprocess
import tempfile

import drawnlabels

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("heatwalk")
options.add_argument("data")
options.add_argument("--graphs", default="chameleon-filtered,cora,lastfm-asia,twitch-engb,flickr-words")
options.add_argument("--labels", default="100,300,1000")
options.add_argument("--draws", type=int, default=5)
options.add_argument("--coverage", default="0.9")
options.add_argument("--method", default="auto")
o = options.parse_args()
folder = tempfile.mkdtemp()

print("| graph | classes | labels | accuracy | coverage, mean | least, most of draws | mean size | sets of one class |")
print("|---|--:|--:|--:|--:|--:|--:|--:|", flush=True)
for name in o.graphs.split(","):
    store, truth, lines = drawnlabels.ingest(o.heatwalk, o.data, name, folder)
    known = store + ".known.tsv"
    for number in map(int, o.labels.split(",")):
        found, accuracy, size, single = [], [], [], []
        for draw in range(o.draws if 2 * number <= len(lines) else 0):
            drawnlabels.draw(known, lines, number, draw)
            text = subprocess.run(
                [o.heatwalk, "classify", store, "--labels", known, "--truth", truth, "--sets", o.coverage, "--method", o.method,
                 "--threads", "1", "--json", "--quiet", "--unknown-ids", "skip", "-o", f"{folder}/out.tsv"],
                check=True, capture_output=True, text=True).stdout
            document = json.loads(text)
            with open(f"{folder}/out.tsv") as file:
                rows = [line.rstrip("\n").split("\t")[:7] for line in file][1:]
            classes = set(document["classes"])
            sets = {row[0]: row[5].split("|") for row in rows if row[3] == "false" and row[5]}
            found.append(100 * statistics.mean(
                (label if label in classes else "other") in sets[node] for node, label in lines if node in sets))
            accuracy.append(100 * document["truth"]["accuracy_reached"])
            size.append(document["sets"]["mean_size"])
            single.append(100 * document["sets"]["single_share"])
        if found:
            mean = statistics.mean
            print(f"| {name} | {len({label for _, label in lines})} | {number:,} | {mean(accuracy):.1f} % | {mean(found):.1f} % "
                  f"| {min(found):.1f}, {max(found):.1f} | {mean(size):.1f} | {mean(single):.0f} % |", flush=True)

"""Graphs whose known labels are drawn at random, for coverage.py and printed.py."""
import gzip
import random
import subprocess


def ingest(program, data, name, folder):
    """Make a store of the graph DATA/NAME, a table of all its labels, and a list of their nodes in store.ids. Return the paths of
    the store and the table, and the labels as (node, label)."""
    store, truth = f"{folder}/{name}", f"{folder}/{name}.truth.tsv"
    subprocess.run([program, "ingest", f"{data}/{name}/edges.tsv.gz", "-o", store, "--quiet"], check=True,
                   stdout=subprocess.DEVNULL)
    with gzip.open(f"{data}/{name}/labels.tsv.gz", "rt") as file:
        lines = [line.rstrip("\n").split("\t")[:2] for line in file]
    write(truth, lines)
    with open(store + ".ids", "w") as file:
        file.writelines(f"{node}\n" for node, _ in lines)
    return store, truth, lines


def draw(path, lines, number, seed):
    """Write a random sample of the labels, the same for equal number and seed."""
    write(path, random.Random(1000 * number + seed).sample(lines, number))


def write(path, lines):
    """Write a table of labels."""
    with open(path, "w") as file:
        file.writelines(f"{node}\t{label}\n" for node, label in lines)

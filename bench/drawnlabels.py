"""Graphs whose known labels are drawn at random, for coverage.py, printed.py and suggested.py."""
import collections
import gzip
import random
import statistics
import subprocess


def ingest(program, data, name, folder, labels=None):
    """Make a store of the graph DATA/NAME, a table of all its labels, and a list of their nodes in store.ids. Return the paths of
    the store and the table, and the labels as (node, label). They are those of a file in DATA/NAME, or numbers that are made: noise,
    noise with outliers, or hops from a node."""
    store, truth = f"{folder}/{name}", f"{folder}/{name}.truth.tsv"
    edges = f"{data}/{name}/edges.tsv.gz"
    subprocess.run([program, "ingest", edges, "-o", store, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    if labels == "hops":
        lines = hops_of(read(edges))
    elif labels in ("noise", "outliers"):
        rng = random.Random(1)
        lines = [(node, rng.gauss(0, 1) + 100 * (labels == "outliers" and rng.random() < 0.02)) for node, _ in hops_of(read(edges))]
    else:
        lines = read(f"{data}/{name}/{labels or 'labels.tsv.gz'}")
    write(truth, lines)
    with open(store + ".ids", "w") as file:
        file.writelines(f"{node}\n" for node, _ in lines)
    return store, truth, lines


def read(path):
    """Return the first two columns of a table."""
    with gzip.open(path, "rt") as file:
        return [line.rstrip("\n").split("\t")[:2] for line in file]


def hops_of(edges):
    """Return the nodes that the first one reaches, with the number of hops."""
    near = collections.defaultdict(list)
    for u, v in edges:
        near[u].append(v)
        near[v].append(u)
    hops = {edges[0][0]: 0}
    queue = list(hops)
    for u in queue:
        for v in near[u]:
            if v not in hops:
                hops[v] = hops[u] + 1
                queue.append(v)
    return list(hops.items())


def draw(path, lines, number, seed):
    """Write a random sample of the labels, the same for equal number and seed."""
    write(path, random.Random(1000 * number + seed).sample(lines, number))


def write(path, lines):
    """Write a table of labels."""
    with open(path, "w") as file:
        file.writelines(f"{node}\t{label}\n" for node, label in lines)


def explained(path, lines):
    """Return R² of predicted numbers at the nodes whose number is not known and reached from a known one."""
    with open(path) as file:
        predicted = {fields[0]: float(fields[1]) for fields in (line.split() for line in file) if fields[2:] == ["true", "false"]}
    pairs = [(float(y), predicted[node]) for node, y in lines if node in predicted]
    return 1 - statistics.mean((y - x) ** 2 for y, x in pairs) / statistics.pvariance([y for y, _ in pairs])

"""A model that is saved and loaded predicts with the edges that it was learned from, whatever made them."""

import os
import re
import subprocess
import tempfile
import unittest
import warnings

import numpy as np

try:
    import pandas
except ImportError:
    pandas = None

import heatwalk as hw

from .graphs import half

# Flags of files with values that change the graph of the edges below, and arguments of as_graph and NodeClassifier for a frame that mean
# the same. A flag of edges that is in neither list fails the test.
SETTINGS = {
    "directed": (["--directed"], {"directed": True}, {}),
    "undirected": (["--undirected"], {}, {}),
    "self-loops": (["--self-loops=keep"], None, {}),  # of a frame they are always kept
    "duplicates": (["--duplicates=max"], {"flags": ["--duplicates=max"]}, {}),
    "fields": (["--fields=source,target"], {"source": "source", "target": "target", "weight": None}, {}),
    "weight": (["--weight=size"], {"weight": "size"}, {}),
    "weights": (["--weights=signed", "--weight=debt"], {"weight": "debt"}, {}),
    "kind": (["--kind=kind"], {"kind": "kind"}, {}),
    "time": (["--time=day"], {"time": "day"}, {}),
    "time-format": (["--time-format=day:ymd"], {"time": "day:ymd"}, {}),
    "header": (["--header=yes"], None, {}),
    "cocitation": (["--cocitation"], {"flags": ["--directed", "--cocitation"]}, {}),
    "coupling": (["--coupling"], {"flags": ["--directed", "--coupling"]}, {}),
    "kind-weights": (["--kind=kind"], {"kind": "kind"}, {"kind_weights": {"pays": 0.1}}),
    "since": (["--time=day"], {"time": "day"}, {"since": "2024-01-05"}),
    "until": (["--time=day"], {"time": "day"}, {"until": "2024-01-05"}),
    "half-life": (["--time=day"], {"time": "day"}, {"half_life": "2d"}),
    "edge-weights": ([], {}, {"edge_weights": "none"}),
    "bipartite": (None, None, {}),  # other ids
    "hyperedges": (None, None, {}),  # other files
}

READING_ALONE = {"nodes", "order", "skip-bad-lines", "max-window", "delimiter", "decimal", "thousands", "encoding", "temp-dir",
                 "unknown-ids", "missing"}


@unittest.skipIf(pandas is None, "pandas is not installed")
class Origins(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(3)
        rows = []
        for _ in range(160):
            u, v = rng.integers(0, 40, 2)
            if rng.integers(4) > 0:
                v = (u + 20 * rng.integers(2) + 1 + rng.integers(9)) % 40
            u, v = min(u, v), max(u, v)
            rows.append((f"n{u}", f"n{v}", ["pays", "calls"][rng.integers(2)], f"2024-01-{1 + rng.integers(9):02}",
                         1 + rng.integers(50), (1 + rng.integers(4)) * rng.choice([1, 1, 1, -1]), 1 + rng.integers(5)))
        self.frame = pandas.DataFrame(rows, columns=["source", "target", "kind", "day", "size", "debt", "weight"])
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file, self.model = os.path.join(folder.name, "edges.csv"), os.path.join(folder.name, "model")
        self.frame.to_csv(self.file, index=False)
        self.labels = {f"n{v}": "ab"[v // 20] for v in range(0, 40, 2)}
        quiet = warnings.catch_warnings()
        quiet.__enter__()
        self.addCleanup(quiet.__exit__, None, None, None)
        warnings.simplefilter("ignore", hw.HeatwalkWarning)

    def check(self, name, graph, arguments, further, same=True):
        """A model of a graph is loaded, and predicts the same for each of further objects, or refuses it with both settings."""
        fitted = hw.NodeClassifier("lp:alpha=1", **arguments).fit(graph, self.labels)
        fitted.save(self.model)
        loaded = hw.load(self.model)
        for other in further:
            try:
                scores = loaded.predict_proba(other)
            except ValueError as error:
                self.assertFalse(same, f"{name}: {error}")
                self.assertRegex(str(error), "(?s)of the model|in model")
                continue
            nodes = list(hw.as_graph(other).nodes) if not isinstance(other, hw.Graph) else list(other.nodes)
            order = [nodes.index(v) for v in fitted.nodes_]
            np.testing.assert_array_equal(scores[order], fitted.predict_proba(), err_msg=name)

    def test_flags(self):
        text = subprocess.run([os.environ.get("HEATWALK", "heatwalk"), "help", "input"], capture_output=True, text=True, check=True).stdout
        flags = set(re.findall("(?m)^ +--([a-z-]+)", text))
        self.assertGreater(len(flags), 20)
        self.assertEqual(flags - SETTINGS.keys() - READING_ALONE, set(), "are these part of the origin of a model?")
        for name, (of_file, of_frame, learning) in half(SETTINGS.items()):
            if of_file is not None:
                with self.subTest(name, way="file"):
                    self.check(name, hw.as_graph(self.file, flags=of_file), learning, [self.file, hw.as_graph(self.file, flags=of_file)])
            if of_frame is not None:
                with self.subTest(name, way="frame"):
                    graph = hw.as_graph(self.frame, **of_frame)
                    self.check(name, graph, learning, [self.frame, graph, hw.as_graph(self.frame, ids=graph.nodes, **of_frame)])
                    if of_frame:
                        self.check(name, graph, learning, [hw.as_graph(self.frame, ids=graph.nodes)], same=False)
                        self.check(name, hw.as_graph(self.frame), {}, [graph], same=False)


if __name__ == "__main__":
    unittest.main()

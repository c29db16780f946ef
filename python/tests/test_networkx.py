"""The backend of NetworkX agrees with NetworkX and passes its tests of the functions that it has."""

import decimal
import fractions
import itertools
import os
import subprocess
import sys
import tempfile
import unittest
import warnings

import numpy as np
import wheelbuild

try:
    import networkx
except ImportError:
    networkx = None
try:
    import pytest  # noqa: F401
    from networkx.utils import backends  # noqa: F401  of 3.2 and later

    have = hasattr(networkx, "config")
except ImportError:
    have = False

TESTS = ("algorithms.tests.test_node_classification", "algorithms.tests.test_communicability",
         "algorithms.link_analysis.tests.test_pagerank", "algorithms.centrality.tests.test_eigenvector_centrality",
         "algorithms.centrality.tests.test_katz_centrality", "linalg.tests.test_algebraic_connectivity")


@unittest.skipUnless(have, "NetworkX 3.3 or pytest is not installed")
class Backend(unittest.TestCase):
    def test_of_networkx(self):
        with tempfile.TemporaryDirectory() as folder:
            info = os.path.join(folder, "heatwalk-0.dist-info")
            os.mkdir(info)
            for name, text in (("METADATA", "Name: heatwalk\nVersion: 0\n"), ("entry_points.txt", wheelbuild.ENTRY_POINTS)):
                with open(os.path.join(info, name), "w") as file:
                    file.write(text)
            env = dict(os.environ, NETWORKX_TEST_BACKEND="heatwalk", NETWORKX_FALLBACK_TO_NX="True",
                       PYTHONPATH=os.pathsep.join([os.environ.get("PYTHONPATH", ""), folder]))
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs"]
            done = subprocess.run([*command, *("networkx." + t for t in TESTS), "networkx.algorithms.tests.test_distance_measures", "-k",
                                   "not (Eccentricity or Distance) or Resistance"], env=env, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout[-3000:])
            code = ("import copy, pickle, heatwalk, networkx as nx; G = nx.karate_club_graph(); a = nx.pagerank(G, backend='heatwalk')\n"
                    "m = heatwalk.NodeClassifier('lp', graph=G, progress=False)\n"
                    "for g in (G, copy.copy(G), copy.deepcopy(G), pickle.loads(pickle.dumps(G)), copy.deepcopy(m).graph, pickle.loads(pickle.dumps(m)).graph):\n"
                    "    for b in (nx.pagerank(g), nx.pagerank(g, backend='heatwalk')): assert max(abs(a[v] - b[v]) for v in G) < 1e-12")
            subprocess.run([sys.executable, "-c", code], env=env, check=True)


def random_graph(kind, weights, shape, seed):
    """Return a connected graph of a class with a kind of weights, perhaps with loops, isolated nodes, or as a view."""
    rng = np.random.default_rng(seed)
    n, G = 7, kind()
    ends = [*((i, i + 1) for i in range(n - 1)), *(rng.choice(n, 2, replace=False) for _ in range(8))]
    ends += [(0, 0), (3, 3), (0, 0)] if shape == "loops" else []
    for i, j in ends:
        w = {"none": None, "positive": rng.random() + 0.5, "whole": int(rng.integers(1, 6)), "zero": float(rng.integers(0, 3)),
             "missing": 2.0 if rng.random() < 0.6 else None, "negative": rng.normal(), "opposite": float(rng.choice([1, -1])),
             "wide": 10.0 ** rng.uniform(-3, 3)}[weights]
        G.add_edge(f"n{i}", f"n{j}", **({} if w is None else {"weight": w}))
    if shape == "isolated":
        G.add_nodes_from("xy")
    for v in list(G)[::2]:
        G.nodes[v]["label"] = str(rng.choice(["a", "b", "c"]))
    return G.subgraph(list(G)[:-1]) if shape == "view" else kind() if shape == "empty" else G


def calls(G):
    """Return (function, arguments) for the functions of the backend."""
    first, last = (list(G)[i] if len(G) else 0 for i in (0, -1))
    rising = {v: i + 1 for i, v in enumerate(G)}
    for weight in (None, "weight"):
        w = {"weight": weight}
        yield from (("pagerank", w), ("pagerank", {"personalization": rising, "dangling": {first: 1}, **w}), ("pagerank", {"personalization": {}}))
        yield from (("eigenvector_centrality", {"max_iter": 500, **w}), ("katz_centrality", {"beta": rising, "alpha": 0.05, **w}))
        for inverts in (True, False):
            yield "resistance_distance", {"nodeA": first, "nodeB": last, "invert_weight": inverts, **w}
        for normalized in (False, True):
            yield "algebraic_connectivity", {"method": "lanczos", "normalized": normalized, **w}
        yield "fiedler_vector", {"method": "lanczos", **w}
    for steps in (0, 3):
        yield from (("harmonic_function", {"max_iter": steps}), ("local_and_global_consistency", {"max_iter": steps}))
    yield from (("resistance_distance", {"nodeA": first, "nodeB": "absent"}), ("communicability_exp", {}), ("fiedler_vector", {"method": "no"}))


@unittest.skipIf(networkx is None, "NetworkX is not installed")
class Agreement(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")
        self.addCleanup(warnings.resetwarnings)

    def assert_close(self, got, want, text):
        self.assertIsInstance(got, float if isinstance(want, (float, np.floating)) else type(want), text)
        if isinstance(want, dict):
            self.assertEqual(list(got), list(want), text)
            for node in want:
                self.assert_close(got[node], want[node], text)
        elif isinstance(want, (float, np.floating, np.ndarray)):
            sign = np.sign(np.vdot(got, want)) if isinstance(want, np.ndarray) else 1
            np.testing.assert_allclose(got * sign, want, rtol=1e-5, atol=1e-6, err_msg=text)
        elif not isinstance(want, Exception):
            self.assertEqual(got, want, text)

    def test_calls(self):
        """Calls with graphs of each class, kind of weights and shape have the result or the error of NetworkX."""
        from heatwalk._networkx import backend

        def run(function, *args, **options):
            try:
                return function(*args, **options)
            except Exception as error:
                return error

        kinds = (networkx.Graph, networkx.DiGraph, networkx.MultiGraph, networkx.MultiDiGraph)
        weights = ("none", "positive", "whole", "zero", "missing", "negative", "opposite", "wide")
        cases = list(itertools.product(kinds, weights, ("plain", "loops", "isolated", "view", "empty")))
        hunt = os.environ.get("HEATWALK_HUNT") == "1"
        slow = 0
        for seed, case in enumerate(cases):
            G = random_graph(*case, seed)
            for name, arguments in calls(G):
                if name.startswith(("resist", "algebraic", "fiedler", "communic")):  # a process each
                    slow += 1
                    if slow % 16 and not hunt:
                        continue
                want = run(getattr(networkx, name, None) or getattr(networkx.node_classification, name), G, **arguments)
                if not isinstance(want, networkx.NetworkXNotImplemented):
                    got = run(getattr(backend, name), backend.convert_from_nx(G), **arguments)
                    self.assert_close(got, want, f"{case[0].__name__} {case[1:]} {seed}: {name} {arguments}")

    def test_weights_of_other_types(self):
        """Weights that are no real finite numbers, and edges without a weight, have the result or the error of NetworkX."""
        from heatwalk._networkx import backend

        odd = ("2", "x", decimal.Decimal(2), fractions.Fraction(1, 2), True, None, np.float32(2), np.int64(3), 2 + 0j, [1], float("nan"), float("inf"), 10**400)
        functions = [(name, {}) for name in ("pagerank", "harmonic_function", "local_and_global_consistency", "fiedler_vector", "algebraic_connectivity")]
        functions += [("eigenvector_centrality", {"weight": "weight", "max_iter": 1000}), ("katz_centrality", {"weight": "weight", "alpha": 0.05})]
        functions += [("resistance_distance", {"nodeA": 0, "nodeB": 2, "weight": "weight", "invert_weight": inverts}) for inverts in (True, False)]

        def run(function, *args, **options):
            try:
                return function(*args, **options)
            except Exception as error:
                return error

        for kind, weight in itertools.product((networkx.Graph, networkx.DiGraph, networkx.MultiGraph), odd):
            G = kind([(0, 1, {"weight": 1}), (1, 2, {"weight": weight}), (2, 0, {"weight": 3}), (2, 3, {})])
            G.nodes[0]["label"], G.nodes[2]["label"] = "a", "b"
            for name, options in functions:
                want = run(getattr(networkx, name, None) or getattr(networkx.node_classification, name), G, **options)
                if not isinstance(want, networkx.NetworkXNotImplemented):
                    self.assert_close(run(getattr(backend, name), backend.convert_from_nx(G), **options), want, f"{kind.__name__} {weight!r} {name} {options}")

    def test_weak_edges(self):
        """Fiedler vectors and resistances of a path are those of its formulas, however weak edges are."""
        from heatwalk._networkx import backend

        for weak in (1e-15, 1e-9, 1e-3):
            G = networkx.path_graph(5)
            for i, w in enumerate((1, weak, 1, 1)):
                G[i][i + 1]["weight"] = w
            H = backend.convert_from_nx(G)
            vector = backend.fiedler_vector(H)
            self.assertLess(abs(abs(vector @ (3, 3, -2, -2, -2)) / 30**0.5 - 1), 1e-5)
            self.assertLess(abs(backend.algebraic_connectivity(H) / weak - 5 / 6), 2e-3)
            self.assertLess(abs(backend.resistance_distance(H, 0, 4, weight="weight") / (3 + weak) - 1), 1e-9)
            self.assertLess(abs(backend.resistance_distance(H, 0, 4, weight="weight", invert_weight=False) / (3 + 1 / weak) - 1), 1e-9)

    def test_copies(self):
        """A graph that the backend keeps a conversion of can be copied and pickled."""
        import copy
        import pickle

        from heatwalk._networkx import backend

        H = backend.convert_from_nx(networkx.karate_club_graph())
        ranks = backend.pagerank(H)
        for other in (copy.deepcopy(H), pickle.loads(pickle.dumps(H))):
            self.assertEqual(backend.pagerank(other), ranks)


if __name__ == "__main__":
    unittest.main()

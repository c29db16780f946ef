"""What has an index is found by it or refused, in every argument; what is handed out can be copied and pickled."""

import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
import tempfile
import unittest
import warnings

import numpy as np
import scipy.sparse as sp

import heatwalk as hw

try:
    import networkx
    import pandas
except ImportError:
    pandas = networkx = None

N = 6
PATH = sp.diags([np.ones(N - 1)] * 2, [1, -1]).tocsr()
ORDER = [5, 3, 0, 1, 4, 2]
WEIGHTS = np.random.default_rng(1).random(N)


def same(a, b):
    """Report whether two results have the same values."""
    return type(a) is type(b) and (a.equals(b) if hasattr(a, "equals") else np.array_equal(np.asarray(a), np.asarray(b)))


@unittest.skipIf(pandas is None, "pandas or NetworkX is not installed")
class Index(unittest.TestCase):
    def graphs(self):
        """Yield graphs of a path whose nodes are numbers or text, with their nodes."""
        yield PATH, range(N)
        yield networkx.path_graph(N), range(N)
        yield pandas.DataFrame(PATH.toarray()), range(N)
        yield hw.as_graph(PATH, ids=list("abcdef")), list("abcdef")
        yield networkx.path_graph(list("abcdef")), list("abcdef")

    def test_all_arguments_follow_the_index(self):
        labels, numbers = [0, -1, -1, -1, -1, 1], [10.0, np.nan, np.nan, np.nan, np.nan, 60]
        mask = np.array([True, False, False, True, True, False])
        multi = [[1, 0], [0, 0], [0, 0], [0, 0], [0, 0], [1, 1]]
        X = np.arange(2.0 * N).reshape(N, 2) ** 2
        calls = {
            "fit": (labels, lambda g, y: hw.NodeClassifier("lp").fit(g, y).scores_),
            "multi_label": (multi, lambda g, y: hw.NodeClassifier(multi_label=True, random_state=1).fit(g, y).scores_),
            "regress": (numbers, lambda g, y: hw.regress(g, y, "harmonic").value.to_numpy()),
            "regressor": (numbers, lambda g, y: hw.NodeRegressor("harmonic").fit(g, y).predict()),
            "apply": (WEIGHTS, lambda g, y: hw.apply(g, "laplacian", y).array),
            "solve": (X, lambda g, y: hw.solve(g, y, shift=1)[0]),
            "rows": (mask, lambda g, y: hw.kernel(g, rows=y).array),
            "seeds": (mask, lambda g, y: hw.rank(g, y).sort_index().score.to_numpy()),
            "targets": (mask, lambda g, y: hw.NodeClassifier("lp", targets=y).fit(g, labels).scores_),
            "features": (labels, lambda g, y: hw.features(g, y, "cwk:steps=2").array),
            "attributes": (X, lambda g, y: hw.NodeClassifier(node_features=y, random_state=1).fit(g, labels).scores_),
            "score": (labels, lambda g, y: hw.NodeClassifier("lp").fit(g, [0, -1, -1, -1, -1, 1]).score(g, y)),
            "predict": (mask, lambda g, y: hw.NodeClassifier("lp", graph=g).fit(list(hw.as_graph(g).nodes)[::5], [0, 1]).predict_proba(y)),
        }
        for name, (values, call) in calls.items():
            for graph, nodes in self.graphs():
                with self.subTest(name, graph=type(graph).__name__), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    want = call(graph, np.array(values))
                    made = pandas.Series(list(values), index=nodes) if np.ndim(values) == 1 else pandas.DataFrame(values, index=nodes)
                    for other in (made, made.iloc[ORDER]):
                        np.testing.assert_allclose(call(graph, other), want, rtol=1e-12)
                    for wrong in (made.set_axis([f"x{v}" for v in nodes]), made.set_axis(range(1, N + 1))):
                        with self.assertRaises(ValueError):
                            call(graph, wrong)
                    if list(nodes) != list(range(N)):
                        with self.assertRaisesRegex(ValueError, r"0 is not a node of the graph; give it nodes as index, .*to_numpy\(\)"):
                            call(graph, made.reset_index(drop=True))

    def test_samples_with_an_index(self):
        y = pandas.Series(["r", "l"], index=[5, 0])
        m = hw.NodeClassifier("lp", graph=PATH)
        self.assertEqual(m.fit(y.index, y).predict([0, 5]).tolist(), ["l", "r"])
        self.assertEqual(m.fit([0, 5], pandas.Series(["l", "r"], index=[7, 8])).predict([5]).tolist(), ["r"])  # as scikit-learn cuts samples
        X = pandas.DataFrame({"node": [5, 0]}, index=["s", "t"])
        self.assertEqual(m.fit(X, pandas.Series(["r", "l"], index=["s", "t"])).predict([0, 5]).tolist(), ["l", "r"])
        for X, wrong in (([0, 5], y), (X, pandas.Series(["l", "r"], index=["t", "s"])), (X, y)):
            for call in (m.fit, m.score, hw.NodeRegressor("harmonic", graph=PATH).fit):
                with self.assertRaisesRegex(ValueError, "y has another index than X"):
                    call(X, wrong)
        nodes = pandas.Series(list("abcdef"))
        self.assertEqual(list(hw.as_graph(PATH, ids=nodes.iloc[ORDER]).nodes), list("abcdef"))

    def test_truth_values_are_masks(self):
        m = hw.NodeClassifier("lp", graph=PATH).fit([0, 5], ["l", "r"])
        mask = [False, False, False, False, True, True]
        for form in (mask, np.array(mask), np.array(mask, dtype=object), pandas.array(mask, dtype="boolean"), pandas.Series(mask)):
            self.assertEqual(m.predict(form).tolist(), ["r", "r"])
        for wrong in ([True, False], [True, 3], [np.True_]):
            with self.assertRaises(ValueError):
                m.predict(wrong)
        G = networkx.path_graph([True, False])
        self.assertEqual([type(v) for v in hw.as_graph(G).nodes], [bool, bool])
        self.assertEqual(hw.NodeClassifier("lp").fit(G, {True: "t", False: "f"}).to_dict(), {True: "t", False: "f"})
        with self.assertRaises(ValueError):
            hw.NodeClassifier("lp").fit(networkx.path_graph([1, 0, 2]), {True: "t", 2: "f"})

    def test_numbers_of_nodes(self):
        G = networkx.path_graph([0.0, 1.0, 2.0])
        m = hw.NodeClassifier("lp").fit(G, {0.0: "a", 2.0: "b"})
        self.assertEqual([type(v) for v in m.to_dict()], [float] * 3)
        self.assertEqual(hw.NodeClassifier("lp").fit(networkx.path_graph(3), {0.0: "a", np.int64(2): "b"}).predict()[[0, 2]].tolist(), ["a", "b"])
        with self.assertRaises(ValueError):
            hw.NodeClassifier("lp").fit(networkx.path_graph(3), {0.5: "a", 2: "b"})

    def test_whole_numbers_keep_their_digits(self):
        big = [2**60 + 1, 2**60 + 2]

        class Arrow(list):  # as an array of Arrow or polars
            null_count = 4
            to_pylist = to_list = lambda self: list(self)
            to_numpy = lambda self: np.array(self, dtype=float)  # noqa: E731

        forms = [Arrow([big[0], *[None] * 4, big[1]]), pandas.array([big[0], *[None] * 4, big[1]], dtype="UInt64")]
        forms += [pandas.Series([big[0], *[None] * 4, big[1]], dtype=t) for t in ("Int64", "UInt64")]
        for y in forms:
            m = hw.NodeClassifier("lp").fit(PATH, y)
            self.assertEqual((m.classes_.tolist(), m.predict()[[0, 5]].tolist()), (big, big))
            self.assertTrue(all(isinstance(v, (int, np.integer)) for v in m.predict()))
        m = hw.NodeClassifier("lp").fit(sp.block_diag([PATH, np.zeros((1, 1))]), np.ma.masked_array(np.array([2**63 + 1] * 6 + [0], dtype=np.uint64), [0, 1, 1, 1, 1, 0, 1])
                                        - np.array([0, 0, 0, 0, 0, 1, 0], dtype=np.uint64))
        self.assertEqual(m.predict()[[0, 5, 6]].tolist(), [2**63 + 1, 2**63, -1])

    def test_groups_are_a_frame_of_edges(self):
        calls = pandas.DataFrame({"a": ["x", "x", "y"], "b": ["y", "y", "z"]}).groupby(["a", "b"]).size()
        with self.assertRaisesRegex(ValueError, r"reset_index\(name=\"weight\"\)"):
            hw.as_graph(calls)
        self.assertEqual(hw.as_graph(calls.reset_index(name="weight"), source="a", target="b").matrix.toarray().tolist(), [[0, 2, 0], [2, 0, 1], [0, 1, 0]])


@unittest.skipIf(pandas is None, "pandas or NetworkX is not installed")
class Copies(unittest.TestCase):
    def objects(self):
        """Return an object of each kind that the package hands out or keeps, with a call that uses it."""
        frame = pandas.DataFrame({"source": list("abcd"), "target": list("bcde"), "kind": list("xyxy")})
        labels = {"a": 0, "e": 1}
        kinds = hw.as_graph(frame, kind="kind")
        store = hw.Store.ingest(PATH, os.path.join(self.folder, "store"))
        model = os.path.join(self.folder, "model")
        hw.NodeClassifier("lp").fit(PATH, {0: "a", 5: "b"}).save(model)
        out = os.path.join(self.folder, "K.npy")
        y = [0, -1, -1, -1, -1, 1]
        objects = [
            (hw.as_graph(PATH), lambda g: hw.apply(g, "laplacian", WEIGHTS)),
            (kinds, lambda g: hw.apply(g, "adjacency", WEIGHTS[:5])), (store, lambda g: hw.apply(g, "laplacian", WEIGHTS)),
            (hw.kernel(PATH), np.asarray), (hw.kernel(PATH, out=out), np.asarray), (hw.rank(PATH, [0]), lambda f: f.score), (hw.load(model), lambda m: m.predict(PATH)),
            (hw.NodeClassifier("lp").fit(PATH, y), lambda m: m.predict_proba(PATH)), (hw.NodeClassifier("lp").fit(kinds, labels), lambda m: m.explain("b", kinds).share),
            (hw.NodeClassifier("lp", graph=kinds).fit(list("ae"), [0, 1]), lambda m: m.explain(["b"]).share),
            (hw.NodeRegressor("harmonic").fit(PATH, [1, *[None] * 4, 2]), lambda m: m.predict(PATH)), (hw.NodeEmbedding(2).fit(PATH), lambda m: m.transform(PATH)),
            (hw.datasets.cora(), lambda pair: pair[1][:9]), (hw.suggest(PATH, y, 2, method="lp", strategy="cover"), lambda f: f.covers), (hw.methods(), lambda f: f.name),
            (hw.StoreError("a", "b", number=28), lambda e: [str(e), e.errno]), (hw.NodeClassifier("lp", graph=kinds), lambda m: m.fit(list("ae"), [0, 1]).scores_),
        ]
        from heatwalk._networkx import convert_from_nx

        return [*objects, (convert_from_nx(networkx.karate_club_graph()), lambda B: B.matrix().toarray())]

    def test_copies(self):
        with tempfile.TemporaryDirectory() as self.folder:
            objects = self.objects()
            ways = [copy.copy, copy.deepcopy, *(lambda x, p=p: pickle.loads(pickle.dumps(x, p)) for p in range(pickle.HIGHEST_PROTOCOL + 1))]
            for thing, use in objects:
                want = use(thing)
                for number, way in enumerate(ways):
                    with self.subTest(type(thing).__name__, number=number):
                        self.assertTrue(same(use(way(thing)), want))
                if hasattr(thing, "get_params"):
                    from sklearn.base import clone
                    self.assertTrue(same(clone(thing).get_params()["progress"], thing.progress))

    def test_in_another_process(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "pickle")
            code = ("import heatwalk as hw, pickle, pandas; e = pandas.DataFrame({'source': ['a', 'b'], 'target': ['b', 'c'], 'kind': ['x', 'y']}); "
                    f"pickle.dump(hw.as_graph(e, kind='kind'), open({path!r}, 'wb'))")
            subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)
            with open(path, "rb") as file:
                g = pickle.load(file)
            self.assertEqual(hw.apply(g, "adjacency", [1.0, 1, 1]).array.tolist(), [1, 2, 1])
            kept = os.path.dirname(g.path)
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                self.assertEqual(pool.apply(_degrees, (g,)), [1, 2, 1])
            del g
            self.assertFalse(os.path.exists(kept))

    def test_kinds_are_the_same_graph_again(self):
        calls = networkx.MultiGraph([("ann", "bob", "pays"), ("ann", "bob", "calls"), ("bob", "cid", "calls")])
        m = hw.NodeClassifier("lp").fit(hw.as_graph(calls, kind="key"), {"ann": 0, "cid": 1})
        self.assertEqual(m.predict(hw.as_graph(calls, kind="key")).tolist(), m.labels_.tolist())
        self.assertEqual(len(m.explain("bob", hw.as_graph(calls, kind="key"))) > 2, True)
        calls.add_edge("ann", "cid", "calls")
        for call in (m.predict, lambda g: m.explain("bob", g), lambda g: hw.NodeClassifier("lp", graph=PATH).fit([0, 5], [0, 1]).explain([1], g)):
            with self.assertRaisesRegex(ValueError, "not th.* (graph )?of fit"):
                call(hw.as_graph(calls, kind="key"))


def _degrees(graph):
    return hw.apply(graph, "adjacency", [1.0, 1, 1]).array.tolist()

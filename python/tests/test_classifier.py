"""The classifier: labels of every kind, agreement with the command, and the manners of scikit-learn."""

import os
import pickle
import subprocess
import tempfile
import unittest
import warnings
from unittest import mock

import numpy as np
import scipy.sparse as sp

import heatwalk as hw
from heatwalk import _process

from .graphs import random_graph, two_groups


def missing(name):
    try:
        __import__(name)
    except ImportError:
        return True
    return False


class Classifier(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.A, cls.group = two_groups()
        cls.y = np.where(np.arange(60) < 12, cls.group, -1)
        cls.model = hw.NodeClassifier("lp").fit(cls.A, cls.y)

    @unittest.skipIf(missing("pandas"), "needs pandas")
    def test_new_nodes(self):
        import pandas
        links = sp.coo_matrix(self.A)
        new, old = 59, np.arange(59)
        near = links.row[(links.col == new) & (links.row < new)].tolist()
        rest = self.A.tocsr()[old][:, old]
        x = np.random.default_rng(1).normal(size=(60, 3))
        for names in None, [f"node {i}" for i in range(59)]:
            graph = hw.as_graph(rest, ids=names) if names else rest
            known = [names[i] for i in near] if names else near
            model = hw.NodeClassifier("lp", new_nodes=True).fit(graph, self.y[:59])
            want = model.predict_proba()[near].mean(axis=0)
            edges = [("a", v) for v in known] + [("b", "a"), ("alone", None)]
            with tempfile.TemporaryDirectory() as folder:
                model.save(os.path.join(folder, "model"))
                kept = hw.load(os.path.join(folder, "model"))
            for frame in model.predict_new(edges), kept.predict_new(pandas.DataFrame(edges)):
                self.assertEqual(frame.index.tolist(), ["a", "b", "alone"])
                self.assertEqual(frame.reached.tolist(), [True, True, False])
                np.testing.assert_allclose(frame.loc["a", [0, 1]].astype(float), want, atol=1e-6)
            with self.assertRaisesRegex(ValueError, "not a"):
                model.predict_new([("a", "nowhere")])
        model = hw.NodeClassifier(new_nodes=True, node_features=x[:59], random_state=1).fit(rest, self.y[:59])
        one = model.predict_new([("a", v) for v in near], node_features=x[59:], explain=True)
        two = model.predict_new([("a", v) for v in near], node_features=pandas.DataFrame(x[59:], index=["a"]), explain=True)
        np.testing.assert_allclose(one.iloc[:, 3:], two.iloc[:, 3:], atol=1e-6)
        for frame in one, two:
            self.assertEqual(set(frame.reasons["a"]), set(near))
            self.assertAlmostEqual(sum(frame.reasons["a"].values()), 1, 5)
            np.testing.assert_allclose([frame.reasons["a"][v] for v in near], [one.reasons["a"][v] for v in near], atol=1e-5)
        self.assertEqual(one.label.tolist(), two.label.tolist())
        kinds = ["call" if (i + j) % 3 else "mail" for i, j in zip(*links.nonzero())]
        several = hw.as_graph(pandas.DataFrame({"s": links.row, "t": links.col, "kind": kinds}).query("s < t"), source="s", target="t", kind="kind")
        model = hw.NodeClassifier("lp", new_nodes=True, kind_weights={"call": 3}).fit(several, {v: self.group[v] for v in range(30)})
        edges = [("a", near[0], 2, "call"), ("a", near[1], 1, "mail"), ("b", "a", 1, "mail"), ("a", "b", 1, "mail")]
        want = model.predict_proba()[near[:2]]
        np.testing.assert_allclose(model.predict_new(edges).loc["b", [0, 1]].astype(float), (6 * want[0] + want[1]) / 7, atol=1e-6)
        with self.assertRaisesRegex(ValueError, "two weights"):
            model.predict_new([("a", 0, 1), ("a", 0, 2)])
        with self.assertRaisesRegex(ValueError, "new_nodes=True"):
            self.model.predict_new([("a", 0)])
        with self.assertRaises(hw.UsageError):
            hw.NodeClassifier("diffusion+rls", new_nodes=True).fit(rest, self.y[:59])

    def test_kinds_of_labels(self):
        words = np.array(["even", "odd"], dtype=object)
        known = np.arange(60) < 12
        want = self.model.predict()
        for y, classes in (
            (self.y.tolist(), [0, 1]), (self.y.astype(np.int8), [0, 1]), (np.where(known, self.group, np.nan), [0, 1]),
            (np.where(known, words[self.group], None), ["even", "odd"]), (np.where(known, words[self.group], "").tolist(), ["even", "odd"]),
            (np.where(known, words[self.group], np.nan), ["even", "odd"]), ({i: int(self.group[i]) for i in range(12)}, [0, 1]),
            (np.where(known, self.group + 7, -1), [7, 8]),
        ):
            m = hw.NodeClassifier("lp").fit(self.A, y)
            self.assertEqual(list(m.classes_), classes)
            self.assertEqual(list(m.predict()), [classes[c] for c in want])
            np.testing.assert_array_equal(m.scores_, self.model.scores_)

    def test_prediction(self):
        m = self.model
        self.assertEqual(m.predict()[:12].tolist(), self.group[:12].tolist())
        self.assertGreater((m.predict() == self.group).mean(), 0.9)
        p = m.predict_proba()
        np.testing.assert_allclose(p.sum(axis=1), 1)
        self.assertEqual(p[:12].max(axis=1).tolist(), [1] * 12)
        np.testing.assert_array_equal(m.classes_[p.argmax(axis=1)], m.predict())
        self.assertTrue(0 < m.accuracy_ <= 1 and m.accuracy_stderr_ > 0)
        self.assertEqual(m.score(self.A, self.group), (m.predict() == self.group).mean())
        with self.assertRaisesRegex(ValueError, "expecting 60 features"):
            m.predict(random_graph(50, 100, 1))

    def test_many_classes_sort_by_number(self):
        A = random_graph(400, 3000, 3)
        y = np.where(np.arange(400) < 200, np.arange(400) % 13, -1)
        m = hw.NodeClassifier("lp").fit(A, y)
        self.assertEqual(m.classes_.tolist(), list(range(13)))
        self.assertEqual(m.predict()[:200].tolist(), y[:200].tolist())
        np.testing.assert_array_equal(m.scores_[:200].argmax(axis=1), y[:200])

    def test_unreached(self):
        A = sp.block_diag([self.A, [[0, 1], [1, 0]]]).tocsr()
        y = np.append(self.y, [-1, -1])
        m = hw.NodeClassifier("lp").fit(A, y)
        self.assertEqual(m.predict()[60:].tolist(), [-1, -1])
        self.assertEqual(m.reached_.tolist(), [True] * 60 + [False] * 2)
        self.assertEqual(hw.NodeClassifier("lp").fit(A, np.where(y < 0, None, y.astype(str))).predict()[60:].tolist(), [None, None])
        self.assertIn(hw.NodeClassifier("lp", unreached="prior").fit(A, y).predict()[60], (0, 1))

    def test_permutation(self):
        p = np.random.default_rng(0).permutation(60)
        m = hw.NodeClassifier("lp").fit(self.A[p][:, p], self.y[p])
        np.testing.assert_array_equal(m.predict(), self.model.predict()[p])
        np.testing.assert_allclose(m.scores_, self.model.scores_[p], atol=1e-5)

    def test_command(self):
        """The scores are those of the command, to the bit, and so is the accuracy."""
        A, y = hw.datasets.cora(labelled=270)
        m = hw.NodeClassifier("lp").fit(A, y)
        with tempfile.TemporaryDirectory() as folder:
            path = lambda name: os.path.join(folder, name)  # noqa: E731
            sp.save_npz(path("a.npz"), A)
            with open(path("l.tsv"), "w") as file:
                file.writelines(f"{i}\t{label}\n" for i, label in enumerate(y) if label)
            subprocess.run([hw.binary(), "classify", path("a.npz"), "--labels", path("l.tsv"), "--method", "lp", "-o", path("p.npz"), "--quiet"], check=True)
            with np.load(path("p.npz")) as file:
                np.testing.assert_array_equal(file["features"][:, np.argsort(file["cols"])], m.scores_)
        self.assertEqual(m.classes_.tolist(), sorted({label for label in y if label}))

    def test_multi_label(self):
        lists = [[["a"], ["b"], ["a", "b"]][i % 3] if i < 20 else None for i in range(60)]
        m = hw.NodeClassifier(multi_label=True).fit(self.A, lists)
        self.assertEqual(m.classes_.tolist(), ["a", "b"])
        self.assertEqual(m.predict()[:3].tolist(), [("a",), ("b",), ("a", "b")])
        self.assertEqual(m.predict_proba().shape, (60, 2))
        self.assertEqual(m.score(self.A, lists), 1)
        matrix = np.zeros((60, 2), dtype=int)
        for i in range(20):
            matrix[i] = [i % 3 != 1, i % 3 != 0]
        n = hw.NodeClassifier(multi_label=True).fit(self.A, matrix)
        np.testing.assert_array_equal(n.scores_, m.scores_)
        np.testing.assert_array_equal(n.predict()[:20], matrix[:20])

    def test_node_features(self):
        X = np.random.default_rng(1).standard_normal((60, 4))
        X[:, 0] += 6 * self.group
        for features in (X, sp.csr_matrix(np.abs(X))):
            m = hw.NodeClassifier(node_features=features).fit(self.A, self.y)
            self.assertGreater((m.predict() == self.group).mean(), 0.9)
        with self.assertRaisesRegex(ValueError, "node_features has 3 rows"):
            hw.NodeClassifier(node_features=X[:3]).fit(self.A, self.y)

    def test_scores_are_probabilities(self):
        for method in ("cwk+svm", "diffusion+rls", "lgc", "poisson"):
            m = hw.NodeClassifier(method).fit(self.A, self.y)
            np.testing.assert_allclose(m.scores_.sum(axis=1), 1, atol=1e-5)
            self.assertGreaterEqual(m.scores_.min(), 0)

    def test_errors(self):
        for y, text in (
            (np.full(60, -1), "y has no label"), (np.zeros(59), "59, and the graph has 60"), (np.full(60, np.inf), "infinity"),
            (np.linspace(0, 1, 60), "continuous"), (None, "requires y"), (np.zeros((60, 2)), "multi_label=True"), ({99: "a"}, "y: 99 is not a row"),
        ):
            with self.assertRaisesRegex(ValueError, text):
                hw.NodeClassifier("lp").fit(self.A, y)
        with self.assertRaisesRegex(hw.UsageError, "^method: .*did you mean lgc"):
            hw.NodeClassifier("lcg").fit(self.A, self.y)
        with self.assertRaises(AttributeError):
            hw.NodeClassifier().predict()
        with self.assertRaises(hw.UsageError) as caught:
            hw.NodeClassifier("lp", max_memory="1MiB").fit(self.A, self.y)
        self.assertTrue(issubclass(hw.LimitError, MemoryError))
        copy = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((str(copy), copy.code, copy.place), (str(caught.exception), 2, "max_memory"))
        with self.assertWarnsRegex(hw.HeatwalkWarning, "'-1' as a class"):
            hw.NodeClassifier("lp").fit(self.A, self.y.astype(str))
        with self.assertRaisesRegex(ValueError, "random_state is 'one'; give a number"):
            hw.NodeClassifier("lp", random_state="one").fit(self.A, self.y)
        with self.assertWarnsRegex(hw.HeatwalkWarning, "-1 means unlabelled"), self.assertRaises(ValueError):
            hw.NodeClassifier("lp").fit(self.A, np.where(self.group == 1, 1, -1))

    def test_parameters(self):
        m = hw.NodeClassifier("lgc", threads=1)
        self.assertEqual(m.get_params()["threads"], 1)
        self.assertEqual(m.set_params(method="lp").method, "lp")
        self.assertEqual(repr(m), "NodeClassifier(method='lp', threads=1)")
        with self.assertRaises(ValueError):
            m.set_params(alpha=1)
        again = pickle.loads(pickle.dumps(self.model))
        np.testing.assert_array_equal(again.predict(), self.model.predict())

    def test_quiet(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            hw.NodeClassifier("lp").fit(self.A, self.y)


class Graphs(unittest.TestCase):
    @unittest.skipIf(missing("pandas"), "pandas is not installed")
    def test_labels_in_pandas(self):
        import pandas

        frame = pandas.DataFrame({0: ["d", "c", "b"], 1: ["c", "b", "a"]})  # two columns are edges, whatever their titles
        want = hw.NodeClassifier("lp").fit(frame, {"a": "x", "d": "y"}).to_dict()
        self.assertEqual(want, {"d": "y", "c": "y", "b": "x", "a": "x"})
        for y in (
            pandas.Series({"a": "x", "d": "y"}), pandas.Series({"a": "x", "b": None, "c": None, "d": "y"}),  # by node
            pandas.Series(["y", None, None, "x"]).to_numpy(), pandas.array(["y", None, None, "x"], dtype="string"),  # by row
        ):
            self.assertEqual(hw.NodeClassifier("lp").fit(frame, y).to_dict(), want)
        m = hw.NodeClassifier("lp").fit(np.eye(4)[::-1], pandas.Series([7, pandas.NA, 8, pandas.NA], dtype="Int64", index=[2, 3, 0, 1]))
        self.assertEqual(m.predict().tolist(), [8, 7, 7, 8])
        self.assertEqual(hw.NodeClassifier("lp").fit(np.eye(4)[::-1], pandas.Series({3: 7, 1: 8})).predict().tolist(), [7, 8, 8, 7])
        A, group = two_groups()
        ids = [f"n{i}" for i in range(60)]
        X = pandas.DataFrame({"x": np.random.default_rng(1).standard_normal(60) + 3 * group}, index=ids)
        y = {f"n{i}": int(group[i]) for i in range(12)}
        m, shuffled = (hw.NodeClassifier(node_features=f, random_state=1).fit(hw.as_graph(A, ids=ids), y) for f in (X.to_numpy(), X.sample(frac=1, random_state=1)))
        np.testing.assert_array_equal(shuffled.scores_, m.scores_)
        with self.assertRaisesRegex(ValueError, "node_features: 'm0' is not a node"):
            hw.NodeClassifier(node_features=X.rename(index={"n0": "m0"})).fit(hw.as_graph(A, ids=ids), y)
        lists = pandas.Series({"a": ["x"], "d": ["y", "x"]})
        m = hw.NodeClassifier(multi_label=True).fit(frame, lists)
        self.assertEqual(m.to_dict()["d"], ("x", "y"))
        n = hw.NodeClassifier(multi_label=True).fit(frame, pandas.DataFrame({"x": [1, 1], "y": [0, 1]}, index=["a", "d"]))
        np.testing.assert_array_equal(n.scores_, m.scores_)
        for y, text in (
            (pandas.Series({"a": "x", "e": "y"}), "y: 'e' is not a node"),
            (pandas.Series(["x", "y"], index=["a", "a"]), "two values for a node"),
            (pandas.DataFrame({"node": list("abcd"), "label": ["x"] * 4}), r"y.set_index\('node'\) or y.set_axis\(nodes\)"),
            (pandas.DataFrame({"node": ["a"], "label": ["x"]}), r"y: 0 is not a node of the graph; give it nodes as index, as y.set_index\('node'\) or y.set_axis"),
            (pandas.DataFrame({"node": list("dcba"), "label": ["x"] * 4}).label, "y: 0 is not a node of the graph"),
            ("labels.csv", "y is a path; pandas.read_csv"),
        ):
            with self.assertRaisesRegex(ValueError, text):
                hw.NodeClassifier("lp").fit(frame, y)

    def test_no_graphs(self):
        for graph, text in (
            (None, "NoneType is not a graph; pass a matrix"), ({"a": ["b"]}, "dict is not a graph"), ([("a", "b"), ("b", "c")], r"networkx.Graph\(pairs\)"),
            (np.array([[0, 1], [1, 2], [2, 3]]), "3×2. An edge index is an array of whole numbers of shape 2×m"),
        ):
            with self.assertRaisesRegex(ValueError, text):
                hw.as_graph(graph)

    def test_edge_index(self):
        g = hw.as_graph(np.array([[0, 1, 2, 1], [1, 0, 3, 0]]))
        self.assertEqual(g.matrix.toarray().tolist(), [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])

    @unittest.skipIf(missing("pandas"), "pandas is not installed")
    def test_pandas(self):
        import pandas

        frame = pandas.DataFrame({"source": ["a", "b", "a"], "target": ["b", "c", "d"], "weight": [1, 2, 3]})
        m = hw.NodeClassifier("lp").fit(frame, {"a": 0, "c": 1})
        self.assertEqual(m.nodes_, ["a", "b", "c", "d"])
        self.assertEqual(m.to_frame().index.tolist(), ["a", "b", "c", "d"])
        self.assertEqual(m.to_dict()["d"], 0)
        payments = pandas.DataFrame({"payer": [5, 7, 5], "payee": [7, 9, 9], "amount": [1.5, 2, 3]})
        g = hw.as_graph(payments, source="payer", target="payee", weight="amount")
        self.assertEqual((g.nodes, g.matrix.sum()), ([5, 7, 9], 13))
        self.assertEqual(hw.as_graph(payments, weight="amount").nodes, [5, 7, 9])
        with self.assertRaisesRegex(ValueError, "cannot determine source and target: 1 a .* pass as_graph.graph, source='a', target='b'"):
            hw.as_graph(payments.rename(columns={"payer": "a", "payee": "b"}).assign(c="x")[["a", "b", "c", "amount"]])
        for kinds in {}, {"kind": "amount"}:
            g = hw.as_graph(payments, ids=[7, 6, 5], **kinds)
            self.assertEqual(g.nodes, [7, 6, 5, 9])
        table = pandas.DataFrame({"age": [20, 30, 40, 50, 60, 70]}, index=list("abcdef"))
        chain = pandas.DataFrame({"source": list("abcd"), "target": list("bcde")})
        labels = {"a": "red", "e": "blue"}
        with self.assertRaisesRegex(ValueError, "'f' is not a node of the graph; pass as_graph\\(edges, ids=node_features.index\\)"):
            hw.NodeClassifier(node_features=table).fit(chain, labels)
        m = hw.NodeClassifier(node_features=table, random_state=1).fit(hw.as_graph(chain, ids=table.index), labels)
        self.assertEqual(m.to_frame().index.tolist(), list("abcdef"))
        self.assertLessEqual(set(hw.__all__), set(dir(hw)))
        A, group = two_groups()
        y = np.where(np.arange(60) < 30, group, -1)
        frame = hw.evaluate(A, y, ["lp", "lgc"], train=[0.5], splits=3)
        self.assertEqual(frame.method.tolist(), ["lp", "lgc", "majority"])
        self.assertGreater(frame.accuracy[0], 0.8)
        suggested = hw.suggest(A, y, 3)
        self.assertEqual(len(suggested), 3)
        self.assertEqual(suggested.covers.isna().sum(), 0)  # 30 labels show two groups
        self.assertEqual(hw.suggest(A, y, 3, strategy="random").covers.isna().sum(), 3)
        self.assertTrue(set(suggested.label) <= {0, 1})
        self.assertEqual(hw.evaluate(A, y, "lp", train=0.5, splits=3).method.tolist(), ["lp", "majority"])
        with self.assertRaisesRegex(ValueError, "too few labels to learn from"):
            hw.evaluate(A, ["a", "b"] + [None] * 58, ["lp"], train=0.1, splits=3)
        frame = hw.methods()
        for name in frame[(frame.argument == "method") & (frame.command == "classify")].name:
            hw.NodeClassifier(name).fit(A, y)

    @unittest.skipIf(missing("pandas"), "pandas is not installed")
    def test_numbers_and_ranks(self):
        A, group = two_groups()
        G = hw.as_graph(A, ids=[f"n{i}" for i in range(60)])
        frame = hw.regress(G, {f"n{i}": 10.0 * group[i] for i in range(20)}, ["harmonic", "hops"])
        self.assertEqual(frame.value[:20].tolist(), (10.0 * group[:20]).tolist())
        self.assertGreater(np.corrcoef(frame.value, group)[0, 1], 0.8)
        self.assertEqual((frame.index[59], bool(frame.reached.all())), ("n59", True))
        self.assertGreater(frame.attrs["run"]["rmse"], 0)
        with self.assertRaisesRegex(ValueError, "y: 'm' is not a node"):
            hw.regress(G, {"m": 1.0})
        with self.assertRaisesRegex(ValueError, "method: .*harmonic"):
            hw.regress(G, {"n1": 1.0, "n2": 2.0}, "harmonics")
        frame = hw.rank(G, [f"n{i}" for i in range(0, 20, 2)])
        self.assertEqual(frame.index[frame.seed].sort_values().tolist(), sorted(f"n{i}" for i in range(0, 20, 2)))
        others = frame[~frame.seed]
        self.assertGreater(np.mean([int(v[1:]) % 2 == 0 for v in others.index[:15]]), 0.8)
        self.assertTrue(others.score.is_monotonic_decreasing)
        self.assertGreater(frame.attrs["run"]["auc"], 0.6)  # at most about 0.8, because a third of the others are as similar
        one = hw.rank(G, ["n1"])
        self.assertEqual((one.index[one.seed].tolist(), one.attrs["run"].get("auc")), (["n1"], None))

    @unittest.skipIf(missing("networkx"), "NetworkX is not installed")
    def test_networkx(self):
        import networkx

        G = networkx.karate_club_graph()
        G = networkx.relabel_nodes(G, {v: f"member {v}" for v in G})
        m = hw.NodeClassifier("lp").fit(G, {"member 0": "Hi", "member 33": "Officer"})
        self.assertEqual(m.nodes_, list(G.nodes))
        self.assertEqual(m.to_dict()["member 33"], "Officer")
        K = hw.kernel(hw.as_graph(G), "diffusion", rows=["member 3"], cols=["member 0", "member 33"])
        self.assertEqual((K.rows, K.cols), (["member 3"], ["member 0", "member 33"]))

    @unittest.skipIf(missing("igraph"), "igraph is not installed")
    def test_igraph(self):
        import igraph

        G = igraph.Graph([(0, 1), (1, 2), (2, 0), (2, 3)])
        G.vs["name"] = list("wxyz")
        self.assertEqual(hw.NodeClassifier("lp").fit(G, {"w": 0, "z": 1}).nodes_, list("wxyz"))

    def test_store(self):
        A = random_graph(50, 200, 1)
        with tempfile.TemporaryDirectory() as folder:
            store = hw.Store.ingest(A, os.path.join(folder, "graph"))
            self.assertEqual(store.info()["nodes"], 50)
            self.assertEqual(store.ids[:3], ["0", "1", "2"])
            self.assertEqual(abs(store.to_scipy() - A).max(), 0)
            B = np.eye(50)[:, :4]
            np.testing.assert_array_equal(hw.apply(store, "laplacian", B).array, hw.apply(A, "laplacian", B).array)
            self.assertEqual(hw.Store.open(store.path).path, store.path)
            for place, kind in ((folder, hw.StoreError), (os.path.join(folder, "missing"), FileNotFoundError)):
                with self.assertRaises(kind) as caught:
                    hw.Store.open(place)
                self.assertTrue(caught.exception.errno and caught.exception.filename)
            with self.assertRaisesRegex(hw.UsageError, "force=True to replace it"):
                hw.Store.ingest(A, store.path)
            path = os.path.join(folder, "edges.tsv")
            with open(path, "w") as file:
                file.write("ann\tbob\nbob\tcid\n")
            m = hw.NodeClassifier("lp").fit(path, {"ann": 1, "cid": 2})
            self.assertEqual(m.to_dict()["ann"], 1)
            self.assertEqual(m.nodes_, ["ann", "bob", "cid"])
            with self.assertRaisesRegex(ValueError, "missing.tsv: no such file"):
                hw.NodeClassifier("lp").fit(os.path.join(folder, "missing.tsv"), np.zeros(3))


@unittest.skipIf(missing("sklearn"), "scikit-learn is not installed")
class ScikitLearn(unittest.TestCase):
    #: Checks that cannot hold for a graph, of scikit-learn 1.2 to 1.9: they predict rows that fit has not seen, or some
    #: of those that it has; or permute the rows of the matrix without its columns.
    GRAPHS = {"check_fit_idempotent", "check_methods_subset_invariance", "check_methods_sample_order_invariance"}
    #: These have one class or number alone, or −1 as a class.
    ONE = {"check_fit2d_1feature"}

    @classmethod
    def setUpClass(cls):
        A, truth = hw.datasets.cora()
        cls.g, cls.y = hw.as_graph(A), truth.astype(str)
        cls.nodes = np.arange(0, 2708, 6)
        cls.model = hw.NodeClassifier("lp", graph=cls.g, random_state=1)

    def setUp(self):
        warnings.simplefilter("ignore", hw.HeatwalkWarning)
        self.addCleanup(warnings.resetwarnings)

    def test_nodes_are_samples(self):
        from sklearn.base import clone, is_classifier, is_regressor
        from sklearn.calibration import CalibratedClassifierCV
        from sklearn.ensemble import VotingClassifier
        from sklearn.linear_model import LogisticRegression
        from sklearn.metrics import accuracy_score
        from sklearn.model_selection import GridSearchCV, cross_val_score, permutation_test_score
        from sklearn.pipeline import make_pipeline

        m, X, y = self.model, self.nodes, self.y[self.nodes]
        self.assertTrue(is_classifier(m) and is_regressor(hw.NodeRegressor()))
        scores = cross_val_score(m, X, y, cv=3)
        self.assertGreater(scores.min(), 0.7)
        self.assertLess(scores.max(), 0.9)
        np.testing.assert_array_equal(cross_val_score(m, X[:, None], y, cv=3), scores)
        self.assertEqual(GridSearchCV(m, {"method": ["lp"]}, cv=3).fit(X, y).best_score_, scores.mean())
        score, permuted, p = permutation_test_score(m, X, y, cv=2, n_permutations=2, random_state=1)
        self.assertGreater(score, permuted.max() + 0.3)
        voting = VotingClassifier([("a", m), ("b", clone(m).set_params(method="lgc"))], voting="soft").fit(X, y)
        self.assertGreater(voting.score(X + 1, self.y[X + 1]), 0.7)
        self.assertEqual(CalibratedClassifierCV(m, cv=2).fit(X, y).predict_proba(X[:3]).shape, (3, 7))
        pipeline = make_pipeline(hw.NodeEmbedding(20, graph=self.g, largest_component=True), LogisticRegression(C=1e4, max_iter=2000))
        self.assertGreater(cross_val_score(pipeline, X, y, cv=2).min(), 0.6)
        m = clone(m).fit(X, y)
        self.assertEqual((m.predict().dtype, m.predict(X[:5]).tolist()), (y.dtype, y[:5].tolist()))
        self.assertGreater(accuracy_score(self.y, m.predict()), 0.7)
        degree = np.asarray(self.g.matrix.sum(axis=1)).ravel()
        r = hw.NodeRegressor("harmonic", graph=self.g).fit(X, degree[X])
        np.testing.assert_allclose(r.predict(X), degree[X])
        self.assertLess(r.score(X + 1, degree[X + 1]), 1)
        for bad, text in (((X[:2], y[:3]), "inconsistent numbers of samples: 2 and 3"), (([1, 9999], y[:2]), "X: 9999 is not a row"),
                          (([1, 1], ["a", "b"]), "a node twice"), (([1, 2], ["a", None]), "leave nodes without a label out")):
            with self.assertRaisesRegex(ValueError, text):
                self.model.fit(*bad)

    def test_graph_as_X(self):
        from sklearn.model_selection import cross_val_score

        A, y = two_groups()
        m = hw.NodeClassifier("lp").fit(A, np.where(np.arange(60) < 12, y, -1))
        for other in (random_graph(60, 100, 1), 2 * A):
            with self.assertRaisesRegex(ValueError, "X is not the graph of fit"):
                m.predict(other)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.assertTrue(np.isnan(cross_val_score(hw.NodeClassifier("lp"), A, y, cv=2)).all())
            with self.assertRaisesRegex(ValueError, r"is no graph; to cross-validate, use NodeClassifier\(graph=A\)"):
                cross_val_score(hw.NodeClassifier("lp"), A, y, cv=3, error_score="raise")

    def test_random_state(self):
        A, y = two_groups()
        seeds = []
        with mock.patch.object(_process, "run", wraps=_process.run) as run:
            for state in (None, None, 7, np.random.RandomState(1), np.random.default_rng(1)):
                hw.NodeClassifier("lp", random_state=state).fit(A, np.where(np.arange(60) < 12, y, -1))
                seeds.append(run.call_args.kwargs["random_state"])
        self.assertEqual((len(set(map(str, seeds[:2]))), seeds[2]), (2, 7))

    def test_models_for_other_graphs(self):
        A, y = two_groups()
        y = np.where(np.arange(60) < 12, np.array(["a", "b"])[y], "")
        for names in (None, [f"n{i}" for i in range(60)]):
            m = hw.NodeClassifier("lp").fit(hw.as_graph(A, ids=names), y)
            with tempfile.TemporaryDirectory() as folder:
                m.save(os.path.join(folder, "model"))
                model = hw.load(os.path.join(folder, "model"))
                np.testing.assert_array_equal(model.predict(hw.as_graph(A, ids=names)), m.predict())
                more = sp.block_diag([A, [[0]]]).tolil()
                more[60, 0] = more[0, 60] = 1
                bigger, order = more.tocsr(), np.arange(61)
                if names is not None:
                    order = np.random.default_rng(1).permutation(61)
                    bigger = hw.as_graph(bigger[order][:, order], ids=np.array([*names, "new"])[order].tolist())
                labels = model.predict(bigger)[np.argsort(order)]
                np.testing.assert_array_equal(labels[:60], m.predict())
                self.assertEqual(labels[60], y[0])

    def test_output_and_embedding(self):
        E = hw.NodeEmbedding(3, largest_component=True).fit(self.g)
        vectors = E.transform(None)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-8)
        self.assertTrue((E.eigenvalues_ < 1).all() and (np.diff(E.eigenvalues_) <= 0).all())
        L = hw.NodeEmbedding(2, matrix="laplacian").fit(two_groups()[0])
        self.assertTrue(0 < L.eigenvalues_[0] <= L.eigenvalues_[1])
        if hasattr(E, "set_output") and not missing("pandas"):
            import pandas
            E = hw.NodeEmbedding(3, graph=self.g).set_output(transform="pandas").fit(self.nodes)
            frame = E.transform(np.array([5, 7]))
            self.assertEqual(frame.columns.tolist(), ["nodeembedding0", "nodeembedding1", "nodeembedding2"])
            for X, index in (([5, 7], [5, 7]), (np.array([7]), [7]), (pandas.Series([5, 7], index=["x", "y"]), ["x", "y"])):
                self.assertEqual(E.transform(X).index.tolist(), index)
            ring = pandas.DataFrame({"source": list("abcd"), "target": list("bcda")}, index=[f"call {i}" for i in range(4)])
            for X in (ring, ring.iloc[:3], sp.csr_matrix(np.ones((4, 4)) - np.eye(4))):
                frame = hw.NodeEmbedding(2).set_output(transform="pandas").fit_transform(X)
                self.assertEqual(frame.index.tolist(), list(hw.as_graph(X).nodes))
        F = hw.NodeEmbedding(graph=self.g, method="cwk:steps=3").fit(self.nodes, self.y[self.nodes])
        self.assertEqual(F.transform([1, 2]).shape, (2, 28))

    def test_trivial_vectors(self):
        """Vectors of components with edges are left out, of each matrix, and isolated nodes change nothing."""
        rng = np.random.default_rng(4)
        blocks = [np.triu(rng.random((k, k)) + 0.2, 1) for k in (5, 3, 2)]
        A = sp.block_diag([b + b.T for b in blocks]).toarray()
        A[3, 3] = 0.7
        signed = A.copy()
        signed[np.ix_([0, 1], [2, 3, 4])] *= -1  # two sides: a balanced component
        signed[np.ix_([2, 3, 4], [0, 1])] *= -1
        signed[3, 3] = 0
        for M, trivial in ((A, 3), (signed, 2)):
            D = np.diag(abs(M).sum(axis=1))
            root = np.diag(1 / np.sqrt(np.diag(D)))
            dense = {"laplacian": D - M, "normalized-laplacian": root @ (D - M) @ root, "normalized-adjacency": root @ M @ root, "adjacency": M}
            if trivial == 3:
                dense["transition"] = dense["normalized-adjacency"]
            for matrix, T in dense.items():
                values = np.linalg.eigvalsh(T)
                want = values[trivial:] if "laplacian" in matrix else values[::-1][0 if matrix == "adjacency" else trivial:]
                if trivial == 2 and matrix != "adjacency":  # the vector of the sides has the value of the trivial ones
                    self.assertAlmostEqual(want[0], values[0] if "laplacian" in matrix else values[-1], 9)
                for zeros in ([], [0, 4, 10]):
                    padded = np.insert(np.insert(M, zeros, 0, axis=0), zeros, 0, axis=1)
                    E = hw.NodeEmbedding(4, matrix=matrix).fit(padded)
                    np.testing.assert_allclose(E.eigenvalues_, want[:4], atol=1e-8, err_msg=f"{matrix} {zeros} {trivial}")
                    isolated = ~padded.any(axis=1)
                    self.assertEqual(np.abs(E.embedding_[isolated]).sum(), 0)
                    vectors = E.embedding_[~isolated]
                    if matrix != "transition":
                        np.testing.assert_allclose(T @ vectors, vectors * E.eigenvalues_, atol=1e-7)
                    else:
                        np.testing.assert_allclose(np.linalg.solve(D, M) @ vectors, vectors * E.eigenvalues_, atol=1e-7)
        self.assertEqual(hw.NodeEmbedding(2).fit(np.zeros((3, 3))).embedding_.shape, (3, 0))

    def test_estimator_checks(self):
        import sklearn
        from sklearn.utils.estimator_checks import check_estimator

        for estimator, wanted in ((hw.NodeClassifier("lgc"), self.GRAPHS | self.ONE | {"check_classifiers_classes", "check_class_weight_classifiers"}),
                                  (hw.NodeRegressor("harmonic"), self.GRAPHS), (hw.NodeEmbedding(2), self.GRAPHS)):
            failed = {}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if sklearn.__version__ < "1.3":  # its check has a matrix that is not square
                    wanted = wanted | ({"check_classifiers_one_label"} if hasattr(estimator, "predict_proba") else set())
                if tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 6):
                    for result in check_estimator(estimator, on_fail=None, on_skip=None):
                        if result["status"] == "failed":
                            failed[result["check_name"]] = result["exception"]
                else:
                    for copy, check in check_estimator(estimator, generate_only=True):
                        try:
                            check(copy)
                        except unittest.SkipTest:
                            pass
                        except Exception as error:  # a check may raise anything
                            failed[getattr(check, "func", check).__name__] = error
            self.assertEqual(set(failed), wanted, failed)



class Manners(unittest.TestCase):
    def test_no_random_sample(self):
        """Labels of the nodes with the most edges are no random sample."""
        A, truth = hw.datasets.cora()
        rng = np.random.default_rng(1)
        largest = np.argsort(-np.diff(A.indptr), kind="stable")[:270]
        for chosen, is_random in ((largest, False), (rng.permutation(A.shape[0])[:270], True)):
            y = np.full(len(truth), None, dtype=object)
            y[chosen] = truth[chosen]
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model = hw.NodeClassifier("lp", random_state=1).fit(A, y)
            self.assertEqual("label_sample" in model.run_, not is_random)
            self.assertEqual(any("no random sample" in str(w.message) for w in caught), not is_random)
        np.testing.assert_allclose(np.exp(model.predict_log_proba()), model.predict_proba())

    def test_two_sides(self):
        """A matrix of two kinds of nodes is the square matrix of both, and its embedding the singular vectors."""
        rng = np.random.default_rng(1)
        row, col = rng.integers(0, 2, 60), rng.integers(0, 2, 40)
        B = sp.csr_matrix(rng.random((60, 40)) < np.where(row[:, None] == col, 0.5, 0.05)).astype(float)
        square = sp.bmat([[None, B], [B.T, None]]).tocsr()
        known = {0: 0, 1: 1, 2: 1, 59: 0}
        known = {i: int(row[i]) for i in known}
        want = hw.NodeClassifier("lp", random_state=1).fit(square, {**known, 60: int(col[0])})
        array = np.full(60, -1)
        array[list(known)] = list(known.values())
        for X, labels in ((B, known), (B.toarray(), array), (hw.as_graph(B, bipartite=True), known)):
            got = hw.NodeClassifier("lp", random_state=1).fit(X, labels_row=labels, labels_col={0: int(col[0])})
            np.testing.assert_array_equal(np.r_[got.labels_row_, got.labels_col_], want.labels_)
            np.testing.assert_array_equal(got.predict(X), want.predict())
        degrees = [sp.diags(np.asarray(B.sum(axis=a)).ravel() ** -0.5) for a in (1, 0)]
        values = np.linalg.svd((degrees[0] @ B @ degrees[1]).toarray())[1][1:4]
        embedding = hw.NodeEmbedding(3, random_state=1).fit(hw.as_graph(B, bipartite=True))
        np.testing.assert_allclose(embedding.eigenvalues_, values, rtol=1e-6)
        for labels, error in (({"labels_row": {60: 1}}, "there is no row 60; the matrix has 60"), ({"labels_col": [1]}, "labels_col has 1 elements"),
                              ({"labels_row": known, "y": array}, "in place of y")):
            with self.assertRaisesRegex(ValueError, error):
                hw.NodeClassifier("lp").fit(B, **labels)
        with self.assertRaisesRegex(ValueError, "weight='length': a weight is large for strong edges"):
            hw.as_graph(square, weight="length")

    def test_weights(self):
        """Labels of weight 0 are left out, class_weight is a prior by another name, and score is accuracy_score."""
        from sklearn.ensemble import BaggingClassifier
        from sklearn.metrics import accuracy_score

        A, group = two_groups()
        group = np.where(np.arange(60) % 7 == 0, 2, group)
        nodes = np.arange(30)
        model, weights = hw.NodeClassifier("lp", graph=A, random_state=1), np.arange(30) % 3
        want = model.fit(nodes[weights > 0], group[nodes[weights > 0]]).scores_
        got = model.fit(nodes, group[nodes], sample_weight=np.sign(weights)).scores_
        np.testing.assert_array_equal(got, want)
        y, of_nodes = np.where(np.arange(60) < 30, group, -1), np.resize(np.sign(weights), 60)
        got = hw.NodeClassifier("lp", unreached="prior", random_state=1).fit(A, y, sample_weight=of_nodes).scores_
        np.testing.assert_array_equal(got, want)
        model.fit(nodes[group[nodes] < 2], group[nodes[group[nodes] < 2]])
        without = hw.NodeClassifier("lp", graph=A, random_state=1).fit(nodes, group[nodes], sample_weight=group[nodes] < 2)
        self.assertEqual(without.classes_.tolist(), [0, 1])
        np.testing.assert_array_equal(without.scores_, model.scores_)
        for several in (weights, np.zeros(30), np.ones(5)):
            with self.assertRaisesRegex(ValueError, "sample_weight"):
                model.fit(nodes, group[nodes], sample_weight=several)
        with self.assertRaisesRegex(TypeError, "unexpected argument 'weight'"):
            model.fit(nodes, group[nodes], weight=1)

        counts = np.bincount(group[nodes])
        equal = [hw.NodeClassifier("lp", graph=A, random_state=1, **options).fit(nodes, group[nodes]) for options in (
            {"class_weight": "balanced"}, {"prior": "balanced"}, {"class_weight": dict(enumerate(30 / counts))})]
        for other in equal[1:]:
            np.testing.assert_allclose(other.scores_, equal[0].scores_, rtol=1e-6)
        self.assertGreater(*(hw.NodeClassifier("lp", graph=A, random_state=1, class_weight={2: w}).fit(nodes, group[nodes]).scores_[:, 2].sum()
                             for w in (9, 1)))
        for wrong in ({"x": 1}, {0: 0}, {0: np.inf}, 3):
            with self.assertRaisesRegex(ValueError, "class_weight"):
                hw.NodeClassifier("lp", class_weight=wrong).fit(A, y)
        with self.assertRaisesRegex(ValueError, "leave one out"):
            hw.NodeClassifier("lp", class_weight="balanced", prior="balanced").fit(A, y)
        some = np.random.default_rng(1).random(60)
        self.assertEqual(equal[0].score(range(60), group, some),
                         accuracy_score(group, equal[0].predict(), sample_weight=some))
        bags = BaggingClassifier(hw.NodeClassifier("lp", graph=A), n_estimators=2, random_state=0)
        self.assertGreater(bags.fit(nodes[:, None], group[nodes]).score(nodes[:, None], group[nodes]), 0.4)

    def test_a_file_that_is_no_model(self):
        with tempfile.NamedTemporaryFile() as file, self.assertRaisesRegex(ValueError, "is no model; NodeClassifier.save writes one"):
            hw.load(file.name)


if __name__ == "__main__":
    unittest.main()

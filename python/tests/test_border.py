"""What passes between Python and the program: nodes, labels, attributes and numbers stay what they are."""

import os
import pickle
import tempfile
import time
import unittest
import warnings

import numpy as np
import scipy.linalg
import scipy.sparse as sp

import heatwalk as hw

from .graphs import random_graph, two_groups

try:
    import networkx
    import pandas
except ImportError:
    networkx = pandas = None

PATH = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])


class Nodes(unittest.TestCase):
    @unittest.skipIf(pandas is None, "pandas or NetworkX is not installed")
    def test_adjacency_frames(self):
        G = networkx.path_graph(6)
        want = hw.NodeClassifier("lp").fit(G, {0: "l", 5: "r"}).to_dict()
        for order in ([3, 0, 1, 2, 4, 5], range(6)):
            frame = networkx.to_pandas_adjacency(G, nodelist=order)
            for permuted in (frame, frame[frame.columns[::-1]]):
                self.assertEqual(hw.NodeClassifier("lp").fit(permuted, {0: "l", 5: "r"}).to_dict(), want)
        one = networkx.to_pandas_adjacency(networkx.relabel_nodes(G, {v: v + 1 for v in G}))
        self.assertEqual(hw.NodeClassifier("lp").fit(one, {1: "l", 6: "r"}).to_dict(), {v + 1: c for v, c in want.items()})
        with self.assertRaisesRegex(ValueError, "its columns are not the nodes of its index"):
            hw.as_graph(frame.set_axis(list("uvwxyz"), axis=1))

    @unittest.skipIf(pandas is None, "pandas or NetworkX is not installed")
    def test_values_of_pandas_follow_their_index(self):
        G = networkx.Graph([("w", "x"), ("x", "y"), ("y", "z")])
        B = pandas.Series({"z": 1, "w": 0, "x": 0, "y": 0})
        self.assertEqual(hw.apply(G, "adjacency", B).array.tolist(), [0, 0, 1, 0])
        self.assertEqual(hw.solve(G, B - B.mean())[0].argmax(), 3)
        mask = pandas.Series({"z": True, "w": False, "x": False, "y": False})
        self.assertEqual(hw.kernel(G, rows=mask).rows, ["z"])
        with self.assertRaisesRegex(ValueError, "B: 'v' is not a node"):
            hw.apply(G, "adjacency", B.rename({"z": "v"}))

    @unittest.skipIf(pandas is None, "pandas or NetworkX is not installed")
    def test_names(self):
        for names in (["1", 1, "a\tb", '"q"'], [(0, 0), "hub", (1, 1), "NA"], ["01", "1", "1.0", " 1"]):
            G = networkx.Graph(list(zip(names, names[1:])))
            labels = {names[0]: "l", names[3]: "r"}
            self.assertEqual(hw.NodeClassifier("lp").fit(G, labels).to_dict(), dict(zip(names, "llrr")))
            self.assertEqual(hw.kernel(G).to_frame().index.tolist(), names)
            self.assertEqual(hw.regress(G, {names[0]: 1, names[3]: 4}, "harmonic").value.round(9).tolist(), [1, 2, 3, 4])
            self.assertEqual(set(hw.rank(G, names[:1]).index), set(names))
        frame = hw.NodeClassifier("lp").fit(networkx.grid_graph([2, 2]), {(0, 0): 1, (1, 1): 2}).to_frame()
        self.assertEqual(frame.loc[(0, 0)].label, 1)

    @unittest.skipIf(pandas is None, "pandas or NetworkX is not installed")
    def test_odd_texts(self):
        """Texts that programs take for each other are nodes of their own, in frames and in networks, with a warning."""
        ids = ["12E1", "120", "1E4", "10E3", "007", "7", "Ann", "Ann ", "Anna", "Anna\u200b", "Jos\u00e9", "Jose\u0301", "\ufeffa0", "a0"]
        edges = list(zip(ids, ids[1:] + ids[:1]))
        network = networkx.Graph(edges)
        for graph in (pandas.DataFrame(edges, columns=["source", "target"]), network):
            with self.assertWarnsRegex(hw.HeatwalkWarning, r"'Ann' and 'Ann ' look alike and are different nodes \(4 such pairs\)"):
                self.assertEqual(sorted(hw.as_graph(graph).nodes), sorted(ids))
        graph = hw.as_graph(pandas.DataFrame({"source": ["Jos\u00e9"], "target": ["b"]}))
        with self.assertRaisesRegex(ValueError, r"which has 'Jos\\xe9'; this looks like 'Jose\\u0301'"):
            hw.NodeClassifier("lp", graph=graph).fit(["Jose\u0301", "b"], ["x", "y"])

    def test_ids_of_stores(self):
        with tempfile.TemporaryDirectory() as folder:
            names = ['"ann"', 'b"ob', " cid", "dan eve", "日本", "#x"]
            store = hw.Store.ingest(networkx.Graph(list(zip(names, names[1:]))), folder + "/g")
            self.assertEqual(store.ids, names)
            self.assertEqual(hw.kernel(store, rows=names[:2]).rows, names[:2])
            for names, text in (([1, "1"], "the nodes 1 and '1' have the same text"), (["a\tb", "c"], "has a tab"), (["a\nb", "c"], "line break")):
                with self.assertRaisesRegex(ValueError, text):
                    hw.Store.ingest(networkx.Graph([names]), folder + "/h")

    def test_repeated(self):
        with self.assertRaisesRegex(ValueError, "the nodes 0 and 1 have one name, 'a'"):
            hw.as_graph(PATH, ids=["a", "a", "b", "c"])
        with self.assertRaisesRegex(ValueError, "rows has 1 twice"):
            hw.kernel(PATH, rows=[1, 1])

    def test_edge_index(self):
        index = np.array([[0, 1], [1, 2]])
        self.assertEqual(hw.as_graph(index, num_nodes=5).n, 5)
        with self.assertRaisesRegex(ValueError, "may be an edge index or a matrix; pass num_nodes"):
            hw.as_graph(index)
        g = hw.as_graph(np.array([[0, 1, 1], [1, 0, 2]]), weight=[3, 3, 5], num_nodes=4)
        self.assertEqual(g.matrix[[0, 1, 1], [1, 0, 2]].tolist(), [[3, 3, 5]])
        g = hw.as_graph(np.array([[0, 1, 1], [1, 0, 2]]), directed=True)
        self.assertEqual(g.matrix.nnz, 3)

    def test_tensors_and_tables(self):
        class Tensor:  # of PyTorch, which needs no import here
            def __init__(self, array):
                self.array, self.shape = array, array.shape

            def detach(self):
                return self

            cpu = detach

            def numpy(self):
                return self.array

        class Data:  # of PyTorch Geometric
            edge_index, edge_weight, num_nodes = Tensor(np.array([[0, 1], [1, 2]])), None, 4

        class Table:  # of Arrow or polars
            column_names, shape = ["source", "target", "note"], (2, 3)

            def __getitem__(self, title):
                return Tensor(np.array({"source": ["a", "b"], "target": ["b", "c"], "note": ["x", "y"]}[title], dtype=object))

        self.assertEqual(hw.as_graph(Data()).n, 4)
        self.assertEqual(hw.as_graph(Table()).nodes, ["a", "b", "c"])
        self.assertEqual(hw.as_graph(Tensor(PATH)).matrix.nnz, 6)
        K = hw.kernel(PATH, rows=Tensor(np.array([2, 1])), cols=[True, False, False, True])
        self.assertEqual((K.rows, K.cols), ([2, 1], [0, 3]))

    @unittest.skipIf(pandas is None, "pandas or NetworkX is not installed")
    def test_pairs_in_both_directions(self):
        base = {"source": ["ann", "bob", "bob"], "target": ["bob", "ann", "cid"]}
        for more in ({}, {"weight": [1, 1, 1]}, {"note": list("xyz")}, {"weight": [1, 1, 1], "note": list("xyz")}):
            self.assertEqual(hw.as_graph(pandas.DataFrame({**base, **more})).matrix.max(), 1)
        with self.assertRaisesRegex(ValueError, "row 1: bob–ann has weight 2, and the opposite direction ann–bob has 1 .row 0.; pass .*, or as_graph.graph, directed=True. to keep both"):
            hw.as_graph(pandas.DataFrame({**base, "weight": [1, 2, 1]}))
        self.assertEqual(hw.as_graph(networkx.MultiGraph([(0, 1), (0, 1)])).matrix.max(), 1)


@unittest.skipIf(pandas is None, "pandas or NetworkX is not installed")
class KindsAndTimes(unittest.TestCase):
    def test_frames(self):
        A, group = two_groups()
        rows = [(f"n{i}", f"n{j}", "pays", "2024-03-01") for i, j in zip(*A.nonzero()) if i < j]
        rng = np.random.default_rng(1)
        rows += [(f"n{i}", f"n{j}", "calls, rarely", "2023-01-01") for i, j in rng.integers(0, 60, (600, 2)) if i != j]
        frame = pandas.DataFrame(rows, columns=["source", "target", "relation", "date"])
        frame["date"] = pandas.to_datetime(frame.date)
        g = hw.as_graph(frame, kind="relation", time="date")
        y = {f"n{i}": int(group[i]) for i in range(30)}
        m = hw.NodeClassifier("lgc", random_state=1).fit(g, y)
        self.assertGreater(m.kind_weights_["pays"], m.kind_weights_["calls, rarely"])
        self.assertEqual(set(m.nodes_), set(frame.source) | set(frame.target))
        part = frame[frame.relation == "pays"]
        want = hw.apply(part, "adjacency", pandas.Series(1.0, index=list(hw.as_graph(part).nodes)))
        ones = np.ones(g.n)
        for settings in (dict(since="2024-01-01"), dict(until=pandas.Timestamp("2024-03-02"), since=pandas.Timestamp("2024-02-01")), dict(half_life="1d")):
            got = hw.apply(g, "adjacency", ones, **settings)
            np.testing.assert_allclose(dict(zip(got.rows, got.array))["n7"], dict(zip(want.rows, want.array))["n7"], atol=1e-6)
        for columns, text in ((dict(kind="date", time="relation"), "graph: row 0: time .* is not a time"), (dict(kind="colour"), "there is no column 'colour'")):
            with self.assertRaisesRegex(ValueError, text):
                hw.as_graph(frame, **columns)
        with self.assertRaisesRegex(ValueError, 'kind_weights: there is no kind "lends"'):
            hw.kernel(g, kind_weights={"lends": 2})
        with self.assertRaisesRegex(ValueError, "kind, time and flags are for a frame, a file"):
            hw.as_graph(PATH, kind="relation")
        folder = os.path.dirname(g.path)
        del g, m
        self.assertFalse(os.path.exists(folder))

    def test_ambiguous_arrays(self):
        """Hidden values are no edges, halves of matrices are named, and ids of two types keep their digits."""
        A = np.ma.masked_less([[0, 0.9, 0.1], [0.9, 0, 0.8], [0.1, 0.8, 0]], 0.5)
        self.assertEqual(hw.as_graph(A).matrix.nnz, 4)
        with self.assertRaisesRegex(ValueError, r"masked elements; fill them, as array.filled\(0\)"):
            hw.apply(A, "laplacian", np.ma.masked_less([1.0, 2, 3], 2))
        with self.assertWarnsRegex(hw.HeatwalkWarning, "strictly triangular"):
            hw.as_graph(np.triu(np.ones((4, 4)), 1))
        with self.assertWarnsRegex(hw.HeatwalkWarning, "-1 is a class"):
            hw.NodeClassifier("majority", graph=np.ones((6, 6)) - np.eye(6)).fit([0, 1, 2, 3], [-1, 0, 1, 1])
        ids = pandas.DataFrame({"source": np.array([2**63 + 1, 2**63 + 2], dtype=np.uint64), "target": [7, 8]})
        self.assertEqual(sorted(map(int, hw.as_graph(ids).nodes)), [7, 8, 2**63 + 1, 2**63 + 2])

    def test_keys_of_multigraphs(self):
        G = networkx.MultiGraph()
        G.add_nodes_from("zabc")
        G.add_edge("a", "b", "pays", weight=2, year=2020)
        G.add_edge("a", "b", "calls", year=2021)
        G.add_edge("b", "c", "calls", year=2022)
        with self.assertWarnsRegex(hw.HeatwalkWarning, "2 of 3 edges have no attribute 'weight'"):
            g = hw.as_graph(G, kind="key", time="year")
        self.assertEqual(list(g.nodes), list("zabc"))
        got = hw.apply(g, "adjacency", np.eye(4), kind_weights={"pays": 10}, until=2021).array
        np.testing.assert_array_equal(got, 21 * (np.add.outer([9, 1, 2, 9], [9, 1, 2, 9]) == 3))

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "edges.csv")
            pandas.DataFrame({"source": [1, 2], "target": [2, 3], "by": ["a", "b"], "at": [5, 6]}).to_csv(path, index=False)
            store = hw.Store.ingest(path, os.path.join(folder, "g"), kind="by", time="at")
            self.assertEqual(hw.apply(store, "adjacency", [1, 1, 1], kind_weights={"a": 3}, since=5).array.tolist(), [3, 4, 1])


@unittest.skipIf(pandas is None, "pandas or NetworkX is not installed")
class Bank(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(2)
        self.ids = rng.permutation(10**6)[:120]
        self.group = np.arange(120) % 2
        ends = rng.integers(0, 120, (1500, 2))
        ends = ends[(self.group[ends[:, 0]] == self.group[ends[:, 1]]) | (rng.random(1500) < 0.1)]
        self.payments = pandas.DataFrame({
            "payer": pandas.array(self.ids[ends[:, 0]], dtype="Int64"), "payee": pandas.array(self.ids[ends[:, 1]], dtype="Int64"),
            "amount": pandas.array(rng.integers(0, 5, len(ends)), dtype="Int64"), "channel": pandas.Categorical(rng.choice(["sepa", "card"], len(ends))),
            "booked": pandas.Timestamp("2024-01-01", tz="UTC") + pandas.to_timedelta(rng.integers(0, 300, len(ends)), "D")})
        self.accounts = pandas.DataFrame({
            "branch": pandas.Categorical(rng.integers(1, 4, 120)), "band": rng.choice(["<5k", "5k-10k"], 120), "vip": rng.random(120) < 0.5,
            "country": np.where(self.group ^ (rng.random(120) < 0.2), "PL", "DE"), "age": pandas.array([None, *range(20, 139)], dtype="Int64"),
            "opened": pandas.date_range("2020-01-01", periods=120, tz="UTC"), "closed": None}, index=pandas.Index(self.ids, name="account"))
        self.y = pandas.Series(np.where(self.group, "fraud", "ok"), index=self.accounts.index)

    def test_reasons(self):
        """Reasons name attributes, kinds, dates and amounts."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", hw.HeatwalkWarning)
            g = hw.as_graph(self.payments, kind="channel", time="booked", ids=self.accounts.index)
        self.assertEqual(g.columns, {"payer": "source", "payee": "target", "amount": "weight", "channel": "kind", "booked": "time"})
        self.assertIn("payer → source", repr(g))
        model = hw.NodeClassifier(node_features=self.accounts, random_state=1).fit(g, self.y.iloc[:40])  # from more labels the links alone tell all others
        self.assertGreater((model.predict() == self.y[model.nodes_]).mean(), 0.9)
        frame = model.explain([int(self.ids[100])], g, number=20)
        names = {name.removeprefix("near nodes: ") for name in frame[frame.reason == "attribute"].name}
        self.assertLessEqual({"country = PL", "country = DE", "band = <5k", "band = 5k-10k", "branch = 1", "age = 119"}, names)
        kinds = frame[frame.reason == "kind"]
        self.assertLessEqual(set(kinds.name), {"sepa", "card"})
        self.assertRegex(kinds.detail.iloc[0], r"^weight \d+, 2024-\d\d-\d\d")
        with tempfile.TemporaryDirectory() as folder:
            model.save(os.path.join(folder, "m"))
            kept = hw.load(os.path.join(folder, "m"))
        np.testing.assert_array_equal(kept.predict(g, node_features=self.accounts.iloc[::-1]), model.predict())
        warnings.simplefilter("ignore", hw.HeatwalkWarning)
        self.addCleanup(warnings.resetwarnings)
        again = hw.as_graph(self.payments.iloc[::-1], kind="channel", time="booked", ids=kept.nodes_)
        np.testing.assert_array_equal(kept.predict(again, node_features=self.accounts), model.predict())
        with self.assertRaisesRegex(ValueError, "nodes of the model come first .* as_graph.graph, ids=model.nodes_"):
            kept.predict(hw.as_graph(self.payments, kind="channel", time="booked"))

    def test_attributes(self):
        """Attributes may be those of some nodes; labels among them have a warning, and names are refused."""
        with self.assertWarnsRegex(hw.HeatwalkWarning, "rows with weight 0 or none left out; as_graph.graph, weight=None. counts every pair once"):
            g = hw.as_graph(self.payments)
        known = self.y[[v for v in self.y.index[:60] if v in set(g.nodes)]]
        few = self.accounts.loc[[v for v in self.accounts.index[:40] if v in set(g.nodes)]]
        self.assertEqual(hw.NodeClassifier(node_features=few, random_state=1).fit(g, known).run_["node_features"]["nodes"], len(few))
        with self.assertWarnsRegex(hw.HeatwalkWarning, 'column "checked" determines the labels of y; .*leave it out of node_features'):
            hw.NodeClassifier(node_features=few.assign(checked=self.y), random_state=1).fit(g, known)
        with self.assertRaisesRegex(ValueError, "column name cannot be an attribute: a different text for nearly every node; leave it out"):
            hw.NodeClassifier(node_features=few.assign(name=[f"name {v}" for v in few.index])).fit(g, known)
        with self.assertRaisesRegex(ValueError, "is not a node of the graph, which has [0-9]+: give both one type$"):
            hw.NodeClassifier("lp").fit(g, known.set_axis(known.index.astype(str)))

    def test_ids_are_texts(self):
        """Numbers and texts in two columns are one node if they have one text, as in the file of the frame."""
        for source in ([1, 2, 3], [1, 2, None], [1, 2.5, 3]):
            frame = pandas.DataFrame({"source": source, "target": ["2", "x", "1"]})
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "f.csv")
                frame.to_csv(path, index=False)
                self.assertEqual(sorted(hw.as_graph(frame).nodes), sorted(hw.as_graph(path).nodes))

    def test_questions(self):
        """Messages name the arguments that answer them, and these answer them."""
        frame = pandas.DataFrame({"from_zone": ["a", "b"], "to_zone": ["b", "a"], "from_area": ["x", "y"], "to_area": ["y", "x"], "fee": [2, 3],
                                  "amount": [-2, 5], "value": ["5 EUR", "7 EUR"], "day": ["03/04/2024", "05/06/2024"]})
        for columns, answer, total in (
            (list(frame)[:5], "source='from_zone', target='to_zone'", 2), (["from_zone", "to_zone", "amount"], "flags=['--weights=signed']", 6),
            (["from_zone", "to_zone", "day", "fee"], "source='from_zone', target='to_zone', weight='fee'", 10), (["from_zone", "to_zone", "value"], "flags=['--duplicates=sum']", 24),
        ):
            with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as log:
                warnings.simplefilter("always")
                path = os.path.join(folder, "f.csv")
                frame[columns].to_csv(path, index=False)
                for graph in frame[columns], path:
                    texts = []
                    try:
                        hw.as_graph(graph).to_scipy()
                    except ValueError as error:
                        texts = [str(error)]
                    self.assertIn(f"as_graph(graph, {answer})", " ".join([*texts, *(str(w.message) for w in log)]))
                    given = eval(f"dict({answer})")
                    if total > 2:  # the directions have different weights
                        given["flags"] = [*given.get("flags", []), "--duplicates=sum"]
                    got = hw.as_graph(graph, **given)
                    self.assertEqual(hw.apply(got, "adjacency", np.ones(2)).array.sum(), total)
        with self.assertRaisesRegex(ValueError, r"as_graph.graph, time='day:dmy'. or as_graph.graph, time='day:mdy'"):
            hw.as_graph(frame[["from_zone", "to_zone", "day"]], time="day")
        g = hw.as_graph(frame[["from_zone", "to_zone", "day"]], time="day:dmy")
        self.assertEqual(hw.apply(g, "adjacency", np.ones(2), until="2024-04-30").array.tolist(), [1, 1])


class Signs(unittest.TestCase):
    def test_negative_weights(self):
        side = np.array([1, 1, 1, -1, -1, -1])
        A = np.outer(side, side) - np.eye(6)
        want = np.diag(np.abs(A).sum(axis=1)) - A
        with tempfile.TemporaryDirectory() as folder:
            for graph in (A, sp.csr_matrix(A, dtype=np.int64), hw.Store.ingest(sp.csr_matrix(A), os.path.join(folder, "g"))):
                np.testing.assert_allclose(hw.apply(graph, "laplacian", np.eye(6)).array, want, atol=1e-12)
        labels = hw.NodeClassifier("lp").fit(A, [0, -1, -1, 1, -1, -1]).labels_
        self.assertEqual(list(labels), [0, 0, 0, 1, 1, 1])
        with self.assertRaisesRegex(ValueError, "cwk: it takes probabilities"):
            hw.NodeClassifier("cwk").fit(A, [0, -1, -1, 1, -1, -1])
        with self.assertRaisesRegex(ValueError, "if this is a Laplacian, pass the adjacency matrix"):
            hw.as_graph(want)

    @unittest.skipIf(pandas is None, "pandas is not installed")
    def test_frames(self):
        edges = pandas.DataFrame({"source": ["a", "b", "b"], "target": ["b", "a", "c"], "weight": [-1, -1, 2.0]})
        self.assertEqual(hw.as_graph(edges).to_scipy().toarray().tolist(), [[0, -1, 0], [-1, 0, 2], [0, 2, 0]])
        with self.assertRaisesRegex(ValueError, "b–a has weight 1, and the opposite direction a–b has -1"):
            hw.as_graph(edges.assign(weight=[-1, 1, 2]))


class Sums(unittest.TestCase):
    def test_elements_at_one_place(self):
        """They are added without overflow, in every type and form, as in a file of edges, and the argument stays."""
        rows, cols = np.array([0, 1] * 3 + [1, 2]), np.array([1, 0] * 3 + [2, 1])
        for kind in (np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64, np.float16, np.float32):
            large = (np.iinfo(kind) if np.dtype(kind).kind in "iu" else np.finfo(kind)).max // 2
            data = np.array([large] * 6 + [1, 1]).astype(kind)
            order = np.lexsort((cols, rows))
            parts = data[order], cols[order], np.concatenate([[0], np.cumsum(np.bincount(rows))])
            coo = sp.coo_matrix((data, (rows, cols)), shape=(3, 3))
            forms = [coo, sp.csr_matrix(parts, shape=(3, 3)), sp.csc_matrix(parts, shape=(3, 3))]
            forms += [sp.coo_array(coo)] if hasattr(sp, "coo_array") else []
            for matrix in forms:
                stored = matrix.data.copy()
                np.testing.assert_allclose(hw.as_graph(matrix).to_scipy().toarray()[0, 1], 3 * float(data[0]))
                np.testing.assert_array_equal(matrix.data, stored)
            sides = sp.coo_matrix((data[:3], ([0] * 3, [1] * 3)), shape=(2, 2))
            np.testing.assert_allclose(hw.as_graph(sides, bipartite=True).to_scipy().toarray()[0, 3], 3 * float(data[0]))
            block = sp.coo_matrix((data[:3], ([1] * 3, [0] * 3)), shape=(4, 1))
            np.testing.assert_allclose(hw.apply(PATH, "adjacency", block).array[0, 0], 3 * float(data[0]))
            index = hw.as_graph(np.array([[0] * 3, [1] * 3]), weight=data[:3]).to_scipy()
            np.testing.assert_allclose(index.toarray()[0, 1], 3 * float(data[0]))
        self.assertEqual(hw.as_graph(coo.astype(bool)).to_scipy().toarray().sum(), 4)


class LabelsAndNumbers(unittest.TestCase):
    def test_missing_labels(self):
        masked = np.ma.masked_array(["a", "x", "x", "b"], mask=[0, 1, 1, 0])
        forms = [masked, ["a", None, None, "b"], [b"a", b"", b"", b"b"], ["a", np.nan, None, "b"],
                 np.ma.masked_array([5, 1, 1, 7], mask=[0, 1, 1, 0]), np.array([5, -1, -1, 7], dtype=np.int8)]
        if pandas is not None:
            na = pandas.NA
            series = [pandas.Series(["a", na, na, "b"], dtype=d) for d in ("string", "category", object)]
            forms += [["a", na, na, "b"], {0: "a", 1: na, 3: "b"}, *series, *(s.values for s in series),
                      pandas.array([5, None, None, 7], dtype="Int64"), pandas.Series(["a", pandas.NaT, None, "b"], dtype=object)]
        for y in forms:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", hw.HeatwalkWarning)
                m = hw.NodeClassifier("lp").fit(PATH, y)
            self.assertIn(m.classes_.tolist(), (["a", "b"], [b"a", b"b"], [5, 7]))
            self.assertEqual(m.predict()[1:3].tolist(), m.classes_.tolist())
        with self.assertWarnsRegex(hw.HeatwalkWarning, "'nan' as a class, because it is text"):
            hw.NodeClassifier("lp").fit(PATH, np.array(["a", "nan", "nan", "b"]))

    def test_labels_of_some_nodes(self):
        """Predictions have the type of the labels, in whatever they are given; -1, None or NaN is no label."""
        for kind in (np.int64, np.int8, np.uint8, np.float64, np.float32, np.bool_, np.int32):
            low, high = kind(0), kind(1)
            forms = [{0: low, 3: high}, [low, None, None, high], np.array([low, None, None, high], dtype=object)]
            if pandas is not None:
                some = pandas.Series([low, high], index=[0, 3])
                forms += [some, some.to_frame()]
            for y in forms:
                predicted = hw.NodeClassifier("lp").fit(PATH, y).predict()
                self.assertEqual((predicted.dtype, predicted.tolist()), (kind, [low, low, high, high]))
        for low, high in ((2 ** 70, 1), (False, 2), ((1, 2), (2, 3))):
            self.assertEqual(hw.NodeClassifier("lp").fit(PATH, {0: low, 3: high}).predict().dtype, object)

    def test_types_of_labels(self):
        for y in (np.array(["a", "", "", "b"]), np.array([5, -1, -1, 7], dtype=np.int16), np.array(["a", None, None, "b"], dtype=object),
                  np.array([1.0, np.nan, np.nan, 2.0])):
            m = hw.NodeClassifier("lp").fit(PATH, y)
            self.assertEqual((m.predict().dtype, m.classes_.dtype), (y.dtype, y.dtype))
            first = m.predict()
            first[:] = first[::-1].copy()
            self.assertEqual(m.predict()[0], y[0])

    def test_one_class(self):
        with self.assertRaisesRegex(ValueError, "y has one class, 'a'; two classes are needed"):
            hw.NodeClassifier().fit(PATH, {0: "a"})

    def test_failed_fit_changes_nothing(self):
        m = hw.NodeClassifier("lp").fit(PATH, [0, -1, -1, 1])
        before = pickle.dumps(m)
        m.method = "bad"
        with self.assertRaises(ValueError):
            m.fit(PATH, [5, -1, -1, 6])
        m.method = "lp"
        self.assertEqual(pickle.dumps(m), before)

    def test_indicators(self):
        A, group = two_groups()
        matrix = np.stack([group == 0, group == 1], axis=1).astype(int)
        matrix[20:] = 0
        want = hw.NodeClassifier(multi_label=True, random_state=1).fit(A, matrix)
        for y in (matrix.tolist(), matrix.astype(bool), sp.csr_matrix(matrix)):
            got = hw.NodeClassifier(multi_label=True, random_state=1).fit(A, y)
            np.testing.assert_array_equal(got.predict(), want.predict())
        with self.assertRaisesRegex(ValueError, "values other than 0 and 1"):
            hw.NodeClassifier(multi_label=True).fit(A, 2 * matrix)
        with self.assertRaisesRegex(ValueError, "multi_label=True"):
            hw.NodeClassifier().fit(PATH, [["a"], ["a", "b"], None, None])

    @unittest.skipIf(pandas is None, "pandas or NetworkX is not installed")
    def test_titles_of_attributes(self):
        A, group = two_groups(200)
        y = np.where(np.arange(200) < 60, group, -1)
        rng = np.random.default_rng(1)
        columns = [rng.normal(size=200), rng.normal(size=200) + 3 * group, np.where(group == 1, "red", "blue")]
        want = None
        for titles in (("a", "b", "c"), ("type", "y", "label"), ("node", "class", "target"), ("id", "group", "x"), (0, 1, 2)):
            frame = pandas.DataFrame(dict(zip(titles, columns)))
            m = hw.NodeClassifier(node_features=frame, random_state=1).fit(A, y)
            want = m.scores_ if want is None else want
            np.testing.assert_array_equal(m.scores_, want)

    @unittest.skipIf(pandas is None, "pandas is not installed")
    def test_numbers(self):
        for y in ({0: np.float64(1), 3: 4}, [1, None, None, 4], pandas.array([1, None, None, 4], dtype="Int64"), np.ma.masked_array([1.0, 9, 9, 4], [0, 1, 1, 0]),
                  pandas.Series([1, None, None, 4], dtype="Int64"), pandas.Series({0: 1.0, 3: 4.0})):
            self.assertEqual(hw.regress(PATH, y, "harmonic").value.round(9).tolist(), [1, 2, 3, 4])
        with self.assertRaisesRegex(ValueError, "y has an element that is no number"):
            hw.regress(PATH, {0: "x", 1: 2})
        A = random_graph(20000, 60000, 1)
        begun = time.process_time()
        hw.regress(A, dict(enumerate(np.arange(200.0))), "harmonic")
        frame = hw.rank(A, [1, 2])
        self.assertLess(time.process_time() - begun, 2)  # it was quadratic
        self.assertGreater(len(set(frame.score)), len(set(frame.score.round(6))))


class Results(unittest.TestCase):
    def test_diagonal(self):
        M = np.array([[2.0, 1, 0], [1, 0, 3], [0, 3, 5]])
        want = np.linalg.eigvalsh(M)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.npz")
            sp.save_npz(path, sp.csr_matrix(M))
            with self.assertWarnsRegex(hw.HeatwalkWarning, "2 edges from a node to itself are left out"):
                hw.Store.ingest(M, os.path.join(folder, "without"))
            store = hw.Store.ingest(M, os.path.join(folder, "with"), self_loops="keep")
            for graph in (M, path, store):
                np.testing.assert_allclose(hw.eigsh(graph, 3)[0], want, atol=1e-8)
                np.testing.assert_allclose(hw.apply(graph, "adjacency", [1, 0, 0]).array, M[0])
                np.testing.assert_allclose(hw.expm_multiply(graph, np.eye(3)), scipy.linalg.expm(M), rtol=1e-7)
        with self.assertWarns(hw.HeatwalkWarning):
            self.assertEqual(hw.apply(M, "adjacency", [1, 0, 0], self_loops=False).array.tolist(), [0, 1, 0])
        with self.assertWarnsRegex(hw.HeatwalkWarning, "the diagonal is left out, 2 edges") as caught:
            hw.kernel(M)
        self.assertEqual(caught.filename, __file__)

    def test_eigenvectors_are_orthonormal(self):
        star = np.zeros((20, 20))
        star[0, 1:] = star[1:, 0] = 1
        complete = np.ones((12, 12)) - np.eye(12)
        two = np.kron(np.eye(2), np.ones((5, 5)) - np.eye(5))
        for A in (star, complete, two, PATH):
            for matrix in ("adjacency", "normalized-adjacency"):
                d = A.sum(1) if matrix != "adjacency" else np.ones(len(A))
                M = A / np.sqrt(np.outer(d, d))
                for k in {1, 2, len(A) // 2, len(A)}:
                    w, v = hw.eigsh(A, k, matrix=matrix)
                    self.assertLess(abs(v.T @ v - np.eye(k)).max(), 1e-8)
                    self.assertLess(abs(M @ v - v * w).max(), 1e-6)
                    np.testing.assert_allclose(sorted(abs(w)), sorted(abs(np.linalg.eigvalsh(M)))[-k:], atol=1e-7)

    def test_tolerance_holds_for_each_column(self):
        A = random_graph(60, 300, 1)
        w, v = np.linalg.eigh(A.toarray())
        B = np.stack([v[:, 0], v[:, 30], v[:, 45], np.zeros(60)], axis=1)
        tol = 1e-6
        for times in (dict(t=-1.5), dict(start=0, stop=-1.5, num=3)):
            got = hw.expm_multiply(A, B, tol=tol, **times).reshape(-1, 60, 4)
            for t, result in zip(np.linspace(0, -1.5, 3) if len(got) > 1 else [-1.5], got):
                want = scipy.linalg.expm(t * A.toarray()) @ B
                norm = np.linalg.norm(want, axis=0)
                self.assertLessEqual((np.linalg.norm(result - want, axis=0) - tol * norm).max(), 0, (t, norm))
        with self.assertRaisesRegex(hw.HeatwalkError, "rounding errors may exceed the default tolerance, 1e-08; pass tol"):
            hw.expm_multiply(A, v[:, [0, 59]], t=-1.5)

    def test_times(self):
        np.testing.assert_allclose(hw.expm_multiply(PATH, np.arange(4.0), t=0, matrix="laplacian"), np.arange(4))
        self.assertGreater(hw.expm_multiply(random_graph(40, 400, 1, weighted=False), np.ones(40), t=40).max(), 1e200)

    def test_blocks(self):
        block = hw.apply(PATH, "adjacency", np.eye(4))
        copy = np.array(block, copy=True)
        copy[:] = 99
        self.assertEqual(block.array.max(), 1)
        for out in ("K.npz", "K.svm"):
            with self.assertRaisesRegex(ValueError, "give a file with the ending .npy"):
                hw.kernel(PATH, out=out)
        self.assertEqual(hw.kernel(PATH, dtype=np.float64, tol=np.float64(1e-6)).dtype, np.float64)
        self.assertEqual(hw.apply(PATH, "adjacency", np.eye(4, dtype=">f8")).shape, (4, 4))

    def test_ids_of_a_store_are_read_when_needed(self):
        with tempfile.TemporaryDirectory() as folder:
            store = hw.Store.ingest(random_graph(50, 200, 1), os.path.join(folder, "g"))
            calls = ("hw.apply(g, 'laplacian', np.ones(50)).array", "hw.NodeClassifier('lp').fit(g, np.arange(50) % 2).predict()",
                     "hw.kernel(g, rows=np.arange(50) < 3).array")
            for call in calls:
                g = hw.Store.open(store.path)
                eval(call, {"g": g, "hw": hw, "np": np})
                if "rows" not in call:
                    self.assertIsNone(g._nodes._names)

    def test_results_in_processes(self):
        try:
            from joblib import Parallel, delayed
        except ImportError:
            self.skipTest("joblib is not installed")
        A = random_graph(3000, 9000, 1)
        for K in Parallel(2)(delayed(hw.kernel)(A, dtype="float64") for _ in range(2)):
            self.assertEqual(K.shape, (3000, 3000))



@unittest.skipIf(pandas is None, "pandas or NetworkX is not installed")
class Types(unittest.TestCase):
    """A frame has types: nothing of the rules for text files applies to its cells, and nothing is lost without a word."""

    def setUp(self):
        self.path = np.diag(np.ones(5), 1) + np.diag(np.ones(5), -1)

    def test_twice(self):
        edges = pandas.DataFrame({"source": ["a", "c"], "target": ["b", "b"]})
        with self.assertRaisesRegex(ValueError, "ids has 'a' twice"):
            hw.as_graph(edges, ids=["a", "b", "a"])
        with self.assertRaisesRegex(ValueError, "X has a node twice with different numbers"):
            hw.NodeRegressor("harmonic", graph=self.path).fit([0, 0, 5], [10, 30, 60])

    def test_lengths(self):
        """A warning about lengths names a remedy that works."""
        frame = pandas.DataFrame({"source": ["a", "b"], "target": ["b", "c"], "length": [4.0, 2]})
        with self.assertWarnsRegex(hw.HeatwalkWarning, "1/length"):
            hw.as_graph(frame)
        with self.assertRaisesRegex(ValueError, "weight='1/length'"):
            hw.as_graph(frame, weight="length")
        import networkx
        link = networkx.from_pandas_edgelist(frame, edge_attr=True)
        for graph, given in ((frame, {"source": "source", "target": "target"}), (frame, {}), (link, {})):
            self.assertEqual(sorted(hw.as_graph(graph, weight="1/length", **given).matrix.data), [0.25, 0.25, 0.5, 0.5])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(hw.as_graph(frame.assign(weight=1 / frame.length)).matrix.data.min(), 0.25)

    def test_words(self):
        """Text such as NA and inf is a category, as other text is."""
        labels, want = {0: "l", 1: "l", 4: "r", 5: "r"}, None
        for words in ("xyz", ("NA", "inf", "None"), ("-", "?", "unknown"), ("null", "-1", "5 kg")):
            a, b, c = words
            frame = pandas.DataFrame({"country": [a, b, a, b, c, c]})
            model = hw.NodeClassifier(node_features=frame, random_state=0).fit(self.path, labels)
            reasons = model.explain([2, 3], self.path)
            shares = reasons.share.to_numpy()
            want = shares if want is None else want
            np.testing.assert_allclose(shares, want, atol=1e-9)  # categories in another order
            names = " ".join(reasons.name[reasons.reason == "attribute"])
            self.assertTrue(any(f"country = {word}" in names for word in words), names)
        vectors = pandas.DataFrame({"vector": [[0.1, 0.2]] * 6})
        with self.assertRaisesRegex(ValueError, "the column 'vector' has elements of type list"):
            hw.NodeClassifier(node_features=vectors).fit(self.path, labels)

    def test_minus_one_is_a_class_of_nodes(self):
        y = [-1, -1, 0, 0, 1, 1]
        with self.assertWarnsRegex(hw.HeatwalkWarning, "-1 is a class"):
            found = hw.NodeEmbedding(graph=self.path, method="cwk:steps=3", random_state=0).fit_transform(range(6), y)
        want = hw.NodeEmbedding(graph=self.path, method="cwk:steps=3", random_state=0).fit_transform(range(6), [0, 0, 1, 1, 2, 2])
        np.testing.assert_array_equal(found, want)

    def test_prior(self):
        """Shares by name, in a dict, a series or a file, are those of the program."""
        y = {0: "l", 1: "l", 4: "r", 5: "r"}
        shares = {"r": 0.1, "l": 0.9}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "prior.tsv")
            with open(path, "w") as file:
                file.write("label\tshare\nl\t0.9\nr\t0.1\n")
            found = [hw.NodeClassifier("cwk+svm", prior=prior, random_state=0).fit(self.path, y).scores_
                     for prior in (shares, pandas.Series(shares), path)]
        for scores in found[1:]:
            np.testing.assert_array_equal(scores, found[0])
        with self.assertRaisesRegex(ValueError, "prior: 'x' is no class of y"):
            hw.NodeClassifier("cwk+svm", prior={"x": 1}).fit(self.path, y)

    def test_kinds(self):
        """Kinds have their types; edges of kinds count in an embedding and a matrix."""
        ends = {"source": list("abcd"), "target": list("bcde")}
        for yes, no in ((True, False), (1, 2), (1.5, 2.5), ("x", "y")):
            g = hw.as_graph(pandas.DataFrame({**ends, "kind": [yes, no, yes, no]}), kind="kind")
            self.assertEqual(hw.apply(g, "adjacency", np.ones(5), kind_weights={yes: 5.0}).array.tolist(), [5, 6, 6, 6, 1])
            model = hw.NodeClassifier("lp", random_state=0).fit(g, {"a": 0, "b": 0, "d": 1, "e": 1})
            self.assertEqual(sorted(model.kind_weights_), sorted([yes, no]))
            np.testing.assert_array_equal(g.to_scipy().toarray(), np.diag(np.ones(4), 1) + np.diag(np.ones(4), -1))
            self.assertEqual(hw.NodeEmbedding(2, graph=g).fit_transform(list("abc")).shape, (3, 2))

    def test_floats_are_no_edge_index(self):
        with self.assertRaisesRegex(ValueError, "floats do not tell apart"):
            hw.as_graph(np.array([[2.0**60, 2.0**60], [2.0**60, 2.0**60]]))

    def test_block(self):
        """A block is an array in expressions, and its hash does not change by use."""
        K = hw.kernel(self.path, "diffusion")
        A = K.array
        for found, want in ((K.T, A.T), (K + 1, A + 1), (2 * K, 2 * A), (K @ K, A @ A), (K.sum(), A.sum()), (K.ndim, 2), (np.exp(K), np.exp(A)),
                            (pandas.DataFrame(K).to_numpy(), A)):
            np.testing.assert_array_equal(found, want)
        g = hw.as_graph(pandas.DataFrame({"source": list("abcde"), "target": list("bcdef")}))
        before = pickle.dumps(g)
        hw.NodeClassifier("lp").fit(g, {"a": 0, "f": 1})
        self.assertEqual(pickle.dumps(g), before)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(K)).array, A)

    def test_parallel_edges(self):
        G = networkx.MultiGraph([("a", "b"), ("a", "b"), ("b", "c"), ("c", "c")])
        with self.assertWarnsRegex(hw.HeatwalkWarning, "1 parallel edges without weights"):
            hw.as_graph(G)


if __name__ == "__main__":
    unittest.main()

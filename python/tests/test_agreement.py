"""Two ways to one answer: objects of Python and files of the command, NodeClassifier and classify."""

import csv
import json
import os
import re
import subprocess
import tempfile
import unittest
import warnings

import numpy as np
import scipy.sparse as sp

import heatwalk as hw

from .graphs import half
from .test_classifier import missing


class Edges:
    """Random edges between n nodes: repeated ones, loops, weights over 12 decades, and nodes without an edge."""

    def __init__(self, seed, directed, weighted, n=30, m=120):
        rng = np.random.default_rng(seed)
        self.directed, self.weighted, self.n = directed, weighted, n
        ends = rng.integers(0, n - 2, (m, 2))  # the last two nodes are isolated
        ends = np.concatenate([ends, ends[: m // 3], [[0, 0], [0, 0]]])
        if not directed:  # the rule of files for a–b and b–a is that of the matrices, which have both
            ends = np.sort(ends, axis=1)
        self.source, self.target = ends.T
        self.weight = 10.0 ** rng.integers(-6, 7, len(ends)) if weighted else np.ones(len(ends))
        self.names = [f"node {i}" if seed % 2 else 7 * i + 3 for i in rng.permutation(n)]

    def matrix(self):
        """Return the matrix by its definition: weights of repeated edges are added, others count once."""
        A = np.zeros((self.n, self.n))
        for i, j, w in zip(self.source, self.target, self.weight):
            for i, j in ((i, j),) if self.directed or i == j else ((i, j), (j, i)):
                A[i, j] = A[i, j] + w if self.weighted else 1
        return A

    def lines(self):
        """Return the edges by names, with weights if they have some."""
        names = [[self.names[i] for i in end] for end in (self.source, self.target)]
        return list(zip(*names, self.weight.tolist()) if self.weighted else zip(*names))

    def table(self):
        """Return the lines of a table, of an undirected graph perhaps in both directions."""
        lines = self.lines()
        if not self.directed and isinstance(self.names[0], str):
            lines += [(b, a, *w) for a, b, *w in reversed(lines) if a != b]
        return lines

    def write(self, folder):
        """Write a table of the edges and return its path and the flags to read it with."""
        path, nodes = (os.path.join(folder, name) for name in ("edges.csv", "nodes.ids"))
        with open(path, "w", newline="") as file:
            csv.writer(file).writerows([("source", "target", "weight")[: 2 + self.weighted], *self.table()])
        with open(nodes, "w") as file:
            file.writelines(f"{v}\n" for v in self.names)
        return path, ["--directed" if self.directed else "--undirected", "--nodes", nodes, "--self-loops", "keep"]

    def objects(self):
        """Return (description, graph) for each library that is installed."""
        i, j, w = self.source, self.target, self.weight
        if not self.directed:
            other = i != j
            i, j, w = np.concatenate([i, j[other]]), np.concatenate([j, i[other]]), np.concatenate([w, w[other]])
        if self.weighted:  # 1 twice in a matrix is 2 in SciPy
            coo = sp.coo_matrix((w, (i, j)), shape=(self.n, self.n))
            order = np.argsort(i, kind="stable")
            csr = sp.csr_matrix((w[order], j[order], np.searchsorted(i[order], np.arange(self.n + 1))), (self.n, self.n))
            order = np.argsort(j, kind="stable")
            csc = sp.csc_matrix((w[order], i[order], np.searchsorted(j[order], np.arange(self.n + 1))), (self.n, self.n))
            for A in (coo, csr, csc, coo.tolil(), coo.todok(), coo.toarray(), sp.csr_array(csr)):
                yield type(A).__name__, hw.as_graph(A, ids=self.names)
        weight = self.weight if self.weighted else None
        yield "edge index", hw.as_graph(np.stack([self.source, self.target]), weight=weight, directed=self.directed, num_nodes=self.n, ids=self.names)
        if not missing("networkx"):
            import networkx

            kinds = (networkx.DiGraph, networkx.MultiDiGraph) if self.directed else (networkx.Graph, networkx.MultiGraph)
            for kind in kinds:
                G = kind()
                G.add_nodes_from(self.names)
                for a, b, *w in self.lines():
                    if self.weighted and not G.is_multigraph() and G.has_edge(a, b):
                        w[0] += G[a][b]["weight"]
                    G.add_edge(a, b, **({"weight": w[0]} if self.weighted else {}))
                yield kind.__name__, hw.as_graph(G)
        if not missing("igraph"):
            import igraph

            G = igraph.Graph(self.n, list(zip(self.source, self.target)), directed=self.directed)
            G.vs["name"] = self.names
            if self.weighted:
                G.es["weight"] = self.weight
            yield "igraph", hw.as_graph(G)
        if not missing("pandas"):
            import pandas

            frame = pandas.DataFrame(self.table(), columns=["source", "target", "weight"][: 2 + self.weighted])
            yield "frame", hw.as_graph(frame, directed=self.directed)
            if not missing("pyarrow"):
                import pyarrow

                yield "table", hw.as_graph(pyarrow.Table.from_pandas(frame), directed=self.directed)


def command(*args):
    """Run the program and return its report."""
    done = subprocess.run([hw.binary(), *args, "--json", "--quiet"], capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


class Agreement(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore", hw.HeatwalkWarning)
        self.addCleanup(warnings.resetwarnings)

    def test_edges(self):
        """Objects of Python, the file and the definition are one graph."""
        for seed, (directed, weighted) in enumerate((d, w) for d in (False, True) for w in (False, True) for _ in range(2)):
            edges = Edges(seed, directed, weighted)
            want = edges.matrix()
            with tempfile.TemporaryDirectory() as folder:
                path, flags = edges.write(folder)
                store = os.path.join(folder, "store")
                command("ingest", path, "-o", store, *flags)
                graphs = [("file", hw.as_graph(store)), *edges.objects()]
                for name, g in graphs:
                    row = {v if name != "file" else str(v): i for i, v in enumerate(edges.names)}
                    rows = [row[v] for v in g.nodes]
                    if name not in ("frame", "table"):  # which have no nodes without edges
                        self.assertEqual(len(rows), edges.n, name)
                    np.testing.assert_allclose(g.to_scipy().toarray(), want[rows][:, rows], rtol=1e-12, atol=0, err_msg=f"{seed} {name}")

    @unittest.skipIf(missing("pandas"), "pandas is not installed")
    def test_frames(self):
        """A frame and the file that pandas makes of it are one graph, or one question."""
        import pandas

        base = {"s": list("abbdc"), "t": list("bacaa")}
        amounts = {"amount": [5.0, 3, 2, 1.5, 1], "Betrag": ["1.002,27", "3,5", "2", "1", "4"], "n": [1, 2, 3, 4, 5], "Weight": [0, np.nan, 2, 1, 1], "amount ": [-1, 2, 3, 4, 5]}
        dates = {"booked": pandas.to_datetime("2024-01-01") + pandas.to_timedelta(range(5), "D"), "channel": list("xyxyx"), "text": "note"}
        pairs = "from_account/to_account Auftraggeber/Empfänger source/target user/item".split()
        for k, pair in enumerate(pairs):
            ends = dict(zip(pair.split("/"), base.values()))
            frames = [(f"{pair} {title}", pandas.DataFrame({**ends, title: w}), {}) for title, w in amounts.items()]
            many = pandas.DataFrame({**ends, "amount": amounts["amount"], **dates})
            frames += [(f"{pair} {a}", many, a) for a in (
                {}, {"weight": None}, {"directed": True}, {"kind": "channel"}, {"time": "booked"}, {"kind": "channel", "time": "booked"}, {"flags": ["--duplicates=max"]})]
            frames += [(f"{pair} none", pandas.DataFrame(ends), {}), (f"{pair} two", many.assign(value=1), {}), (f"{pair} two, none", many.assign(value=1), {"weight": None}),
                       (f"{pair} thousands", frames[1][1], {"flags": ["--thousands=."]}), (f"{pair} lost", many.assign(**{pair.split("/")[0]: ["a", None, "b", "d", "c"]}), {})]
            for name, frame, arguments in half(frames[k % 2 :] + frames[: k % 2]):
                with tempfile.TemporaryDirectory() as folder:
                    path = os.path.join(folder, "f.csv")
                    frame.to_csv(path, index=False)
                    made = self.describe(frame, arguments)
                    read = self.describe(path, {**arguments, "flags": ["--header=yes", *arguments.get("flags", [])]})
                self.assertEqual(made, read, name)

    def describe(self, graph, arguments):
        """Return the nodes and edges of a graph with the warnings about weights, or the error, without rows and lines."""
        with warnings.catch_warnings(record=True) as log:
            warnings.simplefilter("always")
            try:
                g = hw.as_graph(graph, **arguments)
                rows = np.argsort(np.array(g.nodes, dtype=str))
                A = hw.apply(g, "adjacency", np.eye(g.n), self_loops=False).array[rows][:, rows]
                found = [str(v) for v in np.array(g.nodes)[rows]], A.tolist()
            except ValueError as error:
                found = type(error), str(error)
        texts = [str(found), *sorted(str(w.message) for w in log if "weight" in str(w.message))]
        for pattern, text in ((r"(?<!-)\bline(s?)\b", r"row\1"), (r"\brow \d+", "row"), (r"/\S*f\.csv(:\d+)*", "graph"), (r"graph(: row)?: ", "graph: "), (r"T00:00:00", "")):  # a frame has dates with times
            texts = [re.sub(pattern, text, t) for t in texts]
        return texts

    @unittest.skipIf(missing("pandas"), "pandas is not installed")
    def test_kinds(self):
        """Edges with kinds are the same edges without, and weights of kinds multiply."""
        import pandas

        rng = np.random.default_rng(5)
        ends = rng.integers(0, 20, (80, 2))
        ends = np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1)
        frame = pandas.DataFrame(ends, columns=["source", "target"])
        frame["weight"] = rng.integers(1, 9, len(ends)).astype(float)
        frame["kind"] = rng.choice(["pays", "calls"], len(ends))
        plain, g = hw.as_graph(frame), hw.as_graph(frame, kind="kind")
        self.assertEqual(list(plain.nodes), list(g.nodes))
        B = np.eye(plain.n)
        np.testing.assert_array_equal(hw.apply(g, "adjacency", B).array, plain.to_scipy().toarray())
        frame.loc[frame.kind == "pays", "weight"] *= 5
        want = hw.as_graph(frame).to_scipy().toarray()
        np.testing.assert_array_equal(hw.apply(g, "adjacency", B, kind_weights={"pays": 5}).array, want)

    def test_classify(self):
        """NodeClassifier and classify have the same numbers."""
        edges = Edges(2, False, True, n=300, m=900)
        group = np.arange(300) % 3
        known = np.random.default_rng(1).permutation(300)[:90]
        A = edges.matrix()
        np.fill_diagonal(A, 0)
        A = sp.csr_matrix(A)
        y = np.full(300, -1)
        y[known] = group[known]
        with tempfile.TemporaryDirectory() as folder:
            path, labels, out = (os.path.join(folder, name) for name in ("a.npz", "labels.tsv", "p.npz"))
            sp.save_npz(path, A)
            with open(labels, "w") as file:
                file.writelines(["node\tlabel\n", *(f"{i}\t{y[i]}\n" for i in np.flatnonzero(y >= 0))])
            weights = (None, "given", "log", "none")
            cases = [("auto", w) for w in weights] + [(m, None) for m in ("lgc", "poisson")]
            for method, weights in half(cases + [("lp", w) for w in weights] + [(m, None) for m in ("beliefs", "cwk+svm")]):
                model = hw.NodeClassifier(method, random_state=7, edge_weights=weights).fit(A, y)
                flags = [] if weights is None else ["--edge-weights", weights]
                run = command("classify", path, "--labels", labels, "--method", method, "--seed", "7", "-o", out, *flags)
                for key in set(run) | set(model.run_):
                    if "seconds" not in key and key not in ("output", "peak_memory_bytes", "temporary_bytes", "classes", "skipped_label_lines"):
                        self.assertEqual(run.get(key), model.run_.get(key), f"{method} {weights}: {key}")
                self.assertEqual(run.get("accuracy_estimate"), model.accuracy_)
                self.assertEqual(run.get("accuracy_stderr"), model.accuracy_stderr_)
                self.assertEqual(run["weights"], model.settings_["weights"])
                if weights is not None:
                    self.assertEqual(run["weights"], weights)
                with np.load(out) as file:
                    np.testing.assert_array_equal(file["features"][:, np.argsort(file["cols"])], model.scores_)

    @unittest.skipIf(missing("pandas"), "pandas is not installed")
    def test_explain(self):
        """Reasons are those of the predictions of fit, with weights of kinds that it was given or chose."""
        import pandas

        rng = np.random.default_rng(3)
        group = np.arange(60) % 2
        ends = rng.integers(0, 60, (600, 2))
        ends = ends[ends[:, 0] != ends[:, 1]]
        same = group[ends[:, 0]] == group[ends[:, 1]]
        frame = pandas.DataFrame(ends, columns=["source", "target"])
        frame["kind"] = np.where(same, "pays", "calls")
        frame["time"] = 1 + np.arange(len(ends)) % 9
        labels = {i: "ab"[group[i]] for i in range(20)}
        for arguments in ({}, {"kind_weights": {"pays": 2}}, {"half_life": "choose"}, {"random_state": 3, "method": "lgc"}):
            g = hw.as_graph(frame, kind="kind", **({"time": "time"} if "half_life" in arguments else {}))
            model = hw.NodeClassifier(**{"method": "lp", **arguments}).fit(g, labels)
            reasons = model.explain([30, 41], g)
            for node in (30, 41):
                mine = reasons[reasons.node == node]
                self.assertEqual(mine.label.iloc[0], model.to_dict()[node])
                score = mine[mine.reason == "score"]
                row = list(g.nodes).index(node)
                self.assertAlmostEqual(score.detail.iloc[0], model.predict_proba()[row].max(), 5)
                parts = mine.reason.isin(["label", "other labels", "attribute", "other attributes", "rest"])
                self.assertAlmostEqual(mine.share[parts].sum(), score.share.iloc[0], 5)


if __name__ == "__main__":
    unittest.main()

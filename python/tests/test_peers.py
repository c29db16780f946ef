"""The calls of docs/peers.md give the numbers of dense formulas, and of the other tools where they are installed."""

import os
import subprocess
import tempfile
import unittest
import warnings

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

import heatwalk as hw

try:
    import igraph
    import networkx as nx
    import sklearn.manifold
    import sklearn.semi_supervised
    import sklearn.svm
except ImportError:
    nx = None

PAGE = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "peers.md")
N, A = 30, 0.85
rng = np.random.default_rng(3)


def symmetric(a):
    return np.triu(a, 1) + np.triu(a, 1).T


G = symmetric(np.where(rng.random((N, N)) < 0.2, rng.random((N, N)) + 0.1, 0) + np.diag(np.full(N - 1, 0.5), 1))
U = (G != 0).astype(float)
D = np.where(rng.random((N, N)) < 0.12, rng.random((N, N)) + 0.1, 0)
np.fill_diagonal(D, 0)
D[[4, 11]] = 0  # sinks
D[20], D[:, 20] = 0, 0  # isolated
H = G + np.diag(np.where(np.arange(N) % 7 == 0, 1.5, 0))
H2 = H + np.diag(np.diag(H))
ones, b, s = np.ones(N), rng.standard_normal((N, 2)), 3
seeds = {3: 3.0, 5: 1.0, 16: 0.5}
w = np.array([seeds.get(i, 0.0) for i in range(N)])
y = np.array([i // 5 % 3 if i % 5 == 0 else -1 for i in range(N)])
Y = np.array([[label == c for c in range(3)] for label in y]).astype(float)
eye = np.eye(N)


def laplacian(a, normed=False):
    d = a.sum(axis=1)
    return eye - a / np.sqrt(np.outer(d, d)) if normed else np.diag(d) - a


def pagerank(a, p, sinks=None):
    d, p = a.sum(axis=1), p / p.sum()
    q = p if sinks is None else sinks
    T = np.array([row / k if k else q for row, k in zip(a, d)])
    return (1 - A) * np.linalg.solve(eye - A * T.T, p)


def graph(a):
    """Return a matrix as a graph of NetworkX."""
    return nx.from_numpy_array(a, create_using=nx.DiGraph if (a != a.T).any() else nx.Graph)


def walks(a, **options):
    return np.array(list(nx.pagerank(graph(a), A, tol=1e-15, max_iter=5000, **options).values()))


def igraph_of(a):
    return igraph.Graph.Weighted_Adjacency(a.tolist(), mode="directed" if (a != a.T).any() else "undirected", loops="once")


def walks_of_igraph(a, p):
    return igraph_of(a).personalized_pagerank(damping=A, reset=(p / p.sum()).tolist(), weights="weight")


def labelled(a):
    g = graph(a)
    for v in np.flatnonzero(y >= 0):
        g.nodes[int(v)]["label"] = int(y[v])
    return g


def rows_of_one(x):
    return x / x.sum(axis=1, keepdims=True)


def but_seeds(x):
    """Return values with NaN at the seeds, which are not compared."""
    return np.where(w > 0, np.nan, x)


def signed(v, like=None):
    """Return columns whose element of the largest size is positive, or with the signs of others."""
    v = np.asarray(v).reshape(N, -1)
    signs = v[abs(v).argmax(axis=0), np.arange(v.shape[1])] if like is None else (v * like).sum(axis=0)
    return v * np.sign(signs)


def harmonic():
    known = y >= 0
    system = np.where(known[:, None], eye, laplacian(G))
    return np.linalg.solve(system, Y)


def eigen(a):
    return np.linalg.eigvalsh(a)


def modularity():
    d = G.sum(axis=1)
    return G - np.outer(d, d) / d.sum()


def scaled_embedding(v):
    return signed(np.asarray(v) / np.sqrt(G.sum(axis=1))[:, None])


LAP, NORMED = laplacian(G), laplacian(G, True)
Gs = sp.csr_matrix(G)
linalg = sp.linalg if hasattr(sp, "linalg") else __import__("scipy.sparse.linalg").sparse.linalg

#: By call: what is done with its result, the dense formula, and other tools.
PEERS = {
    'hw.apply(D, "personalized-pagerank:alpha=0.85", ones).array': (None, lambda: pagerank(D, ones), lambda: walks(D), lambda: walks_of_igraph(D, ones)),
    'hw.apply(D, "personalized-pagerank:alpha=0.85", w).array': (None, lambda: pagerank(D, w), lambda: walks(D, personalization=seeds), lambda: walks_of_igraph(D, w)),
    'hw.apply(D, "personalized-pagerank:alpha=0.85:sinks=all", w).array': (
        None, lambda: pagerank(D, w, ones / N), lambda: walks(D, personalization=seeds, dangling=dict.fromkeys(range(N), 1))),
    'hw.rank(D, seeds, "personalized-pagerank:alpha=0.85").score': (
        lambda x: but_seeds(x.sort_index()), lambda: but_seeds(pagerank(D, w)), lambda: but_seeds(walks(D, personalization=seeds)), lambda: but_seeds(walks_of_igraph(D, w))),
    'hw.kernel(G, "pagerank:alpha=0.85", rows=[s], dtype="float64").array[0]': (
        None, lambda: pagerank(G, eye[s]), lambda: igraph_of(G).personalized_pagerank(damping=A, reset_vertices=[s], weights="weight")),
    'hw.apply(H, "personalized-pagerank:alpha=0.85", ones).array': (None, lambda: pagerank(H, ones), lambda: walks(H)),
    'hw.apply(H2, "personalized-pagerank:alpha=0.85", ones).array': (None, lambda: pagerank(H2, ones), lambda: walks_of_igraph(H, ones)),
    'hw.rank(G, [s], "heat-pagerank:beta=2").score': (lambda x: x.sort_index(), lambda: la.expm(-2 * (eye - G / G.sum(axis=0)))[:, s]),
    'hw.NodeClassifier("lp").fit(G, y).scores_': (
        None, harmonic, lambda: sklearn.semi_supervised.LabelPropagation(kernel=lambda X, Z: G.copy(), max_iter=100000, tol=1e-13).fit(b, y).label_distributions_,
        lambda: np.eye(3)[nx.node_classification.harmonic_function(labelled(G), 5000)]),
    'hw.NodeClassifier("lgc:alpha=0.2").fit(G, y).scores_': (
        rows_of_one, lambda: rows_of_one(np.linalg.solve(eye - 0.2 * (eye - NORMED), Y)),
        lambda: sklearn.semi_supervised.LabelSpreading(kernel=lambda X, Z: G.copy(), alpha=0.2, max_iter=100000, tol=1e-15).fit(b, y).label_distributions_,
        lambda: np.eye(3)[nx.node_classification.local_and_global_consistency(labelled(G), 0.2, 20000)]),
    'hw.expm_multiply(G, b, t=-2, matrix="laplacian")': (None, lambda: la.expm(-2 * LAP) @ b, lambda: linalg.expm_multiply(-2 * sp.csr_matrix(LAP), b)),
    'hw.expm_multiply(G, b, t=-2, matrix="normalized-laplacian")': (None, lambda: la.expm(-2 * NORMED) @ b),
    "hw.expm_multiply(G, b)": (None, lambda: la.expm(G) @ b, lambda: linalg.expm_multiply(Gs, b)),
    'hw.kernel(U, "exponential:beta=1", dtype="float64").array': (None, lambda: la.expm(U), lambda: [list(r.values()) for r in nx.communicability_exp(graph(G)).values()]),
    "hw.solve(G, b)[0]": (None, lambda: np.linalg.pinv(LAP) @ b, lambda: np.stack([linalg.lsqr(LAP, x - x.mean(), atol=1e-14, btol=1e-14)[0] for x in b.T], axis=1)),
    "hw.solve(G, b, shift=1)[0]": (None, lambda: np.linalg.solve(LAP + eye, b), lambda: linalg.spsolve(sp.csc_matrix(LAP + eye), b)),
    'hw.apply(G, "von-neumann:matrix=adjacency:alpha=0.05", ones).array': (
        None, lambda: np.linalg.solve(eye - 0.05 * G, ones), lambda: list(nx.katz_centrality(graph(G), 0.05, normalized=False, tol=1e-14, weight="weight").values())),
    'hw.kernel(G, "commute-time", dtype="float64").array': (
        lambda x: x / G.sum(), lambda: np.add.outer(*[np.diag(np.linalg.pinv(LAP))] * 2) - 2 * np.linalg.pinv(LAP),
        lambda: [[nx.resistance_distance(graph(G), i, j, weight="weight", invert_weight=False) if i != j else 0 for j in range(N)] for i in range(N)]),
    'hw.apply(H, "normalized-laplacian", b, self_loops=False).array': (None, lambda: NORMED @ b, lambda: sp.csgraph.laplacian(H, normed=True) @ b),
    'hw.apply(H, "normalized-laplacian", b).array': (None, lambda: laplacian(H, True) @ b, lambda: nx.normalized_laplacian_matrix(graph(H)) @ b),
    'hw.eigsh(G, 3, which="SA", matrix="laplacian")[0]': (None, lambda: eigen(LAP)[:3], lambda: linalg.eigsh(LAP, 3, which="SA")[0]),
    'hw.eigsh(G, 3, which="LA")[0]': (None, lambda: eigen(G)[-3:], lambda: linalg.eigsh(Gs, 3, which="LA")[0]),
    "hw.eigsh(G, 3)[0]": (None, lambda: np.sort(eigen(G)[np.argsort(-abs(eigen(G)))[:3]]), lambda: linalg.eigsh(Gs, 3)[0]),
    'hw.eigsh(G, 1, which="LA")[1][:, 0]': (
        signed, lambda: signed(np.linalg.eigh(G)[1][:, -1]), lambda: signed(list(nx.eigenvector_centrality(graph(G), 10000, 1e-12, weight="weight").values()))),
    'hw.eigsh(G, 2, which="SA", matrix="laplacian")[1][:, 1]': (
        signed, lambda: signed(np.linalg.eigh(LAP)[1][:, 1]), lambda: signed(nx.fiedler_vector(graph(G), tol=1e-12, seed=1))),
    'hw.eigsh(G, 2, which="LA", matrix="modularity")[0]': (
        None, lambda: eigen(modularity())[-2:], lambda: eigen(np.asarray(nx.modularity_matrix(graph(G), weight="weight")))[-2:]),
    'hw.NodeEmbedding(3, matrix="normalized-laplacian").fit(G).embedding_': (
        scaled_embedding, lambda: scaled_embedding(np.linalg.eigh(NORMED)[1][:, 1:4]), lambda: signed(sklearn.manifold.spectral_embedding(G, n_components=3, random_state=0))),
}


@unittest.skipIf(nx is None, "scikit-learn, NetworkX or igraph is not installed")
class Peers(unittest.TestCase):
    def test_rows(self):
        with open(PAGE, encoding="utf-8") as file:
            page = file.read()
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("| ") and not line.startswith("| tool")]
        calls = [row[2].strip("`") for row in rows if row[2]]
        self.assertEqual(set(calls), set(PEERS))
        for call in calls:
            use, formula, *tools = PEERS[call]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                got = eval(call, globals())
            got = np.asarray(got if use is None else use(got))
            np.testing.assert_allclose(got, formula(), rtol=1e-6, atol=1e-7, err_msg=call)
            for tool in tools:
                with self.subTest(call, tool=tool.__code__.co_names), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    value = np.asarray(tool())
                    if set(np.unique(value)) == {0, 1}:  # labels alone
                        np.testing.assert_array_equal(got.argmax(axis=1), value.argmax(axis=1))
                    else:
                        np.testing.assert_allclose(got, value, rtol=1e-5, atol=1e-6)

    def test_machines(self):
        K = la.expm(-LAP)
        known = y >= 0
        machine = sklearn.svm.SVC(kernel="precomputed", C=1, decision_function_shape="ovo", tol=1e-9).fit(K[known][:, known], y[known])
        with tempfile.TemporaryDirectory() as folder:
            def path(name):
                return os.path.join(folder, name)
            np.save(path("K.npy"), K)
            for name in ("K.rows.ids", "K.cols.ids"):
                with open(path(name), "w") as file:
                    file.writelines(f"{i}\n" for i in range(N))
            with open(path("y.tsv"), "w") as file:
                file.writelines(f"{i}\tc{y[i]}\n" for i in np.flatnonzero(known))
            subprocess.run([hw.binary(), "gram", "classify", path("K.npy"), "--labels", path("y.tsv"), "--learner", "svm:cost=1", "--dtype", "float64",
                            "-o", path("x.npy"), "--quiet"], check=True)
            np.testing.assert_allclose(np.load(path("x.npy")), machine.decision_function(K[:, known]), atol=1e-6)

"""The backend of NetworkX passes NetworkX's own tests of the functions that it has."""

import os
import subprocess
import sys
import tempfile
import unittest

import wheelbuild

try:
    import networkx
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
            code = ("import networkx as nx; G = nx.karate_club_graph(); a = nx.pagerank(G, backend='heatwalk'); "
                    "b = nx.pagerank(G); assert max(abs(a[v] - b[v]) for v in G) < 1e-12")
            subprocess.run([sys.executable, "-c", code], env=env, check=True)


if __name__ == "__main__":
    unittest.main()

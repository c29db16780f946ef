"""The program that runs all calls after the first one: it lasts, and whatever ends it ends nothing else."""

import glob
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import unittest
from unittest import mock

import numpy as np

import heatwalk as hw
from heatwalk import _process, _server

from .graphs import random_graph
from .test_process import is_running

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def python(code, **options):
    """Run lines in a Python of its own and return its output."""
    return subprocess.run([sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)], cwd=HERE, capture_output=True, text=True, timeout=60, **options)


def marked(mark):
    """Return the processes with a mark in their environment."""
    found = []
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(path, "rb") as file:
                if f"HEATWALK_TEST_MARK={mark}".encode() in file.read() and is_running(int(path.split("/")[2])):
                    found.append(path)
        except OSError:
            continue
    return found


@unittest.skipIf(os.environ.get("HEATWALK_SERVE") == "0", "without serve")
@unittest.skipUnless(sys.platform == "linux", "looks into /proc")
class Lasting(unittest.TestCase):
    def setUp(self):
        self.graph = hw.as_graph(random_graph(100, 300, 1))
        self.block = np.ones(100)
        for _ in range(2):
            self.call()

    def call(self, **settings):
        return hw.apply(self.graph, "exp:t=-1:matrix=laplacian", self.block, **settings).array

    def server(self):
        return _server._state.lasting[True]

    def test_one_process(self):
        process, want = self.server().process, self.call()
        for alone in (False, True):
            with mock.patch.dict(os.environ, HEATWALK_SERVE="0" if alone else ""):
                np.testing.assert_array_equal(self.call(), want)
        np.testing.assert_array_equal(self.call(max_memory="1GiB"), want)
        self.assertIs(self.server().process, process)
        self.assertTrue(is_running(process.pid))

    def test_killed(self):
        self.server().process.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, self.server().process.pid, os.WEXITED | os.WNOWAIT)  # all threads have ended
        with self.assertWarnsRegex(hw.HeatwalkWarning, "exit code -9, and is started again"):
            self.call()
        self.assertTrue(is_running(self.server().process.pid))

    def test_killed_in_a_call(self):
        A, B = random_graph(60000, 300000, 1), np.random.default_rng(1).standard_normal((60000, 64))
        timer = threading.Timer(1, lambda: os.kill(self.server().process.pid, signal.SIGKILL))
        timer.start()
        with self.assertRaisesRegex(hw.CrashError, "SIGKILL"):
            hw.expm_multiply(A, B, t=-3000, matrix="laplacian", tol=1e-13)
        with self.assertWarns(hw.HeatwalkWarning):
            self.call()

    def test_interrupt_keeps_the_process(self):
        A, B = random_graph(60000, 300000, 1), np.random.default_rng(1).standard_normal((60000, 64))
        process = self.server().process
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        begun = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            hw.expm_multiply(A, B, t=-3000, matrix="laplacian", tol=1e-13)
        self.assertLess(time.monotonic() - begun, 6)
        self.call()
        self.assertIs(self.server().process, process)

    def test_a_graph_that_changes(self):
        """An open graph is not used any more when its arrays have changed."""
        A = random_graph(50, 200, 2)
        graph = hw.as_graph(A)
        for factor in (1, 1, 1, 2, 3, 3):
            graph.matrix.data[:] = factor
            degrees = hw.apply(graph, "adjacency", np.ones(50)).array
            np.testing.assert_allclose(degrees, factor * np.diff(graph.matrix.indptr))

    def test_many_graphs(self):
        graphs = [hw.as_graph(random_graph(30, 60, seed)) for seed in range(20)]
        want = [graph.matrix @ np.ones(30) for graph in graphs]
        errors = []

        def work():
            for graph, degrees in list(zip(graphs, want)) * 3:
                if not np.allclose(hw.apply(graph, "adjacency", np.ones(30)).array, degrees):
                    errors.append(graph)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        work()
        self.assertEqual(errors, [])
        self.assertLessEqual(len(self.server()._graphs), _server._GRAPHS)

    def test_another_folder(self):
        folder = os.getcwd()
        self.addCleanup(os.chdir, folder)
        process = self.server().process
        os.chdir("/")
        self.call()
        self.assertIsNot(self.server().process, process)
        process = self.server().process
        self.call()
        self.assertIs(self.server().process, process)

    def test_clones_share_a_graph(self):
        """Copies of a matrix in clones of an estimator are one open graph, and a changed one is another."""
        A, y = random_graph(80, 400, 3), np.arange(80) % 2
        found = [hw.NodeClassifier("lp", graph=A.copy(), random_state=1).fit(range(40), y[:40]).scores_ for _ in range(4)]
        for scores in found:
            np.testing.assert_array_equal(scores, found[0])
        mine = [name for name, (graph, *_) in self.server()._graphs.items() if graph() is not None and graph().n == 80]
        self.assertEqual(len(mine), 1)
        same = A.copy()
        degrees = hw.NodeClassifier("lp", graph=A, random_state=1).fit(range(40), y[:40]).scores_
        A.data[:] = np.arange(A.nnz) % 7 + 1
        again = hw.NodeClassifier("lp", graph=same, random_state=1).fit(range(40), y[:40]).scores_
        np.testing.assert_array_equal(again, degrees)
        changed = hw.NodeClassifier("lp", graph=A + A.T, random_state=1).fit(range(40), y[:40]).scores_
        self.assertFalse(np.array_equal(changed, found[0]))

    def test_errors(self):
        with self.assertRaisesRegex(hw.UsageError, "^function: \"lapacian\" does not exist; did you mean laplacian"):
            hw.apply(self.graph, "lapacian", self.block)
        with self.assertRaisesRegex(hw.NotFoundError, "no such file"):
            _process.run(["info", "nothing.tsv"])

    def test_ends_with_python(self):
        code = """
            import os, sys, numpy as np, heatwalk as hw
            from heatwalk import _server
            for _ in range(3): hw.apply([[0, 1], [1, 0]], "laplacian", [1, 0])
            print(_server._state.lasting[True].process.pid, flush=True)
"""
        for end in ("", "            os._exit(0)", "            os.kill(os.getpid(), 9)", "            raise SystemExit(3)"):
            done = python(code + end)
            pid = int(done.stdout)
            deadline = time.monotonic() + 3
            while is_running(pid) and time.monotonic() < deadline:
                time.sleep(0.02)
            self.assertFalse(is_running(pid), end)
            self.assertEqual(done.stderr, "")

    def test_fork_and_joblib(self):
        """A forked process has a program of its own, and one that does not end keeps none of its parent."""
        done = python("""
            import multiprocessing, os, sys, numpy as np, heatwalk as hw
            from heatwalk import _server
            def call(i):
                return [hw.apply([[0, 1], [1, 0]], "laplacian", [i, 0]).array[0] for _ in range(4)][-1]
            for _ in range(3): call(1)
            pid = os.fork()
            if pid == 0:
                call(2)
                os._exit(0 if call(3) == 3 else 1)
            assert os.waitpid(pid, 0)[1] == 0
            context = multiprocessing.get_context("fork")
            with context.Pool(2) as pool:
                assert pool.map(call, range(6)) == list(range(6))
            assert call(5) == 5
            try:
                from joblib import Parallel, delayed
            except ImportError:
                sys.exit()
            for backend in ("loky", "multiprocessing", "threading"):
                assert Parallel(2, backend=backend)(delayed(call)(i) for i in range(6)) == list(range(6)), backend
        """, env=dict(os.environ, HEATWALK_TEST_MARK="fork"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        deadline = time.monotonic() + 5
        while marked("fork") and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(marked("fork"), [])


if __name__ == "__main__":
    unittest.main()

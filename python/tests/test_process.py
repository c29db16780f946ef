"""Processes, folders and failures: nothing is left behind, and nothing else is ended."""

import glob
import json
import logging
import mmap
import os
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
from unittest import mock

import numpy as np

import heatwalk as hw
from heatwalk import _binary, _folder, _process

from .graphs import random_graph

POSIX = os.name != "nt"

LONG = textwrap.dedent("""
    import signal, sys, threading, _thread
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    import numpy as np
    import heatwalk as hw
    from tests.graphs import random_graph
    A = random_graph(60000, 300000, 1)
    B = np.random.default_rng(1).standard_normal((60000, 64))
    print("ready", flush=True)
    hw.expm_multiply(A, B, t=-3000, matrix="laplacian", tol=1e-13)
""")


def children(pid):
    """Return the ids of the child processes of a process."""
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(path.split("/")[2]))
    return found


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def runs(pid, command):
    """Report whether a process runs a command of the program."""
    try:
        with open(f"/proc/{pid}/cmdline") as file:
            return file.read().split("\0")[1:2] == [command]
    except OSError:
        return False


def program(folder, text):
    """Write a shell script that takes the place of the program; it answers version itself, and reads a request."""
    path = os.path.join(folder, "heatwalk")
    with open(path, "w") as file:
        file.write('#!/bin/sh\nif [ "$1" = version ]; then echo \'{"version": "1.0", "protocol": 4}\'; exit 0; fi\nread request\n' + text)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    return path


def answer(fields):
    """Return the line of a shell script that answers the first request."""
    return f"echo '{json.dumps({'id': 1, **fields})}'\n"


@unittest.skipUnless(sys.platform == "linux", "looks into /proc")
class Ends(unittest.TestCase):
    """A long call in a Python of its own that is interrupted or killed."""

    def begin(self, tmp):
        env = dict(os.environ, HEATWALK_TMPDIR=tmp)
        parent = subprocess.Popen([sys.executable, "-c", LONG], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  cwd=os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        self.assertEqual(parent.stdout.readline(), b"ready\n")
        deadline = time.monotonic() + 20
        while not (child := [pid for pid in children(parent.pid) if runs(pid, "serve")]) and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertTrue(child, "no child")
        time.sleep(0.3)
        self.assertTrue(is_running(child[0]), "the child has ended")
        return parent, child[0]

    def wait(self, pid, seconds):
        deadline = time.monotonic() + seconds
        while is_running(pid) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertFalse(is_running(pid), "the child goes on")

    def test_interrupt(self):
        with tempfile.TemporaryDirectory() as tmp:
            parent, child = self.begin(tmp)
            parent.send_signal(signal.SIGINT)
            _, err = parent.communicate(timeout=10)
            self.assertIn(b"KeyboardInterrupt", err)
            self.wait(child, 0)
            self.assertEqual(os.listdir(tmp), [])

    def test_kill(self):
        with tempfile.TemporaryDirectory() as tmp:
            parent, child = self.begin(tmp)
            parent.kill()
            parent.communicate()
            self.wait(child, 1)
            self.assertEqual(len(os.listdir(tmp)), 1)
            env = dict(os.environ, HEATWALK_TMPDIR=tmp)
            subprocess.run([sys.executable, "-c", "import heatwalk as hw; hw.apply([[0, 1], [1, 0]], 'laplacian', [1, 0])"], env=env, check=True)
            self.assertEqual(os.listdir(tmp), [])

    def test_fork_during_a_call(self):
        """A process that was forked during a call does not keep the program running after its parent."""
        code = LONG.rsplit("hw.expm", 1)[0] + textwrap.dedent("""
            import os, time
            from heatwalk import _server
            call = threading.Thread(target=lambda: hw.expm_multiply(A, B, t=-3000, matrix="laplacian", tol=1e-13))
            call.start()
            while not any(server._running for server in _server._state.all):
                time.sleep(0.05)
            if os.fork() == 0:
                time.sleep(20)
                os._exit(0)
            print("forked", flush=True)
            call.join()
        """)
        with tempfile.TemporaryDirectory() as tmp:
            parent = subprocess.Popen([sys.executable, "-W", "ignore", "-c", code], env=dict(os.environ, HEATWALK_TMPDIR=tmp), stdout=subprocess.PIPE,
                                      cwd=os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
            self.assertEqual([parent.stdout.readline(), parent.stdout.readline()], [b"ready\n", b"forked\n"])
            program, forked = sorted(children(parent.pid), key=lambda pid: not runs(pid, "serve"))
            self.assertTrue(runs(program, "serve"))
            parent.kill()
            parent.stdout.close()
            parent.wait()
            self.wait(program, 2)
            os.kill(forked, signal.SIGKILL)


@unittest.skipUnless(POSIX, "uses shell scripts")
class Failures(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        own = mock.patch.dict(os.environ, HEATWALK_SERVE="0")
        own.start()
        self.addCleanup(own.stop)

    def failing(self, text):
        return mock.patch.dict(os.environ, HEATWALK=program(self.folder.name, text))

    def raised(self, text):
        with self.failing(text), self.assertRaises(Exception) as caught:
            hw.apply([[0, 1], [1, 0]], "laplacian", [1, 0])
        return caught.exception

    def test_exit_codes(self):
        for code, kind in ((1, hw.HeatwalkError), (2, hw.UsageError), (3, hw.InputError), (4, hw.StoreError), (5, hw.LimitError)):
            report = {"flag": "--block", "code": code, "message": "it is wrong", "hint": "mend it"}
            error = self.raised(answer({"exit": code, "errors": [report]}))
            self.assertIs(type(error), kind)
            self.assertEqual((str(error), error.place, error.hint), ("B: it is wrong; mend it", "B", "mend it"))

    def test_crash(self):
        error = self.raised("echo 'fatal error: out of memory' >&2; exit 2\n")  # as the runtime of Go ends
        self.assertIs(type(error), hw.CrashError)
        self.assertIn("fatal error: out of memory", str(error))
        error = self.raised("kill -9 $$\n")
        self.assertIs(type(error), hw.CrashError)
        self.assertIn("pass max_memory", str(error))
        with self.assertRaises(KeyboardInterrupt):
            raise self.raised(answer({"exit": 130}))

    def test_other_protocol(self):
        path = os.path.join(self.folder.name, "other")
        with open(path, "w") as file:
            file.write('#!/bin/sh\necho \'{"version": "9.0", "protocol": 7}\'\n')
        os.chmod(path, 0o755)
        with mock.patch.dict(os.environ, HEATWALK=path), self.assertRaisesRegex(hw.VersionError, "heatwalk 9.0 with protocol 7"):
            hw.binary()

    def test_missing(self):
        with mock.patch.dict(os.environ, HEATWALK="", PATH=self.folder.name), \
                mock.patch.object(_binary, "__file__", os.path.join(self.folder.name, "x.py")), self.assertRaises(hw.NotFoundError):
            hw.binary()

    def test_full_disk(self):
        for message in ("write out: no space left on device", "needs 58.7 MB on a disk with 3.98 MB free"):
            error = self.raised(answer({"exit": 1, "errors": [{"flag": "-o", "code": 1, "message": message}]}))
            self.assertEqual((type(error), error.errno), (hw.StoreError, 28))
        with mock.patch.object(_folder, "write_array", side_effect=OSError(28, "No space left on device")), \
                mock.patch("heatwalk._graph.write_array", _folder.write_array), self.assertRaises(hw.StoreError) as caught:
            hw.apply([[0, 1], [1, 0]], "laplacian", [1, 0])
        self.assertEqual(caught.exception.errno, 28)

    def test_own_script(self):
        path = os.path.join(self.folder.name, "heatwalk")
        with open(path, "w") as file:
            file.write("#!/usr/bin/python3\nimport sys\nfrom heatwalk._binary import main\nsys.exit(main())\n")
        os.chmod(path, 0o755)
        with mock.patch.dict(os.environ, HEATWALK=path), self.assertRaisesRegex(hw.NotFoundError, "is the script of this package"):
            hw.binary()

    def test_ids_of_warnings(self):
        document = {"warnings": ["graph.csr: odd; pass --max-memory"], "seconds": 1}
        with self.failing(answer({"exit": 0, "result": document})), self.assertWarnsRegex(hw.HeatwalkWarning, "odd; pass max_memory"):
            _process.run(["info", "x"])


class Runs(unittest.TestCase):
    def test_nothing_is_left(self):
        A, B = random_graph(100, 300, 1), np.ones(100)
        with tempfile.TemporaryDirectory() as tmp, mock.patch.dict(os.environ, HEATWALK_TMPDIR=tmp):
            for _ in range(3):  # the second one starts a server, in which the third one opens the graph
                hw.apply(A, "laplacian", B)
            before = len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0
            threads, processes = threading.active_count(), children(os.getpid())
            for _ in range(int(os.environ.get("HEATWALK_CALLS", "20"))):
                hw.apply(A, "laplacian", B)
            self.assertEqual(os.listdir(tmp), [])
            self.assertEqual(threading.active_count(), threads)
            if sys.platform == "linux":
                self.assertEqual(len(os.listdir("/proc/self/fd")), before)
                self.assertEqual(children(os.getpid()), processes)

    def test_large_results_are_mapped(self):
        with mock.patch.object(_folder, "IN_MEMORY", 100), tempfile.TemporaryDirectory() as tmp, mock.patch.dict(os.environ, HEATWALK_TMPDIR=tmp):
            block = hw.apply(random_graph(100, 300, 1), "adjacency", np.ones((100, 3)))
            if POSIX:
                self.assertIs(type(block.array), np.ndarray)  # joblib would send a memmap by its file name
                self.assertIsInstance(block.array.base, mmap.mmap)
            self.assertEqual(os.listdir(tmp), [])
            self.assertTrue(np.isfinite(block.array).all())

    def test_full_memory_falls_back_to_disk(self):
        with tempfile.TemporaryDirectory() as small, tempfile.TemporaryDirectory() as usual:
            def write(path, array, original=_folder.write_array):
                if path.startswith(small):
                    raise OSError(28, "No space left on device")
                return original(path, array)

            with mock.patch.object(_folder, "_parents", lambda need: [small, usual]), mock.patch("heatwalk._graph.write_array", write), \
                    mock.patch("heatwalk._call.write_array", write):
                block = hw.apply([[0, 1], [1, 0]], "laplacian", [1, 0])
            self.assertEqual(block.array.tolist(), [1, -1])
            self.assertEqual(os.listdir(small) + os.listdir(usual), [])

    def test_threads(self):
        A, results = random_graph(300, 900, 1), []
        work = lambda: results.append(hw.apply(A, "exp:t=0.1", np.ones(300)).array)  # noqa: E731
        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for r in results[1:]:
            np.testing.assert_array_equal(r, results[0])
        self.assertEqual(len(results), 4)

    def test_folders_of_threads(self):
        """No call removes the folder that another one has just made."""
        errors = []

        def work():
            for _ in range(50):
                try:
                    _folder.call_in_folder(0, lambda folder: (open(folder + "/x", "w").close(), os.stat(folder + "/x")))
                except BaseException as error:
                    errors.append(error)

        with tempfile.TemporaryDirectory() as tmp, mock.patch.dict(os.environ, HEATWALK_TMPDIR=tmp):
            threads = [threading.Thread(target=work) for _ in range(8)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            self.assertEqual((errors, os.listdir(tmp)), ([], []))

    def test_cancel(self):
        A, B, errors = random_graph(60000, 300000, 1), np.random.default_rng(1).standard_normal((60000, 64)), []

        def work():
            try:
                hw.expm_multiply(A, B, t=-3000, matrix="laplacian", tol=1e-13)
            except hw.CancelledError as error:
                errors.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        time.sleep(1)
        begun = time.monotonic()
        hw.cancel()
        thread.join()
        self.assertEqual(len(errors), 1)
        self.assertLess(time.monotonic() - begun, 3)

    @unittest.skipUnless(hasattr(os, "fork"), "no fork")
    def test_fork(self):
        A = random_graph(100, 300, 1)
        hw.apply(A, "laplacian", np.ones(100))
        pid = os.fork()
        if pid == 0:
            try:
                hw.apply(A, "laplacian", np.ones(100))
                os._exit(0)
            except BaseException:
                os._exit(1)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)

    def test_joblib(self):
        try:
            from joblib import Parallel, delayed
        except ImportError:
            self.skipTest("joblib is not installed")
        A = random_graph(100, 300, 1)
        for backend in ("loky", "threading"):
            results = Parallel(2, backend=backend)(delayed(hw.apply)(A, "laplacian", np.full(100, i)) for i in range(4))
            self.assertEqual(len(results), 4)

    def test_progress(self):
        seen = []
        A = random_graph(60000, 300000, 1)
        B = np.random.default_rng(1).standard_normal((60000, 64))  # ones would be in the null space, and done at once

        def stop(*a):
            seen.append((a, threading.current_thread()))
            raise ZeroDivisionError

        with self.assertRaises(ZeroDivisionError):
            hw.expm_multiply(A, B, t=-2000, matrix="laplacian", tol=1e-12, progress=stop)
        self.assertTrue(seen)
        (stage, done, total, left), thread = seen[-1]
        self.assertIsInstance(stage, str)
        self.assertTrue(done >= 0 and total >= 0 and (left is None or left >= 0))
        self.assertIs(thread, threading.main_thread())

    def test_log(self):
        with self.assertLogs("heatwalk", logging.DEBUG) as caught:
            hw.apply([[0, 1], [1, 0]], "laplacian", [1, 0])
        self.assertIn("apply", caught.output[0])


if __name__ == "__main__":
    unittest.main()

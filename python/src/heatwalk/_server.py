"""The process of the program that runs many calls: requests and answers are lines of JSON.

docs/serve.md describes the lines. The first call of a process has a program of its own, because many scripts have one
call; the second one starts the program that runs it and all others.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import itertools
import json
import os
import queue
import subprocess
import tempfile
import threading
import time
import weakref
import zlib
from typing import Any, Callable, Iterator, Mapping, NamedTuple, Sequence

import numpy as np

from . import _binary
from ._errors import warn
from ._folder import held

_GRAPHS = 8  # that a server keeps open
Update = Callable[[Mapping[str, Any]], None]


class Outcome(NamedTuple):
    """The end of a call: the exit code, negative for a signal, the document, errors and stderr."""
    code: int
    document: dict[str, Any]
    errors: list[dict[str, Any]]
    stderr: str
    is_cancelled: bool


class Server:
    """A process of the program. Threads may call it at the same time."""

    def __init__(self, path: str, is_main: bool) -> None:
        # An interrupt of a terminal reaches Python alone, which cancels the call of the main
        # thread. Other threads get no KeyboardInterrupt: there it ends the program.
        options: dict[str, Any] = {"start_new_session": is_main}
        if os.name == "nt":
            options = {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP")}
        self.key, self._log = _key(path), tempfile.TemporaryFile()
        self.process = subprocess.Popen([path, "serve"], stdin=subprocess.PIPE, bufsize=0,
                                        stdout=subprocess.PIPE, stderr=self._log, **options)
        assert self.process.stdin and self.process.stdout
        self._stdin, self._stdout = self.process.stdin, io.BufferedReader(self.process.stdout)  # type: ignore[type-var]
        held.update((self._stdin, self.process.stdout))
        self._lock, self._numbers, self.is_ended = threading.Lock(), itertools.count(1), False
        self.users = 0  # calls that have this server
        self.is_lasting = False
        self._answers: dict[int, queue.SimpleQueue[Any]] = {}
        self._running: set[int] = set()
        self._cancelled: set[int] = set()
        self._graphs: dict[str, Any] = {}  # names of open graphs: weak references and versions
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        """Give each answer to its call, and None to all calls when the program has ended."""
        with contextlib.suppress(OSError, ValueError):
            for line in self._stdout:
                answer = json.loads(line)
                if "exit" in answer:
                    self._running.discard(answer["id"])
                if answers := self._answers.get(answer["id"]):
                    answers.put(answer)
        self.is_ended = True
        self._running.clear()
        for answers in list(self._answers.values()):
            answers.put(None)

    def _send(self, request: Mapping[str, Any]) -> None:
        text = memoryview(json.dumps(request).encode("utf-8", "surrogateescape") + b"\n")
        with self._lock, contextlib.suppress(OSError, ValueError):  # the reader sees the end
            while text:
                text = text[self._stdin.write(text):]

    def call(self, args: Sequence[str], update: Update | None = None, new: Any = None) -> Outcome:
        """Run a command line, with new nodes if any. An exception, such as KeyboardInterrupt, cancels the call first."""
        number, answers = next(self._numbers), queue.SimpleQueue[Any]()
        self._answers[number] = answers
        self._running.add(number)
        try:
            self._send({"id": number, "args": list(args), **({} if new is None else {"new": new})})
            while (answer := None if self.is_ended and answers.empty() else answers.get()):
                if "exit" in answer:
                    return Outcome(answer["exit"], answer.get("result") or {},
                                   answer.get("errors", []), "", number in self._cancelled)
                if update:
                    update(answer["progress"])
            code = self.process.wait()
            self._log.seek(0)
            return Outcome(code or 1, {}, [], self._log.read()[-4000:].decode("utf-8", "replace"),
                           number in self._cancelled)
        except BaseException:
            self._cancel([number])
            raise
        finally:
            del self._answers[number]
            self._cancelled.discard(number)

    def _cancel(self, numbers: Sequence[int]) -> None:
        """Cancel calls, and kill the program if they have not ended a second later."""
        deadline = time.monotonic() + 1
        try:
            for number in numbers:
                self._send({"cancel": number})
            while not self._running.isdisjoint(numbers) and time.monotonic() < deadline:
                time.sleep(0.005)
        finally:
            if not self._running.isdisjoint(numbers):
                self.process.kill()

    def cancel(self) -> None:
        """Cancel all calls, which raise ``CancelledError``."""
        numbers = list(self._running)
        self._cancelled.update(numbers)
        self._cancel(numbers)

    def end(self) -> None:
        """End the program, and the calls of other threads that are in work."""
        for number in list(self._running):
            self._send({"cancel": number})
        with self._lock, contextlib.suppress(OSError):
            held.difference_update((self._stdin, self.process.stdout))
            self._stdin.close()
        try:
            self.process.wait(2)
        except BaseException as error:
            self.process.kill()
            self.process.wait()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
        finally:
            self._reader.join(2)
            self._stdout.close()
            self._log.close()

    def open(self, graph: Any, flags: Sequence[str], version: Any, write: Callable[[], str],
             more: Callable[[], Sequence[str]] = tuple) -> tuple[str, str]:
        """Return the name and the path of a graph that is open, or opens now with more flags; "" if it cannot."""
        for name, (owner, known, path) in list(self._graphs.items()):
            if owner() is graph and known == (version, *flags):
                return name, path
            is_old = owner() is None or owner() is graph and known[1:] == tuple(flags)
            if self.users == 1 and (is_old or len(self._graphs) >= _GRAPHS):
                del self._graphs[name]
                self._send({"id": next(self._numbers), "args": ["close", name]})  # without waiting for the answer
        name = f"@graph{next(self._numbers)}"
        path = write()
        if self.call(["open", path, *flags, *more(), "--as", name]).code:
            return "", path  # the command itself reports the error
        self._graphs[name] = weakref.ref(graph), (version, *flags), path
        return name, path


class _State:
    """The servers of this process, and the graphs that its calls have used."""

    def __init__(self) -> None:
        self.lock, self.calls = threading.Lock(), 0
        self.lasting: dict[bool, Server] = {}  # for the main thread, and for others
        self.all: weakref.WeakSet[Server] = weakref.WeakSet()
        self.used: weakref.WeakSet[Any] = weakref.WeakSet()


_state = _State()


def _leave_to_parent() -> None:
    """Let a child of fork begin without servers; those of its parent end with that."""
    global _state
    for server in _state.all:
        server.process.returncode = 0  # so that Popen does not warn
    _state = _State()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)


@atexit.register
def _end_all() -> None:
    for server in _state.lasting.values():
        server.end()
    _state.lasting.clear()


def _key(path: str) -> tuple[Any, ...]:
    """Return what a server cannot change: the program, the folder and the variables of systems."""
    names = "TMPDIR", "TMP", "TEMP", "GOMEMLIMIT"
    return path, os.stat(path).st_mtime_ns, os.getcwd(), *map(os.environ.get, names)


def _lasting(path: str, is_main: bool) -> Server | None:
    """Return the server of this process, None if another call needs it in another folder."""
    servers, server = _state.lasting, _state.lasting.get(is_main)
    if server and (code := server.process.poll()) is not None:
        server.end()
        if code != 130:  # an interrupt of a terminal
            warn(f"heatwalk serve has ended with exit code {code}, and is started again")
        server = None
    if server and server.key != _key(path):
        if server.users:
            return None
        server.end()
        server = None
    servers[is_main] = server or Server(path, is_main)
    servers[is_main].is_lasting = True
    return servers[is_main]


@contextlib.contextmanager
def serving(is_alone: bool) -> Iterator[Server]:
    """Provide the server of a call, or one for this call alone."""
    path, state, lasting = _binary.binary(), _state, None
    is_main = threading.current_thread() is threading.main_thread()
    with state.lock:
        state.calls += 1
        if not is_alone and state.calls > 1 and os.environ.get("HEATWALK_SERVE") != "0":
            lasting = _lasting(path, is_main)
        server = lasting or Server(path, is_main)
        server.users += 1
        state.all.add(server)
    try:
        yield server
    finally:
        with state.lock:
            server.users -= 1
        if not lasting:
            server.end()


def cancel() -> None:
    """End all calls of this process, in whatever thread; each of them raises ``CancelledError``.

    Ctrl-C ends those of the main thread, and in a terminal or a notebook those of all threads. This function serves the
    rest, for example a thread pool when its owner is stopped.
    """
    for server in list(_state.all):
        server.cancel()


def is_used(graph: Any) -> bool:
    """Report whether a call has used a graph before this one."""
    is_known = graph in _state.used
    _state.used.add(graph)
    return is_known


def checksum_of(array: Any) -> int:
    """Return the checksum of the bytes of an array."""
    return zlib.crc32(np.ascontiguousarray(array).view(np.uint8).ravel()) if array.size else 0


def version_of(graph: Any) -> tuple[Any, ...]:
    """Return a value that changes with the content of a graph: checksums, or the state of a file."""
    if graph.matrix is not None:
        matrix = graph.matrix
        return tuple(map(checksum_of, (matrix.indptr, matrix.indices, matrix.data)))
    manifest = os.path.join(graph.path, "manifest")
    info = os.stat(manifest if os.path.exists(manifest) else graph.path)
    return info.st_mtime_ns, info.st_size, info.st_ino

"""Calls of the program: their settings, progress, errors and warnings in terms of Python."""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import os
import re
import signal
import subprocess
import sys
import time
from typing import (Any, Callable, Iterator, Mapping, NamedTuple, Optional, Sequence, TypedDict, Union)

import numpy as np

from ._errors import CLASSES, CancelledError, CrashError, NotFoundError, StoreError, warn
from ._server import Outcome, Server, Update, serving

log = logging.getLogger("heatwalk")
log.addHandler(logging.NullHandler())

#: Whether it is shown, or a function of (stage, done, total, seconds left).
Progress = Union[None, bool, Callable[[str, int, int, "float | None"], object]]


class Settings(TypedDict, total=False):
    """Settings that every function takes by name, the last four for edges with kinds or times.

    Attributes
    ----------
    threads, max_memory
        The number of threads, by default ``$OMP_NUM_THREADS`` or that of the processors; the largest memory of the
        program, as "4GiB" or bytes. No result changes.
    progress
        True shows the progress, False does not; by default it is shown in a terminal or a notebook after two seconds. A
        function gets (stage, done, total, seconds left or None).
    random_state
        The seed of splits and folds; None draws another one at each call.
    kind_weights
        Weights of kinds of edges by name, 1 for the others; :class:`NodeClassifier` and :func:`suggest` choose them by
        held-out labels if they are left out.
    since, until
        The first and the last time of the edges that are used: a date or a step.
    half_life
        The age at which an edge has half its weight, as in "30d"; "choose" lets held-out labels choose it, for
        NodeClassifier and suggest.
    """
    threads: Optional[int]
    max_memory: Union[str, int, None]
    progress: Progress
    random_state: Any
    kind_weights: Union[Mapping[Any, float], str, None]
    since: Any
    until: Any
    half_life: Any


def seed_of(random_state: Any) -> int:
    """Return the seed that a random state gives, with the rules of scikit-learn."""
    if random_state is None:
        return int(np.random.randint(1 << 31))
    for draw in ("integers", "randint"):
        if hasattr(random_state, draw):
            return int(getattr(random_state, draw)(1 << 31))
    if not hasattr(random_state, "__index__"):
        raise ValueError(f"random_state is {random_state!r}; give a number, a RandomState or None")
    return int(random_state)


#: Flags of the program by the names of arguments.
_ARGUMENTS = {"--labels": "y", "--values": "y", "--block": "B", "--seed": "random_state", "-o": "out",
              "--tolerance": "tol", "--force": "force=True", "-n": "n", "--temp-dir": "$HEATWALK_TMPDIR"}
_ARGUMENTS.update({"--" + name.replace("_", "-"): name for name in (
    "seeds function kernel method max_memory threads rows cols node_features k train splits "
    "dtype matrix which unreached report multi_label targets prior kind_weights half_life since "
    "until kind time per_class self_loops split edge_weights effort").split()})

#: Flags for reading graphs, and the arguments of as_graph for columns.
_COLUMNS = {"fields": ("source", "target", "weight"), "weight": ("weight",), "kind": ("kind",), "time": ("time",)}
_READING = {*_COLUMNS, *("directed undirected duplicates bipartite weights header thousands decimal delimiter encoding "
                         "missing skip-bad-lines self-loops nodes max-window hyperedges cocitation coupling").split()}
_WORDS = "SOURCE", "TARGET", "NAME", "COLUMN"  # for the title of a column


class Reader(NamedTuple):
    """The function that reads a graph, for messages, and the titles of a frame."""
    call: str = "as_graph(graph, {})"
    titles: Sequence[Any] | None = None
    has_ends: bool = True  # it has arguments for source, target and weight


_SAMPLE = "the labels are no random sample"
_warned: set[Any] = set()  # graphs

def run(args: Sequence[str], names: Mapping[str, str] | None = None, *, threads: int | None = None,
        max_memory: str | int | None = None, random_state: int | None = None,
        progress: Progress = None, graph: Any = None, reader: Reader | None = None,
        is_wanted: Callable[[str], bool] | None = None,
        source: Callable[[Server], Sequence[str]] | None = None, new: Any = None) -> dict[str, Any]:
    """Run the program and return its JSON document; without a random_state it takes its own seed.

    Errors name the arguments in names in place of temporary paths, and those of the function that reads a graph. The
    warning that labels are no random sample is given once for each graph that is not None; is_wanted chooses among the
    warnings. See :class:`Settings`.
    """
    names = {} if names is None else names
    flags: list[str] = []
    if threads is None:  # joblib sets the variable in its processes to their share of the cores
        with contextlib.suppress(ValueError, KeyError):
            threads = max(1, int(os.environ["OMP_NUM_THREADS"]))
    if threads is not None:
        flags += ["--threads", str(int(threads))]
    if max_memory is not None:
        flags += ["--max-memory", str(max_memory)]
    if random_state is not None:
        flags += ["--seed", str(seed_of(random_state))]
    # A limit holds for a process, so that such a call has one of its own.
    with serving(max_memory is not None) as server, shown(progress, names) as update:
        flags += ["--progress", "json" if update else "none"]
        command = [args[0], *(source(server) if source else ()), *args[1:], *flags]
        if log.isEnabledFor(logging.DEBUG):
            log.debug("%s", subprocess.list2cmdline(["heatwalk", *command]))
        outcome = server.call(command, update, new)
    if outcome.is_cancelled:
        raise CancelledError("the call was cancelled", command=command)
    if outcome.code:
        _raise(outcome, command, names, reader)
    document = outcome.document
    for text in document.get("warnings", ()):
        if graph is not None and _SAMPLE in text:
            if graph in _warned:
                continue
            _warned.add(graph)
        if is_wanted is None or is_wanted(text):
            warn(_renamed(text, names, reader))
    log.info("%s: %.3g s, %d bytes", args[0], document.get("seconds", 0), document.get("peak_memory_bytes", 0))
    return document


def _raise(outcome: Outcome, command: list[str], names: Mapping[str, str], reader: Reader | None) -> None:
    """Raise the exception of an exit code."""
    code, _, errors, stderr, _ = outcome
    stderr = stderr or "\n".join(json.dumps(error, ensure_ascii=False) for error in errors)
    if code == 130 or code == -signal.SIGINT:
        raise KeyboardInterrupt
    if code < 0:
        hint = "the system may have run out of memory: pass max_memory" if code == -9 else ""
        raise CrashError(f"heatwalk was ended by {signal.Signals(-code).name}", hint, "", code, command, stderr)
    if not errors:
        text = ": ".join([f"heatwalk ended with exit code {code}", *stderr.splitlines()[:1]])
        raise CrashError(text, "", "", code, command, stderr)
    flag, place = errors[0].get("flag"), errors[0].get("file") or ""
    if flag:
        place = _ARGUMENTS.get(flag, flag.lstrip("-"))
    place = names.get(place, place)
    if number := errors[0].get("line"):
        place = _renamed(f"{place}:{number}", names, reader)
    more = (f"{e.get('flag') or e.get('file') or ''}: {e.get('message', '')}" for e in errors[1:])
    message = _renamed("; ".join([errors[0].get("message", ""), *more]), names, reader)
    head, _, tail = message.partition(": ")
    if not place and os.path.exists(head):
        place, message = head, tail
    hint = errors[0].get("hint", "")
    if "graph" in names.values():
        hint = hint.replace("ingest with --undirected", "pass a symmetric matrix, for example (A + A.T) / 2,")
    kind, system = CLASSES.get(code, CrashError), None
    if "no space left" in message or " on a disk with " in message:
        kind, system = StoreError, errno.ENOSPC
    elif "no such file" in message:
        kind = NotFoundError
    raise kind(message, _renamed(hint, names, reader), place, code, command, stderr, system)


_FLAG = re.compile(r"(?<![\w-])--([a-z][a-z-]*)(?:=('[^']*'|,|[^\s;)]*[^\s;),])| (?=[A-Z]{4})([A-Z]+))?")
_EVERY_LINE = re.compile(r"--fields=\S+( in place of --weight)?(?= counts? every| to count every)"
                         r"|(?<=leave the column out with )--fields=\S+")


def _renamed(text: str, names: Mapping[str, str], reader: Reader | None = None) -> str:
    """Replace temporary paths, flags that are arguments here, and the lines of a frame by rows."""
    for path in sorted(names, key=len, reverse=True):
        text = text.replace(path, names[path])
    reader = reader or Reader()
    if reader.titles is not None:
        text = re.sub(r"^graph:(\d+)(:\d+)?",
                      lambda m: f"graph: row {int(m[1]) - 2}" if int(m[1]) > 1 else "graph", text)
        text = re.sub(r"\bline (\d+)", lambda m: f"row {int(m[1]) - 2}", text)
        text = re.sub(r"(?<!-)\bline(s?)\b", r"row\1", text)
    text = re.sub(r"run heatwalk regress --values \S+", "call heatwalk.regress(graph, y)", text)
    text = re.sub(r" \(or --fields=[\d,]+\)", "", text)
    if reader.has_ends:
        text = _EVERY_LINE.sub(reader.call.format("weight=None"), text)
    text = text.replace("=none of classify", "=none of NodeClassifier")
    text = re.sub("name the other columns with --attribute-fields|name other columns,? or pass "
                  r"--attribute-fields=\S+", "leave it out of node_features", text)
    text = _FLAG.sub(lambda m: _argument(m[1], m[2] or m[3], reader), text)
    call = reader.call.partition("{}")[0]
    return text.replace(f") {call}", ", ").replace("'], flags=['", "', '")  # one call for adjacent flags


def _argument(flag: str, value: str | None, reader: Reader) -> str:
    """Return the argument of a function for a flag, perhaps with its value."""
    flag = "time" if flag == "time-format" else flag
    name = _ARGUMENTS.get("--" + flag, "--" + flag)
    if flag not in _READING:
        if value is None:
            return name
        return f"{name}={value if name[0] == '-' else repr(value)}"
    if flag in _COLUMNS and value is None:
        return " and ".join(_COLUMNS[flag][:2])
    if flag == "directed":
        return reader.call.format("directed=True")
    value = (value or "").strip("'")
    if flag in ("kind", "time") or flag in _COLUMNS and reader.has_ends:
        titles = {str(i + 1): title for i, title in enumerate(reader.titles or ())}
        titles.update((str(t), t) for t in reader.titles or () if not str(t).isdigit())
        value, colon, form = value.partition(":") if flag == "time" else (value, "", "")
        fields = [titles.get(field, field) for field in value.split(",")]
        return reader.call.format(", ".join(
            f"{role}={field if field in _WORDS else repr(f'{field}:{form}' if colon else field)}"
            for role, field in zip(_COLUMNS[flag], fields)))
    return reader.call.format(f"flags={['--' + flag + (value and '=' + value)]}")


@contextlib.contextmanager
def shown(progress: Any, names: Mapping[str, str]) -> Iterator[Update | None]:
    """Provide the function to call with each line of progress, or None for no progress."""
    if progress is None:
        ipython = sys.modules.get("IPython")
        shell = ipython.get_ipython() if ipython else None
        is_notebook = shell is not None and hasattr(shell, "kernel")
        progress = 2.0 if is_notebook or sys.stderr and sys.stderr.isatty() else False
    if progress is False:
        yield None
        return
    width, begin = 0, time.monotonic() + (progress if isinstance(progress, float) else 0)

    def update(s: Mapping[str, Any]) -> None:
        nonlocal width
        done, total, left = int(s.get("done", 0)), int(s.get("total", 0)), s.get("seconds_left")
        text = _renamed(s["stage"], names)
        if callable(progress):
            progress(text, done, total, left)
        elif time.monotonic() >= begin:
            text += f" {100 * done / total:.0f} %" if total else f" {done}" if done else ""
            text += f", {left:.0f} s left" if left and left >= 1 else ""
            sys.stderr.write("\r" + text.ljust(width))
            sys.stderr.flush()
            width = len(text)
    try:
        yield update
    finally:
        if width:
            sys.stderr.write("\r" + " " * width + "\r")
            sys.stderr.flush()

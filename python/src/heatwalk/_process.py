"""Running the program: one process for each call."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import signal
import subprocess
import threading
import time
import warnings
from typing import Any, Callable, Mapping, Sequence, Union

from . import _binary
from ._errors import CLASSES, CrashError, HeatwalkWarning
from ._progress import shown

log = logging.getLogger("heatwalk")
log.addHandler(logging.NullHandler())

#: ``None``: shown after two seconds in a terminal or a notebook; a function of (stage, done, total,
#: seconds left).
Progress = Union[None, bool, Callable[[str, int, int, "float | None"], None]]

#: Flags of the program by the names of arguments.
_ARGUMENTS = {
    "--labels": "y", "--values": "y", "--seeds": "seeds", "--sets": "sets", "--block": "B", "--function": "function", "--kernel": "kernel", "--method": "method",
    "--max-memory": "max_memory", "--threads": "threads", "--seed": "random_state", "--tolerance": "tol",
    "--rows": "rows", "--cols": "cols", "-o": "out", "--node-features": "node_features", "--k": "k", "--near": "sigma",
    "--train": "train", "--splits": "splits", "--dtype": "dtype", "--matrix": "matrix", "--which": "which",
    "--unreached": "unreached", "--force": "force=True", "--report": "report", "-n": "n", "--multi-label": "multi_label",
}

_GRACE = 1.0  # seconds from SIGINT to SIGKILL


def run(args: Sequence[str], names: Mapping[str, str] | None = None, threads: int | None = None,
        max_memory: str | int | None = None, random_state: int | None = None, progress: Progress = None) -> dict[str, Any]:
    """Run the program and return its JSON document.

    Parameters
    ----------
    args : sequence of str
        The command and its arguments.
    names : mapping
        Temporary paths, and the arguments that errors name instead of them.
    threads, max_memory, random_state, progress
        Settings of every call.
    """
    command = [_binary.binary(), *args, "--json", "--until-eof"]
    if threads is None:
        threads = _default_threads()
    if threads is not None:
        command += ["--threads", str(int(threads))]
    if max_memory is not None:
        command += ["--max-memory", str(max_memory)]
    if random_state is not None:
        if not hasattr(random_state, "__index__"):
            raise ValueError(f"random_state is {random_state!r}; give a whole number or None")
        command += ["--seed", str(int(random_state))]
    log.debug("%s", subprocess.list2cmdline(command))
    with shown(progress) as update:
        command += ["--progress", "json" if update else "none"]
        code, out, lines = _communicate(command, update)
    if code:
        _raise(code, command, lines, dict(names or {}))
    document: dict[str, Any] = json.loads(out) if out.strip() else {}
    for text in document.get("warnings", ()):
        warnings.warn(_renamed(text, dict(names or {})), HeatwalkWarning, stacklevel=4)
    log.info("%s: %.3g s, %d bytes", args[0], document.get("seconds", 0), document.get("peak_memory_bytes", 0))
    return document


def _default_threads() -> int | None:
    """Return OMP_NUM_THREADS, which joblib sets in its worker processes to their share of the cores."""
    with contextlib.suppress(ValueError, KeyError):
        return max(1, int(os.environ["OMP_NUM_THREADS"]))
    return None


def _communicate(command: Sequence[str], update: Callable[[Mapping[str, Any]], None] | None) -> tuple[int, bytes, list[str]]:
    """Run a command. Any exception, such as KeyboardInterrupt, ends the process first."""
    options: dict[str, Any] = {"start_new_session": True}  # a terminal's interrupt reaches Python alone
    if os.name == "nt":
        options = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}  # type: ignore[attr-defined]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    assert process.stdin and process.stdout and process.stderr
    out: list[bytes] = []
    reader = threading.Thread(target=lambda: out.append(process.stdout.read()), daemon=True)  # type: ignore[union-attr]
    lines: list[str] = []
    try:
        reader.start()
        for raw in process.stderr:
            line = raw.decode("utf-8", "replace").rstrip("\n")
            stage = _stage(line)
            if stage is None:
                lines.append(line)
                del lines[:-200]
            elif update:
                update(stage)
        code = process.wait()
        reader.join()
    except BaseException:
        _end(process)
        raise
    finally:
        reader.join(1)
        for stream in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(OSError):
                stream.close()
    return code, b"".join(out), lines


def _end(process: subprocess.Popen[bytes]) -> None:
    """Interrupt a process, and kill it if it is still there a second later."""
    with contextlib.suppress(OSError):
        process.send_signal(signal.CTRL_BREAK_EVENT if os.name == "nt" else signal.SIGINT)  # type: ignore[attr-defined]
    deadline = time.monotonic() + _GRACE
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    if process.poll() is None:
        process.kill()
    process.wait()


def _stage(line: str) -> Mapping[str, Any] | None:
    """Return a line of progress, or None for any other line."""
    if not line.startswith("{"):
        return None
    try:
        fields = json.loads(line)
    except ValueError:
        return None
    return fields if isinstance(fields, dict) and "stage" in fields else None


def _raise(code: int, command: list[str], lines: list[str], names: dict[str, str]) -> None:
    """Raise the exception of an exit code."""
    stderr = "\n".join(lines[-20:])
    if code == 130 or code == -signal.SIGINT:
        raise KeyboardInterrupt
    errors = []
    for line in lines:
        with contextlib.suppress(ValueError):
            fields = json.loads(line)
            if isinstance(fields, dict) and "code" in fields:
                errors.append(fields)
    if code < 0 or not errors:
        text = f"heatwalk ended with exit code {code}"
        hint = ""
        if code < 0:
            text = f"heatwalk was ended by {signal.Signals(-code).name}"
            hint = "the system may have run out of memory: pass max_memory" if code == -9 else ""
        elif stderr:
            text += ": " + stderr.splitlines()[0]
        raise CrashError(text, hint, "", code, command, stderr)
    first = errors[0]
    place: str = first.get("flag") or first.get("file") or ""
    if first.get("flag"):
        place = _ARGUMENTS.get(place, place.lstrip("-"))
    place = names.get(place, place)
    if number := first.get("line"):
        place += f":{number}"
    message = _renamed("; ".join([first.get("message", ""), *(f"{e.get('flag') or e.get('file') or ''}: {e.get('message', '')}" for e in errors[1:])]), names)
    hint = first.get("hint", "")
    if "graph" in names.values():
        hint = hint.replace("ingest with --undirected", "pass a symmetric matrix, for example (A + A.T) / 2,")
    raise CLASSES.get(code, CrashError)(message, _renamed(hint, names), place, code, command, stderr)


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """Replace temporary paths, and flags that are arguments here."""
    for path in sorted(names, key=len, reverse=True):
        text = text.replace(path, names[path])
    return re.sub(r"(?<![\w-])--[a-z-]+", lambda m: _ARGUMENTS.get(m.group(), m.group()), text)

"""Temporary folders of calls, locked by their process; those with a free lock are removed."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import shutil
import tempfile
import zipfile
from typing import IO, Any, Callable, Iterator, TypeVar

import numpy as np

from ._errors import StoreError

try:
    import fcntl
except ImportError:  # Windows, where an open file cannot be removed
    fcntl = None  # type: ignore[assignment]

_HEADER = re.compile(rb"\{'descr': '([^']*)', 'fortran_order': False, 'shape': \(([\d, ]*)\), \}")
_PREFIX = "heatwalk-"
_SHM = "/dev/shm"
IN_MEMORY = 64 << 20  # bytes of the largest result that is read; others are mapped
_T = TypeVar("_T")

#: Locks and pipes of the calls that run. A child of fork closes its copies, because each of them
#: would keep a folder locked or a program running after its parent was killed.
held: set[IO[bytes]] = set()


def _close_held() -> None:
    for file in held:
        with contextlib.suppress(OSError):
            file.close()
    held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_held)


def _parents(need: int) -> list[str]:
    """Return the folders to try, the first one first: memory if it has twice the bytes."""
    if given := os.environ.get("HEATWALK_TMPDIR"):
        return [given]
    usual = tempfile.gettempdir()
    with contextlib.suppress(OSError):
        if os.access(_SHM, os.W_OK) and shutil.disk_usage(_SHM).free > 2 * need + (1 << 20):
            return [_SHM, usual]
    return [usual]


def _sweep(parent: str) -> None:
    """Remove the folders of processes that are gone, whose locks are free."""
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and entry.is_dir(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    _remove_if_left(entry.path)


def _remove_if_left(folder: str) -> None:
    """Remove a folder, or raise an OSError if a living process holds its lock."""
    lock = os.path.join(folder, "lock")
    if hasattr(os, "getuid") and os.stat(folder).st_uid != os.getuid():
        return
    if fcntl is None:
        os.remove(lock)  # fails while the file is open
    else:
        with open(lock, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _folder(parent: str) -> Iterator[str]:
    """Provide a locked folder in parent, which is removed at the end."""
    _sweep(parent)
    owner = os.getpid()  # a child of fork may have a copy of this generator
    path = tempfile.mkdtemp(prefix=f".{_PREFIX}{os.getpid()}-", dir=parent)
    try:
        lock = open(os.path.join(path, "lock"), "wb")
        held.add(lock)
        if fcntl is not None:  # other threads and processes see the folder with its lock
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            hidden, path = path, os.path.join(parent, os.path.basename(path)[1:])
            os.rename(hidden, path)
        try:
            yield path
        finally:
            held.discard(lock)
            lock.close()
    finally:
        if os.getpid() == owner:
            shutil.rmtree(path, ignore_errors=True)


def lasting_folder(need: int) -> tuple[str, contextlib.ExitStack]:
    """Return a temporary folder, and the stack whose ``close`` removes it."""
    stack = contextlib.ExitStack()
    return stack.enter_context(_folder(_parents(need)[0])), stack


def call_in_folder(need: int, call: Callable[[str], _T]) -> _T:
    """Return call(folder) for a temporary folder that has room for need bytes.

    A full ``/dev/shm`` falls back to the disk. A full disk is a :class:`StoreError`.
    """
    parents = _parents(need)
    for parent in parents:
        try:
            with _folder(parent) as path:
                return call(path)
        except OSError as error:
            is_full = error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
            if not is_full or parent is parents[-1] and isinstance(error, StoreError):
                raise
            if parent is parents[-1]:
                hint = "free space, or set $HEATWALK_TMPDIR to a folder on another disk"
                raise StoreError("no space left on the disk", hint, parent, 1, number=errno.ENOSPC) from error
    raise AssertionError("no folder")


def write_array(path: str, array: Any) -> str:
    """Write an array as ``numpy.save`` does.

    The bytes go out by ``write``, which reports a full disk. A store into a mapped file of a full tmpfs would end the
    process.
    """
    array = np.ascontiguousarray(array)
    with open(path, "wb", buffering=0) as file:
        header: Any = np.lib.format
        header.write_array_header_1_0(file, header.header_data_from_array_1_0(array))
        view = memoryview(array).cast("B") if array.size else memoryview(b"")
        done = 0
        while done < len(view):
            done += file.write(view[done:done + (1 << 30)]) or 0
    return path


def read_array(path: str, keep: bool = False) -> Any:
    """Read a result. With keep the file stays, and the array is a map of it."""
    if keep:
        return np.load(path, mmap_mode="r+")
    if os.name != "nt" and os.path.getsize(path) > IN_MEMORY:
        array: Any = np.load(path, mmap_mode="c")
        # A memmap would be sent by its file name to the processes of joblib.
        return np.ndarray(array.shape, array.dtype, buffer=array.base, offset=array.offset)
    with open(path, "rb") as file:
        return _array_of(file.read())


def read_arrays(path: str) -> dict[str, Any]:
    """Read the arrays of a result by name."""
    with zipfile.ZipFile(path) as file:
        return {name[:-4]: _array_of(file.read(name)) for name in file.namelist()}


def _array_of(content: bytes) -> Any:
    """Return the array of a .npy file; NumPy takes a third of a millisecond to parse its header."""
    begin = 10 + int.from_bytes(content[8:10], "little")
    header = _HEADER.match(content, 10)
    if content[6] != 1 or not header:
        return np.load(io.BytesIO(content))
    shape = [int(n) for n in header[2].split(b",") if n.strip()]
    array: Any = np.frombuffer(bytearray(memoryview(content)[begin:]), header[1].decode())
    return array.reshape(shape)

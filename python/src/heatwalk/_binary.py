"""Finding the program: ``$HEATWALK``, then the package itself, then ``PATH``."""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
import sys

from ._errors import NotFoundError, VersionError
from ._version import PROTOCOL, __version__

_checked: dict[tuple[str, int, int], str] = {}


def find() -> str:
    """Return the path of the program, whose protocol may be another one."""
    given = os.environ.get("HEATWALK")
    if given:
        path = shutil.which(given)
        if path and not _is_script(path):
            return os.path.abspath(path)
        problem = "is the script of this package" if path else "is no program"
        raise NotFoundError(f"$HEATWALK is {given!r}, which {problem}",
                            "unset it, or set it to the path of the program heatwalk")
    name = "heatwalk.exe" if os.name == "nt" else "heatwalk"
    inside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", name)
    if os.path.isfile(inside):
        return inside
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = shutil.which(name, path=folder) if folder else None
        if path and not _is_script(path):
            return path
    raise NotFoundError("the program heatwalk was not found",
                        "install a wheel for this system, or build it with go build ./cmd/heatwalk "
                        "and set $HEATWALK to its path")


def _is_script(path: str) -> bool:
    """Report whether a file is the console script of this package; Windows has that at its end."""
    with open(path, "rb") as file:
        head = file.read(2)
        if head == b"#!":
            return b"heatwalk._binary" in file.read(4096)
        file.seek(max(0, os.path.getsize(path) - 4096))
        return head == b"MZ" and b"__main__.py" in file.read()


def binary() -> str:
    """Return the path of the program.
    """
    path = find()
    info = os.stat(path)
    key = path, info.st_mtime_ns, info.st_size
    if key in _checked:
        return path
    try:
        done = subprocess.run([path, "version", "--json"], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60, check=True)
        about = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise VersionError(f"{path} does not report its version ({error})",
                           "set $HEATWALK to the path of heatwalk") from error
    version, protocol = about.get("version", "unknown"), about.get("protocol")
    if protocol != PROTOCOL:
        raise VersionError(f"{path} is heatwalk {version} with protocol {protocol}; the package "
                           f"{__version__} needs protocol {PROTOCOL}",
                           "install the package and the program of one release")
    logging.getLogger("heatwalk").debug("%s is version %s", path, version)
    _checked[key] = version
    return path


def main() -> None:
    """Run the program with the arguments of this process."""
    try:
        command = [find(), *sys.argv[1:]]
    except NotFoundError as error:
        sys.exit(f"heatwalk: {error}")
    if os.name == "nt":
        sys.exit(subprocess.call(command))
    os.execv(command[0], command)

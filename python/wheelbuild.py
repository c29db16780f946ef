"""The build backend of the package, with the standard library alone, so that pip needs no network.

By hand, a wheel that contains the program:

    python3 wheelbuild.py linux/amd64 BINARY FOLDER

The same input gives the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import sys
import tarfile
import zipfile
from typing import Any, NamedTuple

HERE = os.path.dirname(os.path.abspath(__file__))
NAME = "heatwalk"
SUMMARY = "Label the rest of your graph: node classification, graph kernels, matrix functions"
REQUIRES = ["numpy>=1.22", "scipy>=1.8"]
EXTRAS = {"all": ["pandas", "scikit-learn", "networkx", "igraph"]}
ENTRY_POINTS = f"""[console_scripts]
{NAME} = {NAME}._binary:main

[networkx.backends]
{NAME} = {NAME}._networkx:backend

[networkx.backend_info]
{NAME} = {NAME}._networkx:get_info
"""
ABOUT = f"""License-Expression: Apache-2.0
License-File: LICENSE
Author: The heatwalk authors
Keywords: graph,node classification,semi-supervised,kernel,sparse
Project-URL: Source, https://github.com/heatwalk/heatwalk
Project-URL: Documentation, https://github.com/heatwalk/heatwalk/blob/main/docs/python.md
Classifier: Development Status :: 4 - Beta
Classifier: Intended Audience :: Science/Research
Classifier: Operating System :: MacOS
Classifier: Operating System :: Microsoft :: Windows
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Scientific/Engineering :: Artificial Intelligence
Classifier: Typing :: Typed
""".splitlines()
LICENSES = ("LICENSE", "THIRD_PARTY_LICENSES")

#: Tags of wheels by system. The program is static, so that one wheel serves glibc and musl; 12.0 is the
#: least version of macOS that Go 1.26 writes into programs.
TAGS = {
    "linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin/amd64": "macosx_12_0_x86_64",
    "darwin/arm64": "macosx_12_0_arm64",
    "windows/amd64": "win_amd64",
    "windows/arm64": "win_arm64",
}


class Member(NamedTuple):
    """A file of a wheel."""

    name: str
    data: bytes
    mode: int = 0o644


def version() -> str:
    """Return the version of the package."""
    with open(os.path.join(HERE, "src", NAME, "_version.py"), encoding="utf-8") as file:
        found = re.search(r'__version__ = "([^"]+)"', file.read())
    assert found
    return found.group(1)


def metadata() -> bytes:
    """Return the METADATA file."""
    lines = ["Metadata-Version: 2.4", f"Name: {NAME}", f"Version: {version()}",
             f"Summary: {SUMMARY}", "Requires-Python: >=3.10", *ABOUT]
    lines += [f"License-File: {name}" for name in licenses() if name != "LICENSE"]
    lines += [f"Requires-Dist: {d}" for d in REQUIRES]
    for extra, names in EXTRAS.items():
        lines += [f"Provides-Extra: {extra}"] + [f'Requires-Dist: {d}; extra == "{extra}"' for d in names]
    lines.append("Description-Content-Type: text/markdown")
    with open(os.path.join(HERE, "README.md"), encoding="utf-8") as file:
        return ("\n".join(lines) + "\n\n" + file.read()).encode()


def licenses() -> dict[str, str]:
    """Return the paths of the licence files by name: those of this folder or of the repository.

    scripts/wheels names the folder of the licences of the modules in the program.
    """
    folders = (os.environ.get("HEATWALK_LICENSES", HERE), HERE, os.path.dirname(HERE))
    found: dict[str, str] = {}
    for folder in folders:
        for name in LICENSES:
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                found.setdefault(name, path)
    return found


def sources() -> list[Member]:
    """Return the files of the package. Links are followed, for example to the built-in graph."""
    members = []
    top = os.path.join(HERE, "src")
    for root, folders, names in os.walk(os.path.join(top, NAME), followlinks=True):
        folders[:] = sorted(f for f in folders if f not in ("__pycache__", "bin"))
        for name in sorted(names):
            path = os.path.join(root, name)
            if name == "cora":  # a link that Git wrote as a file, as on Windows
                raise SystemExit(f"{path} is no folder; clone with git config core.symlinks true")
            with open(path, "rb") as file:
                members.append(Member(os.path.relpath(path, top).replace(os.sep, "/"), file.read()))
    return members


def write_wheel(folder: str, system: str | None = None, binary: str | None = None, editable: bool = False) -> str:
    """Write a wheel, with the program for a system unless that is None, and return its name."""
    members = [Member(f"__editable__.{NAME}.pth", (os.path.join(HERE, "src") + "\n").encode())] if editable else sources()
    if binary and system:
        program = f"{NAME}.exe" if system.startswith("windows") else NAME
        with open(binary, "rb") as file:
            members.append(Member(f"{NAME}/bin/{program}", file.read(), 0o755))
    tag = TAGS[system] if system else "any"
    stem = f"{NAME}-{version()}"
    info = f"{stem}.dist-info"
    wheel = ["Wheel-Version: 1.0", "Generator: wheelbuild", f"Root-Is-Purelib: {'false' if system else 'true'}"]
    wheel += [f"Tag: py3-none-{t}" for t in tag.split(".")]
    members += [
        Member(f"{info}/METADATA", metadata()),
        Member(f"{info}/WHEEL", ("\n".join(wheel) + "\n").encode()),
        Member(f"{info}/entry_points.txt", ENTRY_POINTS.encode()),
    ]
    for name, path in licenses().items():
        with open(path, "rb") as file:
            members.append(Member(f"{info}/licenses/{name}", file.read()))
    record = "".join(f"{m.name},sha256={_digest(m.data)},{len(m.data)}\n" for m in members) + f"{info}/RECORD,,\n"
    members.append(Member(f"{info}/RECORD", record.encode()))
    name = f"{stem}-py3-none-{tag}.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for member in members:
            entry = zipfile.ZipInfo(member.name, (1980, 1, 1, 0, 0, 0))
            entry.create_system = 3  # Unix, whose modes follow
            entry.external_attr = (0o100000 | member.mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, member.data)
    return name


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    """Build a wheel, with the program if $HEATWALK_BINARY names it and $HEATWALK_SYSTEM its system."""
    binary, system = os.environ.get("HEATWALK_BINARY"), os.environ.get("HEATWALK_SYSTEM")
    if bool(binary) != bool(system) or system and system not in TAGS:
        raise SystemExit(f"HEATWALK_BINARY is {binary}, HEATWALK_SYSTEM is {system}; give the path of the program, "
                         f"and one of {', '.join(TAGS)}")
    return write_wheel(wheel_directory, system, binary)


def build_editable(wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    """Build a wheel that refers to this folder."""
    return write_wheel(wheel_directory, editable=True)


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    """Build a source distribution."""
    stem = f"{NAME}-{version()}"
    path = os.path.join(sdist_directory, stem + ".tar.gz")
    with tarfile.open(path, "w:gz", dereference=True) as archive:
        for name in ("pyproject.toml", "README.md", "wheelbuild.py", "src"):
            archive.add(os.path.join(HERE, name), f"{stem}/{name}",
                        filter=lambda i: None if "__pycache__" in i.name else i)
        for name, license_path in licenses().items():
            archive.add(license_path, f"{stem}/{name}")
        about = tarfile.TarInfo(f"{stem}/PKG-INFO")
        about.size = len(metadata())
        archive.addfile(about, io.BytesIO(metadata()))
    return stem + ".tar.gz"


if __name__ == "__main__":
    print(write_wheel(sys.argv[3], sys.argv[1], sys.argv[2]))

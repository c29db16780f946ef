"""Frames of edges, whose columns the program chooses by the rules for files."""

from __future__ import annotations

import csv
import os
import re
import zlib
from typing import Any, Iterable, NamedTuple, Sequence

import numpy as np

from . import _process
from ._errors import InputError
from ._folder import call_in_folder

_SAMPLE = 1000  # rows from which columns are chosen
_ENDS = "source", "target"


class Choice(NamedTuple):
    """The columns of a frame with the ends of edges and so on, and the flags that read them."""
    columns: dict[str, Any]  # by role; arrays
    titles: list[Any]  # of columns
    flags: list[str]
    form: str = ""  # of times, as in ":dmy"


def columns_of(frame: Any) -> list[tuple[Any, Any]] | None:
    """Return titles and columns of a frame of pandas or polars, or a table of Arrow, or None."""
    if not hasattr(frame, "shape") or len(frame.shape) != 2:
        return None
    if hasattr(frame, "iloc"):
        return [(title, frame.iloc[:, i]) for i, title in enumerate(frame.columns)]
    titles = getattr(frame, "column_names", None)
    titles = getattr(frame, "columns", None) if titles is None else titles
    return None if titles is None else [(title, frame[title]) for title in titles]


def levels_of(frame: Any) -> list[tuple[Any, Any]]:
    """Return the levels of an index of pandas that have names, which are columns of edges too."""
    if not hasattr(frame, "iloc"):
        return []
    return [(title, frame.index.get_level_values(i)) for i, title in enumerate(frame.index.names)
            if title is not None and title not in frame.columns]


def is_missing(values: Any) -> Any:
    """Return a mask of None, NaN, NaT and pandas.NA in an array."""
    if values.dtype.kind in "fcmM":
        return np.isnan(values) if values.dtype.kind in "fc" else np.isnat(values)

    def is_none(value: Any) -> bool:
        try:
            return value is None or bool(value != value)
        except (TypeError, ValueError):  # pandas.NA is neither; an array is a value
            return not hasattr(value, "__len__")
    if values.dtype != object:
        return np.zeros(values.shape, dtype=bool)
    return np.fromiter(map(is_none, values.ravel()), bool, values.size).reshape(values.shape)


def cells(values: Any) -> list[Any]:
    """Return the values of an array as they are written to a table, "" for a missing one."""
    missing = np.flatnonzero(is_missing(values))
    if values.dtype.kind == "M":
        values = np.datetime_as_string(values, unit="s")
    texts: list[Any] = values.tolist()
    if values.dtype.kind in "OU":
        texts = [" ".join(v.splitlines()) if isinstance(v, str) else v for v in texts]
    for row in missing:
        texts[row] = ""
    return texts


def write_table(path: str, titles: Iterable[Any], columns: Iterable[Sequence[Any]]) -> None:
    """Write a table with a header."""
    with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        csv.writer(file).writerows([list(titles), *zip(*columns)])


def _find(titles: Sequence[Any], title: Any) -> int:
    """Return the number of the column with a title."""
    places = [i for i, t in enumerate(titles) if t == title]
    if len(places) > 1:
        raise ValueError(f"graph: {len(places)} columns have the title {title!r}; rename them")
    if not places:
        raise ValueError(f"graph: there is no column {title!r}; its columns are {', '.join(map(str, titles))}")
    return places[0]


def ask_columns(path: str, args: Sequence[str], weight: Any, titles: Sequence[Any] | None = None) -> dict[str, Any]:
    """Return what the program says of a table; of several weights it takes "weight".

    A weight of None, which is left out, may be any column, also one of text.
    """
    names = {path: path if titles is None else "graph"}
    base = ["--duplicates", "max"]
    if weight is None:
        base += ["--weights", "signed", "--decimal", "."]
    more: list[str] = []
    while True:
        try:
            return _process.run(["info", path, *base, *args, *more], names, reader=_process.Reader(titles=titles),
                                is_wanted=lambda text: weight is not None and "no weight;" in text)
        except InputError as error:
            fields = re.search('--fields=([^ "]+)', error.stderr)
            is_several = "could be the weight" in error.message
            is_text = weight is None and error.message.startswith('weight "')
            is_chosen = weight is None or weight == "weight" and "weight" in (titles or ())
            if not fields or more or not (is_text or is_several and is_chosen):
                raise
            ends = fields[1].split(",")
            more = ["--weight", weight] if weight else ["--fields", ",".join(ends[:2] if is_several else ends).rstrip(",")]


def choose_columns(titles: list[Any], arrays: list[Any], named: dict[str, Any], flags: Sequence[str]) -> Choice:
    """Let the program choose the columns of edges, apart from those that are named.

    A weight of None is none, and "weight" is one that is chosen if no column has this title.
    """
    named = {role: title for role, title in named.items() if title is not None or role == "weight"}
    if len(named.keys() & set(_ENDS)) == 1:
        raise ValueError("graph: source and target name two columns; give both")
    weight = named.pop("weight")
    if weight is not None and (weight != "weight" or weight in titles and "source" in named):
        named["weight"] = weight
    form = ""
    if named.get("time") not in titles:
        if order := re.search(r":(iso|unix|unixms|seconds|dmy|mdy|ymd)$", str(named.get("time"))):
            form = order[0]
            named["time"] = named["time"][:order.start()]
    place = {role: _find(titles, title) for role, title in named.items()}
    flags = list(flags)
    if weight in titles and is_negative(arrays[titles.index(weight)]):
        flags = ["--weights", "signed", *flags]
    args = ["--header", "yes", *flags]
    fields = [str(place[role] + 1) for role in (*_ENDS, "weight") if role in place]
    if "source" in place:
        args += ["--fields", ",".join(fields)]
    elif fields:
        args += ["--weight", fields[0]]
    args += [v for role in ("kind", "time") if role in place
             for v in ("--" + role, f"{place[role] + 1}{form if role == 'time' else ''}")]

    def work(folder: str) -> dict[str, Any]:
        path = os.path.join(folder, "sample.csv")
        write_table(path, titles, [cells(array[:_SAMPLE]) for array in arrays])
        return ask_columns(path, args, weight, titles)
    answer = call_in_folder(0, work)
    uses = {c["use"]: i for i, c in enumerate(answer["columns"]) if c.get("use") in (*_ENDS, "weight", "kind", "time")}
    if weight is None:
        uses.pop("weight", None)
    if "weight" in uses and answer.get("events") and not answer["directed"]:
        flags = ["--duplicates", "sum", *flags]
    roles = [role for role in (*_ENDS, "weight", "kind", "time") if role in uses]
    return Choice({role: arrays[uses[role]] for role in roles}, [titles[uses[role]] for role in roles], flags, form)


def is_negative(values: Any) -> bool:
    """Report whether an array of numbers has one below 0."""
    try:
        numbers = np.where(is_missing(values), 0, values).astype(np.float64)
    except (TypeError, ValueError):  # text
        return False
    return bool((numbers < 0).any())


def read_table(command: str, folder: str, choice: Choice, ends: Any, n: int, out: str) -> dict[str, Any]:
    """Let the program read edges between rows, −1 for none, of which n are nodes."""
    table, ids = (os.path.join(folder, name) for name in ("edges.csv", "nodes.ids"))
    codes = [np.where(end < 0, None, end).tolist() if (end < 0).any() else end.tolist() for end in ends]
    others = {role: i for i, role in enumerate(choice.columns) if role not in _ENDS}
    columns = [cells(values.astype(int) if values.dtype.kind == "b" and role != "kind" else values)
               for role, values in choice.columns.items() if role in others]
    write_table(table, choice.titles, codes + columns)
    with open(ids, "w", encoding="ascii") as file:
        file.writelines(f"{row}\n" for row in range(n))
    fields = "1,2,3" if "weight" in others else "1,2"
    flags = [f"--{role}={i + 1}{choice.form if role == 'time' else ''}"
             for role, i in others.items() if role != "weight"]
    flags += ["--self-loops", "keep"] if command == "convert" else []
    try:
        done = _process.run([command, table, "-o", out, "--nodes", ids, "--header", "yes",
                             "--fields", fields, *flags, *choice.flags], {table: "graph"},
                            reader=_process.Reader(titles=choice.titles))
        with open(table, "rb") as file:
            return {**done, "sum": zlib.crc32(file.read())}
    finally:
        os.remove(table)

"""Exceptions, a class for each exit code of the program, and warnings."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from typing import Any, Sequence


class HeatwalkError(Exception):
    """An error of the program, with exit code 1.

    The attributes message, hint and place are its parts, code is the exit code of the program, negative for a signal,
    command the command line, and stderr the last lines on stderr.
    """
    code = 1
    number: int | None = None  # of the error of the system, as in the module errno

    def __init__(self, message: str = "", hint: str = "", place: str = "", code: int | None = None,
                 command: Sequence[str] = (), stderr: str = "", number: int | None = None) -> None:
        self.message, self.hint, self.place = message, hint, place
        self.code = type(self).code if code is None else code
        self.command, self.stderr = list(command), stderr
        super().__init__(str(self))
        if isinstance(self, OSError):
            for name, value in (("errno", self.number if number is None else number),
                                ("strerror", message), ("filename", place or None)):
                setattr(self, name, value)

    def __str__(self) -> str:
        text = f"{self.place}: {self.message}" if self.place else self.message
        return f"{text}; {self.hint}" if self.hint else text

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (self.message, self.hint, self.place, self.code, self.command, self.stderr)
        return type(self), (*fields, getattr(self, "errno", None))


class UsageError(HeatwalkError, ValueError):
    """An argument is wrong."""
    code = 2


class InputError(HeatwalkError, ValueError):
    """The graph, the labels or another input is wrong."""
    code = 3


class StoreError(HeatwalkError, OSError):
    """A store is damaged or missing, or a disk failed; a full disk has the errno ENOSPC."""
    code = 4
    number = 5  # EIO


class LimitError(HeatwalkError, MemoryError):
    """The call needs more memory than it may use."""
    code = 5


class CrashError(HeatwalkError):
    """The program ended by a signal or by a fault of its own."""


class CancelledError(HeatwalkError):
    """Another thread called :func:`cancel`."""


class VersionError(HeatwalkError):
    """The program that was found has another protocol than this package."""


class NotFoundError(UsageError, FileNotFoundError):
    """A file, a store or the program was not found."""
    number = 2  # ENOENT


class NotFittedError(ValueError, AttributeError):
    """The estimator has not been fitted yet."""


class HeatwalkWarning(UserWarning):
    """A warning of the program, for example about input that was ignored."""


CLASSES: dict[int, type[HeatwalkError]] = {1: HeatwalkError, 2: UsageError, 3: InputError, 4: StoreError, 5: LimitError}

for _class in (*CLASSES.values(), CancelledError, CrashError, VersionError, NotFoundError,
               NotFittedError, HeatwalkWarning):
    _class.__module__ = "heatwalk"  # where users import them from

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def warn(text: str, category: type[Warning] = HeatwalkWarning) -> None:
    """Warn at the line of the caller of this package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename.startswith((_HERE, contextlib.__file__)):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)

"""Progress in a terminal, a notebook, or a function of the caller."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Any, Callable, Iterator, Mapping, Optional

Update = Callable[[Mapping[str, Any]], None]

_AFTER = 2.0  # seconds before anything is shown that was not asked for


@contextlib.contextmanager
def shown(progress: Any) -> Iterator[Optional[Update]]:
    """Provide the function to call with each line of progress, or None for no progress."""
    if callable(progress):

        def call(s: Mapping[str, Any]) -> None:
            progress(s["stage"], int(s.get("done", 0)), int(s.get("total", 0)), s.get("seconds_left"))

        yield call
    elif progress is False or progress is None and not _is_interactive():
        yield None
    else:
        display = _Display(0.0 if progress else _AFTER)
        try:
            yield display.update
        finally:
            display.close()


def _is_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")


def _is_interactive() -> bool:
    return _is_notebook() or bool(sys.stderr and sys.stderr.isatty())


class _Display:
    """A bar of tqdm, or one line on stderr that is written again and again."""

    def __init__(self, after: float) -> None:
        self.begin = time.monotonic() + after
        self.stage, self.bar, self.width = "", None, 0

    def update(self, s: Mapping[str, Any]) -> None:
        if time.monotonic() < self.begin:
            return
        done, total = int(s.get("done", 0)), int(s.get("total", 0))
        if s["stage"] != self.stage:
            self.close()
            self.stage, self.bar = s["stage"], _tqdm(s["stage"], total)
        if self.bar is not None:
            self.bar.total = total or None
            self.bar.update(done - self.bar.n)
            return
        share = f" {100 * done / total:.0f} %" if total else f" {done}" if done else ""
        left = s.get("seconds_left")
        text = f"{self.stage}{share}" + (f", {left:.0f} s left" if left and left >= 1 else "")
        sys.stderr.write("\r" + text.ljust(self.width))
        sys.stderr.flush()
        self.width = len(text)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
        elif self.width:
            sys.stderr.write("\r" + " " * self.width + "\r")
            sys.stderr.flush()
        self.stage, self.bar, self.width = "", None, 0


def _tqdm(stage: str, total: int) -> Any:
    """Return a bar, or None if tqdm is not there. tqdm.auto needs ipywidgets in a notebook."""
    try:
        if _is_notebook():
            import ipywidgets  # noqa: F401
            from tqdm.auto import tqdm
        else:
            from tqdm import tqdm
    except ImportError:
        return None
    return tqdm(desc=stage, total=total or None, leave=False, unit_scale=True)

"""A bar with rate and time left on stderr, where a person is looking at it."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Self

_EVERY = 0.1  #: seconds between two updates


class Bar:
    """Shows how far a check is; does nothing where stderr is no terminal or ``show`` is False.

    It is what `gjk3d.clash.check` takes as ``progress``.
    """

    def __init__(self, show: bool = True) -> None:
        self._progress: Any = None
        self._task: Any = None
        self._stage = ""
        self._start = self._last = 0.0
        if show and sys.stderr is not None and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            self._progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[rate]}"),
                TimeRemainingColumn(),
                TextColumn("{task.fields[found]}"),
                console=Console(file=sys.stderr),
                transient=True,
            )

    def __enter__(self) -> Self:
        if self._progress is not None:
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def __call__(self, stage: str, done: int = 0, total: int | None = None, found: int = 0) -> None:
        """Show that so many of so many things of a stage are done."""
        if self._progress is None:
            return
        now = time.monotonic()
        if stage != self._stage:
            if self._task is not None:
                self._progress.remove_task(self._task)
            self._task = self._progress.add_task(stage, total=total, rate="", found="")
            self._stage, self._start = stage, now
        elif now - self._last < _EVERY and done != total:
            return
        self._last = now
        seconds = now - self._start
        rate = f"{done / seconds:.0f}/s" if done and seconds > 0.0 else ""
        self._progress.update(
            self._task, completed=done, total=total, rate=rate, found=f"{found} found" if found else ""
        )

"""Saying so where a first call is slow: it compiles, once on this machine."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_called: set[str] = set()


@contextmanager
def _watch(name: str) -> Iterator[None]:
    def say() -> None:
        sys.stderr.write("gjk3d: compiling kernels, once on this machine (`gjk3d warmup` does it ahead) ...\n")
        sys.stderr.flush()

    timer = threading.Timer(3.0, say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        _called.add(name)


class _Nothing:
    __slots__ = ()

    def __enter__(self) -> None:
        return None

    def __exit__(self, *args: object) -> None:
        return None


_nothing = _Nothing()


def first_call(name: str) -> Any:
    """Return a context that says so on stderr where a first call is slow, and costs nothing afterwards."""
    return _nothing if name in _called else _watch(name)

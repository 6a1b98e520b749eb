"""Ctrl-C at moments at which it must wait.

numba crashes, and trimesh goes on as if nothing was, where an interrupt comes while they are imported or load a kernel.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def held() -> Iterator[list[Any]]:
    """Hold a first Ctrl-C back, and put it into the list that is lent; a second one interrupts."""
    waiting: list[Any] = []
    here = threading.current_thread() is threading.main_thread()  # signals go to that
    if not here or signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        yield waiting
        return

    def hold(*received: Any) -> None:
        if waiting:
            raise KeyboardInterrupt
        waiting.append(received)

    before = signal.signal(signal.SIGINT, hold)
    try:
        yield waiting
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)


@contextmanager
def unbroken() -> Iterator[None]:
    """Do something to its end, also to a bad one: a first Ctrl-C comes when it is done."""
    with held() as waiting:
        try:
            yield
        except Exception:  # perhaps its child was interrupted too
            if not waiting:
                raise
    if waiting:
        signal.raise_signal(signal.SIGINT)

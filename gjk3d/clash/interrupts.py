"""Ctrl-C at moments at which it must wait."""

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
    if threading.current_thread() is not threading.main_thread():
        yield waiting  # signals go to the main thread
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
    """Do something as a whole or not at all: a first Ctrl-C comes when it is done."""
    with held() as waiting:
        yield
    if waiting:
        signal.raise_signal(signal.SIGINT)

"""What a competitor is: a library that answers a scene's queries in its fastest honest way."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from naive import Array

from .scenes import Scene

#: a peer loops over this many objects built beforehand; more would only cost it cache misses
PREBUILT = 4096

#: what is measured without Python, and is no anchor of what is asked from Python
KERNEL = "coal's C++ alone"

Loop = Callable[[int], Any]


class Competitor(ABC):
    """A library on one scene; what it needs is built here, before any clock runs."""

    name: ClassVar[str]
    module: ClassVar[str]  #: what must be importable
    settings: ClassVar[tuple[str, ...]] = ("one", "stack", "pairs", "path")

    def __init__(self, scene: Scene) -> None:
        self.scene = scene

    @property
    def most(self) -> int:
        """How many queries it has ready."""
        return min(PREBUILT, len(self.scene))

    def clock(self) -> float:
        """Seconds of CPU time."""
        return time.process_time()

    @abstractmethod
    def loop(self, question: str) -> Loop | None:
        """Return what answers the first n queries and collects the answers; None where it cannot."""

    def values(self, question: str, answers: Any) -> Array:
        """Return a loop's answers as booleans, or as signed distances."""
        return np.asarray(answers)

    def points(self, count: int) -> tuple[Array, Array] | None:
        """Nearest points of the first queries, (n, 3) each and NaN where it gives none; None where it has none."""
        return None

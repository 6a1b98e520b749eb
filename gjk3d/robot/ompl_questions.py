"""What OMPL's callbacks ask of a checker, as cheap as Python can: numbers of states in one call, motions in another."""

from __future__ import annotations

import ctypes
from threading import Lock
from typing import Any

import numpy as np

from gjk3d.robot import queries
from gjk3d.robot.checker import Checker
from gjk3d.robot.motions import steps_of
from gjk3d.robot.walk import FREE
from gjk3d.typing import Array, Ints


class Numbers:
    """A row that OMPL writes the numbers of states into, all in one call.

    ``StateSpace.serialize`` copies them to an address, which nanobind takes as a capsule of this name.
    """

    _NAME = b"nb_handle"

    def __init__(self, space: Any) -> None:
        self.row: Array = np.empty(space.getDimension())
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self._write, self._place = space.serialize, new(self.row.ctypes.data, self._NAME, None)

    def read(self, state: Any) -> Array:
        """Return the row with the numbers of a state."""
        self._write(self._place, state)
        return self.row


class Questions:
    """What OMPL's callbacks ask of a checker.

    It knows nothing of OMPL's setup, which holds the callbacks: Python never sees, and so never collects, a cycle that
    leads through C++.
    """

    def __init__(self, checker: Checker, space: Any, columns: Ints, rest: Array, **how: Any) -> None:
        self.checker, self.rest, self.how, self.motions = checker, rest, how, 0
        self.each = steps_of(checker.robot, how["resolution"])
        dense = len(columns) == columns[-1] - columns[0] + 1 and (np.diff(columns) == 1).all()
        self.columns: Any = slice(int(columns[0]), int(columns[-1]) + 1) if dense else columns
        self._numbers, self._lock = (Numbers(space), Numbers(space)), Lock()
        self._ends: Array = np.tile(rest, (2, 1))
        self._first = self._ends[0]

    def configuration(self, state: Any) -> Array:
        """Return a whole configuration."""
        q = self.rest.copy()
        with self._lock:
            q[self.columns] = self._numbers[0].read(state)
        return q

    def state_free(self, state: Any) -> bool:
        """Tell whether a state is free."""
        with self._lock:
            self._ends[0, self.columns] = self._numbers[0].read(state)
            return bool(self.checker.free(self._first))

    def motion_free(self, first: Any, second: Any) -> bool:
        """Tell whether the motion between two states is free."""
        if not self.how["certify"]:
            ends, columns, (one, two) = self._ends, self.columns, self._numbers
            with self._lock:
                ends[0, columns], ends[1, columns] = one.read(first), two.read(second)
                told = queries.quick_edge(self.checker._cell(), ends, self.each)
            if told >= FREE:
                self.motions += 1
                return told == FREE
        return self.motions_free(self.configuration(first), self.configuration(second))

    def motions_free(self, first: Array, second: Array) -> bool:
        """Tell whether all of some motions between configurations are free."""
        self.motions += len(first) if first.ndim == 2 else 1
        return bool(np.all(self.checker.motion_free(first, second, **self.how).free))

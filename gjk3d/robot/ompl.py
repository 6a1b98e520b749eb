"""Planning with OMPL 2: a checker as its state validity checker, motion validator and objective.

OMPL calls Python once for each motion. The whole motion is then checked in one compiled call. OMPL is installed by
``pip install gjk3d[plan]`` and is not available for Windows.
"""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, Literal

import numpy as np

from gjk3d.errors import RobotError
from gjk3d.robot import queries
from gjk3d.robot.cell_kernels import FREE
from gjk3d.robot.checker import Checker
from gjk3d.robot.motions import PathProof, steps_of
from gjk3d.robot.planner import joint_space, one_row, planner_in, with_clearance
from gjk3d.typing import Array, Ints, Row
from gjk3d.wording import nearest

try:
    from ompl import base as ob
    from ompl import geometric as og
    from ompl import util
except ImportError as reason:
    raise ImportError(
        "gjk3d.robot.ompl needs OMPL 2, which is not installed. Run pip install gjk3d[plan] (Linux and macOS)"
    ) from reason

#: planners that need the last valid state of a motion, which a motion validator in Python cannot return
REFUSED = ("KPIECE1", "BKPIECE1", "LBKPIECE1", "PDST", "RLRT", "BiRLRT")


def _setup_of(space: Any) -> tuple[Any, Any]:
    """Return OMPL's setup for a space, and its space information, both untracked by the garbage collector."""
    # For these two objects OMPL 2.0.1 reports references to freed objects to the garbage collector. After
    # og.SimpleSetup(space), gc.collect() would read freed memory and might write to it. Each object has a single Python
    # wrapper as long as a reference to it exists, so it is enough to untrack these wrappers once.
    collecting = gc.isenabled()
    gc.disable()
    try:
        setup = og.SimpleSetup(space)
        information = setup.getSpaceInformation()
        for wrapper in (setup, information):
            ctypes.pythonapi.PyObject_GC_UnTrack(ctypes.py_object(wrapper))
    finally:
        if collecting:
            gc.enable()
    return setup, information


class Planning:
    """A planning setup of OMPL that uses a checker, for all or some of the joints of a robot.

    Parameters
    ----------
    checker : Checker
        Only one thread at a time may use the checker.
    joints : sequence of str, optional
        Names of the joints that move. The default is all joints.
    rest : (dof,) float, optional
        A configuration with the values of the other joints. The default is 0 for each joint.
    lower, upper : (moved,) float, optional
        Bounds of the joints that move. The default is the robot's limits, and -pi to pi for angles without limits.
    certify : {"end", False, True}
        "end" certifies the returned path. False certifies nothing. True certifies each motion that a planner tests.
        Motions without a proof then count as collisions.
    resolution, tolerance : float
        As in `Checker.motion_free`.

    Attributes
    ----------
    space : ompl.base.RealVectorStateSpace
        The state space. Its dimensions are the joint values that move.
    setup : ompl.geometric.SimpleSetup
        The setup with the state checker and the motion validator. You can set its planner and its objective.
    proof : PathProof or None
        Proof of the last path. None before the first path, or with ``certify=False``.

    Raises
    ------
    RobotError
        A joint is unknown or named twice, bounds are missing, ``lower`` is not less than ``upper``, ``rest`` is not a
        configuration, or ``certify`` is not one of the values above.

    Examples
    --------
    >>> import gjk3d as gk
    >>> checker = gk.robot.Checker(gk.robot.Robot.example())
    >>> path = gk.robot.ompl.Planning(checker).plan([0.0, 0.0], [1.0, 1.0], seconds=2.0)
    >>> path[0].tolist(), path[-1].tolist()
    ([0.0, 0.0], [1.0, 1.0])
    """

    def __init__(
        self,
        checker: Checker,
        *,
        joints: Sequence[str] | None = None,
        rest: Row | None = None,
        lower: Row | None = None,
        upper: Row | None = None,
        certify: bool | Literal["end"] = "end",
        resolution: float = 0.05,
        tolerance: float = 1e-6,
    ) -> None:
        if certify not in (False, True, "end"):
            raise RobotError(f"certify is {certify!r:.80}, expected 'end', False or True")
        self.checker, robot = checker, checker.robot
        self.proof: PathProof | None = None
        self._prove, self._tolerance = bool(certify), tolerance
        self._joints = joint_space(robot, joints, lower, upper)
        columns, low, high, _ = self._joints
        if not (low < high).all():  # OMPL refuses bounds without a range
            k = int(np.argmin(high - low))
            name = robot._joint_of(int(columns[k]))
            raise RobotError(f"joint {name!r}: lower is {low[k]:g} and upper {high[k]:g}, expected lower < upper")
        self.columns: tuple[int, ...] = tuple(columns.tolist())
        self._rest = np.zeros(robot.dof) if rest is None else one_row(robot, rest, "rest").copy()
        self.space = ob.RealVectorStateSpace(len(columns))
        bounds = ob.RealVectorBounds(len(columns))
        for k in range(len(columns)):
            bounds.setLow(k, float(low[k]))
            bounds.setHigh(k, float(high[k]))
        self.space.setBounds(bounds)
        self._low, self._high = low, high
        self._queries = StateQueries(
            checker,
            self.space,
            columns,
            self._rest,
            certify=certify is True,
            resolution=resolution,
            tolerance=tolerance,
        )
        self.setup, self._information = _setup_of(self.space)
        self._validator = MotionValidator(self)
        self.setup.setStateValidityChecker(self.state_checker())
        self._information.setMotionValidator(self._validator)

    def __repr__(self) -> str:
        return f"<Planning for {self.checker!r}: {len(self.columns)} of {self.checker.robot.dof} joint values move>"

    @property
    def motions(self) -> int:
        """The number of motions that this setup has tested so far."""
        return self._queries.motions

    def configuration(self, state: Any) -> Array:
        """Return the configuration of the whole robot at a state.

        Parameters
        ----------
        state : ompl.base.State
            A state of ``space``.

        Returns
        -------
        (dof,) float
            Radians, and the robot's unit of length.
        """
        return self._queries.configuration(state)

    def state(self, q: Row) -> Any:
        """Return the state of ``space`` for a configuration of the whole robot.

        Parameters
        ----------
        q : (dof,) float
            Radians, and the robot's unit of length.

        Returns
        -------
        ompl.base.State

        Raises
        ------
        RobotError
            q is outside the bounds, or a joint that does not move differs from its value in ``rest``.
        """
        row = self._within(q, "q")
        state = self.space.allocState()
        for k, column in enumerate(self.columns):
            state[k] = float(row[column])
        return state

    def _within(self, q: Row, name: str) -> Array:
        row = one_row(self.checker.robot, q, name)
        moved = row[list(self.columns)]
        out = ~((self._low <= moved) & (moved <= self._high))
        if out.any():
            k = int(np.argmax(out))
            raise RobotError(
                f"{name}[{self.columns[k]}] is {moved[k]}, expected {self._low[k]:g} to {self._high[k]:g}. Set lower= "
                "and upper= to wider bounds"
            )
        static = np.ones(len(row), dtype=bool)
        static[list(self.columns)] = False
        if not np.array_equal(row[static], self._rest[static]):
            k = int(np.argmax(static & (row != self._rest)))
            joint = self.checker.robot._joint_of(k)
            raise RobotError(
                f"{name}[{k}] is {row[k]}, but joint {joint!r} does not move and rest[{k}] is {self._rest[k]}. Use "
                f"rest={name}, or name the joint in joints="
            )
        return row

    def state_checker(self) -> Callable[[Any], bool]:
        """Return the callback for OMPL, a function that returns whether a state is free."""
        return self._queries.state_free

    def planner(self, kind: str) -> Any:
        """Return a planner of OMPL.

        Parameters
        ----------
        kind : str
            Name of the planner, such as "RRTConnect", "PRM" or "BITstar".

        Returns
        -------
        ompl.base.Planner

        Raises
        ------
        RobotError
            ``kind`` is not a planner of OMPL, or the planner needs the last valid state of a motion, which a motion
            validator in Python cannot return.
        """
        if kind in REFUSED:
            raise RobotError(
                f"{kind} needs the last valid state (lastValid), which OMPL's Python bindings do not return. Use "
                "another planner, such as RRTConnect, PRM, BITstar or RRTstar"
            )
        planner_class = getattr(og, kind, None)
        if not (isinstance(planner_class, type) and issubclass(planner_class, ob.Planner)):
            raise RobotError(
                f"{kind!r} is not a planner of ompl.geometric."
                f"{nearest(kind, {*dir(og)} - {*REFUSED}) or ' Use RRTConnect, PRM or BITstar.'}"
            )
        return planner_class(self.setup.getSpaceInformation())

    def plan(
        self,
        start: Row,
        goal: Row,
        *,
        planner: str = "RRTConnect",
        seconds: float = 5.0,
        simplify: bool = True,
    ) -> Array | None:
        """Return waypoints from start to goal with free straight lines between them, or None if no path is found.

        Unless ``certify`` is False, the whole path is proven free, also between samples. A stretch of the path without
        a proof is replaced by a detour. Without a detour, the path is planned again with certified motions only.
        The attribute ``proof`` contains the proof.

        Parameters
        ----------
        start, goal : (dof,) float
            Configurations of the whole robot: radians, and the robot's unit of length.
        planner : str
            Name of a planner, as in `planner`. A planner that optimises uses the whole time.
        seconds : float
            Time limit of the planner. The proof, the detours and the second plan together have as much time again.
        simplify : bool
            Whether OMPL shortens the path for up to a second.

        Returns
        -------
        (m, dof) float or None
            Waypoints: radians, and the robot's unit of length. None if no path is found, or if its proof fails.

        Raises
        ------
        RobotError
            Start or goal is outside the bounds, or is not free. The message names the colliding pair.
        """
        ends = []
        for name, q in (("start", start), ("goal", goal)):
            ends.append(self._within(q, name))
            hit = self.checker.hit(q)
            if hit is not None:
                raise RobotError(
                    f"{name} is not free, because {hit[0]!r} and {hit[1]!r} are too close. Use another {name}"
                )
        # These calls compile kernels, if necessary, before the time is measured.
        self._queries.motions_free(ends[0], ends[0])
        self.checker.collisions(ends[0])
        self.proof, level = None, util.getLogLevel()
        util.setLogLevel(util.LogLevel.LOG_ERROR)
        try:
            paths = self._solve(ends, planner, seconds, simplify)
            if not paths or not self._prove:
                return paths[0] if paths else None
            return self._proven(paths, ends, time.perf_counter() + seconds, self._queries.how["resolution"])
        finally:
            util.setLogLevel(level)

    def _solve(self, ends: Sequence[Array], planner: str, seconds: float, simplify: bool) -> list[Array]:
        """Return the path that OMPL shortened, if any, and the path that OMPL found. Return [] without a path."""
        self.setup.clear()
        self.setup.setStartAndGoalStates(*map(self.state, ends))
        self.setup.setPlanner(self.planner(planner))
        self.setup.solve(float(seconds))
        if not self.setup.haveExactSolutionPath():
            return []
        paths = [self._path()]
        if simplify:
            self.setup.simplifySolution(1.0)
            shorter = self._path()
            if self._prove or self._queries.motions_free(shorter[:-1], shorter[1:]):
                paths.insert(0, shorter)
        return paths

    def _path(self) -> Array:
        return np.array([self.configuration(state) for state in self.setup.getSolutionPath().getStates()])

    def _proven(self, paths: list[Array], ends: Sequence[Array], until: float, resolution: Any) -> Array | None:
        """Return the first of ``paths`` that can be proven, else a new proven path, else None. Set ``self.proof``."""
        cell, begin, proof = self.checker._cell(), time.process_time(), None
        with planner_in(cell, self._joints, np.stack(ends), resolution) as planner:
            planner.until = until
            for replanned in (False, True):
                if replanned:
                    other = planner.path(ends[0], ends[1][None], certify=True)
                    paths = [] if other is None else [planner.smoothed(other[0], certify=True)]
                for path in paths:
                    proven, failed = planner.proven(path)
                    if proven is not None:
                        proof = with_clearance(cell, proven, failed, until)
                        self.proof = proof._replace(replanned=replanned, seconds=time.process_time() - begin)
                        return proven
                    proof = proof or failed
        self.proof = proof and proof._replace(seconds=time.process_time() - begin)
        return None


class MotionValidator(ob.MotionValidator):  # type: ignore[misc]
    """A motion validator of OMPL that checks a motion in one call."""

    def __init__(self, planning: Planning) -> None:
        super().__init__(planning.setup.getSpaceInformation())
        self._motion_free = planning._queries.motion_free

    def checkMotion(self, first: Any, second: Any, *more: Any) -> bool:
        """Return whether the straight line between two states is free."""
        if more:
            raise RobotError(
                "the planner needs the last valid state (lastValid), which a validator in Python cannot return. Use "
                "RRTConnect or PRM"
            )
        return self._motion_free(first, second)


class ClearanceObjective(ob.OptimizationObjective):  # type: ignore[misc]
    """An objective of OMPL: the length of a path, where stretches near a collision count up to ``1 + weight`` times.

    Set it with ``planning.setup.setOptimizationObjective``, for planners that optimise. The factor is 1 for a clearance
    of ``enough`` or more, and ``1 + weight`` for a clearance of 0 or less. In between it is linear. The factor of a
    motion is the mean of the factors of its samples.

    Parameters
    ----------
    planning : Planning
        The setup whose checker computes clearances.
    enough : float
        Clearance above which the factor is 1, in the robot's unit of length, above 0.
    weight : float
        Increase of the factor at a clearance of 0, at least 0.

    Raises
    ------
    RobotError
        ``enough`` is not above 0, or ``weight`` is negative.
    """

    def __init__(self, planning: Planning, enough: float, weight: float = 10.0) -> None:
        if not (enough > 0.0 and weight >= 0.0):
            raise RobotError(f"enough is {enough} and weight {weight}, expected enough > 0 and weight >= 0")
        super().__init__(planning.setup.getSpaceInformation())
        self._queries, self._enough, self._weight = planning._queries, float(enough), float(weight)

    def stateCost(self, state: Any) -> Any:
        """Return the factor by which lengths count at a state, as an OMPL cost."""
        return ob.Cost(float(self._factors(self._queries.configuration(state)[None])[0]))

    def motionCost(self, first: Any, second: Any) -> Any:
        """Return the weighted length of a motion between two states as an OMPL cost."""
        a, b = self._queries.configuration(first), self._queries.configuration(second)
        length = float(np.linalg.norm(b - a))
        count = max(int(np.ceil((np.abs(b - a) / self._queries.each).max())), 1)
        middles = (np.arange(count) + 0.5) / count
        return ob.Cost(length * float(self._factors(a + middles[:, None] * (b - a)).mean()))

    def _factors(self, q: Array) -> Array:
        distance = self._queries.checker.clearance(q, max_distance=self._enough).distance
        lacking: Array = 1.0 - np.clip(distance, 0.0, self._enough) / self._enough
        return 1.0 + self._weight * lacking


class Numbers:
    """An array that OMPL fills with all values of a state in one call.

    ``StateSpace.serialize`` copies the values to an address. nanobind accepts the address as a PyCapsule of a fixed
    name.
    """

    _NAME = b"nb_handle"

    def __init__(self, space: Any) -> None:
        self.row: Array = np.empty(space.getDimension())
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self._write, self._place = space.serialize, new(self.row.ctypes.data, self._NAME, None)

    def read(self, state: Any) -> Array:
        """Return the values of a state. The returned array is overwritten by the next call."""
        self._write(self._place, state)
        return self.row


class StateQueries:
    """The queries to a checker that OMPL's callbacks make."""

    # This class must not refer to OMPL's setup, which owns the callbacks: Python cannot collect a cycle through C++.

    def __init__(self, checker: Checker, space: Any, columns: Ints, resting: Array, **how: Any) -> None:
        self.checker, self.rest, self.how, self.motions = checker, resting, how, 0
        self.each = steps_of(checker.robot, how["resolution"])
        dense = len(columns) == columns[-1] - columns[0] + 1 and (np.diff(columns) == 1).all()
        self.columns: Any = slice(int(columns[0]), int(columns[-1]) + 1) if dense else columns
        self._numbers, self._lock = (Numbers(space), Numbers(space)), Lock()
        self._ends: Array = np.tile(resting, (2, 1))
        self._first = self._ends[0]

    def configuration(self, state: Any) -> Array:
        """Return the configuration of the whole robot at a state."""
        q = self.rest.copy()
        with self._lock:
            q[self.columns] = self._numbers[0].read(state)
        return q

    def state_free(self, state: Any) -> bool:
        """Return whether a state is free."""
        with self._lock:
            self._ends[0, self.columns] = self._numbers[0].read(state)
            return bool(self.checker.free(self._first))

    def motion_free(self, first: Any, second: Any) -> bool:
        """Return whether the motion between two states is free."""
        if not self.how["certify"]:
            ends, columns, (a, b) = self._ends, self.columns, self._numbers
            with self._lock:
                ends[0, columns], ends[1, columns] = a.read(first), b.read(second)
                pair = queries.quick_edge(self.checker._cell(), ends, self.each)
            if pair >= FREE:
                self.motions += 1
                return pair == FREE
        return self.motions_free(self.configuration(first), self.configuration(second))

    def motions_free(self, first: Array, second: Array) -> bool:
        """Return whether the motion from ``first`` to ``second`` is free. For stacks, all motions must be free."""
        self.motions += len(first) if first.ndim == 2 else 1
        return bool(np.all(self.checker.motion_free(first, second, **self.how).free))

"""coal and python-fcl on the same pairs, in a child process: some inputs hang or crash them.

Each is asked whether the two touch and for their signed distance, whose error is how far it is from the proven
interval, relative to the pair's size. coal is asked as it comes and with its tolerance at 1e-12.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from naive import Array, Spec

from .draw import Stack
from .versus import COAL, COAL_FINE, FCL, Versus

_SECONDS = 2.0  #: for one row
_BEGINNING = 60.0  #: for the shapes of a stack, with the imports
_STACK = 5.0  #: for a stack of a peer: then the rest of its rows is left out, as slow as coal's EPA is at 1e-12
_MOST_LOST = 3  #: rows that a peer may hang or crash at before the rest of a stack is left out
_CAN = ("sphere", "box", "capsule", "cylinder", "hull")
_COAL_CAN = (*_CAN, "cone", "ellipsoid", "tetrahedron")

Ask = Callable[[Any, Any], tuple[float, bool]]


def _has(peer: str, spec: Spec) -> bool:
    if spec[0] == "inflated":
        return peer != FCL and _has(peer, spec[1])
    if spec[0] in ("hull", "tetrahedron") and np.linalg.matrix_rank(np.asarray(spec[1]) - spec[1][0]) < 3:
        return False  # coal and fcl have no flat hulls
    return spec[0] in (_CAN if peer == FCL else _COAL_CAN)


def _asker(peer: str, a: Spec, b: Spec) -> Ask:
    """Build the shapes of a peer; returns what asks them: signed distance and whether they touch."""
    if peer == FCL:
        import fcl
        import peers

        shapes = peers.fcl_shape(a), peers.fcl_shape(b)

        def ask_fcl(pose_a: Array, pose_b: Array) -> tuple[float, bool]:
            objects = [
                fcl.CollisionObject(s, fcl.Transform(p[:3, :3].copy(), p[:3, 3].copy()))
                for s, p in zip(shapes, (pose_a, pose_b), strict=True)
            ]
            hit = bool(fcl.collide(*objects, fcl.CollisionRequest(), fcl.CollisionResult()))
            request = fcl.DistanceRequest(enable_nearest_points=True, enable_signed_distance=True)
            return fcl.distance(*objects, request, fcl.DistanceResult()), hit

        return ask_fcl
    import coal
    import peers

    one, other = peers.coal_shape(a), peers.coal_shape(b)

    def ask_coal(pose_a: Array, pose_b: Array) -> tuple[float, bool]:
        places = [coal.Transform3s(p[:3, :3].copy(), p[:3, 3].copy()) for p in (pose_a, pose_b)]
        request, result = coal.CollisionRequest(), coal.CollisionResult()
        request.enable_contact = False
        hit = bool(coal.collide(one, places[0], other, places[1], request, result))
        if peer == COAL_FINE:
            return peers.coal_signed_distance(one, pose_a, other, pose_b)[0], hit
        wanted = coal.DistanceRequest()
        wanted.enable_signed_distance = True
        return coal.distance(one, places[0], other, places[1], wanted, coal.DistanceResult()), hit

    return ask_coal


def _child(line: Connection) -> None:
    """Answer stacks until the parent is gone: a row at a time, so that it knows at which one this process died."""
    while True:
        peer, a, b, poses_a, poses_b = line.recv()
        try:
            ask = _asker(peer, a, b)
        except Exception as refused:
            line.send(repr(refused))
            continue
        line.send(None)
        for pose_a, pose_b in zip(poses_a, poses_b, strict=True):
            try:
                line.send(ask(pose_a, pose_b))
            except Exception as raised:
                line.send(repr(raised))


class Rivals:
    """The child process, begun again where it is lost."""

    def __init__(self) -> None:
        self.child: Any = None
        self.line: Any = None

    def __enter__(self) -> Rivals:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _end(self) -> None:
        if self.child is not None:
            self.child.kill()
            self.child.join()
            self.line.close()
            self.child = None

    def _begin(self) -> None:
        if self.child is None:
            spawn = multiprocessing.get_context("spawn")
            self.line, far = spawn.Pipe()
            self.child = spawn.Process(target=_child, args=(far,), daemon=True)
            self.child.start()
            far.close()

    def _heard(self, seconds: float = _SECONDS) -> tuple[bool, Any]:
        """Whether the child said something in time, and what."""
        try:
            if self.line.poll(seconds):
                return True, self.line.recv()
        except (EOFError, ConnectionResetError):
            pass
        self._end()
        return False, None

    def _rows(self, peer: str, stack: Stack, first: int) -> tuple[list[Any], bool]:
        """Answers from row ``first`` on, and whether a row hung or crashed after them."""
        pair, found = stack.pair, []
        self._begin()
        self.line.send((peer, pair.a, pair.b, pair.poses_a[first:], pair.poses_b[first:]))
        heard, refused = self._heard(_BEGINNING)
        if not heard or refused is not None:
            return found, not heard
        start = time.perf_counter()
        for _ in range(first, len(stack)):
            if time.perf_counter() - start > _STACK:
                self._end()
                break
            heard, answer = self._heard()
            if not heard:
                return found, True
            found.append(answer)
        return found, False

    def ask(self, stack: Stack, result: Any, versus: Versus) -> None:
        """Ask every peer that has both shapes about every row."""
        size = stack.pair.size
        for peer in (COAL, COAL_FINE, FCL):
            if not (_has(peer, stack.pair.a) and _has(peer, stack.pair.b)):
                continue
            answers: list[Any] = []
            lost = 0
            while len(answers) < len(stack) and lost < _MOST_LOST:
                found, died = self._rows(peer, stack, len(answers))
                answers += found
                if not died:
                    break
                answers.append("lost")
                lost += 1
            for k, answer in enumerate(answers):
                interval = float(result.lower[k]), float(result.upper[k])
                versus.add(peer, stack.name, interval, float(size[k]), answer)

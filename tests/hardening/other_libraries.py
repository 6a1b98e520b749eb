"""coal and python-fcl on the same pairs, in a child process, since some inputs hang or crash them.

Each library computes whether the shapes collide, and their signed distance. The error is the distance from the proven
interval, relative to the pair's size. coal runs with its default tolerance and with 1e-12.
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
from .library_errors import COAL, COAL_FINE, FCL, Versus

_SECONDS = 2.0  #: limit of one row
_BEGINNING = 60.0  #: limit to import a library and build the shapes of a stack
_STACK = 5.0  #: limit of a stack, after which its other rows are skipped; coal's EPA is slow at 1e-12
_MOST_LOST = 3  #: hangs and crashes of a library after which the other rows of a stack are skipped
_CAN = ("sphere", "box", "capsule", "cylinder", "hull")
_COAL_CAN = (*_CAN, "cone", "ellipsoid", "tetrahedron")

QueryFunction = Callable[[Any, Any], tuple[float, bool]]


def _has(peer: str, spec: Spec) -> bool:
    if spec[0] == "inflated":
        return peer != FCL and _has(peer, spec[1])
    if spec[0] in ("hull", "tetrahedron") and np.linalg.matrix_rank(np.asarray(spec[1]) - spec[1][0]) < 3:
        return False  # coal and fcl have no flat hulls
    return spec[0] in (_CAN if peer == FCL else _COAL_CAN)


def _query_function(peer: str, a: Spec, b: Spec) -> QueryFunction:
    """Return a function of two poses that computes the signed distance and whether the shapes collide."""
    if peer == FCL:
        import fcl
        import peers

        shapes = peers.fcl_shape(a), peers.fcl_shape(b)

        def query_fcl(pose_a: Array, pose_b: Array) -> tuple[float, bool]:
            objects = [
                fcl.CollisionObject(s, fcl.Transform(p[:3, :3].copy(), p[:3, 3].copy()))
                for s, p in zip(shapes, (pose_a, pose_b), strict=True)
            ]
            hit = bool(fcl.collide(*objects, fcl.CollisionRequest(), fcl.CollisionResult()))
            request = fcl.DistanceRequest(enable_nearest_points=True, enable_signed_distance=True)
            return fcl.distance(*objects, request, fcl.DistanceResult()), hit

        return query_fcl
    import coal
    import peers

    shape_a, shape_b = peers.coal_shape(a), peers.coal_shape(b)

    def query_coal(pose_a: Array, pose_b: Array) -> tuple[float, bool]:
        places = [coal.Transform3s(p[:3, :3].copy(), p[:3, 3].copy()) for p in (pose_a, pose_b)]
        request, result = coal.CollisionRequest(), coal.CollisionResult()
        request.enable_contact = False
        hit = bool(coal.collide(shape_a, places[0], shape_b, places[1], request, result))
        if peer == COAL_FINE:
            return peers.coal_signed_distance(shape_a, pose_a, shape_b, pose_b)[0], hit
        wanted = coal.DistanceRequest()
        wanted.enable_signed_distance = True
        return coal.distance(shape_a, places[0], shape_b, places[1], wanted, coal.DistanceResult()), hit

    return query_coal


def _child(line: Connection) -> None:
    """Query stacks until the parent ends, and send each row, so that the parent can identify the row of a crash."""
    while True:
        peer, a, b, poses_a, poses_b = line.recv()
        try:
            query = _query_function(peer, a, b)
        except Exception as refused:
            line.send(repr(refused))
            continue
        line.send(None)
        for pose_a, pose_b in zip(poses_a, poses_b, strict=True):
            try:
                line.send(query(pose_a, pose_b))
            except Exception as raised:
                line.send(repr(raised))


class Rivals:
    """The child process, which is restarted after a hang or a crash."""

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

    def _receive(self, seconds: float = _SECONDS) -> tuple[bool, Any]:
        """Return whether the child sent a message in time, and the message."""
        try:
            if self.line.poll(seconds):
                return True, self.line.recv()
        except (EOFError, ConnectionResetError):
            pass
        self._end()
        return False, None

    def _rows(self, peer: str, stack: Stack, first: int) -> tuple[list[Any], bool]:
        """Return the results from row ``first`` on, and whether the next row hung or crashed."""
        pair, results = stack.pair, []
        self._begin()
        self.line.send((peer, pair.a, pair.b, pair.poses_a[first:], pair.poses_b[first:]))
        received, refused = self._receive(_BEGINNING)
        if not received or refused is not None:
            return results, not received
        start = time.perf_counter()
        for _ in range(first, len(stack)):
            if time.perf_counter() - start > _STACK:
                self._end()
                break
            received, answer = self._receive()
            if not received:
                return results, True
            results.append(answer)
        return results, False

    def compare(self, stack: Stack, result: Any, versus: Versus) -> None:
        """Query every library that supports both shapes for every row."""
        size = stack.pair.size
        for peer in (COAL, COAL_FINE, FCL):
            if not (_has(peer, stack.pair.a) and _has(peer, stack.pair.b)):
                continue
            answers: list[Any] = []
            lost = 0
            while len(answers) < len(stack) and lost < _MOST_LOST:
                results, died = self._rows(peer, stack, len(answers))
                answers += results
                if not died:
                    break
                answers.append("lost")
                lost += 1
            for k, answer in enumerate(answers):
                interval = float(result.lower[k]), float(result.upper[k])
                versus.add(peer, stack.name, interval, float(size[k]), answer)

"""python-fcl: prepared collision objects and transforms, and reused requests and results."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import fcl
import numpy as np
from naive import Array
from peers import fcl_shape

from .competitor import Competitor, Loop
from .scenes import Scene


class Fcl(Competitor):
    """python-fcl with its default solver. Depths are signed distances, since depths of contacts fit spheres only."""

    name = "python-fcl"
    module = "fcl"

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self.objects = [fcl.CollisionObject(fcl_shape(spec)) for spec in scene.specs]
        self.queries = []
        for k in range(self.most):
            i, j = scene.pair(k)
            place = _transform(scene.poses_a[0 if scene.still else k])
            self.queries.append((self.objects[i], place, self.objects[j], _transform(scene.poses_b[k])))
        if scene.still:
            self.objects[0].setTransform(self.queries[0][1])

    def loop(self, question: str) -> Loop:
        query = _query_of(question, self.scene.row == "sphere-sphere")
        if self.scene.pairs is not None:
            queries = [(a, a.setTransform, ta, b, b.setTransform, tb) for a, ta, b, tb in self.queries]

            def run_pairs(n: int) -> list[Any]:
                answers = []
                for a, place_a, ta, b, place_b, tb in queries[:n]:
                    place_a(ta)
                    place_b(tb)
                    answers.append(query(a, b))
                return answers

            return run_pairs
        a, b = self.objects[:2]
        place_a, place_b = a.setTransform, b.setTransform
        transforms = [(ta, tb) for _, ta, _, tb in self.queries]
        if self.scene.still:

            def run_still(n: int) -> list[Any]:
                answers = []
                for _, tb in transforms[:n]:
                    place_b(tb)
                    answers.append(query(a, b))
                return answers

            return run_still

        def run(n: int) -> list[Any]:
            answers = []
            for ta, tb in transforms[:n]:
                place_a(ta)
                place_b(tb)
                answers.append(query(a, b))
            return answers

        return run

    def points(self, count: int) -> tuple[Array, Array]:
        request, nearest = fcl.DistanceRequest(enable_nearest_points=True), np.empty((2, count, 3))
        for k, (a, ta, b, tb) in enumerate(self.queries[:count]):
            a.setTransform(ta)
            b.setTransform(tb)
            result = fcl.DistanceResult()
            fcl.distance(a, b, request, result)
            nearest[:, k] = result.nearest_points
        return nearest[0], nearest[1]


def _query_of(question: str, spheres: bool) -> Callable[[Any, Any], Any]:
    """Return a function that runs the query for two placed objects, and resets its reused result."""
    if question == "boolean":
        collision, collided = fcl.CollisionRequest(), fcl.CollisionResult()

        def collide(a: Any, b: Any) -> Any:
            collided.contacts = []  # otherwise contacts accumulate
            return fcl.collide(a, b, collision, collided)

        return collide
    signed = question == "depth" and not spheres
    request, result = (
        fcl.DistanceRequest(enable_nearest_points=True, enable_signed_distance=signed),
        fcl.DistanceResult(),
    )

    def distance(a: Any, b: Any) -> Any:
        result.min_distance = inf  # otherwise the points of an earlier, nearer query remain
        return fcl.distance(a, b, request, result)

    if question == "distance" or not spheres:
        return distance
    touching = fcl.CollisionRequest(enable_contact=True)

    def of_spheres(a: Any, b: Any) -> Any:
        gap = distance(a, b)
        if gap > 0.0:
            return gap
        contacts = fcl.CollisionResult()
        fcl.collide(a, b, touching, contacts)
        return -contacts.contacts[0].penetration_depth if contacts.contacts else gap

    return of_spheres


def _transform(pose: Array) -> Any:
    return fcl.Transform(np.array(pose[:3, :3]), np.array(pose[:3, 3]))


COMPETITORS = [Fcl]

"""coal: a functor prepared for each pair, prepared transforms, and one reused request and result."""

from __future__ import annotations

from typing import Any

import coal
import numpy as np
from naive import Array
from peers import coal_shape

from .competitor import KERNEL, Competitor, Loop
from .scenes import Scene


class Coal(Competitor):
    """coal with cold queries, which use no guess from the last query."""

    name = "coal"
    module = "coal"
    warm = False

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self.shapes = [coal_shape(spec) for spec in scene.specs]
        self.functors: dict[Any, Any] = {}
        many = range(self.most)
        transforms_b = [_transform(scene.poses_b[k]) for k in many]
        first = _transform(scene.poses_a[0])
        transforms_a = [first if scene.still else _transform(scene.poses_a[k]) for k in many]
        self.transforms = list(zip(transforms_a, transforms_b, strict=True))
        self.request, self.result = self._prepared("distance")

    def _prepared(self, question: str) -> tuple[Any, Any]:
        if question == "boolean":
            request, result = coal.CollisionRequest(), coal.CollisionResult()
            request.enable_contact = False  # contacts are on by default, and compute the depth
        else:
            request, result = coal.DistanceRequest(), coal.DistanceResult()
            request.enable_signed_distance = question == "depth"  # without it, overlaps are reported without a depth
        if self.warm:
            request.gjk_initial_guess = coal.GJKInitialGuess.CachedGuess
        return request, result

    def _functor(self, question: str, i: int, j: int) -> Any:
        kind = coal.ComputeCollision if question == "boolean" else coal.ComputeDistance
        key = (kind, i, j)
        if key not in self.functors:
            self.functors[key] = kind(self.shapes[i], self.shapes[j])
        return self.functors[key]

    def loop(self, question: str) -> Loop:
        request, result = self._prepared(question)
        clear, transforms = result.clear, self.transforms
        if self.scene.pairs is not None:
            queries = [(self._functor(question, *self.scene.pair(k)), *ts) for k, ts in enumerate(transforms)]

            def run_pairs(n: int) -> list[Any]:
                answers = []
                for functor, ta, tb in queries[:n]:
                    clear()
                    answers.append(functor(ta, tb, request, result))
                return answers

            return run_pairs
        functor, update, warm = self._functor(question, 0, 1), request.updateGuess, self.warm

        def run(n: int) -> list[Any]:
            answers = []
            for ta, tb in transforms[:n]:
                clear()
                answers.append(functor(ta, tb, request, result))
                if warm:
                    update(result)
            return answers

        return run

    def points(self, count: int) -> tuple[Array, Array]:
        request, result = self._prepared("distance")
        nearest = np.empty((2, count, 3))
        for k, transforms in enumerate(self.transforms[:count]):
            result.clear()
            self._functor("distance", *self.scene.pair(k))(*transforms, request, result)
            nearest[:, k] = result.getNearestPoint1(), result.getNearestPoint2()
        return nearest[0], nearest[1]


class CoalWarm(Coal):
    """coal with queries that start from the guess of the last query."""

    name = "coal, warm"
    settings = ("path",)
    warm = True


class CoalKernel(Coal):
    """coal's C++ code alone by its own timer. It has no cost of Python, so it is not an anchor."""

    name = KERNEL
    settings = ("stack",)

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self.spent = 0.0

    def clock(self) -> float:
        return self.spent

    def loop(self, question: str) -> Loop:
        request, result = self._prepared(question)
        request.enable_timings = True
        functor, transforms = self._functor(question, 0, 1), self.transforms

        def run(n: int) -> list[Any]:
            answers, spent = [], 0.0
            for ta, tb in transforms[:n]:
                result.clear()
                answers.append(functor(ta, tb, request, result))
                spent += result.timings.user
            self.spent += 1e-6 * spent
            return answers

        return run


def _transform(pose: Array) -> Any:
    return coal.Transform3s(np.array(pose[:3, :3]), np.array(pose[:3, 3]))


COMPETITORS = [Coal, CoalWarm, CoalKernel]

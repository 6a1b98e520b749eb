"""coal: a functor prepared for each pair, transforms built beforehand, one request and one result reused."""

from __future__ import annotations

from typing import Any

import coal
import numpy as np
from naive import Array
from peers import coal_shape

from .competitor import KERNEL, Competitor, Loop
from .scenes import Scene


class Coal(Competitor):
    """Cold: every query starts from nothing."""

    name = "coal"
    module = "coal"
    warm = False

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self.shapes = [coal_shape(spec) for spec in scene.specs]
        self.kept: dict[Any, Any] = {}
        many = range(self.most)
        transforms_b = [_transform(scene.poses_b[k]) for k in many]
        first = _transform(scene.poses_a[0])
        transforms_a = [first if scene.still else _transform(scene.poses_a[k]) for k in many]
        self.transforms = list(zip(transforms_a, transforms_b, strict=True))
        self.request, self.result = self._prepared("distance")

    def _prepared(self, question: str) -> tuple[Any, Any]:
        if question == "boolean":
            request, result = coal.CollisionRequest(), coal.CollisionResult()
            request.enable_contact = False  # it is on by default, and measures depth
        else:
            request, result = coal.DistanceRequest(), coal.DistanceResult()
            request.enable_signed_distance = question == "depth"  # without it overlap is told, not measured
        if self.warm:
            request.gjk_initial_guess = coal.GJKInitialGuess.CachedGuess
        return request, result

    def _functor(self, question: str, i: int, j: int) -> Any:
        kind = coal.ComputeCollision if question == "boolean" else coal.ComputeDistance
        key = (kind, i, j)
        if key not in self.kept:
            self.kept[key] = kind(self.shapes[i], self.shapes[j])
        return self.kept[key]

    def loop(self, question: str) -> Loop:
        request, result = self._prepared(question)
        clear, transforms = result.clear, self.transforms
        if self.scene.pairs is not None:
            queries = [(self._functor(question, *self.scene.pair(k)), *ts) for k, ts in enumerate(transforms)]

            def run_pairs(n: int) -> list[Any]:
                answers = []
                for ask, ta, tb in queries[:n]:
                    clear()
                    answers.append(ask(ta, tb, request, result))
                return answers

            return run_pairs
        ask, update, warm = self._functor(question, 0, 1), request.updateGuess, self.warm

        def run(n: int) -> list[Any]:
            answers = []
            for ta, tb in transforms[:n]:
                clear()
                answers.append(ask(ta, tb, request, result))
                if warm:
                    update(result)
            return answers

        return run

    def points(self, count: int) -> tuple[Array, Array]:
        request, result = self._prepared("distance")
        found = np.empty((2, count, 3))
        for k, transforms in enumerate(self.transforms[:count]):
            result.clear()
            self._functor("distance", *self.scene.pair(k))(*transforms, request, result)
            found[:, k] = result.getNearestPoint1(), result.getNearestPoint2()
        return found[0], found[1]


class CoalWarm(Coal):
    """Every query starts from the last one's guess."""

    name = "coal, warm"
    settings = ("path",)
    warm = True


class CoalKernel(Coal):
    """Its C++ alone, by its own clock: what it costs once Python is taken away, and so no peer from Python."""

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
        ask, transforms = self._functor(question, 0, 1), self.transforms

        def run(n: int) -> list[Any]:
            answers, spent = [], 0.0
            for ta, tb in transforms[:n]:
                result.clear()
                answers.append(ask(ta, tb, request, result))
                spent += result.timings.user
            self.spent += 1e-6 * spent
            return answers

        return run


def _transform(pose: Array) -> Any:
    return coal.Transform3s(np.array(pose[:3, :3]), np.array(pose[:3, 3]))


COMPETITORS = [Coal, CoalWarm, CoalKernel]

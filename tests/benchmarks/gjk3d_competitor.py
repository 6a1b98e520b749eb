"""gjk3d in the fastest way of its public API: prepared pairs where they exist, stacks, and many pairs in one call."""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any, ClassVar

import numpy as np
from naive import Array
from strategies import build

import gjk3d as gk

from .competitor import Competitor, Loop
from .scenes import Scene

_NAMES = {"boolean": "collide", "distance": "distance", "depth": "signed_distance"}

#: tolerance of the peers, at which curved rows are also run
PEERS_TOLERANCE = 1e-6


class Gjk3d(Competitor):
    """gjk3d at full accuracy."""

    name = "gjk3d"
    module = "gjk3d"
    tol: ClassVar[float | None] = None
    warm: ClassVar[bool] = True  #: whether a prepared pair starts from its last result along a path

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self.shapes = [build(spec) for spec in scene.specs]
        self.pair: Any = None  # for the settings with single queries
        self.many: Any = None
        if scene.setting in ("one", "path") and hasattr(gk, "Pair"):
            # a warm start helps only if the poses are coherent
            self.pair = gk.Pair(*self.shapes[:2], warm=self.warm and scene.setting == "path")
        if scene.setting == "pairs" and hasattr(gk, "Pairs"):
            self.many = gk.Pairs(self.shapes)
        self.poses_b = list(scene.poses_b[: self.most])
        self.poses_a = list(scene.poses_a[: self.most]) * (self.most if scene.still else 1)

    @property
    def most(self) -> int:
        """Return the number of prepared queries, all of them if one call takes them."""
        return len(self.scene) if self.batch else super().most

    @property
    def batch(self) -> bool:
        """Return whether one call runs many queries."""
        return self.scene.setting == "stack" or self.many is not None

    def loop(self, question: str, **options: Any) -> Loop | None:
        """Return the loop as in `Competitor`; the options, such as workers, go to the query."""
        if self.tol is not None:
            if question == "boolean":
                return None  # a boolean has no tolerance
            options["tol"] = self.tol
        scene, (a, b) = self.scene, self.shapes[:2]
        owner = self.many or self.pair or gk
        call = getattr(owner, _NAMES[question])
        if options:
            call = partial(call, **options)
        if self.many is not None:
            index, poses = scene.pairs, np.stack((scene.poses_a, scene.poses_b), axis=1)
            return lambda n: call(index[:n], poses[:n])
        if scene.setting == "stack":
            return lambda n: call(a, b, scene.poses_a[0], scene.poses_b[:n])
        poses = list(zip(self.poses_a, self.poses_b, strict=True))
        if self.tol is not None:  # a keyword is faster than a partial
            call, tol = getattr(owner, _NAMES[question]), self.tol
            if self.pair is not None:
                return lambda n: [call(p, q, tol=tol) for p, q in poses[:n]]
            if scene.pairs is None:
                return lambda n: [call(a, b, p, q, tol=tol) for p, q in poses[:n]]
        elif self.pair is not None:
            return lambda n: [call(p, q) for p, q in poses[:n]]
        elif scene.pairs is None:
            return lambda n: [call(a, b, p, q) for p, q in poses[:n]]
        mixed = [(self.shapes[i], self.shapes[j], p, q) for (i, j), (p, q) in zip(scene.pairs, poses, strict=False)]
        return lambda n: [call(*query) for query in mixed[:n]]

    def values(self, question: str, answers: Any) -> Array:
        if question == "boolean":
            return np.asarray(answers)
        return np.asarray(answers.distance if self.batch else [answer.distance for answer in answers])

    def points(self, count: int) -> tuple[Array, Array] | None:
        run = self.loop("distance")
        assert run is not None
        answers = run(count)
        if self.batch:
            return answers.point_a, answers.point_b
        return np.array([x.point_a for x in answers]), np.array([x.point_b for x in answers])


class Gjk3dLoose(Gjk3d):
    """gjk3d at the default accuracy of the peers."""

    name = "gjk3d, tol=1e-6"
    tol = PEERS_TOLERANCE


class Gjk3dCold(Gjk3d):
    """gjk3d with a prepared pair without warm starts."""

    name = "gjk3d, cold"
    settings = ("path",)
    warm = False


class Gjk3dPlain(Gjk3d):
    """gjk3d with the plain functions, without prepared pairs or warm starts."""

    name = "gjk3d, plain"
    settings = ("one", "path")

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self.pair = None


class Gjk3dStack(Gjk3d):
    """gjk3d with a whole trajectory in one call, in which each step is cold."""

    name = "gjk3d, one call"
    settings = ("path",)

    @property
    def batch(self) -> bool:
        return True

    def loop(self, question: str, **options: Any) -> Loop:
        a, b = self.shapes[:2]
        call = getattr(gk, _NAMES[question])
        return lambda n: call(a, b, None, self.scene.poses_b[:n], **options)


def competitors(setting: str, curved: bool) -> list[type[Gjk3d]]:
    """Return the variants of gjk3d for a setting."""
    ways: list[type[Gjk3d]] = [Gjk3d]
    if curved:
        ways.append(Gjk3dLoose)
    if hasattr(gk, "Pair"):
        ways += [Gjk3dCold, Gjk3dPlain]
    ways.append(Gjk3dStack)
    return [way for way in ways if setting in way.settings]


def takes_workers(setting: str) -> bool:
    """Return whether the query of a setting can use several threads."""
    if setting == "pairs":
        return hasattr(gk, "Pairs") and "workers" in inspect.signature(gk.Pairs.collide).parameters
    return "workers" in inspect.signature(gk.collide).parameters

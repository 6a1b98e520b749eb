"""Sentences for the steps of a trace: the state of each kernel, its query and its conclusion.

All of it is read from the trace; nothing is solved a second time.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from math import inf, nan
from typing import Any, NamedTuple

import numpy as np

from gjk3d.geometry.simplex import closest_on_triangle
from gjk3d.query.difference import Difference
from gjk3d.query.wording import verdict
from gjk3d.results import Distance, EpaStep, GjkStep, Status, Trace
from gjk3d.typing import Array, Ints
from gjk3d.viz.layout import kind
from gjk3d.wording import above, told, with_unit

#: nearer than this, in units of the pair's size, the origin is said to lie on a face
_ON = 1e-9
_ROUNDING = 1e-12  #: in those: points no farther apart have one name, lengths no longer are said to be 0
#: what the last step leaves to be seen with the answer
_LEFT = ("simplex", "names", "vertices", "faces", "closest")
#: how GJK ends where the cores share a point
SHARED = ("origin inside", "origin on the simplex")
_UNCHANGED_ENDS = ("converged", "beyond", "no progress")  #: where the last point asked for is not taken
_closest: Any = closest_on_triangle  # a kernel, called with tuples

_NO_POINTS, _NO_FACES, _NO_EDGES = np.empty((0, 3)), np.empty((0, 3), np.int64), np.empty((0, 2), np.int64)
_PARTS = ("", "corner", "edge", "triangle", "tetrahedron")


class Step(NamedTuple):
    """One step: what was known, what was asked, what came of it, and why.

    Points of A - B and directions are in world axes about A - B's own origin; ``support_a``, ``support_b`` and the
    witness points are where they are in the world. A point of A - B has the same name in every step.
    """

    number: int  #: from 0
    phase: str  #: "GJK", "EPA" or "answer"
    title: str
    sentence: str  #: why it was taken
    lower: float = nan  #: bounds of the distance that the steps so far prove, radii taken off
    upper: float = nan
    bounds: str = ""  #: the same in words
    simplex: Array = _NO_POINTS  #: (k, 3) GJK's simplex before the step
    names: tuple[str, ...] = ()  #: of its corners; of EPA's ``vertices``
    nearest: Array | None = None  #: (3,) its point nearest to the origin; EPA's, of the closest face
    direction: Array | None = None  #: (3,) unit, in which the farthest point was asked for
    point: Array | None = None  #: (3,) the answer, a point of A - B
    point_name: str = ""
    joins: bool = False  #: whether it becomes a corner
    dropped: tuple[str, ...] = ()  #: corners of the simplex that are given up
    after: tuple[str, ...] = ()  #: those that GJK goes on with, if it does
    support_a: Array | None = None  #: (3,) the points that the new one is made of
    support_b: Array | None = None
    witness_a: Array | None = None  #: (3,) the points that ``nearest`` is made of
    witness_b: Array | None = None
    vertices: Array = _NO_POINTS  #: (n, 3) of EPA's polytope
    faces: Ints = _NO_FACES  #: (m, 3) before the step
    closest: Ints = np.empty(0, np.int64)  #: (3,) the face nearest to the origin
    removed: Ints = _NO_FACES  #: (r, 3) faces that the new point sees
    horizon: Ints = _NO_EDGES  #: (h, 2) the edges round them


#: what of a step is a point of A - B or a direction, and what is a point of the world
WAYS = ("simplex", "nearest", "direction", "point", "vertices")
PLACES = ("support_a", "support_b", "witness_a", "witness_b")


class Names:
    """Numbers the points of A - B in the order they were found."""

    def __init__(self, tolerance: float) -> None:
        self._tolerance, self._known = tolerance, _NO_POINTS

    def __call__(self, w: Array) -> str:
        """Return the name of a point, a new one unless it has been seen."""
        if not self.knows(w):
            self._known = np.vstack([self._known, w])
        return f"w{int(self._near(w).argmax()) + 1}"

    def _near(self, w: Array) -> Any:
        return np.abs(self._known - w).max(axis=1) <= self._tolerance

    def knows(self, w: Array) -> bool:
        """Tell whether a point has a name."""
        return bool(self._near(w).any())


def listed(names: Sequence[str]) -> str:
    """Write names as people list them."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def part(names: Sequence[str]) -> str:
    """Name a corner, an edge, a triangle or a tetrahedron by its corners."""
    return f"{_PARTS[len(names)]} {' '.join(names)}"


def _witnesses(weights: Array, corners: Array, on_a: Array, on_b: Array) -> dict[str, Array]:
    """Return the nearest point of a simplex or of a face, and the points of A and of B that it is made of."""
    return {"nearest": weights @ corners, "witness_a": weights @ on_a, "witness_b": weights @ on_b}


class Narrator:
    """Turns one trace into steps."""

    def __init__(self, result: Distance, trace: Trace, difference: Difference, unit: str | None) -> None:
        self.result, self.trace, self.difference, self.unit = result, trace, difference, unit
        tiny = _ROUNDING * difference.size
        self.names = Names(tiny or 1.0)  # two equal points have no size
        self.rounding = 0.0 if 0.0 < max(result.lower, -result.upper) <= tiny else tiny
        sides = zip("AB", (result.shape_a, result.shape_b), difference.radii, strict=True)
        self.grown = [(name, kind(shape), r) for name, shape, r in sides if r > 0.0]
        self.radii = sum(difference.radii)
        self.what = "cores" if self.radii > 0.0 else "shapes"
        self.least = 0.0 if result.asked[0] == 0 else -inf  # distance() never goes below 0
        self.lower, self.upper = self.least, inf
        self.steps: list[Step] = []
        self._vertices: tuple[str, ...] = ()

    def steps_told(self) -> list[Step]:
        """Return the steps, the answer last."""
        self._first()
        for index, step in enumerate(self.trace.gjk):
            self._gjk(index, step)
        for index, expansion in enumerate(self.trace.epa):
            self._epa(index, expansion)
        self._fold()
        self._answer()
        return self.steps

    def _fold(self) -> None:
        """Tell the steps at the end whose bounds read alike as one, the last: curved shapes take many of them."""
        read = [(step.phase, self._short(step.lower), self._short(step.upper)) for step in self.steps]
        alike, last = len(list(takewhile(read[-1].__eq__, reversed(read)))), self.steps[-1]
        if last.phase == "start" or alike < 3:
            return
        first = len(read) - alike
        numbers = (step.title.rpartition(" ")[2] for step in (self.steps[first], last))
        title = f"{last.phase}, steps {' to '.join(numbers)}"
        prefix = f"{alike} steps, told as one: their bounds read alike in four digits. At the last: "
        self.steps[first:] = [last._replace(number=first, title=title, sentence=prefix + last.sentence)]

    def _add(self, phase: str, sentences: list[str], of: GjkStep | EpaStep | None = None, **values: Any) -> None:
        """Add a step, with what one of the trace holds by the same names; what is known is in the axes of the trace."""
        values = {name: getattr(of, name) for name in Step._fields if hasattr(of, name)} | values
        if of is not None:
            self.lower = max(self.lower, of.lower - self.radii)  # the best so far
            self.upper = max(min(self.upper, of.upper - self.radii), self.least)
            values |= self._between(self.lower, self.upper)
        for name, value in values.items():
            if name in WAYS:
                values[name] = self.difference.axes(value)
            elif name in PLACES:
                values[name] = self.difference.place(value)
        title = f"{phase}, step {sum(step.phase == phase for step in self.steps) + 1}" if of else "What is asked"
        self.steps.append(Step(len(self.steps), phase, title, " ".join(filter(None, sentences)), **values))

    def _first(self) -> None:
        """Tell where the first point comes from: the line between the centres, before any loop."""
        start = self.trace.gjk[0] if self.trace.gjk else self.trace
        a, b, point = start.simplex_a[0], start.simplex_b[0], start.simplex[0]
        direction, meaning = self.difference.between()
        name = self.names(point)
        sentence = (
            "Every point of A minus every point of B makes A - B: the shapes share a point where it holds the origin, "
            "else they are as far apart as it is from the origin. GJK never builds it. It asks for farthest points, "
            f"the first along {meaning}: {name}."
        )
        first = {"direction": direction, "point": point, "point_name": name, "joins": True}
        self._add("start", [sentence, self._grown_cores()], **first, support_a=a, support_b=b)

    def _grown_cores(self) -> str:
        if not self.grown:
            return ""
        radii = [f"{name}'s radius, {self._short(r)}," for name, _, r in self.grown]
        return f"It is asked about the cores: {' and '.join(radii)} {'comes' if len(radii) == 1 else 'come'} last."

    def _between(self, lower: float, upper: float) -> dict[str, Any]:
        """Return bounds of the distance, as a step has them."""
        is_finite = np.isfinite(lower) and np.isfinite(upper)
        text = f"distance {self._format(lower, upper, 5)}" if is_finite else ""
        return {"lower": lower, "upper": upper, "bounds": text}

    def _format(self, lower: float, upper: float, digits: int, least: float = -inf) -> str:
        """Return two bounds of a length as text."""
        return told(lower, upper, digits, self.unit, least=least, rounding=self.rounding)

    def _short(self, x: float) -> str:
        """Write a length in a sentence."""
        return self._format(x, x, 4)

    def _only(self, ahead: float) -> str:
        """Write how much farther a point is that brings nothing."""
        if ahead <= self.rounding:
            return "no farther (up to rounding)"
        return f"only {with_unit(above(ahead, 2), self.unit)} farther"

    # --- GJK ----------------------------------------------------------------------------------------------------------

    def _gjk(self, index: int, step: GjkStep) -> None:
        last = index + 1 == len(self.trace.gjk)
        before = tuple(map(self.names, step.simplex))
        w = step.support_a - step.support_b
        again = self.names.knows(w)
        name = self.names(w)
        # the simplex that an answer stands on is the last one, moved to where curved shapes are nearest
        unchanged, end = last and self.trace.gjk_end in _UNCHANGED_ENDS, self.trace.simplex
        after = before if unchanged else tuple(map(self.names, end if last else self.trace.gjk[index + 1].simplex))
        joins = name in after and name not in before
        dropped = tuple(n for n in before if n not in after)
        where = f"{before[0]}, the first point of A - B, is" if index == 0 else "The origin is"
        sentences = [
            f"{where} {self._short(step.upper)} from {'the origin' if index == 0 else part(before)}.",
            self._support_sentence(step, name, again and name in before, joins),
            self._kept_sentence(name, after, dropped) if joins and not (last and self.trace.gjk_end in SHARED) else "",
            self._end(before, after) if last else "",
        ]
        facts = {"point_name": name, "joins": joins, "dropped": dropped, "after": () if last else after}
        witnesses = _witnesses(step.weights, step.simplex, step.simplex_a, step.simplex_b)
        self._add("GJK", sentences, step, names=before, point=w, **witnesses, **facts)

    def _support_sentence(self, step: GjkStep, name: str, again: bool, joins: bool) -> str:
        ahead = step.upper - step.bound  # how much farther along the direction than the simplex
        if again:
            return f"Asked towards the origin, A - B has nothing beyond: its farthest point that way is {name} again."
        more = f"{self._short(ahead)} farther that way" if joins else self._only(ahead)
        return f"Asked towards the origin, A - B answers {name}, {more}."

    def _kept_sentence(self, name: str, after: tuple[str, ...], dropped: tuple[str, ...]) -> str:
        if not dropped:
            return f"It joins, and nothing is dropped: the origin faces {part(after)}."
        region = part(after) if len(after) > 1 else f"corner {name} itself"
        return f"The origin lies beyond {region}: drop {listed(dropped)}."

    def _end(self, before: tuple[str, ...], after: tuple[str, ...]) -> str:
        end = self.trace.gjk_end
        share = f"the {self.what} share a point.{' EPA is to find how deep they overlap.' if self.trace.epa else ''}"
        return {
            SHARED[0]: f"Now {part(after)} holds the origin: {share}",
            SHARED[1]: f"The origin lies on {part(after)}: {share}",
            "beyond": "That proves more than max_distance, and the search ends.",
            "converged": f"The lower bound meets the upper: {part(before)} has the nearest point.",
            "no progress": "It brings nothing nearer than rounding can tell, and GJK ends.",
        }.get(end, f"GJK ends here: {end}.")

    # --- EPA ----------------------------------------------------------------------------------------------------------

    def _epa(self, index: int, step: EpaStep) -> None:
        start = self._start(step) if index == 0 else ""
        names = self._grown_names(step.vertices)
        again = self.names.knows(step.point)
        name = self.names(step.point)
        corners = step.vertices[step.closest]
        on = [names[i] for i in step.closest]
        nearest, weights = _closest(*(tuple(p) for p in corners.tolist()), 0.0)
        away = float(np.linalg.norm(nearest))
        normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
        plane = float(normal @ corners[0]) / float(np.linalg.norm(normal))  # negative: the origin is beyond the face
        inside = plane > _ON * self.difference.size
        height = float(step.direction @ step.point)
        ahead = height - (plane if inside else float(step.direction @ corners[np.argmax(corners @ step.direction)]))
        if inside:
            where = f"Face {' '.join(on)} is the nearest to the origin, {self._short(plane)} away."
        elif away <= _ON * self.difference.size:
            where = f"The origin lies on face {' '.join(on)}."
        else:
            where = f"The origin is still outside, {self._short(away)} from the nearest face, {' '.join(on)}."
        sentences = [start, where, self._grown(step, name, ahead, again, inside)]
        facts = {"names": names, "point_name": name, "joins": len(step.removed) > 0}
        witnesses = _witnesses(
            np.array(weights[:3]), corners, step.vertices_a[step.closest], step.vertices_b[step.closest]
        )
        self._add("EPA", sentences, step, **witnesses, **facts)

    def _grown_names(self, vertices: Array) -> tuple[str, ...]:
        """Name EPA's vertices; those of one step are those of the step before and more."""
        if len(vertices) < len(self._vertices):
            self._vertices = ()
        self._vertices += tuple(map(self.names, vertices[len(self._vertices) :]))
        return self._vertices

    def _start(self, step: EpaStep) -> str:
        if not self.trace.gjk and len(self.trace.simplex) == 1:
            return "The first point of A - B, w1, is the origin: A and B share a point. EPA is to find how deep."
        if len(self.trace.simplex) == 4 and all(self.names.knows(w) for w in step.vertices):
            return "EPA takes over GJK's tetrahedron."
        left = tuple(map(self.names, self.trace.simplex))
        why = f"GJK's {part(left)} {'has no volume' if len(left) < 4 else 'is all but flat'}"
        return f"EPA starts afresh from four far points, which need not hold the origin: {why}."

    def _grown(self, step: EpaStep, name: str, ahead: float, again: bool, inside: bool) -> str:
        if len(step.removed):
            removed, rim = len(step.removed), len(step.horizon)
            swap = "that face gives way" if removed == 1 else f"the {removed} faces that see it give way"
            return (
                f"Along its normal A - B reaches to {name}, {self._short(ahead)} beyond, so the polytope grows: "
                f"{swap} to {rim} new ones round their horizon."
            )
        claim = f"A - B reaches no farther than {name}" if again else f"{name} is {self._only(ahead)}"
        if inside:
            return f"Along its normal {claim}: the face is part of A - B's surface, and its distance is the depth."
        if abs(self.result.distance) <= self.result.upper - self.result.lower:
            return f"Along its normal {claim}: the origin is on A - B's surface, and the two touch."
        return f"Along its normal {claim}: the nearest point of A - B is found."

    # --- what comes of it ---------------------------------------------------------------------------------------------

    def _answer(self) -> None:
        result = self.result
        lower, upper = float(result.lower), float(result.upper)
        ended = {name: getattr(self.steps[-1], name) for name in _LEFT}
        sentence = " ".join(filter(None, (self._cores(), self._meaning())))
        a, b, normal = map(np.asarray, (result.point_a, result.point_b, result.normal))
        more = {"nearest": a - b, "direction": normal, "witness_a": a, "witness_b": b, **ended}
        more |= self._between(lower, upper)
        self.steps.append(Step(len(self.steps), "answer", f"Answer: {verdict(result, self.unit)}", sentence, **more))

    def _cores(self) -> str:
        if not self.grown:
            return ""
        who = [f"{what} {name}'s {self._short(r)}" for name, what, r in self.grown]
        lower, upper = (float(bound) + self.radii for bound in (self.result.lower, self.result.upper))
        radii = "is the radius" if len(who) == 1 else "are the radii"
        if upper < -self.rounding:
            where = f"in each other by {self._format(-upper, -lower, 4, 0.0)}; added"
        else:
            where = f"apart by {self._format(lower, upper, 4)}; taken off"
        return f"All that was of the cores, which are {where} {radii}, {listed(who)}."

    def _meaning(self) -> str:
        result = self.result
        lower, upper = float(result.lower), float(result.upper)
        distance, deep = self._format(lower, upper, 9), self._format(-upper, -lower, 9, 0.0)
        if result.status == Status.SEPARATED:
            return f"The two points are the nearest, and the shapes are proven to be {distance} apart."
        if result.status == Status.BEYOND:
            return f"The two are {distance} apart, and no more was asked."
        if result.status == Status.TOUCHING:
            return f"The two touch: the distance is {distance}."
        if result.depth > 0.0:
            if not result.tight:
                return f"The two overlap by {deep}: moving B that far along the normal parts them."
            return (
                f"Moving B by {deep} along the normal makes the two just touch, and it is proven "
                "that no shorter move does."
            )
        if result.status == Status.UNDECIDED:
            return f"The distance is {distance}: that holds 0, as tol left it."
        return "The two share this point. How deep they overlap, signed_distance tells."

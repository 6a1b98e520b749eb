"""Sentences for the steps of a trace: the state of GJK or EPA, the support query and the conclusion of each step.

The sentences are derived from the trace, without solving anything again. ``templates/tell.js`` has the same sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from math import inf, nan
from typing import Any, NamedTuple

import numpy as np

from gjk3d.geometry.simplex import closest_on_triangle
from gjk3d.query.overlap import Difference
from gjk3d.query.wording import verdict
from gjk3d.results import Distance, EpaStep, GjkStep, Status, Trace
from gjk3d.typing import Array, Ints
from gjk3d.viz.drawing import kind
from gjk3d.wording import above, format_bounds, format_distance, with_unit

#: up to this distance, relative to the size of the pair, the origin is on a face
_ON = 1e-9
_ROUNDING = 1e-12  #: relative to the size of the pair: nearer points share a name, and smaller lengths are 0
#: fields of the last step that are shown with the result
_LEFT = ("simplex", "names", "vertices", "faces", "closest")
#: ends of GJK for cores that share a point
SHARED = ("origin inside", "origin on the simplex")
_UNCHANGED_ENDS = ("converged", "beyond", "no progress")  #: ends of GJK at which the last support point is not added
_closest: Any = closest_on_triangle  # a kernel, called with tuples

_NO_POINTS, _NO_FACES, _NO_EDGES = np.empty((0, 3)), np.empty((0, 3), np.int64), np.empty((0, 2), np.int64)
_PARTS = ("", "corner", "edge", "triangle", "tetrahedron")


class Step(NamedTuple):
    """One step of GJK or EPA: its state, support query and conclusion, in numbers and in a sentence.

    Points of the Minkowski difference A - B, and directions, are in world axes. Points of A and B, such as
    ``support_a`` and ``witness_b``, are in world coordinates. A point of A - B has the same name in every step.
    """

    number: int  #: from 0
    phase: str  #: "start", "GJK", "EPA" or "answer"
    title: str
    sentence: str
    lower: float = nan  #: proven bounds of the distance after this step, radii included
    upper: float = nan
    bounds: str = ""  #: the bounds as text
    simplex: Array = _NO_POINTS  #: (k, 3) simplex of GJK before the step
    names: tuple[str, ...] = ()  #: names of its corners, or of ``vertices`` of EPA
    nearest: Array | None = None  #: (3,) point of the simplex, or of the closest face of EPA, nearest to the origin
    direction: Array | None = None  #: (3,) unit direction of the support query
    point: Array | None = None  #: (3,) support point, a point of A - B
    point_name: str = ""
    joins: bool = False  #: whether ``point`` becomes a corner
    dropped: tuple[str, ...] = ()  #: corners that are removed from the simplex
    after: tuple[str, ...] = ()  #: corners of the next simplex, if GJK continues
    support_a: Array | None = None  #: (3,) the points of A and B whose difference is ``point``
    support_b: Array | None = None
    witness_a: Array | None = None  #: (3,) the points of A and B whose difference is ``nearest``
    witness_b: Array | None = None
    vertices: Array = _NO_POINTS  #: (n, 3) vertices of EPA's polytope
    faces: Ints = _NO_FACES  #: (m, 3) faces before the step
    closest: Ints = np.empty(0, np.int64)  #: (3,) face nearest to the origin
    removed: Ints = _NO_FACES  #: (r, 3) faces that the new point sees
    horizon: Ints = _NO_EDGES  #: (h, 2) edges around these faces


#: fields that are points of A - B or directions, and fields that are points of the world
_IN_DIFFERENCE = ("simplex", "nearest", "direction", "point", "vertices")
PLACES = ("support_a", "support_b", "witness_a", "witness_b")


class Names:
    """The names w1, w2 and so on of points of A - B, in order of appearance."""

    def __init__(self, tolerance: float) -> None:
        self._tolerance, self._known = tolerance, _NO_POINTS

    def __call__(self, w: Array) -> str:
        """Return the name of a point. A new point gets a new name."""
        if not self.knows(w):
            self._known = np.vstack([self._known, w])
        return f"w{int(self._near(w).argmax()) + 1}"

    def _near(self, w: Array) -> Any:
        return np.abs(self._known - w).max(axis=1) <= self._tolerance

    def knows(self, w: Array) -> bool:
        """Return whether a point already has a name."""
        return bool(self._near(w).any())


def listed(names: Sequence[str]) -> str:
    """Return names as one text with commas and "and"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def part(names: Sequence[str]) -> str:
    """Return the text for a part of a simplex with these corners, for example "edge w1 w2"."""
    return f"{_PARTS[len(names)]} {' '.join(names)}"


def _witnesses(weights: Array, corners: Array, on_a: Array, on_b: Array) -> dict[str, Array]:
    """Return the nearest point of a simplex or face, and the points of A and B whose difference is this point."""
    return {"nearest": weights @ corners, "witness_a": weights @ on_a, "witness_b": weights @ on_b}


class Narrator:
    """Converts the trace of a result to steps in words."""

    def __init__(self, result: Distance, trace: Trace, difference: Difference, unit: str | None) -> None:
        self.result, self.trace, self.difference, self.unit = result, trace, difference, unit
        tiny = _ROUNDING * difference.size
        self.names = Names(tiny or 1.0)  # the size of two equal points is 0
        self.rounding = 0.0 if 0.0 < max(result.lower, -result.upper) <= tiny else tiny
        sides = zip("AB", (result.shape_a, result.shape_b), difference.radii, strict=True)
        self.grown = [(name, kind(shape), r) for name, shape, r in sides if r > 0.0]
        self.radii = sum(difference.radii)
        self.what = "cores" if self.radii > 0.0 else "shapes"
        self.least = 0.0 if result.asked[0] == 0 else -inf  # distance() is never negative
        self.lower, self.upper = self.least, inf
        self.steps: list[Step] = []
        self._vertices: tuple[str, ...] = ()

    def narrate(self) -> list[Step]:
        """Return the steps of the trace, followed by the result as the last step."""
        self._first()
        for index, step in enumerate(self.trace.gjk):
            self._gjk(index, step)
        for index, expansion in enumerate(self.trace.epa):
            self._epa(index, expansion)
        self._fold()
        self._answer()
        return self.steps

    def _fold(self) -> None:
        """Join the last steps into one if three or more have equal printed bounds, as is usual for curved shapes."""
        read = [(step.phase, self._short(step.lower), self._short(step.upper)) for step in self.steps]
        alike, last = len(list(takewhile(read[-1].__eq__, reversed(read)))), self.steps[-1]
        if last.phase == "start" or alike < 3:
            return
        first = len(read) - alike
        numbers = (step.title.rpartition(" ")[2] for step in (self.steps[first], last))
        title = f"{last.phase}, steps {' to '.join(numbers)}"
        prefix = f"{alike} steps in one, because their bounds are equal in four digits. The last step: "
        self.steps[first:] = [last._replace(number=first, title=title, sentence=prefix + last.sentence)]

    def _add(self, phase: str, sentences: list[str], of: GjkStep | EpaStep | None = None, **values: Any) -> None:
        """Add a step. Its fields are those of ``of``, a step of the trace, and ``values``.

        Points and directions are converted from the axes of the trace to those of the world.
        """
        values = {name: getattr(of, name) for name in Step._fields if hasattr(of, name)} | values
        if of is not None:
            self.lower = max(self.lower, of.lower - self.radii)  # the best bounds so far
            self.upper = max(min(self.upper, of.upper - self.radii), self.least)
            values |= self._between(self.lower, self.upper)
        for name, value in values.items():
            if name in _IN_DIFFERENCE:
                values[name] = self.difference.axes(value)
            elif name in PLACES:
                values[name] = self.difference.place(value)
        title = f"{phase}, step {sum(step.phase == phase for step in self.steps) + 1}" if of else "Start"
        self.steps.append(Step(len(self.steps), phase, title, " ".join(filter(None, sentences)), **values))

    def _first(self) -> None:
        """Add the step of the first support point, in the direction from centre to centre."""
        start = self.trace.gjk[0] if self.trace.gjk else self.trace
        a, b, point = start.simplex_a[0], start.simplex_b[0], start.simplex[0]
        direction, meaning = self.difference.between()
        name = self.names(point)
        sentence = (
            "A - B is the set of all points of A minus all points of B. The shapes share a point if it contains the "
            "origin. Otherwise their distance is the distance of A - B from the origin. GJK does not build A - B. It "
            f"computes support points, which are farthest in a direction. The first, along {meaning}, is {name}."
        )
        first = {"direction": direction, "point": point, "point_name": name, "joins": True}
        self._add("start", [sentence, self._grown_cores()], **first, support_a=a, support_b=b)

    def _grown_cores(self) -> str:
        if not self.grown:
            return ""
        radii = [f"{name}'s radius {self._short(r)}" for name, _, r in self.grown]
        verb = "is" if len(radii) == 1 else "are"
        return f"The steps are for the cores, and {' and '.join(radii)} {verb} included at the end."

    def _between(self, lower: float, upper: float) -> dict[str, Any]:
        is_finite = np.isfinite(lower) and np.isfinite(upper)
        text = format_distance(lower, upper, 5, self.unit, rounding=self.rounding) if is_finite else ""
        return {"lower": lower, "upper": upper, "bounds": text}

    def _format(self, lower: float, upper: float, digits: int, least: float = -inf) -> str:
        return format_bounds(lower, upper, digits, self.unit, least=least, rounding=self.rounding)

    def _short(self, x: float) -> str:
        return self._format(x, x, 4)

    def _only(self, ahead: float) -> str:
        """Return the length ``ahead`` as text. A support point is farther than the simplex by this length."""
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
        # the simplex of a result is the last simplex, moved to the nearest points of curved shapes
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
            return f"The support point towards the origin is {name} again, so no point of A - B is farther."
        more = f"{self._short(ahead)} farther" if joins else self._only(ahead)
        return f"The support point towards the origin is {name}, {more}."

    def _kept_sentence(self, name: str, after: tuple[str, ...], dropped: tuple[str, ...]) -> str:
        region = part(after) if len(after) > 1 else f"corner {name} itself"
        what = f"GJK drops {listed(dropped)}" if dropped else "no corner is dropped"
        return f"The origin is in the Voronoi region of {region}, so {what}."

    def _end(self, before: tuple[str, ...], after: tuple[str, ...]) -> str:
        end = self.trace.gjk_end
        share = f"the {self.what} share a point.{' EPA then computes the depth.' if self.trace.epa else ''}"
        return {
            SHARED[0]: f"The {part(after)} contains the origin, so {share}",
            SHARED[1]: f"The origin is on {part(after)}, so {share}",
            "beyond": "This proves a distance of more than max_distance, so the search ends.",
            "converged": f"The lower bound has reached the upper bound, so {part(before)} contains the nearest point.",
            "no progress": "The distance decreases by no more than rounding, so GJK ends.",
        }.get(end, f"GJK ends: {end}.")

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
        plane = float(normal @ corners[0]) / float(np.linalg.norm(normal))  # negative if the origin is beyond the face
        inside = plane > _ON * self.difference.size
        height = float(step.direction @ step.point)
        ahead = height - (plane if inside else float(step.direction @ corners[np.argmax(corners @ step.direction)]))
        if inside:
            where = f"Face {' '.join(on)} is the nearest to the origin, {self._short(plane)} away."
        elif away <= _ON * self.difference.size:
            where = f"The origin is on face {' '.join(on)}."
        else:
            where = f"The origin is still outside, {self._short(away)} from the nearest face, {' '.join(on)}."
        sentences = [start, where, self._grown(step, name, ahead, again, inside)]
        facts = {"names": names, "point_name": name, "joins": len(step.removed) > 0}
        witnesses = _witnesses(
            np.array(weights[:3]), corners, step.vertices_a[step.closest], step.vertices_b[step.closest]
        )
        self._add("EPA", sentences, step, **witnesses, **facts)

    def _grown_names(self, vertices: Array) -> tuple[str, ...]:
        """Return the names of EPA's vertices. A step never removes a vertex, so only new vertices are looked up."""
        if len(vertices) < len(self._vertices):
            self._vertices = ()
        self._vertices += tuple(map(self.names, vertices[len(self._vertices) :]))
        return self._vertices

    def _start(self, step: EpaStep) -> str:
        if not self.trace.gjk and len(self.trace.simplex) == 1:
            return "The first point of A - B, w1, is the origin, so A and B share a point. EPA computes the depth."
        if len(self.trace.simplex) == 4 and all(self.names.knows(w) for w in step.vertices):
            return "EPA starts with GJK's tetrahedron."
        left = tuple(map(self.names, self.trace.simplex))
        why = f"GJK's {part(left)} {'has no volume' if len(left) < 4 else 'is nearly flat'}"
        return f"EPA starts with four new far points, whose tetrahedron may not contain the origin, because {why}."

    def _grown(self, step: EpaStep, name: str, ahead: float, again: bool, inside: bool) -> str:
        if len(step.removed):
            removed, rim = len(step.removed), len(step.horizon)
            old = "the face" if removed == 1 else f"the {removed} faces that see it"
            return (
                f"Along its normal, A - B reaches {name}, {self._short(ahead)} beyond. EPA adds {name} and replaces "
                f"{old} by {rim} new faces around the horizon."
            )
        claim = f"A - B reaches no farther than {name}" if again else f"{name} is {self._only(ahead)}"
        if inside:
            return f"Along its normal, {claim}, so the face is on the surface of A - B, and its distance is the depth."
        if abs(self.result.distance) <= self.result.upper - self.result.lower:
            return f"Along its normal, {claim}, so the origin is on the surface of A - B, and the shapes touch."
        return f"Along its normal, {claim}, so this face contains the nearest point of A - B."

    # --- the result ---------------------------------------------------------------------------------------------------

    def _answer(self) -> None:
        result = self.result
        lower, upper = float(result.lower), float(result.upper)
        ended = {name: getattr(self.steps[-1], name) for name in _LEFT}
        sentence = " ".join(filter(None, (self._cores(), self._meaning())))
        a, b, normal = map(np.asarray, (result.point_a, result.point_b, result.normal))
        more = {"nearest": a - b, "direction": normal, "witness_a": a, "witness_b": b, **ended}
        more |= self._between(lower, upper)
        self.steps.append(Step(len(self.steps), "answer", f"Result: {verdict(result, self.unit)}", sentence, **more))

    def _cores(self) -> str:
        if not self.grown:
            return ""
        radii = " and ".join(f"{what} {name}'s radius {self._short(r)}" for name, what, r in self.grown)
        verb = "is" if len(self.grown) == 1 else "are"
        lower, upper = (float(bound) + self.radii for bound in (self.result.lower, self.result.upper))
        if upper < -self.rounding:
            return f"The cores overlap by {self._format(-upper, -lower, 4, 0.0)}, to which {radii} {verb} added."
        return f"The cores are apart by {self._format(lower, upper, 4)}, from which {radii} {verb} subtracted."

    def _meaning(self) -> str:
        result = self.result
        lower, upper = float(result.lower), float(result.upper)
        distance, deep = self._format(lower, upper, 9), self._format(-upper, -lower, 9, 0.0)
        if result.status == Status.SEPARATED:
            return f"The two points are the nearest, and the shapes are proven to be {distance} apart."
        if result.status == Status.BEYOND:
            return f"The shapes are {distance} apart, which is sufficient for max_distance."
        if result.status == Status.TOUCHING:
            return f"The shapes touch, and their distance is {distance}."
        if result.depth > 0.0:
            if not result.tight:
                return f"The shapes overlap by {deep}. Moving B by this length along the normal separates them."
            return (
                f"Moving B by {deep} along the normal makes the shapes just touch, and it is proven "
                "that no shorter translation does."
            )
        if result.status == Status.UNDECIDED:
            return f"The distance is {distance}, which contains 0 because of tol."
        return "The shapes share this point. Use signed_distance for the depth of their overlap."

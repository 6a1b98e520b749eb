"""Curved shapes, stretched or moved within their frame: sums of affinely placed primitives, flattened when built."""

from __future__ import annotations

from typing import Any

import numpy as np

from gjk3d._numba import kernel
from gjk3d.geometry.vec3 import Vec3
from gjk3d.shapes import layout
from gjk3d.shapes.base import Array, Ints, Part, Shape, Term, core_reach, symmetry


@kernel
def pull_back(f: Array, o: int, d: Vec3) -> Vec3:
    """Return M^T d for the placement at f[o:]."""
    return (
        f[o] * d[0] + f[o + 3] * d[1] + f[o + 6] * d[2],
        f[o + 1] * d[0] + f[o + 4] * d[1] + f[o + 7] * d[2],
        f[o + 2] * d[0] + f[o + 5] * d[1] + f[o + 8] * d[2],
    )


@kernel
def place(f: Array, o: int, p: Vec3) -> Vec3:
    """Return M p + t for the placement at f[o:]."""
    return (
        f[o] * p[0] + f[o + 1] * p[1] + f[o + 2] * p[2] + f[o + 9],
        f[o + 3] * p[0] + f[o + 4] * p[1] + f[o + 5] * p[2] + f[o + 10],
        f[o + 6] * p[0] + f[o + 7] * p[1] + f[o + 8] * p[2] + f[o + 11],
    )


class Composed(Shape):
    """A convex shape put together from primitives; made by ``scaled`` and ``placed``, not by hand.

    Its core is the convex hull of terms, each term a sum of affinely placed primitives; whatever was nested is
    flattened.
    """

    __slots__ = ("_numbers", "_radius", "_table")
    _table: Ints
    _numbers: Array
    _radius: float

    @classmethod
    def _from_terms(cls, terms: list[Term], radius: float) -> Composed:
        """Build from terms: a table row a part (term, kind, vertex count, size), and its placement and numbers."""
        table, numbers = [], []
        for index, term in enumerate(terms):
            for part in term:
                table.append((index, part.kind, part.vertices, len(part.numbers)))
                numbers += [part.matrix.ravel(), part.offset, part.numbers]
        shape: Composed = object.__new__(cls)
        shape._set(
            _table=np.array(table, dtype=np.int64), _numbers=np.concatenate(numbers) + 0.0, _radius=float(radius)
        )
        return shape

    def __repr__(self) -> str:
        names = ("point", "segment", "box", "hull", "cylinder", "cone", "ellipsoid")
        terms: dict[int, list[str]] = {}
        for index, kind, *_ in self._table.tolist():
            terms.setdefault(index, []).append(names[kind])
        inside = " | ".join(" + ".join(parts) for parts in terms.values())
        return f"Composed({inside}{f', radius={self._radius}' if self._radius else ''})"

    def _terms(self) -> list[Term]:
        terms: list[Term] = []
        at = 0
        for index, kind, count, size in self._table.tolist():
            if index == len(terms):
                terms.append([])
            matrix = self._numbers[at : at + 9].reshape(3, 3)
            offset = self._numbers[at + 9 : at + 12]
            terms[index].append(Part(kind, count, self._numbers[at + 12 : at + 12 + size], matrix, offset))
            at += 12 + size
        return terms

    def _rounding(self) -> float:
        return self._radius

    def _pack(self) -> tuple[Ints, Array]:
        terms = self._terms()
        centers = np.array([np.sum([part.offset for part in term], axis=0) for term in terms])
        center = centers.mean(axis=0)
        kind_of, axis = common_symmetry(terms)
        ints = [layout.COMPOSED, 0, sum(map(len, terms)), int((self._table[:, 1] <= layout.HULL).all()), kind_of]
        floats: list[Array] = []
        at = layout.FLOAT_HEAD
        rho = 0.0
        for index, term in enumerate(terms):
            reach = float(np.linalg.norm(centers[index] - center))
            for i, part in enumerate(term):
                # the centre is taken out of the first part, and the others' offsets are gathered there
                offset = centers[index] - center if i == 0 else np.zeros(3)
                ints += [index, part.kind, part.vertices, at + layout.PLACEMENT, at]
                floats += [part.matrix.ravel(), offset, part.numbers]
                at += layout.PLACEMENT + len(part.numbers)
                reach += float(np.linalg.norm(part.matrix, 2)) * core_reach(part.kind, part.numbers)
            rho = max(rho, reach)
        rho *= 1.0 + 1e-14
        largest = float(np.abs([part.offset for term in terms for part in term]).max()) + rho
        # every part adds a few roundings of a matrix product to the support value
        slack = 16.0 * layout.UNIT_ROUNDOFF * len(self._table) * (rho + min(largest, 4.0 * rho))
        head = np.array([self._radius, *center, rho, slack, *axis])
        return np.array(ints, dtype=np.int64), np.concatenate([head, *floats])

    @property
    def volume(self) -> float:
        """Volume of a fine inscribed surface: low by about one part in 2 000 for curved shapes."""
        terms = self._terms()
        if len(terms) == 1 and len(terms[0]) == 1 and self._radius == 0.0:
            return self._core_volume()
        return _enclosed(self.surface(192))

    def _own_axes(self) -> list[Array]:
        axes = []
        for part in (part for term in self._terms() for part in term):
            q, _ = np.linalg.qr(part.matrix)
            q[:, 2] *= np.sign(np.linalg.det(q))
            axes.append(q)
        return axes

    def _core_volume(self) -> float:
        terms = self._terms()
        if len(terms) > 1 or len(terms[0]) > 1:
            return _enclosed(Composed._from_terms(terms, 0.0).surface(192))
        part = terms[0][0]
        return abs(float(np.linalg.det(part.matrix))) * _primitive(part).volume

    def _core_area_and_curvature(self) -> tuple[float, float]:
        terms = self._terms()
        if len(terms) == 1 and len(terms[0]) == 1:
            part = terms[0][0]
            if np.abs(part.matrix.T @ part.matrix - np.eye(3)).max() < 1e-12:
                return _primitive(part)._core_area_and_curvature()
        from gjk3d.geometry.hulls import build_hull

        hull = build_hull(Composed._from_terms(terms, 0.0).surface(192).vertices)
        lengths = np.linalg.norm(hull.vertices[hull.edges[:, 0]] - hull.vertices[hull.edges[:, 1]], axis=1)
        return float(hull.area), 0.5 * float(lengths @ hull.angles)


def common_symmetry(terms: list[Term]) -> tuple[int, Array]:
    """Return the symmetry of a sum of parts that revolve about parallel lines; a hull of several terms has none."""
    kind, axis = layout.BALL, np.zeros(3)
    if len(terms) > 1:
        return layout.NONE, axis
    for part in terms[0]:
        part_kind, part_axis = symmetry(part)
        if part_kind == layout.NONE:
            return layout.NONE, np.zeros(3)
        if part_kind == layout.REVOLVED:
            if kind == layout.REVOLVED and np.abs(np.cross(axis, part_axis)).max() > 4.0 * layout.UNIT_ROUNDOFF:
                return layout.NONE, np.zeros(3)
            kind, axis = part_kind, part_axis
    return kind, axis


def scaled_terms(terms: list[Term], radius: float, factors: Array) -> tuple[list[Term], float]:
    """Stretch terms; a ball round them becomes an ellipsoid in each."""
    matrix = np.diag(factors)
    out = [
        [part._replace(matrix=matrix @ part.matrix, offset=factors * part.offset) for part in term] for term in terms
    ]
    if radius > 0.0:
        ball = Part(layout.ELLIPSOID, 0, np.abs(factors) * radius, np.eye(3), np.zeros(3))
        out = [[*term, ball] for term in out]
    return out, 0.0


def moved_terms(terms: list[Term], rotation: Array, translation: Array) -> list[Term]:
    """Move terms rigidly; the translation goes to the first part of each."""
    zero = np.zeros(3)
    return [
        [
            part._replace(
                matrix=rotation @ part.matrix, offset=rotation @ part.offset + (translation if i == 0 else zero)
            )
            for i, part in enumerate(term)
        ]
        for term in terms
    ]


def _primitive(part: Part) -> Shape:
    """Return the shape of a part before its placement."""
    from gjk3d.shapes.box import Box
    from gjk3d.shapes.cone import Cone
    from gjk3d.shapes.convex_hull import ConvexHull
    from gjk3d.shapes.cylinder import Cylinder
    from gjk3d.shapes.ellipsoid import Ellipsoid
    from gjk3d.shapes.point import Point
    from gjk3d.shapes.segment import Segment

    n = part.numbers
    if part.kind == layout.POINT:
        return Point()
    if part.kind == layout.SEGMENT:
        return Segment(-n, n)
    if part.kind == layout.BOX:
        return Box(2 * n)
    if part.kind == layout.HULL:
        return ConvexHull(n.reshape(3, -1).T)
    if part.kind == layout.CYLINDER:
        return Cylinder(n[0], 2 * n[1])
    if part.kind == layout.CONE:
        return Cone(n[0], 2 * n[1])
    return Ellipsoid(n)


def _enclosed(surface: Any) -> float:
    """Return the volume inside a closed surface."""
    a, b, c = (surface.vertices[surface.faces[:, i]] - surface.vertices[0] for i in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)

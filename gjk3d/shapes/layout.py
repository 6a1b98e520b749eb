"""The layout of a shape for the kernels, and the terms of composed shapes.

A shape is a core inflated by a radius, stored as two flat arrays of integers and floats. The core of a composed shape
is the hull of terms. Each term is a sum of parts, which are affinely placed primitives. The numbers of a core or part
are its parameters, for example the half extents of a box. The module also defines the range of lengths that the kernels
support.

ints:   kind, vertex count, part count, is-polytope, symmetry, then
        for a composed shape 5 ints per part: term, kind, vertex count, offset of its numbers, offset of its placement
        for a user's support mapping the vertex count is the address of the function
        for a large hull the part count is the grid size of its table of directions, see `gjk3d.geometry.points`;
        the nodes of the table follow
floats: radius, core centre (3), rho, slack, axis (3), inner, then the numbers of the core
        rho is a bound of the distance of the core's points from its centre
        slack is a bound of the distance between the stored core and the exact shape
        axis is the unit direction of the axis of revolution through the centre
        inner is the radius of a ball about the centre that is inside the core, or 0
        a large hull has its vertices (all x, all y, all z), then the entries of its table, point by point

The numbers of a core are relative to its centre. Offsets count from the first float of the shape, so several shapes can
be joined in one array.

In Python, the numbers, matrices and offsets of parts may be stacks with one row for each shape, for shapes that are
equal in everything else.
"""

from __future__ import annotations

from math import hypot, inf
from typing import NamedTuple

import numpy as np

from gjk3d.errors import ShapeError
from gjk3d.poses import UNIT_ROUNDOFF
from gjk3d.typing import Array, Array1, Ints, Ints1

# --- layout ----------------------------------------------------------------------------------------------------------


POINT, SEGMENT, BOX, HULL, CYLINDER, CONE, ELLIPSOID, COMPOSED, SUPPORT = range(9)

KIND, VERTICES, PARTS, POLYTOPE, SYMMETRY, INT_HEAD = 0, 1, 2, 3, 4, 5
PART_INTS = 5
RADIUS, CENTER, RHO, SLACK, AXIS, INNER, FLOAT_HEAD = 0, 1, 4, 5, 6, 9, 10
#: symmetry: none, about the axis, about every line through the centre
NONE, REVOLVED, BALL = range(3)
PLACEMENT = 12  #: floats of a placement: a (3, 3) matrix by rows, then a translation


class Core(NamedTuple):
    """One shape for the kernels: views of the joined arrays that begin at this shape. Only kernels create a Core."""

    ints: Ints1
    floats: Array1


#: range of lengths whose squares and cubes neither overflow nor vanish in the kernels
LEAST, GREATEST = 1e-50, 1e50
_SIGN = np.int64(-(2**63))


def in_range(values: Array, what: str) -> None:
    """Raise if the largest of some lengths is outside the range of the kernels. A largest length of 0 is allowed.

    ``what`` names the argument in the error.
    """
    largest = float(np.abs(values).max(initial=0.0))
    if largest > GREATEST or 0.0 < largest < LEAST:
        raise ShapeError(f"{what}: lengths of {largest:g} are outside {LEAST:g} to {GREATEST:g}. Use another unit.")


def order(ints: Ints, floats: Array) -> tuple[bytes, bytes]:
    """Return the sort key of a shape: the bytes of its integers, and bytes that compare like its floats.

    Scaling shapes by 2 keeps their order.
    """
    if ints[KIND] == HULL:  # the vertices define the table
        ints, floats = ints[:INT_HEAD], floats[: FLOAT_HEAD + 3 * ints[VERTICES]]
    bits = (floats + 0.0).view(np.int64)
    bits ^= (bits >> 63) | _SIGN  # flips all bits of a negative number, and only the sign bit of other numbers
    return ints.tobytes(), bits.astype(">i8").tobytes()


# --- terms -----------------------------------------------------------------------------------------------------------


_ALIKE = 4.0 * UNIT_ROUNDOFF  #: relative tolerance for the lengths and right angles of a solid of revolution


class Part(NamedTuple):
    """A primitive with its placement x -> matrix x + offset. A sum of parts is a term of a composed shape.

    ``vertices`` is the vertex count of a hull, or the address of a user's function. ``numbers`` define the primitive,
    for example the half extents of a box.
    """

    kind: int
    vertices: int
    numbers: Array
    matrix: Array
    offset: Array


Term = list[Part]


def turned(matrix: Array, v: Array) -> Array:
    """Return the product of a matrix and a vector, or of stacks of these."""
    return np.asarray((matrix @ v[..., None])[..., 0])


def length(v: Array) -> Array:
    """Return the length of a vector, or of each vector of a stack, with the same bits in both cases."""
    return np.asarray(np.sqrt(v[..., None, :] @ v[..., :, None])[..., 0, 0])


def corners(part: Part) -> Array:
    """Return the vertices, (n, 3), of a part that is a polytope, before its placement."""
    n = part.numbers
    if part.kind == POINT:
        return np.zeros((1, 3))
    if part.kind == SEGMENT:
        return np.array([-n, n])
    if part.kind == BOX:
        return np.array([[x, y, z] for x in (-n[0], n[0]) for y in (-n[1], n[1]) for z in (-n[2], n[2])])
    return np.ascontiguousarray(n.reshape(3, -1).T)


def common_symmetry(terms: list[Term]) -> tuple[int, Array]:
    """Return the symmetry (NONE, REVOLVED or BALL) of the hull of some terms, and the direction of its axis.

    A term is a sum of parts. A single term has a symmetry if all its parts are solids of revolution about parallel
    lines. The hull of several terms has the symmetry NONE. The direction is 0 unless the symmetry is REVOLVED.
    """
    kind, axis = BALL, np.zeros(3)
    if len(terms) > 1:
        return NONE, axis
    for part in terms[0]:
        part_kind, part_axis = symmetry(part)
        if part_kind == NONE:
            return NONE, np.zeros(3)
        if part_kind == REVOLVED:
            if kind == REVOLVED and np.abs(np.cross(axis, part_axis)).max() > 4.0 * UNIT_ROUNDOFF:
                return NONE, np.zeros(3)
            kind, axis = part_kind, part_axis
    return kind, axis


def scaled_terms(terms: list[Term], radius: float, factors: Array) -> list[Term]:
    """Return the terms of a composed shape with this radius, scaled by ``factors`` along the axes.

    If ``radius`` is above 0, the scaled ball of this radius, an ellipsoid, is added to each term.
    """
    matrix = np.diag(factors)
    out = [
        [part._replace(matrix=matrix @ part.matrix, offset=factors * part.offset) for part in term] for term in terms
    ]
    if radius > 0.0:
        ball = Part(ELLIPSOID, 0, np.abs(factors) * radius, np.eye(3), np.zeros(3))
        out = [[*term, ball] for term in out]
    return out


def moved_terms(terms: list[Term], rotation: Array, translation: Array) -> list[Term]:
    """Return terms moved by a rotation and a translation.

    A term is a sum of parts, so the translation is added to its first part only.
    """
    zero = np.zeros(3)
    return [
        [
            part._replace(
                matrix=rotation @ part.matrix, offset=turned(rotation, part.offset) + (translation if i == 0 else zero)
            )
            for i, part in enumerate(term)
        ]
        for term in terms
    ]


def core_reach(kind: int, numbers: Array) -> Array:
    """Return an upper bound of the distance of a primitive's points from its centre, for each row of ``numbers``."""
    if kind == POINT:
        return np.zeros(numbers.shape[:-1])
    if kind == HULL:
        reach = np.sqrt((_vertices(numbers) ** 2).sum(axis=-2).max(axis=-1))
    elif kind == ELLIPSOID:
        reach = np.max(numbers, axis=-1)
    elif kind == SUPPORT:
        reach = numbers[..., 3]
    else:  # numbers of a segment: half vector; of a box: half extents; of a cylinder or cone: radius, half height
        reach = np.sqrt((numbers**2).sum(axis=-1))
    return np.asarray(reach * (1.0 + 1e-15))


def core_inner(kind: int, numbers: Array) -> float:
    """Return the radius of a ball about a primitive's centre that is inside the primitive, or 0 if none is known.

    A radius above 0 also means that the centre is in the primitive, so the result for a point or a segment is a tiny
    positive number.
    """
    if kind in (POINT, SEGMENT):
        return 1e-302  # below the least error of a pair, and not subnormal, which would be slow
    if kind == CONE:
        radius, half = numbers.tolist()
        return float(half * (radius / hypot(radius, 2.0 * half)) * (1.0 - 1e-15))
    if kind in (BOX, CYLINDER, ELLIPSOID):  # numbers: half extents; radius and half height; radii
        return float(numbers.min())
    return 0.0


def hull_inner(corners: Array, slack: float) -> float:
    """Return the radius of a ball about a hull's centre that is inside the hull, or 0 if none is found.

    ``corners`` are the three corners of each face, (m, 3, 3), relative to the centre. ``slack`` is the error of the
    corners. The rounding error of a plane through three corners is subtracted too. This error is large for nearly
    collinear corners.
    """
    size = float(np.abs(corners).max(initial=0.0))
    n = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.sqrt((n**2).sum(axis=1))
    heights = (np.einsum("ij,ij->i", n, corners[:, 0]) - 256.0 * UNIT_ROUNDOFF * size**3) / np.maximum(area, 1e-300)
    return max(float(heights.min(initial=inf)) - 2.0 * slack, 0.0) if len(corners) else 0.0


def about_middle(part: Part) -> Array:
    """Return the numbers that define a part's primitive, such as half extents or vertices.

    The vertices of a hull are moved, so that their bounding box is centred at 0.
    """
    if part.kind != HULL:
        return part.numbers
    vertices = _vertices(part.numbers)
    return np.asarray((vertices - _middle(vertices)[..., None]).reshape(part.numbers.shape))


def hull_middle(part: Part) -> Array:
    """Return the part's matrix times the middle of a hull's bounding box, without the offset; zero for other kinds."""
    return turned(part.matrix, _middle(_vertices(part.numbers))) if part.kind == HULL else np.zeros(3)


def _vertices(numbers: Array) -> Array:
    return numbers.reshape(*numbers.shape[:-1], 3, -1)


def _middle(vertices: Array) -> Array:
    low, high = vertices.min(axis=-1), vertices.max(axis=-1)
    return np.asarray(low + (high - low) / 2)


def symmetry(part: Part) -> tuple[int, Array]:
    """Return the symmetry of a part (NONE, REVOLVED or BALL), and its axis direction, which is 0 unless REVOLVED."""
    none = NONE, np.zeros(3)
    if part.kind == POINT:
        return BALL, np.zeros(3)
    m, n = part.matrix, part.numbers
    if part.kind == SEGMENT or (part.kind == HULL and part.vertices <= 2):
        ends = m @ n.reshape(3, -1)
        is_single = ends.shape[1] == 1  # a SEGMENT stores its half vector, which defines the axis alone
        far = ends[:, 0 if is_single else np.linalg.norm(ends, axis=0).argmax()]
        long = float(np.linalg.norm(far))
        if long == 0.0:
            return BALL, np.zeros(3)
        axis = far / long
        if is_single:
            return REVOLVED, axis
        off = np.linalg.norm(np.cross(axis, ends, axisa=0, axisb=0), axis=1).max()
        return (REVOLVED, axis) if off <= _ALIKE * long else none
    if part.kind in (CYLINDER, CONE, ELLIPSOID):
        # revolved if the images of the half axes are orthogonal, and two of them have equal lengths
        radii = n if part.kind == ELLIPSOID else np.array([n[0], n[0], 2.0 * n[0]])
        ends = m * radii if part.kind == ELLIPSOID else m
        lengths = np.linalg.norm(ends, axis=0)
        products = ends.T @ ends
        if np.abs(products - np.diag(np.diag(products))).max() > _ALIKE * lengths.max() * lengths.min():
            return none
        for k in (2, 1, 0) if part.kind == ELLIPSOID else (2,):
            i, j = (k + 1) % 3, (k + 2) % 3
            if abs(lengths[i] - lengths[j]) <= _ALIKE * lengths[i]:
                return REVOLVED, ends[:, k] / lengths[k]
    return none

"""Accuracy of the triangles of a mesh: their error on curved faces, and the rounding of their coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gjk3d.bodies.topology import edges_of
from gjk3d.typing import Array, Bools, Ints

if TYPE_CHECKING:
    from gjk3d.bodies.mesh import Mesh

#: Greatest angle at an edge of a curved surface. Sharper edges are edges of the part.
_SMOOTH = np.radians(30.0)
#: Upper limit of a chord error, relative to the size of its mesh.
STEEPEST = float(np.tan(_SMOOTH / 4.0) / 2.0)
_FLAT = 1e-4  #: greatest angle at an edge inside a plane, in radians


def chord_error(mesh: Mesh) -> float:
    """Return the estimated distance of the triangles from the curved faces that they approximate, 0 if all are flat.

    A circle and a chord of length c whose neighbours turn by an angle t are c * tan(t / 4) / 2 apart. At each smooth
    edge of two triangles, the chord is orthogonal to the edge, with the height of the lower triangle as its length. The
    edge itself may be as long as the part, such as on a cylinder. The estimate is not a bound: for evenly triangulated
    spheres the error is 2.7 times as large.
    """
    return float(mesh._cached("chord error", lambda: _chord_error(mesh)))


def _chord_error(mesh: Mesh) -> float:
    edges = edges_of(mesh._places, mesh.faces)
    number = edges.numbers.ravel()
    order = np.argsort(number, kind="stable")
    counts = np.bincount(number, minlength=len(edges.ends))
    shared = np.repeat(counts == 2, counts)
    sides = order[shared].reshape(-1, 2)
    corners = mesh.vertices[mesh.faces[edges.faces]]
    along = corners[:, [1, 2, 0]] - corners
    normals = np.cross(along[:, 0], along[:, 1])
    twice = np.sqrt(np.einsum("ij,ij->i", normals, normals))
    lengths = np.sqrt(np.einsum("ijk,ijk->ij", along, along)).ravel()
    with np.errstate(divide="ignore", invalid="ignore"):
        heights = np.repeat(twice, 3) / lengths
        normals = normals / twice[:, None]
    across = normals[sides[:, 0] // 3] - normals[sides[:, 1] // 3]
    angles = 2.0 * np.arcsin(np.minimum(0.5 * np.sqrt(np.einsum("ij,ij->i", across, across)), 1.0))
    smooth = (angles > _FLAT) & (angles < _SMOOTH)
    errors = heights[sides[smooth]].min(axis=1) * np.tan(angles[smooth] / 4.0) / 2.0
    return float(errors.max(initial=0.0))


#: Greatest difference of copies of a corner in spacings of float32, since each is rounded after a separate transform.
COPIES = 8.0
_TEXT_COPIES = 3.0  #: the same in units of the last digit of text, which is rounded once
_SAMPLES = 64  #: number of sampled coordinates along each axis
_FEW, _EXACT, _TEXT = 3, 5, 9  #: decimal digits: up to _FEW not text, up to _EXACT exact, up to _TEXT as float32 has
_INTEGRAL = 1e-5  #: error of a decimal in units of its last digit, by the rounding of float64


def corner_rounding(points: Array) -> float:
    """Return the greatest distance along any axis between copies of a corner that were rounded separately."""
    rows = _sample(points)
    single, digits, unit, _ = _units(rows)
    text = (digits > _FEW) & (digits <= _TEXT)
    if not _are_integral(rows / unit[:, None]).all():  # finer smaller numbers mean exact ones
        text &= digits > _EXACT
    return float(max(COPIES * single.max(initial=0.0), _TEXT_COPIES * unit[text].max(initial=0.0)))


def file_spacing(points: Array) -> float:
    """Return the largest of the `spacings` of points along the axes."""
    return float(spacings(_sample(points)).max(initial=0.0))


def spacings(rows: Array) -> Array:
    """Return the float32 spacing at the largest number of each row, or 0 for rows that were not rounded to float32.

    Numbers of few digits are exact. Numbers that float32 cannot represent were not rounded to it, unless they are
    decimal text with at most as many digits as float32.
    """
    single, digits, _, in_float32 = _units(rows)
    steps: Array = np.where((digits > _EXACT) & ((digits <= _TEXT) | in_float32), single, 0.0)
    return steps


def stretch(linear: Array) -> Array:
    """Return the greatest stretch of a step along an axis under matrices, (..., 3, 3)."""
    most: Array = np.sqrt((linear * linear).sum(axis=-2)).max(axis=-1)
    return most


def _sample(points: Array) -> Array:
    """Return some of the largest coordinates along each axis, and a sample of all coordinates, (3, k)."""
    if len(points) <= _SAMPLES:
        return np.abs(points).T
    coordinates = np.zeros((3, 2, _SAMPLES))
    for rows, sizes in zip(coordinates, np.abs(points).T, strict=True):
        for row, some in zip(rows, (sizes[sizes >= 0.1 * sizes.max()], sizes), strict=True):
            if len(some):
                row[:] = some[np.linspace(0, len(some) - 1, _SAMPLES).astype(np.int64)]
    return coordinates.reshape(3, -1)


def _are_integral(numbers: Array) -> Bools:
    integral: Bools = np.abs(numbers - np.rint(numbers)) < _INTEGRAL
    return integral


def _units(rows: Array) -> tuple[Array, Ints, Array, Bools]:
    """Return the float32 spacing, decimal digits, unit of the last digit, and exactness in float32 of each row.

    Only numbers with as many digits before the point as the largest of a row are used, since text may have more digits
    after the point of smaller numbers. Digits beyond those of float32 are not counted.
    """
    sizes = np.abs(np.where(np.isfinite(rows), rows, 0.0))
    most = sizes.max(axis=1, initial=0.0)
    power = np.floor(np.log10(np.where(most > 0.0, most, 1.0)))
    small = sizes < (10.0**power)[:, None]
    single = np.where(most > 0.0, np.ldexp(1.0, np.frexp(most)[1] - 24), 0.0)
    counts = np.arange(_FEW, _TEXT + 1)[:, None]
    enough = (_are_integral(sizes / (10.0 ** (power + 1 - counts))[:, :, None]) | small).all(axis=2)
    digits = np.where(enough.any(axis=0), _FEW + enough.argmax(axis=0), _TEXT + 1)
    bits = np.ascontiguousarray(sizes).view(np.uint64) << np.uint64(35)  # float32 has 29 fewer bits
    return single, digits, 10.0 ** (power + 1 - digits), ((bits == 0) | small).all(axis=1)

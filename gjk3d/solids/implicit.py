"""A mesh of where a function is 0."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan

import numpy as np

from gjk3d.errors import ShapeError
from gjk3d.meshes.mesh import Mesh
from gjk3d.shapes.base import number, rows
from gjk3d.typing import RowsLike

_MOST = 50_000_000  #: places that the function is asked at
_CLOSE = 1e-3  #: how far a vertex may be from the surface, in units of the pitch


def from_implicit(function: Callable[[float, float, float], float], bounds: RowsLike, pitch: float) -> Mesh:
    """Return a closed mesh of the surface on which a function is 0, by the level sets of manifold3d.

    Parameters
    ----------
    function : callable
        Of x, y and z; below 0 inside, above 0 outside. It need not be a distance: only its sign and its zeros count.
    bounds : (2, 3) float
        Least and greatest corner of the box that is looked in; a surface that leaves it is closed there, with
        its new edges cut by up to a pitch.
    pitch : float
        Edge of the triangles, roughly. What is thinner than that may be missed. Vertices are on the surface to a
        thousandth of it, and the triangles between them as far off as chords of its curves are.

    Returns
    -------
    Mesh

    Raises
    ------
    ShapeError
        Where there is nothing inside, the function gives NaN, or the places to ask it at are too many. What the
        function itself raises is not caught.
    ImportError
        Where manifold3d is not installed: ``pip install 'gjk3d[mesh]'``.

    References
    ----------
    Doi, Koide: An efficient method of triangulating equi-valued surfaces by using tetrahedral cells, 1991.

    Examples
    --------
    A torus, with the hole that its hull has not:

    >>> import gjk3d as gk
    >>> torus = gk.from_implicit(
    ...     lambda x, y, z: (x * x + y * y + z * z + 0.8**2 - 0.2**2) ** 2 - 4 * 0.8**2 * (x * x + y * y),
    ...     [(-1.1, -1.1, -0.25), (1.1, 1.1, 0.25)], 0.05)
    >>> torus.is_watertight, round(torus.volume, 2), gk.collide(torus, gk.Sphere(0.5))
    (True, 0.63, False)
    """
    if not callable(function):
        raise ShapeError(f"from_implicit: function is {function!r:.60}, expected one of x, y and z that gives a number")
    box = rows(bounds, "from_implicit: bounds")
    edge = number(pitch, "from_implicit: pitch")
    if len(box) != 2 or not (box[0] < box[1]).all():
        raise ShapeError(
            f"from_implicit: bounds is {box.tolist()!r:.120}, expected the least and the greatest corner of a box"
        )
    size = (box[1] - box[0]) / edge
    count = 2.0 * float(np.prod(size + 1.0))
    if not count <= _MOST:
        least = edge * (count / _MOST) ** (1.0 / 3.0)
        raise ShapeError(
            f"from_implicit: a pitch of {edge:g} asks the function at {count:.3g} places of a box of "
            f"{' x '.join(f'{x:g}' for x in box[1] - box[0])}, at most {_MOST:g} are asked: use one over {least:.3g}"
        )
    try:
        from manifold3d import Manifold
    except ImportError:
        raise ImportError(
            "from_implicit needs manifold3d, which is not installed: pip install 'gjk3d[mesh]', or pip install "
            "manifold3d"
        ) from None
    seen = [np.inf, -np.inf]

    def inner(x: float, y: float, z: float) -> float:
        value = float(function(x, y, z))
        if isnan(value):
            raise ShapeError(f"from_implicit: the function gives nan at ({x:g}, {y:g}, {z:g}), expected a number there")
        seen[0], seen[1] = min(seen[0], value), max(seen[1], value)
        return -value

    made = Manifold.level_set(inner, box.ravel().tolist(), edge, 0.0, _CLOSE * edge)
    if made.is_empty():
        raise ShapeError(
            f"from_implicit: nothing is inside: the function is between {seen[0]:.3g} and {seen[1]:.3g} in the box; it "
            "is to be below 0 inside, and what is thinner than the pitch may be missed"
        )
    parts = made.to_mesh64()
    return Mesh(np.asarray(parts.vert_properties)[:, :3], np.asarray(parts.tri_verts).astype(np.int64))

"""Lessons: one page each on GJK and EPA, on the separating axis test (SAT), and on bounding volumes.

A page works offline, and computes again when the reader moves a shape. The faces and edges of polytopes, and bounding
volumes in the frame of their shape, are computed by gjk3d.
"""

from __future__ import annotations

import os
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from gjk3d import webpage
from gjk3d.geometry.hulls import FACE_ANGLE
from gjk3d.narrow.solve import EPA_ALWAYS, UNSIGNED
from gjk3d.query.bounding import bounding_sphere, obb
from gjk3d.query.overlap import Difference
from gjk3d.query.pair import query_distance
from gjk3d.shapes.base import Polytope, Shape
from gjk3d.shapes.curved import Capsule, Cone, Cylinder, Ellipsoid
from gjk3d.shapes.polytopes import Box, ConvexHull
from gjk3d.viz.colors import SEPARATION
from gjk3d.viz.drawing import UP, VIEW
from gjk3d.viz.explanation import explain, stage
from gjk3d.viz.explanation.stage import ROLES, Role
from gjk3d.viz.image_files import PAGES, target_file
from gjk3d.viz.page import ROOM
from gjk3d.webpage import to_json
from gjk3d.wording import expected_names

_GJK, _SAT, _BOUNDS = "gjk", "sat", "bounds"
_WORDS = {
    _SAT: {
        "title": "Separating axes in 3D, step by step",
        "first_sentence": "Two convex polytopes are apart if and only if their projections have a gap on the normal of "
        "a face, or on the cross product of two edges.",
        **stage.STEPS,
    },
    _BOUNDS: {
        "title": "Bounding volumes in 3D",
        "first_sentence": "A bounding volume contains its shape. If two volumes are apart, their shapes are too.",
        "controls": "rotation of A",
        "back": "rotate",
        "next": "rotate",
        "slide": "rotation of A about the vertical, in degrees",
    },
}
#: templates that the pages on axes and on bounding volumes share; those of the topic are inserted after them
_SHARED = ("head.html", "explain.css", "lesson.css", *stage.SCRIPTS, "marks.js", "panel.js", "sight.js", "drag.js",
           "stepper.js", "axes.js")  # fmt: skip
_FILES = {
    _SAT: ("sat.html", "projections.js", "satsteps.js", "satdraw.js", "satpresets.js", "sat.js"),
    _BOUNDS: ("bounds.html", "volumes.js", "boundspresets.js", "bounds.js"),
}
_SAT_ROLES = {
    "a": ROLES["a"],
    "b": ROLES["b"],
    "axis": Role("axis", ROLES["direction"].light, ROLES["direction"].dark, over=True),
    "feature": Role("the face or the edges of the axis", "#CC79A7", "#CC79A7", over=True),
    "gap": Role("gap", SEPARATION, "#FF7A33", over=True),
    "plane": ROLES["bound"]._replace(meaning="separating plane"),
    "moved": ROLES["polytope"]._replace(meaning="B after the move"),
    "ink": ROLES["ink"]._replace(meaning="nearest points"),
}
_BOUNDS_ROLES = {
    "a": ROLES["a"],
    "b": ROLES["b"],
    "sphere": Role("bounding sphere", "#CC79A7", "#CC79A7"),
    "aabb": Role("AABB, fitted again", "#0072B2", "#4C9FE0"),
    "moved": Role("AABB of the rotated box", "#80868B", "#A5ABB3"),
    "obb": Role("OBB", SEPARATION, "#FF7A33"),
    "ink": ROLES["ink"]._replace(meaning="nearest points"),
}
#: overlapping polygons of many 2D tutorials; the lessons on GJK and on axes start with prisms over them
_POLYGONS = {"triangular prism": ((4, 11), (4, 5), (9, 9)), "four-sided prism": ((5, 7), (7, 3), (10, 2), (12, 7))}


def lesson(path: str | os.PathLike[str], topic: str = _GJK) -> Path:
    """Write the page of a lesson and return its path. The page works offline in any browser.

    Parameters
    ----------
    path : path
        The file to write, .html or .htm.
    topic : str
        "gjk" for GJK and EPA with pseudocode and numbers, "sat" for the separating axis test, "bounds" for bounding
        volumes.

    Returns
    -------
    Path
        The written file.

    Raises
    ------
    ValueError
        The topic is unknown, or the extension is not that of a page.
    FileError
        The folder does not exist.

    Examples
    --------
    >>> import gjk3d as gk, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = gk.viz.lesson(pathlib.Path(folder) / "sat.html", "sat")
    ...     page.stat().st_size < 1_000_000
    True
    """
    if topic not in (_GJK, *_WORDS):
        raise ValueError(f"lesson: topic {topic!r} is unknown, {expected_names(topic, (_GJK, *_WORDS))}")
    target = target_file(path, PAGES)
    if topic == _GJK:
        first, second = _prisms().values()
        result = query_distance(EPA_ALWAYS, first, second, None, None, inf, None, True)
        names = tuple(_POLYGONS)
        return stage.write_page(target, explain(result), (names[0], names[1]), code_shown=True)
    if topic == _SAT:
        roles, shapes = _SAT_ROLES, {name: polytope_data(shape) for name, shape in polytopes().items()}
    else:
        roles, shapes = _BOUNDS_ROLES, {name: bounded_data(shape) for name, shape in bounded_shapes().items()}
    data = {"colors": stage.role_data(roles), "view": VIEW.tolist(), "up": UP.tolist(), "shapes": shapes}
    words = _WORDS[topic]
    text = {"name_a": "", "name_b": "", "headline": "", "first_title": words["title"], **words}
    files = (*_SHARED, *_FILES[topic], "end.html")
    return webpage.write_page(target, ROOM, files, text=text, markup={"quiz": "", "scene": to_json(data)})


def _prisms() -> dict[str, ConvexHull]:
    return {name: ConvexHull([(x, y, z) for x, y in rows for z in (-2, 2)]) for name, rows in _POLYGONS.items()}


def polytopes() -> dict[str, Polytope]:
    """Return a dictionary from names to polytopes, for the lesson on separating axes."""
    return {
        "box": Box((2, 1.6, 1.2)),
        "cube": Box((1.6, 1.6, 1.6)),
        "small box": Box((0.8, 0.6, 0.5)),
        "tetrahedron": ConvexHull([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]),
        "octahedron": ConvexHull([s * row * 1.3 for row in np.eye(3) for s in (1, -1)]),
        "pyramid": ConvexHull([(0, 0, 1.2), *((x, y, -0.6) for x in (-1, 1) for y in (-1, 1))]),
        "wedge": ConvexHull([(x, y, z) for x, z in ((-1.2, -0.6), (1.2, -0.6), (-1.2, 0.8)) for y in (-0.7, 0.7)]),
        **_prisms(),
    }


def polytope_data(shape: Polytope) -> dict[str, Any]:
    """Return a polytope for the separating axis test in a page: its corners, face normals and edges."""
    hull, (normals, edges) = shape._hull(), shape._gauss_map()
    return {
        "points": hull.vertices.tolist(),
        "normals": normals.tolist(),
        "edges": edges.reshape(-1, 3, 3).tolist(),
        "ends": hull.edges[hull.angles > FACE_ANGLE].tolist(),
        "radius": 0,
    }


def bounded_shapes() -> dict[str, Shape]:
    """Return a dictionary from names to shapes, for the lesson on bounding volumes."""
    return {
        "rod": Box((3.0, 0.32, 0.32)),
        "plate": Box((2.2, 2.2, 0.2)),
        "box": Box((2.0, 1.4, 1.0)),
        "tetrahedron": ConvexHull([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]),
        "wedge": ConvexHull([(x, y, z) for x, z in ((-0.8, -0.5), (1.6, -0.5), (-0.8, 1.0)) for y in (-0.7, 0.7)]),
        "cylinder": Cylinder(0.5, 2.4),
        "cone": Cone(0.9, 2.0),
        "capsule": Capsule(0.45, 1.8),
        "ellipsoid": Ellipsoid((1.5, 0.9, 0.5)),
    }


def bounded_data(shape: Shape) -> dict[str, Any]:
    """Return a shape for a page: its support mapping, volume, bounding sphere and OBB.

    Positions are relative to the centre of the shape.
    """
    pair = query_distance(UNSIGNED, shape, shape, None, None, inf, None, False)
    difference = Difference(pair)
    sides = stage.given_to(pair, difference)
    assert sides is not None
    home = np.eye(4)
    home[:3, 3] = -difference.center  # the page has the shape about its centre
    sphere, box = bounding_sphere(shape, home), obb(shape, home)
    return {
        **sides[0],
        "volume": shape.volume,
        "sphere": {"center": sphere.center.tolist(), "radius": sphere.radius},
        "obb": {"pose": box.pose.tolist(), "half": (0.5 * box.extents).tolist()},
    }

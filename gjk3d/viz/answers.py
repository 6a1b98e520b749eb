"""A separating axis and a gradient as pictures, beside the pair that was asked about."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from gjk3d.query.gradient import Gradient
from gjk3d.results import Axis, Distance, Status
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array
from gjk3d.viz.bodies import add, matrices
from gjk3d.viz.drawing import COLORS, NORMAL, SEPARATION, Drawing, Style
from gjk3d.viz.layout import called, plate, side_view
from gjk3d.viz.marks import arrow, rod, turned
from gjk3d.wording import above, depth, number, told

#: by `AxisKind`
_OF = ("a face of A", "a face of B", "an edge of A and an edge of B", "neither: both are points")
#: by whether it is a gradient: what it is, and what else may be passed
_ASKED = (
    ("an Axis, the answer of separating_axis,", ""),
    ("a Gradient", ", or the Distance it was made from: of=result"),
)


def draw(x: Axis | Gradient, style: Style, *, of: Any = None) -> Drawing:
    """Draw an answer of `gjk3d.separating_axis` or `gjk3d.gradient`.

    Parameters
    ----------
    of : (a, b, pose_a, pose_b), or a Distance
        The pair that was asked about: of a gradient the result it was made from.
    """
    if isinstance(of, Distance):
        of = (of.shape_a, of.shape_b, of.pose_a, of.pose_b)
    if not isinstance(of, (tuple, list)) or not 2 <= len(of) <= 4:
        asked, also = _ASKED[isinstance(x, Gradient)]
        raise TypeError(
            f"{asked} does not carry the shapes it is about: pass them as asked, with their poses, as "
            f"viz.show(answer, of=(a, b, pose_a, pose_b)); without poses of=(a, b){also}"
        )
    a, b, *poses = of
    poses = [matrices(pose)[0] for pose in (*poses, None, None)[:2]]
    if (x.normal if isinstance(x, Axis) else x.a).ndim == 2:
        raise TypeError(f"this {type(x).__name__} is of many pairs, and one can be drawn: take a row of each field")
    drawing = Drawing()
    planes = []
    for k, shape in enumerate((a, b)):
        color = style.color(k, COLORS)
        drawing.key(f"{'AB'[k]}  {style.name(k, called(shape))}", color)
        if isinstance(shape, Halfspace):
            planes.append((shape, poses[k], color))
        else:
            add(drawing, shape, poses[k], color, style.alpha(k, 0.5 if isinstance(x, Gradient) else 0.85))
    for shape, pose, color in planes:
        add(drawing, shape, pose, color, 1.0, around=drawing.ball)
    if isinstance(x, Axis):
        _axis(drawing, x, a, poses, style)
    else:
        _gradient(drawing, x, poses)
    return drawing


def _axis(drawing: Drawing, x: Axis, a: Any, poses: list[Array], style: Style) -> None:
    """Add the two planes that hold the shapes apart, or show how they overlap along the axis."""
    center, size = drawing.ball
    n = np.asarray(x.normal)
    top = poses[0][:3, :3] @ a.support(poses[0][:3, :3].T @ n) + poses[0][:3, 3]
    for k, along in enumerate((float(n @ top), float(n @ top) + float(x.gap))):
        slab = plate(Halfspace(n, along), None, center, 0.5 * size)
        drawing.body(slab.vertices, slab.faces, style.color(k, COLORS), 0.25, framed=False, outline=False)
    start = center + (float(n @ top) - float(n @ center)) * n
    drawing.marks(arrow(start, n, 0.4 * size, 0.009 * size), NORMAL)
    if x.gap > 0.0:
        drawing.marks([rod(start, start + x.gap * n, 0.012 * size)], SEPARATION)
    drawing.words = [
        f"{_gap(x)} along this axis",
        f"it is the normal of {_OF[int(x.kind)]}; error at most {above(x.error, 2)}",
    ]
    drawing.key("normal, A to B; the planes are across it", NORMAL)
    drawing.view = side_view(n)


def _gap(x: Axis) -> str:
    lower, upper = x.bounds
    if x.status == Status.TOUCHING:
        return "Touching"
    return f"Apart by {told(lower, upper)}" if lower > 0.0 else f"Overlapping by {depth(lower, upper)}"


def _gradient(drawing: Drawing, x: Gradient, poses: list[Array]) -> None:
    """Add, at each body's origin, the way it goes and the axis it turns about, as the distance grows fastest."""
    size = drawing.ball[1]
    longest = [max(float(np.linalg.norm(row[part])) for row in (x.a, x.b)) for part in (slice(3), slice(3, 6))]
    for row, pose in zip((x.a, x.b), poses, strict=True):
        origin = pose[:3, 3]
        for part, most, color in ((slice(3), longest[0], NORMAL), (slice(3, 6), longest[1], SEPARATION)):
            length = float(np.linalg.norm(row[part]))
            if most > 0.0 and length > 1e-9 * most:
                way = row[part] / length
                drawing.marks(arrow(origin, way, 0.45 * size * length / most, 0.011 * size), color)
                if part.start == 3:
                    drawing.marks(_turn(origin + 0.22 * size * way * length / most, way, 0.09 * size), color)
    drawing.words = [
        "Where the distance grows fastest",
        "unique" if bool(x.unique) else "one of several slopes: a kink",
    ]
    drawing.key(f"moving: {number(float(np.linalg.norm(x.b[:3])), 4)} per unit of length", NORMAL)
    a, b = (number(float(np.linalg.norm(row[3:])), 4) for row in (x.a, x.b))
    drawing.key(f"turning about the arrow: {a} (A) and {b} (B) per radian", SEPARATION)


def _turn(center: Array, axis: Array, radius: float) -> list[Any]:
    """Return three quarters of a circle with an arrow head: anticlockwise about the axis."""
    from gjk3d.shapes import surfaces

    side = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    side /= np.linalg.norm(side)
    angles = np.linspace(0.0, 1.5 * np.pi, 28)
    ring = center + radius * (np.cos(angles)[:, None] * side + np.sin(angles)[:, None] * np.cross(axis, side))
    rods = [rod(p, q, 0.06 * radius, 12) for p, q in itertools.pairwise(ring)]
    end = ring[-1] + (ring[-1] - ring[-2]) * 2.5
    return [*rods, turned(surfaces.cone(1.0, 1.0, 24), ring[-1], end, 0.2 * radius)]

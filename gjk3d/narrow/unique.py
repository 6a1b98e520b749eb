"""Whether the normal and the points of a result are unique, and the derivatives of the distance.

With h(n) the support value of A - B along n, the signed distance is the maximum of -h(n) over unit vectors n. If the
shapes are apart, a single n attains it. If they overlap, several n may attain it: the directions in which the ball
around the origin with the depth d as radius touches the surface of A - B. Move the origin by s away from the contact
along n. If the ball touches only along n, its radius grows by s. If it touches along n' as well, its radius grows by at
most s cos(n, n'). A single further depth, of B moved by -s n, therefore tests all directions. If this depth is d + s up
to an error e, every h(n') is at least d + s (1 - cos(n, n')) - e, so n is unique. If this depth is less, it bounds
h(n') for its normal n', and a shorter step s is tried. A normal counts as a tie if no step of at least the smallest
length distinguishes it from n.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import inlined, kernel, plain, single_entry
from gjk3d.geometry.vec3 import Vec3, along, cross, dot, neg, offset, perpendicular, row_at, sub, turn, turn_back, unit
from gjk3d.narrow.cores import Cores, is_curved, moved
from gjk3d.narrow.solve import (
    OVERLAPPING,
    SEPARATED,
    SIDES,
    SIGNED,
    PairRows,
    cores_of_row,
    height_over,
    solve,
    take_poses,
)
from gjk3d.narrow.workspace import Workspace
from gjk3d.shapes import layout
from gjk3d.shapes.layout import Core
from gjk3d.shapes.table import support
from gjk3d.typing import Array, Array2, Ints1, Ints2

NO, YES, FULL = range(3)
#: radians within which a second face, edge or normal counts as a tie; the angle is larger for wide bounds
_ANGLE = 1e-6
_LOOSEST = 1e-2  #: largest such angle; a result with wider bounds does not count as unique
#: first and smallest step, relative to the pair's size
_STEP, _LEAST = 1e-3, 1e-6
#: permitted error relative to a step, for polytopes and for curved cores; a second normal is then within an angle of
#: 5e-4 and 5e-3
_SHARP, _BLUNT = 1e-7, 1e-5
_AROUND = 12  #: number of directions around a normal in which the support points of a curved core are sampled
_COS, _SIN = 0.5 * sqrt(3.0), 0.5  #: cosine and sine of the angle between two adjacent directions of these
_HEAD, _KIND, _VERTICES, _RADIUS, _RHO = layout.FLOAT_HEAD, layout.KIND, layout.VERTICES, layout.RADIUS, layout.RHO
_POINT, _SEGMENT, _BOX, _HULL = layout.POINT, layout.SEGMENT, layout.BOX, layout.HULL


class Answer(NamedTuple):
    """The distance of a pair with its bounds and status."""

    distance: float
    lower: float
    upper: float
    status: int
    tight: bool


class Scratch(NamedTuple):
    """Scratch of `solve`. The results of `solve` are in row 0 of ``out`` and ``flags``."""

    workspace: Workspace
    cache: Array2  #: an empty cache, without rows
    out: Array2
    flags: Ints2


class Patch(NamedTuple):
    """The farthest points of a core along a direction."""

    dimensions: int  #: 0 for a point, 1 for a line, 2 for a face
    axis: Vec3  #: direction of a line


@inlined
def size_of(core: Core) -> float:
    """Return the radius of a shape's bounding sphere about its centre."""
    return float(core.floats[_RADIUS] + core.floats[_RHO])


@kernel
def vertex_count(core: Core) -> int:
    """Return the number of a core's vertices, 0 for a curved core."""
    kind = core.ints[_KIND]
    if kind == _HULL:
        return int(core.ints[_VERTICES])
    if kind == _BOX:
        return 8
    if kind == _SEGMENT:
        return 2
    return 1 if kind == _POINT else 0


@inlined
def vertex(core: Core, k: int) -> Vec3:
    """Return vertex k of a polytope core, relative to the centre of the core."""
    kind, f = core.ints[_KIND], core.floats[_HEAD:]
    if kind == _HULL:
        n = core.ints[_VERTICES]
        return (f[k], f[n + k], f[2 * n + k])
    if kind == _POINT:
        return (0.0, 0.0, 0.0)
    x = f[0] if k & 1 else -f[0]
    if kind == _SEGMENT:
        return (x, f[1] if k & 1 else -f[1], f[2] if k & 1 else -f[2])
    return (x, f[1] if k & 2 else -f[1], f[2] if k & 4 else -f[2])


@kernel
def patch_of_size(line: Vec3, longest: float, widest: float, least: float) -> Patch:
    """Return the `Patch` with the length ``longest`` along ``line`` and the width ``widest`` across this line.

    The patch is a point if its length is at most ``least``. Otherwise it is a line if its width is at most ``least``,
    or much less than its length.
    """
    if not longest > least:
        return Patch(0, line)
    return Patch(2 if widest > max(least, 1e-7 * longest) else 1, line)


@inlined
def across(offset: Vec3, line: Vec3) -> float:
    """Return the distance of a point from the line through the origin along the unit vector ``line``."""
    x = along(offset, line, -dot(offset, line))
    return sqrt(dot(x, x))


@kernel
def patch_of_vertices(core: Core, count: int, d: Vec3, angle: float) -> Patch:
    """Return the patch of a polytope core along the unit vector d.

    Its vertices are those that are farthest along some direction at an angle of at most ``angle`` from d.
    """
    size = size_of(core)
    top = support(core, d)
    height, near = dot(top, d), 1e-12 * size
    line = d
    longest, widest = 0.0, 0.0
    for turn_of in range(2):  # first the longest edge vector, then the distances of all vertices from its line
        for k in range(count):
            p = vertex(core, k)
            below = height - dot(p, d)
            if below > 2.0 * angle * size + near:
                continue
            e = sub(p, top)
            length = sqrt(dot(e, e))
            if below > angle * length + near:
                continue
            if turn_of == 1:
                widest = max(widest, across(e, line))
            elif length > longest:
                longest = length
                line = (e[0] / length, e[1] / length, e[2] / length)
        if not longest > 1e-9 * size:
            break
    return patch_of_size(line, longest, widest, 1e-9 * size)


@kernel
def patch_around(core: Core, d: Vec3, angle: float) -> Patch:
    """Return the patch of a curved core along the unit vector d, from support points along directions near d.

    The directions are at the angle ``angle`` from d.
    """
    # On a round surface these points move by the angle times the radius of curvature.
    top, first = support(core, d), perpendicular(d)
    second = cross(d, first)
    line, mean = d, (0.0, 0.0, 0.0)
    longest, long, wide = 0.0, 0.0, 0.0
    least = 8.0 * angle * size_of(core) * sqrt(float(_AROUND))
    for again in range(3):  # first the longest offset, then the common line, then the extents along and across it
        c, s = angle, 0.0
        for _ in range(_AROUND):
            e = sub(support(core, along(along(d, first, c), second, s)), top)
            c, s = c * _COS - s * _SIN, s * _COS + c * _SIN
            square, rise = dot(e, e), dot(e, line)
            if again == 0:
                if square > longest:
                    longest, mean = square, e
            elif again == 1:
                mean = along(mean, e, rise)
            else:
                x = along(e, line, -rise)
                long += rise * rise
                wide += dot(x, x)
        if not float(_AROUND) * longest > least * least:
            return Patch(0, d)
        if again < 2:
            line, mean = unit(mean), (0.0, 0.0, 0.0)
    return patch_of_size(line, sqrt(long), sqrt(wide), least)


@kernel
def patch_of(core: Core, d: Vec3, angle: float) -> Patch:
    """Return the patch of a core along the unit vector d; see `patch_of_vertices` and `patch_around`."""
    count = vertex_count(core)
    if count == 1:
        return Patch(0, d)
    return patch_of_vertices(core, count, d, angle) if count > 0 else patch_around(core, d, angle)


@kernel
def one_normal(c: Cores, n: Vec3, answer: Answer, scratch: Scratch) -> int:
    """Return YES if n is the only direction of the minimum translation of overlapping cores, else NO.

    FULL is returned if the workspace is too small. The method is described at the start of the module.
    """
    out, flags = scratch.out, scratch.flags
    size = size_of(c.a) + size_of(c.b)
    allowed = _BLUNT if is_curved(c) else _SHARP
    k = plain(0)
    s = _STEP * size
    while s > 0.0 and s >= _LEAST * size:
        solve(moved(c, n, -s), SIGNED, inf, 0.0, scratch.workspace, scratch.cache, out, flags, k)
        if flags[k, 3] != 0:
            return FULL
        if out[k, 2] - answer.lower + s <= allowed * s:
            return YES
        e = sub(turn_back(c.pose, row_at(out, k, plain(3))), n)
        bent = 0.5 * dot(e, e)  # 1 - cos of the angle to the new normal
        deeper = s * bent - (out[k, 0] - answer.distance + s)
        if not deeper > 0.0:
            return NO
        s = min(0.5 * deeper / bent, 0.5 * s)
    return NO


@kernel
def midway(c: Cores, n: Vec3, answer: Answer) -> bool:
    """Return whether A is a plane, not a half-space, and B is equally deep on both sides within the bounds."""
    height_below, _ = height_over(c, neg(n))
    return bool(c.a.floats[SIDES] > 1.0 and height_below >= answer.lower - (answer.upper - answer.lower))


@kernel
def is_unique(c: Cores, n: Vec3, answer: Answer, plane: bool, scratch: Scratch) -> int:
    """Return YES if the normal and the pair of points of a result are unique, else NO.

    FULL is returned if the workspace is too small. ``n`` is the normal of the result, in A's frame. With ``plane``, A
    is a half-space or a plane.
    """
    separated = answer.status == SEPARATED
    # the angle between two unit vectors whose bounds differ by a width is at most sqrt(2 width / radius)
    radius = max(answer.distance if separated else size_of(c.a) + size_of(c.b), 1e-300)
    angle = max(_ANGLE, 4.0 * sqrt(max(answer.upper - answer.lower, 0.0) / radius))
    if not (answer.tight and answer.status <= OVERLAPPING and angle <= _LOOSEST):
        return NO
    on_b = patch_of(c.b, neg(turn_back(c.m, n)), angle)
    if plane:
        return NO if on_b.dimensions > 0 or midway(c, n, answer) else YES
    on_a = patch_of(c.a, n, angle)
    if on_a.dimensions > 0 and on_b.dimensions > 0:
        if on_a.dimensions + on_b.dimensions > 2:
            return NO
        x = cross(on_a.axis, turn(c.m, on_b.axis))
        if not sqrt(dot(x, x)) > 10.0 * angle:
            return NO
    return YES if separated else one_normal(c, n, answer, scratch)


@kernel
def slopes_of_row(answers: Array, k: int, about_a: Array, about_b: Array, out: Array) -> None:
    """Write to ``out``, (12,), the derivatives of the distance in row k of ``answers``.

    The first six are with respect to the pose of A, and the last six with respect to that of B. Each six are three for
    a translation, then three for a rotation. Rotations are about the origins of the pose rows ``about_a`` and
    ``about_b``.
    """
    a, b, n = row_at(answers, k, plain(6)), row_at(answers, k, plain(9)), row_at(answers, k, plain(3))
    lever_a, lever_b = cross(sub(a, offset(about_a)), n), cross(sub(b, offset(about_b)), n)
    for i in range(3):
        out[i], out[3 + i] = 0.0 - n[i], 0.0 - lever_a[i]
        out[6 + i], out[9 + i] = n[i] + 0.0, lever_b[i] + 0.0


@kernel
def unique_of_row(
    c: Cores, turned: bool, answers: Array, k: int, status: int, tight: bool, plane: bool, scratch: Scratch
) -> int:
    """Return the code of `is_unique` for row k of ``answers``. If ``turned``, A and B are swapped in ``c``."""
    n = row_at(answers, k, plain(3))
    answer = Answer(answers[k, 0], answers[k, 1], answers[k, 2], status, tight)
    return is_unique(c, turn_back(c.pose, neg(n) if turned else n), answer, plane, scratch)


@single_entry
def gradient_once(
    pairs: PairRows, ma: Array2, mb: Array2, answer: Array2, marks: int, unsigned: bool, workspace: Workspace,
    flags: Ints2, out: Array2,
) -> int:  # fmt: skip
    """Write the derivatives of a single result to row 1 of ``out``; return the code of `is_unique`.

    Returns -1 if ``ma`` or ``mb`` is not a pose. ``answer`` is the result of `solve_many`, and ``marks`` the flags that
    it returned. If ``unsigned``, a distance of 0 has the derivatives 0 and the code NO. Row 0 of ``out`` is scratch.
    """
    first = plain(0)
    if not take_poses(ma, mb, pairs.poses):
        return -1
    if unsigned and answer[0, 0] <= 0.0:
        for k in range(12):
            out[1, k] = 0.0
        return NO
    slopes_of_row(answer, first, pairs.poses[0], pairs.poses[1], out[1])
    c, turned = cores_of_row(pairs, first)
    scratch = Scratch(workspace, out[:0], out, flags)
    return unique_of_row(c, turned, answer, first, marks & 7, marks & 8 != 0, False, scratch)


@single_entry
def slope_rows(answers: Array2, about_a: Array2, about_b: Array2, out: Array2) -> None:
    """Write the derivatives of the results in ``answers`` to the rows of ``out``; see `slopes_of_row`."""
    for k in range(answers.shape[0]):
        slopes_of_row(answers, k, about_a[k], about_b[k], out[k])


@single_entry
def unique_rows(
    pairs: PairRows, answers: Array2, marks: Ints2, plane: bool, start: int, stop: int, workspace: Workspace,
    out: Array2, flags: Ints2, unique: Ints1,
) -> None:  # fmt: skip
    """Replace each `FULL` in ``unique`` from start to stop by the code of `is_unique`.

    ``answers`` and ``marks`` are the floats and flags that `solve_many` wrote. ``out`` and ``flags`` are scratch, of
    one row each.
    """
    scratch = Scratch(workspace, out[:0], out, flags)
    for k in range(start, stop):
        if unique[k] == FULL:
            c, turned = cores_of_row(pairs, k)
            unique[k] = unique_of_row(c, turned, answers, k, marks[k, 0], marks[k, 2] != 0, plane, scratch)

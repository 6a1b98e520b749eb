"""Tests of eight boxes, of eight triangles, or of two balls in eight configurations, together in float32.

The boxes are the children of a tree's node, and the triangles are those of a leaf.

Compiled kernels use vectors of LLVM, which LLVM splits on machines with smaller registers. Interpreted kernels use
numpy. Each test is written once, with operations that both have. Operations are not fused, so the bits are equal on all
machines. A test returns an integer whose bits are the results for the boxes, triangles or configurations.

The tests only discard candidates. Their callers enlarge the bounds by more than the rounding errors of float32.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gjk3d._kernels.decorators import MODE
from gjk3d.typing import Floats32_1, Floats32_3

Vec3 = tuple[float, float, float]

LANES = 8  #: number of boxes of a node, and of triangles of a leaf
CLEAR = 2048.0  #: least ratio of a triangle's projected area to its error for which a distance has three digits
_BOX, _TRIANGLE, _BALL = 6, 9, 6  #: number of rows of eight floats of a node, of a leaf, and of a ball's 16 centres


class Slabs(NamedTuple):
    """A ray for tests of padded boxes.

    The padding shifts the origin of the ray. The shifts differ for the planes where the ray enters and leaves.
    """

    #: rows of the coordinates of the planes through which the ray enters a box: 0 or 3, 1 or 4, 2 or 5
    row_x: int
    row_y: int
    row_z: int
    #: the origin for the planes through which the ray enters
    near_x: float
    near_y: float
    near_z: float
    #: the origin for the planes through which the ray leaves
    far_x: float
    far_y: float
    far_z: float
    #: the reciprocal of the direction
    inverse_x: float
    inverse_y: float
    inverse_z: float


class Line(NamedTuple):
    """A line for tests of triangles, in the frame of a leaf.

    The steepest axis has the greatest component of the line's direction. A shear maps the line to this axis.
    """

    #: indices of the axes, with the steepest axis of the line last
    axis_x: int
    axis_y: int
    axis_z: int
    #: a point of the line, in the order of these axes
    x: float
    y: float
    z: float
    #: direction along the first two axes divided by that along the last, and the reciprocal of the last
    shear_x: float
    shear_y: float
    inverse_z: float


def _boxes_on_ray(f: Any, boxes: Any, node: Any, ray: Any, most: Any, out: Any) -> Any:
    enter, leave = f.all(0.0), f.all(most)
    for k in range(3):
        origin, end, inverse = f.all(ray[3 + k]), f.all(ray[6 + k]), f.all(ray[9 + k])
        near, far = f.row(boxes, node, _BOX, ray[k]), f.row(boxes, node, _BOX, f.less(3 + 2 * k, ray[k]))
        enter = f.greater(f.times(f.minus(near, origin), inverse), enter)
        leave = f.lesser(f.times(f.minus(far, end), inverse), leave)
    f.write(out, enter)
    return f.bits(f.at_most(enter, leave))


def _boxes_near(f: Any, boxes: Any, node: Any, point: Any, most: Any, out: Any) -> Any:
    total = f.all(0.0)
    for k in range(3):
        at, low, high = f.all(point[k]), f.row(boxes, node, _BOX, k), f.row(boxes, node, _BOX, 3 + k)
        off = f.greater(f.greater(f.minus(low, at), f.minus(at, high)), f.all(0.0))
        total = f.plus(total, f.times(off, off))
    f.write(out, total)
    return f.bits(f.at_most(total, f.all(most)))


def _balls_apart(f: Any, centers: Any, a: Any, b: Any, half: Any, most: Any) -> Any:
    total = f.all(0.0)
    for k in range(0, _BALL, 2):
        off = f.minus(f.row(centers, a, _BALL, f.more(k, half)), f.row(centers, b, _BALL, f.more(k, half)))
        total = f.plus(total, f.times(off, off))
    return f.bits(f.less_than(f.all(most), total))


def _dot(f: Any, a: Any, b: Any) -> Any:
    return f.plus(f.plus(f.times(a[0], b[0]), f.times(a[1], b[1])), f.times(a[2], b[2]))


def _cross(f: Any, a: Any, b: Any) -> Any:
    return [f.minus(f.times(a[i], b[j]), f.times(a[j], b[i])) for i, j in ((1, 2), (2, 0), (0, 1))]


def _areas_on_line(f: Any, corners: Any, leaf: Any, line: Any) -> Any:
    """Return three areas and the three corner heights of each triangle of a leaf.

    An area is twice the signed area between an edge and the line, projected along the line. A height is the coordinate
    of a corner along the steepest axis, relative to the point of the line. ``f`` has the vector operations.
    """
    # after the shear the line is the last axis, so the projection of a triangle on the line contains the origin
    # (Woop, Benthin, Wald, Watertight ray/triangle intersection, 2013)
    at, shear_x, shear_y = [f.all(x) for x in line[3:6]], f.all(line[6]), f.all(line[7])
    corner = [
        [f.minus(f.row(corners, leaf, _TRIANGLE, f.more(3 * q, line[k])), at[k]) for k in range(3)] for q in range(3)
    ]
    flat = [(f.minus(x, f.times(shear_x, z)), f.minus(y, f.times(shear_y, z))) for x, y, z in corner]
    pairs = (flat[1], flat[2]), (flat[2], flat[0]), (flat[0], flat[1])
    return [f.minus(f.times(p[0], q[1]), f.times(p[1], q[0])) for p, q in pairs], [c[2] for c in corner]


def _triangles_on_line(f: Any, corners: Any, leaf: Any, line: Any, rim: Any, out: Any) -> Any:
    areas, heights = _areas_on_line(f, corners, leaf, line)
    u, v, w = areas
    rim, zero = f.all(rim), f.all(0.0)
    least, greatest = f.lesser(f.lesser(u, v), w), f.greater(f.greater(u, v), w)
    meets = f.either(f.at_most(f.minus(zero, rim), least), f.at_most(greatest, rim))
    bits = f.bits(meets)

    def more() -> Any:
        total = f.plus(f.plus(u, v), w)
        f.write(out, f.times(f.over(_dot(f, areas, heights), total), f.all(line[8])))
        steep = f.at_most(f.times(f.all(CLEAR), rim), f.greater(total, f.minus(zero, total)))
        inside = f.either(f.at_most(rim, least), f.at_most(greatest, f.minus(zero, rim)))
        flags = f.bits(f.both(meets, steep)), f.bits(f.both(inside, steep)), f.bits(f.at_most(zero, total))
        return f.join(f.join(f.join(flags[2], flags[1]), flags[0]), bits)

    return f.when_any(bits, more)


def _triangles_near(f: Any, corners: Any, leaf: Any, point: Any, most: Any, slack: Any) -> Any:
    at = [f.all(x) for x in point]
    corner = [[f.minus(f.row(corners, leaf, _TRIANGLE, 3 * q + k), at[k]) for k in range(3)] for q in range(3)]
    edges = [[f.minus(y, x) for x, y in zip(corner[k], corner[(k + 1) % 3], strict=True)] for k in range(3)]
    normal = _cross(f, edges[0], edges[1])
    zero, one, tiny, nearest, foot = f.all(0.0), f.all(1.0), f.all(1e-30), f.all(3e38), corner[0]
    sides = []
    for p, e in zip(corner, edges, strict=True):
        along = f.over(f.minus(zero, _dot(f, p, e)), f.greater(_dot(f, e, e), tiny))
        along = f.lesser(f.greater(along, zero), one)
        on_edge = [f.plus(x, f.times(along, y)) for x, y in zip(p, e, strict=True)]
        square = _dot(f, on_edge, on_edge)
        nearer = f.less_than(square, nearest)
        nearest = f.choose(nearer, square, nearest)
        foot = [f.choose(nearer, x, y) for x, y in zip(on_edge, foot, strict=True)]
        sides.append(_dot(f, _cross(f, p, e), normal))
    total = f.plus(f.plus(sides[0], sides[1]), sides[2])
    over = f.both(f.at_most(zero, f.lesser(f.lesser(sides[0], sides[1]), sides[2])), f.at_most(tiny, total))
    # a weighted mean of the corners is on the triangle, even if rounding errors make the weights wrong
    weights = [f.over(side, total) for side in sides]
    mean = [_dot(f, weights, (corner[2][k], corner[0][k], corner[1][k])) for k in range(3)]
    square = _dot(f, mean, mean)
    over = f.both(over, f.less_than(square, nearest))
    nearest = f.choose(over, square, nearest)
    foot = [f.choose(over, x, y) for x, y in zip(mean, foot, strict=True)]
    # The distance of the nearest of these points is an upper bound of the least distance. The least height of the
    # corners along the direction to a triangle's nearest point is a lower bound of the distance of this triangle.
    limit = f.lesser(f.plus(f.times(f.least(nearest), f.all(1.001)), f.all(slack)), f.all(most))
    gap = f.lesser(f.lesser(_dot(f, foot, corner[0]), _dot(f, foot, corner[1])), _dot(f, foot, corner[2]))
    return f.bits(f.either(f.at_most(gap, zero), f.at_most(f.times(gap, gap), f.times(limit, nearest))))


if TYPE_CHECKING:

    def boxes_on_ray(boxes: Floats32_3, node: int, ray: Slabs, most: float, out: Floats32_1) -> int:
        """Return a bit for each of a node's eight boxes, set if the ray enters the box within the distance ``most``.

        The distances at which the ray enters the boxes are written to ``out``.
        """

    def boxes_near(boxes: Floats32_3, node: int, point: Vec3, most: float, out: Floats32_1) -> int:
        """Return a bit for each of a node's eight boxes, set if its squared distance from a point is at most ``most``.

        The squared distances of all eight boxes are written to ``out``.
        """

    def balls_apart(centers: Floats32_3, a: int, b: int, half: int, most: float) -> int:
        """Return a bit for each of eight configurations, set if balls a and b are apart.

        They are apart if the squared distance of their centres is above ``most``, but not if a coordinate is NaN.
        ``centers[k]`` has ball k's centres in 16 configurations: first the x, then the y, then the z coordinates.
        ``half`` is 0 for the first eight configurations, and 1 for the last eight.
        """

    def triangles_on_line(corners: Floats32_3, leaf: int, line: Line, rim: float, out: Floats32_1) -> int:
        """Return four bits for each triangle of a leaf, or 0 if a line hits none of the eight triangles.

        - bits 0 to 7: the line hits the triangle.
        - bits 8 to 15: the triangle is hit, and its projected area is at least `CLEAR` times the error ``rim``.
        - bits 16 to 23: in addition, no edge of the triangle is near the line.
        - bits 24 to 31: the normal of the triangle points along the last axis of ``line``.

        ``rim`` is the rounding error of twice the area between the line and an edge. The distances from the line's
        point to the triangles are written to ``out``.
        """

    def triangles_near(corners: Floats32_3, leaf: int, point: Vec3, most: float, slack: float) -> int:
        """Return a bit for each triangle of a leaf that may be the nearest to a point.

        Triangles whose squared distance is above ``most`` are left out.

        ``slack`` is added to the square of the least distance for the rounding errors of float32.
        """

    def lowest_bit(bits: int) -> int:
        """Return the index of the lowest bit that is set."""

elif MODE in ("alone", "jit"):
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    _FLOAT, _INT = ir.FloatType(), ir.IntType(64)
    _VECTOR = ir.VectorType(_FLOAT, LANES)

    class _Written:
        """The vector operations of compiled tests. Each method writes LLVM instructions."""

        def __init__(self, builder: Any) -> None:
            self.builder = builder
            self.plus, self.minus, self.times, self.over = builder.fadd, builder.fsub, builder.fmul, builder.fdiv
            self.both, self.either, self.choose = builder.and_, builder.or_, builder.select

        def all(self, value: Any) -> Any:
            if isinstance(value, float):
                return ir.Constant(_VECTOR, [value] * LANES)
            undefined, first = ir.Constant(_VECTOR, ir.Undefined), ir.Constant(ir.IntType(32), 0)
            one = self.builder.insert_element(undefined, self.builder.fptrunc(value, _FLOAT), first)
            zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
            return self.builder.shuffle_vector(one, undefined, zeros)

        def less(self, a: int, b: Any) -> Any:
            return self.builder.sub(_INT(a), b)

        def more(self, a: int, b: Any) -> Any:
            return self.builder.add(_INT(a), b)

        def row(self, data: Any, item: Any, rows: int, row: Any) -> Any:
            first = self.builder.add(self.builder.mul(item, _INT(rows)), _INT(row) if isinstance(row, int) else row)
            place = self.builder.gep(data, [self.builder.mul(first, _INT(LANES))])
            return self.builder.load(self.builder.bitcast(place, _VECTOR.as_pointer()), align=4)

        def write(self, data: Any, vector: Any) -> None:
            self.builder.store(vector, self.builder.bitcast(data, _VECTOR.as_pointer()), align=4)

        def at_most(self, a: Any, b: Any) -> Any:
            return self.builder.fcmp_ordered("<=", a, b)

        def less_than(self, a: Any, b: Any) -> Any:
            return self.builder.fcmp_ordered("<", a, b)

        def lesser(self, a: Any, b: Any) -> Any:
            return self.choose(self.builder.fcmp_ordered("<", a, b), a, b)

        def least(self, a: Any) -> Any:
            undefined = ir.Constant(_VECTOR, ir.Undefined)
            for step in (4, 2, 1):
                lanes = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [(k + step) % LANES for k in range(LANES)])
                a = self.lesser(self.builder.shuffle_vector(a, undefined, lanes), a)
            return a

        def greater(self, a: Any, b: Any) -> Any:
            return self.choose(self.builder.fcmp_ordered(">", a, b), a, b)

        def bits(self, flags: Any) -> Any:
            return self.builder.zext(self.builder.bitcast(flags, ir.IntType(LANES)), _INT)

        def when_any(self, bits: Any, write: Any) -> Any:
            builder, before = self.builder, self.builder.block
            with builder.if_then(builder.icmp_unsigned("!=", bits, _INT(0))):
                more = write()
                inside = builder.block
            result = builder.phi(_INT)
            result.add_incoming(bits, before)
            result.add_incoming(more, inside)
            return result

        def join(self, high: Any, low: Any) -> Any:
            return self.builder.or_(self.builder.shl(high, _INT(LANES)), low)

    def _written(test: Any) -> Any:
        """Return the function for numba's ``intrinsic`` that writes the LLVM instructions of a test."""

        def value(context: Any, builder: Any, kind: Any, given: Any) -> Any:
            if isinstance(kind, types.Array):
                return context.make_array(kind)(context, builder, given).data
            if isinstance(kind, types.BaseTuple):
                return [builder.extract_value(given, k) for k in range(len(kind))]
            return given

        def write(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            values = (value(context, builder, *each) for each in zip(signature.args, given, strict=True))
            return test(_Written(builder), *values)

        return write

    @intrinsic
    def boxes_on_ray(context: Any, boxes: Any, node: Any, ray: Any, most: Any, out: Any) -> Any:
        return types.int64(boxes, types.int64, ray, types.float64, out), _written(_boxes_on_ray)

    @intrinsic
    def boxes_near(context: Any, boxes: Any, node: Any, point: Any, most: Any, out: Any) -> Any:
        return types.int64(boxes, types.int64, point, types.float64, out), _written(_boxes_near)

    @intrinsic
    def balls_apart(context: Any, centers: Any, a: Any, b: Any, half: Any, most: Any) -> Any:
        return types.int64(centers, *(types.int64,) * 3, types.float64), _written(_balls_apart)

    @intrinsic
    def triangles_near(context: Any, corners: Any, leaf: Any, point: Any, most: Any, slack: Any) -> Any:
        return types.int64(corners, types.int64, point, types.float64, types.float64), _written(_triangles_near)

    @intrinsic
    def triangles_on_line(context: Any, corners: Any, leaf: Any, line: Any, rim: Any, out: Any) -> Any:
        return types.int64(corners, types.int64, line, types.float64, out), _written(_triangles_on_line)

    @intrinsic
    def lowest_bit(context: Any, bits: Any) -> Any:
        def write(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            return builder.cttz(given[0], ir.IntType(1)(1))

        return types.int64(types.int64), write

else:

    class _Computed:
        """The vector operations of interpreted tests, in numpy."""

        plus, minus, times, over = np.add, np.subtract, np.multiply, np.divide
        both, either, choose = np.logical_and, np.logical_or, np.where
        at_most, less_than = np.less_equal, np.less

        @staticmethod
        def all(value: float) -> Any:
            return np.full(LANES, value, np.float32)

        @staticmethod
        def less(a: int, b: int) -> int:
            return a - b

        @staticmethod
        def more(a: int, b: int) -> int:
            return a + b

        @staticmethod
        def row(data: Any, item: int, rows: int, row: int) -> Any:
            return data[item, row]

        @staticmethod
        def write(data: Any, vector: Any) -> None:
            data[:] = vector

        @staticmethod
        def lesser(a: Any, b: Any) -> Any:
            return np.where(a < b, a, b)

        @staticmethod
        def greater(a: Any, b: Any) -> Any:
            return np.where(a > b, a, b)

        @staticmethod
        def least(a: Any) -> Any:
            for step in (4, 2, 1):
                turned = np.roll(a, -step)
                a = np.where(turned < a, turned, a)
            return a

        @staticmethod
        def bits(flags: Any) -> int:
            return int(np.packbits(flags, bitorder="little")[0])

        @staticmethod
        def when_any(bits: int, compute: Any) -> int:
            return compute() if bits else 0

        @staticmethod
        def join(high: int, low: int) -> int:
            return high << LANES | low

    def _computed(test: Any) -> Any:
        def call(*given: Any) -> int:
            with np.errstate(all="ignore"):
                return int(test(_Computed, *given))

        return call

    boxes_on_ray, boxes_near = _computed(_boxes_on_ray), _computed(_boxes_near)
    balls_apart = _computed(_balls_apart)
    triangles_on_line, triangles_near = _computed(_triangles_on_line), _computed(_triangles_near)

    def lowest_bit(bits: int) -> int:
        return (int(bits) & -int(bits)).bit_length() - 1

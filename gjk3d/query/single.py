"""Single queries as compiled builtins: `Pair`, `collide`, `distance`, `signed_distance`, and the fields of results.

A builtin solves one query on two convex shapes whose poses are matrices or None. It runs the same kernels as queries on
stacks. For non-convex bodies a builtin only tests the boxes around the bodies, and returns False for `collide` if the
boxes are apart. In all other cases a builtin calls the Python function. Examples are stacks, invalid poses, two or more
keywords, and results whose bounds are wider than promised. A builtin holds the GIL until it returns, so all builtins
share one scratch memory.

Builtins read objects of CPython by address. Words are the 64-bit integers that builtins read: addresses, offsets and
lengths.
"""

from __future__ import annotations

import sys
import weakref
from functools import cache
from math import inf, nan
from typing import Any

import numpy as np

from gjk3d._kernels import addresses
from gjk3d._kernels import addresses as py
from gjk3d._kernels.calls import offset
from gjk3d._kernels.calls.install import Words, fields
from gjk3d._kernels.decorators import Builtin, builtin, inlined, kernel, plain
from gjk3d.convex.batch import empty_answers
from gjk3d.convex.solve import core_row
from gjk3d.engine.dispatch import find
from gjk3d.geometry.vec3 import ROOT, roots_apart
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.cores import AT_ORIGIN, Cores, relative
from gjk3d.narrow.gjk import MEMORY
from gjk3d.narrow.solve import PAIR, Packed, PairRows, cores_of_row, marks_of, mirror, take_poses
from gjk3d.narrow.workspace import FIRST_POINTS, Solver, Workspace, new_workspace, per_thread
from gjk3d.poses import ROUNDING, WIDTH
from gjk3d.results import ROW_AT, ROW_CODE, ROW_POSED, ROW_SIZE, Distance, Status, missing
from gjk3d.shapes.base import Kind
from gjk3d.typing import Ints

# words of every builtin for a query: the Python function, the scratch memory, the table or the slot of plans
SLOW, SCRATCH, PLANS = range(3)
MARGIN, COLLIDE = 3, 4  #: additional words of `collide`: the name of its keyword, the function without decorators
# additional words of distances: the class of the result, the offsets of its slots, the default request, the mode, the
# names of the keywords, and for `Pair` the offsets of its shapes
KIND, ROW_SLOT, SHAPE_A, SHAPE_B, REQUEST_SLOT, REQUEST, MODE, MAX_DISTANCE, TOL, PAIR_A, PAIR_B = range(3, 14)
DISTANCE = PAIR_A  #: additional word of `distance`: the function without decorators


@inlined
def plan_of(words: int, pair: int) -> int:
    """Return the address of the 64-bit words of the `Plan` of a `Pair`, or 0 if the pair has no plan."""
    array = py.word(pair + py.word(words + 8 * PLANS))
    return py.word(array + py.DATA) if array != 0 and py.word(array + py.TYPE) == py.constant(py.NDARRAY) else plain(0)


@inlined
def plan_for(words: int, a: int, b: int) -> int:
    """Return the address of the 64-bit words of the `Plan` of two shapes, or 0 if the hash table has none."""
    place = py.word(words + 8 * PLANS) + 24 * ((((a >> 4) * 0x9E3779B1) ^ (b >> 4)) & (PLACES - 1))
    return py.word(place + 16) if py.word(place) == a and py.word(place + 8) == b else 0


@inlined
def pose_argument(words: int, args: int, nargs: int, k: int) -> int:
    """Return the address of the 16 numbers of the pose in argument k, or 0 if the kernels do not accept the pose."""
    scratch = py.word(words + 8 * SCRATCH)
    identity = py.word(scratch + 8 * IDENTITY)
    return (
        py.pose_in(py.word(args + 8 * k), identity, py.word(scratch + 8 * (LISTED + k % 2))) if nargs > k else identity
    )


@inlined
def place_cores(scratch: int, plan: int, pose_a: int, pose_b: int) -> tuple[bool, Cores, bool]:
    """Return whether two poses are valid, the cores of a plan's shapes at these poses, and whether they are swapped."""
    poses = addresses.float_rows(py.word(scratch + 8 * POSES), 2, WIDTH)
    valid = take_poses(addresses.float_rows(pose_a, 4, 4), addresses.float_rows(pose_b, 4, 4), poses)
    pairs = PairRows(
        addresses.ints(py.word(plan + 8 * FIRST_INT), py.word(plan + 8 * INTS)),
        addresses.floats(py.word(plan + 8 * FIRST_FLOAT), py.word(plan + 8 * FLOATS)),
        addresses.int_rows(py.word(plan + 8 * ROW), 1, PAIR),
        poses,
    )
    c, swapped = cores_of_row(pairs, plain(0))
    return valid, c, swapped


@kernel
def bodies_apart(scratch: int, plan: int, pose_a: int, pose_b: int, margin: float) -> bool:
    """Return whether the boxes around two bodies are proven to be farther apart than a margin of at least 0."""
    rows = addresses.float_rows(py.word(scratch + 8 * POSES), 2, WIDTH)
    if not (margin >= 0.0 and take_poses(addresses.float_rows(pose_a, 4, 4), addresses.float_rows(pose_b, 4, 4), rows)):
        return False
    m = relative(rows[0], AT_ORIGIN, rows[1], AT_ORIGIN)
    roots = addresses.float_rows(py.word(plan + 8 * FIRST_FLOAT), 2, ROOT)
    return roots_apart(m, roots, plain(0), plain(1), margin, 2.0 * ROUNDING)


@kernel
def collision(scratch: int, plan: int, pose_a: int, pose_b: int, margin: float) -> int:
    """Return 1 if the shapes of a plan collide, 0 if not, or another number if the Python function has to decide."""
    if py.word(plan + 8 * INTS) == 0:
        return 0 if bodies_apart(scratch, plan, pose_a, pose_b, margin) else -1
    valid, c, _ = place_cores(scratch, plan, pose_a, pose_b)
    if not valid:
        return -1
    simplex = addresses.float_rows(py.word(scratch + 8 * SIMPLEX), 6, 10)
    memory = addresses.float_rows(py.word(plan + 8 * FIRST_MEMORY), py.word(plan + 8 * MEMORIES), MEMORY)
    answer = narrow.quick_collide(c, margin, simplex, memory, plain(0))
    return answer if answer != 2 else narrow.settle(c, margin, solver_at(scratch, py.word(scratch + 8 * OUT)))


@inlined
def solver_at(scratch: int, target: int) -> Solver:
    """Return a `Solver` made of arrays in the scratch memory, whose result row is at the address ``target``."""
    work = addresses.floats(py.word(scratch + 8 * WORK), py.word(scratch + 8 * WORKS))
    table = addresses.ints(py.word(scratch + 8 * TABLE), py.word(scratch + 8 * TABLES))
    simplex = addresses.float_rows(py.word(scratch + 8 * SIMPLEX), 6, 10)
    flags = addresses.int_rows(py.word(scratch + 8 * FLAGS), 1, narrow.INTS)
    return Solver(Workspace(simplex, work, table, work[:0]), addresses.float_rows(target, 1, narrow.FLOATS), flags)


@kernel
def solution(
    scratch: int, plan: int, pose_a: int, pose_b: int, mode: int, max_distance: float, tol: float, target: int
) -> int:  # fmt: skip
    """Write the distance of a plan's shapes, with its bounds, normal and points, to the address ``target``.

    Return -1 for an invalid pose, otherwise the sum of the status and the flags of the result, see `marks_of`.
    """
    valid, c, swapped = place_cores(scratch, plan, pose_a, pose_b)
    if not valid:
        return -1
    memory = addresses.float_rows(py.word(plan + 8 * FIRST_MEMORY), py.word(plan + 8 * MEMORIES), MEMORY)
    solver = solver_at(scratch, target)
    narrow.solve(c, mode, max_distance, tol, solver.workspace, memory, solver.one, solver.marks, plain(0))
    if swapped:
        mirror(solver.one, plain(0))
    return marks_of(solver.marks, plain(0))


@inlined
def margin_argument(words: int, args: int, nargs: int, names: int) -> float:
    """Return the value of the keyword ``margin``, 0 without keywords, NaN for any other keyword or type."""
    if names == 0:
        return 0.0
    value = py.word(args + 8 * nargs)
    is_only = py.word(names + py.SIZE) == 1 and py.word(py.items_of(names)) == py.word(words + 8 * MARGIN)
    if not is_only or py.word(value + py.TYPE) != py.constant(py.FLOAT_TYPE):
        return float(nan)
    return py.number(value + py.FLOAT)


@inlined
def collide_result(words: int, plan: int, pose_a: int, pose_b: int, margin: float) -> int:
    """Return the address of True or False, 0 if the Python function has to solve the query."""
    if plan == 0 or pose_a == 0 or pose_b == 0 or margin - margin != 0.0:
        return 0
    answer = collision(py.word(words + 8 * SCRATCH), plan, pose_a, pose_b, margin)
    return py.incref(py.constant(py.BOOLS + answer)) if 0 <= answer <= 1 else plain(0)


@builtin
def pair_collide(words: int, pair: int, args: int, nargs: int, names: int) -> int:
    """Return the address of the result of `Pair.collide` for the ``nargs`` arguments at the address ``args``."""
    if nargs <= 2:
        pose_a, pose_b = pose_argument(words, args, nargs, plain(0)), pose_argument(words, args, nargs, plain(1))
        answer = collide_result(words, plan_of(words, pair), pose_a, pose_b, margin_argument(words, args, nargs, names))
        if answer != 0:
            return answer
    return py.call_with(py.word(words), pair, args, nargs, names)


@builtin
def shapes_collide(words: int, module: int, args: int, nargs: int, names: int) -> int:
    """Return the address of the result of `gjk3d.collide` for the ``nargs`` arguments at the address ``args``."""
    if 2 <= nargs <= 4:
        pose_a, pose_b = pose_argument(words, args, nargs, plain(2)), pose_argument(words, args, nargs, plain(3))
        plan = plan_for(words, py.word(args), py.word(args + 8))
        answer = collide_result(words, plan, pose_a, pose_b, margin_argument(words, args, nargs, names))
        if answer != 0:
            return answer
    return py.call(py.word(words + 8 * (COLLIDE if names == 0 else SLOW)), args, nargs, names)


@inlined
def copy_pose(target: int, pose: int) -> None:
    """Copy the 16 numbers of a pose to the address ``target``."""
    for k in range(16):
        py.write(target + 8 * k, py.word(pose + 8 * k))


@inlined
def limit_argument(words: int, args: int, nargs: int, names: int) -> int:
    """Return 1 for the keyword ``max_distance``, 2 for ``tol``, 0 without keywords, -1 for anything else.

    The number is the index of the limit in `gjk3d.results.Distance.asked`.
    """
    if names == 0:
        return 0
    value, name = py.word(args + 8 * nargs), py.word(py.items_of(names))
    if py.word(names + py.SIZE) != 1 or py.word(value + py.TYPE) != py.constant(py.FLOAT_TYPE):
        return -1
    limit = py.number(value + py.FLOAT)
    if name == py.word(words + 8 * MAX_DISTANCE) and limit >= 0.0:
        return 1
    return 2 if name == py.word(words + 8 * TOL) and 0.0 <= limit < inf else -1


@kernel
def distance_result(words: int, plan: int, pose_a: int, pose_b: int, a: int, b: int, which: int, limit: int) -> int:
    """Return the address of a new `Distance`, 0 if the Python function has to solve the query, -1 for an error.

    ``which`` is the result of `limit_argument`, and ``limit`` is the address of the value of that keyword.
    """
    if py.word(plan + 8 * INTS) == 0:
        return 0
    row = py.new_bytes(plain(ROW_SIZE))
    if row == 0:
        return -1
    scratch, target = py.word(words + 8 * SCRATCH), row + py.BYTES
    max_distance = py.number(limit + py.FLOAT) if which == 1 else float(inf)
    tol = py.number(limit + py.FLOAT) if which == 2 else 0.0
    marks = solution(scratch, plan, pose_a, pose_b, py.word(words + 8 * MODE), max_distance, tol, target)
    # an invalid pose, too little scratch, or a result wider than promised; a result may be wider with a tolerance, or
    # if the distance exceeds max_distance
    if marks < 0 or marks & 16 != 0 or (marks & 8 == 0 and tol == 0.0 and marks & 7 != narrow.BEYOND):
        py.decref(row)
        return 0
    identity = py.word(scratch + 8 * IDENTITY)
    py.write(target + 8 * ROW_CODE, marks)
    py.write(target + 8 * ROW_POSED, int(pose_a != identity) + 2 * int(pose_b != identity))
    copy_pose(target + 8 * ROW_AT, pose_a)
    copy_pose(target + 8 * (ROW_AT + 16), pose_b)
    request = py.word(words + 8 * REQUEST)
    request = py.incref(request) if which == 0 else py.replaced(request, which, limit)
    result = py.new_object(py.word(words + 8 * KIND)) if request != 0 else plain(0)
    if result == 0:
        py.decref(row)
        return -1
    py.write(result + py.word(words + 8 * ROW_SLOT), row)
    py.write(result + py.word(words + 8 * SHAPE_A), py.incref(a))
    py.write(result + py.word(words + 8 * SHAPE_B), py.incref(b))
    py.write(result + py.word(words + 8 * REQUEST_SLOT), request)
    return result


@inlined
def distance_of_pair(words: int, pair: int, args: int, nargs: int, names: int) -> int:
    """Return the address of the result of `Pair.distance` or `Pair.signed_distance`."""
    if nargs <= 2:
        pose_a, pose_b = pose_argument(words, args, nargs, plain(0)), pose_argument(words, args, nargs, plain(1))
        plan, which = plan_of(words, pair), limit_argument(words, args, nargs, names)
        a, b = py.word(pair + py.word(words + 8 * PAIR_A)), py.word(pair + py.word(words + 8 * PAIR_B))
        if plan != 0 and pose_a != 0 and pose_b != 0 and which >= 0 and a != 0 and b != 0:
            limit = py.word(args + 8 * nargs) if which > 0 else plain(0)
            result = distance_result(words, plan, pose_a, pose_b, a, b, which, limit)
            if result != 0:
                return max(result, 0)
    return py.call_with(py.word(words), pair, args, nargs, names)


@inlined
def distance_of_shapes(words: int, args: int, nargs: int, names: int) -> int:
    """Return the address of the result of `gjk3d.distance` or `gjk3d.signed_distance`."""
    if 2 <= nargs <= 4:
        pose_a, pose_b = pose_argument(words, args, nargs, plain(2)), pose_argument(words, args, nargs, plain(3))
        a, b = py.word(args), py.word(args + 8)
        plan, which = plan_for(words, a, b), limit_argument(words, args, nargs, names)
        if plan != 0 and pose_a != 0 and pose_b != 0 and which >= 0:
            limit = py.word(args + 8 * nargs) if which > 0 else plain(0)
            result = distance_result(words, plan, pose_a, pose_b, a, b, which, limit)
            if result != 0:
                return max(result, 0)
    return py.call(py.word(words + 8 * (DISTANCE if names == 0 else SLOW)), args, nargs, names)


@builtin
def pair_distance(words: int, pair: int, args: int, nargs: int, names: int) -> int:
    """Return the address of the result of `Pair.distance` for the ``nargs`` arguments at the address ``args``."""
    return distance_of_pair(words, pair, args, nargs, names)


@builtin
def pair_signed_distance(words: int, pair: int, args: int, nargs: int, names: int) -> int:
    """Return the address of the result of `Pair.signed_distance` for ``nargs`` arguments at the address ``args``."""
    return distance_of_pair(words, pair, args, nargs, names)


@builtin
def shapes_distance(words: int, module: int, args: int, nargs: int, names: int) -> int:
    """Return the address of the result of `gjk3d.distance` for the ``nargs`` arguments at the address ``args``."""
    return distance_of_shapes(words, args, nargs, names)


@builtin
def shapes_signed_distance(words: int, module: int, args: int, nargs: int, names: int) -> int:
    """Return the address of the result of `gjk3d.signed_distance` for ``nargs`` arguments at the address ``args``."""
    return distance_of_shapes(words, args, nargs, names)


# words of a field: the offset of its slot, its name, the Python function for other kinds, the offset of the row in the
# result, the kind of the field, its index in the row, the statuses
FIELD, NAME, FALLBACK, ROW_OF, FIELD_KIND, WHERE, CHOICES = range(7)
OBJECT, NUMBER, VECTOR, STATUS, TIGHT, STEPS = range(6)


@inlined
def read_field(words: int, data: int) -> int:
    """Return the address of a new object with the value of a result's field, or 0 if only Python can read the field.

    ``data`` is the address of the numbers of the result.
    """
    kind, place = py.word(words + 8 * FIELD_KIND), data + 8 * py.word(words + 8 * WHERE)
    if kind == NUMBER:
        return py.new_float(place)
    if kind == VECTOR:
        return py.new_vector(place)
    if kind == STEPS:
        return py.new_int(py.word(place) >> 5)
    if kind == STATUS:
        return py.incref(py.word(py.items_of(py.word(words + 8 * CHOICES)) + 8 * (py.word(place) & 7)))
    if kind == TIGHT:
        return py.incref(py.constant(py.BOOLS + ((py.word(place) >> 3) & 1)))
    return 0


@inlined
def numbers_of(row: int, kind: int) -> int:
    """Return the address of a result's numbers, or 0 if only Python can read this kind of field.

    ``row`` is the address of the object that holds the numbers.
    """
    row_type = py.word(row + py.TYPE) if row != 0 else plain(0)
    if row_type == py.constant(py.BYTES_TYPE):
        return row + py.BYTES if kind != OBJECT and py.word(row + py.SIZE) == ROW_SIZE else 0
    if row_type == py.constant(py.TUPLE_TYPE) and kind in (NUMBER, VECTOR):  # made in Python; item 0 is the array
        return py.floats_in(py.word(py.items_of(row)), plain(2))
    return 0


@builtin
def get_field(answer: int, words: int) -> int:
    """Return the address of the value of a result's field. The value is created at the first access."""
    slot = answer + py.word(words)
    if py.word(slot) != 0:
        return py.incref(py.word(slot))
    row = py.word(answer + py.word(words + 8 * ROW_OF))
    numbers = numbers_of(row, py.word(words + 8 * FIELD_KIND))
    if numbers != 0:
        value = read_field(words, numbers)
        if value != 0:
            py.write(slot, py.incref(value))
        return value
    return py.call_with(py.word(words + 8 * FALLBACK), answer, words + 8 * NAME, plain(1), plain(0))


@builtin
def set_field(answer: int, value: int, words: int) -> int:
    """Set a field of a result, or delete the field if ``value`` is 0. Return 0, which means no error."""
    slot = answer + py.word(words)
    old = py.word(slot)
    py.write(slot, py.incref(value) if value != 0 else plain(0))
    if old != 0:
        py.decref(old)
    return 0


# --- the words of the builtins ---------------------------------------------------------------------------------------


@cache
def _scratch_address() -> int:
    """Return the address of the words of the scratch memory that all builtins share. This memory is never freed."""
    _alive.append(QueryScratch())
    _alive.append(_alive[0].words())
    return int(_alive[1].ctypes.data)


_alive: list[Any] = []


@cache
def _request_words(mode: int) -> list[Any]:
    slots = [offset(Distance, name) for name in ("_row", "shape_a", "shape_b", "asked")]
    return [Distance, *slots, (mode, inf, None, False), mode, *map(sys.intern, ("max_distance", "tol"))]


_MARGIN = sys.intern("margin")  #: names of keywords are interned, so builtins compare addresses


def collide_words() -> list[Any]:
    """Return the addresses and objects that `shapes_collide` reads."""
    return [_scratch_address(), places.ctypes.data, _MARGIN]


def distance_words(mode: int) -> Words:
    """Return the function that lists what `shapes_distance` or `shapes_signed_distance` reads."""
    return lambda: [_scratch_address(), places.ctypes.data, *_request_words(mode)]


def methods_of(cls: type) -> dict[str, tuple[Builtin, Words]]:
    """Return by name, for each compiled method of `Pair`, the builtin and the function that lists what it reads."""

    def common() -> list[Any]:
        return [_scratch_address(), offset(cls, "_words")]

    def distance(mode: int) -> Words:
        return lambda: [*common(), *_request_words(mode), offset(cls, "a"), offset(cls, "b")]

    return {
        "collide": (pair_collide, lambda: [*common(), _MARGIN]),
        "distance": (pair_distance, distance(narrow.UNSIGNED)),
        "signed_distance": (pair_signed_distance, distance(narrow.SIGNED)),
    }


_FIELD_KINDS = {
    "distance": (NUMBER, 0), "lower": (NUMBER, 1), "upper": (NUMBER, 2),
    "normal": (VECTOR, 3), "point_a": (VECTOR, 6), "point_b": (VECTOR, 9),
    "status": (STATUS, ROW_CODE), "tight": (TIGHT, ROW_CODE), "iterations": (STEPS, ROW_CODE),
}  # fmt: skip


def _fields() -> dict[str, list[Any]]:
    for mode in (narrow.UNSIGNED, narrow.SIGNED):
        _request_words(mode)  # caches the offsets of the slots, which `fields` replaces
    row = offset(Distance, "_row")
    names = (name for name in Distance.__slots__ if name != "_row")
    choices = *Status, None, None, None  # three bits index this tuple
    return {name: [missing, row, *_FIELD_KINDS.get(name, (OBJECT, 0)), choices] for name in names}


if fields(Distance, get_field, set_field, _fields):
    del Distance.__getattr__  # type: ignore[attr-defined]


# words of a plan: the addresses and lengths of its arrays; for two bodies only the address of the boxes around them
FIRST_INT, INTS, FIRST_FLOAT, FLOATS, ROW, FIRST_MEMORY, MEMORIES = range(7)
# words of the scratch memory
POSES, SIMPLEX, ANSWER, FLAGS, IDENTITY, OUT, WORK, TABLE, LISTED, _, WORKS, TABLES = range(12)


class QueryScratch:
    """Scratch memory of single queries. All builtins share one, and each thread has one for its Python functions."""

    def __init__(self) -> None:
        self.workspace, self.poses, self.identity = new_workspace(FIRST_POINTS), np.empty((2, WIDTH)), np.eye(4)
        self.listed = np.empty((2, 16))  #: the numbers of poses that are lists
        self.answer = np.empty(1, dtype=np.int64)
        self.out, self.flags = empty_answers(1)

    def words(self) -> Ints:
        """Return the addresses and lengths of the arrays, as builtins read them."""
        simplex, work, table, _ = self.workspace
        arrays = self.poses, simplex, self.answer, self.flags, self.identity, self.out, work, table, *self.listed
        return np.array([*(array.ctypes.data for array in arrays), len(work), len(table)], dtype=np.int64)


thread_scratch = per_thread(QueryScratch)


class Plan:
    """Two packed convex shapes, and the last axis and simplex of a warm pair, as arrays for the kernels."""

    __slots__ = ("floats", "ints", "memory", "packed", "row", "words")

    def __init__(self, a: Any, b: Any, warm: bool) -> None:
        self.ints, self.floats, self.row, _ = core_row(a, b)
        self.memory = np.zeros((int(warm), MEMORY))
        arrays = self.ints, self.floats, self.row, self.memory
        ints, floats, row, memory = (array.__array_interface__["data"][0] for array in arrays)
        self.packed = Packed(self.ints, self.floats, self.row)
        self.words: Ints = np.array(
            [ints, len(self.ints), floats, len(self.floats), row, memory, len(self.memory)], dtype=np.int64
        )


class Prepared:
    """Prepared data of two shapes, without references to them.

    ``quick`` has the compiled queries of non-convex bodies. Words are the addresses and lengths that builtins read.
    ``words`` are the words of the plan, or None if builtins cannot solve the pair. ``known`` are the same words, or for
    non-convex bodies those of the boxes around them.
    """

    __slots__ = ("extras", "known", "plan", "quick", "words")

    def __init__(self, a: Any, b: Any, warm: bool) -> None:
        prepare = find("prepare", a, b)
        self.extras: dict[str, Any] = {}  # packed data of other queries, by their names
        self.quick = prepare and prepare(a, b)
        kinds = a._kind | b._kind
        self.plan = None if kinds & ~Kind.BOUNDED else Plan(a, b, warm)
        # builtins do not check for exceptions in a user's support function
        self.words = self.plan.words if self.plan is not None and kinds == Kind.CONVEX else None
        self.known = self.words
        if self.quick is not None:
            roots = self.extras["roots"] = self.quick.roots()
            self.known = np.array([0, 0, roots.ctypes.data], dtype=np.int64)

    @property
    def packed(self) -> Packed:
        """The two packed convex shapes, as `gjk3d.narrow.solve` reads them; not available for half-spaces."""
        assert self.plan is not None
        return self.plan.packed

    @property
    def size(self) -> int:
        """Number of bytes of the packed shapes."""
        return 0 if self.plan is None else self.plan.ints.nbytes + self.plan.floats.nbytes


MOST_PAIRS = 256  #: the cache is emptied before it exceeds this number of pairs
MOST_BYTES = 32 << 20  #: the cache is emptied before its packed shapes exceed this size
PLACES = 1024  #: rows of the hash table in which builtins look up plans

#: in each row the identities of the two shapes and the address of the plan's words
places = np.zeros((PLACES, 3), dtype=np.int64)
_words = memoryview(places.reshape(-1))  # type: ignore[arg-type]  # reads single words faster than the array


class PreparedPairs:
    """Cache of the prepared data of pairs of shapes, for as long as both shapes exist.

    Builtins look up plans in the table `places`. Other threads and signal handlers may run between any two lines, and
    no row of the table may ever point to a freed plan. Therefore code that fills a row keeps a reference to the plan,
    and then checks that the cache still has the plan. Code that removes a plan keeps a reference until no row points to
    it.
    """

    def __init__(self) -> None:
        # (id(a), id(b)) -> (prepared data, weak references to a and b, row of the table)
        self._entries: dict[tuple[int, int], tuple[Prepared, Any, Any, int]] = {}
        self._bytes = 0

    def get(self, a: Any, b: Any) -> Prepared:
        """Return the prepared data of two shapes, created at the first call."""
        entry = self._entries.get((id(a), id(b))) or self._insert(a, b, Prepared(a, b, False))
        return entry[0]

    def get_for_builtins(self, a: Any, b: Any) -> Prepared:
        """Return the prepared data of two shapes, and write the address of its words to the table for builtins."""
        key = id(a), id(b)
        entry = self._entries.get(key) or self._insert(a, b, Prepared(a, b, False))
        prepared, _, _, row = entry
        if prepared.known is not None and (_words[3 * row] != key[0] or _words[3 * row + 1] != key[1]):
            places[row] = *key, prepared.known.ctypes.data
            if self._entries.get(key) is not entry:
                places[row] = 0
        return prepared

    def _insert(self, a: Any, b: Any, prepared: Prepared) -> tuple[Prepared, Any, Any, int]:
        if len(self._entries) >= MOST_PAIRS or self._bytes + prepared.size > MOST_BYTES:
            for key in list(self._entries):
                self._drop(key)
            self._bytes = 0
        key = id(a), id(b)

        def on_collected(_: Any) -> None:
            if _place_of is not None:  # the interpreter clears modules at exit before it collects all objects
                self._drop(key)

        self._bytes += prepared.size
        references = weakref.ref(a, on_collected), weakref.ref(b, on_collected)
        return self._entries.setdefault(key, (prepared, *references, _place_of(*key)))

    def _drop(self, key: tuple[int, int]) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._bytes -= entry[0].size
            row = entry[3]
            if places[row, 0] == key[0] and places[row, 1] == key[1]:
                places[row] = 0


def _place_of(a: int, b: int) -> int:
    """Return the row of the table for two object identities, with the formula of `gjk3d.query.single.plan_for`."""
    return (((a >> 4) * 0x9E3779B1) ^ (b >> 4)) & (PLACES - 1)

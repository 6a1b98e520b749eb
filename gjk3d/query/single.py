"""Single questions as builtins: `Pair`, `collide`, `distance` and `signed_distance`, and the fields of answers.

One question about two convex shapes at matrices or None is answered here from beginning to end, by the kernels that
answer stacks. All else is the Python function's: other keywords than one limit, stacks, other numbers, what is
no pose, an answer that is wider than promised. The kernels never run while another single question is under way, so one
desk serves all.
"""

from __future__ import annotations

import sys
from functools import cache
from math import inf, nan
from typing import Any

from gjk3d._kernels.calls import objects as py
from gjk3d._kernels.calls import offset
from gjk3d._kernels.calls.install import Words, fields
from gjk3d._kernels.decorators import Builtin, builtin, inlined, kernel, plain
from gjk3d.convex.rows import FIRST_POINTS
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.cores import Cores
from gjk3d.narrow.gjk import MEMORY
from gjk3d.narrow.pairs import PAIR, cores_of_row, marks_of, mirror, take_poses
from gjk3d.narrow.room import Solver, solver_in
from gjk3d.poses import WIDTH
from gjk3d.query import plan as at
from gjk3d.query.plan import PLACES, Desk, places
from gjk3d.results import ROW_AT, ROW_CODE, ROW_POSED, ROW_SIZE, Distance, Status, missing

# words of a builtin that answers a question: the Python function, the desk, where plans are found,
SLOW, DESK, PLANS = range(3)
MARGIN = 3  #: and of one for `collide` the name of its keyword
# and of one that makes an answer: its class, where its slots are, how it was asked; of `Pair` where the shapes are
KIND, ROW_SLOT, SHAPE_A, SHAPE_B, ASKED_SLOT, ASKED, MODE, MAX_DISTANCE, TOL, PAIR_A, PAIR_B = range(3, 14)


@inlined
def plan_of(words: int, pair: int) -> int:
    """Return where the words of a pair's plan are, 0 where it has none."""
    held = py.word(pair + py.word(words + 8 * PLANS))
    return py.word(held + py.DATA) if held != 0 and py.word(held + py.TYPE) == py.constant(py.NDARRAY) else plain(0)


@inlined
def plan_for(words: int, a: int, b: int) -> int:
    """Return where the words of the plan of two shapes are, 0 where none is remembered."""
    place = py.word(words + 8 * PLANS) + 24 * ((((a >> 4) * 0x9E3779B1) ^ (b >> 4)) & (PLACES - 1))
    return py.word(place + 16) if py.word(place) == a and py.word(place + 8) == b else 0


@inlined
def pose_given(words: int, args: int, nargs: int, k: int) -> int:
    """Return where the numbers of argument k are, of a pose; 0 where it is none that kernels take."""
    standing = py.word(py.word(words + 8 * DESK) + 8 * at.STANDING)
    return py.pose_in(py.word(args + 8 * k), standing) if nargs > k else standing


@inlined
def placed(desk: int, plan: int, pose_a: int, pose_b: int) -> tuple[bool, Cores, bool]:
    """Tell whether two poses are poses; return a plan's cores there, and whether they are turned round."""
    poses = py.float_rows(py.word(desk + 8 * at.POSES), 2, WIDTH)
    sound = take_poses(py.float_rows(pose_a, 4, 4), py.float_rows(pose_b, 4, 4), poses)
    c, turned = cores_of_row(
        py.ints(py.word(plan + 8 * at.FIRST_INT), py.word(plan + 8 * at.INTS)),
        py.floats(py.word(plan + 8 * at.FIRST_FLOAT), py.word(plan + 8 * at.FLOATS)),
        py.int_rows(py.word(plan + 8 * at.ROW), 1, PAIR),
        poses,
        plain(0),
    )
    return sound, c, turned


@kernel
def collision(desk: int, plan: int, pose_a: int, pose_b: int, margin: float) -> int:
    """Answer `collide` of a plan: 0, 1, or something else."""
    sound, c, _ = placed(desk, plan, pose_a, pose_b)
    if not sound:
        return -1
    simplex = py.float_rows(py.word(desk + 8 * at.SIMPLEX_AT), 6, 10)
    memory = py.float_rows(py.word(plan + 8 * at.FIRST_MEMORY), py.word(plan + 8 * at.MEMORIES), MEMORY)
    answer = narrow.quick_collide(c, margin, simplex, memory, plain(0))
    return answer if answer != 2 else narrow.settle(c, margin, solver_at(desk, py.word(desk + 8 * at.OUT)))


@inlined
def solver_at(desk: int, to: int) -> Solver:
    """Return the solver at a desk, whose answer goes where it is said."""
    work = py.floats(py.word(desk + 8 * at.WORK), py.word(desk + 8 * at.WORKS))
    table = py.ints(py.word(desk + 8 * at.TABLE), py.word(desk + 8 * at.TABLES))
    out, flags = py.float_rows(to, 1, narrow.FLOATS), py.int_rows(py.word(desk + 8 * at.FLAGS), 1, narrow.INTS)
    return solver_in(work, table, plain(FIRST_POINTS), out, flags)


@kernel
def solution(
    desk: int, plan: int, pose_a: int, pose_b: int, mode: int, max_distance: float, tol: float, to: int
) -> int:  # fmt: skip
    """Write the answer to a distance of a plan; return its marks, -1 where one pose is none."""
    sound, c, turned = placed(desk, plan, pose_a, pose_b)
    if not sound:
        return -1
    memory = py.float_rows(py.word(plan + 8 * at.FIRST_MEMORY), py.word(plan + 8 * at.MEMORIES), MEMORY)
    solver = solver_at(desk, to)
    narrow.solve(c, mode, max_distance, tol, solver.room, memory, solver.one, solver.marks, plain(0))
    if turned:
        mirror(solver.one, plain(0))
    return marks_of(solver.marks, plain(0))


@inlined
def margin_given(words: int, args: int, nargs: int, names: int) -> float:
    """Return the margin behind the other arguments, 0 where none is given; NaN where there is something else."""
    if names == 0:
        return 0.0
    value = py.word(args + 8 * nargs)
    alone = py.word(names + py.SIZE) == 1 and py.word(py.items_of(names)) == py.word(words + 8 * MARGIN)
    if not alone or py.word(value + py.TYPE) != py.constant(py.FLOAT_TYPE):
        return float(nan)
    return py.number(value + py.FLOAT)


@inlined
def told(words: int, plan: int, pose_a: int, pose_b: int, margin: float) -> int:
    """Return True or False, 0 where the Python function has to answer."""
    if plan == 0 or pose_a == 0 or pose_b == 0 or margin - margin != 0.0:
        return 0
    answer = collision(py.word(words + 8 * DESK), plan, pose_a, pose_b, margin)
    return py.incref(py.constant(py.BOOLS + answer)) if 0 <= answer <= 1 else plain(0)


@builtin
def pair_collide(words: int, pair: int, args: int, nargs: int, names: int) -> int:
    """Answer `Pair.collide`."""
    if nargs <= 2:
        pose_a, pose_b = pose_given(words, args, nargs, plain(0)), pose_given(words, args, nargs, plain(1))
        answer = told(words, plan_of(words, pair), pose_a, pose_b, margin_given(words, args, nargs, names))
        if answer != 0:
            return answer
    return py.call_with(py.word(words), pair, args, nargs, names)


@builtin
def shapes_collide(words: int, module: int, args: int, nargs: int, names: int) -> int:
    """Answer `gjk3d.collide`."""
    if 2 <= nargs <= 4:
        pose_a, pose_b = pose_given(words, args, nargs, plain(2)), pose_given(words, args, nargs, plain(3))
        plan = plan_for(words, py.word(args), py.word(args + 8))
        answer = told(words, plan, pose_a, pose_b, margin_given(words, args, nargs, names))
        if answer != 0:
            return answer
    return py.call(py.word(words), args, nargs, names)


@inlined
def copy_pose(to: int, given: int) -> None:
    """Copy the numbers of a pose."""
    for k in range(16):
        py.write(to + 8 * k, py.word(given + 8 * k))


@inlined
def limit_given(words: int, args: int, nargs: int, names: int) -> int:
    """Return which limit stands behind the other arguments, as its place in how it was asked; 0 for none, -1 for other.

    See `gjk3d.results.Distance.asked`: 1 is the greatest distance, 2 the tolerance.
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
def answered(words: int, plan: int, pose_a: int, pose_b: int, a: int, b: int, which: int, limit: int) -> int:
    """Return a `Distance`, 0 where the Python function has to answer, -1 for an error."""
    row = py.new_bytes(plain(ROW_SIZE))
    if row == 0:
        return -1
    desk, to = py.word(words + 8 * DESK), row + py.BYTES
    most = py.number(limit + py.FLOAT) if which == 1 else float(inf)
    tol = py.number(limit + py.FLOAT) if which == 2 else 0.0
    marks = solution(desk, plan, pose_a, pose_b, py.word(words + 8 * MODE), most, tol, to)
    # no pose, out of room, or wider than promised where neither that was asked for nor only that they are far
    if marks < 0 or marks & 16 != 0 or (marks & 8 == 0 and tol == 0.0 and marks & 7 != narrow.BEYOND):
        py.decref(row)
        return 0
    standing = py.word(desk + 8 * at.STANDING)
    py.write(to + 8 * ROW_CODE, marks)
    py.write(to + 8 * ROW_POSED, int(pose_a != standing) + 2 * int(pose_b != standing))
    copy_pose(to + 8 * ROW_AT, pose_a)
    copy_pose(to + 8 * (ROW_AT + 16), pose_b)
    asked = py.word(words + 8 * ASKED)
    asked = py.incref(asked) if which == 0 else py.replaced(asked, which, limit)
    made = py.new_object(py.word(words + 8 * KIND)) if asked != 0 else plain(0)
    if made == 0:
        py.decref(row)
        return -1
    py.write(made + py.word(words + 8 * ROW_SLOT), row)
    py.write(made + py.word(words + 8 * SHAPE_A), py.incref(a))
    py.write(made + py.word(words + 8 * SHAPE_B), py.incref(b))
    py.write(made + py.word(words + 8 * ASKED_SLOT), asked)
    return made


@inlined
def distance_of_pair(words: int, pair: int, args: int, nargs: int, names: int) -> int:
    """Answer a distance of a `Pair`."""
    if nargs <= 2:
        pose_a, pose_b = pose_given(words, args, nargs, plain(0)), pose_given(words, args, nargs, plain(1))
        plan, which = plan_of(words, pair), limit_given(words, args, nargs, names)
        a, b = py.word(pair + py.word(words + 8 * PAIR_A)), py.word(pair + py.word(words + 8 * PAIR_B))
        if plan != 0 and pose_a != 0 and pose_b != 0 and which >= 0 and a != 0 and b != 0:
            limit = py.word(args + 8 * nargs) if which > 0 else plain(0)
            made = answered(words, plan, pose_a, pose_b, a, b, which, limit)
            if made != 0:
                return max(made, 0)
    return py.call_with(py.word(words), pair, args, nargs, names)


@inlined
def distance_of_shapes(words: int, args: int, nargs: int, names: int) -> int:
    """Answer a distance of two shapes."""
    if 2 <= nargs <= 4:
        pose_a, pose_b = pose_given(words, args, nargs, plain(2)), pose_given(words, args, nargs, plain(3))
        a, b = py.word(args), py.word(args + 8)
        plan, which = plan_for(words, a, b), limit_given(words, args, nargs, names)
        if plan != 0 and pose_a != 0 and pose_b != 0 and which >= 0:
            limit = py.word(args + 8 * nargs) if which > 0 else plain(0)
            made = answered(words, plan, pose_a, pose_b, a, b, which, limit)
            if made != 0:
                return max(made, 0)
    return py.call(py.word(words), args, nargs, names)


@builtin
def pair_distance(words: int, pair: int, args: int, nargs: int, names: int) -> int:
    """Answer `Pair.distance`."""
    return distance_of_pair(words, pair, args, nargs, names)


@builtin
def pair_signed_distance(words: int, pair: int, args: int, nargs: int, names: int) -> int:
    """Answer `Pair.signed_distance`."""
    return distance_of_pair(words, pair, args, nargs, names)


@builtin
def shapes_distance(words: int, module: int, args: int, nargs: int, names: int) -> int:
    """Answer `gjk3d.distance`."""
    return distance_of_shapes(words, args, nargs, names)


@builtin
def shapes_signed_distance(words: int, module: int, args: int, nargs: int, names: int) -> int:
    """Answer `gjk3d.signed_distance`."""
    return distance_of_shapes(words, args, nargs, names)


# words of a field: where its slot is, its name, the function for what is not read here, where the row is, what the
# field is and where in the row, the statuses, True and False
FIELD, NAME, REST, ROW_OF, WHAT, WHERE, CHOICES = range(7)
OTHER, NUMBER, VECTOR, STATUS, TIGHT, STEPS = range(6)


@inlined
def read(words: int, data: int) -> int:
    """Return what a field is in a row, 0 where it is not read here."""
    what, place = py.word(words + 8 * WHAT), data + 8 * py.word(words + 8 * WHERE)
    if what == NUMBER:
        return py.new_float(place)
    if what == VECTOR:
        return py.new_vector(place)
    if what == STEPS:
        return py.new_int(py.word(place) >> 5)
    if what == STATUS:
        return py.incref(py.word(py.items_of(py.word(words + 8 * CHOICES)) + 8 * (py.word(place) & 7)))
    if what == TIGHT:
        return py.incref(py.constant(py.BOOLS + ((py.word(place) >> 3) & 1)))
    return 0


@inlined
def numbers_of(row: int, what: int) -> int:
    """Return where a field of some kind is read, the numbers of an answer's row; 0 where it is not read here."""
    kind = py.word(row + py.TYPE) if row != 0 else plain(0)
    if kind == py.constant(py.BYTES_TYPE):
        return row + py.BYTES if what != OTHER and py.word(row + py.SIZE) == ROW_SIZE else 0
    if kind == py.constant(py.TUPLE_TYPE) and what in (NUMBER, VECTOR):  # Python's, whose first item the kernel wrote
        return py.floats_in(py.word(py.items_of(row)), plain(2))
    return 0


@builtin
def get_field(answer: int, words: int) -> int:
    """Return a field of an answer; it is made when it is first asked for."""
    slot = answer + py.word(words)
    if py.word(slot) != 0:
        return py.incref(py.word(slot))
    row = py.word(answer + py.word(words + 8 * ROW_OF))
    numbers = numbers_of(row, py.word(words + 8 * WHAT))
    if numbers != 0:
        made = read(words, numbers)
        if made != 0:
            py.write(slot, py.incref(made))
        return made
    return py.call_with(py.word(words + 8 * REST), answer, words + 8 * NAME, plain(1), plain(0))


@builtin
def set_field(answer: int, value: int, words: int) -> int:
    """Set a field of an answer, or delete it."""
    slot = answer + py.word(words)
    old = py.word(slot)
    py.write(slot, py.incref(value) if value != 0 else plain(0))
    if old != 0:
        py.decref(old)
    return 0


# --- their words -----------------------------------------------------------------------------------------------------


@cache
def _desk() -> int:
    """Return where the words of the desk are that all builtins share; it is never let go."""
    _held.append(Desk())
    _held.append(_held[0].words())
    return int(_held[1].ctypes.data)


_held: list[Any] = []


@cache
def _asked(mode: int) -> list[Any]:
    slots = [offset(Distance, name) for name in ("_row", "shape_a", "shape_b", "asked")]
    return [Distance, *slots, (mode, inf, None, False), mode, *map(sys.intern, ("max_distance", "tol"))]


_MARGIN = sys.intern("margin")  #: as names of keywords are


def collide_words() -> list[Any]:
    """Return the words of `shapes_collide`."""
    return [_desk(), places.ctypes.data, _MARGIN]


def distance_words(mode: int) -> Words:
    """Return what the words of a distance of two shapes are."""
    return lambda: [_desk(), places.ctypes.data, *_asked(mode)]


def methods_of(cls: type) -> dict[str, tuple[Builtin, Words]]:
    """Return the builtins of `Pair`, and their words."""

    def common() -> list[Any]:
        return [_desk(), offset(cls, "_words")]

    def distance(mode: int) -> Words:
        return lambda: [*common(), *_asked(mode), offset(cls, "a"), offset(cls, "b")]

    return {
        "collide": (pair_collide, lambda: [*common(), _MARGIN]),
        "distance": (pair_distance, distance(narrow.UNSIGNED)),
        "signed_distance": (pair_signed_distance, distance(narrow.SIGNED)),
    }


_READ = {
    "distance": (NUMBER, 0), "lower": (NUMBER, 1), "upper": (NUMBER, 2),
    "normal": (VECTOR, 3), "point_a": (VECTOR, 6), "point_b": (VECTOR, 9),
    "status": (STATUS, ROW_CODE), "tight": (TIGHT, ROW_CODE), "iterations": (STEPS, ROW_CODE),
}  # fmt: skip


def _fields() -> dict[str, list[Any]]:
    for mode in (narrow.UNSIGNED, narrow.SIGNED):
        _asked(mode)  # they look where the slots are, which are slots no more after this
    row = offset(Distance, "_row")
    names = (name for name in Distance.__slots__ if name != "_row")
    choices = *Status, None, None, None  # for each that three bits can tell
    return {name: [missing, row, *_READ.get(name, (OTHER, 0)), choices] for name in names}


if fields(Distance, get_field, set_field, _fields):
    del Distance.__getattr__  # type: ignore[attr-defined]

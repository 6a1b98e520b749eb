"""Single questions as builtins: `Pair`, `collide`, `distance` and `signed_distance`, and the fields of answers.

One question about two convex shapes at matrices or None is answered here from beginning to end, by the kernels that
answer stacks. All else is the Python function's: other keywords than one limit, stacks, other numbers, what is
no pose, an answer that is wider than promised. The kernels never run while another single question is under way, so one
desk serves all.
"""

from __future__ import annotations

import sys
import threading
import weakref
from functools import cache
from math import inf, nan
from typing import Any

import numpy as np

from gjk3d._kernels import cpython as py
from gjk3d._kernels.builtins import Words, fields, offset
from gjk3d._kernels.decorators import Builtin, builtin, inlined, kernel, plain
from gjk3d.convex.rows import FIRST_POINTS, arena, pair_row
from gjk3d.convex.solve import is_mapped
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.cores import Cores
from gjk3d.narrow.gjk import MEMORY
from gjk3d.narrow.pairs import PAIR, cores_of_row, marks_of, mirror, take_poses
from gjk3d.narrow.room import SIMPLEX, Solver, solver_in, workspace
from gjk3d.poses import WIDTH
from gjk3d.query.dispatch import way_of
from gjk3d.results import ROW_AT, ROW_CODE, ROW_POSED, ROW_SIZE, Distance, Status, missing
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array, Ints

# words of a builtin that answers a question: the Python function, the desk, where plans are found,
SLOW, DESK, PLANS = range(3)
MARGIN = 3  #: and of one for `collide` the name of its keyword
# and of one that makes an answer: its class, where its slots are, how it was asked; of `Pair` where the shapes are
KIND, ROW_SLOT, SHAPE_A, SHAPE_B, ASKED_SLOT, ASKED, MODE, MAX_DISTANCE, TOL, PAIR_A, PAIR_B = range(3, 14)


@inlined
def plan_of(words: int, pair: int) -> int:
    """Return where the words of a pair's plan are, 0 where it has none."""
    held = py.word(pair + py.word(words + 8 * PLANS))
    return py.word(held + py.DATA) if held != 0 and py.word(held + py.TYPE) == py.known(py.NDARRAY) else plain(0)


@inlined
def plan_for(words: int, a: int, b: int) -> int:
    """Return where the words of the plan of two shapes are, 0 where none is remembered."""
    place = py.word(words + 8 * PLANS) + 24 * ((((a >> 4) * 0x9E3779B1) ^ (b >> 4)) & (PLACES - 1))
    return py.word(place + 16) if py.word(place) == a and py.word(place + 8) == b else 0


@inlined
def pose_given(words: int, args: int, nargs: int, k: int) -> int:
    """Return where the numbers of argument k are, of a pose; 0 where it is none that kernels take."""
    standing = py.word(py.word(words + 8 * DESK) + 8 * STANDING)
    return py.pose_in(py.word(args + 8 * k), standing) if nargs > k else standing


@inlined
def placed(desk: int, plan: int, pose_a: int, pose_b: int) -> tuple[bool, Cores, bool]:
    """Tell whether two poses are poses; return a plan's cores there, and whether they are turned round."""
    poses = py.float_rows(py.word(desk + 8 * POSES), 2, WIDTH)
    sound = take_poses(py.float_rows(pose_a, 4, 4), py.float_rows(pose_b, 4, 4), poses)
    c, turned = cores_of_row(
        py.ints(py.word(plan + 8 * FIRST_INT), py.word(plan + 8 * INTS)),
        py.floats(py.word(plan + 8 * FIRST_FLOAT), py.word(plan + 8 * FLOATS)),
        py.int_rows(py.word(plan + 8 * ROW), 1, PAIR),
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
    simplex = py.float_rows(py.word(desk + 8 * SIMPLEX_AT), 6, 10)
    memory = py.float_rows(py.word(plan + 8 * FIRST_MEMORY), py.word(plan + 8 * MEMORIES), MEMORY)
    answer = narrow.quick_collide(c, margin, simplex, memory, plain(0))
    return answer if answer != 2 else narrow.settle(c, margin, solver_at(desk, py.word(desk + 8 * OUT)))


@inlined
def solver_at(desk: int, to: int) -> Solver:
    """Return the solver at a desk, whose answer goes where it is said."""
    work = py.floats(py.word(desk + 8 * WORK), py.word(desk + 8 * WORKS))
    table = py.ints(py.word(desk + 8 * TABLE), py.word(desk + 8 * TABLES))
    out, flags = py.float_rows(to, 1, narrow.FLOATS), py.int_rows(py.word(desk + 8 * FLAGS), 1, narrow.INTS)
    return solver_in(work, table, plain(FIRST_POINTS), out, flags)


@kernel
def solution(
    desk: int, plan: int, pose_a: int, pose_b: int, mode: int, max_distance: float, tol: float, to: int
) -> int:  # fmt: skip
    """Write the answer to a distance of a plan; return its marks, -1 where one pose is none."""
    sound, c, turned = placed(desk, plan, pose_a, pose_b)
    if not sound:
        return -1
    memory = py.float_rows(py.word(plan + 8 * FIRST_MEMORY), py.word(plan + 8 * MEMORIES), MEMORY)
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
    alone = py.word(names + py.SIZE) == 1 and py.word(names + py.TUPLE) == py.word(words + 8 * MARGIN)
    if not alone or py.word(value + py.TYPE) != py.known(py.FLOAT_TYPE):
        return float(nan)
    return py.number(value + py.FLOAT)


@inlined
def told(words: int, plan: int, pose_a: int, pose_b: int, margin: float) -> int:
    """Return True or False, 0 where the Python function has to answer."""
    if plan == 0 or pose_a == 0 or pose_b == 0 or margin - margin != 0.0:
        return 0
    answer = collision(py.word(words + 8 * DESK), plan, pose_a, pose_b, margin)
    return py.keep(py.known(py.BOOLS + answer)) if 0 <= answer <= 1 else plain(0)


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
        py.put(to + 8 * k, py.word(given + 8 * k))


@inlined
def limit_given(words: int, args: int, nargs: int, names: int) -> int:
    """Return which limit stands behind the other arguments, as its place in how it was asked; 0 for none, -1 for other.

    See `gjk3d.results.Distance.asked`: 1 is the greatest distance, 2 the tolerance.
    """
    if names == 0:
        return 0
    value, name = py.word(args + 8 * nargs), py.word(names + py.TUPLE)
    if py.word(names + py.SIZE) != 1 or py.word(value + py.TYPE) != py.known(py.FLOAT_TYPE):
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
        py.drop(row)
        return 0
    standing = py.word(desk + 8 * STANDING)
    py.put(to + 8 * ROW_CODE, marks)
    py.put(to + 8 * ROW_POSED, int(pose_a != standing) + 2 * int(pose_b != standing))
    copy_pose(to + 8 * ROW_AT, pose_a)
    copy_pose(to + 8 * (ROW_AT + 16), pose_b)
    asked = py.word(words + 8 * ASKED)
    asked = py.keep(asked) if which == 0 else py.replaced(asked, which, limit)
    made = py.new_object(py.word(words + 8 * KIND)) if asked != 0 else plain(0)
    if made == 0:
        py.drop(row)
        return -1
    py.put(made + py.word(words + 8 * ROW_SLOT), row)
    py.put(made + py.word(words + 8 * SHAPE_A), py.keep(a))
    py.put(made + py.word(words + 8 * SHAPE_B), py.keep(b))
    py.put(made + py.word(words + 8 * ASKED_SLOT), asked)
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
        return py.keep(py.word(py.word(words + 8 * CHOICES) + py.TUPLE + 8 * (py.word(place) & 7)))
    if what == TIGHT:
        return py.keep(py.known(py.BOOLS + ((py.word(place) >> 3) & 1)))
    return 0


@inlined
def numbers_of(row: int, what: int) -> int:
    """Return where a field of some kind is read, the numbers of an answer's row; 0 where it is not read here."""
    kind = py.word(row + py.TYPE) if row != 0 else plain(0)
    if kind == py.known(py.BYTES_TYPE):
        return row + py.BYTES if what != OTHER and py.word(row + py.SIZE) == ROW_SIZE else 0
    if kind == py.known(py.TUPLE_TYPE) and what in (NUMBER, VECTOR):  # Python's, whose first item the kernel wrote
        return py.floats_in(py.word(row + py.TUPLE), plain(2))
    return 0


@builtin
def get_field(answer: int, words: int) -> int:
    """Return a field of an answer; it is made when it is first asked for."""
    slot = answer + py.word(words)
    if py.word(slot) != 0:
        return py.keep(py.word(slot))
    row = py.word(answer + py.word(words + 8 * ROW_OF))
    numbers = numbers_of(row, py.word(words + 8 * WHAT))
    if numbers != 0:
        made = read(words, numbers)
        if made != 0:
            py.put(slot, py.keep(made))
        return made
    return py.call_with(py.word(words + 8 * REST), answer, words + 8 * NAME, plain(1), plain(0))


@builtin
def set_field(answer: int, value: int, words: int) -> int:
    """Set a field of an answer, or delete it."""
    slot = answer + py.word(words)
    old = py.word(slot)
    py.put(slot, py.keep(value) if value != 0 else plain(0))
    if old != 0:
        py.drop(old)
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


# words of a plan: where its arrays are, and how long
FIRST_INT, INTS, FIRST_FLOAT, FLOATS, ROW, FIRST_MEMORY, MEMORIES = range(7)
# words of a desk
POSES, SIMPLEX_AT, ANSWER, WORK, WORKS, TABLE, TABLES, FLAGS, STANDING, OUT = range(10)


class Desk:
    """Scratch of single questions: one for builtins, which take turns, and one for each thread."""

    def __init__(self) -> None:
        room, entries = workspace(FIRST_POINTS)
        self.poses = np.empty((2, WIDTH))
        self.work, self.table = np.empty(room), np.empty(entries, dtype=np.int64)
        self.simplex, self.answer = self.work[:SIMPLEX].reshape(6, 10), np.empty(1, dtype=np.int64)
        self.flags = np.empty((1, narrow.INTS), dtype=np.int64)
        self.standing = np.eye(4)
        self.out = np.empty((1, narrow.FLOATS))
        self._rooms: dict[str, Array] = {}

    def room(self, name: str, shape: tuple[int, ...]) -> Array:
        """Return scratch of a shape; of each name the last is kept."""
        found = self._rooms.get(name)
        if found is None or found.shape != shape:
            found = self._rooms[name] = np.empty(shape)
        return found

    def words(self) -> Ints:
        """Return where all is, as builtins read it."""
        arrays = self.poses, self.simplex, self.answer, self.work, self.table, self.flags, self.standing, self.out
        poses, simplex, answer, work, table, flags, standing, out = (each.ctypes.data for each in arrays)
        return np.array(
            [poses, simplex, answer, work, len(self.work), table, len(self.table), flags, standing, out], dtype=np.int64
        )


_local = threading.local()


def desk() -> Desk:
    """Return this thread's desk."""
    try:
        found: Desk = _local.desk
    except AttributeError:
        found = _local.desk = Desk()
    return found


class Plan:
    """Two convex shapes behind each other, and what they leave for the next question, as kernels take them."""

    __slots__ = ("arena", "floats", "ints", "memory", "row", "words")

    def __init__(self, a: Any, b: Any, warm: bool) -> None:
        self.ints, self.floats, starts = arena((a, b))
        self.row = pair_row(a, b, starts, 1, 1)
        self.memory = np.zeros((int(warm), MEMORY))
        arrays = self.ints, self.floats, self.row, self.memory
        ints, floats, row, memory = (each.ctypes.data for each in arrays)
        self.arena = self.ints, self.floats, self.row  #: see `gjk3d.narrow.pairs`
        self.words: Ints = np.array(
            [ints, len(self.ints), floats, len(self.floats), row, memory, len(self.memory)], dtype=np.int64
        )


class Prepared:
    """How two are asked, without the two: ``quick`` answers a boolean, ``words`` are there where a plan is enough."""

    __slots__ = ("others", "plan", "quick", "words")

    def __init__(self, a: Any, b: Any, warm: bool) -> None:
        way = way_of(a, b)
        self.others: dict[str, Any] = {}  # what other questions pack for themselves
        self.quick = None if way.prepare is None else way.prepare(a, b)
        both = isinstance(a, Shape) and isinstance(b, Shape)
        # half-spaces have no core
        plane = isinstance(a, Halfspace) or isinstance(b, Halfspace)
        self.plan = Plan(a, b, warm) if both and not plane else None
        # what a user's function raises has to be looked for
        self.words = None if self.plan is None or is_mapped(a) or is_mapped(b) else self.plan.words

    @property
    def arena(self) -> tuple[Ints, Array, Ints]:
        """Both as kernels take them; of two convex shapes that are no half-spaces."""
        assert self.plan is not None
        return self.plan.arena

    @property
    def size(self) -> int:
        """Bytes of its numbers."""
        return 0 if self.plan is None else self.plan.ints.nbytes + self.plan.floats.nbytes


MOST_PAIRS = 256
MOST_BYTES = 32 << 20
PLACES = 1024  #: of the table by which builtins find plans

#: for each place the two shapes' identities, and the address of the plan's words
places = np.zeros((PLACES, 3), dtype=np.int64)


class PreparedPairs:
    """What is prepared for two shapes, as long as both live.

    Threads and handlers of signals may come between any two lines. So that no place ever leads to a plan that is gone:
    who enters one holds it, and looks afterwards whether it is still kept; who drops one holds it until no place does.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[int, int], tuple[Prepared, Any, Any]] = {}
        self._bytes = 0

    def get(self, a: Any, b: Any) -> Prepared:
        """Return what is prepared for two, made when it is first asked for."""
        found = self._kept.get((id(a), id(b))) or self._put(a, b, Prepared(a, b, False))
        return found[0]

    def get_for_builtins(self, a: Any, b: Any) -> Prepared:
        """Do as `get` does; builtins find it from now on, until one that has the same place comes."""
        key = id(a), id(b)
        found = self._kept.get(key) or self._put(a, b, Prepared(a, b, False))
        if found[0].words is not None:
            place = places[_place_of(*key)]
            place[:] = *key, found[0].words.ctypes.data
            if self._kept.get(key) is not found:
                place[:] = 0
        return found[0]

    def _put(self, a: Any, b: Any, prepared: Prepared) -> tuple[Prepared, Any, Any]:
        if len(self._kept) >= MOST_PAIRS or self._bytes + prepared.size > MOST_BYTES:
            for key in list(self._kept):
                self._drop(key)
            self._bytes = 0
        key = id(a), id(b)

        def gone(_: Any) -> None:
            if _place_of is not None:  # what this module holds goes first where the interpreter ends
                self._drop(key)

        self._bytes += prepared.size
        return self._kept.setdefault(key, (prepared, weakref.ref(a, gone), weakref.ref(b, gone)))

    def _drop(self, key: tuple[int, int]) -> None:
        found = self._kept.pop(key, None)
        if found is not None:
            self._bytes -= found[0].size
            place = places[_place_of(*key)]
            if place[0] == key[0] and place[1] == key[1]:
                place[:] = 0


def _place_of(a: int, b: int) -> int:
    """Return the place of two identities in the table, as `gjk3d.query.single.plan_for` does."""
    return (((a >> 4) * 0x9E3779B1) ^ (b >> 4)) & (PLACES - 1)

"""Single questions as builtins: `Pair`, `collide`, `distance` and `signed_distance`, and the fields of answers.

One question about two convex shapes at matrices or None is answered here from beginning to end, by the kernels that
answer stacks. All else is the Python function's: keywords, stacks, other numbers, what is no pose, an answer that is
wider than promised. The kernels never run while another single question is under way, so one desk serves all.
"""

from __future__ import annotations

from functools import cache
from math import inf
from typing import Any

from gjk3d._kernels.builtins import Builtin, Words, fields, offset
from gjk3d._kernels.cpython import (
    BOOLS, BYTES, BYTES_TYPE, DATA, NDARRAY, TUPLE, TYPE, call, call_with, drop, float_rows, floats, int_rows, ints, keep, known,
    new_bytes, new_float, new_int, new_object, new_vector, pose_in, put, word,
)  # fmt: skip
from gjk3d._kernels.decorators import builtin, inlined, kernel, plain
from gjk3d.convex.rows import FIRST_POINTS
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.gjk import MEMORY
from gjk3d.narrow.pairs import PAIR, collide_many, solve_many
from gjk3d.poses import WIDTH
from gjk3d.query.plan import (
    ANSWER, FIRST_FLOAT, FIRST_INT, FIRST_MEMORY, FLAGS, FLOATS, INTS, MEMORIES, PLACES, POSES, ROW, SIMPLEX_AT,
    STANDING, TABLE, TABLES, WORK, WORKS, Desk, places,
)  # fmt: skip
from gjk3d.results import ROW_AT, ROW_CODE, ROW_POSED, ROW_SIZE, Distance, Status, missing


# words of a builtin that answers a question: the Python function, the desk, where plans are found,
SLOW, DESK, PLANS = range(3)
# and of one that makes an answer: its class, where its slots are, how it was asked; of `Pair` where the shapes are
KIND, ROW_SLOT, SHAPE_A, SHAPE_B, ASKED_SLOT, ASKED, MODE, PAIR_A, PAIR_B = range(3, 12)


@inlined
def plan_of(words: int, pair: int) -> int:
    """Return where the words of a pair's plan are, 0 where it has none."""
    held = word(pair + word(words + 8 * PLANS))
    return word(held + DATA) if held != 0 and word(held + TYPE) == known(NDARRAY) else plain(0)


@inlined
def plan_for(words: int, a: int, b: int) -> int:
    """Return where the words of the plan of two shapes are, 0 where none is remembered."""
    place = word(words + 8 * PLANS) + 24 * ((((a >> 4) * 0x9E3779B1) ^ (b >> 4)) & (PLACES - 1))
    return word(place + 16) if word(place) == a and word(place + 8) == b else 0


@inlined
def pose_given(words: int, args: int, nargs: int, k: int) -> int:
    """Return where the numbers of argument k are, of a pose; 0 where it is none that kernels take."""
    standing = word(word(words + 8 * DESK) + 8 * STANDING)
    return pose_in(word(args + 8 * k), standing) if nargs > k else standing


@kernel
def collision(desk: int, plan: int, pose_a: int, pose_b: int) -> int:
    """Answer `collide` of a plan: 0, 1, or something else."""
    return collide_many(
        ints(word(plan + 8 * FIRST_INT), word(plan + 8 * INTS)),
        floats(word(plan + 8 * FIRST_FLOAT), word(plan + 8 * FLOATS)),
        int_rows(word(plan + 8 * ROW), 1, PAIR),
        float_rows(pose_a, 4, 4),
        float_rows(pose_b, 4, 4),
        float_rows(word(desk + 8 * POSES), 2, WIDTH),
        0.0,
        plain(0),
        plain(1),
        float_rows(word(desk + 8 * SIMPLEX_AT), 6, 10),
        ints(word(desk + 8 * ANSWER), 1),
        float_rows(word(plan + 8 * FIRST_MEMORY), word(plan + 8 * MEMORIES), MEMORY),
    )


@kernel
def solution(desk: int, plan: int, pose_a: int, pose_b: int, mode: int, out: int) -> int:
    """Write the answer to a distance of a plan; return its marks, as `solve_many` does."""
    return solve_many(
        ints(word(plan + 8 * FIRST_INT), word(plan + 8 * INTS)),
        floats(word(plan + 8 * FIRST_FLOAT), word(plan + 8 * FLOATS)),
        int_rows(word(plan + 8 * ROW), 1, PAIR),
        float_rows(pose_a, 4, 4),
        float_rows(pose_b, 4, 4),
        float_rows(word(desk + 8 * POSES), 2, WIDTH),
        mode,
        float(inf),
        0.0,
        plain(0),
        plain(1),
        mode < 0,
        floats(word(desk + 8 * WORK), word(desk + 8 * WORKS)),
        ints(word(desk + 8 * TABLE), word(desk + 8 * TABLES)),
        plain(FIRST_POINTS),
        float_rows(out, 1, narrow.FLOATS),
        int_rows(word(desk + 8 * FLAGS), 1, narrow.INTS),
        float_rows(word(plan + 8 * FIRST_MEMORY), word(plan + 8 * MEMORIES), MEMORY),
        floats(out, 0),
    )


@inlined
def told(words: int, plan: int, pose_a: int, pose_b: int) -> int:
    """Return True or False, 0 where the Python function has to answer."""
    if plan == 0 or pose_a == 0 or pose_b == 0:
        return 0
    answer = collision(word(words + 8 * DESK), plan, pose_a, pose_b)
    return keep(known(BOOLS + answer)) if 0 <= answer <= 1 else plain(0)


@builtin
def pair_collide(words: int, pair: int, args: int, nargs: int, names: int) -> int:
    """Answer `Pair.collide`."""
    if names == 0 and nargs <= 2:
        pose_a, pose_b = pose_given(words, args, nargs, plain(0)), pose_given(words, args, nargs, plain(1))
        answer = told(words, plan_of(words, pair), pose_a, pose_b)
        if answer != 0:
            return answer
    return call_with(word(words), pair, args, nargs, names)


@builtin
def shapes_collide(words: int, module: int, args: int, nargs: int, names: int) -> int:
    """Answer `gjk3d.collide`."""
    if names == 0 and 2 <= nargs <= 4:
        pose_a, pose_b = pose_given(words, args, nargs, plain(2)), pose_given(words, args, nargs, plain(3))
        answer = told(words, plan_for(words, word(args), word(args + 8)), pose_a, pose_b)
        if answer != 0:
            return answer
    return call(word(words), args, nargs, names)


@inlined
def copy_pose(to: int, given: int) -> None:
    """Copy the numbers of a pose."""
    for k in range(16):
        put(to + 8 * k, word(given + 8 * k))


@kernel
def answered(words: int, plan: int, pose_a: int, pose_b: int, a: int, b: int) -> int:
    """Return a `Distance`, 0 where the Python function has to answer."""
    row = new_bytes(plain(ROW_SIZE))
    if row == 0:
        return -1
    desk, to = word(words + 8 * DESK), row + BYTES
    marks = solution(desk, plan, pose_a, pose_b, word(words + 8 * MODE), to)
    if marks & 24 != 8:  # wider than promised, out of room, or no pose
        drop(row)
        return 0
    standing = word(desk + 8 * STANDING)
    put(to + 8 * ROW_CODE, marks)
    put(to + 8 * ROW_POSED, int(pose_a != standing) + 2 * int(pose_b != standing))
    copy_pose(to + 8 * ROW_AT, pose_a)
    copy_pose(to + 8 * (ROW_AT + 16), pose_b)
    made = new_object(word(words + 8 * KIND))
    if made == 0:
        drop(row)
        return -1
    put(made + word(words + 8 * ROW_SLOT), row)
    put(made + word(words + 8 * SHAPE_A), keep(a))
    put(made + word(words + 8 * SHAPE_B), keep(b))
    put(made + word(words + 8 * ASKED_SLOT), keep(word(words + 8 * ASKED)))
    return made


@inlined
def distance_of_pair(words: int, pair: int, args: int, nargs: int, names: int) -> int:
    """Answer a distance of a `Pair`."""
    if names == 0 and nargs <= 2:
        pose_a, pose_b = pose_given(words, args, nargs, plain(0)), pose_given(words, args, nargs, plain(1))
        plan = plan_of(words, pair)
        if plan != 0 and pose_a != 0 and pose_b != 0:
            a, b = word(pair + word(words + 8 * PAIR_A)), word(pair + word(words + 8 * PAIR_B))
            made = answered(words, plan, pose_a, pose_b, a, b) if a != 0 and b != 0 else plain(0)
            if made != 0:
                return max(made, 0)
    return call_with(word(words), pair, args, nargs, names)


@inlined
def distance_of_shapes(words: int, args: int, nargs: int, names: int) -> int:
    """Answer a distance of two shapes."""
    if names == 0 and 2 <= nargs <= 4:
        pose_a, pose_b = pose_given(words, args, nargs, plain(2)), pose_given(words, args, nargs, plain(3))
        plan = plan_for(words, word(args), word(args + 8))
        if plan != 0 and pose_a != 0 and pose_b != 0:
            made = answered(words, plan, pose_a, pose_b, word(args), word(args + 8))
            if made != 0:
                return max(made, 0)
    return call(word(words), args, nargs, names)


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
    what, at = word(words + 8 * WHAT), data + 8 * word(words + 8 * WHERE)
    if what == NUMBER:
        return new_float(at)
    if what == VECTOR:
        return new_vector(at)
    if what == STEPS:
        return new_int(word(at) >> 5)
    if what == STATUS:
        return keep(word(word(words + 8 * CHOICES) + TUPLE + 8 * (word(at) & 7)))
    if what == TIGHT:
        return keep(known(BOOLS + ((word(at) >> 3) & 1)))
    return 0


@builtin
def get_field(answer: int, words: int) -> int:
    """Return a field of an answer; it is made when it is first asked for."""
    slot = answer + word(words)
    if word(slot) != 0:
        return keep(word(slot))
    row = word(answer + word(words + 8 * ROW_OF))
    if row != 0 and word(row + TYPE) == known(BYTES_TYPE) and word(words + 8 * WHAT) != OTHER:
        made = read(words, row + BYTES)
        if made != 0:
            put(slot, keep(made))
        return made
    return call_with(word(words + 8 * REST), answer, words + 8 * NAME, plain(1), plain(0))


@builtin
def set_field(answer: int, value: int, words: int) -> int:
    """Set a field of an answer, or delete it."""
    slot = answer + word(words)
    old = word(slot)
    put(slot, keep(value) if value != 0 else plain(0))
    if old != 0:
        drop(old)
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
    return [Distance, *slots, (mode, inf, None, False), mode]


def collide_words() -> list[Any]:
    """Return the words of `shapes_collide`."""
    return [_desk(), places.ctypes.data]


def distance_words(mode: int) -> Words:
    """Return what the words of a distance of two shapes are."""
    return lambda: [*collide_words(), *_asked(mode)]


def methods_of(cls: type) -> dict[str, tuple[Builtin, Words]]:
    """Return the builtins of `Pair`, and their words."""

    def collide() -> list[Any]:
        return [_desk(), offset(cls, "_words")]

    def distance(mode: int) -> Words:
        return lambda: [*collide(), *_asked(mode), offset(cls, "a"), offset(cls, "b")]

    return {
        "collide": (pair_collide, collide),
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
    return {name: [missing, row, *_READ.get(name, (OTHER, 0)), tuple(Status)] for name in names}


if fields(Distance, get_field, set_field, _fields):
    del Distance.__getattr__

"""`Checker.free` and `Checker.distances` of one configuration as builtins, which call the kernels directly.

The Python method prepares a record for the present state of the checker. A record is an array of words of 8 bytes,
which are addresses and integers. The builtin computes the result from the record. It calls the Python method if the
state has changed, or if another thread computes with the same checker.
"""

from __future__ import annotations

from struct import pack, unpack
from sys import intern
from typing import TYPE_CHECKING, Any

import numpy as np

from gjk3d._kernels import addresses as py
from gjk3d._kernels.calls import offset
from gjk3d._kernels.calls.install import Words
from gjk3d._kernels.decorators import Builtin, builtin, inlined, kernel, plain
from gjk3d.robot import queries
from gjk3d.robot.cell_kernels import FREE, REFUSED, near_of_one
from gjk3d.robot.results import RobotDistances, distances_of_one

if TYPE_CHECKING:
    from gjk3d.robot.cell import Cell

# Words of a builtin: the Python method, the offsets of the slots `_quick` (or `_quick_distances`) and `_settings` in a
# checker, and the name of the keyword argument.
SLOW, PREPARED, SETTINGS_SLOT, KEYWORD = range(4)
# Words of a prepared record: the settings, the number of joint values, the address of the copy of q, the arguments
# of the entry, their number, the entry, the address of its result, the methods `acquire` and `release` of the lock, and
# the object False.
SETTINGS, JOINTS, NUMBERS, ARGS, COUNT, ENTRY, ANSWER, ACQUIRE, RELEASE, NOT_WAITING = range(10)
# Further words for `Checker.distances`: the function that makes a result, the integers 0 and `REFUSED`, and a result
# without rows together with its limit.
MAKE, ZERO, REFUSAL, EMPTY, LIMIT = range(10, 15)
_FARTHEST = 1e50  #: greatest limit of a search that the kernel accepts


def prepared(settings: Any, cell: Cell) -> tuple[Any, ...] | None:
    """Return the record for `Checker.free`, or None if the Python method must compute the result.

    The record is the first item of the tuple. The other items keep the objects alive to which the record refers.
    `gjk3d.robot.queries.quick` must have been called for the cell.
    """
    if cell.cache.free is None or cell.walked < len(cell.slots):
        return None
    if cell.cache.single is None:
        row, lock, (entry, args) = np.empty(cell.robot.dof), cell.memory.lock, cell.cache.free
        args, methods = (row, *args), (lock.acquire, lock.release)
        # The words contain addresses of objects. The tuple that is cached below keeps these objects alive.
        words = [
            id(settings), cell.robot.dof, row.ctypes.data, id(args) + tuple.__basicsize__, len(args), id(entry),
            cell.cache.answer.ctypes.data, *map(id, methods), id(False),
        ]  # fmt: skip
        cell.cache.single = np.array(words, dtype=np.int64), args, methods, settings
    cached: tuple[Any, ...] = cell.cache.single
    return cached


def prepared_distances(settings: Any, cell: Cell) -> tuple[Any, ...] | None:
    """Return the record for `Checker.distances`, or None if the Python method must compute the result.

    The record is the first item of the tuple. The other items keep the objects alive to which the record refers.
    `gjk3d.robot.queries.near_of_one` must have been called for the cell.
    """
    if cell.cache.near is None or len(cell.slots) > len(cell.layout.pairs):
        return None
    if cell.cache.single_near is None:
        near, names, lock, row = cell.cache.near, cell.names, cell.memory.lock, np.empty(cell.robot.dof)
        task, rows, pairs, _ = near
        empty: list[RobotDistances] = []

        def make(within: float, count: int) -> RobotDistances:
            try:
                result = distances_of_one(names, queries.written(near, row, count, False), within)
                if count == 0:  # later calls return the same object, so its array is made read-only
                    result.starts.flags.writeable = False
                    empty[:] = [result]
                    words[EMPTY], words[LIMIT] = id(result), unpack("q", pack("d", within))[0]
                return result
            finally:  # here, because the builtin cannot call anything while Ctrl-C is raised
                lock.release()

        methods, numbers = (lock.acquire, lock.release), (0, REFUSED)
        # the arguments of the entry, then the arguments of `make`; the builtin replaces each 0 at each call
        args = np.array([id(task), id(row), 0, id(rows), id(pairs), 0, 0], dtype=np.int64)
        words = np.array(
            [id(settings), len(row), row.ctypes.data, args.ctypes.data, len(args) - 2, id(near_of_one), 0,
             *map(id, methods), id(False), id(make),
             *map(id, numbers), 0, 0], dtype=np.int64,
        )  # fmt: skip
        cell.cache.single_near = words, args, near, row, methods, numbers, make, settings
    cached: tuple[Any, ...] = cell.cache.single_near
    return cached


@inlined
def released(quick: int, answer: int) -> int:
    """Release the lock of a record; return ``answer``, or -1 if this fails. ``quick`` is the record's address."""
    result = py.call(py.word(quick + 8 * RELEASE), quick, plain(0), plain(0))
    if result == 0:
        return -1
    py.decref(result)
    return answer


@kernel
def free_at(quick: int, numbers: int) -> int:
    """Return the address of True (free) or False, -1 for an error, or 0 if the Python method must compute the result.

    ``quick`` is the address of the record of `prepared`, and ``numbers`` is the address of the joint values.
    """
    got = py.call(py.word(quick + 8 * ACQUIRE), quick + 8 * NOT_WAITING, plain(1), plain(0))
    if got == 0:
        return -1
    py.decref(got)  # True or False, which other references keep alive
    # False means that another thread holds the lock. The Python method then allocates a new memory.
    if got != py.constant(py.BOOLS + 1):
        return 0
    for k in range(py.word(quick + 8 * JOINTS)):
        py.write(py.word(quick + 8 * NUMBERS) + 8 * k, py.word(numbers + 8 * k))
    result = py.call(py.word(quick + 8 * ENTRY), py.word(quick + 8 * ARGS), py.word(quick + 8 * COUNT), plain(0))
    if result == 0:
        return released(quick, plain(-1))
    py.decref(result)
    pair = py.word(py.word(quick + 8 * ANSWER))
    if pair != FREE and pair < 0:
        return released(quick, plain(0))
    answer = py.constant(py.BOOLS + int(pair == FREE))
    return released(quick, answer)


@kernel
def distances_at(quick: int, numbers: int, within: int) -> int:
    """Return the address of a `RobotDistances`, or -1 for an error, or 0 if the Python method must compute the result.

    ``quick`` is the address of the record of `prepared_distances`, ``numbers`` is the address of the joint values, and
    ``within`` is the address of a Python float.
    """
    got = py.call(py.word(quick + 8 * ACQUIRE), quick + 8 * NOT_WAITING, plain(1), plain(0))
    if got == 0:
        return -1
    py.decref(got)
    if got != py.constant(py.BOOLS + 1):
        return 0
    for k in range(py.word(quick + 8 * JOINTS)):
        py.write(py.word(quick + 8 * NUMBERS) + 8 * k, py.word(numbers + 8 * k))
    args = py.word(quick + 8 * ARGS)
    py.write(args + 16, within)
    count = py.call(py.word(quick + 8 * ENTRY), args, py.word(quick + 8 * COUNT), plain(0))
    if count == 0:
        return released(quick, plain(-1))
    result = plain(0)
    # each small integer is a single object in CPython, so addresses are compared
    if count == py.word(quick + 8 * ZERO) and py.word(within + py.FLOAT) == py.word(quick + 8 * LIMIT):
        result = py.word(quick + 8 * EMPTY)
    if result != 0:
        py.incref(result)
    elif count != py.word(quick + 8 * REFUSAL):
        rest = args + 8 * py.word(quick + 8 * COUNT)
        py.write(rest, within)
        py.write(rest + 8, count)
        result = py.call(py.word(quick + 8 * MAKE), rest, plain(2), plain(0))
        py.decref(count)
        return result if result != 0 else -1
    py.decref(count)
    return released(quick, result)


@builtin
def checker_distances(words: int, checker: int, args: int, nargs: int, names: int) -> int:
    """Return the address of the result of `Checker.distances`, or 0 for an exception. CPython calls it by vectorcall.

    All arguments are addresses, except ``nargs``, which is the number of positional arguments. ``words`` points to the
    builtin's constants, and ``args`` to the array of arguments. ``names`` points to the tuple of keywords, and is 0
    without keywords.
    """
    record = py.word(checker + py.word(words + 8 * PREPARED))
    is_named = names != 0 and nargs == 1 and py.word(names + py.SIZE) == 1
    if is_named:
        is_named = py.word(py.items_of(names)) == py.word(words + 8 * KEYWORD)
    if (is_named or (names == 0 and nargs == 2)) and record != 0 and record != py.constant(py.NONE):
        quick, within = py.word(py.word(py.items_of(record)) + py.DATA), py.word(args + 8)
        numbers = py.floats_in(py.word(args), 1)
        current = py.word(quick + 8 * SETTINGS) == py.word(checker + py.word(words + 8 * SETTINGS_SLOT))
        if current and numbers != 0 and py.word(within + py.TYPE) == py.constant(py.FLOAT_TYPE):
            fits = py.word(py.word(py.word(args) + py.SHAPE)) == py.word(quick + 8 * JOINTS)
            if fits and py.number(within + py.FLOAT) <= _FARTHEST:
                py.incref(record)
                answer = distances_at(quick, numbers, within)
                py.decref(record)
                if answer != 0:
                    return max(answer, 0)
    return py.call_with(py.word(words), checker, args, nargs, names)


@builtin
def checker_free(words: int, checker: int, args: int, nargs: int, names: int) -> int:
    """Return the address of the result of `Checker.free`, or 0 for an exception. CPython calls it by vectorcall.

    All arguments are addresses, except ``nargs``, which is the number of positional arguments. ``words`` points to the
    builtin's constants, and ``args`` to the array of arguments. ``names`` points to the tuple of keywords, and is 0
    without keywords.
    """
    record = py.word(checker + py.word(words + 8 * PREPARED))
    if names == 0 and nargs == 1 and record != 0 and record != py.constant(py.NONE):
        quick = py.word(py.word(py.items_of(record)) + py.DATA)
        numbers = py.floats_in(py.word(args), 1)
        current = py.word(quick + 8 * SETTINGS) == py.word(checker + py.word(words + 8 * SETTINGS_SLOT))
        if current and numbers != 0 and py.word(py.word(py.word(args) + py.SHAPE)) == py.word(quick + 8 * JOINTS):
            py.incref(record)  # the kernel releases the GIL, and another thread may then replace the record
            answer = free_at(quick, numbers)
            if answer > 0:
                py.incref(answer)
            py.decref(record)
            if answer != 0:
                return max(answer, 0)
    return py.call_with(py.word(words), checker, args, nargs, names)


def methods_of(cls: type) -> dict[str, tuple[Builtin, Words]]:
    """Return the builtin of each replaced method of `gjk3d.robot.Checker`, by the name of the method.

    The second item of each value is a function that returns the builtin's constants: offsets of fields in a checker,
    and a keyword.
    """
    return {
        "free": (checker_free, lambda: [offset(cls, "_quick"), offset(cls, "_settings")]),
        "distances": (
            checker_distances,
            lambda: [offset(cls, "_quick_distances"), offset(cls, "_settings"), intern("within")],
        ),
    }

"""`Checker.free` of one configuration as a builtin, which passes the numbers directly to the kernel.

The builtin computes the result only if the Python method has prepared a record for the present surroundings, and no
other thread uses the cell at the same time. Otherwise it calls the method.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gjk3d._kernels import addresses as py
from gjk3d._kernels.calls import offset
from gjk3d._kernels.calls.install import Words
from gjk3d._kernels.decorators import Builtin, builtin, inlined, kernel, plain
from gjk3d.robot.cell_kernels import FREE

if TYPE_CHECKING:
    from gjk3d.robot.cell import Cell

# words of the builtin: the Python method, and the offsets of the slots `_quick` and `_settings` in a checker
SLOW, PREPARED, SETTINGS_SLOT = range(3)
# words of a prepared record: the settings, the number of dof, the address for q, the arguments of the entry, their
# number, the entry itself, the address of its result, the two methods of the lock, False
SETTINGS, JOINTS, NUMBERS, ARGS, COUNT, ENTRY, ANSWER, ACQUIRE, RELEASE, NOT_WAITING = range(10)


def prepared(settings: Any, cell: Cell) -> tuple[Any, ...] | None:
    """Return the builtin's record of addresses, or None if the Python method has to compute the result.

    `gjk3d.robot.queries.quick` has to be called for the cell before.
    """
    if cell.cache.free is None or cell.walked < len(cell.slots):
        return None
    if cell.cache.single is None:
        row, lock, (entry, args) = np.empty(cell.robot.dof), cell.memory.lock, cell.cache.free
        args, methods = (row, *args), (lock.acquire, lock.release)
        # the words are addresses: the tuple that is cached below keeps the objects alive
        words = [
            id(settings), cell.robot.dof, row.ctypes.data, id(args) + tuple.__basicsize__, len(args), id(entry),
            cell.cache.answer.ctypes.data, *map(id, methods), id(False),
        ]  # fmt: skip
        cell.cache.single = np.array(words, dtype=np.int64), args, methods, settings
    cached: tuple[Any, ...] = cell.cache.single
    return cached


@inlined
def released(quick: int, answer: int) -> int:
    """Release the lock of the record ``quick``, and return ``answer``, or -1 for an error."""
    result = py.call(py.word(quick + 8 * RELEASE), quick, plain(0), plain(0))
    if result == 0:
        return -1
    py.decref(result)
    return answer


@kernel
def free_at(quick: int, numbers: int) -> int:
    """Return the address of True (free) or False, 0 for no result, or -1 for an error.

    The configuration is at address ``numbers``. 0 means that the Python method has to compute the result. ``quick`` is
    the address of the record of `prepared`.
    """
    got = py.call(py.word(quick + 8 * ACQUIRE), quick + 8 * NOT_WAITING, plain(1), plain(0))
    if got == 0:
        return -1
    py.decref(got)  # True or False, which other references keep alive
    # the lock is taken: another thread is in the kernel, and the method allocates memory of its own
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


@builtin
def checker_free(words: int, checker: int, args: int, nargs: int, names: int) -> int:
    """Return the address of the result of `Checker.free`, by the convention in `gjk3d._kernels.calls`."""
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
    """Return the builtins of `gjk3d.robot.Checker` by name, each with the offsets of the attributes that it reads."""
    return {"free": (checker_free, lambda: [offset(cls, "_quick"), offset(cls, "_settings")])}

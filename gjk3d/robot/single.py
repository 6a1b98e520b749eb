"""`Checker.free` of one configuration as a builtin: it hands the numbers to the kernel that answers one.

It answers where the Python method has prepared it for the surroundings as they are, and nobody else asks at the time;
all else is the method's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gjk3d._kernels.calls import objects as py
from gjk3d._kernels.calls import offset
from gjk3d._kernels.calls.install import Words
from gjk3d._kernels.decorators import Builtin, builtin, inlined, kernel, plain
from gjk3d.robot.walk import FREE, hit_of_one

if TYPE_CHECKING:
    from gjk3d.robot.cell import Cell

# words of the builtin: the Python method, where a checker has what is prepared, and what was said of its surroundings
SLOW, PREPARED, SAID_SLOT = range(3)
# words of what is prepared: what was said, how many joints, where their numbers go, the arguments of the entry and the
# entry itself, where it answers, the lock's methods, False
SAID, JOINTS, NUMBERS, ARGS, COUNT, ENTRY, TOLD, ACQUIRE, RELEASE, NOT_WAITING = range(10)


def prepared(said: Any, cell: Cell) -> tuple[Any, ...] | None:
    """Return what the builtin asks a cell with, once `gjk3d.robot.queries.quick` has: its words, and what they hold."""
    if cell.kept.free is None or len(cell.general.pairs):
        return None
    if cell.kept.single is None:
        row, lock = np.empty(cell.robot.dof), cell.memory.lock
        args, methods = (row, *cell.kept.free), (lock.acquire, lock.release)
        words = [
            id(said), cell.robot.dof, row.ctypes.data, id(args) + tuple.__basicsize__, len(args), id(hit_of_one),
            cell.kept.told.ctypes.data, *map(id, methods), id(False),
        ]  # fmt: skip
        cell.kept.single = np.array(words, dtype=np.int64), args, methods, said
    made: tuple[Any, ...] = cell.kept.single
    return made


@inlined
def released(quick: int, answer: int) -> int:
    """Release the lock and return an answer, -1 for an error."""
    done = py.call(py.word(quick + 8 * RELEASE), quick, plain(0), plain(0))
    if done == 0:
        return -1
    py.decref(done)
    return answer


@kernel
def free_at(quick: int, numbers: int) -> int:
    """Return True or False for a configuration, 0 where the method has to answer, -1 for an error."""
    got = py.call(py.word(quick + 8 * ACQUIRE), quick + 8 * NOT_WAITING, plain(1), plain(0))
    if got == 0:
        return -1
    py.decref(got)  # which is True or False, and stays
    if got != py.constant(py.BOOLS + 1):
        return 0
    for k in range(py.word(quick + 8 * JOINTS)):
        py.write(py.word(quick + 8 * NUMBERS) + 8 * k, py.word(numbers + 8 * k))
    done = py.call(py.word(quick + 8 * ENTRY), py.word(quick + 8 * ARGS), py.word(quick + 8 * COUNT), plain(0))
    if done == 0:
        return released(quick, plain(-1))
    py.decref(done)
    told = py.word(py.word(quick + 8 * TOLD))
    if told != FREE and told < 0:
        return released(quick, plain(0))
    answer = py.constant(py.BOOLS + int(told == FREE))
    return released(quick, answer)


@builtin
def checker_free(words: int, checker: int, args: int, nargs: int, names: int) -> int:
    """Answer `Checker.free`."""
    held = py.word(checker + py.word(words + 8 * PREPARED))
    if names == 0 and nargs == 1 and held != 0 and held != py.constant(py.NONE):
        quick = py.word(py.word(py.items_of(held)) + py.DATA)
        numbers = py.floats_in(py.word(args), 1)
        same = py.word(quick + 8 * SAID) == py.word(checker + py.word(words + 8 * SAID_SLOT))
        if same and numbers != 0 and py.word(py.word(py.word(args) + py.SHAPE)) == py.word(quick + 8 * JOINTS):
            py.incref(held)  # the kernel lets others run, who may prepare the checker for something else
            answer = free_at(quick, numbers)
            if answer > 0:
                py.incref(answer)
            py.decref(held)
            if answer != 0:
                return max(answer, 0)
    return py.call_with(py.word(words), checker, args, nargs, names)


def methods_of(cls: type) -> dict[str, tuple[Builtin, Words]]:
    """Return the builtins of `gjk3d.robot.Checker`, and their words."""
    return {"free": (checker_free, lambda: [offset(cls, "_quick"), offset(cls, "_said")])}

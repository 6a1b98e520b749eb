"""The switch of mutated sources, which selects the active mutant and records reached mutants; also a pytest plugin.

A mutated copy of gjk3d has this file as ``gjk3d/_mutants.py``. The environment variable ``GJK3D_MUTANT_FILE`` names a
file that all processes of a run map: the number of the active mutant, and one byte for each mutant that is reached.
Without it no mutant is active. The plugin runs the tests that ``GJK3D_MUTANT_TESTS`` lists, in its order, with a time
limit for each. It appends the reached mutants and the outcome of each test to the file ``GJK3D_MUTANT_LOG``.
"""

from __future__ import annotations

import ctypes
import faulthandler
import json
import mmap
import os
from pathlib import Path
from typing import Any

from gjk3d._kernels.decorators import MODE

NUMBER_SIZE = 8
SIZE = 1 << 17


def _mapped() -> mmap.mmap:
    path = os.environ.get("GJK3D_MUTANT_FILE")
    if not path:
        return mmap.mmap(-1, SIZE)
    with open(path, "r+b") as file:
        file.truncate(SIZE)
        return mmap.mmap(file.fileno(), SIZE)


_memory = _mapped()
_active = int.from_bytes(_memory[:NUMBER_SIZE], "little")

if MODE in ("jit", "alone"):
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def mutant(context: Any, number: Any) -> Any:
        """Record that a mutant is reached, and return whether it is active."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            byte, word = ir.IntType(8), ir.IntType(64)
            memory = builder.module.globals.get("gjk3d_mutants")
            if memory is None:
                memory = ir.GlobalVariable(builder.module, ir.ArrayType(byte, SIZE), "gjk3d_mutants")
            place = builder.add(arguments[0], word(NUMBER_SIZE))
            builder.store(byte(1), builder.gep(memory, [word(0), place]))
            active = builder.load(builder.bitcast(memory, word.as_pointer()))
            return builder.icmp_signed("==", active, arguments[0])

        return types.boolean(types.int64), generate

    # for Python code that runs while the compiler imports modules
    type(mutant).__call__ = lambda self, number: False

else:

    def mutant(number: int) -> bool:
        """Record that a mutant is reached, and return whether it is active."""
        _memory[NUMBER_SIZE + number] = 1
        return number == _active


if MODE in ("object", "jit"):
    import llvmlite.binding

    llvmlite.binding.add_symbol("gjk3d_mutants", ctypes.addressof(ctypes.c_char.from_buffer(_memory)))


def take_reached() -> list[int]:
    """Return the mutants that were reached since the last call."""
    flags = _memory[NUMBER_SIZE:]
    reached = []
    place = flags.find(1)
    while place >= 0:
        reached.append(place)
        _memory[NUMBER_SIZE + place] = 0
        place = flags.find(1, place + 1)
    return reached


# plugin ---------------------------------------------------------------------------------------------------------------

_limits: dict[str, float] = {}  #: seconds
_row: dict[str, Any] = {}


def pytest_sessionstart(session: Any) -> None:
    """Do not shrink failing examples, which takes minutes; the conftest has loaded its profile by now."""
    from hypothesis import Phase, settings

    settings.register_profile("mutants", settings(), phases=[Phase.explicit, Phase.generate])
    settings.load_profile("mutants")


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Keep the tests that are listed, in the order of the list."""
    path = os.environ.get("GJK3D_MUTANT_TESTS")
    if path:
        _limits.update(json.loads(Path(path).read_text()))
        rank = {name: k for k, name in enumerate(_limits)}
        items[:] = sorted((item for item in items if item.nodeid in rank), key=lambda item: rank[item.nodeid])


def pytest_collection_finish(session: Any) -> None:
    """Log the mutants that the imports reached."""
    _log({"test": None, "reached": take_reached()})


def pytest_runtest_logstart(nodeid: str, location: Any) -> None:
    """Clear the log row, and end the process if the test takes too long."""
    _row.clear()
    _row.update(test=nodeid, outcome="passed", seconds=0.0, setup=[], reached=[])
    if nodeid in _limits:
        faulthandler.dump_traceback_later(_limits[nodeid], exit=True)


def pytest_runtest_logreport(report: Any) -> None:
    """Record the reached mutants, the outcome and the time of a phase of a test."""
    _row["setup" if report.when == "setup" else "reached"] += take_reached()
    _row["seconds"] += report.duration
    if report.outcome != "passed":
        _row["outcome"] = report.outcome


def pytest_runtest_logfinish(nodeid: str, location: Any) -> None:
    """Log a test."""
    faulthandler.cancel_dump_traceback_later()
    _log(_row)


def _log(row: dict[str, Any]) -> None:
    path = os.environ.get("GJK3D_MUTANT_LOG")
    if path:
        with open(path, "a") as file:
            file.write(json.dumps(row) + "\n")

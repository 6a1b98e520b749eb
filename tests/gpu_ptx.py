"""Compile all entries for a graphics card as far as possible without one: ``python -m tests.gpu_ptx FOLDER``.

`gjk3d._kernels.gpu` compiles them as for a real card. Only the presence of the card is faked, and nothing is loaded.
The PTX text of each entry is written to the folder.
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from numba.cuda import codegen, dispatcher

from gjk3d._kernels import gpu
from gjk3d.narrow.solve import collide_many, solve_many
from gjk3d.robot.cell_kernels import hit_of_one

SCRATCH = {"simplex", "workspace", "order", "frames"}


def places_of(entry: object) -> tuple[str, ...]:
    """Return the index of each argument in a call, as in `gjk3d.convex.batch` and `gjk3d.robot.queries`."""
    names = list(gpu.parameters(entry))
    rows = {"q", "answer"} if entry is hit_of_one else set()
    return tuple("[k]" if name in rows else "[thread]" if name in SCRATCH else "" for name in names)


def main(folder: Path) -> None:
    """Write the PTX of every entry, and check that its arithmetic rounds as on a processor."""
    card = SimpleNamespace(compute_capability=(8, 0))
    dispatcher.get_current_device = lambda: card
    codegen.CUDACodeLibrary._ensure_cc = lambda self, cc: (8, 0)
    dispatcher._Kernel.bind = lambda self: None
    assert np.dtype(np.float64).itemsize == 8
    for entry in (collide_many, hit_of_one, solve_many):
        begun = time.process_time()
        kernel = gpu.compiled(entry, places_of(entry))
        (made,) = kernel.overloads.values()
        text = made.library.get_asm_str()
        name = gpu.source_of(entry).__name__
        (folder / f"{name}.ptx").write_text(text)
        counts = Counter(re.findall(r"\b(fma|mad|mul|add|sub|div|sqrt|rcp)((?:\.[a-z]+)*)\.f64\b", text))
        assert counts["mul", ".rn"] > 1000
        rounded = {(what, how) for what, how in counts if how != ".rn"}
        assert rounded == set(), rounded
        assert not {what for what, _ in counts} & {"fma", "mad"}
        assert ".f32" not in text
        print(f"{name}: {len(text)} bytes, {time.process_time() - begun:.0f} s of CPU")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Make a wheel that holds machine code for every kind of machine: ``python -m gjk3d._kernels.wheel FOLDER``.

Kernels are compiled once, to bitcode in one group; LLVM makes an object of it for each kind of machine, on any of them.
The bitcode goes into the wheel too, so that where no object fits, LLVM alone makes one, without numba.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from gjk3d._kernels import builder, sources, store

_V3, _V1 = "x86-64-v3", "x86-64"
#: the kind of machine, LLVM's name of it, and the processors that objects are made for
TARGETS = (
    ("linux-x86_64", "x86_64-unknown-linux-gnu", (_V3, _V1)),
    ("linux-arm64", "aarch64-unknown-linux-gnu", ("generic",)),
    ("darwin-x86_64", "x86_64-apple-darwin", (_V3, _V1)),
    ("darwin-arm64", "arm64-apple-darwin", ("generic",)),
    ("windows-x86_64", "x86_64-pc-windows-msvc", (_V3, _V1)),
)


def _one(kind: str, triple: str, level: str, bitcode: Path) -> str:
    code = builder.read_whole(bitcode)
    assert code is not None
    path = store.SHIPPED / store.object_name(kind, level)
    store.write_built(path, *builder.finish(code, builder.Target(triple, level)))
    return f"{kind}, {level}: {path.stat().st_size / 1e3:.0f} kB"


def make_objects() -> list[str]:
    """Write objects for all machines, and the bitcode, into the package; return what was made."""
    code = builder.whole(builder.compile_all(sources.entries(), lambda part: None))
    bitcode = store.shipped_bitcode()
    builder.write_whole(bitcode, code)
    store.ship_key()
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        jobs = [pool.submit(_one, kind, triple, level, bitcode) for kind, triple, levels in TARGETS for level in levels]
        return [job.result() for job in jobs]


def main(given: list[str] | None = None) -> int:
    """Make the wheel; the objects are taken out of the sources again."""
    parser = argparse.ArgumentParser(prog="python -m gjk3d._kernels.wheel", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the wheel goes")
    folder = parser.parse_args(given).folder
    root = Path(__file__).parents[2]
    if not (root / "pyproject.toml").exists():
        parser.error(f"{root} has no pyproject.toml: a wheel is made in a checkout")
    start = time.perf_counter()
    try:
        for line in make_objects():
            sys.stderr.write(f"{line}\n")
        for path in store.SHIPPED.iterdir():
            path.chmod(0o644)  # those of a cache are private
        command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder), str(root)]
        subprocess.run(command, check=True)
    finally:
        for path in store.SHIPPED.glob("*"):
            path.unlink()
        store.SHIPPED.rmdir()
    sys.stderr.write(f"a wheel in {folder} after {time.perf_counter() - start:.0f} s\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

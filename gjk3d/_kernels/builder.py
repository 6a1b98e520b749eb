"""Build the object file of all kernels: each alone and in parallel, then one link, one optimisation, one file.

``python -m gjk3d._kernels.builder`` does it for this machine. Bitcode is kept beside the objects by the content that it
follows from, so that after an edit only what was edited is compiled again.
"""

from __future__ import annotations

import ast
import multiprocessing
import os
import pickle
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, NamedTuple

from gjk3d._kernels import alone, assembly, store, wrappers

_PACKAGE = Path(__file__).parents[1]
_MARKS = {"entry", "single_entry", "builtin"}
_MOST_PROCESSES = 8  #: each loads numba, which takes a second
_MEMORY = "half a gigabyte"  #: that each grows to
_COST_OF_FINISH = 0.5  #: of all the time, linking and optimising takes so much on two cores
_ABOUT = 750  #: kernels there are, as far as is known before all that are called are found

#: numba's arrays are views of rows of others: a reshape of what is contiguous never copies
_HELP = """
define i32 @numba_attempt_nocopy_reshape(i64 %nd, i64* %dims, i64* %strides, i64 %newnd, i64* %newdims,
    i64* %newstrides, i64 %itemsize, i32 %order) alwaysinline {
entry:
  br label %loop
loop:
  %i = phi i64 [%newnd, %entry], [%i1, %body]
  %s = phi i64 [%itemsize, %entry], [%s1, %body]
  %more = icmp sgt i64 %i, 0
  br i1 %more, label %body, label %end
body:
  %i1 = sub i64 %i, 1
  %sp = getelementptr i64, i64* %newstrides, i64 %i1
  store i64 %s, i64* %sp
  %dp = getelementptr i64, i64* %newdims, i64 %i1
  %d = load i64, i64* %dp
  %s1 = mul i64 %s, %d
  br label %loop
end:
  ret i32 1
}
"""


def entries() -> list[str]:
    """Return every kernel that Python calls, ``module:function``, as the sources say."""
    found = []
    for path in sorted(_PACKAGE.rglob("*.py")):
        text = path.read_text()
        if "entry\n" not in text and "@builtin\n" not in text:
            continue
        module = ".".join(["gjk3d", *path.relative_to(_PACKAGE).with_suffix("").parts])
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef) and _MARKS & {*map(ast.unparse, node.decorator_list)}:
                found.append(f"{module}:{node.name}")
    return found


class Bitcode(NamedTuple):
    """All kernels, linked but not optimised, and the ways in as text."""

    module: bytes
    wrappers: str
    names: list[str]


Report = Callable[[float], None]


def compile_all(names: Sequence[str], report: Report) -> Bitcode:
    """Compile kernels and all that they call, each alone; in one process where several do not find room."""
    try:
        return _compile_in(min(_cores(), _MOST_PROCESSES), names, report)
    except BrokenProcessPool:
        return _compile_in(1, names, report)


def _compile_in(processes: int, names: Sequence[str], report: Report) -> Bitcode:
    folder = store.folder() / "bitcode"
    folder.mkdir(parents=True, exist_ok=True)
    _limit(folder)
    made: dict[tuple[str, Any], alone.Made] = {}
    asked: set[tuple[str, Any]] = set()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context, initializer=_start) as pool:
        waiting = {}

        def ask(name: str, arguments: Any) -> None:
            if (name, arguments) not in asked:
                asked.add((name, arguments))
                waiting[pool.submit(_work, name, arguments, folder)] = name, arguments

        for name in names:
            ask(name, None)
        while waiting:
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                key = waiting.pop(future)
                made[key] = future.result()
                for call in made[key].calls:
                    ask(*call)
            report(len(made) / max(len(asked), _ABOUT))
    return _together(made, names)


def _cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _start() -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    alone.install()


def _end_with_parent() -> None:
    """End this process when the builder is killed: it would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(name: str, arguments: Any, folder: Path) -> alone.Made:
    """Compile a kernel, or take what was compiled of the same text before."""
    path = folder / alone.content_of(name, arguments)
    if path.exists():
        made: alone.Made = pickle.loads(path.read_bytes())
        path.touch()
        return made
    made = alone.compile_alone(name, arguments)
    store.write(path, pickle.dumps(made))
    return made


_KEPT = 2000  #: files of bitcode


def _limit(folder: Path) -> None:
    """Drop the bitcode that was not used for longest."""
    files = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in files[_KEPT:]:
        path.unlink(missing_ok=True)


def _together(made: dict[tuple[str, Any], alone.Made], names: Sequence[str]) -> Bitcode:
    """Link kernels in the order of their names, so that the same sources give the same file."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    first: dict[str, alone.Made] = {}
    for _, each in sorted(made.items(), key=lambda item: (item[0][0], str(item[0][1]))):
        if each.symbol not in first or each.declaration:
            first[each.symbol] = each
    modules = [llvm.parse_bitcode(each.bitcode) for each in first.values()]
    while len(modules) > 1:  # two and two: a link takes as long as both sides are large
        for one, other in zip(modules[::2], modules[1::2], strict=False):
            one.link_in(other)
        modules = modules[::2]
    module = modules[0]
    text = "\n".join(each.declaration for each in first.values() if each.declaration)
    return Bitcode(module.as_bitcode(), assembly.head() + text, list(names))


class Target(NamedTuple):
    """What an object is for."""

    triple: str
    cpu: str


def finish(code: Bitcode, target: Target) -> tuple[bytes, dict[str, Any]]:
    """Return the object of all kernels for a target, and what a loader needs to know; needs LLVM alone."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    static = target.triple.startswith("x86_64")
    machine = llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, opt=3, reloc="static" if static else "default", codemodel="jitdefault", jit=True
    )
    module = llvm.parse_bitcode(code.module)
    module.triple, module.data_layout = target.triple, str(machine.target_data)
    module.link_in(llvm.parse_assembly(code.wrappers))
    module.link_in(llvm.parse_assembly(_HELP))
    ways_in = {wrappers.symbol_of(name) for name in code.names} | {"gjk3d_known_words"}
    for function in module.functions:
        if not function.is_declaration and function.name not in ways_in:
            function.linkage = "internal"
    for variable in module.global_variables:
        if not variable.is_declaration and not variable.name.startswith(("llvm.", wrappers.words_of(""))):
            variable.linkage = "internal"
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True  # of straight lines it takes a tenth of the time, and no kernel gains by it
    llvm.create_pass_builder(machine, options).getModulePassManager().run(
        module, llvm.create_pass_builder(machine, options)
    )
    undefined = [each.name for each in module.functions if each.is_declaration and not each.name.startswith("llvm.")]
    variables = {each.name for each in module.global_variables}
    builtins = [name for name in code.names if wrappers.words_of(name) in variables]
    return machine.emit_object(module), {"names": code.names, "builtins": builtins, "undefined": sorted(undefined)}


def build(report: Report | None = None) -> Path:
    """Build the object for this machine, unless it is there; one process at a time does so.

    Returns
    -------
    Path
        Of the object file.
    """
    import llvmlite.binding as llvm

    say = report or (lambda part: None)
    target = Target(llvm.get_process_triple(), store.cpu_level())
    path = store.folder() / store.object_name(store.machine(), target.cpu)
    with store.lock():
        if store.is_whole(path):
            return path
        with store.progress() as told:

            def both(part: float) -> None:
                told(part)
                say(part)

            if store.shipped_bitcode().exists():
                code = Bitcode(*pickle.loads(store.shipped_bitcode().read_bytes()))
            else:
                code = compile_all(entries(), lambda part: both(part * (1.0 - _COST_OF_FINISH)))
            store.write_object(path, *finish(code, target))
            both(1.0)
    return path


def main() -> int:
    """Build for this machine; started in the background, where it says nothing."""
    start = time.perf_counter()
    try:
        path = build()
    except OSError as error:
        sys.stderr.write(f"{type(error).__name__}: {error}; GJK3D_CACHE_DIR names a folder to keep them in\n")
        return 1
    except (BrokenProcessPool, MemoryError):
        sys.stderr.write(f"a process that compiles was killed: each takes {_MEMORY} of memory\n")
        return 1
    if "-v" in sys.argv:
        sys.stderr.write(f"{path} in {time.perf_counter() - start:.1f} s\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

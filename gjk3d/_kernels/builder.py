"""Build the machine code of all kernels: kernels are compiled one by one, then linked and optimised in groups.

``python -m gjk3d._kernels.builder`` builds the machine code for this machine, in several processes. Each step is cached
in `files.folder` by a hash of its inputs. After an edit, a step is repeated only for kernels that depend on the edit:

===========  =====================  ==================================================================================
folder       content                the name is a hash of
===========  =====================  ==================================================================================
(top)        the machine code       `store.source_key` (the code of all kernels, see `sources`) and the kind of machine
keys         `store.source_key`     the bytes of all files of the package
bitcode      one kernel             its code, its types and constants, the signatures of the kernels that it calls
groups       one group, optimised   the bitcode of its kernels, and of the small kernels of other groups that it copies
===========  =====================  ==================================================================================

``sources.json`` has the definitions in each file by the hash of the file, see `sources`. An edit of a docstring changes
only ``keys`` and ``sources.json``. No file is a pickle, because a pickle runs code when it is read.

A kernel belongs to the first group with an entry that calls it, directly or through other kernels. If another group
calls it too, that group has a copy, provided that the kernel is marked `inlined`, or that it and all kernels that it
calls are small. Otherwise the kernel is called across groups. After an edit of a large kernel one group is optimised
again, and after an edit of a small kernel all groups that use it.

``python -m gjk3d._kernels.builder --wheel FOLDER`` makes a wheel with object files for many kinds of machines. Kernels
are compiled once to bitcode in one group, and LLVM makes each object file from the bitcode. The wheel contains the
bitcode too. On another kind of machine LLVM makes the object file from it, without numba.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, as_completed, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, NamedTuple

from gjk3d._kernels import alone, files, sources, store
from gjk3d._kernels.calls import assembly

_MOST_PROCESSES = 8  #: greatest number of processes; each of them imports numba, which takes a second
_MEMORY = "half a gigabyte"  #: greatest memory of a process
_COST_OF_FINISH = 0.5  #: share of linking and optimising in the whole time, on two cores
_GROUPS = (
    "",
    "gjk3d.bodies",
    "gjk3d.engine",
    "gjk3d.scene",
    "gjk3d.robot",
)  #: for each group, the common prefix of the names of its entries
_SMALL = 1500  #: greatest number of instructions of a small kernel, including those of all kernels that it calls
_CACHED_KERNELS, _CACHED_GROUPS, _CACHED_KEYS = 4000, 100, 1000  #: greatest numbers of cached files
_ABOUT = 750  #: number of kernels for the progress until the number of all kernels is known

#: numba's function that reshapes an array without a copy; kernels only reshape contiguous arrays
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


class Bitcode(NamedTuple):
    """The bitcode of a group of kernels before it is optimised."""

    modules: list[bytes]
    wrappers: str  #: LLVM text of the wrappers of its entries
    names: list[str]  #: names of its entries
    exports: list[str]  #: symbols of its kernels that other groups call


Report = Callable[[float], None]
Kernels = dict[str, alone.CompiledKernel]  #: kernels by symbol, in the order of their names


def compile_all(names: Sequence[str], report: Report) -> Kernels:
    """Return kernels and all that they call, compiled one by one, in one process if memory is short."""
    try:
        return _compile_in(min(_cores(), _MOST_PROCESSES), names, report)
    except BrokenProcessPool:
        return _compile_in(1, names, report)


def _compile_in(processes: int, names: Sequence[str], report: Report) -> Kernels:
    folder = files.folder() / "bitcode"
    compiled: dict[tuple[str, Any], alone.CompiledKernel] = {}
    requested: set[tuple[str, Any]] = set()
    with _pool(processes, _start) as pool:
        waiting = {}

        def request(name: str, arguments: Any) -> None:
            if (name, arguments) not in requested:
                requested.add((name, arguments))
                waiting[pool.submit(_work, name, arguments, folder)] = name, arguments

        for name in names:
            request(name, None)
        while waiting:
            finished, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in finished:
                key = waiting.pop(future)
                compiled[key] = future.result()
                for call in compiled[key].calls:
                    request(*call)
            report(len(compiled) / max(len(requested), _ABOUT))
    return _by_symbol(compiled)


def _by_symbol(compiled: dict[tuple[str, Any], alone.CompiledKernel]) -> Kernels:
    kernels: Kernels = {}
    symbols = {key: kernel.symbol for key, kernel in compiled.items()}
    for _, kernel in sorted(compiled.items(), key=lambda item: (item[0][0], str(item[0][1]))):
        if kernel.symbol not in kernels or kernel.entry:
            kernels[kernel.symbol] = kernel._replace(calls=[symbols[call] for call in kernel.calls])
    return kernels


def _pool(processes: int, start: Callable[[], None]) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn"), initializer=start)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _start() -> None:
    _start_without_numba()
    alone.install()


def _start_without_numba() -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when the builder is killed. Otherwise it would wait for work forever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(name: str, arguments: Any, folder: Path) -> alone.CompiledKernel:
    """Return a compiled kernel, from the cache in ``folder`` if it contains the kernel."""
    path = folder / f"{alone.content_of(name, arguments)}.bc"
    if kernel := alone.read(path):
        _touch(path)
    else:
        kernel = alone.compile_alone(name, arguments)
        alone.write(path, kernel)
    return kernel


def _touch(path: Path) -> None:
    """Set the modification times of a code file and its .json file to now, so that `_limit` keeps them."""
    path.touch()
    path.with_suffix(".json").touch()


def _limit(folder: Path, most: int) -> None:
    """Delete the least recently used files of a folder, so that at most ``most`` files remain."""
    with contextlib.suppress(FileNotFoundError):
        files = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in files[most:]:
            path.unlink(missing_ok=True)


def one_group(kernels: Kernels) -> Bitcode:
    """Return all kernels as one group with one module."""
    (group,) = in_groups(kernels, ("",))
    return group._replace(modules=[_linked(group.modules).as_bitcode()])


def write_group(path: Path, code: Bitcode) -> None:
    """Write the group of `one_group` to a file, for a wheel."""
    facts = code._asdict()
    (module,) = facts.pop("modules")
    store.write_built(path, module, facts)


def read_group(path: Path) -> Bitcode | None:
    """Return the group in a file of `write_group`, or None if the file does not exist."""
    built = store.read(path)
    return built and Bitcode([built.content], **built.facts)


def in_groups(kernels: Kernels, groups: Sequence[str] = _GROUPS) -> list[Bitcode]:
    """Return the bitcode of each group of kernels. ``groups`` are prefixes of names, see `_GROUPS`."""
    members = _members(kernels, groups)
    owner = {symbol: k for k, group in enumerate(members) for symbol in group}
    called: set[str] = set()
    copies: list[set[str]] = []
    for k, group in enumerate(members):
        todo, reached = [*group], set(group)
        while todo:
            for symbol in kernels[todo.pop()].calls:
                # small kernels are copied into each group that calls them
                if owner[symbol] != k and not (
                    kernels[symbol].inlined or sum(kernels[x].size for x in _reached(kernels, [symbol])) <= _SMALL
                ):
                    called.add(symbol)
                elif symbol not in reached:
                    reached.add(symbol)
                    todo.append(symbol)
        copies.append(reached)
    return [
        _group(kernels, k, members_of_group, copied, called)
        for k, (members_of_group, copied) in enumerate(zip(members, copies, strict=True))
    ]


def _members(kernels: Kernels, groups: Sequence[str]) -> list[set[str]]:
    """Return the symbols of each group: those of all kernels that its entries call, except those of earlier groups."""
    entries: list[list[str]] = [[] for _ in groups]
    for symbol, kernel in kernels.items():
        if kernel.entry:
            entries[max(k for k, begin in enumerate(groups) if kernel.entry.startswith(begin))].append(symbol)
    assigned: set[str] = set()
    members = []
    for group in entries:
        members.append(_reached(kernels, group) - assigned)
        assigned |= members[-1]
    return members


def _reached(kernels: Kernels, symbols: Sequence[str]) -> set[str]:
    """Return the symbols of kernels, and those of all kernels that they call, directly or not."""
    reached, todo = set(symbols), [*symbols]
    while todo:
        new = set(kernels[todo.pop()].calls) - reached
        reached |= new
        todo += new
    return reached


def _group(kernels: Kernels, number: int, members: set[str], copied: set[str], called: set[str]) -> Bitcode:
    entries = [kernel for symbol, kernel in kernels.items() if symbol in members and kernel.entry]
    text = assembly.head(number) + "\n".join(kernel.declaration for kernel in entries)
    modules = [kernel.bitcode for symbol, kernel in kernels.items() if symbol in members | copied]
    return Bitcode(modules, text, [kernel.entry for kernel in entries], sorted(members & called))


def _linked(modules: Sequence[bytes]) -> Any:
    """Link modules in their given order, and return the result. The order makes files of equal sources equal."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    parsed = [llvm.parse_bitcode(module) for module in modules]
    while len(parsed) > 1:  # in pairs, because the time of a link grows with the sizes of both modules
        for first, second in zip(parsed[::2], parsed[1::2], strict=False):
            first.link_in(second)
        parsed = parsed[::2]
    return parsed[0]


class Target(NamedTuple):
    """The kind of machine that an object file is for."""

    triple: str
    cpu: str


def finish(code: Bitcode, target: Target) -> tuple[bytes, dict[str, Any]]:
    """Return the object file of a group, and facts for `assembly.load`, such as the names of its entries.

    numba is not needed.
    """
    import llvmlite.binding as llvm

    module = _linked(code.modules)
    static = target.triple.startswith("x86_64")
    machine = llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, opt=3, reloc="static" if static else "default", codemodel="jitdefault", jit=True
    )
    module.triple, module.data_layout = target.triple, str(machine.target_data)
    module.link_in(llvm.parse_assembly(code.wrappers))
    module.link_in(llvm.parse_assembly(_HELP))
    external = {*code.exports, *map(assembly.symbol_of, code.names)}
    for function in module.functions:
        if not (
            function.is_declaration or function.name in external or function.name.startswith(assembly.CONSTANTS_AT)
        ):
            function.linkage = "internal"
    for variable in module.global_variables:
        if not variable.is_declaration and not variable.name.startswith(("llvm.", assembly.words_of(""))):
            variable.linkage = "internal"
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True  # but not of straight code, which takes a tenth of the time and has no gain
    llvm.create_pass_builder(machine, options).getModulePassManager().run(
        module, llvm.create_pass_builder(machine, options)
    )
    undefined = [
        function.name
        for function in module.functions
        if function.is_declaration and not function.name.startswith("llvm.")
    ]
    variables = {variable.name for variable in module.global_variables}
    builtins = [name for name in code.names if assembly.words_of(name) in variables]
    content = machine.emit_object(module)
    return content, {"names": code.names, "builtins": builtins, "undefined": sorted(undefined), "sizes": [len(content)]}


def _finish_all(codes: Sequence[Bitcode], target: Target, report: Report) -> tuple[bytes, dict[str, Any]]:
    """Return the object files of all groups one after another, and facts about them for `assembly.load`."""
    paths = [files.folder() / "groups" / f"{_hash(code, target)}.o" for code in codes]
    todo = [(path, code) for path, code in zip(paths, codes, strict=True) if store.read(path) is None]
    todo.sort(key=lambda item: -sum(map(len, item[1].modules)))  # the largest first, so that all cores end together
    try:
        with _pool(max(1, min(_cores(), len(todo))), _start_without_numba) as pool:
            for k, future in enumerate(as_completed([pool.submit(_finish_into, *job, target) for job in todo])):
                future.result()
                report((k + 1) / len(todo))
    except BrokenProcessPool:
        for path, code in todo:
            _finish_into(path, code, target)
    facts: dict[str, Any] = {"names": [], "builtins": [], "undefined": [], "sizes": []}
    contents = []
    for path in paths:
        _touch(path)
        built = store.read(path)
        assert built is not None
        contents.append(built.content)
        for name, more in built.facts.items():
            facts[name] += more
    exports = {symbol for code in codes for symbol in code.exports}
    facts["undefined"] = sorted(set(facts["undefined"]) - exports)
    return b"".join(contents), facts


def _finish_into(path: Path, code: Bitcode, target: Target) -> None:
    store.write_built(path, *finish(code, target))


def _hash(code: Bitcode, target: Target) -> str:
    """Return the hash of all that determines the object file of a group."""
    import llvmlite

    how = [sources.hash_of(f"gjk3d._kernels.builder:{function}") for function in ("finish", "_linked", "_HELP")]
    how.append(sources.hash_of("gjk3d._kernels.store:write_built"))
    digest = hashlib.sha256(f"{how} {llvmlite.__version__} {target} {code[1:]}".encode())
    for module in code.modules:
        digest.update(hashlib.sha256(module).digest())
    return digest.hexdigest()


class SourcesChanged(RuntimeError):
    """The sources were edited during a build."""


def build(report: Report | None = None) -> Path:
    """Return the path of the object file for this machine. It is built if it does not exist.

    Only one process builds at a time. The progress, from 0 to 1, is passed to ``report``.

    Raise `SourcesChanged` if the sources were edited during the build, so that its parts may not fit together.
    """
    import llvmlite.binding as llvm

    show = report or (lambda part: None)
    target = Target(llvm.get_process_triple(), store.cpu_level())
    path = files.folder() / store.object_name(store.machine(), target.cpu)
    with store.lock():
        if store.read(path):
            return path
        files.make_private(files.folder())
        with store.progress() as write_progress:

            def report_to_both(part: float) -> None:
                write_progress(part)
                show(part)

            shipped = read_group(store.shipped_bitcode())
            if shipped:
                codes = [shipped]
            else:
                kernels = compile_all(sources.entries(), lambda part: report_to_both(part * (1.0 - _COST_OF_FINISH)))
                codes = in_groups(kernels)
            finished = _finish_all(codes, target, lambda part: report_to_both(1.0 - (1.0 - part) * _COST_OF_FINISH))
            if store.read_key() != store.source_key():
                raise SourcesChanged(
                    "the sources were edited while they were compiled. Build again with python -m "
                    "gjk3d._kernels.builder."
                )
            store.write_built(path, *finished)
            report_to_both(1.0)
        for name, most in (("bitcode", _CACHED_KERNELS), ("groups", _CACHED_GROUPS), ("keys", _CACHED_KEYS)):
            _limit(files.folder() / name, most)
    return path


_V3, _V1 = "x86-64-v3", "x86-64"
#: for each kind of machine, its name in `store.machine`, LLVM's name, and the levels of processors with object files
TARGETS = (
    ("linux-x86_64", "x86_64-unknown-linux-gnu", (_V3, _V1)),
    ("linux-arm64", "aarch64-unknown-linux-gnu", ("generic",)),
    ("darwin-x86_64", "x86_64-apple-darwin", (_V3, _V1)),
    ("darwin-arm64", "arm64-apple-darwin", ("generic",)),
    ("windows-x86_64", "x86_64-pc-windows-msvc", (_V3, _V1)),
)


def _finish_target(kind: str, triple: str, level: str, bitcode: Path) -> str:
    code = read_group(bitcode)
    assert code is not None
    path = store.SHIPPED / store.object_name(kind, level)
    store.write_built(path, *finish(code, Target(triple, level)))
    return f"{kind}, {level}: {path.stat().st_size / 1e3:.0f} kB"


def make_objects() -> list[str]:
    """Write the bitcode, and object files for all kinds of machines, to the package; return a line about each file."""
    code = one_group(compile_all(sources.entries(), lambda part: None))
    bitcode = store.shipped_bitcode()
    write_group(bitcode, code)
    store.ship_key()
    with ProcessPoolExecutor(os.cpu_count(), mp_context=multiprocessing.get_context("spawn")) as pool:
        targets = [(kind, triple, level) for kind, triple, levels in TARGETS for level in levels]
        jobs = [pool.submit(_finish_target, *target, bitcode) for target in targets]
        return [job.result() for job in jobs]


def make_wheel(folder: Path) -> int:
    """Make a wheel in a folder, and return the exit code. Object files are in the package only during this call."""
    root = Path(__file__).parents[2]
    if not (root / "pyproject.toml").exists():
        sys.stderr.write(f"{root} does not contain pyproject.toml. Make the wheel in a checkout.\n")
        return 2
    start = time.perf_counter()
    try:
        for line in make_objects():
            sys.stderr.write(f"{line}\n")
        for path in store.SHIPPED.iterdir():
            path.chmod(0o644)  # files of the cache have mode 600
        command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder), str(root)]
        subprocess.run(command, check=True)
    finally:
        for path in store.SHIPPED.glob("*"):
            path.unlink()
        store.SHIPPED.rmdir()
    sys.stderr.write(f"made a wheel in {folder} in {time.perf_counter() - start:.0f} s\n")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the machine code for this machine, or make a wheel, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m gjk3d._kernels.builder", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="print the path of the object and the time")
    parser.add_argument("--wheel", type=Path, metavar="FOLDER", help="make a wheel for every kind of machine")
    options = parser.parse_args(arguments)
    if options.wheel:
        return make_wheel(options.wheel)
    os.environ["GJK3D_CACHE_DIR"] = str(files.folder())  # its processes would otherwise report a refused folder again
    start = time.perf_counter()
    try:
        path = build()
    except OSError as error:
        sys.stderr.write(f"{type(error).__name__}: {error}. Set GJK3D_CACHE_DIR to a writable folder.\n")
        return 1
    except SourcesChanged as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except (BrokenProcessPool, MemoryError):
        sys.stderr.write(f"a compiling process was killed. Each needs {_MEMORY} of memory.\n")
        return 1
    if options.verbose:
        sys.stderr.write(f"{path} in {time.perf_counter() - start:.1f} s\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

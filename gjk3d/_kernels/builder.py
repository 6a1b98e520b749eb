"""Build the machine code of all kernels: each compiled alone, then linked and optimised in groups, all in parallel.

``python -m gjk3d._kernels.builder`` does it for this machine. Each step is cached in `files.folder` by what it follows
from, so that an edit repeats a step only for what depends on the edited code:

===========  =====================  ==================================================================================
folder       what it has            what its names are a hash of
===========  =====================  ==================================================================================
(top)        the machine code       `store.source_key` (the code of all kernels, see `sources`) and the kind of machine
keys         that key               the bytes of all files of the package
bitcode      one kernel             its code, the types and constants that it uses, the signatures of what it calls
groups       one group, optimised   the bitcode of its kernels, and of the small ones of other groups that it copies
===========  =====================  ==================================================================================

``sources.json`` has what `sources` reads from a file, by the bytes of the file. An edit of a docstring changes none of
these but ``keys`` and ``sources.json``. No file is a pickle, which would run code when it is read.

A kernel belongs to the first group whose entries reach it. Another group that calls it has a copy of its own, which
LLVM inlines as it likes, if it is small with all that it calls or is marked `inlined`. It is called across groups
otherwise. So an edit of a large kernel optimises one group, and an edit of a small one the groups that use it.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, as_completed, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, NamedTuple

from gjk3d._kernels import alone, assembly, files, sources, store, wrappers

_MOST_PROCESSES = 8  #: each loads numba, which takes a second
_MEMORY = "half a gigabyte"  #: that each grows to
_COST_OF_FINISH = 0.5  #: of all the time, linking and optimising takes so much on two cores
_GROUPS = ("", "gjk3d.bodies", "gjk3d.scene", "gjk3d.robot")  #: begins of the names of their entries
_SMALL = 1500  #: instructions of a kernel and all that it calls, up to which each group has a copy
_CACHED_KERNELS, _CACHED_GROUPS, _CACHED_KEYS = 4000, 100, 1000  #: files that are retained
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


class Bitcode(NamedTuple):
    """Kernels of a group, not yet optimised, and the ways in as text."""

    modules: list[bytes]
    wrappers: str
    names: list[str]  #: of its entries
    exports: list[str]  #: symbols that other groups call


Report = Callable[[float], None]
Kernels = dict[str, alone.Made]  #: by their symbols, in the order of their names


def compile_all(names: Sequence[str], report: Report) -> Kernels:
    """Compile kernels and all that they call, each alone; in one process where several do not find room."""
    try:
        return _compile_in(min(_cores(), _MOST_PROCESSES), names, report)
    except BrokenProcessPool:
        return _compile_in(1, names, report)


def _compile_in(processes: int, names: Sequence[str], report: Report) -> Kernels:
    folder = files.folder() / "bitcode"
    made: dict[tuple[str, Any], alone.Made] = {}
    asked: set[tuple[str, Any]] = set()
    with _pool(processes, _start) as pool:
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
    return _together(made)


def _together(made: dict[tuple[str, Any], alone.Made]) -> Kernels:
    """Return kernels by their symbols."""
    kernels: Kernels = {}
    symbols = {key: each.symbol for key, each in made.items()}
    for _, each in sorted(made.items(), key=lambda item: (item[0][0], str(item[0][1]))):
        if each.symbol not in kernels or each.entry:
            kernels[each.symbol] = each._replace(calls=[symbols[call] for call in each.calls])
    return kernels


def _pool(processes: int, start: Callable[[], None]) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn"), initializer=start)


def _cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _start() -> None:
    _start_without_numba()
    alone.install()


def _start_without_numba() -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when the builder is killed: it would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(name: str, arguments: Any, folder: Path) -> alone.Made:
    """Compile a kernel, or take what was compiled of the same text before."""
    path = folder / f"{alone.content_of(name, arguments)}.bc"
    if made := alone.read(path):
        _touch(path)
    else:
        made = alone.compile_alone(name, arguments)
        alone.write(path, made)
    return made


def _touch(path: Path) -> None:
    """Mark what `store.write_built` wrote as used."""
    path.touch()
    path.with_suffix(".json").touch()


def _limit(folder: Path, most: int) -> None:
    """Drop the files that were not used for longest."""
    with contextlib.suppress(FileNotFoundError):
        files = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in files[most:]:
            path.unlink(missing_ok=True)


def whole(kernels: Kernels) -> Bitcode:
    """Return all kernels as one group, linked."""
    (group,) = in_groups(kernels, ("",))
    return group._replace(modules=[_linked(group.modules).as_bitcode()])


def write_whole(path: Path, code: Bitcode) -> None:
    """Write the one group of `whole` for a wheel."""
    facts = code._asdict()
    (module,) = facts.pop("modules")
    store.write_built(path, module, facts)


def read_whole(path: Path) -> Bitcode | None:
    """Return the group that `write_whole` wrote, or None if the package has none."""
    built = store.read(path)
    return built and Bitcode([built.content], **built.facts)


def in_groups(kernels: Kernels, groups: Sequence[str] = _GROUPS) -> list[Bitcode]:
    """Return the groups of kernels."""
    members = _members(kernels, groups)
    owner = {symbol: k for k, group in enumerate(members) for symbol in group}
    called: set[str] = set()
    copies: list[set[str]] = []
    for k, group in enumerate(members):
        todo, seen = [*group], set(group)
        while todo:
            for symbol in kernels[todo.pop()].calls:
                if owner[symbol] != k and not _is_copied(kernels, symbol):
                    called.add(symbol)
                elif symbol not in seen:
                    seen.add(symbol)
                    todo.append(symbol)
        copies.append(seen)
    return [
        _group(kernels, k, own, copied, called) for k, (own, copied) in enumerate(zip(members, copies, strict=True))
    ]


def _members(kernels: Kernels, groups: Sequence[str]) -> list[set[str]]:
    """Return the kernels that belong to each group: those that its entries reach, and the entries before do not."""
    entries: list[list[str]] = [[] for _ in groups]
    for symbol, each in kernels.items():
        if each.entry:
            entries[max(k for k, begin in enumerate(groups) if each.entry.startswith(begin))].append(symbol)
    taken: set[str] = set()
    members = []
    for group in entries:
        members.append(_reached(kernels, group) - taken)
        taken |= members[-1]
    return members


def _reached(kernels: Kernels, symbols: Sequence[str]) -> set[str]:
    """Return kernels and all that they call."""
    seen, todo = set(symbols), [*symbols]
    while todo:
        new = set(kernels[todo.pop()].calls) - seen
        seen |= new
        todo += new
    return seen


def _is_copied(kernels: Kernels, symbol: str) -> bool:
    """Return whether a kernel is copied into each group that calls it."""
    return kernels[symbol].inlined or sum(kernels[each].size for each in _reached(kernels, [symbol])) <= _SMALL


def _group(kernels: Kernels, number: int, own: set[str], copied: set[str], called: set[str]) -> Bitcode:
    entries = [each for symbol, each in kernels.items() if symbol in own and each.entry]
    text = assembly.head(number) + "\n".join(each.declaration for each in entries)
    modules = [each.bitcode for symbol, each in kernels.items() if symbol in own | copied]
    return Bitcode(modules, text, [each.entry for each in entries], sorted(own & called))


def _linked(modules: Sequence[bytes]) -> Any:
    """Return one module of several, in their order, so that the same sources give the same file."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    parsed = [llvm.parse_bitcode(each) for each in modules]
    while len(parsed) > 1:  # two and two: a link takes as long as both sides are large
        for one, other in zip(parsed[::2], parsed[1::2], strict=False):
            one.link_in(other)
        parsed = parsed[::2]
    return parsed[0]


class Target(NamedTuple):
    """What an object is for."""

    triple: str
    cpu: str


def finish(code: Bitcode, target: Target) -> tuple[bytes, dict[str, Any]]:
    """Return the object of a group for a target, and what a loader needs to know; needs LLVM alone."""
    import llvmlite.binding as llvm

    module = _linked(code.modules)
    static = target.triple.startswith("x86_64")
    machine = llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, opt=3, reloc="static" if static else "default", codemodel="jitdefault", jit=True
    )
    module.triple, module.data_layout = target.triple, str(machine.target_data)
    module.link_in(llvm.parse_assembly(code.wrappers))
    module.link_in(llvm.parse_assembly(_HELP))
    external = {*code.exports, *map(wrappers.symbol_of, code.names)}
    for function in module.functions:
        if not (function.is_declaration or function.name in external or function.name.startswith(assembly.WORDS)):
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
    made = machine.emit_object(module)
    return made, {"names": code.names, "builtins": builtins, "undefined": sorted(undefined), "sizes": [len(made)]}


def _finish_all(codes: Sequence[Bitcode], target: Target, report: Report) -> tuple[bytes, dict[str, Any]]:
    """Return the objects of groups one after another, and what a loader needs to know."""
    paths = [files.folder() / "groups" / f"{_hash(code, target)}.o" for code in codes]
    todo = [(path, code) for path, code in zip(paths, codes, strict=True) if store.read(path) is None]
    todo.sort(key=lambda item: -sum(map(len, item[1].modules)))  # the longest first, so that both cores end together
    try:
        with _pool(max(1, min(_cores(), len(todo))), _start_without_numba) as pool:
            for k, future in enumerate(as_completed([pool.submit(_finish_into, *each, target) for each in todo])):
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
    """Return the hash of all that the object of a group follows from."""
    import llvmlite

    how = [sources.hash_of(f"gjk3d._kernels.builder:{each}") for each in ("finish", "_linked", "_HELP")]
    how.append(sources.hash_of("gjk3d._kernels.store:write_built"))
    digest = hashlib.sha256(f"{how} {llvmlite.__version__} {target} {code[1:]}".encode())
    for each in code.modules:
        digest.update(hashlib.sha256(each).digest())
    return digest.hexdigest()


class SourcesChanged(RuntimeError):
    """The sources were edited during a build."""


def build(report: Report | None = None) -> Path:
    """Build the object for this machine, unless it is there; one process at a time does so.

    Returns
    -------
    Path
        Of the object file.

    Raises
    ------
    SourcesChanged
        What was built may be of code from before and after an edit.
    """
    import llvmlite.binding as llvm

    say = report or (lambda part: None)
    target = Target(llvm.get_process_triple(), store.cpu_level())
    path = files.folder() / store.object_name(store.machine(), target.cpu)
    with store.lock():
        if store.read(path):
            return path
        files.close(files.folder())
        with store.progress() as told:

            def both(part: float) -> None:
                told(part)
                say(part)

            shipped = read_whole(store.shipped_bitcode())
            if shipped:
                codes = [shipped]
            else:
                kernels = compile_all(sources.entries(), lambda part: both(part * (1.0 - _COST_OF_FINISH)))
                codes = in_groups(kernels)
            finished = _finish_all(codes, target, lambda part: both(1.0 - (1.0 - part) * _COST_OF_FINISH))
            if store.read_key() != store.source_key():  # a part may be compiled from the code before the edit
                raise SourcesChanged("the sources were edited while they were compiled: start again")
            store.write_built(path, *finished)
            both(1.0)
        for name, most in (("bitcode", _CACHED_KERNELS), ("groups", _CACHED_GROUPS), ("keys", _CACHED_KEYS)):
            _limit(files.folder() / name, most)
    return path


def main(given: Sequence[str] | None = None) -> int:
    """Build for this machine; started in the background, where it prints nothing."""
    parser = argparse.ArgumentParser(
        prog="python -m gjk3d._kernels.builder", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="print the path of the object and the time")
    verbose = parser.parse_args(given).verbose
    os.environ["GJK3D_CACHE_DIR"] = str(files.folder())  # for its processes, which would report a refused folder again
    start = time.perf_counter()
    try:
        path = build()
    except OSError as error:
        sys.stderr.write(f"{type(error).__name__}: {error}; GJK3D_CACHE_DIR names a folder to keep them in\n")
        return 1
    except SourcesChanged as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except (BrokenProcessPool, MemoryError):
        sys.stderr.write(f"a process that compiles was killed: each takes {_MEMORY} of memory\n")
        return 1
    if verbose:
        sys.stderr.write(f"{path} in {time.perf_counter() - start:.1f} s\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

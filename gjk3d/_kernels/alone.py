"""One kernel alone: typed and lowered by numba, handed on as bitcode; what it calls is known by its annotations.

numba compiles a kernel with everything below it, and links and optimises that anew for each caller. Here a call is a
declaration, so that each kernel is compiled once, in any process, and again only where it was edited. That takes a few
of numba's internals in hand, in a process of its own, which `install` changes for good.
"""

from __future__ import annotations

import dis
import gc
import hashlib
import importlib
import inspect
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, get_type_hints

from gjk3d._kernels import shortcuts, sources, store

Function = Callable[..., Any]


class Made(NamedTuple):
    """A kernel as bitcode, and the kernels that it calls, each with the types it calls them with."""

    symbol: str
    bitcode: bytes
    calls: list[Any]  #: names and types, None as for `compile_alone`; for the builder's groups, symbols
    declaration: str  #: of an entry, for its wrapper
    entry: str  #: its name, of what Python calls
    size: int  #: instructions
    inlined: bool


_dispatchers: dict[str, Any] = {}
_entries: set[str] = set()
_builtins: set[str] = set()
_called: list[tuple[str, tuple[Any, ...] | None]] = []


def install() -> None:
    """Make numba compile kernels alone, in this process and for good."""
    os.environ["GJK3D_KERNELS"] = "alone"
    gc.disable()  # types and IR live until the end anyway
    from numba import types
    from numba.core import codegen, cpu, dispatcher, funcdesc, typing

    from gjk3d._kernels.signatures import taken

    Dispatcher: Any = dispatcher.Dispatcher

    class Gathered(codegen.JITCodeLibrary):  # type: ignore[misc]
        """A library that is neither finalized nor optimised: its modules are all that is wanted."""

        def _ensure_finalized(self) -> None:
            pass

        def finalize(self) -> None:
            self._finalized = True

        def add_linking_library(self, library: Any) -> None:
            self._linking_libraries.append(library)

        def get_pointer_to_function(self, name: str) -> int:
            return 0

    codegen.JITCPUCodegen._library_class = Gathered
    codegen.JITCPUCodegen.set_env = lambda self, name, env: None

    numbered = cpu.CPUContext.mangler

    def mangler(self: Any, name: str, types: Any, *, abi_tags: Any = (), uid: Any = None) -> str:
        """Name our functions by what they are, not by when they were made."""
        if name.lstrip(".").startswith(("gjk3d.", "NumbaEnv.gjk3d.")):
            return str(funcdesc.default_mangler(name, types))
        return str(numbered(self, name, types, abi_tags=abi_tags, uid=uid))

    cpu.CPUContext.mangler = mangler

    of_others = Dispatcher.get_call_template

    def get_call_template(self: Any, arguments: Any, named: Any) -> Any:
        """Answer what a call of a kernel returns by its annotation; one with a literal is compiled as any other is."""
        name = _name_of(self.py_func)
        if not (name in _dispatchers and self is _dispatchers[name]):
            return of_others(self, arguments, named)
        signature, arguments = self._compiler.fold_argument_types(arguments, named)
        arguments = tuple(map(types.unliteral, arguments))
        declared(self, arguments)
        _called.append((name, None if name in _entries and arguments == taken(self.py_func) else arguments))
        signatures = [each.signature for each in self.overloads.values()]
        return typing.make_concrete_template(self.py_func.__name__, self.py_func, signatures), signature, arguments, {}

    Dispatcher.get_call_template = get_call_template

    def add_overload(self: Any, made: Any) -> None:
        self.overloads[tuple(made.signature.args)] = made

    Dispatcher.add_overload = add_overload
    shortcuts.install()


def _name_of(function: Function) -> str:
    return f"{function.__module__}:{function.__qualname__}"


def dispatcher(function: Function, more: dict[str, Any]) -> Any:
    """Return numba's dispatcher of a kernel; see `gjk3d._kernels.decorators`."""
    import numba

    made = numba.njit(
        error_model="numpy", nogil=True, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True,
        pipeline_class=shortcuts.pipeline(), **more,
    )(function)  # fmt: skip
    _dispatchers[_name_of(function)] = made
    return made


def entry(function: Function) -> Any:
    """Return the dispatcher of a kernel that Python calls."""
    _entries.add(_name_of(function))
    return dispatcher(function, {})


def builtin(function: Function) -> Any:
    """Return the dispatcher of a kernel that CPython calls."""
    _builtins.add(_name_of(function))
    return dispatcher(function, {})


class Declared:
    """A kernel that is compiled elsewhere, in the place of a compiled one: its name and types are known."""

    objectmode = False

    def __init__(self, dispatcher: Any, arguments: tuple[Any, ...]) -> None:
        from numba.core import funcdesc, typing

        from gjk3d._kernels.signatures import returned

        function, context = dispatcher.py_func, dispatcher.targetctx
        self.signature = typing.signature(returned(function), *arguments)
        self.entry_point = object()
        self.target_context = context
        self.fndesc = funcdesc.PythonFunctionDescriptor(
            True, function.__module__, function.__qualname__, function.__qualname__, "", None,
            self.signature.return_type, None, tuple(dispatcher._compiler.pysig.parameters), (),
            mangler=context.mangler, argtypes=arguments, inline=dispatcher.targetoptions.get("forceinline", False),
        )  # fmt: skip
        context.insert_user_function(self.entry_point, self.fndesc, [])


def declared(dispatcher: Any, arguments: tuple[Any, ...]) -> Declared:
    """Return the declaration of a kernel for these types, made when it is first called."""
    if arguments not in dispatcher.overloads:
        dispatcher.overloads[arguments] = Declared(dispatcher, arguments)
    found: Declared = dispatcher.overloads[arguments]
    return found


def dispatcher_of(name: str) -> Any:
    """Return the dispatcher of a kernel, ``module:function``."""
    importlib.import_module(name.partition(":")[0])
    return _dispatchers[name]


def compile_alone(name: str, arguments: tuple[Any, ...] | None) -> Made:
    """Compile a kernel for types; None are those that an entry is annotated with.

    Raises
    ------
    TypeError
        It returns something else than its annotation says.
    """
    from numba import types

    from gjk3d._kernels.signatures import taken

    dispatcher = dispatcher_of(name)
    entry = arguments is None
    arguments = taken(dispatcher.py_func) if arguments is None else arguments
    _called.clear()
    compiled = dispatcher._compiler.compile(arguments, None)
    known = declared(dispatcher, arguments)
    symbol, said = compiled.fndesc.llvm_func_name, known.signature.return_type
    if types.unliteral(compiled.signature.return_type) != said or symbol != known.fndesc.llvm_func_name:
        raise TypeError(f"{name} returns {compiled.signature.return_type} and is annotated as {said}")
    module = _linked(compiled.library)
    for function in module.functions:
        if not function.is_declaration and function.name != symbol:
            function.linkage = "internal"
    from gjk3d._kernels import wrappers

    way_in = wrappers.builtin if name in _builtins else wrappers.wrapper
    text = way_in(name, known) if entry else ""
    size = sum(1 for each in module.functions for block in each.blocks for _ in block.instructions)
    inlined = bool(dispatcher.targetoptions.get("forceinline"))
    called = list(dict.fromkeys(_called))
    return Made(symbol, module.as_bitcode(), called, text, name if entry else "", size, inlined)


def _linked(library: Any) -> Any:
    """Return one module of a library and of what numba itself adds to it."""
    seen: dict[Any, None] = {}

    def visit(each: Any) -> None:
        if each not in seen:
            seen[each] = None
            for other in each._linking_libraries:
                visit(other)

    visit(library)
    first, *others = seen
    for other in others:
        first._final_module.link_in(other._final_module, preserve=True)
    return first._final_module


def write(path: Path, made: Made) -> None:
    """Write a compiled kernel into the cache."""
    from gjk3d._kernels.signatures import to_json

    calls = [(name, types if types is None else [to_json(each) for each in types]) for name, types in made.calls]
    facts = made._replace(bitcode=b"", calls=calls)._asdict()
    del facts["bitcode"]
    store.write_built(path, made.bitcode, facts)


def read(path: Path) -> Made | None:
    """Return the compiled kernel that `write` wrote, or None if the cache does not have it."""
    from gjk3d._kernels.signatures import from_json

    if (built := store.read(path)) is None:
        return None
    try:
        calls = [(name, types and tuple(map(from_json, types))) for name, types in built.facts["calls"]]
    except (ImportError, AttributeError):  # a NamedTuple was moved or renamed since: the kernel is compiled again
        return None
    return Made(bitcode=built.content, **{**built.facts, "calls": calls})


def content_of(name: str, arguments: tuple[Any, ...] | None) -> str:
    """Return a hash of all that the bitcode of a kernel follows from: its code, its types, constants, what it calls.

    The code is that of the imported function, so an edit of its file during a build changes nothing.
    """
    from gjk3d._kernels.signatures import returned, taken

    function = dispatcher_of(name).py_func
    # annotations are names, which stand for other types when their definition is edited
    known = ("entry", *taken(function)) if arguments is None else arguments
    kind = (_dispatchers[name].targetoptions.get("forceinline"), name in _builtins)
    head = f"{_way()} {name} {kind} {inspect.signature(function)} {known} {returned(function)}"
    digest = hashlib.sha256(f"{head}\n{_steps(function.__code__)}\n".encode())
    for used in sorted(set(_names(function.__code__))):
        digest.update(f"{used} {_meaning(function.__globals__.get(used), function)}\n".encode())
    return digest.hexdigest()


def _steps(code: Any) -> list[str]:
    """Return the instructions of a function, which have no positions and no docstring."""
    values = [(each.opname, each.argval) for each in dis.get_instructions(code)]
    return [f"{name} {_steps(value) if inspect.iscode(value) else value!r}" for name, value in values]


_HOW = ("alone", "callback", "cpython", "shortcuts", "signatures")


@cache
def _way() -> str:
    """Return what the bitcode of every kernel follows from: how it is made."""
    import numba

    code = " ".join(sources.hash_of(f"gjk3d._kernels.{each}") for each in _HOW)
    return f"{numba.__version__} {code}"


def _names(code: Any) -> list[str]:
    inner = [name for each in code.co_consts if inspect.iscode(each) for name in _names(each)]
    return [*code.co_names, *inner]


def _meaning(value: Any, function: Function) -> str:
    """Return what a global name of a kernel stands for, as far as its code depends on it."""
    from gjk3d._kernels.signatures import returned

    if hasattr(value, "py_func"):
        inlined = value.targetoptions.get("forceinline")
        return f"{_name_of(value.py_func)} {inspect.signature(value.py_func)} {returned(value.py_func)} {inlined}"
    if isinstance(value, ModuleType):
        used = _names(function.__code__)
        return str([(name, _meaning(getattr(value, name, None), function)) for name in used if hasattr(value, name)])
    if isinstance(value, type) and hasattr(value, "_fields"):
        return f"{value.__qualname__} {get_type_hints(value, include_extras=True)}"
    if callable(value):
        return getattr(value, "__qualname__", type(value).__name__)
    return value.tobytes().hex() if hasattr(value, "tobytes") else repr(value)

"""Compilation of single kernels to bitcode with numba, and numba's types of their annotations.

By default numba compiles a kernel together with all kernels that it calls, and again for each caller. In the builder a
call is compiled as a declaration, whose types are the annotations of the called kernel. Each kernel is therefore
compiled once, and again only after an edit of it. For this, `install` changes functions of numba for the rest of the
process.

`install` also removes steps of numba that do not change kernels. Kernels are functions of numbers, tuples and
arrays, without generators, closures, reference counts and array expressions, and the builder optimises them later.
"""

from __future__ import annotations

import dis
import gc
import hashlib
import importlib
import inspect
import os
import typing
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, NamedTuple, get_type_hints

from numba import types

from gjk3d._kernels import sources, store
from gjk3d.typing import Array, Bits, Bools, Floats32, Ints, Ints32

# --- types of annotations --------------------------------------------------------------------------------------------


_PLAIN = {float: types.float64, int: types.int64, bool: types.boolean, type(None): types.none}
_ITEMS = {
    Array: types.float64, Ints: types.int64, Floats32: types.float32, Ints32: types.int32, Bools: types.boolean,
    Bits: types.uint8,
}  # fmt: skip


def numba_type(hint: Any) -> Any:
    """Return numba's type for an annotation. Raise a TypeError for an array type without its number of dimensions."""
    if hint in _PLAIN:
        return _PLAIN[hint]
    if typing.get_origin(hint) is Annotated:
        array, dimensions = typing.get_args(hint)
        return types.Array(_ITEMS[array], dimensions, "C")
    if typing.get_origin(hint) is tuple:
        return types.Tuple([numba_type(item) for item in typing.get_args(hint)])
    if isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields"):
        fields = typing.get_type_hints(hint, include_extras=True)
        return types.NamedTuple([numba_type(fields[name]) for name in hint._fields], hint)
    raise TypeError(f"{hint} is not a complete type. Use Array2 or another type with its number of dimensions.")


@cache
def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    return typing.get_type_hints(function, include_extras=True)


def return_type(function: Callable[..., Any]) -> Any:
    """Return numba's type for the annotated result of a kernel."""
    try:
        return numba_type(_hints(function)["return"])
    except TypeError as reason:
        raise TypeError(f"{function.__module__}.{function.__qualname__}: the return type {reason}") from None


def parameter_types(function: Callable[..., Any]) -> tuple[Any, ...]:
    """Return numba's types for the annotated parameters of an entry."""
    hints = {name: hint for name, hint in _hints(function).items() if name != "return"}
    try:
        return tuple(numba_type(hint) for hint in hints.values())
    except TypeError as reason:
        raise TypeError(f"{function.__module__}.{function.__qualname__}: the parameter type {reason}") from None


_SCALARS = {str(kind): kind for kind in (*_PLAIN.values(), *_ITEMS.values())}


def to_json(kind: Any) -> Any:
    """Return a numba type in a form for JSON: a scalar as its name, a tuple as a list, other types as an object.

    Raise a TypeError for a type that `numba_type` does not return.
    """
    if isinstance(kind, types.Array) and kind.layout == "C" and kind.aligned:
        return {"items": to_json(kind.dtype), "dimensions": kind.ndim, "readonly": not kind.mutable}
    if isinstance(kind, types.NamedTuple):
        name = f"{kind.instance_class.__module__}:{kind.instance_class.__qualname__}"
        return {"class": name, "fields": [to_json(field) for field in kind.types]}
    if type(kind) in (types.Tuple, types.UniTuple):
        return [to_json(item) for item in kind.types]
    if str(kind) not in _SCALARS:
        raise TypeError(
            f"a kernel is called with {kind}, which is not a type of an annotation. Convert the argument to one of "
            f"{', '.join(_SCALARS)}."
        )
    return str(kind)


def from_json(kind: Any) -> Any:
    """Return the numba type that `to_json` converted to this form."""
    if isinstance(kind, str):
        return _SCALARS[kind]
    if isinstance(kind, list):
        return types.Tuple([from_json(item) for item in kind])
    if "class" in kind:
        module, _, name = kind["class"].partition(":")
        return types.NamedTuple([from_json(field) for field in kind["fields"]], getattr(import_module(module), name))
    return types.Array(from_json(kind["items"]), kind["dimensions"], "C", readonly=kind["readonly"])


# --- one kernel ------------------------------------------------------------------------------------------------------


Function = Callable[..., Any]


class CompiledKernel(NamedTuple):
    """A compiled kernel, and the kernels that it calls."""

    symbol: str
    bitcode: bytes
    #: the arguments of `compile_alone` for each kernel that it calls, or the symbols of these kernels (in `Kernels`)
    calls: list[Any]
    declaration: str  #: the wrapper of an entry as LLVM text, empty for other kernels
    entry: str  #: the name of an entry, empty for other kernels
    size: int  #: number of instructions
    inlined: bool


_dispatchers: dict[str, Any] = {}
_entries: set[str] = set()
_builtins: set[str] = set()
_called: list[tuple[str, tuple[Any, ...] | None]] = []


def install() -> None:
    """Make numba compile each kernel without the kernels that it calls, for the rest of this process."""
    os.environ["GJK3D_KERNELS"] = "alone"
    gc.disable()  # types and instructions are needed until the process ends
    from numba import types
    from numba.core import codegen, cpu, dispatcher, funcdesc, typing

    Dispatcher: Any = dispatcher.Dispatcher

    class Gathered(codegen.JITCodeLibrary):  # type: ignore[misc]
        """A code library of numba that is neither finalized nor optimised, because only its modules are used."""

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
        """Return the symbol of a function. Symbols of gjk3d are without serial numbers, and equal in all processes."""
        if name.lstrip(".").startswith(("gjk3d.", "NumbaEnv.gjk3d.")):
            return str(funcdesc.default_mangler(name, types))
        return str(numbered(self, name, types, abi_tags=abi_tags, uid=uid))

    cpu.CPUContext.mangler = mangler

    usual_template = Dispatcher.get_call_template

    def get_call_template(self: Any, arguments: Any, named: Any) -> Any:
        """Return the signature of a call from the annotations of the called kernel. A literal has its plain type."""
        name = _name_of(self.py_func)
        if not (name in _dispatchers and self is _dispatchers[name]):
            return usual_template(self, arguments, named)
        signature, arguments = self._compiler.fold_argument_types(arguments, named)
        arguments = tuple(map(types.unliteral, arguments))
        declared(self, arguments)
        _called.append((name, None if name in _entries and arguments == parameter_types(self.py_func) else arguments))
        signatures = [overload.signature for overload in self.overloads.values()]
        return typing.make_concrete_template(self.py_func.__name__, self.py_func, signatures), signature, arguments, {}

    Dispatcher.get_call_template = get_call_template

    def add_overload(self: Any, compiled: Any) -> None:
        self.overloads[tuple(compiled.signature.args)] = compiled

    Dispatcher.add_overload = add_overload
    _shorten()


def _name_of(function: Function) -> str:
    return f"{function.__module__}:{function.__qualname__}"


def dispatcher(function: Function, more: dict[str, Any]) -> Any:
    """Return numba's dispatcher of a kernel. ``more`` are more options of ``numba.njit``."""
    import numba

    kernel = numba.njit(
        error_model="numpy", nogil=True, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True,
        pipeline_class=_pipeline(), **more,
    )(function)  # fmt: skip
    _dispatchers[_name_of(function)] = kernel
    return kernel


def entry(function: Function) -> Any:
    """Return numba's dispatcher of a kernel that Python calls."""
    _entries.add(_name_of(function))
    return dispatcher(function, {})


def builtin(function: Function) -> Any:
    """Return numba's dispatcher of a kernel that CPython calls with addresses."""
    _builtins.add(_name_of(function))
    return dispatcher(function, {})


class Declared:
    """The name and the types of a called kernel. numba uses them in place of the compiled kernel."""

    objectmode = False

    def __init__(self, dispatcher: Any, arguments: tuple[Any, ...]) -> None:
        from numba.core import funcdesc, typing

        function, context = dispatcher.py_func, dispatcher.targetctx
        self.signature = typing.signature(return_type(function), *arguments)
        self.entry_point = object()
        self.target_context = context
        self.fndesc = funcdesc.PythonFunctionDescriptor(
            True, function.__module__, function.__qualname__, function.__qualname__, "", None,
            self.signature.return_type, None, tuple(dispatcher._compiler.pysig.parameters), (),
            mangler=context.mangler, argtypes=arguments, inline=dispatcher.targetoptions.get("forceinline", False),
        )  # fmt: skip
        context.insert_user_function(self.entry_point, self.fndesc, [])


def declared(dispatcher: Any, arguments: tuple[Any, ...]) -> Declared:
    """Return the declaration of a kernel for arguments of these types. The first call creates it."""
    if arguments not in dispatcher.overloads:
        dispatcher.overloads[arguments] = Declared(dispatcher, arguments)
    declaration: Declared = dispatcher.overloads[arguments]
    return declaration


def dispatcher_of(name: str) -> Any:
    """Return numba's dispatcher of the kernel with the name "module:function"."""
    importlib.import_module(name.partition(":")[0])
    return _dispatchers[name]


def compile_alone(name: str, arguments: tuple[Any, ...] | None) -> CompiledKernel:
    """Return the kernel with this name, compiled for arguments of these types.

    If ``arguments`` is None, the kernel is an entry, and its annotations give the types.

    Raise a TypeError if the type of the result differs from its annotation.
    """
    from numba import types

    dispatcher = dispatcher_of(name)
    entry = arguments is None
    arguments = parameter_types(dispatcher.py_func) if arguments is None else arguments
    _called.clear()
    compiled = dispatcher._compiler.compile(arguments, None)
    declaration = declared(dispatcher, arguments)
    symbol, annotated = compiled.fndesc.llvm_func_name, declaration.signature.return_type
    if types.unliteral(compiled.signature.return_type) != annotated or symbol != declaration.fndesc.llvm_func_name:
        raise TypeError(
            f"{name} returns {compiled.signature.return_type} and is annotated as {annotated}. Correct the annotation."
        )
    module = _linked(compiled.library)
    for function in module.functions:
        if not function.is_declaration and function.name != symbol:
            function.linkage = "internal"
    from gjk3d._kernels.calls import assembly

    wrap = assembly.builtin if name in _builtins else assembly.wrapper
    text = wrap(name, declaration) if entry else ""
    size = sum(1 for function in module.functions for block in function.blocks for _ in block.instructions)
    inlined = bool(dispatcher.targetoptions.get("forceinline"))
    called = list(dict.fromkeys(_called))
    return CompiledKernel(symbol, module.as_bitcode(), called, text, name if entry else "", size, inlined)


def _linked(library: Any) -> Any:
    """Return the module of a code library, linked with the modules of all libraries that numba links to the library."""
    libraries: dict[Any, None] = {}

    def visit(item: Any) -> None:
        if item not in libraries:
            libraries[item] = None
            for linked in item._linking_libraries:
                visit(linked)

    visit(library)
    first, *others = (item._final_module for item in libraries)
    for module in others:
        first.link_in(module, preserve=True)
    return first


def write(path: Path, kernel: CompiledKernel) -> None:
    """Write a compiled kernel to a file of the cache."""
    calls = [(name, types if types is None else [to_json(kind) for kind in types]) for name, types in kernel.calls]
    facts = kernel._replace(bitcode=b"", calls=calls)._asdict()
    del facts["bitcode"]
    store.write_built(path, kernel.bitcode, facts)


def read(path: Path) -> CompiledKernel | None:
    """Return the compiled kernel in a file of `write`, or None if the file is missing or cannot be used."""
    if (built := store.read(path)) is None:
        return None
    try:
        calls = [
            (name, None if types is None else tuple(map(from_json, types))) for name, types in built.facts["calls"]
        ]
    except (ImportError, AttributeError):  # a NamedTuple was moved or renamed, so the kernel is compiled again
        return None
    return CompiledKernel(bitcode=built.content, **{**built.facts, "calls": calls})


def content_of(name: str, arguments: tuple[Any, ...] | None) -> str:
    """Return a hash of all that determines the bitcode of a kernel: its code, types and constants, and its callees.

    The code is that of the imported function, so an edit of its file during a build does not matter.
    """
    function = dispatcher_of(name).py_func
    # an annotation is only a name, so the types are part of the hash
    key_types = ("entry", *parameter_types(function)) if arguments is None else arguments
    kind = (_dispatchers[name].targetoptions.get("forceinline"), name in _builtins)
    head = f"{_build_key()} {name} {kind} {inspect.signature(function)} {key_types} {return_type(function)}"
    digest = hashlib.sha256(f"{head}\n{_steps(function.__code__)}\n".encode())
    for used in sorted(set(_names(function.__code__))):
        digest.update(f"{used} {_meaning(function.__globals__.get(used), function)}\n".encode())
    return digest.hexdigest()


def _steps(code: Any) -> list[str]:
    """Return the bytecode instructions of a function as text, without positions and docstring."""
    values = [(step.opname, step.argval) for step in dis.get_instructions(code)]
    return [f"{name} {_steps(value) if inspect.iscode(value) else value!r}" for name, value in values]


#: modules that determine the bitcode of every kernel, and the wrappers that are cached with it
_COMPILING = ("addresses", "alone", "calls.assembly", "vectors")


@cache
def _build_key() -> str:
    """Return a text that identifies numba and the modules `_COMPILING`, on which all bitcode depends."""
    import numba

    code = " ".join(sources.hash_of(f"gjk3d._kernels.{module}") for module in _COMPILING)
    return f"{numba.__version__} {code}"


def _names(code: Any) -> list[str]:
    inner = [name for constant in code.co_consts if inspect.iscode(constant) for name in _names(constant)]
    return [*code.co_names, *inner]


def _meaning(value: Any, function: Function) -> str:
    """Return a text that contains everything about the value of a global name that affects kernels."""
    if hasattr(value, "py_func"):
        inlined = value.targetoptions.get("forceinline")
        return f"{_name_of(value.py_func)} {inspect.signature(value.py_func)} {return_type(value.py_func)} {inlined}"
    if isinstance(value, ModuleType):
        used = _names(function.__code__)
        return str([(name, _meaning(getattr(value, name, None), function)) for name in used if hasattr(value, name)])
    if isinstance(value, type) and hasattr(value, "_fields"):
        return f"{value.__qualname__} {get_type_hints(value, include_extras=True)}"
    if callable(value):
        return getattr(value, "__qualname__", type(value).__name__)
    return value.tobytes().hex() if hasattr(value, "tobytes") else repr(value)


def _shorten() -> None:
    """Make numba compile with fewer steps, for the rest of this process."""
    _optimise_at_once()
    _cache_operator_types()
    _cache_sizes()
    _list_variables_fast()
    _skip_lifetimes()
    _find_single_assignments()
    _fold_extract_of_insert()
    _read_arrays_in_place()


def _pipeline() -> Any:
    """Return numba's compiler class without the passes that do not change kernels."""
    from numba.core import compiler, typed_passes, untyped_passes
    from numba.core.compiler_machinery import PassManager

    passes = (
        untyped_passes.TranslateByteCode, untyped_passes.FixupArgs, untyped_passes.IRProcessing,
        untyped_passes.RewriteSemanticConstants, untyped_passes.DeadBranchPrune, untyped_passes.GenericRewrites,
        untyped_passes.ReconstructSSA, typed_passes.NopythonTypeInference, typed_passes.PreLowerStripPhis,
        typed_passes.NativeLowering, typed_passes.NoPythonBackend,
    )  # fmt: skip

    class Short(compiler.CompilerBase):  # type: ignore[misc]
        def define_pipelines(self) -> list[Any]:
            manager = PassManager("kernel")
            for step in passes:
                manager.add_pass(step, step.__name__)
            manager.finalize()
            return [manager]

    return Short


#: Beginnings of the symbols of kernels that are optimised at level 3: at level 1, a query of two boxes is 5 % slower.
_HOT = ("_ZN5gjk3d6narrow", "_ZN5gjk3d8geometry", "_ZN5gjk3d5poses")


def _optimise_at_once() -> None:
    """Make numba create its pass managers once for all modules, and skip the verification of modules.

    The builder verifies and optimises all kernels later. The level of these passes affects which kernels LLVM inlines
    in the builder.
    """
    from llvmlite import binding
    from numba.core import codegen, cpu

    prepared: dict[int, Any] = {}

    def manager(machine: Any, level: int) -> Any:
        if level not in prepared:
            options = binding.create_pipeline_tuning_options(speed_level=level)
            builder = binding.create_pass_builder(machine, options)
            prepared[level] = builder.getFunctionPassManager(), builder
        return prepared[level]

    def optimise(self: Any, module: Any) -> None:
        functions = [function for function in module.functions if not function.is_declaration]
        level = 3 if any(function.name.startswith(_HOT) for function in functions) else 1
        passes, builder = manager(self._codegen._tm, level)
        for function in functions:
            passes.run(function, builder)

    def nothing(*_: Any, **__: Any) -> None:
        pass

    codegen.CPUCodeLibrary._optimize_functions = optimise
    cpu.CPUContext.post_lowering = nothing  # it adds functions that count references
    cpu.CPUContext.create_cpython_wrapper = cpu.CPUContext.create_cfunc_wrapper = nothing


def _cache_operator_types() -> None:
    """Make numba resolve a call of one of its own functions only once for each combination of argument types."""
    from numba.core.types import functions

    Base: Any = functions.BaseFunction
    resolve = Base.get_call_type

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        signatures = self.__dict__.setdefault("_gjk3d_signatures", {})
        key = tuple(args), tuple(kws.items())
        if key not in signatures:
            signatures[key] = resolve(self, context, args, kws)
        return signatures[key]

    Base.get_call_type = get_call_type


def _cache_sizes() -> None:
    """Make llvmlite compute the size of a type only once, because it writes and parses a module for each call."""
    from llvmlite.ir import types

    for name in ("get_abi_size", "get_abi_alignment"):
        setattr(types.Type, name, _cached(getattr(types.Type, name)))


def _cached(measure: Callable[..., Any]) -> Callable[..., Any]:
    sizes: dict[Any, Any] = {}

    def cached(self: Any, *more: Any) -> Any:
        if self not in sizes:
            sizes[self] = measure(self, *more)
        return sizes[self]

    return cached


def _list_variables_fast() -> None:
    """Make numba collect the variables of an instruction in one list, without a list for each of its parts."""
    from numba.core import ir

    def gather(value: Any, variables: list[Any]) -> None:
        kind = type(value)
        if kind is ir.Var:
            variables.append(value)
        elif kind is dict:
            for part in value.values():
                gather(part, variables)
        elif kind is tuple or kind is list:
            for part in value:
                gather(part, variables)
        elif isinstance(value, ir.Inst):
            variables.extend(value.list_vars())

    def listed(self: Any, value: Any) -> list[Any]:
        variables: list[Any] = []
        gather(value, variables)
        return variables

    ir.Inst._rec_list_vars = listed


def _skip_lifetimes() -> None:
    """Make numba skip the analysis of the lifetimes of variables, which only reference counts and generators need."""
    from numba.core import postproc, transforms

    def run(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        self.func_ir.blocks = transforms.canonicalize_cfg(self.func_ir.blocks)
        self.func_ir.variable_lifetime = postproc.VariableLifetime(self.func_ir.blocks)
        self.func_ir.generator_info = None

    postproc.PostProcessor.run = run


def _find_single_assignments() -> None:
    """Make numba keep a variable as a value, and not in memory, if a single assignment dominates all of its uses."""
    from numba.core import analysis, ir, lowering

    def find(self: Any) -> None:
        blocks = self.func_ir.blocks
        dominators, use_defs = analysis.compute_cfg_from_blocks(blocks).dominators(), analysis.compute_use_defs(blocks)
        uses: dict[str, set[int]] = {}
        for label, names in use_defs.usemap.items():
            for name in names:
                uses.setdefault(name, set()).add(label)
        assigned: dict[str, list[int]] = {}
        for label, block in blocks.items():
            for assignment in block.find_insts(ir.Assign):
                assigned.setdefault(assignment.target.name, []).append(label)
        self._blk_local_varmap = {}
        self._singly_assigned_vars = {
            name
            for name, (label, *more) in assigned.items()
            if not more and all(label != use and label in dominators[use] for use in uses.get(name, ()))
        } - lowering.must_use_alloca(blocks)

    lowering.Lower._find_singly_assigned_variable = find


def _fold_extract_of_insert() -> None:
    """Make llvmlite return a value that was inserted into a tuple or array, without an instruction that extracts it.

    Otherwise half of all instructions would be such extractions.
    """
    from llvmlite import ir
    from llvmlite.ir import instructions

    emit = ir.IRBuilder.extract_value

    def extract_value(self: Any, value: Any, index: Any, name: str = "") -> Any:
        path = [*index] if isinstance(index, (tuple, list)) else [index]
        while isinstance(value, instructions.InsertValue):
            into, part = value.operands
            shared = min(len(path), len(value.indices))
            if path[:shared] != [*value.indices[:shared]]:
                value = into
            elif shared < len(value.indices):
                break  # only a part of the value was inserted
            else:
                value, path = part, path[shared:]
                if not path:
                    return value
        return emit(self, value, path, name)

    ir.IRBuilder.extract_value = extract_value


def _read_arrays_in_place() -> None:
    """Make numba extract the fields of an array from its value, without storing the array on the stack first."""
    from llvmlite import ir
    from numba.core import types
    from numba.np import arrayobj

    of_numba, index_of_numba = arrayobj.make_array, arrayobj.basic_indexing

    class ReadArray:
        """An array whose fields are only read."""

        def __init__(self, context: Any, builder: Any, kind: Any, value: Any) -> None:
            self._context, self._builder, self._kind, self._value = context, builder, kind, value
            self._model = context.data_model_manager[kind]

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                return getattr(of_numba(self._kind)(self._context, self._builder, self._value), name)
            return self._builder.extract_value(self._value, self._model.get_field_position(name))

        def _getvalue(self) -> Any:
            return self._value

        def _part(self, name: str, axis: int) -> Any:
            return self._builder.extract_value(self._value, [self._model.get_field_position(name), axis])

    def make_array(kind: Any) -> Any:
        usual = of_numba(kind)

        def proxy(context: Any, builder: Any, value: Any = None, ref: Any = None) -> Any:
            if value is None or type(kind) is not types.Array:
                return usual(context, builder, value, ref)
            return ReadArray(context, builder, kind, value)

        return proxy

    def make_view(
        context: Any, builder: Any, _: Any, array: Any, kind: Any, data: Any, shapes: Any, strides: Any
    ) -> Any:
        model, value = context.data_model_manager[kind], ir.Constant(context.get_value_type(kind), ir.Undefined)
        items = shapes[0]
        for length in shapes[1:]:
            items = builder.mul(items, length)
        fields = {"meminfo": array.meminfo, "parent": array.parent, "nitems": items, "itemsize": array.itemsize}
        for name, field in {**fields, "data": data}.items():
            value = builder.insert_value(value, field, model.get_field_position(name))
        for name, fields in (("shape", shapes), ("strides", strides)):
            for axis, size in enumerate(fields):
                value = builder.insert_value(value, size, [model.get_field_position(name), axis])
        return ReadArray(context, builder, kind, value)

    def basic_indexing(
        context: Any, builder: Any, kind: Any, array: Any, index_types: Any, indices: Any, boundscheck: Any = None
    ) -> Any:
        is_item = all(isinstance(index_type, types.Integer) for index_type in index_types)
        if not (is_item and isinstance(array, ReadArray) and kind.layout == "C"):
            return index_of_numba(context, builder, kind, array, index_types, indices, boundscheck)
        shape, place = [array._part("shape", axis) for axis in range(kind.ndim)], None
        for axis in range(kind.ndim):
            if place is not None:
                place = builder.mul(place, shape[axis])
            if axis < len(indices):
                index = arrayobj.fix_integer_index(context, builder, index_types[axis], indices[axis], shape[axis])
                place = index if place is None else builder.add(place, index)
        axes = range(len(indices), kind.ndim)
        strides = [array._part("strides", axis) for axis in axes]
        return builder.gep(array.data, [place]), [shape[axis] for axis in axes], strides

    arrayobj.make_array, arrayobj.make_view, arrayobj.basic_indexing = make_array, make_view, basic_indexing

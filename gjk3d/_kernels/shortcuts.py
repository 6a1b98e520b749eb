"""What numba does for every kernel and need not: left out, or done once and remembered.

Kernels are plain functions of numbers, tuples and arrays, without generators, closures, reference counts or array
expressions, and the builder optimises all of them at its end. So most of numba's passes find nothing, its own
optimising is done again, and it asks the same questions about operators and layouts for each kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def install() -> None:
    """Make numba compile with fewer steps, in this process and for good."""
    _optimise_at_once()
    _remember_what_operators_return()
    _remember_sizes()
    _list_variables_fast()
    _forget_lifetimes()
    _keep_what_is_assigned_once()
    _take_what_was_put()
    _read_arrays_in_place()


def pipeline() -> Any:
    """Return numba's compiler without the passes that find nothing in a kernel."""
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
            made = PassManager("kernel")
            for each in passes:
                made.add_pass(each, each.__name__)
            made.finalize()
            return [made]

    return Short


#: rooms, as symbols begin, whose kernels take microseconds together: box against box is a twentieth slower at level 1
_HOT = ("_ZN5gjk3d6narrow", "_ZN5gjk3d8geometry", "_ZN5gjk3d5poses")


def _optimise_at_once() -> None:
    """Prepare the pass managers for all modules, and check none: the builder checks all of it together.

    At its end it optimises all as far as it can; what is done before decides what is put into what.
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
        functions = [each for each in module.functions if not each.is_declaration]
        level = 3 if any(each.name.startswith(_HOT) for each in functions) else 1
        passes, builder = manager(self._codegen._tm, level)
        for function in functions:
            passes.run(function, builder)

    def nothing(*_: Any, **__: Any) -> None:
        pass

    codegen.CPUCodeLibrary._optimize_functions = optimise
    cpu.CPUContext.post_lowering = nothing  # it brings functions that count references
    cpu.CPUContext.create_cpython_wrapper = cpu.CPUContext.create_cfunc_wrapper = nothing


def _remember_what_operators_return() -> None:
    """Resolve a call of numba's own functions once for each types of arguments."""
    from numba.core.types import functions

    Base: Any = functions.BaseFunction
    resolve = Base.get_call_type

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        known = self.__dict__.setdefault("_known", {})
        key = tuple(args), tuple(kws.items())
        if key not in known:
            known[key] = resolve(self, context, args, kws)
        return known[key]

    Base.get_call_type = get_call_type


def _remember_sizes() -> None:
    """Ask LLVM once for the size of a type: llvmlite writes a module and has it parsed."""
    from llvmlite.ir import types

    for name in ("get_abi_size", "get_abi_alignment"):
        setattr(types.Type, name, _remembered(getattr(types.Type, name)))


def _remembered(ask: Callable[..., Any]) -> Callable[..., Any]:
    known: dict[Any, Any] = {}

    def answer(self: Any, *more: Any) -> Any:
        if self not in known:
            known[self] = ask(self, *more)
        return known[self]

    return answer


def _list_variables_fast() -> None:
    """Gather the variables of an instruction in one list."""
    from numba.core import ir

    def gather(value: Any, found: list[Any]) -> None:
        kind = type(value)
        if kind is ir.Var:
            found.append(value)
        elif kind is dict:
            for each in value.values():
                gather(each, found)
        elif kind is tuple or kind is list:
            for each in value:
                gather(each, found)
        elif isinstance(value, ir.Inst):
            found.extend(value.list_vars())

    def listed(self: Any, value: Any) -> list[Any]:
        found: list[Any] = []
        gather(value, found)
        return found

    ir.Inst._rec_list_vars = listed


def _forget_lifetimes() -> None:
    """Leave out where variables live and end: that is for generators and for reference counts."""
    from numba.core import postproc, transforms

    def run(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        self.func_ir.blocks = transforms.canonicalize_cfg(self.func_ir.blocks)
        self.func_ir.variable_lifetime = postproc.VariableLifetime(self.func_ir.blocks)
        self.func_ir.generator_info = None

    postproc.PostProcessor.run = run


def _keep_what_is_assigned_once() -> None:
    """Keep as a value what is assigned once, before all its uses, where numba stores and loads it between blocks."""
    from numba.core import analysis, ir, lowering

    def find(self: Any) -> None:
        blocks = self.func_ir.blocks
        before, found = analysis.compute_cfg_from_blocks(blocks).dominators(), analysis.compute_use_defs(blocks)
        uses: dict[str, set[int]] = {}
        for label, names in found.usemap.items():
            for name in names:
                uses.setdefault(name, set()).add(label)
        assigned: dict[str, list[int]] = {}
        for label, block in blocks.items():
            for each in block.find_insts(ir.Assign):
                assigned.setdefault(each.target.name, []).append(label)
        self._blk_local_varmap = {}
        self._singly_assigned_vars = {
            name
            for name, (label, *more) in assigned.items()
            if not more and all(label != use and label in before[use] for use in uses.get(name, ()))
        } - lowering.must_use_alloca(blocks)

    lowering.Lower._find_singly_assigned_variable = find


def _take_what_was_put() -> None:
    """Give back what was put into a tuple or an array: else half of all instructions take it out again."""
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
                break  # only a part of it was put there
            else:
                value, path = part, path[shared:]
                if not path:
                    return value
        return emit(self, value, path, name)

    ir.IRBuilder.extract_value = extract_value


def _read_arrays_in_place() -> None:
    """Take the fields of an array out of its value, where numba stores it on the stack and loads it again."""
    from llvmlite import ir
    from numba.core import types
    from numba.np import arrayobj

    of_numba, index_of_numba = arrayobj.make_array, arrayobj.basic_indexing

    class Held:
        """An array that is read, never written."""

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
        made = of_numba(kind)

        def proxy(context: Any, builder: Any, value: Any = None, ref: Any = None) -> Any:
            if value is None or type(kind) is not types.Array:
                return made(context, builder, value, ref)
            return Held(context, builder, kind, value)

        return proxy

    def make_view(
        context: Any, builder: Any, _: Any, array: Any, kind: Any, data: Any, shapes: Any, strides: Any
    ) -> Any:
        model, value = context.data_model_manager[kind], ir.Constant(context.get_value_type(kind), ir.Undefined)
        items = shapes[0]
        for each in shapes[1:]:
            items = builder.mul(items, each)
        fields = {"meminfo": array.meminfo, "parent": array.parent, "nitems": items, "itemsize": array.itemsize}
        for name, field in {**fields, "data": data}.items():
            value = builder.insert_value(value, field, model.get_field_position(name))
        for name, fields in (("shape", shapes), ("strides", strides)):
            for axis, each in enumerate(fields):
                value = builder.insert_value(value, each, [model.get_field_position(name), axis])
        return Held(context, builder, kind, value)

    def basic_indexing(
        context: Any, builder: Any, kind: Any, array: Any, index_types: Any, indices: Any, boundscheck: Any = None
    ) -> Any:
        whole = all(isinstance(each, types.Integer) for each in index_types)
        if not (whole and isinstance(array, Held) and kind.layout == "C"):
            return index_of_numba(context, builder, kind, array, index_types, indices, boundscheck)
        shape, place = [array._part("shape", axis) for axis in range(kind.ndim)], None
        for axis in range(kind.ndim):
            if place is not None:
                place = builder.mul(place, shape[axis])
            if axis < len(indices):
                index = arrayobj.fix_integer_index(context, builder, index_types[axis], indices[axis], shape[axis])
                place = index if place is None else builder.add(place, index)
        rest = range(len(indices), kind.ndim)
        strides = [array._part("strides", axis) for axis in rest]
        return builder.gep(array.data, [place]), [shape[axis] for axis in rest], strides

    arrayobj.make_array, arrayobj.make_view, arrayobj.basic_indexing = make_array, make_view, basic_indexing

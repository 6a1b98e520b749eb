"""Small faults for the sources of gjk3d: their places, their selection by a seed, and the mutated source.

A mutated source holds many mutants at once. Each is behind a switch, so the kernels of all mutants are compiled once:

    if mutant(17):
        lower = distance
    else:
        lower = distance - error
"""

from __future__ import annotations

import ast
import copy
import hashlib
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

SWITCH = "mutant"  #: the function in mutated sources that returns whether a mutant is active

#: rounding terms by the names in them
_ROUNDING = re.compile(
    r"(?:^|_)(?:EPS|eps|ulp|rounding|roundings|slacks?|pads?|padding|errors?|defect|noises?|tiny)(?:_|$)|^_?U$"
    r"|^_?(?:ROUNDING|SLACK|PAD|NOISE|ERROR|TINY)$"
)
_DISCARDING = {"clear", "pop", "popitem", "discard", "cache_clear", "unlink"}
_DISCARDING_NAME = re.compile(r"invalid|forget|drop|reset|stale|dirty|fresh|changed|version|revision")
_CREATING = {"__init__", "__post_init__", "__new__", "__setstate__"}
_SIDE = re.compile(r"(?<![^\W_])([abAB])(?![^\W_])")

_STRICTNESS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
}  # fmt: skip
_NEGATION: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip

Change = Callable[[Any], ast.AST]  #: maps a copy of a node to its replacement


class Mutant(NamedTuple):
    """A fault: its number among all possible ones, its place, and the code before and after."""

    number: int
    path: str
    line: int
    operator: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.operator}: {self.before}  ->  {self.after}"


class _Edit(NamedTuple):
    """One node of a statement, or of the condition or iterable at its head, and its replacement."""

    operator: str
    statement: ast.stmt
    field: str | None  #: field of the statement, None for the whole statement
    node: ast.AST
    change: Change

    def result(self) -> ast.AST:
        """Return a copy of the statement or its head with the change made."""
        copies: dict[int, Any] = {}
        copied = copy.deepcopy(self.whole(), copies)
        node = copies[id(self.node)]
        return ast.fix_missing_locations(_Replace(node, self.change(node)).visit(copied))

    def whole(self) -> ast.AST:
        """Return the node that is copied and switched."""
        return self.statement if self.field is None else getattr(self.statement, self.field)


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> Any:
        return self.new if node is self.old else self.generic_visit(node)


# places of faults -----------------------------------------------------------------------------------------------------


def mutants_of(path: str, source: str, first: int = 1) -> list[Mutant]:
    """Return all mutants of a source, numbered from ``first``."""
    return [
        Mutant(first + k, path, edit.node.lineno, edit.operator, *_texts(edit))
        for k, edit in enumerate(_edits(ast.parse(source)))
    ]


def all_mutants(root: Path, paths: Sequence[str]) -> list[Mutant]:
    """Return the mutants of some sources below a folder, numbered from 1."""
    mutants: list[Mutant] = []
    for path in paths:
        mutants += mutants_of(path, (root / path).read_text(), len(mutants) + 1)
    return mutants


def mutated(source: str, first: int, numbers: Collection[int], switch_module: str) -> str:
    """Return a source with some of its mutants, each behind its switch; ``first`` as in `mutants_of`."""
    tree = ast.parse(source)
    chosen = [(first + k, edit) for k, edit in enumerate(_edits(tree)) if first + k in numbers]
    results = [(number, edit, edit.result()) for number, edit in chosen]  # before any replacement is inserted
    switched: dict[int, tuple[ast.stmt, ast.stmt]] = {}
    for number, edit, result in results:
        condition = ast.Call(ast.Name(SWITCH, ast.Load()), [ast.Constant(number)], [])
        if edit.field is not None:
            head: Any = ast.IfExp(condition, result, getattr(edit.statement, edit.field))
            setattr(edit.statement, edit.field, head)
        else:
            statement, otherwise = switched.get(id(edit.statement), (edit.statement, edit.statement))
            switched[id(statement)] = statement, ast.If(condition, [result], [otherwise])
    tree = _Switched({key: new for key, (_, new) in switched.items()}).visit(tree)
    import_switch = ast.ImportFrom(switch_module, [ast.alias(SWITCH)], 0)
    tree.body.insert(_after_head(tree), import_switch)
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


class _Switched(ast.NodeTransformer):
    def __init__(self, new: dict[int, ast.stmt]) -> None:
        self.new = new

    def visit(self, node: ast.AST) -> Any:
        return self.new[id(node)] if id(node) in self.new else self.generic_visit(node)


def _after_head(tree: ast.Module) -> int:
    """Return the place after the docstring and the imports from __future__."""
    place = 0
    for k, node in enumerate(tree.body):
        docstring = k == 0 and isinstance(node, ast.Expr)
        if docstring or (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            place = k + 1
    return place


def _texts(edit: _Edit) -> tuple[str, str]:
    before = edit.node
    after = edit.change(copy.deepcopy(before))
    return ast.unparse(before), ast.unparse(ast.fix_missing_locations(after))


def _edits(tree: ast.Module) -> list[_Edit]:
    return [edit for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) for edit in _of_function(node)]


def _of_function(function: ast.FunctionDef) -> Iterator[_Edit]:
    names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    names |= {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    for statement in _statements(function.body):
        if isinstance(statement, (ast.If, ast.While)):
            field, roots = "test", [statement.test]
        elif isinstance(statement, ast.For):
            field, roots = "iter", [statement.iter]
        elif isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Expr, ast.Delete)):
            if function.name not in _CREATING:
                yield from _of_statement(statement)
            field = None
            roots = [node for node in ast.iter_child_nodes(statement) if isinstance(node, ast.expr)]
            if isinstance(statement, ast.AnnAssign):
                roots = [statement.value] if statement.value else []
        else:
            continue
        for root in roots:
            for node in _expressions(root):
                for operator, target, change in _of_expression(node, names):
                    yield _Edit(operator, statement, field, target, change)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements and those inside them, but not those of inner functions and classes."""
    for statement in body:
        yield statement
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for name in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, name, []))
        for handler in getattr(statement, "handlers", []):
            yield from _statements(handler.body)


def _expressions(root: ast.AST) -> Iterator[ast.AST]:
    """Yield expressions that are executed, except texts of messages."""
    if isinstance(root, (ast.JoinedStr, ast.Lambda)):
        return
    yield root
    for child in ast.iter_child_nodes(root):
        yield from _expressions(child)


# operators ------------------------------------------------------------------------------------------------------------


def _of_statement(statement: ast.stmt) -> Iterator[_Edit]:
    """Yield edits that change the sign of an update, or remove a statement that updates, discards or stores a value."""

    def without(operator: str) -> _Edit:
        return _Edit(operator, statement, None, statement, lambda node: ast.Pass())

    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, (ast.Add, ast.Sub)):
        if _is_rounding(statement.value):
            yield without("rounding")
        else:
            yield _Edit("sign", statement, None, statement, _opposite)
            yield without("dropped term")
    if isinstance(statement, ast.Delete):
        yield without("dropped invalidation")
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        name = _last_name(statement.value.func)
        if name in _DISCARDING or _DISCARDING_NAME.search(name):
            yield without("dropped invalidation")
    elif isinstance(statement, (ast.Assign, ast.AugAssign)):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        if isinstance(target, (ast.Attribute, ast.Subscript)):
            empty = isinstance(statement.value, ast.Constant) and statement.value.value in (None, False, -1)
            discards = isinstance(target, ast.Attribute) and (empty or _DISCARDING_NAME.search(target.attr))
            yield without("dropped invalidation" if discards else "cached value not refreshed")


def _of_expression(node: ast.AST, names: Collection[str]) -> Iterator[tuple[str, ast.AST, Change]]:
    """Yield the operator, the node and the change of every mutant of which this is the outermost changed node."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)) and not _is_joined(node):
        yield "sign", node, _opposite
        for side in ("left", "right"):
            if side == "left" and isinstance(node.op, ast.Sub):
                continue  # the remaining term would be negated
            operator = "rounding" if _is_rounding(getattr(node, side)) else "dropped term"
            yield operator, node, _part("right" if side == "left" else "left")
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "sign", node, _part("operand")
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "comparison", node, _part("operand")
    elif isinstance(node, ast.BoolOp):
        yield "comparison", node, _other_connective
        for k in range(len(node.values)):
            yield "dropped term", node, _without("values", k)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        for table in (_NEGATION, _STRICTNESS):
            if type(node.ops[0]) in table:
                yield "comparison", node, _compared(table)
        for operand in (node.left, *node.comparators):
            if _is_integer(operand):
                yield "off by one", operand, _next_integer
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        yield from _of_index(node)
    elif isinstance(node, ast.Call):
        yield from _of_call(node)
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        opposite = _other_side(node.id)
        if opposite != node.id and opposite in names:
            yield "swapped A and B", node, lambda name: ast.Name(_other_side(name.id), ast.Load())
    for field in ("args", "elts"):
        items = getattr(node, field, [])
        for k, (a, b) in enumerate(pairwise(items)):
            if ast.unparse(a) != ast.unparse(b) and _other_side(ast.unparse(a)) == ast.unparse(b):
                yield "swapped A and B", node, _swapped(field, k)


def _of_index(node: ast.Subscript) -> Iterator[tuple[str, ast.AST, Change]]:
    places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for place in places:
        if _is_integer(place):
            yield "off by one", place, _next_integer
        elif isinstance(place, ast.Slice):
            for bound in (place.lower, place.upper):
                if bound is not None and not isinstance(bound, ast.UnaryOp):
                    yield "off by one", bound, _less_one


def _of_call(node: ast.Call) -> Iterator[tuple[str, ast.AST, Change]]:
    name = _last_name(node.func)
    if any(isinstance(argument, ast.Starred) for argument in node.args):
        return
    if name == "range":
        yield "off by one", node.args[0 if len(node.args) == 1 else 1], _less_one
        if len(node.args) > 1:
            yield "off by one", node.args[0], _less_one
    elif name in ("min", "max", "minimum", "maximum") and len(node.args) > 1 and not node.keywords:
        for k, argument in enumerate(node.args):
            yield "rounding" if _is_rounding(argument) else "dropped term", node, _without("args", k)
    elif name == "nextafter":
        yield "rounding", node, lambda call: call.args[0]


def _opposite(node: Any) -> ast.AST:
    node.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
    return node


def _other_connective(node: ast.BoolOp) -> ast.AST:
    node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    return node


def _compared(table: dict[type[ast.cmpop], type[ast.cmpop]]) -> Change:
    def change(node: ast.Compare) -> ast.AST:
        node.ops = [table[type(node.ops[0])]()]
        return node

    return change


def _part(field: str) -> Change:
    return lambda node: getattr(node, field)


def _without(field: str, k: int) -> Change:
    def change(node: Any) -> ast.AST:
        items = getattr(node, field)
        del items[k]
        return items[0] if len(items) == 1 else node

    return change


def _swapped(field: str, k: int) -> Change:
    def change(node: Any) -> ast.AST:
        items = getattr(node, field)
        items[k], items[k + 1] = items[k + 1], items[k]
        return node

    return change


def _next_integer(node: ast.Constant) -> ast.AST:
    """Return the next integer, or the previous one above 1, since 2 is the last index of a vector."""
    assert isinstance(node.value, int)
    return ast.Constant(node.value - 1 if node.value > 1 else node.value + 1)


def _less_one(node: Any) -> ast.AST:
    return _next_integer(node) if _is_integer(node) else ast.BinOp(node, ast.Sub(), ast.Constant(1))


def _is_integer(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


def _is_joined(node: ast.BinOp) -> bool:
    """Return whether a sum joins strings or sequences."""
    sequences = (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp)
    return any(
        isinstance(side, sequences) or (isinstance(side, ast.Constant) and isinstance(side.value, (str, bytes)))
        for side in (node.left, node.right)
    )


def _is_rounding(node: ast.AST) -> bool:
    """Return whether a term bounds a rounding error: it has such a name, or is a product with such a name."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        return _is_rounding(node.left) and _is_rounding(node.right)
    if isinstance(node, ast.BinOp):
        return _is_rounding(node.left) or _is_rounding(node.right)
    if isinstance(node, ast.Subscript):
        return _is_rounding(node.value) or _is_rounding(node.slice)
    if isinstance(node, ast.Call):
        return bool(_ROUNDING.search(_last_name(node.func))) or any(map(_is_rounding, node.args))
    return bool(_ROUNDING.search(_last_name(node)))


def _last_name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _other_side(text: str) -> str:
    return _SIDE.sub(lambda match: {"a": "b", "b": "a", "A": "B", "B": "A"}[match.group()], text)


# selection ------------------------------------------------------------------------------------------------------------


def quotas(lines: dict[str, int], available: dict[str, int], count: int, least: int) -> dict[str, int]:
    """Return the number of mutants of each group: proportional to its lines, at least ``least`` if available."""
    least = min(least, count // len(lines))
    result = {name: min(least, available[name]) for name in lines}
    for _ in range(min(count, sum(available.values())) - sum(result.values())):
        unfilled = [name for name in lines if result[name] < available[name]]
        result[min(unfilled, key=lambda name: ((result[name] + 1) / lines[name], name))] += 1
    return result


def select(mutants: Sequence[Mutant], count: int, seed: object) -> list[Mutant]:
    """Return ``count`` mutants, or all if there are fewer: the operators in turn, and a random mutant of each.

    The order of two mutants does not depend on the others, so without a few mutants the selection is almost the same.
    """

    def rank(name: object) -> bytes:
        return hashlib.blake2b(f"{seed} {name}".encode(), digest_size=8).digest()

    by_operator: dict[str, list[Mutant]] = {}
    for mutant in sorted(mutants, key=lambda mutant: rank(mutant.number), reverse=True):
        by_operator.setdefault(mutant.operator, []).append(mutant)
    stacks = [by_operator[name] for name in sorted(by_operator, key=rank)]
    selected: list[Mutant] = []
    while len(selected) < count and any(stacks):
        selected += [stack.pop() for stack in stacks if stack]
    return sorted(selected[:count])

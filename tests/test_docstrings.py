"""Every public name documents its parameters, results and errors and has an example."""

from __future__ import annotations

import ast
import enum
import importlib
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from functools import cached_property
from types import MethodDescriptorType
from typing import Any

import pytest

import gjk3d
from gjk3d.errors import Gjk3dError

MODULES = ["gjk3d", *(f"gjk3d.{name}" for name in ("clash", "compat", "errors", "replay", "robot", "viz"))]
#: array annotations; the entry of such a parameter must state a shape
ARRAYS = re.compile(
    r"\b(Array|Ints|Bools|Rows|RowsLike|Row|VectorLike|PoseLike|PosesLike|Pose|OnePose|FactorsLike|Indices)\b"
)
SHAPE = re.compile(r"\(\w{1,5},(?: \w{1,5},?)*\)|\bshape\b|as many|one each")
#: a cross-reference: a name between backticks after words such as "see" or "as in"
REFERENCE = re.compile(r"(?:[Ss]ee|[Aa]s in|as|of|by|what) `([\w.]+)`")
SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)


class Docstring:
    """The sections of a numpydoc docstring."""

    def __init__(self, obj: Any) -> None:
        self.text = inspect.cleandoc(getattr(obj, "__doc__", None) or "")
        parts = SECTION.split(self.text)
        self.head = parts[0]
        self.first = parts[0].partition("\n\n")[0].replace("\n", " ")
        self.sections = dict(zip(parts[1::2], parts[2::2], strict=True))

    @cached_property
    def entries(self) -> dict[str, str]:
        """Descriptions by the name of a parameter or field."""
        descriptions = {}
        for section in ("Parameters", "Attributes"):
            for entry in re.split(r"\n(?! )", self.sections.get(section, "")):
                head, _, rest = entry.partition("\n")
                names, _, kind = head.partition(" : ")
                descriptions |= {
                    name.strip().lstrip("*"): f"{kind}\n{rest}" for name in names.split(",") if name.strip()
                }
        return descriptions

    @cached_property
    def examples(self) -> str:
        return "\n".join(line for line in self.text.splitlines() if line.startswith((">>> ", "... ")))

    @cached_property
    def references(self) -> list[str]:
        return REFERENCE.findall(self.text.replace("\n", " "))


class PublicObject:
    """A public function, class, method or property."""

    def __init__(self, name: str, raw: Any, owner: PublicObject | None = None) -> None:
        self.name, self.owner = name, owner
        self.is_property = isinstance(raw, (property, cached_property))
        inner = raw.fget if isinstance(raw, property) else raw.func if isinstance(raw, cached_property) else raw
        self.of_class = isinstance(inner, classmethod)
        self.value = inspect.unwrap(getattr(inner, "__func__", inner))
        self.doc = Docstring(self.value)

    @property
    def is_class(self) -> bool:
        return isinstance(self.value, type)

    @property
    def subpackage(self) -> str:
        return f"{self.value.__module__}.".split(".")[1] or "gjk3d"

    @property
    def short(self) -> str:
        return self.name.rpartition(".")[2]

    @cached_property
    def maker(self) -> Callable[..., Any] | None:
        """The function with the parameters. For a class: its constructor, or None if numpy or Python defines it."""
        if not self.is_class:
            return self.value
        for base in self.value.__mro__:
            made = base.__dict__.get("__init__") or base.__dict__.get("__new__")
            if made is not None and base.__module__.startswith("gjk3d."):
                # users do not construct results
                is_answer = issubclass(base, tuple) or self.doc.first.startswith(("Answer", "Result"))
                return None if is_answer else getattr(made, "__func__", made)
        return None

    @cached_property
    def parameters(self) -> dict[str, str]:
        """Annotation of each parameter by name, or the fields of a named tuple."""
        if self.is_property:
            return {}
        if self.maker is None:
            return dict.fromkeys(self.value._fields if issubclass(self.value, tuple) else (), "")
        all_parameters = list(inspect.signature(self.maker).parameters.values())
        is_static = self.owner and isinstance(inspect.getattr_static(self.owner.value, self.short), staticmethod)
        skipped = int((self.is_class or self.owner is not None) and not is_static)
        return {
            parameter.name: str(parameter.annotation)
            for parameter in all_parameters[skipped:]
            if not parameter.name.startswith("_")
        }


def members(obj: PublicObject) -> Iterator[PublicObject]:
    """Yield the public methods and properties of a class that gjk3d defines, including inherited ones."""
    seen = set()
    for base in obj.value.__mro__:
        if not base.__module__.startswith("gjk3d"):
            continue
        for key, raw in vars(base).items():
            kinds = (property, cached_property, classmethod, staticmethod, MethodDescriptorType)  # the last: builtins
            called = isinstance(raw, kinds) or inspect.isfunction(raw)
            if called and not key.startswith("_") and key not in seen:
                seen.add(key)
                yield PublicObject(f"{obj.name}.{key}", raw, obj)


def public() -> dict[str, PublicObject]:
    """Return all public objects by name. An inherited method occurs once for each class."""
    objects: dict[str, PublicObject] = {}
    for module in map(importlib.import_module, MODULES):
        names = getattr(module, "__all__", None) or [k for k, v in vars(module).items() if isinstance(v, type)]
        for name in names:
            value = getattr(module, name)
            if inspect.ismodule(value) or not callable(value) or not str(value.__module__).startswith("gjk3d"):
                continue
            obj = PublicObject(f"{module.__name__.removeprefix('gjk3d').lstrip('.')}.{name}".lstrip("."), value)
            objects[obj.name] = obj
            if obj.is_class:
                objects |= {member.name: member for member in members(obj)}
    return objects


PUBLIC = public()
CHECKERS = {"number", "rows", "vector", "factors3", "rigid", "pose_rows", "as_matrices"}


def referred(obj: PublicObject) -> Iterator[Docstring]:
    """Yield the docstrings that the docstring of an object refers to, including those of base class members."""
    for name in obj.doc.references:
        for candidate in PUBLIC.values():
            if candidate.name == name.removeprefix("gjk3d.") or candidate.name.rpartition(".")[
                0
            ] + "." + candidate.short == (f"{obj.owner.name if obj.owner else ''}.{name}"):
                yield candidate.doc
                break
        else:
            for base in obj.owner.value.__mro__ if obj.owner else ():
                if name.partition(".")[0] == base.__name__ and hasattr(base, name.partition(".")[2]):
                    yield Docstring(inspect.getattr_static(base, name.partition(".")[2]))


def raised(function: Callable[..., Any], owner: Any, depth: int = 2) -> set[str]:
    """Return the names of gjk3d errors that a function raises itself or in functions that it calls."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return set()
    world = getattr(function, "__globals__", {})
    errors = set()
    later = {id(node) for part in ast.walk(tree) if isinstance(part, ast.Lambda) for node in ast.walk(part)}
    for node in (node for node in ast.walk(tree) if id(node) not in later):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name):
            error = world.get(node.exc.func.id)
            if isinstance(error, type) and issubclass(error, Gjk3dError):
                errors.add(error.__name__)
        if isinstance(node, ast.Call) and depth:
            called = None
            if isinstance(node.func, ast.Name) and (node.func.id.startswith("_") or node.func.id in CHECKERS):
                called = world.get(node.func.id)
            elif isinstance(node.func, ast.Attribute) and ast.unparse(node.func).startswith(("self._", "cls._")):
                called = inspect.unwrap(getattr(owner, node.func.attr, None) or raised)
            if inspect.isfunction(called) and called is not raised and called.__module__.startswith("gjk3d"):
                errors |= raised(called, owner, depth - 1)
    return errors


def shown(obj: PublicObject) -> bool:
    """Return whether an example uses an object: its own, or for a member an example of a related class."""
    if obj.doc.examples and obj.owner is None:
        return True
    if obj.owner is None:
        return False
    use = re.compile(rf"\.{obj.short}\b" if obj.is_property else rf"\.{obj.short}\(")
    bases = {base for base in obj.owner.value.__mro__ if base.__module__.startswith("gjk3d")}
    near = [
        candidate
        for candidate in PUBLIC.values()
        if (candidate.owner or candidate).is_class and near_to(candidate, bases)
    ]
    return any(use.search(candidate.doc.examples) for candidate in near)


def near_to(obj: PublicObject, bases: set[type]) -> bool:
    """Return whether an object is one of these classes, derives from one or is a member of one."""
    return bool(bases.intersection((obj.owner or obj).value.__mro__))


def flaws(obj: PublicObject) -> Iterator[str]:
    """Yield the parts that a docstring lacks."""
    doc, others = obj.doc, list(referred(obj))
    if not doc.text:
        yield "a docstring"
        return
    is_error = obj.is_class and issubclass(obj.value, BaseException)
    if is_error or (obj.is_class and issubclass(obj.value, enum.Enum)):
        return
    for name, annotation in obj.parameters.items():
        kinds = [docstring.entries[name] for docstring in (doc, *others) if name in docstring.entries]
        if not kinds:
            yield f"parameter {name}"
        elif ARRAYS.search(annotation) and not any(SHAPE.search(kind) or REFERENCE.search(kind) for kind in kinds):
            yield f"shape of {name}"
    annotation = str(getattr(obj.value, "__annotations__", {}).get("return", ""))
    if not obj.is_class and annotation not in ("None", ""):
        returns = doc.sections.get("Returns", "") or doc.sections.get("Yields", "")
        if not (returns or obj.is_property or re.match(r"(Return|Yield|Tell|Read|Load|Raise)\b", doc.first)):
            yield "returns"
        elif annotation in ("Array", "Ints", "Bools") and not SHAPE.search(
            "\n".join([returns or doc.head, *(docstring.text for docstring in others)])
        ):
            yield "shape of what it returns"
    if obj.maker is not None:
        words = "\n".join(docstring.text for docstring in (doc, *others))
        for name in sorted(raised(obj.maker, (obj.owner or obj).value)):
            error = getattr(gjk3d.errors, name)
            if not any(base.__name__ in words for base in error.__mro__ if issubclass(base, Gjk3dError)):
                yield f"raises {name}"
    if not shown(obj):
        yield "an example"


def offenders() -> dict[str, list[str]]:
    """Return the incomplete docstrings by subpackage. An inherited method counts once."""
    result: dict[str, dict[Any, str]] = {}
    for obj in PUBLIC.values():
        lacks = ", ".join(flaws(obj))
        if lacks:
            result.setdefault(obj.subpackage, {}).setdefault(obj.value, f"{obj.name}: {lacks}")
    return {subpackage: list(lines.values()) for subpackage, lines in sorted(result.items())}


@pytest.mark.full
def test_public_docstrings_are_complete():
    assert len(PUBLIC) > 300
    assert [line for lines in offenders().values() for line in lines] == []


if __name__ == "__main__":
    for subpackage, lines in offenders().items():
        print(f"{subpackage}: {len(lines)}", *lines, sep="\n    ")

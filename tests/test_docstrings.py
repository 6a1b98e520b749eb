"""Every public name says what it takes, gives and raises, and shows it in an example."""

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
#: what arrays are annotated as: an entry of such a parameter says its shape
ARRAYS = re.compile(
    r"\b(Array|Ints|Bools|Rows|RowsLike|Row|VectorLike|PoseLike|PosesLike|Pose|OnePose|FactorsLike|Indices)\b"
)
SHAPE = re.compile(r"\(\w{1,5},(?: \w{1,5},?)*\)|\bshape\b|as many|one each")
#: a name between backticks in a sentence that sends the reader on
REFERENCE = re.compile(r"(?:[Ss]ee|[Aa]s in|as|of|by|what) `([\w.]+)`")
SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)


class Docstring:
    """The sections of a docstring in numpydoc."""

    def __init__(self, thing: Any) -> None:
        self.text = inspect.cleandoc(getattr(thing, "__doc__", None) or "")
        parts = SECTION.split(self.text)
        self.head = parts[0]
        self.first = parts[0].partition("\n\n")[0].replace("\n", " ")
        self.sections = dict(zip(parts[1::2], parts[2::2], strict=True))

    @cached_property
    def entries(self) -> dict[str, str]:
        """By name of a parameter, or a field, what is said of it."""
        found = {}
        for section in ("Parameters", "Attributes"):
            for entry in re.split(r"\n(?! )", self.sections.get(section, "")):
                head, _, rest = entry.partition("\n")
                names, _, kind = head.partition(" : ")
                found |= {name.strip().lstrip("*"): f"{kind}\n{rest}" for name in names.split(",") if name.strip()}
        return found

    @cached_property
    def examples(self) -> str:
        return "\n".join(line for line in self.text.splitlines() if line.startswith((">>> ", "... ")))

    @cached_property
    def references(self) -> list[str]:
        return REFERENCE.findall(self.text.replace("\n", " "))


class Thing:
    """A public function, class, method or property."""

    def __init__(self, name: str, raw: Any, owner: Thing | None = None) -> None:
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
    def room(self) -> str:
        return f"{self.value.__module__}.".split(".")[1] or "gjk3d"

    @property
    def short(self) -> str:
        return self.name.rpartition(".")[2]

    @cached_property
    def maker(self) -> Callable[..., Any] | None:
        """The function with the parameters and the body; of a class what builds it, None where numpy or Python does."""
        if not self.is_class:
            return self.value
        for base in self.value.__mro__:
            made = base.__dict__.get("__init__") or base.__dict__.get("__new__")
            if made is not None and base.__module__.startswith("gjk3d."):
                # no user makes a result
                is_answer = issubclass(base, tuple) or self.doc.first.startswith(("Answer", "Result"))
                return None if is_answer else getattr(made, "__func__", made)
        return None

    @cached_property
    def parameters(self) -> dict[str, str]:
        """By name how each is annotated; of a named tuple its fields."""
        if self.is_property:
            return {}
        if self.maker is None:
            return dict.fromkeys(self.value._fields if issubclass(self.value, tuple) else (), "")
        found = list(inspect.signature(self.maker).parameters.values())
        is_static = self.owner and isinstance(inspect.getattr_static(self.owner.value, self.short), staticmethod)
        skipped = int((self.is_class or self.owner is not None) and not is_static)
        return {each.name: str(each.annotation) for each in found[skipped:] if not each.name.startswith("_")}


def members(thing: Thing) -> Iterator[Thing]:
    """Yield the public methods and properties that gjk3d gives a class, its own and inherited."""
    seen = set()
    for base in thing.value.__mro__:
        if not base.__module__.startswith("gjk3d"):
            continue
        for key, raw in vars(base).items():
            kinds = (property, cached_property, classmethod, staticmethod, MethodDescriptorType)  # the last: builtins
            called = isinstance(raw, kinds) or inspect.isfunction(raw)
            if called and not key.startswith("_") and key not in seen:
                seen.add(key)
                yield Thing(f"{thing.name}.{key}", raw, thing)


def public() -> dict[str, Thing]:
    """Return all public things; a method that several classes inherit is there once for each."""
    found: dict[str, Thing] = {}
    for module in map(importlib.import_module, MODULES):
        names = getattr(module, "__all__", None) or [k for k, v in vars(module).items() if isinstance(v, type)]
        for name in names:
            value = getattr(module, name)
            if inspect.ismodule(value) or not callable(value) or not str(value.__module__).startswith("gjk3d"):
                continue
            thing = Thing(f"{module.__name__.removeprefix('gjk3d').lstrip('.')}.{name}".lstrip("."), value)
            found[thing.name] = thing
            if thing.is_class:
                found |= {each.name: each for each in members(thing)}
    return found


PUBLIC = public()
CHECKERS = {"number", "rows", "vector", "factors3", "rigid", "pose_rows", "as_matrices"}


def referred(thing: Thing) -> Iterator[Docstring]:
    """Yield the docstrings that a thing's own sends its reader to, and that of the class for a method."""
    for name in thing.doc.references:
        for known in PUBLIC.values():
            if known.name == name.removeprefix("gjk3d.") or known.name.rpartition(".")[0] + "." + known.short == (
                f"{thing.owner.name if thing.owner else ''}.{name}"
            ):
                yield known.doc
                break
        else:
            for base in thing.owner.value.__mro__ if thing.owner else ():
                if name.partition(".")[0] == base.__name__ and hasattr(base, name.partition(".")[2]):
                    yield Docstring(inspect.getattr_static(base, name.partition(".")[2]))


def raised(function: Callable[..., Any], owner: Any, depth: int = 2) -> set[str]:
    """Return the names of errors of gjk3d that a body raises, itself or by what it calls."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return set()
    world = getattr(function, "__globals__", {})
    found = set()
    later = {id(node) for each in ast.walk(tree) if isinstance(each, ast.Lambda) for node in ast.walk(each)}
    for node in (node for node in ast.walk(tree) if id(node) not in later):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name):
            error = world.get(node.exc.func.id)
            if isinstance(error, type) and issubclass(error, Gjk3dError):
                found.add(error.__name__)
        if isinstance(node, ast.Call) and depth:
            called = None
            if isinstance(node.func, ast.Name) and (node.func.id.startswith("_") or node.func.id in CHECKERS):
                called = world.get(node.func.id)
            elif isinstance(node.func, ast.Attribute) and ast.unparse(node.func).startswith(("self._", "cls._")):
                called = inspect.unwrap(getattr(owner, node.func.attr, None) or raised)
            if inspect.isfunction(called) and called is not raised and called.__module__.startswith("gjk3d"):
                found |= raised(called, owner, depth - 1)
    return found


def shown(thing: Thing) -> bool:
    """Tell whether a thing is in an example: its own, or for a member one of its class or of a sibling."""
    if thing.doc.examples and thing.owner is None:
        return True
    if thing.owner is None:
        return False
    use = re.compile(rf"\.{thing.short}\b" if thing.is_property else rf"\.{thing.short}\(")
    bases = {base for base in thing.owner.value.__mro__ if base.__module__.startswith("gjk3d")}
    near = [each for each in PUBLIC.values() if (each.owner or each).is_class and near_to(each, bases)]
    return any(use.search(each.doc.examples) for each in near)


def near_to(thing: Thing, bases: set[type]) -> bool:
    """Tell whether a thing is one of these classes, or derives from one, or is a member of such."""
    return bool(bases.intersection((thing.owner or thing).value.__mro__))


def flaws(thing: Thing) -> Iterator[str]:
    """Yield what a docstring lacks."""
    doc, others = thing.doc, list(referred(thing))
    if not doc.text:
        yield "a docstring"
        return
    is_error = thing.is_class and issubclass(thing.value, BaseException)
    if is_error or (thing.is_class and issubclass(thing.value, enum.Enum)):
        return
    for name, annotation in thing.parameters.items():
        kinds = [each.entries[name] for each in (doc, *others) if name in each.entries]
        if not kinds:
            yield f"parameter {name}"
        elif ARRAYS.search(annotation) and not any(SHAPE.search(kind) or REFERENCE.search(kind) for kind in kinds):
            yield f"shape of {name}"
    annotation = str(getattr(thing.value, "__annotations__", {}).get("return", ""))
    if not thing.is_class and annotation not in ("None", ""):
        told = doc.sections.get("Returns", "") or doc.sections.get("Yields", "")
        if not (told or thing.is_property or re.match(r"(Return|Yield|Tell|Read|Load|Raise)\b", doc.first)):
            yield "returns"
        elif annotation in ("Array", "Ints", "Bools") and not SHAPE.search(
            "\n".join([told or doc.head, *(each.text for each in others)])
        ):
            yield "shape of what it returns"
    if thing.maker is not None:
        words = "\n".join(each.text for each in (doc, *others))
        for name in sorted(raised(thing.maker, (thing.owner or thing).value)):
            error = getattr(gjk3d.errors, name)
            if not any(base.__name__ in words for base in error.__mro__ if issubclass(base, Gjk3dError)):
                yield f"raises {name}"
    if not shown(thing):
        yield "an example"


def offenders() -> dict[str, list[str]]:
    """Return by room what lacks something; what several classes inherit counts once."""
    found: dict[str, dict[Any, str]] = {}
    for thing in PUBLIC.values():
        lacks = ", ".join(flaws(thing))
        if lacks:
            found.setdefault(thing.room, {}).setdefault(thing.value, f"{thing.name}: {lacks}")
    return {room: list(each.values()) for room, each in sorted(found.items())}


@pytest.mark.full
def test_every_public_name_says_what_a_user_needs():
    assert len(PUBLIC) > 300
    assert [line for lines in offenders().values() for line in lines] == []


if __name__ == "__main__":
    for room, lines in offenders().items():
        print(f"{room}: {len(lines)}", *lines, sep="\n    ")

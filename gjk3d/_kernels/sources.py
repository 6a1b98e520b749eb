"""The key of the machine code: a hash of the code of all kernels.

A kernel depends on its own definition, and on all definitions that its names refer to, in any file: kernels that it
calls, constants, annotations, NamedTuples, and functions that compute constants. The key is a hash of these definitions
and of `gjk3d._kernels`, without comments, docstrings and layout. A global name that a local variable hides is included
too. The key may therefore change although the machine code does not. The machine code never changes without the key.

The files are parsed, not imported, and numba is not needed. The definitions of a file are cached by the hash of its
bytes.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from gjk3d._kernels.files import folder, read_file, texts, write_file

_KERNELS = {"kernel", "inlined", "entry", "single_entry", "builtin"}
_CALLED_BY_PYTHON = {"entry", "single_entry", "builtin"}
_CACHED_FILES = 1000
_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Source(NamedTuple):
    """The top-level statements of a file, and the names that they define and use. The cache stores tuples as lists."""

    marks: dict[str, list[str]]  #: for each kernel of the file, its decorators from `gjk3d._kernels.decorators`
    imports: dict[str, list[list[str]]]  #: for each imported name, the modules and names that it may refer to
    names: dict[str, list[int]]  #: for each name, the indices of the statements that define it or change its value
    statements: list[tuple[str, list[str]]]  #: the hash of each statement, and the dotted names that it uses


def read(text: bytes) -> Source:
    """Return the statements of a file from its content."""
    source = Source({}, {}, {}, [])
    tree = ast.parse(text)
    statements = [statement for statement in tree.body if not _is_text(statement)]
    for statement in statements:
        for node in _same_scope(statement):
            if isinstance(node, ast.FunctionDef):
                marks = [name for decorator in node.decorator_list if (name := ast.unparse(decorator)) in _KERNELS]
                if marks:
                    source.marks[node.name] = marks
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                for name, target in _imported(node):
                    source.imports.setdefault(name, []).append(target)
    bound = [_bound(statement) for statement in statements]
    defined = set(source.imports).union(*bound)
    for number, (statement, names) in enumerate(zip(statements, bound, strict=True)):
        for name in names:
            source.names.setdefault(name, []).append(number)
        references = {name for node in ast.walk(statement) for name in _references(node, defined)}
        source.statements.append((_hash(_code(statement)), sorted(references)))
    return source


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _code(statement: ast.stmt) -> str:
    """Return the syntax tree of a statement as text, without docstrings and positions."""
    for node in ast.walk(statement):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [child for child in body if not _is_text(child)]  # type: ignore[attr-defined]
    return ast.dump(statement)


def _same_scope(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the syntax nodes of a statement, without those inside functions and classes."""
    yield statement
    if not isinstance(statement, _DEFINITION):
        for node in ast.iter_child_nodes(statement):
            yield from _same_scope(node)  # type: ignore[arg-type]


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, list[str]]]:
    """Yield each name that an import defines, with a list of the module and the name in the module.

    For ``import module`` the name in the module is "".
    """
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield alias.asname or alias.name, [node.module or "", alias.name]
        else:
            module = alias.name if alias.asname else alias.name.partition(".")[0]
            yield alias.asname or module, [module, ""]


def _bound(statement: ast.stmt) -> set[str]:
    """Return the names that a statement defines, or whose values it may change."""
    names: set[str] = set()
    for node in _same_scope(statement):
        if isinstance(node, _DEFINITION):
            names.add(node.name)
            names.update(name for inner in ast.walk(node) if isinstance(inner, ast.Global) for name in inner.names)
        elif isinstance(node, ast.Expr):  # a call may change its arguments, or the object of its method
            names.update(inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name))
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
            root = _dotted(node)
            names.update(root[:1])
    return names


def _dotted(node: ast.AST) -> list[str]:
    """Return the names in ``a.b.c``, the first name of ``a[0].b``, or an empty list for other expressions."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Subscript):
        return _dotted(node.value)[:1]
    if isinstance(node, ast.Attribute):
        root = _dotted(node.value)
        return [*root, node.attr] if root else []
    return []


def _references(node: ast.AST, defined: set[str]) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names if (node.module or "").startswith("gjk3d")]
    path = _dotted(node) if isinstance(node, (ast.Name, ast.Attribute)) else []
    return [".".join(path)] if path and path[0] in defined else []


def _hash(text: str | bytes) -> str:
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()[:32]


class _Package:
    """The sources of the package. A file is parsed when it is first needed."""

    def __init__(self, texts: dict[str, bytes]) -> None:
        self.texts = {
            name.removesuffix(".py").replace("/", ".").removesuffix(".__init__"): texts[name] for name in texts
        }
        self._sources: dict[str, Source] = {}
        self._cache = _load()
        self._is_cached = True

    def source(self, module: str) -> Source:
        if module not in self._sources:
            text = self.texts[module]
            key = _hash(text)
            if key not in self._cache:
                self._cache[key] = read(text)
                self._is_cached = False
            self._sources[module] = self._cache[key] = Source(*self._cache.pop(key))  # the last are those in use
        return self._sources[module]

    def marked(self, decorators: set[str]) -> list[tuple[str, str]]:
        """Return the module and the name of each function with one of these decorators."""
        marks = [b"@" + decorator.encode() for decorator in decorators]
        modules = [name for name, text in self.texts.items() if any(map(text.__contains__, marks))]
        return [
            (module, name) for module in modules for name, by in self.source(module).marks.items() if decorators & {*by}
        ]

    def resolve(self, module: str, path: list[str]) -> Iterator[tuple[str, str]]:
        """Yield (module, name) for each import and definition to which a dotted name refers.

        The dotted name is used in ``module``, and ``path`` contains its parts.
        """
        for k, name in enumerate(path):
            source = self.source(module)
            if name in source.names or name in source.imports:
                yield module, name
                for target, attribute in source.imports.get(name, ()):
                    if target in self.texts:
                        yield from self.resolve(target, [attribute, *path[k + 1 :]] if attribute else path[k + 1 :])
                return
            if f"{module}.{name}" not in self.texts:
                return
            module = f"{module}.{name}"

    def reached(self) -> set[tuple[str, str]]:
        """Return the module and the name of each definition and import that kernels depend on."""
        reached: set[tuple[str, str]] = set()
        todo = self.marked(_KERNELS)
        while todo:
            module, name = todo.pop()
            # the key includes this package completely
            if (module, name) in reached or module.startswith("gjk3d._kernels"):
                continue
            reached.add((module, name))
            source = self.source(module)
            for number in source.names.get(name, ()):
                for reference in source.statements[number][1]:
                    path = reference.split(".")
                    absolute = path[0] == "gjk3d" and "gjk3d" not in source.imports
                    todo += self.resolve("gjk3d", path[1:]) if absolute else self.resolve(module, path)
        return reached

    def lines(self) -> Iterator[str]:
        """Yield the lines of the text whose hash is the key."""
        for module in self.texts:
            if module.startswith("gjk3d._kernels"):
                yield f"{module} {self.digest(module)}"
        for module, name in sorted(self.reached()):
            source = self.source(module)
            if name in source.imports:
                yield f"{module}:{name} is {source.imports[name]}"
            for number in source.names.get(name, ()):
                yield f"{module}:{name} {source.statements[number][0]}"

    def digest(self, module: str) -> str:
        """Return the hash of all statements of a file."""
        return _hash(" ".join(statement[0] for statement in self.source(module).statements))

    def save(self) -> None:
        """Write the parsed sources to the cache, if its folder is writable."""
        if not self._is_cached:
            with contextlib.suppress(OSError):
                text = json.dumps(dict([*self._cache.items()][-_CACHED_FILES:]))
                write_file(_file(), f"{_hash(text)}\n{text}".encode())


def _file() -> Path:
    return folder() / "sources.json"


def _load() -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError):
        check, _, text = read_file(_file()).decode().partition("\n")
        if check == _hash(text):
            cached: dict[str, Any] = json.loads(text)
            return cached
    return {}


@cache
def _package() -> _Package:
    return _Package(texts())


def key_of(texts: dict[str, bytes]) -> str:
    """Return the key of the machine code, from the content of the package's files by name."""
    package = _Package(texts)
    key = hashlib.sha256("\n".join(package.lines()).encode()).hexdigest()
    package.save()
    return key


def entries() -> list[str]:
    """Return the names "module:function" of all kernels that are called from Python, not only from other kernels."""
    return [f"{module}:{name}" for module, name in _package().marked(_CALLED_BY_PYTHON)]


def hash_of(name: str) -> str:
    """Return the hash of a definition for the name "module:function", or of a whole file for the name "module"."""
    module, _, function = name.partition(":")
    if not function:
        return _package().digest(module)
    source = _package().source(module)
    return " ".join(source.statements[number][0] for number in source.names[function])

"""Rules of the package that a program can check: lazy imports, layers, and sizes and calls of kernels."""

from __future__ import annotations

import ast
import graphlib
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import gjk3d

ROOT = Path(__file__).parents[1]
PACKAGE = Path(gjk3d.__file__).parent
ARM = ROOT / "data/arm/arm.urdf"


def python(code: str, folder: Path | None = None, **environment: str) -> str:
    """Run code in a fresh interpreter and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=1200,  # enough to compile all kernels on a busy machine
        cwd=folder,
        env={**os.environ, **environment},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.full
def test_import_loads_no_heavy_library():
    code = "import sys, gjk3d; print(sorted({m.split('.')[0] for m in sys.modules} & {HEAVY}))"
    heavy = "{'numba', 'scipy', 'trimesh', 'pyvista', 'numpy', 'vtkmodules'}"
    assert python(code.replace("{HEAVY}", heavy)).strip() == "[]"


@pytest.mark.full
def test_shapes_load_no_mesh_or_picture_library():
    code = "import sys, gjk3d; gjk3d.Box((1, 1, 1)); print(sorted({'trimesh', 'pyvista'} & set(sys.modules)))"
    assert python(code).strip() == "[]"


@pytest.mark.full
def test_first_convex_query_loads_no_bodies():
    code = """
import sys, gjk3d as gk
gk.collide(gk.Box((1, 1, 1)), gk.Sphere(1))
mine = [name for name in sys.modules if name.startswith("gjk3d")]
print(len(mine) <= 60, [name for name in mine if name.startswith("gjk3d.bodies.")])
"""
    assert python(code).strip() == "True []"


@pytest.mark.full
def test_first_robot_query_loads_few_modules():
    code = f"""
import sys, gjk3d as gk
gk.robot.Checker(gk.robot.Robot.from_urdf({str(ARM)!r})).free([0] * 6)
print(sum(name.startswith("gjk3d") for name in sys.modules) <= 110)
"""
    assert python(code).strip() == "True"


def test_names_are_listed_and_unknown_names_raise():
    assert set(gjk3d.__all__) <= set(dir(gjk3d))
    assert all(getattr(gjk3d, name) is not None for name in gjk3d.__all__)
    with pytest.raises(AttributeError, match="'Spehre'"):
        gjk3d.Spehre  # noqa: B018


class Kernel(NamedTuple):
    """The size of a kernel, and whether Python can call it."""

    lines: int
    arguments: int
    entry: bool


MARKS = {"kernel", "inlined", "entry", "single_entry", "builtin"}


def kernels() -> tuple[dict[str, Kernel], set[str]]:
    """Return the kernels by full name, and the names that Python code uses."""
    result: dict[str, Kernel] = {}
    called: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        origin: dict[str, str] = {}  # full names of the names in this module
        outside: list[ast.AST] = []
        todo: list[ast.AST] = [ast.parse(path.read_text())]
        while todo:
            node = todo.pop()
            if isinstance(node, ast.ImportFrom):
                origin |= {name.asname or name.name: f"{node.module}.{name.name}" for name in node.names}
            elif isinstance(node, ast.FunctionDef):
                origin.setdefault(node.name, f"{module}.{node.name}")
                if marks := MARKS & {d.id for d in node.decorator_list if isinstance(d, ast.Name)}:
                    lines = (node.end_lineno or 0) - node.lineno + 1
                    entry = marks <= {"entry", "single_entry", "builtin"}
                    result[f"{module}.{node.name}"] = Kernel(lines, len(node.args.args), entry)
                    continue
            outside.append(node)
            todo += ast.iter_child_nodes(node)
        for node in outside:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                called.add(origin.get(node.id, ""))
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                called.add(f"{origin.get(node.value.id, '')}.{node.attr}")
    return result, called


@pytest.mark.full
def test_kernels_have_at_most_80_lines():
    all_kernels, _ = kernels()
    assert all_kernels["gjk3d.narrow.gjk.gjk"].lines > 50
    assert {name for name, kernel in all_kernels.items() if kernel.lines > 80} == set()


@pytest.mark.full
def test_kernels_take_few_arguments():
    """A kernel has at most 10 arguments; more values are passed as NamedTuples."""
    all_kernels, _ = kernels()
    assert all_kernels["gjk3d.narrow.solve.solve_many"].arguments == 10
    assert not all_kernels["gjk3d.narrow.gjk.gjk"].entry
    assert {name for name, kernel in all_kernels.items() if kernel.arguments > 10} == set()


def _assigned(node: ast.stmt) -> set[str]:
    """Return the names that a statement defines."""
    if isinstance(node, ast.ClassDef):
        return {node.name}
    return (
        {target.id for target in node.targets if isinstance(target, ast.Name)}
        if isinstance(node, ast.Assign)
        else set()
    )


def test_result_types_are_defined_before_kernels():
    """If numba compiles in this process, it needs the result type when a kernel is defined."""
    late, count = [], 0
    for path in PACKAGE.rglob("*.py"):
        body = ast.parse(path.read_text()).body
        missing = set().union(*map(_assigned, body))
        for node in body:
            missing -= _assigned(node)
            marks = {d.id for d in getattr(node, "decorator_list", []) if isinstance(d, ast.Name)} & MARKS
            if isinstance(node, ast.FunctionDef) and node.returns is not None and marks:
                count += 1
                used = {part.id for part in ast.walk(node.returns) if isinstance(part, ast.Name)}
                late += [f"{path.name}: {node.name}" for _ in used & missing]
    assert count > 500
    assert late == []


@pytest.mark.full
def test_python_calls_only_entry_kernels():
    """Only entries become machine code that Python can call. Python would interpret any other kernel."""
    all_kernels, called = kernels()
    assert sum(kernel.entry for kernel in all_kernels.values()) > 50
    slow = {name for name, kernel in all_kernels.items() if not kernel.entry}
    assert "gjk3d.narrow.gjk.gjk" in slow
    assert called & slow == set()


def test_only_kernels_package_imports_numba():
    named = re.compile(r"^\s*(import|from) (numba|llvmlite)\b", re.MULTILINE)
    importing = [p.relative_to(PACKAGE).parts[0] for p in PACKAGE.rglob("*.py") if named.search(p.read_text())]
    assert {*importing} == {"_kernels"}


@pytest.mark.full
def test_import_linter_contracts_pass():
    assert importlib.util.find_spec("importlinter") is not None
    program = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [program, "--config", ROOT / "pyproject.toml", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def modules() -> dict[str, Path]:
    """Return every module of the package by its name."""
    return {
        ".".join(["gjk3d", *path.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(".__init__"): path
        for path in PACKAGE.rglob("*.py")
    }


def test_only_lazy_names_are_imported_by_text():
    """Import linters cannot see an import by text, so only the lazy names of an ``__init__`` use it."""
    by_text = re.compile(r"(import_module|__import__)\(f?[\"']gjk3d")
    files = {name: path for name, path in modules().items() if path.name != "__init__.py"}
    offenders = [name for name, path in files.items() if by_text.search(path.read_text())]
    assert offenders == []


#: convenience methods that import, inside the method, a module that depends on their class
CALLS_UPWARD = {
    "gjk3d.frozen": {"gjk3d.viz.picture"},  # the picture of an object
    "gjk3d.results": {"gjk3d.replay"},  # Distance.to_json
    "gjk3d.robot.safety": {"gjk3d.viz.motions"},  # SafetyReport.to_html
    # Shape.contains, inflated, placed, scaled, signed_distances, support
    "gjk3d.shapes.base": {
        f"gjk3d.{name}"
        for name in ("convex.solve", "query.distance", "shapes.composed", "shapes.polytopes", "shapes.table")
    },
    # a composed shape that reduces to a primitive
    "gjk3d.shapes.composed": {f"gjk3d.shapes.{name}" for name in ("curved", "polytopes")},
    # Mesh.decompose, voxelized, refit, contains, self_intersections; a mesh as its triangles
    "gjk3d.bodies.mesh": {
        f"gjk3d.bodies.{name}" for name in ("conversions", "bvh", "mesh_rays", "parts", "self_intersections")
    },
    "gjk3d.clash.report.report": {"gjk3d.clash.formats", "gjk3d.clash.page"},  # Report.to_csv, to_html and the like
}


@pytest.mark.full
def test_imports_have_no_cycle():
    """Imports inside functions count too, except those in CALLS_UPWARD."""
    paths = modules()
    graph: dict[str, set[str]] = {name: set() for name in paths}
    for name, path in paths.items():
        tree = ast.parse(path.read_text())
        if path.name == "__init__.py":  # lazy names are not imports, and the types are for type checkers only
            tree.body = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
        typing = [n for n in ast.walk(tree) if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING"]
        unseen = {id(part) for block in typing for part in ast.walk(block)}
        for node in ast.walk(tree):
            if id(node) in unseen or not isinstance(node, ast.ImportFrom) or not str(node.module).startswith("gjk3d."):
                continue
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                graph[name].add(full if full in paths else str(node.module))
        graph[name] -= CALLS_UPWARD.get(name, set())
    with pytest.raises(graphlib.CycleError):
        tuple(graphlib.TopologicalSorter({"a": {"b"}, "b": {"a"}}).static_order())
    try:
        order = tuple(graphlib.TopologicalSorter(graph).static_order())
    except graphlib.CycleError as circle:
        pytest.fail(" -> ".join(circle.args[1]))
    assert len(order) == len(paths) > 100

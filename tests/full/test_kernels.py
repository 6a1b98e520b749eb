"""Compiled kernels: their keys, builds and caches, and interpreted queries while there is no machine code."""

from __future__ import annotations

import importlib
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from message_checks import assert_names

import gjk3d
from gjk3d._kernels import files, store
from gjk3d._kernels.decorators import MODE

PACKAGE = Path(gjk3d.__file__).parent
OBJECTS = pytest.mark.skipif(MODE != "object", reason="of kernels from an object file")
pytestmark = OBJECTS

QUERIES = """
import numpy as np, gjk3d as gk
pose = np.eye(4); pose[0, 3] = 0.3
shapes = [gk.Point(), gk.Box((1, 1, 1)), gk.Capsule(1, 1), gk.Cylinder(1, 2).scaled((1, 2, 3))]
shapes.append(gk.ConvexHull(np.eye(3)))
for a in shapes:
    for b in shapes:
        for answer in (gk.distance(a, b, None, pose), gk.signed_distance(a, b, None, pose)):
            print(*(float(x).hex() for x in (answer.lower, answer.upper, *answer.normal, *answer.point_a)))
        print(gk.collide(a, b, None, pose), gk.contact(a, b, None, pose, within=1.0).points_a.tobytes().hex())
    print(gk.raycast(a, (3, 0, 0), (-1, 0, 0)).distance, gk.aabb(a, pose).low)
hulls = [gk.ConvexHull(np.random.default_rng(k).normal(size=(6 + k, 3))) for k in range(3)]
for hull in hulls:
    ball, box = gk.bounding_sphere(hull, pose), gk.obb(hull, pose)
    both = gk.overlap(hull, hulls[0], None, pose)
    for array in (hull.vertices, hull.faces, ball.center, box.pose, box.extents, both.vertices, both.faces):
        print(array.tobytes().hex())
    print(ball.radius.hex(), hull.volume.hex())
"""


def run(code: str, *, expected: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code in a new interpreter, on this package or on that of another PYTHONPATH, and return the process."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=1200, check=False, cwd="/",
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent), **environment},
    )  # fmt: skip
    assert done.returncode == expected, done.stderr
    return done


def test_object_contains_every_entry():
    from gjk3d._kernels import sources

    names = sources.entries()
    assert len(names) > 50
    assert gjk3d.warmup()
    about = store.find().facts
    assert sorted(about["names"]) == sorted(names)
    for name in names:
        home, _, function = name.partition(":")
        if name not in about["builtins"]:
            assert type(getattr(importlib.import_module(home), function)).__name__ == "builtin_function_or_method", name
    assert len(about["builtins"]) > 5


def test_interpreted_results_have_the_same_bits():
    compiled, interpreted = (run(QUERIES, GJK3D_KERNELS=mode).stdout for mode in ("object", "python"))
    assert compiled == interpreted
    assert compiled.count("\n") == 104


def test_arguments_match_and_numba_is_not_imported():
    """Public functions pass arguments that machine code accepts, so that no call takes the slow path by Python."""
    code = """
import sys
from gjk3d._kernels import late
late.Late.otherwise = lambda self, *args: sys.exit(self.name)
""" + QUERIES + """
poses = np.array([pose, pose]); poses.setflags(write=False)
for a in shapes:
    a.support(np.float32([1, 2, 3]))
    gk.collide(a, a, pose, poses), gk.distance(a, a, None, poses[:, ::1])
    gk.signed_distance(a, a, np.asfortranarray(pose), trace=True)
    gk.contact(a, a, pose, poses, within=np.float32(1), max_points=None)
    gk.signed_distance(a, gk.Halfspace((0, 0, 1)), poses)
    gk.contact(gk.Halfspace((0, 0, 1)), a, poses, within=1)
    gk.signed_distance(gk.Halfspace((0, 0, 1)), a, depth="epa", tol=1e-3)
mesh = gk.Mesh(*shapes[1].surface())
gk.signed_distance(mesh, mesh, None, poses), gk.raycast(mesh, (3, 0, 0), (-1, 0, 0)), mesh.voxelized(0.25)
scene = gk.Scene(); scene.add_many([f"x{k}" for k in range(40)], gk.Sphere(0.1)); scene.collisions(); scene.clearance()
checker = gk.robot.Checker(gk.robot.Robot.example(), {"ball": gk.Sphere(0.1)}, touching=[("post", "ball")])
q = np.zeros(2); checker.free(q), checker.clearance(q), checker.collisions(q), checker.gradient(q)
checker.motion_free(q, q + 0.1, certify=True)
assert "numba" not in sys.modules
"""  # fmt: skip
    run(code)


def test_invalid_arguments_raise():
    from gjk3d import poses

    with pytest.raises(TypeError, match="poses:check_row"):
        poses.check_row(np.eye(4, dtype=np.float32), np.zeros((1, 13)), 0)
    with pytest.raises(TypeError, match=r"strided.*\bfloat64\b"):
        poses.check_row(np.eye(4)[:, ::-1], np.zeros((1, 13)), 0)
    with pytest.raises(OverflowError):
        poses.check_row(np.eye(4), np.zeros((1, 13)), 2**70)
    assert poses.check_row(np.eye(4), np.zeros((1, 13)), np.int64(0)) == 0


def test_array_subclasses_and_unpickled_arrays_are_accepted():
    from gjk3d import poses

    class Dressed(np.ndarray):
        pass

    unpickled = pickle.loads(pickle.dumps(np.eye(4)))
    assert unpickled.dtype is not np.dtype(np.float64)
    for matrix in (unpickled, np.eye(4).view(Dressed)):
        rows = np.zeros((1, 13))
        assert poses.check_row(matrix, rows, 0) == 0
        assert rows[0, :4].tolist() == [1.0, 0.0, 0.0, 0.0]


def test_calls_keep_no_references():
    from gjk3d import poses

    rows, matrix = np.zeros((1, 13)), np.eye(4)
    before = [sys.getrefcount(x) for x in (rows, matrix, poses.check_row)]
    for _ in range(1000):
        poses.check_row(matrix, rows, 0)
        poses.check_rows(matrix[None], rows)
    assert [sys.getrefcount(x) for x in (rows, matrix, poses.check_row)] == before


# key of the machine code ----------------------------------------------------------------------------------------------

#: edits of comments, docstrings, formatting, and of code that no kernel uses
NO_CODE = [
    ("gjk3d/narrow/gjk.py", "MAX_STEPS = 256", "# more are never needed\nMAX_STEPS = 256  # in practice"),
    (
        "gjk3d/narrow/gjk.py",
        "    while steps < MAX_STEPS:",
        "    # one support per step\n    while (steps) < MAX_STEPS:",
    ),
    (
        "gjk3d/geometry/vec3.py",
        "def dot(a: Vec3, b: Vec3) -> float:",
        'def dot(a: Vec3, b: Vec3) -> float:\n    """Dot."""',
    ),
    ("gjk3d/shapes/layout.py", "class Core(NamedTuple):", 'class Core(NamedTuple):\n    """A core."""\n'),
    ("gjk3d/_kernels/builder.py", "import os\n", "import os  # processes\n"),
    ("gjk3d/poses.py", "def is_plain(", "def another() -> None:\n    pass\n\n\ndef is_plain("),
    ("gjk3d/shapes/layout.py", "largest > GREATEST or", "largest >= GREATEST or"),
]
#: edits of a kernel, of constants in the same and other files, of a field, of annotations, of called and inlined
#: kernels, and of the compiler options
CODE = [
    ("gjk3d/narrow/gjk.py", "    while steps < MAX_STEPS:", "    while steps <= MAX_STEPS:"),
    ("gjk3d/narrow/gjk.py", "MAX_STEPS = 256", "MAX_STEPS = 255"),
    ("gjk3d/shapes/layout.py", "KIND, VERTICES, PARTS", "VERTICES, KIND, PARTS"),
    ("gjk3d/query/single.py", "ANSWER", "ANSWERS"),
    ("gjk3d/shapes/layout.py", "    ints: Ints1\n    floats: Array1", "    numbers: Ints1\n    floats: Array1"),
    ("gjk3d/shapes/layout.py", "    floats: Array1\n", "    floats: Array2\n"),
    ("gjk3d/typing.py", "Array1 = Annotated[Array, 1]", "Array1 = Annotated[Array, 2]"),
    ("gjk3d/poses.py", "def _fault(m: Array, near: bool)", "def _fault(m: Array, near: int)"),
    ("gjk3d/geometry/vec3.py", "@kernel\ndef dot(", "@inlined\ndef dot("),
    ("gjk3d/geometry/vec3.py", "@inlined\ndef add(a: Vec3, b: Vec3)", "@inlined\ndef add(b: Vec3, a: Vec3)"),
    ("gjk3d/_kernels/builder.py", "speed_level=3", "speed_level=2"),
]


def key_after(file: str, old: str, new: str) -> str:
    """Return the key of the package after an edit of one file."""
    from gjk3d._kernels import sources

    texts = files.texts()
    before = texts[file].decode()
    assert old in before
    return sources.key_of({**texts, file: before.replace(old, new).encode()})


@pytest.mark.parametrize("edit", NO_CODE, ids=lambda edit: edit[2][:40])
def test_key_is_unchanged_by_edit_outside_kernels(edit):
    assert key_after(*edit) == store.source_key()


@pytest.mark.parametrize("edit", CODE, ids=lambda edit: edit[2][:40])
def test_key_changes_with_edit_of_kernels(edit):
    assert key_after(*edit) != store.source_key()


def test_key_covers_every_name_used_by_kernels():
    """The names that Python resolves in code and annotations are a subset of those found without an import."""
    code = """
import ast, importlib, types
from gjk3d._kernels import files, sources, store
package = sources._Package(files.texts())

def names_of(code):
    inner = [name for each in code.co_consts if isinstance(each, types.CodeType) for name in names_of(each)]
    return {*code.co_names, *inner}

def hints_of(function):
    nodes = [node for hint in function.__annotations__.values() for node in ast.walk(ast.parse(hint))]
    return {node.id for node in nodes if isinstance(node, ast.Name)}

used = set()
for home, kernel in package.marked(sources._KERNELS):
    function, known = getattr(importlib.import_module(home), kernel), vars(importlib.import_module(home))
    if isinstance(function, types.FunctionType):  # builtins exist only where they are compiled
        names = names_of(function.__code__)
        used |= {(home, name) for name in (names | hints_of(function)) & {*known}}
        modules = [known[name] for name in names & {*known} if isinstance(known[name], types.ModuleType)]
        for each in modules:
            used |= {(each.__name__, name) for name in names & {*vars(each)} - {*known}}
used = {(home, name) for home, name in used if home.startswith("gjk3d.") and not home.startswith("gjk3d._kernels")}
print(len(used), used - package.reached())
"""
    count, _, missing = run(code, GJK3D_KERNELS="python").stdout.partition(" ")
    assert int(count) > 1500
    assert missing == "set()\n"


def test_key_is_equal_in_other_processes_and_caches(tmp_path):
    """The first process reads the code, the second reads the cached key, and the third has a damaged cache."""
    # a copy without the key that a wheel contains
    shutil.copytree(PACKAGE, tmp_path / "gjk3d", ignore=shutil.ignore_patterns("__pycache__", "objects"))
    where = {"PYTHONPATH": str(tmp_path), "GJK3D_CACHE_DIR": str(tmp_path / "cache")}
    code = "from gjk3d._kernels import files, store; print(store.source_key())"
    for _ in range(2):
        assert run(code, **where).stdout.strip() == store.source_key()
    (key,) = (tmp_path / "cache/keys").iterdir()
    key.write_text(key.read_text().replace(store.source_key(), "0" * 64))
    cached = tmp_path / "cache/sources.json"
    cached.write_text(cached.read_text().replace("gjk3d", "gjk4d", 1))
    assert run(code, **where).stdout.strip() == store.source_key()


def test_wheel_contains_its_key(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "gjk3d", ignore=shutil.ignore_patterns("__pycache__", "objects"))
    where = {"PYTHONPATH": str(tmp_path), "GJK3D_CACHE_DIR": str(tmp_path / "cache")}
    run("from gjk3d._kernels import files, store; store.ship_key()", **where)
    shutil.rmtree(tmp_path / "cache")
    code = (
        "import sys; sys.modules['gjk3d._kernels.sources'] = None; from gjk3d._kernels import files, store\n"
        "print(store.source_key(), files.folder().exists())"
    )
    assert run(code, **where).stdout.split() == [store.source_key(), "False"]
    with open(tmp_path / "gjk3d/narrow/gjk.py", "a") as file:
        file.write("MAX_STEPS = 3\n")
    assert "import of gjk3d._kernels.sources halted" in run(code, expected=1, **where).stderr


def test_edit_during_build_produces_no_object(cold, sources):
    code = """
from gjk3d._kernels import files, builder, store
finish = builder._finish_all
def edited(*args):
    store.read_key = lambda: "the key after an edit"
    return finish(*args)
builder._finish_all = edited
builder.build()
"""
    assert "SourcesChanged" in run(code, expected=1, PYTHONPATH=sources, GJK3D_CACHE_DIR=str(cold)).stderr
    assert not list(cold.glob("*.o"))


# without machine code -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sources(tmp_path_factory) -> str:
    """Return a folder with the package as in a checkout, without the objects that a wheel contains."""
    folder = tmp_path_factory.mktemp("sources")
    shutil.copytree(PACKAGE, folder / "gjk3d", ignore=shutil.ignore_patterns("__pycache__", "objects"))
    return str(folder)


@pytest.fixture
def cold(tmp_path) -> Path:
    """Return a cache without objects, but with the bitcode and the groups of earlier builds."""
    assert gjk3d.warmup()
    folder = tmp_path / "cache"
    folder.mkdir()
    for name in ("bitcode", "groups"):
        if (files.folder() / name).exists():
            shutil.copytree(files.folder() / name, folder / name)
    return folder


FIRST = """
import sys, gjk3d as gk, numpy as np
from gjk3d._kernels import late
pose = np.eye(4); pose[0, 3] = 3.0
print(gk.distance(gk.Box((1, 1, 1)), gk.Sphere(0.5), None, pose).distance, bool(late._code))
"""
MANY = "print(gk.distance(gk.Box((1, 1, 1)), gk.Sphere(0.5), None, np.stack([pose] * 9)).distance[8], bool(late._code))"


def run_next_to_other_package(code: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a working directory that contains another package gjk3d, which must not be imported."""
    package = folder / "elsewhere/gjk3d"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('another one')\n")
    script = folder / "scripts/ask.py"
    script.parent.mkdir()
    script.write_text(code)
    command, variables = [sys.executable, str(script)], {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=variables, cwd=package.parent)


def copy_object(folder: Path) -> tuple[Path, Path]:
    """Copy the object of this machine into a cache, and return the paths of the object and of its description."""
    built = store.find()
    path = folder / built.path.name
    for file in (built.path, built.path.with_suffix(".json")):
        shutil.copy(file, folder)
    return path, path.with_suffix(".json")


@pytest.mark.parametrize("damage", ["cut off", "without names"])
def test_single_query_does_not_wait_for_build(cold, sources, damage):
    """A single query does not wait for the build of a missing or damaged object, but a query of many poses does."""
    path, description = copy_object(cold)
    if damage == "cut off":
        path.write_bytes(path.read_bytes()[:5000])
    else:
        facts = json.loads(description.read_text())
        del facts["names"]
        description.write_text(json.dumps(facts))
    done = run(FIRST + MANY, PYTHONPATH=sources, GJK3D_CACHE_DIR=str(cold))
    assert done.stdout.splitlines() == ["2.0 False", "2.0 True"]
    assert "compiling" in done.stderr
    assert "compiled 100%" in done.stderr
    assert run(FIRST, PYTHONPATH=sources, GJK3D_CACHE_DIR=str(cold)).stdout == "2.0 True\n"


def test_edit_recompiles_only_affected_kernels(cold, tmp_path, sources):
    """An edit is detected by content, although the modification time is unchanged."""
    shutil.copytree(PACKAGE, tmp_path / "gjk3d", ignore=shutil.ignore_patterns("__pycache__", "objects"))
    edited = tmp_path / "gjk3d/shapes/polytopes.py"
    before, text = edited.stat(), edited.read_text()
    assert "return (x, y, z)" in text
    edited.write_text(text.replace("return (x, y, z)", "return (z, y, x)"))
    os.utime(edited, ns=(before.st_atime_ns, before.st_mtime_ns))
    if not (cold / "bitcode").exists():  # the tested package is a wheel with objects
        run("import gjk3d; gjk3d.warmup()", PYTHONPATH=sources, GJK3D_CACHE_DIR=str(cold))
    before = {*(cold / "bitcode").glob("*.bc")}  # the build may delete the oldest
    code = "import gjk3d as gk; assert gk.warmup(); print(gk.Capsule(1, 2).support((0, 0, 1)).tolist())"
    done = run_next_to_other_package(code, tmp_path, PYTHONPATH=str(tmp_path), GJK3D_CACHE_DIR=str(cold))
    assert done.stdout.startswith("[1.0, 0.0, 1.0]")
    assert 1 <= len({*(cold / "bitcode").glob("*.bc")} - before) <= 2


def test_edit_rebuilds_only_its_group(cold, tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "gjk3d", ignore=shutil.ignore_patterns("__pycache__", "objects"))
    run("import gjk3d; assert gjk3d.warmup()", PYTHONPATH=str(tmp_path), GJK3D_CACHE_DIR=str(cold))
    before = {*(cold / "groups").glob("*.o")}
    edited = tmp_path / "gjk3d/scene/coherence.py"
    text = edited.read_text()
    edited.write_text(text.replace("sides, moved, leaves = 0.0,", "sides, moved, leaves = 1.0,"))
    assert edited.read_text() != text
    run("import gjk3d; assert gjk3d.warmup()", PYTHONPATH=str(tmp_path), GJK3D_CACHE_DIR=str(cold))
    assert len(before) > 1
    assert len({*(cold / "groups").glob("*.o")} - before) == 1


def test_argument_types_round_trip_as_json():
    """Types read from JSON are equal to the written ones, including the classes of NamedTuples."""
    code = """
import json
from gjk3d._kernels import alone, sources
alone.install()
from numba import types
from gjk3d._kernels.alone import from_json, parameter_types, return_type, to_json
functions = [alone.dispatcher_of(name).py_func for name in sources.entries()]
kinds = {kind for each in functions for kind in (*parameter_types(each), return_type(each))}
kinds |= {types.Array(types.float64, 1, "C", readonly=True), types.UniTuple(types.UniTuple(types.boolean, 2), 3)}
from gjk3d.narrow.curved import Cap
from gjk3d.narrow.closed import Gap
kinds |= {types.NamedTuple([types.int64, types.float64], each) for each in (Cap, Gap)}
for kind in kinds:
    same = from_json(json.loads(json.dumps(to_json(kind))))
    assert (same, getattr(same, "instance_class", None)) == (kind, getattr(kind, "instance_class", None)), kind
print(len(kinds) > 20)
for kind in (types.Array(types.float64, 1, "A"), types.Array(types.complex128, 1, "C"), types.unicode_type):
    try:
        to_json(kind)
    except TypeError as error:
        print(str(kind) in str(error) or str(kind.dtype) in str(error))
"""
    assert run(code).stdout.split() == ["True"] * 4


def test_cached_kernel_with_moved_types_is_discarded(tmp_path):
    """A cached kernel is discarded if a NamedTuple of its arguments has moved or was renamed."""
    from gjk3d._kernels import alone

    # the second call has no arguments
    calls = [("gjk3d.narrow.gjk:gjk", None), ("gjk3d.bodies.tree_collision:no_axis", ())]
    made = alone.CompiledKernel("symbol", b"bitcode", calls, "declaration", "", 100, False)
    path = tmp_path / "kernel.o"
    alone.write(path, made)
    assert alone.read(path) == made
    for module, name in (("gjk3d.narrow.nowhere", "Cap"), ("gjk3d.narrow.curved", "Nothing")):
        moved = {"class": f"{module}:{name}", "fields": ["float64"]}
        facts = {**made._asdict(), "calls": [("gjk3d.narrow.gjk:gjk", [moved])]}
        del facts["bitcode"]
        store.write_built(path, made.bitcode, facts)
        assert alone.read(path) is None


def test_builder_help_builds_nothing(tmp_path):
    command = [sys.executable, "-m", "gjk3d._kernels.builder", "--help"]
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), "GJK3D_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd="/")
    assert_names(done.stdout, "--verbose", "machine code")
    assert not (tmp_path / "cache").exists()


def test_cache_contains_no_pickle():
    assert gjk3d.warmup()
    contents = [path.read_bytes() for path in files.folder().rglob("*.*") if path.is_file()]
    assert not [content for content in contents if content.startswith(pickle.PROTO)]


@pytest.fixture
def kernels() -> dict[str, Any]:
    """Return kernels of two groups by symbol: three entries, and large, inlined and small kernels."""
    from gjk3d._kernels.alone import CompiledKernel

    def made(symbol: str, calls: str = "", entry: str = "", size: int = 100, inlined: bool = False) -> CompiledKernel:
        return CompiledKernel(symbol, symbol.encode(), calls.split(), f"declaration of {symbol}", entry, size, inlined)

    return {
        "first": made("first", "large wide small", "gjk3d.narrow:first"),
        "second": made("second", "small inner", "gjk3d.bodies.x:second"),
        "third": made("third", "large wide small", "gjk3d.bodies.y:third"),
        "large": made("large", "small", size=5000),
        "wide": made("wide", "large", inlined=True),
        "small": made("small"),
        "inner": made("inner", size=5000),
    }


def test_only_small_and_inlined_kernels_are_duplicated(kernels):
    from gjk3d._kernels import builder

    first, second = builder.in_groups(kernels, ("", "gjk3d.bodies"))
    assert first.names == ["gjk3d.narrow:first"]
    assert second.names == ["gjk3d.bodies.x:second", "gjk3d.bodies.y:third"]
    assert first.modules == [b"first", b"large", b"wide", b"small"]
    assert second.modules == [b"second", b"third", b"wide", b"small", b"inner"]
    assert first.exports == ["large"]
    assert second.exports == []
    assert "declaration of first" in first.wrappers
    assert "declaration of first" not in second.wrappers


@pytest.mark.parametrize(
    ("edited", "changed"),
    [
        ("large", [True, False]), ("inner", [False, True]), ("third", [False, True]), ("small", [True, True]),
        ("wide", [True, True]),
    ],
)  # fmt: skip
def test_edited_kernel_changes_its_groups(kernels, edited, changed):
    from gjk3d._kernels import builder

    target = builder.Target("x86_64-unknown-linux-gnu", "x86-64")

    def hashes(of):
        return [builder._hash(code, target) for code in builder.in_groups(of, ("", "gjk3d.bodies"))]

    after = {**kernels, edited: kernels[edited]._replace(bitcode=b"edited")}
    assert [a != b for a, b in zip(hashes(kernels), hashes(after), strict=True)] == changed


def test_concurrent_builders_build_once(cold, sources):
    command = [sys.executable, "-m", "gjk3d._kernels.builder"]
    environment = {**os.environ, "PYTHONPATH": sources, "GJK3D_CACHE_DIR": str(cold)}
    builders = [subprocess.Popen(command, env=environment) for _ in range(2)]
    while not list(cold.glob("*.o")):
        assert any(builder.poll() is None for builder in builders)
        time.sleep(0.02)
    (made,) = cold.glob("*.o")
    first = made.stat().st_ino
    assert [builder.wait() for builder in builders] == [0, 0]
    assert made.stat().st_ino == first


FORK = """
import os
child = os.fork() if hasattr(os, "fork") else 0
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_fork_completes_build_after_killed_build(cold, sources):
    environment = {**os.environ, "PYTHONPATH": sources, "GJK3D_CACHE_DIR": str(cold)}
    builder = subprocess.Popen(
        [sys.executable, "-m", "gjk3d._kernels.builder"], env=environment, start_new_session=True
    )
    while read_progress(cold) is None:
        assert builder.poll() is None
        time.sleep(0.01)
    os.killpg(builder.pid, signal.SIGKILL)
    builder.wait()
    assert not list(cold.glob("*.o"))
    done = run(FIRST + "sys.stdout.flush()\n" + FORK + MANY, PYTHONPATH=sources, GJK3D_CACHE_DIR=str(cold))
    assert done.stdout.splitlines() == ["2.0 False", "2.0 True"]


def read_progress(folder: Path) -> str | None:
    try:
        return (folder / "build.progress").read_text()
    except OSError:
        return None


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_workers_end_with_killed_builder(tmp_path, sources):
    """The workers of a killed builder end. The cache has no earlier bitcode, so the workers are busy."""
    environment = {**os.environ, "PYTHONPATH": sources, "GJK3D_CACHE_DIR": str(tmp_path)}
    if list(Path(sources).rglob("*.bitcode")):
        pytest.skip("all is linked in one process")
    builder = subprocess.Popen([sys.executable, "-m", "gjk3d._kernels.builder"], env=environment)
    while read_progress(tmp_path) is None:
        assert builder.poll() is None
        time.sleep(0.01)
    workers = children_of(builder.pid)
    assert workers
    builder.kill()
    builder.wait()
    begun = time.monotonic()
    while any(map(is_running, workers)):
        assert time.monotonic() - begun < 60.0
        time.sleep(0.05)


def children_of(pid: int) -> list[int]:
    children = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(path.read_text().rpartition(")")[2].split()[1]) == pid:
                children.append(int(path.parent.name))
        except OSError:  # the process has ended
            pass
    return children


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_no_builder_starts_while_another_builds(cold, sources):
    code = FIRST + "print(late._builder is None, gk._kernels.store.is_building())"
    shutil.rmtree(cold)
    environment = {"PYTHONPATH": sources, "GJK3D_CACHE_DIR": str(cold)}
    holder = (
        "import time\nfrom gjk3d._kernels import store\nwith store.lock(): print('held', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", holder], env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    done = run(code, **environment)
    assert done.stdout.splitlines() == ["2.0 False", "True True"]
    process.kill()
    process.wait()
    assert run(code, **environment).stdout.splitlines() == ["2.0 False", "False False"]


@pytest.mark.skipif(os.name == "nt", reason="Windows asks no home")
def test_missing_home_prints_the_variable_to_set(sources):
    code = "from pathlib import Path\ndef home(): raise RuntimeError('Could not determine home directory.')\n"
    environment = dict.fromkeys(("XDG_CACHE_HOME", "GJK3D_CACHE_DIR"), "")
    done = run(code + "Path.home = home\n" + FIRST + MANY, PYTHONPATH=sources, **environment)
    assert done.stdout.splitlines() == ["2.0 False", "2.0 False"]
    assert "GJK3D_CACHE_DIR" in done.stderr


@pytest.mark.parametrize("place", ["/dev/null/x", "/proc/x", "/nowhere/x"])
def test_unwritable_folder_is_detected(place):
    if place == "/nowhere/x" and os.access("/", os.W_OK):
        pytest.skip("this user may write anywhere")
    assert not store._can_write(Path(place))
    assert store._can_write(Path.cwd() / "not yet" / "there") == os.access(Path.cwd(), os.W_OK)


def test_single_queries_warn_once_if_they_stay_interpreted(tmp_path, sources):
    (tmp_path / "file").write_text("no folder")
    code = """
import time
def ask(): gk.distance(gk.Box((1, 1, 1)), gk.Sphere(0.5)); time.sleep(0.25)
while not late._hopeless: ask()
ask(), ask(), ask()
"""
    done = run(FIRST + code, PYTHONPATH=sources, GJK3D_CACHE_DIR=str(tmp_path / "file" / "cache"))
    assert done.stderr.count("interpreted") == 1
    assert "GJK3D_CACHE_DIR" in done.stderr


def test_queries_are_interpreted_without_writable_cache(tmp_path, sources):
    (tmp_path / "file").write_text("no folder")
    done = run(FIRST + MANY, PYTHONPATH=sources, GJK3D_CACHE_DIR=str(tmp_path / "file" / "cache"))
    assert done.stdout.splitlines() == ["2.0 False", "2.0 False"]
    assert "GJK3D_CACHE_DIR" in done.stderr
    assert done.stderr.count("run interpreted") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of files here")
def test_queries_are_interpreted_on_a_full_disk(tmp_path, sources):
    """A file size limit of zero makes every write fail, as on a full disk."""
    code = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n" + FIRST + MANY
    done = run(code, PYTHONPATH=sources, GJK3D_CACHE_DIR=str(tmp_path / "cache"))
    assert done.stdout.splitlines() == ["2.0 False", "2.0 False"]
    assert "compiled: " in done.stderr
    assert "GJK3D_CACHE_DIR" in done.stderr
    assert not list((tmp_path / "cache").glob("*.o"))


NO_NUMBA = """
import sys, importlib.util as u
found = u.find_spec
u.find_spec = lambda name, *rest: None if name == "numba" else found(name, *rest)
sys.modules["numba"] = None
"""


def test_missing_numba_prints_the_cure(tmp_path, sources):
    done = run(NO_NUMBA + FIRST + MANY, PYTHONPATH=sources, GJK3D_CACHE_DIR=str(tmp_path))
    assert done.stdout.splitlines() == ["2.0 False", "2.0 False"]
    assert 'pip install "gjk3d[build]"' in done.stderr


def test_user_function_stays_interpreted_without_numba():
    code = (
        NO_NUMBA
        + """
import gjk3d as gk, numpy as np
ball = gk.Support(lambda d: d / np.linalg.norm(d), (0, 0, 0), 1.0)
print(ball.compiled, round(gk.distance(ball, gk.Point((0, 0, 3))).distance, 9))
"""
    )
    assert run(code).stdout == "False 2.0\n"


def test_outdated_object_is_not_used(cold, tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "gjk3d", ignore=shutil.ignore_patterns("__pycache__", "objects"))
    copy_object(cold)
    assert run(FIRST, PYTHONPATH=str(tmp_path), GJK3D_CACHE_DIR=str(cold)).stdout == "2.0 True\n"
    edited = tmp_path / "gjk3d/narrow/gjk.py"
    text = edited.read_text()
    edited.write_text(text.replace("MAX_STEPS = 256", '"""A docstring."""\nMAX_STEPS = 256  # a comment'))
    assert edited.read_text() != text
    assert run(FIRST, PYTHONPATH=str(tmp_path), GJK3D_CACHE_DIR=str(cold)).stdout == "2.0 True\n"
    with open(edited, "a") as file:
        file.write("\n\n@kernel\ndef another(number: float) -> float:\n    return number\n")
    done = run(FIRST, PYTHONPATH=str(tmp_path), GJK3D_CACHE_DIR=str(cold))
    assert done.stdout == "2.0 False\n"


def test_object_with_wrong_results_is_not_used(cold):
    code = "from gjk3d._kernels import late; late._misses = lambda code: 'planted';" + FIRST.lstrip() + MANY
    done = run("import gjk3d._kernels.store;" + code, GJK3D_CACHE_DIR=str(files.folder()))
    assert done.stdout.splitlines() == ["2.0 False", "2.0 False"]
    assert "planted" in done.stderr
    assert "GJK3D_KERNELS=jit" in done.stderr


def test_self_check_of_object_detects_wrong_result():
    from gjk3d._kernels import late

    def wrong(matrices, rows):
        rows[:] = 0.0
        return -1, 0

    assert gjk3d.warmup()
    assert_names(late._misses({"gjk3d.poses:check_rows": wrong}), "(-1, 0)", f"{[0.0] * 13}")
    assert late._misses(late._code) == ""


def test_array_aliases_have_numba_types_in_numpy_2_5():
    """The types of array aliases are correct for numpy 2.5, whose alias `NDArray` has other arguments than ndarray."""
    done = run(
        "import types\nimport numpy.typing as npt\n"
        "class NDArray:\n    def __class_getitem__(cls, item): return types.GenericAlias(cls, item)\n"
        "npt.NDArray = NDArray\n"
        "import typing\nfrom gjk3d import typing as ours\nfrom gjk3d._kernels.alone import numba_type\n"
        "assert typing.get_args(ours.Array) == (ours.np.float64,)\n"
        "for each in (ours.Array2, ours.Ints1, ours.Bools2):\n    print(numba_type(each))"
    )
    assert done.stdout.splitlines() == ["array(float64, 2d, C)", "array(int64, 1d, C)", "array(bool, 2d, C)"]

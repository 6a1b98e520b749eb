"""Compiled kernels: what is compiled, where it is kept, and what happens while there is none."""

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

import numpy as np
import pytest

import gjk3d
from gjk3d._kernels import store
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
    """Run code in a fresh interpreter on this package, or that of another PYTHONPATH."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=1200, check=False, cwd="/",
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent), **environment},
    )  # fmt: skip
    assert done.returncode == expected, done.stderr
    return done


def test_every_entry_is_in_the_object():
    from gjk3d._kernels import builder

    names = builder.entries()
    assert len(names) > 50
    assert gjk3d.warmup()
    about = json.loads(store.find().with_suffix(".json").read_text())
    assert sorted(about["names"]) == sorted(names)
    for name in names:
        home, _, function = name.partition(":")
        if name not in about["builtins"]:
            assert type(getattr(importlib.import_module(home), function)).__name__ == "builtin_function_or_method", name
    assert len(about["builtins"]) > 5


def test_interpreted_answers_have_the_same_bits():
    compiled, interpreted = (run(QUERIES, GJK3D_KERNELS=mode).stdout for mode in ("object", "python"))
    assert compiled == interpreted
    assert compiled.count("\n") == 104


def test_arguments_fit_and_numba_is_not_loaded():
    """What machine code does not take as it is would come round by Python, and slowly."""
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


def test_wrong_arguments_are_refused():
    from gjk3d import poses

    with pytest.raises(TypeError, match="poses:check_row takes"):
        poses.check_row(np.eye(4, dtype=np.float32), np.zeros((1, 13)), 0)
    with pytest.raises(TypeError, match="strided or misaligned float64"):
        poses.check_row(np.eye(4)[:, ::-1], np.zeros((1, 13)), 0)
    with pytest.raises(OverflowError):
        poses.check_row(np.eye(4), np.zeros((1, 13)), 2**70)
    assert poses.check_row(np.eye(4), np.zeros((1, 13)), np.int64(0)) == 0


def test_arrays_in_other_clothes_are_taken():
    from gjk3d import poses

    class Dressed(np.ndarray):
        pass

    unpickled = pickle.loads(pickle.dumps(np.eye(4)))
    assert unpickled.dtype is not np.dtype(np.float64)
    for matrix in (unpickled, np.eye(4).view(Dressed)):
        rows = np.zeros((1, 13))
        assert poses.check_row(matrix, rows, 0) == 0
        assert rows[0, :4].tolist() == [1.0, 0.0, 0.0, 0.0]


def test_calls_hold_nothing():
    from gjk3d import poses

    rows, one = np.zeros((1, 13)), np.eye(4)
    before = [sys.getrefcount(x) for x in (rows, one, poses.check_row)]
    for _ in range(1000):
        poses.check_row(one, rows, 0)
        poses.check_rows(one[None], rows)
    assert [sys.getrefcount(x) for x in (rows, one, poses.check_row)] == before


# while there is no machine code ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sources(tmp_path_factory) -> str:
    """Return a folder with the package as it is in a checkout: a wheel has objects beside."""
    folder = tmp_path_factory.mktemp("sources")
    shutil.copytree(PACKAGE, folder / "gjk3d", ignore=shutil.ignore_patterns("__pycache__", "objects"))
    return str(folder)


@pytest.fixture
def cold(tmp_path) -> Path:
    """Return a cache without objects, but with the bitcode that was made before."""
    assert gjk3d.warmup()
    folder = tmp_path / "cache"
    folder.mkdir()
    if (store.folder() / "bitcode").exists():
        shutil.copytree(store.folder() / "bitcode", folder / "bitcode")
    return folder


FIRST = """
import sys, gjk3d as gk, numpy as np
from gjk3d._kernels import late
pose = np.eye(4); pose[0, 3] = 3.0
print(gk.distance(gk.Box((1, 1, 1)), gk.Sphere(0.5), None, pose).distance, bool(late._code))
"""
MANY = "print(gk.distance(gk.Box((1, 1, 1)), gk.Sphere(0.5), None, np.stack([pose] * 9)).distance[8], bool(late._code))"


def run_beside_another(code: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script where the working directory has a gjk3d that is not the one that is imported."""
    other = folder / "elsewhere/gjk3d"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("raise ImportError('another one')\n")
    script = folder / "scripts/ask.py"
    script.parent.mkdir()
    script.write_text(code)
    command, variables = [sys.executable, str(script)], {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=variables, cwd=other.parent)


def test_one_question_is_answered_at_once_and_many_wait(cold, sources):
    """Where the object is cut off, as where there is none."""
    name = store.find().name
    (cold / name).write_bytes(store.find().read_bytes()[:5000])
    shutil.copy(store.find().with_suffix(".json"), (cold / name).with_suffix(".json"))
    done = run(FIRST + MANY, PYTHONPATH=sources, GJK3D_CACHE_DIR=str(cold))
    assert done.stdout.splitlines() == ["2.0 False", "2.0 True"]
    assert "compiling its kernels" in done.stderr
    assert "compiled 100%" in done.stderr
    assert run(FIRST, PYTHONPATH=sources, GJK3D_CACHE_DIR=str(cold)).stdout == "2.0 True\n"


def test_an_edit_compiles_what_was_edited(cold, tmp_path, sources):
    """The modification time is put back, as a copy or a hard link would have it; only content may decide."""
    shutil.copytree(PACKAGE, tmp_path / "gjk3d", ignore=shutil.ignore_patterns("__pycache__", "objects"))
    edited = tmp_path / "gjk3d/shapes/simplices.py"
    before, text = edited.stat(), edited.read_text()
    assert "return (x, y, z)" in text
    edited.write_text(text.replace("return (x, y, z)", "return (z, y, x)"))
    os.utime(edited, ns=(before.st_atime_ns, before.st_mtime_ns))
    if not (cold / "bitcode").exists():  # what is tested came with its objects
        run("import gjk3d; gjk3d.warmup()", PYTHONPATH=sources, GJK3D_CACHE_DIR=str(cold))
    had = len(list((cold / "bitcode").iterdir()))
    code = "import gjk3d as gk; assert gk.warmup(); print(gk.Capsule(1, 2).support((0, 0, 1)).tolist())"
    done = run_beside_another(code, tmp_path, PYTHONPATH=str(tmp_path), GJK3D_CACHE_DIR=str(cold))
    assert done.stdout.startswith("[1.0, 0.0, 1.0]")
    assert 1 <= len(list((cold / "bitcode").iterdir())) - had <= 2


def test_two_builders_build_once(cold, sources):
    command = [sys.executable, "-m", "gjk3d._kernels.builder"]
    environment = {**os.environ, "PYTHONPATH": sources, "GJK3D_CACHE_DIR": str(cold)}
    both = [subprocess.Popen(command, env=environment) for _ in range(2)]
    while not list(cold.glob("*.o")):
        assert any(one.poll() is None for one in both)
        time.sleep(0.02)
    (made,) = cold.glob("*.o")
    first = made.stat().st_ino
    assert [one.wait() for one in both] == [0, 0]
    assert made.stat().st_ino == first


FORK = """
import os
child = os.fork() if hasattr(os, "fork") else 0
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_killed_build_leaves_nothing_broken_and_a_fork_goes_on(cold, sources):
    environment = {**os.environ, "PYTHONPATH": sources, "GJK3D_CACHE_DIR": str(cold)}
    one = subprocess.Popen([sys.executable, "-m", "gjk3d._kernels.builder"], env=environment, start_new_session=True)
    while store_progress(cold) is None:
        assert one.poll() is None
        time.sleep(0.01)
    os.killpg(one.pid, signal.SIGKILL)
    one.wait()
    assert not list(cold.glob("*.o"))
    done = run(FIRST + "sys.stdout.flush()\n" + FORK + MANY, PYTHONPATH=sources, GJK3D_CACHE_DIR=str(cold))
    assert done.stdout.splitlines() == ["2.0 False", "2.0 True"]


def store_progress(folder: Path) -> str | None:
    try:
        return (folder / "build.progress").read_text()
    except OSError:
        return None


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_killed_builder_takes_its_workers_along(tmp_path, sources):
    """Without bitcode from before, so that the workers are at work."""
    environment = {**os.environ, "PYTHONPATH": sources, "GJK3D_CACHE_DIR": str(tmp_path)}
    if list(Path(sources).rglob("*.bitcode")):
        pytest.skip("all is linked in one process")
    one = subprocess.Popen([sys.executable, "-m", "gjk3d._kernels.builder"], env=environment)
    while store_progress(tmp_path) is None:
        assert one.poll() is None
        time.sleep(0.01)
    workers = _children(one.pid)
    assert workers
    one.kill()
    one.wait()
    begun = time.monotonic()
    while any(map(_runs, workers)):
        assert time.monotonic() - begun < 60.0
        time.sleep(0.05)


def _children(pid: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(path.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(path.parent.name))
        except OSError:  # it ended meanwhile
            pass
    return found


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_while_one_process_builds_others_start_no_builder(cold, sources):
    code = FIRST + "print(late._builder is None, gk._kernels.store.is_building())"
    shutil.rmtree(cold)
    environment = {"PYTHONPATH": sources, "GJK3D_CACHE_DIR": str(cold)}
    holder = (
        "import time\nfrom gjk3d._kernels import store\nwith store.lock(): print('held', flush=True); time.sleep(60)"
    )
    one = subprocess.Popen(
        [sys.executable, "-c", holder], env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True
    )
    assert one.stdout is not None
    assert one.stdout.readline() == "held\n"
    done = run(code, **environment)
    assert done.stdout.splitlines() == ["2.0 False", "True True"]
    one.kill()
    one.wait()
    assert run(code, **environment).stdout.splitlines() == ["2.0 False", "False False"]


@pytest.mark.skipif(os.name == "nt", reason="no such rights here")
def test_what_was_built_may_be_read_as_the_umask_says(tmp_path):
    """An image is built by root and run by another user."""
    for mask, mode in ((0o022, 0o644), (0o077, 0o600)):
        code = f"import os; os.umask({mask})\nfrom gjk3d._kernels import store\n"
        code += "store.write_object(store.folder() / 'x.o', b'x', {})"
        run(code, GJK3D_CACHE_DIR=str(tmp_path / str(mask)))
        for name in ("x.o", "x.json"):
            assert (tmp_path / str(mask) / name).stat().st_mode & 0o777 == mode


@pytest.mark.skipif(os.name == "nt", reason="Windows asks no home")
def test_a_user_without_a_home_is_told_what_to_set(sources):
    code = "from pathlib import Path\ndef home(): raise RuntimeError('Could not determine home directory.')\n"
    environment = dict.fromkeys(("XDG_CACHE_HOME", "GJK3D_CACHE_DIR"), "")
    done = run(code + "Path.home = home\n" + FIRST + MANY, PYTHONPATH=sources, **environment)
    assert done.stdout.splitlines() == ["2.0 False", "2.0 False"]
    assert "GJK3D_CACHE_DIR names a folder" in done.stderr


@pytest.mark.parametrize("place", ["/dev/null/x", "/proc/x", "/nowhere/x"])
def test_a_place_that_cannot_be_written_is_seen(place):
    if place == "/nowhere/x" and os.access("/", os.W_OK):
        pytest.skip("this user may write anywhere")
    assert not store._can_write(Path(place))
    assert store._can_write(Path.cwd() / "not yet" / "there") == os.access(Path.cwd(), os.W_OK)


def test_single_questions_say_once_that_they_stay_interpreted(tmp_path, sources):
    (tmp_path / "file").write_text("no folder")
    code = """
import time
def ask(): gk.distance(gk.Box((1, 1, 1)), gk.Sphere(0.5)); time.sleep(0.25)
while not late._hopeless: ask()
ask(), ask(), ask()
"""
    done = run(FIRST + code, PYTHONPATH=sources, GJK3D_CACHE_DIR=str(tmp_path / "file" / "cache"))
    assert done.stderr.count("All is interpreted") == 1
    assert "GJK3D_CACHE_DIR names a folder" in done.stderr


def test_where_nothing_can_be_written_all_is_interpreted(tmp_path, sources):
    (tmp_path / "file").write_text("no folder")
    done = run(FIRST + MANY, PYTHONPATH=sources, GJK3D_CACHE_DIR=str(tmp_path / "file" / "cache"))
    assert done.stdout.splitlines() == ["2.0 False", "2.0 False"]
    assert "GJK3D_CACHE_DIR" in done.stderr
    assert done.stderr.count("All is interpreted") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of files here")
def test_where_the_disk_is_full_all_is_interpreted(tmp_path, sources):
    """The system refuses every write into a file, as it does on a full disk."""
    code = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n" + FIRST + MANY
    done = run(code, PYTHONPATH=sources, GJK3D_CACHE_DIR=str(tmp_path / "cache"))
    assert done.stdout.splitlines() == ["2.0 False", "2.0 False"]
    assert "could not be compiled" in done.stderr
    assert "GJK3D_CACHE_DIR" in done.stderr
    assert not list((tmp_path / "cache").glob("*.o"))


NO_NUMBA = """
import sys, importlib.util as u
found = u.find_spec
u.find_spec = lambda name, *rest: None if name == "numba" else found(name, *rest)
sys.modules["numba"] = None
"""


def test_without_numba_and_without_machine_code_it_says_what_to_install(tmp_path, sources):
    done = run(NO_NUMBA + FIRST + MANY, PYTHONPATH=sources, GJK3D_CACHE_DIR=str(tmp_path))
    assert done.stdout.splitlines() == ["2.0 False", "2.0 False"]
    assert 'pip install "gjk3d[build]"' in done.stderr


def test_without_numba_a_users_function_is_called_as_it_is():
    code = (
        NO_NUMBA
        + """
import gjk3d as gk, numpy as np
ball = gk.Support(lambda d: d / np.linalg.norm(d), (0, 0, 0), 1.0)
print(ball.compiled, round(gk.distance(ball, gk.Point((0, 0, 3))).distance, 9))
"""
    )
    assert run(code).stdout == "False 2.0\n"


def test_a_stale_object_is_not_used(cold, tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "gjk3d", ignore=shutil.ignore_patterns("__pycache__", "objects"))
    name = store.find().name
    shutil.copy(store.find(), cold / name)
    shutil.copy(store.find().with_suffix(".json"), (cold / name).with_suffix(".json"))
    assert run(FIRST, PYTHONPATH=str(tmp_path), GJK3D_CACHE_DIR=str(cold)).stdout == "2.0 True\n"
    with open(tmp_path / "gjk3d/narrow/gjk.py", "a") as file:
        file.write("# another source\n")
    done = run(FIRST, PYTHONPATH=str(tmp_path), GJK3D_CACHE_DIR=str(cold))
    assert done.stdout == "2.0 False\n"


def test_an_object_that_answers_wrongly_is_not_used(cold):
    code = "from gjk3d._kernels import late; late._misses = lambda code: 'it told 3';" + FIRST.lstrip() + MANY
    done = run("import gjk3d._kernels.store;" + code, GJK3D_CACHE_DIR=str(store.folder()))
    assert done.stdout.splitlines() == ["2.0 False", "2.0 False"]
    assert "does not work here: it told 3" in done.stderr
    assert "GJK3D_KERNELS=jit" in done.stderr


def test_a_wrong_answer_is_seen_when_the_object_is_loaded():
    from gjk3d._kernels import late

    def wrong(matrices, rows):
        rows[:] = 0.0
        return -1, 0

    assert gjk3d.warmup()
    assert late._misses({"gjk3d.poses:check_rows": wrong}).startswith("a pose is taken for")
    assert late._misses(late._code) == ""


def test_numbers_of_an_array_are_known_whatever_numpy_makes_of_its_alias():
    """numpy 2.5 made `NDArray` an alias of its own, which has other arguments than the ndarray that it stands for."""
    told = run(
        "import types\nimport numpy.typing as npt\n"
        "class NDArray:\n    def __class_getitem__(cls, item): return types.GenericAlias(cls, item)\n"
        "npt.NDArray = NDArray\n"
        "import typing\nfrom gjk3d import typing as ours\nfrom gjk3d._kernels.signatures import numba_type\n"
        "assert typing.get_args(ours.Array) == (ours.np.float64,)\n"
        "for each in (ours.Array2, ours.Ints1, ours.Bools2):\n    print(numba_type(each))"
    )
    assert told.stdout.splitlines() == ["array(float64, 2d, C)", "array(int64, 1d, C)", "array(bool, 2d, C)"]

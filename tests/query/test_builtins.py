"""Builtins that replace Python functions: equal bits, equal errors, and correct lifetimes of objects."""

from __future__ import annotations

import contextlib
import copy
import gc
import itertools
import os
import pickle
import signal
import subprocess
import sys
import threading
import tracemalloc
import weakref
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d._kernels.calls.install import is_usable
from gjk3d.query.pair import _cache
from gjk3d.query.single import PLACES, _place_of, places

gk.warmup()
pytestmark = pytest.mark.skipif(not is_usable(), reason="builtins are of machine code")

SHAPES = (
    gk.Sphere(0.5), gk.Point(), gk.Box((1, 1.2, 0.8)), gk.Capsule(0.3, 1), gk.Cylinder(0.4, 1), gk.Cone(0.5, 1),
    gk.Ellipsoid((0.3, 0.4, 0.5)), gk.ConvexHull(np.random.default_rng(0).normal(size=(40, 3)) / 3),
)  # fmt: skip
FIELDS = (
    "distance", "lower", "upper", "normal", "point_a", "point_b", "status", "tight", "iterations", "pose_a", "pose_b",
    "trace", "certificate", "asked",
)  # fmt: skip


def some_poses(count: int, seed: int) -> list[np.ndarray]:
    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, :3, :3] = Rotation.random(count, random_state=seed).as_matrix()
    poses[:, :3, 3] = np.random.default_rng(seed).uniform(-0.8, 0.8, (count, 3))
    return list(poses)


ANSWERS = """
import numpy as np, gjk3d as gk, sys
sys.path.insert(0, {folder!r})
from test_builtins import FIELDS, SHAPES, some_poses
def told(x): return x.tobytes().hex() if isinstance(x, np.ndarray) else repr(x)
for a in SHAPES:
    for b in SHAPES:
        pair = gk.Pair(a, b)
        for pose_a, pose_b in zip([None, *some_poses(6, 1)], [*some_poses(6, 2), None]):
            print(gk.collide(a, b, pose_a, pose_b), pair.collide(pose_a, pose_b))
            print([gk.collide(a, b, pose_a, pose_b, margin=x) for x in (0.3, -0.2, 0, 1.0)], pair.collide(margin=0.2))
            for ask in (gk.distance, gk.signed_distance):
                answer = ask(a, b, pose_a, pose_b)
                print(answer, *(told(getattr(answer, name)) for name in FIELDS))
            for limits in (dict(tol=1e-3), dict(tol=0.0), dict(max_distance=0.1), dict(max_distance=0.1, tol=1e-6)):
                for ask, two in ((gk.distance, (a, b)), (pair.signed_distance, ())):
                    answer = ask(*two, pose_a, pose_b, **limits)
                    print(*(told(getattr(answer, name)) for name in FIELDS))
            for ask in (pair.distance, pair.signed_distance):
                answer = ask(pose_a, pose_b)
                print(*(told(getattr(answer, name)) for name in reversed(FIELDS)), answer.shape_a is a)
"""


def run(code: str, **environment: str) -> str:
    """Run code in a new interpreter with this package and return its output."""
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", code], capture_output=True, text=True, timeout=600, check=False,
        env={**os.environ, "PYTHONPATH": str(Path(gk.__file__).parents[1]), **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.full
def test_builtins_equal_python_functions():
    code = ANSWERS.format(folder=str(Path(__file__).parent))
    builtin, python = run(code), run(code, GJK3D_BUILTINS="0")
    assert builtin == python
    assert builtin.count("\n") == len(SHAPES) ** 2 * 7 * 14


def test_touching_pairs_equal_rows_of_stack():
    """Single booleans equal those of a stack for touching faces and aligned axes, where only the distance decides."""
    steps = np.stack(np.meshgrid(*[np.arange(-1.0, 1.25, 0.25)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    poses = np.tile(np.eye(4), (len(steps), 1, 1))
    poses[:, :3, 3] = steps
    cube = gk.Box((1, 1, 1))
    shapes = cube, gk.Cylinder(0.5, 1), gk.ConvexHull(cube.surface().vertices), gk.Sphere(0.5)
    for a, b in itertools.product(shapes, shapes):
        pair, scene = gk.Pair(a, b), gk.Scene()
        scene.add("a", a)
        scene.add("b", b)
        for margin in (0.0, 0.25, -0.25):
            many = gk.collide(a, b, None, poses, margin=margin).tolist()
            assert [gk.collide(a, b, None, pose, margin=margin) for pose in poses] == many
            assert [pair.collide(None, pose, margin=margin) for pose in poses] == many
            for pose, hit in zip(poses[::7], many[::7], strict=True):
                scene.move("b", pose)
                assert scene.collides("b", margin=margin) == hit == pair.collide(None, pose.tolist(), margin=margin)


BALL = gk.Sphere(0.5).surface(8)
BODIES = (
    gk.Mesh(BALL.vertices, BALL.faces), gk.PointCloud(BALL.vertices, 0.1), gk.VoxelGrid(np.ones((2, 3, 2), bool), 0.3),
    gk.Compound([(gk.Box((1, 0.1, 0.1)), None), (gk.Sphere(0.3), None)]),
    gk.HeightField(np.arange(9.0).reshape(3, 3) % 2, 0.5, bottom=-0.5), gk.HeightField(np.zeros((3, 3)), 0.5),
)  # fmt: skip


def test_booleans_of_bodies_equal_rows_of_stack():
    rng = np.random.default_rng(5)
    separated = 0
    for a, b in itertools.chain(itertools.product(BODIES, SHAPES), itertools.product(SHAPES, BODIES)):
        pair, poses = gk.Pair(a, b), some_poses(12, 3)
        for pose in poses:
            pose[:3, 3] *= rng.choice((1.0, 2.5, 1e6))
        for margin in (0.0, 0.4, -0.1, 1e7):
            expected = gk.collide(a, b, None, np.array(poses), margin=margin)
            for pose, collides in zip(poses, expected, strict=True):
                # the first call fills the table of the builtin
                assert gk.collide(a, b, None, pose, margin=margin) == collides
                assert gk.collide(a, b, None, pose, margin=margin) == collides
                assert gk.collide(b, a, pose, margin=margin) == collides
                assert pair.collide(None, pose, margin=margin) == collides
                separated += not collides
    assert separated > 1000


def test_touching_meshes_collide():
    mesh = gk.Mesh(*gk.Box((1, 1, 1)).surface()[:2])
    pair = gk.Pair(mesh, mesh)
    for far in (0.0, 1e3, 1e8):  # only rounding separates the boxes
        first, second = np.eye(4), np.eye(4)
        first[0, 3], second[0, 3] = far, far + 1.0
        assert gk.collide(mesh, mesh, first, second)
        assert gk.collide(mesh, mesh, first, second)
        assert pair.collide(first, second)
        second[0, 3] = np.nextafter(far + 1.0 + 1e-12 * (far + 1.0), np.inf)
        assert pair.collide(first, second) == bool(gk.collide(mesh, mesh, first, second[None])[0])
    with pytest.raises(gk.errors.PoseError):
        gk.collide(mesh, mesh, first, 2.0 * second)


@pytest.mark.full
def test_environment_variable_disables_builtins():
    code = "import gjk3d as gk, gjk3d.robot; print(type(gk.collide).__name__, type(gk.Pair.distance).__name__)"
    code += "; print(type(gk.robot.Checker.free).__name__, type(gk.Distance.normal).__name__)"
    assert run(code).split() == [
        "builtin_function_or_method", "method_descriptor", "method_descriptor", "getset_descriptor"
    ]  # fmt: skip
    assert run(code, GJK3D_BUILTINS="0").split() == ["function", "function", "function", "member_descriptor"]


@pytest.mark.full
@pytest.mark.parametrize("name", ["collide", "distance", "signed_distance"])
def test_help_equals_that_of_python_functions(name):
    code = f"""
import inspect, gjk3d as gk, gjk3d.robot
for each in (gk.{name}, gk.Pair.{name}, gk.robot.Checker.free):
    parameters = inspect.signature(each).parameters.values()
    print([(p.name, p.default, p.kind is p.KEYWORD_ONLY) for p in parameters], each.__name__, each.__qualname__)
    print(inspect.getdoc(each))
"""
    assert run(code) == run(code, GJK3D_BUILTINS="0")
    function = getattr(gk, name)
    assert function.__module__ == "gjk3d.query.distance"
    assert pickle.loads(pickle.dumps(function)) is function


def test_invalid_arguments_raise():
    box, pose = SHAPES[2], np.eye(4)
    pair = gk.Pair(box, box)
    listed = pose.tolist()
    ragged = [*listed[:3], listed[3][:3]], [*listed[:3], None], [*listed[:3], [0.0, 0.0, 0.0, "1"]], listed[:3]
    for bad in (pose * 2.0, pose * np.nan, pose[:3], "pose", np.diag([1.0, 1, -1, 1]), (2.0 * pose).tolist(), *ragged):
        with pytest.raises(gk.errors.PoseError, match="pose_b"):
            pair.signed_distance(None, bad)
        with pytest.raises(gk.errors.PoseError, match="pose_b"):
            gk.collide(box, box, pose, bad)
    for margin in (np.inf, np.nan, "1", None):
        with pytest.raises(gk.errors.ShapeError, match="margin"):
            pair.collide(pose, pose, margin=margin)
    for limit in ({"tol": -1.0}, {"tol": np.nan}, {"tol": np.inf}, {"max_distance": np.nan}, {"max_distance": -0.5}):
        with pytest.raises(gk.errors.ShapeError, match=next(iter(limit))):
            gk.distance(box, box, pose, pose, **limit)
    for wrong in (lambda: gk.collide(box), lambda: gk.distance(box, box, pose, pose, pose), lambda: pair.collide(a=1)):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(gk.errors.UnsupportedPair, match=r"\bb\b.*\bint\b"):
        gk.signed_distance(box, 5)
    with pytest.raises(TypeError, match="Pair"):
        gk.Pair.collide(box)
    empty = gk.Pair.__new__(gk.Pair)
    with pytest.raises(AttributeError):
        empty.collide()
    with pytest.raises(AttributeError):
        gk.Distance.__new__(gk.Distance).normal  # noqa: B018


def test_pose_layouts_give_the_same_result():
    box, sphere, pose = SHAPES[2], SHAPES[0], some_poses(1, 3)[0]
    pair = gk.Pair(box, sphere, warm=False)
    expected = pair.signed_distance(None, pose)
    frozen = pose.copy()
    frozen.setflags(write=False)
    wide = np.zeros((4, 8))
    wide[:, ::2] = pose
    layouts = (
        pose.tolist(), [*map(tuple, pose.tolist())], np.asfortranarray(pose), frozen, wide[:, ::2],
        pickle.loads(pickle.dumps(pose)), pose.astype(">f8"), pose.view(type("Dressed", (np.ndarray,), {})),
    )  # fmt: skip
    for layout in layouts:
        result = pair.signed_distance(None, layout)
        assert (result.distance, result.normal.tolist()) == (expected.distance, expected.normal.tolist())
        assert gk.collide(box, sphere, None, layout) is gk.collide(box, sphere, None, pose)
    assert pair.signed_distance(pose_b=pose).distance == expected.distance
    lists = pair.signed_distance(pose.tolist(), pose.tolist())
    assert (lists.lower, lists.upper) == (
        pair.signed_distance(pose, pose).lower,
        pair.signed_distance(pose, pose).upper,
    )
    np.testing.assert_array_equal(lists.pose_a, pose)
    assert gk.collide(box, box, None, [[1, 0, 0, 3], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]) is False
    assert len(pair.signed_distance(None, np.stack([pose, pose]))) == 2


def test_result_fields_are_cached_and_settable():
    result = gk.signed_distance(SHAPES[2], SHAPES[0], None, some_poses(1, 4)[0])
    assert result.normal is result.normal
    assert result.normal.flags.writeable
    assert result.status is gk.Status(result.status)
    result.distance = 5.0
    assert result.distance == 5.0
    with pytest.raises(AttributeError, match="'distanc'"):
        result.distanc  # noqa: B018
    again = pickle.loads(pickle.dumps(result))
    assert again.distance == 5.0
    assert again.pose_b.tolist() == result.pose_b.tolist()
    assert copy.copy(result).point_a.tolist() == result.point_a.tolist()
    del result.shape_a
    with pytest.raises(AttributeError, match="shape_a"):
        result.shape_a  # noqa: B018
    del result.distance  # deleting a set value restores that of the kernel
    assert result.distance == gk.signed_distance(SHAPES[2], SHAPES[0], None, result.pose_b).distance


def run_queries(box, sphere, pair, poses, rounds):
    """Run queries of all kinds, invalid ones included, and read the fields of their results."""
    for _ in range(rounds):
        for pose in poses:
            result = pair.signed_distance(None, pose)
            result.normal, result.normal, result.distance, result.status, result.point_a, result.iterations  # noqa: B018
            gk.distance(box, sphere, pose).tight, gk.collide(box, sphere, pose, pose), pair.collide(pose)
            pair.distance(pose, tol=1e-3).asked, pair.signed_distance(pose, max_distance=0.1).asked
            for wrong in (pose * 2.0, None, 5):
                with contextlib.suppress(gk.errors.Gjk3dError):
                    pair.distance(wrong, wrong)


@pytest.mark.full
def test_queries_leak_no_references_and_no_memory():
    box, sphere, poses = gk.Box((1, 1, 1)), gk.Sphere(0.5), some_poses(20, 5)
    pair = gk.Pair(box, sphere)
    objects = [box, sphere, pair, *poses, gk.Distance, *gk.Status, gk.Pair, np.ndarray]
    tracemalloc.start()
    run_queries(box, sphere, pair, poses, 20)
    gc.collect()
    before = [sys.getrefcount(instance) for instance in objects]
    memory_before = tracemalloc.get_traced_memory()[0]
    run_queries(box, sphere, pair, poses, 100)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - memory_before
    tracemalloc.stop()
    assert [sys.getrefcount(instance) for instance in objects] == before
    assert grown < 30_000  # thousands of results of at least 400 bytes each


def test_reference_cycles_of_results_are_collected():
    result = gk.distance(gk.Sphere(1), gk.Point((3, 0, 0)))
    assert gc.is_tracked(result)
    result.trace = result  # a cycle
    shape = weakref.ref(result.shape_a)
    del result
    gc.collect()
    assert shape() is None


@pytest.mark.parametrize("make", [lambda: gk.Box((1, 1, 1)), lambda: gk.Mesh(*gk.Box((1, 1, 1)).surface())])
def test_queries_keep_no_shape_alive(make):
    """The caches of the last pairs keep no references to their shapes."""
    sphere = gk.Sphere(1)
    gone = []
    for _ in range(30):
        a, b = make(), make()
        gk.collide(a, b), gk.distance(a, sphere), gk.collide(sphere, a), gk.collide(a, b)
        gone += [weakref.ref(a), weakref.ref(b)]
    del a, b
    gc.collect()
    assert not any(reference() is not None for reference in gone)
    assert not [key for key in _cache._entries if id(sphere) in key]
    assert id(sphere) not in places[:, :2]


def test_reused_address_does_not_return_cached_shape():
    """Cached data of a deleted shape is not used for a new shape at the same address."""
    pose = np.eye(4)
    pose[0, 3] = 2.5
    for k in range(2000):
        radius = 0.5 + (k % 7)
        assert gk.collide(gk.Sphere(radius), gk.Sphere(1.0), None, pose) is (radius >= 1.5)


def test_garbage_collection_during_queries_changes_nothing():
    """Results stay equal while finalizers with queries of their own run during queries."""
    poses = some_poses(50, 6)
    pairs = [(gk.Box((1, 1, 1 + k)), gk.Sphere(0.5 + k)) for k in range(3)]
    expected = [[gk.distance(a, b, None, pose).distance for pose in poses] for a, b in pairs]
    old = gc.get_threshold()

    class Loop:
        def __del__(self):
            gk.collide(pairs[0][0], pairs[1][1], poses[0], poses[1])
            gk.distance(gk.Box((1, 1, 1)), gk.Sphere(1.0), poses[2]).normal  # noqa: B018

    try:
        gc.set_threshold(1, 1, 1)
        for (a, b), row in zip(pairs, expected, strict=True):
            for pose, distance in zip(poses, row, strict=True):
                loop = Loop()
                loop.itself = loop
                del loop
                assert gk.distance(a, b, None, pose).distance == distance
    finally:
        gc.set_threshold(*old)


def test_threads_get_equal_results():
    poses = some_poses(200, 7)
    a, b = SHAPES[7], SHAPES[3]
    expected = [(gk.collide(a, b, None, pose), gk.signed_distance(a, b, None, pose).lower) for pose in poses]
    wrong = []

    def query_repeatedly():
        for _ in range(10):
            results = [(gk.collide(a, b, None, pose), gk.signed_distance(a, b, None, pose).lower) for pose in poses]
            with_margin = [gk.collide(a, b, None, pose, margin=0) for pose in poses]  # Python function, same pair
            wrong.extend([] if results == expected and with_margin == [collides for collides, _ in expected] else [1])

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=query_repeatedly) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong


def test_threads_share_a_checker():
    robot = gk.robot.Robot.example()
    checker = gk.robot.Checker(robot, {"ball": (gk.Sphere(0.3), some_poses(1, 8)[0])})
    q = np.random.default_rng(0).uniform(-2, 2, (300, robot.dof))
    expected = checker.free(q).tolist()
    wrong = []

    def query_repeatedly():
        for _ in range(10):
            wrong.extend([] if [checker.free(row) for row in q] == expected else [1])

    threads = [threading.Thread(target=query_repeatedly) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert set(expected) == {True, False}


def test_checker_uses_its_changed_obstacles():
    robot = gk.robot.Robot.example()
    checker, q = gk.robot.Checker(robot), np.zeros(2)
    assert checker.free(q)
    assert checker.free(q)
    checker.add("all", gk.Box((9, 9, 9)))
    assert not checker.free(q)
    assert not checker.free(q)
    duplicate = checker.copy()
    checker.remove("all")
    assert checker.free(q)
    assert not duplicate.free(q)
    again = pickle.loads(pickle.dumps(duplicate))
    assert not again.free(q)
    with pytest.raises(gk.errors.RobotError):
        checker.free(np.array([np.nan, 0.0]))
    with pytest.raises(gk.errors.RobotError):
        checker.free(np.zeros(3))
    assert checker.free(q) is checker.free([0.0, 0.0]) is checker.free(q=q) is True


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers of signals here")
def test_signal_handlers_may_query():
    poses, from_handler = some_poses(50, 9), []
    a, b = SHAPES[2], SHAPES[7]
    expected = [gk.signed_distance(a, b, None, pose).distance for pose in poses]

    within = []

    def handler(number, frame):
        if len(within) < 3:
            within.append(number)
            from_handler.append(gk.signed_distance(b, a, poses[0]).distance)
            within.pop()

    old = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
    try:
        while len(from_handler) < 200:
            for pair in [key for key in list(_cache._entries) if id(a) in key]:  # a copy: handlers add entries
                _cache._drop(pair)  # the next query prepares the pair again, also in nested handlers
            assert [gk.signed_distance(a, b, None, pose).distance for pose in poses] == expected
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, old)
    assert len(set(from_handler)) == 1


@pytest.mark.full
def test_subinterpreter_does_not_crash():
    """The process and its main interpreter keep working, even if numpy refuses to load in the subinterpreter."""
    code = """
import gjk3d as gk, numpy as np
pose = np.eye(4); pose[0, 3] = 2.0
before = gk.distance(gk.Box((1, 1, 1)), gk.Sphere(0.5), None, pose).distance
try:
    import _xxsubinterpreters as many
except ImportError:
    try:
        import _interpreters as many
    except ImportError:
        many = None
if many is not None:
    inner = many.create()
    try:
        many.run_string(inner, '''
try:
    import gjk3d as gk, numpy as np
    answer = gk.distance(gk.Box((1, 1, 1)), gk.Sphere(0.5), None, np.diag([1.0, 1, 1, 1]))
    assert answer.distance == 0.0 and gk.collide(gk.Sphere(1), gk.Sphere(1))
except ImportError:
    pass
''')
    finally:
        many.destroy(inner)
assert gk.distance(gk.Box((1, 1, 1)), gk.Sphere(0.5), None, pose).distance == before == 1.0
print("went on")
"""
    assert run(code).strip() == "went on"


@pytest.mark.full
def test_hundred_thousand_random_calls_do_not_crash():
    """Every call with random arguments returns a result or raises an exception."""
    code = f"""
import sys, random, numpy as np, gjk3d as gk
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_builtins import SHAPES, some_poses
random.seed(0)
poses = some_poses(5, 1)
class Odd(np.ndarray): pass
class Box(gk.Box): pass
strange = [
    None, True, 0, -1, 2**70, 1.5, float("nan"), "pose", b"x", (), [], {{}}, object(), int, np.float64(1), np.ma.masked,
    np.eye(3), np.eye(4, dtype=np.float32), np.eye(4, dtype=complex), np.eye(4, dtype=object), np.zeros((0, 4, 4)),
    np.zeros((4, 4)), np.full((4, 4), np.inf), np.array(1.0), np.array([]), np.eye(4)[::-1], np.eye(8)[::2, ::2],
    np.eye(4).T, poses[0].view(Odd), np.stack(poses), poses[1].tolist(), np.ma.array(np.eye(4)), range(4),
    np.frombuffer(bytes(129), np.uint8)[1:].view(np.float64).reshape(4, 4), np.lib.stride_tricks.as_strided(
        np.zeros(1), (4, 4), (0, 0)), gk.Mesh(*gk.Box((1, 1, 1)).surface()), gk.Halfspace((0, 0, 1)), gk.Box,
    Box((1, 1, 1)), np.zeros(2), np.zeros(2, np.int64), [0.0, 0.0], np.array([np.nan, 0.0]),
]
pair, checker = gk.Pair(SHAPES[2], SHAPES[3]), gk.robot.Checker(gk.robot.Robot.example())
empty = gk.Pair.__new__(gk.Pair)
calls = [gk.collide, gk.distance, gk.signed_distance] * 3 + [pair.collide, pair.distance, pair.signed_distance]
calls += [gk.Pair.collide, gk.Pair.distance, empty.collide, empty.distance, checker.free, gk.robot.Checker.free]
names = ["pose_a", "pose_b", "margin", "workers", "depth", "tol", "max_distance", "trace", "q", "a", "other", ""]
answered = 0
for _ in range(100_000):
    call = random.choice(calls)
    count = random.choice((0, 1, 2, 2, 3, 4, 4, 4, 5, 9))
    shapes = 2 if call in calls[:3] and random.random() < 0.9 else 0
    args = [random.choice(SHAPES if k < shapes else poses) for k in range(count)]
    for k in range(count):
        if random.random() < 0.15:
            args[k] = random.choice(strange)
    named = {{random.choice(names): random.choice(strange) for _ in range(random.choice((0, 0, 0, 0, 0, 1, 2)))}}
    try:
        answer = call(*args, **named)
        answered += 1
        if isinstance(answer, gk.Distance) and random.random() < 0.5:
            getattr(answer, random.choice(gk.Distance.__slots__[1:]))
    except Exception as error:
        assert not isinstance(error, (SystemError, MemoryError)), (error, args, named)
print(answered)
"""
    assert int(run(code, PYTHONWARNINGS="ignore")) > 15_000


@pytest.mark.parametrize("field", ["distance", "normal", "status", "pose_b"])
def test_invalid_row_raises_instead_of_reading_beyond(field):
    box = SHAPES[2]
    for row in (b"", b"short", b"\0" * 367, b"\0" * 369, None, 5):
        result = gk.Pair(box, box).distance(None, some_poses(1, 1)[0])
        result._row = row
        with pytest.raises((ValueError, TypeError)):
            getattr(result, field)
    result._row = b"\xff" * 368
    assert result.status is None


def test_pairs_in_one_table_row_replace_each_other():
    ball, rows = gk.Sphere(1), {}
    points = [gk.Point((0.5 + k % 2, 0, 0)) for k in range(2 * PLACES)]
    for point in points:
        row = _place_of(id(ball), id(point))
        if row in rows and (rows[row].vertices != point.vertices).any():
            break
        rows[row] = point
    first, second = rows[row], point
    inside = [bool(shape.vertices[0, 0] < 1.0) for shape in (first, second)]
    assert inside[0] != inside[1]
    for _ in range(3):
        for shape, is_inside in zip((first, second), inside, strict=True):
            for _ in range(2):
                assert gk.collide(ball, shape, None, np.eye(4).tolist()) is is_inside
                assert gk.collide(ball, shape) is is_inside
            assert places[row, :2].tolist() == [id(ball), id(shape)]

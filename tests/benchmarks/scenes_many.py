"""``python -m tests.benchmarks.scenes_many``: ten thousand moving objects, compared with coal, fcl and mujoco.

The objects are balls, boxes, capsules and hulls of 32 vertices, of a hundred different shapes. Each object collides
with about two others. A step moves each object by a tenth of its size, or by a hundredth in coherent steps, in which a
`Scene` starts warm. The table has the CPU time of a step on one thread, the median over interleaved rounds. A step of a
peer sets the transform of every object from Python, updates the manager and runs the query. mujoco takes all poses as
one array, as gjk3d does.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import trimesh
from naive import Array, Spec
from scipy.spatial.transform import Rotation
from strategies import build

import gjk3d as gk

from .beyond import sphere_points
from .table_file import table_parser, write_table

STEPS = 4
#: indices of the coherent steps, which go back and forth without a jump; the first ones are not timed
COHERENT = [STEPS + k for k in (2, 1, 0, 1, 2, 3, 2, 1)]
_UNTIMED = 2


class World:
    """The input of all libraries: specs, the spec of each object, and the poses of some steps."""

    def __init__(self, count: int, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.specs: list[Spec] = []
        for _ in range(25):
            self.specs.append(("box", rng.uniform(0.5, 1.5, 3)))
            self.specs.append(("sphere", rng.uniform(0.3, 0.6)))
            self.specs.append(("capsule", rng.uniform(0.15, 0.3), rng.uniform(0.4, 1.2)))
            self.specs.append(("hull", sphere_points(rng, 32) * rng.uniform(0.3, 0.7)))
        self.which = rng.integers(0, len(self.specs), count).tolist()
        self.names = [f"object {k}" for k in range(count)]
        side = 1.3 * count ** (1.0 / 3.0)
        turns = Rotation.random(count, rng=rng)
        places = rng.uniform(0, side, (count, 3))
        self.poses: list[Array] = []
        for step in range(2 * STEPS):  # coherent steps are ten times smaller
            length = 0.05 if step < STEPS else 0.005
            turns = Rotation.from_rotvec(rng.normal(size=(count, 3)) * length) * turns
            places = places + rng.normal(size=(count, 3)) * length
            pose = np.tile(np.eye(4), (count, 1, 1))
            pose[:, :3, :3], pose[:, :3, 3] = turns.as_matrix(), places
            self.poses.append(pose)


class Gjk3d:
    """A `Scene` of gjk3d."""

    remember = True

    def __init__(self, world: World) -> None:
        self.world = world
        self.shapes = [build(spec) for spec in world.specs]
        self.listed = [self.shapes[k] for k in world.which]

    def build_at_once(self) -> None:
        """Build the same scene as `build` in one call."""
        self.scene = gk.Scene(remember=self.remember)
        self.scene.add_many(self.world.names, self.listed, self.world.poses[0])
        self.scene.collides(gk.Point(), np.eye(4))

    def build(self) -> None:
        """Build the scene with one call for each object, up to its first query."""
        self.scene = gk.Scene(remember=self.remember)
        for name, shape, pose in zip(self.world.names, self.listed, self.world.poses[0], strict=True):
            self.scene.add(name, shape, pose)
        self.scene.collides(gk.Point(), np.eye(4))

    def pairs(self, step: int) -> int:
        """Move all objects, and return the number of overlapping pairs."""
        self.scene.move_many(self.world.names, self.world.poses[step])
        return len(self.scene.collisions())

    def contacts(self, step: int) -> int:
        """Move all objects, and return the number of pairs with contacts."""
        self.scene.move_many(self.world.names, self.world.poses[step])
        return len(self.scene.contacts())

    def closest(self, step: int) -> int:
        """Move all objects, and query the deepest pair."""
        self.scene.move_many(self.world.names, self.world.poses[step])
        return len(self.scene.closest())


class Forgetful(Gjk3d):
    """A `Scene` without warm starts."""

    remember = False


class WithMeshes(Gjk3d):
    """A `Scene` in which every tenth object is a torus of 256 triangles."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        torus = trimesh.creation.torus(0.45, 0.18, 16, 8)
        self.listed[::10] = [gk.Mesh(torus.vertices, torus.faces)] * len(self.listed[::10])


class Coal:
    """coal's dynamic tree with its callback in C++."""

    def __init__(self, world: World) -> None:
        import coal
        from peers import coal_shape

        self.world, self.coal = world, coal
        self.shapes = [coal_shape(spec) for spec in world.specs]
        self.places = [[(p[:3, :3].copy(), p[:3, 3].copy()) for p in poses] for poses in world.poses]

    def build(self) -> None:
        """Build the manager."""
        coal = self.coal
        self.objects = [
            coal.CollisionObject(self.shapes[k], *place)
            for k, place in zip(self.world.which, self.places[0], strict=True)
        ]
        self.manager = coal.DynamicAABBTreeCollisionManager()
        for item in self.objects:  # the Python binding of registerObjects takes no list
            self.manager.registerObject(item)
        self.manager.setup()

    def _ask(self, step: int, contact: bool) -> int:
        for item, (rotation, translation) in zip(self.objects, self.places[step], strict=True):
            item.setRotation(rotation)
            item.setTranslation(translation)
            item.computeAABB()
        self.manager.update()
        callback = self.coal.CollisionCallBackDefault()
        callback.data.request.num_max_contacts = 10_000_000
        callback.data.request.enable_contact = contact
        self.manager.collide(callback)
        return int(callback.data.result.numContacts())

    def pairs(self, step: int) -> int:
        """See `Gjk3d.pairs`."""
        return self._ask(step, False)

    def contacts(self, step: int) -> int:
        """See `Gjk3d.contacts`. coal has one point per pair."""
        return self._ask(step, True)


class Fcl:
    """python-fcl's dynamic tree."""

    def __init__(self, world: World) -> None:
        import fcl
        from peers import fcl_shape

        self.world, self.fcl = world, fcl
        self.shapes = [fcl_shape(spec) for spec in world.specs]
        self.places = [[(p[:3, :3].copy(), p[:3, 3].copy()) for p in poses] for poses in world.poses]

    def build(self) -> None:
        """Build the manager."""
        fcl = self.fcl
        self.objects = [
            fcl.CollisionObject(self.shapes[k], fcl.Transform(*place))
            for k, place in zip(self.world.which, self.places[0], strict=True)
        ]
        self.manager = fcl.DynamicAABBTreeCollisionManager()
        self.manager.registerObjects(self.objects)
        self.manager.setup()

    def _ask(self, step: int, contact: bool) -> Any:
        fcl = self.fcl
        for item, place in zip(self.objects, self.places[step], strict=True):
            item.setTransform(fcl.Transform(*place))
        self.manager.update()
        request = fcl.CollisionRequest(num_max_contacts=10_000_000, enable_contact=contact)
        data = fcl.CollisionData(request=request)
        self.manager.collide(data, fcl.defaultCollisionCallback)
        return data.result.contacts if contact else len(data.result.contacts)

    def pairs(self, step: int) -> Any:
        """See `Gjk3d.pairs`."""
        return self._ask(step, False)

    def contacts(self, step: int) -> Any:
        """See `Gjk3d.contacts`."""
        return self._ask(step, True)


class Mujoco:
    """A model of free bodies with kinematics and collision. It has contacts only, and takes poses as one array."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.poses = []
        for poses in world.poses:
            turns = np.roll(Rotation.from_matrix(poses[:, :3, :3]).as_quat(), 1, axis=1)
            self.poses.append(np.hstack([poses[:, :3, 3], turns]).ravel())

    def build(self) -> None:
        """Compile the model."""
        import mujoco

        from .mujoco_competitor import add_shape

        self.mujoco = mujoco
        spec = mujoco.MjSpec()
        spec.memory = 2**32
        meshes: set[str] = set()
        for which in self.world.which:
            body = spec.worldbody.add_body()
            body.add_freejoint()
            add_shape(spec, body.add_geom(), self.world.specs[which], which, meshes)
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)

    def contacts(self, step: int) -> Any:
        """See `Gjk3d.contacts`."""
        self.data.qpos[:] = self.poses[step]
        self.mujoco.mj_kinematics(self.model, self.data)
        self.mujoco.mj_collision(self.model, self.data)
        return self.data.contact


MESHES = "gjk3d, one in ten a mesh"
FORGETFUL = "gjk3d, remember=False"
PEERS = {"gjk3d": Gjk3d, FORGETFUL: Forgetful, MESHES: WithMeshes, "coal": Coal, "python-fcl": Fcl, "mujoco": Mujoco}
MODULES = {"coal": "coal", "python-fcl": "fcl", "mujoco": "mujoco"}
QUESTIONS = {
    "build": "built, one object a call",
    "build at once": "built, ours in one call",
    "pairs": "moved, all overlapping pairs",
    "contacts": "moved, all contacts",
    "closest": "moved, the closest pair",
    "pairs coherent": "moved by a hundredth, all overlapping pairs",
    "contacts coherent": "moved by a hundredth, all contacts",
}


def pairs_in(answer: Any) -> int:
    """Return the number of pairs in a result, or -1 if the pairs of its contacts are unknown."""
    if isinstance(answer, int):
        return answer
    if hasattr(answer, "geom"):
        return len(np.unique(answer.geom, axis=0))
    return -1  # python-fcl reports shapes, which objects share


def measure(world: World, peers: list[str], rounds: int) -> tuple[dict[tuple[str, str], list[float]], dict[Any, int]]:
    """Return the milliseconds of CPU time by query and library, and the numbers of pairs."""
    made = {name: PEERS[name](world) for name in peers}
    spent: dict[tuple[str, str], list[float]] = {}
    pair_counts: dict[Any, int] = {}

    def timed(question: str, name: str, task: Callable[[], Any]) -> Any:
        gc.collect()
        gc.disable()  # a garbage collection of objects of the other libraries must not count
        start = time.process_time()
        answer = task()
        spent.setdefault((question, name), []).append((time.process_time() - start) * 1e3)
        gc.enable()
        return answer

    for name, peer in made.items():
        timed("build", name, peer.build)
        print(f"{name} built", file=sys.stderr)
    spent = {key: times for key, times in spent.items() if key[1] == "mujoco"}  # the others are built again, warm
    for k in range(rounds + 1):  # the first round warms up
        for name, peer in made.items():
            if name != "mujoco" and k > 0:
                timed("build", name, peer.build)
            if isinstance(peer, Gjk3d) and k > 0:
                timed("build at once", name, peer.build_at_once)
        for question in ("pairs", "contacts", "closest", "pairs coherent", "contacts coherent"):
            coherent = question.endswith("coherent")
            for name, peer in made.items():
                run = getattr(peer, question.split()[0], None)
                if run is None:
                    continue
                for number, step in enumerate(COHERENT if coherent else range(STEPS)):
                    untimed = k == 0 or (coherent and number < _UNTIMED)
                    answer = run(step) if untimed else timed(question, name, lambda run=run, step=step: run(step))
                    count = pairs_in(answer)
                    assert pair_counts.setdefault((question, name, step), count) == count
    return spent, pair_counts


def table(spent: dict[tuple[str, str], list[float]], pair_counts: dict[Any, int], peers: list[str]) -> list[str]:
    """Return the lines of the table: medians and spread, ratios to gjk3d, and the numbers of pairs."""
    lines = ["| " + " | ".join(["CPU ms", *peers]) + " |", "| --- |" + " ---: |" * len(peers)]
    for question, title in QUESTIONS.items():
        ours = float(np.median(spent[question, "gjk3d"]))
        cells = []
        for name in peers:
            times = spent.get((question, name)) or spent.get((question.removesuffix(" at once"), name))
            if times is None:
                cells.append("")
                continue
            middle, low, high = (float(np.percentile(times, p)) for p in (50, 10, 90))
            ratio = "" if name == "gjk3d" else f", {middle / ours:.1f}x ours"
            cells.append(f"{middle:.1f} ({low:.1f}–{high:.1f}){ratio}")
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    for question in ("pairs", "contacts"):
        counts = [pair_counts.get((question, name, 0), -1) for name in peers]  # counts of the first step
        cells = ["" if count < 0 else str(count) for count in counts]
        lines.append(f"| pairs found, {QUESTIONS[question].split(', ')[1]} | " + " | ".join(cells) + " |")
    return lines


def main(given: list[str] | None = None) -> int:
    """Write the table."""
    parser = table_parser("tests.benchmarks.scenes_many", __doc__, 7)
    parser.add_argument("--objects", type=int, default=10_000)
    available = [name for name, module in MODULES.items() if find_spec(module)]
    parser.add_argument("--peers", nargs="*", default=available, choices=list(MODULES), help="by default all installed")
    parser.add_argument("--meshes", action="store_true", help="also with meshes of 256 triangles for one in ten")
    arguments = parser.parse_args(given)
    peers = ["gjk3d", FORGETFUL, *([MESHES] if arguments.meshes else []), *arguments.peers]
    spent, pair_counts = measure(World(arguments.objects), peers, arguments.rounds)
    write_table(table(spent, pair_counts, peers), arguments.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())

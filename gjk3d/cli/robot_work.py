"""What ``gjk3d robot`` asks, in chunks: progress is shown between them, and Ctrl-C leaves what was found so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from gjk3d.cli.arguments import UsageError
from gjk3d.cli.configurations import beyond_limits
from gjk3d.cli.surroundings import Thing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gjk3d.cli.progress import Bar
    from gjk3d.robot import Checker, Robot

Pair = tuple[str, str]
_AT_ONCE = 512  #: configurations between two looks at the keyboard
_EDGES = 4  #: motions of a path, which take longer


class Nearest(NamedTuple):
    """The closest pair of one configuration."""

    distance: float
    lower: float
    upper: float
    pair: Pair | None
    point_a: tuple[float, ...]
    point_b: tuple[float, ...]


class Meeting(NamedTuple):
    """A pair that is too close."""

    pair: Pair
    distance: float
    lower: float
    upper: float


class Row(NamedTuple):
    """What was found of one configuration."""

    number: int  #: from 0
    q: NDArray[np.float64]
    meetings: list[Meeting]  #: the deepest first, each pair once; none where all is free
    nearest: Nearest | None
    beyond: list[str]

    @property
    def free(self) -> bool:
        """Whether no pair is too close."""
        return not self.meetings


@dataclass
class Rows:
    """What was found of many."""

    total: int
    rows: list[Row] = field(default_factory=list)
    complete: bool = True

    @property
    def hits(self) -> int:
        """How many configurations collide."""
        return sum(not row.free for row in self.rows)

    def pairs(self) -> list[tuple[Pair, int]]:
        """Return the pairs that collide and in how many configurations, the most frequent first."""
        return Counter(each.pair for row in self.rows for each in row.meetings).most_common()


class Way(NamedTuple):
    """What was found of a path."""

    status: str  #: FREE, HIT or UNRESOLVED
    edges: int
    looked_at: int  #: edges, from the first on
    edge: int | None
    safe: float
    hit: float
    pair: Pair | None
    q: NDArray[np.float64] | None
    complete: bool


class Work:
    """A robot and its surroundings, ready to be asked; pairs are named by object, not by its pieces."""

    def __init__(
        self, robot: Robot, things: Sequence[Thing], touching: Sequence[Pair], margin: float, workers: int
    ) -> None:
        from gjk3d.robot import Checker

        self.robot, self.things, self.margin, self.workers = robot, tuple(things), margin, workers
        self.owner: dict[str, str] = {}
        around: dict[str, Any] = {}
        for thing in self.things:
            for k, piece in enumerate(thing.pieces):
                name = thing.name if len(thing.pieces) == 1 else f"{thing.name}\n{k}"  # no file has such a name
                self.owner[name] = thing.name
                around[name] = piece
        shaped = {each.link for each in robot.geometries}
        still = [robot.links[k] for k in sorted(shaped) if robot.rigid[k] == robot.rigid[0]]
        #: links and objects neither of which moves: no configuration changes what is between them
        self.still = [(link, thing.name) for link in still for thing in self.things]
        self.touching = self._known(touching)
        may = {*self.still, *self.touching}
        self.checker: Checker = Checker(
            robot,
            around,
            touching=[
                (link, name) for name, owner in self.owner.items() for link in robot.links if (link, owner) in may
            ],
            margin=margin,
        )

    def _known(self, touching: Sequence[Pair]) -> list[Pair]:
        objects = [thing.name for thing in self.things]
        for link, name in touching:
            if link not in self.robot.links:
                raise UsageError(f"--touching {link}:{name}: there is no link {link!r}; links are "
                                 + ", ".join(self.robot.links))  # fmt: skip
            if name not in objects:
                known = f"objects are {', '.join(objects)}" if objects else "--scene names files with objects"
                raise UsageError(f"--touching {link}:{name}: there is no object {name!r}; {known}")
        return list(touching)

    def pair_count(self) -> tuple[int, int]:
        """Return how many pairs of links are checked, and how many of a link with an object."""
        shaped = {each.link for each in self.robot.geometries}
        return len(self.robot.pairs), len(shaped) * len(self.things) - len({*self.still, *self.touching})

    def name(self, pair: Pair | None) -> Pair | None:
        """Name the object where a pair has one of its pieces."""
        return None if pair is None else (pair[0], self.owner.get(pair[1], pair[1]))

    def nearest(self, q: NDArray[np.float64]) -> list[Nearest]:
        """Return the closest pairs of n configurations."""
        found = self.checker.clearance(q, workers=self.workers)
        return [
            Nearest(
                float(found.distance[k]),
                float(found.lower[k]),
                float(found.upper[k]),
                self.name(found.pair[k]),
                tuple(found.point_a[k].tolist()),
                tuple(found.point_b[k].tolist()),
            )
            for k in range(len(q))
        ]

    def meetings(self, q: NDArray[np.float64]) -> list[list[Meeting]]:
        """Return the pairs that are too close, of n configurations: asked in full where a quick look finds one."""
        found: list[list[Meeting]] = [[] for _ in q]
        hit = [k for k, free in enumerate(self.checker.free(q, workers=self.workers)) if not free]
        for k, each in zip(hit, self.checker.collisions(q[hit]), strict=True):
            seen: dict[Pair, Meeting] = {}
            for met in each:  # the deepest comes first
                pair = (met.a, self.owner.get(met.b, met.b))
                seen.setdefault(pair, Meeting(pair, met.distance, met.lower, met.upper))
            found[k] = list(seen.values())
        return found

    def pictured(self) -> Checker:
        """Return a checker that has each object as one, to be drawn."""
        from gjk3d.robot import Checker
        from gjk3d.solids import Compound

        around = {
            each.name: each.pieces[0] if len(each.pieces) == 1 else (Compound(each.pieces), None)
            for each in self.things
        }
        return Checker(self.robot, around, touching={*self.still, *self.touching}, margin=self.margin)

    def still_touching(self) -> list[Pair]:
        """Return the links and objects that neither move nor are apart."""
        import gjk3d as gk

        if not self.still:
            return []
        poses = self.robot.link_poses(self.robot.configurations([0.0] * self.robot.dof)[0][0])
        found = []
        for link, name in self.still:
            number = self.robot.link_number(link)
            bodies = [(body.shape, poses[number] @ body.pose) for body in self.robot.bodies if body.link == number]
            pieces = next(thing.pieces for thing in self.things if thing.name == name)
            if any(gk.collide(a, b, at, there) for a, at in bodies for b, there in pieces):
                found.append((link, name))
        return found

    def check(self, q: NDArray[np.float64], clearance: bool, bar: Bar) -> Rows:
        """Ask about configurations."""
        result = Rows(len(q))
        try:
            for start in range(0, len(q), _AT_ONCE):
                bar("checking", start, len(q), result.hits)
                some = q[start : start + _AT_ONCE]
                meetings = self.meetings(some)
                nearest = self.nearest(some) if clearance else [None] * len(some)
                for k, (met, near) in enumerate(zip(meetings, nearest, strict=True)):
                    result.rows.append(Row(start + k, some[k], met, near, beyond_limits(self.robot, some[k])))
        except KeyboardInterrupt:
            result.complete = False
        return result

    def path(self, points: NDArray[np.float64], certify: bool, resolution: float, tolerance: float, bar: Bar) -> Way:
        """Ask about a path, edge by edge, up to the first that is not free."""
        edges = max(len(points) - 1, 1)
        asked = 0
        try:
            for first, some in _pieces(points):
                bar("proving" if certify else "sampling", first, edges)
                found = self.checker.path_free(
                    some, certify=certify, resolution=resolution, tolerance=tolerance, workers=self.workers
                )
                if not found.free:
                    edge = first + int(found.edge or 0)
                    return Way(
                        str(found.status), edges, edge + 1, edge, float(found.safe), float(found.hit),
                        self.name(found.pair), found.configuration, True,
                    )  # fmt: skip
                asked = first + max(len(some) - 1, 1)
        except KeyboardInterrupt:
            return Way("UNRESOLVED", edges, asked, None, 1.0, float("nan"), None, None, False)
        return Way("FREE", edges, edges, None, 1.0, float("nan"), None, None, True)


def _pieces(points: NDArray[np.float64]) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Yield a few edges at a time, each piece with the number of its first."""
    for start in range(0, max(len(points) - 1, 1), _EDGES):
        yield start, points[start : start + _EDGES + 1]


def draw(robot: Robot, count: int, seed: int) -> NDArray[np.float64]:
    """Return configurations drawn evenly within the limits; turns without limits from -pi to pi.

    Raises
    ------
    UsageError
        A joint slides without limits.
    """
    import numpy as np
    from scipy.spatial.transform import Rotation

    from gjk3d.cli.configurations import columns

    low, high = robot.lower.copy(), robot.upper.copy()
    spun = []
    for joint in robot.joints:
        own = robot.columns.get(joint.name) if joint is not None else None
        if joint is None or own is None:
            continue
        angles = own.start + {"prismatic": 1, "planar": 2, "floating": 3}.get(joint.type, 0)
        for k in range(own.start, own.stop):
            if np.isfinite(low[k]) and np.isfinite(high[k]):
                continue
            if k < angles:
                raise UsageError(f"--random: {columns(robot)[k]} slides without limits, so none can be drawn")
            low[k], high[k] = -np.pi, np.pi
        if joint.type == "floating":
            spun.append(slice(angles, own.stop))
    with np.errstate(over="ignore"):
        wide = np.flatnonzero(~np.isfinite(high - low))
    if len(wide):
        raise UsageError(f"--random: the limits of {columns(robot)[wide[0]]} are too far apart to draw between")
    rng = np.random.default_rng(seed)
    q = rng.uniform(low, high, (count, robot.dof))
    for each in spun:
        q[:, each] = Rotation.random(count, rng=rng).as_rotvec()
    return q

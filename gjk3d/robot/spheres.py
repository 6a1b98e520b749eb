"""Spheres that provably cover the links of a robot, for planners that accept only spheres.

The box around a link is divided into cubes. For each cube that may intersect a body, a sphere must contain the ball
around the cube. The radius r of a sphere must satisfy r + d <= excess, where d is an upper bound of the signed distance
of the centre from a body. The distance from a body is 1-Lipschitz, so no point of the sphere is farther from the body
than r + d. The spheres are chosen greedily: the next sphere covers the most of the remaining cubes (Chvatal 1979). Then
each sphere is shrunk to those of its cubes that no earlier sphere covers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from math import ceil, pi, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, kernel, plain
from gjk3d.convex.checks import is_finite
from gjk3d.errors import RobotError
from gjk3d.query.bounding import aabb
from gjk3d.query.distance import signed_distance
from gjk3d.results import compared
from gjk3d.robot.urdf import Placed, write_urdf
from gjk3d.shapes.curved import Sphere
from gjk3d.shapes.polytopes import Point
from gjk3d.typing import Array, Array1, Array2, Ints, Ints1
from gjk3d.wording import above, count

if TYPE_CHECKING:
    from gjk3d.robot.bodies import Body
    from gjk3d.robot.model import Robot

_CUBES = 150_000  #: greatest number of cubes of one link
_FINE = 30_000  #: preferred greatest number of cubes; smaller cubes need fewer spheres and more time
_CHOICE = 2_000  #: approximate number of candidates for centres; further centres are added only if they are needed
_ROUNDING = 1e-12  #: length that is added to radii to cover rounding, relative to the size of a link


@compared()
class LinkSpheres(NamedTuple):
    """The spheres of one link: an item of `RobotSpheres.links`.

    Attributes
    ----------
    centers : (n, 3) float
        Centres of the spheres in the frame of the link.
    radii : (n,) float
        Radii of the spheres in the robot's unit of length.
    excess : float
        Proven upper bound of the distance of the points of the spheres from the shapes of the link, in the robot's unit
        of length.

    Examples
    --------
    >>> import gjk3d as gk
    >>> hand = gk.robot.Robot.example().spheres(0.05).links["hand"]
    >>> hand.excess <= 0.05, len(hand.centers) == len(hand.radii)
    (True, True)
    """

    centers: Array
    radii: Array
    excess: float


@compared()
class RobotSpheres(NamedTuple):
    """Spheres that cover the links of a robot, as `Robot.spheres` returns them.

    Attributes
    ----------
    robot : Robot
        The robot that the spheres cover.
    links : dict
        The spheres of each link with shapes, by the name of the link.
    excess : float
        The greatest excess of all links, in the robot's unit.

    Examples
    --------
    >>> import gjk3d as gk
    >>> spheres = gk.robot.Robot.example().spheres(0.05)
    >>> list(spheres.links), spheres.excess <= 0.05
    (['post', 'beam', 'hand'], True)
    """

    robot: Robot
    links: Mapping[str, LinkSpheres]
    excess: float

    def __repr__(self) -> str:
        spheres = count(sum(len(link.radii) for link in self.links.values()), "sphere")
        return f"<RobotSpheres of {count(len(self.links), 'link')}: {spheres}, excess ≤ {above(self.excess, 3)}>"

    def to_urdf(self, path: str | os.PathLike[str]) -> None:
        """Write the robot as a URDF with the spheres as its shapes, for tools such as those of VAMP.

        Parameters
        ----------
        path : path
            The file. An existing file is replaced.

        Examples
        --------
        >>> spheres.to_urdf("arm_spheres.urdf")  # doctest: +SKIP
        """
        placed: dict[str, list[Placed]] = {name: [] for name in self.robot.links}
        for name, spheres in self.links.items():
            for center, radius in zip(spheres.centers, spheres.radii.tolist(), strict=True):
                pose = np.eye(4)
                pose[:3, 3] = center
                placed[name].append((Sphere(radius), pose))
        write_urdf(Path(path), self.robot.name, placed, self.robot._in_file_order(), self.robot.base)

    def to_curobo(self, path: str | os.PathLike[str]) -> None:
        """Write the spheres as a YAML file with ``collision_spheres`` for cuRobo.

        Parameters
        ----------
        path : path
            The file. An existing file is replaced.

        Examples
        --------
        >>> spheres.to_curobo("arm_spheres.yml")  # doctest: +SKIP
        """
        lines = [f"# the spheres cover each link, and no sphere reaches farther than {self.excess!r} outside its link"]
        lines.append("collision_spheres:")
        for name, spheres in self.links.items():
            lines.append(f"  {_quoted(name)}:")
            for center, radius in zip(spheres.centers.tolist(), spheres.radii.tolist(), strict=True):
                lines += [f"    - center: [{', '.join(map(_float, center))}]", f"      radius: {_float(radius)}"]
        Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _quoted(name: str) -> str:
    """Return a name as a double-quoted YAML text."""
    return '"' + "".join(c if c.isprintable() and c not in '"\\' else f"\\U{ord(c):08x}" for c in name) + '"'


def _float(x: float) -> str:
    """Return a float as YAML text."""
    text = repr(x)
    return text if "." in text else text.replace("e", ".0e")  # YAML would read 1e-05 as text


def cover(robot: Robot, excess: float, progress: Callable[[float], object] | None) -> RobotSpheres:
    """Return spheres that cover all links with shapes (`Robot.spheres`)."""
    if not is_finite(excess) or not excess > 0.0:
        raise RobotError(f"excess is {excess!r}, expected a finite length above 0")
    links: dict[str, LinkSpheres] = {}
    for k, name in enumerate(robot.links):
        if bodies := [body for body in robot.bodies if body.link == k]:
            links[name] = _covered(bodies, float(excess), name)
        if progress is not None:
            progress((k + 1) / len(robot.links))
    return RobotSpheres(robot, links, max((spheres.excess for spheres in links.values()), default=0.0))


def _covered(bodies: list[Body], excess: float, name: str) -> LinkSpheres:
    excess *= 1.0 - 1e-9  # leaves room for the rounding errors that are added below
    middles, edge = _cubes(bodies, excess, name)
    rounding = _ROUNDING * (float(np.abs(middles).max()) + edge)
    # The radius of the ball around a cube includes the rounding error of its middle. The radii of spheres below also
    # include the rounding error of the distance of two middles.
    ball = 0.5 * sqrt(3.0) * edge + rounding
    lower, upper = _distances(bodies, middles)
    needed = lower <= ball
    middles, upper = middles[needed], upper[needed]
    # Each sphere may at least contain the ball of its own cube: its middle is at most this radius away from a body.
    reach = np.maximum(excess - upper, ball)
    chosen, owner = _greedy(middles, reach - ball, edge)
    far = np.zeros(len(chosen))
    np.maximum.at(far, owner, np.linalg.norm(middles - middles[chosen[owner]], axis=1))
    radii = far + (ball + rounding)
    # The sum and the radii have rounding errors of a few units, which the factor 1 + _ROUNDING covers.
    outside = float((upper[chosen] + radii).max())
    return LinkSpheres(middles[chosen], radii, max(0.0, outside * (1.0 + _ROUNDING)))


def _cubes(bodies: list[Body], excess: float, name: str) -> tuple[Array, float]:
    """Return the middles of cubes that fill the box around all bodies, and the edge length of the cubes.

    Three shares of the excess are tried as the edge length, until the number of cubes is within its limit.
    """
    boxes = [aabb(body.shape, body.pose) for body in bodies]
    low, high = np.min([box.low for box in boxes], axis=0), np.max([box.high for box in boxes], axis=0)
    sizes = (high - low).tolist()
    counts, edge = [_CUBES], excess
    for edge, most in ((0.2 * excess, _FINE), (0.3 * excess, _FINE), (0.5 * excess, _CUBES)):
        counts = [max(1, ceil(min(size * (1.0 + 1e-9) / edge, 2.0 * _CUBES))) for size in sizes]
        if np.prod(counts, dtype=float) <= most:
            break
    else:
        least = 2.0 * (float(np.prod(sizes)) / _CUBES) ** (1 / 3)
        raise RobotError(
            f"excess is {excess:g}, which is too small for link {name!r} with the box "
            f"{' x '.join(f'{x:g}' for x in sizes)}, expected about {least:.2g} or more"
        )
    sides = [0.5 * (a + b) + edge * (np.arange(n) - 0.5 * (n - 1)) for a, b, n in zip(low, high, counts, strict=True)]
    return np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, 3), edge


def _distances(bodies: list[Body], points: Array) -> tuple[Array, Array]:
    """Return lower and upper bounds of the signed distance of each point (n, 3) from the nearest body, (n,) each."""
    lower, upper = np.full(len(points), np.inf), np.full(len(points), np.inf)
    poses = np.tile(np.eye(4), (len(points), 1, 1))
    poses[:, :3, 3] = points
    for body in bodies:
        distance = signed_distance(Point(), body.shape, poses, body.pose)
        lower, upper = np.minimum(lower, distance.lower), np.minimum(upper, distance.upper)
    return lower, upper


@kernel
def _reached(points: Array, j: int, reach: float, open_: Ints, count: int) -> int:
    """Return the number of points within ``reach`` of point j, among the first ``count`` indices in ``open_``."""
    x, y, z, most, total = points[j, 0], points[j, 1], points[j, 2], reach * reach, 0
    for n in range(count):
        i = open_[n]
        dx, dy, dz = points[i, 0] - x, points[i, 1] - y, points[i, 2] - z
        total += 1 if dx * dx + dy * dy + dz * dz <= most else 0
    return total


@entry
def choose_greedily(
    points: Array2, reach: Array1, choice: Ints1, gains: Ints1, open_: Ints1, owner: Ints1, chosen: Ints1
) -> int:
    """Choose points that together reach all points, and return their number.

    A point reaches all points within the distance ``reach`` (n,). The indices of the chosen points are written to
    ``chosen``. ``owner[i]`` becomes the index in ``chosen`` of the point that reaches point i. ``choice`` contains the
    indices of candidates, ``gains`` upper bounds of the number of points that each candidate reaches, and ``open_`` the
    indices of all points. Points that no candidate reaches become candidates, those with the largest reach first.
    """
    count, made = open_.shape[0], plain(0)
    while count > 0:
        best = plain(0)
        for c in range(1, choice.shape[0]):
            if gains[c] > gains[best]:
                best = c
        j, gain = choice[best], gains[best]
        if gain > 0:
            # Gains only decrease, so a candidate whose present gain equals the greatest bound reaches the most points.
            gains[best] = _reached(points, j, reach[j], open_, count)
            if gains[best] < gain:
                continue
        else:
            j = open_[0]
            for n in range(1, count):
                if reach[open_[n]] > reach[j]:
                    j = open_[n]
        x, y, z, most, left = points[j, 0], points[j, 1], points[j, 2], reach[j] * reach[j], plain(0)
        for n in range(count):
            i = open_[n]
            dx, dy, dz = points[i, 0] - x, points[i, 1] - y, points[i, 2] - z
            if dx * dx + dy * dy + dz * dz <= most:
                owner[i] = made
            else:
                open_[left] = i
                left += 1
        count = left
        chosen[made] = j
        made += 1
    return made


def _greedy(points: Array, reach: Array, edge: float) -> tuple[Ints, Ints]:
    """Return the indices of chosen points that reach all points, and the owner of each point.

    The owner of a point is the chosen point that reaches it, as an index into the first array.
    """
    step = max(1, len(points) // _CHOICE)
    order = np.argsort(-reach, kind="stable")
    choice = np.unique(np.concatenate([order[::step], order[: _CHOICE // 4]]))
    # the ball that contains all reached cubes bounds their number by its volume
    most = 4.0 / 3.0 * pi * (reach[choice] / edge + sqrt(0.75)) ** 3
    gains = np.minimum(np.ceil(most), len(points)).astype(np.int64)
    owner, chosen = np.empty(len(points), dtype=np.int64), np.empty(len(points), dtype=np.int64)
    count = choose_greedily(points, reach * (1.0 - _ROUNDING), choice, gains, np.arange(len(points)), owner, chosen)
    return chosen[:count], owner

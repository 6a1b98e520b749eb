"""What a checker answers."""

from __future__ import annotations

from typing import Generic, NamedTuple

from gjk3d.robot.kinematics import Array
from gjk3d.typing import N, P
from gjk3d.wording import told

PairName = tuple[str, str] | None


class RobotClearance(NamedTuple, Generic[N, P]):
    """Answer of `Checker.clearance`, for one configuration or n.

    Attributes
    ----------
    distance : float or (n,) float
        The least signed distance of all pairs; negative is overlap, infinite where no pair is within the limit.
    lower, upper : float or (n,) float
        Bounds of it that hold for the poses as computed.
    normal : (3,) or (n, 3) float
        Unit vector from the first of the pair to the second, in world axes.
    point_a, point_b : (3,) or (n, 3) float
        The nearest points, in world axes.
    pair : (str, str) or list of such, or None
        Names: of links, or of an object, which stands second.
    """

    distance: N
    lower: N
    upper: N
    normal: Array
    point_a: Array
    point_b: Array
    pair: P


class RobotCollision(NamedTuple):
    """A pair that is too close, of one configuration: an item of what `Checker.collisions` answers.

    Attributes
    ----------
    a, b : str
        Names: of links, or of an object, which stands second.
    distance, lower, upper : float
        Signed distance, negative is overlap, and bounds of it; of several shapes of the two the deepest.
    normal : (3,) float
        Unit vector from a to b, in world axes.
    point_a, point_b : (3,) float
        Deepest points, in world axes: ``point_b - point_a == distance * normal``.
    """

    a: str
    b: str
    distance: float
    lower: float
    upper: float
    normal: Array
    point_a: Array
    point_b: Array

    @property
    def pair(self) -> tuple[str, str]:
        """Both names."""
        return self.a, self.b

    @property
    def depth(self) -> float:
        """How deep they overlap; 0 where a margin alone is undercut."""
        return max(0.0, -self.distance)

    def __repr__(self) -> str:
        return f"<RobotCollision of {self.a!r} and {self.b!r}: signed distance {told(self.lower, self.upper)}>"


class RobotContact(NamedTuple):
    """Where two shapes touch, at one configuration: an item of what `Checker.contacts` answers.

    Attributes
    ----------
    a, b : str
        Names: of links, or of an object, which stands second.
    normal : (3,) float
        Unit vector from a to b, in world axes.
    points_a, points_b : (count, 3) float
        Points on the two surfaces, in world axes; ``points_b - points_a == gaps * normal``.
    gaps : (count,) float
        How far apart they are at each; negative is overlap.
    distance, lower, upper : float
        Signed distance of the two shapes, and bounds of it.
    """

    a: str
    b: str
    normal: Array
    points_a: Array
    points_b: Array
    gaps: Array
    distance: float
    lower: float
    upper: float

    @property
    def pair(self) -> tuple[str, str]:
        """Both names."""
        return self.a, self.b

    @property
    def points(self) -> Array:
        """The middles between the points on a and on b."""
        middles: Array = 0.5 * (self.points_a + self.points_b)
        return middles

    def __repr__(self) -> str:
        count = len(self.gaps)
        return f"<RobotContact of {self.a!r} and {self.b!r}: {count} point{'' if count == 1 else 's'}>"

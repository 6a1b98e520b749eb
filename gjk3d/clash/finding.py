"""One `Clash` is what a check found of one pair."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any

from gjk3d.wording import below, json_ready, number

#: Every kind of finding, the worst first.
KINDS = ("hard", "contained", "duplicate", "unchecked", "clearance", "touch")
#: What a finding is beside the baseline: there for the first time, there again, gone, or not to be counted.
STATUSES = ("new", "active", "resolved", "ignored")
OPEN = ("new", "active")

Vector = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Clash:
    """One finding about two parts. Lengths are in the unit of the report; points and directions in its frame.

    Attributes
    ----------
    id : str
        The same in every run as long as the two parts keep their names, in IFC their GlobalIds, and the finding its
        kind.
    kind : {"hard", "touch", "clearance", "contained", "duplicate", "unchecked"}
        Overlap deeper than the tolerance; surfaces closer than it; a gap below clearance - tolerance; one part inside
        the other, their surfaces apart; the same part twice at one place; could not be decided.
    severity : int
        Rank in the report, 1 is the worst: by kind, then by `penetration` (by `depth` where it is not known), then by
        how near the two are.
    status : {"new", "active", "resolved", "ignored"}
        Beside the baseline, and by the rules of what to ignore.
    a, b : str
        Names of the parts, in the order of names.
    a_file, b_file : str
        The files they came from.
    distance : float or None
        Signed: the gap, or less the depth of the overlap.
    depth : float or None
        How far must B move to be free of A? At least or at most or just so as `distance_kind` says; 0 where they are
        apart.
    mtv : (3,) float or None
        Which move of B frees it? As short as is known, and as long as `depth`.
    normal : (3,) float or None
        Unit vector from A to B.
    point_a, point_b : (3,) float or None
        The two points that are nearest, or deepest in the other part.
    point : (3,) float or None
        Where to look.
    overlap_volume : float or None
        Volume that both parts fill.
    overlap_box : pair of (3,) float, or None
        Lowest and highest corner of what both parts fill.
    shape_a, shape_b : {"hull", "triangles"}
        What stood for the part when the pair was decided.
    method : str
        Which algorithm decided: "gjk", "epa", "triangles", "boolean", "inside", "equal"; empty if none could.
    distance_kind : {"exact", "bound", "approximate"}
        "exact": `distance` is right to `error_bound`. "bound": `depth` is an upper bound, for moving B by `mtv` frees
        it; the true depth is at least ``depth - error_bound``. "approximate": neither is proven.
    error_bound : float or None
        Width of the interval that holds the true distance, between curved faces too where a file is STEP.
    tolerance : float or None
        Overlap and gap up to which the two would count as touching.
    convex_gap : float or None
        By how much the hull distance lies below the true one, where hulls were compared first.
    penetration : float or None
        How far does one surface reach into the other part, where they overlap and that is worst? As
        `gjk3d.penetration`, and at least so much: the deepest point known. Findings are ranked by it.
    time : float or None
        Of parts that move: when the numbers above hold, that is when the two are deepest, or nearest.
    intervals : tuple of (float, float, float, float)
        When they clash: free before the first time, in clash from the second to the third, free from the fourth on.
    least : (float, float) or None
        Bounds of the least clearance over all of the motion, proven also between the times looked at;
        where joints were solved for, against ways whose own error is measured: the report's notes say so.
    group : str
        Name of the group of findings that it belongs to.
    note : str
        What a reader should know besides.

    Examples
    --------
    >>> import gjk3d as gk
    >>> cube = gk.Box((1, 1, 1)).surface()
    >>> parts = {name: gk.Mesh(cube.vertices + shift, cube.faces) for name, shift in (("a", 0), ("b", 0.75), ("c", 3))}
    >>> report = gk.clash.check(gk.clash.Assembly.of(parts, "mm"), clearance=2.5)
    >>> worst = report.clashes[0]
    >>> worst.kind, worst.a, worst.b, worst.depth, worst.evidence
    ('hard', 'a', 'b', 0.25, 'epa, exact')
    >>> worst.is_open, worst.fails(("hard",), only_new=True)
    (True, True)
    >>> gk.clash.Clash.from_dict(worst.to_dict()) == worst
    True
    """

    id: str
    kind: str
    severity: int
    status: str
    a: str
    b: str
    a_file: str
    b_file: str
    distance: float | None = None
    depth: float | None = None
    mtv: Vector | None = None
    normal: Vector | None = None
    point_a: Vector | None = None
    point_b: Vector | None = None
    point: Vector | None = None
    overlap_volume: float | None = None
    overlap_box: tuple[Vector, Vector] | None = None
    shape_a: str = "hull"
    shape_b: str = "hull"
    method: str = "gjk"
    distance_kind: str = "approximate"
    error_bound: float | None = None
    tolerance: float | None = None
    convex_gap: float | None = None
    penetration: float | None = None
    time: float | None = None
    intervals: tuple[tuple[float, float, float, float], ...] = ()
    least: tuple[float, float] | None = None
    group: str = ""
    note: str = ""

    def __repr__(self) -> str:
        rounded = below if self.distance_kind == "bound" else number
        known = "" if self.distance is None else f", signed distance {rounded(self.distance)} ({self.evidence})"
        return f"<Clash {self.id}: {self.kind}, {self.a!r} and {self.b!r}{known}>"

    @property
    def evidence(self) -> str:
        """What decided, and how good the distance is, in few words."""
        if self.kind == "unchecked":
            return "-"
        kind = "depth at most" if self.distance_kind == "bound" else self.distance_kind
        return ", ".join(word for word in (self.method, "" if self.distance is None else kind) if word)

    @property
    def is_open(self) -> bool:
        """Whether it counts: not ignored, not resolved."""
        return self.status in OPEN

    def fails(self, kinds: Collection[str], only_new: bool) -> bool:
        """Tell whether a gate fails by it.

        Parameters
        ----------
        kinds : collection of str
            The kinds that a gate looks for.
        only_new : bool
            Whether it looks at those alone that the baseline lacks.
        """
        return self.kind in kinds and self.status in (("new",) if only_new else OPEN)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON has them: lists for vectors, None for what is not finite."""
        return record(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Clash:
        """Return the finding that `to_dict` wrote.

        Parameters
        ----------
        values : dict
            By the name of each field; those that this version does not know are left out.
        """
        return cls(**{item.name: _tuples(values[item.name]) for item in fields(cls) if item.name in values})


def clash_id(kind: str, a: str, b: str) -> str:
    """Return the id of a finding: a hash of its kind and what two parts are known by, in either order."""
    first, second = sorted((a, b))
    text = "\0".join((kind, first, second))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def record(item: Any) -> dict[str, Any]:
    """Return the fields of a finding, a part or a file as JSON has them."""
    return {entry.name: json_ready(getattr(item, entry.name)) for entry in fields(item)}


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value

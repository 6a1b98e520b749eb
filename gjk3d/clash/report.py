"""What a clash check found: one `Clash` a pair, and the `Report` of them all."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gjk3d.shown import shown
from gjk3d.units import reading
from gjk3d.wording import json_ready, with_unit

if TYPE_CHECKING:
    from gjk3d.clash.assembly import Assembly
    from gjk3d.clash.causes import Cause
    from gjk3d.clash.motion.record import MotionRecord
    from gjk3d.clash.triage import Triage

SCHEMA_VERSION = 1
#: Every kind of finding, the worst first.
KINDS = ("hard", "contained", "duplicate", "unchecked", "clearance", "touch")
#: What a finding is beside the baseline: there for the first time, there again, gone, or not to be counted.
STATUSES = ("new", "active", "resolved", "ignored")
OPEN = ("new", "active")
#: Where a tolerance that was not given comes from.
BY_DEFAULT = "a millionth of how far the two parts reach from the middle of the assembly"

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
        Overlap deeper than the tolerance; surfaces closer than it; parts closer than the clearance; one part inside
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
        Width of the interval that holds the true distance.
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
        return _record(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Clash:
        """Return the finding that `to_dict` wrote.

        Parameters
        ----------
        values : dict
            By the name of each field; those that this version does not know are left out.
        """
        return cls(**{item.name: _tuples(values[item.name]) for item in fields(cls) if item.name in values})


@dataclass(frozen=True, slots=True)
class PartRow:
    """One part of the assembly as the report lists it.

    Attributes
    ----------
    name, file : str
        Its name in the assembly, unique, and where it came from.
    triangles : int
        How many it has; 0 where it could not be loaded.
    closed, convex : bool or None
        Whether its surface encloses a volume, and fills its hull; None where that is unknown.
    bounds : pair of (3,) float, or None
        Lowest and highest corner.
    reason : str
        Why it could not be checked; empty where it could.
    path : tuple of str
        Its place in the tree of its file, from the root down, itself last.
    colour : (3,) float or None
        Red, green and blue, 0 to 1, that the file gives it, as screens take them.
    guid : str
        Its GlobalId in IFC, else empty.

    Examples
    --------
    >>> import gjk3d as gk
    >>> cube = gk.Box((1, 1, 1)).surface()
    >>> parts = {"a": gk.Mesh(*cube[:2]), "b": gk.Mesh(cube.vertices + 2, cube.faces)}
    >>> row = gk.clash.check(gk.clash.Assembly.of(parts)).parts[0]
    >>> row.name, row.triangles, row.closed, row.convex, row.bounds
    ('a', 12, True, True, ((-0.5, -0.5, -0.5), (0.5, 0.5, 0.5)))
    """

    name: str
    file: str
    triangles: int
    closed: bool | None = None
    convex: bool | None = None
    bounds: tuple[Vector, Vector] | None = None
    reason: str = ""
    path: tuple[str, ...] = ()
    colour: Vector | None = None
    guid: str = ""


@dataclass(frozen=True, slots=True)
class Input:
    """One file that was read.

    Attributes
    ----------
    path : str
        As it was given.
    sha256 : str or None
        Its hash; None where it could not be read.
    unit : str or None
        The unit of length that it states.

    Examples
    --------
    >>> import gjk3d as gk
    >>> from pyvista import examples  # models that come with it
    >>> nut = gk.clash.Assembly.load(examples.nutfile, unit="mm").inputs[0]
    >>> nut.path == examples.nutfile, len(nut.sha256), nut.unit
    (True, 64, None)
    """

    path: str
    sha256: str | None
    unit: str | None


@dataclass
class Report:
    r"""What `gjk3d.clash.check` found.

    Attributes
    ----------
    clashes : tuple of Clash
        The worst first; the ignored and the resolved are at the end.
    parts : tuple of PartRow
        Every part, also those that could not be loaded.
    unit : str or None
        Unit of every length; None where the files state none and none was given.
    clearance, tolerance : float
        Wanted gap; overlap and gap up to which two surfaces count as touching: the one that was given, or the largest
        of the pairs that come close, each of which has its own by default.
    pairs_total, pairs_close, pairs_tested : int
        Pairs that were asked for, whose boxes come within the clearance, and that were decided.
    decisions : int
        How many decisions beyond hulls those took: pairs of equal shapes that stand alike share one.
    complete : bool
        False if the check was stopped before its end.
    elapsed : float
        Seconds.
    settings : dict
        Everything else that an answer depends on.
    inputs : tuple of Input
        The files.
    notes : tuple of str
        What a reader should know about the whole.
    left_out : dict of dict
        How many findings there were besides `clashes`, by status and kind; see ``keep`` of `gjk3d.clash.check`.
    motion : MotionRecord or None
        What moved, and what every pair did that came close; None where nothing moves.
    assembly : Assembly or None
        The parts themselves, for pictures; not written to files.
    triage : Triage or None
        What people decided about findings, which is in a file of its own.
    causes : tuple of Cause
        Parts that explain several findings each; not written to files.

    Examples
    --------
    >>> import gjk3d as gk
    >>> cube = gk.Box((1, 1, 1)).surface()
    >>> parts = {name: gk.Mesh(cube.vertices + shift, cube.faces) for name, shift in (("a", 0), ("b", 0.75), ("c", 3))}
    >>> report = gk.clash.check(gk.clash.Assembly.of(parts, "mm"), clearance=2.5)
    >>> report
    <Report: 3 parts, 3 pairs tested, 1 hard, 1 clearance>
    >>> report.counts["hard"], report.statuses["new"], report.total, report.failures(("hard",))
    (1, 2, 2, 1)
    >>> report.limits
    'clearance 2.5 mm, tolerance up to 2.75e-06 mm'
    >>> report.reading
    ('mm', 1.0)
    >>> report.unchecked, list(report.groups)
    ((), ['a', 'b'])
    >>> report.to_dict()["pairs_total"], report.to_json()[:25], report.to_csv()[:16]
    (3, '{\n "schema_version": 1,\n ', 'id,kind,severity')
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report.to_html(pathlib.Path(folder) / "report.html").name
    'report.html'
    """

    clashes: tuple[Clash, ...] = ()
    parts: tuple[PartRow, ...] = ()
    unit: str | None = None
    clearance: float = 0.0
    tolerance: float = 0.0
    pairs_total: int = 0
    pairs_close: int = 0
    pairs_tested: int = 0
    decisions: int = 0
    complete: bool = True
    elapsed: float = 0.0
    settings: dict[str, Any] = field(default_factory=dict)
    inputs: tuple[Input, ...] = ()
    notes: tuple[str, ...] = ()
    left_out: dict[str, dict[str, int]] = field(default_factory=dict)
    motion: MotionRecord | None = None
    assembly: Assembly | None = field(default=None, repr=False, compare=False)
    triage: Triage | None = field(default=None, repr=False, compare=False)
    causes: tuple[Cause, ...] = field(default=(), repr=False, compare=False)

    @property
    def counts(self) -> dict[str, int]:
        """How many open findings of each kind there are, also of those left out; see `Clash.is_open`."""
        found = Counter(clash.kind for clash in self.clashes if clash.is_open)
        for status in OPEN:
            found.update(self.left_out.get(status, {}))
        return {kind: found[kind] for kind in KINDS}

    @property
    def statuses(self) -> dict[str, int]:
        """How many findings of each status there are, also of those left out."""
        found = Counter(clash.status for clash in self.clashes)
        found.update({status: sum(kinds.values()) for status, kinds in self.left_out.items()})
        return {status: found[status] for status in STATUSES}

    def failures(self, kinds: Collection[str], only_new: bool = False) -> int:
        """Return how many findings a gate fails by, also of those left out.

        Parameters
        ----------
        kinds : collection of str
            The kinds that the gate looks for.
        only_new : bool
            Whether it looks at those alone that the baseline lacks.
        """
        rest = (self.left_out.get(status, {}) for status in (("new",) if only_new else OPEN))
        counted = sum(each.get(kind, 0) for each in rest for kind in kinds)
        return counted + sum(clash.fails(kinds, only_new) for clash in self.clashes)

    @property
    def total(self) -> int:
        """How many findings there are, also those left out."""
        return sum(self.statuses.values())

    @property
    def reading(self) -> tuple[str | None, float]:
        """Unit in which tables, pages and pictures give all lengths, and what to multiply those of the report by."""
        lows, highs = ([part.bounds[k] for part in self.parts if part.bounds is not None] for k in (0, 1))
        ends = zip(map(min, zip(*lows, strict=True)), map(max, zip(*highs, strict=True)), strict=True)
        return reading(self.unit, max((high - low for low, high in ends), default=0.0))

    @property
    def limits(self) -> str:
        """Clearance and tolerance in words, in the unit of `reading`."""
        most = "up to " if self.settings.get("tolerance_from") == BY_DEFAULT else ""
        unit, factor = self.reading
        gap, play = with_unit(f"{factor * self.clearance:.6g}", unit), with_unit(f"{factor * self.tolerance:.3g}", unit)
        return f"clearance {gap}, tolerance {most}{play}"

    @property
    def unchecked(self) -> tuple[PartRow, ...]:
        """The parts that could not be checked, each with its reason."""
        return tuple(part for part in self.parts if part.reason)

    @property
    def groups(self) -> dict[str, tuple[Clash, ...]]:
        """The open findings by group, the group with the worst finding first."""
        groups: dict[str, list[Clash]] = {}
        for clash in self.clashes:
            if clash.is_open:
                groups.setdefault(clash.group, []).append(clash)
        return {name: tuple(members) for name, members in groups.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the parts' triangles as JSON has it; `formats.json_schema` says its form."""
        return {
            "schema_version": SCHEMA_VERSION,
            "command": "clash",
            "complete": self.complete,
            "unit": self.unit,
            "clearance": self.clearance,
            "tolerance": self.tolerance,
            "settings": json_ready(self.settings),
            "inputs": [_record(item) for item in self.inputs],
            "counts": self.counts,
            "statuses": self.statuses,
            "pairs_total": self.pairs_total,
            "pairs_close": self.pairs_close,
            "pairs_tested": self.pairs_tested,
            "decisions": self.decisions,
            "notes": list(self.notes),
            "groups": [{"name": name, "count": len(members)} for name, members in self.groups.items()],
            "parts": [_record(part) for part in self.parts],
            "left_out": json_ready(self.left_out),
            "clashes": [clash.to_dict() for clash in self.clashes],
            "motion": None if self.motion is None else self.motion.to_dict(),
            "versions": versions(),
            "elapsed": self.elapsed,
        }

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the report as one JSON document; its form is that of `gjk3d.clash.formats.json_schema`.

        Parameters
        ----------
        path : path, optional
            Where to write it, too.
        """
        text = json.dumps(self.to_dict(), indent=1, allow_nan=False)
        if path is not None:
            Path(path).write_text(text + "\n", encoding="utf-8")
        return text

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the findings as CSV; `gjk3d.clash.formats` has more forms.

        Parameters
        ----------
        path : path, optional
            Where to write it, too.
        """
        from gjk3d.clash.formats import to_csv

        text = to_csv(self)
        if path is not None:
            Path(path).write_text(text, encoding="utf-8", newline="")
        return text

    def to_html(self, path: str | os.PathLike[str]) -> Path:
        """Write the report as one offline HTML page; see `gjk3d.clash.page.write_page`.

        Parameters
        ----------
        path : path
            Where to write.

        Returns
        -------
        Path
            The file written.
        """
        from gjk3d.clash.page import write_page

        return write_page(self, path)

    _repr_mimebundle_ = shown

    def __repr__(self) -> str:
        found = ", ".join(f"{count} {kind}" for kind, count in self.counts.items() if count) or "no clashes"
        stopped = "" if self.complete else ", stopped before the end"
        return f"<Report: {len(self.parts)} parts, {self.pairs_tested} pairs tested, {found}{stopped}>"


def versions() -> dict[str, str]:
    """Return the versions that an answer depends on."""
    return {name: version(name) for name in ("gjk3d", "numpy", "scipy", "llvmlite", "trimesh")}


def clash_id(kind: str, a: str, b: str) -> str:
    """Return the id of a finding: a hash of its kind and what two parts are known by, in either order."""
    first, second = sorted((a, b))
    text = "\0".join((kind, first, second))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _record(item: Any) -> dict[str, Any]:
    return {entry.name: json_ready(getattr(item, entry.name)) for entry in fields(item)}


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value

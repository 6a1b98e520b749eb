"""What a clash check found: the `Report` of all findings, parts and files."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib.metadata import version
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gjk3d.clash.detection.clashes import KINDS, OPEN, STATUSES, Clash, Clashes, LazyRows, Vector, record, vectors
from gjk3d.shown import shown
from gjk3d.units import reading
from gjk3d.wording import count, json_ready, with_unit

if TYPE_CHECKING:
    from gjk3d.clash.decisions.triage import Triage
    from gjk3d.clash.detection.assembly import Assembly
    from gjk3d.clash.detection.findings import Cause
    from gjk3d.clash.motion.moving import MotionRecord


SCHEMA_VERSION = 1
#: Where a tolerance that was not given comes from.
BY_DEFAULT = "a millionth of how far the two parts reach from the middle of the assembly"


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


class PartRows(LazyRows[PartRow]):
    """Parts, each a `PartRow` that is made when it is read.

    Parameters
    ----------
    columns : dict of str to sequence
        By the fields of `PartRow`; ``bounds`` is (n, 2, 3) float, nan for None.
    """

    __slots__ = ("columns",)

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self.columns = columns

    @classmethod
    def of(cls, rows: Sequence[PartRow]) -> PartRows:
        """Return any parts so."""
        if isinstance(rows, PartRows):
            return rows
        columns: dict[str, Any] = {item.name: [getattr(row, item.name) for row in rows] for item in fields(PartRow)}
        none = np.full((2, 3), np.nan)
        boxes = np.array([none if box is None else box for box in columns["bounds"]], dtype=np.float64)
        return cls(columns | {"bounds": boxes.reshape(-1, 2, 3)})

    def __len__(self) -> int:
        return len(self.columns["name"])

    def _some(self, rows: slice) -> Iterator[PartRow]:
        some = {item.name: self.columns[item.name][rows] for item in fields(PartRow)}
        return map(PartRow, *(some | {"bounds": vectors(some["bounds"])}).values())


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
    clashes : sequence of Clash
        The worst first; the ignored and the resolved are at the end. Each is made when it is read.
    parts : sequence of PartRow
        Every part, also those that could not be loaded. Each is made when it is read.
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
    'clearance 2.5 mm, tolerance up to 2.75e-06 mm, findings are gaps below clearance - tolerance'
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

    clashes: Sequence[Clash] = ()
    parts: Sequence[PartRow] = ()
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

    def __post_init__(self) -> None:
        self.clashes, self.parts = Clashes.of(self.clashes), PartRows.of(self.parts)

    @property
    def counts(self) -> dict[str, int]:
        """How many open findings of each kind there are, also of those left out; see `Clash.is_open`."""
        counts = self._counts()
        return {kind: sum(counts[status, kind] for status in OPEN) for kind in KINDS}

    @property
    def statuses(self) -> dict[str, int]:
        """How many findings of each status there are, also of those left out."""
        counts = self._counts()
        return {status: sum(counts[status, kind] for kind in KINDS) for status in STATUSES}

    def failures(self, kinds: Collection[str], only_new: bool = False) -> int:
        """Return how many findings a gate fails by, also of those left out.

        Parameters
        ----------
        kinds : collection of str
            The kinds that the gate looks for.
        only_new : bool
            Whether it looks at those alone that the baseline lacks.
        """
        counts = self._counts()
        return sum(counts[status, kind] for status in (("new",) if only_new else OPEN) for kind in {*kinds})

    def _counts(self) -> Counter[tuple[str, str]]:
        """Return how many findings of each status and kind there are, also of those left out."""
        counts = Clashes.of(self.clashes).counts()
        counts.update({(status, kind): n for status, kinds in self.left_out.items() for kind, n in kinds.items()})
        return counts

    @property
    def total(self) -> int:
        """How many findings there are, also those left out."""
        return sum(self.statuses.values())

    @property
    def reading(self) -> tuple[str | None, float]:
        """Unit in which tables, pages and pictures give all lengths, and what to multiply those of the report by."""
        boxes = PartRows.of(self.parts).columns["bounds"]
        low, high = np.fmin.reduce(boxes[:, 0], initial=inf), np.fmax.reduce(boxes[:, 1], initial=-inf)
        return reading(self.unit, max(0.0, float((high - low).max())))

    @property
    def limits(self) -> str:
        """Clearance and tolerance in words, in the unit of `reading`, and which gaps are findings."""
        most = "up to " if self.settings.get("tolerance_from") == BY_DEFAULT else ""
        unit, factor = self.reading
        gap, play = with_unit(f"{factor * self.clearance:.6g}", unit), with_unit(f"{factor * self.tolerance:.3g}", unit)
        finding = ", findings are gaps below clearance - tolerance" if self.clearance else ""
        return f"clearance {gap}, tolerance {most}{play}{finding}"

    @property
    def unchecked(self) -> tuple[PartRow, ...]:
        """The parts that could not be checked, each with its reason."""
        reasons = PartRows.of(self.parts).columns["reason"]
        return tuple(self.parts[k] for k, reason in enumerate(reasons) if reason)

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
            "inputs": [record(item) for item in self.inputs],
            "counts": self.counts,
            "statuses": self.statuses,
            "pairs_total": self.pairs_total,
            "pairs_close": self.pairs_close,
            "pairs_tested": self.pairs_tested,
            "decisions": self.decisions,
            "notes": list(self.notes),
            "groups": [{"name": name, "count": len(members)} for name, members in self.groups.items()],
            "parts": [record(part) for part in self.parts],
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
        totals = ", ".join(f"{many} {kind}" for kind, many in self.counts.items() if many) or "no clashes"
        stopped = "" if self.complete else ", stopped before the end"
        parts, pairs = count(len(self.parts), "part"), count(self.pairs_tested, "pair")
        return f"<Report: {parts}, {pairs} tested, {totals}{stopped}>"


def versions() -> dict[str, str]:
    """Return the versions that an answer depends on."""
    return {name: version(name) for name in ("gjk3d", "numpy", "scipy", "llvmlite", "trimesh")}

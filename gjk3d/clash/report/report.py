"""The `Report` of a clash check, with all findings, parts and files."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from importlib.metadata import version
from itertools import compress
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gjk3d import __version__
from gjk3d.clash.detection.clashes import KINDS, OPEN, STATUSES, Clash, Clashes, LazyRows, record, vectors
from gjk3d.clash.detection.parts import default_tolerances
from gjk3d.clash.documents import Count, Vector
from gjk3d.frozen import shown
from gjk3d.units import reading
from gjk3d.wording import count, json_ready, with_unit

if TYPE_CHECKING:
    from gjk3d.clash.detection.assembly import Assembly
    from gjk3d.clash.detection.findings import Cause
    from gjk3d.clash.motion.moving import MotionRecord
    from gjk3d.clash.triage import Triage


SCHEMA_VERSION = 1
#: The value of "tolerance_from" in `Report.settings` for the default tolerance. Reports in files contain this text.
BY_DEFAULT = "a millionth of how far the two parts reach from the middle of the assembly"


@dataclass(frozen=True, slots=True)
class PartRow:
    """A part of the assembly in a report.

    Attributes
    ----------
    name, file : str
        The unique name in the assembly, and the path of the file.
    triangles : int
        The number of triangles, or 0 if the part could not be loaded.
    closed, convex : bool or None
        Whether the surface encloses a volume, and whether the part is equal to its convex hull. None if this is
        unknown.
    bounds : pair of (3,) float, or None
        The lowest and the highest corner of the bounding box.
    reason : str
        The reason why the part could not be checked, or an empty text.
    path : tuple of str
        The path in the tree of the file, from the root to the part itself.
    colour : (3,) float or None
        The colour in the file: red, green and blue in sRGB, from 0 to 1.
    guid : str
        The GlobalId in IFC, or an empty text.

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
    triangles: Count
    closed: bool | None = None
    convex: bool | None = None
    bounds: tuple[Vector, Vector] | None = None
    reason: str = ""
    path: tuple[str, ...] = ()
    colour: Vector | None = None
    guid: str = ""


class PartRows(LazyRows[PartRow]):
    """A sequence of parts that is stored in columns. Each `PartRow` is created when it is read.

    Parameters
    ----------
    columns : dict of str to sequence
        For each field of `PartRow`, the values of all parts. ``bounds`` is (n, 2, 3) float, with nan for None.
    """

    __slots__ = ("columns",)

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self.columns = columns

    @classmethod
    def of(cls, rows: Sequence[PartRow]) -> PartRows:
        """Return a sequence of parts as `PartRows`."""
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
    """A file of an assembly.

    Attributes
    ----------
    path : str
        The path in the call.
    sha256 : str or None
        The hash of the file, or None if it could not be read.
    unit : str or None
        The unit of length that the file states.

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
    r"""The result of `gjk3d.clash.check`.

    Attributes
    ----------
    clashes : sequence of Clash
        The findings, the worst first. Ignored and resolved findings are at the end. An item is created when it is read.
    parts : sequence of PartRow
        All parts, including those that could not be loaded. An item is created when it is read.
    unit : str or None
        The unit of all lengths. None if neither the files nor the call state one.
    clearance, tolerance : float
        The required gap, and the largest overlap or gap that counts as touching. By default each pair has a separate
        tolerance, and ``tolerance`` is the largest one of the close pairs.
    pairs_total, pairs_close, pairs_tested : int
        The number of selected pairs, of pairs whose boxes are within the clearance, and of pairs that were decided.
    decisions : int
        The number of computed pairs whose hulls are within the clearance. Pairs of equal shapes at the same relative
        pose are computed once.
    complete : bool
        False if the check was stopped before its end.
    elapsed : float
        The time of the check in seconds.
    settings : dict
        All other arguments that change the result.
    inputs : tuple of Input
        The files of the assembly.
    notes : tuple of str
        Notes on the whole check.
    left_out : dict of dict
        The number of findings that `clashes` does not contain, by status and kind. See ``keep`` of `gjk3d.clash.check`.
    motion : MotionRecord or None
        The motion, with the results of every pair that came close. None if no part moves.
    assembly : Assembly or None
        The assembly, for pictures. It is not written to files.
    triage : Triage or None
        The decisions of people about findings. They are written to a separate file.
    causes : tuple of Cause
        Parts that explain several findings each. They are not written to files.

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
    'clearance 2.5 mm, tolerance ≤ 2.75e-06 mm, findings are gaps below clearance - tolerance'
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
        """The number of open findings of each kind, including those of `left_out`. See `Clash.is_open`."""
        counts = self._counts()
        return {kind: sum(counts[status, kind] for status in OPEN) for kind in KINDS}

    @property
    def statuses(self) -> dict[str, int]:
        """The number of findings of each status, including those of `left_out`."""
        counts = self._counts()
        return {status: sum(counts[status, kind] for kind in KINDS) for status in STATUSES}

    def failures(self, kinds: Collection[str], only_new: bool = False) -> int:
        """Return the number of findings that fail a check in CI, including those of `left_out`.

        Parameters
        ----------
        kinds : collection of str
            The kinds that fail the check.
        only_new : bool
            Whether only findings with the status "new" fail the check.
        """
        counts = self._counts()
        return sum(counts[status, kind] for status in (("new",) if only_new else OPEN) for kind in {*kinds})

    def _counts(self) -> Counter[tuple[str, str]]:
        counts = Clashes.of(self.clashes).counts()
        counts.update({(status, kind): n for status, kinds in self.left_out.items() for kind, n in kinds.items()})
        return counts

    @property
    def total(self) -> int:
        """The number of findings, including those of `left_out`."""
        return sum(self.statuses.values())

    @property
    def reading(self) -> tuple[str | None, float]:
        """The unit of lengths in tables, pages and pictures, and the factor that converts lengths from `unit` to it."""
        boxes = PartRows.of(self.parts).columns["bounds"]
        low, high = np.fmin.reduce(boxes[:, 0], initial=inf), np.fmax.reduce(boxes[:, 1], initial=-inf)
        return reading(self.unit, max(0.0, float((high - low).max())))

    @cached_property
    def _rounding(self) -> dict[str, float]:
        """The error of lengths due to rounded coordinates, by part name. It is the default tolerance of the part."""
        columns = PartRows.of(self.parts).columns
        read = np.isfinite(columns["bounds"]).all(axis=(1, 2))
        tolerances = default_tolerances(columns["bounds"][read], np.zeros(int(read.sum())))
        return dict(zip(compress(columns["name"], read), tolerances.tolist(), strict=True))

    @property
    def limits(self) -> str:
        """The clearance, the tolerance and the rule for reported gaps as text. Lengths are in the unit of `reading`."""
        most = "≤ " if self.settings.get("tolerance_from") == BY_DEFAULT else ""
        unit, factor = self.reading
        gap, play = with_unit(f"{factor * self.clearance:.6g}", unit), with_unit(f"{factor * self.tolerance:.3g}", unit)
        finding = ", findings are gaps below clearance - tolerance" if self.clearance else ""
        return f"clearance {gap}, tolerance {most}{play}{finding}"

    @property
    def unchecked(self) -> tuple[PartRow, ...]:
        """The parts that could not be checked."""
        reasons = PartRows.of(self.parts).columns["reason"]
        return tuple(self.parts[k] for k, reason in enumerate(reasons) if reason)

    @property
    def groups(self) -> dict[str, tuple[Clash, ...]]:
        """The open findings by `Clash.group`. The group with the worst finding is first."""
        groups: dict[str, list[Clash]] = {}
        for clash in self.clashes:
            if clash.is_open:
                groups.setdefault(clash.group, []).append(clash)
        return {name: tuple(members) for name, members in groups.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON data, without triangles. `formats.json_schema` returns its schema."""
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
        """Return the report as a JSON document. Its schema is `gjk3d.clash.formats.json_schema`.

        Parameters
        ----------
        path : path, optional
            A file to write the document to.
        """
        text = json.dumps(self.to_dict(), indent=1, allow_nan=False)
        if path is not None:
            Path(path).write_text(text + "\n", encoding="utf-8")
        return text

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the findings as CSV. `gjk3d.clash.formats` has more formats.

        Parameters
        ----------
        path : path, optional
            A file to write the text to.
        """
        from gjk3d.clash.formats import to_csv

        text = to_csv(self)
        if path is not None:
            Path(path).write_text(text, encoding="utf-8", newline="")
        return text

    def to_html(self, path: str | os.PathLike[str], *, up: str = "") -> Path:
        """Write the report as one offline HTML page. See `gjk3d.clash.page.write_page`.

        Parameters
        ----------
        path : path
            The file to write.
        up : {"", "x", "y", "z"}
            The axis that points up in the picture. The default is y for glTF, and z for all other formats.

        Returns
        -------
        Path
            The written file.
        """
        from gjk3d.clash.page import write_page

        return write_page(self, path, up=up)

    _repr_mimebundle_ = shown

    def __repr__(self) -> str:
        totals = ", ".join(f"{many} {kind}" for kind, many in self.counts.items() if many) or "no clashes"
        stopped = "" if self.complete else ", stopped before the end"
        parts, pairs = count(len(self.parts), "part"), count(self.pairs_tested, "pair")
        return f"<Report: {parts}, {pairs} tested, {totals}{stopped}>"


def versions() -> dict[str, str]:
    """Return the versions of the packages that can change a result."""
    return {"gjk3d": __version__, **{name: version(name) for name in ("numpy", "scipy", "llvmlite", "trimesh")}}

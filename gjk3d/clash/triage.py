"""Decisions of people about findings: states, assignees, comments and views, in a file next to the report.

Copies of the file that were edited independently can be merged in any order, and more than once. The last state and the
last assignee replace earlier ones, as in a last-writer-wins register. The comments and views of all copies are kept, as
in a grow-only set. See Shapiro et al. 2011, "A comprehensive study of convergent and commutative replicated data
types".
"""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np

from gjk3d.clash.detection.clashes import KINDS, STATUSES, Clash, Clashes, clash_id
from gjk3d.clash.documents import Interval, Number, Vector, convert, parse_document
from gjk3d.clash.report.baseline import within
from gjk3d.errors import FileError, ParseError
from gjk3d.units import conversion
from gjk3d.wording import expected_names, number, with_unit

#: The states of a finding. An "approved" one is accepted. A "resolved" one is repaired, and the next run verifies it.
STATES = ("new", "active", "reviewed", "approved", "resolved")
SCHEMA_VERSION = 1
Name = Annotated[str, msgspec.Meta(max_length=1_000)]
_Unit = Annotated[str, msgspec.Meta(max_length=20)]


def now() -> str:
    """Return the current time in UTC in the format of triage files, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """A state or an assignee, with its author and its time.

    Attributes
    ----------
    at : str
        The time in UTC as ``2026-05-04T03:02:01.000Z``, so that the order of texts is the order of times.
    by : str
        The name of the author.
    value : str
        One of `STATES`, or the name of the assignee. An empty text removes the assignee.
    distance : float or None
        The signed distance of the finding at this time, in ``unit``.
    unit : str
        The unit of the distance and the penetration.
    intervals : tuple of (float, float, float, float)
        The intervals of time in which moving parts clash. See `gjk3d.clash.Clash`.
    penetration : float or None
        The penetration of the finding at this time.

    Examples
    --------
    >>> import gjk3d as gk
    >>> from gjk3d.clash.triage import Mark
    >>> max(Mark("2026-05-04T08:00:00.000Z", "ann", "active"), Mark("", "", "new")).value
    'active'
    """

    at: str
    by: Name
    value: Name
    distance: Number | None = field(default=None, compare=False)
    unit: _Unit = field(default="", compare=False)
    intervals: tuple[Interval, ...] = field(default=(), compare=False)
    penetration: Number | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, order=True)
class Comment:
    """A comment on a finding.

    Attributes
    ----------
    at, by : str
        The time and the author, as in `Mark`.
    text : str
        The text.
    id : str
        A GUID, which is the same in all copies of the comment.
    """

    at: str
    by: Name
    text: Annotated[str, msgspec.Meta(max_length=20_000)]
    id: Name


@dataclass(frozen=True, slots=True, order=True)
class View:
    """A saved camera for a finding.

    Attributes
    ----------
    at, by : str
        The time and the author, as in `Mark`.
    name : str
        The name of the view.
    id : str
        A GUID.
    eye, target, up : (3,) float
        The position of the camera, its target, and its up vector.
    planes : tuple of ((3,) float, (3,) float)
        The section planes, each with a point and a normal to the removed side.
    unit : str
        The unit of all lengths.
    """

    at: str
    by: Name
    name: Name
    id: Name
    eye: Vector
    target: Vector
    up: Vector
    planes: Annotated[tuple[tuple[Vector, Vector], ...], msgspec.Meta(max_length=64)] = ()
    unit: _Unit = ""


@dataclass(frozen=True, slots=True)
class Issue:
    """The decisions of people about a finding.

    Attributes
    ----------
    id, kind, a, b : str
        The id, the kind and the parts of the finding, as in `gjk3d.clash.Clash`.
    state, assignee : Mark or None
        The last state and the last assignee.
    comments : tuple of Comment
        The comments, the oldest first.
    views : tuple of View
        The views, the oldest first.
    """

    id: Name
    kind: Name
    a: Name
    b: Name
    state: Mark | None = None
    assignee: Mark | None = None
    comments: tuple[Comment, ...] = ()
    views: tuple[View, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether the finding is neither approved nor resolved."""
        return self.state is None or self.state.value not in ("approved", "resolved")

    def merged(self, other: Issue) -> Issue:
        """Return the union of two copies of the decisions about one finding."""
        return replace(
            self,
            state=_last(self.state, other.state),
            assignee=_last(self.assignee, other.assignee),
            comments=joined(self.comments, other.comments),
            views=joined(self.views, other.views),
        )


def _last(a: Mark | None, b: Mark | None) -> Mark | None:
    # equal marks may differ in fields without comparison, so a fixed rule makes the result independent of the order
    def key(mark: Mark) -> Any:
        values = (
            value for length in (mark.distance, mark.penetration) for value in (length is not None, length or 0.0)
        )
        return mark, *values, mark.unit, mark.intervals

    return max((mark for mark in (a, b) if mark is not None), key=key, default=None)


def joined(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the union of two sequences of comments or of views. If items have the same id, the latest is used."""
    by_id: dict[str, Any] = {}
    for item in sorted((*a, *b)):
        by_id[item.id] = item
    return tuple(sorted(by_id.values()))


@dataclass(frozen=True)
class Triage:
    """The decisions of people about the findings of an assembly. `read_triage` reads them, and `write` writes them.

    Attributes
    ----------
    issues : dict of str to Issue
        The decisions about each finding, by its id.

    Examples
    --------
    >>> import gjk3d as gk
    >>> cube = gk.Box((1, 1, 1)).surface()
    >>> parts = gk.clash.Assembly.of({"a": gk.Mesh(*cube[:2]), "b": gk.Mesh(cube.vertices + 0.75, cube.faces)}, "mm")
    >>> worst = gk.clash.check(parts).clashes[0]
    >>> ann = gk.clash.Triage().commented(worst, "pressed in", by="ann")
    >>> bob = gk.clash.Triage().marked(worst, state="approved", by="bob", unit="mm")
    >>> both = ann.merged(bob)
    >>> gk.clash.check(parts, triage=both).clashes[0].note
    'approved by bob'
    >>> both.issue(worst).state.value, both.issue(worst).comments[0].text
    ('approved', 'pressed in')
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     read = gk.clash.read_triage(both.write(pathlib.Path(folder) / "week.triage.json"))
    >>> read.to_dict() == both.to_dict()
    True
    """

    issues: Mapping[str, Issue] = field(default_factory=dict)

    def merged(self, *others: Triage) -> Triage:
        """Return the union of these decisions and all other copies. The result does not depend on their order.

        Parameters
        ----------
        *others : Triage
            Other copies.
        """
        issues = dict(self.issues)
        for key, issue in chain.from_iterable(other.issues.items() for other in others):
            issues[key] = issues[key].merged(issue) if key in issues else issue
        return Triage(issues)

    def issue(self, clash: Clash) -> Issue:
        """Return the decisions about a finding: an empty `Issue` for a finding without decisions.

        Parameters
        ----------
        clash : Clash
            The finding.
        """
        return self.issues.get(clash.id) or Issue(clash.id, clash.kind, clash.a, clash.b)

    def marked(
        self,
        clash: Clash,
        *,
        by: str,
        state: str = "",
        assignee: str | None = None,
        at: str = "",
        unit: str | None = None,
    ) -> Triage:
        """Return the decisions with another state or another assignee of a finding.

        An approval ends when the finding becomes deeper. An approval of moving parts also ends when they clash at other
        times, with a tolerance of a tenth of the duration of the clash.

        Parameters
        ----------
        clash : Clash
            The finding.
        by : str
            The name of the author.
        state : str, optional
            One of `STATES`. By default the state is unchanged.
        assignee : str, optional
            The name of the assignee. An empty text removes the assignee.
        at : str, optional
            The time. The default is now.
        unit : str, optional
            The unit of the finding, ``report.unit``. An approval needs it for the comparison with later depths. An
            approval without a unit is not valid for reports with a unit.

        Raises
        ------
        ParseError
            If the state is unknown.
        """
        if state and state not in STATES:
            raise ParseError(f"{state!r} is not a state of a finding, {expected_names(state, STATES)}")
        issue, at = self.issue(clash), at or now()
        if state:
            measures = clash.distance, unit or "", clash.intervals, clash.penetration
            issue = replace(issue, state=_last(issue.state, Mark(at, by, state, *measures)))
        if assignee is not None:
            issue = replace(issue, assignee=_last(issue.assignee, Mark(at, by, assignee)))
        return Triage({**self.issues, clash.id: issue})

    def commented(self, clash: Clash, text: str, *, by: str, at: str = "") -> Triage:
        """Return the decisions with an additional comment on a finding.

        Parameters
        ----------
        clash : Clash
            The finding.
        text : str
            The comment.
        by : str
            The name of the author.
        at : str, optional
            The time. The default is now.
        """
        issue = self.issue(clash)
        comment = Comment(at or now(), by, text, str(uuid.uuid4()))
        return Triage({**self.issues, clash.id: replace(issue, comments=joined(issue.comments, (comment,)))})

    def to_dict(self) -> dict[str, Any]:
        """Return the decisions as JSON data."""
        return {
            "schema_version": SCHEMA_VERSION,
            "command": "triage",
            "issues": [_issue_record(self.issues[key]) for key in sorted(self.issues)],
        }

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the decisions to a file. An error leaves an existing file unchanged.

        Parameters
        ----------
        path : path
            The file to write. Its name is usually the name of the report with the ending ``.triage.json``.

        Returns
        -------
        Path
            The written file.
        """
        target = Path(path)
        text = json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n"
        partial = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
        try:
            partial.write_text(text, encoding="utf-8")
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
        return target


def _record(item: Any, names: Iterable[str]) -> dict[str, Any]:
    values = {name: getattr(item, name) for name in names}
    return {name: value for name, value in values.items() if value is not None and value not in ("", ())}


_MARKED = "at", "by", "distance", "penetration", "unit", "intervals"


def _issue_record(issue: Issue) -> dict[str, Any]:
    record: dict[str, Any] = {"id": issue.id, "kind": issue.kind, "a": issue.a, "b": issue.b}
    for name in ("state", "assignee"):
        mark = getattr(issue, name)
        if mark is not None:
            record[name] = {"value": mark.value, **_record(mark, _MARKED)}
    if issue.comments:
        record["comments"] = [_record(comment, ("id", "at", "by", "text")) for comment in issue.comments]
    if issue.views:
        names = ("id", "at", "by", "name", "eye", "target", "up", "planes", "unit")
        record["views"] = [_record(view, names) for view in issue.views]
    return record


MAX_BYTES = 64_000_000  #: the largest number of bytes of a file


class _TriageFile(msgspec.Struct):
    """The fields of a triage file that are read."""

    issues: list[Issue]


def read_triage(given: str | os.PathLike[str] | Triage | None) -> Triage:
    """Return the decisions in a triage file, which the page of a report or `Triage.write` has saved.

    Parameters
    ----------
    given : path, Triage or None
        The path of the file. A `Triage` is returned unchanged, and None returns an empty `Triage`.

    Raises
    ------
    FileError
        If the file does not exist.
    ParseError
        If the file is not a triage file, or is damaged.

    Examples
    --------
    >>> import gjk3d as gk, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gk.clash.read_triage(gk.clash.Triage().write(pathlib.Path(folder) / "week.triage.json")).issues
    {}
    """
    if given is None or isinstance(given, Triage):
        return given or Triage()
    path = Path(given)
    if not os.path.isfile(path):
        raise FileError(
            f"the triage file {path} is not a file or does not exist. Save one on the page of gjk3d clash --html."
        )
    if path.stat().st_size > MAX_BYTES:
        raise ParseError(
            f"{path} has {path.stat().st_size} bytes, expected at most {MAX_BYTES / 1e6:g} MB. Remove the decisions"
            " about old findings."
        )
    return parse_triage(path.read_bytes(), str(path))


def parse_triage(text: bytes, where: str) -> Triage:
    """Return the decisions in the text of a triage file. Errors start with ``where``."""

    def complete(row: dict[str, Any]) -> dict[str, Any]:  # files leave out the empty texts of marks, comments and views
        return {"by": "", "name": "", "text": "", **row} if "at" in row else row

    cure = "Save one on the page of gjk3d clash --html."
    document = parse_document(text, where, "triage", SCHEMA_VERSION, "a triage file", cure, complete)
    issues: dict[str, Issue] = {}
    for k, read in enumerate(convert(document, _TriageFile, where).issues):
        issue = _checked(read, f"{where}, issue {k + 1}")
        issues[issue.id] = issues[issue.id].merged(issue) if issue.id in issues else issue
    return Triage(issues)


def _checked(issue: Issue, where: str) -> Issue:
    """Return an issue of a file with its times in UTC. Raise a ParseError if a state, a time or a unit is invalid."""
    if issue.state is not None and issue.state.value not in STATES:
        raise ParseError(
            f"{where}: {issue.state.value[:60]!r} is not a state, {expected_names(issue.state.value, STATES)}"
        )

    def stamped(item: Any) -> Any:
        unit = getattr(item, "unit", "")
        if unit and conversion(unit, "m") is None:
            raise ParseError(f"{where} has the unit {unit!r}, expected a unit such as mm, m or in")
        return None if item is None else replace(item, at=time_of(item.at, where))

    comments, views = (joined(tuple(map(stamped, items)), ()) for items in (issue.comments, issue.views))
    return replace(issue, state=stamped(issue.state), assignee=stamped(issue.assignee), comments=comments, views=views)


_AHEAD = timedelta(days=1)  #: a clock that is set to the wrong time zone is up to half a day ahead
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?")


def time_of(text: str, where: str) -> str:
    """Return a time in UTC in the format of triage files.

    A text without a time zone is in UTC. A time more than a day in the future is an error, which starts with ``where``.
    """
    try:
        if not _TIME.fullmatch(text.strip()):
            raise ValueError
        time = datetime.fromisoformat(text.strip())
        time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ParseError(f"{where} has the time {text[:60]!r}, expected for example 2026-05-04T03:02:01.000Z") from None
    if time > datetime.now(UTC) + _AHEAD:
        raise ParseError(
            f"{where} has the time {text[:60]!r}, which is more than a day ahead of this machine's clock and would"
            " override later decisions. Correct the time in the file, or this clock."
        )
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


_BY_RUNS = "gjk3d"  #: the author of a state that a run sets
_DEEPER = 0.01  #: an approval is valid up to this relative growth of the depth


def take_up(clashes: Clashes, earlier: Mapping[str, str], triage: Triage | None, unit: str | None) -> None:
    """Set the ids, statuses and notes of ``clashes`` from earlier findings and from the decisions about them.

    ``earlier`` maps the id of each finding of an earlier report to its kind. ``unit`` is the unit of ``clashes``. A
    finding whose kind changed keeps the id of the earlier finding. It is "new" if its kind is worse now, or if it is
    deeper than a person approved.
    """
    if not earlier and triage is None:
        return
    issues = {} if triage is None else triage.issues
    status, note, ids = (clashes.columns[name] for name in ("status", "note", "id"))
    for k, ident in enumerate(clashes.ids()):
        ids[k] = ident = _known_id(clashes, k, ident, earlier, issues)
        if ident not in earlier and ident not in issues:
            continue
        kind, was = KINDS[clashes.columns["kind"][k]], earlier[ident] if ident in earlier else issues[ident].kind
        changed = was in KINDS and kind != was
        if changed:
            clashes.note(np.array([k]), f"the kind was {was}")
        if is_worse(kind, was):
            continue
        state = issues[ident].state if ident in issues else None
        repaired = changed and state is not None and state.value == "resolved"
        if (ident in earlier or repaired) and status[k] == STATUSES.index("new"):
            status[k] = STATUSES.index("active")
        if triage is not None and ident in issues and not repaired:
            clash = taken_up(triage, clashes[k], unit)
            status[k], note[k] = STATUSES.index(clash.status), clash.note


def _known_id(clashes: Clashes, k: int, ident: str, earlier: Collection[str], issues: Collection[str]) -> str:
    """Return the id under which the pair of finding k was reported or decided earlier.

    The kind of the earlier finding may be different. Without an earlier finding or decision, return ``ident``.
    """
    if ident in earlier or ident in issues:
        return ident
    a, b = (clashes.parts.idents[clashes.columns[side][k]] for side in "ab")
    ids = [clash_id(kind, a, b) for kind in KINDS]
    return next((key for table in (earlier, issues) for key in ids if key in table), ident)


def is_worse(kind: str, before: str) -> bool:
    """Return whether ``kind`` is worse than an earlier kind of the same pair, by the order of `KINDS`."""
    return before in KINDS and KINDS.index(kind) < KINDS.index(before)


def taken_up(triage: Triage, clash: Clash, unit: str | None) -> Clash:
    """Return a finding of a later run with its status from earlier decisions. ``unit`` is the unit of the finding.

    An approved finding becomes "ignored". But it becomes "new" if it is deeper now, is at other times of a motion, or
    has a unit that cannot be converted. An active or reviewed finding becomes "active", and a resolved one "new".
    """
    issue = triage.issues.get(clash.id)
    if issue is None or issue.state is None or clash.status == "ignored":
        return clash
    state, by = issue.state, f" by {issue.state.by}" if issue.state.by else ""
    if state.value in ("active", "reviewed"):
        return replace(clash, status="active")
    if state.value == "approved":
        return _approved(clash, state, unit, by)
    if state.value == "resolved":
        return _noted(clash, "new", f"marked as resolved{by}, but reported again")
    return clash


def resolved_issues(triage: Triage, present: Collection[str], checked: Callable[[str, str], bool]) -> list[Clash]:
    """Return a finding with the status "resolved" for each issue that a run did not report.

    Only issues that are open, or that a person marked as resolved, are included. ``present`` contains the ids of the
    findings of the run and of the baseline. ``checked`` returns True for two part names if the run checked the pair, or
    if one of the parts does not exist.
    """
    return [
        Clash(issue.id, issue.kind, 0, "resolved", issue.a, issue.b, "", "", shape_a="", shape_b="", method="")
        for issue in triage.issues.values()
        if issue.id not in present and _is_awaited(issue) and checked(issue.a, issue.b)
    ]


def _is_awaited(issue: Issue) -> bool:
    """Return whether no run has confirmed that the issue is resolved, and the issue is not approved."""
    state = issue.state
    return issue.is_open or (state is not None and state.value == "resolved" and state.by != _BY_RUNS)


def updated(triage: Triage, clashes: Clashes) -> Triage:
    """Return the decisions after a run with the findings ``clashes``.

    An approved or resolved issue with a "new" or "active" finding gets this status as its state. An open issue
    whose finding is "resolved" gets the state "resolved".
    """
    issues = dict(triage.issues)
    for ident, code in zip(clashes.ids(), clashes.columns["status"].tolist(), strict=True):
        issue, status = issues.get(ident), STATUSES[code]
        state = None if issue is None else issue.state
        if issue is None or state is None or status not in ("new", "active", "resolved"):
            continue
        if _is_awaited(issue) if status == "resolved" else not issue.is_open:
            issues[ident] = replace(issue, state=Mark(max(now(), state.at), _BY_RUNS, status))
    return Triage(issues)


def _approved(clash: Clash, state: Mark, unit: str | None, by: str) -> Clash:
    if not within(clash, state.intervals):
        return _noted(clash, "new", f"approved{by} at other times of the motion")
    if clash.distance is None:
        return _noted(clash, "ignored", f"approved{by}")
    if state.distance is None:
        return _noted(clash, "ignored", f"approved{by} at any depth")
    measured = "depth" if state.distance < 0.0 else "gap"
    approval = f"approved{by} at {measured} {with_unit(number(abs(state.distance)), state.unit)}"
    factor = 1.0 if (state.unit or None) == unit else conversion(state.unit, unit or "")
    if factor is None:
        return _noted(clash, "new", f"{approval}, which cannot be converted to {unit or 'no unit'}: approve it again")
    if _is_more(-clash.distance, -state.distance * factor, clash):
        return _noted(
            clash, "new", f"{approval}, and {'it is deeper' if clash.distance < 0.0 else 'they are nearer'} now"
        )
    # a pin that is pressed in harder is freed by the same translation, so the penetration is compared as well
    into, was_into = clash.penetration, state.penetration
    if into is not None and was_into is not None and _is_more(into, was_into * factor, clash):
        reached = with_unit(number(was_into), state.unit)
        return _noted(clash, "new", f"approved{by} at penetration {reached}, and it is deeper now")
    return _noted(clash, "ignored", f"approved{by}")


def _is_more(depth: float, was: float, clash: Clash) -> bool:
    return depth > was + max(_DEEPER * abs(was), clash.tolerance or 0.0)


def _noted(clash: Clash, status: str, words: str) -> Clash:
    return replace(clash, status=status, note=f"{clash.note}; {words}".removeprefix("; "))

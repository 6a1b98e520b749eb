"""Reads back what people decided about findings in a program for building models, from a BCF 2.x file."""

from __future__ import annotations

import math
import os
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, XMLPullParser
from xml.etree.ElementTree import ParseError as XmlError

from gjk3d.clash.finding import Clash, Vector
from gjk3d.clash.formats.bcf import MAX_ENTRY, NOBODY, TOPIC_STATUS, guid
from gjk3d.clash.report import Report
from gjk3d.clash.triage import STATES, Comment, Issue, Mark, Triage, View, joined, now
from gjk3d.clash.triage_file import time_of
from gjk3d.errors import FileError, ParseError

#: What others call the states: the words of trackers of building models and of clash programs.
_WORDS = {word.lower(): state for state, word in TOPIC_STATUS.items() if state in STATES}
_WORDS |= {state: state for state in STATES} | {
    "in progress": "active", "assigned": "active", "reopened": "active", "accepted": "approved", "done": "resolved"
}  # fmt: skip
_KNOWN = ", ".join(sorted({*_WORDS, TOPIC_STATUS["ignored"].lower()}))
MAX_ALL, MAX_ENTRIES = 400_000_000, 500_000  #: bytes of all topics, unpacked
_DEEPEST = 50  #: elements in one another
_LONGEST = 20_000  #: characters of a comment; a name has a tenth of them at most


class FromBcf(NamedTuple):
    """What `read_bcf` read.

    Attributes
    ----------
    triage : Triage
        What was decided about the findings of the report.
    notes : tuple of str
        What could not be taken over, each with the file and the topic: those of no finding, words that are no state.
    """

    triage: Triage
    notes: tuple[str, ...]


def read_bcf(path: str | os.PathLike[str], report: Report) -> FromBcf:
    """Read statuses, assignees, comments and viewpoints of topics that `to_bcf` wrote, after others worked on them.

    A topic belongs to a finding by its GUID, by the id in its description, or by the GlobalIds (IFC) of the two
    elements that it selects, where these have one finding. What was changed counts from when the file says, or from now
    where it does not; what was not changed is older than what was decided elsewhere meanwhile. What is approved
    is so as deep as the finding is in this report.

    Parameters
    ----------
    path : path
        A file of BCF 2.0 or 2.1.
    report : Report
        Whose findings the topics are of.

    Raises
    ------
    FileError
        There is no such file.
    ParseError
        It is no BCF file, of another version, damaged, or larger than any such file is.

    Examples
    --------
    >>> import gjk3d as gk, pathlib, tempfile
    >>> cube = gk.Box((1, 1, 1)).surface()
    >>> parts = gk.clash.Assembly.of({"a": gk.Mesh(*cube[:2]), "b": gk.Mesh(cube.vertices + 0.75, cube.faces)}, "mm")
    >>> report = gk.clash.check(parts)
    >>> report.triage = gk.clash.Triage().marked(report.clashes[0], state="reviewed", by="ann")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gk.clash.formats.to_bcf(report, pathlib.Path(folder) / "week.bcf")
    ...     report.triage = None  # as if its file were lost
    ...     read = gk.clash.formats.read_bcf(pathlib.Path(folder) / "week.bcf", report)
    >>> read.triage.issue(report.clashes[0]).state.value, read.notes
    ('reviewed', ())
    """
    source = Path(path)
    if not os.path.isfile(source):
        raise FileError(f"there is no file {source}")
    try:
        with zipfile.ZipFile(source) as archive:
            return _read(_Entries(archive, str(source)), report)
    # what zipfile raises of archives that are cut, locked by a password, or packed in a way that it does not know
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError, OSError, ValueError) as error:
        if isinstance(error, ParseError):
            raise
        raise ParseError(f"{source} is no BCF file, or damaged: {str(error)[:200]}") from None


class _Entries:
    """The entries of an archive, none larger than a topic is; nothing is unpacked to disk."""

    def __init__(self, archive: zipfile.ZipFile, where: str) -> None:
        self.where = where
        self._archive = archive
        self._left = MAX_ALL
        names = archive.namelist()
        if len(names) > MAX_ENTRIES:
            raise ParseError(f"{where} has {len(names)} entries, more than {MAX_ENTRIES}: it is no BCF file")
        self.names = set(names)

    def tree(self, name: str) -> Element:
        """Return the XML of one entry."""
        with self._archive.open(name) as entry:
            data = entry.read(MAX_ENTRY + 1)
        self._left -= len(data)
        if len(data) > MAX_ENTRY or self._left < 0:
            raise ParseError(f"{self.where}: {name[:100]!r} is larger unpacked than any topic is")
        if b"<!DOCTYPE" in data or b"<!ENTITY" in data or data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise ParseError(
                f"{self.where}: {name[:100]!r} declares a document type or is not in UTF-8, as no topic is"
            )
        parser: XMLPullParser[Element] = XMLPullParser(("start", "end"))
        depth = 0
        root: Element | None = None
        try:
            parser.feed(data)
            parser.close()
        except XmlError as error:
            raise ParseError(f"{self.where}: {name[:100]!r} is no XML: {error}") from None
        events: Iterator[Any] = parser.read_events()
        for event, element in events:
            depth += 1 if event == "start" else -1
            if depth > _DEEPEST:
                raise ParseError(f"{self.where}: {name[:100]!r} is nested deeper than any topic is")
            root = element if root is None else root
        if root is None:
            raise ParseError(f"{self.where}: {name[:100]!r} is empty")
        return root


def _read(entries: _Entries, report: Report) -> FromBcf:
    if "bcf.version" not in entries.names:
        raise ParseError(f"{entries.where} is no BCF file: it lacks bcf.version")
    version = entries.tree("bcf.version").get("VersionId", "")
    if not version.startswith("2."):
        raise ParseError(f"{entries.where} is BCF {version[:20]!r}: 2.0 and 2.1 are read, so save it as one of these")
    by_topic = {guid(clash.id): clash for clash in report.clashes}
    by_id = {clash.id: clash for clash in report.clashes}
    by_elements = _by_elements(report)
    known = report.triage or Triage()
    issues: dict[str, Issue] = {}
    notes = []
    for name in sorted(entries.names):
        if not re.fullmatch(r"[^/\\]+/markup\.bcf", name):
            continue
        root = entries.tree(name)
        topic = root.find("Topic")
        if topic is None:
            raise ParseError(f"{entries.where}: {name[:100]!r} has no topic: it is damaged")
        told = _told(topic.findtext("Description") or "")
        folder = name.rpartition("/")[0]
        clash = by_topic.get((topic.get("Guid") or "").lower()) or by_id.get(told.get("id", ""))
        clash = clash or by_elements.get(_elements(entries, folder, root))
        if clash is None:
            notes.append(f"{entries.where}, topic {_title(topic, folder)!r} is of no finding of this report")
            continue
        issue = _issue(_Topic(entries, folder, root, topic, told), clash, known.issue(clash), notes)
        if issue.state is not None:  # what is approved there is approved as deep as this report has it
            seen = clash.distance, report.unit or "", clash.intervals, clash.penetration
            issue = replace(issue, state=Mark(issue.state.at, issue.state.by, issue.state.value, *seen))
        if issue.state or issue.assignee or issue.comments or issue.views:
            issues[clash.id] = issues[clash.id].merged(issue) if clash.id in issues else issue
    return FromBcf(Triage(issues), tuple(notes))


def _by_elements(report: Report) -> dict[frozenset[str], Clash]:
    """Return the findings by the GlobalIds of their two elements, where there is one of these alone."""
    guids = {part.name: part.guid for part in report.parts if part.guid}
    found: dict[frozenset[str], list[Clash]] = {}
    for clash in report.clashes:
        if clash.a in guids and clash.b in guids:
            found.setdefault(frozenset((guids[clash.a], guids[clash.b])), []).append(clash)
    return {pair: clashes[0] for pair, clashes in found.items() if len(clashes) == 1 and len(pair) == 2}


def _elements(entries: _Entries, folder: str, root: Element) -> frozenset[str]:
    """Return the GlobalIds of what the first viewpoint of a topic selects."""
    item = root.find("Viewpoints")
    name = "" if item is None else item.findtext("Viewpoint") or ""
    file = f"{folder}/{name}"
    if not name or "/" in name or file not in entries.names:
        return frozenset()
    selected = (selection.iter("Component") for selection in entries.tree(file).iter("Selection"))
    return frozenset(each.get("IfcGuid", "") for components in selected for each in components) - {""}


class _Topic(NamedTuple):
    entries: _Entries
    folder: str
    root: Element
    topic: Element
    told: dict[str, str]  #: what the description says was so when it was written


def _told(description: str) -> dict[str, str]:
    pairs = (line.partition(": ") for line in description.splitlines())
    return {key: value.strip() for key, _, value in pairs if key in ("id", "state", "assigned to")}


def _short(text: str) -> str:
    words = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return words if len(words) <= 80 else f"{words[:77]}..."


def _title(topic: Element, folder: str) -> str:
    return _short(topic.findtext("Title") or folder)


def _issue(of: _Topic, clash: Clash, known: Issue, notes: list[str]) -> Issue:
    where = f"{of.entries.where}, topic {of.folder[:60]!r}"
    issue = Issue(clash.id, clash.kind, clash.a, clash.b)
    stamped = (of.topic.findtext("ModifiedDate") or "").strip()
    at = time_of(stamped, where) if stamped else ""
    by = _author(of.topic.findtext("ModifiedAuthor") or "")
    word = of.topic.get("TopicStatus", "").strip()
    state = _WORDS.get(word.lower())
    if state is None and word and word.lower() != TOPIC_STATUS["ignored"].lower():
        notes.append(
            f"{of.entries.where}, topic {_title(of.topic, of.folder)!r}: its status {_short(word)!r} is no state of a"
            f" finding, so the state stays as it was; known are {_KNOWN}"
        )
    was = of.told.get("state", clash.status)
    if state is not None and state != was:
        issue = replace(issue, state=_mark(state, at, by, known.state))
    elif state is not None and known.state is None and at:
        issue = replace(issue, state=Mark(at, by, state))
    person = (of.topic.findtext("AssignedTo") or "").strip()[: _LONGEST // 20]
    had = of.told.get("assigned to", "")
    if person != had:
        issue = replace(issue, assignee=_mark(person, at, by, known.assignee))
    return replace(
        issue,
        comments=joined(tuple(_comments(of, where)), ()),
        views=joined(tuple(_views(of, clash, where, at)), ()),
    )


def _mark(value: str, at: str, by: str, known: Mark | None) -> Mark:
    """Return a mark from when the file says; a change that is not dated counts from now."""
    return Mark(at if at and (known is None or at > known.at) else now(), by, value)


def _author(text: str) -> str:
    return "" if text in (NOBODY, "unknown") else text.strip()[: _LONGEST // 20]


def _comments(of: _Topic, where: str) -> Iterator[Comment]:
    for item in of.root.iter("Comment"):
        ident = item.get("Guid")
        if ident is None:  # the text inside one has the same name
            continue
        said = item.findtext("ModifiedDate") or item.findtext("Date") or ""
        by = _author(item.findtext("ModifiedAuthor") or item.findtext("Author") or "")
        text = (item.findtext("Comment") or "")[:_LONGEST]
        if text.strip():
            yield Comment(time_of(said, where), by, text, ident.lower()[:100])


def _views(of: _Topic, clash: Clash, where: str, at: str) -> Iterator[View]:
    for item in of.root.iter("Viewpoints"):
        ident, name = (item.get("Guid") or "").lower()[:100], item.findtext("Viewpoint") or ""
        file = f"{of.folder}/{name}"
        if not ident or ident == guid(clash.id, "view") or "/" in name or file not in of.entries.names:
            continue
        root = of.entries.tree(file)
        camera = next(
            (each for each in map(root.find, ("PerspectiveCamera", "OrthogonalCamera")) if each is not None), None
        )
        if camera is None:
            continue
        eye, way, up = (
            _point(camera.find(key), where) for key in ("CameraViewPoint", "CameraDirection", "CameraUpVector")
        )
        planes = tuple(
            (_point(plane.find("Location"), where), _point(plane.find("Direction"), where))
            for plane in list(root.iter("ClippingPlane"))[:64]
        )
        target = (eye[0] + way[0], eye[1] + way[1], eye[2] + way[2])
        when = at or time_of(of.topic.findtext("CreationDate") or "", where)
        yield View(
            when, _author(of.topic.findtext("ModifiedAuthor") or ""), "from BCF", ident, eye, target, up, planes, "m"
        )


def _point(element: Element | None, where: str) -> Vector:
    texts = ["" if element is None else element.findtext(axis) or "" for axis in "XYZ"]
    try:
        x, y, z = map(float, texts)
    except ValueError:
        raise ParseError(f"{where}: a camera has the point {_short(' '.join(texts))!r}: expected X, Y and Z") from None
    if not all(map(math.isfinite, (x, y, z))):
        raise ParseError(f"{where}: a camera has the point {_short(' '.join(texts))!r}: expected finite numbers")
    return x, y, z

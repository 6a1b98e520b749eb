"""BCF 2.1, the BIM collaboration format: writes a topic with a camera for each finding, and reads decisions back."""

from __future__ import annotations

import io
import math
import os
import re
import uuid
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, SubElement, XMLPullParser
from xml.etree.ElementTree import ParseError as XmlError

import numpy as np
from numpy.typing import NDArray

from gjk3d.clash.decisions.triage import STATES, Comment, Issue, Mark, Triage, View, joined, now, time_of
from gjk3d.clash.detection.assembly import upward
from gjk3d.clash.detection.clashes import KINDS, Clash, Vector
from gjk3d.clash.report import wording
from gjk3d.clash.report.baseline import converted
from gjk3d.clash.report.report import Report
from gjk3d.clash.report.text import document, legal
from gjk3d.errors import FileError, ParseError
from gjk3d.units import conversion

_HEIGHT = 0.45  #: of the camera above the horizon, as a slope
_ROOM = 1.3  #: times the sphere that must be seen


class Camera(NamedTuple):
    """Where a camera is, where it looks, and what is up in its picture; the last two are unit vectors, orthogonal."""

    eye: Vector
    direction: Vector
    up: Vector


def looking_at(clash: Clash, report: Report, field_of_view: float) -> Camera | None:
    """Return a camera from which the place of a finding is seen, across its normal; None where it has no place.

    Parameters
    ----------
    clash : Clash
        What is looked at.
    report : Report
        Where it is from: its parts say how large the picture must be.
    field_of_view : float
        Whole angle, in degrees.
    """
    boxes = {part.name: part.bounds for part in report.parts if part.bounds is not None}
    sizes = [_half(boxes[name]) for name in (clash.a, clash.b) if name in boxes]
    if clash.point is None or not all(map(math.isfinite, clash.point)):
        return None
    size = min(sizes, default=1.0)  # the smaller part
    if clash.overlap_box is not None:  # what both share, with something of the part round it
        size = min(size, max(0.3 * size, 4.0 * _half(clash.overlap_box)))
    up = np.array(upward(report))
    normal = np.zeros(3) if clash.normal is None else np.array(clash.normal)
    backward = min(_camera_directions(up), key=lambda way: round(abs(float(way @ normal)), 9))
    far = _ROOM * (size or 1.0) / math.sin(math.radians(0.5 * field_of_view))
    right = np.cross(up, backward)
    upright = np.cross(backward, right / np.linalg.norm(right))
    return Camera(_tuple(np.array(clash.point) + far * backward), _tuple(-backward), _tuple(upright))


def _camera_directions(up: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Return directions from which to look: round the axis that is up, from a little above."""
    east = np.array([1.0, 0.0, 0.0])
    north = np.cross(up, east)
    directions = []
    for k in range(8):
        angle = math.radians(45.0 * k - 60.0)
        direction = math.cos(angle) * east + math.sin(angle) * north + _HEIGHT * up
        directions.append(direction / np.linalg.norm(direction))
    return directions


def _half(box: tuple[Vector, Vector]) -> float:
    return 0.5 * math.dist(*box)


def _tuple(values: NDArray[np.float64]) -> Vector:
    x, y, z = (float(value) + 0.0 for value in values)
    return x, y, z


_SPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "gjk3d.clash")  #: so that a finding has the same GUID in every run
_AUTHOR = "gjk3d"
#: The words of topics for what people and runs say of findings.
TOPIC_STATUS = {
    "new": "Open", "active": "Active", "reviewed": "Reviewed", "approved": "Approved", "resolved": "Closed",
    "ignored": "Ignored",
}  # fmt: skip
_PRIORITY = {"clearance": "Normal", "unchecked": "Normal", "touch": "Low"}
_FIELD_OF_VIEW = 60.0  #: degrees; BCF 2.1 allows 45 to 60
_EPOCH = (1980, 1, 1, 0, 0, 0)  #: the oldest time that a zip can state, so that equal reports are equal files
NOBODY = "no name given"  #: an author must have a name
MAX_ENTRY = 4_000_000  #: bytes of a topic that `read_bcf` accepts
_GUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_IFC_GUID = re.compile(r"[0-3][0-9A-Za-z_$]{21}")


def to_bcf(
    report: Report,
    path: str | os.PathLike[str],
    created: datetime | None = None,
    *,
    snapshot: Callable[[Clash], bytes | None] | None = None,
    section: bool = False,
) -> None:
    """Write the findings as topics of a BCF 2.1 file, for viewers and trackers of building models.

    The GUID of a topic is made from the id of its finding, so reading a later report in updates the topics that are
    there; what a baseline had and is gone is a closed topic. Lengths are in metres where the unit is known. Parts
    that have a GlobalId, or whose names end in one, are selected by it, the others by their names. What people decided
    (`Report.triage`) is the status, the assignee, the comments and the further viewpoints of a topic; `read_bcf` reads
    these back.

    Parameters
    ----------
    report : Report
        What was found.
    path : path
        Where to write: .bcf or .bcfzip.
    created : datetime, optional
        When the topics were made; now by default. One of which something was said or decided before then is as old as
        that.
    snapshot : callable, optional
        Returns a picture of a finding as PNG, or None for no picture of it.
    section : bool
        Whether the view of each finding has a section plane, which cuts away what is in front of it. Viewpoints that
        people saved keep their planes.

    Raises
    ------
    ParseError
        A topic is larger than `gjk3d.clash.formats.read_bcf` accepts.

    Examples
    --------
    >>> import gjk3d as gk, pathlib, tempfile, zipfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "clashes.bcf"
    ...     gk.clash.formats.to_bcf(gk.clash.Report(), file)
    ...     zipfile.ZipFile(file).namelist()
    ['bcf.version', 'project.bcfp', 'extensions.xsd']
    """
    scale = (conversion(report.unit, "m") if report.unit else None) or 1.0
    now = (created or datetime.now(UTC)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    content = io.BytesIO()  # a topic that is refused leaves an older file as it is
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        _write_xml(archive, "bcf.version", _version())
        _write_xml(archive, "project.bcfp", _project(report))
        _write_xml(archive, "extensions.xsd", _extensions())
        for clash in report.clashes:
            topic, issue = guid(clash.id), (report.triage or Triage()).issue(clash)
            view, viewpoints = _view(clash, report, scale, section), []
            if view is not None:
                _write_xml(archive, f"{topic}/viewpoint.bcfv", view)
                picture = None if snapshot is None else snapshot(clash)
                if picture is not None:
                    _write(archive, f"{topic}/snapshot.png", picture)
                viewpoints.append((guid(clash.id, "view"), "viewpoint.bcfv", "" if picture is None else "snapshot.png"))
            for k, saved in enumerate(issue.views):
                name = f"viewpoint-{k + 1}.bcfv"
                _write_xml(archive, f"{topic}/{name}", _saved_view(saved, clash, report))
                viewpoints.append((as_guid(saved.id), name, ""))
            _write_xml(archive, f"{topic}/markup.bcf", _markup(clash, issue, report, now, viewpoints))
    Path(path).write_bytes(content.getbuffer())


def guid(*names: str) -> str:
    """Return the GUID that belongs to a name, the same at all times."""
    text = "\0".join(names).encode("utf-8", "backslashreplace").decode()  # a file's name may be no text
    return str(uuid.uuid5(_SPACE, text))


def as_guid(name: str) -> str:
    """Return a GUID as it is, and one made of what is none."""
    return name.lower() if _GUID.fullmatch(name) else guid(name)


def _write_xml(archive: zipfile.ZipFile, name: str, root: Element) -> None:
    data = document(root).encode("utf-8")
    if len(data) > MAX_ENTRY:
        title = root.findtext("Topic/Title") or name
        raise ParseError(
            f"the topic {title[:80]!r} has {len(data)} bytes, more than the {MAX_ENTRY} that readers of BCF accept:"
            " shorten its comments, or leave the finding out"
        )
    _write(archive, name, data)


def _write(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, data)


def _text(parent: Element, name: str, text: str) -> Element:
    child = SubElement(parent, name)
    child.text = text
    return child


def _version() -> Element:
    root = Element("Version", VersionId="2.1")
    _text(root, "DetailedVersion", "2.1")
    return root


def _project(report: Report) -> Element:
    names = ", ".join(PurePath(item.path).name or item.path for item in report.inputs)
    root = Element("ProjectExtension")
    project = SubElement(root, "Project", ProjectId=guid("project", names))
    _text(project, "Name", legal(f"clashes in {names}" if names else "clashes"))
    _text(root, "ExtensionSchema", "extensions.xsd")
    return root


def _extensions() -> Element:
    """Say which words topics have for what BCF leaves open."""
    xs = "xs:"
    root = Element(f"{xs}schema", {"xmlns:xs": "http://www.w3.org/2001/XMLSchema"})
    words = SubElement(root, f"{xs}redefine", schemaLocation="markup.xsd")
    for name, values in (
        ("TopicType", ["Clash"]),
        ("TopicStatus", list(TOPIC_STATUS.values())),
        ("TopicLabel", list(KINDS)),
        ("Priority", ["High", "Normal", "Low"]),
    ):
        kind = SubElement(words, f"{xs}simpleType", name=name)
        base = SubElement(kind, f"{xs}restriction", base=name)
        for value in values:
            SubElement(base, f"{xs}enumeration", value=value)
    return root


def _created(issue: Issue, now: str) -> str:
    """Return when a topic was made: no later than anything that was decided or said of it."""
    dated = (issue.state, issue.assignee, *issue.comments, *issue.views)
    return min([now, *(item.at for item in dated if item is not None and item.at)])


def _markup(clash: Clash, issue: Issue, report: Report, now: str, views: list[tuple[str, str, str]]) -> Element:
    """Return a topic; the order of elements is the schema's."""
    root = Element("Markup")
    files = list(dict.fromkeys(file for file in (clash.a_file, clash.b_file) if file))
    if files:
        header = SubElement(root, "Header")
        for file in files:
            entry = SubElement(header, "File", isExternal="true")
            _text(entry, "Filename", legal(PurePath(file).name))
            _text(entry, "Reference", legal(file))
    state = clash.status if issue.state is None else issue.state.value
    topic = SubElement(root, "Topic", Guid=guid(clash.id), TopicType="Clash", TopicStatus=TOPIC_STATUS[state])
    pair = f"{clash.a} / {clash.b}" if clash.b else clash.a
    _text(topic, "Title", legal(f"{clash.kind}: {pair}"))
    _text(topic, "Priority", _PRIORITY.get(clash.kind, "High"))
    _text(topic, "Index", str(clash.severity))
    _text(topic, "Labels", clash.kind)
    _text(topic, "CreationDate", _created(issue, now))
    _text(topic, "CreationAuthor", _AUTHOR)
    last = max((mark for mark in (issue.state, issue.assignee) if mark is not None), default=None)
    if last is not None:
        _text(topic, "ModifiedDate", last.at)
        _text(topic, "ModifiedAuthor", legal(last.by) or NOBODY)
    if issue.assignee is not None and issue.assignee.value:
        _text(topic, "AssignedTo", legal(issue.assignee.value))
    _text(topic, "Description", _words(clash, report, issue))
    for comment in issue.comments:
        element = SubElement(root, "Comment", Guid=as_guid(comment.id))
        _text(element, "Date", comment.at)
        _text(element, "Author", legal(comment.by) or NOBODY)
        _text(element, "Comment", _lines(comment.text))
    for ident, name, picture in views:
        view = SubElement(root, "Viewpoints", Guid=ident)
        _text(view, "Viewpoint", name)
        if picture:
            _text(view, "Snapshot", picture)
    return root


def _lines(text: str) -> str:
    return "\n".join(map(legal, text.split("\n")))


def _words(clash: Clash, report: Report, issue: Issue) -> str:
    unit, factor = report.reading
    clash = converted(clash, factor, report.unit)
    length = f" {unit}" if unit else ""
    lines = [f"A: {legal(clash.a)}"]
    if clash.b:
        lines.append(f"B: {legal(clash.b)}")
    if clash.penetration is not None:
        lines.append(f"penetration: {wording.inside(clash, unit=unit)} where one reaches farthest into the other")
    if clash.distance is not None:
        lines.append(f"distance: {wording.distance(clash, unit=unit)} ({clash.evidence})")
    if when := wording.when(clash, report):
        lines.append(f"in motion: {legal(when)}")
    if clash.mtv is not None:
        lines.append(f"to free B, move it by ({', '.join(f'{x:.6g}' for x in clash.mtv)}){length}")
    volume = wording.shared_volume(clash)
    if volume:
        lines.append(f"volume in both: {volume}{length}{'³' if unit else ''}")
    if clash.group:
        lines.append(f"group: {legal(clash.group)}")
    if clash.note:
        lines.append(legal(clash.note))
    # so that what comes back tells whether it was changed, also where a program does not say when
    lines.append(f"state: {clash.status if issue.state is None else issue.state.value}")
    if issue.assignee is not None:
        lines.append(f"assigned to: {legal(issue.assignee.value)}")
    return "\n".join([*lines, f"id: {clash.id}"])


def _view(clash: Clash, report: Report, scale: float, section: bool) -> Element | None:
    camera = looking_at(clash, report, _FIELD_OF_VIEW)
    if camera is None:
        return None
    root = Element("VisualizationInfo", Guid=guid(clash.id, "view"))
    components = SubElement(root, "Components")
    selection = SubElement(components, "Selection")
    _components(selection, clash, report)
    SubElement(components, "Visibility", DefaultVisibility="true")
    place = SubElement(root, "PerspectiveCamera")
    _vector(place, "CameraViewPoint", camera.eye, scale)
    _vector(place, "CameraDirection", camera.direction)
    _vector(place, "CameraUpVector", camera.up)
    _text(place, "FieldOfView", repr(_FIELD_OF_VIEW))
    if clash.point_a is not None and clash.point_b is not None and clash.point_a != clash.point_b:
        line = SubElement(SubElement(root, "Lines"), "Line")
        _vector(line, "StartPoint", clash.point_a, scale)
        _vector(line, "EndPoint", clash.point_b, scale)
    if section:  # in front of the place, as far as the picture shows around it
        clear = np.array(clash.point) - (1.0 - 1.0 / _ROOM) * (np.array(clash.point) - np.array(camera.eye))
        _planes(root, [(_tuple(clear), _tuple(-np.array(camera.direction)))], scale)
    return root


def _saved_view(view: View, clash: Clash, report: Report) -> Element:
    """Return a viewpoint that somebody saved: selected, seen and cut as there."""
    scale = conversion(view.unit or report.unit or "m", "m") or 1.0
    root = Element("VisualizationInfo", Guid=as_guid(view.id))
    components = SubElement(root, "Components")
    selection = SubElement(components, "Selection")
    _components(selection, clash, report)
    SubElement(components, "Visibility", DefaultVisibility="true")
    direction, up = np.array(view.target) - view.eye, np.array(view.up)
    long = float(np.linalg.norm(direction))
    direction = direction / long if long > 0.0 else np.array([0.0, 0.0, -1.0])
    up = up - (up @ direction) * direction
    up = up / np.linalg.norm(up) if np.linalg.norm(up) > 0.0 else np.eye(3)[int(np.argmin(np.abs(direction)))]
    place = SubElement(root, "PerspectiveCamera")
    _vector(place, "CameraViewPoint", view.eye, scale)
    _vector(place, "CameraDirection", _tuple(direction))
    _vector(place, "CameraUpVector", _tuple(up))
    _text(place, "FieldOfView", repr(_FIELD_OF_VIEW))
    _planes(root, view.planes, scale)
    return root


def _planes(root: Element, planes: Sequence[tuple[Vector, Vector]], scale: float) -> None:
    """Add planes that cut: the direction of each is that of what is not seen."""
    cuts = SubElement(root, "ClippingPlanes") if planes else root
    for point, normal in planes:
        plane = SubElement(cuts, "ClippingPlane")
        _vector(plane, "Location", point, scale)
        _vector(plane, "Direction", normal)


def _components(selection: Element, clash: Clash, report: Report) -> None:
    """Select the parts of a finding, each by its GlobalId where it has one."""
    guids = {part.name: part.guid for part in report.parts if part.guid}
    for name in filter(None, (clash.a, clash.b)):
        ifc_guid = _IFC_GUID.fullmatch(guids.get(name) or name.rpartition("/")[2])
        component = SubElement(selection, "Component", {"IfcGuid": ifc_guid[0]} if ifc_guid else {})
        _text(component, "OriginatingSystem", _AUTHOR)
        _text(component, "AuthoringToolId", legal(name))


def _vector(parent: Element, name: str, values: tuple[float, float, float], scale: float = 1.0) -> None:
    point = SubElement(parent, name)
    for axis, value in zip("XYZ", values, strict=True):
        _text(point, axis, repr(value * scale))


#: What others call the states: the words of trackers of building models and of clash programs.
_WORDS = {word.lower(): state for state, word in TOPIC_STATUS.items() if state in STATES}
_WORDS |= {state: state for state in STATES} | {
    "in progress": "active", "assigned": "active", "reopened": "active", "accepted": "approved", "done": "resolved"
}  # fmt: skip
_ACCEPTED = ", ".join(sorted({*_WORDS, TOPIC_STATUS["ignored"].lower()}))
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
    triage = report.triage or Triage()
    issues: dict[str, Issue] = {}
    notes = []
    for name in sorted(entries.names):
        if not re.fullmatch(r"[^/\\]+/markup\.bcf", name):
            continue
        root = entries.tree(name)
        topic = root.find("Topic")
        if topic is None:
            raise ParseError(f"{entries.where}: {name[:100]!r} has no topic: it is damaged")
        written = _written_fields(topic.findtext("Description") or "")
        folder = name.rpartition("/")[0]
        clash = by_topic.get((topic.get("Guid") or "").lower()) or by_id.get(written.get("id", ""))
        clash = clash or by_elements.get(_elements(entries, folder, root))
        if clash is None:
            notes.append(f"{entries.where}, topic {_title(topic, folder)!r} is of no finding of this report")
            continue
        issue = _issue(_Topic(entries, folder, root, topic, written), clash, triage.issue(clash), notes)
        if issue.state is not None:  # what is approved there is approved as deep as this report has it
            measures = clash.distance, report.unit or "", clash.intervals, clash.penetration
            issue = replace(issue, state=Mark(issue.state.at, issue.state.by, issue.state.value, *measures))
        if issue.state or issue.assignee or issue.comments or issue.views:
            issues[clash.id] = issues[clash.id].merged(issue) if clash.id in issues else issue
    return FromBcf(Triage(issues), tuple(notes))


def _by_elements(report: Report) -> dict[frozenset[str], Clash]:
    """Return the findings by the GlobalIds of their two elements, where there is one of these alone."""
    guids = {part.name: part.guid for part in report.parts if part.guid}
    by_pair: dict[frozenset[str], list[Clash]] = {}
    for clash in report.clashes:
        if clash.a in guids and clash.b in guids:
            by_pair.setdefault(frozenset((guids[clash.a], guids[clash.b])), []).append(clash)
    return {pair: clashes[0] for pair, clashes in by_pair.items() if len(clashes) == 1 and len(pair) == 2}


def _elements(entries: _Entries, folder: str, root: Element) -> frozenset[str]:
    """Return the GlobalIds of what the first viewpoint of a topic selects."""
    item = root.find("Viewpoints")
    name = "" if item is None else item.findtext("Viewpoint") or ""
    file = f"{folder}/{name}"
    if not name or "/" in name or file not in entries.names:
        return frozenset()
    selected = (selection.iter("Component") for selection in entries.tree(file).iter("Selection"))
    return frozenset(component.get("IfcGuid", "") for components in selected for component in components) - {""}


class _Topic(NamedTuple):
    entries: _Entries
    folder: str
    root: Element
    topic: Element
    written: dict[str, str]  #: what the description says was so when it was written


def _written_fields(description: str) -> dict[str, str]:
    pairs = (line.partition(": ") for line in description.splitlines())
    return {key: value.strip() for key, _, value in pairs if key in ("id", "state", "assigned to")}


def _short(text: str) -> str:
    words = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return words if len(words) <= 80 else f"{words[:77]}..."


def _title(topic: Element, folder: str) -> str:
    return _short(topic.findtext("Title") or folder)


def _issue(of: _Topic, clash: Clash, earlier: Issue, notes: list[str]) -> Issue:
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
            f" finding, so the state stays as it was; known are {_ACCEPTED}"
        )
    was = of.written.get("state", clash.status)
    if state is not None and state != was:
        issue = replace(issue, state=_mark(state, at, by, earlier.state))
    elif state is not None and earlier.state is None and at:
        issue = replace(issue, state=Mark(at, by, state))
    person = (of.topic.findtext("AssignedTo") or "").strip()[: _LONGEST // 20]
    had = of.written.get("assigned to", "")
    if person != had:
        issue = replace(issue, assignee=_mark(person, at, by, earlier.assignee))
    return replace(
        issue,
        comments=joined(tuple(_comments(of, where)), ()),
        views=joined(tuple(_views(of, clash, where, at)), ()),
    )


def _mark(value: str, at: str, by: str, earlier: Mark | None) -> Mark:
    """Return a mark from when the file says; a change that is not dated counts from now."""
    return Mark(at if at and (earlier is None or at > earlier.at) else now(), by, value)


def _author(text: str) -> str:
    return "" if text in (NOBODY, "unknown") else text.strip()[: _LONGEST // 20]


def _comments(of: _Topic, where: str) -> Iterator[Comment]:
    for item in of.root.iter("Comment"):
        ident = item.get("Guid")
        if ident is None:  # the text inside one has the same name
            continue
        date = item.findtext("ModifiedDate") or item.findtext("Date") or ""
        by = _author(item.findtext("ModifiedAuthor") or item.findtext("Author") or "")
        text = (item.findtext("Comment") or "")[:_LONGEST]
        if text.strip():
            yield Comment(time_of(date, where), by, text, ident.lower()[:100])


def _views(of: _Topic, clash: Clash, where: str, at: str) -> Iterator[View]:
    for item in of.root.iter("Viewpoints"):
        ident, name = (item.get("Guid") or "").lower()[:100], item.findtext("Viewpoint") or ""
        file = f"{of.folder}/{name}"
        if not ident or ident == guid(clash.id, "view") or "/" in name or file not in of.entries.names:
            continue
        root = of.entries.tree(file)
        camera = next(
            (element for element in map(root.find, ("PerspectiveCamera", "OrthogonalCamera")) if element is not None),
            None,
        )
        if camera is None:
            continue
        eye, direction, up = (
            _point(camera.find(key), where) for key in ("CameraViewPoint", "CameraDirection", "CameraUpVector")
        )
        planes = tuple(
            (_point(plane.find("Location"), where), _point(plane.find("Direction"), where))
            for plane in list(root.iter("ClippingPlane"))[:64]
        )
        target = (eye[0] + direction[0], eye[1] + direction[1], eye[2] + direction[2])
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

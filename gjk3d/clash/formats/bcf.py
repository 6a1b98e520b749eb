"""Reading and writing of BCF 2.1, the BIM collaboration format, with a topic and a camera for each finding."""

from __future__ import annotations

import io
import math
import os
import re
import uuid
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path, PurePath
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, SubElement, XMLPullParser
from xml.etree.ElementTree import ParseError as XmlError

import numpy as np
from numpy.typing import NDArray

from gjk3d.clash.detection.assembly import upward
from gjk3d.clash.detection.clashes import COUNTED, KINDS, Clash, clash_id
from gjk3d.clash.documents import Vector
from gjk3d.clash.formats.text import document, legal
from gjk3d.clash.report import wording
from gjk3d.clash.report.baseline import converted
from gjk3d.clash.report.report import Report
from gjk3d.clash.triage import STATES, Comment, Issue, Mark, Triage, View, joined, now, time_of
from gjk3d.errors import FileError, ParseError, ShapeError
from gjk3d.units import conversion
from gjk3d.wording import format_vector

_HEIGHT = 0.45  #: the height of a camera above its target divided by their horizontal distance
_CURE = "Export it again as BCF 2.1."
_ROOM = 1.3  #: the radius that the picture shows divided by the radius that must be visible


#: The position of a camera, its direction and its up vector. Direction and up are orthogonal unit vectors.
Camera = tuple[Vector, Vector, Vector]


def looking_at(clash: Clash, report: Report, field_of_view: float, up_axis: str = "") -> Camera | None:
    """Return a camera that looks at the point of a finding, or None for a finding without a point.

    The direction of the camera is nearly orthogonal to the normal of the finding. The distance of the camera
    depends on the size of the smaller part, and on the size of the overlap. ``field_of_view`` is the whole angle in
    degrees.
    """
    boxes = {part.name: part.bounds for part in report.parts if part.bounds is not None}
    sizes = [_half(boxes[name]) for name in (clash.a, clash.b) if name in boxes]
    if clash.point is None or not all(map(math.isfinite, clash.point)):
        return None
    size = min(sizes, default=1.0)  # the smaller part
    if clash.overlap_box is not None:  # the overlap volume with its surroundings
        size = min(size, max(0.3 * size, 4.0 * _half(clash.overlap_box)))
    up = np.array(upward(report, up_axis))
    normal = np.zeros(3) if clash.normal is None else np.array(clash.normal)
    backward = min(_camera_directions(up), key=lambda way: round(abs(float(way @ normal)), 9))
    far = _ROOM * (size or 1.0) / math.sin(math.radians(0.5 * field_of_view))
    right = np.cross(up, backward)
    upright = np.cross(backward, right / np.linalg.norm(right))
    return _tuple(np.array(clash.point) + far * backward), _tuple(-backward), _tuple(upright)


def _camera_directions(up: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Return unit vectors from the target to 8 cameras around the up axis, all above the target."""
    east = np.array([0.0, 1.0, 0.0] if up[0] else [1.0, 0.0, 0.0])
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


_SPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "gjk3d.clash")  #: constant, so that a finding has one GUID in all runs
_AUTHOR = "gjk3d"
#: The status of a topic for each state and status of a finding.
TOPIC_STATUS = {
    "new": "Open", "active": "Active", "reviewed": "Reviewed", "approved": "Approved", "resolved": "Closed",
    "ignored": "Ignored",
}  # fmt: skip
_PRIORITY = {"clearance": "Normal", "unchecked": "Normal", "touch": "Low"}
FIELD_OF_VIEW = 60.0  #: degrees; BCF 2.1 allows 45 to 60
_EPOCH = (1980, 1, 1, 0, 0, 0)  #: the earliest time in a zip archive, so that equal reports are equal files
NOBODY = "no name given"  #: the author of an unnamed person, because BCF requires a name
MAX_ENTRY = 4_000_000  #: the largest number of bytes of a topic that `read_bcf` accepts
_GUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_IFC_GUID = re.compile(r"[0-3][0-9A-Za-z_$]{21}")


def to_bcf(
    report: Report,
    path: str | os.PathLike[str],
    created: datetime | None = None,
    *,
    snapshot: Callable[[Clash], bytes | None] | None = None,
    view_snapshot: Callable[[Clash, View], bytes | None] | None = None,
    section: bool = False,
    kinds: Collection[str] = COUNTED,
    up: str = "",
) -> None:
    """Write the findings as topics of a BCF 2.1 file, for viewers and trackers of building models.

    The GUID of a topic is computed from the id of its finding, so the import of a later report updates the existing
    topics. A resolved finding is a closed topic. Lengths are in metres if the unit is known. A topic
    selects a part by its IFC GlobalId, which may also be the end of the part's name. A part without a GlobalId is
    selected by its name. The decisions in `Report.triage` are the status, the assignee, the comments and further
    viewpoints of a topic. `read_bcf` reads these decisions.

    Parameters
    ----------
    report : Report
        The report.
    path : path
        The file to write, .bcf or .bcfzip.
    created : datetime, optional
        The creation date of the topics. The default is now. A topic with an earlier decision, comment or saved
        view has the earliest of these dates.
    snapshot : callable, optional
        A function of a finding that returns its picture as PNG, or None for no picture.
    view_snapshot : callable, optional
        A function of a finding and a `gjk3d.clash.triage.View` that a person saved. It returns the picture of the view
        as PNG, or None for no picture.
    section : bool
        Whether the viewpoint of each finding has a section plane that removes the geometry in front of it. Viewpoints
        that people saved have their own planes.
    kinds : collection of str
        The kinds of findings that are written, by default all kinds but touches.
    up : {"", "x", "y", "z"}
        The axis that points up in the viewpoints. The default is y for glTF, and z for all other formats.

    Raises
    ------
    ParseError
        If a topic or the whole file is larger than `gjk3d.clash.formats.read_bcf` accepts.
    ShapeError
        If ``kinds`` or ``up`` is unknown.

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
    if isinstance(kinds, str) or not set(kinds) <= set(KINDS):
        raise ShapeError(f"kinds is {kinds!r:.80}, expected a list of some of {', '.join(KINDS)}")
    content = io.BytesIO()  # an error must not damage an existing file
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        stated = Element("Version", VersionId="2.1")
        _text(stated, "DetailedVersion", "2.1")
        _write_xml(archive, "bcf.version", stated)
        _write_xml(archive, "project.bcfp", _project(report))
        _write_xml(archive, "extensions.xsd", _extensions())
        for clash in report.clashes:
            if clash.kind not in kinds:
                continue
            topic, issue = guid(clash.id), (report.triage or Triage()).issue(clash)
            view, viewpoints = _view(clash, report, scale, section, up), []
            if view is not None:
                _write_xml(archive, f"{topic}/viewpoint.bcfv", view)
                picture = None if snapshot is None else snapshot(clash)
                if picture is not None:
                    _write(archive, f"{topic}/snapshot.png", picture)
                viewpoints.append((guid(clash.id, "view"), "viewpoint.bcfv", "" if picture is None else "snapshot.png"))
            for k, saved in enumerate(issue.views):
                name = f"viewpoint-{k + 1}.bcfv"
                _write_xml(archive, f"{topic}/{name}", _saved_view(saved, clash, report))
                picture = None if view_snapshot is None else view_snapshot(clash, saved)
                if picture is not None:
                    _write(archive, f"{topic}/snapshot-{k + 1}.png", picture)
                viewpoints.append((as_guid(saved.id), name, "" if picture is None else f"snapshot-{k + 1}.png"))
            _write_xml(archive, f"{topic}/markup.bcf", _markup(clash, issue, report, now, viewpoints))
        _check_total(archive.infolist())
    Path(path).write_bytes(content.getbuffer())


def guid(*names: str) -> str:
    """Return the GUID of one or several names. Equal names have equal GUIDs."""
    text = "\0".join(names).encode("utf-8", "backslashreplace").decode()  # a file name may be invalid UTF-8
    return str(uuid.uuid5(_SPACE, text))


def as_guid(name: str) -> str:
    """Return ``name`` in lower case if it is a GUID, and otherwise the GUID of the name."""
    return name.lower() if _GUID.fullmatch(name) else guid(name)


def _write_xml(archive: zipfile.ZipFile, name: str, root: Element) -> None:
    data = document(root).encode("utf-8")
    if len(data) > MAX_ENTRY:
        title = root.findtext("Topic/Title") or name
        raise ParseError(
            f"the topic {title[:80]!r} has {len(data)} bytes, and read_bcf accepts at most {MAX_ENTRY}."
            " Shorten its comments, or ignore the finding."
        )
    _write(archive, name, data)


def _check_total(entries: list[zipfile.ZipInfo]) -> None:
    """Raise an error for an archive that is too large for `read_bcf`. The sizes of pictures are not counted."""
    size = sum(entry.file_size for entry in entries if not entry.filename.endswith(".png"))
    if len(entries) > MAX_ENTRIES or size > MAX_ALL:
        raise ParseError(
            f"the BCF file has {len(entries)} entries of {size} bytes, and read_bcf accepts at most {MAX_ENTRIES}"
            f" entries of {MAX_ALL} bytes. Write fewer findings, for example without the resolved ones."
        )


def _write(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, data)


def _text(parent: Element, name: str, text: str) -> Element:
    child = SubElement(parent, name)
    child.text = text
    return child


def _project(report: Report) -> Element:
    names = ", ".join(PurePath(item.path).name or item.path for item in report.inputs)
    root = Element("ProjectExtension")
    project = SubElement(root, "Project", ProjectId=guid("project", names))
    _text(project, "Name", legal(f"clashes in {names}" if names else "clashes"))
    _text(root, "ExtensionSchema", "extensions.xsd")
    return root


def _extensions() -> Element:
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
    """Return the creation date of a topic: the earliest of ``now`` and the dates of decisions, comments and views."""
    dated = (issue.state, issue.assignee, *issue.comments, *issue.views)
    return min([now, *(item.at for item in dated if item is not None and item.at)])


def _markup(clash: Clash, issue: Issue, report: Report, now: str, views: list[tuple[str, str, str]]) -> Element:
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
    _text(topic, "Description", _description(clash, report, issue))
    for comment in issue.comments:
        if not comment.text:  # deleted
            continue
        element = SubElement(root, "Comment", Guid=as_guid(comment.id))
        _text(element, "Date", comment.at)
        _text(element, "Author", legal(comment.by) or NOBODY)
        _text(element, "Comment", "\n".join(map(legal, comment.text.split("\n"))))
    for ident, name, picture in views:
        view = SubElement(root, "Viewpoints", Guid=ident)
        _text(view, "Viewpoint", name)
        if picture:
            _text(view, "Snapshot", picture)
    return root


def _description(clash: Clash, report: Report, issue: Issue) -> str:
    unit, factor = report.reading
    clash = converted(clash, factor, report.unit)
    error = wording.noise(clash, report)
    length = f" {unit}" if unit else ""
    lines = [f"A: {legal(clash.a)}"]
    if clash.b:
        lines.append(f"B: {legal(clash.b)}")
    if clash.penetration is not None:
        lines.append(f"penetration: {wording.inside(clash, unit, error)} at the deepest known point")
    if clash.distance is not None:
        lines.append(f"{wording.measure(clash, unit, error).replace(' ', ': ', 1)} ({clash.evidence})")
    if when := wording.when(clash, report):
        lines.append(f"in motion: {legal(when)}")
    if clash.mtv is not None:
        lines.append(f"separating translation of B: {format_vector(clash.mtv)}{length}")
    volume = wording.shared_volume(clash)
    if volume:
        lines.append(f"overlap volume: {volume}{length}{'³' if unit else ''}")
    if clash.group:
        lines.append(f"group: {legal(clash.group)}")
    if clash.note:
        lines.append(legal(clash.note))
    # read_bcf compares these lines with the topic, because some programs change topics without a date
    lines.append(f"state: {clash.status if issue.state is None else issue.state.value}")
    if issue.assignee is not None:
        lines.append(f"assigned to: {legal(issue.assignee.value)}")
    return "\n".join([*lines, f"id: {clash.id}"])


def _view(clash: Clash, report: Report, scale: float, section: bool, up: str) -> Element | None:
    camera = looking_at(clash, report, FIELD_OF_VIEW, up)
    if camera is None:
        return None
    eye, direction, _ = camera
    root = _camera_view(guid(clash.id, "view"), clash, report, camera, scale)
    if clash.point_a is not None and clash.point_b is not None and clash.point_a != clash.point_b:
        line = SubElement(SubElement(root, "Lines"), "Line")
        _vector(line, "StartPoint", clash.point_a, scale)
        _vector(line, "EndPoint", clash.point_b, scale)
    if section:  # the plane is in front of the point by the radius of the picture
        clear = np.array(clash.point) - (1.0 - 1.0 / _ROOM) * (np.array(clash.point) - np.array(eye))
        _planes(root, [(_tuple(clear), _tuple(-np.array(direction)))], scale)
    return root


def _saved_view(view: View, clash: Clash, report: Report) -> Element:
    scale = conversion(view.unit or report.unit or "m", "m") or 1.0
    direction, up = np.array(view.target) - view.eye, np.array(view.up)
    long = float(np.linalg.norm(direction))
    direction = direction / long if long > 0.0 else np.array([0.0, 0.0, -1.0])
    up = up - (up @ direction) * direction
    up = up / np.linalg.norm(up) if np.linalg.norm(up) > 0.0 else np.eye(3)[int(np.argmin(np.abs(direction)))]
    root = _camera_view(as_guid(view.id), clash, report, (view.eye, _tuple(direction), _tuple(up)), scale)
    _planes(root, view.planes, scale)
    return root


def _camera_view(ident: str, clash: Clash, report: Report, camera: Camera, scale: float) -> Element:
    """Return the XML of a viewpoint with a camera, in which the parts of a finding are selected."""
    root = Element("VisualizationInfo", Guid=ident)
    components = SubElement(root, "Components")
    selection = SubElement(components, "Selection")
    guids = {part.name: part.guid for part in report.parts if part.guid}
    for name in filter(None, (clash.a, clash.b)):
        ifc_guid = _IFC_GUID.fullmatch(guids.get(name) or name.rpartition("/")[2])
        component = SubElement(selection, "Component", {"IfcGuid": ifc_guid[0]} if ifc_guid else {})
        _text(component, "OriginatingSystem", _AUTHOR)
        _text(component, "AuthoringToolId", legal(name))
    SubElement(components, "Visibility", DefaultVisibility="true")
    place, (eye, direction, up) = SubElement(root, "PerspectiveCamera"), camera
    _vector(place, "CameraViewPoint", eye, scale)
    _vector(place, "CameraDirection", direction)
    _vector(place, "CameraUpVector", up)
    _text(place, "FieldOfView", repr(FIELD_OF_VIEW))
    return root


def _planes(root: Element, planes: Sequence[tuple[Vector, Vector]], scale: float) -> None:
    """Add section planes to a viewpoint. The direction of a plane points to the removed side."""
    cuts = SubElement(root, "ClippingPlanes") if planes else root
    for point, normal in planes:
        plane = SubElement(cuts, "ClippingPlane")
        _vector(plane, "Location", point, scale)
        _vector(plane, "Direction", normal)


def _vector(parent: Element, name: str, values: tuple[float, float, float], scale: float = 1.0) -> None:
    point = SubElement(parent, name)
    for axis, value in zip("XYZ", values, strict=True):
        _text(point, axis, repr(value * scale))


#: The state for each status of a topic in lower case, including statuses that other BIM and clash programs write.
_WORDS = {word.lower(): state for state, word in TOPIC_STATUS.items() if state in STATES}
_WORDS |= {state: state for state in STATES} | {
    "in progress": "active", "assigned": "active", "reopened": "active", "accepted": "approved", "done": "resolved"
}  # fmt: skip
_ACCEPTED = ", ".join(sorted({*_WORDS, TOPIC_STATUS["ignored"].lower()}))
MAX_ALL, MAX_ENTRIES = 400_000_000, 500_000  #: the largest number of unpacked bytes, and of entries
_DEEPEST = 50  #: the largest depth of nested elements
_LONGEST = 20_000  #: the largest number of characters of a comment; a name has at most a twentieth of this number


class FromBcf(NamedTuple):
    """The result of `read_bcf`.

    Attributes
    ----------
    triage : Triage
        The decisions about findings of the report.
    notes : tuple of str
        Notes on topics without a finding and on unknown statuses, with the file and the topic.
    """

    triage: Triage
    notes: tuple[str, ...]


def read_bcf(path: str | os.PathLike[str], report: Report) -> FromBcf:
    """Return the statuses, assignees, comments and viewpoints of the topics of a BCF file.

    The file was written by `to_bcf` and may have been changed by other programs. The GUID of a topic, the id in its
    description, or its two selected elements (IFC GlobalIds) determine its finding. The elements are used only if they
    have a single finding. A change has the date of the topic in the file. A change in a topic without a date has the
    current time. An unchanged value never replaces a later decision. An approval applies to the depth of the finding in
    this report.

    Parameters
    ----------
    path : path
        A file of BCF 2.0 or 2.1.
    report : Report
        The report with the findings.

    Raises
    ------
    FileError
        If the file does not exist.
    ParseError
        If the file is not BCF, has another version, is damaged, or is too large.

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
        raise FileError(f"the BCF file {source} does not exist. Correct the path.")
    try:
        with zipfile.ZipFile(source) as archive:
            return _read(_Entries(archive, str(source)), report)
    # zipfile raises these for archives that are truncated, encrypted, or compressed with an unknown method
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError, OSError, ValueError) as error:
        if isinstance(error, ParseError):
            raise
        raise ParseError(f"{source} is not a BCF file, or is damaged: {str(error)[:200]}. {_CURE}") from None


class _Entries:
    """The entries of an archive, which are unpacked in memory up to a largest size. Errors start with ``where``."""

    def __init__(self, archive: zipfile.ZipFile, where: str) -> None:
        self.where = where
        self._archive = archive
        self._left = MAX_ALL
        names = archive.namelist()
        if len(names) > MAX_ENTRIES:
            raise ParseError(
                f"{where} has {len(names)} entries, expected at most {MAX_ENTRIES} in a BCF file. Export fewer topics."
            )
        self.names = set(names)

    def tree(self, name: str) -> Element:
        with self._archive.open(name) as entry:
            data = entry.read(MAX_ENTRY + 1)
        self._left -= len(data)
        if len(data) > MAX_ENTRY:
            raise ParseError(
                f"{self.where}: {name[:100]!r} is too large, expected at most {MAX_ENTRY / 1e6:g} MB unpacked. Shorten"
                " its comments."
            )
        if self._left < 0:
            raise ParseError(
                f"{self.where} is too large, expected at most {MAX_ALL / 1e6:g} MB unpacked. Export fewer topics."
            )
        if b"<!DOCTYPE" in data or b"<!ENTITY" in data or data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise ParseError(
                f"{self.where}: {name[:100]!r} declares a document type or is not in UTF-8, which BCF does not allow. "
                f"{_CURE}"
            )
        parser: XMLPullParser[Element] = XMLPullParser(("start", "end"))
        depth = 0
        root: Element | None = None
        try:
            parser.feed(data)
            parser.close()
        except XmlError as error:
            raise ParseError(f"{self.where}: {name[:100]!r} is not XML: {error}. {_CURE}") from None
        events: Iterator[Any] = parser.read_events()
        for event, element in events:
            depth += 1 if event == "start" else -1
            if depth > _DEEPEST:
                raise ParseError(
                    f"{self.where}: {name[:100]!r} is too deep, expected at most {_DEEPEST} nested elements. {_CURE}"
                )
            root = element if root is None else root
        if root is None:
            raise ParseError(f"{self.where}: {name[:100]!r} is empty, expected XML. {_CURE}")
        return root


def _read(entries: _Entries, report: Report) -> FromBcf:
    if "bcf.version" not in entries.names:
        raise ParseError(f"{entries.where} lacks the entry bcf.version, so it is not a BCF file. {_CURE}")
    version = entries.tree("bcf.version").get("VersionId", "")
    if not version.startswith("2."):
        raise ParseError(f"{entries.where} is BCF {version[:20]!r}, and gjk3d reads 2.0 and 2.1. Save it as BCF 2.1.")
    scale = (conversion(report.unit, "m") if report.unit else None) or 1.0
    by_topic = {guid(clash.id): clash for clash in report.clashes}
    by_id = {clash.id: clash for clash in report.clashes}
    by_elements, by_other_kinds = _by_elements(report), cache(partial(_by_other_kinds, report))
    triage = report.triage or Triage()
    issues: dict[str, Issue] = {}
    notes = []
    for name in sorted(entries.names):
        if not re.fullmatch(r"[^/\\]+/markup\.bcf", name):
            continue
        root = entries.tree(name)
        topic = root.find("Topic")
        if topic is None:
            raise ParseError(f"{entries.where}: {name[:100]!r} lacks its topic, so the file is damaged. {_CURE}")
        written = _written_fields(topic.findtext("Description") or "")
        folder = name.rpartition("/")[0]
        clash = by_topic.get((topic.get("Guid") or "").lower()) or by_id.get(written.get("id", ""))
        clash = clash or by_elements.get(_elements(entries, folder, root))
        clash = clash or by_other_kinds().get((topic.get("Guid") or "").lower())
        if clash is None:
            notes.append(f"{entries.where}, topic {_title(topic, folder)!r} has no finding in this report")
            continue
        issue = _issue(_Topic(entries, folder, root, topic, written), clash, triage.issue(clash), notes, scale)
        if issue.state is not None:  # a topic lacks the depth, so an approval applies to the depth in this report
            measures = clash.distance, report.unit or "", clash.intervals, clash.penetration
            issue = replace(issue, state=Mark(issue.state.at, issue.state.by, issue.state.value, *measures))
        if issue.state or issue.assignee or issue.comments or issue.views:
            issues[clash.id] = issues[clash.id].merged(issue) if clash.id in issues else issue
    return FromBcf(Triage(issues), tuple(notes))


def _by_elements(report: Report) -> dict[frozenset[str], Clash]:
    guids = {part.name: part.guid for part in report.parts if part.guid}
    by_pair: dict[frozenset[str], list[Clash]] = {}
    for clash in report.clashes:
        if clash.a in guids and clash.b in guids:
            by_pair.setdefault(frozenset((guids[clash.a], guids[clash.b])), []).append(clash)
    return {pair: clashes[0] for pair, clashes in by_pair.items() if len(clashes) == 1 and len(pair) == 2}


def _by_other_kinds(report: Report) -> dict[str, Clash]:
    """Return each finding by the GUIDs that its topic would have if the finding had another kind.

    A topic of an earlier report is found by such a GUID if the kind of its finding has changed.
    """
    guids = {part.name: part.guid for part in report.parts if part.guid}
    return {
        guid(clash_id(kind, *sides)): clash
        for clash in report.clashes
        for sides in {(clash.a, clash.b), (guids.get(clash.a, clash.a), guids.get(clash.b, clash.b))}
        for kind in KINDS
    }


def _elements(entries: _Entries, folder: str, root: Element) -> frozenset[str]:
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
    written: dict[str, str]  #: the values in the description, as `to_bcf` wrote them


def _written_fields(description: str) -> dict[str, str]:
    pairs = (line.partition(": ") for line in description.splitlines())
    return {key: value.strip() for key, _, value in pairs if key in ("id", "state", "assigned to")}


def _short(text: str) -> str:
    words = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return words if len(words) <= 80 else f"{words[:77]}..."


def _title(topic: Element, folder: str) -> str:
    return _short(topic.findtext("Title") or folder)


def _issue(of: _Topic, clash: Clash, earlier: Issue, notes: list[str], scale: float) -> Issue:
    where = f"{of.entries.where}, topic {of.folder[:60]!r}"
    issue = Issue(clash.id, clash.kind, clash.a, clash.b)
    stamped = (of.topic.findtext("ModifiedDate") or "").strip()
    at = time_of(stamped, where) if stamped else ""
    by = _author(of.topic.findtext("ModifiedAuthor") or "")
    word = of.topic.get("TopicStatus", "").strip()
    state = _WORDS.get(word.lower())
    if state is None and word and word.lower() != TOPIC_STATUS["ignored"].lower():
        notes.append(
            f"{of.entries.where}, topic {_title(of.topic, of.folder)!r}: its status {_short(word)!r} is not a state of"
            f" a finding, so the state is not changed (expected one of {_ACCEPTED})"
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
        views=joined(tuple(_views(of, clash, where, at, earlier.views, scale)), ()),
    )


def _mark(value: str, at: str, by: str, earlier: Mark | None) -> Mark:
    """Return ``value`` with its author ``by`` and a date as a mark.

    The date is ``at``, or the current time if ``at`` is empty or not later than the date of ``earlier``.
    """
    return Mark(at if at and (earlier is None or at > earlier.at) else now(), by, value)


def _author(text: str) -> str:
    return "" if text in (NOBODY, "unknown") else text.strip()[: _LONGEST // 20]


def _comments(of: _Topic, where: str) -> Iterator[Comment]:
    for item in of.root.iter("Comment"):
        ident = item.get("Guid")
        if ident is None:  # the text inside of a comment is an element with the same name
            continue
        date = item.findtext("ModifiedDate") or item.findtext("Date") or ""
        by = _author(item.findtext("ModifiedAuthor") or item.findtext("Author") or "")
        text = (item.findtext("Comment") or "")[:_LONGEST]
        if text.strip():
            yield Comment(time_of(date, where), by, text, ident.lower()[:100])


def _views(
    of: _Topic, clash: Clash, where: str, at: str, earlier: Sequence[View], scale: float
) -> Iterator[View]:  # fmt: skip
    """Yield the views of a topic. A view that another program did not change is returned as the view in ``earlier``.

    A camera in BCF has a direction and no target. The distance from the camera to the target is taken from the earlier
    view with the same GUID. Without such a view, the target is as far as the point of the finding. ``scale`` converts
    lengths of the report to metres. ``at`` is the date of the topic, or an empty text.
    """
    ours = {as_guid(view.id): view for view in earlier}
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
        was = ours.get(ident)
        before = None if was is None else _in_metres(was, scale)
        ahead = np.array(direction) / (np.linalg.norm(direction) or 1.0)
        if before is not None:
            far = math.dist(before.target, before.eye)
        else:
            far = 0.0 if clash.point is None else float((scale * np.array(clash.point) - eye) @ ahead)
        target = _tuple(np.array(eye) + (far if far > 0.0 else 1.0) * ahead)
        when = at or time_of(of.topic.findtext("CreationDate") or "", where)
        by = _author(of.topic.findtext("ModifiedAuthor") or "")
        view = View(when, by, "from BCF", ident, eye, target, up, planes, "m")
        if was is None or before is None:
            yield view
        else:
            yield was if _same_view(view, before) else replace(view, name=was.name, id=was.id)


def _in_metres(view: View, scale: float) -> View:
    factor = (conversion(view.unit, "m") if view.unit else None) or scale
    eye, target, *points = (_tuple(factor * np.array(p)) for p in (view.eye, view.target, *(p for p, _ in view.planes)))
    planes = tuple(zip(points, (normal for _, normal in view.planes), strict=True))
    return replace(view, eye=eye, target=target, planes=planes, unit="m")


def _same_view(a: View, b: View) -> bool:
    """Return whether the points, planes and rightward vectors of two views are equal up to rounding."""
    (points_a, normals_a), (points_b, normals_b) = map(_geometry, (a, b))
    slack = 1e-6 * math.dist(b.eye, b.target)
    equal_points = points_a.shape == points_b.shape and np.allclose(points_a, points_b, 1e-9, slack)
    return equal_points and np.allclose(normals_a, normals_b, 0.0, 1e-6)


def _geometry(view: View) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the points of a view, (n, 3), and its directions, (m, 3).

    The points are those of the camera and of the section planes. The directions are the unit vector to the right and
    the normals of the planes.
    """
    right = np.cross(np.subtract(view.target, view.eye), view.up)
    right /= float(np.linalg.norm(right)) or 1.0
    points = np.array([view.eye, view.target, *(point for point, _ in view.planes)])
    return points, np.array([right, *(normal for _, normal in view.planes)])


def _point(element: Element | None, where: str) -> Vector:
    texts = ["" if element is None else element.findtext(axis) or "" for axis in "XYZ"]
    try:
        x, y, z = map(float, texts)
    except ValueError:
        raise ParseError(
            f"{where}: a viewpoint has the vector {_short(' '.join(texts))!r}, expected numbers X, Y and Z. {_CURE}"
        ) from None
    if not all(map(math.isfinite, (x, y, z))):
        raise ParseError(
            f"{where}: a viewpoint has the vector {_short(' '.join(texts))!r}, expected finite numbers. {_CURE}"
        )
    return x, y, z

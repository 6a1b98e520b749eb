"""BCF 2.1, the BIM collaboration format: a topic a finding, each with a camera that looks at it."""

from __future__ import annotations

import io
import math
import os
import re
import uuid
import zipfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement

import numpy as np
from numpy.typing import NDArray

from gjk3d.clash import wording
from gjk3d.clash.assembly import upward
from gjk3d.clash.finding import KINDS, Clash, Vector
from gjk3d.clash.findings import converted
from gjk3d.clash.formats.text import document, legal
from gjk3d.clash.report import Report
from gjk3d.clash.triage import Issue, Triage, View
from gjk3d.errors import ParseError
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
    back = min(_ways(up), key=lambda way: round(abs(float(way @ normal)), 9))
    far = _ROOM * (size or 1.0) / math.sin(math.radians(0.5 * field_of_view))
    right = np.cross(up, back)
    upright = np.cross(back, right / np.linalg.norm(right))
    return Camera(_tuple(np.array(clash.point) + far * back), _tuple(-back), _tuple(upright))


def _ways(up: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Return directions from which to look: round the axis that is up, from a little above."""
    east = np.array([1.0, 0.0, 0.0])
    north = np.cross(up, east)
    ways = []
    for k in range(8):
        angle = math.radians(45.0 * k - 60.0)
        way = math.cos(angle) * east + math.sin(angle) * north + _HEIGHT * up
        ways.append(way / np.linalg.norm(way))
    return ways


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
        _put(archive, "bcf.version", _version())
        _put(archive, "project.bcfp", _project(report))
        _put(archive, "extensions.xsd", _extensions())
        for clash in report.clashes:
            topic, issue = guid(clash.id), (report.triage or Triage()).issue(clash)
            view, seen = _view(clash, report, scale, section), []
            if view is not None:
                _put(archive, f"{topic}/viewpoint.bcfv", view)
                picture = None if snapshot is None else snapshot(clash)
                if picture is not None:
                    _write(archive, f"{topic}/snapshot.png", picture)
                seen.append((guid(clash.id, "view"), "viewpoint.bcfv", "" if picture is None else "snapshot.png"))
            for k, saved in enumerate(issue.views):
                name = f"viewpoint-{k + 1}.bcfv"
                _put(archive, f"{topic}/{name}", _saved_view(saved, clash, report))
                seen.append((as_guid(saved.id), name, ""))
            _put(archive, f"{topic}/markup.bcf", _markup(clash, issue, report, now, seen))
    Path(path).write_bytes(content.getbuffer())


def guid(*names: str) -> str:
    """Return the GUID that belongs to a name, the same at all times."""
    text = "\0".join(names).encode("utf-8", "backslashreplace").decode()  # a file's name may be no text
    return str(uuid.uuid5(_SPACE, text))


def as_guid(name: str) -> str:
    """Return a GUID as it is, and one made of what is none."""
    return name.lower() if _GUID.fullmatch(name) else guid(name)


def _put(archive: zipfile.ZipFile, name: str, root: Element) -> None:
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
    known = (issue.state, issue.assignee, *issue.comments, *issue.views)
    return min([now, *(item.at for item in known if item is not None and item.at)])


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
        said = SubElement(root, "Comment", Guid=as_guid(comment.id))
        _text(said, "Date", comment.at)
        _text(said, "Author", legal(comment.by) or NOBODY)
        _text(said, "Comment", _lines(comment.text))
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
    way, up = np.array(view.target) - view.eye, np.array(view.up)
    long = float(np.linalg.norm(way))
    way = way / long if long > 0.0 else np.array([0.0, 0.0, -1.0])
    up = up - (up @ way) * way
    up = up / np.linalg.norm(up) if np.linalg.norm(up) > 0.0 else np.eye(3)[int(np.argmin(np.abs(way)))]
    place = SubElement(root, "PerspectiveCamera")
    _vector(place, "CameraViewPoint", view.eye, scale)
    _vector(place, "CameraDirection", _tuple(way))
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
        known = _IFC_GUID.fullmatch(guids.get(name) or name.rpartition("/")[2])
        component = SubElement(selection, "Component", {"IfcGuid": known[0]} if known else {})
        _text(component, "OriginatingSystem", _AUTHOR)
        _text(component, "AuthoringToolId", legal(name))


def _vector(parent: Element, name: str, values: tuple[float, float, float], scale: float = 1.0) -> None:
    point = SubElement(parent, name)
    for axis, value in zip("XYZ", values, strict=True):
        _text(point, axis, repr(value * scale))

"""BCF 2.1 files, checked by the rules of its schemas: which elements occur, and in which order."""

import math
import re
import zipfile
from datetime import UTC, datetime
from xml.etree import ElementTree

import numpy as np
import pytest
from message_checks import assert_names

from gjk3d.clash import Input, Triage, formats
from gjk3d.errors import ParseError
from tests.clash import messages
from tests.clash.reports import ENDING, EVIL, finding, many, three_cubes

GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
POINT = "X Y Z"
#: Children of each element in the order of the BCF 2.1 schemas; the optional ones that are always written are required.
ORDER = {
    "Markup": "Header? Topic Comment* Viewpoints*",
    "Header": "File+",
    "File": "Filename? Date? Reference?",
    "Topic": "ReferenceLink* Title Priority? Index? Labels* CreationDate CreationAuthor ModifiedDate? ModifiedAuthor?"
    " DueDate? AssignedTo? Stage? Description? BimSnippet? DocumentReference* RelatedTopic*",
    "Viewpoints": "Viewpoint? Snapshot? Index?",
    "VisualizationInfo": "Components? OrthogonalCamera? PerspectiveCamera? Lines? ClippingPlanes? Bitmap*",
    "Components": "ViewSetupHints? Selection? Visibility Coloring?",
    "Selection": "Component+",
    "Component": "OriginatingSystem? AuthoringToolId?",
    "PerspectiveCamera": "CameraViewPoint CameraDirection CameraUpVector FieldOfView",
    "Lines": "Line+",
    "Line": "StartPoint EndPoint",
    "ClippingPlanes": "ClippingPlane*",
    "ClippingPlane": "Location Direction",
    **dict.fromkeys(("CameraViewPoint", "CameraDirection", "CameraUpVector", "StartPoint", "EndPoint"), POINT),
    **dict.fromkeys(("Location", "Direction"), POINT),
    "Version": "DetailedVersion?",
    "ProjectExtension": "Project? ExtensionSchema",
    "Project": "Name?",
}
REQUIRED = {"Topic": ["Guid"], "Viewpoints": ["Guid"], "VisualizationInfo": ["Guid"], "Project": ["ProjectId"]}
NOW = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)


def valid(element):
    """Check an element and its descendants against the order of the schemas; return the element."""
    pattern = "".join(
        f"(?:{name.rstrip('?*+')} ){name[-1] if name[-1] in '?*+' else ''}"
        for name in ORDER.get(element.tag, "").split()
    )
    children = "".join(f"{child.tag} " for child in element)
    assert re.fullmatch(pattern, children), (element.tag, children)
    for key in REQUIRED.get(element.tag, ()):
        assert GUID.fullmatch(element.get(key)), (element.tag, element.attrib)
    for child in element:
        valid(child)
    return element


def written(report, tmp_path, name="r.bcfzip", **options):
    formats.to_bcf(report, tmp_path / name, NOW, **options)
    with zipfile.ZipFile(tmp_path / name) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def parsed(data):
    return valid(ElementTree.fromstring(data))


def vector(element, name):
    return np.array([float(element.find(f".//{name}/{axis}").text) for axis in "XYZ"])


def test_file_has_required_entries_and_elements(tmp_path):
    files = written(three_cubes(), tmp_path)
    assert parsed(files["bcf.version"]).get("VersionId") == "2.1"
    assert parsed(files["project.bcfp"]).findtext("ExtensionSchema") == "extensions.xsd"
    words = {item.get("value") for item in ElementTree.fromstring(files["extensions.xsd"]).iter() if item.get("value")}
    topics = [parsed(data).find("Topic") for name, data in files.items() if name.endswith("markup.bcf")]
    assert len(topics) == 2
    for topic in topics:
        assert f"{topic.get('Guid')}/markup.bcf" in files
        assert f"{topic.get('Guid')}/viewpoint.bcfv" in files
        assert topic.findtext("CreationDate") == "2026-05-04T03:02:01Z"
        assert {topic.get("TopicType"), topic.get("TopicStatus"), topic.findtext("Priority")} <= words
        assert topic.findtext("Labels") in words
    assert [topic.findtext("Title") for topic in topics] == [
        messages.TITLE.format("hard", "frame", "press/ram"),
        messages.TITLE.format("clearance", "press/ram", "press/pin"),
    ]


@pytest.mark.parametrize(
    ("suffix", "axis", "up"),
    [
        ("glb", "", (0, 1, 0)),
        ("step", "", (0, 0, 1)),
        ("glb", "z", (0, 0, 1)),
        ("step", "y", (0, 1, 0)),
        ("glb", "x", (1, 0, 0)),
    ],
)
def test_camera_looks_at_finding_in_metres(tmp_path, suffix, axis, up):
    report = three_cubes(inputs=(Input(f"press.{suffix}", None, "mm"),))
    files = written(report, tmp_path, up=axis)
    for clash, name in zip(report.clashes, (n for n in files if n.endswith(".bcfv")), strict=True):
        view = parsed(files[name])
        eye, way, upright = (vector(view, f"Camera{what}") for what in ("ViewPoint", "Direction", "UpVector"))
        to_clash = np.array(clash.point) / 1000.0 - eye
        np.testing.assert_allclose(way, to_clash / np.linalg.norm(to_clash), atol=1e-12)
        np.testing.assert_allclose([np.linalg.norm(way), np.linalg.norm(upright), way @ upright], [1, 1, 0], atol=1e-12)
        assert upright @ up > 0.5
        assert axis == "x" or abs(way @ clash.normal) < 0.5  # the camera looks across the gap
        assert 45.0 <= float(view.findtext(".//FieldOfView")) <= 60.0
        # the overlap is within the picture and not tiny in it
        angle = math.degrees(math.atan2(1e-3 * clash.depth, np.linalg.norm(to_clash)))
        assert angle < 30.0
        assert np.linalg.norm(to_clash) < 1e-3 * 40.0
        np.testing.assert_allclose(vector(view, "StartPoint"), np.array(clash.point_a) / 1000.0)
        np.testing.assert_allclose(vector(view, "EndPoint"), np.array(clash.point_b) / 1000.0)
        names = [item.text for item in view.iter("AuthoringToolId")]
        assert names == [clash.a, clash.b]


def test_section_plane_is_written_on_request(tmp_path):
    report = three_cubes()
    views = [name for name in written(report, tmp_path) if name.endswith(".bcfv")]
    uncut, cut = (written(report, tmp_path, section=section) for section in (False, True))
    for clash, name in zip(report.clashes, views, strict=True):
        assert parsed(uncut[name]).find("ClippingPlanes") is None
        view = parsed(cut[name])
        (plane,) = view.iter("ClippingPlane")
        place, eye = np.array(clash.point) / 1000.0, vector(view, "CameraViewPoint")
        at, away = vector(plane, "Location"), vector(plane, "Direction")
        np.testing.assert_allclose(away, -vector(view, "CameraDirection"))
        assert 0.0 < (at - place) @ away < (eye - place) @ away


@pytest.mark.full
def test_equal_reports_give_equal_files_and_guids(tmp_path):
    formats.to_bcf(three_cubes(), tmp_path / "one.bcf", NOW)
    formats.to_bcf(three_cubes(elapsed=9.0), tmp_path / "two.bcf", NOW)
    assert (tmp_path / "one.bcf").read_bytes() == (tmp_path / "two.bcf").read_bytes()
    before = {name for name in written(three_cubes(), tmp_path) if "/" in name}
    first = three_cubes().clashes[:1]
    after = {name for name in written(three_cubes(clashes=first), tmp_path) if "/" in name}
    assert len(after) == 2
    assert after < before
    more = many(500)
    topics = {name.partition("/")[0] for name in written(more, tmp_path) if "/" in name}
    assert len(topics) == sum(clash.kind != "touch" for clash in more.clashes) > 400


def test_statuses_map_to_topic_statuses(tmp_path):
    clashes = tuple(
        finding("hard", "a", str(k), status=status) for k, status in enumerate(("new", "active", "resolved", "ignored"))
    )
    files = written(three_cubes(clashes=clashes), tmp_path)
    topics = [parsed(data).find("Topic") for name, data in files.items() if name.endswith("markup.bcf")]
    assert [topic.get("TopicStatus") for topic in topics] == ["Open", "Active", "Closed", "Ignored"]
    assert not [name for name in files if name.endswith(".bcfv")]  # these findings have no point to look at


def test_names_are_escaped_and_ifc_guids_are_found(tmp_path):
    guid = "2O2Fr$t4X7Zf8NOew3FNr2"
    clash = finding("unchecked", EVIL, "", note=ENDING, point=None)
    named = finding("clearance", ENDING, f"storey/{guid}", point=(0.0, 0.0, 0.0), a_file="<&>.glb")
    files = written(three_cubes(clashes=(clash, named)), tmp_path)
    topics = [parsed(data) for name, data in files.items() if name.endswith("markup.bcf")]
    assert topics[0].findtext("Topic/Title") == f"unchecked: {EVIL}"
    assert "\ufffd" in topics[1].findtext("Topic/Title")
    (view,) = [parsed(data) for name, data in files.items() if name.endswith(".bcfv")]
    assert [item.get("IfcGuid") for item in view.iter("Component")] == [None, guid]


def test_topic_beyond_reader_limit_raises(tmp_path):
    """Each of these characters takes four bytes when escaped, so the topic exceeds the limit of the reader."""
    report = three_cubes()
    file = tmp_path / "week.bcf"
    triage = Triage()
    for k in range(49):
        triage = triage.commented(report.clashes[0], "<" * 20_000, by="ann", at=f"2026-05-04T09:00:{k:02d}.000Z")
    report.triage = triage
    formats.to_bcf(report, file, NOW)
    assert formats.read_bcf(file, report).triage.issues
    before = file.read_bytes()
    report.triage = triage.commented(report.clashes[0], "<" * 20_000, by="ann", at="2026-05-04T09:01:00.000Z")
    with pytest.raises(ParseError) as caught:
        formats.to_bcf(report, file, NOW)
    assert_names(caught.value, "hard: frame / press/ram", "4000000", "comments")
    assert file.read_bytes() == before

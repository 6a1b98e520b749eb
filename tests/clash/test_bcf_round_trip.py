"""BCF round trips: decisions made in other programs are read back, also through an independent client."""

import json
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from xml.etree import ElementTree

import numpy as np
import pytest
from message_checks import assert_names
from reports import ENDING, EVIL, three_cubes

from gjk3d.clash import Triage
from gjk3d.clash.formats import bcf, read_bcf, to_bcf
from gjk3d.clash.formats.bcf import MAX_ENTRY, guid
from gjk3d.clash.formats.text import legal
from gjk3d.clash.triage import View, taken_up
from gjk3d.errors import FileError, ParseError
from tests.clash import messages

EARLY, LATE, LAST = (f"2026-05-0{day}T08:00:00.000Z" for day in (4, 5, 6))
NOW = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)
PNG = b"\x89PNG\r\n\x1a\n"


def decided():
    report = three_cubes()
    hard, near = report.clashes
    triage = Triage().marked(hard, state="active", assignee="bob", by="ann", at=EARLY)
    triage = triage.commented(hard, f"{EVIL} pressed in\nsince May", by="ann", at=EARLY)
    view = View(EARLY, "ann", "from below", "12345678-1234-4321-8765-123456789abc", (0.0, 0.0, -40.0), (1.0, 0.0, 0.0),
                (0.0, 1.0, 0.0), (((5.0, 0.0, 0.0), (1.0, 0.0, 0.0)),), "mm")  # fmt: skip
    triage = Triage({**triage.issues, hard.id: replace(triage.issue(hard), views=(view,))})
    report.triage = triage
    return report, hard, near


def changed(path, *changes):
    """Rewrite a file with some texts in its topics replaced; return its path."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    for name, old, new in changes:
        assert old in entries[name].decode(), (old, entries[name].decode())
        entries[name] = entries[name].decode().replace(old, new).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return path


@pytest.mark.parametrize("words", [messages.NO_NAME, "unknown"])
def test_missing_author_survives_a_round_trip(tmp_path, words):
    report, hard, _near = decided()
    report.triage = Triage().marked(hard, state="active", by="", at=EARLY).commented(hard, "why?", by="", at=EARLY)
    path = tmp_path / "a.bcf"
    to_bcf(report, path, NOW)
    markup = f"{guid(hard.id)}/markup.bcf"
    authors = [(markup, f"<{tag}>{messages.NO_NAME}<", f"<{tag}>{words}<") for tag in ("Author", "ModifiedAuthor")]
    (issue,) = read_bcf(changed(path, *authors), report).triage.issues.values()
    assert [comment.by for comment in issue.comments] == [""]
    report.triage = Triage()
    (issue,) = read_bcf(path, report).triage.issues.values()
    assert (issue.state.value, issue.state.by) == ("active", "")


def test_unchanged_file_changes_nothing(tmp_path):
    report, hard, _near = decided()
    to_bcf(report, tmp_path / "a.bcf", NOW)
    read = read_bcf(tmp_path / "a.bcf", report)
    assert read.notes == ()
    assert set(read.triage.issues) == {hard.id}
    assert read.triage.issues[hard.id].state is None
    # decisions made here in the meantime are kept
    later = report.triage.marked(hard, state="approved", by="cy", at=LATE)
    assert later.merged(read.triage).issues[hard.id].state.value == "approved"
    # a lost triage is restored completely
    ours, report.triage = report.triage.issues[hard.id], None
    back = read_bcf(tmp_path / "a.bcf", report).triage.issues[hard.id]
    assert (back.state.value, back.state.at, back.state.by) == ("active", EARLY, "ann")
    assert [(item.at, item.by, item.text, item.id) for item in back.comments] == [
        (item.at, item.by, item.text, item.id) for item in ours.comments
    ]
    (view,), (was,) = back.views, ours.views
    assert view.id == was.id
    np.testing.assert_allclose(np.array(view.eye) * 1000, was.eye)
    way = np.subtract(was.target, was.eye)
    back = np.subtract(view.target, view.eye)
    np.testing.assert_allclose(back / np.linalg.norm(back), way / np.linalg.norm(way))
    # BCF has no target, so it is placed at the distance of the finding
    assert np.linalg.norm(back) * 1000 == pytest.approx(np.subtract(hard.point, was.eye) @ way / np.linalg.norm(way))
    np.testing.assert_allclose(np.array(view.planes[0][0]) * 1000, was.planes[0][0])
    assert view.planes[0][1] == (1.0, 0.0, 0.0)


def test_view_survives_and_moved_view_keeps_its_name(tmp_path):
    report, hard, _near = decided()
    path, view = tmp_path / "a.bcf", report.triage.issues[hard.id].views[0]
    to_bcf(report, path, NOW)
    assert read_bcf(path, report).triage.issues[hard.id].views == (view,)
    changed(path, (f"{guid(hard.id)}/viewpoint-1.bcfv", "<Z>-0.04</Z>", "<Z>-0.05</Z>"))
    (moved,) = read_bcf(path, report).triage.issues[hard.id].views
    assert (moved.name, moved.id, moved.eye) == (view.name, view.id, (0.0, 0.0, -0.05))
    assert np.linalg.norm(np.subtract(moved.target, moved.eye)) == pytest.approx(
        1e-3 * np.linalg.norm(np.subtract(view.target, view.eye))
    )


def test_deleted_comment_is_not_exported(tmp_path):
    report, hard, _near = decided()
    issue = report.triage.issues[hard.id]
    deleted = replace(issue.comments[0], text="", at=LATE)
    report.triage = report.triage.merged(Triage({hard.id: replace(issue, comments=(deleted,))}))
    assert report.triage.issues[hard.id].comments == (deleted,)
    to_bcf(report, tmp_path / "a.bcf", NOW)
    assert read_bcf(tmp_path / "a.bcf", report).triage.issues[hard.id].comments == ()


def test_topic_creation_precedes_modification(tmp_path):
    """CreationDate is at most ModifiedDate, even when the file is written long after the decisions."""
    report, hard, near = decided()
    to_bcf(report, tmp_path / "a.bcf", datetime(2026, 6, 1, tzinfo=UTC))
    with zipfile.ZipFile(tmp_path / "a.bcf") as archive:
        marked, unmarked = (
            ElementTree.fromstring(archive.read(f"{guid(clash.id)}/markup.bcf")).find("Topic") for clash in (hard, near)
        )
    assert (marked.findtext("CreationDate"), marked.findtext("ModifiedDate")) == (EARLY, EARLY)
    assert (unmarked.findtext("CreationDate"), unmarked.find("ModifiedDate")) == ("2026-06-01T00:00:00Z", None)


@pytest.mark.parametrize("dated", [True, False])
def test_change_has_the_date_of_the_file_or_now(tmp_path, dated):
    report, hard, _near = decided()
    to_bcf(report, tmp_path / "a.bcf", NOW)
    name = f"{guid(hard.id)}/markup.bcf"
    date = [(name, f"<ModifiedDate>{EARLY}", f"<ModifiedDate>{LATE}")] if dated else []
    changed(tmp_path / "a.bcf", (name, 'TopicStatus="Active"', 'TopicStatus="Resolved"'), *date)
    mark = read_bcf(tmp_path / "a.bcf", report).triage.issues[hard.id].state
    assert mark.value == "resolved"
    assert mark.at == LATE if dated else mark.at > LAST
    # a change dated Tuesday that arrives on Thursday does not override a decision of Wednesday
    later = report.triage.marked(hard, state="approved", by="cy", at=LAST)
    state = later.merged(read_bcf(tmp_path / "a.bcf", report).triage).issues[hard.id].state.value
    assert state == ("approved" if dated else "resolved")


@pytest.mark.parametrize("lost", [False, True])
def test_approval_from_bcf_stores_current_distance(tmp_path, lost):
    """An approval from BCF stores the current distance, also when no triage exists here."""
    report, hard, _near = decided()
    if lost:
        report.triage = None
    to_bcf(report, tmp_path / "a.bcf", NOW)
    name = f"{guid(hard.id)}/markup.bcf"
    status = "Open" if lost else "Active"
    changed(tmp_path / "a.bcf", (name, f'TopicStatus="{status}"', 'TopicStatus="Approved"'))
    read = read_bcf(tmp_path / "a.bcf", report).triage
    mark = read.issues[hard.id].state
    assert (mark.value, mark.distance, mark.unit) == ("approved", hard.distance, report.unit)
    assert taken_up(read, hard, report.unit).status == "ignored"
    deeper = taken_up(read, replace(hard, distance=2 * hard.distance), report.unit)
    assert (deeper.status, "deeper now" in deeper.note) == ("new", True)


def test_unknown_topics_and_statuses_are_noted(tmp_path):
    report, clash, _ = decided()
    file = tmp_path / "a.bcf"
    to_bcf(report, file, NOW)
    changed(file, (f"{guid(clash.id)}/markup.bcf", 'TopicStatus="Active"', 'TopicStatus="Parked"'))
    hard, near = (
        messages.TITLE.format(*row) for row in (("hard", "frame", "press/ram"), ("clearance", "press/ram", "press/pin"))
    )
    states = "accepted, active, approved, assigned, closed, done, ignored, in progress, new, open, reopened, resolved"
    (note,) = read_bcf(file, report).notes
    assert_names(note, str(file), f"'{hard}'", "'Parked'", states)
    unrelated = three_cubes(names=("x", "y", "z"))
    for note, title in zip(sorted(read_bcf(file, unrelated).notes), (near, hard), strict=True):
        assert_names(note, str(file), f"'{title}'")
    changed(file, (f"{guid(clash.id)}/markup.bcf", 'TopicStatus="Parked"', 'TopicStatus="ignored"'))
    assert read_bcf(file, report).notes == ()


def test_html_in_decisions_survives_a_round_trip(tmp_path):
    report = three_cubes()
    hard = report.clashes[0]
    report.triage = Triage().marked(hard, state="reviewed", assignee=EVIL, by=ENDING, at=EARLY)
    report.triage = report.triage.commented(hard, ENDING, by=EVIL, at=EARLY)
    to_bcf(report, tmp_path / "a.bcf", NOW)
    report.triage = None
    back = read_bcf(tmp_path / "a.bcf", report).triage.issues[hard.id]
    assert back.comments[0].by == EVIL
    assert back.comments[0].text == legal(ENDING)


def test_snapshot_is_in_the_file(tmp_path):
    report, hard, near = decided()
    to_bcf(report, tmp_path / "a.bcf", NOW, snapshot=lambda clash: PNG if clash.id == hard.id else None)
    with zipfile.ZipFile(tmp_path / "a.bcf") as archive:
        assert archive.read(f"{guid(hard.id)}/snapshot.png") == PNG
        assert b"<Snapshot>snapshot.png</Snapshot>" in archive.read(f"{guid(hard.id)}/markup.bcf")
        assert f"{guid(near.id)}/snapshot.png" not in archive.namelist()


VERSION = ("bcf.version", '<Version VersionId="2.1"/>')
TOPIC = '<Markup><Topic Guid="x"><Title>t</Title><CreationDate>2026-05-04T08:00:00Z</CreationDate>{}</Topic>{}</Markup>'
BOMB = '<!DOCTYPE a [<!ENTITY b "' + "c" * 100 + '">]><Markup>&b;</Markup>'


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ([], r"a\.bcf.*bcf\.version"),
        ([("bcf.version", '<Version VersionId="3.0"/>')], r"'3\.0'.*2\.1"),
        ([("bcf.version", "<Version")], r"'bcf\.version'.*XML"),
        ([VERSION, ("x/markup.bcf", BOMB)], r"'x/markup\.bcf'.*document type"),
        ([VERSION, ("x/markup.bcf", "<a>" * 60 + "</a>" * 60)], r"'x/markup\.bcf'.*nested"),
        ([VERSION, ("x/markup.bcf", "<Markup/>")], r"'x/markup\.bcf'.*topic"),
        ([VERSION, ("x/markup.bcf", " " * (MAX_ENTRY + 1))], r"'x/markup\.bcf'.*unpacked"),
        (
            [VERSION, ("x/markup.bcf", "ID" + "<Comment Guid='1'><Date>then</Date><Comment>a</Comment></Comment>")],
            "topic 'x'.*'then'.*2026-05-04T03:02:01",
        ),
    ],
)
def test_damaged_files_raise_with_cause(tmp_path, entries, why):
    report = three_cubes()
    path = tmp_path / "a.bcf"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in entries:
            if text.startswith("ID"):
                text = TOPIC.format(f"<Description>id: {report.clashes[0].id}</Description>", text[2:])
            archive.writestr(name, text)
    with pytest.raises(ParseError, match=why):
        read_bcf(path, report)


def test_files_other_than_archives_raise(tmp_path):
    with pytest.raises(FileError, match=r"none\.bcf"):
        read_bcf(tmp_path / "none.bcf", three_cubes())
    for data in (b"", b"PK", b"not a zip", json.dumps({}).encode()):
        (tmp_path / "bad.bcf").write_bytes(data)
        with pytest.raises(ParseError, match=r"bad\.bcf.*zip"):
            read_bcf(tmp_path / "bad.bcf", three_cubes())
    to_bcf(three_cubes(), tmp_path / "cut.bcf")
    data_of_file = (tmp_path / "cut.bcf").read_bytes()
    for size in range(0, len(data_of_file), 97):
        (tmp_path / "cut.bcf").write_bytes(data_of_file[:size])
        with pytest.raises(ParseError):
            read_bcf(tmp_path / "cut.bcf", three_cubes())


def test_paths_outside_the_archive_are_ignored(tmp_path):
    report, hard, _near = decided()
    to_bcf(report, tmp_path / "a.bcf", NOW)
    topic = guid(hard.id)
    changed(tmp_path / "a.bcf", (f"{topic}/markup.bcf", "viewpoint-1.bcfv", "../../../etc/passwd"))
    assert read_bcf(tmp_path / "a.bcf", report).triage.issues[hard.id].views == ()


@pytest.mark.full
def test_round_trip_through_independent_client(tmp_path):
    import bcf.v2.bcfxml as client
    import bcf.v2.model as model
    from xsdata.models.datatype import XmlDateTime

    report, hard, near = decided()
    to_bcf(report, tmp_path / "ours.bcf", NOW, snapshot=lambda clash: PNG)
    with client.BcfXml.load(tmp_path / "ours.bcf") as read:
        assert set(read.topics) == {guid(clash.id) for clash in report.clashes}
        handler = read.topics[guid(hard.id)]
        topic = handler.topic
        assert (topic.topic_status, topic.assigned_to, topic.title) == (
            "Active",
            "bob",
            messages.TITLE.format("hard", "frame", "press/ram"),
        )
        assert [(item.author, item.comment) for item in handler.comments] == [("ann", f"{EVIL} pressed in\nsince May")]
        assert set(handler.viewpoints) == {"viewpoint.bcfv", "viewpoint-1.bcfv"}
        first = handler.viewpoints["viewpoint.bcfv"]
        assert first.snapshot == PNG
        saved = handler.viewpoints["viewpoint-1.bcfv"].visualization_info
        plane = saved.clipping_planes.clipping_plane[0]
        assert (plane.location.x, plane.direction.x) == (0.005, 1.0)
        assert saved.perspective_camera.camera_view_point.z == pytest.approx(-0.04)
        topic.topic_status = "Closed"
        topic.assigned_to = "dee"
        topic.modified_date = XmlDateTime.from_string(LATE)
        topic.modified_author = "dee"
        handler.comments.append(
            model.Comment(
                guid="87654321-4321-4321-8765-123456789abc",
                date=XmlDateTime.from_string(LATE),
                author="dee",
                comment="done",
            )
        )
        read.save(tmp_path / "theirs.bcf")
    back = read_bcf(tmp_path / "theirs.bcf", report)
    assert back.notes == ()
    issue = report.triage.merged(back.triage).issues[hard.id]
    assert (issue.state.value, issue.state.by, issue.state.at) == ("resolved", "dee", LATE)
    assert issue.assignee.value == "dee"
    assert [item.text for item in issue.comments] == [f"{EVIL} pressed in\nsince May", "done"]
    assert [view.id for view in issue.views] == [report.triage.issues[hard.id].views[0].id]
    assert near.id not in back.triage.issues


def test_file_beyond_reader_limits_raises(tmp_path, monkeypatch):
    report, _hard, _near = decided()
    path = tmp_path / "a.bcf"
    to_bcf(report, path, NOW)
    written = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        sizes = [entry.file_size for entry in archive.infolist()]
    for name, limit in (("MAX_ALL", sum(sizes)), ("MAX_ENTRIES", len(sizes))):
        monkeypatch.setattr(bcf, name, limit)
        to_bcf(report, path, NOW)
        assert len(read_bcf(path, report).triage.issues) == 1
        monkeypatch.setattr(bcf, name, limit - 1)
        with pytest.raises(ParseError) as caught:
            to_bcf(report, path, NOW)
        assert_names(caught.value, f"{len(sizes)} entries of {sum(sizes)} bytes", str(limit - 1))
        monkeypatch.undo()
    assert path.read_bytes() == written

import base64
import hashlib
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from parsed_page import Parsed
from reports import ENDING, EVIL, cube, many, part_row, three_cubes

from gjk3d.clash import Assembly, Report, check, formats, page
from gjk3d.clash.page import write_page
from gjk3d.clash.report import PartRow
from gjk3d.clash.report.wording import decided
from gjk3d.webpage import template
from tests.clash import messages


def test_page_requests_no_external_resources(tmp_path):
    parsed = Parsed(write_page(three_cubes(), tmp_path / "a.html"))
    for tag, attributes in parsed.tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form", "video", "audio")
        assert not {"src", "href", "action", "srcset", "style"} & set(attributes)
        assert not any(name.startswith("on") for name in attributes)
    assert "url(" not in template("gjk3d.clash", "page.css") + template("gjk3d", "page.css")
    assert "@import" not in template("gjk3d.clash", "page.css")


def test_policy_allows_only_scripts_of_the_page(tmp_path):
    parsed = Parsed(write_page(three_cubes(), tmp_path / "a.html"))
    policy = next(a["content"] for t, a in parsed.tags if a.get("http-equiv") == "Content-Security-Policy")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert "unsafe" not in policy
    assert "http" not in policy
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in parsed.scripts[4:]]
    assert rules["script-src"].split() == [f"'sha256-{digest}'" for digest in digests]


def test_shapes_are_stored_once_and_placed_correctly(tmp_path):
    report = three_cubes()
    up = ((0, -1, 0, 0), (1, 0, 0, 9), (0, 0, 1, 0), (0, 0, 0, 1))
    meshes = {part.name: part.mesh for part in report.assembly.parts} | {"turned": (report.assembly.parts[0].shape, up)}
    assembly = Assembly.of(meshes, "mm")
    report = replace(report, parts=(*report.parts, part_row("turned", assembly.parts[-1].mesh)), assembly=assembly)
    parsed = Parsed(write_page(report, tmp_path / "a.html"))
    data, (bodies, boxes) = parsed.data, parsed.bodies()
    assert data["names"] == ["frame", "press/pin", "press/ram", "turned"]
    assert len(data["shapes"]) == 3  # one of the four parts is a copy of another
    for body, box, part in zip(bodies, boxes, assembly.parts, strict=True):
        corners = part.mesh.vertices[part.mesh.faces.ravel()]
        np.testing.assert_allclose(body * data["size"] + data["center"], corners, atol=2e-6)
        np.testing.assert_allclose(box * data["size"] + data["center"], part.bounds, atol=2e-6)


@pytest.mark.parametrize("size", [1e-9, 1e9])
def test_any_scale_is_drawn(tmp_path, size):
    mesh = cube((7 * size, 0, 0), size)
    report = three_cubes(parts=(part_row("a", mesh),), clashes=(), assembly=None)
    data = Parsed(write_page(report, tmp_path / "a.html")).data
    metres = {"um": 1e-6, "mm": 1e-3, "m": 1.0}[data["unit"]]
    assert data["size"] * metres == pytest.approx(1e-3 * size * 3**0.5 / 2)


def test_repeated_vertices_are_stored_once():
    mesh = cube()
    soup = type(mesh)(mesh.vertices[mesh.faces.ravel()], np.arange(mesh.faces.size).reshape(-1, 3))
    points, faces = page.lean(soup)
    assert len(points) == 8
    np.testing.assert_array_equal(points[faces], soup.vertices[soup.faces])


def test_shapes_and_rows_beyond_the_limit_are_left_out(tmp_path, monkeypatch):
    report = three_cubes()
    monkeypatch.setattr(page, "CHUNK", 1)  # one shape per chunk
    complete = Parsed(write_page(report, tmp_path / "a.html"))
    spare = page.MAX_BYTES - len(complete.scripts[2].split()[-1]) // 2
    frame = page.placed(report, numbers := {name: k for k, name in enumerate(complete.data["names"])})
    room = sum(len(line) for line in complete.scripts[2].split()[1:]) - 1
    few = page.gather(report, numbers, frame, room)
    assert ((few.which >= 0).tolist(), few.left_out) == ([True, False, True], 1)  # parts of the worst clash come first
    monkeypatch.setattr(page, "_SPARE", spare)
    parsed = Parsed(write_page(report, tmp_path / "a.html"))
    assert [body is None for body in parsed.bodies()[0]] == [True] * 3
    assert np.isfinite(parsed.bodies()[1]).all()
    assert messages.BOXES.format(3, 3) in parsed.text
    monkeypatch.setattr(page, "MAX_ROWS", 1)
    parsed = Parsed(write_page(report, tmp_path / "a.html"))
    assert len(parsed.rows) == len(parsed.data["ids"]) == 1
    assert messages.WORST.format(1, 2) in parsed.text


def test_copies_beyond_triangle_limit_are_boxes(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "MAX_TRIANGLES", 25)
    parsed = Parsed(write_page(three_cubes(), tmp_path / "a.html"))
    assert messages.BOXES_UNTIL_CHOSEN not in parsed.text
    assert messages.BOX_UNTIL_CHOSEN in parsed.text


def test_blocks_keep_order_and_stop_at_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "ROWS", 7)
    parsed = Parsed(write_page(many(30, side=4), tmp_path / "a.html"))
    assert [row["severity"] for row in parsed.rows] == list(range(1, 31))
    assert len(parsed.scripts[1].split()) == 5
    monkeypatch.setattr(page, "MAX_CHARACTERS", 3 * len(parsed.scripts[1].split()[0]))
    parsed = Parsed(write_page(many(30, side=4), tmp_path / "a.html"))
    assert 7 <= len(parsed.rows) == len(parsed.data["ids"]) <= 21
    assert messages.WORST.format(len(parsed.rows), 30) in parsed.text


def test_page_shows_settings_and_missing_data(tmp_path):
    note = "one rule matched nothing"
    report = three_cubes(complete=False, notes=(note,))
    text = Parsed(write_page(report, tmp_path / "a.html")).text
    for words in (
        "1 hard, 1 clearance in press.glb",
        "3\u00a0pairs, 2\u00a0close, 2\u00a0tested",
        "clearance 0.5\u00a0mm",
        "stopped before",
    ):
        assert words in text
    assert note in text
    assert "0" * 64 in text
    assert messages.NO_TRIANGLES in Parsed(write_page(three_cubes(assembly=None), tmp_path / "b.html")).text
    assert messages.NO_UNIT in Parsed(write_page(three_cubes(unit=None), tmp_path / "c.html")).text
    assert messages.NOTHING_TESTED in Parsed(write_page(Report(), tmp_path / "d.html")).text


def test_rows_describe_the_decision(tmp_path):
    parsed = Parsed(write_page(three_cubes(), tmp_path / "a.html"))
    hard, near = (parsed.data["decided"][row["decided"]] for row in parsed.rows)
    assert hard.startswith(messages.BY_INTERSECTION)
    assert messages.BY_TRIANGLES in near
    hulls = replace(three_cubes().clashes[0], shape_a="hull", shape_b="hull", method="epa")
    assert decided(hulls).endswith(messages.BY_HULLS)
    assert messages.ESTIMATE in decided(replace(hulls, distance_kind="approximate"))
    assert messages.EXACT in decided(replace(hulls, distance_kind="exact"))


def test_depth_bound_is_marked_as_bound():
    """The depth is an upper bound, so reports mark it as such."""
    report = three_cubes()
    hard, near = report.clashes
    assert (hard.evidence, near.evidence) == (messages.DEPTH_AT_MOST, "triangles, exact")
    for text in (formats.to_markdown(report), formats.to_junit(report)):
        assert messages.DEPTH_AT_MOST in text
        assert "bound" not in text
    assert replace(hard, kind="unchecked", distance=None).evidence == "-"
    assert replace(hard, distance=None, distance_kind="approximate").evidence == "boolean"


def test_names_are_escaped(tmp_path):
    names = (EVIL, ENDING, "\udcff.stl")
    report = three_cubes(names, notes=(EVIL,), unit=EVIL, settings={EVIL: ENDING})
    report.parts += (PartRow(f"{ENDING} broken", EVIL, 0, reason=f"</li>{EVIL}"),)
    path = write_page(report, tmp_path / "a.html")
    parsed, plain = Parsed(path), Parsed(write_page(three_cubes(), tmp_path / "b.html"))
    assert len(parsed.scripts) == len(plain.scripts)
    assert EVIL not in parsed.source
    assert set(parsed.data["names"]) == {part.name for part in report.parts}
    assert {tag for tag, _ in parsed.tags} - {tag for tag, _ in plain.tags} <= {"details", "summary", "ul", "li", "p"}


def test_unset_settings_are_not_shown(tmp_path):
    report = check(three_cubes().assembly, a="press/*")
    assert report.settings["b"] is None
    source = Parsed(write_page(report, tmp_path / "a.html")).source
    settings = source[source.index("files and settings") : source.index("</footer>")]
    assert "<tr><th>a</th><td>press/*</td></tr>" in settings
    assert messages.TOLERANCE_FROM in settings
    assert "null" not in settings
    assert "[]" not in settings


def test_equal_reports_give_equal_bytes(tmp_path):
    first, second = (three_cubes().to_html(tmp_path / name).read_bytes() for name in ("a.html", "b.html"))
    assert first == second
    assert len(first) < 1_000_000


@pytest.mark.full
def test_writing_a_page_does_not_import_pyvista(tmp_path):
    code = (
        "import sys; from gjk3d.clash import Report, formats; from gjk3d.clash.page import write_page; "
        "write_page(Report(), sys.argv[1]); print([m for m in ('pyvista', 'vtkmodules') if m in sys.modules])"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "a.html")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "[]"

"""Pictures in BCF have few colours, and the colours of their legend are exact."""

import io
import zipfile
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

import gjk3d as gk
from gjk3d.clash.formats.bcf import guid, to_bcf
from gjk3d.clash.triage import Issue, Triage, View
from gjk3d.cli.triage import snapshots
from gjk3d.viz.colors import COLORS, SEPARATION
from gjk3d.viz.drawing import COMMON


def test_snapshot_has_the_colours_of_its_legend():
    report = gk.clash.check(gk.clash.Assembly.load("data/gearbox.glb"))
    png = snapshots(report)(report.clashes[0])
    colors = np.unique(np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).reshape(-1, 3), axis=0)
    assert len(colors) <= 128
    assert {"#{:02X}{:02X}{:02X}".format(*color) for color in colors.tolist()} >= {*COLORS, COMMON, SEPARATION}
    assert snapshots(report, 1)(report.clashes[1]) is None
    touch = next(clash for clash in report.clashes if clash.kind == "touch")
    assert snapshots(report)(touch) is None


def test_saved_view_has_snapshot_with_camera_and_section(tmp_path):
    vertices, faces = gk.Box((2, 2, 2)).surface()
    parts = {"a": gk.Mesh(vertices, faces), "b": gk.Mesh(vertices + (1.5, 0, 0), faces)}
    report = gk.clash.check(gk.clash.Assembly.of(parts, "mm"))
    (clash,) = report.clashes
    at, up = "2026-05-04T08:00:00.000Z", (0.0, 1.0, 0.0)
    uncut = View(at, "ann", "view 1", "1", (0.0, 0.0, 20.0), (0.0, 0.0, 0.0), up)
    section = View(at, "ann", "view 2", "2", uncut.eye, uncut.target, up, (((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)),))
    issue = Issue(clash.id, clash.kind, clash.a, clash.b, views=(uncut, section))
    report.triage = Triage({clash.id: issue})
    draw = snapshots(report)
    to_bcf(report, tmp_path / "a.bcf", snapshot=draw, view_snapshot=draw)
    with zipfile.ZipFile(tmp_path / "a.bcf") as archive:
        markup = archive.read(f"{guid(clash.id)}/markup.bcf")
        pictures = [
            np.asarray(Image.open(io.BytesIO(archive.read(f"{guid(clash.id)}/snapshot-{k}.png"))).convert("RGB"))
            for k in (1, 2)
        ]
    assert [f"snapshot-{k}.png".encode() in markup for k in (1, 2)] == [True, True]
    # pixels across A at mid height: the section removes its left half
    colored = [np.ptp(picture[300].astype(int), axis=1) > 60 for picture in pictures]
    assert colored[0][420]
    assert not colored[1][420]
    assert all(row[380] for row in colored)


def test_snapshot_equals_projection_by_viewpoint(tmp_path):
    """The corners of the pin are drawn where the camera of the viewpoint projects them."""
    vertices, faces = gk.Box((2, 2, 2)).surface()
    parts = {"plate": gk.Mesh(vertices * (4, 4, 0.2), faces), "pin": gk.Mesh(vertices * 0.4 + (0.3, 0.2, 0.4), faces)}
    report = gk.clash.check(gk.clash.Assembly.of(parts, "mm"))
    to_bcf(report, tmp_path / "a.bcf", snapshot=snapshots(report))
    (clash,) = report.clashes
    with zipfile.ZipFile(tmp_path / "a.bcf") as archive:
        view = ElementTree.fromstring(archive.read(f"{guid(clash.id)}/viewpoint.bcfv"))
        image = Image.open(io.BytesIO(archive.read(f"{guid(clash.id)}/snapshot.png"))).convert("RGB")
    camera = view.find("PerspectiveCamera")
    eye, ahead, up = (
        np.array([float(camera.find(f"{name}/{axis}").text) for axis in "XYZ"])
        for name in ("CameraViewPoint", "CameraDirection", "CameraUpVector")
    )
    right, half = np.cross(ahead, up), np.tan(np.radians(float(camera.findtext("FieldOfView")) / 2))
    side = "ab".index("a" if clash.a == "pin" else "b")
    local = 1e-3 * parts["pin"].vertices - eye
    depth = local @ ahead
    x = 0.5 * image.width + 0.5 * image.height * (local @ right) / (depth * half)
    y = 0.5 * image.height * (1 - (local @ up) / (depth * half))
    color = [int(COLORS[side][k : k + 2], 16) for k in (1, 3, 5)]
    pixels = np.asarray(image).astype(float)
    hue = np.array(color) / np.linalg.norm(color)
    of_pin = (pixels @ hue) / np.maximum(np.linalg.norm(pixels, axis=2), 1.0) > 0.995
    of_pin &= pixels.max(axis=2) - pixels.min(axis=2) > 90
    of_pin[:, :60] = False  # the legend
    rows, columns = np.nonzero(of_pin)
    assert [columns.min(), columns.max()] == pytest.approx([x.min(), x.max()], abs=4)
    assert rows.min() == pytest.approx(y.min(), abs=4)

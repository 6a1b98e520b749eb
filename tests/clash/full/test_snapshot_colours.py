"""Pictures in BCF have few colours, and those of their legend are exact."""

import io

import numpy as np
from PIL import Image

import gjk3d as gk
from gjk3d.cli.triage import snapshots
from gjk3d.viz.drawing import COLORS, COMMON, SEPARATION


def test_a_picture_has_the_colours_of_its_legend():
    report = gk.clash.check(gk.clash.Assembly.load("data/gearbox.glb"))
    png = snapshots(report)(report.clashes[0])
    colors = np.unique(np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).reshape(-1, 3), axis=0)
    assert len(colors) <= 128
    assert {"#{:02X}{:02X}{:02X}".format(*color) for color in colors.tolist()} >= {*COLORS, COMMON, SEPARATION}
    assert snapshots(report, 1)(report.clashes[1]) is None
    touch = next(clash for clash in report.clashes if clash.kind == "touch")
    assert snapshots(report)(touch) is None

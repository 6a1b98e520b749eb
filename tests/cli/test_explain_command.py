from __future__ import annotations

import re

import numpy as np
import pytest
from PIL import Image
from words import assert_names

import gjk3d as gk
from tests.cli import sentences


def shift(x, y=0.0, z=0.0):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def test_shapes_are_explained_in_words(run):
    said = run("explain", "box:2,2,2", "sphere:0.5", "--pose-b", "2.5 0.2 0.1")
    assert said.code == 0
    result = gk.signed_distance(gk.Box((2, 2, 2)), gk.Sphere(0.5), None, shift(2.5, 0.2, 0.1))
    told = str(gk.viz.explain(result))
    assert said.out.splitlines() == told.splitlines()
    assert said.out.startswith(sentences.FIRST_STEP)
    assert "sphere B's 0.5" in said.out
    assert f"{result.distance:.9g} apart" in said.out


def test_models_are_explained_by_their_hulls_in_one_unit(run, box, assembly):
    said = run("explain", box(), box("other.stl", (1.5, 0.1, 0)), "--unit", "mm")
    assert said.code == 1
    assert sentences.ANSWER_OVERLAPPING.format("0.5 mm") in said.out
    said = run("explain", f"{assembly}#ell", "sphere:0.25", "--pose-b", "2.6 0.1 0.1")
    assert said.code == 1
    assert "sphere B's 0.25 m." in said.out  # the file is in metres, and the sphere with it
    assert_names(said.err, "#ell", "hull")


def test_shapes_written_as_numbers_are_in_the_unit_that_is_said(run, tmp_path):
    page = tmp_path / "page.html"
    said = run("explain", "box:2,2,2", "sphere:0.5", "--pose-b", "2.5 0 0", "--unit", "cm", "--html", page)
    assert sentences.ANSWER_APART.format("1 cm.") in said.out
    bounds = sentences.BOUNDS_OF_THE_DISTANCE.format("cm")
    assert_names(page.read_text(encoding="utf-8"), " 1 cm", bounds, '"unit":"cm"')


@pytest.mark.parametrize(
    ("word", "shape"),
    [
        ("point:1,2,3", gk.Point((1, 2, 3))),
        ("capsule:0.3,1", gk.Capsule(0.3, 1)),
        ("cylinder:1,2", gk.Cylinder(1, 2)),
        ("cone:1,2", gk.Cone(1, 2)),
        ("ellipsoid:1,2,3", gk.Ellipsoid((1, 2, 3))),
    ],
)
def test_every_shape_has_its_word(run, word, shape):
    said = run("explain", word, "box:1,1,1", "--pose-b", "6 0.3 0.2")
    distance = gk.signed_distance(shape, gk.Box((1, 1, 1)), None, shift(6, 0.3, 0.2)).distance
    assert float(re.search(sentences.APART_BY, said.out)[1].rstrip(".")) == pytest.approx(distance, rel=1e-5)


@pytest.mark.full
def test_files_are_written_and_named(run, tmp_path):
    page, film, strip = (tmp_path / name for name in ("e.html", "e.gif", "e.png"))
    said = run(
        "explain", "box:2,2,2", "box:1,1,1", "--pose-b", "1.2 0.2 0.1", "--html", page, "--gif", film, "--png", strip,
        "--view", "0.3 -1 0.5",
    )  # fmt: skip
    assert said.code == 1
    steps = len(said.out.splitlines())
    told = [line for line in said.err.splitlines() if "wrote" in line]
    assert [line.endswith(str(path)) for line, path in zip(told, (page, film, strip), strict=True)] == [True] * 3
    assert "box:2,2,2" in page.read_text(encoding="utf-8")
    with Image.open(film) as animation:
        assert animation.n_frames == steps
    assert np.asarray(Image.open(strip).convert("RGB")).std() > 5


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("bax:1,1,1", "sphere:1"), "'bax'"),
        (("box:1,1", "sphere:1"), "box:x,y,z, 3 numbers"),
        (("sphere:one", "sphere:1"), "sphere:radius, 1 number"),
        (("sphere:-1", "sphere:1"), "radius"),
        (("sphere:1", "nowhere.stl"), "nowhere.stl"),
        (("sphere:1", "sphere:1", "--gif", "x.mp4"), ".gif or .webp"),
        (("sphere:1", "sphere:1", "--view", "0 0 0"), "--view '0 0 0'"),
        (("sphere:1", "sphere:1", "--view", "up"), "--view 'up'"),
        (("sphere:1", "sphere:1", "--unit", "furlong"), "'furlong'"),
    ],
)
def test_what_is_wrong_is_said_with_the_cure(run, words, named):
    said = run("explain", *words)
    assert said.code == 2
    assert named in said.err
    assert said.out == ""

"""Every example runs as a script, prints the expected numbers, and draws its pictures."""

from __future__ import annotations

import importlib.util
import itertools
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from message_checks import assert_names
from PIL import Image
from scipy.ndimage import maximum_filter, uniform_filter

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
#: scripts that write the pictures, films or pages of other examples
MAKERS = {"make_films", "make_pictures", "make_site"}
FILMS = {"film_gjk", "film_epa", "film_sat", "film_impact"}
NAMES = sorted(file.stem for file in EXAMPLES.glob("*.py"))
#: pictures whose names differ from that of the example
PICTURES = {
    "lesson_pictures": ["lesson_axes", "lesson_horizon", "lesson_regions", "lesson_support"],
    "make_films": ["film_impact"],
    "make_pictures": ["interference"],
    "make_site": ["interference"],
}


def pictures_of(name: str) -> list[str]:
    """Return the names of the pictures that an example draws, in order."""
    return PICTURES.get(name, [name])


class Run:
    """The output and pictures of one example, run in a separate folder."""

    def __init__(self, name: str, folder: Path) -> None:
        # the scripts that make pictures run only one example, because the others are tested separately
        extra = {
            "make_films": ["impact", "--out", "out"],
            "make_pictures": ["interference", "--out", "out"],
            "make_site": ["interference", "--no-reference"],
        }
        command = [sys.executable, str(EXAMPLES / f"{name}.py"), *extra.get(name, [])]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        self.out, self.err = done.stdout, done.stderr
        self.pictures = sorted((folder / ("site/pictures" if name == "make_site" else "out")).iterdir())


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a function that runs an example once and caches the result for this module."""
    done: dict[str, Run] = {}

    def run_once(name: str) -> Run:
        if name not in done:
            done[name] = Run(name, tmp_path_factory.mktemp(name))
        return done[name]

    return run_once


def deviation(picture: Path) -> float:
    with Image.open(picture) as image:
        return float(np.asarray(image.convert("RGB"), dtype=float).std())


def test_gallery_lists_all_commands():
    # the gallery lists the command of each example
    gallery = (EXAMPLES / "README.md").read_text()
    assert [name for name in NAMES if f"python examples/{name}.py" not in gallery] == []
    assert len(NAMES) >= 9


@pytest.mark.parametrize("name", NAMES)
def test_example_runs_draws_and_prints_paths(run, name):
    done = run(name)
    assert [picture.stem for picture in done.pictures] == pictures_of(name)
    assert all(deviation(picture) > 5 for picture in done.pictures)
    assert all(picture.stem in done.err for picture in done.pictures)
    assert not re.search(r"Warning|ERR\||WARN\||vtk|nanobind", done.err)


def numbers(text: str) -> list[float]:
    return [float(word) for word in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", text)]


def line(text: str, start: str) -> str:
    matches = [row.strip() for row in text.splitlines() if row.strip().startswith(start)]
    assert matches, f"no line starts with {start!r}"
    return matches[0]


def test_tutorial_prints_the_numbers_of_the_texts(run):
    out = run("tutorial_2d_to_3d").out
    for what, value in [
        ("distance 11/√41", "1.71791138               1.71791138"),
        ("nearest point", "(-1.07317, 1.34146)      (-1.07317, 1.34146)"),
        ("point on A", "(6.92683, 7.34146)       (6.92683, 7.34146)"),
        ("point on B", "(8, 6)                   (8, 6)"),
        ("its weight", "0.585365854              0.585365854"),
        ("A - B, farthest along (1, -1)", "(4, 2)                   (4, 2)"),
        ("A - B, farthest along (-336, -480)", "(-8, -2)                 (-8, -2)"),
        ("(7, 0) vertex", "separated                separated"),
        ("minus the depth 6/√41", "-0.937042571             -0.937042571"),
    ]:
        assert line(out, what).endswith(value)
    lower, upper = numbers(line(out, "proven:"))
    assert lower <= 11 / 41**0.5 <= upper <= lower + 1e-10
    steps = re.findall(r"new point +(\(.*?\)) +difference (\S+)", out)
    assert steps[0] == ("(-11, -1)", "24")
    assert steps[1] == ("(-4, -1)", "5.6")
    assert float(steps[-1][1]) == pytest.approx(0, abs=1e-9)


def test_interference_prints_shapes_and_results(run):
    out = run("interference").out
    assert_names(out, "hulls", "1.499996 mm", "(0.0000, 0.0000, -1.5000) mm", "0.500001 mm")
    assert re.search(r"shaft_in\b.*cap_in\b.*overlapping", out)
    assert re.search(r"shaft_out\b.*cap_out\b.*separated", out)
    for row in re.findall(r"proven +(.*)", out):
        lower, upper = numbers(row)
        assert lower <= upper <= lower + 1e-9


def test_path_is_proven_free(run):
    out = run("plan_path").out
    length, smoothed = numbers(line(out, "path of"))[:2]
    assert smoothed < 0.7 * length
    _, lower, upper = numbers(line(out, "least clearance"))
    assert 0.005 <= lower <= upper <= lower + 1e-3
    (everywhere,) = numbers(line(out, "proven clearance"))
    assert 0 < everywhere < lower


def test_robot_cell_proves_one_path_free_and_finds_one_hit(run):
    out = run("robot_cell").out
    assert line(out, "path.csv") == "path.csv: FREE"
    blocked = line(out, "path_blocked.csv")
    assert_names(blocked, "HIT", "edge 2 of 2", "0.3911")
    assert numbers(blocked)[2] == pytest.approx(0.391187, abs=3e-6)  # the contact is known to within 1e-6
    assert re.search(r"gripper\b.*pillar$", blocked)


def test_certificate_bounds_the_depth_from_both_sides(run):
    out = run("certificate").out
    (outer,) = numbers(line(out, "the plane is"))
    (inner,) = numbers(line(out, "the surface is"))
    depth = -numbers(line(out, "Distance: overlapping"))[0]
    assert inner <= outer <= inner + 1e-12
    assert depth == pytest.approx(outer, abs=1e-9)


def test_crate_is_supported_until_its_centre_passes_the_edge(run):
    out = run("box_off_table").out
    rows = [numbers(row) for row in out.splitlines() if re.fullmatch(r"[\s\d.-]+", row)]
    for x, count, patch, to_border in rows:
        assert count in (4, 5)
        assert patch <= 1200
        assert to_border == pytest.approx(min(150, 450 - 1000 * x), abs=0.01)
    assert [row[3] < 0 for row in rows] == [False] * (len(rows) - 1) + [True]
    tipped = re.findall(r"°.*touching\D+(\d+)\D+([\d.e-]+) m", out)
    assert [count for count, _ in tipped] == ["2"] * 3
    assert all(float(gap) < 1e-15 for _, gap in tipped)


def test_tighter_bounding_volumes_exclude_more_pairs(run):
    out = run("bounding_volumes").out
    pairs, hits = (int(numbers(line(out, "400 poses"))[k]) for k in (1, 2))
    rows = [numbers(line(out, name)) for name in ("ball", "AABB", "OBB")]
    volumes, left, vain = ([row[k] for row in rows] for k in (0, 4, 5))
    assert volumes[0] > volumes[1] > volumes[2] > 1.0
    assert pairs > left[0] > left[1] > left[2] > hits > 0
    assert vain == pytest.approx([100 * (1 - hits / rest) for rest in left], abs=0.051)


def test_bullet_hits_with_its_tip_at_the_plate(run):
    out = run("bullet").out
    assert re.search(r"^6 sampled\b.*free", out, re.MULTILINE)
    assert re.search(r"^1000 sampled\b.*hit", out, re.MULTILINE)
    assert numbers(line(out, "tip at"))[0] == pytest.approx(-0.002, abs=1e-6)
    assert re.search(r"third\b.*Impact: free\b.* 1$", out, re.MULTILINE)


def test_superquadric_distance_changes_with_pose_and_margin(run):
    out = run("superquadric").out
    distance, deep, grown = (numbers(text)[0] for text in out.splitlines() if "Distance:" in text)
    # the cylinder moves along x by half a unit, so only the distance changes
    assert deep == pytest.approx(distance - 0.5, abs=2e-4)
    assert grown == pytest.approx(distance - 0.1, abs=1e-9)


def test_gradient_descent_reaches_the_clearance(run):
    out = run("gradient_descent").out
    rows = [numbers(row) for row in out.splitlines() if re.fullmatch(r"[\s\d.-]+", row)]
    assert rows[0][1] > 15
    assert rows[0][2] < -0.5
    deepest = [row[2] for row in rows]
    assert deepest == sorted(deepest)
    assert rows[-1][1] == 0
    assert numbers(line(out, "after"))[1] >= 0.05


def test_explained_examples_print_the_numbers_of_the_texts(run):
    out = run("explain_distance").out
    assert re.search(r"origin\b.*w1 w3\b.*drops w2\b", out)
    assert numbers(line(out, "gjk3d:"))[1] == pytest.approx(11 / 41**0.5, abs=1e-8)
    out = run("explain_overlap").out
    assert numbers(line(out, "gjk3d:"))[1] == pytest.approx(-6 / 41**0.5, abs=1e-8)
    assert numbers(line(out, "by SAT:"))[0] == pytest.approx(-6 / 41**0.5, abs=1e-8)
    assert re.search(r"w1 w3 w7\b.*origin\b.*0\.937\b", out)
    out = run("explain_exact").out
    assert re.search(r"origin\b.*w1 w2\b.*point", out)
    assert numbers(line(out, "gjk3d:"))[1] == pytest.approx(-8.5 / 29**0.5, abs=1e-8)


def test_site_has_code_pictures_and_interactive_pages(run, tmp_path):
    folder = run("make_site").pictures[0].parents[1]
    text = (folder / "index.html").read_text(encoding="utf-8")
    links = re.findall(r'(?:href|src)="([^"#]+)"', text)
    assert {"pages/interference.html", "pages/interference-1.html", "pictures/interference.webp"} <= set(links)
    assert {f"pages/lesson-{topic}.html" for topic in ("gjk", "sat", "bounds")} <= set(links)
    assert [link for link in links if not (folder / link).exists()] == []
    assert all(f'id="{anchor}"' in text for anchor in re.findall(r'href="#([^"]+)"', text))
    assert text.index("<code>") < text.index("<img") < text.index("<iframe")
    assert "&lt;" in text  # code is escaped
    assert "<script" not in text


def test_site_has_every_section_of_the_gallery():
    spec = importlib.util.spec_from_file_location("make_site", EXAMPLES / "make_site.py")
    site = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(site)
    names = [section["name"] for section in site.SECTION.finditer((EXAMPLES / "README.md").read_text(encoding="utf-8"))]
    assert sorted(names) == sorted(set(NAMES) - MAKERS)
    assert site.REFERENCE.search((EXAMPLES.parent / "README.md").read_text(encoding="utf-8"))


def test_hero_prints_the_depth_of_the_clash(run):
    assert_names(run("hero").out, "overlapping", "-1.49999559", "(0, 0, -1)")


def test_committed_pictures_are_small_and_not_blank():
    pictures = {file.name: file for file in (EXAMPLES / "pictures").iterdir()}
    examples = FILMS | {picture for name in NAMES for picture in pictures_of(name)} - {"hero"}
    assert set(pictures) == {f"{name}.webp" for name in examples} | {"hero.png", "laws.svg"}
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    for name, file in pictures.items():
        most = 2_000_000 if file.stem in FILMS else 200_000 if name == "hero.png" else 150_000
        assert file.stat().st_size < most
        assert f"pictures/{name}" in text
        if file.suffix == ".svg":
            assert ElementTree.parse(file).getroot().tag == "{http://www.w3.org/2000/svg}svg"
        else:
            assert deviation(file) > 5


@pytest.mark.parametrize("name", sorted(FILMS))
def test_film_is_smooth_and_lasts_at_most_30_seconds(name):
    with Image.open(EXAMPLES / "pictures" / f"{name}.webp") as film:
        times, pictures = [], []
        for k in range(film.n_frames):
            film.seek(k)
            pictures.append(np.asarray(film.convert("L").resize((225, 140)), dtype=float))
            times.append(film.info["duration"])
    assert 15_000 < sum(times) <= 30_000
    assert times[0] >= 3000
    assert times[-1] >= 3000  # time to read the first sentence and to study the last frame
    changes = np.array([np.abs(b - a).mean() for a, b in itertools.pairwise(pictures)])
    moving = np.array(times[1:]) < 100
    assert moving.sum() > 80
    assert changes.max() < 15  # no jump between frames
    assert (changes[moving] > 0.05).mean() > 0.5
    for guide in ("README.md", "guides/from-2d-tutorials-to-3d.md"):
        assert f"pictures/{name}.webp" in (EXAMPLES / guide).read_text(encoding="utf-8")


class Difference(NamedTuple):
    """The difference between two pictures of the same scene, in gray levels from 0 to 255."""

    mean: float  #: mean difference of reduced copies of both pictures
    lost: float  #: greatest loss of local detail in the second picture, as by a missing word


def compare(first: Image.Image, second: Image.Image) -> Difference:
    size = (600, round(600 * first.height / first.width))
    a, b = (
        np.asarray(image.convert("L").resize(size, Image.Resampling.LANCZOS), dtype=float) for image in (first, second)
    )
    detail_a, detail_b = (np.abs(x - uniform_filter(x, 9)) for x in (a, b))
    # the filter tolerates details that moved by one or two pixels
    lost = uniform_filter(np.maximum(detail_a - maximum_filter(detail_b, 5), 0.0), 9)
    return Difference(float(np.abs(uniform_filter(a - b, 12)).mean()), float(lost.max()))


#: Bounds for two drawings of the same scene by different drivers. Only another picture or a missing word exceeds them.
MAX_MEAN, MAX_LOST = 4.0, 15.0


@pytest.mark.parametrize("name", sorted(set(NAMES) - MAKERS))
def test_committed_picture_equals_the_drawn_one(run, name):
    for drawn in run(name).pictures:
        file = EXAMPLES / "pictures" / ("hero.png" if name == "hero" else f"{drawn.stem}.webp")
        with Image.open(file) as committed, Image.open(drawn) as made:
            assert committed.size == made.size
            differences = compare(committed, made), compare(made, committed)
        assert max(pair.mean for pair in differences) < MAX_MEAN
        assert max(pair.lost for pair in differences) < MAX_LOST, "words or lines are in one of the two alone"


def test_picture_comparison_detects_a_missing_word():
    with Image.open(EXAMPLES / "pictures" / "interference.webp") as image:
        original = image.convert("RGB")
    blank = original.copy()
    blank.paste(original.getpixel((590, 5)), (0, 0, 150, 25))  # erases half of the first line of text
    assert compare(original, blank).mean < MAX_MEAN
    assert compare(original, blank).lost > MAX_LOST
    assert compare(original, original) == (0.0, 0.0)


def test_every_picture_has_a_text_alternative():
    """Every picture in Markdown or HTML has an alternative text of at least three words."""
    for file in [EXAMPLES.parent / "README.md", *EXAMPLES.rglob("*.md"), EXAMPLES.parent / "data" / "README.md"]:
        text = file.read_text(encoding="utf-8")
        words = re.findall(r"!\[([^]]*)\]", text) + re.findall(
            r"<img(?:(?!alt=)[^>])*(?:alt=\"([^\"]*)\")?[^>]*>", text
        )
        assert [alternative for alternative in words if len(alternative.split()) < 3] == [], file


def test_gallery_names_every_example():
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(f"python examples/{name}.py" in text for name in NAMES)


def test_ship_collides_with_no_rock(run):
    out = run("asteroids").out
    steps = [numbers(row) for row in out.splitlines() if row.startswith("step")]
    assert [int(row[0]) for row in steps] == [20, 40, 60, 80, 100, 120]
    assert [row[-1] for row in steps] == sorted(row[-1] for row in steps)  # the ship always advances
    least = numbers(line(out, "2000 rocks"))[-1]
    assert 0 < least <= min(row[1] for row in steps)


def test_interactive_example_updates_its_results(run):
    out = run("interactive").out
    assert [numbers(row)[1] for row in out.splitlines() if row.startswith("cylinder")] == [0.2, 0.05, -0.1]
    rows = [row for row in out.splitlines() if row.startswith("joint_2")]
    gaps = [float(row.split("signed distance")[1].split()[0]) for row in rows]
    assert gaps == sorted(gaps)  # the joint moves the arm away from the ball
    assert [": free," in row for row in rows] == [gap > 0 for gap in gaps]
    assert gaps[0] < 0 < gaps[-1]


def test_plan_arm_proves_its_path(run):
    out = run("plan_arm").out
    assert re.search(r"start\b.*goal\b.*link_\d\b.*beam\b.*0\.\d+", out)
    assert "proven" in line(out, "RRT-Connect")
    assert numbers(line(out, "nearest of"))[-1] >= numbers(line(out, "proven clearance"))[0] >= 0.0


def test_optimised_path_is_proven_free(run):
    out = run("optimise_path").out
    straight = numbers(line(out, "start 0"))
    assert straight[1] > 10.0  # the straight path crosses the mesh
    assert "depth ≤ " in line(out, "start 0").split(",")[0]
    assert "gap " in line(out, "start 0").split(",")[1]
    assert straight[2] > 30.0
    assert line(out, "the whole path").endswith("PROVEN")
    assert numbers(line(out, "proven clearance"))[0] > 10.0


def test_clash_report_has_new_and_resolved_clashes(run):
    before, after = run("clash_report").out.split("cut back")
    assert re.search(r"hard +cap_in +shaft_in +depth 1\.5000 mm +new", before)
    assert "shaft_in" not in after  # shortened by 2 mm, it ends 0.5 mm before its cap
    assert len(re.findall(r"hard .* depth 1\.0000 mm +new", after)) == 3  # with the parts below the lowered cover
    assert "label_copy" not in before + after  # a rule accepts this clash

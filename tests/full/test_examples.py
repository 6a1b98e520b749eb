"""Every example runs as a user would run it, says what it should, and draws something."""

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
from PIL import Image
from scipy.ndimage import maximum_filter, uniform_filter
from words import assert_names

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
#: scripts that write pictures or pages of examples
MAKERS = {"make_films", "make_pictures", "make_site"}
FILMS = {"film_gjk", "film_epa", "film_sat", "film_impact"}
# OMPL has no wheels for Windows
NAMES = sorted(file.stem for file in EXAMPLES.glob("*.py"))
#: pictures of an example that do not have its name
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
    """One example, run once in a folder of its own."""

    def __init__(self, name: str, folder: Path) -> None:
        # the gallery's script runs one example rather than all of them a second time
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
    """Return a function that runs an example once in this session."""
    done: dict[str, Run] = {}

    def run_once(name: str) -> Run:
        if name not in done:
            done[name] = Run(name, tmp_path_factory.mktemp(name))
        return done[name]

    return run_once


def deviation(picture: Path) -> float:
    with Image.open(picture) as image:
        return float(np.asarray(image.convert("RGB"), dtype=float).std())


def test_all_are_here():
    # each in the gallery with the command that runs it; a new one is added there
    told = (EXAMPLES / "README.md").read_text()
    assert [name for name in NAMES if f"python examples/{name}.py" not in told] == []
    assert len(NAMES) >= 9


@pytest.mark.parametrize("name", NAMES)
def test_runs_draws_and_says_where(run, name):
    done = run(name)
    assert [picture.stem for picture in done.pictures] == pictures_of(name)
    assert all(deviation(picture) > 5 for picture in done.pictures)
    assert all(picture.stem in done.err for picture in done.pictures)
    assert not re.search(r"Warning|ERR\||WARN\||vtk|nanobind", done.err)


def numbers(text: str) -> list[float]:
    return [float(word) for word in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", text)]


def line(text: str, start: str) -> str:
    found = [row.strip() for row in text.splitlines() if row.strip().startswith(start)]
    assert found, f"no line starts with {start!r}"
    return found[0]


def test_tutorial_replays_the_texts(run):
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


def test_interference_says_what_it_compares_and_what_it_found(run):
    out = run("interference").out
    assert_names(out, "hulls", "1.499996 mm", "(0.0000, 0.0000, -1.5000) mm", "0.500001 mm")
    assert re.search(r"shaft_in\b.*cap_in\b.*overlapping", out)
    assert re.search(r"shaft_out\b.*cap_out\b.*separated", out)
    for row in re.findall(r"proven +(.*)", out):
        lower, upper = numbers(row)
        assert lower <= upper <= lower + 1e-9


def test_path_is_proven_free(run):
    out = run("plan_path").out
    found, smoothed = numbers(line(out, "path of"))[:2]
    assert smoothed < 0.7 * found
    _, lower, upper = numbers(line(out, "least clearance"))
    assert 0.005 <= lower <= upper <= lower + 1e-3
    (everywhere,) = numbers(line(out, "proven clearance"))
    assert 0 < everywhere < lower


def test_one_path_of_the_arm_is_proven_free_and_the_other_meets_the_pillar(run):
    out = run("robot_cell").out
    assert line(out, "path.csv") == "path.csv: FREE"
    blocked = line(out, "path_blocked.csv")
    assert_names(blocked, "HIT", "edge 2 of 2", "0.3911")
    assert numbers(blocked)[2] == pytest.approx(0.391187, abs=3e-6)  # a bracket of 1e-6 round the contact
    assert re.search(r"gripper\b.*pillar$", blocked)


def test_certificate_has_both_bounds_of_the_depth(run):
    out = run("certificate").out
    (outer,) = numbers(line(out, "the plane is"))
    (inner,) = numbers(line(out, "the surface is"))
    depth = -numbers(line(out, "Distance: overlapping"))[0]
    assert inner <= outer <= inner + 1e-12
    assert depth == pytest.approx(outer, abs=1e-9)


def test_the_crate_is_held_until_its_centre_is_over_the_edge(run):
    out = run("box_off_table").out
    rows = [numbers(row) for row in out.splitlines() if re.fullmatch(r"[\s\d.-]+", row)]
    for x, count, patch, held in rows:
        assert count in (4, 5)
        assert patch <= 1200
        assert held == pytest.approx(min(150, 450 - 1000 * x), abs=0.01)
    assert [row[3] < 0 for row in rows] == [False] * (len(rows) - 1) + [True]
    tipped = re.findall(r"°.*touching\D+(\d+)\D+([\d.e-]+) m", out)
    assert [count for count, _ in tipped] == ["2"] * 3
    assert all(float(gap) < 1e-15 for _, gap in tipped)


def test_bounding_volumes_lose_no_pair_and_spare_more_the_tighter_they_are(run):
    out = run("bounding_volumes").out
    pairs, hits = (int(numbers(line(out, "400 poses"))[k]) for k in (1, 2))
    rows = [numbers(line(out, name)) for name in ("ball", "AABB", "OBB")]
    volumes, left, vain = ([row[k] for row in rows] for k in (0, 4, 5))
    assert volumes[0] > volumes[1] > volumes[2] > 1.0
    assert pairs > left[0] > left[1] > left[2] > hits > 0
    assert vain == pytest.approx([100 * (1 - hits / rest) for rest in left], abs=0.051)


def test_the_bullet_hits_where_its_tip_is_at_the_plate(run):
    out = run("bullet").out
    assert re.search(r"^6 sampled\b.*free", out, re.MULTILINE)
    assert re.search(r"^1000 sampled\b.*hit", out, re.MULTILINE)
    assert numbers(line(out, "tip at"))[0] == pytest.approx(-0.002, abs=1e-6)
    assert re.search(r"third\b.*Impact: free\b.* 1$", out, re.MULTILINE)


def test_the_superquadric_is_as_far_as_its_own_equation_says(run):
    out = run("superquadric").out
    apart, deep, grown = (numbers(text)[0] for text in out.splitlines() if "Distance:" in text)
    # along x only its distance changes: the cylinder moved by half a unit
    assert deep == pytest.approx(apart - 0.5, abs=2e-4)
    assert grown == pytest.approx(apart - 0.1, abs=1e-9)


def test_descent_ends_with_the_clearance_proven(run):
    out = run("gradient_descent").out
    rows = [numbers(row) for row in out.splitlines() if re.fullmatch(r"[\s\d.-]+", row)]
    assert rows[0][1] > 15
    assert rows[0][2] < -0.5
    deepest = [row[2] for row in rows]
    assert deepest == sorted(deepest)
    assert rows[-1][1] == 0
    assert numbers(line(out, "after"))[1] >= 0.05


def test_explained_examples_have_the_numbers_of_the_texts(run):
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


def test_the_site_has_code_above_each_picture_and_its_live_pages_next_to_it(run, tmp_path):
    folder = run("make_site").pictures[0].parents[1]
    text = (folder / "index.html").read_text(encoding="utf-8")
    links = re.findall(r'(?:href|src)="([^"#]+)"', text)
    assert {"pages/interference.html", "pages/interference-1.html", "pictures/interference.webp"} <= set(links)
    assert {f"pages/lesson-{topic}.html" for topic in ("gjk", "sat", "bounds")} <= set(links)
    assert [link for link in links if not (folder / link).exists()] == []
    assert all(f'id="{anchor}"' in text for anchor in re.findall(r'href="#([^"]+)"', text))
    assert text.index("<code>") < text.index("<img") < text.index("<iframe")
    assert "&lt;" in text  # code is text
    assert "<script" not in text


def test_every_section_of_the_gallery_is_in_the_site():
    spec = importlib.util.spec_from_file_location("make_site", EXAMPLES / "make_site.py")
    site = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(site)
    names = [found["name"] for found in site.SECTION.finditer((EXAMPLES / "README.md").read_text(encoding="utf-8"))]
    assert sorted(names) == sorted(set(NAMES) - MAKERS)
    assert site.REFERENCE.search((EXAMPLES.parent / "README.md").read_text(encoding="utf-8"))


def test_hero_has_the_depth_of_the_clash(run):
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
def test_a_film_moves_smoothly_for_at_most_half_a_minute_and_holds_its_end(name):
    with Image.open(EXAMPLES / "pictures" / f"{name}.webp") as film:
        times, pictures = [], []
        for k in range(film.n_frames):
            film.seek(k)
            pictures.append(np.asarray(film.convert("L").resize((225, 140)), dtype=float))
            times.append(film.info["duration"])
    assert 15_000 < sum(times) <= 30_000
    assert times[0] >= 3000
    assert times[-1] >= 3000  # time to read the first sentence, and to look at the last picture
    changes = np.array([np.abs(b - a).mean() for a, b in itertools.pairwise(pictures)])
    moving = np.array(times[1:]) < 100
    assert moving.sum() > 80
    assert changes.max() < 15  # no cut
    assert (changes[moving] > 0.05).mean() > 0.5
    for guide in ("README.md", "guides/from-2d-tutorials-to-3d.md"):
        assert f"pictures/{name}.webp" in (EXAMPLES / guide).read_text(encoding="utf-8")


class Unlike(NamedTuple):
    """How a picture differs from another of the same thing, in shades of 255."""

    mean: float  #: of small copies of both
    lost: float  #: where the second has least of the detail of the first: what a word leaves that is gone


def unlike(first: Image.Image, second: Image.Image) -> Unlike:
    size = (600, round(600 * first.height / first.width))
    a, b = (
        np.asarray(image.convert("L").resize(size, Image.Resampling.LANCZOS), dtype=float) for image in (first, second)
    )
    detail, other = (np.abs(each - uniform_filter(each, 9)) for each in (a, b))
    # what moved by a pixel or two is not lost
    lost = uniform_filter(np.maximum(detail - maximum_filter(other, 5), 0.0), 9)
    return Unlike(float(np.abs(uniform_filter(a - b, 12)).mean()), float(lost.max()))


#: Shades that two drawings of one thing differ by at most, by another driver; more is another picture, or a lost word.
FEW, WORD = 4.0, 15.0


@pytest.mark.parametrize("name", sorted(set(NAMES) - MAKERS))
def test_committed_picture_is_what_the_example_draws(run, name):
    for drawn in run(name).pictures:
        kept = EXAMPLES / "pictures" / ("hero.png" if name == "hero" else f"{drawn.stem}.webp")
        with Image.open(kept) as committed, Image.open(drawn) as made:
            assert committed.size == made.size
            both = unlike(committed, made), unlike(made, committed)
        assert max(each.mean for each in both) < FEW
        assert max(each.lost for each in both) < WORD, "words or lines are in one of the two alone"


def test_a_lost_word_is_found():
    with Image.open(EXAMPLES / "pictures" / "interference.webp") as image:
        whole = image.convert("RGB")
    blank = whole.copy()
    blank.paste(whole.getpixel((590, 5)), (0, 0, 150, 25))  # half of the first line
    assert unlike(whole, blank).mean < FEW
    assert unlike(whole, blank).lost > WORD
    assert unlike(whole, whole) == (0.0, 0.0)


def test_every_picture_has_a_text_alternative():
    """In documents, and in HTML where there is some; a few words, and no name of a file."""
    for file in [EXAMPLES.parent / "README.md", *EXAMPLES.rglob("*.md"), EXAMPLES.parent / "data" / "README.md"]:
        text = file.read_text(encoding="utf-8")
        words = re.findall(r"!\[([^]]*)\]", text) + re.findall(
            r"<img(?:(?!alt=)[^>])*(?:alt=\"([^\"]*)\")?[^>]*>", text
        )
        assert [each for each in words if len(each.split()) < 3] == [], file


def test_gallery_names_every_example():
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(f"python examples/{name}.py" in text for name in NAMES)


def test_the_ship_meets_no_rock(run):
    out = run("asteroids").out
    told = [numbers(row) for row in out.splitlines() if row.startswith("step")]
    assert [int(row[0]) for row in told] == [20, 40, 60, 80, 100, 120]
    assert [row[-1] for row in told] == sorted(row[-1] for row in told)  # it gets on
    least = numbers(line(out, "2000 rocks"))[-1]
    assert 0 < least <= min(row[1] for row in told)


def test_what_is_dragged_and_slid_is_asked_again(run):
    out = run("interactive").out
    assert [numbers(row)[1] for row in out.splitlines() if row.startswith("cylinder")] == [0.2, 0.05, -0.1]
    rows = [row for row in out.splitlines() if row.startswith("joint_2")]
    gaps = [float(row.split("signed distance")[1].split()[0]) for row in rows]
    assert gaps == sorted(gaps)  # it moves away from the ball
    assert [": free," in row for row in rows] == [gap > 0 for gap in gaps]
    assert gaps[0] < 0 < gaps[-1]


def test_an_arm_is_planned_and_its_path_proven(run):
    out = run("plan_arm").out
    assert re.search(r"start\b.*goal\b.*link_\d\b.*beam\b.*0\.\d+", out)
    assert "proven" in line(out, "RRT-Connect")
    assert numbers(line(out, "nearest of"))[-1] >= numbers(line(out, "proven clearance"))[0] >= 0.0


def test_a_path_is_bent_until_it_is_free(run):
    out = run("optimise_path").out
    straight = numbers(line(out, "start 0"))
    assert straight[1] > 10.0  # the straight line goes through the mesh
    assert "depth ≤ " in line(out, "start 0").split(",")[0]
    assert "gap " in line(out, "start 0").split(",")[1]
    assert straight[2] > 30.0
    assert line(out, "the whole path").endswith("PROVEN")
    assert numbers(line(out, "proven clearance"))[0] > 10.0


def test_the_changed_gearbox_has_new_clashes_and_resolved_ones(run):
    before, after = run("clash_report").out.split("cut back")
    assert re.search(r"hard +cap_in +shaft_in +depth 1\.5000 mm +new", before)
    assert "shaft_in" not in after  # cut back by 2 mm, it ends 0.5 mm before its cap
    assert len(re.findall(r"hard .* depth 1\.0000 mm +new", after)) == 3  # on what the cover was lowered
    assert "label_copy" not in before + after  # accepted by a rule

"""All report formats are equal up to times, for any order of files, parts and selections."""

import json
import random
import re
import zipfile
from itertools import count
from pathlib import Path

import pytest
import trimesh

import gjk3d as gk
from gjk3d.cli.app import main

GEARBOX = Path(__file__).parents[2] / "data" / "gearbox.glb"
CLASHING = ("housing", "bolt_4", "cover", "nut_4", "label", "label_copy")
FORMS = ("json", "jsonl", "csv", "md", "xml", "glb")


@pytest.fixture(scope="module")
def parts():
    """Load a dozen parts of the gearbox, some of which clash or touch."""
    loaded = gk.clash.Assembly.load(GEARBOX).parts
    meshes = {part.name.rpartition("/")[2]: part.mesh for part in loaded}
    return {name: mesh for k, (name, mesh) in enumerate(meshes.items()) if name in CLASHING or k % 4 == 0}


@pytest.fixture(scope="module")
def files(parts, tmp_path_factory):
    """Write the parts to files; one file is broken, and two files have equal names."""
    folder = tmp_path_factory.mktemp("parts")
    for k, (name, mesh) in enumerate(parts.items()):
        path = folder / ("sub" if k % 3 == 0 else "") / f"{name}.{'stl' if k % 2 else 'ply'}"
        path.parent.mkdir(exist_ok=True)
        trimesh.Trimesh(mesh.vertices, mesh.faces, process=False).export(path)
    first = next(iter(parts))
    (folder / f"{first}.stl").write_bytes((folder / "sub" / f"{first}.ply").read_bytes()[:50])
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def written(tmp_path):
    """Return a function that writes all formats of a check and returns their contents without times."""
    numbers = count()

    def write(*argv):
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        codes = set()
        for form in FORMS:
            sides = ("--html", folder / "p.html", "--bcf", folder / "b.bcfzip") if form == "json" else ()
            codes.add(main([str(word) for word in ("clash", *argv, "-q", "-o", folder / f"r.{form}", *sides)]))
        assert codes == {1}
        return {path.name: timeless(path) for path in sorted(folder.iterdir())}

    return write


def timeless(path):
    if path.suffix == ".bcfzip":
        with zipfile.ZipFile(path) as archive:
            texts = {name: archive.read(name).decode() for name in archive.namelist()}
        return {name: re.sub("<CreationDate>.*</CreationDate>", "", text) for name, text in texts.items()}
    if path.suffix == ".glb":
        return path.read_bytes()
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        document = json.loads(text)
        assert document.pop("elapsed") > 0.0
        return document
    if path.suffix == ".jsonl":
        lines = [json.loads(line) for line in text.splitlines()]
        assert lines[-1].pop("elapsed") > 0.0
        return lines
    times = {".xml": r' time="[0-9.]+"', ".html": r" · [0-9.e-]+\u00a0s</p>"}.get(path.suffix)
    if times is None:
        return text
    assert len(re.findall(times, text)) == 1
    return re.sub(times, "", text)


@pytest.mark.full
def test_order_of_files_and_threads_change_nothing(written, files):
    first = written(*files, "--unit", "m", "--clearance", "1mm")
    document = first["r.json"]
    assert document["counts"]["hard"] > 0
    assert document["counts"]["touch"] > 5
    assert document["counts"]["unchecked"] == 1
    assert any("(2)" in part["name"] for part in document["parts"])
    for seed, jobs in ((1, 1), (2, 2), (3, 4)):
        shuffled = list(files)
        random.Random(seed).shuffle(shuffled)
        assert shuffled != files
        again = written(*shuffled, "--unit", "m", "--clearance", "1mm", "-j", jobs)
        for name, document in first.items():
            assert again[name] == document, name


@pytest.mark.full
def test_order_of_parts_changes_nothing(written, parts, tmp_path):
    path, results = tmp_path / "whole.glb", []
    for seed in (None, 4, 5):
        names = list(parts)
        if seed is not None:
            random.Random(seed).shuffle(names)
        scene = trimesh.Scene()
        for name in names:
            mesh = trimesh.Trimesh(parts[name].vertices, parts[name].faces, process=False)
            scene.add_geometry(mesh, node_name=name, geom_name=name)
        path.write_bytes(scene.export(file_type="glb"))
        results.append(written(path))
        for item in results[-1]["r.json"]["inputs"] + [results[-1]["r.jsonl"][-1]["inputs"][0]]:
            assert len(item.pop("sha256")) == 64  # the hash differs with the order of parts
        results[-1]["p.html"] = re.sub("sha256 [0-9a-f]{64}", "", results[-1]["p.html"])
    assert results[0] == results[1] == results[2]


@pytest.mark.full
def test_swapped_selections_change_nothing(written, files):
    first, swapped = (
        written(*files, "--unit", "m", *sides) for sides in (("--a", "bolt*", "--b", "*"), ("--b", "bolt*", "--a", "*"))
    )
    assert first["r.json"]["pairs_total"] > 5
    for document in (first["r.json"], swapped["r.json"], first["r.jsonl"][-1], swapped["r.jsonl"][-1]):
        assert {document["settings"].pop(key) for key in "ab"} == {"bolt*", "*"}
    first.pop("p.html"), swapped.pop("p.html")  # the page shows the settings
    assert first == swapped

"""A week of a coordinator with the commands of the guide: check, triage, BCF export and import, repair, check again."""

import json
import zipfile

import pytest
import trimesh
from message_checks import assert_names

import gjk3d as gk
from gjk3d.clash import read_triage
from gjk3d.clash.formats.bcf import guid
from gjk3d.clash.triage import now
from gjk3d.cli.app import main
from tests.clash import messages


def model(path, pin=0.6, lug=0.5, rail=1.0):
    """Write a plate with a pin and a lug at the given depths, and a rail at a given gap, in mm."""
    scene = trimesh.Scene()
    for name, at in {"plate": 0.0, "pin": 10.0 - pin, "lug": -10.0 + lug}.items():
        scene.add_geometry(trimesh.creation.box((10, 10, 10)), name, name, transform=shift(at, 0.0))
    scene.add_geometry(trimesh.creation.box((10, 10, 10)), "rail", "rail", transform=shift(0.0, 10.0 + rail))
    path.write_bytes(scene.export(file_type="glb"))


def shift(x, y):
    return trimesh.transformations.translation_matrix((x, y, 0.0))


def run(capsys, *words):
    capsys.readouterr()
    code = main([str(word) for word in words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.full
def test_only_new_clashes_fail_the_check(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model(tmp_path / "press.glb")
    check = ("clash", "press.glb", "--fail-on", "hard", "-q", "-f", "json", "-o", "press.json")

    # Monday: two clashes fail the check
    assert run(capsys, *check, "--html", "press.html")[0] == 1
    report = json.loads((tmp_path / "press.json").read_text())
    ids = {frozenset((row["a"], row["b"])): row["id"] for row in report["clashes"] if row["kind"] == "hard"}
    pin, lug = ids[frozenset(("pin", "plate"))], ids[frozenset(("lug", "plate"))]
    assert len(ids) == 2

    # Tuesday: one is approved in the page, which saves this file
    row = next(row for row in report["clashes"] if row["id"] == pin)
    deep = row["distance"] * 1000
    saved = {
        "schema_version": 1,
        "command": "triage",
        "issues": [
            {
                "id": pin, "kind": "hard", "a": row["a"], "b": row["b"],
                "state": {"value": "approved", "at": now(), "by": "ann", "distance": deep, "unit": "mm"},
            }
        ],
    }  # fmt: skip
    (tmp_path / "ann.triage.json").write_text(json.dumps(saved))

    # Wednesday: BCF is exported, and comes back with the other clash set to active
    code, out, _ = run(capsys, "triage", "press.json", "ann.triage.json", "--bcf", "out.bcf", "--pictures", "1")
    assert (code, out) == (0, "1 approved, 0 comments\n")
    with zipfile.ZipFile("out.bcf") as archive, zipfile.ZipFile("back.bcf", "w") as back:
        assert f"{guid(pin)}/snapshot.png" in archive.namelist()
        for name in archive.namelist():
            data = archive.read(name)
            if name == f"{guid(lug)}/markup.bcf":
                comment = (
                    '</Topic><Comment Guid="87654321-4321-4321-8765-123456789abc"><Date>2026-05-05T08:00:00Z</Date>'
                    "<Author>bob</Author><Comment>mine</Comment></Comment>"
                )
                data = data.replace(b'TopicStatus="Open"', b'TopicStatus="Active"').replace(
                    b"</Topic>", comment.encode()
                )
            back.writestr(name, data)
    assert run(capsys, "triage", "press.json", "back.bcf")[1] == messages.TRIAGE_COUNTS.format(1, 1, 1)
    decided = read_triage("press.triage.json")
    assert {key: issue.state.value for key, issue in decided.issues.items()} == {pin: "approved", lug: "active"}
    assert decided.issues[lug].comments[0].text == "mine"

    # Thursday: no finding is new, so the check passes
    again = (*check, "--triage", "press.triage.json")
    assert run(capsys, *again)[0] == 0

    # Friday: the lug is repaired, and the rail now overlaps the plate: only this fails the check
    model(tmp_path / "press.glb", lug=-0.2, rail=-0.3)
    assert run(capsys, *again, "--html", "press.html")[0] == 1
    rows = {
        frozenset((row["a"], row["b"])): row for row in json.loads((tmp_path / "press.json").read_text())["clashes"]
    }
    states = {pair: rows[frozenset(pair)]["status"] for pair in (("pin", "plate"), ("lug", "plate"), ("rail", "plate"))}
    assert states == {("pin", "plate"): "ignored", ("lug", "plate"): "resolved", ("rail", "plate"): "new"}
    assert messages.APPROVED in rows[frozenset(("pin", "plate"))]["note"]

    # a pin pressed deeper than approved fails the check again
    model(tmp_path / "press.glb", pin=1.2, lug=-0.2)
    assert run(capsys, *again)[0] == 1


def test_invalid_reports_and_decisions_are_rejected(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model(tmp_path / "press.glb")
    run(capsys, "clash", "press.glb", "-q", "-f", "json", "-o", "press.json")
    for words, named in [
        (
            ("triage", "none.json"),
            "gjk3d clash MODELS -f json -o none.json",
        ),
        (("triage", "none.json", "-o", "press.json"), "report none.json"),
        (
            ("serve", "none.json"),
            "gjk3d clash MODELS -f json -o none.json",
        ),
        (("serve", "none.json", "--triage", "press.json"), "report none.json"),
        (("triage", "press.glb"), "JSON"),
        (("triage", "press.json", "press.json"), "gjk3d clash --html"),
        (("triage", "press.json", "press.glb.bcf"), "press.glb.bcf"),
        (("triage", "press.json", "-o", "press.json"), "'press.json'"),
        (("triage", "press.json", "-o", "nodir/a.json"), "--output 'nodir/a.json'"),
        (("triage", "press.json", "-o", "."), "--output '.'"),
        (("serve", "press.json", "--port", "70000"), "65535"),
        (("serve", "press.json", "--triage", "press.json"), "'press.json'"),
        (("serve", "press.json", "--triage", "nodir/x.json"), "--triage 'nodir/x.json'"),
        (("clash", "press.glb", "--triage", "press.json"), "gjk3d clash --html"),
        (("clash", "press.glb", "--triage", "none"), "gjk3d clash --html"),
    ]:
        code, _, err = run(capsys, *words)
        assert code == 2, (words, err)
        assert_names(err, named)
    damaged = json.loads((tmp_path / "press.json").read_text())
    for part in ({"name": 7}, {"name": "a", "file": "b", "triangles": 1, "bounds": [[0, 0], [1]]}, 3):
        (tmp_path / "bad.json").write_text(json.dumps(damaged | {"parts": [part]}))
        code, _, err = run(capsys, "triage", "bad.json")
        assert (code, "damaged" in err) == (2, True), err


def test_served_report_loads_unchanged_models(tmp_path, capsys, monkeypatch):
    from gjk3d.cli.triage import read_whole

    monkeypatch.chdir(tmp_path)
    model(tmp_path / "press.glb")
    run(capsys, "clash", "press.glb", "-q", "-f", "json", "-o", "press.json")
    report = read_whole(tmp_path / "press.json")
    assert isinstance(report, gk.clash.Report)
    assert [part.name for part in report.assembly.parts] == [part.name for part in report.parts]
    model(tmp_path / "press.glb", pin=3.0)
    assert read_whole(tmp_path / "press.json").assembly is None
    assert messages.SHOWN_AS_BOXES in capsys.readouterr().err

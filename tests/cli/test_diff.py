"""``gjk3d diff``: two clash reports beside each other."""

import json

import pytest


@pytest.fixture
def reports(run, box, tmp_path):
    """Two reports: a-b comes apart, c-d goes deeper, c-e is there as before, d-f comes newly."""
    places = {"a": (0, 0, 0), "b": (1.5, 0, 0), "c": (9, 0, 0), "d": (10.5, 0, 0), "e": (9, 1.5, 0), "f": (30, 0, 0)}
    paths = []
    for name, moved in (("old", {}), ("new", {"b": (4, 0, 0), "d": (10.25, 0, 0), "f": (11.5, -1, 0)})):
        files = [box(f"{part}.stl", moved.get(part, place)) for part, place in places.items()]
        paths.append(tmp_path / f"{name}.json")
        assert run("clash", *files, "--unit", "mm", "--tolerance", "1e-6", "-o", paths[-1]).code == 1
    return paths


def test_what_changed_is_told(run, reports):
    said = run("diff", *reports, "--json")
    assert said.code == 1
    document = json.loads(said.out)
    assert document["counts"]["resolved"] == 1
    changes = {(row["a"], row["b"]): row["change"] for row in document["rows"]}
    assert changes[("a", "b")] == "resolved"
    assert changes[("c", "d")] == "changed"
    assert changes[("c", "e")] == "same"
    assert changes[("d", "f")] == "new"
    row = next(row for row in document["rows"] if (row["a"], row["b"]) == ("c", "d"))
    assert (row["old_distance"], row["new_distance"]) == (-0.5, -0.75)


def test_the_table_shows_changes_only(run, reports):
    said = run("diff", *reports)
    lines = said.out.splitlines()
    assert lines[0].endswith("1 resolved")
    assert " e " not in lines[3]
    assert run("diff", reports[0], reports[0]).code == 0
    assert run("diff", reports[0], reports[0]).out == "0 new, 0 changed, 4 same, 0 resolved\n"
    assert run("diff", *reports, "--top", 1).out.splitlines()[-1].startswith("... ")


def test_other_limits_are_remarked_on_and_bad_files_refused(run, reports, box, tmp_path):
    wide = tmp_path / "wide.json"
    run("clash", box("a.stl"), box("b.stl", (1.5, 0, 0)), "--unit", "mm", "--tolerance", "1e-3", "-o", wide)
    said = run("diff", reports[0], wide)
    assert f"note: {reports[0]} was made with tolerance 1e-06, {wide} with 0.001\n" in said.err
    said = run("diff", reports[0], tmp_path / "nowhere.json")
    assert (said.code, said.out) == (2, "")
    assert "there is no file" in said.err

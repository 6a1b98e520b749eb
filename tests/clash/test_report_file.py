"""JSON reports from any source: invalid ones raise, and all others can be shown."""

import copy
import json

import pytest
from clash.reports import three_cubes
from strategies import sampled

from gjk3d.clash import formats
from gjk3d.clash.page import write_page
from gjk3d.clash.report.baseline import read_baseline
from gjk3d.errors import ParseError

BAD = [None, True, -1, 1e308, 10**400, "x", "\ud800", [], {}, [1], [[1]], [None] * 3, {"a": 1}, float("nan")]


def places(value, before=()):
    """Yield the path of keys to each value of a document, for lists to the first item only."""
    rows = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for key, inner in rows:
        yield (*before, key)
        yield from places(inner, (*before, key))


def document():
    report = json.loads(three_cubes().to_json())
    course = {"a": "frame", "b": "press/ram", "intervals": [[0, 0, 1, 1]], "proven": True, "least": [0, 0]}
    course |= {"when": 0.5, "inside": 0.25, "series": [[0, 0, None, 0]]}
    report["motion"] = {"begin": 0, "end": 1, "unit": "s", "moving": ["frame"], "pairs": [course]}
    row = [1, 0, 0, 0, 1, 0, 0, 0, 1, *[0.5] * 12]
    report["motion"]["tracks"] = [{"parts": ["frame", "press/pin"], "times": [0, 1], "rows": [row], "slack": 0}]
    report["clashes"][0] |= {"time": 0.5, "intervals": [[0, 0, 1, 1]], "least": [0, 0]}
    return {key: report[key] for key in ("schema_version", "command", "unit", "clearance", "tolerance", "parts",
                                        "clashes", "motion", "inputs")}  # fmt: skip


@pytest.mark.parametrize(
    "way", sampled(((way,) for way in places(document())), 3), ids=lambda way: ".".join(map(str, way))
)
def test_invalid_value_raises_or_report_is_shown(way, tmp_path):
    file, refused, shown = tmp_path / "report.json", 0, 0
    for bad in BAD:
        broken = copy.deepcopy(document())
        inner = broken
        for key in way[:-1]:
            inner = inner[key]
        inner[way[-1]] = bad
        file.write_text(json.dumps(broken))
        try:
            report = read_baseline(file)
        except ParseError as caught:
            words = str(caught)
            refused += str(file) in words and len(words) < 500
            continue
        write_page(report, tmp_path / "page.html")
        formats.to_bcf(report, tmp_path / "out.bcf")
        shown += 1
        for write in (formats.to_markdown, formats.to_junit, formats.to_csv):
            write(report)
    assert refused + shown == len(BAD)
    assert refused >= 3 or "moving" in way

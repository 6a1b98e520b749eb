"""Invalid files of decisions, each with a pattern that the error message must match."""

import json


def damaged():
    """Yield the text of each invalid file and the pattern of its error message."""
    issue = {"id": "x", "kind": "hard", "a": "a", "b": "b"}
    stamp = {"at": "2026-05-04T08:00:00Z", "by": "ann"}
    view = {**stamp, "id": "1", "eye": [0, 0, 0], "target": [1, 0, 0], "up": [0, 0, 1]}
    head = {"schema_version": 1, "command": "triage"}
    yield "[]", "gjk3d clash"
    yield "{", "JSON"
    yield "[" * 100_000, "JSON"
    for version, shown in ((2, "2"), ("1", '"1"'), (True, "true"), (None, "null")):
        yield json.dumps({**head, "schema_version": version, "issues": []}), f"version {shown}.*1"
    yield json.dumps(head), "issues"
    for row, named in [
        (7, "issue 1.*'7'"),
        ({"id": "x"}, "issue 1 lacks the kind"),
        ({**issue, "a": "n" * 1001}, "1000 characters"),
        ({**issue, "state": {**stamp, "value": "done"}}, "'done'"),
        ({**issue, "state": {**stamp, "value": "new", "at": "then"}}, "time 'then'"),
        ({**issue, "state": {**stamp, "value": "new", "distance": "deep"}}, "distance.*'deep'"),
        ({**issue, "state": {**stamp, "value": "new", "penetration": "deep"}}, "penetration.*'deep'"),
        ({**issue, "state": {**stamp, "value": "new", "distance": -1, "unit": "furlong"}}, "unit 'furlong'"),
        ({**issue, "views": [{**view, "unit": "furlong"}]}, "unit 'furlong'"),
        ({**issue, "state": {**stamp, "value": "new", "at": "9000-01-01T00:00:00Z"}}, "'9000-01-01T00:00:00.*clock"),
        ({**issue, "assignee": {**stamp, "value": "bob", "at": "2026-02-30T08:00:00Z"}}, "time '2026-02-30"),
        ({**issue, "assignee": {**stamp, "value": "bob", "at": "2026-05-04T24:00:00Z"}}, "time '2026-05-04T24"),
        ({**issue, "assignee": {**stamp, "value": "bob", "at": "0001-01-01T00:00:00+02:00"}}, "time '0001-01-01"),
        ({**issue, "assignee": {**stamp, "value": "bob", "by": None}}, "by 'None'"),
        ({**issue, "comments": [{**stamp, "id": "1", "at": "9000-01-01T00:00:00Z"}]}, "'9000-01-01T00:00:00.*clock"),
        ({**issue, "views": [{**view, "at": "9000-01-01T00:00:00Z"}]}, "'9000-01-01T00:00:00.*clock"),
        ({**issue, "comments": {}}, r"issue 1.*'\{\}'.*list"),
        ({**issue, "comments": [{**stamp, "id": "1", "text": 7}]}, "the text '7'"),
        ({**issue, "views": [{**view, "eye": [0, 0]}]}, r"eye.*\[0, 0\]"),
        ({**issue, "views": [{**view, "eye": [0, 0, 1e999]}]}, "eye.*inf"),
        ({**issue, "views": [{**view, "planes": [[0, 0]] * 65}]}, "planes"),
    ]:
        yield json.dumps({**head, "issues": [row]}), named

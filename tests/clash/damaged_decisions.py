"""Files of decisions that nothing may take up, and why."""

import json


def damaged():
    issue = {"id": "x", "kind": "hard", "a": "a", "b": "b"}
    stamp = {"at": "2026-05-04T08:00:00Z", "by": "ann"}
    view = {**stamp, "id": "1", "eye": [0, 0, 0], "target": [1, 0, 0], "up": [0, 0, 1]}
    head = {"schema_version": 1, "command": "triage"}
    yield "[]", "is no triage"
    yield "{", "is no JSON"
    yield "[" * 100_000, "is no JSON"
    for version, said in ((2, "2"), ("1", '"1"'), (True, "true"), (None, "null")):
        why = f"schema version {said}, this gjk3d reads the number 1: save it anew"
        yield json.dumps({**head, "schema_version": version, "issues": []}), why
    yield json.dumps(head), "lacks its issues"
    for row, why in [
        (7, "expected an object"),
        ({"id": "x"}, "the kind 'None'"),
        ({**issue, "a": "n" * 1001}, "at most 1000 characters"),
        ({**issue, "state": {**stamp, "value": "done"}}, "no state"),
        ({**issue, "state": {**stamp, "value": "new", "at": "then"}}, "time 'then'"),
        ({**issue, "state": {**stamp, "value": "new", "distance": "deep"}}, "expected a number"),
        ({**issue, "state": {**stamp, "value": "new", "penetration": "deep"}}, "expected a number"),
        ({**issue, "state": {**stamp, "value": "new", "distance": -1, "unit": "furlong"}}, "the unit 'furlong'"),
        ({**issue, "views": [{**view, "unit": "furlong"}]}, "the unit 'furlong'"),
        ({**issue, "state": {**stamp, "value": "new", "at": "9000-01-01T00:00:00Z"}}, "a day ahead"),
        ({**issue, "assignee": {**stamp, "value": "bob", "at": "2026-02-30T08:00:00Z"}}, "time '2026-02-30"),
        ({**issue, "assignee": {**stamp, "value": "bob", "at": "2026-05-04T24:00:00Z"}}, "time '2026-05-04T24"),
        ({**issue, "assignee": {**stamp, "value": "bob", "at": "0001-01-01T00:00:00+02:00"}}, "time '0001-01-01"),
        ({**issue, "assignee": {**stamp, "value": "bob", "by": None}}, "the by 'None'"),
        ({**issue, "comments": [{**stamp, "id": "1", "at": "9000-01-01T00:00:00Z"}]}, "a day ahead"),
        ({**issue, "views": [{**view, "at": "9000-01-01T00:00:00Z"}]}, "a day ahead"),
        ({**issue, "comments": {}}, "a list is expected"),
        ({**issue, "comments": [{**stamp, "id": "1", "text": 7}]}, "the text '7'"),
        ({**issue, "views": [{**view, "eye": [0, 0]}]}, "three numbers"),
        ({**issue, "views": [{**view, "eye": [0, 0, 1e999]}]}, "three numbers"),
        ({**issue, "views": [{**view, "planes": [[0, 0]] * 65}]}, "no pairs"),
    ]:
        yield json.dumps({**head, "issues": [row]}), why

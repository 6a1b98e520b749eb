"""The kinds of bodies that each query supports: all queries are run, and the table is that of the guide.

``python -m tests.bodies.every_query`` prints the table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import gjk3d as gk
from gjk3d.errors import Gjk3dError
from tests.bodies import every_kind
from tests.bodies.every_kind import KINDS
from tests.bodies.random_shapes import at

BODIES = {
    "Mesh": every_kind.closed().body,
    **{type(x).__name__: x for x in (KINDS[k]().body for k in ("compound", "voxels", "cloud", "ground"))},
    "HeightField(bottom)": gk.HeightField(KINDS["ground"]().body.heights, 0.5, (-1.0, -1.0), bottom=-0.5),
    "Shell": gk.Shell(every_kind.mesh(3).body, 0.1),
}
OTHERS = {
    "Box": gk.Box((0.5, 0.6, 0.7)),
    "Sphere": gk.Sphere(0.4),
    "Halfspace": gk.Halfspace((0, 0, -1), -3.0),
    "Plane": gk.Plane((0, 0, -1), -3.0),
    **BODIES,
}
FAR, NEAR = at(0.3, 0.4, 4.5), at(0.3, 0.4, 0.8)
Ask = Callable[..., Any]


class Question(NamedTuple):
    """A query, the function that runs it, and the alternative that the table names if it is not supported."""

    name: str
    ask: Ask
    instead: str = ""
    alone: bool = False  #: whether the query takes a single object


def _motions(turned: bool) -> tuple[Any, Any]:
    motion = gk.Motion(FAR, (0.1, 0.0, -6.0))
    return (motion, None) if turned else (None, motion)


def _both(query: Ask) -> Ask:
    """Return a function that runs a query on a separated and on an overlapping pair."""

    def run(a: Any, b: Any, turned: bool) -> None:
        for pose in (FAR, NEAR):
            query(a, b, *((pose, None) if turned else (None, pose)))

    return run


def _apart(query: Ask) -> Ask:
    return lambda a, b, turned: query(a, b, *((FAR, None) if turned else (None, FAR)))


def _pairs(a: Any, b: Any, turned: bool) -> None:
    pairs, poses = gk.Pairs([a, b]), [FAR, np.eye(4)] if turned else [np.eye(4), FAR]
    for query in (pairs.collide, pairs.distance, pairs.signed_distance):
        query([(0, 1)], poses)


def _scene(a: Any, b: Any, turned: bool) -> None:
    scene = gk.Scene()
    scene.add("a", a, FAR if turned else None)
    scene.add("b", b, None if turned else FAR)
    scene.collisions()
    scene.contacts(within=10.0)
    scene.clearance()


def _pair(a: Any, b: Any, turned: bool) -> None:
    pair, poses = gk.Pair(a, b), (FAR, None) if turned else (None, FAR)
    for query in (pair.collide, pair.distance, pair.signed_distance):
        query(*poses)


def _judged(a: Any, b: Any, pose_a: Any, pose_b: Any) -> None:
    result = gk.distance(a, b, pose_a, pose_b, certificate=True)
    assert gk.verify(result, a, b, pose_a, pose_b).proven


BOUNDED = "`HeightField(..., bottom=z)`, or a large `Box` instead of the half-space"
SURFACE = "`HeightField(..., bottom=z)`, or a `Mesh` of the surface"
SAME = "as for `collide`"
OVERLAP = "`Mesh(*body.surface())`, or a hull of `surface()` for a curved shape"
HULLS = "`hull()`, or the parts of `decompose()`"
QUESTIONS = [
    Question("`collide`", _both(gk.collide), BOUNDED),
    Question("`distance`, `signed_distance`", _both(lambda *q: (gk.distance(*q), gk.signed_distance(*q))), SAME),
    Question("`contact`", _both(gk.contact), SAME),
    Question(
        "`time_of_impact`, `shapecast`",
        lambda a, b, turned: (
            gk.time_of_impact(a, b, *_motions(turned)),
            gk.shapecast(a, b, (0, 0, -6) if turned else (0, 0, 6), *((FAR, None) if turned else (None, FAR))),
        ),
        SAME,
    ),
    Question("`gradient`", _both(lambda *q: gk.gradient(gk.signed_distance(*q))), SAME),
    Question("`Pair`", _pair, SAME),
    Question("`Pairs`", _pairs, SAME),
    Question("`Scene`", _scene, SAME),
    Question("`separating_axis`", _apart(gk.separating_axis), "`distance`"),
    Question("`raycast`", lambda a: gk.raycast(a, (0, 0, 9), (0.01, 0.02, -1)), alone=True),
    Question(
        "`aabb`, `obb`, `bounding_sphere`", lambda a: (gk.aabb(a), gk.obb(a), gk.bounding_sphere(a)),
        SURFACE, alone=True,
    ),
    Question("`Swept`", lambda a: gk.Swept(a, (1, 2, 3)), SURFACE, alone=True),
    Question("`to_json`, `gjk3d replay`", _both(lambda *q: gk.distance(*q).to_json()), SAME),
    Question(
        "`certificate=True`, `verify`", _both(_judged), BOUNDED
    ),
    Question("`penetration`", _both(gk.penetration), "`signed_distance`, or closed bodies"),
    Question("`overlap`", _both(gk.overlap), OVERLAP),
    Question("`trace=True`", _apart(lambda *q: gk.distance(*q, trace=True)), HULLS),
]  # fmt: skip


def refusals(question: Question, body: Any) -> dict[str, str]:
    """Return the names of unsupported second objects, in either order, with their error messages."""
    messages: dict[str, str] = {}
    for name, other in {"": None}.items() if question.alone else OTHERS.items():
        for turned in (False, True):
            arguments = (body,) if question.alone else (other, body, turned) if turned else (body, other, turned)
            try:
                question.ask(*arguments)
            except Gjk3dError as refused:
                messages[name] = str(refused)
    return messages


def cell(question: Question, refused: dict[str, str]) -> str:
    """Return the table cell of a query and a kind of body."""
    if not refused:
        return "yes"
    if question.alone or len(refused) == len(OTHERS):
        return "no"
    return "not with " + ", ".join(refused)


def table() -> str:
    """Return the table of the guide."""
    lines = [
        f"| query | {' | '.join(f'`{name}`' for name in BODIES)} | instead |",
        "| --- " * (len(BODIES) + 2) + "|",
    ]
    for question in QUESTIONS:
        cells = [cell(question, refusals(question, body)) for body in BODIES.values()]
        instead = question.instead if any(text != "yes" for text in cells) else ""
        lines.append(f"| {question.name} | {' | '.join(cells)} | {instead} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())

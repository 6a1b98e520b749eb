"""Which question is answered for which kind of body: every question asked, and the table that the guide has of it.

``python -m tests.bodies.every_question`` prints the table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import gjk3d as gk
from gjk3d.errors import Gjk3dError
from tests.bodies import every_kind
from tests.bodies.every_kind import KINDS
from tests.bodies.places import at

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
    """A question, how it is asked, and what the table says of where it has no answer."""

    name: str
    ask: Ask
    instead: str = ""
    alone: bool = False  #: it is of one thing


def _motions(turned: bool) -> tuple[Any, Any]:
    motion = gk.Motion(FAR, (0.1, 0.0, -6.0))
    return (motion, None) if turned else (None, motion)


def _both(ask: Ask) -> Ask:
    """Ask about two that are apart, and about two that overlap."""

    def asked(a: Any, b: Any, turned: bool) -> None:
        for pose in (FAR, NEAR):
            ask(a, b, *((pose, None) if turned else (None, pose)))

    return asked


def _apart(ask: Ask) -> Ask:
    return lambda a, b, turned: ask(a, b, *((FAR, None) if turned else (None, FAR)))


def _pairs(a: Any, b: Any, turned: bool) -> None:
    pairs, poses = gk.Pairs([a, b]), [FAR, np.eye(4)] if turned else [np.eye(4), FAR]
    for ask in (pairs.collide, pairs.distance, pairs.signed_distance):
        ask([(0, 1)], poses)


def _scene(a: Any, b: Any, turned: bool) -> None:
    scene = gk.Scene()
    scene.add("a", a, FAR if turned else None)
    scene.add("b", b, None if turned else FAR)
    scene.collisions()
    scene.contacts(within=10.0)
    scene.clearance()


def _pair(a: Any, b: Any, turned: bool) -> None:
    pair, poses = gk.Pair(a, b), (FAR, None) if turned else (None, FAR)
    for ask in (pair.collide, pair.distance, pair.signed_distance):
        ask(*poses)


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
    """Return with which others a question has no answer, in either order, and what is said then."""
    said: dict[str, str] = {}
    for name, other in {"": None}.items() if question.alone else OTHERS.items():
        for turned in (False, True):
            things = (body,) if question.alone else (other, body, turned) if turned else (body, other, turned)
            try:
                question.ask(*things)
            except Gjk3dError as refused:
                said[name] = str(refused)
    return said


def cell(question: Question, refused: dict[str, str]) -> str:
    """Return what the table says of a question and a kind."""
    if not refused:
        return "yes"
    if question.alone or len(refused) == len(OTHERS):
        return "no"
    return "not with " + ", ".join(refused)


def table() -> str:
    """Return the table as the guide has it."""
    lines = [
        f"| query | {' | '.join(f'`{name}`' for name in BODIES)} | instead |",
        "| --- " * (len(BODIES) + 2) + "|",
    ]
    for question in QUESTIONS:
        cells = [cell(question, refusals(question, body)) for body in BODIES.values()]
        instead = question.instead if any(told != "yes" for told in cells) else ""
        lines.append(f"| {question.name} | {' | '.join(cells)} | {instead} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())

"""What stands beside the pictures of steps: headings, bounds, and what the colours mean."""

from __future__ import annotations

import numpy as np

from gjk3d.viz.steps import Step
from gjk3d.wording import told

HEADINGS = ("The two shapes", "A - B: every point of A minus every point of B")


#: what the colours mean, in the order they are told
MEANING = {
    "a": "A",
    "b": "B",
    "difference": "A - B",
    "simplex": "simplex",
    "dropped": "corner to drop",
    "polytope": "EPA's polytope, inside A - B",
    "closest": "its face nearest to the origin",
    "removed": "other faces that give way",
    "new": "new point, and its horizon",
    "direction": "direction asked",
    "ink": "nearest points so far",
}


def legend(step: Step) -> list[tuple[str, str]]:
    """Return the colours of a step and what they mean."""
    roles = ["a", "b", "difference"]
    words = dict(MEANING)
    if step.phase == "answer":
        roles += ["new"] if step.upper < 0.0 else ["direction", "ink"]
        words |= {"new": "way out, for B", "ink": "nearest points", "direction": "normal, from A to B"}
    elif len(step.faces):
        roles += ["polytope", "closest", *(["removed"] if len(step.removed) > 1 else []), "new", "direction", "ink"]
        words["new"] = MEANING["new"] if len(step.horizon) else "point found"
    else:
        roles += [*(["simplex"] if len(step.simplex) else []), *(["dropped"] if step.dropped else [])]
        roles += ["new", "direction", *(["ink"] if step.nearest is not None else [])]
        words["new"] = "new point" if step.joins else "point found"
    return [(role, words[role]) for role in roles]


def legends(steps: list[Step]) -> list[tuple[str, str]]:
    """Return the colours of several steps and what they mean in any of them."""
    roles = {role for step in steps for role, _ in legend(step)}
    words = dict(MEANING)
    if not any(len(step.horizon) for step in steps):
        words["new"] = "point found"
    return [(role, words[role]) for role in MEANING if role in roles]


def bounds(step: Step) -> str:
    """Write what is known of the distance after a step."""
    if not (np.isfinite(step.lower) and np.isfinite(step.upper)):
        return ""
    return f"distance {told(step.lower, step.upper, 5)}"

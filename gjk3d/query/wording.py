"""Results as text: the status and the proven bounds. `gjk3d.wording` rounds the bounds outward."""

from __future__ import annotations

from typing import Any

import numpy as np

from gjk3d.query.contact import Contact
from gjk3d.query.time_of_impact import Impact, ImpactStatus
from gjk3d.results import Axis, Distance, Status
from gjk3d.units import symbol
from gjk3d.wording import below, count, format_bounds, format_depth, format_distance, format_time


def unit_of(result: Distance) -> str | None:
    """Return the unit of length of both shapes, for example of meshes from files; None if their units differ."""
    units = {symbol(getattr(shape, "unit", None)) for shape in (result.shape_a, result.shape_b)}
    return units.pop() if len(units) == 1 else None


def verdict(result: Distance, unit: str | None = None, factor: float = 1.0, error: float = 0.0) -> str:
    """Return the status and the bounds of a result as a short text.

    Lengths are multiplied by ``factor`` and printed in ``unit`` or the shapes' unit, with no digits below ``error``.
    """
    unit = unit or unit_of(result)
    between = factor * result.lower, factor * result.upper
    deep = result.upper < 0.0 or -np.inf < result.lower < 0.0  # a result of gjk3d.distance has no depth
    return {
        Status.SEPARATED: f"apart by {format_bounds(*between, unit=unit, error=error)}",
        Status.TOUCHING: "touching",
        Status.OVERLAPPING: f"overlapping by {format_depth(*between, unit=unit, error=error)}"
        if deep
        else "overlapping",
        Status.UNDECIDED: "undecided: the bounds contain 0",
        Status.BEYOND: f"apart by {format_bounds(*between, unit=unit, error=error)}",
    }[result.status]


def headline(result: Distance, unit: str | None = None) -> str:
    """Return the text of `verdict` with a capital letter, for a separate line."""
    words = verdict(result, unit)
    return words[:1].upper() + words[1:]


def translation_label(result: Distance) -> str:
    """Return the label of the separating translation of B, with "shortest" if the result proves this."""
    return "shortest separation of B" if result.tight else "separation of B"


def proof(result: Distance, unit: str | None = None) -> str:
    """Return the proven bounds of the distance or the depth as text."""
    return f"proven: {format_distance(result.lower, result.upper, unit=unit or unit_of(result))}"


def contact_words(x: Contact[Any]) -> str:
    """Return the number of contact points and the gap as text."""
    unit = unit_of(x.result)
    if not x.count:
        return f"No contact points: apart by {format_bounds(x.lower, x.upper, unit=unit)}"
    points = count(x.count, "contact point")
    if x.status == Status.TOUCHING:
        return f"{points}, touching"
    if not all(hasattr(shape, "support") for shape in (x.result.shape_a, x.result.shape_b)):
        # the gaps of non-convex bodies are gaps of their parts, and the depth of the bodies may be greater
        return f"{points}, {format_distance(x.lower, x.upper, 4, unit)}"
    return f"{points}, {'' if x.count == 1 else 'least '}gap {format_bounds(x.lower, x.upper, 4, unit)}"


def axis_words(x: Axis) -> str:
    """Return the gap or the overlap along an axis as text."""
    lower, upper = x.bounds
    if x.status == Status.TOUCHING:
        return "Touching"
    return f"Apart by {format_bounds(lower, upper)}" if lower > 0.0 else f"Overlapping by {format_depth(lower, upper)}"


def impact_words(x: Impact) -> list[str]:
    """Return the time of the first contact as lines of text."""
    if x.status == ImpactStatus.HIT:
        low, high = x.time
        return [
            f"First contact {format_time(low, high)} of the motion",
            f"proven: first contact {format_time(low, high, 10)}",
        ]
    if x.status == ImpactStatus.FREE:
        return ["Free during the whole motion", "proven: no contact at any time from 0 to 1"]
    if x.status == ImpactStatus.OVERLAPPING:
        return ["Too close at the start", "proven: closer than the clearance at time 0"]
    until = below(x.free_until, 8)
    return [f"Free until {until}, then undecided", f"proven: no contact before {until}"]

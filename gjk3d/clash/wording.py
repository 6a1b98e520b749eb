"""The numbers of a finding in words, rounded outward: see `gjk3d.wording`."""

from __future__ import annotations

from math import inf, nextafter

from gjk3d import wording
from gjk3d.clash.report import Clash


def bounds(clash: Clash) -> tuple[float, float] | None:
    """Return what the signed distance of a finding is proven to be between, None where nothing is proven of it."""
    if clash.distance is None or clash.distance_kind not in ("exact", "bound"):
        return None
    distance, error = clash.distance, clash.error_bound
    if clash.distance_kind == "bound":  # a depth is an upper one
        return distance, 0.0 if error is None else min(0.0, nextafter(distance + error, inf))
    if not error:
        return distance, distance
    return nextafter(distance - error, -inf), nextafter(distance + error, inf)


def distance(clash: Clash, digits: int = 6, unit: str | None = None) -> str:
    """Say the signed distance, empty where there is none: a number, "between .. and ..", or "about ..", unproven."""
    if clash.distance is None:
        return ""
    known = bounds(clash)
    return wording.told(*known, digits, unit) if known else f"about {_plain(clash.distance, digits, unit)}"


def depth(clash: Clash, digits: int = 6, unit: str | None = None) -> str:
    """Say how deep the two overlap, empty where they do not: a number, "at most ..", "between ..", or "about .."."""
    if not clash.depth:
        return ""
    known = bounds(clash)
    return wording.depth(*known, digits, unit) if known else f"about {_plain(clash.depth, digits, unit)}"


def brief(clash: Clash, digits: int = 6, unit: str | None = None) -> str:
    """Return the signed distance as one number for a table; `Clash.evidence` beside it says what it is.

    Of a bound it is rounded outward: as deep as the overlap may be.
    """
    if clash.distance is None:
        return ""
    if clash.distance_kind != "bound":
        return _plain(clash.distance, digits, unit)
    return f"{wording.below(clash.distance, digits)}{f' {unit}' if unit else ''}"


def way_out(clash: Clash, digits: int = 6, unit: str | None = None) -> str:
    """Return how far B moves to be free; of a bound rounded up."""
    if clash.distance_kind != "bound":
        return _plain(clash.depth or 0.0, digits, unit)
    return f"{wording.above(clash.depth, digits)}{f' {unit}' if unit else ''}"


def _plain(value: float, digits: int, unit: str | None) -> str:
    return f"{wording.number(value, digits)}{f' {unit}' if unit else ''}"

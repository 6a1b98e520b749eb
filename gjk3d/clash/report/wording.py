"""Texts of tables and pages: the numbers of a finding, with bounds rounded outward, and the summary of a report."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import partial
from math import inf, nextafter
from pathlib import PurePath

from gjk3d import wording
from gjk3d.clash.detection.clashes import Clash
from gjk3d.clash.report.report import BY_DEFAULT, Report

DIGITS = 6  #: greatest number of digits of a length


def bounds(clash: Clash) -> tuple[float, float] | None:
    """Return certified bounds of the signed distance of a finding, or None if there are none."""
    if clash.distance is None or clash.distance_kind not in ("exact", "bound"):
        return None
    distance, error = clash.distance, clash.error_bound
    if clash.distance_kind == "bound":  # the depth is an upper bound
        return distance, 0.0 if error is None else min(0.0, nextafter(distance + error, inf))
    if not error:
        return distance, distance
    return nextafter(distance - error, -inf), nextafter(distance + error, inf)


def noise(clash: Clash, report: Report) -> float:
    """Return the error of the lengths of a finding. Its cause is the rounding of coordinates in the model files."""
    error = clash.tolerance or 0.0
    if error == 0.0 or report.settings.get("tolerance_from") == BY_DEFAULT:
        return error
    rounding = max(report._rounding.get(name, 0.0) for name in (clash.a, clash.b))
    return error * min(1.0, rounding / report.tolerance)  # the finding may be in another unit than the report


def depth(clash: Clash, unit: str | None = None, error: float = 0.0) -> str:
    """Return the depth as text: a number, a range, "≤ ..", or "about ..". Without an overlap the text is empty.

    ``unit`` is added to the number. ``error`` is the error of the depth from `noise`.
    """
    return _format(clash, clash.depth or max(0.0, -(clash.distance or 0.0)) or None, wording.format_depth, unit, error)


def _format(clash: Clash, value: float | None, proven: Callable[..., str], unit: str | None, error: float) -> str:
    if value is None:
        return ""
    interval = bounds(clash)
    if interval and (error == 0.0 or clash.distance_kind == "bound"):
        return proven(*interval, DIGITS, unit, error=error)
    if clash.kind == "touch" and clash.distance_kind == "approximate" and wording.snapped(value, error) > 0.0:
        return wording.format_bounds(value, inf, DIGITS, unit, error=error)  # a touch has a lower bound of its depth
    bound = clash.error_bound or 0.0
    shown = wording.snapped(value, max(error, bound))
    if shown == 0.0 and interval and value > bound:  # certified not to be 0
        shown = float(f"{value:.1g}")
    text = wording.with_unit(wording.number(shown, DIGITS), unit)
    return text if interval else f"about {text}"


def gap(clash: Clash, unit: str | None = None, error: float = 0.0) -> str:
    """Return the gap of two parts as text. Its bounds are never negative. For an overlap the text is empty.

    ``unit`` is added to the number. ``error`` is the error of the gap from `noise`.
    """
    if clash.depth or clash.distance is None or clash.distance < 0.0:
        return ""
    return _format(clash, clash.distance, partial(wording.format_bounds, least=0.0), unit, error)


def measure(clash: Clash, unit: str | None = None, error: float = 0.0) -> str:
    """Return "depth .." for an overlap, "gap .." for a gap, or an empty text for an unknown value.

    ``unit`` is added to the number. ``error`` is the error of the length from `noise`.
    """
    texts = {"depth": depth(clash, unit, error), "gap": gap(clash, unit, error)}
    return next((f"{name} {text}" for name, text in texts.items() if text), "")


def translation_length(clash: Clash, unit: str | None = None, error: float = 0.0) -> str:
    """Return the length of the separating translation of B as text.

    ``unit`` is added to the number. ``error`` is the error of the length from `noise`. If ``error`` is 0 and the length
    is an upper bound, it is rounded up.
    """
    rounded = wording.above if clash.distance_kind == "bound" and error == 0.0 else wording.number
    return wording.with_unit(rounded(wording.snapped(clash.depth or 0.0, error), DIGITS), unit)


def inside(clash: Clash, unit: str | None = None, error: float = 0.0) -> str:
    """Return a lower bound of the penetration, "≥ ..", as text. Without a known penetration the text is empty.

    ``unit`` is added to the number. ``error`` is the error of the penetration from `noise`.
    """
    if clash.penetration is None:
        return ""
    if clash.penetration == 0.0:
        return wording.with_unit("0", unit)
    return wording.format_bounds(clash.penetration, inf, DIGITS, unit, error=error)


def shared_volume(clash: Clash) -> str:
    """Return the overlap volume as text. An unknown volume is an empty text."""
    return "" if clash.overlap_volume is None else wording.number(clash.overlap_volume, 5)


def cells(clash: Clash, error: float = 0.0) -> tuple[str, str, str, str, str]:
    """Return the table cells of a finding: penetration, depth, gap, overlap volume, and evidence such as "epa, exact".

    ``error`` is the error of the lengths from `noise`.
    """
    lengths = inside(clash, error=error), depth(clash, error=error), gap(clash, error=error)
    return *lengths, shared_volume(clash), clash.evidence


def when(clash: Clash, report: Report) -> str:
    """Return the times at which two parts clash or are nearest, as text.

    The text is "always" for two parts that do not move relative to each other in a motion, and empty without motion.
    The parts are certified to be free at all times outside of the intervals in the text.
    """
    motion = report.motion
    if clash.time is None:
        return "always" if motion is not None and clash.method else ""
    unit = (motion and motion.unit) or None
    at = wording.with_unit(f"{clash.time:.6g}", unit)
    course = motion.courses.get((clash.a, clash.b)) if motion is not None else None
    steady = course is not None and course.is_steady
    if clash.intervals:
        extremes = () if motion is None else (motion.begin, motion.end)
        if clash.intervals[0][1:3] == extremes:
            return f"clashing throughout, {'equally deep' if steady else f'deepest at {at}'}"
        spans = ", ".join(_span(after, before, extremes) for after, _, _, before in clash.intervals)
        return f"deepest at {at}, clashing within {wording.with_unit(spans, unit)}"
    if clash.least is None:
        return f"at {at}"
    nearest = "equally near throughout" if steady else f"nearest at {at}"
    return f"{nearest}, {wording.format_bounds(*clash.least, 5, report.reading[0], error=noise(clash, report))}"


def _span(after: float, before: float, extremes: Collection[float]) -> str:
    first = wording.number if after in extremes else wording.below
    last = wording.number if before in extremes else wording.above
    return f"{first(after)} to {last(before)}"


#: The meaning of each kind, for pages.
MEANING = {
    "hard": "the parts overlap by more than the tolerance",
    "contained": "one part is inside the other, and their surfaces are apart",
    "duplicate": "two equal parts are at the same place",
    "unchecked": "the pair or the part could not be checked",
    "touch": "the surfaces are closer than the tolerance",
    "clearance": "the gap between the parts is below clearance - tolerance",
}
_METHODS = {
    "gjk": "GJK",
    "epa": "EPA",
    "triangles": "triangle-triangle tests",
    "inside": "a point-in-solid test",
    "equal": "comparing their triangles",
}
_KINDS = {
    "exact": "The distance is exact",
    "bound": "The depth is an upper bound: moving B by it separates the parts, and a shorter translation may suffice",
    "approximate": "The distance is an estimate without a certified error",
}


def decided(clash: Clash) -> str:
    """Return sentences on how a finding was decided, and whether its distance is exact, a bound or an estimate."""
    if clash.kind == "unchecked":
        return "Not decided."
    hulls = clash.shape_a == clash.shape_b == "hull"
    if clash.method == "boolean":
        text = "Decided by the boolean intersection of the solids"
    else:
        if hulls or clash.shape_a == clash.shape_b == "triangles":
            basis = f"{'the convex hulls' if hulls else 'the triangles'} of both parts"
        else:
            basis = f"the {clash.shape_a or 'form'} of A and the {clash.shape_b or 'form'} of B"
        method = _METHODS.get(clash.method, clash.method)
        text = f"Decided on {basis}" + (f", by {method}" if method else "")
    if clash.distance is None:
        return f"{text}."
    kind = _KINDS.get(clash.distance_kind, f"The distance is {clash.distance_kind}")
    if clash.distance_kind == "exact" and clash.error_bound:
        kind += " within the stated error"
    if hulls and clash.distance < 0.0 and clash.distance_kind == "bound":
        kind = "The depth is that of the convex hulls, so it is an upper bound for the parts"
    return f"{text}. {kind}."


_MOST_NEW = 100  #: the largest number of new findings that a table always lists


def listed(report: Report, top: int) -> tuple[list[Clash], int]:
    """Return the open findings for a table with ``top`` rows, and the number of open findings without a row.

    In comparison with an earlier report, new findings are first. Up to 100 new findings have a row, even if ``top`` is
    smaller.
    """
    rows = [clash for clash in report.clashes if clash.is_open]
    if any(clash.status != "new" for clash in report.clashes):
        rows.sort(key=lambda clash: clash.status != "new")
        top = max(top, min(_MOST_NEW, sum(clash.status == "new" for clash in rows)))
    return rows[:top], sum(report.counts.values()) - len(rows[:top])


def headline(report: Report) -> str:
    """Return the counts of findings and the name of the input as one line."""
    counts = report.counts
    totals = [f"{count} {kind}" for kind, count in counts.items() if count]
    names = [PurePath(item.path).name or item.path for item in report.inputs]
    where = f" in {names[0]}" + (f" and {len(names) - 1} more" if len(names) > 1 else "") if names else ""
    if totals:
        return f"{', '.join(totals)}{where}"
    if report.unchecked:
        return f"No clash found{where}, but not every part was checked"
    if not report.pairs_tested and not report.pairs_total:
        return f"Nothing was tested{where}"
    return f"No clash found{where}"


def facts(report: Report) -> str:
    """Return the numbers of parts and pairs, the limits and the time as one line with non-breaking spaces."""
    pairs = wording.count(report.pairs_total, "pair", ",")
    text = " · ".join(
        [
            wording.count(len(report.parts), "part", ","),
            f"{pairs}, {report.pairs_close:,} close, {report.pairs_tested:,} tested",
            report.limits.replace(", ", " · "),
            f"lengths in {report.reading[0]}" if report.unit else "the files state no unit",
            f"{report.elapsed:.3g} s",
        ]
    )
    return re.sub(r"(?<=\d) (?=\w)", "\u00a0", text)

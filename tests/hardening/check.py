"""Check the laws on a stack, and halve a stack that breaks a law until the rows that break it are found."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import laws
import numpy as np
from laws import Pair

from .draw import Stack
from .table import Tally

#: most runs of a law in the search for the rows of a stack that break it
_MOST_RUNS = 200

Law = Callable[[Pair, Any], None]


def _bounds(pair: Pair, result: Any) -> None:
    laws.bound_law(pair, result, tight=False)  # results that are not tight are counted separately


LAWS: dict[str, Law] = {
    "form": laws.form,
    "bounds": _bounds,
    "perturbed normals": laws.perturbed_law,
    "status": laws.status_law,
    "sign": laws.sign_law,
    "collide": laws.collide_law,
    "distance": laws.distance_law,
    "swap": laws.swap_law,
    "push": laws.push_law,
}


def rows_of(pair: Pair, rows: Any) -> Pair:
    """Return some rows of a pair."""
    return Pair(pair.a, pair.poses_a[rows], pair.b, pair.poses_b[rows])


def true_law(result: Any, least: Any, most: Any) -> None:
    """Check that each interval intersects the bounds of the true value, which include their own rounding error."""
    missed = np.flatnonzero((result.lower > most) | (result.upper < least))
    for k in missed[:1]:
        raise AssertionError(
            f"[{result.lower[k]!r}, {result.upper[k]!r}] misses the truth, {least[k]!r} to {most[k]!r}"
        )


def broken_rows(law: Callable[[Any], None], count: int) -> tuple[list[int], str, list[int], str]:
    """Return the rows that break a law, the first message, the rows that raise, and the first traceback."""
    wrong: list[int] = []
    raising: list[int] = []
    message = trace = ""
    waiting, runs = [np.arange(count)], 0
    while waiting:
        rows = waiting.pop()
        runs += 1
        try:
            law(rows)
            continue
        except AssertionError as error:
            kind, text = wrong, str(error).splitlines()[0] if str(error) else traceback.format_exc(limit=-1)
        except Exception:
            kind, text = raising, traceback.format_exc(limit=-3)
        if len(rows) > 1 and runs < _MOST_RUNS:
            half = len(rows) // 2
            waiting += [rows[half:], rows[:half]]
            continue
        kind += rows.tolist()
        if kind is wrong:
            message = message or text
        else:
            trace = trace or text
    return wrong, message, raising, trace


def check(stack: Stack, tally: Tally, every: dict[str, Law] = LAWS) -> Any:
    """Query a stack and check the laws; return the results, or None if the query raises."""
    pair, count = stack.pair, len(stack)
    line = tally.line(stack.name)
    line.pairs += count
    try:
        result = pair.signed()
    except Exception:
        tally.report(stack, "exception", list(range(count)), traceback.format_exc(limit=-3))
        return None
    numbers = np.column_stack([result.distance, result.lower, result.upper, result.normal, result.point_a])
    line.nan += int(np.isnan(numbers).any(axis=1).sum())
    line.loose += int(np.count_nonzero(~result.tight))
    some = pair.size > 1e-280  # two coincident points have size 0
    line.width = max(line.width, float(np.nanmax(laws.within(result)[some] / pair.size[some], initial=0.0)))
    line.iterations = max(line.iterations, int(result.iterations.max()))

    def on_rows(law: Law) -> Callable[[Any], None]:
        return lambda rows: law(rows_of(pair, rows), result[rows])

    named = {name: on_rows(law) for name, law in every.items()}
    if stack.truth is not None:
        least, most = stack.truth
        named["truth"] = lambda rows: true_law(result[rows], least[rows], most[rows])
    for name, law in named.items():
        wrong, message, raising, trace = broken_rows(law, count)
        if wrong:
            tally.report(stack, name, wrong, message)
        if raising:
            tally.report(stack, "exception", raising, f"{name}: {trace}")
    return result

"""Exact verification of a few rows of each stack with certificates, and of touching rows without."""

from __future__ import annotations

import re
import traceback
from typing import Any

import numpy as np

import gjk3d as gk

from .draw import Stack
from .table import Tally

_EVERY, _MOST = 100, 4
_NUMBER = re.compile(r"-?\b\d[\w.]*(?:[+-]\d+)?")


def _why(stack: Stack, reasons: tuple[str, ...]) -> str:
    """Return the kinds of shape and the reasons why a row is unproven, without numbers."""
    text = "; ".join(dict.fromkeys(_NUMBER.sub("x", reason) for reason in reasons))
    return f"{stack.pair.a[0]}, {stack.pair.b[0]}: {text}"


def _answer(stack: Stack, result: Any, row: int, sampled: bool) -> Any:
    """Return a row of the result. A sampled row is queried again with a certificate and must have the same bits."""
    if not sampled:
        return result[row]
    pair = stack.pair
    where = pair.poses_a[row], pair.poses_b[row]
    answer = gk.signed_distance(pair.shape_a, pair.shape_b, *where, certificate=True)
    for name in ("distance", "lower", "upper", "normal", "point_a", "point_b", "status", "tight"):
        assert np.array_equal(getattr(answer, name), getattr(result, name)[row]), f"{name} is another when asked alone"
    return answer


def judge(stack: Stack, result: Any, tally: Tally) -> None:
    """Verify every hundredth row, but a few at most, and each touching row. Count unproven rows by reason."""
    pair, count, line = stack.pair, len(stack), tally.line(stack.name)
    touching = np.flatnonzero(result.status == gk.Status.TOUCHING)
    line.touching += len(touching)
    step = max(_EVERY, count // _MOST)
    sampled = np.arange(stack.number % step, count, step)
    refuted: list[int] = []
    message = ""
    for row in sorted({*touching.tolist(), *sampled.tolist()}):
        try:
            answer = _answer(stack, result, row, row in sampled)
            verdict = gk.verify(answer, pair.shape_a, pair.shape_b, pair.poses_a[row], pair.poses_b[row])
        except AssertionError as error:
            tally.report(stack, "one is many", [row], str(error))
            continue
        except Exception:
            tally.report(stack, "exception", [row], f"verify: {traceback.format_exc(limit=-3)}")
            continue
        line.verified += verdict.proven
        if verdict.refuted:
            refuted.append(row)
            message = message or repr(verdict)
        elif not verdict.proven:
            line.unproven += 1
            tally.unproven[_why(stack, verdict.reasons)] += 1
    if refuted:
        tally.report(stack, "verify", refuted, message)

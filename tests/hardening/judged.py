"""The rational judge on every hundredth row, a few of a stack, with its certificate; on what touches without one."""

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
    """What is unproven, without its numbers, of which kinds of shape."""
    said = "; ".join(dict.fromkeys(_NUMBER.sub("x", reason) for reason in reasons))
    return f"{stack.pair.a[0]}, {stack.pair.b[0]}: {said}"


def _answer(stack: Stack, result: Any, row: int, sampled: bool) -> Any:
    """The row as it stands, or asked alone, with what proves it: the same bits."""
    if not sampled:
        return result[row]
    pair = stack.pair
    where = pair.poses_a[row], pair.poses_b[row]
    answer = gk.signed_distance(pair.shape_a, pair.shape_b, *where, certificate=True)
    for name in ("distance", "lower", "upper", "normal", "point_a", "point_b", "status", "tight"):
        assert np.array_equal(getattr(answer, name), getattr(result, name)[row]), f"{name} is another when asked alone"
    return answer


def judge(stack: Stack, result: Any, tally: Tally) -> None:
    """Verify each hundredth row, a few of a stack, and each that touches; count the unprovable with its reason."""
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
        except AssertionError as found:
            tally.report(stack, "one is many", [row], str(found))
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

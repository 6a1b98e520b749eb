"""Phrases of verdicts and flaws that the tests of the exact judge compare: each is stated here only."""

from __future__ import annotations

#: Parts of `Verdict.reasons`.
REASONS = {
    "certificate": "its certificate is not valid",
    "signed distance": "the signed distance is in",
    "point outside": "outside its shape",
    "point outside the half-space": "outside the half-space",
    "shape": "about another shape",
    "unknown numbers": "is not defined by numbers, so it cannot be checked",
    "unknown form": "the exact form of a",
}

#: Whole flaws of a surface, and of a cut into groups of parts.
FLAWS = {
    "no face": "there is no face",
    "a pair left out": "it leaves out a pair of parts",
}

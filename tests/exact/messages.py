"""Phrases of verdicts and flaws that the tests of `gjk3d.exact` compare. Each phrase is written only here."""

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

#: Complete texts of the flaws of a surface and of a cut between groups of parts.
FLAWS = {
    "no face": "there is no face",
    "a pair left out": "it leaves out a pair of parts",
}

"""Queries recorded with their results, so that someone else can compute them again: for bug reports.

Here is the JSON document, written and read from anyone, of two shapes or bodies. Reports of clashes have their own, in
`clash`; the rational judge of answers is in `exact`.
"""

from __future__ import annotations

from gjk3d.replay.document import Case, Replay, Sameness, read, run, to_json, versions

__all__ = ["Case", "Replay", "Sameness", "read", "run", "to_json", "versions"]


def __dir__() -> list[str]:
    return sorted(__all__)

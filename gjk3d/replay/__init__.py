"""Queries recorded with their results for bug reports, so that others can compute them again.

This subpackage writes and reads the JSON document of two shapes or bodies. Reports of clashes have another document, in
`clash`. `exact` checks results in rational arithmetic.
"""

from __future__ import annotations

from gjk3d.replay.document import Case, Replay, Sameness, read, run, to_json, versions

__all__ = ["Case", "Replay", "Sameness", "read", "run", "to_json", "versions"]


def __dir__() -> list[str]:
    return sorted(__all__)

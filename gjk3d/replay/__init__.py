"""Records of queries and their results, for bug reports, so that others can run the queries again.

`document` writes and reads the JSON document of a query of two shapes or bodies. `shapes` writes and reads the shapes
in it. The documents of clash reports are in `gjk3d.clash`. `gjk3d.exact` checks results in rational arithmetic.
"""

from __future__ import annotations

from gjk3d.replay.document import Case, Replay, Sameness, read, run, to_json, versions

__all__ = ["Case", "Replay", "Sameness", "read", "run", "to_json", "versions"]


def __dir__() -> list[str]:
    return sorted(__all__)

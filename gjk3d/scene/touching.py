"""Contacts of pairs of objects, convex or not."""

from __future__ import annotations

import numpy as np

from gjk3d.contacts import Contact
from gjk3d.narrow import manifold
from gjk3d.scene.narrow import Answers, Narrow
from gjk3d.scene.patching import patch_points


def patches(narrow: Narrow, answers: Answers, within: float, most: int | None) -> Contact:
    """Return the contact patches of pairs that are no farther apart than that."""
    result = narrow.result(answers, within)
    mixed = narrow.mixed(answers.pairs)
    if not mixed.any():
        shapes, table = narrow.table(answers.pairs)
        return Contact(
            result, *patch_points(narrow.pairs, shapes, table, narrow.rows, answers.out, within, most, narrow.workers)
        )
    from gjk3d.scene.meeting import meeting_points  # loaded where there is a mesh or the like

    count = np.zeros(len(answers), dtype=np.int64)
    shapes, table = narrow.table(answers.pairs[~mixed])
    some, count[~mixed] = patch_points(
        narrow.pairs, shapes, table, narrow.rows, answers.out[~mixed], within, most, narrow.workers
    )
    others = [
        meeting_points(a, b, row_a, row_b, out, within, most)
        for a, b, row_a, row_b, out in narrow.one_by_one(answers[mixed])
    ]
    count[mixed] = [len(points) for points, _ in others]
    columns = int(count.max()) if most is None else most
    points, normals = (
        np.full((len(answers), columns, manifold.POINT), np.nan),
        np.full((len(answers), columns, 3), np.nan),
    )
    points[~mixed, : some.shape[1]] = some
    normals[~mixed] = np.where(np.isnan(points[~mixed, :, :3]), np.nan, answers.out[~mixed, None, 3:6])
    for k, (own, ways) in zip(np.flatnonzero(mixed).tolist(), others, strict=True):
        points[k, : len(own)], normals[k, : len(own)] = own, ways
    return Contact(result, points, count, normals)

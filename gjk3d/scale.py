"""Queries on millions of rows, batch by batch, in this process or on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from gjk3d.errors import ShapeError
from gjk3d.interrupts import Pickled, check_client, on_cluster


def batches(
    question: Callable[..., Any], *rows: Any, executor: Any = None, size: int = 10_000
) -> Iterator[tuple[slice, Any]]:
    """Run a query on many rows, and yield the results batch by batch.

    Only a few batches of rows and results are in memory at once, so the number of rows is not limited. The bits of the
    results do not depend on the batch size or on the cluster.

    Parameters
    ----------
    question : callable
        The query for each batch: `Checker.free`, `Pairs.collide`, or any function that takes rows and can be pickled.
        ``functools.partial`` binds the arguments that all rows share.
    *rows : sequence
        Arrays, or other sequences that can be sliced, with equal numbers of rows. An array mapped from a file with
        ``numpy.load(path, mmap_mode="r")`` is read batch by batch.
    executor : dask.distributed.Client, optional
        A cluster. Each worker gets the query once, and further batches as it finishes earlier ones. If a worker dies,
        others repeat its batches. ``pip install "gjk3d[scale]"`` installs Dask.
    size : int
        Number of rows per batch.

    Yields
    ------
    slice
        The rows of the batch, in order.
    answer
        The result of the query for these rows.

    Raises
    ------
    ShapeError
        The numbers of rows differ, no rows are given, or ``size`` is less than 1.
    TypeError
        ``executor`` is not a client of Dask.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> pairs, which = gk.Pairs([gk.Sphere(1), gk.Sphere(1)]), np.zeros((5, 2), int) + (0, 1)
    >>> poses = np.tile(np.eye(4), (5, 2, 1, 1))
    >>> poses[:, 1, 0, 3] = np.arange(5)
    >>> for part, hit in gk.batches(pairs.collide, which, poses, size=2):
    ...     print(part, hit)
    slice(0, 2, None) [ True  True]
    slice(2, 4, None) [ True False]
    slice(4, 5, None) [False]
    """
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise ShapeError(f"size is {size!r}, expected a number of rows, 1 or more")
    counts = [len(column) for column in rows]
    if len(set(counts)) != 1:
        raise ShapeError(f"batches needs one or more sequences of equal length, not of {counts}")
    if executor is not None:
        check_client(executor)
    return _answers(question, rows, counts[0], executor, size)


def _answers(
    question: Callable[..., Any], rows: tuple[Any, ...], count: int, executor: Any, size: int
) -> Iterator[tuple[slice, Any]]:
    parts = (slice(start, min(start + size, count)) for start in range(0, count, size))
    if executor is None:
        for part in parts:
            yield part, question(*(column[part] for column in rows))
        return
    lots = ((part, Pickled([column[part] for column in rows])) for part in parts)
    with on_cluster(executor, question) as cluster:
        for (part, _), answer in cluster.map(_query, lots):
            yield part, answer


def _query(question: Callable[..., Any], lot: tuple[slice, Any]) -> Any:
    return Pickled(question(*lot[1]))

"""Millions of rows of one question, batch by batch, here or on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from gjk3d.errors import ShapeError
from gjk3d.interrupts import Pickled, check_client, on_cluster


def batches(
    question: Callable[..., Any], *rows: Any, executor: Any = None, size: int = 10_000
) -> Iterator[tuple[slice, Any]]:
    """Answer a question about many rows, and yield the answers batch by batch.

    Neither the answers nor the rows of more than a few batches are held at once, so any number of them needs no memory
    to speak of. Answers are of the same bits with any size of batch, here and on a cluster.

    Parameters
    ----------
    question : callable
        What is asked of each batch: `Checker.free`, `Pairs.collide`, or any function that takes rows and that pickles;
        ``functools.partial`` binds what is the same for all rows.
    *rows : sequence
        Arrays, or whatever has a length and takes a slice, of as many rows each. An array that is mapped from a file,
        by ``numpy.load(path, mmap_mode="r")``, is read batch by batch.
    executor : dask.distributed.Client, optional
        A cluster: each of its workers gets the question once, and batches as it finishes others. What a worker that
        dies had to do, others do. ``pip install "gjk3d[scale]"`` brings Dask.
    size : int
        Rows of a batch.

    Yields
    ------
    slice
        Which rows, in their order.
    answer
        What the question returned for them.

    Raises
    ------
    ShapeError
        The rows differ in number, there are none to take slices of, or ``size`` is less than 1.
    TypeError
        ``executor`` is no such client.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> pairs, which = gk.Pairs([gk.Sphere(1), gk.Sphere(1)]), np.zeros((5, 2), int) + (0, 1)
    >>> poses = np.tile(np.eye(4), (5, 2, 1, 1)); poses[:, 1, 0, 3] = np.arange(5)
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
        raise ShapeError(f"batches takes rows of one number, at least once, not of {counts}")
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

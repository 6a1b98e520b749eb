"""Long computations: safe handling of Ctrl-C, and queries in batches in this process or on a cluster.

Ctrl-C is delayed during imports and while kernels are loaded. An exception at these times would crash numba, and
trimesh would suppress it.
"""

from __future__ import annotations

import pickle
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

from gjk3d.errors import ShapeError
from gjk3d.wording import kind_of

# --- Ctrl-C and clusters ---------------------------------------------------------------------------------------------


_AHEAD = 64  #: number of rows submitted to the threads before the first result is awaited
_POLL = 0.1  #: seconds between two calls of ``poll``


@contextmanager
def delayed_interrupt() -> Iterator[list[Any]]:
    """Delay a first Ctrl-C and append it to the yielded list. A second Ctrl-C raises KeyboardInterrupt."""
    waiting: list[Any] = []
    in_main_thread = threading.current_thread() is threading.main_thread()  # only this thread receives signals
    if not in_main_thread or signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        yield waiting
        return

    def hold(*received: Any) -> None:
        if waiting:
            raise KeyboardInterrupt
        waiting.append(received)

    before = signal.signal(signal.SIGINT, hold)
    try:
        yield waiting
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)


@contextmanager
def unbroken() -> Iterator[None]:
    """Delay a first Ctrl-C until the end of a block. After a Ctrl-C, an exception of the block is suppressed."""
    with delayed_interrupt() as waiting:
        try:
            yield
        except Exception:  # a child process may have received the interrupt too, and failed
            if not waiting:
                raise
    if waiting:
        signal.raise_signal(signal.SIGINT)


class Aside:
    """A pool of threads or of cluster workers. Ctrl-C interrupts the thread that waits for their results at any time.

    A kernel, a file reader or a boolean operation on solids cannot be stopped, and may take many seconds. After an
    interrupt, running work ends and its result is discarded. Work that has not started is cancelled.
    """

    def __init__(
        self, pool: Executor, poll: Callable[[], None], ahead: int = _AHEAD, common: tuple[Any, ...] = ()
    ) -> None:
        self._pool = pool
        self._poll = poll
        self._ahead = ahead
        self._common = common  # first arguments of every call

    def run(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Return the result of ``work(*common, *arguments)``."""
        return self._answer(self._pool.submit(work, *self._common, *arguments))

    def map(self, work: Callable[..., Any], rows: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        """Yield each row and the result of ``work(*common, row)``, in the order of the rows, as soon as it is known."""
        begun: deque[tuple[Any, Future[Any]]] = deque()
        for row in rows:
            begun.append((row, self._pool.submit(work, *self._common, row)))
            if len(begun) == self._ahead:
                first, future = begun.popleft()
                yield first, self._answer(future)
        for first, future in begun:
            yield first, self._answer(future)

    def _answer(self, future: Future[Any]) -> Any:
        while not wait((future,), _POLL).done:
            self._poll()
        return future.result()


@contextmanager
def aside(workers: int = 1, poll: Callable[[], None] = lambda: None) -> Iterator[Aside]:
    """Yield a pool of threads. A caller that waits for a result calls ``poll`` every 0.1 s, and ``poll`` may raise."""
    pool = ThreadPoolExecutor(workers)
    try:
        yield Aside(pool, poll)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def check_client(executor: Any) -> None:
    """Raise a TypeError if the object is not the client of a Dask cluster."""
    if not (hasattr(executor, "scatter") and hasattr(executor, "get_executor")):
        raise TypeError(
            f"executor is {kind_of(executor)}, expected a dask.distributed.Client, for example that of LocalCluster()."
            ' Install it with pip install "gjk3d[scale]", or use workers= for threads of this process.'
        )


class Pickled:
    """A wrapper for a value in a task of Dask. Unpickling the wrapper returns the value itself.

    The value is pickled into one string of bytes. Without the wrapper, Dask would receive arrays at addresses that are
    not multiples of 8, and kernels reject such arrays.
    """

    def __init__(self, value: Any) -> None:
        self._value = value

    def __reduce__(self) -> Any:
        return pickle.loads, (pickle.dumps(self._value),)


@contextmanager
def on_cluster(client: Any, common: Any, poll: Callable[[], None] = lambda: None) -> Iterator[Aside]:
    """Yield the workers of a Dask cluster as a pool. Dask repeats the tasks of a worker that died.

    ``common`` is sent once to each worker, and is the first argument of each task. See `aside` for ``poll``.
    """
    (scattered,) = client.scatter([Pickled(common)], broadcast=True, hash=False)
    pool = client.get_executor(pure=False)
    try:
        # few tasks at a time, because finished results stay in memory until all earlier tasks are done
        yield Aside(pool, poll, 4 * max(1, sum(client.nthreads().values())), (scattered,))
    finally:
        pool.shutdown(wait=False)


# --- batches ---------------------------------------------------------------------------------------------------------


def batches(
    question: Callable[..., Any], *rows: Any, executor: Any = None, size: int = 10_000
) -> Iterator[tuple[slice, Any]]:
    """Run a query on many rows, and yield the results batch by batch.

    Only a few batches of rows and results are in memory at a time, so the number of rows is not limited. The bits of
    the results do not depend on the batch size or on the cluster.

    Parameters
    ----------
    question : callable
        The query for each batch: `Checker.free`, `Pairs.collide`, or any function that takes rows. For a cluster it
        must be possible to pickle the function. ``functools.partial`` binds arguments that all batches share.
    *rows : sequence
        Arrays, or other sequences that can be sliced, with equal numbers of rows. An array mapped from a file with
        ``numpy.load(path, mmap_mode="r")`` is read batch by batch.
    executor : dask.distributed.Client, optional
        The client of a cluster. Without it the batches run in this process. If a worker of the cluster dies, other
        workers repeat its batches. ``pip install "gjk3d[scale]"`` installs Dask.
    size : int
        Number of rows per batch.

    Yields
    ------
    slice
        The rows of the batch. Batches are yielded in the order of their rows.
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
        raise ShapeError(f"batches: the sequences have lengths {counts}, expected one or more of equal length")
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

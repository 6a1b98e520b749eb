"""Long computations: batches in this process or on a cluster, which Ctrl-C stops without harm.

Ctrl-C is delayed while an exception would do harm: numba crashes, and trimesh ignores the exception, if an interrupt
comes during their import or while they load a kernel.

Queries on millions of rows run batch by batch, in this process or on the workers of a cluster.
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


_AHEAD = 64  #: rows given to the threads before the first result is awaited
_HEED = 0.1  #: seconds between two checks for Ctrl-C


@contextmanager
def delayed_interrupt() -> Iterator[list[Any]]:
    """Delay a first Ctrl-C and append it to the yielded list; a second one interrupts."""
    waiting: list[Any] = []
    in_main_thread = threading.current_thread() is threading.main_thread()  # it gets all signals
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
    """Delay a first Ctrl-C to the end of a block, also if the block raises."""
    with delayed_interrupt() as waiting:
        try:
            yield
        except Exception:  # a child process may have received the interrupt too
            if not waiting:
                raise
    if waiting:
        signal.raise_signal(signal.SIGINT)


class Aside:
    """A pool of threads that Ctrl-C does not reach; Ctrl-C interrupts the waiting thread at once.

    A running kernel, a file reader or a boolean of solids cannot be stopped, and may take many seconds. If the wait
    ends early, running work finishes without an effect, and waiting work is dropped.
    """

    def __init__(
        self, pool: Executor, heed: Callable[[], None], ahead: int = _AHEAD, common: tuple[Any, ...] = ()
    ) -> None:
        self._pool = pool
        self._heed = heed
        self._ahead = ahead
        self._common = common  # passed before the other arguments

    def run(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Return the result of ``work(*arguments)``."""
        return self._answer(self._pool.submit(work, *self._common, *arguments))

    def map(self, work: Callable[..., Any], rows: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        """Yield each row with its result, in the order of the rows, as soon as possible."""
        begun: deque[tuple[Any, Future[Any]]] = deque()
        for row in rows:
            begun.append((row, self._pool.submit(work, *self._common, row)))
            if len(begun) == self._ahead:
                first, future = begun.popleft()
                yield first, self._answer(future)
        for first, future in begun:
            yield first, self._answer(future)

    def _answer(self, future: Future[Any]) -> Any:
        while not wait((future,), _HEED).done:
            self._heed()
        return future.result()


@contextmanager
def aside(workers: int = 1, heed: Callable[[], None] = lambda: None) -> Iterator[Aside]:
    """Yield threads for work; ``heed`` is called from time to time during waits, and may raise."""
    pool = ThreadPoolExecutor(workers)
    try:
        yield Aside(pool, heed)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def check_client(executor: Any) -> None:
    """Raise TypeError unless the object is the client of a Dask cluster."""
    if not (hasattr(executor, "scatter") and hasattr(executor, "get_executor")):
        raise TypeError(
            f"executor is {kind_of(executor)}, expected a dask.distributed.Client, for example that of LocalCluster()."
            ' Install it with pip install "gjk3d[scale]", or use workers= for threads of this process.'
        )


class Pickled:
    """A value that is pickled as a whole, and is replaced by the value itself when it is unpickled.

    Dask moves arrays separately from their containers, to addresses that may not be multiples of 8. Kernels reject such
    addresses.
    """

    def __init__(self, value: Any) -> None:
        self._value = value

    def __reduce__(self) -> Any:
        return pickle.loads, (pickle.dumps(self._value),)


@contextmanager
def on_cluster(client: Any, common: Any, heed: Callable[[], None] = lambda: None) -> Iterator[Aside]:
    """Yield the workers of a Dask cluster; each worker gets ``common`` once, as the first argument of its work.

    Dask places the tasks, and repeats those of a worker that died.
    """
    (scattered,) = client.scatter([Pickled(common)], broadcast=True, hash=False)
    pool = client.get_executor(pure=False)
    try:
        # few tasks at a time: finished results wait here until all earlier ones are done
        yield Aside(pool, heed, 4 * max(1, sum(client.nthreads().values())), (scattered,))
    finally:
        pool.shutdown(wait=False)


# --- batches ---------------------------------------------------------------------------------------------------------


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

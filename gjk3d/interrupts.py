"""Ctrl-C, delayed while an exception would do harm.

numba crashes, and trimesh ignores the exception, if an interrupt comes during their import or while they load a kernel.
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

from gjk3d.wording import kind_of

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

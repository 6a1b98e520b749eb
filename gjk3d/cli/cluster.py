"""``--scheduler``: a Dask cluster that is running."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gjk3d.cli.arguments import UsageError
from gjk3d.interrupts import unbroken

_WAIT = 10  #: seconds for a scheduler to answer


@contextmanager
def cluster_at(address: str | None) -> Iterator[Any]:
    """Lend a client of the scheduler at an address, None where none is named.

    Raises
    ------
    UsageError
        Nothing answers there, or no worker is there.
    ImportError
        Dask is not installed.
    """
    if address is None:
        yield None
        return
    try:
        with unbroken():
            from dask.distributed import Client
    except ImportError:
        raise ImportError('--scheduler needs Dask: pip install "gjk3d[scale]"') from None
    try:
        asyncio.run(_reached(address))
    except (OSError, ValueError) as error:
        raise UsageError(
            f"--scheduler {address!r}: no Dask scheduler answers ({str(error)[:200]}); `dask scheduler` starts one,"
            " and says its address, such as tcp://127.0.0.1:8786"
        ) from None
    dask: Any = Client  # without types
    with dask(address, timeout=_WAIT, set_as_default=False) as client:
        if not client.nthreads():
            raise UsageError(f"--scheduler {address!r}: no worker is there; start some: dask worker {address}")
        yield client


async def _reached(address: str) -> None:
    """Connect once: a client that fails to goes on trying in the background, and says so at its end."""
    from dask import distributed
    from distributed import core

    dask: Any = distributed  # without types
    wire: Any = core
    comm = await wire.connect(address, timeout=_WAIT, **dask.Security().get_connection_args("client"))
    await comm.close()

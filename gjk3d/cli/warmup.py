"""``gjk3d warmup``: compile now what a first query would compile."""

from __future__ import annotations

from gjk3d.cli.terminal import note


def warmup() -> int:
    """Compile the kernels ahead, so that the first query is fast; once a machine and version."""
    note("compiling all kernels, a minute or two where none are kept yet", "warmup")
    from gjk3d import compiling

    steps = compiling.warmup(lambda what, seconds: note(f"{seconds:7.2f} s  {what}", "warmup"))
    from gjk3d._kernels.decorators import cache_info

    if not cache_info()["enabled"]:
        note("nothing is kept on disk: each process compiles again; gjk3d doctor says why")
    print(f"ready in {sum(seconds for _, seconds in steps):.2f} s")
    return 0

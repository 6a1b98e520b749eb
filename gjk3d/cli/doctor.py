"""``gjk3d doctor`` and ``gjk3d warmup``: what is installed and works, what to do where it does not; kernels ahead."""

from __future__ import annotations

import platform
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any

from cyclopts import Parameter

from gjk3d.cli.terminal import console, note, safe, write_json
from gjk3d.errors import Gjk3dError

SCHEMA_VERSION = 1
NEEDED = ("numpy", "scipy", "numba", "llvmlite", "trimesh", "pyvista", "vtk", "cyclopts", "rich")
#: The extras of pyproject.toml; a test holds the two together.
EXTRAS = {
    "io": ("lxml", "networkx", "cascadio"),
    "mesh": ("manifold3d", "coacd"),
    "clash": ("manifold3d",),
    "robot": ("pycollada",),
    "plan": ("ompl",),
    "docs": ("pdoc",),
}
# vtk itself is loaded by pyvista, in the subprocess that probes whether rendering works
_IMPORTED = ("numpy", "scipy", "numba", "trimesh")


def doctor(*, json: Annotated[bool, Parameter(negative=())] = False) -> int:
    """Show versions, the cache of compiled kernels and whether rendering works.

    Exits with 1 if something that is needed is broken.

    Parameters
    ----------
    json
        Print one JSON document.
    """
    document: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "command": "doctor",
        "python": platform.python_version(),
        "platform": platform.platform(),
        "gjk3d": _version("gjk3d"),
        "packages": {name: _package(name) for name in NEEDED},
        "extras": {extra: _extra(extra, names) for extra, names in EXTRAS.items()},
        "kernels": _kernels(),
        "rendering": _rendering(),
    }
    broken = [name for name, package in document["packages"].items() if package["error"]]
    if document["kernels"]["error"]:
        broken.append("kernels")
    document["broken"] = broken
    document["usable"] = not broken
    if json:
        write_json(document)
    else:
        _print(document)
    return 0 if not broken else 1


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _package(name: str) -> dict[str, Any]:
    found = _version(name)
    if found is None:
        return {"version": None, "error": f"missing: pip install {name}"}
    if name in _IMPORTED:
        try:
            import_module(name)
        except Exception as error:  # a broken package may raise anything while it loads
            return {"version": found, "error": f"does not load: {type(error).__name__}: {error}"}
    return {"version": found, "error": None}


def _extra(extra: str, names: tuple[str, ...]) -> dict[str, Any]:
    found = {name: _version(name) for name in names}
    complete = all(found.values())
    return {"complete": complete, "packages": found, "install": None if complete else f'pip install "gjk3d[{extra}]"'}


def _kernels() -> dict[str, Any]:
    try:
        import gjk3d as gk
        from gjk3d._kernels.decorators import cache_info

        box, pose = gk.Box((1, 1, 1)), [[1, 0, 0, 3], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
        facts = cache_info()
        fast = not facts["compiles"] or any(folder["files"] for folder in facts["folders"])
        # asked only where it is fast: doctor must not compile for half a minute to say that nothing is compiled
        if fast and (distance := gk.signed_distance(box, box, None, pose).distance) != 2.0:
            return {**facts, "error": f"two boxes 2 apart are found {distance} apart"}
        return {**facts, "error": None}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def _rendering() -> dict[str, Any]:
    note("asking a subprocess whether pictures can be drawn", "doctor")
    try:
        from gjk3d import viz

        window = viz.check_rendering()
    except Gjk3dError as error:
        return {"works": False, "window": None, "error": str(error)}
    except Exception as error:
        return {"works": False, "window": None, "error": f"{type(error).__name__}: {error}"}
    return {"works": True, "window": window, "error": None}


def _print(document: dict[str, Any]) -> None:
    from rich.text import Text

    out = console()

    def line(label: str, text: str, good: bool | None = True) -> None:
        mark, style = {True: ("ok  ", "green"), False: ("FAIL", "bold red"), None: ("-   ", "yellow")}[good]
        out.print(Text.assemble((mark, style), f"  {label:<12}{safe(text)}"))

    line("gjk3d", f"{document['gjk3d']}, Python {document['python']}, {document['platform']}")
    for name, package in document["packages"].items():
        line(name, f"{package['version'] or ''} {package['error'] or ''}".strip(), package["error"] is None)
    for extra, facts in document["extras"].items():
        listed = ", ".join(f"{name} {found or 'missing'}" for name, found in facts["packages"].items())
        line(
            f"[{extra}]",
            (listed or "needs nothing more") + (f": {facts['install']}" if facts["install"] else ""),
            True if facts["complete"] else None,
        )
    _print_kernels(document["kernels"], line)
    rendering = document["rendering"]
    works = rendering["works"]
    line("rendering", f"works, in a {rendering['window']}" if works else rendering["error"], True if works else None)
    if not works:
        line("", "--html needs no rendering, only --image and gjk3d.viz do", None)
    verdict = "gjk3d is usable" if document["usable"] else f"broken: {', '.join(document['broken'])}"
    out.print(Text(verdict))


def _print_kernels(kernels: dict[str, Any], line: Any) -> None:
    if kernels["error"]:
        line("kernels", kernels["error"], False)
        return
    if not kernels["compiles"]:
        line("kernels", "compilation is off (NUMBA_DISABLE_JIT), everything runs slowly", None)
        return
    if not kernels["enabled"]:
        line("kernels", "no place to keep compiled kernels: set NUMBA_CACHE_DIR to a writable folder", None)
        return
    folders = kernels["folders"]
    files, size = sum(folder["files"] for folder in folders), sum(folder["bytes"] for folder in folders)
    if files:
        line("kernels", f"work; {files} files compiled, {size / 1e6:.1f} MB")
    else:
        line("kernels", "not compiled yet: the first query takes longer; gjk3d warmup does it now", None)
    for folder in folders:
        line("", folder["path"] + ("" if folder["writable"] else " (read-only)"), True if folder["writable"] else None)


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

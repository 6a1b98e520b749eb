"""``gjk3d doctor``, which tests the installation, and ``gjk3d warmup``, which compiles the kernels in advance."""

from __future__ import annotations

import platform
import time
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any

from cyclopts import Parameter

from gjk3d import __version__
from gjk3d.cli import ExitCode
from gjk3d.cli.terminal import console, note, safe, write_json
from gjk3d.errors import Gjk3dError

SCHEMA_VERSION = 1
NEEDED = ("numpy", "scipy", "llvmlite", "trimesh", "pyvista", "vtk", "cyclopts", "rich")
#: The packages of each extra in pyproject.toml. A test compares both lists.
EXTRAS = {
    "build": ("numba",),
    "io": ("lxml", "networkx", "cascadio"),
    "mesh": ("manifold3d", "coacd"),
    "clash": ("manifold3d",),
    "robot": ("pycollada", "xacro"),
    "mjcf": ("mujoco",),
    "plan": ("ompl",),
    "ifc": ("ifcopenshell",),
    "scale": ("dask",),
    "docs": ("pdoc",),
    "gpu": ("numba-cuda",),
}
#: The packages that are imported here. The subprocess that tests rendering imports pyvista and vtk.
_IMPORTED = ("numpy", "scipy", "llvmlite", "trimesh")


def doctor(*, json: Annotated[bool, Parameter(negative=())] = False) -> int:
    """Show the versions of packages, the state of the compiled kernels, and whether rendering works.

    The exit code is 1 if a required package is broken or the kernels do not work.

    Parameters
    ----------
    json
        Print a JSON document.
    """
    document: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "command": "doctor",
        "python": platform.python_version(),
        "platform": platform.platform(),
        "gjk3d": __version__,
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
    return ExitCode(bool(broken))


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _package(name: str) -> dict[str, Any]:
    version = _version(name)
    if version is None:
        return {"version": None, "error": f"missing: pip install {name}"}
    if name in _IMPORTED:
        try:
            import_module(name)
        except Exception as error:  # a broken package may raise any error
            return {"version": version, "error": f"does not load: {type(error).__name__}: {error}"}
    return {"version": version, "error": None}


def _extra(extra: str, names: tuple[str, ...]) -> dict[str, Any]:
    versions = {name: _version(name) for name in names}
    complete = all(versions.values())
    return {
        "complete": complete,
        "packages": versions,
        "install": None if complete else f'pip install "gjk3d[{extra}]"',
    }


def kernels_in_use() -> dict[str, Any]:
    """Return the mode in which kernels run in this process, as JSON data.

    The data also describe the state of the machine code if the mode is "object", in which kernels are compiled in
    advance.
    """
    from gjk3d._kernels import late
    from gjk3d._kernels.calls.install import is_usable
    from gjk3d._kernels.decorators import MODE

    return {"mode": MODE, **late.status(), "builtins": is_usable()} if MODE == "object" else {"mode": MODE}


def _kernels() -> dict[str, Any]:
    try:
        import gjk3d as gk

        box, pose = gk.Box((1, 1, 1)), [[1, 0, 0, 3], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
        facts = kernels_in_use()
        if facts.get("loaded") is False:  # a query would start the compilation
            return {**facts, "error": None}
        if (distance := gk.signed_distance(box, box, None, pose).distance) != 2.0:
            return {**facts, "error": f"the distance of two test boxes is {distance}, expected 2"}
        return {**facts, "error": None}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def _rendering() -> dict[str, Any]:
    note("testing rendering in a subprocess", "doctor")
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
        listed = ", ".join(f"{name} {version or 'missing'}" for name, version in facts["packages"].items())
        line(
            f"[{extra}]",
            (listed or "no packages") + (f": {facts['install']}" if facts["install"] else ""),
            True if facts["complete"] else None,
        )
    _print_kernels(document["kernels"], line)
    rendering = document["rendering"]
    works = rendering["works"]
    line("rendering", f"works, in a {rendering['window']}" if works else rendering["error"], True if works else None)
    if not works:
        line("", "only --image and gjk3d.viz need rendering, and --html works without rendering", None)
    verdict = "gjk3d is usable" if document["usable"] else f"broken: {', '.join(document['broken'])}"
    out.print(Text(verdict))


def _print_kernels(kernels: dict[str, Any], line: Any) -> None:
    if kernels["error"]:
        line("kernels", kernels["error"], False)
    elif kernels["mode"] == "python":
        line("kernels", "compilation is off (NUMBA_DISABLE_JIT, GJK3D_KERNELS), so all queries are slow", None)
    elif kernels["mode"] == "jit":
        line("kernels", "each process compiles by itself (GJK3D_KERNELS=jit)", None)
    elif kernels["loaded"]:
        line("kernels", f"machine code for {kernels['level']}: {kernels['object']}")
        if not kernels["builtins"]:
            why = "GJK3D_BUILTINS is 0 or the objects of this Python have another layout"
            line("", f"single calls go through Python, because {why}", None)
    elif kernels["building"] is not None:
        line("kernels", f"being compiled by another process, {kernels['building']:.0%} done", None)
    elif not kernels["can_build"]:
        line("kernels", 'no machine code for this machine, and no compiler: pip install "gjk3d[build]"', None)
    elif not kernels["writable"]:
        line("kernels", f"cannot be stored, because {kernels['folder']} is not writable. Set GJK3D_CACHE_DIR to", None)
        line("", "a writable folder, or to a readable folder that `gjk3d warmup` has filled.", None)
    else:
        line("kernels", "not compiled yet, so single queries are interpreted (gjk3d warmup compiles them)", None)
    for refusal in kernels.get("refused", ()):
        line("", refusal, None)


def warmup() -> int:
    """Compile all kernels in advance, once for each machine and version, so that the first query is fast."""
    import gjk3d._kernels as kernels

    start = time.perf_counter()
    if not kernels.warmup():
        note("nothing was compiled (gjk3d doctor shows the reason)")
        return ExitCode.FAILED
    print(f"ready in {time.perf_counter() - start:.2f} s")
    return ExitCode.OK

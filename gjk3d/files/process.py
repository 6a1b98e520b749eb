"""Readers that run in a separate process, because a damaged file may make them crash, hang or exhaust the memory.

The output of a reader is a file: GLB for STEP, a binary MuJoCo model for MJCF, and arrays for all other formats (see
`gjk3d.files.readers.write`).
"""

from __future__ import annotations

import ctypes
import importlib
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gjk3d.errors import ShapeError
from gjk3d.files import gltf, step_ifc
from gjk3d.files.readers import HeaderError, Node, Nodes, Shape, write

#: The time limit of a reader in seconds: a constant, plus a time for each megabyte of the file.
SECONDS, PER_MEGABYTE = 30.0, 60.0
_RUN = ("-P", "-m", "gjk3d.files.process")
_ON_DEATH_OF_PARENT = 1  #: PR_SET_PDEATHSIG of prctl
#: The limits of CPU seconds and of memory in bytes, for a file below `SMALL` bytes that does not refer to other files.
SMALL, SMALL_SECONDS, SMALL_BYTES = 1_000_000, 5, 1 << 30
_LIMITS = f" (the limits are {SMALL_SECONDS} s of CPU and {SMALL_BYTES >> 20} MiB for a file below 1 MB)"
#: Memory that threads reserve counts towards the limit. OpenBLAS reserves 41 MB per thread, and all of it with 24.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "VTK_SMP_BACKEND_IN_USE": "Sequential", "MALLOC_ARENA_MAX": "2"}
#: Readers with limits for small files. STEP and IFC refer to no other files either, but their facets may take longer.
ALONE = frozenset({"3DXML", "XAML", "VTK"})
#: Error texts of MuJoCo, C++ and Python that mean a lack of memory.
_NO_MEMORY = re.compile("allocate memory|unknown exception|bad_alloc|MemoryError")
_REPORTED = 3  #: the exit code of a process whose output is a complete error message


def converted(file: Path, reader: str, *, alone: bool = False) -> bytes:
    """Return the output of a reader process. ``alone`` means that the file does not refer to other files."""
    few = alone and file.stat().st_size < SMALL
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "model"
        command = [sys.executable, *_RUN, reader, str(file.absolute()), str(target), str(os.getpid()), str(int(few))]
        limit = SECONDS + PER_MEGABYTE * file.stat().st_size / 1e6
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        environment |= _ONE_THREAD if few else {}
        try:
            completed = subprocess.run(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, timeout=limit, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise HeaderError(
                f"the {reader} reader took more than {round(limit, 1):g} s, the limit for this file. Split the file."
            ) from None
        output = target.read_bytes() if target.exists() else b""
        if completed.returncode == _REPORTED:
            message = output.decode("utf-8")
            raise HeaderError(message + _LIMITS if few and _NO_MEMORY.search(message) else message)
        if completed.returncode != 0 or not output:
            message = output[:200].decode("utf-8", "replace").strip() or "failed without a message"
            how = f"ended with signal {-completed.returncode}" if completed.returncode < 0 else message
            if few and (completed.returncode < 0 or not output or _NO_MEMORY.search(message)):
                how += _LIMITS
            raise HeaderError(f"is not valid {reader}, because its reader {how}")
        return output


# --- in the separate process ----------------------------------------------------------------------------------------


def _step(source: str, target: str) -> None:
    cascadio: Any = importlib.import_module("cascadio")
    if (
        cascadio.step_to_glb(
            source, target, tol_linear=step_ifc.TOLERANCE, include_brep=True, brep_types=step_ifc.KINDS
        )
        != 0
    ):
        raise SystemExit(1)
    glb = Path(target)
    tree, binary = gltf.unpacked(glb.read_bytes())
    step_ifc.name_products(tree, Path(source).read_bytes())
    step_ifc.leave_out_curves(tree)
    step_ifc.name_shapes(tree)
    step_ifc.write_facets(tree)
    glb.write_bytes(gltf.packed(tree, binary))


def _trimesh(source: str, target: str) -> None:
    """Write the arrays of a 3DXML or XAML file, with a part for each instance of a mesh."""
    import trimesh

    with open(source, "rb") as file:  # without its path, trimesh cannot read other files
        scene: Any = trimesh.load_scene(file, file_type=Path(source).suffix.lower()[1:], process=False)
    shapes: list[Shape] = []
    keys: dict[str, int] = {}
    for node in scene.graph.nodes_geometry:
        matrix, name = scene.graph.get(node)
        mesh = scene.geometry[name]
        if isinstance(mesh, trimesh.Trimesh):
            faces = mesh.faces[:, ::-1] if np.linalg.det(matrix[:3, :3]) < 0.0 else mesh.faces
            # a node of 3DXML has the name of the part, a hash and a path of numbers; "geometry" is trimesh's default
            label, number = str(node).split("#")[0] or "geometry", len(shapes)
            key = label
            while key in keys:
                key, number = f"{label}_{number}", number + 1
            keys[key] = len(shapes)
            shapes.append(Shape(mesh.vertices @ matrix[:3, :3].T + matrix[:3, 3], faces))
    write(Nodes(tuple(shapes), tuple(Node(key, None, number) for key, number in keys.items())), target)


def _pyvista(source: str, target: str) -> None:
    """Write the arrays of a VTK data set: a surface, or the surface of a volume."""
    import pyvista

    from gjk3d.bodies.conversions import arrays_of

    with pyvista.VtkErrorCatcher(raise_errors=True):  # a truncated file is an error
        data = pyvista.read(source)
    try:
        write(Nodes((Shape(*arrays_of(data)),), (Node("geometry", None, 0),)), target)
    except ShapeError as error:
        words = str(error).removeprefix("from_pyvista: ")
        Path(target).write_text(
            f"contains no mesh, or is truncated: with data = pyvista.read(file), {words}", encoding="utf-8"
        )
        raise SystemExit(_REPORTED) from None


def _mjcf(source: str, target: str, *, text: bool = False) -> None:
    """Compile an MJCF and write a binary MuJoCo file.

    With ``text``, the files that the MJCF refers to are in the working folder.
    """
    mujoco: Any = importlib.import_module("mujoco")
    mujoco.set_mju_user_warning(lambda message: None)  # MuJoCo would write a log file into the working folder
    read = mujoco.MjSpec.from_string if text else mujoco.MjSpec.from_file
    content = Path(source).read_text(encoding="utf-8") if text else source
    try:
        model = read(content).compile()
    except Exception as reason:  # ValueError or FatalError of the parser and the compiler
        Path(target).write_text(f"MuJoCo reports: {reason}", encoding="utf-8")
        raise SystemExit(_REPORTED) from None
    mujoco.mj_saveModel(model, target)


READERS: dict[str, Callable[[str, str], None]] = {
    "STEP": _step, "3DXML": _trimesh, "XAML": _trimesh, "VTK": _pyvista, "MJCF": _mjcf,
    "MJCF text": partial(_mjcf, text=True), "IFC": lambda source, target: write(step_ifc.elements(source), target),
}  # fmt: skip


def _main(reader: str, source: str, target: str, parent: str, few: str) -> None:
    if sys.platform == "linux":  # if the parent is killed, the system must end this process
        ctypes.CDLL(None).prctl(_ON_DEATH_OF_PARENT, signal.SIGKILL)
        if os.getppid() != int(parent):
            raise SystemExit(1)
    try:
        import resource

        most = SMALL_BYTES if int(few) else os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * 3 // 4
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        if int(few):
            resource.setrlimit(resource.RLIMIT_CPU, (SMALL_SECONDS, SMALL_SECONDS))
    except (ImportError, OSError, ValueError):  # Windows, or a lower limit is already set
        pass
    try:
        READERS[reader](source, target)
    except Exception as error:
        lines = [line for line in str(error).splitlines() if line.strip()]
        what = "" if isinstance(error, HeaderError) else f"{type(error).__name__}: "
        Path(target).write_text(f"reports {what}{lines[-1] if lines else 'no message'}", encoding="utf-8")
        raise SystemExit(1) from None


if __name__ == "__main__":
    _main(*sys.argv[1:])

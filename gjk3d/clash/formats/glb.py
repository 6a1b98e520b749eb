"""The assembly with marked findings as a GLB file, for any viewer."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from gjk3d.bodies.solids import intersection, solid, union_of
from gjk3d.clash.detection.clashes import Clash
from gjk3d.clash.detection.parts import MARK, hex_of
from gjk3d.clash.report.report import Report
from gjk3d.clash.report.wording import when
from gjk3d.errors import ShapeError
from gjk3d.units import conversion

#: The colour of each kind, from the palette of Okabe and Ito for colour-blind readers.
COLORS = {
    "hard": "#D55E00",
    "contained": "#CC79A7",
    "duplicate": "#CC79A7",
    "touch": "#E69F00",
    "clearance": "#56B4E9",
}
_GREY, _FAINT = "#B0B7BF", 0.25  #: the colour of parts without a colour, and the opacity of parts without a finding
_MARK = 0.01  #: the size of a mark relative to the size of the assembly


def to_glb(report: Report, path: str | os.PathLike[str]) -> None:
    """Write the assembly with marked findings as GLB. Lengths are in metres if the unit is known.

    Findings are opaque, parts with findings are half transparent, and all other parts are nearly transparent. A part
    has the colour of its worst open finding. A part without an open finding has the colour in its file. Each open
    finding is a separate node, named by its rank, kind and parts. The node is the overlap volume, or an octahedron at
    the point of the finding. Moving parts are in the poses of the input files, without motion. Their overlap volume is
    where it is at the time of the finding, and the name of its node contains the times. `Assembly.load` skips the nodes
    of findings.

    Parameters
    ----------
    report : Report
        The report, with its assembly.
    path : path
        The file to write.

    Raises
    ------
    ShapeError
        If the report lacks its assembly, because it was read from a file.

    Examples
    --------
    >>> import gjk3d as gk, pathlib, tempfile
    >>> cube = gk.Box((1, 1, 1)).surface()
    >>> parts = {"a": gk.Mesh(*cube[:2]), "b": gk.Mesh(cube.vertices + 0.75, cube.faces)}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "marked.glb"
    ...     gk.clash.formats.to_glb(gk.clash.check(gk.clash.Assembly.of(parts)), file)
    ...     file.read_bytes()[:4]
    b'glTF'
    """
    import trimesh

    if report.assembly is None:
        raise ShapeError("the report was read from a file and lacks its assembly. Use the report that check returned.")
    scale = (conversion(report.unit, "m") if report.unit else None) or 1.0
    opened = [clash for clash in report.clashes if clash.is_open and clash.kind in COLORS]
    worst: dict[str, str] = {}
    for clash in opened:
        for name in (clash.a, clash.b):
            worst.setdefault(name, clash.kind)
    scene = trimesh.Scene()
    meshes = {part.name: mesh for part in report.assembly.parts if (mesh := part.mesh) is not None}
    colours = {part.name: hex_of(part.colour) for part in report.assembly.parts if part.colour is not None}
    for name, mesh in meshes.items():
        kind = worst.get(name)
        material = _material(colours.get(name, _GREY), _FAINT) if kind is None else _material(COLORS[kind], 0.6)
        _add(scene, name, mesh.vertices * scale, mesh.faces, material)
    low = np.min([mesh.bounds[0] for mesh in meshes.values()], axis=0)
    high = np.max([mesh.bounds[1] for mesh in meshes.values()], axis=0)
    size = _MARK * float(np.linalg.norm(high - low))
    for clash in opened:
        mark = _shared(report, clash, meshes) or _octahedron(clash, size)
        if mark is not None:
            title = f"clash {clash.severity} {clash.kind}: {clash.a} / {clash.b}"
            title += f", {words}" if (words := when(clash, report)) else ""
            _add(scene, title, mark[0] * scale, mark[1], _material(COLORS[clash.kind], 1.0), MARK)
    Path(path).write_bytes(scene.export(file_type="glb"))


def _shared(report: Report, clash: Clash, meshes: dict[str, Any]) -> tuple[Any, Any] | None:
    if clash.overlap_volume is None:
        return None
    first, second = (solid(union_of(meshes[name]).mesh) for name in (clash.a, clash.b))
    if first is None or second is None:
        return None
    if report.motion is not None and clash.time is not None:
        first = first.transform(report.motion.pose(clash.a, clash.time)[:3])
        second = second.transform(report.motion.pose(clash.b, clash.time)[:3])
    shared = intersection(first, second)
    return None if shared is None or not len(shared.faces) else (shared.vertices, shared.faces)


def _octahedron(clash: Clash, size: float) -> tuple[Any, Any] | None:
    if clash.point is None:
        return None
    corners = np.array([(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)], dtype=float)
    faces = [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)]
    return np.array(clash.point) + size * corners, np.array(faces)


def _add(
    scene: Any, name: str, vertices: Any, faces: Any, material: Any, extras: Mapping[str, Any] = MappingProxyType({})
) -> None:
    import trimesh

    visual = trimesh.visual.TextureVisuals(material=material)
    mesh = trimesh.Trimesh(vertices, faces, process=False, visual=visual, metadata=dict(extras))
    scene.add_geometry(mesh, node_name=name, geom_name=name)


def _material(color: str, alpha: float) -> Any:
    import trimesh

    rgb = [int(color[k : k + 2], 16) for k in (1, 3, 5)]
    return trimesh.visual.material.PBRMaterial(
        baseColorFactor=[*rgb, round(255 * alpha)],
        metallicFactor=0.0,
        roughnessFactor=0.8,
        doubleSided=True,
        alphaMode="OPAQUE" if alpha == 1.0 else "BLEND",
    )

"""The gearbox put together from `parts.py`: who stands where, and the triangles on the grid of the files.

All coordinates are rounded to a binary grid (2^-17 mm in the STL files, 2^-27 m in the GLB: 7.6 and 7.5 nanometres)
that float32 holds exactly. So the models are what the files say to the last bit, and planes that ought to touch do.
"""

from __future__ import annotations

import math

import numpy as np
import parts as p

try:
    import trimesh
except ImportError as missing:
    raise SystemExit("the models are written with trimesh: pip install 'gjk3d[mesh]'") from missing

MM_GRID, METRE_GRID = 2.0**-17, 2.0**-27
Y_TO_Z = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])  # takes z to y and y to -z
COLOURS = {
    "housing": (120, 150, 170), "cover": (150, 175, 190), "shaft_in": (205, 210, 215), "shaft_out": (205, 210, 215),
    "gear_a": (222, 170, 70), "gear_b": (212, 150, 55), "key": (230, 90, 60), "bearing": (215, 220, 225),
    "cap": (95, 110, 122), "seal": (75, 88, 98), "bolt": (185, 185, 190), "bolt_oversize": (210, 50, 45),
    "nut": (170, 170, 175), "washer": (215, 215, 215), "bracket": (70, 160, 90), "breather": (249, 178, 50),
    "pad": (60, 60, 60), "label": (245, 245, 245), "dowel": (210, 50, 45),
}  # fmt: skip


def q(mm: float) -> float:
    """Millimetres to metres on the grid of the GLB; sums of a few such numbers are exact."""
    return round(mm * 1e-3 / METRE_GRID) * METRE_GRID


def at(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    """Pose that shifts by numbers already in metres."""
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def about_z(degrees: float) -> np.ndarray:
    """Rotation about z; quarter turns are exact."""
    pose = np.eye(4)
    quarters, rest = divmod(degrees, 90)
    c, s = (1.0, 0.0) if rest == 0 else (math.cos(math.radians(rest)), math.sin(math.radians(rest)))
    for _ in range(int(quarters) % 4):
        c, s = -s, c
    pose[:2, :2] = (c, -s), (s, c)
    return pose


def mesh_of(solid: p.Solid, factor: float, grid: float) -> trimesh.Trimesh:
    """Triangles of a solid on the grid, in one canonical order."""
    raw = solid.to_mesh64()
    vertices, index = np.unique(
        np.round(np.asarray(raw.vert_properties)[:, :3] * factor / grid) * grid + 0.0, axis=0, return_inverse=True
    )
    faces = index.reshape(-1)[np.asarray(raw.tri_verts, np.int64)]
    if np.any(faces == np.roll(faces, 1, axis=1)):
        raise RuntimeError("the grid has closed a triangle")
    first = np.argmin(faces, axis=1)
    faces = faces[np.arange(len(faces))[:, None], (first[:, None] + np.arange(3)) % 3]
    mesh = trimesh.Trimesh(vertices, faces[np.lexsort(faces.T[::-1])], process=False)
    if not (mesh.is_watertight and mesh.is_winding_consistent and mesh.volume > 0):
        raise RuntimeError("not closed")
    if np.any(vertices.astype(np.float32) != vertices):
        raise RuntimeError("float32 does not hold the grid out here")
    return mesh


def assembly() -> list[tuple[str, str, str, np.ndarray]]:
    """Parts of the gearbox: (name, geometry, group, pose in the group), metres, z up before the root turns it."""
    rows = [("housing", "housing", "base", np.eye(4))]
    for i, (x, y) in enumerate(p.PADS, 1):
        lift = q(0.75) if i == 4 else 0.0  # the mistake: this foot is drawn 0.75 mm into the casting
        rows.append((f"pad_{i}", "pad", "base", at(q(x), q(y), lift - q(p.DEPTH))))
    x, y = p.DOWEL_AT
    rows.append(("dowel_lost", "dowel", "base", at(q(x), q(y), q(2) - q(p.DEPTH))))
    # the lid stands on the top of the cover
    rows.append(("cover", "cover", "lid", at(0, 0, -q(p.COVER))))
    x, y = p.LABEL_AT
    rows += [(name, "label", "lid", at(q(x), q(y))) for name in ("label", "label_copy")]
    turn = np.array([[0.8, -0.6, 0, 0], [0.6, 0.8, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])  # the 3-4-5 triangle
    rows.append(("breather", "breather", "lid", at(q(62), 0) @ turn))
    rows.append(("bracket", "bracket", "lid", at(q(p.BRACKET_AT[0]), q(p.BRACKET_AT[1])) @ about_z(90)))
    washer, plate, cover = q(p.WASHER), q(p.BRACKET_PLATE), q(p.COVER)
    for i, (x, y) in enumerate(p.bracket_bolts(), 1):
        rows.append((f"bracket_washer_{i}", "washer", "lid", at(q(x), q(y), plate)))
        rows.append((f"bracket_bolt_{i}", "bolt", "lid", at(q(x), q(y), plate + washer) @ about_z(15 * i)))
        rows.append((f"bracket_nut_{i}", "nut", "lid", at(q(x), q(y), -cover) @ about_z(0)))
    for i, (x, y) in enumerate(p.BOLTS, 1):
        rows.append((f"washer_{i}", "washer", "fasteners", at(q(x), q(y), cover)))
        kind = "bolt_oversize" if i == 4 else "bolt"  # the mistake: 7.2 mm thick in a hole of 6.6 mm
        rows.append((f"bolt_{i}", kind, "fasteners", at(q(x), q(y), cover + washer) @ about_z(15 * i)))
        rows.append((f"nut_{i}", "nut", "fasteners", at(q(x), q(y), -q(p.FLANGE)) @ about_z(90 * i)))
    face = at(0, 0, q(p.BOSS_FACE))
    for side, shaft, gear, blind in [("in", "shaft_in", "pinion", face), ("out", "shaft_out", "wheel", -face)]:
        group = f"{side}put"
        rows.append((shaft, shaft, group, np.eye(4)))
        rows.append((f"gear_{gear}", "gear_a" if side == "in" else "gear_b", group, np.eye(4)))
        middle = q(p.SHOULDER) + q(p.BEARING_WIDTH / 2)
        rows += [
            (f"bearing_{side}_{end}", "bearing", group, at(0, 0, s * middle)) for end, s in (("front", -1), ("back", 1))
        ]
        flip = np.diag([1.0, -1, -1, 1])  # half a turn about x
        closed, opened = (np.eye(4), flip) if blind is face else (flip, np.eye(4))
        where = {"in": q(p.AXIS_IN), "out": q(p.AXIS_OUT)}[side]
        for name, kind, pose in [(f"cap_{side}", "cap", closed), (f"seal_{side}", "seal", opened)]:
            depth = q(p.BOSS_FACE) * pose[2, 2]
            rows.append(
                (name, kind, "ends", at(where, 0, 0) @ at(0, 0, -q(p.AXIS_DEPTH)) @ Y_TO_Z @ at(0, 0, depth) @ pose)
            )
    rows.insert(-2, ("key", "key", "output", np.eye(4)))
    return rows


GROUPS = {
    "base": np.eye(4),
    "lid": at(0, 0, q(p.COVER)),
    "fasteners": np.eye(4),
    "ends": np.eye(4),
    "input": at(q(p.AXIS_IN), 0, -q(p.AXIS_DEPTH)) @ Y_TO_Z,
    # 30 degrees: a tooth gap of the wheel faces the pinion, and the corners of all round polygons stay lined up
    "output": at(q(p.AXIS_OUT), 0, -q(p.AXIS_DEPTH)) @ Y_TO_Z @ about_z(30),
}


def build_scene() -> trimesh.Scene:
    """Build the tree: root (z up to y up), groups, parts; equal parts share one mesh."""
    scene = trimesh.Scene(base_frame="world")
    scene.graph.update(frame_from="world", frame_to="gearbox", matrix=Y_TO_Z)
    for group, pose in GROUPS.items():
        scene.graph.update(frame_from="gearbox", frame_to=f"group_{group}", matrix=pose)
    for name, kind, group, pose in assembly():
        if kind not in scene.geometry:
            mesh = mesh_of(p.MAKERS[kind](), 1e-3, METRE_GRID)
            paint = trimesh.visual.material.PBRMaterial(
                name=kind, baseColorFactor=[*COLOURS[kind], 255], metallicFactor=0.3, roughnessFactor=0.5
            )
            mesh.visual = trimesh.visual.TextureVisuals(material=paint)
            scene.geometry[kind] = mesh
        scene.graph.update(frame_from=f"group_{group}", frame_to=name, matrix=pose, geometry=kind)
    return scene

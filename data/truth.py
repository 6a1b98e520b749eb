"""What is true of the models, from the numbers they were drawn with: `gearbox.truth.json` and `models.truth.json`.

Two answers a pair, kept apart: for the real solids, and for the convex hulls of the two parts. Nothing here comes from
the package. An answer "by construction" is a sum of design numbers on the grid of the file; it is compared with the
brute force of `hulls.py` before it is written, and whatever has no such formula is "computed" by that brute force.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import hulls
import numpy as np
import parts as p
import trimesh
from assembly import about_z, assembly, q

STL = ["bracket", "bolt", "nut", "gear_a", "gear_b"]
SLACK = 2e-8  # metres: rounding of slanted faces to the grid of the file, with room
FLAT = 1e-15  # metres: answers by construction hold to rounding
COMPUTED = 1e-12
UNLISTED_GAP = 0.9e-3
COS_FINE, COS_COARSE = math.cos(math.pi / p.FINE), math.cos(math.pi / p.COARSE)

Row = dict[str, object]


def row(a: str, b: str, kind: str, distance: tuple[float, float], why: str, volume: float | None = None) -> Row:
    """One pair of real solids: signed distance within bounds (metres, negative in overlap), overlap volume (m3)."""
    solid: Row = {"distance": [float(d) for d in distance], "volume": 0.0 if volume is None else volume, "why": why}
    return {"a": a, "b": b, "kind": kind, "solid": solid}


def mm(low: float, high: float | None = None) -> tuple[float, float]:
    """Bounds in metres from millimetres."""
    return low * 1e-3, (low if high is None else high) * 1e-3


def ring(outer: float, inner: float, n: int, height: float) -> float:
    """Volume (m3) between two concentric regular prisms of millimetres."""
    return n / 2 * math.sin(2 * math.pi / n) * (outer**2 - inner**2) * height * 1e-9


# the gearbox --------------------------------------------------------------------------------------------------------


def touching() -> list[Row]:
    """Faces that lie on each other."""
    plane = "the two faces are drawn on one plane"
    pairs = [("housing", "cover", "cover on the flange: " + plane)]
    pairs += [("housing", f"pad_{i}", "foot on its pad: " + plane) for i in (1, 2, 3)]
    pairs += [
        ("cover", name, "underside on the top of the cover: " + plane) for name in ("label", "label_copy", "bracket")
    ]
    pairs += [("cover", "breather", "screwed down to the cover: " + plane)]
    for i in (1, 2, 3, 4):
        pairs.append(("cover", f"washer_{i}", "washer on the cover: " + plane))
        if i != 4:
            pairs.append((f"washer_{i}", f"bolt_{i}", "bolt head on its washer: " + plane))
        pairs.append(("housing", f"nut_{i}", "nut under the flange: " + plane))
    for i in (1, 2):
        pairs.append(("bracket", f"bracket_washer_{i}", "washer on the bracket: " + plane))
        pairs.append((f"bracket_washer_{i}", f"bracket_bolt_{i}", "bolt head on its washer: " + plane))
        pairs.append(("cover", f"bracket_nut_{i}", "nut under the cover: " + plane))
    for side, gear in (("in", "pinion"), ("out", "wheel")):
        pairs += [("housing", f"{end}_{side}", "flange on the bearing boss: " + plane) for end in ("cap", "seal")]
        for end in ("front", "back"):
            why = (
                "press fit: bore and seat are one and the same 48-sided prism, and the ring stands against the shoulder"
            )
            pairs.append((f"shaft_{side}", f"bearing_{side}_{end}", why))
        fit = "press fit: bore and seat are the same prism, and it" if side == "in" else "slides on with play, but"
        pairs.append((f"shaft_{side}", f"gear_{gear}", f"{fit} stands against the collar of the shaft"))
    pairs.append(("shaft_out", "key", "the key fills its keyway: bottom, sides and ends lie on each other"))
    return [row(a, b, "touch", (0.0, 0.0), why) for a, b, why in pairs]


def clear() -> list[Row]:
    """Gaps that mean something; everything else is farther apart than `UNLISTED_GAP`."""
    rows = []
    hole, bore = (p.CLEARANCE_HOLE - p.SHANK) * COS_COARSE, (p.NUT_BORE - p.SHANK) * COS_COARSE
    parallel = "24-sided prisms with parallel sides, so the gap is the difference of radii times cos(pi/24)"
    for i in (1, 2, 3):
        rows.append(row("cover", f"bolt_{i}", "clear", mm(hole), f"6.0 mm bolt in a 6.6 mm hole: {parallel}"))
        rows.append(row("housing", f"bolt_{i}", "clear", mm(hole), f"6.0 mm bolt in a 6.6 mm hole: {parallel}"))
        rows.append(row(f"nut_{i}", f"bolt_{i}", "clear", mm(bore), f"6.0 mm thread in a 6.2 mm bore: {parallel}"))
    for i in (1, 2):
        for plate in ("cover", "bracket"):
            rows.append(row(plate, f"bracket_bolt_{i}", "clear", mm(hole), f"6.0 mm bolt in a 6.6 mm hole: {parallel}"))
        rows.append(
            row(
                f"bracket_nut_{i}",
                f"bracket_bolt_{i}",
                "clear",
                mm(bore),
                f"6.0 mm thread in a 6.2 mm bore: {parallel}",
            )
        )
    low, high = backlash()
    rows.append(row("gear_pinion", "gear_wheel", "clear", mm(low, high), BACKLASH_WHY))
    fit = (p.BEARING_BORE_HOUSING - p.BEARING_RADIUS) * COS_FINE
    why = "26.00 mm ring in a 26.04 mm bore: 48-sided prisms with parallel sides"
    rows += [
        row("housing", f"bearing_{s}_{e}", "clear", mm(fit), why) for s in ("in", "out") for e in ("front", "back")
    ]
    lip = (p.SEAL_BORE - p.SEAT) * COS_FINE
    why = "12.0 mm shaft in a 12.8 mm seal: 48-sided prisms with parallel sides"
    rows += [row(f"shaft_{s}", f"seal_{s}", "clear", mm(lip), why) for s in ("in", "out")]
    why = "4.0 mm key in a 4.2 mm keyway, and 0.4 mm below its top"
    rows.append(row("gear_wheel", "key", "clear", mm(p.KEYWAY_SIDE_GAP), why))
    play = q(p.BOSS_FACE) - q(p.SHAFT_OUT_END)
    rows.append(row("shaft_out", "cap_out", "clear", (play, play), "the shaft ends 0.5 mm below its cap, as it should"))
    gap = q(p.LABEL_AT[0]) - q(p.LABEL[0] / 2) - (q(p.BRACKET_AT[0]) + q(15))
    rows.append(row("bracket", "label", "clear", (gap, gap), "parallel faces 30 mm apart along the cover"))
    side = [2 * q(p.PADS[0][k]) - 2 * q(p.PAD / 2) for k in (0, 1)]
    why = "equal square pads, side by side"
    rows += [row("pad_1", "pad_2", "clear", (side[1],) * 2, f"{why}: 40 - 16 = 24 mm")]
    rows += [row("pad_2", "pad_3", "clear", (side[0],) * 2, f"{why}: 136 - 16 = 120 mm")]
    rows += [row("pad_1", "pad_3", "clear", (math.hypot(*side),) * 2, "edge to edge: hypot(120, 24) mm")]
    across = q(p.AXIS_OUT) - q(p.AXIS_IN) - 2 * q(p.CAP_RADIUS)
    along = 2 * q(p.BOSS_FACE)
    why = "the discs turn a corner to each other: centres 48 mm apart, radii 17.5 mm, so 13 mm"
    rows.append(row("seal_in", "cap_out", "clear", (across, across), why + ", on one face of the housing"))
    rows.append(row("cap_in", "cap_out", "clear", (math.hypot(across, along),) * 2, why + " across, and 60 mm along"))
    return rows


def hard() -> list[Row]:
    """List the mistakes in the drawing."""
    rows, lift = [], p.SHANK_LENGTH - p.WASHER
    # apart again once the bolt is pulled out; until then a ball as wide as the ring between the radii lies in both
    for other, radius, height, out in [
        ("cover", p.CLEARANCE_HOLE, p.COVER, lift),
        ("housing", p.CLEARANCE_HOLE, p.FLANGE, lift - p.COVER),
        ("washer_4", p.WASHER_BORE, p.WASHER, p.SHANK_LENGTH),
    ]:
        bounds = mm(-out, -(p.OVERSIZE - radius) * COS_COARSE)
        why = f"7.2 mm bolt through a {2 * radius:.1f} mm hole, both 24-sided, over {height} mm; {out:g} mm pull it out"
        rows.append(row(other, "bolt_4", "hard", bounds, why, ring(p.OVERSIZE, radius, p.COARSE, height)))
    c, inner, outer = p.NUT_COUNTERSINK, p.NUT_BORE, p.NUT_BORE + p.NUT_COUNTERSINK
    hollow = inner**2 * (p.NUT - 2 * c) + 2 * c * (inner**2 + inner * outer + outer**2) / 3
    out = lift - p.COVER - p.FLANGE
    volume = ring(p.OVERSIZE, math.sqrt(hollow / p.NUT), p.COARSE, p.NUT)
    why = f"7.2 mm bolt in a 6.2 mm nut, less its countersinks; {out:g} mm pull it out"
    rows.append(row("nut_4", "bolt_4", "hard", mm(-out, -(p.OVERSIZE - inner) * COS_COARSE), why, volume))
    poke = q(p.SHAFT_IN_END) - q(p.BOSS_FACE)
    r = p.SEAT
    volume = ring(r, 0, p.FINE, p.SHAFT_IN_END - p.BOSS_FACE - 0.5) + ring(
        math.sqrt((r**2 + r * (r - 0.5) + (r - 0.5) ** 2) / 3), 0, p.FINE, 0.5
    )
    why = "the shaft is drawn 1.5 mm too long and ends inside its cap, in the middle of a wide flat face"
    rows.append(row("shaft_in", "cap_in", "hard", (-poke, -poke), why, volume))
    why = "this foot is drawn 0.75 mm into the casting; square faces 16 mm wide"
    rows.append(row("housing", "pad_4", "hard", (-q(0.75),) * 2, why, q(0.75) * (2 * q(p.PAD / 2)) ** 2))
    inside = q(2) + q(p.DOWEL)
    why = "a pin of 6 mm is left in the solid foot of 10 mm, 2 mm of metal above and below: 8 mm to push it out"
    rows.append(row("housing", "dowel_lost", "contained", (-inside, -inside), why, p.VOLUMES["dowel"] * 1e-9))
    thick = q(p.LABEL[2])
    why = "the same plate twice at the same place: it comes out through its thickness"
    rows.append(
        row(
            "label", "label_copy", "duplicate", (-thick, -thick), why, 4 * q(p.LABEL[0] / 2) * q(p.LABEL[1] / 2) * thick
        )
    )
    return rows


BACKLASH_WHY = (
    "0.2 mm backlash along the pitch circle at the standard centre distance, the teeth centred: each flank is "
    "0.1 mm cos 20 deg away along the line of action; straight pieces lie "
    "inside the involutes, never outside, and add at most their sagittas"
)


def backlash() -> tuple[float, float]:
    """Bounds (mm) of the gap between the two gears when a tooth stands in the middle of a gap."""
    gap = p.BACKLASH / 2 * math.cos(p.PRESSURE_ANGLE)
    return gap, gap + p.sagitta(p.TEETH_A) + p.sagitta(p.TEETH_B)


# hull answers known from the drawing: the pairs whose hulls keep the very faces that decide
HULLS_AS_SOLIDS = (
    "the faces that decide are also faces, edges or corners of both hulls, so the hulls give the same number"
)


def hull_by_construction(a: str, b: str) -> bool:
    """Whether the answer for the solids is also that of the hulls, exactly."""
    names = {a, b}
    exact = [{"bracket", "label"}, {"pad_1", "pad_2"}, {"pad_2", "pad_3"}, {"pad_1", "pad_3"}, {"seal_in", "cap_out"},
             {"cap_in", "cap_out"}, {"shaft_out", "cap_out"}, {"shaft_in", "cap_in"}, {"housing", "pad_4"},
             {"housing", "dowel_lost"}, {"label", "label_copy"}]  # fmt: skip
    if names in exact:
        return True
    on_top = {"label", "label_copy", "bracket", "breather", *(f"washer_{i}" for i in range(1, 5))}
    on_top |= {"bracket_nut_1", "bracket_nut_2"}
    outside = {"cover", *(f"pad_{i}" for i in range(1, 4))}
    return bool(("cover" in names and names & on_top) or ("housing" in names and names & outside))


def hull_answer(a: np.ndarray, b: np.ndarray, drawn: float | None, unit: float = 1.0) -> Row:
    """Hull answer of two point sets: brute force, replaced by the exact number where the drawing has it."""
    found = hulls.signed_distance(a, b)
    value, tolerance = (found.distance, COMPUTED * unit) if drawn is None else (drawn, FLAT * unit)
    if abs(found.distance - value) > tolerance:
        raise RuntimeError(f"drawn {value}, found {found.distance}")
    answer: Row = {
        "status": "touching" if abs(value) <= tolerance else "separated" if value > 0 else "overlapping",
        "distance": value, "tolerance": tolerance, "by": "computed" if drawn is None else "construction",
        "normal": [round(float(x), 15) + 0.0 for x in found.normal], "normal_unique": found.unique,
    }  # fmt: skip
    return answer if drawn is None else answer | {"why": HULLS_AS_SOLIDS}


def gearbox(folder: Path) -> Row:
    """Truth about the assembly, with the parts as a loader must find them."""
    scene = trimesh.load_scene(folder / "gearbox.glb")
    kinds = {name: (kind, group) for name, kind, group, _ in assembly()}
    world, described = {}, {}
    for name in kinds:
        pose, geometry = scene.graph[name]
        mesh = scene.geometry[geometry]
        world[name] = mesh.vertices @ pose[:3, :3].T + pose[:3, 3]
        kind, group = kinds[name]
        volume, how = (p.VOLUMES[kind] * 1e-9, "closed form") if kind in p.VOLUMES else (float(mesh.volume), "measured")
        described[name] = {
            "geometry": kind, "path": f"gearbox/group_{group}/{name}", "triangles": len(mesh.faces),
            "convex": bool(mesh.volume > (1 - 1e-6) * mesh.convex_hull.volume), "volume": volume, "volume_is": how,
            "bounds": [world[name].min(axis=0).tolist(), world[name].max(axis=0).tolist()], "pose": pose.tolist(),
        }  # fmt: skip
    pairs = [*hard(), *touching(), *clear()]
    for pair in pairs:
        drawn = pair["solid"]["distance"][0] if hull_by_construction(pair["a"], pair["b"]) else None
        pair["hull"] = hull_answer(world[pair["a"]], world[pair["b"]], drawn)
    return {
        "schema_version": 1, "file": "gearbox.glb", "unit": "m", "up": "+y", "slack": SLACK,
        "unlisted_pairs": {"kind": "clear", "gap_at_least": UNLISTED_GAP}, "parts": described, "pairs": pairs,
    }  # fmt: skip


# the single models --------------------------------------------------------------------------------------------------


def turned_pose(axis: tuple[float, float, float], degrees: float, shift: tuple[float, float, float]) -> np.ndarray:
    """Rotation about an axis (Rodrigues) and a shift."""
    x = np.array(axis) / np.linalg.norm(axis)
    cross = np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])
    angle = math.radians(degrees)
    pose = np.eye(4)
    pose[:3, :3] += math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross
    pose[:3, 3] = shift
    return pose


def models(folder: Path) -> Row:
    """Truth about pairs of the STL files in given poses (mm)."""

    def shift(*t: float) -> np.ndarray:
        return turned_pose((0, 0, 1), 0, t)

    hole = (p.CLEARANCE_HOLE - p.SHANK) * COS_COARSE
    x, y = p.BRACKET_HOLES[0]
    corner = float(trimesh.load_mesh(folder / "bolt.stl").vertices[:, 0].max())
    beside = 40 - p.BRACKET_X - corner
    upright = np.array([[1.0, 0, 0, 0], [0, 0, 1, 15], [0, -1, 0, 20], [0, 0, 0, 1]])
    mesh = shift(p.CENTRE_DISTANCE, 0, 0) @ about_z(180 / p.TEETH_B)
    # case, a, b, pose of b, kind, bounds of the distance, whether the hulls say exactly the same, why, overlap volume
    rows = [
        ("as loaded", "bracket", "bolt", shift(0, 0, 0), "hard", (-p.HEAD,) * 2, True,
         "both at their datum: the head stands in the base plate, as high as the plate is thick", None),
        ("beside", "bracket", "bolt", shift(40, 0, 0), "clear", (beside,) * 2, True,
         "a corner of the head faces the flat end of the base plate: 40 - 20 - 10 / sqrt(3) mm", 0.0),
        ("underneath", "bracket", "bolt", shift(0, 0, -p.HEAD), "touch", (0.0, 0.0), True,
         "the top of the head lies flat against the underside of the base plate", 0.0),
        ("sunk", "bracket", "bolt", shift(0, 0, 0.25 - p.HEAD), "hard", (-0.25, -0.25), True,
         "the same, 0.25 mm too high: that far into the plate, in the middle of a wide flat face", None),
        ("turned", "bracket", "bolt", turned_pose((1, 2, 3), 40, (30, -25, 20)), "clear", None, False,
         "a pose with no symmetry; no formula for the solids", 0.0),
        ("in its hole", "bracket", "bolt", shift(x, y, p.BRACKET_PLATE + 0.5), "clear", (hole, hole), False,
         "6.0 mm bolt in a 6.6 mm hole, head 0.5 mm above the plate: the solids are clear, the hulls are not", 0.0),
        ("through the upright", "bracket", "bolt", upright, "hard", (-19.0, -4.0), False,
         "no hole there: lifted over the top of the upright after 19 mm, and a ball of 4 mm lies in both", None),
        ("on the bolt", "bolt", "nut", shift(0, 0, -14), "clear", ((p.NUT_BORE - p.SHANK) * COS_COARSE,) * 2, False,
         "6.0 mm thread in a 6.2 mm bore: the solids are clear, the hulls are not", 0.0),
        ("in mesh", "gear_a", "gear_b", mesh, "clear", backlash(), False, BACKLASH_WHY, 0.0),
    ]  # fmt: skip
    meshes = {name: trimesh.load_mesh(folder / f"{name}.stl") for name in STL}
    points = {name: np.asarray(mesh.vertices) for name, mesh in meshes.items()}
    files = {
        f"{name}.stl": {"triangles": len(m.faces), "volume": float(m.volume), "bounds": m.bounds.tolist()}
        for name, m in meshes.items()
    }
    pairs = []
    for title, a, b, pose, kind, distance, same, why, volume in rows:
        solid: Row = {"distance": None if distance is None else list(distance), "volume": volume, "why": why}
        pair: Row = {
            "case": title,
            "a": f"{a}.stl",
            "b": f"{b}.stl",
            "pose_a": np.eye(4).tolist(),
            "pose_b": pose.tolist(),
        }
        moved = points[b] @ pose[:3, :3].T + pose[:3, 3]
        hull = hull_answer(points[a], moved, distance[0] if same else None, unit=1e3)
        pairs.append(pair | {"kind": kind, "solid": solid, "hull": hull})
    return {"schema_version": 1, "unit": "mm", "slack": SLACK * 1e3, "files": files, "pairs": pairs}


def dumps(content: Row) -> str:
    """JSON with the lists of numbers on one line each, so that it can be read and compared line by line."""
    text = json.dumps(content, indent=1)
    number = r"-?[0-9][-+.0-9e]*"
    text = re.sub(rf"\[\s+({number}(?:,\s+{number})*)\s+\]", lambda m: "[" + re.sub(r",\s+", ", ", m[1]) + "]", text)
    return (
        re.sub(r"\[\s+(\[[^][]*\](?:,\s+\[[^][]*\])*)\s+\]", lambda m: "[" + re.sub(r"\],\s+", "], ", m[1]) + "]", text)
        + "\n"
    )

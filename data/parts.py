"""The parts, one function each: closed solids in millimetres, each in its own frame.

Every part sits on the datum that a draughtsman would choose (the face that mates, or the middle of the axis), so that
placing it needs no arithmetic. Turned parts have their axis along z.

Circles are polygons with their first corner on the +x axis. Two circles with the same number of corners and the same
turn have parallel sides, so the gap between a pin of radius r and its hole of radius R is exactly (R - r) cos(pi / n).
"""

from __future__ import annotations

import itertools
import math

import numpy as np

try:
    import manifold3d
except ImportError as missing:
    raise SystemExit("the models are cut with manifold3d: pip install 'gjk3d[mesh]'") from missing

Solid = manifold3d.Manifold

FINE, COARSE = 48, 24  # corners of a circle: shafts, bores and bearings; bolts and their holes

# screws, all M6 (mm)
SHANK, OVERSIZE, SHANK_LENGTH, PLAIN = 3.0, 3.6, 23.0, 11.0  # radii; length under the head, and how much has no thread
ACROSS_FLATS, HEAD, NUT = 10.0, 4.0, 5.0
NUT_BORE, NUT_COUNTERSINK, WASHER_BORE, WASHER_RADIUS, WASHER = 3.1, 0.4, 3.2, 6.0, 1.6
CLEARANCE_HOLE = 3.3
# the gear pair (mm)
MODULE, TEETH_A, TEETH_B, PRESSURE_ANGLE = 2.0, 18, 30, math.radians(20)
CENTRE_DISTANCE = MODULE * (TEETH_A + TEETH_B) / 2
BACKLASH = 0.2  # along the pitch circle, half of it taken off the teeth of each gear
WIDTH_A, WIDTH_B, BORE_A, BORE_B = 16.0, 14.0, 8.0, 9.05
# shafts, bearings, covers (mm)
SEAT, SEAT_WHEEL, SHOULDER = 6.0, 9.0, 20.0  # radii of the bearing and the wheel seats; shoulders from the middle
BEARING_RADIUS, BEARING_WIDTH, BEARING_BORE_HOUSING = 13.0, 8.0, 13.02
KEY_SIDE, KEY_LENGTH, KEY_BOTTOM, KEYWAY_SIDE_GAP, KEYWAY_TOP_GAP = 4.0, 10.0, 6.5, 0.1, 0.4
BOSS_FACE, CAP_RADIUS, CAP, SEAL_BORE = 30.0, 17.5, 4.0, 6.4
SHAFT_IN_END, SHAFT_OUT_END = 31.5, 29.5  # the first is the mistake: it ends 1.5 mm beyond the face of its cap
# housing and cover (mm), the parting plane at z = 0
AXIS_IN, AXIS_OUT, AXIS_DEPTH = -30.0, 18.0, 36.0
DEPTH, FLANGE, COVER = 80.0, 8.0, 6.0
BOLTS = [(68.0, 30.0), (-68.0, 30.0), (-68.0, -30.0), (68.0, -30.0)]
BRACKET_AT, BRACKET_HOLES = (-47.0, 0.0), [(12.0, -2.0), (-12.0, -2.0)]  # holes in the frame of the bracket
BRACKET_PLATE, BRACKET_X = 4.0, 20.0
PAD, PAD_HEIGHT, PADS = 16.0, 5.0, [(68.0, 20.0), (68.0, -20.0), (-68.0, -20.0), (-68.0, 20.0)]
LABEL, LABEL_AT = (40.0, 14.0, 0.8), (18.0, -22.0)
DOWEL_RADIUS, DOWEL, DOWEL_AT = 2.0, 6.0, (72.0, 20.0)


# outlines (counter-clockwise (n, 2) arrays) -----------------------------------------------------------------------


def circle(radius: float, n: int = FINE, center: tuple[float, float] = (0.0, 0.0)) -> np.ndarray:
    """Regular polygon with its first corner on +x; quarter turns land on the axes exactly."""
    quarter = np.array([(math.cos(a), math.sin(a)) for a in 2 * math.pi * np.arange(n // 4) / n])
    turns = [quarter, quarter[:, ::-1] * (-1, 1), -quarter, quarter[:, ::-1] * (1, -1)]
    return radius * np.vstack(turns) + center


def hexagon(across_flats: float) -> np.ndarray:
    """Corners on +x and -x, flats facing y."""
    angles = math.pi / 3 * np.arange(6)
    return across_flats / math.sqrt(3) * np.column_stack([np.cos(angles), np.sin(angles)])


def rectangle(x: float, y: float, center: tuple[float, float] = (0.0, 0.0)) -> np.ndarray:
    """Half lengths x and y."""
    return np.array([(-x, -y), (x, -y), (x, y), (-x, y)]) + center


def rounded(x: float, y: float, radius: float, center: tuple[float, float] = (0.0, 0.0), n: int = COARSE) -> np.ndarray:
    """Rectangle of half lengths x and y with round corners."""
    corner, arcs = circle(radius, n), []
    for k, (sx, sy) in enumerate([(1, 1), (-1, 1), (-1, -1), (1, -1)]):
        arc = corner[np.arange(k * n // 4, (k + 1) * n // 4 + 1) % n]
        arcs.append(arc + (sx * (x - radius), sy * (y - radius)))
    return np.vstack(arcs) + center


def involute_gear(teeth: int, per_flank: int = 8) -> np.ndarray:
    """Spur gear of module 2 with 20 degree involute teeth, one of them on +x, thinned by half the backlash."""
    pitch, tip, root = MODULE * teeth / 2, MODULE * (teeth + 2) / 2, MODULE * (teeth - 2.5) / 2
    base = pitch * math.cos(PRESSURE_ANGLE)

    def half_angle(r: float) -> float:  # of the tooth at radius r: the involute function inv(t) = tan t - t
        t = math.acos(min(1.0, base / r))
        at_pitch = (math.pi * MODULE / 2 - BACKLASH / 2) / (2 * pitch)
        return at_pitch + math.tan(PRESSURE_ANGLE) - PRESSURE_ANGLE - (math.tan(t) - t)

    # evenly along the roll angle: close together near the base circle, where the flank is most curved
    roll = np.linspace(0.0, math.sqrt((tip / base) ** 2 - 1), per_flank)
    radii = base * np.sqrt(1 + roll**2)
    flank = [(root, half_angle(base) + 0.25 * MODULE / root), (root + 0.25 * MODULE, half_angle(base))]
    flank += [(r, half_angle(r)) for r in radii]
    tooth = [(r, -a) for r, a in flank] + [(r, a) for r, a in reversed(flank)]
    polar = [(r, a + 2 * math.pi * k / teeth) for k in range(teeth) for r, a in tooth]
    return np.array([(r * math.cos(a), r * math.sin(a)) for r, a in polar])


def sagitta(teeth: int, per_flank: int = 8) -> float:
    """Farthest that the straight pieces of a flank of `involute_gear` lie inside the true involute (mm)."""
    base = MODULE * teeth / 2 * math.cos(PRESSURE_ANGLE)
    tip = MODULE * (teeth + 2) / 2
    knots = np.linspace(0.0, math.sqrt((tip / base) ** 2 - 1), per_flank)
    worst = 0.0
    for a, b in itertools.pairwise(knots):
        roll = np.linspace(a, b, 257)
        arc = base * np.column_stack([np.cos(roll) + roll * np.sin(roll), np.sin(roll) - roll * np.cos(roll)])
        chord = arc[-1] - arc[0]
        across = np.array([-chord[1], chord[0]]) / np.hypot(*chord)
        worst = max(worst, float(np.max(np.abs((arc - arc[0]) @ across))))
    return worst


# solids -------------------------------------------------------------------------------------------------------------


def from_triangles(vertices: np.ndarray, faces: np.ndarray) -> Solid:
    """Make a solid of closed, outward triangles."""
    solid = Solid(manifold3d.Mesh64(np.ascontiguousarray(vertices, float), np.ascontiguousarray(faces, np.uint64)))
    if solid.status() != manifold3d.Error.NoError or solid.volume() <= 0:
        raise RuntimeError(f"not a solid: {solid.status()}, volume {solid.volume()}")
    return solid


def loft(sections: list[tuple[np.ndarray, float]], holes: list[np.ndarray] = ()) -> Solid:
    """Outlines with equally many corners at rising heights, joined corner to corner; straight holes all the way."""
    (bottom, low), (top, high) = sections[0], sections[-1]
    holes = [hole[::-1] for hole in holes]
    rings = [sections, *([(hole, low), (hole, high)] for hole in holes)]
    vertices, faces, first, last, count = [], [], [], [], 0
    for ring in rings:
        n = len(ring[0][0])
        starts = [count + i * n for i in range(len(ring))]
        vertices += [np.column_stack([outline, np.full(n, z)]) for outline, z in ring]
        for s, t in itertools.pairwise(starts):
            for i in range(n):
                j = (i + 1) % n
                faces += [(s + i, s + j, t + j), (s + i, t + j, t + i)]
        first.append(np.arange(n) + starts[0])
        last.append(np.arange(n) + starts[-1])
        count += n * len(ring)
    for outline, ids, flip in [(bottom, first, True), (top, last, False)]:
        flat = manifold3d.triangulate([outline, *holes])
        cap = np.concatenate(ids)[flat]
        faces += list(map(tuple, cap[:, ::-1] if flip else cap))
    return from_triangles(np.vstack(vertices), np.array(faces))


def prism(outline: np.ndarray, low: float, high: float, holes: list[np.ndarray] = ()) -> Solid:
    """Outline pulled straight up."""
    return loft([(outline, low), (outline, high)], holes)


def turned(profile: list[tuple[float, float]], n: int = FINE) -> Solid:
    """Turn a closed, counter-clockwise profile of (radius, z) about z; points on the axis become poles."""
    unit, ids, vertices = circle(1.0, n), [], []
    for r, z in profile:
        ids.append([len(vertices)] * n if r == 0 else list(range(len(vertices), len(vertices) + n)))
        vertices += [(0.0, 0.0, z)] if r == 0 else [(r * x, r * y, z) for x, y in unit]
    faces = []
    for a, b in zip(ids, ids[1:] + ids[:1], strict=True):
        for i in range(n):
            j = (i + 1) % n
            faces += [f for f in [(a[i], a[j], b[j]), (a[i], b[j], b[i])] if len(set(f)) == 3]
    return from_triangles(np.array(vertices), np.array(faces))


def turned_volume(profile: list[tuple[float, float]], n: int = FINE) -> float:
    """Give the closed form of `turned`: the polygon's area at radius 1 times the sum of the frusta."""
    total = sum(
        (zb - za) * (a * a + a * b + b * b) / 3 for (a, za), (b, zb) in itertools.pairwise([*profile, profile[0]])
    )
    return n / 2 * math.sin(2 * math.pi / n) * total


def box(x: tuple[float, float], y: tuple[float, float], z: tuple[float, float]) -> Solid:
    """Axis-aligned box between the pairs of bounds."""
    return prism(np.array([(x[0], y[0]), (x[1], y[0]), (x[1], y[1]), (x[0], y[1])]), *z)


def along_y(solid: Solid) -> Solid:
    """Turn the z axis onto y (and y onto -z)."""
    return solid.transform([[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0]])


# fasteners ----------------------------------------------------------------------------------------------------------


def chamfered_hexagon(low: float, high: float, below: bool) -> Solid:
    """Hexagon whose corners are turned off at 30 degrees, as on every bolt head."""
    flat, out = 0.475 * ACROSS_FLATS, 0.6 * ACROSS_FLATS
    drop = (out - flat) * math.tan(math.pi / 6)
    foot = [(flat, low), (out, low + drop)] if below else [(out, low)]
    return prism(hexagon(ACROSS_FLATS), low, high) ^ turned(
        [(0, low), *foot, (out, high - drop), (flat, high), (0, high)]
    )


def bolt(radius: float = SHANK, threaded: bool = True) -> Solid:
    """Hexagon bolt, datum under the head: head upwards, shank down. Thread drawn as rings, 1 mm pitch."""
    end = -SHANK_LENGTH
    profile = [(0.0, end), (radius - 0.8, end), (radius, end + 0.8)]
    if threaded:
        for z in np.arange(end + 1.5, -PLAIN, 1.0):
            profile += [(radius, z - 0.2), (radius - 0.5, z), (radius, z + 0.2)]
    profile += [(radius, 0.5), (0.0, 0.5)]
    return turned(profile, COARSE) + chamfered_hexagon(0.0, HEAD, below=False)


def nut() -> Solid:
    """Hexagon nut, datum its top face. The bore is 0.1 mm wider than the bolt: threads are not modelled."""
    c, bore = NUT_COUNTERSINK, nut_bore_profile()
    through = turned([(0, -NUT - 1), (NUT_BORE + c, -NUT - 1), *bore, (NUT_BORE + c, 1), (0, 1)], COARSE)
    return chamfered_hexagon(-NUT, 0.0, below=True) - through


def nut_bore_profile() -> list[tuple[float, float]]:
    """Bore of the nut with its countersinks, as (radius, z)."""
    c = NUT_COUNTERSINK
    return [(NUT_BORE + c, -NUT), (NUT_BORE, -NUT + c), (NUT_BORE, -c), (NUT_BORE + c, 0.0)]


def washer() -> Solid:
    """Plain washer, datum its underside."""
    return prism(circle(WASHER_RADIUS), 0, WASHER, [circle(WASHER_BORE, COARSE)])


# shafts and what sits on them ---------------------------------------------------------------------------------------

SHAFT_IN = [(0, -58), (4.5, -58), (5, -57.5), (5, -36), (SEAT, -36), (SEAT, -SHOULDER), (7.5, -SHOULDER), (7.5, -10),
            (BORE_A, -10), (BORE_A, 8), (10, 8), (10, 11), (7.5, 11), (7.5, SHOULDER), (SEAT, SHOULDER),
            (SEAT, SHAFT_IN_END - 0.5), (SEAT - 0.5, SHAFT_IN_END), (0, SHAFT_IN_END)]  # fmt: skip
SHAFT_OUT = [(0, -SHAFT_OUT_END), (5.5, -SHAFT_OUT_END), (SEAT, -SHAFT_OUT_END + 0.5), (SEAT, -SHOULDER),
             (7.5, -SHOULDER), (7.5, -12), (12, -12), (12, -7), (SEAT_WHEEL, -7), (SEAT_WHEEL, 9), (7.5, 9),
             (7.5, SHOULDER), (SEAT, SHOULDER), (SEAT, 36), (5, 36), (5, 57.5), (4.5, 58), (0, 58)]  # fmt: skip
BEARING = [(SEAT, -4), (8.4, -4), (8.4, -3.2), (10.6, -3.2), (10.6, -4), (12.4, -4), (BEARING_RADIUS, -3.4),
           (BEARING_RADIUS, 3.4), (12.4, 4), (10.6, 4), (10.6, 3.2), (8.4, 3.2), (8.4, 4), (SEAT, 4)]  # fmt: skip
CAP_PROFILE = [(0, 0), (CAP_RADIUS, 0), (CAP_RADIUS, CAP - 0.8), (CAP_RADIUS - 0.8, CAP), (0, CAP)]
SEAL_PROFILE = [(SEAL_BORE, 0), (CAP_RADIUS, 0), (CAP_RADIUS, CAP - 0.8), (CAP_RADIUS - 0.8, CAP), (11, CAP),
                (10, CAP - 1), (8, CAP - 1), (8, CAP), (SEAL_BORE, CAP)]  # fmt: skip


def shaft_in() -> Solid:
    """Input shaft, datum the middle of the pinion; comes out of the housing towards -z, with a keyway there."""
    return turned(SHAFT_IN) - box((-1.5, 1.5), (-9.0, -3.0), (-56, -42))


def shaft_out() -> Solid:
    """Output shaft, datum the middle of the wheel; comes out towards +z; keyways for the wheel and at the end."""
    half = KEY_LENGTH / 2
    seat = box((-KEY_SIDE / 2, KEY_SIDE / 2), (KEY_BOTTOM, 20.0), (-half, half))
    return turned(SHAFT_OUT) - seat - box((-1.5, 1.5), (-9.0, -3.0), (42, 56))


def key() -> Solid:
    """Feather key, datum the axis of its shaft."""
    half = KEY_LENGTH / 2
    return box((-KEY_SIDE / 2, KEY_SIDE / 2), (KEY_BOTTOM, KEY_BOTTOM + KEY_SIDE), (-half, half))


def gear_a() -> Solid:
    """Pinion, 18 teeth, datum its middle."""
    return prism(involute_gear(TEETH_A), -WIDTH_A / 2, WIDTH_A / 2, [circle(BORE_A)])


def gear_b() -> Solid:
    """Wheel, 30 teeth, datum its middle; thin web with six holes, keyway towards +y."""
    half, web = WIDTH_B / 2, 3.0
    lightening = [circle(3.0, COARSE, (18 * math.cos(a), 18 * math.sin(a))) for a in math.pi / 3 * np.arange(6)]
    gear = prism(involute_gear(TEETH_B), -half, half, [circle(BORE_B), *lightening])
    groove = [(13.5, web), (22.5, web), (23.5, half + 1), (13.0, half + 1)]
    gear -= turned(groove)
    gear -= turned([(r, -z) for r, z in reversed(groove)])
    side, top = KEY_SIDE / 2 + KEYWAY_SIDE_GAP, KEY_BOTTOM + KEY_SIDE + KEYWAY_TOP_GAP
    return gear - box((-side, side), (0.0, top), (-half - 1, half + 1))


# castings and plates ------------------------------------------------------------------------------------------------


def housing() -> Solid:
    """Tub with flange, bearing bosses, ribs and feet; datum the parting plane z = 0, shafts along y."""
    solid = prism(rounded(62, 26, 8), -DEPTH, 0) + prism(rounded(76, 38, 8), -FLANGE, 0)
    for side in (-1, 1):
        solid += prism(rounded(15, 30, 4, (side * 65, 0)), -DEPTH, -DEPTH + 10)
        for y in (-14.0, 0.0, 14.0):
            solid += prism(rectangle(4, 1.5, (side * 63, y)), -DEPTH + 9, -FLANGE + 1)
    for x in (AXIS_IN, AXIS_OUT):
        solid += along_y(prism(circle(19.0), -BOSS_FACE, BOSS_FACE)).translate((x, 0, -AXIS_DEPTH))
    solid -= prism(rounded(55, 18, 4), -DEPTH + 7, 1)
    for x in (AXIS_IN, AXIS_OUT):
        bore = along_y(prism(circle(BEARING_BORE_HOUSING), -BOSS_FACE - 1, BOSS_FACE + 1))
        solid -= bore.translate((x, 0, -AXIS_DEPTH))
    for at in BOLTS:
        solid -= prism(circle(CLEARANCE_HOLE, COARSE, at), -FLANGE - 1, 1)
    for side in (-1, 1):
        solid -= prism(circle(3.5, COARSE, (side * 72, 0)), -DEPTH - 1, -DEPTH + 11)
    return solid


def cover() -> Solid:
    """Cover plate with an inspection opening, datum its underside."""
    holes = [circle(CLEARANCE_HOLE, COARSE, at) for at in [*BOLTS, *bracket_bolts()]]
    outline = rounded(76, 38, 8)
    return loft(
        [(outline, 0), (outline, COVER - 1), (rounded(75, 37, 7), COVER)], [*holes, rounded(28, 13, 5, (18, 0))]
    )


def bracket_bolts() -> list[tuple[float, float]]:
    """Where the bolts of the bracket stand on the cover: the bracket is turned by +90 degrees there."""
    return [(BRACKET_AT[0] - y, BRACKET_AT[1] + x) for x, y in BRACKET_HOLES]


def bracket() -> Solid:
    """Angle bracket with a gusset; datum the middle of its underside, the upright plate at +y."""
    holes = [circle(CLEARANCE_HOLE, COARSE, at) for at in BRACKET_HOLES]
    base = prism(rounded(BRACKET_X, 15, 3), 0, BRACKET_PLATE, holes)
    # the upright is drawn in (x, z) and stood up; its lower corners are square and reach into the base
    arch = np.vstack([[(-BRACKET_X, 0.0), (BRACKET_X, 0.0)], rounded(BRACKET_X, 18, 8, (0, 18))[:14]])
    upright = prism(arch, -15, -11, [circle(4.0, COARSE, (x, 25)) for x in (-11.0, 11.0)])
    gusset = prism(np.array([(-10.0, 3.0), (12.0, 3.0), (12.0, 28.0), (10.0, 28.0), (-10.0, 5.0)]), -2, 2)
    upright = upright.transform([[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0]])
    return base + upright + gusset.transform([[0, 0, 1, 0], [1, 0, 0, 0], [0, 1, 0, 0]])


def breather() -> Solid:
    """Vent plug: hexagon, neck and cap; datum its underside."""
    head = [(0, 4), (4, 4), (4, 7), (7.5, 7), (8, 7.5), (8, 13), (6.5, 15), (0, 15)]
    return prism(hexagon(14.0), 0, 5) + turned(head)


def pad() -> Solid:
    """Rubber foot, datum its top face."""
    return prism(rectangle(PAD / 2, PAD / 2), -PAD_HEIGHT, 0)


def label() -> Solid:
    """Name plate, datum the middle of its underside."""
    return prism(rectangle(LABEL[0] / 2, LABEL[1] / 2), 0, LABEL[2])


def dowel() -> Solid:
    """Cylindrical pin, datum its lower end."""
    return prism(circle(DOWEL_RADIUS, COARSE), 0, DOWEL)


MAKERS = {
    "housing": housing, "cover": cover, "shaft_in": shaft_in, "shaft_out": shaft_out, "gear_a": gear_a,
    "gear_b": gear_b, "key": key, "bearing": lambda: turned(BEARING), "cap": lambda: turned(CAP_PROFILE),
    "seal": lambda: turned(SEAL_PROFILE), "bolt": bolt, "bolt_oversize": lambda: bolt(OVERSIZE, threaded=False),
    "nut": nut, "washer": washer, "bracket": bracket, "breather": breather, "pad": pad, "label": label, "dowel": dowel,
}  # fmt: skip


def _disc(radius: float, n: int) -> float:
    return n / 2 * math.sin(2 * math.pi / n) * radius**2


# volumes in mm3 that have a closed form
VOLUMES = {
    "bearing": turned_volume(BEARING), "cap": turned_volume(CAP_PROFILE), "seal": turned_volume(SEAL_PROFILE),
    "key": KEY_SIDE**2 * KEY_LENGTH, "pad": PAD**2 * PAD_HEIGHT, "label": math.prod(LABEL),
    "dowel": _disc(DOWEL_RADIUS, COARSE) * DOWEL,
    "washer": (_disc(WASHER_RADIUS, FINE) - _disc(WASHER_BORE, COARSE)) * WASHER,
}  # fmt: skip

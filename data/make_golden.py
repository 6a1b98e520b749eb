"""Write data/golden/*.json: pairs that once went wrong, with answers that are not the library's.

Run as ``python data/make_golden.py``. The library's own are here, those of others in failure_bank.py. Polytopes
are judged in exact rationals, by the slow twins of tests/naive.py; the rest by closed forms.
"""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from math import cos, isqrt, nextafter, sin
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

import naive  # noqa: E402
from failure_bank import BANK, CLASSES, bank_cases  # noqa: E402

EXACT = "exact rational arithmetic over all differences of the vertices (tests/naive.py)"


def outward(square: Fraction) -> tuple[float, float]:
    """Floats just below and just above the square root, with the sign of ``square``."""
    sign = -1 if square < 0 else 1
    scale = 1 << 400
    root = (
        Fraction(isqrt(abs(square).numerator * scale * scale // abs(square).denominator), scale)
        if square
        else Fraction(0)
    )
    x = sign * float(root)
    return (nextafter(x, -1e308), nextafter(x, 1e308)) if square else (0.0, 0.0)


def moved(points, translation):
    """Translate points, exactly."""
    return [[Fraction(x) + Fraction(t) for x, t in zip(p, translation, strict=True)] for p in points]


def polytopes(points_a, points_b, translation=(0.0, 0.0, 0.0)):
    """Status and interval of two sets of vertices, the second one translated."""
    low, high = outward(naive.exact_signed_square(naive.exact(points_a), naive.exact(moved(points_b, translation))))
    return ("SEPARATED" if low > 0 else "OVERLAPPING" if high < 0 else "TOUCHING"), low, high


def corners(extents):
    """Return the corners of a box."""
    return [
        [x * extents[0] / 2, y * extents[1] / 2, z * extents[2] / 2] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)
    ]


def cases():
    """Yield name, why, both shapes, translation of B, query, expected status and interval, and who says so."""
    ends = [[-2e-9, -2e-9, -2e-9], [-2e-9, -1e-9, -2e-9]]
    t = (2e-9, -9.9999999e-10, -2e-9)
    yield (
        "parallel-segments-overlapping-by-a-hair",
        "GJK stopped at the gap of its bounds, one support point early: the distance was right, the normal leaned over",
        {"shape": "Segment", "a": ends[0], "b": ends[1]},
        {"shape": "Segment", "a": ends[0], "b": ends[1]},
        t, "signed_distance", polytopes(ends, ends, t), EXACT,
    )  # fmt: skip
    far = [
        [-1384.0965717543045, 1664.2674819971037, 1481.2677977690098],
        [-1382.400769068184, 1666.3830396815063, 1481.1248808502073],
    ]
    point = [-1384.0036469739748, 1663.3730861793579, 1479.8053229523528]
    yield (
        "segment-far-from-its-own-frame",
        "the segment was stored about a rounded middle, which moved its ends: the interval missed the truth",
        {"shape": "Segment", "a": far[0], "b": far[1]},
        {"shape": "Point", "p": point},
        None, "signed_distance", polytopes(far, [point]), EXACT,
    )  # fmt: skip
    yield (
        "points-a-subnormal-apart",
        "the rounding error of a pair of no size vanished, and lower came out above upper",
        {"shape": "Point", "p": [-2.0, -2.0, -2.0]},
        {"shape": "Point", "p": [-2.0, -2.0, -2.0]},
        (5e-324, 0.0, 0.0), "signed_distance", ("TOUCHING", 0.0, 5e-324), "closed form: the offset itself",
    )  # fmt: skip
    yield (
        "common-point-of-a-point-in-a-cylinder",
        "distance() gave a point half-way to the surface as the common one",
        {"shape": "Point", "p": [0.1, 0.2, -0.3]},
        {"shape": "Cylinder", "radius": 0.6, "height": 1.25},
        None, "distance", ("OVERLAPPING", 0.0, 0.0), "closed form: hypot(0.1, 0.2) < 0.6 and 0.3 < 0.625",
    )  # fmt: skip
    size = [1.0, 0.5, 0.25]
    for name, shift in (("exactly", 0.25), ("one-ulp-apart", nextafter(0.25, 1)), ("one-ulp-deep", nextafter(0.25, 0))):
        _, low, high = polytopes(corners(size), corners(size), (0.125, 0.0625, shift))
        yield (
            f"boxes-stacked-{name}",
            "kissing contact: two stages that judge it differently abort, drop it or flip its sign",
            {"shape": "Box", "extents": size},
            {"shape": "Box", "extents": size},
            (0.125, 0.0625, shift), "signed_distance", ("TOUCHING", low, high), EXACT,
        )  # fmt: skip
    thin = [1.5e-9, 2e-4, 1.0]
    bar = [[-0.3, -2e-5, -0.2], [0.25, 3e-5, 0.3]]
    yield (
        "segment-through-a-sheet",
        "EPA began from the axis reported, not from the one that proved the bound: the normal had the wrong sign",
        {"shape": "Box", "extents": thin},
        {"shape": "Segment", "a": bar[0], "b": bar[1]},
        None, "signed_distance", polytopes(corners(thin), bar), EXACT,
    )  # fmt: skip
    needles = [[0.5, -1e-9, -1e-9], [-2.0, 0.0, -5.858400610596473e-10], [0.0, 0.0, -2e-9]]
    yield (
        "needle-triangles-apart",
        "the plane of a needle is rounding: its nearest point was read off that plane, and GJK stalled",
        {"shape": "Triangle", "vertices": needles},
        {"shape": "Triangle", "vertices": needles},
        (-2.0, 0.0, -1.0), "signed_distance", polytopes(needles, needles, (-2.0, 0.0, -1.0)), EXACT,
    )  # fmt: skip
    c, s = cos(1e-6), sin(1e-6)
    at = [[1.0, 0.0, 0.0, 0.0], [0.0, c, -s, 0.95], [0.0, s, c, -0.03], [0.0, 0.0, 0.0, 1.0]]
    # along the plate's axis (0, -s, c): the pin's lower end is 0.95 and -0.005 from the plate's middle
    depth = Fraction(c) * (Fraction(0.03) - Fraction(0.025)) + Fraction(s) * Fraction(0.95) - Fraction(0.02)
    yield (
        "pin-on-a-plate-turned-by-a-millionth",
        "points of a body tilted by next to nothing were turned about the other's axis: upper was below the truth",
        {"shape": "Capsule", "radius": 0.01, "height": 0.05},
        {"shape": "Cylinder", "radius": 1.0, "height": 0.02},
        at, "signed_distance", ("OVERLAPPING", *around(float(depth), 4)),
        "closed form: the pin's lower end over the plate's middle plane, less the pin's radius and half the plate",
    )  # fmt: skip
    tilted = [[1.0, 0.0, 0.0, 0.0], [0.0, 0.8, -0.6, 0.2], [0.0, 0.6, 0.8, 0.5], [0.0, 0.0, 0.0, 1.0]]
    yield (
        "tilted-cylinder-in-a-slab",
        "the depth was narrower than the surface of chords that its certificate keeps could show",
        {"shape": "Box", "extents": [4.0, 4.0, 1.0]},
        {"shape": "Cylinder", "radius": 0.5, "height": 1.0},
        tilted, "signed_distance", ("OVERLAPPING", *around(-0.7, 8)),
        "closed form: half the slab, 0.8 of half the height and 0.6 of the radius, less how high the cylinder is",
    )  # fmt: skip
    tip = [[1.0, 0.0, 0.0, 0.0], [0.0, -1.0, 0.0, 0.0], [0.0, 0.0, -1.0, 1.0], [0.0, 0.0, 0.0, 1.0]]
    yield (
        "cones-tip-to-tip",
        "EPA split all faces that meet in the apex one after the other: a thousand steps, a tenth of a second",
        {"shape": "Cone", "radius": 0.5, "height": 1.0},
        {"shape": "Cone", "radius": 0.5, "height": 1.0},
        tip, "signed_distance", ("TOUCHING", 0.0, 0.0), "closed form: the tips are one point, the cones on both sides",
    )  # fmt: skip
    yield from mesh_cases()


def mesh_cases():
    """Yield cases of meshes, as `cases` does."""
    one = [
        [827112220.5150913, -613453170.3738497, 45393638.6828581],
        [-827112257.7658887, 613453126.1877847, -45393557.07422044],
        [-955956988.4155636, 215680046.32613093, -319575271.1274868],
    ]
    other = [
        [-1076990548.1117008, 300047798.8397191, 128154865.32424475],
        [-809372679.7350173, 116127408.81380439, -817653765.7731013],
        [-1292698121.910455, -150248161.5439626, 154683918.6053725],
    ]
    yield (
        "triangles-a-hair-apart-a-billion-wide",
        "lower was 0 and the status TOUCHING of what collide() proved apart: rounding had turned the way between",
        {"shape": "Mesh", "vertices": one, "faces": [[0, 1, 2]]},
        {"shape": "Mesh", "vertices": other, "faces": [[0, 1, 2]]},
        None, "signed_distance", polytopes(one, other), EXACT,
    )  # fmt: skip
    rim = [(1.0, 0.0), (0.75, 0.75), (0.0, 1.0), (-0.75, 0.75), (-1.0, 0.0), (-0.75, -0.75), (0.0, -1.0), (0.75, -0.75)]
    ring = [[r * x, r * y, z] for z in (0.0, 1.0) for r in (1.0, 2.0) for x, y in rim]
    quads = []
    for k in range(8):
        m = (k + 1) % 8
        quads += [(k, m, 8 + m, 8 + k), (16 + k, 24 + k, 24 + m, 16 + m), (8 + k, 8 + m, 24 + m, 24 + k),
                  (k, 16 + k, 16 + m, m)]  # fmt: skip
    plate = [[x, y, z] for x in (-2.5, 2.5) for y in (-2.5, 2.5) for z in (1.0, 1.5)]
    sides = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]]
    sides += [[2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
    yield (
        "plate-on-a-ring",
        "the witness points of a touch were the middle of all places that touch: in the hole, 1 from material",
        {"shape": "Mesh", "vertices": ring, "faces": [f for i, j, k, m in quads for f in ([i, j, k], [i, k, m])]},
        {"shape": "Mesh", "vertices": plate, "faces": sides},
        None, "signed_distance", ("TOUCHING", 0.0, 0.0), "closed form: the plate lies on the ring's top",
    )  # fmt: skip


def hexed(value):
    """Write every float as its bits."""
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, list):
        return [hexed(x) for x in value]
    return {k: hexed(v) for k, v in value.items()} if isinstance(value, dict) else value


def placed(translation):
    """Return a pose that translates, None for None; a pose stays as it is."""
    if translation is None or len(translation) == 4:
        return translation
    return [[float(i == j) for j in range(3)] + [float(translation[i])] for i in range(3)] + [[0.0, 0.0, 0.0, 1.0]]


def around(x, ulps=2):
    """Return the floats so many ulps below and above a rounded closed form."""
    low = high = x
    for _ in range(ulps):
        low, high = nextafter(low, -1e308), nextafter(high, 1e308)
    return low, high


def main() -> None:
    """Write one file a case."""
    own = [
        (name, [], why, a, b, None, shift, query, expected, by)
        for name, why, a, b, shift, query, expected, by in cases()
    ]
    for name, covers, why, a, b, at, shift, query, (status, low, high), by in [
        *own, *bank_cases(corners, polytopes, EXACT, around),
    ]:  # fmt: skip
        seen = [f"{BANK[key][1]}: {BANK[key][0]}" for key in covers if key in BANK]
        case = {
            "schema_version": 1,
            "name": name,
            "why": why,
            "source": "; ".join(seen) if seen else CLASSES[covers[0]] if covers else "found while gjk3d 0.1 was tested",
            "covers": covers,
            "unit": None,
            "a": a,
            "b": b,
            "pose_a": placed(at),
            "pose_b": placed(shift),
            "query": query,
            "expected": {"status": status, "lower": low, "upper": high},
            "by": by,
        }
        (HERE / "golden" / f"{name}.json").write_text(json.dumps(hexed(case), indent=1) + "\n")
        print(f"{name}: {status} [{low!r}, {high!r}]")


if __name__ == "__main__":
    main()

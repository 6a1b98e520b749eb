"""What went wrong elsewhere: bugs of other collision libraries as pairs with exact answers, and the classes they make.

Issue numbers are those of the projects named. `make_golden.py` writes the files.
"""

from __future__ import annotations

import random
from fractions import Fraction
from math import cos, hypot, sin

#: bugs of others: key, symptom, where it was seen
BANK = {
    "zero-for-meshes-apart": ("exactly 0 for meshes centimetres apart", "mujoco #3383"),
    "origin-on-a-face": (
        "a contact is dropped: the origin is on a face of EPA's first polytope",
        "mujoco_warp #1526, #1532; Genesis #3223",
    ),
    "world-position": ("the answer depends on where in the world the pair is", "mujoco_warp #1546, #1613"),
    "overlap-reported-positive": ("an overlapping pair is reported apart", "mujoco_warp #1527"),
    "apart-reported-negative": ("a negative distance for a pair apart", "mujoco #2688, #1857; fcl #244"),
    "throws-at-kissing-boxes": ("an exception for boxes that just touch", "fcl #493, #495, #319, #632; drake #21673"),
    "limit-is-no-intersection": ("the iteration limit is reported as 'no intersection'", "fcl #366; parry gjk.rs"),
    "flipped-normal": ("the normal points the wrong way, or a contact is missed", "jolt #671, #683"),
    "degenerate-triangle": ("a triangle without area never returns", "godot-jolt #485"),
    "collinear-simplex": ("not a number from a collinear simplex", "fcl #296, #293"),
    "two-vertex-simplex": ("exact boxes leave GJK with two vertices, and EPA never runs", "OpenRAL #215"),
    "centre-as-contact": ("the centre of the shape as contact point where EPA fails", "PhysX #509"),
    "advancement-misses": ("conservative advancement misses impacts", "fcl #120, #550, #555; python-fcl #38"),
    "inverted-face": ("a hull with a face turned inside out", "manifold #1785; bepuphysics2 #148"),
}  # fmt: skip
#: the same by class: what every implementer has got wrong at least once
CLASSES = {
    "class-1": "kissing contact, judged differently by two stages",
    "class-2": "absolute or loose termination",
    "class-3": "a degenerate first polytope",
    "class-4": "coincident centres and identical shapes",
    "class-5": "nearly parallel faces or edges",
    "class-6": "EPA on curved surfaces",
    "class-7": "flat input",
    "class-8": "scale and aspect",
    "class-9": "redundant vertices",
    "class-10": "casts: grazing hits and misses",
}
#: these wait for queries that do not exist yet
WAITING = ("advancement-misses", "class-10")


def box(*extents):
    """Return a box."""
    return {"shape": "Box", "extents": [float(x) for x in extents]}


def hull(points):
    """Return a convex hull."""
    return {"shape": "ConvexHull", "points": [[float(x) for x in p] for p in points]}


def cloud(seed, count, reach):
    """Return points on a grid of 2^-10, the same in every version of Python."""
    draw = random.Random(seed)
    return [[Fraction(draw.randrange(-1024, 1025), 1024) * reach for _ in range(3)] for _ in range(count)]


def bank_cases(corners, polytopes, exact, around):
    """Yield name, covers, why, both shapes, translations of A and B, query, status and interval, and who says so."""

    def of(name, covers, why, a, points_a, b, points_b, shift, at=None):
        relative = shift if at is None else [Fraction(y) - Fraction(x) for x, y in zip(at, shift, strict=True)]
        return name, covers, why, a, b, at, shift, "signed_distance", polytopes(points_a, points_b, relative), exact

    def boxes(name, covers, why, one, two, shift, at=None):
        return of(name, covers, why, box(*one), corners(one), box(*two), corners(two), shift, at)

    one, two = cloud(1, 24, 1), cloud(2, 24, 1)
    apart = (2.03125, 0.25, -0.125)
    yield of(
        "hulls-a-sixth-apart",
        ["zero-for-meshes-apart"],
        "GJK stopped early and its last simplex was taken for contact",
        hull(one),
        one,
        hull(two),
        two,
        apart,
    )
    yield boxes(
        "boxes-with-the-origin-on-a-face",
        ["origin-on-a-face", "class-3"],
        "the difference of the boxes has the origin on planes through its vertices",
        (1, 1, 1),
        (1, 1, 1),
        (0.75, 0.0, 0.0),
    )
    far = (2.0**21, -(2.0**22), 2.0**20)
    yield of(
        "hulls-a-million-sizes-from-the-origin",
        ["world-position"],
        "coordinates of the world went into the solver, and their digits were lost",
        hull(one),
        one,
        hull(two),
        two,
        (far[0] + 1.25, far[1] + 0.5, far[2] - 0.25),
        far,
    )
    yield boxes(
        "boxes-deep-by-a-millionth",
        ["overlap-reported-positive"],
        "GJK ends close to the boundary and takes rounding for a gap",
        (1, 1, 1),
        (1, 1, 1),
        (0.25, 1.0 - 2.0**-20, 0.125),
    )
    yield boxes(
        "boxes-apart-by-a-billionth",
        ["apart-reported-negative", "class-2"],
        "EPA is run on a pair apart, or a gap is less than a tolerance in metres",
        (1, 1, 1),
        (1, 1, 1),
        (0.25, 1.0 + 2.0**-30, 0.125),
    )
    yield boxes(
        "boxes-kissing-along-an-edge",
        ["throws-at-kissing-boxes", "class-1"],
        "edge on edge",
        (1, 1, 1),
        (1, 1, 1),
        (1.0, 1.0, 0.25),
    )
    yield boxes(
        "boxes-kissing-at-a-corner",
        ["throws-at-kissing-boxes", "class-1"],
        "corner on corner",
        (1, 1, 1),
        (1, 1, 1),
        (1.0, 1.0, 1.0),
    )
    yield (
        "pin-in-a-bore",
        ["limit-is-no-intersection", "class-6"],
        "a whole circle of best directions keeps EPA busy to its limit",
        {"shape": "Cylinder", "radius": 0.5, "height": 3.0},
        {"shape": "Cylinder", "radius": 0.75, "height": 1.0},
        None,
        None,
        "signed_distance",
        ("OVERLAPPING", -1.25, -1.25),
        "closed form: the sum of the radii",
    )
    depth = 0.25 + 0.5 * 2.0 / (2.0 * hypot(0.5, 2.0))
    yield (
        "ball-on-the-axis-of-a-cone",
        ["limit-is-no-intersection", "class-6"],
        "EPA stops on the inner polytope of a curved surface and reports too little",
        {"shape": "Sphere", "radius": 0.25},
        {"shape": "Cone", "radius": 0.5, "height": 2.0},
        None,
        None,
        "signed_distance",
        ("OVERLAPPING", *around(-depth)),
        "closed form: radius + r h / (2 hypot(r, h)), from half the height to the mantle",
    )
    yield boxes(
        "boxes-deep-by-a-hair",
        ["flipped-normal"],
        "the vector between the witnesses is noise, and its sign is chosen by a rule of thumb",
        (2, 2, 2),
        (1, 1, 1),
        (0.125, -0.25, 1.5 - 2.0**-40),
    )
    line = [[0.0, 0.0, 0.0], [0.5, 0.25, 1.0], [1.0, 0.5, 2.0]]
    yield of(
        "triangle-without-area",
        ["degenerate-triangle", "class-7"],
        "its normal is zero, and a loop waits for progress",
        {"shape": "Triangle", "vertices": line},
        line,
        box(1, 1, 1),
        corners((1, 1, 1)),
        (2.0, 0.0, 0.5),
    )
    ends = [[0.0, 0.0, 0.0], [1.0, 2.0, 2.0]]
    yield of(
        "segments-on-one-line",
        ["collinear-simplex"],
        "the simplex is collinear, and so is its gradient",
        {"shape": "Segment", "a": ends[0], "b": ends[1]},
        ends,
        {"shape": "Segment", "a": ends[0], "b": ends[1]},
        ends,
        (1.5, 3.0, 3.0),
    )
    yield boxes(
        "boxes-round-one-centre",
        ["two-vertex-simplex", "class-4"],
        "the first direction is zero, and the origin is the middle of an edge of the simplex",
        (1, 2, 4),
        (0.5, 0.25, 8),
        (0.0, 0.0, 0.0),
    )
    yield of(
        "a-hull-and-itself",
        ["two-vertex-simplex", "class-4"],
        "identical shapes at one place: many tied depths",
        hull(one),
        one,
        hull(one),
        one,
        (0.0, 0.0, 0.0),
    )
    flat = [[x, y, 0.0] for x, y in ((-1.0, -1.0), (1.0, -0.5), (0.5, 1.0), (-0.75, 0.75))]
    yield of(
        "flat-hull-through-a-box",
        ["centre-as-contact", "class-7"],
        "EPA needs a volume, and fails; a flat shape that crosses a solid has a depth",
        hull(flat),
        flat,
        box(1, 1, 1),
        corners((1, 1, 1)),
        (0.25, 0.125, 0.25),
    )
    yield of(
        "flat-hulls-in-one-plane",
        ["class-7"],
        "in one plane a shift across it parts them: depth 0",
        hull(flat),
        flat,
        hull(flat),
        flat,
        (0.25, 0.5, 0.0),
    )
    lattice = [[Fraction(x, 4), Fraction(y, 4), Fraction(z, 4)] for x in range(5) for y in range(5) for z in range(5)]
    yield of(
        "lattice-of-coplanar-points",
        ["inverted-face", "class-9"],
        "hulls of coplanar clusters have faces turned inside out",
        hull(lattice),
        lattice,
        {"shape": "Point", "p": [0.5, 0.375, 1.5]},
        [[0.5, 0.375, 1.5]],
        (0.0, 0.0, 0.0),
    )
    angle = 1e-9
    turned = [[x, y * cos(angle) - z * sin(angle), y * sin(angle) + z * cos(angle)] for x, y, z in corners((1, 1, 1))]
    yield of(
        "cubes-askew-by-a-billionth",
        ["class-5"],
        "the cross product of nearly parallel edges is ill-conditioned",
        hull(corners((1, 1, 1))),
        corners((1, 1, 1)),
        hull(turned),
        turned,
        (0.25, 0.125, 0.75),
    )
    size = 2.0**-30
    yield boxes(
        "boxes-of-a-nanometre",
        ["class-8"],
        "a tolerance of 1e-6 or 1e-12 is larger than the shapes",
        (size, size, size),
        (size, size, size),
        (0.25 * size, 0.75 * size, 0.0),
    )
    extra = corners((1, 1, 1)) * 2 + [[0.5, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 0.0], [0.25, 0.5, 0.5]]
    yield of(
        "cube-with-redundant-points",
        ["class-9"],
        "duplicates, points on edges and in faces make GJK go in circles",
        hull(extra),
        corners((1, 1, 1)),
        box(1, 1, 1),
        corners((1, 1, 1)),
        (0.0, 0.0, 1.0 + 2.0**-30),
    )

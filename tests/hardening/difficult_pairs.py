"""Functions that draw difficult pairs: (rng, count) -> the pair, and bounds of its true distances or None."""

from __future__ import annotations

from collections.abc import Callable

import naive
import numpy as np
from laws import Pair
from naive import Array, Body, Spec
from scipy.spatial import ConvexHull, QhullError
from scipy.spatial.transform import Rotation
from strategies import PAIRS, SHAPES, SOLID, is_polytope, random_poses, random_spec, rescaled, thinned

from .closed import CLASSES as CLOSED
from .closed import Truth

Drawn = tuple[Pair, "Truth | None"]
Rng = np.random.Generator


def _any_pair(rng: Rng, names: list[str] | None = None) -> tuple[Spec, Spec]:
    pairs = PAIRS if names is None else [(a, b) for a, b in PAIRS if a in names and b in names]
    name_a, name_b = pairs[rng.integers(len(pairs))]
    return random_spec(rng, name_a), random_spec(rng, name_b)


def _placed(count: int, rotations: Array | None = None, translations: Array | float = 0.0) -> Array:
    poses = np.tile(np.eye(4), (count, 1, 1))
    if rotations is not None:
        poses[:, :3, :3] = rotations
    poses[:, :3, 3] = translations
    return poses


def _slightly_turned(rng: Rng, rotations: Array) -> Array:
    """Rotate each by 1e-14 to 1e-3 about a random axis, some not at all."""
    angles = 10.0 ** rng.uniform(-14, -3, len(rotations)) * (rng.random(len(rotations)) < 0.9)
    turns = Rotation.from_rotvec(angles[:, None] * naive.unit_vectors(rng, len(rotations)))
    return turns.as_matrix() @ rotations


def _some_gap(rng: Rng, count: int, size: float) -> Array:
    """Return gaps of 0, or of 1e-16 to 1e-1 of the size, positive or negative."""
    part = 10.0 ** rng.uniform(-16, -1, count) * rng.choice((-1.0, 1.0), count)
    return np.where(rng.random(count) < 0.3, 0.0, part) * size


def scales(rng: Rng, count: int) -> Drawn:
    """Draw two shapes of one scale, from 1e-9 to 1e9."""
    a, b = _any_pair(rng)
    factor = 10.0 ** rng.uniform(-9, 9)
    a, b = rescaled(a, factor), rescaled(b, factor)
    return Pair.random(rng, a, b, count), None


def mixed_scales(rng: Rng, count: int) -> Drawn:
    """Draw two shapes, one 1e-4.5 to 1e4.5 times as large as the other."""
    a, b = _any_pair(rng)
    return Pair.random(rng, rescaled(a, 10.0 ** rng.uniform(-4.5, 4.5)), b, count), None


def offsets(rng: Rng, count: int) -> Drawn:
    """Draw shapes up to 1e7 sizes away from the world's origin, or from each other."""
    pair = Pair.random(rng, *_any_pair(rng), count)
    far = 10.0 ** rng.uniform(0, 7, (count, 1)) * pair.size[:, None] * naive.unit_vectors(rng, count)
    a_moves = rng.random((count, 1)) < 0.8
    return pair.moved(shift_a=np.where(a_moves, far, 0.0), shift_b=far), None


def aspect(rng: Rng, count: int) -> Drawn:
    """Draw polytopes and curved shapes with each length divided by up to 1e6."""
    a, b = (thinned(rng, spec, 6) for spec in _any_pair(rng))
    return Pair.random(rng, a, b, count), None


def coincident(rng: Rng, count: int) -> Drawn:
    """Draw shapes with equal or nearly equal centres, in equal or random orientations."""
    a, b = _any_pair(rng)
    turns = naive.random_rotations(rng, count)
    same = rng.random((count, 1, 1)) < 0.5
    poses_a = _placed(count, turns)
    poses_b = _placed(count, np.where(same, turns, naive.random_rotations(rng, count)))
    centers = [np.einsum("nij,j->ni", p[:, :3, :3], naive.body(s).center) for s, p in ((a, poses_a), (b, poses_b))]
    on_center = rng.random((count, 1)) < 0.5  # otherwise the origins coincide
    poses_b[:, :3, 3] = np.where(on_center, centers[0] - centers[1], 0.0)
    moved = rng.random((count, 1)) < 0.3
    poses_b[:, :3, 3] += np.where(moved, 10.0 ** rng.uniform(-17, -3, (count, 1)) * rng.normal(size=(count, 3)), 0.0)
    return Pair(a, poses_a, b, poses_b), None


def identical(rng: Rng, count: int) -> Drawn:
    """Draw a shape and itself, in the same pose or a few ulps away."""
    spec, _ = _any_pair(rng)
    poses = _placed(count, naive.random_rotations(rng, count), rng.normal(size=(count, 3)))
    poses[rng.random(count) < 0.3, :3, :3] = np.eye(3)
    poses_b = poses.copy()
    steps = rng.integers(-3, 4, (count, 3)) * (rng.random((count, 1)) < 0.5)
    poses_b[:, :3, 3] += np.spacing(poses_b[:, :3, 3]) * steps
    return Pair(spec, poses, spec, poses_b), None


def containment(rng: Rng, count: int) -> Drawn:
    """Draw a small shape deep inside a large one."""
    a, b = _any_pair(rng, SOLID)
    a = rescaled(a, 10.0 ** rng.uniform(-6, -0.5))
    body = naive.body(b)
    poses_a = _placed(count, naive.random_rotations(rng, count), rng.uniform(-0.4, 0.4, (count, 3)) * body.size)
    poses_a[:, :3, 3] += body.center
    poses_b = _placed(count)
    return (Pair(a, poses_a, b, poses_b) if rng.random() < 0.5 else Pair(b, poses_b, a, poses_a)), None


def flat_on_flat(rng: Rng, count: int) -> Drawn:
    """Draw flat shapes in one plane, or in two parallel or nearly parallel planes."""
    flat = ["segment", "triangle", "flat hull", "rounded triangle"]
    specs = []
    for name in rng.choice(flat, 2):
        kind, *numbers = random_spec(rng, str(name))
        inner = numbers[0] if kind == "inflated" else (kind, *numbers)
        inner = (inner[0], *(np.asarray(x) * (1.0, 1.0, 0.0) for x in inner[1:]))
        specs.append((kind, inner, numbers[1]) if kind == "inflated" else inner)
    slides = rng.normal(size=(count, 3)) * (1.0, 1.0, 0.0)
    slides[:, 2] = _some_gap(rng, count, 1.0)
    spins = Rotation.from_rotvec(rng.uniform(-np.pi, np.pi, (count, 1)) * (0.0, 0.0, 1.0)).as_matrix()
    turns = np.where(rng.random((count, 1, 1)) < 0.5, spins, _slightly_turned(rng, spins))
    pair = Pair(specs[0], _placed(count), specs[1], _placed(count, turns, slides))
    if rng.random() < 0.5:
        frame = naive.pose(naive.random_rotations(rng, 1)[0], rng.normal(size=3))
        pair = Pair(pair.a, frame @ pair.poses_a, pair.b, frame @ pair.poses_b)
    return pair, None


def _normals(rng: Rng, body: Body, count: int) -> Array:
    """Return directions in the body's frame: face normals, axes, normals of edges, or random ones."""
    candidates = [np.eye(3), -np.eye(3), naive.unit_vectors(rng, 6)]
    if body.points is not None and len(body.points) > 3:
        try:
            faces = ConvexHull(body.points).equations[:, :3]
            between = faces[rng.integers(len(faces), size=12)] + faces[rng.integers(len(faces), size=12)]
            lengths = np.linalg.norm(between, axis=1)
            candidates += [faces, faces, between[lengths > 0.1] / lengths[lengths > 0.1, None]]
        except QhullError:
            pass
    every = np.vstack(candidates)
    return every[rng.integers(len(every), size=count)]


def kisses(rng: Rng, count: int) -> Drawn:
    """Draw shapes with a vertex, edge or face of A opposite one of B, at a gap of up to a tenth of their size.

    The gap may be negative. It is along a normal whose support points are opposite each other, so a positive gap is the
    distance.
    """
    a, b = _any_pair(rng)
    body_a, body_b = naive.body(a), naive.body(b)
    poses_a, poses_b = (_placed(count, naive.random_rotations(rng, count)) for _ in range(2))
    n = np.einsum("nij,nj->ni", poses_a[:, :3, :3], _normals(rng, body_a, count))
    against = -_normals(rng, body_b, count)
    faced = rng.random(count) < 0.5  # rotate B so that one of its normals is opposite to A's
    local = np.einsum("nji,nj->ni", poses_b[:, :3, :3], n)
    poses_b[faced, :3, :3] = (poses_b[:, :3, :3] @ _turning(against, local))[faced]
    part = rng.random(count) < 0.3
    poses_b[part, :3, :3] = _slightly_turned(rng, poses_b[part, :3, :3])
    at_a, at_b = naive.posed_support(body_a, poses_a, n), naive.posed_support(body_b, poses_b, -n)
    gaps = _some_gap(rng, count, body_a.size + body_b.size)
    poses_b[:, :3, 3] = at_a - at_b + gaps[:, None] * n
    pair = Pair(a, poses_a, b, poses_b)
    slack = pair.world  # the rounding error of the poses
    return pair, (gaps - slack, np.where(gaps >= 0, gaps, np.inf) + slack)


def _turning(old: Array, new: Array) -> Array:
    """Return rotations that map the unit vectors ``old`` to ``new``."""
    half = old + new
    length = np.linalg.norm(half, axis=1)
    ok = length > 1e-6
    half = np.where(ok[:, None], half, np.array([1.0, 0.0, 0.0])) / np.where(ok, length, 1.0)[:, None]
    flip = 2 * half[:, :, None] * half[:, None, :] - np.eye(3)  # a half turn about the middle maps old to new
    return np.where(ok[:, None, None], flip, np.eye(3))


def parallel(rng: Rng, count: int) -> Drawn:
    """Draw shapes in equal or nearly equal orientations, in contact along an axis and shifted along their faces."""
    a, b = _any_pair(rng)
    body_a, body_b = naive.body(a), naive.body(b)
    turns = naive.random_rotations(rng, count)
    turns[rng.random(count) < 0.4] = np.eye(3)
    almost = np.where(rng.random((count, 1, 1)) < 0.5, turns, _slightly_turned(rng, turns))
    poses_a, poses_b = _placed(count, turns), _placed(count, almost)
    axes = np.vstack([np.eye(3), -np.eye(3)])[rng.integers(6, size=count)]
    n = np.einsum("nij,nj->ni", turns, axes)
    slide = np.cross(n, rng.normal(size=(count, 3))) * (rng.random((count, 1)) < 0.7) * 0.5
    poses_b[:, :3, 3] = slide
    size = body_a.size + body_b.size
    gap = naive.posed_gap(body_a, poses_a, body_b, poses_b, n)
    poses_b[:, :3, 3] += (_some_gap(rng, count, size) - gap)[:, None] * n
    return Pair(a, poses_a, b, poses_b), None


def shallow_and_deep(rng: Rng, count: int) -> Drawn:
    """Draw pairs moved along their normal until they touch, then by 1e-16 to 1e-1 of their size either way, or not."""
    a, b = _any_pair(rng)
    poses_a, poses_b = random_poses(rng, a, b, count)
    pair = Pair(a, poses_a, b, poses_b)
    result = pair.signed()
    step = _some_gap(rng, count, 1.0) * pair.size - result.distance
    return pair.moved(shift_b=step[:, None] * result.normal), None


def needles(rng: Rng, count: int) -> Drawn:
    """Draw polytopes with each length divided by up to 1e9."""
    sharp = [name for name in SHAPES if is_polytope(SHAPES[name])]
    a, b = (thinned(rng, spec, 9) for spec in _any_pair(rng, sharp))
    return Pair.random(rng, a, b, count), None


def _revolved(rng: Rng) -> Spec:
    """Return a disc, a needle or a shape between them, revolved about z: sharp, rounded, stretched, or a ball."""
    radius = 10.0 ** rng.uniform(-0.5, 0.5)
    half = radius * 10.0 ** rng.uniform(-3, 3)
    pick = int(rng.integers(8))
    if pick == 0:
        return ("sphere", radius)
    if pick == 1:
        return ("ellipsoid", (radius, radius, half))
    if pick == 2:
        return ("scaled", ("capsule", radius, half), (0.5, 0.5, 2.0))
    spec: Spec = (("cylinder", "cylinder", "cone", "capsule", "capsule")[pick - 3], radius, 2 * half)
    return ("inflated", spec, radius * 10.0 ** rng.uniform(-3, 0)) if rng.random() < 0.3 else spec


def near_ties(rng: Rng, count: int) -> Drawn:
    """Draw discs, needles and ellipsoids in deep overlap, with axes parallel to 1e-14 to 1e-3, some exactly.

    A whole circle of directions is nearly optimal. Some centres are near the axis of the other shape, some near its
    rim.
    """
    if rng.random() < 0.2:
        radii = 10.0 ** rng.uniform(-1, 1, 3) * (1.0 + 10.0 ** rng.uniform(-14, -1, 3) * rng.choice((-1, 1), 3))
        radii = np.where(rng.random(3) < 0.5, radii, radii[0])
        a, b = ("ellipsoid", radii), ("ellipsoid", radii * 10.0 ** rng.uniform(-2, 2) * (1 + 1e-9 * rng.random(3)))
    else:
        a, b = _revolved(rng), rescaled(_revolved(rng), 10.0 ** rng.uniform(-2, 1))
    size = naive.body(a).size
    reach = naive.posed_height(naive.body(a), _placed(6), np.vstack([np.eye(3), -np.eye(3)]))
    flip = np.where(rng.random((count, 1, 1)) < 0.5, np.eye(3), np.diag((1.0, -1.0, -1.0)))
    radial = np.where(rng.random(count) < 0.4, 10.0 ** rng.uniform(-17, -2, count) * size, rng.random(count) * reach[0])
    angles = rng.uniform(-np.pi, np.pi, count)
    where = np.column_stack([radial * np.cos(angles), radial * np.sin(angles), rng.uniform(-1, 1, count) * reach[2]])
    where[rng.random(count) < 0.2, :2] = 0.0
    where[rng.random(count) < 0.3, 2] *= 10.0 ** rng.uniform(-16, 0)
    pair = Pair(a, _placed(count), b, _placed(count, _slightly_turned(rng, flip), where))
    common = _placed(count, naive.random_rotations(rng, count), rng.normal(size=(count, 3)) * size)
    common[rng.random(count) < 0.3] = np.eye(4)
    return Pair(a, common @ pair.poses_a, b, common @ pair.poses_b), None


CLASSES: dict[str, Callable[[Rng, int], Drawn]] = {
    "scale 1e-9 to 1e9": scales,
    "one 1e±4.5 times the other": mixed_scales,
    "offsets to 1e7 sizes": offsets,
    "aspect to 1e6": aspect,
    "needles to 1e9, polytopes": needles,
    "coincident centres": coincident,
    "identical shapes": identical,
    "containment": containment,
    "flat on flat": flat_on_flat,
    "vertex, edge, face kisses": kisses,
    "parallel, nearly parallel": parallel,
    "shallow and touching": shallow_and_deep,
    "near ties": near_ties,
    **CLOSED,
}
NAMES = list(CLASSES)

"""Blocking parts and the order of disassembly: known results, and dense sampling by manifold3d."""

from __future__ import annotations

import manifold3d
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.errors import ParseError

Solid = manifold3d.Manifold
X, Y, Z = np.eye(3)
SIX = np.array([X, -X, Y, -Y, Z, -Z])


def box(low, high):
    return Solid.cube(np.subtract(high, low).tolist()).translate(low)


def mesh_of(solid):
    surface = solid.to_mesh64()
    return gk.Mesh(np.array(surface.vert_properties[:, :3]), np.array(surface.tri_verts, dtype=np.int64))


def order_of(solids, **options):
    return gk.clash.order(gk.clash.Assembly.of({name: mesh_of(solid) for name, solid in solids.items()}), **options)


def sampled(a, b, way, count=400, far=12.0):
    """Return whether a overlaps b at any of many samples of a translation of a."""
    return any((a.translate((t * way).tolist()) ^ b).volume() > 1e-9 for t in np.linspace(0.0, far, count))


def tray():
    return box((0, 0, 0), (6, 4, 3)) - box((0.5, 0.5, 0.5), (5.5, 3.5, 4))


def case():
    """Return a tray with a block in it, a lid that closes it flush, and a pin through its wall into the lid."""
    hole = Solid.cylinder(3.0, 0.25, 0.25, 24).rotate([0, 90, 0]).translate([4, 2, 2.5])
    pin = Solid.cylinder(2.5, 0.25, 0.25, 24).rotate([0, 90, 0]).translate([4, 2, 2.5])
    return {
        "block": box((1, 1, 0.5), (3, 3, 2)),
        "lid": box((0.5, 0.5, 2), (5.5, 3.5, 3)) - hole,
        "pin": pin,
        "tray": tray() - hole,
    }


def link(at, turn):
    ring = box((-1.5, -1, -0.2), (1.5, 1, 0.2)) - box((-1, -0.5, -1), (1, 0.5, 1))
    return ring.rotate([turn, 0, 0]).translate(at)


def test_case_is_disassembled_in_the_only_order():
    order = order_of(case())
    assert [(step.parts, step.direction) for step in order.steps] == [
        (("pin",), (1.0, 0.0, 0.0)),
        (("lid",), (0.0, 0.0, 1.0)),
        (("block",), (0.0, 0.0, 1.0)),
    ]
    assert order.locked == order.unchecked == ()
    assert order.free("pin") == ((1.0, 0.0, 0.0),)
    assert order.free("lid") == order.free("block") == ()
    for method in (order.free, order.always):
        with pytest.raises(ParseError, match=r"'zzz'.*'block', 'lid'"):
            method("zzz")
        with pytest.raises(ParseError, match=r"'blok'.*'block', 'lid'.*Did you mean 'block'"):
            method("blok")
    assert order.blockers["lid"][4] == ("pin",)  # up
    assert order.blockers["block"][4] == ("lid",)
    assert order.always("block") == ()  # the tray blocks all directions but up, and the lid blocks up
    down = order_of(case(), directions=[X, -Z])
    assert down.always("block") == ("tray",)
    assert [step.parts for step in down.steps] == [("pin",), ("tray",), ("block",)]  # the tray is removed downwards


def test_blockers_of_case_equal_dense_sampling():
    solids = case()
    order = order_of(solids)
    names = list(solids)
    for name in names:
        for way, who in zip(SIX, order.blockers[name], strict=True):
            assert who == tuple(x for x in names if x != name and sampled(solids[name], solids[x], way)), (name, way)


def test_linked_rings_are_removed_together():
    solids = {"one": link((2.2, 2, 1.6), 0), "two": link((3.9, 2, 1.6), 90), "tray": tray()}
    order = order_of(solids)
    assert [(step.parts, step.direction) for step in order.steps] == [(("one", "two"), (0.0, 0.0, 1.0))]
    assert order.locked == (("one", "two"),)
    assert order.to_dict()["locked"] == [["one", "two"]]
    for first, second in (("one", "two"), ("two", "one")):
        assert all(sampled(solids[first], solids[second], way, 200, 6.0) for way in SIX)


def test_slanted_directions_are_used_only_if_given():
    slant = np.array([1.0, 0.0, 1.0])
    groove = box((-2, -2, -2), (2, 2, 2)) - box((-0.5, -3, -0.5), (5, 3, 0.5)).rotate([0, -45, 0])
    tongue = box((-0.5, -1.5, -0.5), (1.5, 1.5, 0.5)).rotate([0, -45, 0]) ^ box((-9, -1.5, -9), (9, 1.5, 9))
    walls = box((-2, -3, -2), (2, -2, 2)) + box((-2, 2, -2), (2, 3, 2))
    solids = {"groove": groove + walls, "tongue": tongue}
    plain = order_of(solids, tolerance=1e-6)
    assert plain.free("tongue") == ()
    tried = order_of(solids, directions=[slant, -slant, X], tolerance=1e-6)
    assert tried.free("tongue") == (tuple(slant / np.linalg.norm(slant)),)
    assert not sampled(solids["tongue"], solids["groove"], slant)


@pytest.mark.parametrize("seed", range(4))
def test_blockers_of_random_bodies_equal_dense_sampling(seed):
    rng = np.random.default_rng(seed)

    def body():
        bits = [box(-rng.uniform(0.2, 0.8, 3), rng.uniform(0.2, 0.8, 3)) for _ in range(2)]
        union = bits[0] + bits[1].translate(rng.uniform(-0.6, 0.6, 3).tolist())
        turn = Rotation.random(random_state=int(rng.integers(1 << 30))).as_matrix()
        return union.transform(np.column_stack([turn, rng.uniform(-2, 2, 3)]))

    solids = {name: body() for name in "abcd"}
    ways = rng.normal(size=(3, 3))
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    fine, coarse = (order_of(solids, directions=ways, tolerance=t).blockers for t in (1e-6, 0.05))
    results = set()
    for name, solid in solids.items():
        for k, way in enumerate(ways):
            for name_b in set(solids) - {name}:
                hit = sampled(solid, solids[name_b], way)
                results.add(hit)
                assert name_b in fine[name][k] or not hit, (name, name_b, k)  # a sampled hit is a blocker
                assert hit or name_b not in coarse[name][k], (name, name_b, k)  # a deep blocker is hit by the samples
    assert results == {True, False}


def grid(count, size, at):
    """Return a mesh of two square layers, each cut into small triangles."""
    ends = np.linspace(0.0, size, count + 1)
    points = np.array([(x, y, z) for z in (0.0, 1.0) for x in ends for y in ends]) + at
    faces = []
    for layer in (0, 1):
        for i in range(count):
            for j in range(count):
                a = layer * (count + 1) ** 2 + i * (count + 1) + j
                faces += [(a, a + count + 1, a + 1), (a + 1, a + count + 1, a + count + 2)]
    return gk.Mesh(points, faces)


@pytest.mark.parametrize(("shift", "held"), [(0.9, True), (0.97, False)])
def test_triangles_below_tolerance_block_together(shift, held):
    """Triangles of 0.02 with a tolerance of 0.05: an overlap of 0.1 blocks, an overlap of 0.03 does not."""
    parts = {"a": grid(50, 1.0, (0, 0, 0)), "b": grid(50, 1.0, (shift, 0, 2))}
    order = gk.clash.order(gk.clash.Assembly.of(parts), [Z], tolerance=0.05)
    assert (order.blockers["a"][0] == ("b",)) is held
    assert order.blockers["b"][0] == ()


def test_ignored_pairs_do_not_block():
    thread = {"bolt": box((0, 0, 0), (1, 1, 3)), "plate": box((-2, -2, 0), (3, 3, 1)), "cap": box((0, 0, 4), (1, 1, 5))}
    assert order_of(thread).blockers["bolt"][4] == ("cap", "plate")
    rule = gk.clash.Rule("plate", "b*", "threads are drawn through")
    assert order_of(thread, ignore=[rule]).blockers["bolt"][4] == ("cap",)
    close = gk.clash.Rule("plate", "b*", "close by design", ("clearance",))
    assert order_of(thread, ignore=[close]).blockers["bolt"][4] == ("cap", "plate")


def test_unloaded_parts_are_reported():
    parts = gk.clash.Assembly.of({"a": mesh_of(box((0, 0, 0), (1, 1, 1)))}).parts
    broken = gk.clash.AssemblyPart("b", "b.stl", None, "is empty")
    order = gk.clash.order(gk.clash.Assembly((*parts, broken)))
    assert (order.unchecked, order.steps, order.free("a")) == (("b",), (), order.directions)


@pytest.mark.parametrize("given", [(0, 0, 1), [(0, 0, 0)], [(0, np.nan, 1)], []])
def test_invalid_directions_raise(given):
    with pytest.raises(gk.errors.ShapeError, match="order: direction"):
        order_of(case(), directions=given)
    with pytest.raises(gk.errors.ShapeError, match=r"order.*tolerance.*-1"):
        order_of(case(), tolerance=-1)

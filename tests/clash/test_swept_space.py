"""The space that a moving part needs, against the part itself at many times, by manifold3d."""

import manifold3d
import numpy as np
import pytest
import trimesh

import gjk3d as gk
from gjk3d.clash import Assembly, Movement, check, swept
from gjk3d.clash.formats import to_glb
from gjk3d.clash.motion import envelope
from gjk3d.clash.motion.envelope import convex_pieces
from gjk3d.errors import ParseError, ShapeError
from tests.hardening import swept_rotations

_OUTLINE = manifold3d.CrossSection([np.array([(0, 0), (3, 0), (3, 1), (1, 1), (1, 3), (0, 3)], dtype=float)])
ELL = manifold3d.Manifold.extrude(_OUTLINE, 1.0)


def mesh_of(solid):
    raw = solid.to_mesh64()
    return gk.Mesh(np.array(raw.vert_properties)[:, :3], np.array(raw.tri_verts, dtype=np.int64))


def solid_of(mesh):
    return manifold3d.Manifold(manifold3d.Mesh64(np.array(mesh.vertices), np.array(mesh.faces, dtype=np.uint64)))


@pytest.mark.parametrize("number", [0, 7, 19])
def test_hulls_of_many_points_on_one_plane_are_not_dented(number):
    """Without it a hundredth of the cylinder is outside of its own swept space."""
    assert swept_rotations.missing(*swept_rotations.rotation(np.random.default_rng([1, number]))) == 0.0


@pytest.mark.full
def test_the_swept_space_holds_rotated_cylinders():
    assert swept_rotations.faults(50, seed=2) == []


@pytest.mark.parametrize("form", ["slices", "hull"])
@pytest.mark.parametrize(
    "motion",
    [
        gk.Motion(None, (5, 0, 0), (0, 0, 0)),
        gk.Motion(None, (0, 0, 2), (0.4, -0.3, 2.0), center=(6, 1, 0)),
        gk.Motion(None, (0, 0, 0), (0, 0, 2 * np.pi), center=(-4, 0, 0)),
        gk.Motion(None, (0, 0, 0), (3, 0, -40), center=(-4, 0, 0)),
        gk.Motion(None, (0, 0, 0), (0.1, 0, 0.5), center=(-60, 0, 0)),
    ],
)
def test_every_place_that_is_passed_is_held(form, motion):
    post = gk.Mesh(*gk.Box((0.1, 0.1, 0.1)).surface())
    parts = Assembly.of({"ell": mesh_of(ELL), "post": post}, "mm")
    space = swept(parts, Movement({"ell": motion}), "ell", form)
    mesh = next(part.mesh for part in space.parts if part.name == "ell, swept")
    assert mesh.is_watertight
    outside = solid_of(mesh)
    for time in np.random.default_rng(1).uniform(0.0, 1.0, 60).tolist():
        there = ELL.transform(motion.at(time)[:3])
        assert (there - outside).volume() <= 1e-12 * ELL.volume()
    grown = float(next(note for note in space.notes if "ell, swept" in note).split("grown by ")[1].split()[0])
    hull = ELL.hull()
    if form == "slices":  # no point of it is farther off than that from the hull at some time
        trail = [hull.transform(motion.at(t)[:3]) for t in np.linspace(0.0, 1.0, 600)]
        corners = mesh.vertices[np.random.default_rng(2).choice(len(mesh.vertices), 8)]
        for corner in corners:
            dot = manifold3d.Manifold.cube((2e-3,) * 3, True).translate(corner)
            assert min(dot.min_gap(solid, 1.0) for solid in trail) <= 2.0 * grown + 0.05


def held(space, tracks, solids):
    """Tell whether the space holds solids at 40 times of their tracks."""
    whole = solid_of(next(part.mesh for part in space.parts if part.name.endswith(", swept")))
    for name, track in tracks.items():
        for time in np.random.default_rng(3).uniform(track.times[0], track.times[-1], 40).tolist():
            there = solids[name].transform(track.pose(time)[:3])
            if (there - whole).volume() > 1e-12 * there.volume():
                return False
    return True


@pytest.mark.parametrize("limits", [{"_HULLS": 40}, {"_STEPS": 20}, {"_HULLS": 7, "_STEPS": 50}])
def test_on_a_long_way_slices_become_coarser_not_more(monkeypatch, limits):
    """Of several steps each, or bent farther off the straight lines; both hold what is passed."""
    for name, value in limits.items():
        monkeypatch.setattr(envelope, name, value)
    parts = Assembly.of({"ell": mesh_of(ELL)}, "mm")
    movement = Movement({"ell": gk.Motion(None, (0, 0, 9), (0, 0, 4 * np.pi), center=(-4, 0, 0))})
    space = swept(parts, movement, "ell")
    slices = int(space.notes[-1].split("hulls of ")[1].split()[0])
    assert slices <= 2 * min(limits.values())
    assert held(space, movement.place(["ell"], {"ell": parts.parts[0].mesh.bounds}), {"ell": ELL})


@pytest.mark.parametrize("far", [20.0, 60.0])
def test_what_is_far_from_its_axis_needs_no_more_room_for_that(far):
    cube = gk.Box((1, 1, 1)).surface()
    parts = Assembly.of({"cube": gk.Mesh(cube.vertices + (far + 0.5, 0, 0), cube.faces)}, "mm")
    space = swept(parts, Movement({"cube": gk.Motion(None, angular=(0, 0, 2 * np.pi), center=(0, 0, 0))}), "cube")
    ring = np.pi * ((far + 1.0) ** 2 + 0.25 - far**2)
    assert ring <= volume_of(space, "cube, swept") <= 1.01 * ring


def _bodies_that_repeat(turns):
    there_and_back = np.tile(np.eye(4), (2 * turns + 1, 1, 1))
    there_and_back[1::2, 0, 3] = 5.0
    drive = (0.0, 2.0 * np.pi * turns)
    return [
        Movement({"ell": gk.Motion(None, angular=(0, 0, 2 * np.pi * turns), center=(-4, 0, 0))}),
        Movement({"ell": there_and_back}),
        Movement(joints=[gk.clash.Joint("crank", "revolute", "ell", point=(-4, 0, 0), drive=drive)]),
    ]


@pytest.mark.full
def test_places_that_are_passed_again_are_swept_once():
    parts = Assembly.of({"ell": mesh_of(ELL)}, "mm")
    for one, many in zip(_bodies_that_repeat(1), _bodies_that_repeat(12), strict=True):
        once, often = swept(parts, one, "ell"), swept(parts, many, "ell")
        assert often.notes[-1].split("grown")[0] == once.notes[-1].split("grown")[0]
        assert volume_of(often, "ell, swept") == pytest.approx(volume_of(once, "ell, swept"), rel=1e-9)
        assert held(often, many.place(["ell"], {"ell": parts.parts[0].mesh.bounds}), {"ell": ELL})


def bolt():
    shank, head = manifold3d.Manifold.cylinder(20, 3, 3, 32), manifold3d.Manifold.cylinder(5, 6, 6, 32)
    return shank + head.translate((0, 0, 20))


def volume_of(space, name):
    return next(part.mesh.volume for part in space.parts if part.name == name)


def test_a_headed_bolt_that_goes_along_its_axis_needs_no_room_beside_its_shank():
    """A ring round the shank, narrower than the head, is in the way of the hull alone."""
    ring = manifold3d.Manifold.cylinder(4, 5, 5, 32) - manifold3d.Manifold.cylinder(4, 4, 4, 32)
    parts = Assembly.of({"bolt": mesh_of(bolt()), "ring": mesh_of(ring.translate((0, 0, 15.5)))}, "mm")
    space = swept(parts, Movement({"bolt": gk.Motion.translation(None, (0, 0, 30))}), "bolt")
    assert [clash.kind for clash in check(space).clashes] == []
    area = 16 * np.sin(np.pi / 16)  # of a polygon of 32 corners, as a multiple of the square of its radius
    assert volume_of(space, "bolt, swept") == pytest.approx(area * (9 * 20 + 36 * 35), rel=1e-4)
    assert "2 pieces" in space.notes[-1]
    filled = swept(parts, Movement({"bolt": gk.Motion.translation(None, (0, 0, 30))}), "bolt", "hull")
    assert [clash.kind for clash in check(filled).clashes] == ["contained"]


@pytest.mark.parametrize("most", [1, 4, 64])
def test_the_hulls_of_convex_pieces_hold_a_solid(most):
    nut = manifold3d.Manifold.cylinder(5, 8, 8, 6) - manifold3d.Manifold.cylinder(7, 4, 4, 32).translate((0, 0, -1))
    for solid in (ELL, bolt(), nut, bolt().rotate((20, 30, 40)) + ELL.translate((30, 0, 0)), nut.scale((1e-3,) * 3)):
        pieces = convex_pieces(solid, most)
        hulls = [solid_of(gk.Mesh(*gk.ConvexHull(piece).surface()[:2])) for piece in pieces]
        union = manifold3d.Manifold.batch_boolean(hulls, manifold3d.OpType.Add)
        assert (solid - union).volume() <= 1e-9 * solid.volume()
        if most == 64:
            assert union.volume() == pytest.approx(solid.volume(), rel=1e-3)


def test_what_is_not_closed_is_swept_by_its_hull():
    solid = mesh_of(bolt())
    parts = Assembly.of({"bolt": gk.Mesh(solid.vertices, solid.faces[:-1])}, "mm")
    space = swept(parts, Movement({"bolt": gk.Motion.translation(None, (0, 0, 30))}), "bolt")
    assert "1 slice of 1 piece" in space.notes[-1]


@pytest.mark.full
def test_the_engine_needs_room_where_the_sensor_is(tmp_path):
    engine = Assembly.load("data/engine/engine.glb")
    space = swept(engine, "data/engine/engine.toml", "crank_*", "slices")
    assert {part.name for part in space.parts} == {"block", "crank_*, swept", "head", "sensor"}
    report = check(space)
    assert any(c.kind == "hard" and c.b == "sensor" for c in report.clashes if c.a == "crank_*, swept")
    to_glb(report, tmp_path / "space.glb")
    saved = trimesh.load_scene(tmp_path / "space.glb").geometry["crank_*, swept"]
    reach = np.linalg.norm(saved.vertices[:, :2], axis=1).max()
    assert 0.044 <= reach <= 0.0445


def test_what_cannot_be_swept_is_told():
    cube = gk.Mesh(*gk.Box((1, 1, 1)).surface())
    parts, slide = Assembly.of({"a": cube}), Movement({"a": gk.Motion.translation(None, (1, 0, 0))})
    with pytest.raises(ParseError, match=r"swept.*'b'.*expected 'a'\.$"):
        swept(parts, slide, "b")
    with pytest.raises(ShapeError, match=r"form.*'mesh'.*'slices'.*'hull'"):
        swept(parts, slide, "a", "mesh")
    with pytest.raises(TypeError, match=r"swept.*\bstr\b.*Assembly\.load\(paths\)"):
        swept("a.glb", slide, "a")

"""``gjk3d robot URDF``: what a robot is, and whether its configurations and paths are free."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from gjk3d.cli.arguments import UsageError, check_output
from gjk3d.cli.progress import Bar
from gjk3d.cli.terminal import note

if TYPE_CHECKING:
    from gjk3d.cli.robot_work import Rows, Way, Work
    from gjk3d.robot import Robot

IMAGES = (".png", ".jpg", ".jpeg", ".html", ".htm")
ANIMATIONS = (".gif", ".html", ".htm")
Geometry = Literal["bodies", "hull", "parts", "mesh"]
_INTERRUPTED = 130
_Length = Annotated[str | None, Parameter(allow_leading_hyphen=True)]
_Flag = Annotated[bool, Parameter(negative=())]


def robot(
    urdf: Path,
    /,
    *,
    srdf: Path | None = None,
    package_dir: Annotated[list[Path] | None, Parameter(negative=())] = None,
    geometry: Geometry = "bodies",
    scene: Annotated[list[Path] | None, Parameter(consume_multiple=True, negative=())] = None,
    scene_geometry: Geometry | None = None,
    unit: str | None = None,
    scene_up: Literal["z", "y"] = "z",
    touching: Annotated[list[str] | None, Parameter(negative=())] = None,
    margin: _Length = None,
    check: str | None = None,
    random: int | None = None,
    path: str | None = None,
    certify: _Flag = False,
    resolution: float = 0.05,
    tolerance: float = 1e-6,
    clearance: _Flag = False,
    acm: Path | None = None,
    samples: int = 10_000,
    seed: int = 0,
    json: _Flag = False,
    csv: _Flag = False,
    top: int = 20,
    picture: Path | None = None,
    animation: Path | None = None,
    jobs: Annotated[int, Parameter(name=["--jobs", "-j"])] = 1,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=())] = False,
) -> int:
    """Tell what a robot is, or whether configurations or a path of it are free.

    Without --check, --random, --path or --acm: an overview of joints, links, pairs, and what looks wrong. Angles are in
    radians, lengths in metres, as in the URDF.

    Exits with 0 if all is free, with 1 if something collides or stays unresolved, with 2 if the input is bad, with 130
    after Ctrl-C; then what was found so far is still printed.

    Parameters
    ----------
    urdf
        The robot.
    srdf
        Which pairs of links need no check, and named poses; without one, links that share a joint need none.
    package_dir
        A folder of packages, or that holds some, for meshes named package://; may be given several times.
    geometry
        What a mesh becomes: a hull for each connected body, one hull, convex parts (needs coacd), its triangles.
    scene
        What stands around: a URDF, each link of it an object, or models (GLB, STL, ...), each part an object.
    scene_geometry
        What a mesh of the surroundings becomes; by default its triangles, with --certify a hull for each body of it.
    unit
        The unit of models that state none, such as STL: mm, cm, m, in.
    scene_up
        Which axis points up in models; that of a robot is z, that of glTF files y.
    touching
        A link and an object that may touch, as LINK:OBJECT; may be given several times.
    margin
        How close is too close, such as 5mm; 0 by default.
    check
        Configurations: a CSV file, a row each, with or without the names of the joints above; or a pose of the SRDF.
    random
        So many configurations, drawn evenly within the limits; see also --seed.
    path
        A CSV file of waypoints: the straight lines between them, in joint space, are asked about.
    certify
        Prove that the path is free between samples too.
    resolution
        Of samples along a path: the most that a joint moves between two.
    tolerance
        Of a proof along a path: parameters of an edge closer than this are not told apart.
    clearance
        Also tell the closest pair of each configuration, and how far apart or how deep it is.
    acm
        Find the pairs of links that need no check, and write them as an SRDF.
    samples
        How many configurations are tried for --acm.
    seed
        Of the random numbers.
    json
        Print one JSON document.
    csv
        Print one row for each configuration.
    top
        Most rows of a table.
    picture
        Draw the first configuration that collides, or where all are free the one that comes closest, to a .png, .jpg
        or .html file; of a path, the way up to where it hits; without any, the robot where all joints are 0.
    animation
        Draw the path, up to where it hits: a .gif, or an .html page to play it in, which needs no OpenGL.
    jobs
        How many threads.
    quiet
        No progress and no notes.
    """
    inputs = tuple(Path(each) for each in (urdf, srdf, *(scene or ()), check, path) if each is not None)
    _refuse(check, random, path, acm, certify, clearance, csv, json, top, samples, seed)
    check_output(picture, "--picture", IMAGES, inputs)
    check_output(animation, "--animation", ANIMATIONS, inputs)
    if animation is not None and path is None:
        raise UsageError("--animation shows a path: name one with --path")
    if picture is not None and acm is not None:
        raise UsageError("--picture shows configurations or a path, and --acm asks about neither")
    check_output(acm, "--acm", (".srdf", ".xml"), inputs)
    pairs = [_touching(each) for each in touching or ()]
    from gjk3d.clash.units import length

    gap = 0.0 if margin is None else length(margin, "m", "--margin")
    from gjk3d.robot import Robot

    machine = Robot.from_urdf(urdf, srdf, package_dirs=package_dir or (), geometry=geometry)
    if acm is not None:
        return _acm(machine, acm, samples, seed, json, top, quiet)
    from gjk3d.cli import robot_tables as tables
    from gjk3d.cli.configurations import read_configurations
    from gjk3d.cli.robot_pictures import Pictures
    from gjk3d.cli.robot_work import Work, draw
    from gjk3d.cli.surroundings import read_scene

    with Bar(show=not quiet) as bar:
        bar("reading")
        things = read_scene(
            scene or (),
            scene_geometry or ("bodies" if certify else "mesh"),
            unit,
            scene_up,
            package_dir or (),
            machine.links,
        )
        work = Work(machine, things, pairs, gap, jobs)
        head = tables.head(work, urdf, srdf, scene or [], geometry)
        rows: Rows | None = None
        way: Way | None = None
        if path is not None:
            points = read_configurations(path, machine, "--path")
            way = work.path(points, certify, resolution, tolerance, bar)
        elif check is not None:
            rows = work.check(read_configurations(check, machine, "--check"), clearance, bar)
        elif random is not None:
            rows = work.check(draw(machine, random, seed), clearance, bar)
    if not quiet:
        _remarks(work, rows, way, srdf is not None)
    pictures = Pictures(work, picture, animation, quiet)
    if way is not None and path is not None:
        tables.write_path(head, work, way, path, {"certify": certify, "resolution": resolution, "tolerance": tolerance},
                          json, csv)  # fmt: skip
    elif rows is not None:
        asked = {"file": check} if check is not None else {"random": random, "seed": seed}
        tables.write_rows(head, work, rows, asked, json, csv, top)
    else:
        tables.write_overview(head, work, json)
    if rows is not None:
        pictures.of_rows(rows)
    elif way is not None and way.complete:
        pictures.of_path(points, certify, resolution)
    elif way is None:
        pictures.of_robot()
    return _code(rows, way)


def _refuse(
    check: str | None,
    random: int | None,
    path: str | None,
    acm: Path | None,
    certify: bool,
    clearance: bool,
    csv: bool,
    json: bool,
    top: int,
    samples: int,
    seed: int,
) -> None:
    """Refuse what cannot be done, before any work."""
    modes = {"--check": check, "--random": random, "--path": path, "--acm": acm}
    asked = [name for name, value in modes.items() if value is not None]
    if len(asked) > 1:
        raise UsageError(f"{' and '.join(asked)}: one of them at a time")
    if certify and path is None:
        raise UsageError("--certify proves a path: name one with --path")
    if clearance and check is None and random is None:
        raise UsageError("--clearance tells how far configurations are from touching: --check or --random names them")
    if csv and json:
        raise UsageError("--json and --csv: one of them at a time")
    if csv and (not asked or acm is not None):
        raise UsageError("--csv prints configurations or a path: --check, --random or --path names them")
    if seed < 0:
        raise UsageError(f"--seed {seed}: expected 0 or more")
    for name, value in (("--random", random), ("--top", top), ("--samples", samples)):
        if value is not None and value < 1:
            raise UsageError(f"{name} {value}: expected 1 or more")


def _touching(text: str) -> tuple[str, str]:
    link, mark, name = text.partition(":")
    if not (link and mark and name):
        raise UsageError(f"--touching {text!r}: expected LINK:OBJECT, such as base:table")
    return link, name


def _remarks(work: Work, rows: Rows | None, way: Way | None, has_srdf: bool) -> None:
    from gjk3d.cli import robot_remarks as remarks

    found = remarks.of_robot(work, has_srdf) if rows is None and way is None else remarks.of_rows(work, rows)
    for text in found + remarks.of_geometry(work, _code(rows, way) == 1):
        note(text)


def _code(rows: Rows | None, way: Way | None) -> int:
    for each in (rows, way):
        if each is not None and not each.complete:
            return _INTERRUPTED
    return int((rows is not None and rows.hits > 0) or (way is not None and way.status != "FREE"))


def _acm(machine: Robot, target: Path, samples: int, seed: int, json: bool, top: int, quiet: bool) -> int:
    """Find the allowed pairs, write and print them."""
    from gjk3d.cli import robot_tables as tables
    from gjk3d.robot import allow_by_sampling

    with Bar(show=not quiet) as bar:
        bar("sampling")
        machine.allowed = allow_by_sampling(machine, samples, seed=seed)
    machine.to_srdf(target)
    tables.write_allowed(machine, target, json, top)
    if not quiet:
        note(target, "wrote")
    return 0

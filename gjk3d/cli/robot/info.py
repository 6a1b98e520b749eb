"""``gjk3d robot info``, which lists links and joints, and ``gjk3d robot pairs``, which finds pairs to leave out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from gjk3d.cli.arguments import check_output
from gjk3d.cli.robot.cell import (
    IMAGES,
    MODEL,
    NO_SURROUNDINGS,
    OUTPUT,
    SCHEMA_VERSION,
    Cell,
    Document,
    Model,
    Output,
    Pair,
    Surroundings,
    at_least,
    new_table,
    pair_words,
)
from gjk3d.cli.terminal import Bar, note, print_line, print_omitted, print_table, safe, write_json
from gjk3d.wording import count, number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gjk3d.robot import Robot


_HUGE = 100.0  #: a link longer than this number of metres probably has its lengths in millimetres
_SHOWN = 6  #: the largest number of pairs in a note


def info(
    urdf: Path,
    /,
    *,
    picture: Annotated[Path | None, Parameter(name=["--picture", "--image"])] = None,
    model: Model = MODEL,
    around: Surroundings = NO_SURROUNDINGS,
    output: Output = OUTPUT,
) -> None:
    """List the joints, limits, links and pairs of a robot, and possible errors in its files.

    Angles are in radians and lengths in metres, as in the URDF.

    Parameters
    ----------
    urdf
        The robot.
    picture
        Draw the robot with all joints at 0 to a .png, .jpg or .html file.
    """
    check_output(picture, "--picture", IMAGES, model.files(urdf, *around.scene))
    with Bar(show=not output.quiet) as bar:
        bar("reading")
        cell = Cell(urdf, model, around)
    if not output.quiet:
        cell.notes(_oddities(cell))
    if output.json:
        write_json(cell.document(**_overview(cell.robot)))
    else:
        _print(cell)
    if picture is not None:
        cell.save_picture(_zero(cell.robot), cell.robot.name, picture, output.quiet)


def _zero(robot: Robot) -> NDArray[np.float64]:
    zero: NDArray[np.float64] = robot.configurations([0.0] * robot.dof)[0][0]
    return zero


# possible errors ------------------------------------------------------------------------------------------------------


def _oddities(cell: Cell) -> list[str]:
    import numpy as np

    texts = []
    if not cell.robot.geometries:
        texts.append("no link has collision shapes, so other commands refuse the robot. Try --collision visual.")
    huge = [cell.robot.links[x.link] for x in cell.robot.geometries if np.ptp(x.hull.bounds, axis=0).max() > _HUGE]
    if huge:
        texts.append(
            f'link {huge[0]} is more than {_HUGE:g} m long. If its mesh is in mm, add scale="0.001 0.001 0.001" to'
            " the mesh in the URDF."
        )
    unknown = [(pair.link_a, pair.link_b) for pair in cell.robot.allowed.unknown]
    if unknown:
        texts.append(f"the SRDF has pairs with links that the robot lacks, which are ignored: {_listed(unknown)}")
    bad = [name for name in cell.robot.states if not cell.robot.within_limits(cell.robot.state(name))]
    if bad:
        texts.append(f"the SRDF has poses outside of the limits: {', '.join(bad)}")
    texts += _overlaps(cell.robot, cell.model.srdf is not None)
    still = _still_touching(cell)
    if still:
        texts.append(f"not checked, because they touch and never move relative to each other: {_listed(still)}")
    return texts


def _overlaps(robot: Robot, has_srdf: bool) -> list[str]:
    import numpy as np

    from gjk3d.robot.sampling import LinkPairs

    zero, links = np.zeros((1, robot.dof)), robot.links

    def hits(pairs: NDArray[np.int64]) -> list[Pair]:
        return [(links[a], links[b]) for a, b in pairs[LinkPairs(robot, pairs).touch(zero)[0]].tolist()]

    texts = []
    if wrong := hits(robot.pairs):
        cure = "" if has_srdf else " (gjk3d robot pairs finds the pairs that always collide)"
        texts.append(f"with all joints at 0, these pairs collide: {_listed(wrong)}{cure}")
    adjacent = [sorted((links.index(a), links.index(b))) for a, b, _ in robot.adjacent()]
    unchecked = [pair for pair in hits(np.array(adjacent, np.int64).reshape(-1, 2)) if pair in robot.allowed]
    if unchecked:
        texts.append(f"not checked, because they are adjacent and overlap with all joints at 0: {_listed(unchecked)}")
    if not has_srdf:
        only = "only links that share a joint, or are fixed to such links, are left out of the check"
        texts.append(f"without --srdf, {only}. gjk3d robot pairs finds more pairs to leave out.")
    return texts


def _still_touching(cell: Cell) -> list[Pair]:
    import gjk3d as gk

    if not cell.still:
        return []
    robot = cell.robot
    poses = robot.link_poses(_zero(robot))
    pairs = []
    for link, name in cell.still:
        at = robot.link_number(link)
        bodies = [(body.shape, poses[at] @ body.pose) for body in robot.bodies if body.link == at]
        pieces = next(thing.pieces for thing in cell.things if thing.name == name)
        if any(gk.collide(a, b, pose_a, pose_b) for a, pose_a in bodies for b, pose_b in pieces):
            pairs.append((link, name))
    return pairs


def _listed(pairs: list[Pair]) -> str:
    more = f" and {len(pairs) - _SHOWN} more" if len(pairs) > _SHOWN else ""
    return ", ".join(f"{a}-{b}" for a, b in pairs[:_SHOWN]) + more


# overview -------------------------------------------------------------------------------------------------------------


def _print(cell: Cell) -> None:
    robot = cell.robot
    links, numbers = count(len(robot.links), "link"), count(robot.dof, "joint coordinate")
    print_line(f"{safe(robot.name)}: {links}, {numbers}, lengths in m, angles in rad")
    print_line()
    table = new_table("joint", "type", "from", "to", "parent", "child")
    for joint in (known_joint for known_joint in robot.joints if known_joint is not None):
        indices = robot.columns.get(joint.name)
        ends = ("-", "-")
        if indices is not None and indices.stop - indices.start == 1:
            ends = (number(robot.lower[indices.start]), number(robot.upper[indices.start]))
        kind = f"{joint.type}, mimics {safe(joint.mimic.joint)}" if joint.mimic else joint.type
        table.add(safe(joint.name), kind, *ends, safe(joint.parent), safe(joint.child))
    print_table(table)
    print_line()
    table = new_table("link or object", "bodies", "geometry", "file")
    for cells in _solids(cell):
        table.add(*cells)
    print_table(table)
    print_line()
    of_links, with_objects = cell.pair_counts()
    counts = ", ".join(f"{many} {safe(reason)}" for reason, many in robot.allowed.counts().items()) or "none"
    print_line(f"pairs of links: {of_links} checked, not checked: {counts}")
    if cell.things:
        unchecked = len({*cell.still, *cell.touching})
        print_line(f"pairs with objects: {with_objects} checked, {unchecked} not checked")
    for name, joints in robot.groups.items():
        print_line(f"group {safe(name)}: {', '.join(map(safe, joints)) or 'no moving joint'}")
    if robot.states:
        print_line(f"poses: {', '.join(map(safe, robot.states))}")


def _solids(cell: Cell) -> list[tuple[str, str, str, str]]:
    rows = []
    for k, name in enumerate(cell.robot.links):
        geometries = [geometry for geometry in cell.robot.geometries if geometry.link == k]
        files = sorted({geometry.source.name for geometry in geometries if geometry.source is not None})
        bodies = str(sum(geometry.last - geometry.first for geometry in geometries)) if geometries else "-"
        kinds = ", ".join(sorted({geometry.way for geometry in geometries})) or "-"
        rows.append((safe(name), bodies, kinds, ", ".join(map(safe, files)) or "-"))
    for thing in cell.things:
        rows.append((safe(thing.name), str(len(thing.pieces)), thing.kind, safe(thing.source.name)))
    return rows


def _overview(robot: Robot) -> Document:
    joints = [
        {
            "name": joint.name,
            "type": joint.type,
            "parent": joint.parent,
            "child": joint.child,
            "columns": list(range(indices.start, indices.stop)) if (indices := robot.columns.get(joint.name)) else [],
            "lower": robot.lower[indices].tolist() if indices else [],
            "upper": robot.upper[indices].tolist() if indices else [],
            "mimics": joint.mimic.joint if joint.mimic else None,
        }
        for joint in robot.joints
        if joint is not None
    ]
    geometries = [
        {
            "geometry": geometry.way,
            "bodies": geometry.last - geometry.first,
            "file": None if geometry.source is None else str(geometry.source),
            "error": geometry.error,
        }
        for geometry in robot.geometries
    ]
    owners = [geometry.link for geometry in robot.geometries]
    links = [
        {"name": name, "geometries": [entry for entry, owner in zip(geometries, owners, strict=True) if owner == k]}
        for k, name in enumerate(robot.links)
    ]
    return {
        "joints": joints,
        "links": links,
        "checked": [[robot.links[a], robot.links[b]] for a, b in robot.pairs.tolist()],
        "allowed": [pair._asdict() for pair in robot.allowed],
        "groups": {name: list(joints) for name, joints in robot.groups.items()},
        "poses": {name: robot.state(name).tolist() for name in robot.states},
    }


def pairs(
    urdf: Path,
    /,
    *,
    acm: Annotated[Path | None, Parameter(name=["--acm", "--output", "-o"])] = None,
    samples: int = 10_000,
    seed: int = 0,
    top: int = 20,
    model: Model = MODEL,
    output: Output = OUTPUT,
) -> None:
    """Find the pairs of links that need no check, and write them as an SRDF.

    These pairs share a joint, always collide, or never collide. If possible, it is proven that a pair never collides.

    Parameters
    ----------
    urdf
        The robot.
    acm
        The .srdf file to write. It also contains the poses and all other elements of the file of --srdf.
    samples
        The number of random configurations within the limits.
    seed
        The seed of the random numbers.
    top
        The largest number of rows of the table.
    """
    at_least(samples=samples, seed=seed, top=top)
    check_output(acm, "--acm", (".srdf", ".xml"), model.files(urdf))
    robot = model.read(urdf)
    from gjk3d.robot import allow_by_sampling

    with Bar(show=not output.quiet) as bar:
        bar("sampling")
        robot.allowed = allow_by_sampling(robot, samples, seed=seed)
    if acm is not None:
        robot.to_srdf(acm)
    if output.json:
        write_json(_document(robot, acm))
    else:
        _print_pairs(robot, top)
    if acm is not None and not output.quiet:
        note(acm, "wrote")


def _document(robot: Robot, target: Path | None) -> Document:
    from gjk3d.clash.report import versions

    proven = set(robot.allowed.proven)
    return {
        "schema_version": SCHEMA_VERSION,
        "command": "robot",
        "robot": {"name": robot.name, "path": str(robot.source)},
        "srdf": None if target is None else str(target),
        "counts": robot.allowed.counts(),
        "checked": len(robot.pairs),
        "allowed": [{**pair._asdict(), "proven": tuple(pair[:2]) in proven} for pair in robot.allowed],
        "evidence": robot.allowed.evidence,
        "versions": versions(),
    }


def _print_pairs(robot: Robot, top: int) -> None:
    allowed, proven = robot.allowed, set(robot.allowed.proven)
    counts = ", ".join(f"{count} {reason}" for reason, count in allowed.counts().items()) or "none"
    print_line(
        f"{safe(robot.name)}: {len(allowed)} pairs of links need no check ({counts}), {len(robot.pairs)} need a check"
    )
    print_line()
    table = new_table("pair", "reason")
    for pair in list(allowed)[:top]:
        reason = f"{pair.reason}, proven" if tuple(pair[:2]) in proven else safe(pair.reason)
        table.add(pair_words(pair[:2]), reason)
    print_table(table)
    print_omitted(len(allowed), top)
    print_line()
    print_line(allowed.evidence)

"""Plan the motion of a 7-axis arm among obstacles; the whole path is proven free.

The search tests samples of motions, which prove nothing about the motion between them. Therefore the path is proven at
the end, and detours replace the pieces where samples missed a collision.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

import gjk3d as gk

#: axis of each joint, limit in radians, length of its link in metres
JOINTS = [("z", 2.9, 0.36), ("y", 2.1, 0.21), ("z", 2.9, 0.21), ("y", 2.1, 0.20), ("z", 2.9, 0.20), ("y", 2.1, 0.12),
          ("z", 3.0, 0.10)]  # fmt: skip
RADII = [0.075, 0.07, 0.065, 0.06, 0.055, 0.05, 0.04]
START = np.radians([70.0, 75.0, 0.0, -60.0, 0.0, -60.0, 0.0])
GOAL = np.radians([-70.0, 75.0, 0.0, -60.0, 0.0, -60.0, 0.0])


def arm_text():
    """Return a URDF of seven capsules; each joint is at right angles to the joint before it."""
    parts = ['<robot name="7-axis arm"><link name="foot"><collision><origin xyz="0 0 0.05"/><geometry>',
             '<cylinder radius="0.12" length="0.1"/></geometry></collision></link>']  # fmt: skip
    below, height = "foot", 0.1
    for k, ((axis, limit, length), radius) in enumerate(zip(JOINTS, RADII, strict=True)):
        xyz = "0 0 1" if axis == "z" else "0 1 0"
        parts.append(
            f'<link name="link_{k}"><collision><origin xyz="0 0 {length / 2}"/><geometry>'
            f'<capsule radius="{radius}" length="{length}"/></geometry></collision></link>'
            f'<joint name="joint_{k}" type="revolute"><parent link="{below}"/><child link="link_{k}"/>'
            f'<origin xyz="0 0 {height}"/><axis xyz="{xyz}"/><limit lower="{-limit}" upper="{limit}"/></joint>'
        )
        below, height = f"link_{k}", length
    return "\n".join([*parts, "</robot>"])


def at(x, y, z):
    """Return the pose shifted by x, y, z."""
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def make_checker(margin=0.0):
    """Return the arm with a table, a beam above it and three posts."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "seven.urdf"
        file.write_text(arm_text())
        robot = gk.robot.Robot.from_urdf(file)
    # a link overlaps the next but one at the short link between them
    for k in range(len(JOINTS) - 1):
        robot.allowed.allow("foot" if k == 0 else f"link_{k - 1}", f"link_{k + 1}", "by design")
    around = {
        "table": (gk.Box((1.0, 1.5, 0.04)), at(0.25, 0.0, -0.02)),
        "post": (gk.Cylinder(0.05, 0.9), at(0.55, 0.0, 0.45)),
        "post to the left": (gk.Box((0.08, 0.08, 0.7)), at(0.35, 0.62, 0.35)),
        "post to the right": (gk.Box((0.08, 0.08, 0.7)), at(0.35, -0.62, 0.35)),
        "beam": (gk.Box((0.1, 1.3, 0.06)), at(0.42, 0.0, 0.95)),
    }
    return gk.robot.Checker(robot, around, touching=[("foot", "table"), ("link_0", "table")], margin=margin)


def main():
    """Plan, prove and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    checker = make_checker()
    straight = checker.motion_free(START, GOAL)
    print(f"straight from start to goal: {' hits '.join(straight.pair)} at {straight.hit:.2f} of the way")

    plan = checker.plan(START, GOAL, seconds=20.0, seed=arguments.seed)
    if not plan:
        sys.exit("no proven path in 20 s")
    path, proof = plan.path, checker.prove(plan.path).proof
    print(f"RRT-Connect: {len(path)} waypoints, proven with {plan.proof.repaired} detours")
    print(f"proven clearance of the whole path: at least {1e3 * proof.clearance:.1f} mm")
    steps = np.linspace(0.0, len(path) - 1.0, 2000)
    samples = np.column_stack([np.interp(steps, np.arange(len(path)), column) for column in path.T])
    nearest = checker.clearance(samples)
    k = int(np.argmin(nearest.distance))
    print(
        f"nearest of {len(samples)} samples: {' and '.join(nearest.pair[k])}, {1e3 * nearest.distance[k]:.1f} mm apart"
    )

    arguments.out.mkdir(parents=True, exist_ok=True)
    title = "A planned path of an arm around a beam"
    gk.viz.motion(checker, path, arguments.out / "plan_arm.png", certify=True, title=title)
    print(f"picture: {arguments.out / 'plan_arm.png'}", file=sys.stderr)


if __name__ == "__main__":
    main()

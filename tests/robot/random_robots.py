"""Small random robots with joints of every kind."""

from __future__ import annotations

import numpy as np

from gjk3d.robot import Robot

KINDS = ("revolute", "continuous", "prismatic", "planar", "floating", "fixed", "mimic")


def _geometry(rng, scale):
    a, b, c = rng.uniform(0.05, 0.3, 3) * scale
    return rng.choice(
        [f'<box size="{a} {b} {c}"/>', f'<sphere radius="{a}"/>', f'<cylinder radius="{a / 2}" length="{2 * b}"/>']
    )


def _origin(rng, size):
    return f'<origin xyz="{_text(rng.uniform(-size, size, 3))}" rpy="{_text(rng.uniform(-3, 3, 3))}"/>'


def _text(numbers):
    return " ".join(repr(float(number)) for number in numbers)


def random_robot(folder, seed, kinds=KINDS, links=6, scale=1.0, straight=False):
    """Return a random robot that attaches each link to one of the two links before it. Every link has a shape.

    ``scale`` multiplies all lengths. ``straight`` aligns each joint axis with an axis of its frame.
    """
    rng = np.random.default_rng(seed)
    text, followed = [], []
    for k in range(links):
        body = f"{_origin(rng, 0.2 * scale)}<geometry>{_geometry(rng, scale)}</geometry>"
        text.append(f'<link name="l{k}"><collision>{body}</collision></link>')
        if k == 0:
            continue
        kind, more = str(rng.choice(kinds)), ""
        if kind == "mimic" and not followed:
            kind = "continuous"
        if kind == "mimic":
            kind, joint = str(rng.choice(["continuous", "prismatic"])), str(rng.choice(followed))
            more = f'<mimic joint="{joint}" multiplier="{rng.uniform(-2, 2)}" offset="{rng.uniform(-0.5, 0.5)}"/>'
        elif kind in ("revolute", "continuous", "prismatic"):
            followed.append(f"j{k}")
        if kind in ("revolute", "prismatic"):
            more += '<limit lower="-0.7" upper="0.8" effort="1" velocity="1"/>'
        parent = f"l{max(0, k - 1 - int(rng.integers(0, 2)))}"
        axis = rng.choice((-1.0, 1.0)) * np.eye(3)[rng.integers(3)] if straight else rng.normal(size=3)
        text.append(
            f'<joint name="j{k}" type="{kind}"><parent link="{parent}"/><child link="l{k}"/>{_origin(rng, 0.5 * scale)}'
            f'<axis xyz="{_text(axis / np.linalg.norm(axis))}"/>{more}</joint>'
        )
    path = folder / f"r{seed}.urdf"
    path.write_text(f'<robot name="r{seed}">{"".join(text)}</robot>')
    return Robot.from_urdf(path)


def drawn(robot, count, seed, scale=1.0):
    """Return random configurations with lengths within 0.8 times ``scale`` and angles within 3 rad."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-3.0, 3.0, (count, robot.dof))
    for joint in robot.joints:
        if joint is not None and joint.name in robot.columns:
            columns = robot.columns[joint.name]
            lengths = {"prismatic": 1, "planar": 2, "floating": 3}.get(joint.type, 0)
            q[:, columns.start : columns.start + lengths] *= scale * 0.8 / 3.0
    return q

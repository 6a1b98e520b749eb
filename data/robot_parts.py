"""The links of the arm and the fixture of its cell, one function each: solids in millimetres, in the frame of the link.

Axes of joints run through the datum of each link, as the URDF in `make_robot.py` has it: z for the first joint, y for
the second, third and fifth, x for the fourth and sixth. Where a link has several bodies they are put side by side, not
merged, as parts from a catalogue are.
"""

from __future__ import annotations

import numpy as np
from parts import Solid, along_y, box, circle, hexagon, loft, prism, rectangle, rounded, turned

ROUND = 32  # corners of a circle
# millimetres: between the axes, and where things end
BASE, SHOULDER, UPPER, ELBOW, FOREARM, WRIST, FLANGE = 150.0, 130.0, 430.0, 130.0, 290.0, 80.0, 20.0
UPPER_Y = (72.0, 142.0)  # the upper arm runs beside the shoulder, the forearm in the middle again


def ring(radius: float, center: tuple[float, float] = (0.0, 0.0)) -> np.ndarray:
    """Circle with few corners."""
    return circle(radius, ROUND, center)


def across(radius: float, low: float, high: float, x: float = 0.0, z: float = 0.0) -> Solid:
    """Cylinder along y."""
    return along_y(prism(ring(radius), low, high)).translate((x, 0, z))


def upright(outline: np.ndarray, low: float, high: float, holes: list[np.ndarray] = ()) -> Solid:
    """Outline of (x, z), counter-clockwise as seen from -y, pulled from y = low to y = high."""
    flat = [np.asarray(each)[::-1] * (1, -1) for each in (outline, *holes)]
    return along_y(prism(flat[0], low, high, flat[1:]))


def forward(solid: Solid) -> Solid:
    """Turn the z axis onto x (and x onto y)."""
    return solid.transform([[0, 0, 1, 0], [1, 0, 0, 0], [0, 1, 0, 0]])


def tapered(bottom: float, top: float, length: float) -> np.ndarray:
    """Outline round two circles above each other, from (0, 0) to (0, length)."""
    lower, upper = ring(bottom), ring(top, (0.0, length))
    half = ROUND // 2
    return np.vstack([upper[: half + 1], lower[half:], lower[:1]])


def base() -> list[Solid]:
    """Foot plate and column; a connector box; four bolts."""
    column = turned(
        [(0, 12), (95, 12), (95, 24), (82, 40), (82, BASE - 12), (88, BASE - 8), (88, BASE), (0, BASE)], ROUND
    )
    foot = prism(rounded(120, 120, 30), 0, 18) + column
    plug = box((-150, -70), (-45, 45), (30, 100)) - box((-151, -140), (-35, 35), (40, 90))
    bolts = [prism(hexagon(24.0), 18, 32).translate((x, y, 0)) for x in (-95, 95) for y in (-95, 95)]
    return [foot, plug, *bolts]


def shoulder() -> list[Solid]:
    """Turret with the hub of the second axis, ribs between; the motor behind the hub."""
    turret = turned([(0, 2), (86, 2), (86, 40), (70, 62), (0, 62)], ROUND)
    hub = across(70, -75, 70, z=SHOULDER)
    neck = prism(rectangle(50, 45), 50, SHOULDER)
    ribs = [upright(np.array([(50, 40), (80, 40), (50, SHOULDER - 20)]), y - 5, y + 5) for y in (-30, 30)]
    motor = across(56, -150, -77, z=SHOULDER) + across(30, -165, -150, z=SHOULDER)
    return [turret + hub + neck + ribs[0] + ribs[1], motor]


def upper_arm() -> list[Solid]:
    """Beam with two round ends and two windows; caps on the outside."""
    low, high = UPPER_Y
    windows = [
        np.array([(-26, 95), (26, 95), (20, 210), (-20, 210)]),
        np.array([(-19, 235), (19, 235), (15, 345), (-15, 345)]),
    ]
    beam = upright(tapered(68, 56, UPPER), low, high, windows)
    return [beam, across(58, high, high + 18), across(46, high, high + 14, z=UPPER)]


def elbow() -> list[Solid]:
    """Hub of the third axis and the socket of the forearm; a motor that sticks out behind."""
    hub = across(56, -62, 70)
    socket = forward(turned([(0, 0), (52, 0), (52, ELBOW - 30), (58, ELBOW - 24), (58, ELBOW), (0, ELBOW)], ROUND))
    motor = forward(prism(ring(44), -160, -40)) + forward(prism(rectangle(30, 30), -175, -160))
    return [hub + socket, motor]


def forearm() -> list[Solid]:
    """Tube that ends in a fork round the fifth axis; a valve block on top."""
    tube = forward(loft([(ring(54), 2), (ring(54), 30), (ring(44), 60), (ring(44), 215)]))
    cheek = np.vstack(
        [
            ring(34, (FOREARM, 0.0))[: ROUND // 4 + 1],
            [(190, 34), (190, -34)],
            ring(34, (FOREARM, 0.0))[3 * ROUND // 4 :],
        ]
    )
    fork = upright(cheek, -48, -33) + upright(cheek, 33, 48) + box((190, 220), (-48, 48), (-34, 34))
    block = box((80, 160), (-25, 25), (40, 66)) + box((100, 115), (-15, 15), (66, 80))
    return [tube + fork, block]


def fixture() -> list[Solid]:
    """Clamp a V-block between two jaws on a plate; datum the middle of its underside."""
    plate = prism(rounded(110, 70, 15), 0, 14)
    vee = upright(np.array([(-40, 14), (40, 14), (40, 60), (28, 60), (0, 28), (-28, 60), (-40, 60)]), -45, 45)
    jaws = [box((s * 70 - 12, s * 70 + 12), (-50, 50), (10, 85)) for s in (-1, 1)]
    spindle = forward(prism(ring(9), 82, 150)).translate((0, 0, 60)) + forward(
        prism(hexagon(30.0), 150, 165)
    ).translate((0, 0, 60))
    return [plate + vee + jaws[0] + jaws[1], spindle]


MAKERS = {
    "base": base,
    "shoulder": shoulder,
    "upper_arm": upper_arm,
    "elbow": elbow,
    "forearm": forearm,
    "fixture": fixture,
}

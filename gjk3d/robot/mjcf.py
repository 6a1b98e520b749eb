"""MJCF files: read by MuJoCo's parser and converted to the description of a URDF.

Each body, also the world, becomes a link of the same name and frame. If a joint turns about a point that is not the
origin of its body, a further link is added at that point. Several joints of one body become a chain of such links. The
values of hinges and slides are the values in MuJoCo. A free joint has a translation and a rotation vector relative to
the pose of the body in the file.
"""

from __future__ import annotations

import tempfile
from math import inf
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
from scipy.spatial.transform import Rotation

from gjk3d.errors import ParseError
from gjk3d.files import process
from gjk3d.files.readers import HeaderError
from gjk3d.poses import GREATEST
from gjk3d.robot.files import TEXT
from gjk3d.robot.urdf import Description, Geometry, Joint, Link, Mimic
from gjk3d.typing import Array
from gjk3d.wording import count, with_article

WORLD = "world"
#: the MJCF element for each prefix of the fields of a model
_WORDS = {"body": "body", "jnt": "joint", "geom": "geom", "eq": "equality", "key": "keyframe"}


def read_mjcf(file: Path, root: Element, collision: str) -> Description:
    """Return the description of an MJCF. If ``file`` is `TEXT`, the MJCF is the text that was parsed to ``root``.

    ``collision`` is "collision" or "visual", as in `Robot.load`.
    """
    try:
        import mujoco
    except ImportError:
        raise ImportError(
            f'{file} is an MJCF, which MuJoCo reads, but MuJoCo is not installed. Run pip install "gjk3d[mjcf]"'
        ) from None
    standalone = not any(element.get("file") or element.tag == "include" for element in root.iter())
    try:
        if file == TEXT:
            with tempfile.TemporaryDirectory() as folder:
                source = Path(folder) / "text"
                source.write_text(ElementTree.tostring(root, encoding="unicode"), encoding="utf-8")
                binary = process.converted(source, "MJCF text", alone=standalone)
        else:
            binary = process.converted(file, "MJCF", alone=standalone)
    except HeaderError as reason:
        raise ParseError(f"{file}{' ' if str(reason).startswith('is ') else ': '}{reason}") from None
    model = mujoco.MjModel.from_binary_path("model.mjb", {"model.mjb": binary})
    return _Reader(mujoco, model, file).description(root.get("model", ""), collision == "visual")


def _pose(position: Any, quaternion: Any = (1.0, 0.0, 0.0, 0.0)) -> Array:
    """Return the (4, 4) transform of a position and a quaternion (w, x, y, z), as in MuJoCo."""
    matrix = np.eye(4)
    matrix[:3, :3] = Rotation.from_quat(quaternion, scalar_first=True).as_matrix()
    matrix[:3, 3] = position
    return matrix


class _Reader:
    """A compiled model of MuJoCo, and the names of its bodies and joints."""

    def __init__(self, mujoco: Any, model: Any, file: Path) -> None:
        self.mujoco, self.model, self.file = mujoco, model, file
        self.bodies = [model.body(k).name or (f"body {k}" if k else WORLD) for k in range(model.nbody)]
        self.joints = [model.joint(k).name or f"joint {k}" for k in range(model.njnt)]
        self.hinge, self.slide = int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)
        self.free = int(mujoco.mjtJoint.mjJNT_FREE)
        self.left_out: list[str] = []

    def description(self, name: str, visual: bool) -> Description:
        self._check_numbers()
        mimics = self._mimics()
        links, joints = [], []
        for k in range(len(self.bodies)):
            links.append(self._link(k, visual))
            if k:
                between, above = self._joints(k, mimics)
                links += [Link(item, ()) for item in between]
                joints += above
        # Joint values in q are in the order of MuJoCo's joints. Fixed joints do not have values and come first.
        order = {item: k for k, item in enumerate(self.joints)}
        joints.sort(key=lambda joint: order.get(joint.name, -1))
        # The world and all bodies welded to it. MuJoCo checks these against their child bodies, unlike other parents.
        worlds = frozenset(self.bodies[k] for k in np.flatnonzero(self.model.body_weldid == 0))
        return Description(
            self.file, name, tuple(links), tuple(joints), allowed=self._allowed(), states=self._states(),
            worlds=worlds, left_out=tuple(self.left_out),
        )  # fmt: skip

    def _check_numbers(self) -> None:
        """Raise `ParseError` if a number is NaN or too large.

        MuJoCo accepts such numbers, but a shape with a NaN would never collide.
        """
        model = self.model
        owners = {"body": self.bodies, "jnt": self.joints, "geom": range(model.ngeom), "eq": range(model.neq)}
        fields = (
            "body_pos", "body_quat", "jnt_pos", "jnt_axis", "jnt_range", "geom_pos", "geom_quat", "geom_size",
            "eq_data", "qpos0", "key_qpos",
        )  # fmt: skip
        for field in fields:
            rows = getattr(model, field)
            most = inf if field == "jnt_range" else GREATEST
            bad = np.argwhere(~(np.abs(rows) <= most))
            if not len(bad):
                continue
            kind, _, what = field.partition("_")
            at = int(bad[0][0])
            if kind == "qpos0":
                kind, what, at = "jnt", "ref", int(np.searchsorted(model.jnt_qposadr, at, side="right")) - 1
            name = owners[kind][at] if kind in owners else at
            raise ParseError(
                f"{self.file}, {_WORDS[kind]} {name!r}: {what} contains {rows[tuple(bad[0])]:g}, expected numbers of "
                f"at most {most:g} in absolute value"
            )

    # geometry ---------------------------------------------------------------------------------------------------------

    def _collides(self) -> Any:
        """Return for each geom whether it can collide with another geom, (geoms,) bool."""
        # visual geoms have two zero masks
        model = self.model
        collides = (model.geom_contype | model.geom_conaffinity) != 0
        collides[model.pair_geom1] = collides[model.pair_geom2] = True
        return collides

    def _link(self, body: int, visual: bool) -> Link:
        every = np.flatnonzero(self.model.geom_bodyid == body)
        chosen = every[self._collides()[every]]
        if visual and not len(chosen):
            chosen = every
        geometries = [geometry for k in chosen.tolist() if (geometry := self._geometry(k)) is not None]
        return Link(self.bodies[body], tuple(geometries), len(every) > 0 and not len(chosen))

    def _geometry(self, k: int) -> Geometry | None:
        model = self.model
        kind = self.mujoco.mjtGeom(int(model.geom_type[k])).name.removeprefix("mjGEOM_").lower()
        where = f"{self.file}, geom {model.geom(k).name or k!r} of body {self.bodies[model.geom_bodyid[k]]!r}"
        a, b, c = model.geom_size[k].tolist()
        sizes = {
            "box": (2.0 * a, 2.0 * b, 2.0 * c), "sphere": (a,), "cylinder": (a, 2.0 * b), "capsule": (a, 2.0 * b),
            "ellipsoid": (a, b, c),
        }  # fmt: skip
        origin = _pose(model.geom_pos[k], model.geom_quat[k])
        if kind in sizes:
            return Geometry(where, kind, sizes[kind], "", (), origin)
        if kind == "mesh":
            mesh = model.mesh(int(model.geom_dataid[k]))
            vertices = model.mesh_vert[mesh.vertadr[0] :][: mesh.vertnum[0]].astype(np.float64)
            faces = model.mesh_face[mesh.faceadr[0] :][: mesh.facenum[0]].astype(np.int64)
            return Geometry(where, kind, (), "", (1.0, 1.0, 1.0), origin, (vertices, faces))
        cure = f"Add it to the checker as {'gk.Halfspace' if kind == 'plane' else 'an object'}"
        self.left_out.append(f"{where} is {with_article(kind)}, which a link cannot have, so it is not checked. {cure}")
        return None

    # joints -----------------------------------------------------------------------------------------------------------

    def _joints(self, body: int, mimics: dict[int, Mimic]) -> tuple[list[str], list[Joint]]:
        """Return the names of the extra links between a body and its parent, and the joints of the body."""
        model, name = self.model, self.bodies[body]
        parent, pose = self.bodies[model.body_parentid[body]], _pose(model.body_pos[body], model.body_quat[body])
        between: list[str] = []
        joints: list[Joint] = []
        first = int(model.body_jntadr[body])
        for k in range(first, first + int(model.body_jntnum[body])):
            kind, joint, zero = int(model.jnt_type[k]), self.joints[k], float(model.qpos0[model.jnt_qposadr[k]])
            if kind not in (self.hinge, self.slide, self.free):
                raise ParseError(
                    f"{self.file}, joint {joint!r}: a ball joint is not supported. Replace it by three hinges"
                )
            axis = model.jnt_axis[k]
            anchor = model.jnt_pos[k] if kind == self.hinge else np.zeros(3)
            # the file gives the pose at the joint value qpos0, so the motion by qpos0 is undone
            if kind == self.hinge:
                pose = pose @ _pose(anchor) @ _turned(axis, -zero)
            elif kind == self.slide:
                pose = pose @ _pose(-zero * axis)
            last = k + 1 == first + int(model.body_jntnum[body]) and not anchor.any()
            child = name if last else f"{name}:{joint}"
            joints.append(self._joint(k, parent, child, pose, mimics.get(k)))
            if last:
                return between, joints
            between.append(child)
            parent, pose = child, _pose(-anchor)
        joints.append(Joint(f"{name}:fixed", "fixed", parent, name, pose, (1.0, 0.0, 0.0), -inf, inf, None))
        return between, joints

    def _joint(self, k: int, parent: str, child: str, pose: Array, mimic: Mimic | None) -> Joint:
        model, kind = self.model, int(self.model.jnt_type[k])
        lower, upper = model.jnt_range[k].tolist() if model.jnt_limited[k] and kind != self.free else (-inf, inf)
        if kind == self.hinge:
            word = "revolute" if model.jnt_limited[k] else "continuous"
        else:
            word = "prismatic" if kind == self.slide else "floating"
        axis = (1.0, 0.0, 0.0) if kind == self.free else tuple(model.jnt_axis[k].tolist())
        return Joint(self.joints[k], word, parent, child, pose, axis, lower, upper, mimic)

    def _mimics(self) -> dict[int, Mimic]:
        """Return a dict with the `Mimic` of each joint that follows another joint by a linear equality.

        The keys are the numbers of the joints that follow. Other equalities are not supported, and their count is added
        to the messages in ``left_out``.
        """
        model = self.model
        mimics: dict[int, Mimic] = {}
        lost = 0
        for k in range(model.neq):
            if not model.eq_active0[k]:
                continue
            data, follower, leader = model.eq_data[k], int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
            linear = int(model.eq_type[k]) == int(self.mujoco.mjtEq.mjEQ_JOINT) and not data[2:5].any()
            single = (self.hinge, self.slide)
            if not linear or leader < 0 or any(int(model.jnt_type[j]) not in single for j in (follower, leader)):
                lost += 1
                continue
            zero_a, zero_b = (float(model.qpos0[model.jnt_qposadr[j]]) for j in (follower, leader))
            offset = zero_a + float(data[0]) - float(data[1]) * zero_b
            mimics[follower] = Mimic(self.joints[leader], float(data[1]), offset)
        if lost:
            self.left_out.append(
                f"{self.file}: {count(lost, 'equality constraint')} ignored, such as a closed loop. The connected "
                "bodies move independently"
            )
        return mimics

    # pairs and poses --------------------------------------------------------------------------------------------------

    def _allowed(self) -> tuple[tuple[str, str, str], ...]:
        """Return the excluded pairs of bodies, and the pairs with incompatible masks, as (body, body, reason)."""
        model, collides = self.model, self._collides()
        pairs = {}
        owners = [np.flatnonzero((model.geom_bodyid == k) & collides) for k in range(model.nbody)]
        paired = {
            tuple(sorted(int(model.geom_bodyid[g]) for g in pair))
            for pair in zip(model.pair_geom1, model.pair_geom2, strict=True)
        }
        for a in range(model.nbody):
            for b in range(a + 1, model.nbody):
                i, j = owners[a][:, None], owners[b][None, :]
                compatible = (model.geom_contype[i] & model.geom_conaffinity[j]) | (
                    model.geom_contype[j] & model.geom_conaffinity[i]
                )
                if compatible.size and not compatible.any():
                    pairs[a, b] = "contype"
        # MuJoCo packs the two ids of an excluded pair into one number. An explicit <pair> overrides the exclusion.
        for signature in model.exclude_signature.tolist():
            a, b = sorted((signature >> 16, signature & 0xFFFF))
            pairs[a, b] = "exclude"
        return tuple((self.bodies[a], self.bodies[b], why) for (a, b), why in pairs.items() if (a, b) not in paired)

    def _states(self) -> dict[str, dict[str, tuple[float, ...]]]:
        model = self.model
        return {
            model.key(k).name or f"key {k}": {
                joint: self._numbers(j, model.key_qpos[k][model.jnt_qposadr[j] :])
                for j, joint in enumerate(self.joints)
            }
            for k in range(model.nkey)
        }

    def _numbers(self, joint: int, qpos: Array) -> tuple[float, ...]:
        if int(self.model.jnt_type[joint]) != self.free:
            return (float(qpos[0]),)
        zero = self.model.qpos0[self.model.jnt_qposadr[joint] :]
        moved = np.linalg.inv(_pose(zero[:3], zero[3:7])) @ _pose(qpos[:3], qpos[3:7])
        return (*moved[:3, 3].tolist(), *Rotation.from_matrix(moved[:3, :3]).as_rotvec().tolist())


def _turned(axis: Array, angle: float) -> Array:
    matrix = np.eye(4)
    matrix[:3, :3] = Rotation.from_rotvec(angle * axis).as_matrix()
    return matrix

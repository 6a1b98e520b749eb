"""The parts that are checked against one another: named meshes in one frame and one unit."""

from __future__ import annotations

from dataclasses import dataclass

from gjk3d.meshes import Mesh


@dataclass(frozen=True)
class AssemblyPart:
    """One part: its unique name, the file it came from, and its triangles in the frame of the whole.

    Attributes
    ----------
    name, file : str
        Node path in the assembly, and the file.
    mesh : Mesh or None
        None where it could not be loaded.
    reason : str
        Why it could not be loaded, else empty.
    """

    name: str
    file: str
    mesh: Mesh | None
    reason: str = ""


@dataclass(frozen=True)
class Assembly:
    """Named parts in one frame and one unit of length.

    Attributes
    ----------
    parts : tuple of AssemblyPart
        In the order of their names.
    unit : str or None
        "m", "mm", "in" and the like; None where nothing says.
    """

    parts: tuple[AssemblyPart, ...]
    unit: str | None = None

"""Triangle meshes: what a file holds, and how to get it; `queries` has the questions about their triangles."""

from gjk3d.meshes.loading import load
from gjk3d.meshes.mesh import Mesh, Part

__all__ = ["Mesh", "Part", "load"]

"""What is not convex: meshes, compounds, voxels, points with a radius, height fields; reading files, making them.

How two of them are asked about lies here too; the questions themselves are in `query`.
"""

from gjk3d.bodies.cloud import PointCloud
from gjk3d.bodies.compound import Compound
from gjk3d.bodies.conversions import from_implicit
from gjk3d.bodies.heights import HeightField
from gjk3d.bodies.loading import load
from gjk3d.bodies.mesh import Mesh, Part
from gjk3d.bodies.voxels import VoxelGrid

__all__ = ["Compound", "HeightField", "Mesh", "Part", "PointCloud", "VoxelGrid", "from_implicit", "load"]

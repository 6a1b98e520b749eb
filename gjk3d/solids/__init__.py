"""Solids that are unions of convex parts: compounds, voxels, points with a radius, height fields; level sets."""

from gjk3d.solids.cloud import PointCloud
from gjk3d.solids.compound import Compound
from gjk3d.solids.heights import HeightField
from gjk3d.solids.implicit import from_implicit
from gjk3d.solids.voxels import VoxelGrid

__all__ = ["Compound", "HeightField", "PointCloud", "VoxelGrid", "from_implicit"]

"""Solids that are unions of convex parts: compounds, voxels, points with a radius, height fields; level sets."""

from gjk3d.solids.compound import Compound

__all__ = ["Compound"]

"""Bounding volumes of convex shapes as tools of their own: balls, boxes along the axes, oriented boxes; stacks of them.

A volume holds its shape, roundings included: what is computed is rounded outward. What two volumes answer is meant to
reject: `overlaps` is False only where being apart is proven, and `distance` is never more than the true distance of
the volumes, so never more than that of what they hold.
"""

from gjk3d.bounding.fit import aabb, bounding_sphere, obb
from gjk3d.bounding.volumes import AABB, OBB, BoundingSphere

__all__ = ["AABB", "OBB", "BoundingSphere", "aabb", "bounding_sphere", "obb"]

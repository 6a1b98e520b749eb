"""Bodies that are not convex: meshes, compounds, voxels, point clouds, height fields, shells.

`base` is the protocol of all bodies. The other files are the kinds, and the algorithms for a pair of bodies. Convex
shapes are in `shapes`, model files in `files`, and the queries of users in `query`.
"""

from gjk3d.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

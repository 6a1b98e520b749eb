"""Candidate pairs of axis-aligned boxes: a tree that changes leaf by leaf, or is built at once, and its searches.

The boxes are computed in `gjk3d.convex.solve`. The trees inside meshes are in `gjk3d.bodies`.
"""

"""Boxes along the axes -> pairs that may meet: a tree that changes leaf by leaf, or is built at once, and its searches.

Knows no shapes: who makes the boxes is in `gjk3d.convex.solve`, and the trees inside meshes are in `gjk3d.bodies`.
"""

"""Two convex shapes in, numbers out: GJK, EPA and what else answers a pair; kernels only, one algorithm a file.

`cores` says what they take, `pairs` is the way in for distances, `solve` goes from GJK to EPA and has the tolerances
of both. How Python packs shapes and reads answers is in `gjk3d.convex`; pairs of other bodies are in `gjk3d.bodies`.
"""

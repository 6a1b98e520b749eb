"""Algorithms for two convex shapes: GJK, EPA, SAT, contact, rays, time of impact. Kernels only, one algorithm per file.

`cores` defines their input. `pairs` is the entry for distances. `solve` combines GJK and EPA, and holds the tolerances
of both. `gjk3d.convex` packs shapes and reads results. `gjk3d.bodies` handles other bodies.
"""

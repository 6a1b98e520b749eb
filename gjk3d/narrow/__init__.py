"""Algorithms for two convex shapes: GJK, EPA, SAT, contact, rays, time of impact. Kernels only, one algorithm per file.

`cores` defines their input, `workspace` their scratch memory. `solve` combines GJK and EPA, and has the entries for
distances. Each file holds its own tolerances. `gjk3d.convex` packs shapes and reads results. `gjk3d.bodies` handles
other bodies.
"""

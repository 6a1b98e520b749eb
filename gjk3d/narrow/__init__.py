"""Algorithms for two convex shapes: GJK, EPA, SAT, contact, rays, time of impact. Kernels only, one algorithm per file.

`cores` defines the input of the kernels, and `workspace` their scratch memory. `solve` combines GJK and EPA, and has
the entry points for distances. Each file defines its own tolerances. `gjk3d.convex` packs shapes and reads results.
`gjk3d.bodies` handles non-convex bodies.
"""

"""Algorithms for two convex shapes: GJK, EPA, SAT, contact, rays, time of impact. Kernels only, one algorithm per file.

`cores` defines their input, `workspace` their scratch memory. `pairs` is the entry for distances. `solve` combines GJK
and EPA, and `warm_start` proves EPA's last faces again for the next query. Each file holds its own tolerances.
`gjk3d.convex` packs shapes and reads results. `gjk3d.bodies` handles other bodies.
"""

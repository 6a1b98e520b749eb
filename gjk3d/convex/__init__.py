"""Convex shapes from Python to the kernels: checks, packing, and answers for one pair, many poses and many pairs.

The kernels are in `narrow`; what is not convex stands on this in `bodies`; the public questions are in `query`.
"""

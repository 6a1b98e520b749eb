"""Compiled code: how it is made, cached and kept fresh, and how kernels call a user's function.

Algorithms are not here; they stand beside what they are about, in `geometry`, `shapes`, `narrow`, `broad` and `bodies`.
"""

"""Queries in rational arithmetic: the last stage of the solver, and the check of results.

This is pure Python on integers and fractions, and it shares no code with the kernels. Numbers of shapes and poses are
floats, so they are integers over a power of two. Every sum and product below is exact, and each rounding is documented
with its direction. The fast solvers are in `narrow` and `convex`. `bodies.rational` converts meshes and other bodies to
integers.
"""

from __future__ import annotations

from gjk3d.exact.arithmetic import Root, sqrt_bounds
from gjk3d.exact.certificates import Proof, surface_proof, weights_proof
from gjk3d.exact.gjk_epa import ExactDistance, exact_pair, exact_signed_distance
from gjk3d.exact.judge import Verdict, verify

__all__ = [
    "ExactDistance",
    "Proof",
    "Root",
    "Verdict",
    "exact_pair",
    "exact_signed_distance",
    "sqrt_bounds",
    "surface_proof",
    "verify",
    "weights_proof",
]

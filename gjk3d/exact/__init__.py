"""Queries in rational arithmetic: the last stage of the solver, and the check of results.

The code is pure Python on integers and fractions, and is independent of the kernels. The numbers of shapes and poses
are floats, so each is an integer divided by a power of two. Sums and products of them are exact, and the direction of
each rounding is documented. `gjk3d.bodies.rational` converts meshes and other bodies to integers. The fast solvers are
in `gjk3d.narrow` and `gjk3d.convex`.
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

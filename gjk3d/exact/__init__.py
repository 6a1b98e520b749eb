"""The same questions in rational arithmetic: the solver's last resort, and the judge of its answers.

Pure Python on integers and fractions, sharing no code with the kernels. Numbers of shapes and poses are floats, so
they are integers over a power of two; every sum and product below is exact, and what is rounded says to which side.
What is fast is in `narrow` and `convex`. What meshes and other bodies are in these numbers says `bodies.rational`.
"""

from __future__ import annotations

from gjk3d.exact.arithmetic import Root, sqrt_bounds
from gjk3d.exact.certificates import Proof, surface_proof, weights_proof
from gjk3d.exact.judge import Verdict, verify
from gjk3d.exact.signed import ExactDistance, exact_pair, exact_signed_distance

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

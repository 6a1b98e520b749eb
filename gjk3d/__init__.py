"""gjk3d: collision, distance, penetration depth, contact and time of impact of 3D shapes, with proven bounds.

Convex shapes are in `shapes`, all others in `bodies`. Queries about two shapes are in `query`, many objects in `scene`,
assemblies of parts in `clash`, robots in `robot`, pictures in `viz`. Kernels are in `narrow`, `broad` and `bodies`,
proofs in `exact`. A name of this package is loaded at its first use, so importing the package is fast.
"""

from gjk3d.lazy import attach

__version__ = "0.2.0"  # pyproject.toml reads the version from this line

__getattr__, _, __all__ = attach(__name__, __file__)


def __dir__() -> list[str]:
    return sorted(["__version__", *__all__])

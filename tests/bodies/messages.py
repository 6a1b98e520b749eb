"""Expected sentences of the tests of bodies, each of which is defined only here."""

from __future__ import annotations

#: Reports of `Mesh.repairs`, by the flaw of the mesh.
REPAIRS = {
    "one doubled": "1 triangle occurs more than once and is counted once",
    "two doubled": "2 triangles occur more than once and are counted once",
    "one loose": "1 triangle is a piece with open edges, so it does not bound the solid",
    "twelve doubled": "12 triangles occur more than once and are counted once",
    "one corner": "1 corner differs from another corner by rounding and is merged with it",
    "one turned": "1 triangle was wound against its neighbours and is flipped",
}

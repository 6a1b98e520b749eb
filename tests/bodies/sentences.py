"""Whole sentences that the tests of bodies compare: each is stated here only."""

from __future__ import annotations

#: What `Mesh.repairs` reports for a mesh with this flaw.
REPAIRS = {
    "one doubled": "1 triangle is there more than once and counts once",
    "two doubled": "2 triangles are there more than once and count once",
    "one loose": "1 triangle is a piece with open edges: it can be touched and bounds nothing",
    "twelve doubled": "12 triangles are there more than once and count once",
    "one corner": "1 corner differs from another by rounding and counts as the same",
    "one turned": "1 triangle was wound against its neighbours and is turned",
}

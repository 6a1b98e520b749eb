"""Detection of parts of an assembly that clash, touch or come too close, with depths and positions.

`detection` computes the findings: assemblies, close pairs, tolerances, decisions by hulls and triangles, rules, and the
run. `motion` adds moving parts. `report` has the report, its comparison with an earlier one, and the format of its
numbers. `formats` writes and reads files, `page` and `templates` make the HTML page, and `serving` serves the page.
`triage` has the decisions of people about findings, and `documents` reads JSON by the types of fields. The distance and
the depth of two meshes are in `bodies`, pictures in `viz`, and the command ``gjk3d clash`` is in `cli`. A name of this
package is loaded at its first use.
"""

from gjk3d.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

"""File formats of a report: tables, text, GLB and BCF.

`registry` has the list of formats and their file endings, and selects the writer. `text`, `glb` and `bcf` are the
writers. `Report.to_json` writes JSON, and `page` writes the HTML page. A name is loaded at its first use.
"""

from gjk3d.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

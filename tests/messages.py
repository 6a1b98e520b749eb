"""Wordings that tests of the whole package compare. Each is defined only in this file."""

from __future__ import annotations

#: A number with bounds, as `gjk3d.wording` writes it.
AT_LEAST = "≥ {}"
AT_MOST = "≤ {}"
BETWEEN = "{} to {}"
UNBOUNDED = "not bounded"
UP_TO_ROUNDING = "{} (up to rounding)"

"""The report of a check, its comparison with earlier reports, and its file formats."""

from gjk3d.clash.report.report import Input, PartRow, PartRows, Report, versions

__all__ = ["Input", "PartRow", "PartRows", "Report", "versions"]

"""The clash report as one HTML page that needs nothing but a browser."""

from gjk3d.clash.page.page import write_page

__all__ = ["write_page"]

"""The budget of lines and files: no subpackage exceeds the limits in the table.

A change that needs more raises the table in the same commit, and its message names what it removed. Comment lines do
not count.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import gjk3d

PACKAGE = Path(gjk3d.__file__).parent
#: Maximum lines and files of each subpackage. "gjk3d" stands for the modules at the top level.
BUDGET = {
    "gjk3d": (2788, 13),
    "_kernels": (4178, 14),
    "bodies": (18030, 35),
    "clash": (9629, 29),
    "cli": (4008, 17),
    "compat": (1150, 3),
    "convex": (1039, 5),
    "engine": (975, 4),
    "exact": (3230, 8),
    "files": (2398, 9),
    "geometry": (2902, 8),
    "narrow": (6017, 14),
    "query": (5554, 14),
    "replay": (1052, 3),
    "robot": (15822, 35),
    "scene": (3206, 7),
    "shapes": (3486, 9),
    "viz": (7351, 18),
}


def size(folder: Path) -> tuple[int, int]:
    """Return the number of lines and of Python files of a subpackage."""
    files = [*(folder.glob("*.py") if folder == PACKAGE else folder.rglob("*.py"))]
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return sum(not line.lstrip().startswith("#") for line in lines), len(files)


def parts() -> list[str]:
    """Return the names of the package and its subpackages."""
    return ["gjk3d", *sorted(init.parent.name for init in PACKAGE.glob("*/__init__.py"))]


@pytest.mark.parametrize("name", parts())
def test_subpackage_stays_within_budget(name):
    lines, files = size(PACKAGE if name == "gjk3d" else PACKAGE / name)
    assert lines <= BUDGET[name][0]
    assert files <= BUDGET[name][1]
    # a limit far above the real size would have no effect
    assert lines >= 0.98 * BUDGET[name][0]


def test_table_lists_every_subpackage():
    assert sorted(BUDGET) == sorted(parts())

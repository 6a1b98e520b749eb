"""The budget: no part of the package has more lines or files than the table says.

A change that needs more raises the table in the same commit, and its message names what it removed. Lines of only a
comment do not count.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import gjk3d

PACKAGE = Path(gjk3d.__file__).parent
#: most lines and files of each subpackage; those at the top are the package's own
BUDGET = {
    "gjk3d": (2760, 13),
    "_kernels": (4139, 14),
    "bodies": (17819, 35),
    "clash": (9503, 29),
    "cli": (3996, 17),
    "compat": (1129, 3),
    "convex": (1017, 5),
    "engine": (968, 4),
    "exact": (3202, 8),
    "files": (2386, 9),
    "geometry": (2880, 8),
    "narrow": (5928, 14),
    "query": (5518, 14),
    "replay": (1052, 3),
    "robot": (15630, 35),
    "scene": (3152, 7),
    "shapes": (3462, 9),
    "viz": (7299, 18),
}


def size(folder: Path) -> tuple[int, int]:
    """Return how many lines and files of Python a subpackage has."""
    files = [*(folder.glob("*.py") if folder == PACKAGE else folder.rglob("*.py"))]
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return sum(not line.lstrip().startswith("#") for line in lines), len(files)


def parts() -> list[str]:
    """Return the names of the package and its subpackages."""
    return ["gjk3d", *sorted(each.parent.name for each in PACKAGE.glob("*/__init__.py"))]


@pytest.mark.parametrize("name", parts())
def test_a_subpackage_keeps_to_its_budget(name):
    lines, files = size(PACKAGE if name == "gjk3d" else PACKAGE / name)
    assert lines <= BUDGET[name][0]
    assert files <= BUDGET[name][1]
    # a table that is far above what is there protects nothing
    assert lines >= 0.98 * BUDGET[name][0]


def test_the_table_names_what_there_is():
    assert sorted(BUDGET) == sorted(parts())

"""The API reference that pdoc writes contains every public name, and its links are valid."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import shlex
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

import gjk3d

ROOT = Path(__file__).parents[2]
MODULES = ["gjk3d", *(f"gjk3d.{name}" for name in ("clash", "compat", "errors", "replay", "robot", "viz"))]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """Run the command of the README with a temporary output folder, and return the folder."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    command = re.search(r"^GJK3D_BUILTINS=0 python (-m pdoc(?:.*\\\n)*.*)$", readme, re.MULTILINE)
    words = shlex.split(command[1].replace("\\\n", " "))
    assert words.count("site") == 1
    folder = tmp_path_factory.mktemp("reference")
    words[words.index("site")] = str(folder)
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, env={**os.environ, "GJK3D_BUILTINS": "0"}, capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site) -> dict[Path, str]:
    """Return the HTML text of each page, without its scripts."""
    files = sorted(site.rglob("*.html"))
    return {file: re.sub(r"<script.*?</script>", "", file.read_text("utf-8"), flags=re.DOTALL) for file in files}


def anchors(page: str) -> set[str]:
    return set(re.findall(r'\bid="([^"]+)"', page))


def public_names(module) -> set[str]:
    """Return the public names of a module and of the members of its classes, including those inherited within gjk3d."""
    names = getattr(module, "__all__", None) or [name for name in vars(module) if isinstance(vars(module)[name], type)]
    public = set()
    for name in names:
        member = getattr(module, name)
        if inspect.ismodule(member):
            continue  # a module has a separate page
        public.add(name)
        bases = [base for base in getattr(member, "__mro__", ()) if base.__module__.startswith("gjk3d")]
        public |= {f"{name}.{key}" for base in bases for key, value in vars(base).items() if documented(key, value)}
    return public


def documented(key: str, value: object) -> bool:
    """Return whether a member is a public function or property."""
    return not key.startswith("_") and (inspect.isfunction(value) or isinstance(value, property))


@pytest.mark.parametrize("name", MODULES)
def test_page_has_every_public_name(name, site, pages):
    page = pages[site / f"{name.replace('.', '/')}.html"]
    wanted = public_names(importlib.import_module(name))
    assert len(wanted) >= 2
    assert wanted - anchors(page) == set()


def test_every_module_has_a_page():
    assert {f"gjk3d.{name}" for name in gjk3d.__all__ if inspect.ismodule(getattr(gjk3d, name))} == set(MODULES[1:])


def test_every_link_has_a_target(pages):
    targets = {file: anchors(page) for file, page in pages.items()}
    broken, followed = [], 0
    for file, page in pages.items():
        for link in map(unescape, re.findall(r'\bhref="([^"]+)"', page)):
            if re.match(r"[a-z]+:", link):
                continue  # external link
            path, _, anchor = link.partition("#")
            target = (file.parent / path).resolve() if path else file
            followed += 1
            if target not in targets or (anchor and anchor not in targets[target]):
                broken.append(f"{file.name}: {link}")
    assert broken == []
    assert followed > 500

"""Code blocks of the documents and docstring examples run, and links and names in the documents exist."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import runpy
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

import gjk3d

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
#: documents for users; the README of the benchmarks is generated
GUIDES = sorted((ROOT / "examples" / "guides").glob("*.md"))
DOCUMENTS = [ROOT / "README.md", ROOT / "examples" / "README.md", ROOT / "data" / "README.md", *GUIDES]
#: files whose prose and code may name objects of the package
TEXTS = [
    ROOT / "README.md",
    *(file for folder in ("examples", "data", "tests") for file in sorted((ROOT / folder).rglob("*.md"))),
    *(file for folder in ("examples", "gjk3d") for file in sorted((ROOT / folder).rglob("*.py"))),
]
DOTTED = re.compile(r"(?<![\w./@-])(?:gk|gjk3d)(?:\.[A-Za-z_]\w*)+")
NO_NAMES = {"gjk3d.png"}  # a file
# OMPL has no wheels for Windows
LEFT_OUT = "gk.robot.ompl" if sys.platform == "win32" else "nothing"
DRAWING = ("gjk3d.viz", "gjk3d.cli")  #: packages whose examples may draw
MODULES = [m.name for m in pkgutil.walk_packages(gjk3d.__path__, "gjk3d.") if m.name != "gjk3d.__main__"]


def ident(file: Path) -> str:
    """Return the path of a file relative to the repository."""
    return file.relative_to(ROOT).as_posix()


def blocks(text: str, kind: str) -> list[str]:
    """Return the contents of all code fences of a kind."""
    return re.findall(rf"^```{kind}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def only_python(text: str) -> str:
    """Return the lines of Python blocks at their line numbers, with all other lines empty."""
    inside, lines = False, []
    for line in text.splitlines():
        inside = line == "```python" or (inside and not line.startswith("```"))
        lines.append("" if not inside or line == "```python" else line)
    return "\n".join(lines) + "\n"


@pytest.mark.full
@pytest.mark.parametrize("file", DOCUMENTS, ids=ident)
def test_python_blocks_of_documents_run(file, monkeypatch):
    monkeypatch.chdir(ROOT)
    text = file.read_text(encoding="utf-8")
    assert [block for block in blocks(text, "python") if not block.startswith(">>> ")] == []  # would not be run
    test = doctest.DocTestParser().get_doctest(only_python(text), {}, ident(file), str(file), 0)
    assert len(test.examples) == len(re.findall(r"^>>> (?!#)", only_python(text), re.MULTILINE))  # no comments
    assert doctest.DocTestRunner().run(test).failed == 0


def test_only_listed_documents_lack_python_blocks():
    without = {ident(file) for file in DOCUMENTS if not blocks(file.read_text(encoding="utf-8"), "python")}
    assert without == {
        "examples/README.md",
        *(f"examples/guides/{name}.md" for name in ("README", "command-line", "speed")),
    }


def test_documents_have_short_lines():
    """Rows of tables may be longer, except in the README."""
    assert len(README.splitlines()) <= 250
    long = []
    for file in DOCUMENTS:
        lines = enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        exempt = () if file == ROOT / "README.md" else ("|",)
        long += [f"{ident(file)}:{k}" for k, line in lines if len(line) > 120 and not line.startswith(exempt)]
    assert long == []


def test_guides_are_short():
    """A guide has at most 300 lines. The lesson contains whole algorithms and may have 600."""
    most = {"from-2d-tutorials-to-3d": 600}
    lines = {file.stem: len(file.read_text(encoding="utf-8").splitlines()) for file in GUIDES}
    assert [name for name, count in lines.items() if count > most.get(name, 300)] == []


def test_lesson_notebook_equals_its_guide():
    """To update the notebook, run ``python examples/notebooks/make_notebook.py``."""
    notebooks = ROOT / "examples" / "notebooks"
    guide = ROOT / "examples" / "guides" / "from-2d-tutorials-to-3d.md"
    made = runpy.run_path(str(notebooks / "make_notebook.py"))["notebook"](guide.read_text(encoding="utf-8"))
    assert made == (notebooks / f"{guide.stem}.ipynb").read_text(encoding="utf-8")


def test_console_blocks_print_the_shown_output(monkeypatch, capsys):
    """Each ``$`` line of a console block is run, and its stdout equals the lines that follow.

    Numbers may differ by the tolerance of 1e-6 of the printed proofs, or in their last of four digits.
    """
    from gjk3d.cli.app import main

    monkeypatch.chdir(ROOT)
    shown = [each for file in DOCUMENTS for each in blocks(file.read_text(encoding="utf-8"), "console")]
    shown = [each.replace("\\\n", " ") for each in shown]
    commands = [each.partition("\n") for block in shown for each in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    assert len(commands) >= 3
    for command, _, printed in commands:
        program, *words = shlex.split(command)
        assert program == "gjk3d"
        capsys.readouterr()
        assert main(words) in (0, 1), command
        output = capsys.readouterr().out
        number = r"-?\b\d+\.\d+\b"
        lines, wanted = ([line.rstrip() for line in text.splitlines()] for text in (output, printed))
        assert [re.sub(number, "#", line) for line in lines] == [re.sub(number, "#", line) for line in wanted]
        for line, expected in zip(lines, wanted, strict=True):
            numbers, others = ([float(each) for each in re.findall(number, text)] for text in (line, expected))
            rough = {"rel": 1e-3, "abs": 0.0} if line.startswith("q = ") else {"rel": 0.0, "abs": 3e-6}
            assert numbers == pytest.approx(others, **rough), line


def test_first_readme_command_prints_its_block(monkeypatch, capsys):
    from gjk3d.cli.app import main

    monkeypatch.chdir(ROOT)
    for name, value in {"FORCE_COLOR": "1", "NO_COLOR": "1", "COLUMNS": "120"}.items():  # a terminal
        monkeypatch.setenv(name, value)
    command = re.search(r"gjk3d (clash .*) --html clash.html", README)[1]
    printed = blocks(README, "text")[0]
    assert main(command.split()) == 1
    lines, wanted = ([line.rstrip() for line in text.splitlines()] for text in (capsys.readouterr().out, printed))
    assert lines == wanted


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.full) if n.startswith(DRAWING) else n for n in MODULES]
)
def test_docstring_examples(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_every_public_name_has_an_example():
    without = []
    for name in gjk3d.__all__:
        value = getattr(gjk3d, name)
        if callable(value) and name not in (
            "Distance",
            "Status",
            "Axis",
            "AxisKind",
            "Certificate",
            "Contact",
            "Gradient",
            "Impact",
            "RayHit",
            "Clearance",
            "SceneHit",
            "ScenePairs",
            "Verdict",
            "Shape",
            "Composed",
            "warmup",
        ):
            text = value.__doc__ or ""
            without += [] if ">>>" in text else [name]
    assert without == []


def anchors(text: str) -> set[str]:
    """Return the anchors of the headings of a Markdown page: lower case, hyphens for spaces, no punctuation."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def broken_links(file: Path) -> list[str]:
    """Return the links of a document whose file or heading does not exist."""
    text = re.sub(r"^```.*?^```", "", file.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    broken = []
    for target in re.findall(r"\]\(([^)]+)\)", text):
        path, _, anchor = target.partition("#")
        destination = (file.parent / path).resolve() if path else file
        if not destination.exists() or (anchor and anchor not in anchors(destination.read_text(encoding="utf-8"))):
            broken.append(target)
    return broken


@pytest.mark.parametrize("file", DOCUMENTS, ids=ident)
def test_links_and_pictures_exist(file):
    assert broken_links(file) == []


def test_broken_links_are_reported(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# On `gk.x`, and on\n[a](#on-gkx-and-on) [b](#off) [c](page.md#off) [d](none.md) [e](page.md)\n")
    assert broken_links(page) == ["#off", "page.md#off", "none.md"]


def test_index_and_readme_list_every_guide():
    index = (ROOT / "examples" / "guides" / "README.md").read_text(encoding="utf-8")
    names = [file.name for file in GUIDES if file.name != "README.md"]
    assert len(names) >= 12
    assert [name for name in names if f"({name})" not in index or f"(examples/guides/{name})" not in README] == []


def test_files_named_in_documents_exist():
    path = re.compile(r"(?<![\w/])(?:data|gjk3d|tests)/\w+(?:[/.]\w+)*\.\w+")
    named = {name for file in DOCUMENTS for name in path.findall(file.read_text("utf-8"))}
    assert {"data/gearbox.glb", "data/arm/arm.urdf", "gjk3d/narrow/gjk.py"} <= named
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def names_in(text: str) -> set[str]:
    """Return the dotted names that begin with gk or gjk3d."""
    return {name for name in DOTTED.findall(text) if name not in NO_NAMES and not name.startswith(LEFT_OUT)}


def attribute(name: str):
    """Return the object of a dotted name. A name that begins with gjk3d may be a module to import."""
    obj, path = gjk3d, "gjk3d"
    first, *rest = name.split(".")
    for part in rest:
        path += f".{part}"
        if first == "gjk3d" and hasattr(obj, "__path__") and find_spec(path) is not None:
            importlib.import_module(path)
        declared = getattr(obj, "__annotations__", {})  # attributes of instances only
        obj = declared[part] if part in declared and not hasattr(obj, part) else getattr(obj, part)
    return obj


def dangling(text: str) -> list[str]:
    """Return the names that do not exist."""
    missing = []
    for name in sorted(names_in(text)):
        try:
            attribute(name)
        except (AttributeError, ModuleNotFoundError):
            missing.append(name)
    return missing


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: str(file.relative_to(ROOT)))
def test_names_in_documents_and_code_exist(file):
    assert dangling(file.read_text(encoding="utf-8")) == []


def test_missing_names_are_reported():
    prose = "Ask `gk.collide`, gk.robot.Checker.fly, gk.nothing; see gjk3d.narrow.gjk, gjk3d.narrow.nowhere, gk.viz."
    assert dangling(prose) == ["gjk3d.narrow.nowhere", "gk.nothing", "gk.robot.Checker.fly"]


@pytest.mark.full
def test_named_modules_need_no_extra_import():
    """Each module is checked in a new interpreter, because another name may import it as a side effect."""
    names = {name for file in TEXTS for name in names_in(file.read_text(encoding="utf-8")) if name.startswith("gk.")}
    heads = {".".join(name.split(".")[:k]) for name in names for k in range(2, name.count(".") + 2)}
    modules = sorted(head for head in heads if isinstance(attribute(head), ModuleType))
    assert {"gk.viz", "gk.robot", "gk.clash"} < set(modules)
    for name in modules:
        command = [sys.executable, "-c", f"import gjk3d as gk; {name}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr

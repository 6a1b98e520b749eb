"""Convert the lesson "From 2D tutorials to 3D" to a notebook: its text, and its Python blocks as cells.

The guide is the only source. Run this file after every change of it.
"""

import ast
import doctest
import json
import re
from pathlib import Path

FOLDER = Path(__file__).parent
GUIDE = FOLDER.parent / "guides" / "from-2d-tutorials-to-3d.md"
#: a link from a guide to another guide, which is in another folder than the notebook
NEIGHBOR = re.compile(r"\]\((?=[\w-]+\.md)")
HOW = "Run the cells from top to bottom. The last value of a cell is drawn, and *turn in 3D* rotates the picture."


def shows(source):
    """Return whether an example is a value that a notebook shows only at the end of a cell."""
    tree = ast.parse(source).body[-1]
    return isinstance(tree, ast.Expr) and not source.startswith("print(")


def cells_of_block(block):
    """Yield the code of a block without prompts and output, in cells that end at each shown value."""
    code, function = "", False
    for example in doctest.DocTestParser().get_examples(block):
        before, function = function, example.source.startswith("def ")
        code += "\n\n" if code and (before or function) else ""
        code += example.source
        if example.want and shows(example.source):
            yield code
            code = ""
    if code:
        yield code


def cell(number, kind, text):
    """Return a cell of a notebook."""
    content = {"id": f"lesson-{number}", "metadata": {}, "source": text.strip("\n").splitlines(keepends=True)}
    if kind == "markdown":
        return {"cell_type": kind, **content}
    return {"cell_type": kind, "execution_count": None, **content, "outputs": []}


def notebook(guide):
    """Return the notebook of a guide as text."""
    cells = []
    for part in re.split(r"^(```python\n.*?^```\n)", guide, flags=re.DOTALL | re.MULTILINE):
        if part.startswith("```python"):
            cells += [("code", code) for code in cells_of_block(part.removesuffix("```\n"))]
        elif part.strip():
            cells.append(("markdown", NEIGHBOR.sub("](../guides/", part)))
    title, text = cells[0][1].split("\n", 1)
    cells[0] = ("markdown", f"{title}\n\n{HOW}\n{text}")
    language = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    content = {
        "cells": [cell(number, *each) for number, each in enumerate(cells)],
        "metadata": {**language, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    target = FOLDER / f"{GUIDE.stem}.ipynb"
    target.write_text(notebook(GUIDE.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
    print(f"notebook: {target}")

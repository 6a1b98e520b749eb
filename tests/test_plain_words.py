"""All text for readers is plain English: a count of patterns that make a sentence hard to read.

The texts are documents, docstrings, comments, and every string of at least four words in code and templates, because
these are raised, printed, returned or drawn.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

import gjk3d
from tests.test_documents import DOCUMENTS, ROOT, ident

PACKAGE = Path(gjk3d.__file__).parent
LIMIT = 3.0  #: hits in 100 sentences; a group of fewer than 34 sentences may have one hit
PATTERNS = {
    "a clause in place of a noun": (
        r"\b(?:of|with|in|by|for|from|to|as|on|among|than|like) (?:what|whom?|how|where|whose)\b(?! to\b)"
    ),
    "an object or clause before the subject": r"^(?:Of|What|Where|Wherever|Who|Whoever|Amid|Beside)\b(?! to\b).*[^?]$",
    "a universal verb": r"\b(?:tells?|told|says?|said|ask(?:s|ed|ing)?|answer(?:s|ed)? (?:for|about|of)|known of)\b",
    "negation by a noun": (
        r"(?<!here )\b(?:is|are|was|were|knows?|takes?|finds?) (?:none|nothing|nobody|nowhere|no(?! \w+er\b))\b"
    ),
    "facts chained by semicolons and colons": r";[^;]*;|;.*:|:.*;",
    "a thing that stands, hangs or knows": (
        r"\b(?:stands?|hangs?|speaks?|knows|goes) (?:for|with|on|in|still|together|of)\b"
    ),
    "a pronoun as a whole clause": r"\b(?:and|nor) so (?:do|does|is|are|has|have|can|will)\b|\bsuch (?:is|are)\b",
    "a metaphor": r"\b(?:doors? (?:to|into)|desks?|bench(?:es)?|shelf|arenas?|summits?|kiss(?:es)?|ways? out)\b",
    "an old word": r"\b(?:amid|afresh|anew|wherever|whoever|whatever|in vain|beside|yet to be|as far as|at hand)\b",
}
#: a part of each exempt sentence, and the reason
EXCEPTIONS = {
    "a shelf, a pillar": "the cell of the example robot has a shelf",
    "boards of the shelf": "the cell of the example robot has a shelf",
    "between shelf, bin and pillar": "the cell of the example robot has a shelf",
}
TEMPLATE_TEXT = re.compile(
    r"/\*(?P<block>.*?)\*/|(?<!:)//(?P<comment>[^\n]*)|<!--(?P<html>.*?)-->|\"(?P<double>[^\"\n]*)\""
    r"|'(?P<single>[^'\n]*)'|`(?P<back>[^`]*)`|>(?P<tag>[^<>{}=;]*)<",
    re.DOTALL,
)


#: a style sheet, a shader, an address or a tag
CODE = re.compile(r"[{}]|;\w|</|/>|: 'none'|-src |^#include |\w\(\);")


def sentences(text: str) -> list[str]:
    """Split prose into sentences of at least four words, without code, rules of tables and section headings."""
    text = re.sub(r"^```.*?^```|`[^`]*`", "x", text, flags=re.DOTALL | re.MULTILINE)
    lines = []
    for line in text.splitlines():
        if re.match(r"\s*(?:>>>|\.\.\. |[-=|: ]*$)", line) or re.match(r"\s*[\w*, ]+ : ", line):
            lines.append("\n\n")  # an example, a rule, or the name and type of a parameter
        else:
            lines.append(line)
    text = "\n".join(line for line in lines if not CODE.search(line))
    parts = re.split(r"(?<=[.!?])\s+|\s\|\s|\n\s*\n", text)
    return [" ".join(part.split()) for part in parts if len(re.findall(r"[a-zA-Z]{2,}", part)) > 3]


def text_of(node: ast.expr) -> str:
    """Return the text of a string expression, with x for each inserted value."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def texts_of_code(source: str) -> Iterator[str]:
    """Yield each string in code, then each block of comment lines."""
    tree = ast.parse(source)
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    yield from (text_of(node) for node in ast.walk(tree) if isinstance(node, ast.expr) and id(node) not in parts)
    run: list[str] = []
    last = -1
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row = token.start[0] if token.line.lstrip().startswith("#") else -1  # a trailing comment is separate
            if row == -1 or row != last + 1:
                yield " ".join(run)
                run = []
            run.append(token.string.lstrip("#: "))
            last = row
    yield " ".join(run)


def messages(source: str) -> Iterator[str]:
    """Yield each string in a statement that raises an error."""
    raised = [node.exc for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Raise) and node.exc]
    yield from (text_of(node) for error in raised for node in ast.walk(error) if isinstance(node, ast.expr))


def texts(file: Path) -> Iterator[str]:
    """Yield the texts of a file that a person reads."""
    source = file.read_text(encoding="utf-8")
    if file.suffix == ".py":
        yield from texts_of_code(source)
    elif file.suffix == ".md":
        yield source
    else:
        yield from (
            re.sub(r"\$\{.*?\}|<[^>]*>", "x", match[match.lastgroup or 0]) for match in TEMPLATE_TEXT.finditer(source)
        )


def hits(sentence: str) -> list[str]:
    """Return the names of the patterns that a sentence contains."""
    if any(part in sentence for part in EXCEPTIONS):
        return []
    return [name for name, pattern in PATTERNS.items() if re.search(pattern, sentence)]


def files_of(group: str) -> list[Path]:
    """Return the files of a subpackage, of the top level of the package, or one document."""
    folder = PACKAGE.parent / group if group.startswith("gjk3d") else ROOT / group
    if folder.is_file():
        return [folder]
    kinds = (".py", ".js", ".html")
    nested = folder.iterdir() if folder == PACKAGE else folder.rglob("*")
    return sorted(file for file in nested if file.suffix in kinds)


GROUPS = [
    "gjk3d",
    *sorted(f"gjk3d/{each.name}" for each in PACKAGE.iterdir() if each.is_dir() and each.name != "__pycache__"),
    *map(ident, DOCUMENTS),
]


@pytest.mark.parametrize("group", GROUPS)
def test_text_is_plain(group):
    """To list the sentences, run ``python -m tests.test_plain_words gjk3d/bodies``."""
    read = [sentence for file in files_of(group) for text in texts(file) for sentence in sentences(text)]
    marked = [f"{name}: {sentence}" for sentence in read for name in hits(sentence)]
    assert len(marked) <= max(LIMIT / 100 * len(read), 1), "\n".join(marked)


@pytest.mark.parametrize("group", [group for group in GROUPS if group.startswith("gjk3d")])
def test_error_messages_have_at_most_two_sentences(group):
    """The first sentence has the fault, value and rule, the second the remedy. Neither names a Python type."""
    read = [text for file in files_of(group) if file.suffix == ".py" for text in messages(file.read_text("utf-8"))]
    long = [text for text in read if len(re.findall(r"[.?!] (?=[A-Zx])", text)) > 1]
    assert not long
    assert not [text for text in read if re.search(r" (?:dict|tuple|str|bool|int)\b(?!\()", text)]


if __name__ == "__main__":
    import sys

    for name in sys.argv[1:] or GROUPS:
        read = [(file, sentence) for file in files_of(name) for text in texts(file) for sentence in sentences(text)]
        marked = [(file, kind, sentence) for file, sentence in read for kind in hits(sentence)]
        print(f"{name}: {len(marked)} in {len(read)} sentences, {100 * len(marked) / max(len(read), 1):.1f} in 100")
        if sys.argv[1:]:
            print(*(f"  {file.name} [{kind}] {sentence[:200]}" for file, kind, sentence in marked), sep="\n")

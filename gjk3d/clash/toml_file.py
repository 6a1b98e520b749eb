"""TOML files, read within a limit of the memory that their keys take."""

from __future__ import annotations

import re
import tomllib
from typing import Any

MAX_NESTING = 20  #: names of a dotted key
#: strings and remarks; one that is not closed ends with the line or the file, so that none is searched twice
_TEXT = re.compile(
    r""""{3}(?:[^\\]|\\.)*?(?:"{3,5}|\Z)|'{3}.*?(?:'{3,5}|\Z)|"(?>(?:[^"\\\n]|\\[^\n])*)"?|'[^'\n]*'?|\#[^\n]*""",
    re.DOTALL,
)
_DEEP = re.compile(rf"(?<![\w-])(?>[\w-]+)(?:(?>[ \t]*)\.(?>[ \t]*)(?>[\w-]+)){{{MAX_NESTING}}}")


def parsed(text: str) -> dict[str, Any]:
    """Return the document of a TOML text.

    Raises
    ------
    ValueError
        The text is not TOML, nests too deep, or has a dotted key of too many names, whose memory grows with their
        square.
    """
    if deep := _DEEP.search(_TEXT.sub("text", text)):
        raise ValueError(f"the key {deep[0][:40]}... has more than {MAX_NESTING} names")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError(str(error)) from None

"""Conversion of parsed JSON and TOML to typed objects. The errors name the place of a fault in the document."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from gjk3d.errors import ParseError

T = TypeVar("T")
Number = Annotated[float, Meta(gt=-1e150, lt=1e150)]  #: finite, and not larger than any volume
Count = Annotated[int, Meta(ge=0, le=2**53)]
Ascii = Annotated[str, Meta(pattern="^[\\x00-\\x7f]*$")]
Vector = tuple[Number, Number, Number]
#: The parts are free before the first time, clash from the second to the third, and are free after the fourth.
Interval = tuple[Number, Number, Number, Number]

_DAMAGED = ". Write the file again, because it is damaged."
#: Patterns in the error messages of msgspec, and the texts that replace them.
_WORDS: tuple[tuple[str, Any], ...] = (
    (r"`str` matching regex '\^\((.*)\)\$'", lambda m: f"one of {m[1].replace('|', ', ')}"),
    (r"`str` of length <= (\d+)", r"text of at most \1 characters"), ("`str` matching regex .*", "text in ASCII"),
    (r", got .*| \| null", ""), ("^Expected", "expected"), ("^Number out of range", "expected a smaller number"),
    ("`float`", "a number"), ("`int`", "an integer"), ("`str`", "text"), ("`bool`", "true or false"),
    ("`array`", "a list"), ("`object`", "an object"),
)  # fmt: skip


def one_of(*choices: str) -> Any:
    """Return the constraint of msgspec for a text that must be one of ``choices``."""
    return Meta(pattern=f"^({'|'.join(choices)})$")


def parse_document(
    text: bytes, where: str, command: str, version: int, what: str, cure: str, hook: Callable[..., Any] | None = None
) -> dict[str, Any]:
    """Return the parsed JSON text of a file that the command ``command`` of gjk3d wrote in schema version ``version``.

    ``what`` describes the expected file in an error. Errors start with ``where`` and end with ``cure``. ``hook`` is
    called with each object, and its result replaces the object.
    """
    try:
        document = json.loads(text, object_hook=hook)
    except (ValueError, RecursionError) as error:
        raise ParseError(f"{where} is not JSON: {str(error)[:200]}. {cure}") from None
    if not isinstance(document, dict) or document.get("command") != command:
        raise ParseError(f"{where} is not {what}. {cure}")
    stated = document.get("schema_version")
    if type(stated) is not int or stated != version:
        raise ParseError(
            f"{where} has schema version {json.dumps(stated)[:60]}, but this gjk3d reads version {version}. {cure}"
        )
    return document


def convert(value: Any, kind: type[T], where: str, ending: str = _DAMAGED) -> T:
    """Return parsed JSON or TOML as an object of the type ``kind``. Fields that the type lacks are ignored.

    Raise a ParseError if a value has another type or is out of range. Its message starts with ``where``, names the
    place in the document, the value and the expected type, and ends with ``ending``.
    """
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise ParseError(f"{_fault(value, str(error), where)}{ending}") from None
    except UnicodeEncodeError as error:
        raise ParseError(f"{where} has the text {error.object[:60]!r}, expected valid Unicode{ending}") from None


def _fault(value: Any, text: str, where: str) -> str:
    """Return a message such as "x.json, clash 2 has the depth 'a', expected a number" for an error of msgspec."""
    text, _, path = text.partition(" - at `$")
    for name, index in re.findall(r"\.(\w+)|\[(\d+)\]", path):
        value = value[name] if name else value[int(index)]
    # the item [1] of "clashes" or "parts" is "clash 2" or "part 2"
    singular = re.compile(r"^(\w+?)(?:(?<=sh)e)?s\[(\d+)\]$")
    steps = [singular.sub(lambda m: f"{m[1]} {int(m[2]) + 1}", step) for step in path.rstrip("`").split(".")[1:]]
    if lacks := re.fullmatch("Object missing required field `(.*)`", text):
        return f"{', '.join([where, *steps])} lacks the {lacks[1]}"
    is_field = bool(steps) and " " not in steps[-1]
    place = ", ".join([where, *(steps[:-1] if is_field else steps)])
    for pattern, words in _WORDS:
        text = re.sub(pattern, words, text)
    seen = repr(str(value)[:60])
    return f"{place} has the {steps[-1]} {seen}, {text}" if is_field else f"{place} is {seen}, {text}"

"""JSON texts: for machines, for people, and byte for byte as dspy writes its files."""

from __future__ import annotations

import json
import math
import re

from sessions.running.recording import as_json

_SURROGATE = re.compile("[\ud800-\udfff]")


def pretty(value: object) -> str:
    """Strict ASCII, two spaces a level."""
    return json.dumps(as_json(value), indent=2, allow_nan=False)


def one_line(value: object) -> str:
    """Write strict ASCII on a single line, for JSON Lines."""
    return json.dumps(as_json(value), allow_nan=False)


def readable(value: object) -> str:
    """As `pretty`, with letters of all languages as they are; a lone surrogate, which no file holds, is an escape."""
    text = json.dumps(as_json(value), indent=2, ensure_ascii=False, allow_nan=False)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def as_dspy_saves(value: object) -> str:
    """As `orjson.dumps` with OPT_INDENT_2 and OPT_APPEND_NEWLINE, with which dspy's `save` writes.

    It differs from Python's `json` in how floats are written, and refuses what is no JSON. Raises ValueError for that.
    """
    pieces: list[str] = []
    _write(value, "\n", pieces)
    return "".join([*pieces, "\n"])


def _write(value: object, line: str, pieces: list[str]) -> None:
    if isinstance(value, dict) and value:
        inner = line + "  "
        for number, (key, one) in enumerate(value.items()):
            pieces += ["," if number else "{", inner, _text(key), ": "]
            _write(one, inner, pieces)
        pieces += [line, "}"]
    elif isinstance(value, list) and value:
        inner = line + "  "
        for number, one in enumerate(value):
            pieces += ["," if number else "[", inner]
            _write(one, inner, pieces)
        pieces += [line, "]"]
    elif isinstance(value, str):
        pieces.append(_text(value))
    elif isinstance(value, float):
        pieces.append(_float(value))
    else:
        pieces.append(json.dumps(value))


def _text(text: str) -> str:
    text.encode("utf-8")  # a lone surrogate raises, as it does in orjson
    return json.dumps(str(text), ensure_ascii=False)


def _float(number: float) -> str:
    """The shortest digits that read back, as orjson 3.13 lays them out: 0.00001 and 1e-7, where Python has 1e-05 and
    1e-07 (older releases write 1e16 for 1e+16).
    """
    if not math.isfinite(number):
        return "null"
    digits, _, exponent = repr(number).partition("e-")
    if exponent == "05":
        sign, digits = ("-", digits[1:]) if digits.startswith("-") else ("", digits)
        return f"{sign}0.0000{digits.replace('.', '')}"
    return f"{digits}e-{exponent.lstrip('0')}" if exponent else digits

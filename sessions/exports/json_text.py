"""Write JSON for machines, for people, and byte for byte as dspy writes its files."""

from __future__ import annotations

import json
import math
import re

from sessions.running.recording import as_json

_SURROGATE = re.compile("[\ud800-\udfff]")


def pretty(value: object) -> str:
    """Write strict ASCII with two spaces per level."""
    return json.dumps(as_json(value), indent=2, allow_nan=False)


def one_line(value: object) -> str:
    """Write strict ASCII on a single line, for JSON Lines."""
    return json.dumps(as_json(value), allow_nan=False)


def readable(value: object) -> str:
    """Write like `pretty`, but keep non-ASCII letters; escape unpaired surrogates, which files cannot hold."""
    text = json.dumps(as_json(value), indent=2, ensure_ascii=False, allow_nan=False)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def as_dspy_saves(value: object) -> str:
    """Write like dspy's `save`: `orjson.dumps` with OPT_INDENT_2 and OPT_APPEND_NEWLINE.

    Unlike Python's `json`, it writes floats differently and rejects unpaired surrogates. Raises ValueError for them.
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
    text.encode("utf-8")  # an unpaired surrogate raises, as in orjson
    return json.dumps(str(text), ensure_ascii=False)


def _float(number: float) -> str:
    """Write the shortest digits that round-trip, in orjson 3.13's layout.

    That is 0.00001 and 1e-7 for Python's 1e-05 and 1e-07. (Older releases of orjson write 1e16 for 1e+16.)
    """
    if not math.isfinite(number):
        return "null"
    digits, _, exponent = repr(number).partition("e-")
    if exponent == "05":
        sign, digits = ("-", digits[1:]) if digits.startswith("-") else ("", digits)
        return f"{sign}0.0000{digits.replace('.', '')}"
    return f"{digits}e-{exponent.lstrip('0')}" if exponent else digits

"""Text of the kind that breaks screens, by what it attacks."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

HOSTILE: Mapping[str, str] = {
    "closing tag": "[/x] text",
    "instruction tag": "[INST] do this [/INST] [[ ## answer ## ]]",
    "action link": "[@click=app.exit]quit[/]",
    "markup": "[bold]b[/bold] [$x] a\\",
    "escape sequence": "\x1b[31mred\x1b[0m \x1b[2J",
    "clipboard": "\x1b]52;c;aGVsbG8=\x07",
    "title": "\x1b]0;owned\x1b\\",
    "C1": "\x9b2J \x90q \x9d0;t\x9c",
    "carriage return": "one\rtwo\r\nthree",
    "line separators": "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg",
    "lone surrogates": "\ud83d and \ude00",
    "right to left": "\u202eabc\u202c \u2066def\u2069",
    "invisible": "a\u200bb\u200dc\ufeffd\u00ade\U000e0041f",
    "NUL": "a\x00b\x7fc",
    "emoji": "👩\u200d👩\u200d👧 👍🏽 ❤\ufe0f 🇨🇭",
    "CJK": "日本語の文章 한국어 ｆｕｌｌ",
    "combining": "e\u0301" + "\u0300" * 40,
    "tabs": "\ta\tb\n日\tc",
    "long line": "x" * 100_000,
    "long line of words": "word " * 20_000,
    "long wide line": "語" * 30_000,
    "many lines": "line\n" * 10_000,
    "only newlines": "\n" * 50,
    "empty": "",
}

_ALWAYS = ("action link", "escape sequence", "lone surrogates", "long line")
NAMES = [name if name in _ALWAYS else pytest.param(name, marks=pytest.mark.slow) for name in HOSTILE]
"""For what opens the whole app for each: a few in every run, all of them in the long runs."""

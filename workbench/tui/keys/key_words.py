"""Names of keys in texts, as the user has set them.

A text names a key as `{id|usual}`, for instance `{app.send_all|F5} sends`: the id of its binding and its usual key.
`KeyWords` inserts the user's key. Only our own texts go through it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from textual.app import App

NAMED_KEY = re.compile(r"\{([a-z_]+\.[a-z_]+)\|([^{}|]+)\}")

_WRITTEN = {"escape": "esc", "up": "↑", "down": "↓", "left": "←", "right": "→", "minus": "-", "plus": "+"}
_WRITTEN |= {"backslash": "\\", "slash": "/", "at": "@", "underscore": "_", "circumflex_accent": "^"}


class KeyWords:
    """`keymap` gives keys by binding id, as in the config file: `{"app.send_all": "f6,ctrl+j"}`."""

    def __init__(self, keymap: Mapping[str, str] | None = None) -> None:
        self._keymap = dict(keymap or {})
        self._said: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        """Insert the current keys; each text is cached."""
        said = self._said.get(text)
        if said is None:
            said = self._said[text] = NAMED_KEY.sub(self._word, text)
        return said

    def _word(self, found: re.Match[str]) -> str:
        id, usual = found.groups()
        if id not in self._keymap:
            return usual
        word = in_words(self._keymap[id].partition(",")[0].strip())
        return in_short(self._keymap[id].partition(",")[0].strip()) if usual.startswith("^") else word


USUAL = KeyWords()


def in_words(key: str) -> str:
    """Name a key as in texts: `F5`, `shift+F5`, `ctrl+]`, `esc`."""
    *held, last = key.split("+")
    if re.fullmatch(r"f\d{1,2}", last):
        last = last.upper()
    elif last in _WRITTEN:
        last = _WRITTEN[last]
    elif len(last) > 1:
        try:
            sign = unicodedata.lookup(last.replace("_", " "))
        except KeyError:
            sign = ""
        last = sign if sign.strip() and sign.isprintable() else last
    return "+".join((*held, last))


def in_short(key: str) -> str:
    """Name a key as in the last line: `F5`, `^s`."""
    return in_words(key).replace("ctrl+", "^")


def keys_of(app: App[Any]) -> KeyWords:
    """Return the key names of an app, or the usual names."""
    found = getattr(app, "key_words", USUAL)
    return found if isinstance(found, KeyWords) else USUAL

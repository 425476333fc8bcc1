"""The colour and style of every kind of text, on a light ground and on a dark one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

DATA = "data"
"""The kind of a line that stands for what is no text: an image, a file, a call of a tool."""


class Look(NamedTuple):
    """Colours as CSS writes them; `font` is CSS too. Two kinds of one colour differ in their font."""

    light: str
    dark: str
    font: str = ""


LOOKS: Mapping[str, Look] = {
    "instructions": Look("#24272e", "#e6e9ed", "font-weight:bold"),
    "name": Look("#2a6ab0", "#7db8ff", "font-weight:bold"),
    "type": Look("#2a6ab0", "#7db8ff", "font-style:italic"),
    "description": Look("#4a4e57", "#b7bec8", "font-style:italic"),
    "constraint": Look("#8a5a00", "#e3b35a"),
    "schema": Look("#3f6c9c", "#93b9e0"),
    "value": Look("#24272e", "#e6e9ed"),
    "marker": Look("#a85a00", "#eba358"),
    "reminder": Look("#8a5a00", "#e3b35a", "font-style:italic"),
    "filler": Look("#b3312f", "#ff9a94", "text-decoration:underline"),
    "boilerplate": Look("#656872", "#9aa4b0"),
    "custom": Look("#24272e", "#e6e9ed"),
    DATA: Look("#2a7d45", "#74cf92"),
}
"""Of the pieces of a prompt: `adapters.prompts.text.Kind`, and `DATA`."""

GROUNDS: Mapping[str, Look] = {
    "marker": Look("transparent", "transparent", "font-weight:bold"),
    "value": Look("#d3f0dc", "#17402a"),
    "repaired": Look("#fdeab7", "#4a3b0c"),
    "duplicate": Look("#e4dcf5", "#3a2f57", "text-decoration:line-through"),
    "unknown": Look("#fbd5d2", "#53211f"),
    "ignored": Look("#eceff2", "#262d35"),
    "prose": Look("transparent", "transparent", "font-style:italic"),
    "untraced": Look("transparent", "transparent"),
}
"""What lies behind the pieces of a reply: `adapters.replies.reading.SpanKind`."""

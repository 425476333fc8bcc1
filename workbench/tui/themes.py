"""Define the dark and light themes, in greys with an accent; the app shows a sign with every colour."""

from __future__ import annotations

from typing import Any

from textual.theme import BUILTIN_THEMES, Theme

from adapters.late_dataclasses import replace

_COLOURS = "primary secondary accent foreground background surface panel success warning error".split()
_UNDER_BARS = ("background", "background-hover", "background-active", "corner-color")


def _variables(
    text: str, accent: str, frame: str, hovered: str, ground: str, on_cursor: str, selection: str
) -> dict[str, str]:
    """Return the colours of borders, cursor, selection and scroll bars; `text` is an accent legible as text."""
    borders = {"text-accent": text, "border": accent, "border-blurred": frame}
    cursor = {"block-cursor-foreground": on_cursor, "block-cursor-background": accent}
    bars = {"scrollbar": frame, "scrollbar-hover": hovered} | {f"scrollbar-{one}": ground for one in _UNDER_BARS}
    return {**borders, **cursor, **bars, "input-selection-background": selection}


def _theme(name: str, colours: str, variables: dict[str, str]) -> Theme:
    """Make a theme from its colours, in the order of `_COLOURS`; it is dark if its name contains "-dark"."""
    named: dict[str, Any] = dict(zip(_COLOURS, colours.split(), strict=True))
    return Theme(name, **named, dark="-dark" in name, variables=variables)


DARK = _theme(
    "workbench-dark",
    "#6fa8dc #8fb8a8 #f0b35a #d7dae0 #16181d #1b1e24 #252932 #7fc98f #e5b567 #ef7d7d",
    _variables("#f0b35a", "#f0b35a", "#343a46", "#4a5262", "#1b1e24", "#16181d", "#3b5a80"),
)

LIGHT = _theme(
    "workbench-light",
    "#2a6ab0 #3c7a68 #a85a00 #0d0f13 #f4f3ef #fbfaf7 #e9e7e0 #2a7d45 #8a5a00 #b3312f",
    _variables("#9a5200", "#a85a00", "#cfccc2", "#b4b0a4", "#fbfaf7", "#fbfaf7", "#bcd3ee"),
)

DARK_PROJECTED = _theme(
    "workbench-dark-projected",
    "#9ccbff #b5e0d0 #ffc266 #ffffff #000000 #0b0b0b #1c1c1c #7dff9a #ffd866 #ff8f8f",
    {**DARK.variables, "text-accent": "#ffc266", "border": "#ffc266", "border-blurred": "#5a5a5a"},
)

LIGHT_PROJECTED = _theme(
    "workbench-light-projected",
    "#003f8a #004d3a #8a3d00 #000000 #ffffff #ffffff #ececec #00591f #664000 #9c0d0b",
    {**LIGHT.variables, "text-accent": "#7a3600", "border": "#8a3d00", "border-blurred": "#8a8a8a"},
)
"""The projected themes have the highest contrast, for projectors in lit rooms."""

OURS = (DARK, LIGHT, DARK_PROJECTED, LIGHT_PROJECTED)
OF_THE_TERMINAL = "ansi-dark"
"""Textual's theme with the terminal's own sixteen colours."""

_ANSI = BUILTIN_THEMES[OF_THE_TERMINAL]
TERMINAL = replace(
    _ANSI,
    primary="ansi_bright_blue",
    error="ansi_bright_red",
    variables={**_ANSI.variables, "border-blurred": "ansi_bright_black"},
)
"""The theme `OF_THE_TERMINAL` with legible colours.

Textual draws frames without the focus in black, on any background. The plain blue and red of most terminals are darker
than their other colours, so that names of fields and errors were illegible on black.
"""


def usual(color_system: str | None) -> str:
    """Return the default theme for a terminal's colour system."""
    return OF_THE_TERMINAL if color_system == "standard" else DARK.name


def projected(theme: str, is_dark: bool) -> str:
    """Return the dark or light high-contrast theme; a theme with the terminal's colours stays."""
    if theme == OF_THE_TERMINAL or theme.startswith("ansi"):
        return theme
    return DARK_PROJECTED.name if is_dark else LIGHT_PROJECTED.name

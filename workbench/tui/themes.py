"""The workbench's themes, dark and light: quiet greys, an accent, and a sign beside every colour."""

from __future__ import annotations

from dataclasses import replace

from textual.theme import BUILTIN_THEMES, Theme

_UNDER_BARS = ("background", "background-hover", "background-active", "corner-color")


def _variables(
    text: str, accent: str, frame: str, hovered: str, ground: str, on_cursor: str, selection: str
) -> dict[str, str]:
    """Colour borders, cursor, selection and scroll bars; `text` is the accent that is legible as text."""
    borders = {"text-accent": text, "border": accent, "border-blurred": frame}
    cursor = {"block-cursor-foreground": on_cursor, "block-cursor-background": accent}
    bars = {"scrollbar": frame, "scrollbar-hover": hovered} | {f"scrollbar-{one}": ground for one in _UNDER_BARS}
    return {**borders, **cursor, **bars, "input-selection-background": selection}


DARK = Theme(
    name="workbench-dark",
    primary="#6fa8dc",
    secondary="#8fb8a8",
    accent="#f0b35a",
    foreground="#d7dae0",
    background="#16181d",
    surface="#1b1e24",
    panel="#252932",
    success="#7fc98f",
    warning="#e5b567",
    error="#ef7d7d",
    dark=True,
    variables=_variables("#f0b35a", "#f0b35a", "#343a46", "#4a5262", "#1b1e24", "#16181d", "#3b5a80"),
)

LIGHT = Theme(
    name="workbench-light",
    primary="#2a6ab0",
    secondary="#3c7a68",
    accent="#a85a00",
    foreground="#0d0f13",
    background="#f4f3ef",
    surface="#fbfaf7",
    panel="#e9e7e0",
    success="#2a7d45",
    warning="#8a5a00",
    error="#b3312f",
    dark=False,
    variables=_variables("#9a5200", "#a85a00", "#cfccc2", "#b4b0a4", "#fbfaf7", "#fbfaf7", "#bcd3ee"),
)

DARK_PROJECTED = Theme(
    name="workbench-dark-projected",
    primary="#9ccbff",
    secondary="#b5e0d0",
    accent="#ffc266",
    foreground="#ffffff",
    background="#000000",
    surface="#0b0b0b",
    panel="#1c1c1c",
    success="#7dff9a",
    warning="#ffd866",
    error="#ff8f8f",
    dark=True,
    variables={**DARK.variables, "text-accent": "#ffc266", "border": "#ffc266", "border-blurred": "#5a5a5a"},
)

LIGHT_PROJECTED = Theme(
    name="workbench-light-projected",
    primary="#003f8a",
    secondary="#004d3a",
    accent="#8a3d00",
    foreground="#000000",
    background="#ffffff",
    surface="#ffffff",
    panel="#ececec",
    success="#00591f",
    warning="#664000",
    error="#9c0d0b",
    dark=False,
    variables={**LIGHT.variables, "text-accent": "#7a3600", "border": "#8a3d00", "border-blurred": "#8a8a8a"},
)
"""Projectors in lit rooms leave only contrast: these two themes have the most."""

OURS = (DARK, LIGHT, DARK_PROJECTED, LIGHT_PROJECTED)
OF_THE_TERMINAL = "ansi-dark"
"""Textual's theme of the terminal's own sixteen colours."""


def of_the_terminal() -> Theme:
    """That theme where it can be read: Textual draws frames without the focus in black, on any ground.

    The plain blue and red of most terminals are darker than any of their other colours, and names of fields and
    refusals were lost on black.
    """
    usual = BUILTIN_THEMES[OF_THE_TERMINAL]
    variables = {**usual.variables, "border-blurred": "ansi_bright_black"}
    return replace(usual, primary="ansi_bright_blue", error="ansi_bright_red", variables=variables)


def usual(color_system: str | None) -> str:
    """Return the default theme for a terminal's colour system."""
    return OF_THE_TERMINAL if color_system == "standard" else DARK.name


def projected(theme: str, is_dark: bool) -> str:
    """Return the high-contrast theme as dark or light as this; a terminal's own colours stay."""
    if theme == OF_THE_TERMINAL or theme.startswith("ansi"):
        return theme
    return DARK_PROJECTED.name if is_dark else LIGHT_PROJECTED.name

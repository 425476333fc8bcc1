"""The workbench's own look, dark and light: quiet greys, one accent, and signs beside every colour."""

from __future__ import annotations

from textual.theme import Theme

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
    variables={
        "text-accent": "#f0b35a",
        "border": "#f0b35a",
        "border-blurred": "#343a46",
        "block-cursor-foreground": "#16181d",
        "block-cursor-background": "#f0b35a",
        "input-selection-background": "#3b5a80",
        "scrollbar": "#343a46",
        "scrollbar-hover": "#4a5262",
        "scrollbar-background": "#1b1e24",
        "scrollbar-background-hover": "#1b1e24",
        "scrollbar-background-active": "#1b1e24",
        "scrollbar-corner-color": "#1b1e24",
    },
)

LIGHT = Theme(
    name="workbench-light",
    primary="#2a6ab0",
    secondary="#3c7a68",
    accent="#a85a00",
    foreground="#24272e",
    background="#f4f3ef",
    surface="#fbfaf7",
    panel="#e9e7e0",
    success="#2a7d45",
    warning="#8a5a00",
    error="#b3312f",
    dark=False,
    variables={
        "text-accent": "#9a5200",
        "border": "#a85a00",
        "border-blurred": "#cfccc2",
        "block-cursor-foreground": "#fbfaf7",
        "block-cursor-background": "#a85a00",
        "input-selection-background": "#bcd3ee",
        "scrollbar": "#cfccc2",
        "scrollbar-hover": "#b4b0a4",
        "scrollbar-background": "#fbfaf7",
        "scrollbar-background-hover": "#fbfaf7",
        "scrollbar-background-active": "#fbfaf7",
        "scrollbar-corner-color": "#fbfaf7",
    },
)

OURS = (DARK, LIGHT)
OF_THE_TERMINAL = "ansi-dark"
"""Textual's theme of the terminal's own sixteen colours."""


def usual(color_system: str | None) -> str:
    """The theme where nobody has chosen one, for rich's name of the colours a terminal has.

    Of sixteen colours ours would become four greys: good and bad alike, and words on a ground of their own colour.
    """
    return OF_THE_TERMINAL if color_system == "standard" else DARK.name

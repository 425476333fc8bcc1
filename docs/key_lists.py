"""List the keys that the README shows, and the palette's commands without a key."""

from __future__ import annotations

ESSENTIAL = frozenset(
    "send_all focus_editors focus_prompts focus_replies lesson look check save open record command_palette help "
    "leave".split()
)
"""The keys of the basic workflow, which the README lists; `docs/keys.md` has them all."""

WITHOUT_KEY = {
    "Theme": "used rarely",
    "Compact spacing": "used rarely",
    "Record every column": "ctrl+r records the focused column; recording all at once is rare",
    "Restore an earlier version": "used rarely",
    "Private": "a decision for a whole session",
    "Bench": "the command line runs the bench",
    "Remove this value": "a key that clears a field is easily pressed by mistake",
    "More room": "drag the line between the panes; the layout is remembered",
    "Go to": "F2, F3, F4 and jump mode go there",
    "Inspect": "F7, then a number",
    "Copy": "ctrl+g, then a letter",
    "Export": "choose a format by its name",
    "Case": "ctrl+t, then choose by name",
    "Predictor": "change it in the Signature tab with the arrow keys",
    "Show column": "choose a column by its name",
    "Hide column": "choose a column by its name",
    "Move column": "choose a column by its name",
    "Column": "shift+F8, then choose by name",
    "Send": "shift+F5, then choose by name",
    "Reset API key permissions": "trust is not decided by a single key",
}
"""Reasons why palette commands have no key, by the start of their names."""
WITHOUT_KEY_IN_A_CLASS = {"Download": "used rarely"}
"""The same for commands that exist only in a class."""

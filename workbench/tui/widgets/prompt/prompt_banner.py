"""What stands above a prompt, or in its place: why it could not be made anew, or what to do to get one."""

from __future__ import annotations

from workbench.output.display import one_line
from workbench.tui.widgets.text.wrapping import rows

ROWS_OF_ERROR, MOST_ERROR_ROWS = 3, 12
"""Rows of an error above a prompt, and where there is none."""


class PromptBanner:
    """An error or a hint; `rows` is what of it is shown, and empty where neither is."""

    def __init__(self) -> None:
        self.rows: list[str] = []
        self._error = self._hint = ""

    @property
    def is_error(self) -> bool:
        return bool(self._error)

    def take(self, error: str, hint: str, *, width: int, is_alone: bool) -> None:
        """Another error or hint. An error is cut anew even if it stays: a prompt may have come or gone below it."""
        if (error, hint) != (self._error, self._hint) or error:
            self._error, self._hint = error, hint
            self.lay_out(width, is_alone)

    def lay_out(self, width: int, is_alone: bool) -> None:
        """In rows of so many cells; more of them where no prompt stands below."""
        most = MOST_ERROR_ROWS if is_alone else ROWS_OF_ERROR
        text = f"✗ {one_line(self._error, most * width)}" if self._error else self._hint
        found = rows(text, width) if text else []
        self.rows = [text[start:end] for start, end in found[:most]]
        if len(found) > most:
            self.rows[-1] = one_line(text[found[most - 1][0] :], width)

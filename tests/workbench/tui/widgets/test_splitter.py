"""The line between two panes, and the words on it."""

from __future__ import annotations

import pytest
from textual.content import Content
from textual.geometry import Size

from workbench.tui.widgets.splitter import Splitter


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (40, "reply ✗ line 2 · fixes · 520 ms"),
        (33, "reply ✗ line 2 · fixes · 520 ms"),
        (32, "reply ✗ line 2 · fixes …"),
        (20, "reply ✗ line 2 …"),
        (12, "reply ✗ …"),
    ],
)
def test_a_part_that_does_not_fit_is_left_out_whole(width: int, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Splitter, "size", Size(width, 1))
    splitter = Splitter("horizontal")
    splitter.show(Content("reply ✗ line 2 · fixes · 520 ms"))
    assert splitter.render().plain.rstrip("─ ") == f"─ {shown}"


@pytest.mark.parametrize(
    ("width", "shown"), [(37, "reply ◌ receiving 3.8 s  esc cancel"), (36, "reply ◌ receiving 3.8 s …")]
)
def test_a_key_hint_is_shown_whole_or_not_at_all(width: int, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Splitter, "size", Size(width, 1))
    splitter = Splitter("horizontal")
    splitter.show(Content("reply ◌ receiving 3.8 s  esc cancel"))
    drawn = splitter.render()
    assert drawn.plain.rstrip("─ ") == f"─ {shown}"
    assert drawn.cell_length == width

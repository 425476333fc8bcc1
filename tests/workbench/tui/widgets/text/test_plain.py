"""Any text is text in widgets, toasts and the palette: never markup, never a control character."""

from __future__ import annotations

import unicodedata
from unittest.mock import Mock

import pytest
from textual.fuzzy import Matcher
from textual.pilot import Pilot
from textual.widgets._toast import Toast

from tests.support.hostile import HOSTILE
from tests.support.screen import Stage, assert_harmless, on_stage, seen
from workbench.output.display import safe
from workbench.tui.widgets.text import plain


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_content_keeps_every_offset(text: str) -> None:
    assert plain.content(text, "bold").plain == safe(text)
    assert plain.lines(text, (text, "bold")).plain == safe(text) * 2


@pytest.mark.slow
def test_a_static_and_a_toast_show_it_as_it_stands() -> None:
    async def act(stage: Stage[plain.PlainStatic], pilot: Pilot[None]) -> None:
        for text in HOSTILE.values():
            stage.widget.show(text)
            plain.plain_notify(stage, text, title=text, severity="error")
            await pilot.pause()
            assert_harmless(stage.widget)
            for toast in stage.screen.query(Toast):
                assert_harmless(toast)
            stage.clear_notifications()

    on_stage(plain.PlainStatic("before"), act)


def test_a_toast_of_many_lines_shows_the_first_ten() -> None:
    app = Mock()
    plain.plain_notify(app, "\n".join(["one", *["more"] * 90]))
    app.notify.assert_called_once()
    assert app.notify.call_args[0][0].split("\n") == ["one", *["more"] * 8, "more…"]


def test_tags_are_shown() -> None:
    async def act(stage: Stage[plain.PlainStatic], pilot: Pilot[None]) -> None:
        assert seen(stage.widget)[0].rstrip() == "[INST] [bold]b[/bold] [/x]"

    on_stage(plain.PlainStatic("[INST] [bold]b[/bold] [/x]"), act)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_palette_entries(text: str) -> None:
    discovery = plain.palette_discovery(text, lambda: None, text)
    shown = [str(discovery.display), discovery.help or ""]
    hit = plain.palette_hit(Matcher("a"), text, lambda: None, text)
    if hit is not None:
        shown += [str(hit.match_display), hit.help or ""]
        assert hit.text == str(hit.match_display)
    assert not [c for one in shown for c in one if unicodedata.category(c) in ("Cc", "Cs")]
    assert "[" not in (discovery.help or "")


def test_a_palette_entry_that_does_not_match_is_none() -> None:
    assert plain.palette_hit(Matcher("zzz"), "[/x] session", lambda: None) is None

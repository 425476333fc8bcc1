"""Projector mode: a room can read it, nothing is cut, and leaving it gives everything back as it was."""

import json
from pathlib import Path
from typing import Any

import pytest
from textual._compositor import Compositor
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.geometry import Region

from tests.support.open_app import MIDDLE, SMALL, WIDE, Desk, at_the_desk
from workbench.tui import themes
from workbench.tui.screens.lesson import LessonScreen
from workbench.tui.screens.pages import PagesScreen
from workbench.tui.widgets.heading import Heading, drawn
from workbench.tui.widgets.reply.reply_view import ReplyView

BACK = "shift+f6"


def look_of(desk: Desk) -> dict[str, Any]:
    """All that projector mode changes."""
    main, columns = desk.main, desk.main.columns
    return {
        "theme": desk.app.theme,
        "classes": desk.app.classes,
        "regions": {one.id or str(one): one.region for one in main.query("#left, #columns, .column, #status-line")},
        "shown": [(one.display, one.prompt.display, one.reply.display) for one in columns.all],
        "quiet": columns.is_quiet,
        "scrolled": columns.scroll_x,
        "shares": (main.left_share, columns.shares.said),
        "focus": desk.app.focused,
    }


def heading_of(desk: Desk) -> list[str]:
    heading = desk.app.screen.query_one(Heading)
    return [one.text for one in heading.render_lines(Region(0, 0, *heading.outer_size))]


@pytest.mark.slow
def test_one_column_at_a_time_with_its_name_and_verdict_in_large_letters_and_back_again() -> None:
    async def act(desk: Desk) -> None:
        desk.main.left_share = 0.37
        desk.main.columns.set_share(0.4)
        desk.main.share_room()
        await desk.press("f4")
        await desk.paste_over("<label>bug</label>")
        before = look_of(desk)
        await desk.press(BACK)
        assert desk.app.theme == themes.DARK_PROJECTED.name
        assert [one.column_id for one in desk.main.columns.all if one.display] == ["chat"]
        assert not desk.main.editors.display
        assert desk.main.columns.is_quiet
        assert desk.main.strip.display, "the other columns are a line"
        row = heading_of(desk)[1]
        assert drawn("Chat", 200, scale=2)[0] in row
        assert drawn("✗", 200, scale=2)[0] in row
        await desk.press("f3")
        await desk.press("f3")
        assert drawn("JSON", 200, scale=2)[0] in heading_of(desk)[1], "one by one"
        assert [one.column_id for one in desk.main.columns.all if one.display] == ["json"]
        await desk.press("f4", BACK)
        desk.main.columns.focus_on("chat", ReplyView)
        await desk.settle()
        assert look_of(desk) == before

    at_the_desk(act, size=WIDE)


@pytest.mark.parametrize("size", [MIDDLE, WIDE])
def test_the_value_that_is_written_is_seen(size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("input", "ticket")
        await desk.press(BACK)
        assert desk.editor.region.height and desk.editor.region in desk.main.editors.content_region

    at_the_desk(act, size=size)


@pytest.mark.parametrize("pane", ["f2", "f3"])
def test_there_and_back_every_widget_is_styled_once(pane: str, monkeypatch: pytest.MonkeyPatch) -> None:
    styled: list[DOMNode] = []
    apply = Stylesheet.apply

    def applied(stylesheet: Stylesheet, node: DOMNode, **options: Any) -> None:
        styled.append(node)
        apply(stylesheet, node, **options)

    async def act(desk: Desk) -> None:
        await desk.press(pane)
        monkeypatch.setattr(Stylesheet, "apply", applied)
        for theme in (themes.DARK_PROJECTED.name, desk.app.theme):
            styled.clear()
            await desk.press(BACK)
            assert desk.app.theme == theme
            assert [styled.count(one) for one in (desk.main, *desk.main.columns.all)] == [1] * 4

    at_the_desk(act)


def test_the_way_back_is_named_only_until_it_is_taken() -> None:
    async def act(desk: Desk) -> None:
        await desk.press(BACK)
        assert "projector" in str(desk.main.status.render())
        await desk.press(BACK)
        assert "projector" not in str(desk.main.status.render())

    at_the_desk(act)


@pytest.mark.slow
def test_what_is_written_stands_above_what_it_changes() -> None:
    async def act(desk: Desk) -> None:
        await desk.press(BACK, "f3", "f2")
        left, columns = desk.main.editors, desk.main.columns
        assert left.display
        assert left.region.bottom <= columns.region.y
        assert left.region.width == columns.region.width == desk.main.size.width
        await desk.press("f4")
        assert not left.display
        assert desk.main.columns.part == "reply"

    at_the_desk(act, size=SMALL)


@pytest.mark.slow
def test_a_step_of_the_lesson_is_the_title_and_the_key_works_there_too() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f6")
        lesson = desk.app.screen
        assert isinstance(lesson, LessonScreen)
        assert not lesson.query_one(Heading).display
        await desk.press(BACK, "right", "right")
        assert drawn(lesson.steps[2].title, 200)[0] in heading_of(desk)[0]
        assert not lesson.query_one("#lesson-title").display, "once is enough"
        words, text = lesson.query_one("#lesson-words"), lesson.query_one("#lesson-text")
        assert words.region.bottom <= text.region.y
        assert text.region.height >= 6
        await desk.press(BACK)
        assert not lesson.query_one(Heading).display
        await desk.press("escape", "f7", BACK)
        assert isinstance(desk.app.screen, PagesScreen)
        assert drawn("Card", 200)[0] in heading_of(desk)[0]
        await desk.press("4")
        assert drawn("Reply × parser", 200)[0] in heading_of(desk)[0]
        assert desk.app.has_class("-projected")

    at_the_desk(act, size=SMALL)


@pytest.mark.slow
def test_nothing_of_it_is_remembered(tmp_path: Path) -> None:
    async def act(desk: Desk) -> None:
        desk.app.preferences.toggle_compact()
        desk.main.columns.set_quiet(False)
        await desk.press(BACK)
        assert not desk.app.has_class("-compact")
        desk.app.preferences.remember_layout()

    at_the_desk(act, size=MIDDLE, home=tmp_path)
    found = json.loads(next(tmp_path.rglob("*layout*.json")).read_text("utf-8"))["user"]
    assert (found["theme"], found["compact"], found["quiet"]) == (themes.DARK.name, True, False)


def test_a_terminal_of_sixteen_colours_keeps_its_own() -> None:
    assert themes.projected(themes.OF_THE_TERMINAL, True) == themes.OF_THE_TERMINAL
    assert themes.projected(themes.LIGHT.name, False) == themes.LIGHT_PROJECTED.name


def test_leaving_projector_mode_knows_the_room_of_the_columns_before_they_are_laid_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    laid_out: list[object] = []
    reflow = Compositor.reflow

    def counted(*given: Any) -> Any:
        laid_out.append(given)
        return reflow(*given)

    async def act(desk: Desk) -> None:
        desk.app.theme = themes.OF_THE_TERMINAL
        await desk.press(BACK, BACK, BACK)
        monkeypatch.setattr(Compositor, "reflow", counted)
        await desk.press(BACK)
        await desk.settle()
        assert len(laid_out) <= 2

    at_the_desk(act, size=WIDE)

"""What all columns have alike, and demos, folded to lines that say what they are; nothing of the prompt is lost."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from sessions import examples
from sessions.file import store
from tests.support.open_app import Desk, at_the_desk
from tests.support.screen import assert_harmless, seen
from workbench.state.document import Place
from workbench.tui.widgets.prompt.prompt_view import PromptView


def rows(desk: Desk, column: str) -> list[str]:
    pane = desk.main.columns.column(column)
    assert pane is not None
    return [" ".join(row.lstrip("┃▌╎").split()) for row in seen(pane.prompt)]


def test_one_key_folds_every_prompt_and_opens_all_of_it_again() -> None:
    async def act(desk: Desk) -> None:
        whole = {id: desk.prompt(id) for id in ("chat", "json", "xml")}
        open_rows = {id: rows(desk, id) for id in whole}
        await desk.press("f3", "o")
        for id in whole:
            shown = rows(desk, id)
            assert any(row.startswith("▸ fields and structure ~") for row in shown), shown
            assert "Classify the ticket." in shown, "the instructions are what differs from task to task"
            assert [row for row in shown if row.startswith("▸ user · demo")], "a demo is its title"
            assert not any("It crashes." in row for row in shown)
            assert any("The export is empty." in row for row in shown), "the inputs of the case are in sight"
            assert desk.prompt(id) == whole[id], "what is copied and sent is the whole prompt"
            pane = desk.main.columns.column(id)
            assert pane is not None
            assert_harmless(pane.prompt)
        await desk.press("o")
        assert {id: rows(desk, id)[1:8] for id in whole} == {id: rows[1:8] for id, rows in open_rows.items()}

    at_the_desk(act)


@pytest.mark.slow
def test_a_click_opens_one_message_alone() -> None:
    async def act(desk: Desk) -> None:
        desk.main.columns.set_quiet(True)
        await desk.settle()
        column = desk.main.columns.all[0]
        for text, found in (("▸ user · demo 1", "It crashes."), ("▸ fields and structure", "Your input fields are:")):
            place = next(y for y, row in enumerate(seen(column.prompt)) if text in row)
            await desk.pilot.click(column.prompt, offset=(4, place))
            await desk.settle()
            assert any(found in row for row in rows(desk, "chat"))
        assert not any("▸ fields" in row for row in rows(desk, "chat"))
        assert any("▸ fields" in row for row in rows(desk, "json"))

    at_the_desk(act)


@pytest.mark.slow
def test_what_is_edited_opens_where_it_stands_in_every_prompt() -> None:
    async def act(desk: Desk) -> None:
        desk.main.columns.set_quiet(True)
        await desk.settle()
        desk.main.go_to(Place("demo", row=0, field="ticket"))
        await desk.settle()
        await desk.type("Now: ")
        for id in ("chat", "json", "xml"):
            assert any("Now: It crashes." in row for row in rows(desk, id)), rows(desk, id)

    at_the_desk(act)


@pytest.mark.slow
def test_what_is_searched_for_is_found_in_what_is_folded() -> None:
    async def act(desk: Desk) -> None:
        desk.main.columns.set_quiet(True)
        await desk.press("ctrl+f")
        await desk.type("Your output fields")
        await desk.press("enter")
        await desk.settle()
        assert any("Your output fields are:" in row for row in rows(desk, "chat"))

    at_the_desk(act)


@pytest.mark.slow
def test_the_first_start_is_quiet_and_how_it_was_left_is_remembered(tmp_path: Path) -> None:
    async def first(desk: Desk) -> None:
        await desk.until(lambda: desk.main.columns.is_quiet, "for the first start")
        await desk.press("f3", "o")
        assert not desk.main.columns.is_quiet
        await desk.press("escape")

    async def second(desk: Desk) -> None:
        assert not desk.main.columns.is_quiet
        desk.main.columns.set_quiet(True)
        desk.app.preferences.remember_layout()

    async def third(desk: Desk) -> None:
        await desk.until(lambda: desk.main.columns.is_quiet, "for what was left")

    for act in (first, second, third):
        at_the_desk(act, home=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(200, 60), (80, 24)])
def test_a_session_of_ones_own_is_quiet_too_until_one_has_said_otherwise(tmp_path: Path, size: tuple[int, int]) -> None:
    """Its prompt would be cut off by a reply, above its own words, however high the screen is."""
    own, path = examples.load(examples.FIRST), tmp_path / "own.session.json"
    store.save(own, path)

    async def first(desk: Desk) -> None:
        assert desk.main.columns.is_quiet
        await desk.press("f3", "o")
        desk.app.preferences.remember_layout()

    async def second(desk: Desk) -> None:
        assert not desk.main.columns.is_quiet

    for act in (first, second):
        at_the_desk(act, session=own, path=path, home=tmp_path, size=size)


def _stands(view: PromptView, is_whole: bool) -> bool:
    return (view.rows_in_full <= view.page_height) == is_whole


@pytest.mark.slow
def test_what_is_folded_fills_what_would_be_blank_and_no_more() -> None:
    async def act(desk: Desk) -> None:
        desk.main.columns.set_quiet(True)
        for size in ((120, 35), (200, 60), (160, 30), (120, 35)):
            await desk.pilot.resize_terminal(*size)
            await desk.settle()
            for pane in desk.main.columns.all[: desk.main.columns.in_sight_count]:
                view, fits = pane.prompt, size == (200, 60)
                await desk.until(partial(_stands, view, fits), f"until it is laid out for {size}")
                shown, is_whole = rows(desk, pane.column_id), view.rows_in_full <= view.page_height
                assert shown[1].startswith("▾ fields" if is_whole else "▸ fields")
                assert shown[2] == "Your input fields are:"
                last = shown[shown.index("Read the receipt.") - 1]
                assert last.endswith("⋯") != is_whole, "it says whether there is more"
                assert view.virtual_size.height <= view.page_height, "what is the task's own stays in sight"
                blank = view.page_height - view.virtual_size.height
                assert is_whole or blank <= 3, "rows that would be blank are put to use"

    at_the_desk(act, session=examples.load(examples.FIRST), size=(120, 35))


def test_the_cursor_goes_into_what_fills_the_room_and_opens_all_of_it() -> None:
    async def act(desk: Desk) -> None:
        desk.main.columns.set_quiet(True)
        await desk.settle()
        await desk.press("f3", "down")
        column = desk.main.columns.all[0]
        assert any("⋯" in row for row in rows(desk, "chat")) and column.prompt.has_focus
        await desk.press("space")
        assert not any(row.startswith("▸ fields") for row in rows(desk, "chat"))
        assert any(row.startswith("▸ fields") for row in rows(desk, "json"))
        await desk.press("o")
        assert not any(row.startswith("▸") for row in rows(desk, "json"))

    at_the_desk(act, session=examples.load(examples.FIRST), size=(120, 35))

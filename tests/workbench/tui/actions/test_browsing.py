"""Among many sessions one is found by a part of anything that is known of it."""

from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import OptionList

from sessions.errors import SessionError
from sessions.file import store
from sessions.model.session import Case
from tests.support.open_app import SIZES, TICKETS, Desk, at_the_desk
from tests.support.screen import seen
from workbench.tui.actions.browsing import BrowseScreen, entries_of
from workbench.tui.launch import run_app
from workbench.tui.widgets.field_form import FieldEditor
from workbench.tui.widgets.text.plain import PlainStatic


def glance(desk: Desk) -> str:
    return desk.app.screen.query_one("#browse-glance", PlainStatic).render().plain  # type: ignore[union-attr]


@pytest.mark.slow
def test_a_session_is_found_by_its_tag_and_seen_before_it_is_opened(tmp_path: Path) -> None:
    store.save(TICKETS, tmp_path / "a.json")
    store.save(replace(TICKETS, name="bills [/x]", notes="#money"), tmp_path / "b.json")
    (tmp_path / "c.json").write_text("{")

    async def act(desk: Desk) -> None:
        await desk.press("ctrl+o")
        screen = desk.app.screen
        assert isinstance(screen, BrowseScreen)
        await desk.until(lambda: len(screen._cards) > 5)
        assert "tickets" in glance(desk) and "Classify" in glance(desk)
        await desk.type("c.js")
        assert "the file ends in the middle" in glance(desk)
        await desk.fill_in("zzz")
        await desk.press("down", "enter")
        assert glance(desk) == "" and "no match" in "".join(seen(screen.query_one(OptionList)))
        await desk.fill_in("#mon")
        assert glance(desk).startswith("bills [/x]  #money\n2 cases · 3 demos · 0 recorded")
        await desk.press("enter")
        assert desk.document.session.name == "bills [/x]"

    at_the_desk(act, path=tmp_path / "a.json")


def test_files_opened_before_come_first_and_only_once(tmp_path: Path) -> None:
    for name in ("a", "b"):
        store.save(TICKETS, tmp_path / f"{name}.json")
    found = entries_of(tmp_path, [tmp_path / "b.json", tmp_path / "gone.json"])
    assert [(one.name, one.about) for one in found[:3]] == [
        ("b.json", "opened recently"),
        ("a.json", "in this folder"),
        ("receipt", "example"),
    ]


def test_a_file_with_the_text_of_an_error_opens_as_the_failed_call(tmp_path: Path) -> None:
    said = "Adapter ChatAdapter failed to parse the LM response. \n\nLM Response: [[ ## x ## ]] \n\n"
    (tmp_path / "log.txt").write_text(f"{said}Expected to find output fields in the LM response: [x, y] \n\n")

    async def act(desk: Desk) -> None:
        for name, then in (("log.txt", "pasted call"), ("a.json", TICKETS.name)):
            await desk.press("ctrl+o")
            await desk.fill_in(str(tmp_path / name))
            await desk.press("enter")
            assert desk.document.session.name == then

    store.save(replace(TICKETS, cases=(Case("c", extra={"imported": {"outputs": [said]}}),)), tmp_path / "a.json")
    at_the_desk(act, path=tmp_path / "a.json")


@pytest.mark.parametrize("size", SIZES)
def test_the_keys_stay_in_view_below_many_files_and_a_long_preview(size: tuple[int, int], tmp_path: Path) -> None:
    for number in range(20):
        store.save(TICKETS, tmp_path / f"{number}.json")

    async def act(desk: Desk) -> None:
        await desk.press("ctrl+o")
        await desk.until(lambda: "tickets" in glance(desk))
        dialog, keys = [desk.app.screen.query_one(one).region for one in (".dialog", ".dialog-hint")]
        assert keys.height and keys in dialog.shrink((1, 1, 1, 1))

    at_the_desk(act, path=tmp_path / "0.json", size=size)


def test_a_session_that_cannot_be_read_is_not_opened_as_the_call_that_it_keeps(tmp_path: Path) -> None:
    path = tmp_path / "newer.json"
    store.save(replace(TICKETS, cases=(Case("c", extra={"imported": {"messages": [], "outputs": ["a"]}}),)), path)
    path.write_text(path.read_text("utf-8").replace('"format": 1,', '"format": 99,'), "utf-8")
    with pytest.raises(SessionError, match="written by a newer workbench"):
        run_app(str(path))

    async def act(desk: Desk) -> None:
        await desk.press("ctrl+o")
        await desk.fill_in(str(path))
        await desk.press("enter")
        assert desk.document.session.name == TICKETS.name
        (said,) = [one.message for one in desk.app._notifications]
        assert "format 99, and this one reads format 1" in said

    at_the_desk(act)


def test_a_home_folder_that_nobody_has_is_no_file(tmp_path: Path) -> None:
    async def act(desk: Desk) -> None:
        await desk.press("ctrl+o")
        await desk.fill_in("~nobody-of-this-name/a.json")
        await desk.press("enter")
        (said,) = [one.message for one in desk.app._notifications]
        assert said == "~nobody-of-this-name/a.json: there is no such file (`workbench new` makes a session)"

    store.save(TICKETS, tmp_path / "a.json")
    at_the_desk(act, path=tmp_path / "a.json")


@pytest.mark.slow
def test_a_new_session_begins_with_the_form() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("ctrl+p")
        await desk.type("new session")
        await desk.press("enter")
        await desk.until(lambda: desk.document.session.name == "new session")
        assert desk.main.editors.signature.view == "form"
        assert not desk.main.editors.inputs.query(FieldEditor), "no field of the session before"
        await desk.press("enter")
        await desk.fill_in("Extract")
        await desk.press("enter", "escape")
        assert "class Extract" in desk.document.session.signature.text

    at_the_desk(act)

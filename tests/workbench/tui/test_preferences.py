"""The screen is as its user likes it, and as it was left."""

from dataclasses import replace
from pathlib import Path

import pytest

from sessions.file import store
from tests.support.open_app import MANY_COLOURS, MIDDLE, TICKETS, Desk, at_the_desk
from workbench.tui.app import WorkbenchApp
from workbench.tui.dialogs.choose import ChooseThemeScreen
from workbench.tui.keys import USUAL
from workbench.tui.widgets.guide import Guide
from workbench.tui.widgets.prompt.prompt_section import Origin
from workbench.tui.widgets.text.plain import PlainStatic


def configure(home: Path, text: str) -> None:
    place = home / "config" / "adapter-workbench" / "config.toml"
    place.parent.mkdir(parents=True)
    place.write_text(text, encoding="utf-8")


def toasts(desk: Desk) -> str:
    return "\n".join(f"{one.title}\n{one.message}" for one in desk.app._notifications)


@pytest.mark.slow
def test_the_layout_is_as_it_was_left(tmp_path: Path) -> None:
    path = tmp_path / "tickets.json"
    store.save(TICKETS, path)
    shares: list[float | None] = []

    async def leave(desk: Desk) -> None:
        usual = desk.main.columns.shares.said
        desk.main.columns.resize_prompts(0.2)
        shares.extend([usual, desk.main.columns.shares.said])
        desk.main.show_case(1)
        await desk.press("f11", "f11")
        await desk.press("f2")
        await desk.press("f2")
        assert desk.main.editors.tab == "demos"
        prompt = desk.main.columns.all[1].prompt
        prompt.unfold([Origin("value", "ticket", "demo 1")])
        desk.app.preferences.toggle_compact()
        desk.app.preferences.set_theme("nord")
        await desk.press("ctrl+q")

    async def come_back(desk: Desk) -> None:
        assert desk.main.editors.tab == "demos"
        await desk.press("z")  # as the first key: no hidden editor takes it
        assert desk.document.session.signature == TICKETS.signature
        await desk.press("f2")
        assert desk.main.editors.tab == "demos"
        assert desk.document.state.case.name == "second"
        assert shares[0] != shares[1] == round(desk.main.columns.shares.said or 0.0, 2)
        assert desk.main.editors.signature.view == "both"
        assert desk.app.theme == "nord"
        assert desk.app.has_class("-compact")
        opened = [{one for one in column.prompt.unfolded if one.kind == "value"} for column in desk.main.columns.all]
        assert opened == [set(), {Origin("value", "ticket", "demo 1")}, set()]
        assert not desk.document.dirty

    at_the_desk(leave, path=path, home=tmp_path)
    at_the_desk(come_back, path=path, home=tmp_path)


@pytest.mark.slow
def test_nothing_is_remembered_for_whoever_does_not_want_it(tmp_path: Path) -> None:
    configure(tmp_path, "remember_layout = false\n")

    async def leave(desk: Desk) -> None:
        await desk.press("f2", "f2", "ctrl+q")

    at_the_desk(leave, home=tmp_path)
    assert not (tmp_path / "state" / "adapter-workbench" / "layout.json").exists()


def test_the_config_gives_theme_and_keys(tmp_path: Path) -> None:
    configure(tmp_path, 'theme = "workbench-light"\ncompact = true\n[keymap]\n"app.cases" = "f9"\n"app.chek" = "f5"\n')

    async def act(desk: Desk) -> None:
        assert desk.app.theme == "workbench-light"
        assert desk.app.has_class("-compact")
        await desk.until(lambda: "app.chek" in toasts(desk))
        assert "did you mean app.check?" in toasts(desk)
        assert "f9 is given to app.cases and app.check" in toasts(desk)
        assert "config.toml:3" in toasts(desk)
        await desk.press("f9")
        assert type(desk.app.screen).__name__ == "CasesScreen"

    at_the_desk(act, home=tmp_path)


def test_a_config_that_cannot_be_read_is_told_and_nothing_more(tmp_path: Path) -> None:
    configure(tmp_path, 'theme = "[/x]"\n')

    async def act(desk: Desk) -> None:
        await desk.until(lambda: "config.toml:1: theme" in toasts(desk))
        assert desk.app.theme == "workbench-dark"

    at_the_desk(act, home=tmp_path)


@pytest.mark.slow
def test_a_theme_is_seen_before_it_is_taken(tmp_path: Path) -> None:
    async def act(desk: Desk) -> None:
        desk.app.ask(desk.app.preferences.choose_theme())
        await desk.until(lambda: isinstance(desk.app.screen, ChooseThemeScreen))
        await desk.press("down", "down")
        assert desk.app.theme == "workbench-light"
        await desk.press("escape")
        assert desk.app.theme == "workbench-dark"
        desk.app.ask(desk.app.preferences.choose_theme())
        await desk.until(lambda: isinstance(desk.app.screen, ChooseThemeScreen))
        await desk.type("nor")
        await desk.press("enter")
        assert desk.app.theme == "nord"

    at_the_desk(act)


def test_the_app_reads_no_config_unless_it_is_told_to() -> None:
    app = WorkbenchApp(replace(TICKETS))
    assert app.preferences.settings is None
    assert app.preferences.key_words is USUAL


@pytest.mark.slow
def test_the_first_launch_explains_itself_once(tmp_path: Path) -> None:
    async def first(desk: Desk) -> None:
        await desk.until(lambda: desk.app.screen.query("Guide"))
        said = desk.app.screen.query_one(Guide).render().plain
        assert "F5 sends" in said and "esc hides" in said and "^q quits" in said
        await desk.press("escape")
        assert not desk.app.screen.query("Guide")

    async def second(desk: Desk) -> None:
        assert not desk.app.screen.query("Guide")

    at_the_desk(first, home=tmp_path)
    at_the_desk(second, home=tmp_path)


def test_a_start_without_a_file_says_how_the_own_session_is_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "mine.session.json"
    store.save(TICKETS, path)

    async def first(desk: Desk) -> None:
        assert "opens" not in desk.main.status.render().plain
        desk.app.exit()

    async def second(desk: Desk) -> None:
        await desk.until(lambda: "^o opens mine.session.json again" in desk.main.status.render().plain, "for its name")
        shown = desk.main.status.render().plain
        assert all(key in shown for key in ("F1 help", "F2 edit", "F5 send", "^s save", "^q quit")), shown
        await desk.press("ctrl+o", "enter")
        await desk.until(lambda: desk.document.path == path, "for the file")
        assert "again" not in desk.main.status.render().plain

    at_the_desk(first, path=path, home=tmp_path)
    at_the_desk(second, home=tmp_path, size=MIDDLE)


def test_help_names_the_id_of_every_key() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f1")
        shown = desk.app.screen.query_one(".dialog-text", PlainStatic).render().plain  # type: ignore[union-attr]
        assert "app.save" in shown and "editor.complete" in shown

    at_the_desk(act)


SIXTEEN = {"TERM": "screen", "COLORTERM": ""}


@pytest.mark.slow
def test_a_terminal_of_sixteen_colours_gets_its_own_and_another_one_ours(tmp_path: Path) -> None:
    seen: list[str] = []

    async def look(desk: Desk) -> None:
        seen.append(desk.app.theme)
        await desk.press("ctrl+q")

    for colours in (SIXTEEN, MANY_COLOURS, SIXTEEN):
        at_the_desk(look, home=tmp_path, terminal=colours)
    assert seen == ["ansi-dark", "workbench-dark", "ansi-dark"], "what was not chosen is not remembered"


@pytest.mark.slow
def test_a_theme_that_was_chosen_stands_on_every_terminal(tmp_path: Path) -> None:
    seen: list[str] = []

    async def choose(desk: Desk) -> None:
        desk.app.preferences.set_theme("workbench-light")
        await desk.press("ctrl+q")

    async def look(desk: Desk) -> None:
        seen.append(desk.app.theme)
        await desk.press("ctrl+q")

    at_the_desk(choose, home=tmp_path)
    at_the_desk(look, home=tmp_path, terminal=SIXTEEN)
    assert seen == ["workbench-light"]

"""Everything the app can do is in the palette, with its key or with the reason why it has none."""

import inspect
from pathlib import Path

import pytest
from key_lists import WITHOUT_KEY, WITHOUT_KEY_IN_A_CLASS
from textual.command import CommandList
from textual.content import Content
from textual.css.styles import RulesMap
from textual.fuzzy import FuzzySearch, Matcher
from textual.widgets import Input

from sessions.model.session import Session, SignatureText
from tests.support.open_app import Desk, at_the_desk
from tests.support.screen import seen
from workbench.config.confinement import Confinement
from workbench.tui.app import WorkbenchApp
from workbench.tui.keys import ACTIONS
from workbench.tui.palette import commands_of, provider_of
from workbench.tui.teacher import Teacher
from workbench.tui.widgets.text.plain import palette_hit

OF_TEXTUAL = {"help_quit"}
"""What a key of Textual's own calls, and we answer: ctrl+c."""


def own_actions() -> set[str]:
    return {
        name.removeprefix("action_")
        for cls in WorkbenchApp.__mro__
        if cls.__module__.startswith("workbench.")
        for name, one in vars(cls).items()
        if name.startswith("action_") and inspect.isfunction(one)
    }


def test_every_action_has_a_key() -> None:
    assert own_actions() - OF_TEXTUAL == ACTIONS


@pytest.mark.slow
def test_every_command_has_a_key_or_a_reason(tmp_path: Path) -> None:
    async def act(desk: Desk) -> None:
        assert not any("teacher" in one.name for one in commands_of(desk.app, desk.app.screen)), "of a class alone"
        desk.app.teacher = Teacher(desk.app, lambda place, before: "", lambda: None)
        assert any("teacher" in one.name for one in commands_of(desk.app, desk.app.screen))
        found: dict[str, str] = {}
        for key in ("f2", "f3", "f4", "f11"):
            await desk.press(key)
            found |= {one.name: one.about for one in commands_of(desk.app, desk.app.screen)}
        keyed = {name for name in found if "   " in name}
        others = found.keys() - keyed
        assert {name for name in others if not name.startswith(tuple(WITHOUT_KEY))} == set()
        assert {start for start in WITHOUT_KEY if not any(name.startswith(start) for name in others)} == set()
        assert all(found.values())
        names = {name.partition("   ")[0] for name in keyed}
        assert {"Send", "Find", "Jump", "Form", "Runs", "Add", "Next piece", "Open"} <= names
        assert all(not name.endswith("   ") for name in keyed)
        desk.app.confinement = Confinement(tmp_path)
        more = {one.name for one in commands_of(desk.app, desk.app.screen)} - found.keys()
        assert [name.startswith(tuple(WITHOUT_KEY_IN_A_CLASS)) for name in more] == [True] * len(WITHOUT_KEY_IN_A_CLASS)

    at_the_desk(act)


@pytest.mark.slow
def test_a_word_of_the_description_finds_what_is_called_otherwise() -> None:
    found: list[str] = []

    async def act(desk: Desk) -> None:
        provider = provider_of(desk.app)(desk.app.screen)
        found.extend([str(hit.text) async for hit in provider.search("accept")])
        found.extend([str(hit.text) async for hit in provider.search("ac")])

    at_the_desk(act)
    assert found[0] == "Check   F9", "the key as the last line and the help write it"
    assert len([one for one in found if one.startswith("Check")]) == 1, "two letters are no word"


@pytest.mark.slow
def test_a_word_of_the_description_comes_before_letters_that_are_scattered_over_a_name() -> None:
    found: list[tuple[float, str]] = []

    async def act(desk: Desk) -> None:
        provider = provider_of(desk.app)(desk.app.screen)
        found.extend([(hit.score, str(hit.text)) async for hit in provider.search("host")])

    at_the_desk(act)
    assert max(found)[1] == "Reset API key permissions", "its description says hosts"
    assert len(found) > 1, "names that have the letters"


def test_the_letters_of_a_name_are_compared_in_one_go_and_not_in_all_combinations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    score, scored = FuzzySearch.score, iter(range(3))

    def counted(self: FuzzySearch, name: str, places: list[int]) -> float:
        next(scored)
        return score(self, name, places)

    monkeypatch.setattr(FuzzySearch, "score", counted)
    assert palette_hit(Matcher("aabb" * 5), "ab" * 40, print)
    initials = palette_hit(Matcher("mrfp"), "More room for prompts", print)
    assert initials and isinstance(initials.match_display, Content)
    assert [one.start for one in initials.match_display.spans] == [0, 5, 10, 14]


def test_a_pasted_page_matches_no_command() -> None:
    assert palette_hit(Matcher("lorem " * 200), "Ipsum", print, "lorem ipsum") is None


def test_enter_in_the_same_breath_takes_what_was_typed_and_not_what_was_offered_before() -> None:
    async def act(desk: Desk) -> None:
        before = desk.main.query_one("#editors").outer_size.width
        await desk.press("ctrl+p")
        offered = desk.app.screen.query_one(CommandList)
        await desk.until(lambda: offered.option_count > 5, "for what is offered before anything is typed")
        typed = desk.app.screen.query_one(Input)
        typed.value = "more room for columns"
        await typed.action_submit()
        await desk.until(lambda: not offered.is_attached, "for the palette to close")
        assert desk.app.screen is desk.main
        await desk.until(lambda: desk.main.query_one("#editors").outer_size.width < before, "for the layout")

    at_the_desk(act)


def test_what_nothing_is_called_does_nothing() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("ctrl+p")
        palette = desk.app.screen
        offered = palette.query_one(CommandList)
        await desk.until(lambda: offered.option_count > 5, "for what is offered before anything is typed")
        typed = palette.query_one(Input)
        typed.value = "zzzz"
        await typed.action_submit()
        await desk.until(lambda: offered.option_count <= 1, "for what was offered to go")
        assert desk.app.screen is palette

    at_the_desk(act)


def test_an_empty_session_says_what_is_written_where_and_a_handout_is_found_by_that_word() -> None:
    async def act(desk: Desk) -> None:
        painted = " ".join(" ".join(seen(desk.main.query_one("#signature-editor"))).split())
        assert "question -> answer: str or paste a class of your program" in painted
        found = [one.name for one in commands_of(desk.app, desk.main) if "handout" in f"{one.name} {one.about}"]
        assert found == ["Export as page for a browser"]

    at_the_desk(act, Session(SignatureText("")))


def test_opening_measures_each_entry_no_more_than_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[Content] = []
    measure = Content.get_height

    def counted(self: Content, rules: RulesMap, width: int) -> int:
        measured.append(self)
        return measure(self, rules, width)

    async def act(desk: Desk) -> None:
        monkeypatch.setattr(Content, "get_height", counted)
        await desk.press("ctrl+p")
        entries = desk.app.screen.query_one(CommandList)
        await desk.until(lambda: entries.size.height > 10, "for the list, which is as high as it may be")
        await desk.settle()
        assert entries.virtual_size.height > entries.option_count > desk.app.size.height
        assert 0 < len([one for one in measured if "\n" in one.plain]) <= 2 * entries.option_count

    at_the_desk(act)

"""The editor holds the text it was given, to the character, plus the user's own edits."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from tests.support.hostile import HOSTILE, NAMES
from tests.support.screen import Stage, assert_harmless, on_stage
from workbench.tui.widgets.text.editor import LONGEST_WRAPPED_LINE, Editor, Mark

Edit = Stage[Editor]


def made(text: str = "", **options: object) -> tuple[Editor, list[str]]:
    told: list[str] = []
    return Editor(text, on_edit=told.append, **options), told  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMES)
def test_any_text_goes_in_and_out_unchanged_and_paints_nothing_harmful(name: str) -> None:
    text = HOSTILE[name]
    editor, told = made()

    async def act(stage: Edit, pilot: Pilot[None]) -> None:
        editor.show(text)
        await pilot.pause()
        assert editor.raw == text
        assert_harmless(editor)

    on_stage(editor, act)
    assert told == []


@pytest.mark.parametrize("name", NAMES)
def test_a_key_changes_only_its_own_place(name: str) -> None:
    text = HOSTILE[name]
    editor, told = made(text)

    async def act(stage: Edit, pilot: Pilot[None]) -> None:
        editor.focus()
        editor.move_cursor(editor.document.end)
        await pilot.press("z")
        editor.move_cursor((0, 0))
        await pilot.press("a")

    on_stage(editor, act)
    assert told == [text + "z", "a" + text + "z"]
    assert editor.raw == "a" + text + "z"


@pytest.mark.parametrize("name", NAMES)
def test_a_paste_keeps_its_characters_but_for_the_terminals_line_breaks(name: str) -> None:
    text = HOSTILE[name]
    editor, told = made("[]")

    async def act(stage: Edit, pilot: Pilot[None]) -> None:
        editor.type_over(text, (0, 1), (0, 1))

    on_stage(editor, act)
    assert told == ["[" + text.replace("\r\n", "\n").replace("\r", "\n") + "]"]


def test_showing_a_text_is_no_edit() -> None:
    editor, told = made("one")

    async def act(stage: Edit, pilot: Pilot[None]) -> None:
        for text in ("one two", "one", "something else altogether", ""):
            editor.show(text)
            await pilot.pause()

    on_stage(editor, act)
    assert told == []


def test_showing_a_text_much_like_it_leaves_the_rest_alone_and_goes_to_the_place() -> None:
    editor, _ = made("first line\nsecond line\nthird line")

    async def act(stage: Edit, pilot: Pilot[None]) -> None:
        editor.show("first line\nsecond longer line\nthird line")

    on_stage(editor, act)
    assert editor.cursor_location[0] == 1


@pytest.mark.parametrize(
    ("key", "chosen"), [("ctrl+shift+end", "cond line\nthird line"), ("ctrl+shift+home", "first line\nse")]
)
def test_all_from_the_cursor_to_either_end_is_selected_by_a_key(key: str, chosen: str) -> None:
    editor, told = made("first line\nsecond line\nthird line")

    async def act(stage: Edit, pilot: Pilot[None]) -> None:
        editor.focus()
        editor.go_to(2, 3)
        await pilot.press(key)
        assert editor.selected_text == chosen

    on_stage(editor, act)
    assert told == []


def test_very_long_lines_are_not_wrapped() -> None:
    editor, _ = made("short")

    async def act(stage: Edit, pilot: Pilot[None]) -> None:
        editor.show("x" * (LONGEST_WRAPPED_LINE + 1))
        assert not editor.soft_wrap
        editor.show("x")
        assert editor.soft_wrap

    on_stage(editor, act)


def test_python_keeps_its_indentation() -> None:
    editor, told = made("class S:", syntax="python")

    async def act(stage: Edit, pilot: Pilot[None]) -> None:
        editor.focus()
        editor.move_cursor(editor.document.end)
        await pilot.press("enter", "x", "enter", "y")

    on_stage(editor, act)
    assert told[-1] == "class S:\n    x\n    y"


def test_marks_beyond_the_text_do_no_harm() -> None:
    editor, _ = made('{"a": }', syntax="json")

    async def act(stage: Edit, pilot: Pilot[None]) -> None:
        editor.mark([Mark(0, 6, 7, "error"), Mark(40, 3, 9, "lit"), Mark(0, 90, 91, "error")])
        await pilot.pause()
        assert_harmless(editor)
        editor.go_to(99, 99)

    on_stage(editor, act)


def test_the_cursor_stays_in_sight_when_the_editor_gets_smaller() -> None:
    editor, _ = made("\n".join([f"line {number}" for number in range(40)]))

    async def act(stage: Edit, pilot: Pilot[None]) -> None:
        editor.focus()
        await pilot.press("ctrl+end")
        editor.styles.height = 6
        await pilot.pause()
        await pilot.pause()
        assert editor.scroll_offset.y + editor.size.height >= 40

    on_stage(editor, act)

"""A newcomer names a field and chooses its type, and every key does what the dialog says."""

from collections.abc import Awaitable, Callable

import pytest
from textual.widgets import Input

from sessions.model.session import Column, Session, SignatureText
from tests.support.open_app import MIDDLE, SMALL, Desk, at_the_desk
from tests.support.screen import seen
from workbench.tui.dialogs.field import FieldScreen
from workbench.tui.widgets.row_list import RowList

OWN = Session(SignatureText("class E(dspy.Signature):\n    text: str = dspy.InputField()\n"))


def new_output(act: Callable[[Desk], Awaitable[None]]) -> None:
    """Opens the dialog for an output of an own signature, with its name typed."""

    async def begin(desk: Desk) -> None:
        await desk.press("f11", "home", "ctrl+n")
        await desk.type("tags")
        await act(desk)

    at_the_desk(begin, OWN, size=MIDDLE)


def source(desk: Desk) -> str:
    return desk.document.session.signature.text


def hint(desk: Desk) -> str:
    return " ".join(" ".join(seen(desk.app.screen.query_one(".dialog-hint"))).split())


def test_tab_goes_from_the_name_to_the_type_and_letters_never_change_the_direction() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("tab")
        await desk.type("list")
        assert desk.app.screen.query_one("#field-type", Input).value == "list"
        await desk.press("tab", "tab")
        await desk.type("i")
        await desk.press("enter")
        assert "tags: list = dspy.OutputField()" in source(desk)

    new_output(act)


def test_arrows_and_space_change_the_direction() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("shift+tab", "left", "right", "space", "enter")
        assert "tags: str = dspy.InputField()" in source(desk)

    new_output(act)


def test_words_with_commas_are_offered_and_taken_as_a_choice() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("tab")
        await desk.type("calm, angry, sad")
        assert seen(desk.app.screen.query_one("#field-types"))[0].strip().startswith("one of calm, angry, sad")
        await desk.press("enter")
        assert 'tags: Literal["calm", "angry", "sad"] = dspy.OutputField()' in source(desk)

    new_output(act)


def test_enter_takes_the_top_row_for_a_text_that_is_no_type_and_never_hides_an_error() -> None:
    async def act(desk: Desk) -> None:
        kind = desk.app.screen.query_one("#field-type", Input)
        await desk.press("tab")
        await desk.type("one")
        await desk.press("enter")
        assert kind.value == "one of " and kind.has_focus
        await desk.press("enter")
        assert desk.app.screen.query_one(".field-error").render().plain.startswith("✗ ")  # type: ignore[attr-defined]
        await desk.type("red, green")
        desk.app.screen.query_one("#field-name", Input).value = "text"
        await desk.press("enter")
        assert "text already exists" in desk.app.screen.query_one(".field-error").render().plain  # type: ignore[attr-defined]
        desk.app.screen.query_one("#field-name", Input).value = "tags"
        await desk.press("enter")
        assert 'tags: Literal["red", "green"] = dspy.OutputField()' in source(desk)

    new_output(act)


def test_enter_takes_the_top_row_for_a_list_whose_items_have_no_type_yet() -> None:
    async def act(desk: Desk) -> None:
        kind = desk.app.screen.query_one("#field-type", Input)
        await desk.press("tab")
        await desk.type("list")
        await desk.press("enter")
        assert kind.value == "list[str]"
        assert desk.app.screen.query_one("#field-about", Input).has_focus
        await desk.type("what is asked")
        await desk.press("enter")
        assert 'tags: list[str] = dspy.OutputField(desc="what is asked")' in source(desk)

    new_output(act)


def test_a_bare_list_that_the_source_has_stays_one() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f11", "home", "down", "enter", "tab", "enter")
        assert "text: list = dspy.InputField()" in source(desk)

    written = OWN.signature.text.replace("str", "list")
    at_the_desk(act, Session(SignatureText(written)), size=MIDDLE)


def test_arrows_choose_among_the_types_that_match_also_before_the_change_of_the_text_is_reported() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("tab")
        dialog = desk.app.screen
        assert isinstance(dialog, FieldScreen)
        with dialog.prevent(Input.Changed):
            dialog.query_one("#field-type", Input).value = "list"
            dialog.action_move(1)
        dialog.action_accept()
        assert dialog.query_one("#field-type", Input).value == "list[str]"
        await desk.press("escape")

    new_output(act)


def test_the_hint_names_the_keys_of_the_focused_part_and_a_bar_marks_it() -> None:
    async def act(desk: Desk) -> None:
        name, kind = (desk.app.screen.query_one(f"#field-{one}", Input) for one in ("name", "type"))
        assert hint(desk) == "tab next field enter accept esc close"
        assert (name.styles.border_left[0], kind.styles.border_left[0]) == ("outer", "")
        await desk.press("tab")
        assert hint(desk) == "↑↓ choose a type, enter takes it tab next field enter accept esc close"
        assert (name.styles.border_left[0], kind.styles.border_left[0]) == ("", "outer")
        await desk.press("shift+tab", "shift+tab")
        assert hint(desk).startswith("←→ choose")

    new_output(act)


@pytest.mark.parametrize("size", [MIDDLE, SMALL])
def test_both_rows_that_add_fields_are_in_sight_while_there_is_no_output(size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        desk.app.guidance.show("own")
        await desk.press("f11", "enter", "enter")  # the first input is asked for at once
        for name, keys in (("subject", ()), ("sender", ("down", "enter"))):
            await desk.press(*keys)
            assert isinstance(desk.app.screen, FieldScreen)
            await desk.type(name)
            await desk.press("enter")
            rows = " ".join(seen(desk.main.query_one("SignatureForm RowList", RowList)))
            assert "+ add an input" in rows and "+ add an output" in rows, rows

    at_the_desk(act, Session(SignatureText("")), size=size)


def test_a_new_signature_is_asked_for_with_an_example_of_a_whole_one() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f11", "enter")
        said = "type another name over it, or a whole signature: `mail -> tags: list[str]` enter accept esc close"
        assert hint(desk) == said
        await desk.type("mail -> mood: Literal['calm', 'angry', 'sad']")
        await desk.press("enter")
        assert seen(desk.main.query_one("SignatureForm RowList"))[0].strip() == "Signature (short form)"
        column = desk.main.columns.column("chat")
        assert column is not None and "mood Literal['calm', 'angry', 'sad']" in str(column.reply.placeholder)

    at_the_desk(act, Session(SignatureText(""), columns=(Column("chat", "chat"),)), size=MIDDLE)


def test_all_fields_of_a_short_signature_are_in_sight_once_it_is_typed_in_a_small_terminal() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f11", "enter")
        await desk.type("review, shop -> mood, reasons")
        await desk.press("enter")
        await desk.settle()
        rows = [one.strip() for one in seen(desk.main.query_one("SignatureForm RowList"))]
        assert rows[:3] == ["Signature (short form)", "in  review       str", "in  shop         str"], rows

    at_the_desk(act, Session(SignatureText(""), columns=(Column("chat", "chat"),)), size=SMALL)

"""A signature is built without writing Python, and the source beside it says the same."""

from dataclasses import replace
from unittest.mock import patch

import pytest
from textual import events
from textual.widget import Widget
from textual.widgets import Input

from sessions.model.session import Column, Predictor, Session, SignatureText
from tests.support.open_app import CLASSIFY, SMALL, TICKETS, Desk, at_the_desk
from tests.support.screen import seen
from workbench.state.document import Place
from workbench.tui.dialogs.ask import AskScreen, ConfirmScreen
from workbench.tui.dialogs.field import FieldScreen
from workbench.tui.panes.signature_form import SignatureForm
from workbench.tui.widgets.row_list import RowList


def source(desk: Desk) -> str:
    return desk.document.session.signature.text


async def fill(desk: Desk, **texts: str) -> None:
    """Fills in the field dialog, and takes it."""
    for name, text in texts.items():
        desk.app.screen.query_one(f"#field-{name}", Input).value = text
    await desk.press("enter")


async def named(desk: Desk, name: str) -> None:
    desk.app.screen.query_one(Input).value = name
    await desk.press("enter")


async def build(desk: Desk) -> None:
    """The whole way from nothing to a signature with a model, an enum and a list of words."""
    await desk.press("f11", "enter")
    await named(desk, "Extract")
    await desk.press("escape")
    assert "class Extract(dspy.Signature):" in source(desk)
    await desk.press("m")
    await named(desk, "Line")
    await desk.press("ctrl+n")
    await fill(desk, name="price", type="number", about="net")
    await desk.press("e")
    await named(desk, "Kind")
    await desk.press("enter")
    await fill(desk, type="a bill")
    assert 'FIRST = "a bill"' in source(desk)
    await desk.press("home", "down", "down", "down", "enter")
    await fill(desk, name="lines", type="list of Line", about="every [line]")
    await desk.press("enter")  # the cursor is where another one is added
    await fill(desk, name="mood", type="one of glad, [/x]")
    signature = desk.document.session.signature.read()
    assert list(signature.input_fields) == ["text"]
    assert list(signature.output_fields) == ["lines", "mood"]
    assert signature.output_fields["lines"].desc == "every [line]"
    assert 'Literal["glad", "[/x]"]' in source(desk)


def test_the_first_letter_typed_begins_a_signature_whatever_key_it_is_elsewhere() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f11")
        for letter in ("q", "e", "m", "a", "x", "K"):
            await desk.press(letter, "s")
            assert desk.app.screen.query_one(Input).value == f"{letter}s"
            await desk.press("escape")
        await desk.press(*"mail ", "minus", "greater_than_sign", *" tags", "enter")
        assert source(desk) == "mail -> tags"

    at_the_desk(act, Session(SignatureText("")))


def test_letters_that_come_before_the_dialog_has_the_focus_are_not_lost() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f11")
        for letter in "mail -> tags: list[str]":
            desk.app.post_message(events.Key(letter, letter))  # without a pause between them, as terminals paste
        await desk.press("enter")
        assert source(desk) == "mail -> tags: list[str]"

    at_the_desk(act, Session(SignatureText("")))


def test_letters_that_come_while_the_dialog_is_being_made_are_not_lost() -> None:
    async def act(desk: Desk) -> None:
        screen = AskScreen("A name", "a", lambda typed: "", "", is_typed=True)
        mount = screen.mount_composed_widgets

        async def mount_late(widgets: list[Widget]) -> None:
            screen.add_typed("c")
            await mount(widgets)
            screen.add_typed("d")

        screen.add_typed("b")
        with patch.object(screen, "mount_composed_widgets", mount_late):
            desk.app.push_screen(screen)
            await desk.press("e")
        line = screen.query_one(Input)
        assert (line.value, line.cursor_position) == ("abcde", 5)

    at_the_desk(act, Session(SignatureText("")))


def test_a_signature_that_lacks_an_output_gets_it_next() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f11")
        for name in ("tags", "mood"):
            await desk.press("home", "ctrl+n")
            await fill(desk, name=name)
        signature = desk.document.session.signature.read()
        assert (list(signature.input_fields), list(signature.output_fields)) == (["text", "mood"], ["tags"])

    at_the_desk(act, Session(SignatureText("class E(dspy.Signature):\n    text: str = dspy.InputField()\n")))


@pytest.mark.parametrize(
    ("text", "predictor"),
    [
        ("question -> answer", "ReAct.react"),
        (CLASSIFY, "CodeAct.codeact"),
        (CLASSIFY, "ProgramOfThought.code_generate"),
        pytest.param(CLASSIFY, "ReAct.react", marks=pytest.mark.slow),
        pytest.param("question -> answer", "CodeAct.codeact", marks=pytest.mark.slow),
        pytest.param("question -> answer", "ProgramOfThought.code_generate", marks=pytest.mark.slow),
    ],
)
def test_the_instructions_beside_a_module_are_those_that_an_edit_replaces(text: str, predictor: Predictor) -> None:
    async def act(desk: Desk) -> None:
        pane = desk.main.editors.signature
        if text == CLASSIFY:
            await desk.press("f11")
            assert pane._instructions.raw == "Classify the ticket."
        else:
            assert str(pane._instructions.placeholder) == "Given the fields `question`, produce the fields `answer`."
        said = str(pane._instructions_label.render())
        assert ("not in this prompt" in said) == predictor.startswith("Program")

    at_the_desk(act, Session(SignatureText(text, predictor=predictor), columns=(Column("chat", "chat"),)))


def test_the_predictor_that_has_the_focus_is_seen_in_the_smallest_terminal() -> None:
    async def act(desk: Desk) -> None:
        for keys, chosen in ((("tab", "tab"), "CodeAct.codeact"), (("right",), "CodeAct.extractor")):
            await desk.press(*keys)
            rows = [one.text for one in desk.app.screen._compositor.render_strips()]
            assert any(f"● {chosen}" in row for row in rows), chosen

    signature = SignatureText("question, context, note -> answer", predictor="CodeAct.codeact")
    at_the_desk(act, Session(signature, columns=(Column("chat", "chat"),)), size=SMALL)


def test_naming_a_signature_goes_on_to_the_name_of_its_first_field() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f11", "enter")
        await named(desk, "Extract")
        await desk.type("note")  # in place of its first name
        await desk.press("enter")
        await desk.press("ctrl+n")
        await fill(desk, name="total")
        signature = desk.document.session.signature.read()
        assert [*signature.input_fields] == ["note"] and [*signature.output_fields] == ["total"]

    at_the_desk(act, session=Session(SignatureText(""), columns=(Column("chat", "chat"),)))


@pytest.mark.slow
def test_a_signature_is_built_from_nothing() -> None:
    at_the_desk(build, Session(SignatureText("")))


def test_a_signature_pasted_onto_the_form_of_a_new_session_is_its_signature() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f11")
        desk.app.post_message(events.Paste("claim, source -> verdict: bo0l"))
        await desk.settle()
        said = [one.message for one in desk.app._notifications]
        assert source(desk) == "" and any("bo0l" in one and "line 1" in one for one in said), said
        desk.app.post_message(events.Paste(CLASSIFY.replace("\n", "\r")))
        await desk.settle()
        assert source(desk) == CLASSIFY
        desk.app.post_message(events.Paste("another -> signature"))
        await desk.settle()
        assert source(desk) == CLASSIFY
        assert "already" in list(desk.app._notifications)[-1].message
        await desk.press("ctrl+z")
        assert source(desk) == ""

    at_the_desk(act, Session(SignatureText("")))


def test_a_whole_signature_pasted_where_its_name_is_asked_for_is_taken() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f5")
        assert "No signature yet" in list(desk.app._notifications)[-1].message
        await desk.press("f11", "enter")
        desk.app.post_message(events.Paste(CLASSIFY.replace("\n", "\r")))
        await desk.until(lambda: source(desk) == CLASSIFY, "for the signature")
        assert desk.app.screen is desk.main

    at_the_desk(act, Session(SignatureText("")))


def test_a_signature_typed_where_its_name_is_asked_for_is_taken_or_refused_in_place() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f11", "enter")
        await named(desk, "reviews: list[str] -> verdict: Literal['good'")
        assert "Literal['good'" in desk.app.screen.query_one(Input).value
        await named(desk, "reviews: list[str] -> verdict: Literal['good', 'bad']")
        assert source(desk) == "reviews: list[str] -> verdict: Literal['good', 'bad']"

    at_the_desk(act, Session(SignatureText("")))


def test_a_form_that_is_not_there_yet_gets_the_focus_once_it_is() -> None:
    async def act(desk: Desk) -> None:
        form = SignatureForm(lambda _: None, lambda _: "")
        form.go_to()
        await desk.settle()
        await desk.main.editors.signature.mount(form)
        await desk.settle()
        assert isinstance(desk.app.focused, RowList) and form in desk.app.focused.ancestors

    at_the_desk(act, Session(SignatureText("")))


@pytest.mark.slow
def test_form_and_source_are_one() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f11", "f11")
        assert desk.main.editors.signature.view == "both"
        assert isinstance(desk.app.focused, RowList)
        await desk.press("down", "enter")
        assert isinstance(desk.app.screen, FieldScreen)
        await fill(desk, name="issue")
        text = source(desk)
        assert text == CLASSIFY.replace("ticket: str", "issue: str")
        assert desk.document.state.case.inputs["issue"] == "The export is empty."
        assert desk.document.session.demos[0].values["issue"] == "It crashes."
        await desk.press("ctrl+z")
        assert source(desk) == CLASSIFY
        await desk.press("home", "down", "down", "shift+up")
        assert source(desk).index("channel:") < source(desk).index("ticket:")
        await desk.press("f11")
        await desk.paste_over("question -> answer")
        await desk.press("f11", "down", "delete")
        assert source(desk) == "question -> answer"  # a signature without inputs is none

    at_the_desk(act)


@pytest.mark.slow
def test_comments_are_asked_about_and_unreadable_source_is_left_alone() -> None:
    commented = CLASSIFY.replace("tags: list[str] = dspy.InputField()", "tags: list[str] = dspy.InputField()  # all")

    async def act(desk: Desk) -> None:
        await desk.press("f11", "down", "down", "down", "delete")
        assert isinstance(desk.app.screen, ConfirmScreen)
        await desk.press("k")
        assert source(desk) == commented
        await desk.press("f11")
        desk.main.editors.signature.go_to(Place("signature"), 1, 1)
        await desk.type("class [/x] (")
        await desk.press("f2", "f2", "f2", "f2", "f11", "enter")
        assert "The form updates" in desk.app.screen.query_one("SignatureForm .field-error").render().plain  # type: ignore[attr-defined]
        assert not isinstance(desk.app.screen, FieldScreen)

    at_the_desk(act, replace(TICKETS, signature=SignatureText(commented)), size=SMALL)


@pytest.mark.slow
def test_what_will_not_do_is_said_in_the_dialog() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f11", "down", "enter")
        await fill(desk, name="channel")
        error = desk.app.screen.query_one(".field-error").render().plain  # type: ignore[attr-defined]
        assert "channel already exists" in error
        await fill(desk, name="ticket", type="strr[/x]")
        error = desk.app.screen.query_one(".field-error").render().plain  # type: ignore[attr-defined]
        assert error.startswith("✗ ")
        await desk.press("escape")
        assert source(desk) == CLASSIFY

    at_the_desk(act)


@pytest.mark.slow
def test_enter_takes_the_type_whose_beginning_was_typed() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f11", "down", "enter")
        kind = desk.app.screen.query_one("#field-type", Input)
        kind.focus()
        kind.value = "flo"
        await desk.press("enter")
        assert kind.value == "float"
        await desk.press("enter")
        assert "ticket: float" in source(desk)

    at_the_desk(act)


@pytest.mark.slow
def test_instructions_beside_the_form_are_the_docstring() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f11", "tab")
        assert desk.editor.raw == "Classify the ticket."
        await desk.press("ctrl+end")
        await desk.type(" Be\n kind")
        assert desk.editor.raw == "Classify the ticket. Be\n kind"
        assert desk.document.session.signature.instructions is None
        assert desk.document.session.signature.read().instructions == "Classify the ticket. Be\n kind"
        assert '"""\n    Classify the ticket. Be\n' in source(desk)

    at_the_desk(act)


def test_the_keys_of_the_form_are_in_sight_on_a_small_terminal_while_it_is_worked_at() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f11")
        hint = desk.main.query_one(".form-hint")
        assert "^n add" in seen(hint)[0] and "x delete" in seen(hint)[0] and hint.size.height == 1
        await desk.press("f3")
        assert not hint.display or not hint.size.height

    at_the_desk(act, size=SMALL)


@pytest.mark.parametrize("letters", ["aa", "me", "ax"])
def test_letters_in_one_write_open_one_dialog_and_do_nothing_behind_it(letters: str) -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("signature")
        await desk.press("f11")
        desk.app.screen.query_one(SignatureForm).go_to("ticket")
        await desk.settle()
        for letter in letters:
            desk.app.post_message(events.Key(letter, letter))
        await desk.until(lambda: len(desk.app.screen_stack) > 1, "for the dialog")
        await desk.press("escape")
        assert desk.app.screen is desk.main
        assert source(desk) == CLASSIFY

    at_the_desk(act)


def test_keys_in_one_write_change_a_signature_in_their_order() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("signature")
        await desk.press("f11")
        desk.app.screen.query_one(SignatureForm).go_to("ticket")
        await desk.settle()
        for letter in "xJ":
            desk.app.post_message(events.Key(letter, letter))
        await desk.until(lambda: "ticket" not in desk.document.session.signature.read().input_fields, "for both keys")
        assert list(desk.document.session.signature.read().input_fields) == ["tags", "channel"]

    at_the_desk(act)

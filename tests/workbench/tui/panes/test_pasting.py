"""Rows pasted into the demos become demos, all of them or none."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable
from dataclasses import replace

import pytest
from textual import events

from sessions.errors import SessionError
from sessions.file import store
from sessions.imports.demos import pasted
from sessions.model.session import DEFAULT_COLUMNS, Session, SignatureText
from tests.support.hostile import HOSTILE
from tests.support.open_app import SMALL, TICKETS, Desk, at_the_desk
from workbench.tui.dialogs.ask import AskScreen
from workbench.tui.dialogs.choose import ChooseScreen
from workbench.tui.panes.source_editor import SourceEditor
from workbench.tui.widgets.text.text_view import TextView

QA = SignatureText("question, tags: list[str] -> answer, score: float")
ROW = {"question": "Q?", "tags": ["a"], "answer": "A", "score": 1.5}


@pytest.mark.parametrize(
    "text",
    [
        '[{"question": "Q?", "tags": ["a"], "answer": "A", "score": 1.5}]',
        '{"question": "Q?", "tags": ["a"], "answer": "A", "score": 1.5}\n',
        '{\n  "question": "Q?",\n  "tags": ["a"],\n  "answer": "A",\n  "score": 1.5\n}',
        'question,tags,answer,score\nQ?,"[""a""]",A,1.5\n',
        'question\ttags\tanswer\tscore\nQ?\t["a"]\tA\t1.5',
    ],
    ids=["JSON", "JSON Lines", "one object", "CSV", "cells of a spreadsheet"],
)
def test_every_format_gives_the_same_typed_demo(text: str) -> None:
    demos, _ = pasted(text, QA)
    assert [dict(one.values) for one in demos] == [ROW]


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
def test_json_lines_come_with_the_line_ends_of_any_terminal(end: str) -> None:
    line = '{"question": "Q?\u2028", "tags": ["a"], "answer": "A", "score": 1.5}'
    demos, _ = pasted(f"{line}{end}{end}{line}{end}", QA)
    assert [dict(one.values) for one in demos] == [{**ROW, "question": "Q?\u2028"}] * 2


@pytest.mark.parametrize("text", ["", "no rows", "[1, 2]", '{"question": ', *HOSTILE.values()])
def test_what_holds_no_rows_is_refused_in_words(text: str) -> None:
    with pytest.raises(SessionError):
        pasted(text, QA)


def test_rows_pasted_into_the_list_stand_after_the_current_demo_and_one_undo_takes_them_back() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("demo", row=0)
        desk.app.post_message(events.Paste("ticket,label\nOne,bug\nTwo,wish"))
        await desk.until(lambda: len(desk.document.session.demos) == 5)
        assert [one.values.get("ticket") for one in desk.document.session.demos[:3]] == ["It crashes.", "One", "Two"]
        await desk.press("ctrl+z")
        assert desk.document.session.demos == TICKETS.demos

    at_the_desk(act)


def test_without_any_demo_rows_can_be_pasted_and_added_all_the_same() -> None:
    async def act(desk: Desk) -> None:
        desk.main.editors.open("demos")
        await desk.settle()
        desk.main.editors.focus_next()
        desk.main.editors.open("demos")
        desk.main.editors._focus_first(desk.main.editors.demos)
        await desk.settle()
        desk.app.post_message(events.Paste('[{"ticket": "One", "label": "bug"}]'))
        await desk.until(lambda: len(desk.document.session.demos) == 1)
        await desk.press("ctrl+n")
        assert len(desk.document.session.demos) == 2

    at_the_desk(act, session=replace(TICKETS, demos=()))


@pytest.mark.slow
def test_what_is_no_table_changes_nothing_and_says_why() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("demo", row=0)
        desk.app.post_message(events.Paste("[/x] just a sentence\x1b[2J"))
        await desk.until(lambda: any(one.title == "Not pasted" for one in desk.app._notifications))
        assert desk.document.session.demos == TICKETS.demos

    at_the_desk(act)


@pytest.mark.slow
def test_a_list_that_takes_no_text_does_not_send_to_the_editors_whoever_is_there() -> None:
    async def act(desk: Desk) -> None:
        desk.main.editors.open("tools")
        await desk.settle()
        await desk.press("f2")
        desk.app.post_message(events.Paste("a sentence"))
        await desk.until(lambda: any(one.title == "Not pasted" for one in desk.app._notifications))
        assert "No text goes here." in next(one.message for one in desk.app._notifications)

    at_the_desk(act)


ERROR = (
    "Adapter ChatAdapter failed to parse the LM response. \n\nLM Response: {0} \n\n"
    "Expected to find output fields in the LM response: [answer, score] \n\n"
)


def test_the_text_of_an_error_pasted_into_the_empty_app_is_the_failed_call() -> None:
    async def act(desk: Desk) -> None:
        desk.app.post_message(events.Paste(ERROR.format("[[ ## answer ## ]]\nyes").replace("\n", "\r")))
        await desk.until(lambda: desk.document.session.name == "pasted call")
        assert [(one.title, one.message) for one in desk.app._notifications] == [
            (
                "Pasted",
                "an error of ChatAdapter: it expected `answer`, `score`\n"
                "`chat` cannot parse the reply (AdapterParseError): it finds `answer`\n"
                "2 guesses are in the notes: alt+j leads there",
            )
        ]
        session = desk.document.session
        assert list(session.signature.read().output_fields) == ["answer", "score"]
        assert session.cases[0].replies["chat"].text == "[[ ## answer ## ]]\nyes"
        shown = desk.main.editors.notes
        await desk.until(lambda: any("has no types" in one.text for one in shown._notes))
        notes = [one.text for one in shown._notes]  # they outlast the notification
        assert any(one.startswith("guessed: an error's text has no inputs") for one in notes), notes
        guesses = [one for one in notes if one.startswith("guessed: ")]
        view = desk.main.editors.notes.query_one(TextView)
        view.focus()
        await desk.press("down", "up", "x")  # a note that is no guess stays
        assert len(desk.main.editors.notes._notes) == len(notes)
        await desk.press(*["down"] * notes.index(guesses[-1]), "x")
        left = [one.text for one in desk.main.editors.notes._notes if one.guess]
        assert left == guesses[:-1]
        kept = store.loads(store.dumps(desk.document.session)).cases[0].extra["imported"]
        assert kept["guessed"] == [one.removeprefix("guessed: ").partition("   x here")[0] for one in left]
        await desk.press("ctrl+z")
        assert [one.text for one in desk.main.editors.notes._notes] == notes

    at_the_desk(act, session=Session(SignatureText(""), columns=DEFAULT_COLUMNS))


def test_an_error_without_its_reply_pasted_into_the_empty_app_is_told_so() -> None:
    async def act(desk: Desk) -> None:
        desk.app.post_message(events.Paste("ValueError: Expected dict_keys(['a']) but got dict_keys([])"))
        await desk.until(lambda: bool(len(desk.app._notifications)))
        assert [(one.title, one.message) for one in desk.app._notifications] == [
            (
                "Not pasted",
                "the pasted text: it names an error of dspy, but not the reply "
                "(give the error's whole text, or the output of `dspy.inspect_history()`)",
            )
        ]

    at_the_desk(act, session=Session(SignatureText(""), columns=DEFAULT_COLUMNS))


CLASS = '''class A(dspy.Signature):
    """Read.

    Then:
      \x20
    answer."""

    a: str = dspy.InputField()
    b: str = dspy.OutputField()'''
AT_A_PROMPT = ">>> " + CLASS.replace("\n", "\n... ") + "\n... \n"


def indented(text: str, by: int) -> str:
    return textwrap.indent(text, " " * by, lambda line: True)


PAGES = {
    "a page's code block": f"It fails:\n\n```python\n{CLASS}\n```\n\nwith `gpt-4o`.",
    "a list's code block": f"- 1.\n  ~~~\n{indented(CLASS, 2)}\n  ~~~",
    "a class": CLASS,
    "an indented class": indented(CLASS, 4),
    "Python's prompt": AT_A_PROMPT,
    "Python's prompt without spaces at the ends of lines": AT_A_PROMPT.replace("... \n", "...\n"),
    "Python's prompt in a docstring": f"An example:\n\n{indented(AT_A_PROMPT, 4)}\nand more.",
}


def test_a_signature_is_found_in_a_copied_page() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f11")
        for name, page in PAGES.items():
            assert not desk.document.session.signature.text, name
            desk.app.post_message(events.Paste(page.replace("\n", "\r")))
            await desk.until(lambda: bool(desk.document.session.signature.text), name)
            assert desk.document.session.signature.text.strip("\n") == CLASS, name
            assert not desk.app._notifications, name
            await desk.press("ctrl+z")

    at_the_desk(act, session=Session(SignatureText(""), columns=DEFAULT_COLUMNS))


def test_a_signature_is_found_in_the_call_that_makes_the_program() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f11")
        desk.app.post_message(events.Paste("qa = dspy.Predict('a -> b: list[str]')"))
        await desk.until(lambda: desk.document.session.signature.text == "a -> b: list[str]")

    at_the_desk(act, session=Session(SignatureText(""), columns=DEFAULT_COLUMNS))


def test_a_sentence_that_names_an_error_is_pasted_into_a_source() -> None:
    async def act(desk: Desk) -> None:
        desk.main.query_one(SourceEditor).focus()
        await desk.press("ctrl+home")
        desk.app.post_message(events.Paste("# Failed to parse field names"))
        await desk.until(lambda: desk.document.session.signature.text == "# Failed to parse field names" + source)
        assert not desk.app._notifications

    source = (
        "\nimport dspy\n\nclass A(dspy.Signature):\n    a: str = dspy.InputField()\n    b: str = dspy.OutputField()\n"
    )
    at_the_desk(act, session=Session(SignatureText(source), columns=DEFAULT_COLUMNS))


def test_in_the_smallest_terminal_a_pasted_error_shows_the_reply() -> None:
    async def act(desk: Desk) -> None:
        desk.app.post_message(events.Paste(ERROR.format("[[ ## answer ## ]]\nyes").replace("\n", "\r")))
        await desk.until(lambda: desk.document.session.name == "pasted call")
        desk.app.clear_notifications()
        await desk.settle()
        strips = [one.text for one in desk.app.screen._compositor.render_strips()]
        assert any("reply ✗" in one for one in strips), strips

    at_the_desk(act, session=Session(SignatureText(""), columns=DEFAULT_COLUMNS), size=SMALL)


@pytest.mark.parametrize("write", [repr, json.dumps])
def test_an_entry_of_a_history_pasted_into_the_empty_app_is_the_call(write: Callable[[object], str]) -> None:
    system = "Your input fields are:\n1. `question` (str):\nYour output fields are:\n1. `answer` (str):\n"
    messages = [{"role": "system", "content": system}, {"role": "user", "content": "[[ ## question ## ]]\nWhy?"}]

    async def act(desk: Desk) -> None:
        desk.app.post_message(events.Paste(write([{"messages": messages, "outputs": ["yes"], "kwargs": {}}])))
        await desk.until(lambda: desk.document.session.name == "pasted call")
        (reply,) = desk.document.session.cases[0].replies.values()
        assert reply.text == "yes"

    at_the_desk(act, session=Session(SignatureText(""), columns=DEFAULT_COLUMNS))


def test_of_several_pasted_calls_the_user_chooses() -> None:
    async def act(desk: Desk) -> None:
        desk.app.post_message(events.Paste(ERROR.format("one") + "\n" + ERROR.format("two")))
        await desk.until(lambda: isinstance(desk.app.screen, ChooseScreen))
        await desk.press("down", "enter")
        await desk.until(lambda: desk.document.session.name == "pasted call")
        assert desk.document.session.cases[0].replies["chat"].text == "two"

    at_the_desk(act, session=Session(SignatureText(""), columns=DEFAULT_COLUMNS))


@pytest.mark.parametrize(
    "before_it", ["", "With this class:\n\nclass Ask(dspy.Signature):\n    question: str\n\nI get\n\n"]
)
def test_a_call_pasted_into_a_signature_does_not_become_its_text(before_it: str) -> None:
    async def act(desk: Desk) -> None:
        before = desk.document.session
        await desk.go_to("signature")
        desk.app.post_message(events.Paste(before_it + ERROR.format("one")))
        await desk.until(lambda: desk.document.session.name == "pasted call")
        assert desk.document.session.signature != before.signature

    at_the_desk(act)


def test_a_source_whose_strings_look_like_a_call_stays_a_source() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("signature")
        await desk.press("ctrl+a")
        source = (
            f'import dspy\nclass Ask(dspy.Signature):\n    """{ERROR.format("x")}"""\n    a: str = dspy.InputField()'
        )
        desk.app.post_message(events.Paste(source))
        await desk.until(lambda: "class Ask" in desk.document.session.signature.text)

    at_the_desk(act)


def test_a_call_can_be_pasted_where_sessions_are_opened() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("ctrl+o")
        await desk.until(lambda: isinstance(desk.app.screen, ChooseScreen))
        desk.app.post_message(events.Paste(ERROR.format("one")))
        await desk.until(lambda: desk.document.session.name == "pasted call")

    at_the_desk(act)


def test_the_signature_of_a_pasted_call_whose_prompt_is_abbreviated_is_asked_for() -> None:
    reply = "[[ ## answer ## ]]\nBecause.\n\n[[ ## completed ## ]]"
    asked = f"User message:\n\n[[ ## question ## ]]\nWhy?\n\n\nResponse:\n\n{reply}\n"
    text = f"System message:\n\nYour input fields are:\n...\n\n\n{asked}"

    async def act(desk: Desk) -> None:
        desk.app.post_message(events.Paste(text))
        await desk.until(lambda: isinstance(desk.app.screen, AskScreen))
        await desk.press(*"question", "enter")
        assert isinstance(desk.app.screen, AskScreen)
        await desk.press(*" -> answer", "enter")
        await desk.until(lambda: desk.document.session.name == "pasted call")
        session = desk.document.session
        assert list(session.signature.read().fields) == ["question", "answer"]
        assert session.cases[0].inputs == {"question": "Why?"}
        assert session.cases[0].replies["chat"].text == reply

    at_the_desk(act, session=Session(SignatureText(""), columns=DEFAULT_COLUMNS))

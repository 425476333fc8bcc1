"""A run with its tool turns becomes the history that the next question goes on from."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from textual import events
from textual.widgets import Input

from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Session, SignatureText, Tool
from tests.support.open_app import SIZES, TICKETS, Desk, at_the_desk
from tests.support.screen import seen
from workbench.editing import edits
from workbench.state.document import Place
from workbench.tui.actions.sending import ToolResultScreen
from workbench.tui.dialogs.ask import AskScreen, Dialog
from workbench.tui.panes.column import ColumnPane
from workbench.tui.runs.runs import ColumnRun
from workbench.tui.widgets.field_form import FieldEditor
from workbench.tui.widgets.reply.reply_view import ReplyView

SESSION = Session(
    SignatureText("question, history: dspy.History -> answer"),
    columns=(Column("chat", "chat"),),
    cases=(Case("c", {"question": "What is the weather in Paris?"}),),
    tools=(Tool("weather", "The weather.", "place: str", ({"result": "sunny"},)),),
)


def test_inputs_tool_turns_and_answer_become_turns_that_every_prompt_shows_and_undo_takes_back() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f8")
        await desk.sent()
        before = desk.prompt("chat")
        await desk.press("alt+n")
        first, last = desk.document.state.case.history
        assert first["question"] == "What is the weather in Paris?"
        (call,) = first["tool_calls"]["tool_calls"]
        assert call["name"] == "weather" and call["args"] == {"place": "Paris"}
        assert "answer" in last
        assert len(desk.prompt("chat")) > len(before) and "sunny" in desk.prompt("chat")
        await desk.press("alt+n")
        assert len(desk.document.state.case.history) == 2, "the turns of an old reply are added once"
        await desk.press("ctrl+z")
        assert not desk.document.state.case.history and desk.prompt("chat") == before

    at_the_desk(act, session=SESSION)


@pytest.mark.slow
def test_without_a_run_or_room_for_a_history_it_says_what_is_missing() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("alt+n")
        assert any("has no history" in one.message for one in desk.app._notifications)
        assert desk.document.session is TICKETS

    at_the_desk(act)

    async def without_run(desk: Desk) -> None:
        await desk.press("alt+n")
        assert any("F8 sends it" in one.message for one in desk.app._notifications)

    at_the_desk(without_run, session=replace(SESSION, tools=()))


AGENT = Session(
    SignatureText("question -> answer: float", predictor="ReAct.react"),
    columns=(Column("chat", "chat"), Column("xml", "xml")),
    cases=(Case("c", {"question": "How warm is it?"}),),
    tools=(
        Tool("weather", "Look it up.", "place: str", ({"arguments": {"place": "Rome"}, "result": {"celsius": 31}},)),
        Tool("fails", "", "", ({"error": "no network"},)),
    ),
)


def step(name: str, arguments: str) -> str:
    return (
        f"[[ ## next_thought ## ]]\nThink [/x].\n\n[[ ## next_tool_name ## ]]\n{name}\n\n"
        f"[[ ## next_tool_args ## ]]\n{arguments}\n\n[[ ## completed ## ]]"
    )


@pytest.mark.parametrize("size", SIZES)
def test_an_agent_is_driven_by_hand_and_by_canned_tools(size: tuple[int, int]) -> None:
    steps = (
        ("weather", '{"place": "Rome"}', {"celsius": 31}),
        ("weather", '{"place": "Oslo"}', "cold"),
        ("fails", "{}", "Execution error in fails: no network"),
        ("weather", '{"place": "Oslo"}', "cold"),
        ("finish", "{}", "Completed."),
    )

    async def act(desk: Desk) -> None:
        assert "(1) weather, whose description is <desc>Look it up.</desc>." in desk.prompt("chat")
        await desk.press("f3")
        for number, (name, arguments, result) in enumerate(steps):
            reply = Reply(step(name, arguments), source="pasted")
            change = partial(edits.set_reply, case="c", column="chat", reply=reply)
            desk.main.edit(change, Place("reply", "c", field="chat"), "paste")
            await desk.press("alt+n")
            is_asked = number == 1  # the result is kept for the next call
            assert isinstance(desk.app.screen, ToolResultScreen) == is_asked
            if is_asked:
                assert any("esc add no" in one.text for one in desk.app.screen._compositor.render_strips())
                await desk.fill_in("cold")
                await desk.press("enter")
            added = desk.document.state.case.history[number]
            assert (added["tool_name"], added["observation"]) == (name, result)
            assert f"thought_{number}" in desk.prompt("chat") and f"<thought_{number}>" in desk.prompt("xml")
        assert not desk.document.state.drafts
        desk.main.edit(partial(edits.set_signature, predictor="ReAct.extract"), Place("signature"), "predictor")
        await desk.settle()
        assert "[[ ## observation_4 ## ]]\nCompleted." in desk.prompt("chat")
        assert "[[ ## reasoning ## ]]" in desk.prompt("chat") and "next_thought" not in desk.prompt("chat")
        desk.main.edit(partial(edits.set_signature, predictor="Predict"), Place("signature"), "predictor")
        await desk.settle()
        assert "thought_0" not in desk.prompt("chat")

    at_the_desk(act, session=AGENT, size=size)


def test_the_code_of_an_agent_is_a_step_with_the_output_that_is_asked_for() -> None:
    def wrote(code: str, finished: bool) -> str:
        return f"[[ ## generated_code ## ]]\n{code}\n\n[[ ## finished ## ]]\n{finished}\n\n[[ ## completed ## ]]"

    async def act(desk: Desk) -> None:
        async def add(reply: str) -> None:
            change = partial(edits.set_reply, case="c", column="chat", reply=Reply(reply, source="pasted"))
            desk.main.edit(change, Place("reply", "c", field="chat"), "paste")
            await desk.press("alt+n")

        assert "[[ ## trajectory ## ]]\n{}" in desk.prompt("chat")
        await add(wrote("```python\nx = 3\n```", False))
        assert isinstance(desk.app.screen, AskScreen)
        await desk.fill_in("3")
        await desk.press("enter", "alt+n")
        await add(wrote("a = b = 2", True))
        assert "step 1 added: code that does not parse" in " ".join(seen(desk.main.status)), "dspy asks for other code"
        await add(wrote("print(x)", True))
        await desk.fill_in("done [/x]")
        await desk.press("enter")
        assert desk.document.state.case.history == (
            {"generated_code": "x = 3\nx", "code_output": "3"},
            {"observation": "Failed to parse the generated code: Error: Code format is not correct."},
            {"generated_code": "print(x)", "code_output": '"done [/x]"'},
        )
        assert '{"generated_code_0": "x = 3\\nx", "code_output_0": "3", "observation_1": ' in desk.prompt("chat")
        desk.main.editors.open("history")
        await desk.settle()
        assert [one.field.name for one in desk.main.editors.history.query(FieldEditor)] == [
            "generated_code",
            "code_output",
            "observation",
        ]
        desk.main.edit(partial(edits.set_signature, predictor="CodeAct.extractor"), Place("signature"), "predictor")
        await desk.settle()
        assert "[[ ## code_output_2 ## ]]\n" in desk.prompt("chat") and "<code_output_2>" in desk.prompt("xml")

    at_the_desk(act, session=replace(AGENT, signature=replace(AGENT.signature, predictor="CodeAct.codeact")))


def head(desk: Desk) -> str:
    """Read the line above the reply of the first column."""
    return " ".join(seen(desk.app.screen.query(ColumnPane).first().splitter)).strip(" ─")


def test_the_step_of_an_old_reply_is_added_once_and_a_paste_replaces_that_reply() -> None:
    first, second = step("weather", '{"place": "Rome"}'), step("finish", "{}")

    async def act(desk: Desk) -> None:
        async def paste(text: str) -> None:
            desk.app.post_message(events.Paste(text))
            await desk.settle()

        desk.main.columns.focus_on("chat", ReplyView)
        await paste(first)
        assert head(desk) == "reply ✓ · alt+n adds the step"
        await desk.press("alt+n")
        assert head(desk) == "old reply ✓ · F5 again"
        await desk.press("alt+n")
        assert any("has this reply already" in one.message for one in desk.app._notifications)
        assert [one["tool_name"] for one in desk.document.state.case.history] == ["weather"]
        await paste(second)
        reply = desk.document.state.case.replies["chat"]
        assert (reply.text, reply.source, reply.request_digest) == (second, "pasted", None)
        await desk.press("alt+n")
        assert [one["tool_name"] for one in desk.document.state.case.history] == ["weather", "finish"]
        desk.editor.move_cursor((0, 1))
        await paste("[")
        assert desk.document.state.case.replies["chat"].text == f"[[{second[1:]}"

    at_the_desk(act, session=AGENT)


def test_the_key_that_adds_a_step_is_named_only_where_it_adds_one() -> None:
    async def act(desk: Desk) -> None:
        reply = "[[ ## generated_code ## ]]\nx\n\n[[ ## finished ## ]]\nTrue\n\n[[ ## completed ## ]]"
        change = partial(edits.set_reply, case="c", column="chat", reply=Reply(reply, source="pasted"))
        desk.main.edit(change, Place("reply", "c", field="chat"), "paste")
        await desk.settle()
        assert head(desk) == "reply ✓"

    at_the_desk(act, session=replace(SESSION, signature=SignatureText("question -> generated_code, finished: bool")))

    async def while_it_is_sent(desk: Desk) -> None:
        reply = Reply(step("finish", "{}"), source="pasted")
        change = partial(edits.set_reply, case="c", column="chat", reply=reply)
        desk.main.edit(change, Place("reply", "c", field="chat"), "paste")
        await desk.settle()
        pane = desk.app.screen.query(ColumnPane).first()
        assert pane._shown is not None
        pane._shown = (pane._shown[0], ColumnRun(1, "c", "chat", "m", 0.0))
        pane.show_verdict(2.0)
        await desk.settle()
        assert head(desk) == "reply ◌ sent 2.0 s  esc cancel"

    at_the_desk(while_it_is_sent, session=AGENT)


def test_without_a_step_the_agent_says_how_to_get_one() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f3", "alt+n")
        assert any("no step to continue" in one.message for one in desk.app._notifications)
        await desk.press("f8")
        await desk.sent()
        await desk.press("alt+n")
        if isinstance(desk.app.screen, ToolResultScreen):
            await desk.press("escape")
            assert desk.document.state.case.history == ()

    at_the_desk(act, session=AGENT)


def test_an_action_knows_a_reply_that_is_not_shown_yet() -> None:
    async def act(desk: Desk) -> None:
        reply = Reply(step("weather", '{"place": "Oslo"}'), source="pasted")
        change = partial(edits.set_reply, case="c", column="chat", reply=reply)
        desk.main.edit(change, Place("reply", "c", field="chat"), "paste")
        rendered = desk.main.shown_column()
        assert rendered is not None
        assert rendered.reply == reply

    at_the_desk(act, session=AGENT)


RESULTS = [
    ("\r\nhello\r\n", "hello", "hello"),
    (
        "Execution error:\r\r  no 'place'\r",
        "\"Execution error:\\n\\n  no 'place'\\n\"",
        "Execution error:\n\n  no 'place'\n",
    ),
    ('{\n  "city": "Zürich",\n  "count": 3\n}', '{"city": "Zürich", "count": 3}', {"city": "Zürich", "count": 3}),
]


@pytest.mark.parametrize(
    ("predictor", "lines", "shown", "result"),
    [
        *[("ReAct.react", *one) for one in RESULTS],
        ("CodeAct.codeact", *RESULTS[1]),
        *[pytest.param("CodeAct.codeact", *one, marks=pytest.mark.slow) for one in (RESULTS[0], RESULTS[2])],
    ],
)
def test_a_pasted_result_of_several_lines_is_kept_whole(predictor: Any, lines: str, shown: str, result: Any) -> None:
    code = "[[ ## generated_code ## ]]\nprint(x)\n\n[[ ## finished ## ]]\nFalse\n\n[[ ## completed ## ]]"
    reply = step("weather", '{"place": "Oslo"}') if predictor == "ReAct.react" else code
    key, wanted = ("observation", result) if predictor == "ReAct.react" else ("code_output", json.dumps(result))

    async def act(desk: Desk) -> None:
        change = partial(edits.set_reply, case="c", column="chat", reply=Reply(reply, source="pasted"))
        desk.main.edit(change, Place("reply", "c", field="chat"), "paste")
        await desk.press("alt+n")
        await desk.until(lambda: isinstance(desk.app.screen, Dialog), "for the dialog")
        desk.app.post_message(events.Paste(lines))
        await desk.settle()
        assert desk.app.screen.query_one(Input).value == shown
        await desk.press("enter")
        assert [one[key] for one in desk.document.state.case.history] == [wanted]

    at_the_desk(act, session=replace(AGENT, signature=replace(AGENT.signature, predictor=predictor)))

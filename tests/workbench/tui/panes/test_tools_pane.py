"""The tab of tools: edited like everything else, and asked about while a run waits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adapters.running.events import ToolInvoked
from sessions.model.session import Case, Column, Predictor, Session, SignatureText, Tool
from sessions.running import tools
from tests.support.open_app import Desk, at_the_desk
from workbench.sending.tool_answers import NamedHandler
from workbench.tui.actions.sending import ToolResultScreen
from workbench.tui.panes.notes import NotesPane
from workbench.tui.widgets.text.text_view import TextView

WEATHER = Tool("weather", "The weather of a place [/x].", "place: str, days: int = 1")
SESSION = Session(
    SignatureText("question -> answer"),
    columns=(Column("chat", "chat"), Column("json", "json")),
    cases=(Case("c", {"question": "What is the weather in Paris?"}),),
    tools=(WEATHER,),
)


@pytest.mark.slow
def test_a_tool_is_added_and_edited_and_reaches_the_prompt_and_can_be_undone() -> None:
    async def act(desk: Desk) -> None:
        desk.main.editors.open("tools")
        desk.main.editors.tools._list.focus()
        await desk.press("ctrl+n")
        await desk.paste_over("search")
        await desk.go_to("tool", "arguments", 0)
        await desk.paste_over("query: str, limit: in")
        errors = [str(one.render()) for one in desk.main.editors.tools.query(".field-error") if one.display]
        assert len(errors) == 1 and "the last value stays in use" in errors[0]
        await desk.paste_over("query: str, limit: int = 5")
        assert desk.document.session.tools == (Tool("search", parameters="query: str, limit: int = 5"),)
        assert "search" in desk.prompt("chat") and "query" in desk.prompt("json")
        await desk.go_to("tool", "default", 0)
        await desk.paste_over('["nothing found"]')
        assert tools.canned_result(desk.document.session.tools[0], {"query": "x"}) == ["nothing found"]
        await desk.press("ctrl+z", "ctrl+z", "ctrl+z", "ctrl+z", "ctrl+z", "ctrl+z")
        assert not desk.document.session.tools
        assert desk.main.editors.tools._list.has_focus

    at_the_desk(act, session=replace(SESSION, tools=()))


def test_an_agent_without_tools_is_told_and_its_note_leads_to_where_a_tool_is_added() -> None:
    async def act(desk: Desk) -> None:
        view, pane = desk.main.query_one(NotesPane).query_one(TextView), desk.main.editors.tools
        assert view.plain_text.split() == "⚠ an agent without tools can only finish: add a tool in Tools".split()
        view.focus()
        await desk.press("enter")
        assert pane.has_focus_within
        assert "^n adds a tool" in str(pane._note.render()) and "can only finish" in str(pane._note.render())
        await desk.press("ctrl+n")
        await desk.until(lambda: "(1) tool. It takes" in desk.prompt("chat"), "for the prompt that lists it")
        assert view.plain_text == ""
        await desk.type("search")
        assert [one.name for one in desk.document.session.tools] == ["search"], "in place of the proposed name"

    signature = replace(SESSION.signature, predictor="ReAct.react")
    at_the_desk(act, session=replace(SESSION, tools=(), signature=signature))


@pytest.mark.parametrize("predictor", ["CodeAct.codeact", "Refine.hinted", "ProgramOfThought.code_generate"])
def test_the_tab_says_what_a_module_does_with_tools(predictor: Predictor) -> None:
    async def act(desk: Desk) -> None:
        desk.main.editors.open("tools")
        said = str(desk.main.editors.tools._note.render())
        assert ("as functions" in said) == predictor.startswith("CodeAct")
        assert (f"{predictor.partition('.')[0]} has no tools" in said) == ("as functions" not in said)
        if "as functions" in said:
            desk.main.editors.tools._list.focus()
            await desk.press("ctrl+n")
            summary = desk.main.editors.tools.summary_of(desk.document.state, 0).plain
            assert "for the model's code" in summary and "asked" not in summary

    at_the_desk(act, session=replace(SESSION, tools=(), signature=replace(SESSION.signature, predictor=predictor)))


def test_escape_takes_back_a_new_tool_that_nobody_touched() -> None:
    async def act(desk: Desk) -> None:
        desk.main.editors.open("tools")
        desk.main.editors.tools._list.focus()
        before = desk.prompt("chat")
        await desk.press("ctrl+n")
        await desk.until(lambda: desk.prompt("chat") != before, "for the prompt that offers it")
        await desk.press("escape")
        await desk.until(lambda: desk.prompt("chat") == before, "for the prompt without it")
        assert desk.document.session.tools == (WEATHER,)

    at_the_desk(act, session=SESSION)


@pytest.mark.slow
def test_a_run_asks_for_a_result_that_is_in_no_canned_answer_and_keeps_it() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.until(lambda: isinstance(desk.app.screen, ToolResultScreen), "for the question")
        shown = " ".join(str(one.render()) for one in desk.app.screen.query(".dialog-text"))
        assert "Paris" in shown and "[/x]" in shown
        await desk.fill_in('{"sky": "clear"}')
        await desk.press("enter")
        await desk.sent()  # the other column was answered with the same
        (tool,) = desk.document.session.tools
        assert tools.canned_result(tool, {"place": "Paris", "days": 1}) == {"sky": "clear"}
        for column in ("chat", "json"):
            assert "clear" in desk.reply(column) and "2 calls" in desk.verdict(column)
        await desk.press("f7", "3")
        page = desk.app.screen.query_one("#pages-text").plain_text  # type: ignore[attr-defined]
        assert "continues with the tools' results" in page and 'weather({"place": "Paris", "days": 1})' in page

    at_the_desk(act, session=SESSION)


@pytest.mark.slow
def test_a_call_that_nobody_answers_fails_and_the_run_goes_on_and_a_cancelled_run_takes_its_question_away() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f8")
        await desk.until(lambda: isinstance(desk.app.screen, ToolResultScreen), "for the question")
        await desk.press("escape")
        await desk.sent()
        run = desk.main.runs.of("c", "chat")
        assert run is not None and run.run is not None and run.run.ok
        (told,) = [one for one in run.run.events if isinstance(one, ToolInvoked)]
        assert not told.result.success and "nobody answered" in told.rendered_output
        assert desk.document.session.tools == SESSION.tools
        await desk.press("f8")
        await desk.until(lambda: isinstance(desk.app.screen, ToolResultScreen), "for the question")
        desk.main.cancel()
        await desk.until(lambda: len(desk.app.screen_stack) == 1, "for the question to go")
        assert "cancelled" in desk.verdict("chat")

    at_the_desk(act, session=SESSION)


@pytest.mark.slow
def test_a_function_that_the_user_named_answers_and_its_crash_is_a_failed_result() -> None:
    asked: list[str] = []

    def weather(place: str, days: int) -> str:
        asked.append(place)
        if days == 1 and len(asked) > 1:
            raise SystemExit("the station is closed [/x]")
        return "snow"

    async def act(desk: Desk) -> None:
        desk.app.sending.tool_handlers = {"weather": NamedHandler("stations:weather", weather)}
        desk.main.editors.open("tools")
        desk.main.show()
        await desk.settle()
        assert "answered by stations:weather" in str(desk.main.editors.tools.summary_of(desk.document.state, 0))
        await desk.press("f5")
        await desk.sent()
        assert asked == ["Paris", "Paris"]
        said = [
            one.rendered_output
            for column in ("chat", "json")
            for one in desk.main.runs.of("c", column).run.events  # type: ignore[union-attr]
            if isinstance(one, ToolInvoked)
        ]
        assert sorted(said) == ["Tool 'weather' execution failed: the station is closed [/x]", "snow"]
        assert desk.document.session.tools == (WEATHER,), "nothing of it is kept in the session"
        desk.app.load(replace(SESSION, name="another"), None)
        assert desk.app.sending.tool_handlers == {}, "another session's tool of that name calls nothing"

    at_the_desk(act, session=SESSION)

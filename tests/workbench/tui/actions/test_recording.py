"""Recording from the screen: what is recorded, and why something cannot be."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

from adapters.errors import RunError
from adapters.lm.protocol import Completion
from adapters.running.events import ChunkReceived, Listener
from adapters.running.runs import Attempt, Run
from sessions.checking import checking
from sessions.model.replies import RecordedCompletion, Reply
from sessions.model.session import Case, Column, Session, SignatureText
from tests.support.open_app import Desk, at_the_desk
from workbench.state.document import State
from workbench.tui.actions import checking as actions
from workbench.tui.palette import commands_of

GOOD = Reply("[[ ## answer ## ]]\nyes\n\n[[ ## completed ## ]]")
SESSION = Session(
    SignatureText("question -> answer"),
    columns=(Column("chat", "chat"),),
    cases=(Case("c", {"question": "Does it rain?"}, replies={"chat": GOOD}),),
)


def with_reply(**of: object) -> Session:
    return SESSION.replace_case(replace(SESSION.cases[0], replies={"chat": replace(GOOD, **of)}))


def said_last(desk: Desk) -> str:
    last = list(desk.app._notifications)[-1]
    return f"{last.title}: {last.message}"


@pytest.mark.slow
def test_what_cannot_be_recorded_says_why_and_what_would_work() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f3", "ctrl+r")
        assert said_last(desk) == ("Not recorded: chat has no reply yet. Send it with F8, or paste a reply.")
        desk.app.load(replace(with_reply(), signature=SignatureText("question -> answer: in")), None)
        await desk.settle()
        await desk.press("f3", "ctrl+r")
        assert "Fix this first: the signature: " in said_last(desk)
        assert not any(case.recordings for case in desk.document.session.cases)

    bare = SESSION.replace_case(replace(SESSION.cases[0], replies={}))
    at_the_desk(act, session=bare)


def test_what_says_that_nothing_is_recorded_goes_once_something_is() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f9")
        await desk.until(lambda: desk.app._notifications, "for what F9 says")
        assert said_last(desk).startswith("Nothing to check: ")
        await desk.press("f3", "ctrl+r")
        assert desk.document.session.cases[0].recordings
        assert not [one for one in desk.app._notifications if one.title == "Nothing to check"]

    at_the_desk(act, session=SESSION)


def test_a_run_that_broke_off_says_what_can_be_recorded_in_its_place() -> None:
    def send(*_: object) -> Run:
        attempt = Attempt(1, "chat", "fake", {}, (Completion(GOOD.text[:30]),))
        return Run(False, {}, (), (attempt,), RunError("the line went dead", "request"))

    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.sent()
        await desk.press("f3", "ctrl+r")
        said = said_last(desk)
        assert said.startswith("Not recorded: c · chat: there is no complete reply to record: the line went dead (")
        assert "edit the reply" in said

    at_the_desk(act, session=SESSION, send=send)


def test_the_calls_of_a_cancelled_run_can_be_looked_at_and_a_part_of_a_reply_is_not_recorded() -> None:
    ended = threading.Event()

    def send(state: State, column: Column, listener: Listener, cancel: threading.Event) -> Run:
        half = GOOD.text[:30]
        listener(ChunkReceived(at=0.0, attempt=1, text=half))
        cancel.wait(10)
        ended.set()
        attempt = Attempt(1, "chat", "openai/gpt-4o", {}, (Completion(half),))
        return Run(False, {}, (), (attempt,), RunError("Cancelled.", "request"), True)

    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.until(lambda: desk.reply("chat"))
        await desk.press("escape")
        await desk.until(ended.is_set)
        run = desk.main.runs.of("c", "chat")
        await desk.until(lambda: run is not None and run.run is not None)
        await desk.press("f3", "ctrl+r")
        assert "there is no complete reply to record: Cancelled. (send it again" in said_last(desk)
        await desk.press("f7", "3")
        page = desk.app.screen.query_one("#pages-text").plain_text  # type: ignore[attr-defined]
        assert "1 call, " in page and "Chat → openai/gpt-4o" in page and "Nothing was sent" not in page

    at_the_desk(act, session=SESSION.replace_case(replace(SESSION.cases[0], replies={})), send=send)


def test_a_column_that_is_being_sent_is_not_recorded_with_its_older_reply() -> None:
    comes = threading.Event()

    def send(state: State, column: Column, listener: Listener, cancel: threading.Event) -> Run:
        listener(ChunkReceived(at=0.0, attempt=1, text=GOOD.text[:30]))
        assert comes.wait(60)
        newer = GOOD.text.replace("yes", "no")
        return Run(True, {}, (), (Attempt(1, "chat", "fake", {"messages": []}, (Completion(newer),)),))

    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.until(lambda: desk.main.runs.active)
        await desk.press("f3", "ctrl+r")
        said = said_last(desk)
        comes.set()
        assert said == (
            "Not recorded: chat is being sent. Record it when its reply is complete, or cancel it with esc."
        )
        assert not desk.document.session.cases[0].recordings
        await desk.sent()
        await desk.press("ctrl+r")
        (completion,) = desk.document.session.cases[0].recordings["chat"].attempts[0].completions
        assert completion.text == GOOD.text.replace("yes", "no")

    at_the_desk(act, session=SESSION, send=send)


@pytest.mark.slow
def test_a_reply_that_was_kept_raw_is_recorded_unread() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f3", "ctrl+r")
        recorded = desk.document.session
        (completion,) = recorded.cases[0].recordings["chat"].attempts[0].completions
        assert completion == RecordedCompletion(GOOD.text)
        (checked,) = checking.check(recorded)
        assert checked.verdicts == {"render": "pass", "parse": "empty", "expect": "empty"}

    at_the_desk(act, session=with_reply(raw=True))


@pytest.mark.slow
def test_recording_again_after_the_prompt_changed_keeps_what_the_call_said_and_took() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.sent()
        await desk.press("f3", "ctrl+r")
        before = desk.document.state.case
        await desk.go_to("input", "ticket")
        await desk.paste_over("Another ticket")
        await desk.press("f3", "ctrl+r")
        after = desk.document.state.case
        assert after.measured == before.measured
        said = [one.recordings["chat"].attempts[0].completions[0] for one in (before, after)]
        assert said[0].finish_reason == said[1].finish_reason == "stop"
        assert "Another ticket" in str(after.recordings["chat"].messages)
        (told,) = [one for one in desk.app._notifications if one.title == "Old reply recorded"]
        assert told.message.startswith("chat: the present prompt was recorded with a reply to an earlier prompt")

    at_the_desk(act)


@pytest.mark.parametrize(("of", "is_told"), [({"model": "another/model"}, True), ({"source": "pasted"}, False)])
def test_a_reply_to_another_prompt_or_model_is_told_of_when_it_is_recorded(of: dict[str, str], is_told: bool) -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f3", "ctrl+r")
        assert desk.document.session.cases[0].recordings
        titles = [one.title for one in desk.app._notifications]
        assert ("Old reply recorded" in titles) is is_told

    at_the_desk(act, session=with_reply(**of))


def test_every_column_is_recorded_at_once_and_what_has_no_reply_is_named() -> None:
    columns = (Column("chat", "chat"), Column("json", "json"), Column("xml", "xml"))
    replies = {"chat": GOOD, "json": Reply('{"answer": "yes"}')}
    session = replace(SESSION, columns=columns).replace_case(replace(SESSION.cases[0], replies=replies))

    async def act(desk: Desk) -> None:
        (command,) = [
            one for one in commands_of(desk.app, desk.app.screen) if one.name.startswith("Record every column")
        ]
        command.run()
        await desk.settle()
        assert set(desk.document.session.cases[0].recordings) == {"chat", "json"}
        assert said_last(desk) == "Not recorded: xml has no reply yet. Send it with F8, or paste a reply."
        await desk.press("ctrl+z")
        assert not desk.document.session.cases[0].recordings, "one step, as it was one key"

    at_the_desk(act, session=session)


def test_what_was_recorded_beside_the_keys_is_told_of_its_own_case(monkeypatch: pytest.MonkeyPatch) -> None:
    comes, make = threading.Event(), actions._record_each

    def later(*what: Any) -> tuple[Any, ...]:
        assert comes.wait(60)
        return make(*what)

    monkeypatch.setattr(actions, "is_late", lambda column: True)
    monkeypatch.setattr(actions, "_record_each", later)
    two = replace(SESSION, cases=(*SESSION.cases, Case("other", {"question": "And now?"})))

    async def act(desk: Desk) -> None:
        await desk.press("f3", "ctrl+r")
        desk.document.look_at_case(1)
        desk.main.show()
        comes.set()
        await desk.until(lambda: desk.document.session.cases[0].recordings, "for the recording")
        assert desk.document.state.case.name == "other"
        change = desk.document.undo()
        assert change is not None and change.place.case == "c"

    at_the_desk(act, session=two)

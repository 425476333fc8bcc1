"""Recording from the screen: what is recorded, and why something cannot be."""

from __future__ import annotations

from dataclasses import replace

from adapters.errors import RunError
from adapters.run import Attempt, Completion, Run
from sessions import fixtures
from sessions.session import Case, Column, Session, SignatureText
from tests.support.open_app import Desk, at_the_desk

GOOD = {"text": "[[ ## answer ## ]]\nyes\n\n[[ ## completed ## ]]", "source": "sent"}
SESSION = Session(
    SignatureText("question -> answer"),
    columns=(Column("chat", "chat"),),
    cases=(Case("c", {"question": "Does it rain?"}, replies={"chat": GOOD}),),
)


def with_reply(**of: object) -> Session:
    return SESSION.with_case(replace(SESSION.cases[0], replies={"chat": {**GOOD, **of}}))


def said_last(desk: Desk) -> str:
    last = list(desk.app._notifications)[-1]
    return f"{last.title}: {last.message}"


def test_what_cannot_be_recorded_says_why_and_what_would_work() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f3", "ctrl+r")
        assert said_last(desk) == ("Not recorded: chat has no reply yet: F8 sends it, or paste one below its prompt.")
        desk.app.load(replace(with_reply(), signature=SignatureText("question -> answer: in")), None)
        await desk.settle()
        await desk.press("f3", "ctrl+r")
        assert "First mend what is wrong: the signature: " in said_last(desk)
        assert not any(case.recordings for case in desk.document.session.cases)

    bare = SESSION.with_case(replace(SESSION.cases[0], replies={}))
    at_the_desk(act, session=bare)


def test_a_run_that_broke_off_says_what_can_be_recorded_in_its_place() -> None:
    def send(*_: object) -> Run:
        attempt = Attempt(1, "chat", "fake", {}, (Completion(str(GOOD["text"])[:30]),))
        return Run(False, {}, (), (attempt,), RunError("the line went dead", "request"))

    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.sent()
        await desk.press("f3", "ctrl+r")
        said = said_last(desk)
        assert said.startswith("Not recorded: c · chat: there is no whole reply to record: the line went dead (send it")
        assert "edit the reply" in said

    at_the_desk(act, session=SESSION, send=send)


def test_a_reply_that_was_kept_raw_is_recorded_unread() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f3", "ctrl+r")
        recorded = desk.document.session
        (completion,) = recorded.cases[0].recordings["chat"].attempts[0]["completions"]
        assert completion == {"text": GOOD["text"], "reading": None}
        (checked,) = fixtures.check(recorded)
        assert checked.verdicts == {"render": "pass", "parse": "empty", "expect": "empty"}

    at_the_desk(act, session=with_reply(raw=True))

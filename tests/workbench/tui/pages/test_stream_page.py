"""The page Stream shows what dspy's listeners emit, for the chunks of the model or random cuts, and what is lost."""

from dataclasses import replace
from pathlib import Path

import pytest

from adapters.replies import streaming
from sessions.file import store
from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Session, SignatureText
from tests.support.open_app import SIZES, Desk, at_the_desk
from workbench.tui.pages import reply_pages
from workbench.tui.screens.pages import PagesScreen
from workbench.tui.widgets.text.text_view import TextView

SESSION = Session(
    SignatureText("question -> answer, score: float"),
    columns=(Column("chat", "chat"), Column("json", "json"), Column("baml", "baml")),
    cases=(Case("first", {"question": "Is it [/x]?"}),),
)
LOSSY = "[[ ## answer ## ]]\nsee [[a link]] \x1b[2J [/x] \ud800 here\n\n[[ ## score ## ]]\n1.0\n\n[[ ## completed ## ]]"


def shown(desk: Desk) -> str:
    return desk.app.screen.query_one(TextView).plain_text


@pytest.mark.parametrize("size", SIZES)
def test_chunks_as_sent_then_cut_at_random(size: tuple[int, int], tmp_path: Path) -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f3", "f5")
        await desk.sent()
        await desk.press("f7", "9")
        screen = desk.app.screen
        assert isinstance(screen, PagesScreen) and screen.page == "stream"
        as_sent = reply_pages.chunks_as_sent(screen.at)
        assert len(as_sent) > 1 and "".join(as_sent) == desk.reply(screen.at.column.id)
        assert f"The reply in {len(as_sent)} chunks, as the model sent it." in shown(desk)
        path = tmp_path / "s.session.json"
        store.save(desk.document.session, path)
        reopened = store.load(path).cases[0].replies["chat"].chunks
        assert reopened == tuple(map(len, as_sent)) if screen.at.column.id == "chat" else reopened
        assert path.read_text().count("\n") < 200  # the lengths are in a line
        await desk.press("v")
        assert "cut at random (1)" in shown(desk)
        first = shown(desk)
        await desk.press("v")
        assert "cut at random (2)" in shown(desk) and shown(desk) != first
        screen.turn_to("baml")
        await desk.settle()
        assert "dspy cannot stream this adapter" in shown(desk)

    at_the_desk(act, session=SESSION, size=size)


def test_chunks_are_known_after_reopening_until_the_reply_is_edited() -> None:
    text = "[[ ## answer ## ]]\nyes\n\n[[ ## score ## ]]\n1.0"
    reply = Reply(text, chunks=(10, len(text) - 10))
    session = replace(SESSION, cases=(replace(SESSION.cases[0], replies={"chat": reply}),))

    async def act(desk: Desk) -> None:
        await desk.press("f3", "f7", "9")
        assert "The reply in 2 chunks, as the model sent it." in shown(desk)
        await desk.press("escape", "f4")
        await desk.type("x")
        assert desk.document.state.case.replies["chat"].chunks is None

    at_the_desk(act, session=session)


def test_what_a_listener_loses_is_named_and_hostile_text_is_text() -> None:
    session = replace(SESSION, cases=(replace(SESSION.cases[0], replies={"chat": Reply(LOSSY, source="pasted")}),))

    async def act(desk: Desk) -> None:
        await desk.press("f3", "f7", "9")
        text = shown(desk)
        assert "cut at random (0)" in text
        assert "✗" in text and "never emitted: " in text

    at_the_desk(act, session=session)


def test_without_a_reply_or_with_a_huge_reply_the_page_says_so() -> None:
    huge = replace(SESSION, cases=(replace(SESSION.cases[0], replies={"chat": Reply("x" * 30_000)}),))
    for session, said in ((SESSION, "There is no parsed reply yet"), (huge, "more than 20,000 characters")):

        async def act(desk: Desk, said: str = said) -> None:
            await desk.press("f3", "f7", "9")
            assert said in shown(desk)

        at_the_desk(act, session=session)


def test_lost_and_foreign_text_are_told_apart() -> None:
    (one,) = streaming.streamed("markers", ["answer"], ["[[ ## answer ## ]]\n", "see [[", "a link]]", " here"])
    assert one.text == "see  here"
    assert one.compared("see [[a link]] here") == ("[[a link]]", "")
    (one,) = streaming.streamed("json", ["answer"], ['{"answer":', ' "yes"', ', "sc', 'ore": 1', ".0}"])
    lost, extra = one.compared('"yes"')
    assert lost == "" and extra.startswith(', "')


@pytest.mark.parametrize("seed", range(5))
def test_random_cuts_lose_nothing(seed: int) -> None:
    assert "".join(streaming.cut_at_random(LOSSY, seed)) == LOSSY
    assert streaming.cut_at_random(LOSSY, seed) == streaming.cut_at_random(LOSSY, seed)
    assert streaming.cut_at_random("", seed) == ()

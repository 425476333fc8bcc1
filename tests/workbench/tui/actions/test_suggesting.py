"""A model asked for another wording, from the tab of variants: kept only when it is taken."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest
from loopback_server import CANARY, LoopbackServer
from textual.widgets import Input

from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Session, SignatureText
from tests.support.open_app import SIZES, Desk, at_the_desk
from tests.support.screen import seen
from workbench.sending import suggesting
from workbench.sending.suggesting import Failing
from workbench.tui.actions.suggesting import SuggestionScreen
from workbench.tui.dialogs.ask import AskScreen, ConfirmScreen
from workbench.tui.dialogs.choose import ChooseScreen, ModelScreen
from workbench.tui.widgets.text.text_view import TextView

TEXT = "Answer the question."
BETTER = "Answer the question [/x] in one word.\nSay unknown if you do not know."
SESSION = Session(
    SignatureText("question -> answer", instructions=TEXT),
    columns=(Column("chat", "chat"),),
    cases=(Case("c", {"question": "Does it rain?"}, replies={"chat": Reply("It depends.")}),),
    model="openai/any-name",
)


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Callable[[LoopbackServer], None]:
    def use(server: LoopbackServer) -> None:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", CANARY)
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)

    return use


def server_of(behaviour: str = "ok") -> LoopbackServer:
    return LoopbackServer(f"[[ ## rewrite ## ]]\n{BETTER}\n\n[[ ## completed ## ]]", behaviour)


async def ask(desk: Desk) -> None:
    """Goes from the tab to the question, and answers what is asked on the way."""
    desk.main.editors.open("variants")
    desk.main.editors.variants._list.focus()
    await desk.press("s")
    await desk.until(lambda: type(desk.app.screen) is ChooseScreen, "to be asked which text")
    await desk.press("enter")
    await desk.until(lambda: isinstance(desk.app.screen, ModelScreen), "to be asked which model")
    desk.app.screen.query_one(Input).value = "openai/any-name"
    await desk.settle()
    await desk.press("enter")
    await desk.until(lambda: isinstance(desk.app.screen, AskScreen), "to be asked for the wish")
    assert "1 reply that went wrong" in str(desk.app.screen.query_one(".dialog-hint").render())
    await desk.press("enter")


def question(desk: Desk) -> str:
    return str(desk.app.screen.query_one(".dialog-text").render())


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_a_rewrite_is_shown_as_a_diff_and_what_is_taken_is_a_variant_that_undo_takes_back(
    size: tuple[int, int], provider: Callable[[LoopbackServer], None]
) -> None:
    with server_of() as server:
        provider(server)

        async def act(desk: Desk) -> None:
            before = desk.document.session
            await ask(desk)
            await desk.until(lambda: isinstance(desk.app.screen, SuggestionScreen), "for the diff")

            def shown() -> str:
                return "\n".join(seen(desk.app.screen.query_one(TextView)))

            await desk.until(lambda: "+ Say unknown" in shown(), "for it to be painted")
            assert f"- {TEXT}" in shown() and "[/x]" in shown()
            assert "t accept, as a variant" in str(desk.app.screen.query_one(".dialog-hint").render())
            assert desk.document.session is before
            await desk.press("t")
            (made,) = desk.document.session.variants
            assert (made.tag, made.of, made.text) == ("suggested", "instructions", BETTER)
            await desk.press("ctrl+z")
            assert desk.document.session == before

        at_the_desk(act, session=SESSION, size=size)
        assert "It depends." in str(server.requests[0].body["messages"])


@pytest.mark.slow
@pytest.mark.parametrize("key", ["l", "escape"])
def test_what_is_left_changes_nothing(key: str, provider: Callable[[LoopbackServer], None]) -> None:
    with server_of() as server:
        provider(server)

        async def act(desk: Desk) -> None:
            before = desk.document.session
            await ask(desk)
            await desk.until(lambda: isinstance(desk.app.screen, SuggestionScreen), "for the diff")
            await desk.press(key)
            assert desk.app.screen is desk.main and desk.document.session is before

        at_the_desk(act, session=SESSION)


@pytest.mark.slow
def test_a_call_that_is_stopped_is_ended_and_leaves_nothing(provider: Callable[[LoopbackServer], None]) -> None:
    with server_of("hang") as server:
        provider(server)

        async def act(desk: Desk) -> None:
            before = desk.document.session
            await ask(desk)
            await desk.until(lambda: server.requests, "for the request at the server")
            await desk.press("escape")
            assert desk.app.screen is desk.main and desk.document.session is before
            await desk.until(server.requests[0].closed_by_client.is_set, "for the call to end")

        at_the_desk(act, session=SESSION)


@pytest.mark.slow
def test_a_call_that_fails_says_why_and_leaves_nothing(provider: Callable[[LoopbackServer], None]) -> None:
    with server_of("401") as server:
        provider(server)

        async def act(desk: Desk) -> None:
            before = desk.document.session
            await ask(desk)
            await desk.until(lambda: desk.app._notifications, "to be told")
            (said,) = [one.message for one in desk.app._notifications]
            assert "No suggestion" in said and CANARY not in said
            assert desk.document.session is before

        at_the_desk(act, session=SESSION)


@pytest.mark.slow
def test_an_address_of_the_session_is_asked_about_before_it_gets_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    monkeypatch.delenv("OPENAI_API_BASE", raising=False)
    with server_of() as server:

        async def act(desk: Desk) -> None:
            await ask(desk)
            await desk.until(lambda: isinstance(desk.app.screen, ConfirmScreen), "to be asked about the host")
            assert "127.0.0.1" in question(desk)
            await desk.press("escape")
            assert desk.app.screen is desk.main and not server.requests

        at_the_desk(act, session=replace(SESSION, params={"api_base": server.url}))


@pytest.mark.slow
def test_a_variable_that_was_allowed_goes_out_in_its_header(
    provider: Callable[[LoopbackServer], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUR_ORG", "org-of-ours")
    with server_of() as server:
        provider(server)

        async def act(desk: Desk) -> None:
            await ask(desk)
            await desk.until(lambda: isinstance(desk.app.screen, ConfirmScreen), "to be asked about the variable")
            assert "OUR_ORG" in question(desk)
            await desk.press("y")
            await desk.until(lambda: isinstance(desk.app.screen, SuggestionScreen), "for the diff")

        at_the_desk(act, session=replace(SESSION, params={"header_variables": {"X-Org": "OUR_ORG"}}))
        assert "org-of-ours" in str(server.requests[0].headers)


def test_the_replies_that_the_model_is_shown_are_read_away_from_the_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[threading.Thread] = []
    failing = suggesting.failing

    def watched(session: Session) -> tuple[Failing, ...]:
        threads.append(threading.current_thread())
        return failing(session)

    monkeypatch.setattr(suggesting, "failing", watched)

    async def act(desk: Desk) -> None:
        desk.main.editors.open("variants")
        desk.main.editors.variants._list.focus()
        await desk.press("s")
        await desk.until(lambda: type(desk.app.screen) is ChooseScreen, "to be asked which text")

    at_the_desk(act, session=SESSION)
    assert threads and threading.main_thread() not in threads


@pytest.mark.slow
def test_a_signature_that_cannot_be_read_is_mended_first() -> None:
    async def act(desk: Desk) -> None:
        desk.main.editors.open("variants")
        desk.main.editors.variants._list.focus()
        await desk.press("s")
        await desk.until(lambda: desk.app._notifications, "to be told")
        assert desk.app.screen is desk.main

    at_the_desk(act, session=replace(SESSION, signature=SignatureText("question: nonsense( -> answer")))

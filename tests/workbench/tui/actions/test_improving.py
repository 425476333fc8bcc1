"""From the grid of a bench to a rewrite that is benched at once, judged on cases that its author did not see."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from loopback_server import CANARY, LoopbackServer
from textual.widgets import Input

from sessions.bench import results
from sessions.bench.results import ResultsFile
from sessions.file import store
from sessions.model.replies import Answer as Reply
from sessions.model.session import Case, Column, Session, SignatureText
from tests.sessions.bench.test_grid import run_of
from tests.support.bench_lines import runs_in
from tests.support.open_app import Desk, at_the_desk
from workbench.tui.actions import benching
from workbench.tui.actions.suggesting import SuggestionScreen
from workbench.tui.dialogs.ask import AskScreen, ConfirmScreen
from workbench.tui.dialogs.choose import ChooseScreen, ModelScreen
from workbench.tui.screens.bench import BenchScreen

CASES = tuple(f"case {number}" for number in range(6))
BETTER = "Answer with yes or no."


def a_bench(path: Path, good: bool) -> Path:
    cases = tuple(
        [Case(name, {"question": name}, expect={"fields": {"answer": {"in": ["yes", "no"]}}}) for name in CASES]
    )
    columns = (Column("chat", "chat"), Column("json", "json"))
    store.save(Session(SignatureText("question -> answer"), cases=cases, columns=columns, model="offline/exact"), path)
    with ResultsFile(results.path_beside(path)) as file:
        for name in CASES:
            made = run_of(name, "chat", 1, True, good, failures=() if good else ("answer: expected yes, got maybe",))
            file.append(replace(made, reply=Reply("maybe")))
    return results.path_beside(path)


def improved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str) -> tuple[str, Session, list[str], str]:
    """Improves from the grid; gives what the second grid shows, the session, the benched columns and what was asked."""
    path = tmp_path / "q.session.json"
    held = a_bench(path, good=False)
    before = len(runs_in(held))
    said = []
    with LoopbackServer(f"[[ ## rewrite ## ]]\n{BETTER}\n\n[[ ## completed ## ]]", "ok") as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", CANARY)
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)

        async def act(desk: Desk) -> None:
            desk.app.ask(benching.look_at_bench(desk.app))
            await desk.until(lambda: isinstance(desk.app.screen, BenchScreen), "for the grid")
            first = desk.app.screen
            await desk.press("i")
            await desk.until(lambda: type(desk.app.screen) is ChooseScreen, "to be asked which text")
            await desk.press("enter")
            await desk.until(lambda: isinstance(desk.app.screen, ModelScreen), "to be asked which model")
            desk.app.screen.query_one(Input).value = "openai/any-name"
            await desk.settle()
            await desk.press("enter")
            await desk.until(lambda: isinstance(desk.app.screen, AskScreen), "to be asked for the wish")
            said.append(str(desk.app.screen.query_one(".dialog-hint").render()))
            await desk.press("enter")
            await desk.until(lambda: isinstance(desk.app.screen, SuggestionScreen), "for the diff")
            await desk.press("t")
            await desk.until(lambda: type(desk.app.screen) is ConfirmScreen, "to be asked before anything is sent")
            said.append(str(desk.app.screen.query_one(".dialog-text").render()))
            assert len(runs_in(held)) == before
            await desk.press(answer)
            if answer == "b":
                is_second = lambda: isinstance(desk.app.screen, BenchScreen) and desk.app.screen is not first  # noqa: E731
                await desk.until(is_second, "for the second grid")
                await desk.settle()
                strips = desk.app.screen._compositor.render_strips()
                said.append("\n".join([strip.text for strip in strips]))
                await desk.press("escape")
            session.append(desk.document.session)

        session: list[Session] = []
        at_the_desk(act, store.load(path), path)
        asked = json.dumps(server.requests[0].body)
    columns = [f"{one.column} {one.case}" for one in runs_in(held)[before:]]
    return "\n".join(said), session[0], columns, asked


@pytest.mark.slow
def test_a_rewrite_is_benched_beside_the_original_and_judged_on_the_withheld_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said, session, columns, asked = improved(tmp_path, monkeypatch, "b")
    assert "3 replies that went wrong" in said
    assert sum(f"question: {name}" in asked for name in CASES) == 3, "half of the cases are withheld"
    assert "12 calls" in said and "free" in said
    assert [(one.tag, one.text) for one in session.variants] == [("suggested", BETTER)]
    assert sorted(columns) == sorted(f"{column} {name}" for column in ("chat", "chat · suggested") for name in CASES)
    assert "chat: no gain is certain on the withheld half" in said
    assert "not told apart: chat, chat · suggested" in said


@pytest.mark.slow
def test_declined_the_variant_stays_and_nothing_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, session, columns, _ = improved(tmp_path, monkeypatch, "l")
    assert [one.tag for one in session.variants] == ["suggested"]
    assert columns == []


def test_without_misses_there_is_nothing_to_improve(tmp_path: Path) -> None:
    path = tmp_path / "q.session.json"
    a_bench(path, good=True)

    async def act(desk: Desk) -> None:
        desk.app.ask(benching.look_at_bench(desk.app))
        await desk.until(lambda: isinstance(desk.app.screen, BenchScreen), "for the grid")
        await desk.press("i")
        await desk.until(lambda: len(desk.app._notifications) > 0, "to be told")
        assert any("No reply went wrong" in one.message for one in desk.app._notifications)

    at_the_desk(act, store.load(path), path)

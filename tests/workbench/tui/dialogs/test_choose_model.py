"""The picker of models: what can be called at once, what lacks a key, and lists that come while it is open."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
from textual._compositor import Compositor
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from adapters.lm import model_list, servers
from adapters.lm.litellm_client import LitellmLM
from adapters.lm.model_list import ModelEntry
from tests.support.open_app import TICKETS, Desk, at_the_desk
from workbench.tui.actions import columns
from workbench.tui.dialogs.choose import LOADING, ModelScreen
from workbench.tui.textual_internals.access import EntryList

LISTED = (
    ModelEntry("anthropic/claude-sonnet-5-5", "anthropic", "", 200_000, 3.0, 15.0),
    ModelEntry("openai/claude-like", "openai", "", None, None, None),
    ModelEntry("openai/[/x]\x1b[2J", "openai"),
)


class List:
    """litellm's list, which comes when it is let go."""

    def __init__(self) -> None:
        self.go_on = threading.Event()

    def __call__(self) -> Sequence[ModelEntry]:
        self.go_on.wait(10)
        return LISTED


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "HOSTED_VLLM_API_BASE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def warmed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The models that litellm was loaded for."""
    found: list[str] = []
    monkeypatch.setattr(LitellmLM, "warm", lambda self: found.append(self.model))
    return found


def lines(desk: Desk) -> list[str]:
    screen = desk.app.screen
    assert isinstance(screen, ModelScreen)
    return [f"{one.name} {one.about}" for one in screen._shown]


def hint(desk: Desk) -> str:
    return str(desk.app.screen.query_one(".dialog-hint").render())


@pytest.mark.slow
def test_the_picker_can_be_used_while_the_list_is_loading_and_says_so(
    monkeypatch: pytest.MonkeyPatch, warmed: list[str]
) -> None:
    listed = List()
    monkeypatch.setattr(columns, "ModelScreen", partial(ModelScreen, litellm_models=listed))

    async def act(desk: Desk) -> None:
        await desk.press("ctrl+l")
        assert LOADING in hint(desk)
        await desk.type("slop")
        assert lines(desk)[0].startswith("offline/sloppy")
        listed.go_on.set()
        await desk.until(lambda: "3 models of litellm" in hint(desk))
        await desk.fill_in("cld")
        first, second, typed = lines(desk)
        assert first.startswith("openai/claude-like key set · price unknown · OPENAI_API_KEY")
        assert second.startswith("anthropic/claude-sonnet-5-5 key not set · $3 in $15 out a million, 200,000 tokens")
        assert second.endswith(" · ANTHROPIC_API_KEY")
        assert typed.startswith("cld as typed")
        await desk.fill_in("groq/my-own")
        assert lines(desk)[-1].startswith("groq/my-own as typed, through litellm; GROQ_API_KEY is")
        await desk.fill_in("openai/cld")  # `openai/claude-like` merely resembles it
        assert [line.split()[0] for line in lines(desk)] == ["openai/cld", "openai/claude-like"]
        await desk.fill_in("openai/claude")
        assert [line.split()[0] for line in lines(desk)] == ["openai/claude-like", "openai/claude"]
        await desk.fill_in("[/x]")
        await desk.press("escape")
        assert desk.document.session is TICKETS and not warmed

    at_the_desk(act)


def test_a_letter_does_not_look_for_secrets_in_the_addresses_of_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[None] = []
    scrubber = servers.Scrubber

    def make() -> servers.Scrubber:
        made.append(None)
        return scrubber()

    monkeypatch.setattr(servers, "Scrubber", make)
    monkeypatch.setattr(columns, "ModelScreen", partial(ModelScreen, litellm_models=tuple))

    async def act(desk: Desk) -> None:
        await desk.press("ctrl+l")
        before = len(made)
        await desk.type("ollama")
        assert before and any(line.startswith("ollama_chat/…") for line in lines(desk))
        assert len(made) == before

    at_the_desk(act)


@pytest.mark.slow
def test_choosing_a_model_that_needs_litellm_loads_it_and_one_that_does_not_leaves_it(
    monkeypatch: pytest.MonkeyPatch, warmed: list[str]
) -> None:
    monkeypatch.setattr(columns, "ModelScreen", partial(ModelScreen, litellm_models=tuple))

    async def act(desk: Desk) -> None:
        await desk.press("ctrl+l")
        await desk.type("offline/fenced")
        await desk.press("enter")
        assert desk.document.session.model == "offline/fenced" and not warmed
        await desk.press("ctrl+l")
        await desk.until(lambda: "litellm is not installed" in hint(desk))
        await desk.type("openai/any-name")
        await desk.press("enter")
        await desk.until(lambda: warmed == ["openai/any-name"])
        await desk.press("ctrl+z", "ctrl+z")
        assert desk.document.session is TICKETS

    at_the_desk(act)


@pytest.mark.slow
def test_a_column_gets_a_model_beside_it_and_every_adapter_one_more(
    monkeypatch: pytest.MonkeyPatch, warmed: list[str]
) -> None:
    monkeypatch.setattr(columns, "ModelScreen", partial(ModelScreen, litellm_models=tuple))

    async def act(desk: Desk) -> None:
        await desk.press("f3", "shift+f8", "a")
        await desk.type("sloppy")
        await desk.press("enter")
        assert [one.id for one in desk.document.session.columns][:2] == ["chat", "chat · offline/sloppy"]
        await desk.press("shift+f8", "n")
        await desk.type("sloppy")
        await desk.press("enter")
        assert len(desk.document.session.columns) == 6
        assert {one.column_id for one in desk.main.columns.all} == {one.id for one in desk.document.session.columns}
        await desk.press("shift+f8", "x")
        assert len(desk.document.session.columns) == 5

    at_the_desk(act)


@pytest.mark.slow
def test_a_server_of_the_users_own_is_asked_for_its_models_only_when_it_is_chosen(
    monkeypatch: pytest.MonkeyPatch, warmed: list[str]
) -> None:
    asked: list[str] = []

    def models_at(server: servers.Server) -> tuple[str, ...] | None:
        asked.append(server.provider)
        return ("hosted_vllm/[mine]",) if server.provider == "hosted_vllm" else None

    monkeypatch.setattr(servers, "models_at", models_at)
    monkeypatch.setattr(columns, "ModelScreen", partial(ModelScreen, litellm_models=tuple))

    async def act(desk: Desk) -> None:
        await desk.press("ctrl+l")
        await desk.type("ollama")
        assert not asked
        await desk.press("enter")
        await desk.until(lambda: "does not answer" in hint(desk))
        desk.app.screen.query_one(Input).value = "vllm"
        await desk.press("enter")
        await desk.until(lambda: "vLLM has 1 model" in hint(desk))
        assert lines(desk)[0].startswith("hosted_vllm/[mine] vLLM at ")
        await desk.type("mine")
        await desk.press("enter")
        assert desk.document.session.model == "hosted_vllm/[mine]" and asked == ["ollama_chat", "hosted_vllm"]

    at_the_desk(act)


def test_the_picker_is_laid_out_once_and_each_entry_is_painted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    laid_out: list[Widget] = []
    painted: list[int] = []
    reflow, render_line = Compositor.reflow, EntryList.render_line

    def reflowed(compositor: Compositor, parent: Widget, size: Size) -> Any:
        laid_out.append(parent)
        return reflow(compositor, parent, size)

    def asked(entries: EntryList, y: int) -> Strip:
        painted.append(y)
        return render_line(entries, y)

    async def act(desk: Desk) -> None:
        monkeypatch.setattr(Compositor, "reflow", reflowed)
        monkeypatch.setattr(EntryList, "render_line", asked)
        screen = ModelScreen("Model", "offline/exact", only=[f"server/model-{number}" for number in range(60)])
        desk.app.push_screen(screen)
        await desk.until(lambda: len(painted) > 0, "for the entries")
        await desk.settle()
        assert laid_out.count(screen) == 1
        (entries,) = screen.query(EntryList)
        assert entries.show_vertical_scrollbar and sorted(painted) == list(range(entries.size.height))
        bar = entries.vertical_scrollbar
        assert (bar.window_virtual_size, bar.window_size) == (entries.option_count, entries.size.height)
        await desk.press(*"model-59")
        assert entries.option_count == entries.size.height == 1
        assert not entries.show_vertical_scrollbar
        row = "".join(one.text for one in entries.render_lines(Region(0, 0, *entries.size))[0])
        assert "server/model-59" in row

    at_the_desk(act)


ABOUT = [one.description for one in model_list.offline_models()]


def rows_of(desk: Desk) -> list[str]:
    """Return the rows of the list as they are shown, without marks."""
    return [one.text[2:] for one in desk.app.screen.query_one(EntryList).entries]


def test_descriptions_of_models_are_aligned_beside_names_that_are_not_too_long(
    monkeypatch: pytest.MonkeyPatch, warmed: list[str]
) -> None:
    long = ModelEntry(f"openai/{'long-' * 8}", "openai")
    listed = [ModelEntry("openai/one", "openai"), ModelEntry("openai/one-more", "openai"), long]
    monkeypatch.setattr(columns, "ModelScreen", partial(ModelScreen, litellm_models=lambda: listed))

    async def act(desk: Desk) -> None:
        await desk.press("ctrl+l")
        await desk.until(lambda: "3 models of litellm" in hint(desk))
        offline = [row for row in rows_of(desk) if row.startswith("offline/")]
        assert len({row.index(about) for row, about in zip(offline, ABOUT, strict=False)}) == 1, offline
        await desk.type("openai")
        one, more, longest = [row for row in rows_of(desk) if "key " in row][:3]
        assert one.index("key ") == more.index("key ") < longest.index("key ")

    at_the_desk(act)

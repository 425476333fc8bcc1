"""What every model must do under every adapter: the same events and the same readings for the same replies."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Any

import pytest
from loopback_server import LoopbackServer
from scripted_lm import ScriptedLM

from adapters.formats.catalog import make
from adapters.lm import LM
from adapters.lm import open as open_model
from adapters.lm.protocol import Chunk, ToolCallPart
from adapters.requests.capabilities import NONE, Capabilities
from adapters.running import runner
from adapters.running.events import ToolInvoked
from adapters.running.runs import Run
from adapters.signatures.notation import read
from adapters.tools.tools import RunTool, Tools

SIGNATURE = read("question, context: list[str] -> answer: Literal['yes', 'no'], score: float, reasons: list[str]")
INPUTS = {"question": "Is it raining in Bergen?", "context": ["In Bergen it pours.", "Umbrellas\nare sold out."]}
ADAPTERS = ("chat", "json", "xml", "baml", "twostep", "markdown")
PERSONAS = ("exact", "truncated", "mistyped", "empty")


class Echoing(ScriptedLM):
    """A user's own model: gives the replies of an offline model, each in one piece."""

    def __init__(self, replies: Mapping[str, str]) -> None:
        super().__init__()
        self._texts = replies

    def stream(self, request: Any, cancel: Any = None) -> Any:
        self._replies = [self._texts[json.dumps(request["messages"])]]
        return super().stream(request, cancel)


def replies_of(run: Run) -> dict[str, str]:
    """The text of each reply, by the messages that it answers."""
    return {json.dumps(one.request["messages"]): one.completions[0].text for one in run.attempts}


def through_litellm(run: Run, monkeypatch: pytest.MonkeyPatch, asked: Callable[[LM], Run]) -> Run:
    """The same run through litellm, whose provider gives the replies of `run`."""
    replies = replies_of(run)
    with LoopbackServer(lambda body: replies[json.dumps(body["messages"])]) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        return asked(open_model("openai/any-name"))


def ask(adapter: str, lm: LM) -> Run:
    return runner.run(make(adapter), lm, SIGNATURE, [], INPUTS, fallback=True)


def steps(run: Run) -> list[str]:
    """The kinds of the events but for pieces of a reply and the loading of a client: both are a model's own affair."""
    own = ("ChunkReceived", "ModelLoading")
    return [kind for kind, _ in groupby(event.kind for event in run.events) if kind not in own]


def account(run: Run) -> Any:
    return [
        (attempt.adapter, [(one.text, one.reading and one.reading.error, one.reading and one.reading.spans)])
        for attempt in run.attempts
        for one in attempt.completions
    ]


@pytest.mark.parametrize("persona", PERSONAS)
@pytest.mark.parametrize("adapter", ADAPTERS)
def test_every_model_gives_the_same_run(adapter: str, persona: str, monkeypatch: pytest.MonkeyPatch) -> None:
    offline = ask(adapter, open_model(f"offline/{persona}", chunk_seconds=0))
    echoed = ask(adapter, Echoing(replies_of(offline)))
    for other in (echoed, through_litellm(offline, monkeypatch, lambda lm: ask(adapter, lm))):
        assert other.ok == offline.ok
        assert steps(other) == steps(offline)
        assert account(other) == account(offline)
        assert other.values == offline.values
        assert (other.error is None) or (other.error.phase, other.error.message) == (
            offline.error and offline.error.phase,
            offline.error and offline.error.message,
        )


SEARCH = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
CAN_CALL = Capabilities(function_calling=True, params=frozenset({"tools", "tool_choice"}))


def ask_with_tools(adapter: str, lm: LM, capabilities: Capabilities = NONE, after: Callable[[], None] = list) -> Run:
    """A run with two tools; `after` is called when the model is answered."""

    def answer(arguments: Mapping[str, Any]) -> str:
        after()
        return f"answered {sorted(arguments)}"

    tools = Tools((RunTool("search", "Looks it up.", SEARCH, answer), RunTool("now", "The time.", {}, answer)))
    native = {"use_native_function_calling": True} if capabilities is CAN_CALL else {}
    return runner.run(
        make(adapter, native), lm, SIGNATURE, [], INPUTS, fallback=False, tools=tools, capabilities=capabilities
    )


def tools_told(run: Run) -> list[Any]:
    found = [event for event in run.events if isinstance(event, ToolInvoked)]
    return [(one.name, one.arguments, one.result.success, one.rendered_output) for one in found]


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_tools_called_in_text_give_the_same_run(adapter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    offline = ask_with_tools(adapter, open_model("offline/exact", chunk_seconds=0))
    assert [attempt.purpose for attempt in offline.attempts][:2] == ["first", "tools"] or not tools_told(offline)
    echoed = ask_with_tools(adapter, Echoing(replies_of(offline)))
    for other in (echoed, through_litellm(offline, monkeypatch, lambda lm: ask_with_tools(adapter, lm))):
        assert steps(other) == steps(offline)
        assert tools_told(other) == tools_told(offline)
        assert account(other) == account(offline)
        assert other.values == offline.values


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize("adapter", [one for one in ADAPTERS if one != "twostep"])
def test_tools_called_natively_give_the_same_run(adapter: str, provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if (adapter, provider) == ("markdown", "anthropic"):
        pytest.skip("Markdown's only message is the system's, and Anthropic's protocol wants another")
    final = ask(adapter, open_model("offline/exact", chunk_seconds=0)).attempts[0].completions[0].text
    parts = (ToolCallPart(0, "call_0", "search", '{"query": "rain"}'), ToolCallPart(1, "call_1", "now", "{}"))
    scripted = ask_with_tools(adapter, ScriptedLM([Chunk(tool_calls=parts)], final), CAN_CALL)
    assert [one[0] for one in tools_told(scripted)] == ["search", "now"]
    with LoopbackServer(final, "tool-calls") as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        monkeypatch.setenv("ANTHROPIC_API_BASE", server.anthropic_url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "any")
        lm = open_model(f"{provider}/any-name")
        called = ask_with_tools(adapter, lm, CAN_CALL, after=lambda: setattr(server, "behaviour", "ok"))
    assert called.ok, called.error
    assert tools_told(called) == tools_told(scripted)
    assert steps(called) == steps(scripted)
    assert account(called) == account(scripted)
    assert called.values == scripted.values

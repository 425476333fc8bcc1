"""What every model must do under every adapter: the same events and the same readings for the same replies."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pytest
from loopback_server import LoopbackServer
from scripted_lm import ScriptedLM

from adapters import runner
from adapters.catalog import make
from adapters.lm import LM, child
from adapters.lm import open as open_model
from adapters.notation import read
from adapters.run import Run

SIGNATURE = read("question, context: list[str] -> answer: Literal['yes', 'no'], score: float, reasons: list[str]")
INPUTS = {"question": "Is it raining in Bergen?", "context": ["In Bergen it pours.", "Umbrellas\nare sold out."]}
ADAPTERS = ("chat", "json", "xml", "baml", "twostep", "markdown")
PERSONAS = ("exact", "truncated", "mistyped", "empty")


def said(persona: str, messages: Any) -> str:
    stream = open_model(f"offline/{persona}", chunk_seconds=0).stream({"messages": messages})
    return "".join(chunk.text for chunk in stream)


class Echoing(ScriptedLM):
    """A user's own model: gives an offline model's reply in one piece."""

    def __init__(self, persona: str) -> None:
        super().__init__()
        self._persona = persona

    def stream(self, request: Any, cancel: Any = None) -> Any:
        self._replies = [said(self._persona, request["messages"])]
        return super().stream(request, cancel)


@pytest.fixture(params=PERSONAS)
def persona(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def through_litellm(persona: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[LM]:
    with LoopbackServer(lambda body: said(persona, body["messages"])) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        yield open_model("openai/any-name")


@pytest.fixture(scope="module", autouse=True)
def _no_child_is_left() -> Iterator[None]:
    yield
    child.shut_down()


def ask(adapter: str, lm: LM) -> Run:
    return runner.run(make(adapter), lm, SIGNATURE, [], INPUTS, fallback=True)


def steps(run: Run) -> list[str]:
    """The kinds of the events; how many pieces a reply came in does not matter, nor whether there was one."""
    return [kind for kind, _ in groupby(event.kind for event in run.events) if kind != "ChunkReceived"]


def account(run: Run) -> Any:
    return [
        (attempt.adapter, [(one.text, one.reading and one.reading.error, one.reading and one.reading.spans)])
        for attempt in run.attempts
        for one in attempt.completions
    ]


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_every_model_gives_the_same_run(adapter: str, persona: str, through_litellm: LM) -> None:
    offline = ask(adapter, open_model(f"offline/{persona}", chunk_seconds=0))
    for other in (ask(adapter, Echoing(persona)), ask(adapter, through_litellm)):
        assert other.ok == offline.ok
        assert steps(other) == steps(offline)
        assert account(other) == account(offline)
        assert other.values == offline.values
        assert (other.error is None) or (other.error.phase, other.error.message) == (
            offline.error and offline.error.phase,
            offline.error and offline.error.message,
        )

"""Providers as somebody else has understood their documents: what our own fake servers may have wrong shows here."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from aimock import Aimock, NoAimockError, installed
from provider_server import BY_NAME, Provider

from adapters.formats.catalog import make
from adapters.lm import open as open_model
from adapters.running import runner
from adapters.running.runs import Run
from adapters.signatures.signature import InputField, OutputField, Signature

pytestmark = pytest.mark.slow

QUESTION = Signature.make((), "Answer.").append("question", InputField(), str).append("answer", OutputField(), str)
TEXT = "[[ ## answer ## ]]\nIt rains a lot.\n\n[[ ## completed ## ]]"
ANSWERS = {
    "plainly": {"content": TEXT},
    "thinking": {"content": TEXT, "reasoning": "Let me think about it."},
    "with a tool": {"toolCalls": [{"name": "search", "arguments": '{"query": "rain"}'}]},
    "in short": {"content": TEXT, "finishReason": "length"},
    "limited": {"error": {"message": "Slow down.", "type": "rate_limit_error"}, "status": 429},
    "refused": {"error": {"message": "Wrong key.", "type": "authentication_error"}, "status": 401},
}
TOOL = {
    "type": "function",
    "function": {"name": "search", "parameters": {"type": "object", "properties": {"query": {"type": "string"}}}},
}

NAMES = ("openai", "responses", "azure", "anthropic", "gemini", "bedrock", "ollama", "openrouter", "cohere")
every_provider = pytest.mark.parametrize("provider", [BY_NAME[name] for name in NAMES], ids=NAMES)
both_ways = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])


LIBERTIES = {
    ("ollama", "thinking"): "aimock sends Ollama's reasoning as `reasoning_content`, which Ollama calls `thinking`",
    ("ollama", "in short"): "aimock's Ollama always ends with `stop`",
    ("cohere", "thinking"): "aimock sends Cohere's reasoning as text, which Cohere sends as `thinking`",
    ("responses", "in short"): "aimock ends a stream that was cut with `response.completed`, not `response.incomplete`",
}
"""Where aimock is not as the provider's own documents have it."""


@pytest.fixture(scope="session")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    try:
        folder = installed(tmp_path_factory.mktemp("aimock"))
    except NoAimockError as error:
        pytest.skip(f"aimock is not here: {error}")
    with Aimock(folder, ANSWERS) as one:
        yield one.url


def ask(
    monkeypatch: pytest.MonkeyPatch, url: str, provider: Provider, how: str, stream: bool, **options: object
) -> Run:
    if (provider.name, how) in LIBERTIES:
        pytest.skip(LIBERTIES[provider.name, how])
    for name, value in provider.environment(url).items():
        monkeypatch.setenv(name, value)
    lm = open_model(provider.model, timeout=20, stream=stream)
    inputs = {"question": f"Does it rain? Answer {how}."}
    return runner.run(make("chat"), lm, QUESTION, [], inputs, fallback=False, **options)  # type: ignore[arg-type]


@every_provider
@both_ways
def test_a_reply_is_read(monkeypatch: pytest.MonkeyPatch, url: str, provider: Provider, stream: bool) -> None:
    run = ask(monkeypatch, url, provider, "plainly", stream)
    assert run.error is None, run.error
    assert run.values == {"answer": "It rains a lot."}
    assert run.attempts[0].completions[0].finish_reason == "stop"


@every_provider
@both_ways
def test_reasoning_comes_apart(monkeypatch: pytest.MonkeyPatch, url: str, provider: Provider, stream: bool) -> None:
    (one,) = ask(monkeypatch, url, provider, "thinking", stream).attempts[0].completions
    assert (one.text, one.reasoning) == (TEXT, "Let me think about it.")


@every_provider
@both_ways
def test_a_call_of_a_tool_comes_whole(
    monkeypatch: pytest.MonkeyPatch, url: str, provider: Provider, stream: bool
) -> None:
    run = ask(monkeypatch, url, provider, "with a tool", stream, params={"tools": [TOOL]})
    (call,) = run.attempts[0].completions[0].tool_calls
    assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == ("search", {"query": "rain"})
    assert run.attempts[0].completions[0].finish_reason == "tool_calls"


@every_provider
@both_ways
def test_a_reply_that_was_cut_off_says_so(
    monkeypatch: pytest.MonkeyPatch, url: str, provider: Provider, stream: bool
) -> None:
    assert ask(monkeypatch, url, provider, "in short", stream).attempts[0].completions[0].finish_reason == "length"


@every_provider
@both_ways
@pytest.mark.parametrize(("how", "kind"), [("limited", "rate limit"), ("refused", "key")])
def test_an_error_is_of_its_kind(
    monkeypatch: pytest.MonkeyPatch, url: str, provider: Provider, stream: bool, how: str, kind: str
) -> None:
    run = ask(monkeypatch, url, provider, how, stream)
    assert run.error is not None and run.error.payload["kind"] == kind, run.error
    assert ANSWERS[how]["error"]["message"] in run.error.message  # type: ignore[index]

"""Streams of chat completions as servers send them, with what litellm and OpenAI's client would lose of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from provider_server import BY_NAME, Provider, ProviderServer
from provider_wires import Reply, openai_error, sse
from scripted_lm import collect

from adapters.lm import ProviderError
from adapters.lm import open as open_model

DONE = b"data: [DONE]\n\n"
REPLY = Reply(("It rains ", "a lot."), reasoning=("Let me ", "think."), tool=("search", {"query": "rain"}))

Ask = Callable[..., Any]


def piece(delta: dict[str, Any], ending: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": ending}
    return sse({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]})


@pytest.fixture(params=["openai", "vllm", "openrouter"])
def provider(request: pytest.FixtureRequest) -> Provider:
    """One that OpenAI's client reads, and one that litellm reads itself."""
    return BY_NAME[request.param]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, provider: Provider) -> Ask:
    """The reply of a server that sends just these frames, or behaves so."""

    def ask(*frames: bytes, behaviour: str = "stream", error: str = "", body: dict[str, Any] | None = None) -> Any:
        wire = provider.wire if not frames else replace(provider.wire, frames=lambda reply: list(frames))
        if body is not None:
            wire = replace(wire, whole=lambda reply: body)
        if error:
            wire = replace(wire, error=lambda status, message: openai_error(status, error))
        with ProviderServer(replace(provider, wire=wire), REPLY, behaviour) as server:
            for name, value in provider.environment(server.url).items():
                monkeypatch.setenv(name, value)
            request = {"messages": [{"role": "user", "content": "Rain?"}]}
            (response,) = collect(open_model(provider.model, timeout=20).stream(request))
            return response

    return ask


def test_a_refusal_is_kept_apart_from_the_text(ask: Ask) -> None:
    said = ({"role": "assistant", "content": None, "refusal": ""}, {"refusal": "I can"}, {"refusal": "not."})
    response = ask(*map(piece, said), piece({}, "stop"), DONE)
    assert (response.text, response.refusal, response.finish_reason) == ("", "I cannot.", "stop")


def test_a_refusal_in_one_piece_is_kept_apart_from_the_text(ask: Ask) -> None:
    message = {"role": "assistant", "content": None, "refusal": "I cannot."}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    body = {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    response = ask(behaviour="whole", body=body)
    assert (response.text, response.refusal, response.finish_reason) == ("", "I cannot.", "stop")


COUNTED = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, "cost": 0.0123}


@pytest.mark.parametrize("behaviour", ["stream", "whole"])
def test_what_the_provider_bills_is_the_cost(ask: Ask, behaviour: str) -> None:
    about = {"id": "c1", "object": "chat.completion", "created": 1, "model": "m"}
    message = {"role": "assistant", "content": "Rain."}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    counted = sse({**about, "object": "chat.completion.chunk", "choices": [], "usage": COUNTED})
    frames = piece(message), piece({}, "stop"), counted, DONE
    response = ask(*frames, behaviour=behaviour, body={**about, "choices": [choice], "usage": COUNTED})
    assert response.cost == 0.0123
    assert response.usage is not None and "cost" not in response.usage


def test_content_in_parts_is_text_and_thought(ask: Ask) -> None:
    thinking = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hmm."}]}]
    text = [{"type": "text", "text": "It "}, {"type": "text", "text": "rains."}]
    response = ask(piece({"content": thinking}), piece({"content": text}), piece({}, "stop"), DONE)
    assert (response.text, response.reasoning) == ("It rains.", "Hmm.")


def test_comments_and_bare_fields_of_a_stream_are_no_events(ask: Ask) -> None:
    response = ask(b"retry: 3000\n\n", piece({"content": "It rains."}), b": ping\n\nid: 4\n\n", piece({}, "stop"), DONE)
    assert response.text == "It rains."


def test_a_server_that_does_not_stream_is_read_all_the_same(ask: Ask) -> None:
    response = ask(behaviour="whole")
    assert (response.text, response.reasoning) == (REPLY.text, "Let me think.")
    assert response.finish_reason == "tool_calls"
    (call,) = response.tool_calls
    assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == ("search", {"query": "rain"})
    assert response.usage is not None and response.usage["total_tokens"] == 14


@pytest.mark.parametrize("said", ["Streaming is not supported for this model.", "This model does not support streams."])
def test_a_server_that_refuses_to_stream_is_asked_for_the_whole(ask: Ask, said: str) -> None:
    assert ask(behaviour="no-streams", error=said).text == REPLY.text


@pytest.mark.parametrize("behaviour", ["whole", "no-streams"])
def test_a_server_that_does_not_stream_is_found_out_once_a_call(
    monkeypatch: pytest.MonkeyPatch, behaviour: str
) -> None:
    monkeypatch.delenv("OPENAI_API_BASE", raising=False)  # with an address there, dspy leaves the model to litellm
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    with ProviderServer(BY_NAME["openai"], REPLY, behaviour) as server:
        lm = open_model("openai/gpt-4o", api_base=server.url, timeout=20)
        responses = collect(lm.stream({"messages": [{"role": "user", "content": "Rain?"}], "n": 3}))
        streamed = [one.body.get("stream", False) for one in server.requests]
    assert [one.text for one in responses] == [REPLY.text] * 3
    assert streamed == ([True, False, False] if behaviour == "whole" else [True, False, False, False])


def test_an_error_under_a_status_of_success_is_an_error(ask: Ask) -> None:
    with pytest.raises(ProviderError, match=r"failed.*: The model is sleeping\.$"):
        ask(behaviour="200", error="The model is sleeping.")


@pytest.mark.parametrize(
    "error", [{"object": "error", "message": "It fell."}, {"error": {"code": "x", "message": "It fell."}}]
)
def test_an_error_in_mid_stream_is_the_servers_with_its_words(ask: Ask, error: dict[str, Any]) -> None:
    with pytest.raises(ProviderError, match=r"failed: It fell\.$"):
        ask(piece({"content": "It "}), sse(error))

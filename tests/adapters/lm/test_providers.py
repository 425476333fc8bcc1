"""Every provider people name, over its own protocol, from the variables that a user sets."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from provider_server import AS_RESPONSES, BY_NAME, KEY, PROVIDERS, Provider, ProviderServer, Seen
from provider_wires import FAULT, PROMPT_TOKENS, REPLY_TOKENS, Ending, Reply, cohere_whole, sse

from adapters.formats.catalog import make
from adapters.lm import LMSettings
from adapters.lm import open as open_model
from adapters.lm.protocol import Completion
from adapters.running import runner
from adapters.running.events import ChunkReceived
from adapters.running.runs import Run, why_it_ended
from adapters.signatures.signature import InputField, OutputField, Signature

QUESTION = Signature.make((), "Answer.").append("question", InputField(), str).append("answer", OutputField(), str)
REPLY = Reply(("[[ ## answer ## ]]\n", "It rains ", "a lot.\n\n", "[[ ## completed ## ]]"))

WORDED_BY_LITELLM = ("responses", "asked as responses", "gemini", "vertex", "openrouter")
"""Where litellm puts words of its own around the provider's, in the middle of a stream."""

QUICK = ("gemini", "responses", "pro", "asked as responses")
"""Those that a change of ours, or of litellm's, is most likely to break; the others are among the slow tests."""

Ask = Callable[..., Run]


asked: list[Seen] = []
"""The requests that the provider of this test got."""


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Sends the question to a provider that answers `reply` as `behaviour` says."""

    asked.clear()

    def ask(provider: Provider, reply: Reply = REPLY, behaviour: str = "stream", **options: Any) -> Run:
        with ProviderServer(provider, reply, behaviour) as server:
            for name, value in provider.environment(server.url).items():
                monkeypatch.setenv(name, value)
            lm = open_model(
                provider.model,
                timeout=20,
                stream=options.pop("stream", True),
                settings=LMSettings(provider.model_type),
            )
            run = runner.run(make("chat"), lm, QUESTION, [], {"question": "Rain?"}, fallback=False, **options)
            asked.extend(one for one in server.requests if one.path != "/api/show")  # Ollama is asked about its model
            return run

    return ask


def by_pace(*providers: Provider) -> pytest.MarkDecorator:
    marked = [
        pytest.param(one, id=one.name, marks=[] if one.name in QUICK else [pytest.mark.slow]) for one in providers
    ]
    return pytest.mark.parametrize("provider", marked)


every_provider = by_pace(*PROVIDERS, AS_RESPONSES)
every_stream = by_pace(*(one for one in (*PROVIDERS, AS_RESPONSES) if one.streams))


@every_provider
def test_a_reply_arrives_and_is_read(ask: Ask, provider: Provider) -> None:
    run = ask(provider)
    assert run.error is None
    assert run.values == {"answer": "It rains a lot."}
    assert run.attempts[0].completions[0].finish_reason == "stop"


TOLD = replace(REPLY, reasoning=("Let me ", "think."))


@every_stream
@pytest.mark.parametrize("ending", ["stop", "length"])
def test_a_whole_answer_to_a_request_for_a_stream_is_the_reply_and_is_asked_for_once(
    ask: Ask, provider: Provider, ending: Ending
) -> None:
    one = completion(ask(provider, replace(TOLD, ending=ending), "whole"))
    assert (one.text, one.reasoning, one.finish_reason) == (REPLY.text, "Let me think.", ending)
    assert len(asked) == 1


@every_provider
def test_a_reply_that_is_wanted_in_one_piece_is_asked_for_so(ask: Ask, provider: Provider) -> None:
    run = ask(provider, TOLD, "stream", stream=False)
    assert run.values == {"answer": "It rains a lot."}
    assert [event.text for event in run.events if isinstance(event, ChunkReceived)] == [REPLY.text]
    assert len(asked) == 1 and not asked[0].body.get("stream") and "stream" not in asked[0].path.lower()


def test_a_reply_is_wanted_in_one_piece_whatever_the_request_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    vllm = BY_NAME["vllm"]
    parameters = {"type": "object", "properties": {"options": {"type": "object", "default": {"stream": True}}}}
    tool = {"type": "function", "function": {"name": "read", "parameters": parameters}}
    with ProviderServer(vllm, REPLY) as server:
        for name, value in vllm.environment(server.url).items():
            monkeypatch.setenv(name, value)
        lm = open_model(vllm.model, timeout=20, stream=False)
        chunks = lm.stream({"messages": [{"role": "user", "content": "Rain?"}], "tools": [tool]})
        assert "".join(chunk.text for chunk in chunks) == REPLY.text
        assert server.requests[0].body["tools"] == [tool]


@every_stream
def test_a_stream_that_ends_in_the_middle_is_no_reply(ask: Ask, provider: Provider) -> None:
    run = ask(provider, behaviour="cut")
    assert run.error is not None
    assert "closed the connection before the reply was complete" in run.error.message
    assert run.attempts[0].completions[0].text.startswith("[[ ## answer ## ]]")


@pytest.mark.parametrize("stream", [True, False])
def test_a_citation_arrives_with_the_text_of_its_block(ask: Ask, stream: bool) -> None:
    cited = {"type": "char_location", "cited_text": "It pours.", "document_index": 0, "document_title": None}
    cited |= {"start_char_index": 0, "end_char_index": 9}
    one = completion(ask(BY_NAME["anthropic"], replace(REPLY, cited=cited), stream=stream))
    assert one.text == REPLY.text
    assert one.citations == ({**cited, "supported_text": "".join(REPLY.pieces[:-1])},)


TOOL = {
    "type": "function",
    "function": {"name": "search", "parameters": {"type": "object", "properties": {"query": {"type": "string"}}}},
}
CANNOT_TELL = {"ollama": ("filtered",)}
"""What Ollama's protocol has no word for."""


def completion(run: Run) -> Completion:
    assert run.attempts[0].error is None or run.error is None or run.error.phase == "response"
    return run.attempts[0].completions[0]


@every_provider
def test_reasoning_comes_apart_from_the_text(ask: Ask, provider: Provider) -> None:
    one = completion(ask(provider, replace(REPLY, reasoning=("Let me ", "think."))))
    assert (one.text, one.reasoning) == (REPLY.text, "Let me think.")


@every_provider
def test_a_call_of_a_tool_comes_whole_and_once(ask: Ask, provider: Provider) -> None:
    run = ask(provider, Reply((), tool=("search", {"query": "rain"})), params={"tools": [TOOL]})
    (call,) = run.attempts[0].completions[0].tool_calls
    assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == ("search", {"query": "rain"})
    assert run.attempts[0].completions[0].finish_reason == "tool_calls"


@every_provider
@pytest.mark.parametrize(("ending", "reason"), [("length", "length"), ("filtered", "content_filter")])
def test_a_reply_that_was_cut_off_is_told_from_a_whole_one(
    ask: Ask, provider: Provider, ending: Ending, reason: str
) -> None:
    if ending in CANNOT_TELL.get(provider.name, ()):
        pytest.skip("it says nothing of filters")
    assert completion(ask(provider, replace(REPLY, ending=ending))).finish_reason == reason


@every_provider
def test_tokens_are_as_the_provider_counted_them(ask: Ask, provider: Provider) -> None:
    usage = ask(provider).attempts[0].usage
    assert usage is not None
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (PROMPT_TOKENS, REPLY_TOKENS)


@every_stream
def test_an_error_in_the_middle_of_a_stream_is_no_reply(ask: Ask, provider: Provider) -> None:
    run = ask(provider, behaviour="fault")
    assert run.error is not None and run.error.phase == "request"
    assert run.attempts[0].completions[0].text.startswith("[[ ## answer ## ]]")
    assert "Traceback" not in run.error.message and "site-packages" not in run.error.message
    if provider.name not in WORDED_BY_LITELLM:
        assert run.error.message.endswith(f" failed: {FAULT}")
        assert run.error.payload["kind"] == "server"


def test_a_stream_that_has_begun_is_not_asked_for_again_whatever_its_error_says(ask: Ask) -> None:
    vllm = BY_NAME["vllm"]
    fault = vllm.wire.fault.replace(FAULT.encode(), b"Streaming is not supported any longer.")
    run = ask(replace(vllm, wire=replace(vllm.wire, fault=fault)), behaviour="fault")
    assert run.error is not None and run.error.phase == "request"
    assert REPLY.text.startswith(run.attempts[0].completions[0].text)
    assert len(asked) == 1


@every_provider
@pytest.mark.parametrize(
    ("status", "kind"), [("401", "key"), ("404", "model"), ("429", "rate limit"), ("500", "server")]
)
def test_an_error_is_of_its_kind_and_in_the_providers_words(
    ask: Ask, provider: Provider, status: str, kind: str
) -> None:
    run = ask(provider, behaviour=status)
    assert run.error is not None
    assert (run.error.payload["kind"], run.error.payload["status"]) == (kind, int(status))
    assert f"({status}): This is a {status}." in run.error.message
    assert KEY not in run.error.message + repr(run.error.payload)


def with_body(name: str, body: dict[str, Any]) -> Provider:
    """The provider `name`, whose whole replies are `body`."""
    provider = BY_NAME[name]
    return replace(provider, wire=replace(provider.wire, whole=lambda _: body))


@pytest.mark.parametrize("name", ["groq", "fireworks", "cohere"])
def test_a_body_that_is_no_reply_is_not_read_as_an_empty_one(ask: Ask, name: str) -> None:
    fireworks = replace(BY_NAME["groq"], model="fireworks_ai/m", key="FIREWORKS_API_KEY", base="FIREWORKS_API_BASE")
    provider = fireworks if name == "fireworks" else BY_NAME[name]
    body = {"status": "ok", "result": [1, 2]}
    run = ask(replace(provider, wire=replace(provider.wire, whole=lambda _: body)), stream=False)
    lacking = "message" if name == "cohere" else "choices"
    assert run.error is not None
    assert run.error.message.endswith(f' did not answer with a chat completion (JSON without "{lacking}").')
    assert "Traceback" not in repr(run.error.payload)


@pytest.mark.parametrize("name", ["mistral", "openai"])
def test_an_error_object_in_place_of_a_reply_is_told(ask: Ask, name: str) -> None:
    error = {"object": "error", "message": "The engine has died.", "type": "InternalServerError", "code": None}
    run = ask(with_body(name, error), stream=False)
    assert run.error is not None and run.error.message.endswith(" failed: The engine has died.")


def chat_body(finish_reason: str, **message: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": REPLY.text, **message}
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def test_groqs_reasoning_in_a_whole_reply_is_kept(ask: Ask) -> None:
    run = ask(with_body("groq", chat_body("stop", reasoning="Let me think.")), stream=False)
    assert (completion(run).reasoning, completion(run).text) == ("Let me think.", REPLY.text)


COHERES_ERROR = {**cohere_whole(REPLY), "finish_reason": "ERROR"}
GEMINIS_CALL = {"candidates": [{"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL", "index": 0}]}
COUNTED = {"usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 4, "totalTokenCount": 7}}
FAILED = {
    "deepseek": (
        chat_body("insufficient_system_resource"),
        "insufficient_system_resource",
        "ended early: the server ran out of resources",
    ),
    "cohere": (COHERES_ERROR, "ERROR", "ended early: an error of the server"),
    "gemini": (
        GEMINIS_CALL | COUNTED,
        "MALFORMED_FUNCTION_CALL",
        "ended early: the model wrote a malformed tool call",
    ),
}


@pytest.mark.parametrize("name", FAILED)
def test_a_reply_that_failed_is_not_told_as_complete(ask: Ask, name: str) -> None:
    body, reason, words = FAILED[name]
    said = completion(ask(with_body(name, body), stream=False))
    assert (said.finish_reason, why_it_ended(said.finish_reason)) == (reason, words)


def test_a_stream_that_failed_is_not_told_as_complete(ask: Ask) -> None:
    deepseek = BY_NAME["deepseek"]
    frames = [
        *deepseek.wire.frames(REPLY)[:2],
        sse({"choices": [{"index": 0, "delta": {}, "finish_reason": "insufficient_system_resource"}]}),
        b"data: [DONE]\n\n",
    ]
    said = completion(ask(replace(deepseek, wire=replace(deepseek.wire, frames=lambda _: frames))))
    assert said.finish_reason == "insufficient_system_resource"

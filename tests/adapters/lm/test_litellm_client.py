"""Models through litellm's child process, against a server on this machine that behaves in every way."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from typing import Any

import pytest
from loopback_server import BEHAVIOURS, CANARY, HUGE, LoopbackServer, refused_port
from scripted_lm import Clock

from adapters.lm import LMSettings, ProviderError, addresses, child
from adapters.lm import open as open_model
from adapters.lm.litellm_client import LitellmLM
from adapters.running import events
from adapters.running.runs import Run

Send = Callable[..., Run]

PATIENCE_S = 60

HALF = "[[ ## answer ## ]]\nIt rains"


def error_of(run: Run) -> str:
    assert not run.ok
    assert run.error is not None
    assert "\n" not in run.error.message
    return run.error.message


def test_a_reply_arrives_in_chunks_and_is_counted(send: Send) -> None:
    run = send("any-name")
    assert run.ok
    assert run.values == {"answer": "It rains a lot."}
    pieces = [event.text for event in run.events if isinstance(event, events.ChunkReceived)]
    assert len(pieces) > 3
    (attempt,) = run.attempts
    assert "".join(pieces) == attempt.completions[0].text
    assert attempt.usage == {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    assert attempt.completions[0].finish_reason == "stop"


@pytest.mark.slow
def test_a_deadline_that_litellm_takes_longer_to_load_than_is_kept(send: Send) -> None:
    clock = Clock()
    child.shut_down()

    def jump_while_loading(event: events.Event) -> None:
        if isinstance(event, events.ModelLoading):
            clock.jump(10)

    run = send("any-name", deadline_s=5, clock=clock, listeners=[jump_while_loading])
    assert run.ok
    assert [event.kind for event in run.events][:3] == ["PromptRendered", "ModelLoading", "RequestSent"]
    (attempt,) = run.attempts
    assert attempt.duration_ms < 10_000, "the ten seconds of loading count for nothing"


def test_a_request_that_is_refused_before_it_goes_out_loads_nothing(
    send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_BASE")
    monkeypatch.delenv("OPENAI_API_KEY")
    child.shut_down()
    assert [event.kind for event in send("gpt-4o").events] == ["PromptRendered", "RequestSent", "Failed"]


def test_what_goes_out_is_the_request_that_was_shown(send: Send, server: LoopbackServer) -> None:
    run = send("any-name", params={"temperature": 0.5, "seed": 7})
    shown, (seen,) = run.attempts[0].request, server.requests
    assert seen.body["messages"] == shown["messages"]
    assert (seen.body["temperature"], seen.body["seed"], seen.body["model"]) == (0.5, 7, "any-name")
    assert seen.headers["authorization"] == f"Bearer {CANARY}"


def test_a_model_without_a_price_has_no_cost_and_one_with_a_price_has(send: Send) -> None:
    assert send("any-name").attempts[0].cost is None
    cost = send("gpt-4o").attempts[0].cost
    assert cost is not None
    assert 0 < cost < 0.01


def test_a_provider_that_counts_nothing_leaves_usage_unknown(send: Send) -> None:
    (attempt,) = send("no-usage").attempts
    assert (attempt.usage, attempt.cost) == (None, None)


def test_reasoning_is_kept_apart_from_the_text(send: Send) -> None:
    run = send("reasoning")
    assert run.attempts[0].completions[0].reasoning == "Let me think about it."
    assert run.values == {"answer": "It rains a lot."}
    assert any(event.reasoning for event in run.events if isinstance(event, events.ChunkReceived))


def test_tool_calls_split_over_chunks_are_put_together(send: Send) -> None:
    (completion,) = send("tool-calls").attempts[0].completions
    functions = [call["function"] for call in completion.tool_calls]
    assert functions == [{"name": "search", "arguments": '{"query": "rain"}'}, {"name": "now", "arguments": "{}"}]
    assert [call["id"] for call in completion.tool_calls] == ["call_0", "call_1"]
    assert completion.finish_reason == "tool_calls"


def test_several_completions_each_have_a_reading(send: Send, server: LoopbackServer) -> None:
    run = send("any-name", n=2)
    assert server.requests[0].body["n"] == 2
    assert run.all_values == ({"answer": "It rains a lot."},) * 2
    assert [one.reading is not None and one.reading.ok for one in run.attempts[0].completions] == [True, True]


def test_logprobs_of_all_chunks_are_kept(send: Send) -> None:
    (completion,) = send("logprobs").attempts[0].completions
    assert "".join(one["token"] for one in completion.logprobs["content"]) == completion.text


@pytest.mark.slow
def test_a_reply_of_ten_megabytes_arrives_whole(send: Send) -> None:
    (completion,) = send("huge").attempts[0].completions
    assert len(completion.text) == HUGE


FAILURES = {
    "401": "does not accept the API key in OPENAI_API_KEY (401): Incorrect API key provided.",
    "403": "denies access with the API key in OPENAI_API_KEY (403): You are not allowed to use this model.",
    "404": "does not know the model '404' (404): The model `404` does not exist.",
    "400-context": "The prompt is too long for openai/400-context: This model's maximum context length is 8192",
    "400": "rejected the request (400): Invalid value for 'temperature': must be at most 2.",
    "429": "rate limit reached (429): Rate limit reached for requests. Try again in 7 s.",
    "429-quota": "no credit left (429): You exceeded your current quota.",
    "500": "failed (500): The server had an error.",
    "503": "is unavailable (503): Service unavailable. Try again in a moment.",
    "529": "is overloaded (529): Overloaded. Try again in a moment.",
    "close": "closed the connection before the reply was complete.",
    "html": "did not answer with a chat completion (a web page, HTML).",
    "html-502": "failed (502): a web page (HTML), not an API response",
}
BROKEN_OFF = {
    "close-in-stream": "closed the connection before the reply was complete.",
    "end-in-stream": "closed the connection before the reply was complete.",
    "error-in-stream": "failed: The engine fell over.",
    "malformed-sse": "did not answer with a chat completion (an event that is not JSON: ",
}


@pytest.mark.parametrize("behaviour", FAILURES)
def test_a_failed_call_is_one_line_that_says_what_to_do(send: Send, behaviour: str) -> None:
    run = send(behaviour)
    assert FAILURES[behaviour] in error_of(run)
    assert run.error is not None
    assert (run.error.phase, run.error.attempt) == ("request", 1)
    assert run.attempts[0].error == run.error.message
    kinds = [event.kind for event in run.events if event.kind != "ModelLoading"]  # that is for a process's first call
    assert kinds == ["PromptRendered", "RequestSent", "Failed"]


@pytest.mark.parametrize("behaviour", BROKEN_OFF)
def test_a_stream_that_breaks_off_fails_and_keeps_what_had_arrived(send: Send, behaviour: str) -> None:
    run = send(behaviour)
    assert BROKEN_OFF[behaviour] in error_of(run)
    assert run.attempts[0].completions[0].text.startswith(HALF)


def test_the_providers_own_words_are_in_the_payload(send: Send) -> None:
    run = send("429")
    assert run.error is not None
    assert run.error.payload["status"] == 429
    assert run.error.payload["retry_after"] == "7"
    assert "Rate limit reached" in str(run.error.payload["body"])


@pytest.mark.parametrize("behaviour", ["hang", "hang-in-stream", "drip"])
def test_a_provider_that_says_nothing_or_drips_times_out(send: Send, behaviour: str) -> None:
    assert "did not respond in time" in error_of(send(behaviour, lm_timeout=0.3))


@pytest.mark.parametrize("behaviour", ["hang", "hang-in-stream", "drip"])
def test_a_deadline_ends_a_call_that_hangs_or_drips(send: Send, server: LoopbackServer, behaviour: str) -> None:
    clock = Clock()
    threading.Thread(target=lambda: (server.arrived.acquire(), clock.jump()), daemon=True).start()
    run = send(behaviour, deadline_s=5, clock=clock)
    assert error_of(run) == "Deadline expired while the model was answering."
    assert server.requests[-1].closed_by_client.wait(PATIENCE_S)


@pytest.mark.parametrize("behaviour", ["hang", "drip"])
def test_cancelling_ends_a_call_that_has_given_nothing(send: Send, server: LoopbackServer, behaviour: str) -> None:
    cancel = threading.Event()
    threading.Thread(target=lambda: (server.arrived.acquire(), cancel.set()), daemon=True).start()
    run = send(behaviour, cancel=cancel)
    assert run.cancelled
    assert error_of(run) == "Cancelled."
    assert server.requests[-1].closed_by_client.wait(PATIENCE_S)


def test_cancelling_in_mid_stream_keeps_what_had_arrived(send: Send, server: LoopbackServer) -> None:
    cancel = threading.Event()

    def cancel_at_first_text(event: events.Event) -> None:
        if isinstance(event, events.ChunkReceived):
            cancel.set()

    run = send("hang-in-stream", cancel=cancel, listeners=[cancel_at_first_text])
    assert run.cancelled
    assert run.attempts[0].completions[0].text.startswith("[[ ")
    assert server.requests[-1].closed_by_client.wait(PATIENCE_S)


def test_a_cancelled_call_leaves_the_child_to_the_next(send: Send, server: LoopbackServer) -> None:
    cancel = threading.Event()
    threading.Thread(target=lambda: (server.arrived.acquire(), cancel.set()), daemon=True).start()
    assert send("hang", cancel=cancel).cancelled
    before = child.child_for(dict(os.environ), keyless=False).pid
    assert send("any-name").ok
    assert child.child_for(dict(os.environ), keyless=False).pid == before


@pytest.mark.slow
def test_a_child_killed_in_mid_stream_fails_the_run_and_the_next_send_works(send: Send, server: LoopbackServer) -> None:
    pid = child.child_for(dict(os.environ), keyless=False).pid
    threading.Thread(target=lambda: (server.half_sent.wait(), os.kill(pid, 9)), daemon=True).start()
    line = "The process that calls models was killed by SIGKILL before the reply was complete."
    assert error_of(send("hang-in-stream")).startswith(line)
    assert send("any-name").ok


def test_a_server_that_is_not_there_is_named(send: Send, monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"http://127.0.0.1:{refused_port()}/v1"
    monkeypatch.setenv("OPENAI_API_BASE", address)
    assert error_of(send("any-name")) == (
        f"The server at {address} cannot be reached (connection refused). Is the address right, and the server running?"
    )


@pytest.mark.parametrize("name", ["OPENAI_API_BASE", "OPENAI_BASE_URL"])
def test_a_server_of_ones_own_needs_no_key(
    send: Send, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.delenv("OPENAI_API_BASE")
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv(name, server.url)
    assert send("any-name").ok
    assert server.requests[0].headers["authorization"] == "Bearer no-key"
    assert "needs an API key (401)" in error_of(send("401"))


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("together_ai/any", "TOGETHER_API_KEY"),
        ("together_ai/any", "TOGETHERAI_API_KEY"),
        ("fireworks_ai/any", "FIREWORKS_API_KEY"),
        ("perplexity/any", "PERPLEXITYAI_API_KEY"),
        ("poe/any", "POE_API_KEY"),
    ],
)
def test_every_variable_that_litellm_reads_reaches_an_address_of_the_users(
    send: Send, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch, model: str, variable: str
) -> None:
    monkeypatch.setenv(variable, "another-key-0123456789")
    assert send(model, lm_api_base=server.url, lm_api_base_trusted=True).ok
    assert server.requests[0].headers["authorization"] == "Bearer another-key-0123456789"


@pytest.mark.parametrize("name", ["anthropic/claude-sonnet-5", "claude-sonnet-5"])
def test_openais_key_stays_away_from_the_address_of_another_provider(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_BASE", server.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "another-key-0123456789")
    lm = open_model(name, settings=LMSettings(model_type="text"), stream=False)
    with contextlib.suppress(ProviderError):
        list(lm.stream({"messages": [{"role": "user", "content": "Does it rain?"}]}))
    assert server.requests[-1].headers["authorization"] == "Bearer another-key-0123456789"


def test_a_variable_that_only_the_installed_litellm_knows_counts(
    send: Send, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(addresses, "OTHER_KEYS", {})
    monkeypatch.setenv("LLAMA_API_KEY", "another-key-0123456789")
    assert send("meta_llama/any", lm_api_base=server.url, lm_api_base_trusted=True).ok
    assert server.requests[0].headers["authorization"] == "Bearer another-key-0123456789"


def test_a_missing_key_is_said_before_anything_is_loaded(send: Send, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_BASE")
    monkeypatch.delenv("OPENAI_API_KEY")
    assert error_of(send("gpt-4o")) == (
        "openai/gpt-4o needs an API key: set OPENAI_API_KEY, or choose an offline/… model."
    )


def test_an_unknown_provider_is_said(send: Send) -> None:
    assert "litellm knows no provider for the model 'nowhere/x'" in error_of(send("nowhere/x"))


@pytest.mark.parametrize("behaviour", ["echo-key", *FAILURES, *BROKEN_OFF, "ok"])
def test_no_key_is_in_anything_a_run_leaves(send: Send, server: LoopbackServer, behaviour: str) -> None:
    run = send(behaviour)
    assert server.requests[-1].headers["authorization"].endswith(CANARY)
    for text in (repr(run), str(run.error), repr(run.error and run.error.payload)):
        assert CANARY not in text


@pytest.mark.slow
def test_an_address_of_a_stranger_gets_no_key_until_its_host_is_allowed(send: Send, server: LoopbackServer) -> None:
    with LoopbackServer(server.reply) as stranger:
        assert send("any-name", lm_api_base=stranger.url).ok
        assert CANARY not in repr(stranger.requests)
        assert "None was sent: the address comes from the session or `.env`" in error_of(
            send("401", lm_api_base=stranger.url)
        )
        assert send("any-name", lm_api_base=stranger.url, lm_allow_hosts=[f"127.0.0.1:{stranger.port}"]).ok
        assert CANARY in repr(stranger.requests[-1].headers)
        assert send("any-name", lm_api_base=stranger.url, lm_api_base_trusted=True).ok
        assert CANARY in repr(stranger.requests[-1].headers)
    assert not server.requests


@pytest.mark.parametrize("name", ["api_key", "api_base", "base_url", "fallbacks", "extra_headers", "mock_response"])
def test_a_parameter_that_would_send_the_request_elsewhere_is_refused(send: Send, server: Any, name: str) -> None:
    assert f"The request carries {name}," in error_of(send("any-name", params={name: "x"}))
    assert not server.requests


def test_an_address_inside_a_models_name_is_refused(send: Send, server: LoopbackServer) -> None:
    assert "give api_base" in error_of(send(f"huggingface/{server.url}"))


def test_anthropics_protocol_streams_text_tools_and_usage(send: Send, server: LoopbackServer) -> None:
    run = send("anthropic/any-name")
    assert run.values == {"answer": "It rains a lot."}
    assert run.attempts[0].usage is not None
    assert (run.attempts[0].usage["prompt_tokens"], run.attempts[0].usage["completion_tokens"]) == (11, 7)
    assert server.requests[-1].headers["x-api-key"] == CANARY
    (completion,) = send("anthropic/tool-calls").attempts[0].completions
    functions = [call["function"] for call in completion.tool_calls]
    assert functions == [{"name": "search", "arguments": '{"query": "rain"}'}, {"name": "now", "arguments": "{}"}]


@pytest.mark.parametrize("behaviour", ["401", "404", "429", "500", "529"])
def test_anthropics_errors_are_one_line_too(send: Send, behaviour: str) -> None:
    expected = FAILURES[behaviour].replace("OPENAI_API_KEY", "ANTHROPIC_API_KEY")
    assert expected in error_of(send(f"anthropic/{behaviour}"))


def test_anthropics_stream_that_breaks_off_keeps_what_had_arrived(send: Send) -> None:
    run = send("anthropic/close-in-stream")
    assert "closed the connection" in error_of(run)
    assert run.attempts[0].completions[0].text.startswith("[[ ## answer")


def test_a_lone_surrogate_in_the_prompt_is_a_clear_error(server: LoopbackServer) -> None:
    lm = open_model("openai/any-name")
    with pytest.raises(ProviderError) as caught:
        list(lm.stream({"messages": [{"role": "user", "content": "\ud800"}]}))
    assert caught.value.kind == "request"


def test_completions_that_take_a_request_each_are_counted_together(
    send: Send, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_BASE")  # with an address there, dspy leaves the model to litellm
    run = send("gpt-4o", n=2, lm_api_base=server.url)
    assert [one.body.get("n") for one in server.requests] == [None, None]
    assert run.all_values == ({"answer": "It rains a lot."},) * 2
    (attempt,) = run.attempts
    assert attempt.usage == {"prompt_tokens": 22, "completion_tokens": 14, "total_tokens": 36}
    once = send("gpt-4o", lm_api_base=server.url).attempts[0].cost
    assert once is not None and attempt.cost == pytest.approx(2 * once)


@pytest.mark.parametrize("count", [0, -1])
def test_no_completions_cannot_be_asked_for(send: Send, server: LoopbackServer, count: int) -> None:
    run = send("any-name", params={"n": count})
    assert error_of(run) == f"n is the number of completions, a whole number from 1 on, and not {count}."
    assert server.requests == []


def test_every_behaviour_of_the_server_is_tried_here() -> None:
    elsewhere = {"ok", "no-usage", "reasoning", "logprobs", "huge", "tool-calls", "echo-key", "two-choices"}
    in_test_child = {"huge-in-pieces"}
    waiting = {"no-finish", "monotonous", "hang", "hang-in-stream", "drip", "content-filter", "length"}
    assert set(BEHAVIOURS) == set(FAILURES) | set(BROKEN_OFF) | elsewhere | waiting | in_test_child


@pytest.mark.parametrize(("behaviour", "reason"), [("content-filter", "content_filter"), ("length", "length")])
def test_the_finish_reason_is_the_providers(send: Send, behaviour: str, reason: str) -> None:
    assert send(behaviour).attempts[0].completions[0].finish_reason == reason


def test_a_server_that_gives_no_finish_reason_but_says_it_is_done_is_believed(send: Send) -> None:
    run = send("no-finish")
    assert run.values == {"answer": "It rains a lot."}
    assert run.attempts[0].completions[0].finish_reason is None


def test_a_long_ruled_line_is_not_taken_for_a_broken_model(send: Send) -> None:
    assert send("monotonous").attempts[0].completions[0].text == "----" * 300


def test_tokens_are_counted_exactly_where_the_tokenizer_is_known(server: LoopbackServer) -> None:
    texts = [["user"], ["hello", " wor", "ld"]]
    lm = open_model("openai/gpt-4o-mini")
    assert isinstance(lm, LitellmLM)
    assert lm.count_tokens(texts) == ("o200k_base", [[1], [1, 1, 0]])
    for other in ("openai/some-model-of-mine", "anthropic/claude-sonnet-4-5"):
        unknown = open_model(other)
        assert isinstance(unknown, LitellmLM)
        assert unknown.count_tokens(texts) is None
    assert server.requests == []

"""By which API a model is asked, and the headers that go along: their values are a variable's, and shown nowhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback_server import CANARY, LoopbackServer
from provider_server import AS_RESPONSES, ProviderServer
from provider_wires import Reply
from scripted_lm import collect

from adapters.lm import Chunk, LMSettings, ProviderError
from adapters.lm import open as open_model
from adapters.lm.chunk_filters import cut_at_stops
from adapters.lm.lm_settings import why_no_header
from adapters.running.runs import Run

Send = Callable[..., Run]

VALUE = "org-canary-5f2a8c71"
HEADERS = LMSettings(header_variables={"X-Org": "OUR_ORG"})


def test_a_header_gets_the_value_that_its_variable_has_when_a_request_is_sent(
    send: Send, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUR_ORG", "an earlier one")
    monkeypatch.setenv("OUR_ORG", VALUE)
    run = send("any-name", lm_settings=HEADERS, lm_allow_variables=["OUR_ORG"])
    assert run.ok
    assert server.requests[0].headers["x-org"] == VALUE
    assert VALUE not in json.dumps(run.attempts[0].request) and VALUE not in repr(run)


def test_a_header_whose_variable_nobody_allowed_ends_the_call_before_it_goes_out(
    send: Send, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUR_ORG", VALUE)
    run = send("any-name", lm_settings=HEADERS, lm_allow_variables=["ANOTHER"])
    assert run.error is not None and "OUR_ORG" in run.error.message and "allow" in run.error.message
    assert VALUE not in repr(run) and not server.requests


@pytest.mark.parametrize(("value", "said"), [("", "is not set"), ("two\nlines", "is not valid in a header")])
def test_a_value_that_is_none_ends_the_call_with_its_variable(
    send: Send, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch, value: str, said: str
) -> None:
    monkeypatch.setenv("OUR_ORG", value)
    run = send("any-name", lm_settings=HEADERS, lm_allow_variables=["OUR_ORG"])
    assert run.error is not None and "OUR_ORG" in run.error.message and said in run.error.message
    assert not server.requests


@pytest.mark.parametrize("behaviour", ["ok", "401"])
def test_a_value_that_a_server_echoes_is_shown_nowhere(monkeypatch: pytest.MonkeyPatch, behaviour: str) -> None:
    monkeypatch.setenv("OUR_ORG", VALUE)
    with LoopbackServer(f"You are {VALUE}, I see.", "echo-key" if behaviour == "401" else behaviour) as server:
        settings = LMSettings(header_variables={"Authorization": "OUR_ORG"})
        lm = open_model(
            "openai/own",
            api_base=server.url,
            api_base_trusted=True,
            settings=settings,
            allow_variables=["OUR_ORG"],
        )
        try:
            shown = repr(collect(lm.stream({"messages": [{"role": "user", "content": "Who?"}]})))
        except ProviderError as error:
            shown = f"{error} {error.payload}"
        assert server.requests[0].headers["authorization"] == VALUE
        assert VALUE not in shown


@pytest.mark.parametrize(
    ("header", "variable"), [("", "A"), ("a b", "A"), ("a:b", "A"), ("Host", "A"), ("X-A", "A-B"), ("X-A", "")]
)
def test_what_is_no_header_or_no_variable_is_said(header: str, variable: str) -> None:
    assert why_no_header(header, variable)
    assert not why_no_header("X-A", "A_B")


def test_over_the_responses_api_as_many_calls_are_made_as_completions_are_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with ProviderServer(AS_RESPONSES, Reply(("one ", "reply"))) as server:
        for name, value in AS_RESPONSES.environment(server.url).items():
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("OPENAI_API_BASE")
        lm = open_model(
            AS_RESPONSES.model, api_base=f"{server.url}/v1", api_base_trusted=True, settings=LMSettings("responses")
        )
        replies = collect(lm.stream({"messages": [{"role": "user", "content": "Hi"}], "n": 3}))
        assert [one.text for one in replies] == ["one reply"] * 3
        assert ["n" in one.body for one in server.requests] == [False] * 3


def test_a_text_that_nobody_can_write_as_one_is_refused_before_a_call(server: LoopbackServer) -> None:
    lm = open_model("openai/own", settings=LMSettings("text"))
    image = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}]
    with pytest.raises(ProviderError, match="message 1 is not only text"):
        collect(lm.stream({"messages": [{"role": "user", "content": image}]}))
    assert not server.requests


def test_a_text_completion_of_another_provider_without_an_address_goes_to_nobody() -> None:
    lm = open_model("groq/any", settings=LMSettings("text"))
    with pytest.raises(ProviderError, match="api_base"):
        collect(lm.stream({"messages": [{"role": "user", "content": "Hi"}]}))


def chunks_of(text: str, sizes: list[int]) -> list[Chunk]:
    made, at = [], 0
    for size in sizes:
        made.append(Chunk(text=text[at : at + size]))
        at += size
    return [*made, Chunk(text=text[at:]), Chunk(finish_reason="stop")]


@given(
    text=st.text("aEND", max_size=40),
    sizes=st.lists(st.integers(1, 5), max_size=20),
    stops=st.lists(st.text("END", min_size=1, max_size=3), max_size=3),
)
def test_a_reply_ends_at_the_first_stop_however_it_is_cut_into_pieces(
    text: str, sizes: list[int], stops: list[str]
) -> None:
    places = [place for place in (text.find(one) for one in stops) if place >= 0]
    (reply,) = collect(cut_at_stops(chunks_of(text, sizes), stops))
    assert reply.text == text[: min(places, default=len(text))]
    assert reply.finish_reason == "stop"


def test_completions_are_cut_apart_and_what_comes_behind_a_stop_is_counted() -> None:
    usage: dict[str, Any] = {"total_tokens": 3}
    made = [Chunk(text="a#b", choice=0), Chunk(text="cd", choice=1), Chunk(text="e", choice=0), Chunk(usage=usage)]
    one, other = collect(cut_at_stops(made, ["#"]))
    assert (one.text, other.text, one.usage) == ("a", "cd", usage)


def test_ollama_is_called_as_dspy_calls_it_and_gets_no_key_of_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    for name in ("OLLAMA_API_BASE", "OLLAMA_BASE_URL", "OLLAMA_HOST", "OLLAMA_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with LoopbackServer("Yes.") as server:
        for model in ("ollama/llama3.2", "ollama_chat/llama3.2"):
            lm = open_model(model, api_base=f"http://127.0.0.1:{server.port}", api_base_trusted=True)
            (reply,) = collect(lm.stream({"messages": [{"role": "user", "content": "Hi"}], "stop": ["x"]}))
            assert (reply.text, reply.cost) == ("Yes.", None)
        assert [one.path for one in server.requests] == ["/v1/chat/completions"] * 2
        assert CANARY not in str([one.headers for one in server.requests])

"""What is put into a request's body as dspy's own client writes it."""

from __future__ import annotations

from typing import Any

import pytest
from dspy._vendor.lm15.adaptation import nearest_effort
from dspy._vendor.lm15.providers.anthropic import (
    _ADAPTIVE_CLASS_MARKERS,
    _DEFAULT_MAX_TOKENS,
    _DEFAULT_MAX_TOKENS_BY_CLASS,
)
from dspy._vendor.lm15.providers.common import EFFORT_THINKING_BUDGETS

from adapters.lm.wires.anthropic_and_gemini import ADAPTIVE, BUDGETS, LIMITS, USUAL_LIMIT
from adapters.lm.wires.dspys_client import EFFORTS
from adapters.lm.wires.dspys_wire import Sent, own_body, sent

MESSAGES = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]


@pytest.fixture(autouse=True)
def _no_gateway(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in ("OPENAI", "XAI", "MOONSHOT", "OPENROUTER", "GROQ", "ANTHROPIC"):
        monkeypatch.delenv(f"{provider}_API_BASE", raising=False)
        monkeypatch.delenv(f"{provider}_BASE_URL", raising=False)


def body(model: str, **params: Any) -> dict[str, Any]:
    """The body of dspy's client; without one, what litellm is handed."""
    made = sent(model, {"messages": MESSAGES, **params}, frozenset({"api_base"}))
    handed = {name: value for name, value in made.arguments.items() if name != "model"}
    return handed if made.body is None else dict(made.body)


def test_the_limit_of_tokens_has_the_doors_name() -> None:
    assert body("openai/gpt-4o", max_tokens=9) == {"messages": MESSAGES, "max_completion_tokens": 9}
    assert body("groq/openai/gpt-oss-20b", max_completion_tokens=9) == {"messages": MESSAGES, "max_tokens": 9}


def test_reasoning_is_asked_for_in_the_doors_way() -> None:
    assert body("xai/grok-4.7", reasoning_effort="low")["thinking"] == {"type": "enabled"}
    assert body("deepseek/deepseek-chat", reasoning_effort="none")["thinking"] == {"type": "disabled"}
    assert body("xai/grok-4.7", reasoning_effort="none")["reasoning_effort"] == "low", "Grok has nothing to turn off"
    assert body("openrouter/any", reasoning={"effort": "low"})["reasoning"] == {"effort": "low"}
    assert body("openai/o3", reasoning_effort="none")["reasoning_effort"] == "none"


@pytest.mark.parametrize("effort", EFFORTS)
def test_an_effort_that_a_door_has_not_becomes_the_nearest(effort: str) -> None:
    sent = body("moonshot/kimi-k3", reasoning_effort=effort)["reasoning_effort"]
    assert sent == nearest_effort(effort, ("low", "high", "max"))


@pytest.mark.parametrize(
    ("given", "sent"),
    [({"stop": "END"}, {"stop": ["END"]}), ({"stop": []}, {}), ({"logprobs": False}, {}), ({"seed": 0}, {"seed": 0})],
)
def test_what_dspys_client_says_in_other_words_or_not_at_all(given: dict[str, Any], sent: dict[str, Any]) -> None:
    assert body("hosted_vllm/own", **given) == {"messages": MESSAGES, **sent}


@pytest.mark.parametrize(
    ("model", "params"),
    [
        ("openai/o3", {"min_p": 0.5}),
        ("openai/o3", {"top_k": 0}),
        ("openai/o3", {"temperature": 2.5}),
        ("openai/o3", {"user": "u", "safety_identifier": "s"}),
        ("openai/o3", {"max_tokens": 9, "max_completion_tokens": 8}),
        ("openai/o3", {"top_logprobs": 2}),
        ("openai/o3", {"reasoning_effort": "enormous"}),
        ("openai/o3", {"messages": [{"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]}]}),
        ("groq/any", {"prompt_cache_key": "k"}),
        ("openrouter/openai/gpt-6-sol", {"reasoning_effort": "low"}),
        ("openai/o3", {"reasoning_effort": {"effort": "low"}}),
        ("azure/gpt-6-sol", {"max_tokens": 9}),
        ("together_ai/any", {"max_tokens": 9}),
        ("nowhere", {}),
    ],
)
def test_what_dspy_leaves_to_litellm_is_left_as_it_is(model: str, params: dict[str, Any]) -> None:
    request = {"messages": MESSAGES, **params}
    assert sent(model, request, frozenset({"api_base"})) == Sent({**request, "model": model})
    assert own_body(model, request, frozenset({"api_base"})) is None


def test_the_model_keeps_its_name_where_litellm_would_write_what_the_alias_stands_for() -> None:
    request = {"messages": [{"role": "user", "content": "q"}]}
    models = ("moonshot/kimi-latest", "groq/openai/gpt-oss-20b", "anthropic/claude-sonnet-latest", "gemini/any")
    names = [sent(one, request, frozenset()).name for one in models]
    assert names == ["kimi-latest", "openai/gpt-oss-20b", "claude-sonnet-latest", ""], "Gemini's body names no model"


def test_an_address_in_the_environment_makes_it_litellms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_BASE", "http://localhost:1/v1")
    assert body("openai/o3", max_tokens=9) == {"messages": MESSAGES, "max_tokens": 9}


def test_a_name_of_dspys_client_is_not_litellms_whatever_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_API_BASE", "http://127.0.0.1:9")
    made = sent("ollama:llama3", {"messages": MESSAGES}, frozenset())
    assert made.body is not None and made.arguments["model"] == "openai/llama3"
    assert sent("ollama/llama3", {"messages": MESSAGES}, frozenset()).body is None


def test_a_part_that_is_null_does_not_go_out() -> None:
    assert body("openai/o3", temperature=None, max_tokens=None, reasoning_effort=None) == {"messages": MESSAGES}


def test_what_is_left_unsaid_named_or_written_as_a_door_wants_it() -> None:
    given = {"user": "u", "top_k": 3, "temperature": 1, "n": 3, "verbosity": "low", "service_tier": "flex"}
    plain = {"messages": MESSAGES, "temperature": 1.0, "verbosity": "low", "service_tier": "flex"}
    assert body("deepseek/deepseek-chat", **given) == {**plain, "user_id": "u"}
    assert body("moonshot/kimi-k3", **given) == {**plain, "safety_identifier": "u"}
    made = body("openai/o3", **given)
    assert made == {**plain, "user": "u"} and isinstance(made["temperature"], float)
    assert sent("openai/o3", {"messages": MESSAGES, **given}, frozenset()).times == 3


def test_an_answer_stands_in_the_history_as_a_door_wants_it() -> None:
    calls = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}]
    turns: list[dict[str, Any]] = [
        {"role": "user", "content": [{"type": "text", "text": "u"}]},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "1", "name": "f", "content": [{"type": "text", "text": "r"}]},
        {"role": "assistant", "content": "a"},
    ]
    (user, called, result, answered) = body("deepseek/deepseek-chat", messages=turns)["messages"]
    assert user == {"role": "user", "content": "u"} and result == {"role": "tool", "tool_call_id": "1", "content": "r"}
    assert called["reasoning_content"] == answered["reasoning_content"] == ""
    assert called["tool_calls"][0]["function"]["arguments"] == '{"a":1}' and called["content"] is None
    assert body("groq/any", messages=turns)["messages"][3] == {"role": "assistant", "content": "a"}


SCHEMA = {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "string"}}}
OF_SCHEMA = {"type": "json_schema", "json_schema": {"name": "Outputs", "strict": True, "schema": SCHEMA}}
ASKED = {"messages": [{"role": "user", "content": [{"type": "text", "text": "u"}]}], "system": "s"}
AS_CONFIG = {"format": {"type": "json_schema", "schema": SCHEMA}}


THINKING = {"thinking": {"type": "enabled", "budget_tokens": 2048}, "max_tokens": 2048 + USUAL_LIMIT}
ADAPTS = {"thinking": {"type": "adaptive"}, "max_tokens": USUAL_LIMIT}


@pytest.mark.parametrize(
    ("model", "params", "words"),
    [
        ("anthropic/claude-opus-4-1", {}, {"max_tokens": USUAL_LIMIT, "output_config": AS_CONFIG}),
        ("claude-opus-4-1", {"reasoning_effort": "low"}, {**THINKING, "output_config": AS_CONFIG}),
        (
            "anthropic/claude-sonnet-5-5",
            {"reasoning_effort": "minimal"},
            {**ADAPTS, "output_config": {"effort": "low", **AS_CONFIG}},
        ),
        (
            "anthropic/claude-sonnet-5-5",
            {"reasoning_effort": "none", "max_tokens": 9},
            {"max_tokens": 9, "output_config": AS_CONFIG},
        ),
    ],
)
def test_anthropic_is_asked_for_a_schema_and_for_thinking_in_its_own_words(
    model: str, params: dict[str, Any], words: dict[str, Any]
) -> None:
    request = {"messages": MESSAGES, "response_format": OF_SCHEMA, **params}
    whole = {**ASKED, **words}
    name = model.removeprefix("anthropic/")
    handed = {"model": f"anthropic/{name}", "messages": MESSAGES}
    assert sent(model, request, frozenset()) == Sent(handed, whole, name=name)


def test_the_media_type_of_an_embedded_image_is_whole() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;q=1;base64,AA=="}}
    made = sent("anthropic/claude-opus-4-1", {"messages": [{"role": "user", "content": [image]}]}, frozenset()).body
    assert made is not None
    (part,) = made["messages"][0]["content"]
    assert part["source"] == {"type": "base64", "media_type": "image/png;q=1", "data": "AA=="}


@pytest.mark.parametrize("model", ["anthropic/claude-opus-4-1", "gemini/gemini-3.8-flash", "groq/x"])
@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "u", "cache_control": {"type": "ephemeral"}},
        {"role": "user", "content": "u", "name": "Ann"},
        {"role": "tool", "content": "r"},
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "custom", "function": {"name": "f"}}],
        },
        {"role": "assistant", "content": "a", "refusal": "no"},
        *[
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": one}}]}
            for one in ("", None, "data:x")
        ],
    ],
)
def test_messages_that_dspys_client_rejects_are_left_whole_to_litellm(model: str, message: dict[str, Any]) -> None:
    request = {"messages": [*MESSAGES, message]}
    assert sent(model, request, frozenset()) == Sent({"model": model, **request})


def test_of_what_anthropic_has_no_word_for_nothing_is_sent_and_its_own_words_are_used() -> None:
    unheard = {"seed": 3, "presence_penalty": 0.5, "frequency_penalty": 1, "logprobs": True}
    worded = {"temperature": 1.5, "stop": "END", "safety_identifier": "s", "max_tokens": 9}
    words = {"temperature": 1.0, "stop_sequences": ["END"], "metadata": {"user_id": "s"}, "max_tokens": 9}
    as_they_are = {"verbosity": "low", "service_tier": "flex"}
    request = {"messages": MESSAGES, "n": 2, **unheard, **worded, **as_they_are}
    made = sent("anthropic/claude-opus-4-1", request, frozenset())
    assert made.times == 2
    assert made.body == {**ASKED, **words, **as_they_are}


@pytest.mark.parametrize(
    "params",
    [
        *({"min_p": 0.1}, {"thinking": {"type": "disabled"}}, {"reasoning_effort": "enormous"}),
        *({"response_format": {}}, {"response_format": {"type": "json_object"}}, {"reasoning_format": "parsed"}),
    ],
)
def test_what_dspys_client_does_not_take_for_anthropic_is_left_to_litellm(params: dict[str, Any]) -> None:
    request = {"messages": MESSAGES, "response_format": OF_SCHEMA, **params}
    handed = {**request, "model": "anthropic/claude-opus-4-1"}
    assert sent("anthropic/claude-opus-4-1", request, frozenset()) == Sent(handed)


def test_the_tables_of_anthropics_models_are_dspys() -> None:
    assert ADAPTIVE == _ADAPTIVE_CLASS_MARKERS and BUDGETS == EFFORT_THINKING_BUDGETS
    assert (LIMITS, USUAL_LIMIT) == (_DEFAULT_MAX_TOKENS_BY_CLASS, _DEFAULT_MAX_TOKENS)

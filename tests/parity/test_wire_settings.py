"""What `dspy.LM` is told beside a model's name (the API, the role of systems, headers): the bodies that arrive."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from loopback_server import LoopbackServer
from oracle.tally import Record, Tally
from wire_bodies import (
    EVERY_SETTING,
    FEATURES,
    LIMIT,
    OF_TOOLS,
    PROVIDERS,
    differences,
    limited_by_dspy,
    sent_by_dspy,
    sent_by_us,
    setting,
)

from sessions.model.parameters import CONNECTION, PARAMETERS

RESPONSES = ("openai/gpt-6-sol", "openai/o3", "gpt-5-mini", "openai/own-model", "hosted_vllm/own", "xai/grok-4.7")
TEXTS = ("openai/gpt-3.5-turbo-instruct", "hosted_vllm/own", "groq/llama-3.3-70b-versatile")
ADAPTERS = ("chat", "json", "xml", "baml", "twostep")
PARAMS: tuple[dict[str, Any], ...] = (
    {},
    {"max_tokens": LIMIT},
    {"temperature": 1.0, "seed": 3, "stop": ["END"]},
    {"top_p": 0.5, "user": "u-1"},
    {"logprobs": True, "top_logprobs": 2, "verbosity": "low"},
)


def compare(
    server: LoopbackServer,
    names: tuple[str, ...],
    record: Record,
    adapters: tuple[str, ...] = ADAPTERS,
    **how: Any,
) -> None:
    tally = Tally("bodies of other settings at a server on this machine")
    for number, name in enumerate(names):
        for place, adapter in enumerate(adapters):
            for feature in FEATURES:
                params = PARAMS[(number + place) % len(PARAMS)]
                theirs = sent_by_dspy(server, name, adapter, feature, params, **how)
                ours = sent_by_us(server, name, adapter, feature, params, **how)
                tally.add(f"{name} {adapter} {feature} {params} {how}", differences(theirs, ours))
    tally.report(record)


@pytest.mark.slow
def test_over_the_responses_api_the_same_arrives(server: LoopbackServer, record: Record) -> None:
    compare(server, ("openai/gpt-6-sol", "xai/grok-4.7"), record, ("json",), model_type="responses")


@pytest.mark.slow
def test_over_the_responses_api_the_same_arrives_under_every_adapter(server: LoopbackServer, record: Record) -> None:
    compare(server, RESPONSES, record, model_type="responses")


@pytest.mark.slow
def test_a_developers_role_is_one_where_dspy_makes_it_one(server: LoopbackServer, record: Record) -> None:
    compare(server, ("openai/gpt-6-sol", "xai/grok-4.7"), record, model_type="responses", use_developer_role=True)


def test_as_a_completion_of_a_text_the_same_arrives(server: LoopbackServer, record: Record) -> None:
    compare(server, TEXTS[:1], record, ("chat",), model_type="text")


@pytest.mark.slow
def test_as_a_completion_of_a_text_the_same_arrives_under_every_adapter(server: LoopbackServer, record: Record) -> None:
    compare(server, TEXTS, record, model_type="text")


def compare_each_setting(server: LoopbackServer, names: tuple[str, ...], record: Record, **how: Any) -> None:
    tally = Tally("bodies with a setting of the LM at a server on this machine")
    for name in names:
        for one in EVERY_SETTING:
            if one == "max_completion_tokens" and limited_by_dspy(name):
                continue
            of_tools = one in OF_TOOLS
            for feature in ("tools", "lists") if of_tools else ("lists",):
                for adapter, held in product(("chat", "json"), (True, False)) if of_tools else (("chat", True),):
                    theirs = sent_by_dspy(server, name, adapter, feature, setting(one), held, **how)
                    ours = sent_by_us(server, name, adapter, feature, setting(one), held, **how)
                    tally.add(f"{name} {adapter} {feature} {setting(one)} {held} {how}", differences(theirs, ours))
    tally.report(record)


def test_every_setting_that_is_part_of_what_is_asked_is_compared() -> None:
    assert EVERY_SETTING.keys() == PARAMETERS.keys() - CONNECTION


DOORS = (
    *("openai/gpt-6-sol", "openai/o3", "gpt-6-sol", "groq/openai/gpt-oss-20b", "openrouter/openai/gpt-oss-120b"),
    *("deepseek/deepseek-chat", "xai/grok-4.7", "hosted_vllm/our/own-model", "moonshot/kimi-k3", "ollama/llama3.2"),
)
"""A model of each door of dspy's own client that speaks OpenAI's chat completions."""

BY_LITELLM = (*[f"{one}/any" for one in PROVIDERS if f"{one}/" not in "".join(DOORS)], "azure/gpt-6-sol")


def test_a_setting_arrives_as_dspys_client_writes_it(server: LoopbackServer, record: Record) -> None:
    compare_each_setting(server, ("deepseek/deepseek-chat",), record)


@pytest.mark.slow
@pytest.mark.parametrize("name", DOORS + BY_LITELLM)
def test_each_setting_arrives_as_dspy_sends_it_to_each_provider(
    server: LoopbackServer, name: str, record: Record
) -> None:
    compare_each_setting(server, (name,), record)


@pytest.mark.slow
@pytest.mark.parametrize("name", RESPONSES)
def test_each_setting_arrives_over_the_responses_api(server: LoopbackServer, name: str, record: Record) -> None:
    compare_each_setting(server, (name,), record, model_type="responses")


def test_several_completions_are_asked_for_one_by_one_where_dspys_client_does(server: LoopbackServer) -> None:
    for name, asked in (("hosted_vllm/own", [None, None]), ("together_ai/own", [2])):
        sent_by_dspy(server, name, "chat", "lists", {"n": 2})
        theirs = [one.body.get("n") for one in server.requests]
        sent_by_us(server, name, "chat", "lists", {"n": 2})
        assert theirs == [one.body.get("n") for one in server.requests] == asked

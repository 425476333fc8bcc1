"""What `dspy.LM` is told beside a model's name (the API, the role of systems, headers): the bodies that arrive."""

from __future__ import annotations

from typing import Any

from loopback_server import LoopbackServer
from oracle.tally import Record, Tally
from wire_bodies import FEATURES, LIMIT, differences, sent_by_dspy, sent_by_us

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


def compare(server: LoopbackServer, names: tuple[str, ...], record: Record, **how: Any) -> None:
    tally = Tally("bodies of other settings at a server on this machine")
    for number, name in enumerate(names):
        for place, adapter in enumerate(ADAPTERS):
            for feature in FEATURES:
                params = PARAMS[(number + place) % len(PARAMS)]
                theirs = sent_by_dspy(server, name, adapter, feature, params, **how)
                ours = sent_by_us(server, name, adapter, feature, params, **how)
                tally.add(f"{name} {adapter} {feature} {params} {how}", differences(theirs, ours))
    tally.report(record)


def test_over_the_responses_api_the_same_arrives(server: LoopbackServer, record: Record) -> None:
    compare(server, RESPONSES, record, model_type="responses")


def test_a_developers_role_is_one_where_dspy_makes_it_one(server: LoopbackServer, record: Record) -> None:
    compare(server, ("openai/gpt-6-sol", "xai/grok-4.7"), record, model_type="responses", use_developer_role=True)


def test_as_a_completion_of_a_text_the_same_arrives(server: LoopbackServer, record: Record) -> None:
    compare(server, TEXTS, record, model_type="text")

"""What arrives at Gemini, whole: the body that dspy's own client writes, and ours, by models of both generations."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from typing import Any

import dspy
import pytest
from loopback_server import CANARY, LoopbackServer
from oracle.tally import Record, Tally
from wire_bodies import EVERY_SETTING, FEATURES, LIMIT, OF_TOOLS, sent_by_dspy, sent_by_us, setting

from adapters import lm as models
from adapters.lm import ProviderError

MODELS = ("gemini/gemini-3.8-flash", "gemini/gemini-2.5-pro")
EFFORTS = [{"reasoning_effort": one} for one in ("none", "minimal", "low", "medium", "high", "xhigh", "max")]
PARAMS: tuple[dict[str, Any], ...] = ({}, {"max_tokens": LIMIT, "stop": ["END"]}, {"temperature": 0.7, "top_k": 3})


def compare(
    server: LoopbackServer, name: str, adapter: str, feature: str, settings: Iterable[dict[str, Any]], tally: Tally
) -> None:
    for params in settings:
        theirs, ours = (send(server, name, adapter, feature, params) for send in (sent_by_dspy, sent_by_us))
        if "nothing was sent" in theirs:
            assert "nothing was sent" in ours, (adapter, feature, params, ours)
            continue
        found = [one for one in {**theirs, **ours} if json.dumps(theirs.get(one)) != json.dumps(ours.get(one))]
        unlike = [f"{one}: {theirs.get(one)} is now {ours.get(one)}"[:700] for one in found]
        tally.add(f"{name} {adapter} {feature} {params}", "; ".join(unlike) or None)


@pytest.mark.parametrize("feature", ["models", "tools"])
def test_the_whole_body_is_dspys(server: LoopbackServer, feature: str, record: Record) -> None:
    tally = Tally("whole bodies at Gemini")
    compare(server, MODELS[0], "json", feature, PARAMS[:1], tally)
    tally.report(record)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("adapter", ["chat", "json", "xml", "baml", "twostep"])
def test_the_whole_body_is_dspys_under_every_adapter(
    server: LoopbackServer, name: str, adapter: str, record: Record
) -> None:
    tally = Tally("whole bodies at Gemini")
    for feature in FEATURES:
        compare(server, name, adapter, feature, PARAMS, tally)
    tally.report(record)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_each_setting_arrives_at_gemini_as_dspy_sends_it(server: LoopbackServer, name: str, record: Record) -> None:
    tally = Tally("settings at Gemini")
    for params in [*[setting(one) for one in EVERY_SETTING], *EFFORTS]:
        for feature in ("lists", "tools") if OF_TOOLS & params.keys() else ("lists",):
            compare(server, name, "chat", feature, [params], tally)
    tally.report(record)


def test_tool_calls_and_their_results_stand_in_the_history_as_dspy_writes_them(server: LoopbackServer) -> None:
    calls = [
        {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": '{"city": "Köln"}'}}
        for number, name in enumerate(("weather", "time"))
    ]
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "Answer."},
        {"role": "user", "content": "And now?"},
        {"role": "assistant", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c0", "content": "rain"},
        {"role": "tool", "tool_call_id": "c1", "content": "noon", "name": "clock"},
        {"role": "assistant", "content": "Rain at noon.", "tool_calls": calls[:1]},
        {"role": "tool", "tool_call_id": "c0", "content": "sun"},
    ]
    address = {"api_base": server.url}
    with contextlib.suppress(Exception):  # the server's reply is none of Gemini's
        dspy.LM(MODELS[0], api_key=CANARY, cache=False, num_retries=0, **address)(messages=messages)
    theirs = server.requests[-1].body
    server.requests.clear()
    with contextlib.suppress(ProviderError):
        list(models.open(MODELS[0], api_base_trusted=True, **address).stream({"messages": messages}))
    assert json.dumps(server.requests[0].body) == json.dumps(theirs)
    assert json.dumps(theirs).count("functionResponse") == 3

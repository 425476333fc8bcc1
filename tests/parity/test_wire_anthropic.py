"""What arrives at Anthropic: the schema with its references, and every setting, by models of each way of thinking."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from typing import Any

import dspy
import pytest
from loopback_server import CANARY, LoopbackServer
from oracle.tally import Record, Tally
from wire_bodies import EVERY_SETTING, LIMIT, OF_TOOLS, body_of, sent_by_dspy, sent_by_us, setting

from adapters import lm as models

BY_DSPYS_CLIENT: tuple[dict[str, Any], ...] = ({}, {"reasoning_effort": "low"}, {"temperature": 1})
BY_LITELLM: tuple[dict[str, Any], ...] = ({"min_p": 0.1}, {"thinking": {"type": "enabled", "budget_tokens": 2000}})
PARTS = ("output_config", "output_format", "tools", "tool_choice")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["anthropic/claude-opus-4-1", "anthropic/claude-sonnet-5-5", "claude-haiku-4-5"])
def test_the_schema_arrives_as_dspy_sends_it(server: LoopbackServer, name: str, record: Record) -> None:
    tally = Tally("schemas at Anthropic, to the letter")
    for chosen in (*BY_DSPYS_CLIENT, *BY_LITELLM):
        params = {"max_tokens": LIMIT, **chosen}
        theirs, ours = (send(server, name, "json", "models", params) for send in (sent_by_dspy, sent_by_us))
        theirs, ours = ({part: body.get(part) for part in PARTS} for body in (theirs, ours))
        assert "$defs" in json.dumps(theirs) or chosen in BY_LITELLM, "a schema without references shows nothing"
        assert any(theirs.values()), theirs
        found = None if json.dumps(theirs) == json.dumps(ours) else f"{theirs}\nis now\n{ours}"
        tally.add(f"{name} {params}", found)
    tally.report(record)


MODELS = ("anthropic/claude-opus-4-1", "anthropic/claude-sonnet-4-5", "anthropic/claude-sonnet-5-5")
MORE: tuple[dict[str, Any], ...] = (
    {},
    *[{"reasoning_effort": one} for one in ("none", "minimal", "medium", "high", "xhigh", "max")],
    {"temperature": 1.5},
    {"temperature": 0.2},
    {"user": "ann@example.org"},
    {"user": "+49 30 1234567"},
    {"max_tokens": None},
    {"max_tokens": None, "reasoning_effort": "high"},
)
BOTH = (sent_by_dspy, sent_by_us)


def compare(server: LoopbackServer, name: str, settings: Iterable[dict[str, Any]], record: Record) -> None:
    tally = Tally("settings at Anthropic")
    for params in settings:
        said = {} if "max_completion_tokens" in params else {"max_tokens": LIMIT}
        for feature in ("lists", "tools") if OF_TOOLS & params.keys() else ("lists",):
            whole = {one: value for one, value in {**said, **params}.items() if value is not None}
            theirs, ours = (send(server, name, "chat", feature, whole) for send in BOTH)
            if "nothing was sent" in theirs:
                theirs, ours = [*theirs], [*ours]
            found = None if json.dumps(theirs) == json.dumps(ours) else f"{theirs}\nis now\n{ours}"
            tally.add(f"{name} {feature} {whole}", found)
    tally.report(record)


def test_settings_arrive_as_dspy_sends_them(server: LoopbackServer, record: Record) -> None:
    compare(server, MODELS[0], ({"seed": 3, "service_tier": "flex", "reasoning_effort": "low"},), record)


def test_what_litellm_knows_a_model_to_refuse_is_sent_as_dspy_sends_it(server: LoopbackServer, record: Record) -> None:
    chosen = {"top_p": 0.5, "top_k": 40, "temperature": 0.2, "user": "ann@example.org"}
    compare(server, MODELS[2], (chosen, {"reasoning_effort": "max"}), record)
    assert server.requests[0].body["output_config"] == {"effort": "max"}


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_each_setting_arrives_as_dspy_sends_it(server: LoopbackServer, name: str, record: Record) -> None:
    compare(server, name, (*[setting(one) for one in EVERY_SETTING], *MORE), record)


PICTURE = "data:image/png;base64,iVBORw0KGgo="
CALLS = [
    {"id": id, "type": "function", "function": {"name": "search", "arguments": json.dumps({"query": id})}}
    for id in ("c1", "c2")
]
TOOLS = [{"type": "function", "function": {"name": "search", "description": "Searches."}}]
PARTS_OF_A_USER = [{"type": "text", "text": "See:"}, {"type": "image_url", "image_url": {"url": PICTURE}}]
PAPER = {"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBERi0="}}
TALK: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": PARTS_OF_A_USER},
    {"role": "assistant", "content": None, "tool_calls": CALLS},
    {"role": "tool", "tool_call_id": "c1", "content": "one"},
    {"role": "tool", "tool_call_id": "c2", "name": "search", "content": "two"},
    {"role": "system", "content": "Still brief."},
    {"role": "assistant", "content": ""},
    {"role": "user", "content": "And?"},
    {"role": "user", "content": "Well?"},
]
CHOICES: tuple[dict[str, Any], ...] = (
    {},
    {"tool_choice": "required", "parallel_tool_calls": False},
    {"tool_choice": {"type": "function", "function": {"name": "search"}}},
    {"tool_choice": "none", "user": "u", "service_tier": "flex", "verbosity": "low", "stop": ["END"], "top_k": 4},
)


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("anthropic/claude-opus-4-1", "x-api-key"),
        ("claude-opus-4-1", "x-api-key"),
        ("gemini/gemini-3.8-flash", "x-goog-api-key"),
        ("gemini-3.8-flash", "x-goog-api-key"),
    ],
)
@pytest.mark.parametrize("params", CHOICES, ids=str)
def test_a_talk_with_tools_and_a_picture_arrives_as_dspy_sends_it(
    server: LoopbackServer, name: str, header: str, params: dict[str, Any]
) -> None:
    papers = TALK if "gemini" in name else [*TALK, {"role": "user", "content": [PAPER]}]
    request = {"messages": papers, "max_tokens": LIMIT, "tools": TOOLS, **params}
    bodies = []
    for send in (
        lambda: dspy.LM(name, api_base=server.url, api_key="k", cache=False, num_retries=0)(**request),
        lambda: list(models.open(name, api_base=server.url, api_base_trusted=True, stream=False).stream(request)),
    ):
        server.requests.clear()
        with contextlib.suppress(Exception):  # the server has no reply that is Anthropic's or Gemini's
            send()
        bodies.append(json.dumps(body_of(server, "it failed")))
    assert bodies[0] == bodies[1] and "nothing was sent" not in bodies[0]
    assert server.requests[-1].headers[header] == CANARY

"""What arrives at Anthropic: the schema with its references, and every setting, by models of each way of thinking.

The messages are the same in litellm's shape, where a text is a block of text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from loopback_server import LoopbackServer
from oracle.tally import Record, Tally
from wire_bodies import EVERY_SETTING, LIMIT, OF_TOOLS, sent_by_dspy, sent_by_us, setting

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


def without_shape(body: dict[str, Any]) -> dict[str, Any]:
    """The body with a text for each block of text, and no types of tools: the one is as the other to Anthropic."""
    if "nothing was sent" in body:
        return {"nothing was sent": ""}
    parts = {**body, "messages": [{**one, "content": _text(one["content"])} for one in body["messages"]]}
    parts |= {"system": _text(body["system"])} if "system" in body else {}
    if "tools" in body:
        parts["tools"] = [{name: part for name, part in tool.items() if name != "type"} for tool in body["tools"]]
    return parts


def _text(content: Any) -> Any:
    return "\n".join([one["text"] for one in content]) if isinstance(content, list) else content


def compare(server: LoopbackServer, name: str, settings: Iterable[dict[str, Any]], record: Record) -> None:
    tally = Tally("settings at Anthropic")
    for params in settings:
        said = {} if "max_completion_tokens" in params else {"max_tokens": LIMIT}
        for feature in ("lists", "tools") if OF_TOOLS & params.keys() else ("lists",):
            whole = {one: value for one, value in {**said, **params}.items() if value is not None}
            theirs, ours = (without_shape(send(server, name, "chat", feature, whole)) for send in BOTH)
            names = {**theirs, **ours}
            found = [one for one in names if json.dumps(theirs.get(one)) != json.dumps(ours.get(one))]
            unlike = [f"{one}: {theirs.get(one)} is now {ours.get(one)}" for one in found]
            tally.add(f"{name} {feature} {whole}", "; ".join(unlike) or None)
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

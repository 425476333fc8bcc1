"""The schema that arrives at Anthropic, its references too, by a model that litellm knows to take one and one not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from loopback_server import LoopbackServer
from oracle.tally import Record, Tally
from wire_bodies import LIMIT, sent_by_dspy, sent_by_us

BY_DSPYS_CLIENT: tuple[dict[str, Any], ...] = ({}, {"reasoning_effort": "low"}, {"temperature": 1})
BY_LITELLM: tuple[dict[str, Any], ...] = ({"min_p": 0.1}, {"thinking": {"type": "enabled", "budget_tokens": 2000}})
PARTS = ("output_config", "output_format", "tools", "tool_choice")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["anthropic/claude-opus-4-1", "anthropic/claude-sonnet-5-5", "claude-haiku-4-5"])
def test_the_schema_arrives_as_dspy_sends_it(server: LoopbackServer, name: str, record: Record) -> None:
    tally = Tally("schemas at Anthropic, to the letter")
    for setting in (*BY_DSPYS_CLIENT, *BY_LITELLM):
        params = {"max_tokens": LIMIT, **setting}
        theirs, ours = (send(server, name, "json", "models", params) for send in (sent_by_dspy, sent_by_us))
        theirs, ours = ({part: body.get(part) for part in PARTS} for body in (theirs, ours))
        assert "$defs" in json.dumps(theirs) or setting in BY_LITELLM, "a schema without references shows nothing"
        assert any(theirs.values()), theirs
        found = None if json.dumps(theirs) == json.dumps(ours) else f"{theirs}\nis now\n{ours}"
        tally.add(f"{name} {params}", found)
    tally.report(record)

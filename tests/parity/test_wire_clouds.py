"""What arrives at Bedrock and at Vertex, whose requests litellm writes for dspy and for us: the same bytes.

The server stands on this machine. Requests to Bedrock are signed (SigV4), those to Vertex bear a token that the server
gave; only what is asked is compared, and that is all of the body.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import dspy
import pytest
from oracle import engines
from oracle.tally import Record, Tally
from provider_server import BY_NAME, ProviderServer
from provider_wires import Reply
from wire_bodies import ARGS, FEATURES, LIMIT, QUESTION, TRANSPORT, search, signature

from adapters import lm as models
from adapters.lm import child
from adapters.lm.capabilities import known_of
from adapters.running import runner
from adapters.signatures.signature import Signature
from adapters.types import Tool

ADAPTERS = ("chat", "json", "xml", "baml", "twostep")
BEDROCK = (
    *("bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0", "bedrock/anthropic.claude-3-5-sonnet-20240620-v1:0"),
    *("bedrock/amazon.nova-pro-v1:0", "bedrock/converse/us.meta.llama3-3-70b-instruct-v1:0"),
    *("bedrock/invoke/anthropic.claude-3-5-sonnet-20240620-v1:0", "bedrock/us.deepseek.r1-v1:0"),
    *("bedrock/openai.gpt-oss-120b-1:0", "bedrock/mistral.mistral-large-2402-v1:0"),
)
VERTEX = (
    *("vertex_ai/gemini-3.8-flash", "vertex_ai/gemini-2.5-pro", "vertex_ai/claude-sonnet-4-5@20250929"),
    *("vertex_ai/meta/llama-3.3-70b-instruct-maas", "vertex_ai/mistral-small-2503"),
)


@pytest.fixture
def cloud(
    request: pytest.FixtureRequest, no_address: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ProviderServer]:
    """A server that is Bedrock or Vertex, in an environment that leads there."""
    with ProviderServer(BY_NAME[request.param], Reply("no reply that can be read")) as one:
        for name, value in one.provider.environment(one.url).items():
            monkeypatch.setenv(name, value)
        child.shut_down()
        yield one
        child.shut_down()


def first_body(cloud: ProviderServer, problem: str) -> str:
    """The body as it stands on the wire, in its order; without one, that nothing was sent."""
    if not cloud.requests:
        return f"nothing was sent, {'for a problem' if problem else 'and nothing was the matter'}"
    return json.dumps({name: one for name, one in cloud.requests[0].body.items() if name not in TRANSPORT})


def sent_by_dspy(cloud: ProviderServer, name: str, adapter: str, feature: str, params: dict[str, Any]) -> str:
    cloud.requests.clear()
    inputs = {**QUESTION, **({"tools": [dspy.Tool(search)]} if feature == "tools" else {})}
    options = {} if adapter in ("json", "baml", "twostep") else {"use_json_adapter_fallback": False}
    problem = ""
    try:
        lm = dspy.LM(name, cache=False, num_retries=0, **base_of(cloud), **params)
        engines.theirs(adapter, options, lm)(lm, {}, signature(feature), [], inputs)
    except Exception as error:
        problem = str(error)
    return first_body(cloud, problem)


def sent_by_us(cloud: ProviderServer, name: str, adapter: str, feature: str, params: dict[str, Any]) -> str:
    cloud.requests.clear()
    tool = Tool(name="search", desc="Searches.", args=ARGS)
    inputs = {**QUESTION, **({"tools": [tool]} if feature == "tools" else {})}
    base = base_of(cloud)
    address = {"api_base": cloud.url, "api_base_trusted": True} if base else {}
    lm = models.open(name, capabilities=known_of(name, "chat", set(base)).capabilities, **address)
    asked = Signature.from_dspy(signature(feature))
    run = runner.run(engines.ours(adapter), lm, asked, [], inputs, fallback=False, params=params, held=True)
    return first_body(cloud, "" if run.error is None else run.error.message)


def base_of(cloud: ProviderServer) -> dict[str, str]:
    """litellm finds Bedrock's address in the environment; Vertex's is a setting."""
    return {"api_base": cloud.url} if cloud.provider.name == "vertex" else {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cloud", "name"),
    [*[("bedrock", one) for one in BEDROCK], *[("vertex", one) for one in VERTEX]],
    indirect=["cloud"],
    ids=[*BEDROCK, *VERTEX],
)
def test_what_arrives_at_a_cloud_is_what_dspy_sends(cloud: ProviderServer, name: str, record: Record) -> None:
    tally = Tally(f"bodies at {cloud.provider.name}, to the byte")
    for number, adapter in enumerate(ADAPTERS):
        for feature in FEATURES:
            params: dict[str, Any] = ({"max_tokens": LIMIT, "stop": ["END"]}, {}, {"top_p": 0.5})[number % 3]
            theirs = sent_by_dspy(cloud, name, adapter, feature, params)
            ours = sent_by_us(cloud, name, adapter, feature, params)
            found = None if theirs == ours else f"{theirs[:2000]}\nis now\n{ours[:2000]}"
            tally.add(f"{name} {adapter} {feature} {params}", found)
    tally.report(record)

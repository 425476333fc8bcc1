"""Nineteen providers, each asked in six ways: dspy's body and ours, and the request that is kept in place of sent."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import dspy
import pytest
from oracle import engines
from oracle.tally import Record, Tally
from provider_server import AS_RESPONSES, BY_NAME, Provider, ProviderServer
from provider_wires import OPENAI, Reply
from wire_bodies import ARGS, LIMIT, TRANSPORT, Found, Reasoning, ToolCalls, search

from adapters import lm as models
from adapters.lm import child, litellm_answers
from adapters.lm.capabilities import known_of
from adapters.lm.litellm_client import LitellmLM
from adapters.running import runner
from adapters.signatures.signature import Signature
from adapters.types import Image, Tool

REPLY = Reply(("[[ ## answer ## ]]\nx\n\n[[ ## completed ## ]]",))
PICTURE = "data:image/png;base64,iVBORw0KGgo="
ANSWER = {"answer": (str, dspy.OutputField())}
CALLS = {"tools": (list[dspy.Tool], dspy.InputField()), "tool_calls": (ToolCalls, dspy.OutputField())}
ASKED: Mapping[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "plain": ("chat", ANSWER, {}),
    "tools": ("chat", CALLS, {}),
    "schema": ("json", {"found": (Found, dspy.OutputField())}, {}),
    "reasoning": ("chat", {"reasoning": (Reasoning, dspy.OutputField()), **ANSWER}, {}),
    "images": ("chat", {"picture": (dspy.Image, dspy.InputField()), **ANSWER}, {}),
    "n": ("chat", ANSWER, {"n": 2}),
}
THEIRS: Mapping[str, dict[str, Any]] = {
    "tools": {"tools": [dspy.Tool(search)]},
    "images": {"picture": dspy.Image(url=PICTURE)},
}
OURS: Mapping[str, dict[str, Any]] = {
    "tools": {"tools": [Tool(name="search", desc="Searches.", args=ARGS)]},
    "images": {"picture": Image(url=PICTURE)},
}


def chat(name: str, model: str) -> Provider:
    return Provider(name, model, OPENAI, "/chat/completions", f"{name.upper()}_API_KEY", f"{name.upper()}_API_BASE")


OTHERS = (
    chat("together_ai", "together_ai/meta-llama/Llama-3.3-70B-Instruct-Turbo"),
    chat("fireworks_ai", "fireworks_ai/accounts/fireworks/models/llama-v3p1-8b-instruct"),
    chat("perplexity", "perplexity/sonar"),
    chat("moonshot", "moonshot/kimi-k3"),
)
NAMES = [name for name in BY_NAME if name not in ("responses", "pro", "ollama")]
OLLAMA = replace(BY_NAME["ollama"], wire=OPENAI)  # at the API of OpenAI that it has too
VENDORS = (*[BY_NAME[name] for name in NAMES], OLLAMA, AS_RESPONSES, *OTHERS)


@pytest.fixture
def vendor(
    request: pytest.FixtureRequest, no_address: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ProviderServer]:
    """The provider's server, whose address is given as `api_base`; Bedrock's is found in the environment."""
    provider: Provider = request.param
    with ProviderServer(provider, REPLY) as one, litellm_answers.asking():
        for name, value in provider.environment(one.url).items():
            if name != provider.base or provider.name == "bedrock":
                monkeypatch.setenv(name, value)
        yield one
    child.shut_down()


def connection(vendor: ProviderServer) -> dict[str, str]:
    provider = vendor.provider
    base = {} if provider.name == "bedrock" else {"api_base": vendor.url + provider.under}
    version = provider.more.get("AZURE_API_VERSION")
    return base if version is None else {**base, "api_version": version}


def taken(vendor: ProviderServer, feature: str) -> list[str]:
    """The bodies that arrived, as they stand on the wire; but of a schema the first, as this server answers none."""
    found = [one.body for one in vendor.requests if one.path != "/api/show"]
    vendor.requests.clear()
    bodies = [json.dumps({name: part for name, part in one.items() if name not in TRANSPORT}) for one in found]
    return bodies[:1] if feature == "schema" else bodies


@pytest.mark.slow
@pytest.mark.parametrize("vendor", VENDORS, indirect=True, ids=[one.name for one in VENDORS])
def test_each_provider_is_asked_in_each_way_as_dspy_asks_it(vendor: ProviderServer, record: Record) -> None:
    tally = Tally("bodies at nineteen providers, and the requests kept in place of sent")
    provider, given = vendor.provider, connection(vendor)
    for feature, (adapter, fields, params) in ASKED.items():
        signature = dspy.Signature({"question": (str, dspy.InputField()), **fields}, "Answer.")
        inputs = {"question": "What is a \u201cquote\u201d?"}
        options = {} if adapter == "json" else {"use_json_adapter_fallback": False}
        settings = {"max_tokens": LIMIT, "model_type": provider.model_type, **given, **params}
        with contextlib.suppress(Exception):  # a parse error, or nothing can be sent
            lm = dspy.LM(provider.model, cache=False, num_retries=0, **settings)
            engines.theirs(adapter, options, lm)(lm, {}, signature, [], {**inputs, **THEIRS.get(feature, {})})
        theirs = taken(vendor, feature)
        assert theirs or feature != "plain", "a plain request is sent"
        can = known_of(provider.model, provider.model_type, given.keys()).capabilities
        how: dict[str, Any] = {"capabilities": can, "settings": models.LMSettings(provider.model_type), **given}
        mine = models.open(provider.model, api_base_trusted=True, **how)
        asked, values = Signature.from_dspy(signature), {**inputs, **OURS.get(feature, {})}
        sampled = {"max_tokens": LIMIT, **params}
        run = runner.run(engines.ours(adapter), mine, asked, [], values, fallback=False, params=sampled, held=True)
        ours = taken(vendor, feature)
        tally.add(f"{provider.name} {feature}", None if theirs == ours else f"{theirs}\nis now\n{ours}")
        if ours:
            whole = models.open(provider.model, api_base_trusted=True, stream=False, **how)
            assert isinstance(whole, LitellmLM)
            kept = whole.http_request(run.attempts[0].request)
            list(whole.stream(run.attempts[0].request))
            arrived = [one for one in vendor.requests if one.path != "/api/show"][:1]
            same = [kept.body.encode()] == [one.raw for one in arrived] and kept.url.endswith(arrived[0].path)
            tally.add(f"{provider.name} {feature}, kept", None if same else f"{kept.body}\nis not\n{arrived}")
            vendor.requests.clear()
    tally.report(record)

"""The request that litellm writes, kept in place of being sent: what goes out, to the byte, without a secret."""

from __future__ import annotations

import os
import re
from typing import Any

import pytest
from provider_server import BY_NAME, KEY, PROVIDERS, Provider, ProviderServer
from provider_wires import Reply

from adapters.lm import LMSettings, ProviderError
from adapters.lm import open as open_model
from adapters.lm.litellm_client import LitellmLM

QUICK = ("gemini", "vertex", "bedrock", "mistral", "cohere", "anthropic")
TOOL = {"type": "function", "function": {"name": "search", "parameters": {"type": "object", "properties": {}}}}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
ASKED = [{"role": "user", "content": "Rain?"}]
ANSWER = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
SCHEMA = {"type": "json_schema", "json_schema": {"name": "Answer", "strict": True, "schema": ANSWER}}
REQUESTS: tuple[dict[str, Any], ...] = (
    {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": 'Rain? é "\\\n'}]},
    {"messages": ASKED, "max_tokens": 9, "tools": [TOOL]},
    {"messages": [{"role": "user", "content": [{"type": "text", "text": "Rain?"}, PICTURE]}]},
)


NOT_EVERYWHERE: tuple[dict[str, Any], ...] = (
    {"messages": ASKED, "response_format": SCHEMA},
    {"messages": ASKED, "reasoning_effort": "low", "max_tokens": 5000},
    {"messages": ASKED, "n": 2, "temperature": 1.0},
)


def kept_and_sent(provider: Provider, request: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    """The kept request, and the sent one."""
    with ProviderServer(provider, Reply("It rains.")) as server:
        for name, value in provider.environment(server.url).items():
            monkeypatch.setenv(name, value)
        model = open_model(provider.model, stream=False, settings=LMSettings(provider.model_type))
        assert isinstance(model, LitellmLM)
        kept = model.http_request(request)
        assert not server.requests, "nothing was sent"
        list(model.stream(request))
        assert kept.url.startswith(server.url)
        return kept, next(one for one in reversed(server.requests) if one.path != "/api/show")


@pytest.mark.parametrize(
    "name", [pytest.param(one.name, marks=() if one.name in QUICK else pytest.mark.slow) for one in PROVIDERS]
)
def test_what_is_kept_is_what_is_sent(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = BY_NAME[name]
    for request in REQUESTS:
        kept, seen = kept_and_sent(provider, request, monkeypatch)
        assert kept.body.encode() == seen.raw and kept.method == "POST"
        assert kept.url.endswith(seen.path)
        assert KEY not in str(kept)
        telling = {header.lower() for header in kept.telling}
        assert telling <= seen.headers.keys() and "user-agent" not in telling
        if provider.key and "AWS" not in provider.key:
            assert f"${provider.key}" in str(kept.headers)


@pytest.mark.slow
@pytest.mark.parametrize("request_", NOT_EVERYWHERE, ids=("schema", "reasoning", "n"))
@pytest.mark.parametrize("name", [one.name for one in PROVIDERS])
def test_a_parameter_is_kept_as_it_is_sent_or_refused_with_the_same_words(
    name: str, request_: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = BY_NAME[name]
    with ProviderServer(provider, Reply("It rains.")) as server:
        for variable, value in provider.environment(server.url).items():
            monkeypatch.setenv(variable, value)
        model = open_model(provider.model, stream=False, settings=LMSettings(provider.model_type))
        assert isinstance(model, LitellmLM)
        try:
            kept = model.http_request(request_).body.encode()
        except ProviderError as refused:
            with pytest.raises(ProviderError, match=f"^{re.escape(str(refused))}$") as sent:
                list(model.stream(request_))
            assert "Nothing was sent: litellm does not support " in str(sent.value)
            assert not [one for one in server.requests if one.path != "/api/show"]
            return
        list(model.stream(request_))
        assert {one.raw for one in server.requests if one.path != "/api/show"} == {kept}


def test_a_request_is_kept_without_a_key_and_for_an_untrusted_address(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MISTRAL_API_KEY", "MISTRAL_API_BASE"):
        monkeypatch.delenv(name, raising=False)
    mine = open_model("mistral/any")
    assert isinstance(mine, LitellmLM)
    assert mine.http_request(REQUESTS[0]).headers["Authorization"] == "Bearer $MISTRAL_API_KEY"
    monkeypatch.setenv("MISTRAL_API_KEY", KEY)
    theirs = open_model("mistral/any", api_base="http://127.0.0.1:9/v1")
    assert isinstance(theirs, LitellmLM)
    made = theirs.http_request(REQUESTS[0])
    assert made.headers["Authorization"] == "Bearer no-key" and made.url.startswith("http://127.0.0.1:9/v1")


def test_the_host_of_a_picture_is_not_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    model = open_model("gemini/gemini-2.5-flash")
    assert isinstance(model, LitellmLM)
    for host in ("pictures.example.invalid", "127.0.0.1:9"):
        picture = {"type": "image_url", "image_url": {"url": f"http://{host}/a.png"}}
        with pytest.raises(ProviderError) as raised:
            model.http_request({"messages": [{"role": "user", "content": [picture]}]})
        assert str(raised.value) == (
            "gemini/gemini-2.5-flash cannot be called, and nothing was sent: "
            f"litellm first asks http://{host} for access"
        )


def test_a_token_that_litellm_would_fetch_first_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [one for one in os.environ if one.startswith("WATSONX")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("WATSONX_URL", "https://us-south.ml.cloud.ibm.com")
    monkeypatch.setenv("WATSONX_PROJECT_ID", "p")
    model = open_model("watsonx/ibm/granite")
    assert isinstance(model, LitellmLM)
    with pytest.raises(ProviderError, match=r"first asks https://iam\.cloud\.ibm\.com for access"):
        model.http_request(REQUESTS[0])

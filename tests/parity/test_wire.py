"""The body of a request as it arrives at a server on this machine, sent by dspy and by us.

Everything is compared but how the reply is to be transported (`TRANSPORT`). The names are of providers whose chat API
dspy and litellm both speak, and of models that answer there; docs/differences.md says what is otherwise for the rest.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from random import Random
from typing import Any
from urllib.parse import urlsplit

import pytest
from dspy.clients import model_metadata
from loopback_server import LoopbackServer
from oracle.tally import Record, Tally
from oracle.write_model_facts import listed_names
from wire_bodies import (
    FEATURES,
    LIMIT,
    OTHERS,
    PROVIDERS,
    QUESTION,
    body_of,
    differences,
    drawn_settings,
    sent_by_dspy,
    sent_by_us,
)

from adapters.lm.addresses import host_of
from sessions.model.session import Case, Column, Session, SignatureText
from sessions.running import rendering
from workbench.config.confinement import Allowed
from workbench.sending import sending


def drawn(count: int) -> list[str]:
    import litellm  # once the environment keeps it from fetching a table

    of_responses_api = {name for name, facts in litellm.model_cost.items() if facts.get("mode") == "responses"}
    names = [
        name
        for name in listed_names(model_metadata._snapshot(), litellm.model_cost)
        if not {name, name.partition("/")[2]} & of_responses_api
    ]
    by_provider = {one: [name for name in names if name.startswith(f"{one}/")] for one in PROVIDERS}
    by_provider["hosted_vllm"] = ["hosted_vllm/our/own-model"]
    rng = Random(13)
    return [rng.choice(by_provider[PROVIDERS[number % len(PROVIDERS)]]) for number in range(count)]


def compare(server: LoopbackServer, names: list[str], adapters: tuple[str, ...], record: Record, features: int) -> None:
    """`features`: how many of `FEATURES` are drawn for each name and adapter."""
    tally = Tally("bodies at a server on this machine")
    rng = Random(17)
    for name in dict.fromkeys(names):
        for adapter in adapters:
            for feature in rng.sample([*FEATURES], features):
                params = drawn_settings(rng, name)
                theirs = sent_by_dspy(server, name, adapter, feature, params)
                ours = sent_by_us(server, name, adapter, feature, params)
                tally.add(f"{name} {adapter} {feature} {params}", differences(theirs, ours))
    tally.report(record)


def test_what_arrives_is_what_dspy_sends(server: LoopbackServer, record: Record) -> None:
    compare(server, drawn(len(PROVIDERS)), ("json",), record, 1)


BY_DSPYS_CLIENT = (
    *("gpt-6-sol", "xai/grok-4.7", "ollama/llama3.2", "grok-4.7", "groq:openai/gpt-oss-20b"),
    *[
        pytest.param(name, marks=pytest.mark.slow)
        for name in ("openai/o3", "openai/gpt-4o", "moonshot/kimi-k3", "ollama_chat/qwen3:4b")
    ],
)


@pytest.mark.parametrize("name", BY_DSPYS_CLIENT)
def test_roles_limits_and_reasoning_are_written_as_dspys_own_client_does(
    server: LoopbackServer, name: str, record: Record
) -> None:
    compare(server, [name], ("chat", "json"), record, 2)


SHOWN = ("openai/gpt-6-sol", "openai/o3", "grok-4.7", "groq/openai/gpt-oss-20b", "hosted_vllm/our/own-model")


SETTINGS: tuple[tuple[dict[str, Any], tuple[str, ...]], ...] = (
    ({}, SHOWN),
    ({"model_type": "responses", "use_developer_role": True}, ("openai/gpt-6-sol", "openai/o3", "xai/grok-4.7")),
    ({"model_type": "text"}, SHOWN),
    ({"header_variables": {"X-Org": "OUR_ORG"}, "top_p": None}, ("hosted_vllm/our/own-model",)),
    ({"capabilities": {"response_schema": True}}, ("hosted_vllm/our/own-model", "llamafile/mine")),
)


@pytest.mark.parametrize(("settings", "names"), SETTINGS, ids=str)
def test_what_is_shown_before_a_call_is_what_arrives(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], names: tuple[str, ...]
) -> None:
    monkeypatch.setenv("OUR_ORG", "us")
    params = {"max_tokens": LIMIT, "seed": 3, "stop": ["END"], "api_base": server.url, **settings}
    text = SignatureText("question -> tags: list[str], sure: bool")
    for model in names:
        for column in (Column("one", "chat"), Column("other", "json")):
            session = Session(text, (), (column,), (Case("case 1", QUESTION),), model, params)
            request = rendering.request_of(session, column, session.cases[0])
            shown = rendering.body_of(session, column, request)
            server.requests.clear()
            allowed = Allowed(frozenset([host_of(server.url)]), frozenset(["OUR_ORG"]))
            sending.send(session, column, session.cases[0], allowed=allowed)
            arrived = body_of(server, "nothing")
            if settings == {"model_type": "text"} and "response_format" in shown:
                assert arrived == {"nothing was sent": "nothing"}, "litellm knows of no such completion"
                continue
            assert {**arrived, "model": model} == json.loads(json.dumps(shown)), (model, column.adapter)


ROUTES = (
    *("openai/gpt-6-sol", "openai/o3", "gpt-6-sol", "groq/openai/gpt-oss-20b", "openrouter/openai/gpt-oss-120b"),
    *("deepseek/deepseek-chat", "xai/grok-4.7", "hosted_vllm/own", "moonshot/kimi-k3", "ollama/llama3.2"),
    *("together_ai/any", "fireworks_ai/any", "nebius/any", "novita/any", "dashscope/any", "llamafile/mine"),
    *("mistral/any", "gemini/gemini-3.8-flash"),
)
IN_ITS_OWN_WAY = {"mistral/any", "gemini/gemini-3.8-flash"}
"""To these litellm writes a request in the way of their own API."""
IN_ITS_OWN_WAY_WITH_HEADERS = {*IN_ITS_OWN_WAY, "openai/gpt-6-sol", "gpt-6-sol", "openai/o3", "ollama/llama3.2"}
"""With headers of one's own dspy leaves every model to litellm, and so do we."""


@pytest.mark.parametrize("headers", [{}, {"X-Org": "OUR_ORG"}], ids=["no headers", "a header"])
def test_whether_the_request_is_shown_as_it_arrives_is_said_of_every_route(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch, headers: dict[str, str]
) -> None:
    monkeypatch.setenv("OUR_ORG", "us")
    column = Column("one", "json")
    text = SignatureText("question -> tags: list[str], sure: bool")
    of_its_own = set()
    for model in ROUTES:
        params = {"max_tokens": LIMIT, "seed": 3, "stop": ["END"], "api_base": server.url}
        if headers:
            params["header_variables"] = headers
            if model.endswith(("gpt-6-sol", "grok-4.7")):
                del params["stop"]  # litellm refuses it for them
        session = Session(text, (), (column,), (Case("case 1", QUESTION),), model, params)
        request = rendering.request_of(session, column, session.cases[0])
        shown = json.loads(json.dumps(rendering.body_of(session, column, request)))
        server.requests.clear()
        allowed = Allowed(frozenset([host_of(server.url)]), frozenset(["OUR_ORG"]))
        sending.send(session, column, session.cases[0], allowed=allowed)
        arrived = {**body_of(server, "nothing"), "model": model}
        assert "nothing was sent" not in arrived, model
        assert server.requests[-1].headers.get("x-org") == ("us" if headers else None), model
        if arrived != shown:
            of_its_own.add(model)
        if rendering.is_by_litellm(session, column, request):
            made = rendering.http_request(session, column, request, server.url, trusted=True)
            server.requests.clear()
            sending.send(session, column, session.cases[0], allowed=allowed, stream=False)
            # litellm also asks a server of Ollama what the model can do, before or after.
            sent = [one.body for one in server.requests if one.path == urlsplit(made.url).path]
            assert sent == [json.loads(made.body)], model
        else:
            assert arrived == shown, model
    assert of_its_own == (IN_ITS_OWN_WAY_WITH_HEADERS if headers else IN_ITS_OWN_WAY)


@pytest.mark.slow
@pytest.mark.parametrize("adapter", ["chat", "json", "xml", "baml", "twostep"])
def test_what_arrives_of_two_hundred_models_is_what_dspy_sends(
    server: LoopbackServer, adapter: str, record: Record
) -> None:
    compare(server, drawn(300), (adapter,), record, len(FEATURES))


MARKED = ({"location": "message", "role": "system"}, {"location": "message", "index": -1})


@pytest.mark.parametrize("name", ["anthropic/claude-sonnet-5-5", "openrouter/anthropic/claude-sonnet-5-5"])
def test_what_is_to_be_cached_is_marked_where_dspy_marks_it(server: LoopbackServer, name: str) -> None:
    params: dict[str, Any] = {"cache_control_injection_points": [*MARKED], "max_tokens": LIMIT}
    theirs = sent_by_dspy(server, name, "chat", "lists", params)
    ours = sent_by_us(server, name, "chat", "lists", params)
    assert json.dumps(ours).count("cache_control") == len(MARKED)
    assert differences(theirs, ours) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", ["azure/gpt-6-sol", "azure/gpt-4o"])
def test_what_arrives_at_azure_is_what_dspy_sends(server: LoopbackServer, name: str, record: Record) -> None:
    compare(server, [name], ("chat", "json", "xml", "baml", "twostep"), record, 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_in_another_shape_the_same_parts_arrive(server: LoopbackServer, name: str, record: Record) -> None:
    tally = Tally("parts of bodies in other shapes")
    params: dict[str, Any] = {"max_tokens": LIMIT, "stop": ["END"]}
    for adapter in ("chat", "json", "xml", "baml", "twostep"):
        for feature in FEATURES:
            theirs = sent_by_dspy(server, name, adapter, feature, params)
            ours = sent_by_us(server, name, adapter, feature, params)
            if (adapter, feature) == ("baml", "models"):  # a model used twice is recursive to BAML
                assert "nothing was sent" in theirs and "nothing was sent" in ours
                continue
            theirs, ours = parts_of(theirs), parts_of(ours)
            assert theirs["texts"], f"nothing that a model could read arrived: {adapter} {feature}"
            tally.add(f"{name} {adapter} {feature}", differences(theirs, ours))
    tally.report(record)


def parts_of(body: Any) -> dict[str, Any]:
    """What of a body reaches the model or shapes its reply, whatever API it is of: see docs/differences.md.

    Schemas have their references in place. How much of its thinking a model shows is transport.
    """
    config = {_camel(name): value for name, value in body.get("generationConfig", {}).items()}
    options = body.get("options", {})
    thinking = {**body.get("thinking", {}), **config.get("thinkingConfig", {})}
    output = body.get("output_config", {})
    schema = (output.get("format") or body.get("output_format") or {}).get("schema") or config.get("responseJsonSchema")
    return {
        "texts": _texts(body),
        "schema": None if schema is None else _inlined(schema, schema.get("$defs", {})),
        "tools": [_tool(one) for one in body.get("tools", ())],
        "limit": body.get("max_tokens", config.get("maxOutputTokens", options.get("num_predict"))),
        "stop": body.get("stop_sequences", config.get("stopSequences", body.get("stop", options.get("stop")))),
        "thinking": {key: one for key, one in thinking.items() if key not in ("display", "includeThoughts")},
        "effort": output.get("effort"),
    }


def _texts(body: Any) -> list[tuple[str, str]]:
    """The messages as roles and texts, a system's own place among them."""
    system = body.get("system") or body.get("systemInstruction") or body.get("system_instruction")
    turns = [{"role": "system", "content": system}] if system else []
    turns += body.get("messages", body.get("contents", []))
    return [(one["role"], _text(one.get("content", one.get("parts")))) for one in turns]


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content["parts"] if isinstance(content, dict) else content
    return "".join(one["text"] for one in parts)


def _tool(tool: Any) -> Any:
    (declared,) = tool.get("functionDeclarations") or tool.get("function_declarations") or [tool.get("function", tool)]
    return (declared["name"], declared["description"], declared.get("input_schema", declared.get("parameters")))


def _inlined(schema: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(schema, dict):
        if "$ref" in schema:
            return _inlined(definitions[schema["$ref"].rpartition("/")[2]], definitions)
        return {key: _inlined(one, definitions) for key, one in schema.items() if key != "$defs"}
    return [_inlined(one, definitions) for one in schema] if isinstance(schema, list) else schema


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))

"""What models can do by their names alone, against `dspy.LM(name)` of the installed dspy."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from random import Random
from typing import Any

import dspy
import pytest
from dspy.clients import model_metadata
from dspy.clients.backend_selection import select_backend
from dspy.utils.exceptions import LMInvalidRequestError
from oracle import calls, engines, model_names
from oracle import compare as differences
from oracle.tally import Record, Tally
from oracle.write_model_facts import (
    MODES,
    door,
    entries,
    families,
    flags_of,
    known_providers,
    listed_names,
    nobody_logged_in,
    routes,
    shipped,
)

from adapters.lm import capabilities_of, dspy_facts, fetched_table, litellm_answers
from adapters.lm.capabilities import known_of, split_model
from adapters.requests.capabilities import Capabilities

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"

# Names that no table lists, as people write them for servers, deployments and models of their own.
OWN_NAMES = """
openai/ft:gpt-4o-2024-08-06:our-team::abc123 openai/ft:gpt-5-mini:our-team::abc123 openai/our-own-model openai/gpt-9
gpt-9 o3-of-ours claude-sonnet-9 gemini-9-pro grok-9 our-own-model anthropic/claude-opus-9-1 anthropic/our-own-model
gemini/gemini-9-flash gemini/our-own-model azure/our-deployment azure/gpt-6-sol-eastus openrouter/openai/gpt-9
openrouter/anthropic/claude-opus-9 openrouter/our/own-model xai/grok-9 groq/our-own-model deepseek/our-own-model
moonshot/kimi-k9 ollama/llama3:8b ollama_chat/qwen9 hosted_vllm/our/own-model hosted_vllm/claude-opus-9
openai:gpt-6-sol openai_chat:gpt-6-sol anthropic:claude-opus-5 vertex:gemini-3.8-flash bedrock-chat:openai.gpt-oss-20b
zai:glm-5.3 meta:muse-spark-1.3 nowhere/our-own-model nowhere:our-own-model together_ai/our-own-model
bedrock/us.anthropic.claude-opus-9-v1:0 vertex_ai/our-own-model mistral/our-own-model vertex_ai/claude-opus-9
""".split()


OF_FIXED_LISTS = ("scaledown/",)
"""Providers with a fixed list of models: the newest litellm, and so dspy, raises for any other name."""


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No gateway in the environment, which changes dspy's answer; no table, no login and no server over the network."""
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    for name in list(os.environ):
        if name.endswith(("_API_BASE", "_BASE_URL")):
            monkeypatch.delenv(name)
    with nobody_logged_in():
        yield


@pytest.fixture
def nobody_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """No server that litellm would ask what a model of its own can do (Hugging Face, Ollama, Lemonade)."""
    import litellm

    def refused(*_: object, **__: object) -> None:
        raise OSError("no server is asked here")

    monkeypatch.setattr(litellm.module_level_client, "get", refused)
    monkeypatch.setattr(litellm.module_level_client, "post", refused)


def dspys(name: str, model_type: str = "chat", **settings: object) -> Capabilities:
    lm = dspy.LM(name, model_type=model_type, **settings)
    return Capabilities(
        lm.supports_function_calling, lm.supports_reasoning, lm.supports_response_schema, frozenset(lm.supported_params)
    )


def every_name() -> list[str]:
    import litellm  # once the environment keeps it from fetching a table

    return listed_names(model_metadata._snapshot(), litellm.model_cost)


def compare(names: list[str], model_type: str, record: Record) -> None:
    tally = Tally(f"model names as {model_type} models: tools, reasoning, schema and parameters")
    litellm_answers.ask(names)
    for name in names:
        ours, theirs = known_of(name, model_type).capabilities, dspys(name, model_type)
        tally.add(name, None if ours == theirs else f"{ours} is not {theirs}")
    tally.report(record)


def test_the_data_are_what_the_script_writes() -> None:
    data, table = json.loads(dspy_facts.FILE.read_text("utf-8")), model_metadata._snapshot()
    assert data == {"release": version("dspy"), **routes(), "families": families(table), "table": entries(table)}


def test_the_answers_that_are_shipped_are_those_of_the_installed_litellm() -> None:
    text = litellm_answers.SHIPPED.read_text("utf-8")
    assert len(text) < 8_000, "it is for the first minute alone"
    release = json.loads(text)["release"]
    assert f'"litellm=={release}"' in PYPROJECT.read_text("utf-8"), "write_model_facts.py!"
    if release != version("litellm"):
        pytest.skip("this is not the litellm of the list")
    assert text == litellm_answers.written(release, shipped()), "write_model_facts.py!"


@pytest.mark.parametrize("model_type", ["chat", "responses", "text"])
def test_a_listed_model_can_what_dspy_says_it_can(model_type: str, record: Record) -> None:
    compare(Random(11).sample(every_name(), 150), model_type, record)


@pytest.mark.slow
@pytest.mark.parametrize("model_type", ["chat", "responses", "text"])
def test_every_listed_model_can_what_dspy_says_it_can(model_type: str, record: Record) -> None:
    names = every_name()
    of_dspys_table = [
        name
        for name, facts in model_metadata._snapshot().items()
        if isinstance(facts, dict) and facts.get("mode") in MODES
    ]
    assert set(of_dspys_table) - {"sample_spec"} <= set(names)
    assert len(names) > 4000
    compare(names, model_type, record)


@pytest.mark.parametrize(
    ("name", "model_type"),
    [(name, "chat") for name in OWN_NAMES]
    + [(name, "responses") for name in OWN_NAMES if name.startswith(("openai", "gpt", "azure", "meta", "o3"))],
)
def test_a_name_that_nobody_lists_can_what_dspy_says_it_can(name: str, model_type: str) -> None:
    assert known_of(name, model_type).capabilities == dspys(name, model_type)


def compare_unlisted(count: int, record: Record, **connection: object) -> None:
    tally = Tally("names of models that nobody lists: tools, reasoning, schema and parameters")
    rng = Random(f"unlisted {count}")
    drawn = list(model_names.drawn(rng, count, sorted(known_providers()), every_name()))
    litellm_answers.ask(drawn)
    for name in drawn:
        model_type = rng.choice(("chat", "chat", "responses"))
        try:
            theirs = dspys(name, model_type, **connection)
        except ValueError:
            assert name.endswith("/"), "dspy refuses such a name, and there is nothing to compare"
            continue
        except LMInvalidRequestError:
            assert name.startswith(OF_FIXED_LISTS), "dspy refuses such a name, too"
            continue
        ours = known_of(name, model_type, connection).capabilities
        tally.add(f"{name} {model_type} {connection}", None if ours == theirs else f"{ours} is not {theirs}")
    tally.report(record)


@pytest.mark.parametrize("count", [100, pytest.param(8000, marks=pytest.mark.slow)])
def test_drawn_names_that_nobody_lists_can_what_dspy_says_they_can(
    count: int, nobody_asked: None, record: Record
) -> None:
    compare_unlisted(count, record)


@pytest.mark.slow
def test_the_same_names_with_headers_of_ones_own_are_all_asked_of_litellm(nobody_asked: None, record: Record) -> None:
    compare_unlisted(2000, record, extra_headers={"X-Org": "us"})


@pytest.mark.parametrize("count", [15, pytest.param(300, marks=pytest.mark.slow)])
def test_whole_calls_of_drawn_names_are_dspys(count: int, record: Record) -> None:
    tally = Tally("whole calls by a model's name alone")
    for name in Random(f"names {count}").sample(every_name(), count):
        for adapter in engines.NAMES:
            call = calls.call(Random(f"{name} {adapter}"), adapter)
            by_dspy, by_us = as_scripted(name, dspys(name)), as_scripted(name, capabilities_of(name))
            found = differences.calling(
                adapter,
                call.built,
                call.demos,
                call.inputs,
                call.outputs,
                call.options,
                by_dspy,
                call.lm_kwargs,
                by_us,
            )
            tally.add(f"{name} {adapter}", found)
    tally.report(record)


def as_scripted(name: str, can: Capabilities) -> dict[str, Any]:
    flags = {"fc": can.function_calling, "reasoning": can.reasoning, "schema": can.response_schema}
    return {"model": name, **flags, "params": tuple(sorted(can.params))}


@pytest.mark.parametrize("settings", [{"api_base": "http://localhost:1"}, {"api_version": "1"}, {"timeout": 3.0}])
@pytest.mark.parametrize("name", ["openai/gpt-6-sol", "azure/gpt-6-sol", "anthropic/claude-opus-5", "ollama/llama3"])
def test_settings_of_the_connection_change_who_is_asked(name: str, settings: dict[str, object]) -> None:
    assert known_of(name, connection=settings).capabilities == dspys(name, **settings)


@pytest.mark.parametrize("name", ["openai/gpt-6-sol", "gemini/gemini-3.8-flash", "hosted_vllm/any", "gpt-6-sol"])
def test_an_address_in_the_environment_changes_who_is_asked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"{name.partition('/')[0].upper()}_API_BASE", "http://localhost:1/v1")
    assert capabilities_of(name) == dspys(name)


def test_of_an_unknown_provider_nothing_is_assumed() -> None:
    assert capabilities_of("nowhere/any-name") == dspys("nowhere/any-name") == Capabilities()


def test_who_says_what_a_model_can_do() -> None:
    table, said = f"dspy {version('dspy')}'s table", f"litellm {version('litellm')}"
    assert known_of("openai/gpt-6-sol").said_by == table
    assert known_of("openai/our-own").said_by == f"{table} does not list it: by the rules for such names"
    for name in ("bedrock/us.anthropic.claude-opus-5", "github_copilot/gpt-4o", "azure_ai/FW-Kimi-K2.5"):
        assert known_of(name).said_by == said
    for name in ("mistral/our-own", "nowhere/our-own"):
        assert known_of(name).said_by == f"{said}, by its rules for unlisted names"


def test_a_door_with_rules_for_some_models_refuses_those_alone() -> None:
    refused = dict(door(_definition("bedrock-chat"))["by_beginning"])
    assert "schema" in refused["openai.gpt-oss"]
    assert not known_of("bedrock-chat:openai.gpt-oss-20b-1:0").capabilities.response_schema


def _definition(id: str) -> object:
    from dspy._vendor.lm15.registry import PROVIDERS

    return PROVIDERS[id]


def test_a_flag_that_is_no_boolean_is_a_no_and_one_that_is_missing_says_nothing() -> None:
    assert flags_of({"supports_function_calling": "yes", "supports_reasoning": True}) == "-+."


def test_the_provider_of_every_name_without_one_is_the_one_that_dspy_asks(nobody_asked: None) -> None:
    import litellm

    prefixes, ours, theirs = dspy_facts.dspy_facts(), {}, {}
    for name in sorted({*fetched_table.models_in(fetched_table.table()), *OWN_NAMES}):
        if "/" in name:
            continue
        asked = select_backend(dspy.LM(name))
        with suppress(litellm.BadRequestError):  # an unknown provider
            native = asked.native and prefixes.prefix_of(prefixes.doors[asked.resolution.provider])
            provider = native or litellm.get_llm_provider(name)[1]
            ours[name], theirs[name] = split_model(name)[0], provider.removeprefix("text-completion-")
    assert len(ours) > 400
    assert ours == theirs

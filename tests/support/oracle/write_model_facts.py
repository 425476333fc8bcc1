"""Writes `adapters/lm/model_facts.json`: what dspy says of models, from the installed dspy and litellm.

    .venv/bin/python tests/support/oracle/write_model_facts.py

The file is data for `adapters.lm.model_facts`, which says how it is read. `test_capabilities.py` compares what comes of
it with `dspy.LM(name)`, name by name. Run this again for another release of dspy; it takes about a minute.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from oracle.model_names import names_of_every_provider

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

TARGET = Path(__file__).parents[3] / "adapters/lm/model_facts.json"
FLAGS = ("supports_function_calling", "supports_reasoning", "supports_response_schema")
MODES = frozenset({"chat", "responses", "completion"})
"""The modes of models that answer in text."""

BEDROCKS_APIS = ("converse", "invoke")
BEDROCKS_CHAT = "/v1/chat/completions"


def main() -> None:
    import litellm
    from dspy.clients import model_metadata

    table = model_metadata._snapshot()
    written: dict[str, Any] = {
        "made_from": {
            "dspy": version("dspy"),
            "litellm": version("litellm"),
            "table": json.loads(Path(model_metadata.__file__).with_name("provenance.json").read_text())["version"],
        },
        **routes(),
        "families": families(table),
        "table": entries(table),
        "litellms": {**litellms(), "param_sets": [], "kinds": {}, "exceptions": {}},
        "retired": retirements(table, litellm.model_cost),
    }
    save(written)
    listed = listed_names(table, litellm.model_cost)
    with nobody_logged_in():
        written["litellms"] |= kinds(listed)
        save(written)
        written["litellms"]["exceptions"] = exceptions(listed, written["litellms"]["param_sets"])
    save(written)


def save(written: Mapping[str, Any]) -> None:
    """Writes the file, which is read anew from now on: what follows is asked of what stands in it."""
    from adapters.lm import capabilities, model_facts

    TARGET.write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n", "utf-8")
    model_facts.model_facts.cache_clear()
    capabilities._known.cache_clear()


@contextmanager
def nobody_logged_in() -> Iterator[None]:
    """litellm, asked what a model of these two can do, would begin a login over the network, and says so at length."""
    import litellm
    from litellm.llms.chatgpt.authenticator import Authenticator as ChatGPT
    from litellm.llms.chatgpt.common_utils import GetAccessTokenError
    from litellm.llms.github_copilot.authenticator import Authenticator as Copilot
    from litellm.llms.github_copilot.common_utils import GetAPIKeyError

    refused = GetAPIKeyError(message="nobody is logged in", status_code=401)
    refused_too = GetAccessTokenError(message="nobody is logged in", status_code=401)
    before, litellm.suppress_debug_info = litellm.suppress_debug_info, True
    logging.disable(logging.ERROR)
    try:
        with (
            mock.patch.object(Copilot, "get_api_key", side_effect=refused),
            mock.patch.object(ChatGPT, "get_access_token", side_effect=refused_too),
        ):
            yield
    finally:
        logging.disable(logging.NOTSET)
        litellm.suppress_debug_info = before


def routes() -> dict[str, Any]:
    """The doors of dspy's own client, and which names lead to them (`dspy._vendor.lm15`: router, registry, compat)."""
    from dspy._vendor.lm15.registry import PROVIDERS
    from dspy._vendor.lm15.router import DEFAULT_RULES, LITELLM_PROVIDER_PREFIXES

    return {
        "prefixes": dict(LITELLM_PROVIDER_PREFIXES),
        "beginnings": [[rule.prefix, rule.provider] for rule in DEFAULT_RULES],
        "doors": {one.id: door(one) for one in PROVIDERS.values()},
    }


def door(definition: Any) -> dict[str, Any]:
    """What a door takes whatever the model, and what it refuses. Rule: `dspy.clients.capabilities._capabilities`."""
    from dspy._vendor.lm15 import compat
    from dspy.clients.model_metadata import _provider_names

    params = {"temperature", "max_tokens", "top_p", "stream"}
    facts: dict[str, Any] = {"namespaces": list(_provider_names(definition.id)), "dialect": definition.dialect}
    refused: set[str] = set()
    if definition.dialect == "openai-chat":
        named = compat.OpenAIChatCompat.preset(definition.compat or ("xai" if definition.id == "xai" else "openai"))
        params |= {"stop", "max_completion_tokens", "logprobs", "top_logprobs", "seed", "presence_penalty"}
        params |= {"frequency_penalty", "logit_bias", "user"}
        if definition.id == "xai":
            params -= {"logprobs", "top_logprobs"}
        resolved = compat.resolve_openai_chat_compat(named)
        refused = _refused_by_chat(resolved)
        facts["max_tokens"], facts["thinking"] = resolved.max_tokens_field, resolved.thinking_format
        facts["efforts"] = resolved.reasoning_efforts and list(resolved.reasoning_efforts)
        facts["user_field"] = resolved.user_field
        # A request is read with the definition's own policy, OpenAI's where it has none, and written with the class's.
        asked = compat.resolve_openai_chat_compat(compat.OpenAIChatCompat.preset(definition.compat or "openai"))
        facts["spelling"] = asked.thinking_format
        takes, sends = (one.cache_control in ("openai", "openai_implicit") for one in (asked, resolved))
        facts["cache_key"] = ("sent" if sends else "dropped") if takes else "refused"
        facts["keeps_reasoning"] = resolved.assistant_reasoning_content == "include_empty"
        facts["by_beginning"] = [
            [start, sorted(_refused_by_chat(compat.resolve_openai_chat_compat(named.for_model(start))))]
            for start, _ in named.model_overrides
        ]
    elif definition.dialect == "anthropic":
        anthropic = compat.resolve_anthropic_compat(compat.AnthropicCompat.preset(definition.compat or "anthropic"))
        params |= {"stop", "top_k"}
        if anthropic.structured_output == "reject":
            refused.add("schema")
        if anthropic.sampling_params == "reject":
            params -= {"temperature", "top_p", "top_k"}
        if anthropic.parallel_tool_calls == "reject":
            refused.add("parallel_tool_calls")
    elif definition.dialect == "gemini":
        params |= {"stop", "top_k", "logprobs", "top_logprobs", "response_format"}
        refused.add("parallel_tool_calls")
    else:
        preset = definition.compat or "openai"
        responses = compat.resolve_openai_responses_compat(compat.OpenAIResponsesCompat.preset(preset))
        params |= {"response_format", "max_completion_tokens", "logprobs", "top_logprobs", "store"}
        if responses.reasoning_format == "none":
            refused.add("reasoning")
        if definition.id == "openai-codex":
            params -= {"max_tokens", "max_completion_tokens", "store"}
    return {**facts, "params": sorted(params), "refused": sorted(refused)}


def _refused_by_chat(resolved: Any) -> set[str]:
    schema = {"schema"} if resolved.json_schema == "reject" else set()
    return schema | ({"reasoning"} if resolved.thinking_format == "none" else set())


def families(table: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rules that say what every model of a family can do where its entry does not."""
    return [
        {"pattern": rule["pattern"], "providers": rule.get("fill_missing_for_providers"), "says": said}
        for rule in table["fallback_generalizations"]["rules"]
        if (said := flags_of(rule.get("model_info") or {})) != "..."
    ]


def entries(table: Mapping[str, Any]) -> dict[str, str]:
    """The names that a door of dspy's own can find: their flags and litellm's word for their provider."""
    from dspy._vendor.lm15.registry import PROVIDERS
    from dspy.clients.model_metadata import _RESERVED, _provider_names

    namespaces = {name for one in PROVIDERS for name in _provider_names(one)}
    found: dict[str, str] = {}
    for name, facts in sorted(table.items()):
        if name in _RESERVED:
            continue
        if facts.get("aliases"):
            raise SystemExit(f"{name} has aliases, which adapters.lm.capabilities does not know")
        provider = str(facts.get("litellm_provider") or "")
        if provider in namespaces or name.partition("/")[0] in namespaces:
            found[name] = f"{flags_of(facts)} {provider}".rstrip()
    return found


def flags_of(facts: Mapping[str, Any]) -> str:
    """Tools, reasoning and schema, each `+` for yes, `.` for unsaid and `-` for anything else."""
    return "".join(["." if facts.get(name) is None else "+" if facts[name] is True else "-" for name in FLAGS])


def listed_names(*tables: Mapping[str, Any]) -> list[str]:
    """Every name of a model that answers in text: as the tables have it, as `model_list` offers it, and by its API."""
    from adapters.lm.model_list import litellm_models

    named = {
        name
        for table in tables
        for name, facts in table.items()
        if name != "sample_spec" and isinstance(facts, dict) and facts.get("mode") in MODES
    }
    named |= {one.name for one in litellm_models()}
    bare = {name.removeprefix("bedrock/") for name in named if name.startswith("bedrock/")}
    # litellm's own ways to say by which API of Bedrock a model is asked.
    return sorted(named | {f"bedrock/{api}/{name}" for api in BEDROCKS_APIS for name in bare if "/" not in name})


def kinds(listed: Sequence[str]) -> dict[str, Any]:
    """By provider and kind of model (`adapters.lm.litellm_kinds`): the parameters that litellm takes.

    Raises SystemExit where names of one kind differ which no table lists: then a word is missing in the kinds.
    """
    from adapters.lm.litellm_kinds import kind_of

    found: dict[str, dict[str, Counter[str]]] = {}
    unlisted = set(names_of_every_provider(Random(5), sorted(known_providers()), listed)) - set(listed)
    for name in sorted(unlisted):
        provider = name.partition("/")[0] if "/" in name else "openai"
        counts = found.setdefault(provider, {}).setdefault(kind_of(name, provider), Counter())
        counts[" ".join(sorted(litellms_params(name, provider)))] += 1
    torn = [
        (one, kind, counts) for one, by_kind in found.items() for kind, counts in by_kind.items() if len(counts) > 1
    ]
    if torn:
        raise SystemExit("\n".join(["litellm takes different parameters of one kind:", *map(str, torn)]))
    by_provider = {one: {kind: next(iter(counts)) for kind, counts in all_.items()} for one, all_ in found.items()}
    sets = sorted({params for by_kind in by_provider.values() for params in by_kind.values()})
    return {
        "param_sets": sets,
        "kinds": {
            one: {kind: sets.index(params) for kind, params in sorted(by_kind.items())}
            for one, by_kind in sorted(by_provider.items())
            if set(by_kind.values()) != {""}
        },
    }


def litellms_params(name: str, provider: str) -> set[str]:
    import litellm

    return set(litellm.get_supported_openai_params(model=name, custom_llm_provider=provider) or ())


def exceptions(names: Iterable[str], sets: list[str]) -> dict[str, str]:
    """Listed names of which litellm says something else than its rules do, and what: flags and the place in `sets`."""
    import dspy
    from dspy.clients.backend_selection import BackendSelection
    from dspy.clients.capabilities import _litellm_capabilities

    from adapters.lm.capabilities import by_litellm

    found = {}
    for name in names:
        theirs, ours = _litellm_capabilities(dspy.LM(name), BackendSelection(False)), by_litellm(name).capabilities
        flags = (theirs.function_calling, theirs.reasoning, theirs.response_schema)
        if (*flags, theirs.params) != (ours.function_calling, ours.reasoning, ours.response_schema, ours.params):
            params = " ".join(sorted(theirs.params))
            if params not in sets:
                sets.append(params)
            found[name] = "".join("+" if one else "-" for one in flags) + str(sets.index(params))
    return found


def known_providers() -> set[str]:
    import litellm
    from litellm.llms.openai_like.json_loader import JSONProviderRegistry

    enumerated = {str(getattr(one, "value", one)) for one in litellm.provider_list}
    return enumerated | {*JSONProviderRegistry.list_providers()}


def litellms() -> dict[str, Any]:
    """litellm's table and rules. Rule: `get_llm_provider`, `get_model_info_helper` and `fallback_generalizations`."""
    import litellm
    from litellm.litellm_core_utils import fallback_generalizations as rules
    from litellm.litellm_core_utils.get_llm_provider_logic import get_llm_provider
    from litellm.llms.bedrock.common_utils import get_all_bedrock_regions
    from litellm.utils import _BACKFILL_MODES

    from adapters.lm.litellm_facts import WITHOUT_RULES

    providers = known_providers()
    table = {name: facts for name, facts in litellm.model_cost.items() if isinstance(facts, dict)}
    bare: dict[str, list[str]] = {}
    for name in sorted({*table, *litellm.model_list_set}):
        if name.partition("/")[0] in providers:
            continue
        try:
            bare.setdefault(get_llm_provider(name)[1], []).append(name)
        except litellm.BadRequestError:
            continue
    return {
        "providers": sorted(providers),
        "table": {
            name: f"{signs_of(facts)} "
            + ("" if facts.get("mode", "chat") in _BACKFILL_MODES else WITHOUT_RULES)
            + (facts.get("litellm_provider") or "")
            for name, facts in table.items()
        },
        "bare": bare,
        "aliases": {**litellm.azure_llms, **litellm.azure_embedding_models},
        "cohere_chat": sorted(litellm.cohere_chat_models),
        "mistral_chat": sorted(litellm.mistral_chat_models),
        "vertexes": sorted(
            {one for one in litellm.vertex_llama3_models if one.startswith("meta/")}
            | {
                one
                for one in {*litellm.vertex_mistral_models, *litellm.vertex_ai_ai21_models}
                if one.endswith("@latest")
            }
        ),
        "converse": sorted(litellm.bedrock_converse_models),
        "by_chat": sorted(
            name
            for name, facts in table.items()
            if "openai.gpt-" in name and BEDROCKS_CHAT in (facts.get("supported_endpoints") or ())
        ),
        "regions": sorted(get_all_bedrock_regions()),
        "routing": [[rule.pattern.pattern, rule.provider] for rule in rules._registry.routing_rules],
        "rules": [
            {
                "pattern": rule.pattern.pattern,
                "says": signs_of(rule.model_info),
                "fills": sorted(rule.fill_missing_for_providers),
            }
            for rule in rules._registry.capability_rules
        ],
    }


def signs_of(facts: Mapping[str, Any]) -> str:
    """As `flags_of`, of all that is kept of litellm's."""
    from adapters.lm.litellm_facts import COLUMNS

    said = [facts.get(f"supports_{one}") for one in COLUMNS]
    return "".join(["." if one is None else "+" if one is True else "-" for one in said])


def retirements(*tables: Mapping[str, Any]) -> dict[str, list[str]]:
    """By day: the models that leave their provider's API then. Where tables differ, the later one is newer."""
    days: dict[str, str] = {}
    for table in tables:
        for name, facts in table.items():
            day = facts.get("deprecation_date") if name != "sample_spec" and isinstance(facts, dict) else None
            if day and facts.get("mode") in MODES:
                days[name] = day
    return {day: sorted(name for name in days if days[name] == day) for day in sorted(set(days.values()))}


if __name__ == "__main__":
    main()

"""Writes `adapters/lm/dspy_facts.json` and `shipped_answers.json` from the installed dspy and litellm.

    .venv/bin/python tests/support/oracle/write_model_facts.py

`adapters.lm.dspy_facts` and `adapters.lm.litellm_answers` read them. `test_capabilities.py` compares what comes of them
with `dspy.LM(name)`, name by name. Run this again for another release of dspy or litellm.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any
from unittest import mock

from adapters.lm import dspy_facts, litellm_answers
from adapters.lm.addresses import KEY_VARIABLES
from adapters.lm.worker import questions
from workbench.sending.model_choices import EXAMPLE_MODELS
from workbench.tui.pages.request_pages import OTHER_MODELS

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

FLAGS = ("supports_function_calling", "supports_reasoning", "supports_response_schema")
MODES = frozenset({"chat", "responses", "completion"})
"""The modes of models that answer in text."""

BEDROCKS_APIS = ("converse", "invoke")

NAMED = ("openai/gpt-6-sol", "openai/gpt-4o-mini")
"""Models that the documents name, beside those of the app."""

PROVIDERS = (
    *KEY_VARIABLES,
    "ollama",
    "ollama_chat",
    "hosted_vllm",
    "llamafile",
    "lm_studio",
    "azure",
    "bedrock",
    "vertex_ai",
)
"""Providers of models that many name by themselves."""
UNLISTED_NAME = "our-own-model"


def main() -> None:
    from dspy.clients import model_metadata

    table = model_metadata._snapshot()
    written = {"release": version("dspy"), **routes(), "families": families(table), "table": entries(table)}
    dspy_facts.FILE.write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n", "utf-8")
    litellm_answers.SHIPPED.write_text(litellm_answers.written(version("litellm"), shipped()), "utf-8")


@contextmanager
def nobody_logged_in() -> Iterator[None]:
    """litellm, asked what a model of these two can do, would begin a login over the network, and says so at length."""
    import litellm
    from litellm.llms.chatgpt.authenticator import Authenticator as ChatGPT
    from litellm.llms.chatgpt.common_utils import GetAccessTokenError
    from litellm.llms.github_copilot.authenticator import Authenticator as Copilot

    refused = GetAccessTokenError(message="nobody is logged in", status_code=401)
    before, litellm.suppress_debug_info = litellm.suppress_debug_info, True
    logging.disable(logging.ERROR)
    try:
        with (
            mock.patch.object(Copilot, "get_api_key", side_effect=refused),
            mock.patch.object(ChatGPT, "get_access_token", side_effect=refused),
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


def entries(table: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """The names that a door of dspy's own can find, by litellm's word for their provider and by their flags."""
    from dspy._vendor.lm15.registry import PROVIDERS
    from dspy.clients.model_metadata import _RESERVED, _provider_names

    namespaces = {name for one in PROVIDERS for name in _provider_names(one)}
    found: dict[str, dict[str, list[str]]] = {}
    for name, facts in sorted(table.items()):
        if name in _RESERVED:
            continue
        if facts.get("aliases"):
            raise SystemExit(f"{name} has aliases, which adapters.lm.capabilities does not know")
        provider = str(facts.get("litellm_provider") or "")
        if provider in namespaces or name.partition("/")[0] in namespaces:
            found.setdefault(provider, {}).setdefault(flags_of(facts), []).append(name)
    return {one: {flags: " ".join(names) for flags, names in by.items()} for one, by in sorted(found.items())}


def shipped() -> dict[str, litellm_answers.Answer]:
    """What the installed litellm says about the models that are shipped: nobody may have to wait for these."""
    import litellm

    names = {*EXAMPLE_MODELS, *OTHER_MODELS, *NAMED}
    asked = {name: name for name in names if not name.startswith("offline/")}
    asked |= {f"{provider}/{litellm_answers.UNLISTED}": f"{provider}/{UNLISTED_NAME}" for provider in PROVIDERS}
    with nobody_logged_in():
        said = questions.answers(litellm, asked.values())
    return {kept: litellm_answers.answer(version("litellm"), said[name]) for kept, name in asked.items()}


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


def known_providers() -> set[str]:
    import litellm
    from litellm.llms.openai_like.json_loader import JSONProviderRegistry

    enumerated = {str(getattr(one, "value", one)) for one in litellm.provider_list}
    return enumerated | {*JSONProviderRegistry.list_providers()}


if __name__ == "__main__":
    main()

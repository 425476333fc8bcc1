"""Facts about models that litellm does not list: its way from a name to a provider and its facts.

`adapters.lm.model_facts` has the data. dspy asks litellm wherever its own client does not call the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from adapters.lm.litellm_facts import COLUMNS, Flag, LitellmEntry, LitellmFacts
from adapters.lm.model_facts import model_facts

LOG_IN_FIRST = frozenset({"github_copilot", "chatgpt"})
"""Providers that litellm asks nothing of without a login; it takes their names by the letter."""

WITH_SCHEMAS = frozenset({"predibase", "fireworks_ai", "lm_studio", "nebius", "databricks"})
"""Providers of which litellm says that every model takes a schema."""

ASKED = frozenset({"huggingface", "lemonade"})
"""Providers whose models litellm asks the provider about; without an answer of theirs it knows nothing of them."""

REPLICATES_NAME = 64
"""Characters of the id behind the colon of a model at Replicate."""

BEDROCKS_PATHS = ("bedrock", "chat_completions", "converse", "invoke", "openai", "mantle", "nova-2", "nova")
ACROSS_REGIONS = ("global", "us", "eu", "apac", "jp", "au", "us-gov")
FIREWORKS = "accounts/fireworks"
FIREROUTER = "firerouter"


@dataclass(frozen=True)
class Named:
    """A model as litellm takes its name apart."""

    model: str
    provider: str


def named(model: str, provider: str | None = None) -> Named | None:
    """Return the model's provider, None if litellm knows none; `provider` is the caller's.

    Rule: `litellm.litellm_core_utils.get_llm_provider_logic.get_llm_provider`.
    """
    facts = model_facts().litellms
    head, _, rest = model.partition("/")
    if head == "azure" and (rest in facts.cohere_chat or f"mistral/{rest}" in facts.mistral_chat):
        return Named(model, "openai")
    if head == "cohere" and rest in facts.cohere_chat:
        model, provider = rest, "cohere_chat"
    elif provider == "cohere" and model in facts.cohere_chat:
        provider = "cohere_chat"
    elif rest in ANTHROPICS_TEXTS and head == "anthropic":
        model, provider = rest, "anthropic_text"
    elif model in ANTHROPICS_TEXTS and provider == "anthropic":
        provider = "anthropic_text"
    if provider and model.split("/")[0] != provider:
        model = f"{provider}/{model}"
    head, slash, rest = model.partition("/")
    if provider == "openrouter" and head == "openrouter":
        return Named(rest if "/" in rest else model, provider)
    if head in facts.providers:
        return _of_provider(facts, head, rest) if slash else None
    return _by_name_alone(facts, model, provider)


ANTHROPICS_TEXTS = ("claude-2", "claude-instant-1")


def _of_provider(facts: LitellmFacts, provider: str, model: str) -> Named | None:
    """Rule: `_get_openai_compatible_provider_info`."""
    if provider == "ai21" and facts.bare.get(model) == "ai21_chat":
        return Named(model, "ai21_chat")
    if provider == "bedrock_mantle":
        return Named(_without_region(facts, model), provider)
    if provider == "ragflow":
        kind, _, rest = model.partition("/")
        return Named(f"ragflow/{model}", provider) if kind in ("chat", "agent") and "/" in rest else None
    if provider in LOG_IN_FIRST:
        return None
    return Named(model, provider)


def _by_name_alone(facts: LitellmFacts, model: str, provider: str | None) -> Named | None:
    listed = facts.bare.get(model)
    if listed is not None:
        provider = listed
    elif "ft:gpt-3.5-turbo" in model or "ft:gpt-4" in model or model.startswith("gpt-image") or model == "*":
        provider = "openai"
    elif ":" in model and len(model) > REPLICATES_NAME:
        if len(model.split(":")[1]) == REPLICATES_NAME:
            provider = "replicate"
    elif model.startswith("amazon_nova"):
        provider = "amazon_nova"
    if provider is None:
        provider = next((leads for pattern, leads in facts.routing if pattern.search(model)), None)
    return None if provider is None else Named(model, provider)


def is_listed(model: str) -> bool:
    """Return whether litellm's table has the model, under whichever of its names."""
    facts = model_facts().litellms
    head, _, rest = model.partition("/")
    found = Named(rest, head) if head in LOG_IN_FIRST else named(model) or named(model, head)
    if found is None:
        return False
    spelled, provider = _spelled(facts, found)
    entries = (facts.entry(name) for name in _candidates(facts, spelled, provider))
    return any(one is not None and _is_of(one.provider, provider) for one in entries)


def is_said(model: str, column: str, provider: str | None = None) -> bool:
    """Return whether litellm says so of the model: `column` is one of `COLUMNS`.

    Rule: `litellm.utils.supports_factory`, and of schemas `supports_response_schema`.
    """
    number = COLUMNS.index(column)
    if column == "response_schema":
        found = named(model, provider)
        if found is None:
            return False
        if found.provider in WITH_SCHEMAS:
            return True
        model, provider = found.model, found.provider
    return _said(model, provider, number)


def _said(model: str, provider: str | None, number: int) -> bool:
    facts = model_facts().litellms
    declared = provider or (model.partition("/")[0] if "/" in model else None)
    if declared in LOG_IN_FIRST:
        found: Named | None = Named(model.removeprefix(f"{declared}/"), str(declared))
    else:
        found = named(model, provider)
    if found is None:
        return _by_default(facts, model, provider, number) is True
    flag, is_mapped = _flag(facts, found, number)
    if flag is not None:
        return flag
    if is_mapped:
        bare = facts.entry(found.model)
        if bare is not None and bare.says[number] is True:
            return True
    return _by_default(facts, found.model, found.provider, number) is True


def _by_default(facts: LitellmFacts, model: str, provider: str | None, number: int) -> Flag:
    """Return litellm's defaults for a provider's models. Rule: `FireworksAIConfig.get_provider_info`."""
    column = COLUMNS[number]
    if provider != "fireworks_ai" or column not in ("function_calling", "reasoning"):
        return None
    said = _of_fireworks(facts, model, number)
    return said is not False if column == "function_calling" else said


def _of_fireworks(facts: LitellmFacts, model: str, number: int) -> Flag:
    """Rule: `FireworksAIConfig._get_model_cost_capability`: exactly this name, else the longest that is part of it."""
    short = model.removeprefix("fireworks_ai/").removeprefix(f"{FIREWORKS}/models/")
    names = [model, f"fireworks_ai/{short}", f"fireworks_ai/{FIREWORKS}/models/{short}"]
    if fireworks_resource(model).startswith(f"{FIREWORKS}/routers/{FIREROUTER}/"):
        names.append(f"fireworks_ai/{FIREWORKS}/routers/{FIREROUTER}")
    for name in names:
        entry = facts.exactly(name)
        if entry is not None and entry.says[number] is not None:
            return entry.says[number]
    within = [
        (len(part), says[number])
        for part, says in facts.of_fireworks
        if says[number] is not None and f"-{part}-" in f"-{short}-"
    ]
    return max(within, key=lambda one: one[0])[1] if within else None


def fireworks_resource(model: str) -> str:
    """Rule: `litellm.llms.fireworks_ai.common_utils.resolve_fireworks_resource_name`."""
    name = model.removeprefix("fireworks_ai/")
    if name.startswith(("accounts/", "FW-")) or "#" in name:
        return name
    if name.startswith(("routers/", "models/")):
        return f"{FIREWORKS}/{name}"
    if name.endswith("-fast") or name in (FIREROUTER, "auto", "auto-instant") or name.startswith(f"{FIREROUTER}/"):
        return f"{FIREWORKS}/routers/{name}"
    return f"{FIREWORKS}/models/{name}"


def _flag(facts: LitellmFacts, found: Named, number: int) -> tuple[Flag, bool]:
    """Return a flag of a model's entry, or of the rules without an entry, and whether litellm knows the model.

    Rule: `litellm.utils.get_model_info_helper`.
    """
    if found.provider in ASKED or _is_unknown_to_ollama(facts, found):
        return None, True
    model, provider = _spelled(facts, found)
    candidates = [*_candidates(facts, model, provider)]
    entries = [(name, entry) for name in candidates if (entry := facts.entry(name)) is not None]
    for _, entry in entries:
        if _is_of(entry.provider, provider):
            said = entry.says[number]
            if said is None and entry.is_filled:
                said = _filled(facts, entry, number)
            return said, True
    if entries:
        return None, False
    for name in candidates:
        says = [rule.says[number] for rule in facts.rules if rule.pattern.search(name)]
        if says:
            return next((one for one in reversed(says) if one is not None), None), True
    return None, False


def _is_unknown_to_ollama(facts: LitellmFacts, found: Named) -> bool:
    """Return whether litellm asks Ollama itself. Rule: `OllamaModelInfo._is_static_ollama_model`."""
    if found.provider not in ("ollama", "ollama_chat"):
        return False
    name = found.model.removeprefix("ollama/").removeprefix("ollama_chat/")
    return all(facts.entry(one) is None for one in (found.model, name, f"ollama/{name}", f"ollama_chat/{name}"))


def _filled(facts: LitellmFacts, entry: LitellmEntry, number: int) -> Flag:
    """Rule: `match_fill_missing_generalizations`: some rules add to an entry what it does not say."""
    says = [
        rule.says[number]
        for rule in facts.rules
        if entry.provider in rule.fills and rule.says[number] is not None and rule.pattern.search(entry.name)
    ]
    return says[-1] if says else None


def _spelled(facts: LitellmFacts, found: Named) -> tuple[str, str]:
    model, provider = facts.aliases.get(found.model, found.model), found.provider
    if provider == "vertex_ai_beta":
        provider = "vertex_ai"
    if provider == "vertex_ai":
        if f"meta/{model}" in facts.vertexes:
            return f"meta/{model}", provider
        if f"{model}@latest" in facts.vertexes:
            return f"{model}@latest", provider
    return model, provider


def _candidates(facts: LitellmFacts, model: str, provider: str) -> Iterator[str]:
    """The names under which a model may be listed, the surest first. Rule: `get_potential_model_names`."""
    if model.startswith(f"{provider}/"):
        split, combined, prefixed = model.partition("/")[2], model, f"{provider}/{model}"
    else:
        split, combined = model, f"{provider}/{model}"
        prefixed = combined
    stripped = _stripped(facts, split, provider)
    if provider in ("bedrock", "bedrock_converse"):
        split = without_path(split)
    if provider == "bedrock_mantle":
        split = _without_region(facts, split)
        region_free = f"bedrock_mantle/{split}"
        combined_stripped = f"bedrock_mantle/{_stripped(facts, split, provider)}"
    else:
        region_free, combined_stripped = combined, f"{provider}/{stripped}"
    if provider == "fireworks_ai":
        prefixed = f"fireworks_ai/{fireworks_resource(split)}"
    yield combined
    yield model
    yield region_free
    yield split
    yield combined_stripped
    yield stripped
    yield prefixed


def _stripped(facts: LitellmFacts, model: str, provider: str) -> str:
    """Without its version, its day or its owner. Rule: `_strip_model_name`."""
    if provider in ("bedrock", "bedrock_converse"):
        return bedrocks_model(model)
    if provider in ("vertex_ai", "gemini", "databricks"):
        return re.sub(r"-\d+$", "", model)
    if "ft:" in model:
        return re.sub(r"(:[^:]*){3}$", "", model)
    return re.sub(r"-\d{4}-\d{2}-\d{2}$", "", model)


def without_path(model: str) -> str:
    """Without the words for one of Bedrock's APIs. Rule: `strip_bedrock_routing_prefix`."""
    for path in BEDROCKS_PATHS:
        model = model.removeprefix(f"{path}/")
    return model


def bedrocks_model(model: str) -> str:
    """The model that a name of Bedrock's means, wherever it is. Rule: `get_bedrock_base_model`."""
    for start in ("bedrock/converse/", "bedrock/", "converse/"):
        if model.startswith(start):
            spec = model.removeprefix(start)
            break
    else:
        spec = model
    for start in ("nova-2", "nova"):
        if spec.startswith(f"{start}/"):
            return f"amazon.{start}-custom"
    model = without_path(model)
    if "arn" in model.lower():
        model = model.split("/")[-1]
    model = re.sub(r"\[\w+\]$", "", re.sub(r"(:\d+):\d+k$", r"\1", model))
    if model.split(".", 1)[0] in ACROSS_REGIONS:
        return model.partition(".")[2]
    return _without_region(model_facts().litellms, model)


def _without_region(facts: LitellmFacts, model: str) -> str:
    head, slash, rest = model.partition("/")
    return rest if slash and head in facts.regions else model


def _is_of(listed_for: str | None, provider: str) -> bool:
    """Return whether an entry counts for a provider. Rule: `litellm.utils._check_provider_match`."""
    if listed_for is None or listed_for == provider or provider in ("litellm_proxy", "github", "nadir"):
        return True
    if provider in ("vertex_ai", "fireworks_ai") and listed_for.startswith(provider):
        return True
    if provider.startswith("bedrock") and listed_for.startswith("bedrock"):
        return True
    return provider == "azure_ai" and listed_for in ("azure", "openai")

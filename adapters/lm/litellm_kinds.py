"""Classify a model name as litellm does, where the class decides the accepted parameters.

A kind is a few words; `model_facts.json` has by provider what litellm takes of each kind, asked of litellm itself
(`tests/support/oracle/write_model_facts.py`). The words are those that litellm's classes look at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from adapters.lm.litellm_facts import COLUMNS, Flag, LitellmFacts
from adapters.lm.litellm_names import bedrocks_model, is_said, without_path
from adapters.lm.model_facts import model_facts

PARTS = {
    "mistral": ("magistral",),
    "codestral": ("magistral",),
    "gemini": ("tts",),
    "moonshot": ("kimi-thinking-preview",),
    "azure_ai": ("agents/",),
    "cohere": ("v1/",),
    "cohere_chat": ("v1/",),
}
"""By provider: parts of a name that litellm looks for."""

WITHOUT_STOPS = ("grok-3-mini", "grok-4", "grok-code-fast")
OF_OPENAIS_SERIES = ("gpt-5", "gpt-6")
WITH_SERIES = frozenset({"openai", "azure", "azure_ai", "github_copilot", "chatgpt", "ragflow", "bedrock_mantle"})
"""Providers of whose models litellm takes those with these parts in their names for OpenAI's."""

BEDROCKS_APIS = (
    *("invoke", "claude_platform", "converse_like", "converse", "agent", "agentcore", "async_invoke", "openai"),
    *("mantle", "chat_completions"),
)
BEDROCKS_MAKERS = (
    *("cohere", "anthropic", "mistral", "amazon", "meta", "llama", "ai21", "nova", "deepseek_r1", "qwen3", "qwen2"),
    *("twelvelabs", "openai", "stability", "moonshot"),
)
WITH_TOOLS = (
    *("anthropic", "mistral", "cohere", "meta.llama3-1", "meta.llama3-2", "meta.llama3-3", "meta.llama4"),
    "amazon.nova",
)
OLD_CLAUDES = ("anthropic.claude-v2", "anthropic.claude-instant-v1", "anthropic.claude-v2:1")

ROUTE = re.compile(r"^(bedrock/(converse/|invoke/)?|vertex_ai/)")
"""What stands before a model's name in litellm's table."""

ENDINGS = tuple(re.compile(one) for one in (r"(?!)", r"-v\d+(:\d+)?$", r":\d+$", r"[-@]\d{8}$", r"@\w+$"))
"""What may stand behind it."""

NOVA_2 = re.compile(r"(bedrock/converse/|bedrock/|converse/)?((us|eu|apac)\.)?(amazon\.nova-2-|nova-2/)")

OWN_ENDPOINT = re.compile(r"(vertex_ai/)?(openai/(?!gpt-oss-)[^/]*|[^/]*openai[^/]*)$")
"""Models that Vertex serves at their own address (`is_vertex_self_deployed_openai_compatible_endpoint`)."""


def kind_of(model: str, provider: str) -> str:
    """The words, joined; `provider` is the word before the first `/`, OpenAI's without one."""
    facts = model_facts().litellms
    return " ".join(_words(facts, model, provider))


def refuses_sampling(model: str) -> bool:
    """Return whether litellm refuses a temperature, `top_p` and `top_k` for a model of Anthropic's.

    Rule: `AnthropicModelInfo._supports_sampling_params`.
    """
    said = [_listed_somehow(model_facts().litellms, one, "sampling_params") for one in (model, model.partition("/")[2])]
    return False in said


def _words(facts: LitellmFacts, model: str, provider: str) -> Iterator[str]:
    if provider in WITH_SERIES and "gpt-5" in model and "search" in model:
        yield "search"
        return
    if provider in ("bedrock", "vertex_ai"):
        yield from (_bedrocks if provider == "bedrock" else _vertexes)(facts, model)
        return
    if is_said(model, "reasoning", "mistral" if provider == "codestral" else provider):
        yield "reasons"
    if is_said(model, "function_calling", provider):
        yield "tools"
    small, last = model.lower(), model.split("/")[-1]
    if provider in WITH_SERIES:
        yield from _openais(facts, model, provider)
    if provider in ("vertex_ai_beta", "gemini") and is_new_gemini(model):
        yield "new"
    if provider == "snowflake" and small.removeprefix("snowflake/").startswith(("claude-", "claude_")):
        yield "claude"
    if provider in ("azure_ai", "github_copilot", "bedrock_mantle") and "claude" in small:
        yield "claude"
    if provider in ("azure_ai", "bedrock_mantle", "anthropic") and _thinks(facts, model, provider):
        yield "thinks"
    if provider in ("fireworks_ai", "azure_ai") and is_said(model, "tool_choice", provider):
        yield "choice"
    if provider in ("perplexity", "groq") and is_said(model, "web_search", provider):
        yield "web"
    if provider == "groq" and model.removeprefix("groq/") in ("compound", "compound-mini"):
        yield "compound"
    if provider in ("xai", "azure_ai") and any(one in model for one in WITHOUT_STOPS):
        yield "no-stop"
    if provider == "xai" and ("grok-4" in model or "grok-code-fast" in model):
        yield "no-penalty"
    if provider == "oci" and last.split(".")[0].lower() == "cohere":
        yield "cohere"
    looked_at = small if provider in ("mistral", "codestral") else model
    yield from (f"{one}!" for one in PARTS.get(provider, ()) if one in looked_at)


def _openais(facts: LitellmFacts, model: str, provider: str) -> Iterator[str]:
    """Rule: `OpenAIConfig.get_supported_openai_params` and what Azure's make of it."""
    last = model.split("/")[-1]
    listed = ("openai", "text-completion-openai")
    if any(one in model for one in OF_OPENAIS_SERIES) and "gpt-5-chat" not in last:
        yield "series"
        if last.startswith(("gpt-5.2", "gpt-5.4")):
            yield "5.2"
        if is_said(model, "none_reasoning_effort"):
            yield "none"
        if is_said(model, "tool_choice"):
            yield "choice-anywhere"
    if re.match(r"o\d", last) and facts.bare.get(last) == "openai":
        yield "o"
        if is_said(model, "parallel_function_calling"):
            yield "parallel"
    if provider == "azure" and any(one in model for one in ("o1", "o3", "o4", "o_series/")):
        yield "azures-o"
    if facts.bare.get(model.split("responses/", 1)[-1]) in listed:
        yield "listed"


def is_new_gemini(model: str) -> bool:
    """Rule: `VertexGeminiConfig._is_gemini_3_or_newer`."""
    last = model.split("/")[-1].lower()
    if not last or last.isdigit() or last.startswith("gemma-"):
        return False
    if model.startswith("gemini/") and not last.startswith("gemini-"):
        return False
    return not re.match(r"^gemini-(?:[12](?:\.\d+)?|exp|(?:pro|flash)(?!-(?:lite-)?latest$))(?:-|$)", last)


def _thinks(facts: LitellmFacts, model: str, provider: str) -> bool:
    """Rule: `AnthropicConfig.get_supported_openai_params`, where nothing says that the model reasons."""
    if "claude-3-7-sonnet" in model or is_said(model, "adaptive_thinking", provider):
        return True
    return _listed_somehow(facts, model, "adaptive_thinking") is True


def _vertexes(facts: LitellmFacts, model: str) -> Iterator[str]:
    """Rule: `ProviderConfigManager._get_vertex_ai_config`."""
    if "gemini" in model:
        yield "gemini"
        if is_new_gemini(model):
            yield "new"
        if is_said(model, "reasoning"):
            yield "reasons"
    elif "claude" in model:
        yield "claude"
        if is_said(model, "reasoning", "vertex_ai") or _thinks(facts, model, "vertex_ai"):
            yield "reasons"
    elif "gpt-oss" in model:
        yield "gpt-oss"
    elif "gemma/" in model or OWN_ENDPOINT.match(model):
        yield "own-endpoint"


def _bedrocks(facts: LitellmFacts, model: str) -> Iterator[str]:
    """Rule: `litellm.llms.bedrock.common_utils.get_bedrock_chat_config`."""
    api = _bedrocks_api(facts, model)
    if api in ("converse", "converse_like"):
        yield from _converse(facts, model)
    elif api in ("invoke", "async_invoke"):
        maker = _bedrocks_maker(model)
        yield f"by-{maker}"
        if maker == "nova":
            yield from _converse(facts, model)
        if maker == "anthropic":
            yield "old" if bedrocks_model(model) in OLD_CLAUDES else "new"
            if is_said(model, "reasoning", "bedrock") or _thinks(facts, model, "bedrock"):
                yield "reasons"
    else:
        yield api
        yield from (one for one in ("openai.gpt-oss", "xai.") if api == "chat_completions" and one in model)
        if is_said(model, "reasoning", "bedrock"):
            yield "reasons"


def _bedrocks_api(facts: LitellmFacts, model: str) -> str:
    """Rule: `BedrockModelInfo.get_bedrock_route`."""
    for api in BEDROCKS_APIS:
        if model.startswith(f"{api}/") or f"/{api}/" in model:
            return api
    if model.replace("bedrock/", "", 1).startswith(("nova-2/", "nova/")) or ":application-inference-profile/" in model:
        return "converse"
    if _is_native(facts, model):
        return "chat_completions"
    base = bedrocks_model(model)
    if base in facts.converse or without_path(model) in facts.converse or re.search(r"(^|[./])openai\.", base):
        return "converse"
    return "invoke"


def _is_native(facts: LitellmFacts, model: str) -> bool:
    """Rule: `bedrock_runtime_chat_completions_is_default`."""
    found = re.search(r"(?:^|[./])openai\.gpt-(\d{1,3})(?!\d)(?:\.(\d{1,3})(?!\d))?", model)
    if found is None or (int(found[1]), int(found[2] or 0)) < (5, 6):
        return False
    bare = without_path(model)
    head, slash, rest = bare.partition("/")
    return bool({model, bare, rest if slash and head in facts.regions else bare} & facts.by_chat)


def _bedrocks_maker(model: str) -> str:
    """Rule: `BaseAWSLLM.get_bedrock_invoke_provider`."""
    name = model.removeprefix("invoke/")
    if "nova" in name.lower():
        return "nova"
    for head in (name.split(".")[0], name.split("/")[0]):
        if head in BEDROCKS_MAKERS:
            return head
    return next((one for one in BEDROCKS_MAKERS if one in name), "nobody")


def _converse(facts: LitellmFacts, model: str) -> Iterator[str]:
    """Rule: `AmazonConverseConfig.get_supported_openai_params`."""
    yield "converse"
    base = bedrocks_model(model)
    names = (model, *(f"{region}.{base}" for region in ("global", "us", "eu")))
    said = [one for name in names if (one := _listed_somehow(facts, name, "sampling_params")) is not None]
    if not base.startswith("anthropic") and said and not said[0]:
        yield "no-sampling"
    if "arn" in model:
        yield "arn"
        if "nova" in model.lower():
            yield "nova"
        return
    if base.startswith(WITH_TOOLS) or is_said(model, "function_calling", "bedrock_converse"):
        yield "tools"
    if base.startswith("amazon.nova"):
        yield "nova"
    if any(is_said(one, "tool_choice", "bedrock_converse") for one in (model, base)):
        yield "choice"
    if "gpt-oss" in model or re.search(r"openai\.gpt-\d", model) or re.search(r"openai\.gpt-\d", base):
        yield "effort"
    elif "deepseek" in model:
        yield "deepseek-r1" if "deepseek.r1" in model else "effort"
    elif NOVA_2.match(model):
        yield "effort"
    elif any(one in model for one in ("claude-3-7", "claude-sonnet-4", "claude-opus-4")) or any(
        is_said(one, "reasoning", "bedrock_converse") for one in (model, base)
    ):
        yield "thinking"
    if base.startswith("anthropic"):
        yield "anthropic"


def _listed_somehow(facts: LitellmFacts, model: str, column: str) -> Flag:
    """Return the first entry that a spelling of the name leads to. Rule: `_model_map_lookup_candidates`."""
    number = COLUMNS.index(column)
    for name in (model, ROUTE.sub("", model), bedrocks_model(model)):
        for ending in ENDINGS:
            entry = facts.exactly(ending.sub("", name))
            if entry is not None and entry.says[number] is not None:
                return entry.says[number]
    return None

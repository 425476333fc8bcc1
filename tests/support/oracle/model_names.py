"""Names of models that nobody lists, as people write them: for servers, deployments, days and regions of their own."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from random import Random

BASES = """
gpt-4o gpt-4o-2031-01-02 gpt-4o-mini gpt-4.1 gpt-5 gpt-5-mini gpt-5-chat-latest gpt-5-search-api gpt-5.1 gpt-5.2-pro
gpt-5.6-luna gpt-6-sol gpt-6-luna gpt-9 gpt-3.5-turbo gpt-3.5-turbo-instruct gpt-4 gpt-oss-20b gpt-oss-120b o1 o1-mini
o3 o3-mini o3-pro o1-pro o4-mini o9 claude-2 claude-3-haiku-20240307
claude-3-5-sonnet-20241022 claude-3-7-sonnet-20250219
claude-opus-4-1 claude-sonnet-4-5 claude-sonnet-4-5@20250929 claude-haiku-4-5 claude-opus-5 claude-sonnet-5-5
claude-opus-9-1 claude-9 gemini-1.5-pro gemini-2.0-flash gemini-2.5-pro gemini-2.5-flash-lite-preview-09-2025
gemini-2.5-pro-preview-tts gemini-3-pro-preview gemini-3.8-flash gemini-9-pro gemma-3-27b-it llama3 llama3.2:3b
llama-3.3-70b-versatile meta-llama/Llama-3.3-70B-Instruct llama-4-scout Llama-9-400B mistral-large-latest
mistral-small-2503 mistral-9 magistral-medium-latest codestral-latest ministral-8b-latest pixtral-12b mixtral-8x7b
deepseek-chat deepseek-reasoner deepseek-r1 deepseek-v3.2 deepseek-ai/DeepSeek-R1 deepseek-v9 qwen3-max qwen3:4b
qwen-plus Qwen/Qwen3-32B qwq-32b qwen9 kimi-k2 kimi-k3 kimi-k9 kimi-thinking-preview grok-3 grok-4 grok-4.7
grok-4-fast-reasoning grok-9 grok-3-mini grok-code-fast-1 command-r-plus command-a-03-2025 command-r-08-2024
jamba-1.5-large nova-pro nova-lite phi-4 glm-4.6 glm-5.3 minimax-m2 sonar sonar-pro sonar-reasoning compound
anthropic.claude-v2 anthropic.claude-sonnet-4-5-20250929-v1:0 us.anthropic.claude-opus-5 us.amazon.nova-2-lite-v1:0
eu.anthropic.claude-3-5-sonnet-20240620-v1:0 amazon.nova-pro-v1:0 us.amazon.nova-lite-v1:0 xai.grok-4-v1:0
meta.llama3-3-70b-instruct-v1:0 mistral.mistral-large-2402-v1:0 cohere.command-r-plus-v1:0 deepseek.v3-v1:0
ai21.jamba-1-5-large-v1:0 deepseek.r1-v1:0 us.deepseek.r1-v1:0 openai.gpt-oss-120b-1:0 global.openai.gpt-5.6-luna
us.openai.gpt-5.4 qwen.qwen3-32b-v1:0 amazon.titan-text-express-v1 moonshot.kimi-k2-thinking twelvelabs.pegasus-1-2
our-own-model our/own-model my_model a 1234567890 text-davinci-003 babbage-002 embedding-001 whisper-1 dall-e-3
openai/gpt-4o openai/gpt-9 openai/o3 openai/gpt-5 anthropic/claude-opus-9 anthropic/claude-sonnet-4-5
google/gemini-9-pro google/gemini-2.5-pro x-ai/grok-9 mistralai/mistral-9 meta/llama-3.3-70b-instruct-maas qwen/qwen9
moonshotai/kimi-k9 z-ai/glm-9 accounts/fireworks/models/llama-v3p1-70b-instruct accounts/fireworks/models/our-own
accounts/us/deployments/abc routers/fast @cf/meta/llama-3.1-8b-instruct
""".split()

ENDINGS = """
:free :latest :thinking -2031-12-31 -20311231 @20311231 -preview -v9 -instruct -fp8 -turbo -thinking -latest
-reasoning _1
""".split()
REGIONS = "us-east-1 us-west-2 eu-west-1 ap-northeast-1 us-gov-west-1 nowhere-9".split()
PATHS = (
    *("", "", "converse/", "invoke/", "converse_like/", "nova/", "nova-2/", "llama/", "deepseek_r1/", "agent/"),
    *(
        "agentcore/",
        "async_invoke/",
        "mantle/",
        "openai/",
        "qwen3/",
        "moonshot/",
        "chat_completions/",
        "claude_platform/",
    ),
)
PROFILES = ("application-inference-profile", "inference-profile", "provisioned-model", "imported-model", "custom-model")
OWN = ("abc123", "us.anthropic.claude-opus-5", "us.amazon.nova-pro-v1:0", "our-own")
VERTEX = (
    *("", "meta/", "mistralai/", "openai/", "deepseek-ai/", "qwen/", "publishers/google/models/", "google/", "gemma/"),
    "projects/1/locations/us/endpoints/",
)
ODD = (
    *("/x", "x/y", "a//b", "///x", " ", "\u00e9", "\u65e5\u672c", "openai/\u00e9", "gpt 4", "openai/ gpt-4o", "nope:x"),
    *("openai:x", "bedrock:gpt", "none/gpt-4o", ".", "..", "*", "openai/*", "a/b/c/d/e", ":", "openai:", "x" * 300),
    *("OpenAI/gpt-4o", "GPT-4O", "\\", "openai\\gpt-4o", "arn:aws:x", "ft:", "ft:gpt-4o", "openai/ft:", "\U0001f600/x"),
    *("meta/llama:" + "0" * 64, "azure/command-r-plus", "azure/mistral-large-latest", "cohere/command-r", "mistral"),
    *("ragflow/chat/1/gpt-9", "ragflow/agent/1/o3", "amazon_nova-x", "gpt-image-9", "claude-2", "anthropic/claude-2"),
    *("ai21/jamba-1.5-large", "bedrock_mantle/us-east-1/anthropic.claude-opus-5-5", "perplexity/glm-5.2"),
)


def names_of_every_provider(rng: Random, providers: Sequence[str], listed: Sequence[str]) -> list[str]:
    """Each provider with each of `BASES`, as it is and altered once, and the forms that some providers have alone."""
    made = {f"{one}/{name}" for one in providers for base in BASES for name in (base, altered(rng, base))}
    made |= {name for base in BASES for name in (base, altered(rng, base))}
    made |= {_at_bedrock(rng, path, base) for path in PATHS for base in BASES if "." in base for _ in range(2)}
    regions = ("", *[f"{one}/" for one in REGIONS])
    made |= {f"bedrock/{path}{at}{base}" for path in PATHS for base in BASES if "." in base for at in regions}
    made |= {_by_arn(path, kind, name) for path in PATHS for kind in PROFILES for name in OWN}
    made |= {f"vertex_ai/{folder}{altered(rng, base)}" for folder in VERTEX for base in BASES}
    return sorted(made | {f"{name}-2031-12-31" for name in listed} | {altered(rng, name) for name in listed})


def drawn(rng: Random, count: int, providers: Sequence[str], listed: Sequence[str]) -> list[str]:
    """`count` names, none of `listed`, and the odd ones besides."""
    known: Collection[str] = frozenset(listed)
    made: set[str] = set()
    while len(made) < count:
        name = _drawn(rng, providers, listed)
        if name not in known:
            made.add(name)
    return sorted(made | (set(ODD) - known))


def _drawn(rng: Random, providers: Sequence[str], listed: Sequence[str]) -> str:
    provider, base = rng.choice(providers), altered(rng, rng.choice(BASES))
    roll = rng.random()
    if roll < 0.45:
        return f"{provider}/{base}"
    if roll < 0.55:
        return base
    if roll < 0.72:
        return altered(rng, rng.choice(listed))
    if roll < 0.80:
        return _at_bedrock(rng, rng.choice(PATHS), rng.choice([one for one in BASES if "." in one]))
    if roll < 0.83:
        return _by_arn(rng.choice(PATHS), rng.choice(PROFILES), rng.choice(OWN))
    if roll < 0.87:
        return f"{rng.choice(('vertex_ai', 'vertex_ai_beta'))}/{rng.choice(VERTEX)}{base}"
    if roll < 0.93:
        return f"{provider}/{rng.choice(listed)}"
    if roll < 0.97:
        return f"{provider}/{rng.choice(providers)}/{base}"
    return f"{provider.upper()}/{base}"


def _by_arn(path: str, kind: str, name: str) -> str:
    """An account's own name of a model at Bedrock."""
    return f"bedrock/{path}arn:aws:bedrock:us-east-1:123456789012:{kind}/{name}"


def _at_bedrock(rng: Random, path: str, base: str) -> str:
    return f"bedrock/{path}{rng.choice(('', f'{rng.choice(REGIONS)}/'))}{altered(rng, base)}"


def altered(rng: Random, name: str) -> str:
    """The name in one of the ways in which people alter one, or as it is."""
    roll = rng.random()
    if roll < 0.3:
        return name
    if roll < 0.75:
        return name + rng.choice(ENDINGS)
    way = rng.randrange(6)
    return (
        name.upper(),
        name.title(),
        f"ft:{name}:our-team::abc123",
        f"our-{name}",
        f"custom/{name}",
        name[:-1] or name,
    )[way]

"""Find and check a model's address, its API key variables and headers, and decide whether the key may be sent."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from urllib.parse import urlsplit

from adapters.lm.protocol import ProviderError

KEY_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "groq": ("GROQ_API_KEY",),
    "mistral": ("MISTRAL_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY", "OR_API_KEY"),
    "xai": ("XAI_API_KEY",),
    "together_ai": ("TOGETHER_API_KEY", "TOGETHER_AI_API_KEY", "TOGETHERAI_API_KEY", "TOGETHER_AI_TOKEN"),
    "fireworks_ai": ("FIREWORKS_API_KEY", "FIREWORKS_AI_API_KEY", "FIREWORKSAI_API_KEY", "FIREWORKS_AI_TOKEN"),
    "perplexity": ("PERPLEXITYAI_API_KEY", "PERPLEXITY_API_KEY"),
}
"""The API key variables of providers that require a key, in litellm's order."""

OLLAMA = ("ollama", "ollama_chat")
"""litellm's two names for the same server."""

SIGNED = ("bedrock", "sagemaker", "sagemaker_chat", "vertex_ai", "vertex_ai_beta")
"""Providers whose requests are signed, or carry a token that a server issues for credentials."""

OLLAMAS_HOME = "http://localhost:11434"
"""Ollama's default address."""

EXAMPLE = "http://localhost:8000/v1"

_SAME_AS: Mapping[str, str] = {"cohere_chat": "cohere", "text-completion-openai": "openai"}
"""litellm's alternative provider names, which share API keys and addresses with the main name."""

OTHER_KEYS: Mapping[str, tuple[str, ...]] = {
    "ollama": ("OLLAMA_API_KEY",),
    "ollama_chat": ("OLLAMA_API_KEY",),
    "bedrock": ("AWS_ACCESS_KEY_ID", "AWS_BEARER_TOKEN_BEDROCK"),
    "vertex_ai": ("GOOGLE_APPLICATION_CREDENTIALS",),
    "cohere": ("COHERE_API_KEY", "CO_API_KEY"),
    "ai21_chat": ("AI21_API_KEY",),
    "apertis": ("STIMA_API_KEY",),
    "datarobot": ("DATAROBOT_API_TOKEN",),
    "featherless_ai": ("FEATHERLESS_AI_API_KEY", "FEATHERLESS_API_KEY"),
    "huggingface": ("HF_TOKEN", "HUGGINGFACE_API_KEY"),
    "friendliai": ("FRIENDLIAI_API_KEY", "FRIENDLI_TOKEN"),
    "jina_ai": ("JINA_AI_API_KEY", "JINA_API_KEY", "JINA_AI_TOKEN"),
    "lambda_ai": ("LAMBDA_API_KEY",),
    "meta_llama": ("LLAMA_API_KEY",),
    "nano-gpt": ("NANOGPT_API_KEY",),
    "nvidia_riva": ("NVIDIA_RIVA_API_KEY", "NVIDIA_NIM_API_KEY"),
    "opencode_go": ("OPENCODE_GO_API_KEY", "OPENCODE_API_KEY"),
    "qwen_ai_platform": ("QWEN_AI_PLATFORM_API_KEY", "DASHSCOPE_API_KEY"),
    "qwencloud": ("QWENCLOUD_API_KEY", "DASHSCOPE_API_KEY"),
    "scaleway": ("SCW_SECRET_KEY",),
    "scx-ai": ("SCX_API_KEY",),
    "tensormesh": ("TENSORMESH_INFERENCE_API_KEY",),
    "text-completion-codestral": ("CODESTRAL_API_KEY",),
    "text-completion-inception": ("INCEPTION_API_KEY",),
    "vercel_ai_gateway": ("VERCEL_AI_GATEWAY_API_KEY", "VERCEL_OIDC_TOKEN"),
}
"""API key variables of providers that also work without one: own servers, and clouds with other credentials.

All others use `PROVIDER_API_KEY`; `tests/parity/test_key_variables.py` compares them with the installed litellm.
"""

_BASE_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "openai": ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    "anthropic": ("ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL"),
    "ollama": ("OLLAMA_API_BASE", "OLLAMA_BASE_URL"),
    "ollama_chat": ("OLLAMA_API_BASE", "OLLAMA_BASE_URL"),
}

# Variables that a process needs to run and to reach the network, and that contain no secrets.
_HARMLESS = frozenset(
    """
    PATH LANG LANGUAGE TZ TMPDIR TEMP TMP SYSTEMROOT
    PYTHONPATH PYTHONHOME PYTHONUTF8 VIRTUAL_ENV LD_LIBRARY_PATH
    SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE NO_PROXY no_proxy
    """.split()
)


def base_variables(provider: str) -> tuple[str, ...]:
    """Return the variables that may contain the address of `provider`, by precedence."""
    provider = _SAME_AS.get(provider, provider)
    return _BASE_VARIABLES.get(provider, (f"{provider.upper()}_API_BASE", f"{provider.upper()}_BASE_URL"))


def environment_base(provider: str, environment: Mapping[str, str] = os.environ) -> str | None:
    """Return the address of `provider` from the user's environment; None for the provider's own."""
    found = next((environment[name] for name in base_variables(provider) if environment.get(name)), None)
    if found is None and provider in OLLAMA:
        return ollama_address(environment.get("OLLAMA_HOST", ""))
    return found


def ollama_address(host: str) -> str | None:
    """Convert `OLLAMA_HOST` to an address: `gpu`, `gpu:9000`, `:9000` or `https://gpu`; None if empty or invalid.

    Rule: `envconfig.Host` of Ollama: the default is http and port 11434; an address with a scheme has that scheme's
    port. `0.0.0.0` and `::`, all interfaces of the server, become 127.0.0.1.
    """
    text = host.strip().strip("\"'")
    if not text:
        return None
    scheme, separator, rest = text.rpartition("://")
    try:
        parts = urlsplit(f"//{rest}" if not rest.startswith(":") else f"//127.0.0.1{rest}")
        name, port = parts.hostname or "127.0.0.1", parts.port
    except ValueError:
        return None
    if name in ("0.0.0.0", "::"):
        name = "127.0.0.1"
    if port is None and not separator:
        port = 11434
    shown = f"[{name}]" if ":" in name else name
    return f"{scheme or 'http'}://{shown}{f':{port}' if port else ''}{parts.path.rstrip('/')}"


def key_variables(provider: str) -> tuple[str, ...]:
    """Return the variables that may contain the API key of `provider`."""
    provider = _SAME_AS.get(provider, provider)
    return OTHER_KEYS.get(provider) or KEY_VARIABLES.get(provider, (f"{provider.upper()}_API_KEY",))


def keys_set(provider: str, environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Return the `key_variables` of `provider` that are set."""
    return tuple(name for name in key_variables(provider) if environment.get(name))


def host_of(address: str) -> str:
    """Return `host` or `host:port` of an address, "" without a host.

    >>> host_of("http://127.0.0.1:8000/v1")
    '127.0.0.1:8000'
    """
    try:
        parts = urlsplit(address if "//" in address else f"//{address}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return ""
    shown = f"[{host}]" if ":" in host else host
    return f"{shown}:{port}" if port is not None else shown


def is_allowed(address: str, allowed: Collection[str]) -> bool:
    """Return whether `allowed` contains the host of `address`, as `host:port` or, for every port, `host`."""
    host = host_of(address)
    if not host:
        return False
    name = urlsplit(f"//{host}").hostname or ""
    entries = {entry.lower() if "//" not in entry else host_of(entry) for entry in allowed}
    return host in entries or name in entries


def without_keys(environment: Mapping[str, str]) -> dict[str, str]:
    """Return `environment` without anything that could contain or lead to an API key."""
    kept = {name: value for name, value in environment.items() if name in _HARMLESS or name.startswith("LC_")}
    return {**kept, "HOME": os.devnull, "USERPROFILE": os.devnull, "AWS_EC2_METADATA_DISABLED": "true"}


def check_address(address: str, provider: str) -> None:
    """Raise ProviderError for an invalid address."""
    said = why_no_address(address)
    if said:
        raise ProviderError(
            f"The address of {provider}, {without_user(address)}, cannot be called: {said}. Write it as "
            f"{_example(address)}.",
            "address",
            payload={"address": without_user(address)},
        )


def check_keys(names: tuple[str, ...], environment: Mapping[str, str] = os.environ) -> None:
    """Raise ProviderError for an API key with line breaks, outer spaces or non-ASCII characters; it cannot be sent."""
    for name in names:
        key = environment.get(name, "")
        if not (key.isascii() and key.isprintable()) or key != key.strip():
            has_space = key != key.strip() or len(key.splitlines()) > 1
            what = "a line break or a space" if has_space else "a control character"
            what = what if key.isascii() else "letters beyond ASCII"
            raise ProviderError(
                f"The key in {name} contains {what} and cannot be sent. Set it again without such characters.",
                "key",
                payload={"variable": name},
            )


def check_headers(variables: Mapping[str, str], allowed: Collection[str], place: str) -> None:
    """Raise ProviderError for a header whose variable is not allowed, not set, or not valid in a header.

    `variables` maps headers to variables; `place` is the recipient.
    """
    for header, variable in variables.items():
        value = os.environ.get(variable, "")
        if variable not in allowed:
            said = (
                f"The session wants to send the value of {variable} to {place}, as the header {header}, which nobody "
                "has allowed (`--allow-variable`)."
            )
        elif not value:
            said = f"The variable {variable}, which provides the header {header}, is not set."
        elif not (value.isascii() and value.isprintable()) or value != value.strip():
            said = f"The value of {variable} is not valid in a header: use ASCII without line breaks and outer spaces."
        else:
            continue
        raise ProviderError(said, "key", payload={"variable": variable, "header": header})


def without_user(address: str) -> str:
    """Return the address without user name and password.

    >>> without_user("http://me:secret@host/v1")
    'http://host/v1'
    """
    scheme, separator, rest = address.rpartition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}"


def _example(address: str) -> str:
    """Return the corrected address if possible, else an example."""
    shown = without_user(address)
    for one in (shown, f"http://{shown}"):
        if one.count("://") == 1 and not why_no_address(one):
            return one
    return EXAMPLE


def why_no_address(address: object) -> str:
    """Return why `address` cannot be called, or ""."""
    if not isinstance(address, str):
        return "it is not a text"
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError as error:
        return "its port is not a number from 1 to 65535" if "ort" in str(error) else "it is not an address"
    if any(one.isspace() or not one.isprintable() for one in address):
        return "there is a space or a line break in it"
    if parts.scheme not in ("http", "https") or "://" not in address:
        return "it begins with neither http:// nor https://"
    if not parts.hostname:
        return "it names no host"
    if port == 0:
        return "its port is not a number from 1 to 65535"
    return "it contains a user name or a password, which is not allowed" if "@" in parts.netloc else ""

"""HTTP endpoints of models, and the variable of each provider's API key. No key is ever written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from adapters.late_dataclasses import dataclass
from adapters.lm.addresses import OLLAMA, OLLAMAS_HOME, base_variables, host_of, is_allowed, key_variables
from adapters.lm.capabilities import split_model
from adapters.lm.lm_settings import ModelType
from adapters.lm.servers import USUAL
from adapters.signatures.value_writer import text_literal
from sessions.exports.exported import ExportError, Source, View
from sessions.running import rendering


def _shell_address(provider: str, usual: str) -> str:
    """Write a shell expression: the address from the variables that the workbench reads, else the usual address."""
    found = usual
    for name in reversed(base_variables(provider)):
        found = f"${{{name}:-{found}}}"
    return found


WITHOUT_KEY = (*OLLAMA, "hosted_vllm", "lm_studio")
"""Servers of one's own."""
COMPATIBLE: Mapping[str, str] = MappingProxyType(
    {
        "openai": _shell_address("openai", "https://api.openai.com/v1"),
        "anthropic": "https://api.anthropic.com/v1",
        "gemini": "https://generativelanguage.googleapis.com/v1beta/openai",
        "mistral": "https://api.mistral.ai/v1",
        "groq": "https://api.groq.com/openai/v1",
        "deepseek": "https://api.deepseek.com/v1",
        "openrouter": "https://openrouter.ai/api/v1",
        **dict.fromkeys(OLLAMA, _shell_address("ollama", OLLAMAS_HOME) + "/v1"),
        "hosted_vllm": _shell_address("hosted_vllm", USUAL["hosted_vllm"][1]),
        "lm_studio": _shell_address("lm_studio", USUAL["lm_studio"][1]),
    }
)
"""Addresses, as shell expressions, of providers with OpenAI's chat completions."""

PATHS: Mapping[ModelType, str] = {"chat": "chat/completions", "responses": "responses", "text": "completions"}
"""The path after the address, by API."""

OFFLINE = "offline/"
_VARIABLE = re.compile(r"[A-Z0-9_]+")
_PLAIN_ADDRESS = re.compile(r"[A-Za-z0-9.:/\[\]_~%-]+")


@dataclass(frozen=True)
class Endpoint:
    """A model's endpoint.

    `base` is a shell expression, `key` the API key's variable or "", `left_out` why there is no key.
    """

    base: str
    key: str
    model: str
    left_out: tuple[str, ...] = ()


def endpoint_of(view: View, source: Source) -> Endpoint:
    """Find the model's endpoint. Raises ExportError for models without OpenAI's protocol, such as offline models."""
    provider, name = split_model(view.model)
    named = plain_address(view)
    if provider not in COMPATIBLE and (named is None or provider == "offline"):
        known = ", ".join(COMPATIBLE)
        raise ExportError(
            f"{view.model} cannot be asked over HTTP, as curl and a batch do; choose a model of: {known}",
            "--model",
        )
    key = key_variable(view.model)
    if named is None:
        return Endpoint(COMPATIBLE[provider], key, name)
    allowed, said = key_goes_there(view, source)
    return Endpoint(named.rstrip("/"), key if allowed else "", name, said)


def named_address(view: View) -> str | None:
    """Return the `api_base` that the session sets for the column."""
    given = rendering.connection_of(view.session, view.column).get("api_base")
    return str(given) if given else None


def plain_address(view: View) -> str | None:
    """Return `named_address`; raise ExportError for characters that are special in exported files."""
    named = named_address(view)
    if named is not None and not _PLAIN_ADDRESS.fullmatch(named):
        raise ExportError(f"{view.place}: the address {named!r} has characters that other tools may not accept")
    return named


def key_goes_there(view: View, source: Source) -> tuple[bool, tuple[str, ...]]:
    """Decide whether an export may name the API key's variable for the session's address; return why not."""
    named = named_address(view)
    if named is None or is_allowed(named, source.allow_hosts):
        return True, ()
    host = host_of(named)
    return False, (f"the key: the session itself names the host {host}; --allow-host {host} lets your key go there",)


def headers_of(view: View, source: Source) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Return the variable of each header of the session, or none and the reason."""
    variables = rendering.lm_settings_of(view.session, view.column).header_variables
    if not variables or key_goes_there(view, source)[0]:
        return variables, ()
    return {}, (f"the headers {', '.join(variables)}, as the key",)


def headers_literal(headers: Mapping[str, str]) -> str:
    """Write the headers as Python source that reads their values from the environment."""
    named = [f"{text_literal(name)}: os.environ[{text_literal(variable)}]" for name, variable in headers.items()]
    return f"{{{', '.join(named)}}}"


def key_variable(model: str) -> str:
    """Return the first variable that may hold the provider's API key; "" for servers without keys.

    Raises ExportError for an invalid provider name.
    """
    provider, _ = split_model(model)
    name = "" if provider in WITHOUT_KEY else key_variables(provider)[0]
    if name and not _VARIABLE.fullmatch(name):  # only plain names are safe in source and shell commands
        raise ExportError(f"{provider[:60]!r} cannot be the name of a provider")
    return name

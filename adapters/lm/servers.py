"""Find the user's own OpenAI-compatible servers, from the environment and the config file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from adapters.late_dataclasses import dataclass
from adapters.lm import config_file
from adapters.lm.addresses import OLLAMAS_HOME, environment_base, why_no_address
from adapters.lm.protocol import Object
from adapters.lm.secrets import Scrubber

USUAL: Mapping[str, tuple[str, str]] = {
    "ollama_chat": ("Ollama", OLLAMAS_HOME),
    "hosted_vllm": ("vLLM", "http://localhost:8000/v1"),
    "lm_studio": ("LM Studio", "http://localhost:1234/v1"),
}
"""Display name and default address by litellm's provider name."""

EXAMPLE = 'hosted_vllm = "http://localhost:8000/v1"'

ASK_SECONDS = 1.0
LARGEST = 4_000_000


class ServersError(ValueError):
    """An unreadable config file or an invalid `servers` table."""


@dataclass(frozen=True)
class Server:
    """A server, whose models are called `provider/NAME`; `source` is where its address comes from."""

    provider: str
    name: str
    address: str
    source: str

    @property
    def place(self) -> str:
        """The server's name and address, without passwords."""
        return f"{self.name} at {Scrubber().scrubbed(self.address)}"


def configured(path: Path | None = None) -> dict[str, str]:
    """Return the addresses in the config file's table `servers`, by provider; empty without a file.

    A line is, for example, `hosted_vllm = "http://localhost:8000/v1"`. Raises ServersError.
    """
    try:
        file = config_file.read(config_file.config_path() if path is None else path)
    except config_file.ConfigError as error:
        raise ServersError(str(error)) from None
    found = file.data.get("servers", {})
    if not isinstance(found, dict):
        raise ServersError(f"{file.place_of('servers')}: servers: expected a table with lines such as {EXAMPLE}")
    for provider, address in found.items():
        said = why_no_address(address)
        if said:
            place = file.place_of("servers", provider)
            raise ServersError(f"{place}: servers: {provider}: {said}; write it as in {EXAMPLE}")
    return dict(found)


def address_of(provider: str, environment: Mapping[str, str] = os.environ) -> str | None:
    """Return the address of `provider` from the user's environment or config file. Raises ServersError."""
    return environment_base(provider, environment) or configured().get(provider)


def known(environment: Mapping[str, str] = os.environ, path: Path | None = None) -> tuple[Server, ...]:
    """List the servers that the user named, then the usual ones at their default addresses. Raises ServersError."""
    named = configured(path)
    found: list[Server] = []
    for provider in dict.fromkeys([*named, *USUAL]):
        title, usual = USUAL.get(provider, (provider, ""))
        own = environment_base(provider, environment)
        source = "config" if provider in named else "usual"
        if own:
            source = "environment"
        found.append(Server(provider, title, own or named.get(provider, usual), source))
    return tuple(found)


def models_at(server: Server) -> tuple[str, ...] | None:
    """Ask the server for its models, as `provider/NAME`; None if it does not answer. Sends no API key."""
    is_ollama = server.provider.startswith("ollama")
    path, key, name = ("api/tags", "models", "name") if is_ollama else ("models", "data", "id")
    try:
        names = [str(row[name]) for row in _get(f"{server.address.rstrip('/')}/{path}", ASK_SECONDS)[key]]
    except (KeyError, TypeError):
        return None
    return tuple(f"{server.provider}/{name}" for name in names)


@dataclass(frozen=True)
class Says:
    """A server's answers about a model; None if unknown. `source` names the endpoint that answered."""

    function_calling: bool | None
    reasoning: bool | None
    response_schema: bool | None
    source: str

    def words(self) -> str:
        """Return the answers as text: `it says: tools, no thinking, JSON schema`."""
        facts = (("tools", self.function_calling), ("thinking", self.reasoning), ("JSON schema", self.response_schema))
        return "it says: " + ", ".join(f"{'' if can else 'no '}{what}" for what, can in facts if can is not None)


def asked(server: Server, model: str, seconds: float = ASK_SECONDS) -> Says | None:
    """Ask the server, without an API key, what `provider/NAME` can do; None without a usable answer.

    Ollama and LM Studio answer for each model, llama.cpp for the model that it serves. vLLM and most other servers do
    not answer.
    """
    name = model.removeprefix(f"{server.provider}/")
    root = server.address.rstrip("/").removesuffix("/v1")
    if server.provider.startswith("ollama"):
        found = _get(f"{root}/api/show", seconds, {"model": name}).get("capabilities")
        if not isinstance(found, list):
            return None
        # Ollama enforces a schema by a grammar for every model.
        return Says("tools" in found, "thinking" in found, True, "Ollama's /api/show")
    if server.provider == "lm_studio":
        data = _get(f"{root}/api/v0/models/{quote(name, safe='')}", seconds)
        if data.get("object") == "model":
            found = data.get("capabilities")
            return Says(isinstance(found, list) and "tool_use" in found, None, True, "LM Studio's /api/v0/models")
    caps = _get(f"{root}/props", seconds).get("chat_template_caps")
    if not isinstance(caps, dict):
        return None
    tools = caps.get("supports_tool_calls")
    return Says(tools if isinstance(tools, bool) else None, None, True, "llama.cpp's /props")


def _get(url: str, seconds: float, body: Mapping[str, str] | None = None) -> Object:
    """Fetch a JSON object; return an empty one on any failure."""
    import urllib.request  # which loads http and ssl

    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"} if data else {})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=seconds) as response:
            found = json.loads(response.read(LARGEST))
    except (OSError, ValueError, RecursionError):  # no server, or no such endpoint
        return {}
    return found if isinstance(found, dict) else {}

"""Servers of the user's own that speak OpenAI's protocol: from the environment and from a config file of the user's."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from adapters.lm.addresses import environment_base

USUAL: Mapping[str, tuple[str, str]] = {
    "ollama_chat": ("Ollama", "http://localhost:11434"),
    "hosted_vllm": ("vLLM", "http://localhost:8000/v1"),
    "lm_studio": ("LM Studio", "http://localhost:1234/v1"),
}
"""By litellm's provider: what it is called, and where it listens unless told otherwise."""

ASK_SECONDS = 1.0
LARGEST = 4_000_000


class ServersError(ValueError):
    """A config file that cannot be read as one."""


@dataclass(frozen=True)
class Server:
    """A server; models of it are chosen as `provider/NAME`. `source` says who named the address."""

    provider: str
    name: str
    address: str
    source: str


def config_path(environment: Mapping[str, str] | None = None) -> Path | None:
    """`$XDG_CONFIG_HOME/adapter-workbench/servers.json`, by default below `~/.config`; None without a home."""
    env = os.environ if environment is None else environment
    named = env.get("XDG_CONFIG_HOME", "")
    base = named if os.path.isabs(named) else os.path.join(env.get("HOME", ""), ".config")
    return Path(base) / "adapter-workbench" / "servers.json" if os.path.isabs(base) else None


def configured(path: Path | None = None) -> dict[str, str]:
    """Addresses by provider of the config file, `{"servers": {"hosted_vllm": "http://localhost:8000/v1"}}`.

    Nothing without the file. Raises ServersError.
    """
    where = config_path() if path is None else path
    if where is None or not where.is_file():
        return {}
    hint = 'expected {"servers": {"hosted_vllm": "http://localhost:8000/v1"}}'
    try:
        data = json.loads(where.read_text("utf-8"))
        servers = data["servers"] if isinstance(data, dict) else None
    except (OSError, ValueError, KeyError, RecursionError) as error:
        raise ServersError(f"{where}: {type(error).__name__}: {error}; {hint}") from None
    if not isinstance(servers, dict):
        raise ServersError(f"{where}: {hint}")
    for provider, address in servers.items():
        if not isinstance(address, str) or not _is_address(address):
            raise ServersError(f"{where}: servers.{provider} is no http or https address without a password; {hint}")
    return dict(servers)


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        return False


def address_of(provider: str, environment: Mapping[str, str] | None = None) -> str | None:
    """The address that the user's environment or config file gives for `provider`. Raises ServersError."""
    return environment_base(provider, environment) or configured().get(provider)


def usual_address(provider: str) -> str | None:
    """Where a server of this provider listens unless told otherwise; None for providers on the net."""
    return USUAL[provider][1] if provider in USUAL else None


def known(environment: Mapping[str, str] | None = None, path: Path | None = None) -> tuple[Server, ...]:
    """The servers the user named, then the usual ones at their usual addresses. Raises ServersError."""
    named = configured(path)
    found: list[Server] = []
    for provider in dict.fromkeys([*named, *USUAL]):
        title, usual = USUAL.get(provider, (provider, ""))
        from_environment = environment_base(provider, environment)
        if from_environment:
            found.append(Server(provider, title, from_environment, "environment"))
        elif provider in named:
            found.append(Server(provider, title, named[provider], "config"))
        else:
            found.append(Server(provider, title, usual, "usual"))
    return tuple(found)


def models_at(server: Server, seconds: float = ASK_SECONDS) -> tuple[str, ...] | None:
    """The models that the server says it has, as `provider/NAME`; None when it does not answer. Sends no key."""
    is_ollama = server.provider.startswith("ollama")
    base = server.address.rstrip("/")
    url = f"{base}/api/tags" if is_ollama else f"{base}/models"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=seconds) as response:
            data: Any = json.loads(response.read(LARGEST))
        rows = data["models" if is_ollama else "data"]
        names = [str(row["name" if is_ollama else "id"]) for row in rows]
    except (OSError, ValueError, KeyError, TypeError, RecursionError, urllib.error.URLError):
        return None
    return tuple(f"{server.provider}/{name}" for name in names)

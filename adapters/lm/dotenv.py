"""A project's `.env`: keys for providers, and addresses that get none before the user allows them. Read, never run."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

from adapters.lm.addresses import KEY_VARIABLES, OLLAMA, environment_base, ollama_address

LARGEST = 64_000
"""Bytes; a longer file is not read."""
LONGEST_LINE = 4_000
"""Characters; a longer line is passed over: what is spent on one grows with the square of its blanks."""

_KEY = re.compile(r"[A-Z][A-Z0-9_]*_API_KEY")
_ADDRESS = re.compile(r"([A-Z][A-Z0-9_]*)_(?:API_BASE|BASE_URL)")
_KNOWN_KEYS = frozenset(name for names in KEY_VARIABLES.values() for name in names) | {
    "HF_TOKEN",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "REPLICATE_API_TOKEN",
}


@dataclass(frozen=True)
class ProjectEnvironment:
    """The keys and addresses of a `.env`, addresses by provider; `repr` shows no key."""

    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    addresses: Mapping[str, str] = field(default_factory=dict)

    def lend_keys(self, environment: MutableMapping[str, str] | None = None) -> tuple[str, ...]:
        """Puts the keys into `environment` (the process's own) where it has none; returns the names put there."""
        target = os.environ if environment is None else environment
        lent = tuple(name for name in self.keys if not target.get(name))
        for name in lent:
            target[name] = self.keys[name]
        return lent


def parse(text: str) -> dict[str, str]:
    """The assignments of a `.env`, as python-dotenv reads them; nothing is expanded, and lines that assign nothing are
    passed over.

    >>> parse("export A='x y' # why\\nB=$HOME")
    {'A': 'x y', 'B': '$HOME'}
    """
    from dotenv.parser import parse_stream

    lines = [line for line in text.splitlines() if len(line) <= LONGEST_LINE]
    bindings = parse_stream(StringIO("\n".join(lines)))
    return {one.key: one.value for one in bindings if one.key is not None and one.value is not None}


def read(folder: Path) -> ProjectEnvironment:
    """Read the `.env` of `folder`; empty when it is missing, too long or not UTF-8.

    Only names that hold keys or providers' addresses (and Ollama's own OLLAMA_HOST) count: a `.env` sets no proxy,
    certificate or path here.
    """
    path = folder / ".env"
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return ProjectEnvironment()
        values = parse(path.read_text("utf-8-sig"))
    except (OSError, ValueError):
        return ProjectEnvironment()
    keys = {name: value for name, value in values.items() if value and (_KEY.fullmatch(name) or name in _KNOWN_KEYS)}
    addresses: dict[str, str] = {}
    for name, value in values.items():
        provider = _provider_of(name)
        if provider is not None and value and "@" not in value:
            addresses.setdefault(provider, value)
    host = values.get("OLLAMA_HOST", "")
    ollama = addresses.get("ollama") or (ollama_address(host) if "@" not in host else None)
    if ollama is not None:  # both of litellm's names for it, as `environment_base` has it
        addresses.update({name: ollama for name in OLLAMA if name not in addresses})
    return ProjectEnvironment(keys, addresses)


def _provider_of(name: str) -> str | None:
    found = _ADDRESS.fullmatch(name)
    return found.group(1).lower() if found is not None else None


def address_of(provider: str, project: ProjectEnvironment, environment: Mapping[str, str] | None = None) -> str | None:
    """The project's address for `provider`, unless the user's own environment names one."""
    return None if environment_base(provider, environment) else project.addresses.get(provider)

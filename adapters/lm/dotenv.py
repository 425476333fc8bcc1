"""Read a project's `.env`: API keys, and server addresses, which get no key until the user allows them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, MutableMapping
from io import StringIO
from pathlib import Path

from adapters.late_dataclasses import dataclass, field
from adapters.lm.addresses import KEY_VARIABLES, OLLAMA, environment_base, ollama_address

LARGEST = 64_000
"""Maximum size in bytes; a larger file is ignored."""
LONGEST_LINE = 4_000
"""Maximum characters of a line; longer lines are skipped, because parsing time is quadratic in their blanks."""

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
    """The API keys and the addresses by provider in a `.env`; `repr` shows no key."""

    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    addresses: Mapping[str, str] = field(default_factory=dict)

    def lend_keys(self, environment: MutableMapping[str, str] = os.environ) -> tuple[str, ...]:
        """Add the keys that `environment` (default: the process's) lacks; return their names."""
        lent = tuple(name for name in self.keys if not environment.get(name))
        environment.update({name: self.keys[name] for name in lent})
        return lent


def parse(text: str) -> dict[str, str]:
    """Parse the assignments of a `.env` with python-dotenv; expand nothing and skip other lines.

    >>> parse("export A='x y' # why\\nB=$HOME")
    {'A': 'x y', 'B': '$HOME'}
    """
    from dotenv.parser import parse_stream

    lines = [line for line in text.splitlines() if len(line) <= LONGEST_LINE]
    bindings = parse_stream(StringIO("\n".join(lines)))
    return {one.key: one.value for one in bindings if one.key is not None and one.value is not None}


def read(folder: Path) -> ProjectEnvironment:
    """Read the `.env` of `folder`; empty if it is missing, too large or not UTF-8.

    Only variables with API keys or providers' addresses (and Ollama's OLLAMA_HOST) are used, so that a `.env` cannot
    set a proxy, certificate or path.
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
        found = _ADDRESS.fullmatch(name)
        if found is not None and value and "@" not in value:
            addresses.setdefault(found[1].lower(), value)
    host = values.get("OLLAMA_HOST", "")
    ollama = addresses.get("ollama") or (ollama_address(host) if "@" not in host else None)
    if ollama is not None:  # for both of litellm's names, as in `environment_base`
        addresses.update({name: ollama for name in OLLAMA if name not in addresses})
    return ProjectEnvironment(keys, addresses)


def address_of(provider: str, project: ProjectEnvironment, environment: Mapping[str, str] = os.environ) -> str | None:
    """Return the project's address for `provider`; None if the user's own environment sets one."""
    return None if environment_base(provider, environment) else project.addresses.get(provider)

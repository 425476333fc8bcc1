"""Fetch the table of models that dspy and litellm fetch when they start, if the user asks, and keep it on disk.

Without a fetched table, and where the user's environment or config file says so, the packaged tables are used.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from adapters.lm.addresses import why_no_address
from adapters.lm.protocol import ProviderError
from adapters.user_folders import user_folder

URL = "https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json"
"""Rule: `dspy.clients.model_metadata._URL` and litellm's `model_cost_map_url`."""
LOCAL = "LITELLM_LOCAL_MODEL_COST_MAP"
LARGEST = 32 << 20
"""The maximum size in bytes, as in dspy."""
FEWEST = 100
SECONDS = 60.0
PACKAGED = "model_prices_and_context_window_backup.json"
NAME = "fetched-table.json"
NO_MODELS = ("sample_spec", "fallback_generalizations")

Table = Mapping[str, Mapping[str, Any]]


class FetchedTable(NamedTuple):
    """A kept table: its file, whose first line is about it, the host that it is from, the time, and a hash."""

    path: Path
    host: str
    at: str
    digest: str

    def __str__(self) -> str:
        return f"the table fetched {self.at} from {self.host}"

    def read(self) -> Table:
        """Raises OSError and ValueError."""
        return _checked(self.path.read_bytes().partition(b"\n")[2], FEWEST)


def kept() -> FetchedTable | None:
    """Return the last fetched table; None if there is none or its file was changed since."""
    folder = models_folder()
    if folder is None:
        return None
    path = folder / NAME
    try:
        head, _, body = path.read_bytes().partition(b"\n")
        said = json.loads(head)
        found = FetchedTable(path, str(said["host"]), str(said["at"]), str(said["digest"]))
        return found if found.digest == _digest(body) else None
    except (OSError, ValueError, LookupError, TypeError):
        return None


def is_local() -> bool:
    """Return whether the user's environment forbids a fetched table. Rule: `dspy.clients.model_metadata._load`."""
    return os.environ.get(LOCAL, "").lower() == "true"


@lru_cache(maxsize=1)
def in_use() -> FetchedTable | None:
    """Return the fetched table unless the user's environment or config file forbids it."""
    last = None if is_local() else kept()
    if last is not None:
        from adapters.lm import config_file  # which loads tomllib

        with suppress(config_file.ConfigError):  # reported where all settings are read
            if config_file.read(config_file.config_path()).data.get("fetched_models") is False:
                return None
    return last


def table() -> Table:
    """Return the table in use: the fetched one, or the one packaged with litellm; empty without litellm."""
    used = in_use()
    try:
        return packaged() if used is None else used.read()
    except (OSError, ValueError):
        return packaged()


def packaged() -> Table:
    found = importlib.util.find_spec("litellm")
    try:
        made: Table = json.loads(Path(found.origin).with_name(PACKAGED).read_bytes()) if found and found.origin else {}
    except (OSError, ValueError):
        return {}
    return made


_PREFIXES = {
    "ai21": "ai21_chat",
    "bedrock_converse": "bedrock",
    "text-completion-openai": "text-completion-openai",
    "vertex_ai-": "vertex_ai",
    "cohere_chat": "cohere_chat",
    "fireworks_ai-": "fireworks_ai",
    "azure_text": "azure_text",
}


def provider_of(facts: Mapping[str, Any]) -> str:
    """Return the provider of an entry as names of models begin with it, "" if the entry names none."""
    provider = str(facts.get("litellm_provider") or "")
    return next((to for start, to in _PREFIXES.items() if provider.startswith(start)), provider)


def models_in(table: Table) -> set[str]:
    """Return the names of the models in a table, without its other entries."""
    return table.keys() - set(NO_MODELS)


def fetch() -> FetchedTable:
    """Fetch the table from the user's address or litellm's into a file of its own. Raises ProviderError.

    Only the host of an address is shown, because the rest may contain credentials.
    """
    folder, url = models_folder(), os.environ.get("LITELLM_MODEL_COST_MAP_URL") or URL
    why = "there is no home folder to keep it in" if folder is None else ""
    if is_local():
        why = f"{LOCAL} is set"
    if not why and (said := why_no_address(url)):
        why = f"LITELLM_MODEL_COST_MAP_URL is not a valid address ({said})"
    if why or folder is None:
        raise ProviderError(f"No table of models was fetched: {why}.", "setup")
    host = urlsplit(url).netloc
    import urllib.request  # which loads http and ssl

    try:
        request = urllib.request.Request(url, headers={"User-Agent": "adapter-workbench"})
        end, read = time.monotonic() + SECONDS, bytearray()
        with urllib.request.urlopen(request, timeout=5) as response:
            if response.url != request.full_url:
                raise _BadTableError("it redirects to another address, which litellm does not follow")
            while piece := response.read1(1 << 16):
                read += piece
                if len(read) > LARGEST:
                    raise _BadTableError(f"it is larger than {LARGEST >> 20} MB")
                if time.monotonic() > end:
                    raise _BadTableError(f"it took longer than {SECONDS:g} s")
        body = bytes(read)
        _checked(body, max(FEWEST, len(packaged()) // 2))
        at = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
        new = folder / f".{NAME}.{os.getpid()}"
        made = FetchedTable(new, host, at, _digest(body))
        make_private(folder)
        head = json.dumps({"host": host, "at": at, "digest": made.digest})
        new.write_bytes(head.encode() + b"\n" + body)
    except Exception as error:  # whatever urllib raises; its text may repeat the address or what the server wrote
        reason = getattr(error, "reason", error)
        if isinstance(error, _BadTableError):
            why = str(error)
        elif code := getattr(error, "code", None):
            why = f"it answers with HTTP {code}"
        else:
            closed = "it closed the connection" if isinstance(reason, ConnectionError) else type(reason).__name__
            closed = "it timed out" if isinstance(reason, TimeoutError) else closed
            why = getattr(reason, "strerror", None) or closed
        said = f"No table of models was fetched from {host}: {why}. Nothing changes."
        raise ProviderError(said, "network") from None
    return made


def keep(made: FetchedTable) -> FetchedTable:
    """Replace the kept table by one just fetched."""
    os.replace(made.path, path := made.path.with_name(NAME))
    in_use.cache_clear()
    return made._replace(path=path)


class _BadTableError(ValueError):
    """A table that is too large, too small, or no table of models."""


def _digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()[:8]


def _checked(body: bytes, fewest: int) -> Table:
    """Decode a table. Rule: `dspy.clients.model_metadata._load`. Raises _BadTableError."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        is_page = body.lstrip()[:1] == b"<"
        raise _BadTableError("it is a web page, not JSON" if is_page else "it is not JSON") from None
    if not isinstance(found, dict) or any(not isinstance(one, dict) for one in found.values()):
        raise _BadTableError("it is not a table of models")
    if len(models_in(found)) < fewest:
        raise _BadTableError(f"it has fewer than {fewest:,} models")
    return found


def models_folder() -> Path | None:
    """Return the folder with what is kept about models, which may not exist; None without a home folder."""
    top = user_folder("XDG_STATE_HOME", ".local/state")
    return None if top is None else top / "models"


def make_private(folder: Path) -> None:
    """Create a folder and the one around it, for the user alone. Raises OSError."""
    for one in (folder.parent, folder):
        one.mkdir(mode=0o700, parents=True, exist_ok=True)

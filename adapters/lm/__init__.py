"""Language models: the built-in offline models and all providers of litellm. Importing this loads neither."""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adapters.lm.capabilities import capabilities_of
    from adapters.lm.lm_settings import LMSettings
    from adapters.lm.protocol import LM, Chunk, HttpRequest, ProviderError, ToolCallPart
    from adapters.requests.capabilities import Capabilities

__all__ = ["LM", "Capabilities", "Chunk", "HttpRequest", "LMSettings", "ProviderError", "ToolCallPart"]
__all__ += ["capabilities_of", "open"]

_HOMES = {
    "lm.protocol": "LM Chunk HttpRequest ProviderError ToolCallPart",
    "requests.capabilities": "Capabilities",
    "lm.lm_settings": "LMSettings",
    "lm.capabilities": "capabilities_of",
}
_HOME_OF = {name: f"adapters.{home}" for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'adapters.lm' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def open(
    model: str,
    *,
    api_base: str | None = None,
    api_version: str | None = None,
    api_base_trusted: bool = False,
    allow_hosts: Collection[str] = (),
    capabilities: Capabilities | None = None,
    chunk_seconds: float | None = None,
    timeout: float = 600.0,
    stream: bool = True,
    settings: LMSettings | None = None,
    allow_variables: Collection[str] = (),
) -> LM:
    """Open a model by name: `offline/NAME`, or litellm's `provider/model`.

    `api_base` replaces the provider's address. It gets an API key of the environment only with `api_base_trusted` (the
    user gave it) or if its host is in `allow_hosts` (`host` or `host:port`); an address in a session file is not
    trusted. `api_version` is Azure's. `capabilities` replace the known ones. `chunk_seconds` is the pause between the
    chunks of an offline model. `timeout` is in seconds without a byte from the provider. Without `stream`, the reply
    arrives as a single chunk. Opens no connection and starts no process. Raises ProviderError for an unknown offline
    model.
    """
    if model.startswith("offline/"):
        from adapters.lm.offline import OfflineLM

        return OfflineLM(model) if chunk_seconds is None else OfflineLM(model, chunk_seconds)
    from adapters.lm.addresses import is_allowed
    from adapters.lm.capabilities import capabilities_of
    from adapters.lm.litellm_client import LitellmLM
    from adapters.lm.lm_settings import LMSettings

    return LitellmLM(
        model,
        capabilities_of(model) if capabilities is None else capabilities,
        api_base=api_base,
        api_version=api_version,
        trusted=api_base is None or api_base_trusted or is_allowed(api_base, allow_hosts),
        timeout=timeout,
        streams=stream,
        settings=LMSettings() if settings is None else settings,
        allow_variables=allow_variables,
    )

"""Language models: the built-in offline ones, and every provider that litellm knows. Importing this loads neither."""

from __future__ import annotations

from collections.abc import Collection

from adapters.lm.addresses import is_allowed
from adapters.lm.capabilities import capabilities_of
from adapters.lm.errors import ProviderError
from adapters.lm.lm_settings import LMSettings
from adapters.lm.protocol import LM, Chunk, HttpRequest, Response, ToolCallPart
from adapters.requests.capabilities import Capabilities

__all__ = [
    "LM",
    "Capabilities",
    "Chunk",
    "HttpRequest",
    "LMSettings",
    "ProviderError",
    "Response",
    "ToolCallPart",
    "capabilities_of",
    "open",
]


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
    """The model of this name: `offline/NAME`, or litellm's `provider/model`.

    `api_base` is an address that overrides the provider's. It gets a key of the environment only when
    `api_base_trusted` (the user gave it) or when its host is in `allow_hosts` (`host` or `host:port`); an address in a
    session file is not trusted. `api_version` is Azure's. `capabilities` replace those of the table. `chunk_seconds`
    is the pause between the chunks of an offline model. `timeout` is in seconds without a byte from a provider; without
    `stream` it is asked for the whole reply in a single piece. Opens no connection and starts no process. Raises
    ProviderError for an offline model that does not exist.
    """
    if model.startswith("offline/"):
        from adapters.lm.offline import OfflineLM

        return OfflineLM(model) if chunk_seconds is None else OfflineLM(model, chunk_seconds)
    from adapters.lm.litellm_client import LitellmLM

    return LitellmLM(
        model,
        capabilities_of(model) if capabilities is None else capabilities,
        api_base=api_base,
        api_version=api_version,
        trusted=api_base is None or api_base_trusted or is_allowed(api_base, allow_hosts),
        timeout=timeout,
        stream=stream,
        settings=LMSettings() if settings is None else settings,
        allow_variables=allow_variables,
    )

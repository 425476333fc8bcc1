"""Models without API key, network or litellm, which reply as the asking adapter would."""

from __future__ import annotations

import copy
import difflib
import re
import time
from collections.abc import Iterator, Mapping
from threading import Event
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from adapters.lm.errors import ProviderError
from adapters.lm.offline.personas import PERSONAS
from adapters.lm.protocol import Chunk
from adapters.requests.capabilities import NONE, Capabilities

if TYPE_CHECKING:
    from adapters.formats.base import Adapter
    from adapters.requests.calls import Request

__all__ = ["NAMES", "OfflineLM"]

NAMES: Mapping[str, str] = MappingProxyType({f"offline/{name}": one.imitates for name, one in PERSONAS.items()})
"""Every offline model, with the failure of real models that it imitates."""

CHUNK_SECONDS = 0.012
"""The pause between two chunks, in seconds; a reply has at most about 40 chunks."""


class OfflineLM:
    """`offline/NAME`, pausing `chunk_seconds` between chunks. Raises ProviderError for a name not in NAMES."""

    def __init__(self, model: str, chunk_seconds: float = CHUNK_SECONDS) -> None:
        name = model.removeprefix("offline/")
        if name not in PERSONAS:
            near = difflib.get_close_matches(name, PERSONAS, n=1)
            hint = f" Did you mean offline/{near[0]}?" if near else f" There are: {', '.join(PERSONAS)}."
            raise ProviderError(f"There is no offline model {name!r}.{hint}", "model")
        self._model = f"offline/{name}"
        self._persona = PERSONAS[name]
        self._chunk_seconds = chunk_seconds
        self._asked_by: tuple[Adapter, Request] | None = None

    @property
    def model(self) -> str:
        return self._model

    @property
    def capabilities(self) -> Capabilities:
        """Return no capabilities: no native tools, reasoning, response schema or parameters."""
        return NONE

    def asked_by(self, adapter: Adapter, request: Request) -> OfflineLM:
        """See `adapters.lm.protocol.WritesAsTheAdapter`; our adapter writes for one of another dspy release."""
        from adapters.formats import catalog

        release = catalog.parse_release(adapter.name)
        found = copy.copy(self)
        found._asked_by = (adapter if release is None else catalog.make(release.adapter), request)
        return found

    def stream(self, request: Mapping[str, Any], cancel: Event | None = None) -> Iterator[Chunk]:
        """See `adapters.lm.protocol.LM`. Ignores all parameters except `n`; reports no usage and no cost."""
        from adapters.lm.offline.task import read

        task = read(request["messages"], *(self._asked_by or ()))
        count = request.get("n")
        for choice in range(count if isinstance(count, int) and count > 1 else 1):
            reply = self._persona.answer(task, str(choice or ""))
            for piece in _chunks(reply.text):
                if self._pause(cancel):
                    return
                yield Chunk(text=piece, choice=choice)
            yield Chunk(finish_reason=reply.finish_reason, choice=choice)

    def _pause(self, cancel: Event | None) -> bool:
        """Wait for the next chunk; return True if cancelled."""
        if cancel is not None:
            return cancel.wait(self._chunk_seconds) if self._chunk_seconds else cancel.is_set()
        if self._chunk_seconds:
            time.sleep(self._chunk_seconds)
        return False


MOST_CHUNKS = 40


def _chunks(text: str) -> list[str]:
    """Cut `text` into at most `MOST_CHUNKS` pieces of a few words each."""
    words = re.findall(r"\s*\S+|\s+", text)
    size = max(3, -(-len(words) // MOST_CHUNKS))
    return ["".join(words[start : start + size]) for start in range(0, len(words), size)]

"""Ask the user's own server what its models can do, on request only and without a key.

Ollama tells it for each model (`POST /api/show`), llama.cpp for the one that it serves (`GET /props`), LM Studio for
each (`GET /api/v0/models/NAME`). vLLM says nothing of the kind, and neither do most others.
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from adapters.lm.servers import ASK_SECONDS, LARGEST, Server


@dataclass(frozen=True)
class Says:
    """None: the server does not say. `source` names the question that it answered."""

    function_calling: bool | None
    reasoning: bool | None
    response_schema: bool | None
    source: str

    def words(self) -> str:
        """For example `it says: tools, no thinking, JSON schema`."""
        facts = (("tools", self.function_calling), ("thinking", self.reasoning), ("JSON schema", self.response_schema))
        return "it says: " + ", ".join(f"{'' if can else 'no '}{what}" for what, can in facts if can is not None)


def asked(server: Server, model: str, seconds: float = ASK_SECONDS) -> Says | None:
    """Ask the server about `provider/NAME`; None when its answer is not understood."""
    name = model.removeprefix(f"{server.provider}/")
    root = server.address.rstrip("/").removesuffix("/v1")
    questions: list[Callable[[], Says | None]] = [lambda: _llama_cpp(_get(f"{root}/props", seconds))]
    if server.provider.startswith("ollama"):
        questions = [lambda: _ollama(_get(f"{root}/api/show", seconds, {"model": name}))]
    elif server.provider == "lm_studio":
        questions.insert(0, lambda: _lm_studio(_get(f"{root}/api/v0/models/{quote(name, safe='')}", seconds)))
    for question in questions:
        said = question()
        if said is not None:
            return said
    return None


def _get(url: str, seconds: float, body: Mapping[str, str] | None = None) -> Mapping[str, Any]:
    """The JSON object at an address; an empty one when there is none."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"} if data else {})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=seconds) as response:
            found = json.loads(response.read(LARGEST))
    except (OSError, ValueError, RecursionError):  # a server without this question, or none at all
        return {}
    return found if isinstance(found, dict) else {}


def _ollama(data: Mapping[str, Any]) -> Says | None:
    found = data.get("capabilities")
    if not isinstance(found, list):
        return None
    # Every model of Ollama's is held to a schema by its grammar, whatever else it can do.
    return Says("tools" in found, "thinking" in found, True, "Ollama's /api/show")


def _llama_cpp(data: Mapping[str, Any]) -> Says | None:
    caps = data.get("chat_template_caps")
    if not isinstance(caps, dict):
        return None
    tools = caps.get("supports_tool_calls")
    return Says(tools if isinstance(tools, bool) else None, None, True, "llama.cpp's /props")


def _lm_studio(data: Mapping[str, Any]) -> Says | None:
    if data.get("object") != "model":
        return None
    found = data.get("capabilities")
    return Says(isinstance(found, list) and "tool_use" in found, None, True, "LM Studio's /api/v0/models")

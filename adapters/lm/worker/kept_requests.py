"""Keep requests instead of sending them: recognise the main request, and sign without credentials.

Loaded by path from `litellm_worker`; imports nothing of this project.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

AWS_KEY = "$AWS_ACCESS_KEY_ID"
VERTEX_TOKEN = "$(gcloud auth print-access-token)"
NO_PROJECT = "$VERTEXAI_PROJECT"
NAMES_OF_CREDENTIALS = (AWS_KEY, VERTEX_TOKEN, NO_PROJECT)
"""Placeholders for credentials in kept requests, in shell syntax."""


def keep_without_credentials(outgoing: Callable[[], Any]) -> None:
    """Sign kept requests to AWS or Vertex with placeholders, without reading credentials or requesting tokens.

    The host of a picture's address is not looked up either, since nothing is fetched from it. `outgoing` returns the
    HTTP traffic of the current task's call.
    """
    from litellm.litellm_core_utils import url_utils
    from litellm.llms.bedrock.base_aws_llm import BaseAWSLLM
    from litellm.llms.vertex_ai.vertex_llm_base import VertexBase

    find: Any = BaseAWSLLM.get_credentials
    token_in_thread: Any = VertexBase._ensure_access_token
    token_in_task: Any = VertexBase._ensure_access_token_async
    look_up: Any = url_utils.validate_url

    def keeps(provider: object = None) -> bool:
        call = outgoing()
        return call is not None and call.kept is not None and provider != "gemini"

    def found(self: object, *given: Any, **named: Any) -> Any:
        if not keeps():
            return find(self, *given, **named)
        return importlib.import_module("botocore.credentials").Credentials(AWS_KEY, "$AWS_SECRET_ACCESS_KEY")

    def in_thread(self: object, credentials: object, project_id: object, custom_llm_provider: object) -> Any:
        if keeps(custom_llm_provider):
            return VERTEX_TOKEN, project_id or _project()
        return token_in_thread(self, credentials, project_id, custom_llm_provider)

    async def in_task(self: object, credentials: object, project_id: object, custom_llm_provider: object) -> Any:
        if keeps(custom_llm_provider):
            return VERTEX_TOKEN, project_id or _project()
        return await token_in_task(self, credentials, project_id, custom_llm_provider)

    url_utils.validate_url = lambda url: (url, urlsplit(url).netloc) if keeps() else look_up(url)
    BaseAWSLLM.get_credentials = found
    VertexBase._ensure_access_token = in_thread
    VertexBase._ensure_access_token_async = in_task


def _project() -> str:
    """Return the project in Google's credentials file, as litellm does."""
    try:
        with open(os.environ.get("GOOGLE_APPLICATION_CREDENTIALS", ""), encoding="utf-8") as file:
            return str(json.load(file)["project_id"])
    except (OSError, ValueError, LookupError, TypeError):
        return NO_PROJECT


def is_for_a_reply(request: Any, asked: Mapping[str, Any]) -> bool:
    """Return whether a kept request contains the last text of the prompt; data of files is written differently."""
    try:
        body = json.loads(request.content)
    except (ValueError, RecursionError):
        return False
    given = [asked.get(name) for name in ("messages", "input", "prompt")]
    read = [one for one in texts_in(given) if one[:5] != "data:"]
    return not read or any(read[-1].strip() in one for one in texts_in(body))


def texts_in(value: object) -> Iterator[str]:
    """Yield every string of a JSON value except keys, roles and types."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from texts_in(one)
    elif isinstance(value, dict):
        for name, one in value.items():
            if name not in ("role", "type"):
                yield from texts_in(one)

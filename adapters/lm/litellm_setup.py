"""How litellm is set up in the child process: it calls the provider alone, retries nothing and reads no file by itself.

Loaded by its path beside `litellm_worker`, with nothing of this project imported.
"""

from __future__ import annotations

import importlib
import itertools
import os
import sys
import types
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

ENVIRONMENT: Mapping[str, str] = {
    # Prices, the table of Anthropic's headers and tokenizers are those that come with litellm: nothing is fetched.
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TRANSFORMERS_OFFLINE": "1",
    # Any other mode reads a `.env` by itself.
    "LITELLM_MODE": "PRODUCTION",
}
"""Variables that the child process has whatever its user's environment says."""

GATEWAY = "litellm.responses.mcp.litellm_proxy_mcp_handler"
GATEWAY_CHAT = "litellm.responses.mcp.chat_completions_handler"


def load() -> Any:
    """litellm, set up. Takes seconds. Raises whatever importing it raises."""
    os.environ.update(ENVIRONMENT)
    import litellm

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.num_retries = 0
    litellm.cache = None
    litellm.disable_hf_tokenizer_download = True
    # litellm breaks off a reply of which a hundred pieces in a row are the same, as in a long ruled line.
    litellm.REPEATED_STREAMING_CHUNK_LIMIT = sys.maxsize
    _rehearse(litellm)
    _leave_gateway_out()
    _watch_for_requests()
    _tell_geminis_finish()
    _tell_coheres_finish()
    return litellm


def _rehearse(litellm: Any) -> None:
    """Loads what litellm would load in the middle of its first call, which would count as the model's time."""
    importlib.import_module("openai.resources")
    litellm.token_counter(model="any", text="any")


_told: ContextVar[Callable[[], None] | None] = ContextVar("told", default=None)


def tell_when_it_goes_out(told: Callable[[], None]) -> None:
    """Has `told` called once, when the first HTTP request of the task that runs is about to be made."""
    _told.set(told)


class ForeignRedirectError(Exception):
    """A server sends the request on to another one, which is none that the user chose: neither prompt nor key go there.

    httpx would take along every header but `Authorization`, so that an `x-api-key` reached the other server.
    """

    def __init__(self, place: str) -> None:
        super().__init__(f"it sends the request on to {place}")


MOST_REDIRECTS = 5


def _next(request: Any, response: Any, followed: int) -> Any:
    """The request that a redirect within the same origin asks for; None when the response is no redirect."""
    following = response.next_request
    if following is None or followed == MOST_REDIRECTS:
        return None
    here, there = request.url, following.url
    if (here.scheme, here.host, here.port) != (there.scheme, there.host, there.port):
        raise ForeignRedirectError(f"{there.scheme}://{there.netloc.decode()}")
    return following


def _watch_for_requests() -> None:
    """Has it told when a request goes out, and follows redirects within an origin alone."""
    import httpx

    def tell() -> None:
        told = _told.get()
        if told is not None:
            _told.set(None)
            told()

    send_in_thread: Any = httpx.Client.send
    send_in_task: Any = httpx.AsyncClient.send

    def send(self: Any, request: Any, **options: Any) -> Any:
        tell()
        options["follow_redirects"] = False
        for followed in itertools.count():
            response = send_in_thread(self, request, **options)
            following = _next(request, response, followed)
            if following is None:
                return response
            response.close()
            request = following

    async def send_async(self: Any, request: Any, **options: Any) -> Any:
        tell()
        options["follow_redirects"] = False
        for followed in itertools.count():
            response = await send_in_task(self, request, **options)
            following = _next(request, response, followed)
            if following is None:
                return response
            await response.aclose()
            request = following

    httpx.Client.send = send  # type: ignore[method-assign]
    httpx.AsyncClient.send = send_async  # type: ignore[method-assign]


def _leave_gateway_out() -> None:
    """Takes the place of litellm's own tool gateway, which no request of ours is for.

    litellm loads it to look whether a request has tools of it, each time one has tools or is for the Responses API;
    it needs `mcp` and the rest of litellm's proxy server, which few have installed.
    """

    class NoGateway:
        @staticmethod
        def should_use_litellm_mcp_gateway(tools: object = None) -> bool:
            return False

    def never_called(*_: object, **__: object) -> None:
        raise NotImplementedError("litellm's tool gateway is not used here")

    handler: Any = types.ModuleType(GATEWAY)
    handler.LiteLLM_Proxy_MCP_Handler = NoGateway
    chat: Any = types.ModuleType(GATEWAY_CHAT)
    chat.acompletion_with_mcp = never_called
    sys.modules[GATEWAY] = handler
    sys.modules[GATEWAY_CHAT] = chat


def _tell_geminis_finish() -> None:
    """Lets only that piece of a Gemini stream end the reply which says so.

    litellm's `ModelResponseIterator.chunk_parser` gives every piece the finish reason "stop" and takes none of them for
    the last, so that a whole reply cannot be told from one that was cut off.
    """
    from litellm.llms.vertex_ai.gemini import vertex_and_google_ai_studio_gemini as gemini

    parse: Any = gemini.ModelResponseIterator.chunk_parser

    def parsed(self: Any, chunk: dict[str, Any]) -> Any:
        made = parse(self, chunk)
        blocked = (chunk.get("promptFeedback") or {}).get("blockReason")
        if made is not None and (blocked or any(one.get("finishReason") for one in chunk.get("candidates") or ())):
            made.hidden_params["is_finished"] = True
        elif made is not None:
            for choice in made.choices:
                choice.finish_reason = None
        return made

    gemini.ModelResponseIterator.chunk_parser = parsed


COHERES_ENDINGS: Mapping[str, str] = {
    "MAX_TOKENS": "length",
    "ERROR_LIMIT": "length",
    "ERROR_TOXIC": "content_filter",
    "TOOL_CALL": "tool_calls",
}


def _tell_coheres_finish() -> None:
    """Gives a reply of Cohere the finish reason that it came with: litellm's `transform_response` leaves it "stop"."""
    from litellm.llms.cohere.chat.v2_transformation import CohereV2ChatConfig

    transform: Any = CohereV2ChatConfig.transform_response

    def transformed(self: Any, model: str, raw_response: Any, *rest: Any, **options: Any) -> Any:
        made = transform(self, model, raw_response, *rest, **options)
        ending = COHERES_ENDINGS.get(raw_response.json().get("finish_reason", ""))
        if ending and made.choices:
            made.choices[0].finish_reason = ending
        return made

    CohereV2ChatConfig.transform_response = transformed

"""Set up litellm in the child process so that it contacts only the provider, retries nothing and reads no `.env`.

Loaded by path from `litellm_worker`; imports nothing of this project.
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import re
import sys
import time
import types
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

ENVIRONMENT: Mapping[str, str] = {
    # Use the prices, Anthropic's header table and the tokenizers that are packaged with litellm; download nothing.
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TRANSFORMERS_OFFLINE": "1",
    # In any other mode litellm reads a `.env` by itself.
    "LITELLM_MODE": "PRODUCTION",
}
"""Variables that override the user's environment in the child process."""


def load() -> Any:
    """Import and set up litellm, in seconds. Raises whatever litellm raises."""
    os.environ.update(ENVIRONMENT)
    import litellm

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.num_retries = 0
    litellm.cache = None
    litellm.disable_hf_tokenizer_download = True
    # litellm aborts a reply with a hundred equal chunks in a row, such as a long horizontal line.
    litellm.REPEATED_STREAMING_CHUNK_LIMIT = sys.maxsize
    # Load what litellm would load during its first call, so that it does not count as the model's time.
    importlib.import_module("openai.resources")
    litellm.token_counter(model="any", text="any")
    _leave_gateway_out()
    _watch_for_requests()
    _tell_geminis_finish()
    _read_whole_answers()
    _let_groq_reply()
    _let_ollama_fail()
    return litellm


OF_LITELLM = ("model", "stream", "stream_options", "usage")
"""The parts of a body that litellm writes: the model's name there, and those that choose the transport of the reply."""


class Outgoing:
    """The HTTP traffic of a call. `told` is called once, just before the first request is sent.

    `is_streamed`: whether litellm was asked for a stream. `answer` is a non-streamed response to such a request.
    `answered_at` is the time of the last response, including its body unless streamed. `status` and `content_type` are
    those of the last response, which litellm may change. `refusals`, by choice, and `said_done` are parts of its body
    that some releases of litellm drop. With `keeps`, requests are stored in `kept` instead of sent. `body` replaces the
    body that litellm writes, except `OF_LITELLM`.
    """

    def __init__(self, told: Callable[[], None], body: Mapping[str, Any] | None, keeps: bool) -> None:
        self.body = body
        self.told: Callable[[], None] | None = told
        self.kept: list[Any] | None = [] if keeps else None
        self.is_streamed = False
        self.answer: Any = None
        self.answered_at: float | None = None
        self.status: int | None = None
        self.content_type = ""
        self.refusals: dict[int, str] = {}
        self.citations: list[tuple[Any, Any]] = []
        """The citations of a stream from Anthropic, each with the index of its block."""
        self.blocks: dict[Any, list[str]] = {}
        """The text of the blocks of that stream, in pieces."""
        self.said_done = False
        self.failed_ending = ""
        """The finish reason of a failure, which litellm turns into "stop"."""
        self.response: Any = None
        self.error: Any = None
        """The error in the body of a non-streamed response, whatever its status."""

    def written(self, request: Any) -> Any:
        """Return the request with `body` in place of litellm's; the request itself without one."""
        if self.body is None or not request.content:
            return request
        by_litellm = json.loads(request.content)
        body = {name: by_litellm[name] for name in OF_LITELLM if name in by_litellm} | dict(self.body)
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        headers = [(name, value) for name, value in request.headers.raw if name.lower() != b"content-length"]
        return type(request)(
            request.method, request.url, headers=headers, content=content, extensions=request.extensions
        )

    def note(self, response: Any) -> None:
        """Record a response; inspect its body unless it is streamed."""
        self.answered_at = time.monotonic()
        self.response = response
        self.status, self.content_type = response.status_code, response.headers.get("content-type", "")
        self.refusals, self.said_done, self.failed_ending, self.error = {}, False, "", None
        self.citations, self.blocks = [], {}
        if response.is_stream_consumed and _TELLING.search(response.content):
            # Not every body is a chat completion.
            with suppress(ValueError, LookupError, TypeError, AttributeError, RecursionError):
                answer = json.loads(response.content)
                is_error = answer.get("object") == "error"  # of vLLM and Mistral
                self.error = answer if is_error else answer.get("error")
                said = [(one.get("index") or 0, one["message"].get("refusal")) for one in answer.get("choices") or ()]
                self.refusals = {index: refusal for index, refusal in said if isinstance(refusal, str) and refusal}


_TELLING = re.compile(rb'"(refusal|error)"')


_outgoing: ContextVar[Outgoing | None] = ContextVar("outgoing", default=None)
outgoing = _outgoing.get
"""Return the HTTP traffic of the current task's call, if any."""


def follow(told: Callable[[], None], body: Mapping[str, Any] | None, keeps: bool = False) -> Outgoing:
    """Follow the HTTP requests that the current task makes from now on."""
    made = Outgoing(told, body, keeps)
    _outgoing.set(made)
    return made


class WholeAnswerError(Exception):
    """A server sent a complete response to a request for a stream; it is in `Outgoing.answer`."""


def _door(request: Any) -> str:
    """Return a request's path, the same for both variants of some providers: `…/converse`, `…/converse-stream`."""
    return re.sub("-?stream", "", request.url.path.lower())


_STREAM = re.compile(rb'"stream"\s*:\s*true')


class ForeignRedirectError(Exception):
    """A redirect to a server that the user did not choose; it receives neither prompt nor API key.

    httpx would drop only `Authorization`, so that a key in `x-api-key` would reach the other server.
    """


MOST_REDIRECTS = 5

_ENCODED = ("content-encoding", "content-length", "transfer-encoding")
"""Headers that describe the encoded body, which is decoded here."""


def _next(request: Any, response: Any, followed: int) -> Any:
    """Return the next request of a redirect within the same origin; None if there is no redirect to follow.

    Raises ForeignRedirectError.
    """
    following = response.next_request
    if following is None or followed == MOST_REDIRECTS:
        return None
    here, there = request.url, following.url
    if (here.scheme, here.host, here.port) != (there.scheme, there.host, there.port):
        raise ForeignRedirectError(f"it sends the request on to {there.scheme}://{there.netloc.decode()}")
    return following


def _watch_for_requests() -> None:
    """Patch httpx to report when a request is sent, and to follow redirects only within an origin.

    A complete response to a request for a stream raises WholeAnswerError, because litellm would read it as a stream.
    The task's next request, which asks for a complete reply, receives that response without being sent.
    """
    import httpx

    def to_send(request: Any) -> Any:
        outgoing = _outgoing.get()
        if outgoing is None:
            return request
        request = outgoing.written(request)
        if outgoing.kept is not None:
            outgoing.kept.append(request)
            raise httpx.ConnectError("kept, not sent", request=request)
        if outgoing.told is not None:
            told, outgoing.told = outgoing.told, None
            told()
        return request

    async def keep_whole(request: Any, response: Any) -> None:
        outgoing = _outgoing.get()
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        is_for_a_stream = "stream" in request.url.path.lower() or _STREAM.search(request.content) is not None
        if outgoing is None or not (outgoing.is_streamed and is_for_a_stream and response.is_success):
            return
        if kind == "application/json":
            try:
                json.loads(await response.aread())
            except (ValueError, RecursionError):
                return
            outgoing.note(response)
            outgoing.answer = response
            raise WholeAnswerError

    send_in_thread: Any = httpx.Client.send
    send_in_task: Any = httpx.AsyncClient.send

    def send(self: object, request: Any, **options: Any) -> Any:
        """Send a request beside the call's, such as litellm's question to Ollama."""
        request = to_send(request)
        for followed in itertools.count():
            response = send_in_thread(self, request, **{**options, "follow_redirects": False})
            if (call := _outgoing.get()) is not None:
                call.note(response)
            request = _next(request, response, followed)
            if request is None:
                return response
            response.close()

    async def send_async(self: object, request: Any, **options: Any) -> Any:
        call = _outgoing.get()
        if call is not None and call.answer is not None and _door(request) == _door(call.answer.request):
            answer, call.answer = call.answer, None
            headers = [(name, value) for name, value in answer.headers.multi_items() if name.lower() not in _ENCODED]
            return httpx.Response(answer.status_code, headers=headers, content=answer.content, request=request)
        request = to_send(request)
        for followed in itertools.count():
            response = await send_in_task(self, request, **{**options, "follow_redirects": False})
            if (call := _outgoing.get()) is not None:
                call.note(response)
            following = _next(request, response, followed)
            if following is None:
                await keep_whole(request, response)
                return response
            await response.aclose()
            request = following

    httpx.Client.send = send  # type: ignore[method-assign]
    httpx.AsyncClient.send = send_async  # type: ignore[method-assign]


def _leave_gateway_out() -> None:
    """Replace litellm's tool gateway, which the workbench never uses, by a stub.

    litellm loads it for every request with tools or for the Responses API. It requires `mcp` and the other dependencies
    of litellm's proxy server, which are rarely installed.
    """
    handler: Any = types.ModuleType("litellm_proxy_mcp_handler")
    handler.LiteLLM_Proxy_MCP_Handler = types.SimpleNamespace(should_use_litellm_mcp_gateway=lambda tools=None: False)
    chat: Any = types.ModuleType("chat_completions_handler")
    chat.acompletion_with_mcp = None  # never called
    for made in (handler, chat):
        sys.modules[f"litellm.responses.mcp.{made.__name__}"] = made


def _tell_geminis_finish() -> None:
    """Report the finish reason of a Gemini stream only on the chunk that contains it.

    litellm's `ModelResponseIterator.chunk_parser` gives every chunk the finish reason "stop" and treats none as the
    last, so that complete and truncated replies look the same.
    """
    from litellm.llms.vertex_ai.gemini import vertex_and_google_ai_studio_gemini as gemini

    parse: Any = gemini.ModelResponseIterator.chunk_parser

    def parsed(self: object, chunk: dict[str, Any]) -> Any:
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
    "ERROR": "ERROR",
    "TIMEOUT": "TIMEOUT",
}


def _after_reading(config: Any, change: Callable[[Any, Any], None]) -> None:
    """Call `change` with each response that litellm's `config` has read from a body, and that body."""
    transform: Any = config.transform_response

    def transformed(self: Any, model: str, raw_response: Any, *rest: Any, **options: Any) -> Any:
        made = transform(self, model, raw_response, *rest, **options)
        change(made, raw_response.json())
        return made

    config.transform_response = transformed


def _read_whole_answers() -> None:
    """Read the parts of whole answers that litellm's `transform_response` drops.

    Of Cohere's answers it drops the finish reason (it says "stop") and the reasoning. Of an answer from Fireworks
    without `choices` it makes an empty reply, where the call failed.
    """
    from litellm.llms.cohere.chat.v2_transformation import CohereV2ChatConfig
    from litellm.llms.fireworks_ai.chat.transformation import FireworksAIConfig

    def change(made: Any, said: Any) -> None:
        choice = made.choices[0]
        choice.finish_reason = COHERES_ENDINGS.get(said.get("finish_reason", ""), choice.finish_reason)
        thoughts = [part.get("thinking") or "" for part in said["message"].get("content") or ()]
        choice.message.reasoning_content = "".join(thoughts)

    _after_reading(CohereV2ChatConfig, change)
    _after_reading(FireworksAIConfig, lambda made, said: said["choices"])


def _let_groq_reply() -> None:
    """Accept Groq's replies without `service_tier`, on which litellm's `GroqChatConfig` fails; keep their reasoning."""
    import httpx
    from litellm.llms.groq.chat.transformation import GroqChatConfig

    transform: Any = GroqChatConfig.transform_response

    def transformed(self: Any, model: str, raw_response: Any, *rest: Any, **options: Any) -> Any:
        try:
            said = raw_response.json()
        except ValueError:
            said = None
        if isinstance(said, dict):
            for choice in said["choices"]:  # without, litellm makes an empty reply
                choice["message"].setdefault("reasoning_content", choice["message"].get("reasoning"))
            content = json.dumps({"service_tier": None, **said})
            raw_response = httpx.Response(raw_response.status_code, content=content, request=raw_response.request)
        return transform(self, model, raw_response, *rest, **options)

    GroqChatConfig.transform_response = transformed


def _let_ollama_fail() -> None:
    """Report an error in the middle of Ollama's stream, a line `{"error": …}`, as the server's.

    litellm's `OllamaChatCompletionResponseIterator` loses its message and reports an error of the request.
    """
    from litellm.llms.ollama.chat import transformation
    from litellm.llms.ollama.common_utils import OllamaError

    iterator: Any = transformation.OllamaChatCompletionResponseIterator
    parse = iterator.chunk_parser

    def parsed(self: object, chunk: dict[str, Any]) -> Any:
        if "error" in chunk and "message" not in chunk:
            raise OllamaError(status_code=500, message=str(chunk["error"]), headers={})
        return parse(self, chunk)

    iterator.chunk_parser = parsed

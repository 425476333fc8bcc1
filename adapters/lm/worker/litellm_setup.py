"""Set up litellm in the child process: it calls only the provider, retries nothing and reads no files.

Loaded by its path beside `litellm_worker`, with nothing of this project imported.
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
    _send_anthropic_what_litellm_would_refuse()
    _send_gemini_the_body_as_it_is()
    _let_groq_name_no_tier()
    _let_ollama_fail()
    _keep_without_credentials()
    return litellm


def _rehearse(litellm: Any) -> None:
    """Loads what litellm would load in the middle of its first call, which would count as the model's time."""
    importlib.import_module("openai.resources")
    litellm.token_counter(model="any", text="any")


class Outgoing:
    """The HTTP traffic of a call: `told` is called once, when its first request is about to go out.

    `is_streamed`: whether litellm is asked for a stream. `answer` is the whole answer that a server gave to that.
    `answered_at` is when the last answer had come, its body included unless that is streamed. `status` and
    `content_type` are the last answer's, however litellm puts it; `refusals`, by choice, and `said_done` are what its
    body said and litellm drops, depending on its release. With `keeps`, requests are kept and none of them goes out.
    """

    def __init__(self, told: Callable[[], None], keeps: bool) -> None:
        self.told: Callable[[], None] | None = told
        self.kept: list[Any] | None = [] if keeps else None
        self.is_streamed = False
        self.answer: Any = None
        self.answered_at: float | None = None
        self.status: int | None = None
        self.content_type = ""
        self.refusals: dict[int, str] = {}
        self.said_done = False
        self.is_error = False
        """Whether a whole answer is an error, whatever its status."""

    def note(self, response: Any) -> None:
        """Note an answer that has come; its body is read where it was not asked for as a stream."""
        self.answered_at = time.monotonic()
        self.status, self.content_type = response.status_code, response.headers.get("content-type", "")
        self.refusals, self.said_done, self.is_error = {}, False, False
        if response.is_stream_consumed and _TELLING.search(response.content):
            self._note_body(response.content)

    def _note_body(self, body: bytes) -> None:
        try:
            answer = json.loads(body)
            self.is_error = bool(answer.get("error"))
            said = [(one.get("index") or 0, one["message"].get("refusal")) for one in answer.get("choices") or ()]
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return  # no chat completion
        self.refusals = {index: refusal for index, refusal in said if isinstance(refusal, str) and refusal}


_TELLING = re.compile(rb'"(refusal|error)"')


_outgoing: ContextVar[Outgoing | None] = ContextVar("outgoing", default=None)


def outgoing() -> Outgoing | None:
    """Return what is known of the call that the running task makes."""
    return _outgoing.get()


def keeps() -> bool:
    """Return whether the running task keeps its requests."""
    outgoing = _outgoing.get()
    return outgoing is not None and outgoing.kept is not None


def follow(told: Callable[[], None], keeps: bool = False) -> Outgoing:
    """Follow the HTTP requests that the running task makes from now on."""
    made = Outgoing(told, keeps)
    _outgoing.set(made)
    return made


def note(response: Any) -> None:
    """Note an answer that has come to a request of the running task."""
    outgoing = _outgoing.get()
    if outgoing is not None:
        outgoing.note(response)


class WholeAnswerError(Exception):
    """A server does not stream, and has sent all at once: `Outgoing.answer` has it."""


def _is_for_a_stream(request: Any) -> bool:
    return "stream" in request.url.path.lower() or _STREAM.search(request.content) is not None


def _door(request: Any) -> str:
    """The path of a request, which some providers have two of: `…/converse` and `…/converse-stream`."""
    return re.sub("-?stream", "", request.url.path.lower())


def _is_whole(response: Any) -> bool:
    """Return whether the body, which has been read, is one JSON value."""
    try:
        json.loads(response.content)
    except (ValueError, RecursionError):
        return False
    return True


_STREAM = re.compile(rb'"stream"\s*:\s*true')


class ForeignRedirectError(Exception):
    """A server sends the request on to another one, which is none that the user chose: neither prompt nor key go there.

    httpx would take along every header but `Authorization`, so that an `x-api-key` reached the other server.
    """

    def __init__(self, place: str) -> None:
        super().__init__(f"it sends the request on to {place}")


MOST_REDIRECTS = 5

_ENCODED = ("content-encoding", "content-length", "transfer-encoding")
"""Headers of a body as it went over the network."""


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
    """Has it told when a request goes out, and follows redirects within an origin alone.

    A whole answer to a request for a stream ends that call, for litellm would read it as a stream; the next request of
    the same task, which asks for the whole, gets it and does not go out.
    """
    import httpx

    def tell(request: Any) -> None:
        outgoing = _outgoing.get()
        if outgoing is not None and outgoing.kept is not None:
            outgoing.kept.append(request)
            raise httpx.ConnectError("kept, not sent", request=request)
        if outgoing is not None and outgoing.told is not None:
            told, outgoing.told = outgoing.told, None
            told()

    def keeps_whole(request: Any, response: Any) -> bool:
        outgoing = _outgoing.get()
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        return (
            outgoing is not None
            and outgoing.is_streamed
            and response.is_success
            and kind == "application/json"
            and _is_for_a_stream(request)
        )

    def keep(request: Any, response: Any) -> None:
        outgoing = _outgoing.get()
        if outgoing is not None and _is_whole(response):
            outgoing.note(response)
            outgoing.answer = response
            raise WholeAnswerError

    def kept(request: Any) -> Any:
        outgoing = _outgoing.get()
        if outgoing is None or outgoing.answer is None or _door(request) != _door(outgoing.answer.request):
            return None
        answer, outgoing.answer = outgoing.answer, None
        headers = [(name, value) for name, value in answer.headers.multi_items() if name.lower() not in _ENCODED]
        return httpx.Response(answer.status_code, headers=headers, content=answer.content, request=request)

    send_in_thread: Any = httpx.Client.send
    send_in_task: Any = httpx.AsyncClient.send

    def send(self: Any, request: Any, **options: Any) -> Any:
        whole = kept(request)
        if whole is not None:
            return whole
        tell(request)
        options["follow_redirects"] = False
        for followed in itertools.count():
            response = send_in_thread(self, request, **options)
            note(response)
            following = _next(request, response, followed)
            if following is None:
                if keeps_whole(request, response):
                    response.read()
                    keep(request, response)
                return response
            response.close()
            request = following

    async def send_async(self: Any, request: Any, **options: Any) -> Any:
        whole = kept(request)
        if whole is not None:
            return whole
        tell(request)
        options["follow_redirects"] = False
        for followed in itertools.count():
            response = await send_in_task(self, request, **options)
            note(response)
            following = _next(request, response, followed)
            if following is None:
                if keeps_whole(request, response):
                    await response.aread()
                    keep(request, response)
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


def _send_anthropic_what_litellm_would_refuse() -> None:
    """Writes `extra_body` into a request to Anthropic, as litellm does for most providers.

    litellm would write it there under that name. What it refuses of a model by its own table, or leaves out, gets by.
    """
    from litellm.llms.anthropic.chat.transformation import AnthropicConfig

    transform: Any = AnthropicConfig.transform_request

    def transformed(self: Any, model: str, messages: Any, optional_params: Any, *rest: Any, **options: Any) -> Any:
        extra = optional_params.pop("extra_body", None) if isinstance(optional_params, dict) else None
        made = transform(self, model, messages, optional_params, *rest, **options)
        return {**made, **extra} if isinstance(extra, dict) else made

    AnthropicConfig.transform_request = transformed


def _send_gemini_the_body_as_it_is() -> None:
    """Has a part of `extra_body` stand in place of litellm's own in a request to Gemini, and none where it is empty.

    litellm would add its own settings to those that the part has, as a temperature of 1.0.
    """
    from litellm.llms.vertex_ai.gemini import transformation

    merge: Any = transformation._pop_and_merge_extra_body

    def merged(data: Any, optional_params: dict[str, Any]) -> None:
        extra = optional_params.get("extra_body") or {}
        for name in ("generationConfig", "contents"):
            if name in extra:
                data.pop(name, None)
        merge(data, optional_params)
        if data.get("generationConfig") == {}:
            del data["generationConfig"]

    transformation._pop_and_merge_extra_body = merged


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


def _let_groq_name_no_tier() -> None:
    """Accept Groq's replies without `service_tier`, on which litellm's `GroqChatConfig` fails."""
    import httpx
    from litellm.llms.groq.chat.transformation import GroqChatConfig

    transform: Any = GroqChatConfig.transform_response

    def transformed(self: Any, model: str, raw_response: Any, *rest: Any, **options: Any) -> Any:
        try:
            said = raw_response.json()
        except ValueError:
            said = None
        if isinstance(said, dict) and "service_tier" not in said:
            content = json.dumps({**said, "service_tier": None})
            raw_response = httpx.Response(raw_response.status_code, content=content, request=raw_response.request)
        return transform(self, model, raw_response, *rest, **options)

    GroqChatConfig.transform_response = transformed


def _let_ollama_fail() -> None:
    """Takes an error in the middle of Ollama's stream, a line `{"error": …}`, for the server's own.

    litellm's `OllamaChatCompletionResponseIterator` misses the message in it and blames the request.
    """
    from litellm.llms.ollama.chat import transformation
    from litellm.llms.ollama.common_utils import OllamaError

    iterator: Any = transformation.OllamaChatCompletionResponseIterator
    parse = iterator.chunk_parser

    def parsed(self: Any, chunk: dict[str, Any]) -> Any:
        if "error" in chunk and "message" not in chunk:
            raise OllamaError(status_code=500, message=str(chunk["error"]), headers={})
        return parse(self, chunk)

    iterator.chunk_parser = parsed


AWS_KEY = "$AWS_ACCESS_KEY_ID"
VERTEX_TOKEN = "$(gcloud auth print-access-token)"
NO_PROJECT = "$VERTEXAI_PROJECT"
NAMES_OF_CREDENTIALS = (AWS_KEY, VERTEX_TOKEN, NO_PROJECT)
"""What stands for credentials in kept requests, as a shell reads it."""


def _keep_without_credentials() -> None:
    """Signs a kept request to AWS or Vertex with the names of credentials: none is read, and no server gives one."""
    from litellm.llms.bedrock.base_aws_llm import BaseAWSLLM
    from litellm.llms.vertex_ai.vertex_llm_base import VertexBase

    find: Any = BaseAWSLLM.get_credentials
    token_in_thread: Any = VertexBase._ensure_access_token
    token_in_task: Any = VertexBase._ensure_access_token_async

    def found(self: Any, *given: Any, **named: Any) -> Any:
        if not keeps():
            return find(self, *given, **named)
        return importlib.import_module("botocore.credentials").Credentials(AWS_KEY, "$AWS_SECRET_ACCESS_KEY")

    def in_thread(self: Any, credentials: Any, project_id: Any, custom_llm_provider: Any) -> Any:
        if keeps() and custom_llm_provider != "gemini":
            return VERTEX_TOKEN, project_id or _project()
        return token_in_thread(self, credentials, project_id, custom_llm_provider)

    async def in_task(self: Any, credentials: Any, project_id: Any, custom_llm_provider: Any) -> Any:
        if keeps() and custom_llm_provider != "gemini":
            return VERTEX_TOKEN, project_id or _project()
        return await token_in_task(self, credentials, project_id, custom_llm_provider)

    BaseAWSLLM.get_credentials = found
    VertexBase._ensure_access_token = in_thread
    VertexBase._ensure_access_token_async = in_task


def _project() -> str:
    """Return the project that a file of Google's credentials names, as litellm takes it."""
    try:
        with open(os.environ.get("GOOGLE_APPLICATION_CREDENTIALS", ""), encoding="utf-8") as file:
            return str(json.load(file)["project_id"])
    except (OSError, ValueError, LookupError, TypeError):
        return NO_PROJECT

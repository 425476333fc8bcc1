"""The child process that calls models through litellm: JSON lines in on standard input, JSON lines out.

Run by its path, with nothing of this project imported, so that it never matters which packages are called `adapters`
where it runs. In: `{"op": "complete", "id", "request", "options"}`, `{"op": "cancel", "id"}`,
`{"op": "count", "id", "model", "messages"}`, `{"op": "environment", "set", "unset"}`. Out: `ready`, then per id `sent`,
any number of `chunk`, and exactly one of `done`, `error` and `cancelled`; or `count`. It ends when its standard input
does.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import sys
import threading
from collections.abc import Mapping
from typing import Any, BinaryIO

MAX_BODY = 20_000
"""Characters kept of an error's body."""

NICENESS = 5
"""Whoever waits for a reply can wait for it a moment longer than for what they type."""

Message = dict[str, Any]


class Output:
    """Writes one JSON object a line; safe from several threads."""

    def __init__(self, pipe: BinaryIO) -> None:
        self._pipe = pipe
        self._lock = threading.Lock()

    def send(self, **message: Any) -> None:
        line = json.dumps(message, default=str).encode() + b"\n"
        with self._lock:
            try:
                self._pipe.write(line)
                self._pipe.flush()
            except OSError:
                os._exit(0)


def main() -> None:
    protocol = os.fdopen(os.dup(1), "wb")
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    os.dup2(2, 1)  # whatever litellm prints goes where standard error goes, never among the messages
    output = Output(protocol)
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    # Any other mode reads a `.env` by itself.
    os.environ["LITELLM_MODE"] = "PRODUCTION"
    try:
        import litellm
    except Exception as error:
        output.send(op="unusable", message=f"{type(error).__name__}: {error}")
        return
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.num_retries = 0
    litellm.cache = None
    # litellm breaks off a reply of which a hundred pieces in a row are the same, as in a long ruled line.
    litellm.REPEATED_STREAMING_CHUNK_LIMIT = sys.maxsize
    watch_for_done()
    asyncio.run(serve(litellm, output))


async def serve(litellm: Any, output: Output) -> None:
    loop = asyncio.get_running_loop()
    arrived: asyncio.Queue[Message] = asyncio.Queue()

    def read() -> None:
        for line in sys.stdin.buffer:
            loop.call_soon_threadsafe(arrived.put_nowait, json.loads(line))
        # The parent is gone or has closed the pipe: nothing that still runs matters to anyone.
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    output.send(op="ready")
    tasks: dict[int, asyncio.Task[None]] = {}
    while True:
        message = await arrived.get()
        if message["op"] == "environment":
            for name in message["unset"]:
                os.environ.pop(name, None)
            os.environ.update(message["set"])
            continue
        number = message["id"]
        if message["op"] == "complete":
            tasks[number] = asyncio.create_task(complete(litellm, output, message))
            tasks = {other: task for other, task in tasks.items() if not task.done()}
        elif message["op"] == "cancel" and number in tasks:
            tasks[number].cancel()
        elif message["op"] == "count":
            output.send(op="count", id=number, tokens=tokens(message["model"], message["messages"]))


async def complete(litellm: Any, output: Output, message: Message) -> None:
    number = message["id"]
    try:
        await stream(litellm, output, number, message["request"], message["options"])
    except asyncio.CancelledError:
        output.send(op="cancelled", id=number)
    except BaseException as error:
        output.send(op="error", id=number, error=facts_of(error))
    else:
        output.send(op="done", id=number)


async def stream(litellm: Any, output: Output, number: int, request: Message, options: Message) -> None:
    output.send(op="sent", id=number)
    wrapper = await litellm.acompletion(
        **request,
        **options,
        **without_mcp(request),
        stream=True,
        stream_options={"include_usage": True},
        num_retries=0,
        max_retries=0,
    )
    anything = finished = False
    last: Any = None
    async for chunk in wrapper:
        last = chunk
        for choice in chunk.choices:
            delta = choice.delta
            piece: Message = {}
            if delta.content:
                piece["text"] = delta.content
            if getattr(delta, "reasoning_content", None):
                piece["reasoning"] = delta.reasoning_content
            if delta.tool_calls:
                piece["tool_calls"] = [tool_call(one) for one in delta.tool_calls]
            if getattr(choice, "logprobs", None):
                piece["logprobs"] = plain(choice.logprobs)
            # litellm invents a finish reason at the end of a stream that gave none.
            if choice.finish_reason and wrapper.received_finish_reason:
                piece["finish_reason"] = choice.finish_reason
                finished = True
            if piece:
                anything = True
                output.send(op="chunk", id=number, choice=choice.index or 0, **piece)
    if not (finished or wrapper.received_finish_reason or said_done(wrapper)):
        raise UnfinishedStreamError(wrapper, anything)
    # Where the provider counts nothing, litellm's last chunk holds its own estimate.
    counted = [one.usage for one in getattr(wrapper, "chunks", ()) or () if getattr(one, "usage", None) is not None]
    ending: Message = {"raw": ending_of(last)}
    if counted:
        ending["usage"] = {name: value for name, value in plain(counted[-1]).items() if name != "cost"}
        ending["cost"] = cost(litellm, request["model"], counted[-1])
    output.send(op="chunk", id=number, choice=0, **ending)


def watch_for_done() -> None:
    """Makes OpenAI's streams remember a closing `[DONE]`: some servers send that and no finish reason."""
    streams: Any = getattr(sys.modules.get("openai"), "AsyncStream", None)
    iterate = getattr(streams, "_iter_events", None)
    if iterate is None:
        return

    async def watched(self: Any) -> Any:
        async for event in iterate(self):
            if event.data.startswith("[DONE]"):
                self.said_done = True
            yield event

    streams._iter_events = watched


def said_done(wrapper: Any) -> bool:
    return getattr(getattr(wrapper, "completion_stream", None), "said_done", False)


def without_mcp(request: Message) -> Message:
    """What keeps litellm from looking for tools of its own gateway, for which it imports a package that few have."""
    if "tools" not in request:
        return {}
    try:
        known = importlib.util.find_spec("litellm.responses.mcp.chat_completions_handler") is not None
    except ImportError:
        known = False
    return {"_skip_mcp_handler": True} if known else {}


def tool_call(part: Any) -> Message:
    function = part.function
    return {
        "index": part.index or 0,
        "id": part.id or "",
        "name": function.name or "",
        "arguments": function.arguments or "",
    }


def ending_of(chunk: Any) -> Message:
    """What the provider says about the whole reply: its id, the model that answered, and the like."""
    if chunk is None:
        return {}
    return {
        name: value for name, value in plain(chunk).items() if name not in ("choices", "usage") and value is not None
    }


def cost(litellm: Any, model: str, usage: Any) -> float | None:
    """US dollars; None when litellm knows no price. Its 0 means just that for every model that is not free."""
    try:
        dollars = sum(
            litellm.cost_per_token(
                model=model,
                prompt_tokens=usage.prompt_tokens,
                completion_tokens=usage.completion_tokens,
                usage_object=usage,
            )
        )
    except Exception:
        return None
    return float(dollars) or None


def tokens(model: str, messages: list[Message]) -> int | None:
    """The prompt tokens that OpenAI counts for chat messages of text; None where its tokenizer is not at hand.

    Rule: openai-cookbook, "How to count tokens with tiktoken": three a message and three for the reply's beginning.
    """
    import hashlib
    import importlib

    try:
        # Tells tiktoken where litellm keeps its vocabularies.
        importlib.import_module("litellm.litellm_core_utils.default_encoding")
        import tiktoken

        name = tiktoken.encoding_name_for_model(model)
        url = f"https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"
        kept = os.path.join(os.environ["TIKTOKEN_CACHE_DIR"], hashlib.sha1(url.encode()).hexdigest())
        if not os.path.exists(kept):  # tiktoken would fetch it
            return None
        encoding = tiktoken.get_encoding(name)
        texts = [text for one in messages for text in (one["role"], one["content"])]
        return 3 + 3 * len(messages) + sum(len(encoding.encode(text, disallowed_special=())) for text in texts)
    except Exception:
        return None


class UnfinishedStreamError(Exception):
    """A stream that ended without a finish reason."""

    def __init__(self, wrapper: Any, anything: bool) -> None:
        super().__init__("the stream ended without a finish reason")
        self.anything = anything
        self.response = getattr(getattr(wrapper, "completion_stream", None), "response", None)


def facts_of(error: BaseException) -> Message:
    """What is known of a failure, as plain JSON; the parent puts it into words."""
    chain: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and one not in chain and len(chain) < 12:
        chain.append(one)
        one = one.__cause__ or one.__context__
    facts: Message = {
        "types": [cls.__name__ for cls in type(error).__mro__ if cls.__module__ != "builtins"]
        or [type(error).__name__],
        "message": str(error)[:MAX_BODY],
        "causes": [{"type": type(cause).__name__, "message": str(cause)[:2000]} for cause in chain[1:]],
        "status": status_of(chain),
    }
    for cause in chain:
        response = getattr(cause, "response", None)
        headers = headers_of(cause)
        if "retry_after" not in facts and (headers.get("retry-after") or headers.get("llm_provider-retry-after")):
            facts["retry_after"] = headers.get("retry-after") or headers.get("llm_provider-retry-after")
        if "body" not in facts and getattr(cause, "body", None):
            facts["body"] = plain(cause.body)  # type: ignore[attr-defined]
        if "text" not in facts:
            text = text_of(response)
            if text:
                facts["text"] = text[:MAX_BODY]
                facts["content_type"] = headers.get("content-type", "")
    if isinstance(error, UnfinishedStreamError):
        facts["anything"] = error.anything
        facts["content_type"] = headers_of(error).get("content-type", "")
    for name in ("llm_provider", "code", "param"):
        value = getattr(error, name, None)
        if isinstance(value, str) and value:
            facts[name] = value
    return facts


def status_of(chain: list[BaseException]) -> int | None:
    """The HTTP status nearest to the wire: what stands around it is sometimes litellm's invention."""
    for cause in reversed(chain):
        for owner in (getattr(cause, "response", None), cause):
            status = getattr(owner, "status_code", None)
            if isinstance(status, int):
                return status
    return None


def headers_of(error: BaseException) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for owner in (error, getattr(error, "response", None)):
        for name in ("litellm_response_headers", "headers"):
            headers = getattr(owner, name, None)
            if headers:
                found.update({str(key).lower(): str(value) for key, value in dict(headers).items()})
    return found


def text_of(response: Any) -> str:
    try:
        return str(response.text) if response is not None and response.content else ""
    except Exception:
        return ""  # a streamed body that was never read


def plain(value: Any) -> Any:
    """`value` as plain JSON, without the keys that are None."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_none=True)
    return json.loads(json.dumps(value, default=str))


if __name__ == "__main__":
    main()

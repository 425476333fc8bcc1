"""Call models through litellm in a child process that exchanges JSON lines on standard input and output.

The file is run by path and imports nothing of this project, so that another package called `adapters` does not matter.
The process ends when its standard input is closed.

Input:

- `{"op": "complete", "id", "request", "options", "stream", "api", "times", "body"?, "class"?, "key_of"?}`
- `{"op": "keep", …}` with the same members, which sends nothing
- `{"op": "cancel", "id"}`
- `{"op": "count", "id", "model", "texts"}`
- `{"op": "facts", "id", "models"}`
- `{"op": "environment", "set", "unset"}`

Output: first `ready` (or `unusable`, and the process ends), then per id:

- `complete`: `sent` (with `prepared_s`) when the request is sent, any number of `chunk`, then exactly one of `done`
  (with `took_s`, the seconds from sending to the end of the response), `error` and `cancelled`
- `keep`: `request` (`method`, `url`, `headers`, `body`, `names`) or `error`
- `count`: `count`; `facts`: `facts`
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import os
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO


def beside(name: str) -> Any:
    """Load the module `name` from this folder, which is not on the import path."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if TYPE_CHECKING:
    from adapters.lm.worker import failure_facts, kept_requests, litellm_setup, questions, replies, streams
    from adapters.lm.worker.replies import Piece
else:
    failure_facts = beside("failure_facts")
    kept_requests = beside("kept_requests")
    litellm_setup = beside("litellm_setup")
    questions = beside("questions")
    replies = beside("replies")
    streams = beside("streams")

NICENESS = 5
"""The process's niceness, so that the app stays responsive to typing."""

ABOUT_RESPONSES = ("id", "object", "created_at", "model", "status", "incomplete_details", "service_tier")
"""The metadata of a Responses answer; its other members repeat the request."""

Message = dict[str, Any]


class Output:
    """Writes one JSON object per line; thread-safe."""

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
    os.dup2(2, 1)  # redirect anything that litellm prints to standard error, away from the messages
    output = Output(protocol)
    try:
        litellm = litellm_setup.load()
        if len(sys.argv) > 1:
            questions.use_table(litellm, sys.argv[1])
        kept_requests.keep_without_credentials(litellm_setup.outgoing)
        streams.keep_lost_parts(litellm_setup.outgoing)
        streams.join_events(importlib.import_module("httpx").Response)
    except Exception as error:  # reported to the parent process, which informs the user
        output.send(op="unusable", message=f"{type(error).__name__}: {error}")
        return
    asyncio.run(serve(litellm, output))


async def serve(litellm: object, output: Output) -> None:
    loop = asyncio.get_running_loop()
    arrived: asyncio.Queue[Message] = asyncio.Queue()

    def read() -> None:
        for line in sys.stdin.buffer:
            loop.call_soon_threadsafe(arrived.put_nowait, json.loads(line))
        # The parent has ended or closed the pipe, so the results are not needed any more.
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    output.send(op="ready")
    tasks: dict[int, asyncio.Task[None]] = {}
    while True:
        message = await arrived.get()
        if message["op"] == "environment":
            for name in message["unset"]:
                os.environ.pop(name, None)
            os.environ.update({**message["set"], **litellm_setup.ENVIRONMENT})
            continue
        number = message["id"]
        if message["op"] in ("complete", "keep"):
            work = complete if message["op"] == "complete" else keep
            tasks[number] = asyncio.create_task(work(litellm, output, message))
            tasks = {other: task for other, task in tasks.items() if not task.done()}
        elif message["op"] == "cancel" and number in tasks:
            tasks[number].cancel()
        elif message["op"] == "count":
            output.send(op="count", id=number, counts=questions.counts_of(message["model"], message["texts"]))
        elif message["op"] == "facts":
            answers = questions.answers(litellm, message["models"])
            output.send(op="facts", id=number, release=version("litellm"), answers=answers)


async def complete(litellm: Any, output: Output, message: Message) -> None:
    number = message["id"]
    began = time.monotonic()
    is_sent = False

    def tell() -> None:
        nonlocal is_sent, began
        is_sent = True
        output.send(op="sent", id=number, prepared_s=time.monotonic() - began)
        began = time.monotonic()

    outgoing = litellm_setup.follow(tell, message.get("body"))
    try:
        if "key_of" in message and "api_key" in message["options"]:
            with suppress(Exception):  # an unknown provider has no key
                key = litellm.get_llm_provider(message["key_of"])[2]  # that this litellm finds in the environment
                message["options"]["api_key"] = key if isinstance(key, str) and key else message["options"]["api_key"]
        await answer(litellm, output, message, outgoing)
    except asyncio.CancelledError:
        output.send(op="cancelled", id=number)
    except BaseException as error:  # any exception ends only this call, not the worker
        facts = {**failure_facts.facts_of(error), "sent": is_sent, "answered": outgoing.status is not None}
        if failure_facts.REFUSED in facts["types"]:  # a question to Ollama may have gone out, not the prompt
            facts["sent"] = False
        elif outgoing.status is not None and outgoing.status < 300:
            if outgoing.error:  # litellm makes up a status, and drops what some servers say
                facts |= {"body": outgoing.error, "status": failure_facts.code_of(outgoing.error)}
            else:
                facts |= {"accepted": True, "empty": outgoing.response.num_bytes_downloaded == 0}
            facts.setdefault("content_type", outgoing.content_type)
        output.send(op="error", id=number, error=facts)
    else:
        # The time litellm spends on a complete response, or on other calls, does not count as the model's.
        ended = outgoing.answered_at if outgoing.answered_at and not outgoing.is_streamed else time.monotonic()
        output.send(op="done", id=number, took_s=ended - began if is_sent else None)


async def keep(litellm: object, output: Output, message: Message) -> None:
    """Let litellm write a request, and output it instead of sending it.

    Fails if litellm first has to contact another server, for example for a token.
    """
    outgoing = litellm_setup.follow(lambda: None, message.get("body"), keeps=True)
    problem: Message = {"types": [], "message": "litellm made no request"}
    try:
        await answer(litellm, output, message, outgoing)
    except BaseException as error:  # always raised, at the latest when the kept request is not sent
        problem = failure_facts.facts_of(error)
    for one in outgoing.kept or ():
        if kept_requests.is_for_a_reply(one, message["request"]):
            headers = [[name.decode("latin-1"), value.decode("latin-1")] for name, value in one.headers.raw]
            body = one.content.decode("utf-8", "surrogateescape")
            known = {"method": one.method, "url": str(one.url), "names": kept_requests.NAMES_OF_CREDENTIALS}
            output.send(op="request", id=message["id"], headers=headers, body=body, **known)
            return
    if outgoing.kept and failure_facts.REFUSED not in problem["types"]:
        where = outgoing.kept[0].url
        problem = {"types": [], "message": f"litellm first asks {where.scheme}://{where.netloc.decode()} for access"}
    output.send(op="error", id=message["id"], error={**problem, "sent": False})


async def answer(litellm: Any, output: Output, message: Message, outgoing: litellm_setup.Outgoing) -> None:
    """Request a reply, with one request per completion if necessary, and forward its pieces."""
    told = replies.Completions(partial(output.send, op="chunk", id=message["id"]))
    for choice in range(message["times"]):
        if choice:
            told.next()
        async for piece in pieces(litellm, message, outgoing):
            told.tell({**piece, "choice": choice + piece.get("choice", 0)})


async def pieces(litellm: Any, message: Message, outgoing: litellm_setup.Outgoing) -> AsyncIterator[Piece]:
    """Send one request, streamed if possible and wanted, and yield the reply as it arrives."""
    function, options, as_stream, as_whole, ended = APIS[message["api"]]
    ask, model = getattr(litellm, function), message["request"]["model"]
    asked = {**message["request"], **message["options"], "num_retries": 0, "max_retries": 0}
    if message.get("class") is not None:
        asked["response_format"] = class_with(**message["class"])
    if message["stream"] and is_streamed(litellm, model):
        has_begun = False
        outgoing.is_streamed = True
        try:
            async for piece in as_stream(litellm, model, await ask(**asked, **options, stream=True), outgoing):
                has_begun = True
                yield piece
            return
        except Exception as error:  # repeat the request if the provider does not support streaming
            if has_begun or (outgoing.answer is None and streams.NO_STREAMS.search(str(error)) is None):
                raise
        outgoing.is_streamed = message["stream"] = False  # do not stream the next completion either
    response = await ask(**asked)
    for piece in as_whole(response, outgoing):
        yield piece
    yield ended(litellm, model, response)


def class_with(name: str, schema: Message) -> Any:
    """Make a pydantic class with this schema, as dspy passes it to litellm.

    Rule: the end of `dspy.adapters.json_adapter._get_structured_outputs_response_format`, the same object at each call.
    """
    from pydantic import create_model

    made: Any = create_model(name)
    made.model_json_schema = lambda *_, **__: schema
    return made


def is_streamed(litellm: Any, model: str) -> bool:
    """Return whether litellm streams the model's replies well.

    A simulated stream doubles calls and hides how it ended.
    """
    if model.partition("/")[0] in streams.NEVER_STREAMED:
        return False
    try:
        return litellm.get_model_info(model).get("supports_native_streaming") is not False
    except Exception:
        return True  # unknown to litellm


async def responses_streamed(
    litellm: object, model: str, events: Any, outgoing: litellm_setup.Outgoing
) -> AsyncIterator[Piece]:
    """Yield the pieces of a streamed Responses API reply, as `streamed` does."""
    anything = False
    async for piece in replies.streamed(events, partial(responses_ending, litellm, model)):
        anything = True
        yield piece
        if "raw" in piece:
            return
    raise failure_facts.UnfinishedStreamError(anything, outgoing.content_type)


def responses_ending(litellm: object, model: str, response: object) -> Piece:
    """Return the last piece of a Responses API reply, like `ending`."""
    told = importlib.import_module("litellm.responses.utils").ResponseAPILoggingUtils
    usage = getattr(response, "usage", None)
    counted = None if usage is None else told._transform_response_api_usage_to_chat_usage(usage)
    made = ending(litellm, model, response, counted)
    made["raw"] = {name: one for name, one in made["raw"].items() if name in ABOUT_RESPONSES}
    return made


async def streamed(litellm: Any, model: str, wrapper: Any, outgoing: litellm_setup.Outgoing) -> AsyncIterator[Piece]:
    """Yield the pieces of a reply as they arrive. Raises UnfinishedStreamError, and anything that litellm raises."""
    anything = finished = False
    last: Any = None
    wrapper.chunks = streams.LastChunks(wrapper.chunks)
    wrapper._should_fail_on_clean_eof = lambda: False  # since litellm 1.109; completeness is checked below
    async for chunk in wrapper:
        last = chunk
        wrapper.response_uptil_now = ""
        for choice in chunk.choices:
            piece = replies.piece_of(choice.delta, choice)
            # litellm makes up a finish reason at the end of a stream without one.
            if choice.finish_reason and wrapper.received_finish_reason:
                piece["finish_reason"] = outgoing.failed_ending or choice.finish_reason
                finished = True
            if piece:
                anything = True
                yield {"choice": choice.index or 0, **piece}
    for choice_number, refusal in outgoing.refusals.items():
        anything = True
        yield {"choice": choice_number, "refusal": refusal}
    if outgoing.citations:
        yield {"choice": 0, "citations": streams.citations_of(outgoing)}
    if not (finished or wrapper.received_finish_reason or outgoing.said_done):
        raise failure_facts.UnfinishedStreamError(anything, outgoing.content_type)
    # If the provider does not count tokens, litellm's last chunk contains its own estimate.
    counted = [one.usage for one in getattr(wrapper, "chunks", ()) or () if getattr(one, "usage", None) is not None]
    yield {"choice": 0, **ending(litellm, model, last, counted[-1] if counted else None)}


def whole(response: Any, outgoing: litellm_setup.Outgoing) -> Iterator[Piece]:
    """Yield the pieces of a non-streamed reply."""
    for choice in response.choices:
        piece = replies.piece_of(choice.message, choice)
        refusal = outgoing.refusals.get(choice.index or 0)
        if refusal:
            piece["refusal"] = refusal
            if piece.get("text") == refusal:  # some releases of litellm make it the content
                del piece["text"]
        cited = replies.citations_of(choice.message)
        if cited is not None:
            piece["citations"] = cited
        if choice.finish_reason:
            piece["finish_reason"] = outgoing.failed_ending or choice.finish_reason
        yield {"choice": choice.index or 0, **piece}


def whole_ending(litellm: object, model: str, response: object) -> Piece:
    return ending(litellm, model, response, getattr(response, "usage", None))


def ending(litellm: object, model: str, said: object, usage: object) -> Piece:
    """Return the last piece of a reply: usage, cost, raw; `usage` is None if the provider counted nothing."""
    metadata = {} if said is None else failure_facts.plain(said)  # such as its id and the model that answered
    dropped = ("choices", "usage")
    made: Piece = {"raw": {name: one for name, one in metadata.items() if name not in dropped and one is not None}}
    if usage is not None:
        counted = failure_facts.plain(usage)
        billed = counted.pop("cost", None)
        made["usage"] = counted
        made["cost"] = float(billed) if isinstance(billed, int | float) else cost(litellm, model, usage)
    return made


def cost(litellm: Any, model: str, usage: Any) -> float | None:
    """Return the cost in US dollars; None if unknown, for which litellm may also report 0."""
    try:
        dollars = sum(
            litellm.cost_per_token(
                model=model,
                prompt_tokens=usage.prompt_tokens,
                completion_tokens=usage.completion_tokens,
                usage_object=usage,
            )
        )
    except Exception:  # litellm does not know the price
        return None
    return float(dollars) or None


APIS: Mapping[
    str,
    tuple[str, Message, Callable[..., AsyncIterator[Piece]], Callable[..., Iterable[Piece]], Callable[..., Piece]],
] = {
    "chat": ("acompletion", {"stream_options": {"include_usage": True}}, streamed, whole, whole_ending),
    "responses": ("aresponses", {}, responses_streamed, lambda said, _: [replies.whole(said)], responses_ending),
    # never streamed (`streams.NEVER_STREAMED`)
    "text": ("atext_completion", {}, streamed, lambda said, _: replies.texts(said), whole_ending),
}
"""For each API: litellm's function, its options for a stream, the readers of streamed and whole replies, and the writer
of the last piece of whole ones."""


if __name__ == "__main__":
    main()

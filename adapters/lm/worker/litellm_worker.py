"""The child process that calls models through litellm: JSON lines in on standard input, JSON lines out.

Run by its path, with nothing of this project imported, so that it never matters which packages are called `adapters`
where it runs. In: `{"op": "complete", "id", "request", "options", "stream", "api", "times", "class"?, "key_of"?}`, the
same as `keep`, which sends nothing and gets `request` (`method`, `url`, `headers`, `body`, `names`) or `error`,
`{"op": "cancel", "id"}`, `{"op": "count", "id", "model", "texts"}`, `{"op": "environment", "set", "unset"}`. Out:
`ready`, then per id `sent`
(with `prepared_s`) when the request goes out, any number of `chunk`, and exactly one of `done` (with `took_s`, the
seconds from the request to the end of the answer), `error` and `cancelled`; or `count`. It ends when its standard
input does.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import os
import re
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO


def beside(name: str) -> Any:
    """The module in the file of this name beside this one, which is on nobody's path."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if TYPE_CHECKING:
    from adapters.lm.worker import (
        completions,
        failure_facts,
        litellm_setup,
        model_questions,
        openai_streams,
        responses_replies,
        stream_bodies,
        tokenizers,
    )
    from adapters.lm.worker.completions import CallPiece, Piece
else:
    completions = beside("completions")
    failure_facts = beside("failure_facts")
    litellm_setup = beside("litellm_setup")
    model_questions = beside("model_questions")
    openai_streams = beside("openai_streams")
    responses_replies = beside("responses_replies")
    stream_bodies = beside("stream_bodies")
    tokenizers = beside("tokenizers")

NICENESS = 5
"""Whoever waits for a reply can wait for it a moment longer than for what they type."""

NEVER_STREAMED = ("cohere", "cohere_chat", "text-completion-openai")
"""Providers of which litellm gives no stream that is whole: it takes Cohere's events for lines of JSON, and hides
whether a completion of text came to its end."""

NO_STREAMS = re.compile(
    r"stream\w*[^.]{0,60}(not (be )?(support|allow|implement|availabl|enabl)|unsupported|must be false)"
    r"|(not support|unsupported|cannot|does not)[^.]{0,40}stream",
    re.IGNORECASE,
)
"""What servers say that refuse to stream; the same request is then made once more, for the whole reply."""

KEPT_CHUNKS = 32
KEPT_COUNTS = 8
"""Some providers count tokens with every piece of text; a later count stands for those before it."""

ABOUT_RESPONSES = ("id", "object", "created_at", "model", "status", "incomplete_details", "service_tier")
"""What of a Responses answer is about it; the rest repeats the request."""

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
    try:
        litellm = litellm_setup.load()
        openai_streams.mend(litellm_setup.outgoing)
        stream_bodies.mend(importlib.import_module("httpx").Response)
    except Exception as error:  # said to the parent, which tells the user
        output.send(op="unusable", message=f"{type(error).__name__}: {error}")
        return
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
            output.send(op="count", id=number, counts=tokenizers.counts_of(message["model"], message["texts"]))
        elif message["op"] == "facts":
            answers = model_questions.answers(litellm, message["models"])
            output.send(op="facts", id=number, release=model_questions.release(), answers=answers)


async def complete(litellm: Any, output: Output, message: Message) -> None:
    number = message["id"]
    began = time.monotonic()
    is_sent = False

    def tell() -> None:
        nonlocal is_sent, began
        is_sent = True
        output.send(op="sent", id=number, prepared_s=time.monotonic() - began)
        began = time.monotonic()

    outgoing = litellm_setup.follow(tell)
    try:
        key = own_key(litellm, message["key_of"]) if "key_of" in message else None
        if key is not None and "api_key" in message["options"]:
            message["options"]["api_key"] = key
        await ASK[message["api"]](litellm, output, message, outgoing)
    except asyncio.CancelledError:
        output.send(op="cancelled", id=number)
    except BaseException as error:  # whatever ends a call is its error, and not the end of the worker
        facts = {**failure_facts.facts_of(error), "sent": is_sent}
        if outgoing.status is not None and outgoing.status < 300 and not outgoing.is_error:
            facts["accepted"] = True
            facts.setdefault("content_type", outgoing.content_type)
        output.send(op="error", id=number, error=facts)
    else:
        # litellm's own work on a whole answer, and other calls that wait for their turn, are not the model's time.
        ended = outgoing.answered_at if outgoing.answered_at and not outgoing.is_streamed else time.monotonic()
        output.send(op="done", id=number, took_s=ended - began if is_sent else None)


async def keep(litellm: Any, output: Output, message: Message) -> None:
    """Has litellm write a request, and hands it on in place of sending it.

    What litellm asks other servers before, such as for a token, is no request for a reply, and fails.
    """
    outgoing = litellm_setup.follow(lambda: None, keeps=True)
    problem: Message = {"types": [], "message": "litellm made no request"}
    try:
        await ASK[message["api"]](litellm, output, message, outgoing)
    except BaseException as error:  # at the latest the kept request's own
        problem = failure_facts.facts_of(error)
    for one in outgoing.kept or ():
        if is_for_a_reply(one, message["request"]):
            headers = [[name.decode("latin-1"), value.decode("latin-1")] for name, value in one.headers.raw]
            body = one.content.decode("utf-8", "surrogateescape")
            known = {"method": one.method, "url": str(one.url), "names": litellm_setup.NAMES_OF_CREDENTIALS}
            output.send(op="request", id=message["id"], headers=headers, body=body, **known)
            return
    if outgoing.kept:
        where = outgoing.kept[0].url
        problem = {"types": [], "message": f"litellm first asks {where.scheme}://{where.netloc.decode()} for access"}
    output.send(op="error", id=message["id"], error={**problem, "sent": False})


def is_for_a_reply(request: Any, asked: Message) -> bool:
    """Return whether a kept request has the text that the model is to read last."""
    try:
        body = json.loads(request.content)
    except (ValueError, RecursionError):
        return False
    read = list(texts_in([asked.get(name) for name in ("messages", "input", "prompt")]))
    return not read or any(read[-1].strip() in one for one in texts_in(body))


def texts_in(value: Any) -> Iterator[str]:
    """Yield every text of a JSON value but the keys and the roles."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from texts_in(one)
    elif isinstance(value, dict):
        for name, one in value.items():
            if name not in ("role", "type"):
                yield from texts_in(one)


def own_key(litellm: Any, model: str) -> str | None:
    """Return the API key that this litellm finds in the environment for the model's provider, if any."""
    try:
        key = litellm.get_llm_provider(model)[2]
    except Exception:  # a provider that it does not know has no key
        return None
    return key if isinstance(key, str) and key else None


async def answer(litellm: Any, output: Output, message: Message, outgoing: litellm_setup.Outgoing) -> None:
    """Asks for the reply, as often as there are completions that take a request each."""
    told = completions.Completions(output, message["id"])
    for choice in range(message["times"]):
        if choice:
            told.next()
        await answer_once(litellm, told, message, outgoing, choice)


async def answer_once(
    litellm: Any, told: completions.Completions, message: Message, outgoing: litellm_setup.Outgoing, first: int
) -> None:
    """Ask for the reply, streamed where possible and wanted, and pass on what arrives.

    `first` is the number of its first completion.
    """
    request = message["request"]
    asked = {**request, **message["options"], "num_retries": 0, "max_retries": 0}
    if message.get("class") is not None:
        asked["response_format"] = class_with(**message["class"])
    provider = request["model"].partition("/")[0]
    if message["stream"] and provider not in NEVER_STREAMED and not is_never_streamed(litellm, request["model"]):
        has_begun = False
        outgoing.is_streamed = True
        try:
            wrapper = await litellm.acompletion(**asked, stream=True, stream_options={"include_usage": True})
            async for piece in streamed(litellm, request["model"], wrapper, outgoing):
                has_begun = True
                told.tell({**piece, "choice": first + piece["choice"]})
            return
        except Exception as error:  # told apart by what the provider says
            if has_begun or (outgoing.answer is None and NO_STREAMS.search(str(error)) is None):
                raise
        outgoing.is_streamed = message["stream"] = False  # the next completion is not asked for so again
    for piece in whole(litellm, request["model"], await litellm.acompletion(**asked), outgoing.refusals):
        told.tell({**piece, "choice": first + piece["choice"]})


def class_with(name: str, schema: Message) -> Any:
    """A pydantic class of this schema, as dspy hands one to litellm.

    Rule: the end of `dspy.adapters.json_adapter._get_structured_outputs_response_format`, the same object at each call.
    """
    from pydantic import create_model

    made: Any = create_model(name)
    made.model_json_schema = lambda *_, **__: schema
    return made


async def answer_as_responses(litellm: Any, output: Output, message: Message, outgoing: litellm_setup.Outgoing) -> None:
    """As `answer`, over the Responses API: one call for each completion that is wanted."""
    model, told = message["request"]["model"], completions.Completions(output, message["id"])
    asked = {**message["request"], **message["options"], "num_retries": 0, "max_retries": 0}

    async def one(choice: int) -> None:
        if message["stream"]:
            outgoing.is_streamed = True
            has_begun = False
            try:
                events = await litellm.aresponses(**asked, stream=True)
                async for piece in responses_replies.streamed(events):
                    has_begun = True
                    if isinstance(piece, responses_replies.Ended):
                        said = responses_ending(litellm, model, piece.response)
                        told.tell({**said, "choice": choice})
                        return
                    told.tell({**piece, "choice": choice})
                raise failure_facts.UnfinishedStreamError(has_begun, outgoing.content_type)
            except Exception as error:  # told apart by what the provider says
                if has_begun or (outgoing.answer is None and NO_STREAMS.search(str(error)) is None):
                    raise
            outgoing.is_streamed = message["stream"] = False  # the next completion is not asked for so again
        response = await litellm.aresponses(**asked)
        for said in (responses_replies.whole(response), responses_ending(litellm, model, response)):
            told.tell({**said, "choice": choice})

    for choice in range(message["times"]):
        if choice:
            told.next()
        await one(choice)


async def answer_as_text(litellm: Any, output: Output, message: Message, _: litellm_setup.Outgoing) -> None:
    """As `answer`, over OpenAI's completions of a text: in a single piece, as litellm hides how a stream ended."""
    asked = {**message["request"], **message["options"], "num_retries": 0, "max_retries": 0}
    response = await litellm.atext_completion(**asked)
    for piece in responses_replies.texts(response):
        output.send(op="chunk", id=message["id"], **piece)
    said = ending(litellm, message["request"]["model"], response, getattr(response, "usage", None))
    output.send(op="chunk", id=message["id"], choice=0, **said)


ASK = {"chat": answer, "responses": answer_as_responses, "text": answer_as_text}
"""By the API: what asks for the reply."""


def responses_ending(litellm: Any, model: str, response: Any) -> Piece:
    """As `ending`, of an answer of the Responses API."""
    told = importlib.import_module("litellm.responses.utils").ResponseAPILoggingUtils
    usage = getattr(response, "usage", None)
    counted = None if usage is None else told._transform_response_api_usage_to_chat_usage(usage)
    made = ending(litellm, model, response, counted)
    made["raw"] = {name: one for name, one in made["raw"].items() if name in ABOUT_RESPONSES}
    return made


def is_never_streamed(litellm: Any, model: str) -> bool:
    """Return whether litellm would only imitate a stream, which doubles calls and hides how it ended."""
    try:
        known: Any = litellm.get_model_info(model)
    except Exception:
        return False  # a model that litellm has no facts about
    return known.get("supports_native_streaming") is False


class LastChunks(list[Any]):
    """Keep only the chunks that litellm needs: the last ones, and the last that count tokens.

    It keeps every one of them until the end, 4 kB for a few letters, and all the text so far, copied at each chunk.
    """

    def append(self, chunk: Any) -> None:
        super().append(chunk)
        if len(self) > KEPT_CHUNKS:
            counts = [one for one in self[:-2] if getattr(one, "usage", None) is not None]
            self[:] = counts[-KEPT_COUNTS:] + self[-2:]


async def streamed(litellm: Any, model: str, wrapper: Any, outgoing: litellm_setup.Outgoing) -> AsyncIterator[Piece]:
    """The pieces of a reply as they arrive. Raises UnfinishedStreamError, and what litellm raises in the middle."""
    anything = finished = False
    last: Any = None
    wrapper.chunks = LastChunks(wrapper.chunks)
    wrapper._should_fail_on_clean_eof = lambda: False  # from litellm 1.109 on; whether it is whole is decided below
    async for chunk in wrapper:
        last = chunk
        wrapper.response_uptil_now = ""
        for choice in chunk.choices:
            piece = piece_of(choice.delta, choice)
            # litellm invents a finish reason at the end of a stream that gave none.
            if choice.finish_reason and wrapper.received_finish_reason:
                piece["finish_reason"] = choice.finish_reason
                finished = True
            if piece:
                anything = True
                yield {"choice": choice.index or 0, **piece}
    for choice_number, refusal in outgoing.refusals.items():
        anything = True
        yield {"choice": choice_number, "refusal": refusal}
    if not (finished or wrapper.received_finish_reason or outgoing.said_done):
        raise failure_facts.UnfinishedStreamError(anything, outgoing.content_type)
    # Where the provider counts nothing, litellm's last chunk holds its own estimate.
    counted = [one.usage for one in getattr(wrapper, "chunks", ()) or () if getattr(one, "usage", None) is not None]
    yield {"choice": 0, **ending(litellm, model, last, counted[-1] if counted else None)}


def whole(litellm: Any, model: str, response: Any, refusals: Mapping[int, str]) -> Iterator[Piece]:
    """Yield the pieces of a reply that came at once; `refusals` are those of its body, by choice."""
    for choice in response.choices:
        piece = piece_of(choice.message, choice)
        refusal = refusals.get(choice.index or 0)
        if refusal:
            piece["refusal"] = refusal
            if piece.get("text") == refusal:  # some releases of litellm make it the content
                del piece["text"]
        if choice.finish_reason:
            piece["finish_reason"] = choice.finish_reason
        yield {"choice": choice.index or 0, **piece}
    yield {"choice": 0, **ending(litellm, model, response, getattr(response, "usage", None))}


def piece_of(said: Any, choice: Any) -> Piece:
    """Convert a delta or message of `choice` to a piece."""
    piece: Piece = {}
    if said.content:
        piece["text"] = said.content
    if getattr(said, "reasoning_content", None):
        piece["reasoning"] = said.reasoning_content
    if said.tool_calls:
        piece["tool_calls"] = [tool_call(number, one) for number, one in enumerate(said.tool_calls)]
    if getattr(choice, "logprobs", None):
        piece["logprobs"] = failure_facts.plain(choice.logprobs)
    return piece


def ending(litellm: Any, model: str, said: Any, usage: Any) -> Piece:
    """Return the last piece of a reply: usage, cost, raw; `usage` None: the provider counted nothing."""
    made: Piece = {"raw": about(said)}
    if usage is not None:
        counted = failure_facts.plain(usage)
        billed = counted.pop("cost", None)
        made["usage"] = counted
        made["cost"] = float(billed) if isinstance(billed, int | float) else cost(litellm, model, usage)
    return made


def tool_call(number: int, part: Any) -> CallPiece:
    """A call, or a piece of one; those of a whole reply are numbered by where they stand."""
    function = part.function
    index = getattr(part, "index", None)
    return {
        "index": number if index is None else index,
        "id": part.id or "",
        "name": function.name or "",
        "arguments": function.arguments or "",
    }


def about(chunk: Any) -> Message:
    """Return the reply's metadata: its id, the model that answered, and the like."""
    if chunk is None:
        return {}
    return {
        name: value
        for name, value in failure_facts.plain(chunk).items()
        if name not in ("choices", "usage") and value is not None
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
    except Exception:  # a model whose price litellm does not know
        return None
    return float(dollars) or None


if __name__ == "__main__":
    main()

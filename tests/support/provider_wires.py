"""What each provider sends for one reply, as its documentation shows it: streamed, whole, and as an error.

A `Reply` is what the model says; a `Wire` turns it into a provider's own bytes. `tests/support/provider_server.py`
serves them.
"""

from __future__ import annotations

import binascii
import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

Ending = Literal["stop", "length", "filtered"]

PROMPT_TOKENS, REPLY_TOKENS = 9, 5

FAULT = "The engine fell over."
"""What every provider says of a failure in the middle of a stream."""


@dataclass(frozen=True)
class Reply:
    """`pieces` of the text as they are streamed, after those of the `reasoning`; `tool` is a call: name, arguments.

    `cited` is what all pieces but the last one cite (Anthropic only).
    """

    pieces: tuple[str, ...]
    reasoning: tuple[str, ...] = ()
    tool: tuple[str, Mapping[str, Any]] | None = None
    ending: Ending = "stop"
    cited: Mapping[str, Any] | None = None

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def blocks(self) -> list[tuple[tuple[str, ...], list[Mapping[str, Any]]]]:
        """The blocks of text: their pieces, and what they cite."""
        if self.cited is None:
            return [(self.pieces, [])] if self.pieces else []
        return [(self.pieces[:-1], [self.cited]), (self.pieces[-1:], [])]


@dataclass(frozen=True)
class Wire:
    """One protocol. `frames` are the pieces of a stream in order; `fault` is the frame of an error in mid-stream."""

    content_type: str
    frames: Callable[[Reply], list[bytes]]
    whole: Callable[[Reply], Mapping[str, Any]]
    error: Callable[[int, str], Mapping[str, Any]]
    fault: bytes


def sse(value: Mapping[str, Any], event: str = "") -> bytes:
    """A server-sent event."""
    name = f"event: {event}\n" if event else ""
    return f"{name}data: {json.dumps(value)}\n\n".encode()


# --- OpenAI chat completions, and those who took them over -----------------------------------------------------------

_OPENAI_ENDINGS: Mapping[Ending, str] = {"stop": "stop", "length": "length", "filtered": "content_filter"}
_OPENAI_USAGE = {
    "prompt_tokens": PROMPT_TOKENS,
    "completion_tokens": REPLY_TOKENS,
    "total_tokens": PROMPT_TOKENS + REPLY_TOKENS,
}


def _openai_ending(reply: Reply) -> str:
    return "tool_calls" if reply.tool else _OPENAI_ENDINGS[reply.ending]


def _openai_call(tool: tuple[str, Mapping[str, Any]], arguments: str | None = None) -> dict[str, Any]:
    written = json.dumps(tool[1]) if arguments is None else arguments
    return {"id": "call_1", "type": "function", "function": {"name": tool[0], "arguments": written}}


def openai_frames(reply: Reply) -> list[bytes]:
    """https://platform.openai.com/docs/api-reference/chat-streaming; reasoning as DeepSeek and vLLM send it."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": one} for one in reply.reasoning]
    deltas += [{"content": one} for one in reply.pieces]
    if reply.tool:
        whole = json.dumps(reply.tool[1])
        deltas.append({"tool_calls": [{"index": 0, **_openai_call(reply.tool, "")}]})
        for part in (whole[:4], whole[4:]):
            deltas.append({"tool_calls": [{"index": 0, "function": {"arguments": part}}]})
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    made = [{**head, "choices": [{"index": 0, "delta": one, "finish_reason": None}]} for one in deltas]
    made.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": _openai_ending(reply)}]})
    made.append({**head, "choices": [], "usage": _OPENAI_USAGE})
    return [*map(sse, made), b"data: [DONE]\n\n"]


def openai_whole(reply: Reply) -> Mapping[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.reasoning:
        message["reasoning_content"] = "".join(reply.reasoning)
    if reply.tool:
        message |= {"tool_calls": [_openai_call(reply.tool)]}
    choice = {"index": 0, "message": message, "finish_reason": _openai_ending(reply)}
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
        "usage": _OPENAI_USAGE,
    }


def openai_error(status: int, message: str) -> Mapping[str, Any]:
    return {"error": {"message": message, "type": "error", "param": None, "code": str(status)}}


def openrouter_frames(reply: Reply) -> list[bytes]:
    """https://openrouter.ai/docs/use-cases/reasoning-tokens: as OpenAI's, and reasoning in a field of this name."""
    return [one.replace(b'"reasoning_content"', b'"reasoning"') for one in openai_frames(reply)]


OPENAI = Wire("text/event-stream", openai_frames, openai_whole, openai_error, sse(openai_error(500, FAULT)))


OPENROUTER = replace(OPENAI, frames=openrouter_frames)


# --- OpenAI responses ------------------------------------------------------------------------------------------------


def _response(reply: Reply, status: str) -> dict[str, Any]:
    output: list[dict[str, Any]] = []
    if reply.reasoning:
        summary = [{"type": "summary_text", "text": "".join(reply.reasoning)}]
        output.append({"id": "rs_1", "type": "reasoning", "summary": summary})
    if reply.pieces:
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        output.append(
            {"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "content": content}
        )
    if reply.tool:
        call = {"name": reply.tool[0], "arguments": json.dumps(reply.tool[1]), "call_id": "call_1"}
        output.append({"id": "fc_1", "type": "function_call", "status": "completed", **call})
    cut = {"length": "max_output_tokens", "filtered": "content_filter"}.get(reply.ending)
    usage = {
        "input_tokens": PROMPT_TOKENS,
        "output_tokens": REPLY_TOKENS,
        "total_tokens": PROMPT_TOKENS + REPLY_TOKENS,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    done = status != "in_progress"
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": status,
        "model": "m",
        "output": output if done else [],
        "error": None,
        "incomplete_details": {"reason": cut} if cut and done else None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": usage if done else None,
    }


def responses_frames(reply: Reply) -> list[bytes]:
    """https://platform.openai.com/docs/api-reference/responses-streaming."""
    made: list[dict[str, Any]] = [
        {"type": "response.created", "response": _response(reply, "in_progress")},
        {"type": "response.in_progress", "response": _response(reply, "in_progress")},
    ]
    at = 0
    if reply.reasoning:
        place = {"item_id": "rs_1", "output_index": at, "summary_index": 0}
        item = {"id": "rs_1", "type": "reasoning", "summary": []}
        made.append({"type": "response.output_item.added", "output_index": at, "item": item})
        made += [{"type": "response.reasoning_summary_text.delta", **place, "delta": one} for one in reply.reasoning]
        made.append({"type": "response.output_item.done", "output_index": at, "item": item})
        at += 1
    if reply.pieces:
        place = {"item_id": "msg_1", "output_index": at, "content_index": 0}
        item = {"id": "msg_1", "type": "message", "status": "in_progress", "role": "assistant", "content": []}
        made.append({"type": "response.output_item.added", "output_index": at, "item": item})
        part = {"type": "output_text", "text": "", "annotations": []}
        made.append({"type": "response.content_part.added", **place, "part": part})
        made += [{"type": "response.output_text.delta", **place, "delta": one, "logprobs": []} for one in reply.pieces]
        made.append({"type": "response.output_text.done", **place, "text": reply.text, "logprobs": []})
        made.append({"type": "response.content_part.done", **place, "part": {**part, "text": reply.text}})
        made.append({"type": "response.output_item.done", "output_index": at, "item": {**item, "status": "completed"}})
        at += 1
    if reply.tool:
        whole = json.dumps(reply.tool[1])
        item = {"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": reply.tool[0], "arguments": ""}
        made.append({"type": "response.output_item.added", "output_index": at, "item": item})
        for piece in (whole[:4], whole[4:]):
            delta = {"item_id": "fc_1", "output_index": at, "delta": piece}
            made.append({"type": "response.function_call_arguments.delta", **delta})
        done = {"item_id": "fc_1", "output_index": at, "arguments": whole, "name": reply.tool[0]}
        made.append({"type": "response.function_call_arguments.done", **done})
        made.append({"type": "response.output_item.done", "output_index": at, "item": {**item, "arguments": whole}})
    end = "completed" if reply.ending == "stop" else "incomplete"
    made.append({"type": f"response.{end}", "response": _response(reply, end)})
    return [sse({**one, "sequence_number": number}, one["type"]) for number, one in enumerate(made)]


RESPONSES = Wire(
    "text/event-stream",
    responses_frames,
    lambda reply: _response(reply, "completed" if reply.ending == "stop" else "incomplete"),
    openai_error,
    sse({"type": "error", "code": "server_error", "message": FAULT, "param": None, "sequence_number": 9}, "error"),
)


# --- Anthropic messages ----------------------------------------------------------------------------------------------


def _anthropic_ending(reply: Reply) -> str:
    return "tool_use" if reply.tool else {"length": "max_tokens", "filtered": "refusal"}.get(reply.ending, "end_turn")


def anthropic_frames(reply: Reply) -> list[bytes]:
    """https://docs.anthropic.com/en/docs/build-with-claude/streaming."""
    message = {"id": "m1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None}
    usage = {"input_tokens": PROMPT_TOKENS, "output_tokens": 1}
    made: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "stop_sequence": None, "usage": usage}},
        {"type": "ping"},
    ]
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if reply.reasoning:
        deltas: list[dict[str, Any]] = [{"type": "thinking_delta", "thinking": one} for one in reply.reasoning]
        deltas.append({"type": "signature_delta", "signature": "EqQB"})
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, deltas))
    for pieces, cited in reply.blocks:
        deltas = [{"type": "text_delta", "text": one} for one in pieces]
        deltas += [{"type": "citations_delta", "citation": one} for one in cited]
        blocks.append(({"type": "text", "text": ""}, deltas))
    if reply.tool:
        whole = json.dumps(reply.tool[1])
        parts = [{"type": "input_json_delta", "partial_json": one} for one in (whole[:4], whole[4:])]
        blocks.append(({"type": "tool_use", "id": "call_1", "name": reply.tool[0], "input": {}}, parts))
    for index, (block, deltas) in enumerate(blocks):
        made.append({"type": "content_block_start", "index": index, "content_block": block})
        made += [{"type": "content_block_delta", "index": index, "delta": one} for one in deltas]
        made.append({"type": "content_block_stop", "index": index})
    stop = {"stop_reason": _anthropic_ending(reply), "stop_sequence": None}
    made.append({"type": "message_delta", "delta": stop, "usage": {"output_tokens": REPLY_TOKENS}})
    made.append({"type": "message_stop"})
    return [sse(one, one["type"]) for one in made]


def anthropic_whole(reply: Reply) -> Mapping[str, Any]:
    content: list[dict[str, Any]] = []
    if reply.reasoning:
        content.append({"type": "thinking", "thinking": "".join(reply.reasoning), "signature": "EqQB"})
    for pieces, cited in reply.blocks:
        content.append({"type": "text", "text": "".join(pieces), **({"citations": cited} if cited else {})})
    if reply.tool:
        content.append({"type": "tool_use", "id": "call_1", "name": reply.tool[0], "input": dict(reply.tool[1])})
    return {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": content,
        "stop_reason": _anthropic_ending(reply),
        "stop_sequence": None,
        "usage": {"input_tokens": PROMPT_TOKENS, "output_tokens": REPLY_TOKENS},
    }


def anthropic_error(status: int, message: str) -> Mapping[str, Any]:
    kind = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}.get(status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}}


ANTHROPIC = Wire(
    "text/event-stream",
    anthropic_frames,
    anthropic_whole,
    anthropic_error,
    sse(anthropic_error(500, FAULT), "error"),
)


# --- Gemini, at Google AI Studio and in Vertex AI --------------------------------------------------------------------

_GEMINI_USAGE = {
    "promptTokenCount": PROMPT_TOKENS,
    "candidatesTokenCount": REPLY_TOKENS,
    "totalTokenCount": PROMPT_TOKENS + REPLY_TOKENS,
}


def _gemini_parts(reply: Reply) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = [{"text": one, "thought": True} for one in reply.reasoning]
    parts += [{"text": one} for one in reply.pieces]
    if reply.tool:
        parts.append({"functionCall": {"name": reply.tool[0], "args": dict(reply.tool[1])}})
    return parts


def _gemini(parts: list[dict[str, Any]], ending: str | None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if ending:
        candidate["finishReason"] = ending
    return {
        "candidates": [candidate],
        "usageMetadata": _GEMINI_USAGE,
        "modelVersion": "gemini-2.5-flash",
        "responseId": "r1",
    }


def _gemini_ending(reply: Reply) -> str:
    return {"stop": "STOP", "length": "MAX_TOKENS", "filtered": "SAFETY"}[reply.ending]


def gemini_frames(reply: Reply) -> list[bytes]:
    """https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent."""
    parts = _gemini_parts(reply)
    made = [_gemini([one], None) for one in parts[:-1]] + [_gemini(parts[-1:], _gemini_ending(reply))]
    return [f"data: {json.dumps(one)}\r\n\r\n".encode() for one in made]


def gemini_error(status: int, message: str) -> Mapping[str, Any]:
    kind = {401: "UNAUTHENTICATED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED"}.get(status, "INTERNAL")
    return {"error": {"code": status, "message": message, "status": kind}}


GEMINI = Wire(
    "text/event-stream",
    gemini_frames,
    lambda reply: _gemini(_gemini_parts(reply), _gemini_ending(reply)),
    gemini_error,
    f"data: {json.dumps(gemini_error(500, FAULT))}\r\n\r\n".encode(),
)


# --- Bedrock converse: binary event stream ---------------------------------------------------------------------------


def event_stream_message(headers: Mapping[str, str], payload: Mapping[str, Any]) -> bytes:
    """A message of `application/vnd.amazon.eventstream`: lengths, their checksum, headers, payload, checksum of all.

    Format: https://smithy.io/2.0/aws/amazon-eventstream.html; a header of type 7 is a string.
    """
    body = json.dumps(payload).encode()
    written = b"".join(
        struct.pack("!B", len(name)) + name.encode() + struct.pack("!BH", 7, len(value)) + value.encode()
        for name, value in headers.items()
    )
    prelude = struct.pack("!II", 16 + len(written) + len(body), len(written))
    message = prelude + struct.pack("!I", binascii.crc32(prelude)) + written + body
    return message + struct.pack("!I", binascii.crc32(message))


def _bedrock_event(name: str, payload: Mapping[str, Any]) -> bytes:
    kind = {":event-type": name, ":content-type": "application/json", ":message-type": "event"}
    return event_stream_message(kind, payload)


def _bedrock_ending(reply: Reply) -> str:
    cut = {"length": "max_tokens", "filtered": "content_filtered"}
    return "tool_use" if reply.tool else cut.get(reply.ending, "end_turn")


_BEDROCK_USAGE = {
    "inputTokens": PROMPT_TOKENS,
    "outputTokens": REPLY_TOKENS,
    "totalTokens": PROMPT_TOKENS + REPLY_TOKENS,
}


def bedrock_frames(reply: Reply) -> list[bytes]:
    """https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html."""
    made = [_bedrock_event("messageStart", {"role": "assistant"})]
    index = 0
    for deltas in (
        [{"reasoningContent": {"text": one}} for one in reply.reasoning],
        [{"text": p} for p in reply.pieces],
    ):
        if deltas:
            made += [_bedrock_event("contentBlockDelta", {"contentBlockIndex": index, "delta": d}) for d in deltas]
            made.append(_bedrock_event("contentBlockStop", {"contentBlockIndex": index}))
            index += 1
    if reply.tool:
        whole = json.dumps(reply.tool[1])
        start = {"toolUse": {"toolUseId": "call_1", "name": reply.tool[0]}}
        made.append(_bedrock_event("contentBlockStart", {"contentBlockIndex": index, "start": start}))
        for part in (whole[:4], whole[4:]):
            delta = {"toolUse": {"input": part}}
            made.append(_bedrock_event("contentBlockDelta", {"contentBlockIndex": index, "delta": delta}))
        made.append(_bedrock_event("contentBlockStop", {"contentBlockIndex": index}))
    made.append(_bedrock_event("messageStop", {"stopReason": _bedrock_ending(reply)}))
    made.append(_bedrock_event("metadata", {"usage": _BEDROCK_USAGE, "metrics": {"latencyMs": 5}}))
    return made


def bedrock_whole(reply: Reply) -> Mapping[str, Any]:
    content: list[dict[str, Any]] = []
    if reply.reasoning:
        content.append({"reasoningContent": {"reasoningText": {"text": "".join(reply.reasoning), "signature": "s"}}})
    if reply.pieces:
        content.append({"text": reply.text})
    if reply.tool:
        content.append({"toolUse": {"toolUseId": "call_1", "name": reply.tool[0], "input": dict(reply.tool[1])}})
    return {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": _bedrock_ending(reply),
        "usage": _BEDROCK_USAGE,
        "metrics": {"latencyMs": 5},
    }


BEDROCK = Wire(
    "application/vnd.amazon.eventstream",
    bedrock_frames,
    bedrock_whole,
    lambda status, message: {"message": message},
    event_stream_message(
        {
            ":exception-type": "internalServerException",
            ":content-type": "application/json",
            ":message-type": "exception",
        },
        {"message": FAULT},
    ),
)


# --- Ollama: a JSON object a line ------------------------------------------------------------------------------------


def _ollama(message: Mapping[str, Any], ending: str | None = None) -> dict[str, Any]:
    made = {"model": "m", "created_at": "2025-07-07T20:22:19.184789Z", "message": {"role": "assistant", **message}}
    if ending is None:
        return {**made, "done": False}
    counts = {"prompt_eval_count": PROMPT_TOKENS, "eval_count": REPLY_TOKENS, "total_duration": 4883583458}
    return {**made, "done": True, "done_reason": ending, **counts}


def _ollama_ending(reply: Reply) -> str:
    return "length" if reply.ending == "length" else "stop"


def _ollama_call(tool: tuple[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {"tool_calls": [{"function": {"name": tool[0], "arguments": dict(tool[1])}}]}


def ollama_frames(reply: Reply) -> list[bytes]:
    """https://github.com/ollama/ollama/blob/main/docs/api.md#generate-a-chat-completion."""
    made = [_ollama({"content": "", "thinking": one}) for one in reply.reasoning]
    made += [_ollama({"content": one}) for one in reply.pieces]
    if reply.tool:
        made.append(_ollama({"content": "", **_ollama_call(reply.tool)}))
    made.append(_ollama({"content": ""}, _ollama_ending(reply)))
    return [json.dumps(one).encode() + b"\n" for one in made]


def ollama_whole(reply: Reply) -> Mapping[str, Any]:
    message: dict[str, Any] = {"content": reply.text}
    if reply.reasoning:
        message["thinking"] = "".join(reply.reasoning)
    if reply.tool:
        message |= _ollama_call(reply.tool)
    return _ollama(message, _ollama_ending(reply))


OLLAMA = Wire(
    "application/x-ndjson",
    ollama_frames,
    ollama_whole,
    lambda status, message: {"error": message},
    json.dumps({"error": FAULT}).encode() + b"\n",
)


# --- Cohere v2 chat --------------------------------------------------------------------------------------------------

_COHERE_USAGE = {
    "billed_units": {"input_tokens": PROMPT_TOKENS, "output_tokens": REPLY_TOKENS},
    "tokens": {"input_tokens": PROMPT_TOKENS, "output_tokens": REPLY_TOKENS},
}


def _cohere_ending(reply: Reply) -> str:
    cut = {"length": "MAX_TOKENS", "filtered": "ERROR_TOXIC"}
    return "TOOL_CALL" if reply.tool else cut.get(reply.ending, "COMPLETE")


def _cohere_call(tool: tuple[str, Mapping[str, Any]], arguments: str) -> dict[str, Any]:
    return {"id": "call_1", "type": "function", "function": {"name": tool[0], "arguments": arguments}}


def cohere_frames(reply: Reply) -> list[bytes]:
    """https://docs.cohere.com/v2/reference/chat-stream."""
    made: list[dict[str, Any]] = [
        {"type": "message-start", "id": "m1", "delta": {"message": {"role": "assistant", "content": []}}}
    ]
    index = 0
    for kind, pieces in (("thinking", reply.reasoning), ("text", reply.pieces)):
        if not pieces:
            continue
        start = {"message": {"content": {"type": kind, kind: ""}}}
        made.append({"type": "content-start", "index": index, "delta": start})
        for one in pieces:
            made.append({"type": "content-delta", "index": index, "delta": {"message": {"content": {kind: one}}}})
        made.append({"type": "content-end", "index": index})
        index += 1
    if reply.tool:
        call = _cohere_call(reply.tool, "")
        made.append({"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": call}}})
        whole = json.dumps(reply.tool[1])
        for part in (whole[:4], whole[4:]):
            delta = {"message": {"tool_calls": {"function": {"arguments": part}}}}
            made.append({"type": "tool-call-delta", "index": 0, "delta": delta})
        made.append({"type": "tool-call-end", "index": 0})
    made.append({"type": "message-end", "delta": {"finish_reason": _cohere_ending(reply), "usage": _COHERE_USAGE}})
    return [sse(one, one["type"]) for one in made]


def cohere_whole(reply: Reply) -> Mapping[str, Any]:
    content: list[dict[str, Any]] = []
    if reply.reasoning:
        content.append({"type": "thinking", "thinking": "".join(reply.reasoning)})
    if reply.pieces:
        content.append({"type": "text", "text": reply.text})
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if reply.tool:
        message["tool_calls"] = [_cohere_call(reply.tool, json.dumps(reply.tool[1]))]
    return {"id": "m1", "finish_reason": _cohere_ending(reply), "message": message, "usage": _COHERE_USAGE}


COHERE = Wire(
    "text/event-stream",
    cohere_frames,
    cohere_whole,
    lambda status, message: {"id": "e1", "message": message},
    sse({"type": "message-end", "delta": {"finish_reason": "ERROR", "error": FAULT}}, "message-end"),
)

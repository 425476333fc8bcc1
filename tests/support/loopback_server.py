"""A server on 127.0.0.1 that speaks OpenAI chat completions and Anthropic messages, and misbehaves on demand.

The behaviour is the model's name when that is one of `BEHAVIOURS` (so that a command in another process can choose
it), otherwise the server's `behaviour`. Every request is kept in `requests`, with its headers.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

BEHAVIOURS: Mapping[str, str] = {
    "ok": "streams the reply, a few words a chunk, then the usage",
    "no-usage": "streams the reply and never says how many tokens it took",
    "reasoning": "streams reasoning, then the reply",
    "logprobs": "streams the reply with the logarithm of the probability of each piece",
    "401": "wrong key",
    "403": "not allowed",
    "404": "no such model",
    "400-context": "prompt too long",
    "400": "an invalid parameter",
    "429": "too many requests, retry after 7 seconds",
    "429-quota": "no credit left",
    "500": "the server failed",
    "503": "unavailable",
    "529": "overloaded",
    "echo-key": "an error whose body repeats the Authorization header",
    "hang": "accepts the request and never answers",
    "hang-in-stream": "sends the first half and then nothing",
    "close": "closes the connection without a word",
    "close-in-stream": "sends the first half and closes, the chunked body unfinished",
    "end-in-stream": "sends the first half and ends the body properly, with neither finish reason nor [DONE]",
    "no-finish": "sends the whole reply and [DONE], but no finish reason",
    "error-in-stream": "sends the first half and then an error object",
    "drip": "one byte at a time, for ever",
    "malformed-sse": "an event that is not JSON",
    "html": "a page of HTML with status 200",
    "html-502": "a page of HTML with status 502",
    "huge": "a reply of 10 MB",
    "huge-in-pieces": "a reply of 20 MB, a hundred characters a chunk",
    "monotonous": "the same piece three hundred times",
    "tool-calls": "two tool calls split over chunks",
    "two-choices": "two completions, interleaved",
    "content-filter": "stops because of a filter",
    "length": "stops because of the token limit",
}

HUGE = 10_000_000
"""Characters of the huge reply."""

CANARY = "sk-canary-0123456789abcdef"
"""A key that must turn up nowhere but in a request's headers."""


@dataclass
class Seen:
    """One request as the server saw it."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    closed_by_client: threading.Event = field(default_factory=threading.Event)


class QuietServer(ThreadingHTTPServer):
    """Say nothing of a client that has gone away: a traceback of ours would be taken for the program's."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class LoopbackServer:
    """Use as a context manager; `url` goes into OPENAI_API_BASE, `anthropic_url` into ANTHROPIC_API_BASE."""

    def __init__(self, reply: str | Callable[[dict[str, Any]], str] = "Hello there.", behaviour: str = "ok") -> None:
        self.reply = reply
        self.behaviour = behaviour
        self.requests: list[Seen] = []
        self.arrived = threading.Semaphore(0)
        self.half_sent = threading.Event()
        """Set once the first half of a reply has gone out."""
        self.released = threading.Event()
        """Set to let everything that hangs go on."""
        self._http = QuietServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self._http.block_on_close = False
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    def __enter__(self) -> LoopbackServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.released.set()
        self._http.shutdown()
        self._http.server_close()

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def anthropic_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def text_for(self, body: dict[str, Any]) -> str:
        return self.reply if isinstance(self.reply, str) else self.reply(body)


def refused_port() -> int:
    """A port of 127.0.0.1 on which nothing listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def pieces(text: str) -> list[str]:
    """`text` in pieces of about two words; at least two pieces when there is more than one character."""
    words = text.split(" ")
    found = [" ".join(words[start : start + 2]) + " " for start in range(0, len(words), 2)]
    found[-1] = found[-1][:-1]
    if len(found) == 1 and len(text) > 1:
        middle = len(text) // 2
        found = [text[:middle], text[middle:]]
    return found


_OPENAI_ERRORS: dict[str, tuple[int, dict[str, Any], dict[str, str]]] = {
    "401": (
        401,
        {"message": "Incorrect API key provided.", "type": "invalid_request_error", "code": "invalid_api_key"},
        {},
    ),
    "403": (403, {"message": "You are not allowed to use this model.", "type": "permission_error"}, {}),
    "404": (
        404,
        {"message": "The model `404` does not exist.", "type": "invalid_request_error", "code": "model_not_found"},
        {},
    ),
    "400-context": (
        400,
        {
            "message": "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 "
            "tokens. Please reduce the length of the messages.",
            "type": "invalid_request_error",
            "code": "context_length_exceeded",
        },
        {},
    ),
    "400": (
        400,
        {"message": "Invalid value for 'temperature': must be at most 2.", "type": "invalid_request_error"},
        {},
    ),
    "429": (429, {"message": "Rate limit reached for requests.", "type": "requests"}, {"retry-after": "7"}),
    "429-quota": (
        429,
        {"message": "You exceeded your current quota.", "type": "insufficient_quota", "code": "insufficient_quota"},
        {},
    ),
    "500": (500, {"message": "The server had an error.", "type": "server_error"}, {}),
    "503": (503, {"message": "Service unavailable.", "type": "server_error"}, {}),
    "529": (529, {"message": "Overloaded", "type": "overloaded_error"}, {}),
}


def _handler(server: LoopbackServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("content-length", "0"))) or b"{}")
            seen = Seen(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            server.requests.append(seen)
            server.arrived.release()
            name = str(body.get("model", ""))
            behaviour = name if name in BEHAVIOURS else server.behaviour
            anthropic = self.path.endswith("/messages")
            try:
                self._answer(behaviour, body, anthropic)
            except (BrokenPipeError, ConnectionResetError):
                seen.closed_by_client.set()
                self.close_connection = True

        def _answer(self, behaviour: str, body: dict[str, Any], anthropic: bool) -> None:
            if behaviour == "echo-key":
                said = self.headers.get("authorization") or self.headers.get("x-api-key") or ""
                self._json(401, _error({"message": f"Bad credentials: {said}", "type": "auth"}, anthropic))
            elif behaviour in _OPENAI_ERRORS:
                status, error, headers = _OPENAI_ERRORS[behaviour]
                self._json(status, _error(error, anthropic), headers)
            elif behaviour in ("html", "html-502"):
                page = b"<html><head><title>Welcome</title></head><body>Log in to the hotel network</body></html>"
                self._whole(200 if behaviour == "html" else 502, page, "text/html; charset=utf-8")
            elif behaviour == "hang":
                self._wait()
            elif behaviour == "close":
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
            elif not body.get("stream"):
                self._json(200, _whole_answer(server.text_for(body), body))
            elif anthropic:
                self._stream(behaviour, [_sse(one, one["type"]) for one in _anthropic_events(behaviour, body, server)])
            else:
                self._stream(
                    behaviour, [_sse(one) for one in _openai_events(behaviour, body, server)], b"data: [DONE]\n\n"
                )

        def _stream(self, behaviour: str, events: list[bytes], end: bytes = b"") -> None:
            # Only OpenAI's protocol has an end of its own, `[DONE]`.
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            if behaviour == "drip":
                self._drip(b"".join(events))
                return
            half = max(1, len(events) // 2) if behaviour.endswith(("-in-stream", "malformed-sse")) else len(events)
            for event in events[:half]:
                self._chunk(event)
            server.half_sent.set()
            if behaviour == "hang-in-stream":
                self._wait()
            elif behaviour == "close-in-stream":
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
            elif behaviour == "error-in-stream":
                fault = {"message": "The engine fell over.", "type": "server_error"}
                self._chunk(_sse(_error(fault, not end), None if end else "error"))
                self._chunk(b"", last=True)
            elif behaviour == "malformed-sse":
                cut = '{"id": "x", "choices": [{"delta": {"conte' if end else '{"type": "content_block_delta", "in'
                self._chunk(f"data: {cut}\n\n".encode())
                self._chunk(b"", last=True)
            else:
                if behaviour != "end-in-stream":
                    self._chunk(end)
                self._chunk(b"", last=True)

        def _drip(self, text: bytes) -> None:
            for position in range(len(text)):
                self._chunk(text[position : position + 1])
                server.half_sent.set()
                if server.released.wait(0.05):
                    return

        def _wait(self) -> None:
            """Until released, or until the client has gone."""
            self.close_connection = True
            self.connection.settimeout(0.02)
            while not server.released.is_set():
                try:
                    if self.connection.recv(1) == b"":
                        raise BrokenPipeError
                except TimeoutError:
                    continue

        def _chunk(self, data: bytes, last: bool = False) -> None:
            if data or last:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                self.wfile.flush()

        def _json(self, status: int, value: Any, headers: Mapping[str, str] | None = None) -> None:
            self._whole(status, json.dumps(value).encode(), "application/json", headers)

        def _whole(self, status: int, data: bytes, kind: str, headers: Mapping[str, str] | None = None) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

    return Handler


def _error(error: dict[str, Any], anthropic: bool) -> dict[str, Any]:
    return {"type": "error", "error": error} if anthropic else {"error": error}


def _sse(value: Mapping[str, Any], event: str | None = None) -> bytes:
    name = f"event: {event}\n" if event else ""
    return f"{name}data: {json.dumps(value)}\n\n".encode()


def _whole_answer(text: str, body: dict[str, Any]) -> dict[str, Any]:
    choices = [
        {"index": index, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        for index in range(body.get("n") or 1)
    ]
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": body.get("model", "in the path"),
        "choices": choices,
        "usage": usage,
    }


def _openai_events(behaviour: str, body: dict[str, Any], server: LoopbackServer) -> Iterator[dict[str, Any]]:
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}

    def choice(delta: dict[str, Any], finish: str | None = None, index: int = 0, **more: Any) -> dict[str, Any]:
        return {**head, "choices": [{"index": index, "delta": delta, "finish_reason": finish, **more}]}

    yield choice({"role": "assistant", "content": ""})
    finish = {"content-filter": "content_filter", "length": "length", "no-finish": None}.get(behaviour, "stop")
    if behaviour == "tool-calls":
        finish = "tool_calls"
        for index, (name, arguments) in enumerate((("search", ['{"que', 'ry": "ra', 'in"}']), ("now", ["{", "}"]))):
            start = {"index": index, "id": f"call_{index}", "type": "function"}
            yield choice({"tool_calls": [{**start, "function": {"name": name, "arguments": ""}}]})
            for part in arguments:
                yield choice({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
    elif behaviour == "huge":
        for _ in range(100):
            yield choice({"content": "x" * (HUGE // 100)})
    elif behaviour == "huge-in-pieces":
        for _ in range(HUGE // 50):
            yield choice({"content": "y" * 100})
    elif behaviour == "monotonous":
        for _ in range(300):
            yield choice({"content": "----"})
    else:
        if behaviour == "reasoning":
            for piece in ("Let me ", "think about it."):
                yield choice({"reasoning_content": piece})
        text = server.text_for(body)
        count = 2 if behaviour == "two-choices" else body.get("n") or 1
        for piece in pieces(text):
            for index in range(count):
                more: dict[str, Any] = {}
                if behaviour == "logprobs":
                    more = {
                        "logprobs": {"content": [{"token": piece, "logprob": -0.25, "bytes": None, "top_logprobs": []}]}
                    }
                yield choice({"content": piece}, None, index, **more)
        for index in range(1, count):
            yield choice({}, finish, index)
    yield choice({}, finish)
    if behaviour != "no-usage" and (body.get("stream_options") or {}).get("include_usage"):
        yield {**head, "choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}}


def _anthropic_events(behaviour: str, body: dict[str, Any], server: LoopbackServer) -> Iterator[dict[str, Any]]:
    message = {"id": "m1", "type": "message", "role": "assistant", "model": body["model"], "content": []}
    usage = {"input_tokens": 11, "output_tokens": 1}
    yield {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None, "usage": usage}}
    stop = {"tool-calls": "tool_use", "length": "max_tokens"}.get(behaviour, "end_turn")
    if behaviour == "tool-calls":
        for index, (name, arguments) in enumerate((("search", ['{"que', 'ry": "rain"}']), ("now", ["{}"]))):
            block = {"type": "tool_use", "id": f"call_{index}", "name": name, "input": {}}
            yield {"type": "content_block_start", "index": index, "content_block": block}
            for part in arguments:
                delta = {"type": "input_json_delta", "partial_json": part}
                yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
    else:
        alike = {"huge": ["x" * HUGE], "huge-in-pieces": ["y" * 100] * (HUGE // 50), "monotonous": ["----"] * 300}
        texts = alike.get(behaviour) or pieces(server.text_for(body))
        yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        for piece in texts:
            yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
        yield {"type": "content_block_stop", "index": 0}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": stop, "stop_sequence": None},
        "usage": {"output_tokens": 7},
    }
    yield {"type": "message_stop"}

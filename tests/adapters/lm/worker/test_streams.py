"""Pieces of text that arrive at once are put together, and nothing else of a stream is touched."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from provider_wires import ANTHROPIC, GEMINI, OLLAMA, OPENAI, OPENROUTER, RESPONSES, Reply, Wire, sse

from adapters.lm.worker.streams import _LINE_END, KEPT_CHUNKS, LastChunks, joined

PIECES = tuple(f"piece {number}, " for number in range(50))
TEXTS = {OPENAI: 1, OPENROUTER: 1, ANTHROPIC: 1, GEMINI: 2, RESPONSES: 1}
"""Events with text that are left of fifty; Gemini says how it ended beside its last one."""


def events(data: bytes) -> list[Any]:
    lines = [line.removeprefix("data: ") for line in data.decode().splitlines() if line.startswith("data: {")]
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("wire", TEXTS, ids=["openai", "openrouter", "anthropic", "gemini", "responses"])
def test_the_text_of_a_network_read_comes_in_one_event(wire: Wire) -> None:
    frames = wire.frames(Reply(PIECES))
    data = b"".join(frames)
    made = events(joined(data))
    assert len(made) == len(events(data)) - len(PIECES) + TEXTS[wire]
    said = json.dumps("".join(PIECES[: 50 if TEXTS[wire] == 1 else 49]))
    assert said in json.dumps(made)


def test_a_line_of_json_is_an_event_where_that_is_the_protocol() -> None:
    data = b"".join(OLLAMA.frames(Reply(PIECES)))
    made = [json.loads(line) for line in joined(data, _LINE_END).splitlines()]
    assert len(made) == len(data.splitlines()) - len(PIECES) + 1
    assert "".join(PIECES) in [one.get("message", {}).get("content") for one in made]


def chat(delta: dict[str, Any], **more: Any) -> bytes:
    return sse({"id": "c", "choices": [{"index": 0, "delta": delta, **more}]})


@pytest.mark.parametrize(
    "event",
    [
        chat({"content": "x"}, logprobs={"content": [{"token": "x", "logprob": -1.0}]}),
        chat({"content": "x", "reasoning_content": "x"}),
        chat({"content": "x", "tool_calls": [{"index": 0, "function": {"arguments": "x"}}]}),
        chat({"content": "x"}, finish_reason="stop"),
        sse({"id": "c", "choices": [{"index": 0, "delta": {"content": "x"}}], "usage": {"total_tokens": 1}}),
        sse({"choices": [{"index": one, "delta": {"content": "x"}} for one in range(2)]}),
        b"data: {\n\n",
        b"data: [DONE]\n\n",
        b"data: " + b"[" * 100_000 + b"\n\n",
        b"data: 1\ndata: 2\n\n",
        b": a comment\n\n",
        b"retry: 3\n\n",
        b"id: 7\r\ndata: {}\r\n\r\n",
    ],
    ids=lambda data: data[:40].decode(),
)
def test_an_event_that_says_more_than_a_piece_of_text_is_handed_on_as_it_is(event: bytes) -> None:
    assert joined(event * 3) == event * 3


def test_two_choices_stay_apart() -> None:
    one, two = (sse({"choices": [{"index": index, "delta": {"content": "x"}}]}) for index in range(2))
    assert joined(one + two + one) == one + two + one
    assert len(events(joined(one + one + two + two))) == 2


@given(some.lists(some.text(alphabet=some.characters(), min_size=1), min_size=1, max_size=8))
def test_whatever_the_text_is_no_character_of_it_changes(texts: list[str]) -> None:
    made = events(joined(b"".join(chat({"content": one}) for one in texts)))
    assert "".join(one["choices"][0]["delta"]["content"] for one in made) == "".join(texts)


def test_chunks_that_all_count_tokens_are_not_all_kept() -> None:
    chunks = LastChunks()
    for number in range(1000):
        chunks.append(SimpleNamespace(usage=number))
        assert len(chunks) <= KEPT_CHUNKS
    assert [one.usage for one in chunks[-2:]] == [998, 999]


def test_a_count_of_tokens_is_kept_however_much_follows() -> None:
    chunks = LastChunks([SimpleNamespace(usage=9)])
    for _ in range(1000):
        chunks.append(SimpleNamespace())
        assert len(chunks) <= KEPT_CHUNKS
    assert chunks[0].usage == 9

"""Where tokens go: the parts are the whole request, and counted as tiktoken counts."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import signatures

from adapters.formats import catalog
from adapters.formats.catalog import make
from adapters.lm.capabilities import capabilities_of
from adapters.lm.worker.questions import LONGEST, counts_of
from adapters.prompts.text import DataPart, Message, Prompt, Segment, Text
from adapters.requests.request import Request, prepare
from adapters.requests.token_estimates import IMAGE, estimate, estimates, texts_of
from adapters.requests.token_ledger import ledger_of, pieces_of
from adapters.signatures.notation import read

MODEL = "openai/gpt-4o-mini"
SEEDS = 40


def request(adapter: str, seed: int) -> Request | None:
    rng = random.Random(f"ledger {seed}")
    built = signatures.signature(rng)
    demos = [signatures.demo(rng, built) for _ in range(rng.choice((0, 1, 3)))]
    try:
        given = signatures.inputs(rng, built)
        return prepare(make(adapter), built.ours, demos, given, capabilities_of(MODEL), model=MODEL)
    except Exception:  # what dspy's format refuses costs nothing
        return None


def requests(adapter: str) -> Iterator[Request]:
    found = [one for seed in range(SEEDS) if (one := request(adapter, seed)) is not None]
    assert len(found) > SEEDS // 2
    yield from found


def strings(value: Any) -> Iterator[str]:
    """Every text of a chat message's content, as it stands in the body."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        yield from [part["text"] for part in value if part["type"] == "text"]


def counted_by_tiktoken(body: dict[str, Any]) -> int:
    """As openai-cookbook counts the messages of a body, and the JSON of what stands beside them."""
    encoding = tiktoken.get_encoding("o200k_base")

    def count(text: str) -> int:
        return len(encoding.encode(text, disallowed_special=()))

    total = 3
    for message in body["messages"]:
        total += 3 + count(message["role"]) + sum(count(text) for text in strings(message["content"]))
    for name in ("tools", "response_format"):
        if body.get(name):
            total += count(json.dumps(body[name], ensure_ascii=False, separators=(",", ":")))
    return total


@pytest.mark.parametrize("adapter", catalog.NAMES)
def test_the_parts_add_up_to_what_tiktoken_counts_of_the_body_that_goes_out(adapter: str) -> None:
    for one in requests(adapter):
        counts = counts_of("gpt-4o-mini", pieces_of(one))
        assert counts is not None and counts[0] == "o200k_base"
        ledger = ledger_of(one, counts)
        images = sum(isinstance(part, DataPart) for message in one.messages for part in message.parts)
        if not images and not any(message.extra for message in one.messages):
            assert ledger.tokens == counted_by_tiktoken(one.as_dict())
        assert ledger.tokens == sum(row.tokens for row in ledger.rows) == sum(share.tokens for share in ledger.shares)
        has_beside = "response_format" in one.params or "tools" in one.params
        assert ledger.exact is not (has_beside or bool(images) or bool(ledger.uncounted))


@pytest.mark.parametrize("adapter", catalog.NAMES)
def test_every_text_of_the_body_is_in_the_ledger_once_and_in_order(adapter: str) -> None:
    for one in requests(adapter):
        body = one.as_dict()
        expected: list[str] = []
        for message in body["messages"]:
            expected += [message["role"], *[text for text in strings(message["content"]) if text]]
        texts = [counted.text for counted in texts_of(one.messages, {}) if counted.fixed is None]
        assert texts == expected


def test_an_estimate_is_marked_and_adds_up_too() -> None:
    for one in requests("json"):
        ledger = ledger_of(one)
        assert not ledger.exact and ledger.tokenizer is None and not any(row.exact for row in ledger.rows)
        texts = list(texts_of(one.messages, one.params))
        assert ledger.tokens == sum(estimate(text.text) if text.fixed is None else text.fixed for text in texts)


anything = st.lists(
    st.one_of(
        st.text(max_size=12),
        st.sampled_from(["", "hello", " world", "\ud800", "😀", "日本語", "[[ ## a ## ]]\n", "<|endoftext|>", "\n\n"]),
    ),
    min_size=1,
    max_size=8,
)


@pytest.mark.slow
@given(pieces=anything)
@settings(max_examples=400, deadline=None)
def test_pieces_have_together_what_their_text_has_wherever_it_is_cut(pieces: list[str]) -> None:
    whole = "".join(pieces)
    assert sum(estimates(pieces)) == estimate(whole)
    found = counts_of("gpt-4o-mini", [pieces, [whole]])
    assert found is not None
    (by_piece, (total,)) = found[1]
    if not any("\ud800" <= character <= "\udfff" for character in whole):
        assert total == len(tiktoken.get_encoding("o200k_base").encode(whole, disallowed_special=()))
        assert sum(by_piece) == total
    assert len(by_piece) == len(pieces)
    assert all(count == 0 for count, piece in zip(by_piece, pieces, strict=True) if not piece)


def test_a_token_over_a_border_counts_for_the_part_that_it_begins_in() -> None:
    assert counts_of("gpt-4o-mini", [["hel", "lo", " world"]]) == ("o200k_base", [[1, 0, 1]])
    assert estimates(["hel", "lo", " world"]) == [1, 1, 1]


@pytest.mark.parametrize("model", ["a-model-of-mine", "gpt-99-unheard-of", ""])
def test_a_model_whose_tokenizer_is_not_known_is_not_counted(model: str) -> None:
    assert counts_of(model, [["x"]]) is None


@pytest.mark.parametrize("text", [" " * LONGEST, "x" * (LONGEST + 1)])
def test_a_text_that_the_tokenizer_gives_up_on_is_not_counted(text: str) -> None:
    assert counts_of("gpt-4o-mini", [[text]]) is None


def test_nothing_is_fetched_for_a_vocabulary_that_litellm_does_not_bring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tiktoken.load.read_file", lambda *_: pytest.fail("it was fetched"))
    assert counts_of("davinci", [["x"]]) is None
    assert counts_of("gpt-4", [["hello"]]) == ("cl100k_base", [[1]])


PICTURE = DataPart({"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 9_000}}, "photo")
SOUND = DataPart({"type": "input_audio", "input_audio": {"data": "A" * 9_000, "format": "wav"}}, "call")


def made_of(*messages: Message) -> Request:
    return Request(Prompt(messages), {}, read("q -> a"), model=MODEL)


def test_an_image_is_taken_for_a_usual_one_and_what_nobody_can_tell_is_said() -> None:
    look = Text((Segment("Look.", "value", "q"),))
    ledger = ledger_of(made_of(Message("user", "inputs", (look, PICTURE, SOUND), is_list=True)))
    assert {row.field: row.tokens for row in ledger.rows if row.kind == "data"} == {"photo": IMAGE}
    assert ledger.uncounted == ("input_audio",) and not ledger.exact


def test_calls_and_names_of_earlier_turns_cost_too() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "search", "arguments": '{"q": "rain"}'}}
    asked = Message("assistant", "history 1", (), extra={"tool_calls": [call]})
    told = Message("tool", "history 1", (Text.of("wet", "value"),), extra={"tool_call_id": "1", "name": "search"})
    ledger = ledger_of(made_of(asked, told))
    assert sum(row.tokens for row in ledger.rows if row.kind == "tool_call") > 10
    assert [share.name for share in ledger.shares] == ["chat format", "history 1"]


def test_a_request_is_told_in_the_words_of_people_and_each_demo_by_itself() -> None:
    demos = [{"question": "1 + 1", "answer": 2}, {"question": "2 + 2", "answer": 4}]
    signature = read("question, context: list[str] -> answer: int")
    for adapter in ("chat", "xml", "baml"):
        made = prepare(make(adapter), signature, demos, {"question": "3 + 3", "context": ["x"]}, model=MODEL)
        shares = {share.name: share.tokens for share in ledger_of(made).shares}
        assert {"chat format", "descriptions", "instructions", "markers", "inputs", "demo 1", "demo 2"} <= set(shares)
    tool = {"type": "function", "function": {"name": "search", "parameters": {}}}
    json_schema = prepare(make("json"), signature, (), {"question": "3"}, capabilities_of(MODEL), model=MODEL)
    both = Request(json_schema.prompt, {**json_schema.params, "tools": [tool]}, signature, model=MODEL)
    assert {"tools", "response_format"} <= {share.name for share in ledger_of(both).shares}

"""A reply that holds the user's own key goes on without it, in however many pieces it came."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as some

from adapters.lm.chunk_filters import without_secrets
from adapters.lm.protocol import Chunk, ProviderError, ToolCallPart
from adapters.lm.secrets import Scrubber

KEY = "sk-canary-AAAABBBB"
SCRUBBER = Scrubber({"OPENAI_API_KEY": KEY, "OTHER_TOKEN": "sk-canary-other", "DEPLOY_TOKEN": "production"})
TEXT = f"the key {KEY} and {KEY}, a skier says sk-canary in production"
CLEAN = "the key [OPENAI_API_KEY] and [OPENAI_API_KEY], a skier says sk-canary in production"


def cut(text: str, places: list[int]) -> list[str]:
    ends = sorted({place % (len(text) + 1) for place in places} | {0, len(text)})
    return [text[start:end] for start, end in pairwise(ends)]


@pytest.mark.parametrize("around", ["({})", "[{}]", "<{}>", "`{}`;", '"{}",'])
def test_a_bearer_token_ends_before_the_sign_that_closes_it(around: str) -> None:
    assert Scrubber({}).scrubbed(around.format(f"Bearer {KEY}")) == around.format("Bearer [key]")


@given(some.lists(some.integers(0, 500)))
def test_the_key_is_gone_from_every_channel_wherever_the_text_is_cut(places: list[int]) -> None:
    pieces = cut(TEXT, places)
    chunks = [Chunk(text=one, choice=1) for one in pieces]
    chunks += [Chunk(reasoning=one) for one in pieces]
    chunks += [Chunk(tool_calls=(ToolCallPart(2, "c", "f", one),)) for one in pieces]
    found = list(without_secrets([*chunks, Chunk(finish_reason="stop")], SCRUBBER))
    assert "".join(one.text for one in found if one.choice == 1) == CLEAN
    assert "".join(one.reasoning for one in found) == CLEAN
    assert "".join(part.arguments for one in found for part in one.tool_calls) == CLEAN
    assert found[-1].finish_reason == "stop" and len(found) == len(chunks) + 1


def test_chunks_without_a_secret_pass_as_they_are_and_at_once() -> None:
    seen: list[Chunk] = []

    def chunks() -> Iterator[Chunk]:
        for text in ("Hello", " there", " is"):
            yield Chunk(text=text, logprobs=[text])
            seen.append(Chunk())

    passed = without_secrets(chunks(), SCRUBBER)
    assert next(passed) == Chunk(text="Hello", logprobs=["Hello"]) and not seen
    assert [one.text for one in passed] == [" there", " is"]  # the s at the end waited for the end of the reply


def test_what_waited_is_given_when_the_provider_breaks_off() -> None:
    def chunks() -> Iterator[Chunk]:
        yield Chunk(text="it is sk-can")
        raise ProviderError("gone", "network")

    passed = without_secrets(chunks(), SCRUBBER)
    assert next(passed).text == "it is sk-can"
    with pytest.raises(ProviderError):
        next(passed)


def test_the_tokens_of_a_secret_do_not_spell_it() -> None:
    chunks = [Chunk(text="sk-canary-", logprobs=["sk-canary-"]), Chunk(text="AAAABBBB", logprobs=["AAAABBBB"])]
    assert [(one.text, one.logprobs) for one in without_secrets(chunks, SCRUBBER)] == [
        ("[OPENAI_API_KEY]", None),
        ("", None),
    ]

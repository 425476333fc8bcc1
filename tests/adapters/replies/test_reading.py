"""A value's own tokens and how probable they were, where a provider says so."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.formats.json import JSONAdapter
from adapters.replies.tokens import Token, probability_of, tokens_of
from adapters.requests.request import postprocess, prepare
from adapters.signatures import notation


def content(*tokens: tuple[str, float]) -> dict[str, Any]:
    return {"content": [{"token": text, "logprob": one, "bytes": list(text.encode())} for text, one in tokens]}


def reading(reply: str, logprobs: Any) -> Any:
    signature = notation.read("q -> a, n: int")
    request = prepare(JSONAdapter(), signature, [], {"q": "x"})
    return postprocess(JSONAdapter(), request, signature, {"text": reply, "logprobs": logprobs}).reading


def test_a_values_tokens_are_as_probable_as_their_product() -> None:
    tokens = [('{"a": "', -0.1), ("yes", -0.2), (" sir", -0.3), ('", "n": ', -0.1), ("7", -2.0), ("}", 0.0)]
    made = reading('{"a": "yes sir", "n": 7}', content(*tokens))
    assert made.ok
    assert made.probability("n") == pytest.approx(math.exp(-2.0))
    # In JSON a text's quotes are its own, and so are the tokens that hold them.
    assert made.probability("a") == pytest.approx(math.exp(-0.1 - 0.2 - 0.3 - 0.1))


def test_without_them_nothing_is_known() -> None:
    assert reading('{"a": "x", "n": 7}', None).probability("n") is None
    assert reading('{"a": "x", "n": 7}', content(("x", -1.0))).probability("n") is None


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30), st.data())
def test_tokens_cut_anywhere_in_the_bytes_cover_the_reply(text: str, data: st.DataObject) -> None:
    whole = text.encode()
    cuts = sorted(data.draw(st.sets(st.integers(1, max(1, len(whole) - 1)), max_size=5)) - {len(whole)})
    pieces = [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    given_ = {"content": [{"token": "�", "logprob": -1.0, "bytes": list(one)} for one in pieces]}
    tokens = tokens_of(text, given_)
    assert len(tokens) == len([one for one in pieces if one])
    assert (tokens[0].start, tokens[-1].end) == (0, len(text))
    assert all(after.start <= before.end and before.start < before.end for before, after in itertools.pairwise(tokens))
    assert probability_of(tokens, 0, len(text)) == pytest.approx(math.exp(-len(tokens)))


@pytest.mark.parametrize(
    "hostile",
    [
        5,
        "content",
        [],
        {"content": 5},
        {"content": ["x"]},
        {"content": [{"token": 5, "logprob": -1}]},
        {"content": [{"token": "x", "logprob": "high"}]},
        {"content": [{"token": "x", "logprob": float("nan")}]},
        {"content": [{"token": "\ud800", "logprob": -1.0}]},
        {"content": [{"token": "x", "logprob": -1.0, "bytes": [999]}, {"token": "y", "logprob": True}]},
        {"tokens": ["x"], "token_logprobs": []},
        {"tokens": "x", "token_logprobs": 5},
    ],
)
def test_what_is_in_no_known_form_tells_nothing(hostile: Any) -> None:
    assert tokens_of("x", hostile) == ()


def test_half_characters_tell_nothing() -> None:
    assert tokens_of("\ud800", content(("x", -1.0))) == ()


def test_the_form_of_plain_completions_is_known_too() -> None:
    assert tokens_of("né!", {"tokens": ["n", "é!"], "token_logprobs": [-1, -0.5]}) == (
        Token(0, 1, -1.0),
        Token(1, 3, -0.5),
    )

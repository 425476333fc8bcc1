"""Estimates of tokens are the same whether a prompt is counted anew or after the one before."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adapters import ChatAdapter
from adapters.prompts.text import Message, Prompt
from adapters.requests import token_estimates
from adapters.requests.request import Request
from adapters.requests.token_estimates import Estimates, estimate
from adapters.requests.token_ledger import ledger_of
from adapters.signatures.notation import read

MESSAGES = (
    ChatAdapter().render(read("q -> a"), [{"q": "one", "a": "1"}, {"q": "two", "a": "2"}], {"q": "three"}).messages
)
OTHER = ChatAdapter().render(read("q -> answer"), [], {"q": "a much longer question than before"}).messages


@pytest.mark.parametrize(
    "then", [MESSAGES, (*MESSAGES[:2], OTHER[0], *MESSAGES[3:]), MESSAGES[:3], (*OTHER, *MESSAGES), OTHER, ()]
)
def test_a_request_is_estimated_as_if_it_were_the_first(then: tuple[Message, ...]) -> None:
    counted = Estimates()
    counted.total(MESSAGES, {"tools": [{"name": "other"}]})
    params = {"temperature": 0.5, "response_format": {"type": "json_object"}}
    fresh = ledger_of(Request(Prompt(then), params, read("q -> a")))
    assert counted.total(then, params) == Estimates().total(then, params) == fresh.tokens


def test_only_messages_that_were_not_there_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Estimates()
    counted.total(MESSAGES, {})
    texts: list[str] = []
    monkeypatch.setattr(token_estimates, "estimate", lambda text: texts.append(text) or 1)
    counted.total((*MESSAGES[:-1], OTHER[-1]), {})
    counted.total((MESSAGES[0], OTHER[-1]), {})
    assert texts == [OTHER[-1].text]


def test_a_message_made_anew_with_other_words_is_counted_anew() -> None:
    counted = Estimates()
    before = counted.total(MESSAGES, {})
    longer = (replace(MESSAGES[0], parts=(*MESSAGES[0].parts, *MESSAGES[0].parts)), *MESSAGES[1:])
    assert counted.total(longer, {}) > before


@pytest.mark.parametrize("then", [MESSAGES[:3], (*MESSAGES[:-1], OTHER[-1])])
def test_messages_that_could_not_be_counted_are_counted_the_next_time(
    monkeypatch: pytest.MonkeyPatch, then: tuple[Message, ...]
) -> None:
    counted = Estimates()
    counted.total(OTHER if len(then) == 3 else MESSAGES, {})
    with monkeypatch.context() as patch:
        patch.delattr(token_estimates, "estimate")
        with pytest.raises(NameError):
            counted.total(then, {})
    assert counted.total(then, {}) == Estimates().total(then, {})


def test_what_stands_beside_the_messages_is_counted() -> None:
    counted = Estimates()
    before = counted.total(MESSAGES, {"temperature": 1.0})
    tools = [{"type": "function", "function": {"name": "search", "parameters": {}}}]
    assert counted.total(MESSAGES, {"tools": tools}) > before + 10


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("abcd", 1), ("abcde", 2), ("日本", 2), ("naïve", 2), ("привет", 2), ("\ud800" * 3, 1)],
)
def test_an_estimate(text: str, count: int) -> None:
    assert estimate(text) == count

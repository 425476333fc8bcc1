"""Repeats: equal values collapsed and counted, and how many replies a column's own adapter could not read."""

from __future__ import annotations

from typing import Any

import pytest
from scripted_lm import ScriptedLM

from adapters.formats.catalog import make
from adapters.lm.protocol import ProviderError
from adapters.running.runner import run
from adapters.running.runs import Run
from adapters.signatures.notation import read
from sessions.model.session import Case, Demo, Session, SignatureText
from sessions.running.repeats import Counted, collapse, copied_demo

SIGNATURE = read("question -> answer: Any")


def answered(reply: Any, adapter: str = "json", *then: str) -> Run:
    lm = ScriptedLM(reply, *then)
    return run(make(adapter), lm, SIGNATURE, [], {"question": "?"}, fallback=bool(then))


def test_equal_values_are_counted_and_the_most_frequent_stands_first() -> None:
    counted = collapse([answered(f'{{"answer": {one}}}') for one in ("2", "1", "1.0", "true", "1")])
    assert counted.fields["answer"] == (Counted(1, 2), Counted(2, 1), Counted(1.0, 1), Counted(True, 1))
    assert [type(one.value) for one in counted.fields["answer"]] == [int, int, float, bool]
    assert counted.values[0] == Counted({"answer": 1}, 2)
    assert (counted.runs, counted.answered, counted.parse_failure_rate) == (5, 5, 0.0)


def test_a_reply_that_only_a_fallback_could_read_counts_as_not_read() -> None:
    good = answered("[[ ## answer ## ]]\n1\n\n[[ ## completed ## ]]", "chat")
    rescued = answered("prose", "chat", '{"answer": 1}')
    assert rescued.ok
    counted = collapse([good, rescued, answered("prose", "chat")])
    assert (counted.answered, counted.parse_failures) == (3, 2)
    assert counted.fields["answer"] == (Counted(1, 2),)


def test_a_call_that_failed_says_nothing_of_the_parser() -> None:
    counted = collapse([answered([ProviderError("No key.", "key")])] * 2)
    assert (counted.runs, counted.answered, counted.parse_failures, counted.parse_failure_rate) == (2, 0, 0, None)
    assert counted.errors == (Counted("No key.", 2),)
    assert collapse([]).parse_failure_rate is None


PLACE = "city: str, country: str"
LABEL = "label: Literal['bug report of a user', 'billing'], urgent: bool, score: int"


@pytest.mark.parametrize(
    ("outputs", "values", "is_copied"),
    [
        ("reason", {"reason": "The kettle leaks a lot."}, True),
        ("reason", {"reason": "水壶漏水,而且加热得非常慢,我已经不想再买这个牌子的任何东西了。"}, True),
        (PLACE, {"city": "Paris", "country": "France"}, True),
        ("label: Literal['good', 'bad'], reason", {"label": "bad", "reason": "It leaks a lot."}, True),
        ("place: dict[str, str]", {"place": {"city": "Paris", "country": "France"}}, True),
        ("sentiment", {"sentiment": "very negative"}, False),
        ("sentiment, score: int, sure: bool", {"sentiment": "negative", "score": 4, "sure": True}, False),
        (LABEL, {"label": "bug report of a user", "urgent": True, "score": 4}, False),
        ("tags: list[str]", {"tags": ["urgent", "billing", "refund"]}, False),
        (PLACE, {"city": "Paris", "country": ""}, False),
    ],
)
def test_a_copied_demo_is_told_from_labels_that_are_equal_by_right(
    outputs: str, values: dict[str, Any], is_copied: bool
) -> None:
    demo = Demo({"review": "It leaks.", **values})
    session = Session(SignatureText(f"review -> {outputs}"), (Demo({"review": "x"}, enabled=False), demo))
    assert copied_demo(session, Case("c", {"review": "It rattles."}), values) == (2 if is_copied else 0)


def test_equal_values_are_no_copy_for_equal_inputs_or_of_a_demo_that_is_not_sent() -> None:
    values, case = {"reason": "The kettle leaks a lot."}, Case("c", {"review": "It rattles."})
    other, same = Demo({"review": "It leaks.", **values}), Demo({"review": "It rattles.", **values})
    text = SignatureText("review -> reason")
    assert copied_demo(Session(text, (other,)), case, values) == 1
    assert copied_demo(Session(text, (other,)), case, {}) == 0
    assert copied_demo(Session(text, (other,)), case, {"reason": "The kettle leaks."}) == 0
    assert copied_demo(Session(text, (other, same)), case, values) == 0
    assert copied_demo(Session(text, (Demo(other.values, enabled=False),)), case, values) == 0
    assert copied_demo(Session(SignatureText("review -> reason, label"), (other,)), case, values) == 0

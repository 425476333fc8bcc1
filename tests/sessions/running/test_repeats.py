"""Repeats: equal values collapsed and counted, and how many replies a column's own adapter could not read."""

from __future__ import annotations

from typing import Any

from scripted_lm import ScriptedLM

from adapters.formats.catalog import make
from adapters.lm.protocol import ProviderError
from adapters.running.runner import run
from adapters.running.runs import Run
from adapters.signatures.notation import read
from sessions.running.repeats import Counted, collapse

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

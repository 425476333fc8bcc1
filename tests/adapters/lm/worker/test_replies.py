"""What is told of the completions of a call that take a request each."""

from __future__ import annotations

from typing import Any

from adapters.lm.worker.replies import Completions, added


def usages(*counted: dict[str, Any] | None) -> list[Any]:
    """What is told of the tokens after each request, of which the server counted that many."""
    told: list[dict[str, Any]] = []
    completions = Completions(lambda **piece: told.append(piece))
    for number, usage in enumerate(counted):
        if number:
            completions.next()
        completions.tell({} if usage is None else {"usage": usage})
    return [message.get("usage") for message in told]


def test_the_tokens_of_all_requests_are_summed() -> None:
    assert usages({"total_tokens": 1}, {"total_tokens": 2}, {"total_tokens": 4})[-1] == {"total_tokens": 7}


def test_a_request_of_which_nothing_is_counted_leaves_the_sum_of_the_others() -> None:
    assert usages({"total_tokens": 1}, None, {"total_tokens": 4})[-1] == {"total_tokens": 5}
    assert usages(None, {"total_tokens": 4})[-1] == {"total_tokens": 4}


def test_a_count_that_one_answer_leaves_open_is_the_others() -> None:
    open_, known = {"completion_tokens_details": None}, {"completion_tokens_details": {"reasoning_tokens": 5}}
    assert added(known, open_) == added(open_, known) == known
    assert added(known, known) == {"completion_tokens_details": {"reasoning_tokens": 10}}

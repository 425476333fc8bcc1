"""Replies past a stated limit of ours. Each is a divergence by name where dspy, given the time, does read it."""

from __future__ import annotations

import pytest
from oracle import compare, signatures
from oracle.engines import ours, theirs
from oracle.outcomes import outcome
from oracle.specs import Built

from adapters.limits import LITERAL_LENGTH, REPAIR_DEPTH, REPAIR_LENGTH, REPAIR_STRETCH, TooLargeError

TEXT, LIST = signatures.built({"v": str}), signatures.built({"v": list[str]})

PAST: dict[str, tuple[str, Built, str, str]] = {
    "broken JSON longer than json_repair is asked to read": (
        "json",
        LIST,
        '{"v": [' + '["x"], ' * (REPAIR_LENGTH // 7) + "]",
        f"the limit is {REPAIR_LENGTH:,}",
    ),
    "a string without a bracket, longer than json_repair repairs in a second": (
        "json",
        TEXT,
        '{"v": "' + "line\n" * (REPAIR_STRETCH // 5 + 1) + '"}',
        f"more than {REPAIR_STRETCH:,} characters",
    ),
    "more brackets left open than json_repair can follow": (
        "json",
        TEXT,
        '{"v": "' + "see (" * (REPAIR_DEPTH + 1) + '\n"}',
        f"more than {REPAIR_DEPTH:,} open brackets",
    ),
}


@pytest.mark.parametrize("name", PAST)
def test_past_a_limit_the_verdict_names_it(name: str) -> None:
    adapter, built, completion, limit = PAST[name]
    reading = ours(adapter).read(built.ours, completion)
    assert not reading.ok
    assert "too large to read" in reading.error.message
    assert limit in reading.error.message
    raised = outcome(lambda: ours(adapter).parse(built.ours, completion)).error
    assert isinstance(raised, TooLargeError)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PAST if "longer than json_repair is asked" not in name])
def test_dspy_reads_what_is_past_our_limits(name: str) -> None:
    adapter, built, completion, _ = PAST[name]
    assert outcome(lambda: theirs(adapter).parse(built.theirs, completion)).error is None


@pytest.mark.parametrize(
    "completion",
    [
        '{"v": "' + "line\n" * 4_000 + '"}',
        '{"v": "' + "see (" * (REPAIR_DEPTH - 10) + '\n"}',
        '{"v": "' + "x" * (2 * REPAIR_LENGTH) + '"}',
    ],
    ids=["a long string with line breaks", "almost too many brackets", "valid JSON of any length"],
)
def test_within_the_limits_replies_are_read_as_dspy_reads_them(completion: str) -> None:
    assert compare.parsing("json", TEXT, completion) is None


def test_a_long_python_literal_is_read_up_to_its_limit() -> None:
    completion = "[[ ## v ## ]]\n" + "('x', " * 10 + "'" + "y" * 20_000 + "'" + ")" * 10
    assert compare.parsing("chat", signatures.built({"v": object}), completion) is None
    assert LITERAL_LENGTH >= 1_000_000

"""Replies past a stated limit of ours. Each is a divergence by name where dspy, given the time, does read it."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from oracle import compare, signatures
from oracle.engines import ours, theirs
from oracle.outcomes import outcome
from oracle.specs import Built

from adapters.formats.catalog import make
from adapters.json_text import repair_limits as limits
from adapters.json_text.repair_limits import (
    LITERAL_LENGTH,
    REPAIR_LENGTH,
    REPAIR_STEPS,
    REPAIR_STRETCH,
    RepairSteps,
    TooLargeError,
)
from adapters.json_text.repaired_json import repair_json
from adapters.replies.repairs import Guess

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
    "quotes, around each of which json_repair looks a few times": (
        "json",
        LIST,
        '{"v": ["x"], ' + ('"' * 1_000 + "{}, ") * 220 + "}",
        f"more than {REPAIR_STEPS:,} looks",
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


SLOW = "['" + 'a"b' * 300 + "']"


def test_all_fields_of_a_reply_share_the_steps_of_one_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    with limits.one_reading():
        repair_json(SLOW)
        steps = limits.repair_steps()
    cost = steps.allowed - steps.left
    monkeypatch.setattr(limits, "REPAIR_STEPS", 3 * cost)
    fields = {f"f{number}": list[str] for number in range(5)}
    readings = []
    for count in (3, 5):
        reply = "".join(f"[[ ## {field} ## ]]\n{SLOW}\n" for field in list(fields)[:count])
        readings.append(make("chat").read(signatures.built(dict(list(fields.items())[:count])).ours, reply))
    assert [one.ok for one in readings] == [True, False]
    assert f"more than {3 * cost:,} looks" in readings[1].error.message


def test_all_guesses_at_what_a_reply_was_meant_to_be_share_them_too(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = make("json").read(TEXT.ours, "no JSON at all")
    meant = [Guess(str(number), f"{{'v': '{number}', 'w': {SLOW}}}") for number in range(3)]
    monkeypatch.setattr("adapters.replies.near_misses.guesses", lambda reading: iter(meant))
    spent: list[RepairSteps] = []
    monkeypatch.setattr(limits, "RepairSteps", lambda allowed: spent.append(RepairSteps(allowed)) or spent[-1])
    assert [one.message for one in reading.near_misses] == ["0", "1", "2"]
    assert len(spent) == 1


def test_a_reading_and_the_guesses_at_what_was_meant_share_them(monkeypatch: pytest.MonkeyPatch) -> None:
    with limits.one_reading() as steps:
        repair_json(f"{{'v': {SLOW}}}")
    cost = steps.allowed - steps.left
    reply = f"{{'w': {SLOW}}}"

    def meant(allowed: int) -> int:
        monkeypatch.setattr(limits, "REPAIR_STEPS", allowed)
        reading = make("json").read(LIST.ours, reply)
        assert "w" in str(reading.exception) and 0 < reading.repair_steps <= allowed
        return len(reading.near_misses)

    monkeypatch.setattr(
        "adapters.replies.near_misses.guesses", lambda reading: iter([Guess("v is meant", f"{{'v': {SLOW}}}")])
    )
    assert [meant(3 * cost), meant(cost + cost // 2)] == [1, 0]


def test_after_a_reading_that_ran_out_nothing_more_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "REPAIR_STEPS", 10_000)
    reading = make("json").read(LIST.ours, '["' + 'a"b' * 6_000 + '"]')
    assert not reading.ok and reading.repair_steps > 10_000
    spent: list[RepairSteps] = []
    monkeypatch.setattr(limits, "RepairSteps", lambda allowed: spent.append(RepairSteps(allowed)) or spent[-1])
    assert reading.near_misses == ()
    assert len(spent) == 1 and -10 < spent[0].left < 0, "one look at each guess"


def test_an_ordinary_reply_is_looked_at_a_few_times_at_most() -> None:
    item = '{"x": "some text here", "y": 12, "z": [1, 2, 3]}, '
    text = '{"v": [' + item * 300 + "]}"
    with limits.one_reading():
        assert repair_json(text) == {"v": [json.loads(item.rstrip(", "))] * 300}
        steps = limits.repair_steps()
    assert steps.allowed - steps.left < 3 * len(text)


@pytest.mark.parametrize(
    "completion",
    [
        '{"v": "' + "line\n" * 4_000 + '"}',
        '{"v": "' + "see ({[" * 5_000 + '\n"}',
        '{"v": "' + "x" * (2 * REPAIR_LENGTH) + '"}',
        '{"v": ["' + 'He said "yes" and then "no" to her. ' * 80 + '"]}',
        "{'v': [" + ", ".join("'it's a \"test\"'" for _ in range(250)) + "]}",
    ],
    ids=[
        *("a long string with line breaks", "thousands of open brackets", "valid JSON of any length"),
        *("quotes inside of a list", "a list as Python prints it, with apostrophes"),
    ],
)
def test_within_the_limits_replies_are_read_as_dspy_reads_them(completion: str) -> None:
    assert compare.parsing("json", TEXT, completion) is None


@pytest.mark.parametrize("unit", ["(", "it'sa[,("])
def test_what_is_searched_from_a_bracket_to_the_end_is_counted(unit: str) -> None:
    """json_repair looks from each round bracket for the one that closes it, by a loop of its own."""
    text = unit * 400
    with limits.one_reading() as steps, suppress(ValueError):
        repair_json(text)
    assert steps.allowed - steps.left > 50 * len(text)


def test_tens_of_thousands_of_open_brackets_are_read_as_dspy_reads_them() -> None:
    for unit in ("[x(", "{x ", "[a\n", "{a: [1, 2}, ", "[[1,2],]"):
        assert compare.parsing("json", LIST, '{"v": [' + unit * (60_000 // len(unit))) is None, unit


@pytest.mark.parametrize("unit", ['a"b', 'print("hi")\n', '{"x": "y"}\n', '<a href="x">y</a> '])
def test_a_list_of_sixty_thousand_characters_of_quotes_is_read_within_the_limits(unit: str) -> None:
    """json_repair alone takes minutes for some of these; a shorter one of each is compared above and below."""
    long, short = (f'{{"v": ["{unit * (size // len(unit))}"]}}' for size in (63_000, 600))
    with limits.one_reading() as steps:
        values = make("json").read(LIST.ours, long).values
    assert values and steps.left > steps.allowed // 2
    assert compare.parsing("json", LIST, short) is None


def test_a_long_python_literal_is_read_up_to_its_limit() -> None:
    completion = "[[ ## v ## ]]\n" + "('x', " * 10 + "'" + "y" * 20_000 + "'" + ")" * 10
    assert compare.parsing("chat", signatures.built({"v": object}), completion) is None
    assert LITERAL_LENGTH >= 1_000_000

"""Differences are found quickly and shown as the few lines that changed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.prompts.text import Message, Segment, Text
from adapters.replies.reading import Reading
from adapters.signatures.signature import Signature
from sessions.checking.differences import messages_drift, reading_drift
from sessions.file.file_format import as_data
from sessions.file.format_reader import read_part
from sessions.file.typed_values import same
from sessions.model.replies import RecordedReading
from sessions.text_diff import line_diff, stretches

lines = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=12)


@given(lines, lines)
def test_a_diff_holds_every_changed_line_and_no_other(before: list[str], after: list[str]) -> None:
    diff = line_diff(before, after)
    removed = [line[1:] for line in diff if line[0] == "-"]
    added = [line[1:] for line in diff if line[0] == "+"]
    assert len(before) - len(removed) == len(after) - len(added)
    assert bool(diff) is (before != after) or before == after
    if before == after:
        assert removed == added == []


@given(st.text("ab ", max_size=30), st.text("ab ", max_size=30))
def test_outside_of_the_changed_ranges_the_new_text_is_text_of_the_old(before: str, after: str) -> None:
    position, kept = 0, ""
    for *_, start, end in stretches(before, after):
        assert position <= start <= end <= len(after)
        kept += after[position:start]
        position = end
    kept += after[position:]
    characters = iter(before)
    assert all(character in characters for character in kept)


@pytest.mark.parametrize(("before", "after"), [("", ""), ("a thing, ", ""), ("", " End."), ("a thing, ", " End.")])
def test_what_is_new_behind_a_full_stop_does_not_begin_with_it(before: str, after: str) -> None:
    old, new = f"{before}Read it.{after}", f"{before and 'things, '}Read it. Be brief.{after}"
    assert [new[start:end].strip() for *_, start, end in stretches(old, new)][-1] == "Be brief."
    assert [old[start:end].strip() for _, start, end, *_ in stretches(old, new)][-1] == ""
    assert [new[start:end].strip() for _, start, end, *_ in stretches(new, old)][-1] == "Be brief."


def test_a_change_in_ten_megabytes_is_found_at_once() -> None:
    before = "line of text\n" * 800_000
    after = before[:5_000_000] + "!" + before[5_000_000:]
    assert len(stretches(before, after)) == 1
    diff = line_diff(before.split("\n"), after.split("\n"))
    assert sum(line[0] in "+-" for line in diff) == 2


def test_a_whole_new_text_of_many_lines_is_no_stall() -> None:
    before = [f"{number}" for number in range(50_000)]
    after = [f"x{number}" for number in range(50_000)]
    assert len(line_diff(before, after)) == 100_000


def test_a_removed_piece_is_named_by_what_stands_in_its_place() -> None:
    message = Message("user", "history 1", (Text((Segment("Why?", "value", "q"), Segment(" Answer.", "reminder"))),))
    before = {"role": "user", "content": "Why? Please, Answer."}
    (drift,) = messages_drift([before], [message], [message.as_dict()])
    assert drift.message == "the reminder of history turn 1 lost text"


@pytest.mark.parametrize(
    ("written", "is_drift"),
    [
        ({"ok": True, "values": {"a": 1, "b": "x"}, "error": None}, False),
        ({"ok": True, "error": None, "values": {"a": 1, "b": "x"}}, True),
        ({"ok": True, "values": {"a": 1, "b": "x"}}, True),
        ({"ok": True, "values": {"a": 1, "b": "x"}, "error": None, "note": 1}, True),
        ({"ok": True, "values": {"a": 1, "b": "x"}, "error": 3}, True),
        ({"ok": True, "values": {"b": "x", "a": 1}, "error": None}, True),
        ({"ok": True, "values": {"a": 1.0, "b": "x"}, "error": None}, True),
        ({"ok": False, "values": {"a": 1, "b": "x"}, "error": None}, True),
    ],
)
def test_a_parse_result_is_compared_to_the_order_of_its_keys(written: dict[str, Any], is_drift: bool) -> None:
    recorded = read_part(RecordedReading, written, None)
    today = RecordedReading(True, {"a": 1, "b": "x"})
    reading = Reading("chat", Signature(()), "", {}, (), {})
    drift = reading_drift(recorded, today, "attempts[0].completions[0]", reading)
    assert (drift != []) is is_drift is not same(as_data(recorded), as_data(today))

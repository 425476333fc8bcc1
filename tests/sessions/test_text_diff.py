"""Within a line that changed the words that are others are marked, and nothing is lost."""

from __future__ import annotations

import difflib

from hypothesis import given
from hypothesis import strategies as st

from sessions.text_diff import lines_of, paired_lines_of, words
from tests.support.hostile import HOSTILE


def unified(before: str, after: str) -> list[str]:
    return list(difflib.unified_diff(before.split("\n"), after.split("\n"), n=1, lineterm=""))[2:]


def marked(before: str, after: str) -> list[tuple[str, list[str]]]:
    return [(line.sign, [one.text for one in line.runs if one.changed]) for line in lines_of(unified(before, after))]


def test_only_the_words_that_differ_are_marked() -> None:
    before = "First line.\nAnswer in one short sentence."
    after = "First line.\nAnswer in two short sentences."
    assert marked(before, after)[2:] == [("-", ["one", "sentence"]), ("+", ["two", "sentences"])]


def test_a_line_without_a_counterpart_is_new_as_a_whole() -> None:
    found = marked("same\nold words here", "same\n{\nnew\n}\nold words there")
    assert found[2:] == [("-", ["here"]), ("+", []), ("+", []), ("+", []), ("+", ["there"])]


@given(st.text(alphabet="ab []<>\n\t1.é", max_size=60), st.text(alphabet="ab []<>\n\t1.é", max_size=60))
def test_the_lines_are_those_of_the_unified_diff(before: str, after: str) -> None:
    given_lines = unified(before, after)
    made = [
        ("" if line.sign == "@" else line.sign) + "".join([one.text for one in line.runs])
        for line in lines_of(given_lines)
    ]
    assert sorted(made) == sorted(given_lines)


def test_hostile_lines_join_to_themselves() -> None:
    for text in HOSTILE.values():
        line = text.replace("\n", " ")
        ours, theirs = words(line, line + " x")
        assert "".join([one.text for one in ours]) == line
        assert "".join([one.text for one in theirs]) == line + " x"


@given(st.text(alphabet="ab []<>\n\t1.é", max_size=60), st.text(alphabet="ab []<>\n\t1.é", max_size=60))
def test_side_by_side_each_side_has_all_its_lines_in_their_order(before: str, after: str) -> None:
    made = list(paired_lines_of(unified(before, after)))
    lines = list(lines_of(unified(before, after)))
    assert [old for old, _ in made if old is not None] == [one for one in lines if one.sign != "+"]
    assert [new for _, new in made if new is not None] == [one for one in lines if one.sign != "-"]


def test_side_by_side_a_line_stands_beside_what_it_became() -> None:
    made = list(paired_lines_of(["-one two three", "-four", "+new", "+one two 3", "+four"]))
    texts = [tuple("".join([part.text for part in one.runs]) if one else "" for one in pair) for pair in made]
    assert texts == [("", "new"), ("one two three", "one two 3"), ("four", "four")]

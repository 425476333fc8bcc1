"""A fixture in full, and as much of it as a screen holds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.tui.pages.drifts import folded

LINES = st.lists(st.sampled_from([" alike", "-old", "+new"]), max_size=60)


def test_lines_alike_far_from_a_change_are_counted() -> None:
    lines = [*[" head"] * 5, "-old", "+new", *[" between"] * 9, "-gone", *[" tail"] * 4]
    assert list(folded(lines, 2)) == [
        [],
        3,
        [" head", " head", "-old", "+new", " between", " between"],
        5,
        [" between", " between", "-gone", " tail", " tail"],
        2,
        [],
    ]


@given(LINES, st.integers(0, 12))
def test_no_line_is_lost_or_counted_twice_and_none_that_changed_is_away(lines: list[str], around: int) -> None:
    shown: list[str] = []
    for part in folded(lines, around):
        if isinstance(part, int):
            assert part > 1, "one line alone is not folded"
            assert lines[len(shown) : len(shown) + part] == [" alike"] * part
            assert set(lines[max(0, len(shown) - around) : len(shown) + part + around]) == {" alike"}
            shown += [" alike"] * part
        else:
            shown += part
    assert shown == lines


@given(LINES)
def test_all_of_them_are_shown_where_nothing_is_to_be_left_out(lines: list[str]) -> None:
    assert list(folded(lines, None)) == [lines]

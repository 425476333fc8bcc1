"""What a report shows of a difference."""

from __future__ import annotations

from sessions.checking.reports import LONGEST_LINE, marked


def test_short_lines_stand_as_they_are() -> None:
    lines = [" a", "-b", "+c", " d", "-e", "+f", "+g"]
    assert list(marked(lines)) == lines


def test_of_a_long_line_what_changed_is_marked_and_shown_with_what_stands_around() -> None:
    head, tail = "h" * 500, "t" * 500
    old, new = marked([f"-{head}owed{tail}", f"+{head}due{tail}"])
    assert old == f"-…{'h' * 60}⟦owed⟧{'t' * 60}…"
    assert new == f"+…{'h' * 60}⟦due⟧{'t' * 60}…"


def test_a_word_that_changed_is_marked_whole() -> None:
    head, tail = "a thing " * 50, " (another thing)" * 50
    for was, now in (("float", "int"), ("total", "totals"), ("repaid", "paid")):
        old, new = marked([f"-{head}{was}{tail}", f"+{head}{now}{tail}"])
        assert f" ⟦{was}⟧ " in old and f" ⟦{now}⟧ " in new
    old, new = marked([f"-{head}very {tail}", f"+{head}{tail}"])
    assert "⟦very ⟧" in old and "⟦⟧" in new


def test_a_change_that_is_long_itself_is_cut_and_counted() -> None:
    (old, new) = marked(["-" + "a" * 10_000, "+" + "b" * 3])
    assert old.endswith("(10,000 characters)⟧") and len(old) < LONGEST_LINE + 50
    assert new == "+⟦bbb⟧"

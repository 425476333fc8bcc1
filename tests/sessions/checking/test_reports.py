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


def test_long_lines_without_a_counterpart_are_cut_to_their_beginning() -> None:
    head, tail, long = "h" * 500, "t" * 500, "a word " * 1_000
    lines = [f" {long}", f"-{long}", " b", f"-{head}owed{tail}", f"+{head}due{tail}", f"+{long}"]
    context, gone, short, old, new, come = marked(lines)
    for shown in (context, gone, come):
        assert shown.endswith("… (7,001 characters)") and len(shown) < LONGEST_LINE + 50
    assert short == " b"
    assert "⟦owed⟧" in old and "⟦due⟧" in new


def test_lines_that_share_little_are_no_pair_in_an_uneven_change() -> None:
    old, new, more = marked(["-" + "a" * 1_000, "+" + "b" * 1_000, "+c"])
    assert old == "-" + "a" * (LONGEST_LINE - 1) + "… (1,001 characters)"
    assert "⟦" not in new and more == "+c"

"""Words drawn large: every letter is as it should be, and what cannot be drawn is not drawn in part."""

import pytest

from workbench.tui.widgets.heading import ROWS, drawn, letters


@pytest.mark.parametrize("sign", letters())
def test_every_letter_is_five_rows_of_one_width(sign: str) -> None:
    rows = letters()[sign]
    assert len(rows) == ROWS
    assert len({len(row) for row in rows}) == 1
    assert set("".join(rows)) <= {"#", "."}
    assert "#" in "".join(rows)


def test_no_two_letters_look_the_same_but_o_and_zero() -> None:
    alike = {shape: [sign for sign in letters() if letters()[sign] == shape] for shape in letters().values()}
    assert [signs for signs in alike.values() if len(signs) > 1] == [["O", "0"]]


def test_a_word_is_three_rows_high_or_five() -> None:
    assert drawn("Hi!", 40) == ("█  █ █ █", "█▀▀█ █ ▀", "▀  ▀ ▀ ▀")
    large = drawn("Hi!", 40, scale=2)
    assert len(large) == ROWS
    assert {len(row) for row in large} == {2 * len(drawn("Hi!", 40)[0])}
    assert drawn("✓ 4/4", 80) != ()


def test_accents_and_small_letters_give_way() -> None:
    assert drawn("É à", 40) == drawn("E A", 40)


@pytest.mark.parametrize("text", ["", "   ", "日本", "[/x]", "a\x1b[31m", "\ud800", "Chat \N{PERSONAL COMPUTER}"])
def test_what_has_no_drawing_is_not_drawn_at_all(text: str) -> None:
    assert drawn(text, 500) == ()


def test_what_does_not_fit_is_not_cut() -> None:
    whole = drawn("Chat", 100)
    assert drawn("Chat", len(whole[0])) == whole
    assert drawn("Chat", len(whole[0]) - 1) == ()
    assert drawn("A" * 10_000_000, 80) == ()

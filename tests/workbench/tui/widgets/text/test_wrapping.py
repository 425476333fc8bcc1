"""Rows fit their width and together are the text."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from workbench.output.display import safe
from workbench.tui.widgets.text.wrapping import breaks, cell_offsets, expand_tabs, hang_of, rows

GATED = (
    st.text(st.characters(codec="utf-8") | st.sampled_from("ab  日本語\n❤\ufe0f👩👍🏽e\u0301"))
    .map(safe)
    .map(expand_tabs)
)


@given(GATED, st.integers(2, 30))
def test_rows_are_the_text_without_its_newlines_and_fit(text: str, width: int) -> None:
    found = rows(text, width)
    assert "".join(text[start:end] for start, end in found) == text.replace("\n", "")
    assert all(cell_len(text[start:end].rstrip(" ")) <= width for start, end in found)
    assert len(found) >= text.count("\n") + 1


@pytest.mark.slow
@given(GATED)
def test_cell_offsets_measure_as_the_renderer_does(text: str) -> None:
    line = text.replace("\n", "")
    assert cell_offsets(line)[-1] == cell_len(line)


@pytest.mark.parametrize(
    ("line", "width", "pieces"),
    [
        ("short", 10, ["short"]),
        ("one two three", 7, ["one two ", "three"]),
        ("one two three", 8, ["one two ", "three"]),
        ("unbreakable", 4, ["unbr", "eaka", "ble"]),
        ("日本語です", 4, ["日本", "語で", "す"]),
        ("日本語です", 5, ["日本", "語で", "す"]),
        ("日", 1, ["日"]),
        ("", 3, [""]),
    ],
)
def test_words_stay_whole_where_they_fit(line: str, width: int, pieces: list[str]) -> None:
    cuts = [0, *breaks(line, width), len(line)]
    assert [line[start:end] for start, end in pairwise(cuts)] == pieces


@pytest.mark.parametrize(
    ("text", "expanded"), [("a\tb", "a   b"), ("\t", "    "), ("日\tb", "日  b"), ("abcd\te\n\tf", "abcd    e\n    f")]
)
def test_tabs_reach_the_next_stop(text: str, expanded: str) -> None:
    assert expand_tabs(text) == expanded


def test_a_line_of_a_million_characters_is_cut_into_rows() -> None:
    assert len(rows("x" * 1_000_000, 40)) == 25_000
    assert len(rows("語" * 100_000, 40)) == 5_000


@given(st.text("ab  ü結\n{}", max_size=120), st.integers(4, 30))
def test_further_rows_of_a_line_fit_under_its_indent_and_lose_nothing(text: str, width: int) -> None:
    found = rows(text, width, hangs=True)
    line_start = 0
    for (start, end), following in zip(found, [*found[1:], None], strict=True):
        line = text[line_start:].partition("\n")[0]
        room = width - (hang_of(line, width) if start > line_start else 0)
        assert cell_len(text[start:end].rstrip(" ")) <= max(room, 2)
        if following is not None and following[0] != end:
            assert text[end : following[0]] == "\n"
            line_start = following[0]
    assert "".join(text[start:end] for start, end in found) == text.replace("\n", "")

"""A section shows every character of its message once, folded or not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.prompts.text import KINDS, Message, Segment, Text
from workbench.output.display import safe
from workbench.tui.widgets.prompt import prompt_section
from workbench.tui.widgets.prompt.prompt_forms import height_of
from workbench.tui.widgets.prompt.prompt_section import (
    LONGEST_SHOWN,
    OTHER_FOLD,
    VALUE_FOLD,
    FoldedSection,
    Section,
    fold_point,
    title,
)

TEXTS = st.text(st.sampled_from("ab \n日e\u0301\x1b")) | st.text(max_size=8).map(lambda text: text * 60)
MESSAGES = st.lists(st.builds(Segment, TEXTS, st.sampled_from(KINDS), st.sampled_from([None, "answer"]))).map(
    lambda segments: Message("user", "inputs", (Text(segments),))
)


@given(MESSAGES, st.integers(1, 50))
def test_unfolded_the_pieces_are_the_message(message: Message, width: int) -> None:
    section = Section(message, width, lambda origin: True)
    own = [piece for piece in section.pieces if piece.number >= 0]
    if "\t" not in message.text:
        assert "".join(piece.text for piece in own) == safe(message.text)
    assert [(piece.kind, section.origins[piece.number].field) for piece in own] == [
        (segment.kind, segment.field) for segment in message.segments
    ]


@given(MESSAGES, st.integers(1, 50), st.booleans())
def test_rows_and_stops_agree(message: Message, width: int, unfolded: bool) -> None:
    section = Section(message, width, lambda origin: unfolded)
    runs = [section.runs(row)[bool(section.hang(row)) :] for row in range(1, section.height)]
    shown = "".join(text for row in runs for _, text in row)
    assert shown == section.text.replace("\n", "")
    for number in section.stops():
        first, last = section.rows_of(number)
        assert 1 <= first <= last <= section.height - 1
        assert any(piece.number == number for piece, _ in section.runs(first))


@given(MESSAGES, st.integers(1, 50))
def test_what_is_folded_away_is_counted(message: Message, width: int) -> None:
    section = Section(message, width, lambda origin: False)
    for number in section.folded:
        head, note = [piece.text for piece in section.pieces if piece.number == number]
        hidden = int(note.split()[1].replace(",", ""))
        if "\t" not in message.text:
            assert len(head) + hidden == len(message.segments[number].text)


@pytest.mark.parametrize(
    ("text", "width", "folds"),
    [
        ("short", 40, False),
        ("\n" * 10, 40, False),
        ("\n" * 30, 40, True),
        ("x" * 600, 40, False),
        ("x" * 1_000, 40, True),
        ("x" * 1_000, 80, False),
        ("x" * 10_000_000, 80, True),
    ],
)
def test_values_of_more_than_sixteen_rows_fold(text: str, width: int, folds: bool) -> None:
    assert (fold_point(text, width, VALUE_FOLD) is not None) is folds


def test_a_folded_value_shows_about_eight_rows() -> None:
    assert fold_point("x" * 10_000, 40, VALUE_FOLD) == 320
    assert fold_point("line\n" * 100, 40, VALUE_FOLD) == len("line\n" * 8) - 1
    assert fold_point("line\n" * 1_000, 40, OTHER_FOLD) == len("line\n" * 100) - 1


@pytest.mark.parametrize(
    ("role", "turn", "words"),
    [
        ("system", "system", "system"),
        ("user", "demo 1", "user · demo 1"),
        ("assistant", "history 2", "assistant · history 2"),
        ("user", "inputs", "user"),
    ],
)
def test_titles(role: str, turn: str, words: str) -> None:
    assert title(Message(role, turn, ())) == words


def test_a_message_without_content_says_so() -> None:
    assert Section(Message("assistant", "history 1", ()), 40, lambda origin: False).text == "(no content)"


@given(MESSAGES)
def test_the_estimate_of_a_height_is_positive_and_bounded(message: Message) -> None:
    assert 2 <= height_of(message, 40, "sections") < 10 + 210 * (len(message.segments) + 1)


def test_tabs_stop_where_they_would_in_the_whole_line() -> None:
    message = Message("user", "inputs", (Text((Segment("ab", "marker"), Segment("\tc\n\td", "value"))),))
    assert Section(message, 40, lambda origin: False).text == "ab  c\n    d"


def test_code_goes_on_under_its_own_indent() -> None:
    text = 'x {\n    "total": "what is to be paid for all of it together"\n}'
    section = Section(Message("user", "inputs", (Text([Segment(text, "value", None)]),)), 30, lambda _: False)
    painted = ["".join(one for _, one in section.runs(row)).rstrip() for row in range(1, len(section.rows) + 1)]
    assert painted == ["x {", '    "total": "what is to be', "    paid for all of it", '    together"', "}"]
    indent = section.piece_at(3, 2)
    assert indent is not None and indent.number == -1, "it is no piece of the message"


def test_of_a_folded_text_that_has_no_end_so_much_is_wrapped_as_could_ever_be_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrapped: list[int] = []
    wrap = prompt_section.rows

    def counted(text: str, width: int, hangs: bool = False) -> list[tuple[int, int]]:
        wrapped.append(len(text))
        return wrap(text, width, hangs)

    monkeypatch.setattr(prompt_section, "rows", counted)
    long = "a description of it, " * (2 * LONGEST_SHOWN // 21)
    parts = [Segment(long, "template"), Segment("Do as you are told.", "instructions")]
    section = FoldedSection(Message("system", "system", (Text(parts),)), 40, lambda origin: False, excerpt=3)
    assert section.excerpt == 3 and section.text.startswith("▸ fields and structure")
    assert section.text.endswith("Do as you are told.")
    assert sum(wrapped) < len(long)

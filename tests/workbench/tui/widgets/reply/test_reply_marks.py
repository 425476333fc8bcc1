"""The margin of a reply names the field of every stretch where it begins."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.replies.reading import Span
from workbench.tui.widgets.reply.reply_marks import Label, Marks, shifted

TEXT = "Sure.\n[[ ## answer ## ]]\nyes\n[[ ## answer ## ]]\nno\n[[ ## x ## ]]\n1\n"
SPANS = (
    Span(0, 6, "ignored"),
    Span(6, 24, "marker", "answer"),
    Span(24, 29, "value", "answer"),
    Span(29, 51, "duplicate", "answer"),
    Span(51, len(TEXT), "unknown"),
)


def test_each_stretch_is_labelled_once_at_its_first_visible_character() -> None:
    marks = Marks(TEXT, SPANS)
    assert [(label.offset, label.fit(30)) for label in marks.labels] == [
        (0, "ignored"),
        (6, "answer"),
        (29, "answer (duplicate)"),
        (51, "unknown"),
    ]


@pytest.mark.parametrize(
    ("label", "width", "words"),
    [
        (Label(0, "value", "answer"), 10, "answer"),
        (Label(0, "value", "a_long_field_name"), 10, "a_lo…_name"),
        (Label(0, "duplicate", "answer"), 18, "answer (duplicate)"),
        (Label(0, "duplicate", "answer"), 12, "answer ×2"),
        (Label(0, "repaired", "answer"), 12, "answer ≈"),
        (Label(0, "repaired", "a_long_field_name"), 10, "a_long_… ≈"),
        (Label(0, "ignored", "answer"), 16, "answer (ignored)"),
        (Label(0, "ignored", "answer"), 10, "answer"),
        (Label(0, "unknown", None), 4, "unk…"),
        (Label(0, "value", "[/x]\x1b"), 10, "[/x]␛"),
    ],
)
def test_a_label_fits_its_margin(label: Label, width: int, words: str) -> None:
    assert label.fit(width) == words


def test_the_label_of_a_row_is_the_one_that_matters_most() -> None:
    text = "junk a=1 b=2 c=3"
    spans = (Span(0, 5, "ignored"), Span(5, 9, "value", "a"), Span(9, 13, "duplicate", "b"), Span(13, 16, "value", "c"))
    marks = Marks(text, spans)
    chosen, others = marks.label_in(0, 16) or pytest.fail("no label")
    assert (chosen.field, chosen.kind, others) == ("b", "duplicate", 2)
    chosen, _ = marks.label_in(0, 16, preferred="c") or pytest.fail("no label")
    assert chosen.field == "c"
    assert marks.label_in(1, 5) is None


@given(st.data())
def test_spans_in_a_range_partition_it(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(TEXT)))
    end = data.draw(st.integers(start, len(TEXT)))
    found = Marks(TEXT, SPANS).spans_in_range(start, end)
    assert "".join(TEXT[span.start : span.end] for span in found) == TEXT[start:end]


@given(st.data())
def test_after_an_edit_the_spans_still_partition_the_text(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(TEXT)))
    end = data.draw(st.integers(start, len(TEXT)))
    typed = data.draw(st.text(max_size=5))
    edited = TEXT[:start] + typed + TEXT[end:]
    found = shifted(SPANS, start, len(typed) - (end - start))
    assert [span.start for span in found[1:]] == [span.end for span in found[:-1]]
    if found:
        assert found[-1].end <= len(edited)


def test_the_margin_has_the_room_of_its_longest_label_and_no_more() -> None:
    spans = [Span(0, 4, "value", "seller"), Span(4, 8, "repaired", "total")]
    assert Marks("abcdefgh", spans, ("seller", "total")).margin == len("ignored")
    assert Marks("abcdefgh", spans, ("seller", "grand_total")).margin == len("grand_total")
    repaired = [Span(0, 8, "repaired", "grand_total")]
    assert Marks("abcdefgh", repaired, ("grand_total",)).margin == len("grand_total ≈")

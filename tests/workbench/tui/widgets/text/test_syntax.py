"""Highlights stay inside their lines, whatever is being typed."""

from __future__ import annotations

import pytest

from tests.support.hostile import HOSTILE
from tests.support.open_app import CLASSIFY
from workbench.tui.widgets.text.editor import LARGEST_TEXT, Syntax, highlight


@pytest.mark.parametrize("syntax", ["python", "json"])
@pytest.mark.parametrize("text", [*HOSTILE.values(), CLASSIFY, "'''never closed\n[", '"\\', "{'a': \"b"])
def test_highlights_are_in_order_and_inside_their_line(text: str, syntax: Syntax) -> None:
    lines = text.split("\n")
    found = highlight(text, syntax)
    assert len(found) in (0, len(lines))
    for line, highlights in zip(lines, found, strict=False):
        edges = [edge for one in highlights for edge in one[:2]]
        assert edges == sorted(edges)
        assert not edges or edges[-1] <= len(line)


def test_a_docstring_is_a_string_on_all_of_its_lines() -> None:
    found = highlight('"""one\ntwo\n"""\nclass', "python")
    assert [[one.kind for one in line] for line in found] == [["string"], ["string"], ["string"], ["keyword"]]


def test_a_long_text_is_left_alone() -> None:
    assert highlight("x" * (LARGEST_TEXT + 1), "python") == ()

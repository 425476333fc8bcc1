"""Lookalikes of markers are looked for only where there may be some, and no flag depends on that."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

import adapters
from adapters.formats import catalog
from adapters.replies.flags import chat_structure
from adapters.replies.sections import may_hold_lookalikes, sections

SIGNATURE = adapters.read_signature("question -> answer, final_score")
MARKS = [f"[[ ## {name} ## ]]" for name in ("answer", "completed", "final_score", "Answer", "final score", "other")]
LIKES = ["[ ## completed ## ]", "[\\[ ## answer ## ]]", "[[[ answer ### ]]]", "[[ answer ]]", "**[[ ## answer ## ]]**"]
PIECES = [*MARKS, *LIKES, "\n", "\r\n", " ", "[", "[[", "]]", "\\[", " ##", "**", "1. ", "text", ": x", "```\n"]
BEGIN, END = "[[ ## answer ## ]]\n", "\n[[ ## completed ## ]]"


@given(st.lists(st.sampled_from(PIECES), max_size=12), st.sampled_from(["", BEGIN]), st.sampled_from(["", END]))
def test_looking_everywhere_finds_the_same_flags(pieces: list[str], begin: str, end: str) -> None:
    reply = f"{begin}{''.join(pieces)}{end}"
    chat = catalog.make("chat")
    flags = chat.read(SIGNATURE, reply).flags
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chat_structure, "may_hold_lookalikes", lambda *given: True)
        assert chat.read(SIGNATURE, reply).flags == flags


def test_a_reply_as_asked_for_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(chat_structure, "markers_like")  # an error in a detector ends its flags
    reply = f"{BEGIN}A list: [1, 2].\n\n[[ ## final_score ## ]]\n5 (see [3])\n{END}\n\nAnd more."
    assert [one.name for one in catalog.make("chat").read(SIGNATURE, reply).flags] == ["after-completed-dropped"]


def test_the_brackets_of_lists_of_texts_are_not_looked_at_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("adapters.replies.sections._OPENING")  # an error in a detector ends its flags
    reply = f'{BEGIN}["a", "b"]\n\n[[ ## final_score ## ]]\n5\n{END}\n\nAnd more.'
    assert [one.name for one in catalog.make("chat").read(SIGNATURE, reply).flags] == ["after-completed-dropped"]


def test_a_loop_of_brackets_takes_no_memory_for_each() -> None:
    text = f"{BEGIN}{'[[' * 50_000}"
    found = sections(text)
    tracemalloc.start()
    try:
        assert may_hold_lookalikes(text, found, {})
        assert tracemalloc.get_traced_memory()[1] < len(text)
    finally:
        tracemalloc.stop()

"""The messages of another release get our origins, and lose or gain no character on the way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.prompts.text import Message, Segment, Text
from sessions.checking.upstream import UNKNOWN, add_origins

SYSTEM = Text((Segment("1. `", "boilerplate"), Segment("name", "name", "name"), Segment("`:\n", "boilerplate")))
USER = Text((Segment("<name>\n", "marker", "name"), Segment("Ann\nLee", "value", "name")))
OURS = (Message("system", "system", (SYSTEM,)), Message("user", "inputs", (USER,)))


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_character_is_lost(system: str, user: str) -> None:
    theirs = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    assert [one.as_dict() for one in add_origins(theirs, OURS)] == theirs


def test_what_is_alike_has_our_origin_and_what_stands_in_its_place_too() -> None:
    theirs = [{"role": "system", "content": ""}, {"role": "user", "content": "[[ ## name ## ]]\nAnn\nLee"}]
    _, user = add_origins(theirs, OURS)
    kinds = [(one.kind, one.field) for one in user.segments]
    assert kinds[-1] == ("value", "name")
    assert {kind for kind, _ in kinds[:-1]} == {"marker"}


def test_a_message_that_has_no_place_beside_ours_is_unknown() -> None:
    (found,) = add_origins([{"role": "tool", "content": "y"}], OURS)
    assert found.turn == UNKNOWN and str(found.text) == "y"


@pytest.mark.parametrize("content", [None, [{"type": "image_url", "image_url": {"url": "data:,x"}}], []])
def test_content_that_is_no_text_stays(content: object) -> None:
    theirs = [{"role": "system", "content": "a"}, {"role": "user", "content": content}]
    assert add_origins(theirs, OURS)[1].content == content

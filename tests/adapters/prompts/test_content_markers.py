"""Marked content parts become the parts that dspy makes of them, and know the field they came from."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dspy.adapters._legacy_type_markers import _expand_legacy_custom_type_markers_in_chat_message as dspy_expand
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.prompts.content_markers import END, START, expand
from adapters.prompts.text import DataPart, Message, Segment, Text
from adapters.types import Image
from tests.support.pace import LOOPS_A_SECOND, loops

IMAGE = [{"type": "image_url", "image_url": {"url": "https://x.y/z.png"}}]


def marked(payload: str) -> str:
    return f"{START}{payload}{END}"


def ours(text: str) -> Any:
    parts, is_list = expand(Text.of(text))
    return Message("user", "inputs", parts, is_list).content


def dspys(text: str) -> Any:
    return dspy_expand({"role": "user", "content": text})["content"]


PAYLOADS = [
    "",
    " ",
    "[]",
    "{}",
    "null",
    "5",
    '"text"',
    json.dumps(IMAGE),
    f"  {json.dumps(IMAGE)}\n",
    json.dumps(json.dumps(IMAGE))[1:-1],
    json.dumps(json.dumps(json.dumps(IMAGE))[1:-1])[1:-1],
    json.dumps(IMAGE[0]),
    json.dumps([1, None, 1.0, "a", True, [], [{}]]),
    "[NaN, 1e400]",
    '[{"type": "text", "text": "a"}]',
    '[{"text": "a", "type": "text"}]',
    '[{"type": "text", "text": ""}]',
    '[{"type": "text", "text": 5}]',
    '[{"type": "text", "text": "a", "cache_control": {}}]',
    "[{'type': 'text', 'text': 'repaired'}",
    "[{type: text}, ",
    "no JSON",
    "[1, 2",
    "[" + "1" * 5000 + "]",
    "[" * 200 + "]" * 200,
    "[" * 100_000,
    '[{"a":' * 50_000,
    '\\"[1]\\"',
    "\ud800",
    '["\ud800"]',
    '["\\ud800"]',
]


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_every_payload_becomes_the_parts_that_dspy_makes(payload: str) -> None:
    for text in (marked(payload), f"before {marked(payload)} after", marked(payload) * 2):
        assert repr(ours(text)) == repr(dspys(text))


TEXTS = [
    "",
    "plain",
    START,
    END,
    END + START,
    START + START + "[1]" + END,
    START + "[1]" + END + END,
    START + "[1]" + START + "[2]" + END,
    marked("[1]") + "\n" + START,
    START[:-1] + "[1]" + END,
    "a\r\nb\u2028" + marked("\n[1]\n"),
]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_markers_without_a_partner_are_treated_alike(text: str) -> None:
    assert ours(text) == dspys(text)


PIECES = st.sampled_from([START, END, *PAYLOADS[:22], "text", "\n", '"', "\\", "<<", ">>"]) | st.text(max_size=5)


@pytest.mark.slow
@given(st.lists(PIECES, max_size=10).map("".join))
@settings(max_examples=1500, deadline=None)
def test_any_text_becomes_the_same_content(text: str) -> None:
    assert repr(ours(text)) == repr(dspys(text))


def test_a_list_of_images_is_expanded_from_inside_its_json() -> None:
    images = [Image("https://x.y/1.png"), Image('https://x.y/2.png?"q"')]
    text = json.dumps([image.serialize_model() for image in images], ensure_ascii=False)
    assert ours(text) == dspys(text)
    assert [part["type"] for part in ours(text)] == ["text", "image_url", "text", "image_url", "text"]


def test_parts_know_the_field_that_their_marker_stands_in() -> None:
    text = Text(
        (
            Segment("[[ ## photo ## ]]\n", "marker", "photo"),
            Segment(marked(json.dumps([*IMAGE, "caption"])), "value", "photo"),
            Segment("\n\n", "boilerplate"),
            Segment("say " + marked("no JSON"), "value", "note"),
            Segment("\nRespond.", "reminder"),
        )
    )
    parts, is_list = expand(text)
    assert is_list
    assert parts == (
        Text((Segment("[[ ## photo ## ]]\n", "marker", "photo"),)),
        DataPart(IMAGE[0], "photo"),
        Text((Segment("caption", "value", "photo"),)),
        Text((Segment("\n\n", "boilerplate"), Segment("say ", "value", "note"))),
        Text((Segment("no JSON", "value", "note"),)),
        Text((Segment("\nRespond.", "reminder"),)),
    )
    segments = [segment for part in parts if isinstance(part, Text) for segment in part.segments]
    assert [segment.kind for segment in segments] == ["marker", "value", "boilerplate", "value", "value", "reminder"]
    assert [segment.field for segment in segments] == ["photo", "photo", None, "note", "note", None]


@pytest.mark.parametrize(
    "text",
    [
        START * 50_000,
        END * 50_000,
        marked("[1]") * 20_000,
        START + "x" * 5_000_000,
        marked('["' + "x" * 5_000_000),
        marked('["' + "x" * 100_000) * 50,
    ],
    ids=["starts", "ends", "pairs", "unclosed", "broken", "often broken"],
)
def test_hostile_text_costs_no_more_than_seconds(text: str) -> None:
    assert loops(lambda: expand(Text.of(text))) < 3 * LOOPS_A_SECOND

"""Near misses: what was meant, read by the same parser from the mended text; only where that is better; bounded."""

from __future__ import annotations

import enum
import json
import random
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import replies, signatures
from oracle.engines import NAMES

from adapters.formats import catalog
from adapters.formats.catalog import make
from adapters.formats.two_step import TwoStepAdapter
from adapters.replies import near_misses
from adapters.replies.near_misses import LONGEST, guesses
from adapters.replies.reading import NearMiss, Reading
from adapters.signatures.signature import Field, Signature
from adapters.types import Code
from tests.support.pace import LOOPS_A_SECOND, loops

ADAPTERS = ("chat", "json", "xml", "baml", "markdown")


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


def read(adapter: str, text: str, **outputs: Any) -> Reading:
    fields = [Field("question", "input"), *(Field(name, "output", kind) for name, kind in outputs.items())]
    return make(adapter).read(Signature.make(fields), text)


def misses(adapter: str, text: str, **outputs: Any) -> tuple[NearMiss, ...]:
    return read(adapter, text, **outputs).near_misses


def first(adapter: str, text: str, **outputs: Any) -> dict[str, Any]:
    found = misses(adapter, text, **outputs)
    assert found
    return dict(found[0].reading.values)


@pytest.mark.parametrize(
    "marker",
    [
        "**[[ ## answer ## ]]**",
        "[[ ## Answer ## ]]",
        "[[## answer ##]]",
        "[[  ##  answer  ##  ]]",
        "- [[ ## answer ## ]]",
        "> [[ ## answer ## ]]",
        "\ufeff[[ ## answer ## ]]",
        "1. [[ ## ANSWER ## ]]",
        "[ ## answer ## ]",
        "Here it is: [[ ## answer ## ]]",
        "## Answer",
        "**Answer:**",
        "Answer:",
    ],
)
def test_a_marker_written_otherwise_is_recognised(marker: str) -> None:
    assert first("chat", f"{marker}\n42", answer=str) == {"answer": "42"}


def test_names_with_spaces_and_hyphens_are_recognised() -> None:
    text = "[[ ## Final Answer ## ]]\n42\n[[ ## why-not ## ]]\nx\n[[ ## completed ## ]]"
    assert first("chat", text, final_answer=str, why_not=str) == {"final_answer": "42", "why_not": "x"}


def test_all_markers_are_mended_at_once() -> None:
    text = "**[[ ## a ## ]]**\n1\n\n**[[ ## b ## ]]**\n2\n\n**[[ ## completed ## ]]**"
    assert first("chat", text, a=str, b=str) == {"a": "1", "b": "2"}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_reply_in_another_adapters_format_is_recognised(adapter: str) -> None:
    written = {
        "chat": "[[ ## answer ## ]]\n42\n\n[[ ## completed ## ]]",
        "json": '{"answer": "42"}',
        "xml": "<answer>\n42\n</answer>",
    }
    reads = {"chat": "chat", "json": "json", "baml": "json", "markdown": "json", "xml": "xml"}[adapter]
    for other, text in written.items():
        if other != reads:
            (miss, *_) = misses(adapter, text, answer=str)
            assert dict(miss.reading.values) == {"answer": "42"}
            assert "format of" in miss.message or "tags" in miss.message


@pytest.mark.parametrize(
    "text",
    [
        '{"output": {"answer": "x", "n": 1}}',
        '{"result": {"data": {"answer": "x", "n": 1}}}',
        '{"Answer": "x", "N": 1}',
        '[{"answer": "x", "n": 1}, 2]'.replace(", 2", ""),
        '<think>{"draft": 1}</think>{"answer": "x", "n": 1}',
        '{"answer": "x"} {"n": 1}',
        '{"answer"： "x"， "n"： 1}',
    ],
)
def test_an_object_in_another_shape_is_recognised(text: str) -> None:
    reading = read("json", text, answer=str, n=int)
    values = dict(reading.values) if reading.ok else dict(reading.near_misses[0].reading.values)
    assert values == {"answer": "x", "n": 1}


@pytest.mark.parametrize(
    ("text", "kind", "meant"),
    [
        ("1,234", int, 1234),
        ("42 apples", int, 42),
        ("about 3.5", float, 3.5),
        ("Yes, because", bool, True),
        ("No.", bool, False),
        ("Positive.", Literal["positive", "negative"], "positive"),
        ("1", Level, Level.LOW),
        ("high", Level, Level.HIGH),
        ("- a\n- b", list[str], ["a", "b"]),
        ("1. a\n2. b", list[str], ["a", "b"]),
        ("a, b", list[str], ["a", "b"]),
        ("[1, 2]", list[str], ["1", "2"]),
        ("0,8", float, 0.8),
        ("1.234,5", float, 1234.5),
    ],
)
def test_a_refused_value_is_mended_in_its_place(text: str, kind: Any, meant: Any) -> None:
    assert first("chat", f"[[ ## v ## ]]\n{text}\n[[ ## w ## ]]\nx", v=kind, w=str) == {"v": meant, "w": "x"}


def test_a_reply_that_reads_well_has_no_near_miss() -> None:
    assert misses("chat", "[[ ## a ## ]]\nsee **[[ x ]]**\n[[ ## completed ## ]]", a=str) == ()
    assert misses("json", '{"a": "{\\"a\\": 1}"}', a=str) == ()


def test_a_refusal_is_no_near_miss() -> None:
    for adapter in ADAPTERS:
        assert misses(adapter, "I am sorry, I cannot help with that.", answer=str) == ()


def test_two_steps_near_misses_are_those_of_the_extraction() -> None:
    signature = Signature.make((Field("q", "input"), Field("a", "output")))
    reading = TwoStepAdapter().read(signature, "prose", extraction="**[[ ## a ## ]]**\nx")
    (miss,) = reading.near_misses
    assert dict(miss.reading.values) == {"a": "x"}


@pytest.mark.parametrize("name", catalog.NAMES)
def test_guesses_never_raise_and_what_is_kept_is_better(name: str) -> None:
    adapter = make(name)
    for seed in range(30):
        rng = random.Random(f"misses {seed} {name}")
        built = signatures.signature(rng)
        for _ in range(6):
            reading = adapter.read(built.ours, replies.reply(rng, name if name in NAMES else "chat", built))
            assert all(guess.message for guess in guesses(reading))
            for miss in reading.near_misses:
                before, after = [near_misses._quality(one, one.flags) for one in (reading, miss.reading)]
                assert after > before
                assert miss.reading.completion == miss.mended
                assert miss.reading.adapter == reading.adapter


@pytest.mark.parametrize("adapter", ADAPTERS)
@given(text=st.text(st.sampled_from("[]{}<>#&;:,\"'`\\ \n\u2028\ufeff\ud800anAN1.-/") | st.characters(), max_size=80))
def test_any_text_at_all_can_be_guessed_at(adapter: str, text: str) -> None:
    reading = read(adapter, text, a=str, n=int)
    assert all(guess.message for guess in guesses(reading))
    found = reading.near_misses
    assert [miss.mended for miss in found] == [miss.mended for miss in near_misses.find(reading)]


HOSTILE = (
    "[[ ## ",
    "<a>",
    "{",
    '{"a": ',
    "[[ ## a ## ]]\n",
    "- ",
    "a:",
    "#",
    "&",
    "1,234 ",
    "[ ",
    '"',
    "<a ",
    "</a>",
    "```",
)


@pytest.mark.parametrize(
    "adapter", [one if one in ("chat", "json") else pytest.param(one, marks=pytest.mark.slow) for one in ADAPTERS]
)
@pytest.mark.parametrize("piece", HOSTILE)
def test_guessing_is_bounded(adapter: str, piece: str) -> None:
    reading = read(adapter, (piece * LONGEST)[:LONGEST], a=str, n=int)

    def guessed() -> None:
        assert len(reading.near_misses) <= near_misses.MOST_KEPT

    assert loops(guessed, tries=1) < 3 * LOOPS_A_SECOND


@pytest.mark.parametrize(
    ("adapter", "piece"), [("chat", "[[ ## seller{}nam ## ]]\nx\n"), ("xml", "<seller{0}nam>x</seller{0}nam>")]
)
def test_comparing_names_is_bounded(adapter: str, piece: str) -> None:
    reading = read(
        adapter,
        "".join([piece.format(one) for one in range(20_000)]),
        **dict.fromkeys(map("n{}".format, range(60)), str),
    )
    assert loops(lambda: reading.flags, tries=1) < LOOPS_A_SECOND


def test_xml_without_a_tag_fails_for_its_unpaired_surrogate_alone_if_each_output_has_a_default() -> None:
    (one,) = misses("xml", "no \ud800tag", a=int | None)
    assert (one.mended, dict(one.reading.values)) == ("no tag", {"a": None})


def test_a_reply_past_the_limit_is_not_guessed_at() -> None:
    assert misses("chat", "**[[ ## a ## ]]**\n" + "x" * LONGEST, a=str) == ()


@pytest.mark.parametrize(
    ("adapter", "text"),
    [
        ("chat", "[[ ## seler ## ]]\nTim\n\n[[ ## total ## ]]\n1\n\n[[ ## completed ## ]]"),
        ("json", '{"seler": "Tim", "total": 1}'),
        ("xml", "<seler>Tim</seler><total>1</total>"),
    ],
)
def test_a_slip_in_the_name_of_a_field_needs_no_other_adapter(adapter: str, text: str) -> None:
    found = read(adapter, text, seller=str, total=int)
    assert "seler" in found.diagnosis[0].message and found.diagnosis[0].field == "seller"
    assert found.near_misses[0].mended == text.replace("seler", "seller")
    assert found.near_misses[0].reading.values == {"seller": "Tim", "total": 1}


@pytest.mark.parametrize("cut", ["", "<", "</", "</mo", "</mood"])
def test_a_closing_tag_that_was_cut_off_is_completed(cut: str) -> None:
    found = read("xml", f"<note>a</note>\n<mood>\nbad\n{cut}", note=str, mood=Literal["good", "bad"])
    assert found.near_misses[0].reading.values == {"note": "a", "mood": "bad"}


@pytest.mark.parametrize("text", ["a & b", "a &b c", "a &; b", "a && b", "a &<b/>", "a &"])
def test_a_bare_ampersand_is_reported_at_one_place(text: str) -> None:
    found = read("xml", f"<answer>\n{text}</answer>", answer=str)
    assert found.error is not None and found.error.start is not None
    assert found.line_and_column(found.error.start) == (2, 3) and found.error.message.endswith("a bare &")
    assert "(line 2, column 3)" in found.flags[0].message


def test_a_guess_that_keeps_the_nul_is_no_better() -> None:
    (found,) = misses("json", '<think>{"a": "x", "b": "y"}</think>{"a": "1\\u0000", "b": "2"}', a=str, b=str)
    assert found.message == "Without U+0000 it parses as" and found.reading.values == {"a": "1", "b": "2"}


@pytest.mark.parametrize(
    ("text", "column"), [("a &amp-b c", 3), ("a &#", 3), ("a &#é;", 3), ("a &1;", 3), ("a &b.c &d;", 3)]
)
def test_an_entity_that_is_none_begins_with_the_bare_ampersand(text: str, column: int) -> None:
    found = read("xml", f"<answer>\n{text}</answer>", answer=str)
    assert found.error is not None and found.error.message.endswith("a bare &")
    assert [flag.name for flag in found.flags] == ["xml-ampersand"]
    assert f"(line 2, column {column})" in found.flags[0].message


@pytest.mark.parametrize(
    ("cut", "items"),
    [
        ("<item>late", ["late"]),
        ("<item>late</item>\n<item>cold & wet", ["late", "cold & wet"]),
        ("<item>late</item>\n<item>cold</item>\n</it", ["late", "cold"]),
    ],
)
def test_the_items_of_a_list_that_is_cut_off_stay_items(cut: str, items: list[str]) -> None:
    found = misses("xml", f"<mood>\nbad\n</mood>\n\n<reasons>{cut}", mood=str, reasons=list[str])
    assert (found[0].message, found[0].reading.values) == (
        "<reasons> is never closed; closed at the end it parses as",
        {"mood": "bad", "reasons": items},
    )


@pytest.mark.parametrize(
    ("kind", "text"), [(str, "use List<String> now"), (str, "<p>Hello <b>you"), (Code, "a: Vec<String> = b")]
)
def test_signs_that_look_like_tags_in_a_text_that_is_cut_off_are_not_closed(kind: Any, text: str) -> None:
    found = misses("xml", f"<answer>{text}", answer=kind)
    value = Code(code=text) if kind is Code else text
    assert [(one.message, one.reading.values) for one in found] == [
        ("With the text between the fields' tags taken as plain text it parses as", {"answer": value})
    ]


def test_a_tag_without_outputs_inside_wraps_nothing() -> None:
    found = misses("xml", "<title>X</title><tags>[{]</", title=str | None, tags=list[str] | None)
    assert [(one.message, one.mended) for one in found] == [
        ("<tags> is never closed; closed at the end it parses as", "<title>X</title><tags>[{]</tags>")
    ]


def test_the_rest_of_a_marker_is_no_label() -> None:
    assert read("chat", " ## a ## ]]\nx", a=str).near_misses == ()
    (near,) = read("chat", "## a ## it is ]\nx", a=str).near_misses
    assert near.reading.values == {"a": "it is ]\nx"}


def test_objects_in_texts_without_outputs_use_up_no_guesses() -> None:
    calls = [f'{{"k": {number}}}' for number in range(near_misses.MOST_GUESSES)]
    (near,) = read("json", json.dumps({"anwser": "x", "calls": calls}), answer=str).near_misses
    assert near.reading.values == {"answer": "x"}

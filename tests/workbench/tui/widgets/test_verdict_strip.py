"""One line for all columns: what a person must know keeps its words the longest."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from sessions import examples
from sessions.model.session import Column
from tests.support.hostile import HOSTILE
from tests.support.open_app import SMALL, Desk, at_the_desk
from tests.support.screen import assert_harmless, on_stage, seen
from workbench.state.document import RenderedColumn
from workbench.tui.panes.verdicts import Verdict, VerdictStrip, short_form

FOUR = (
    Verdict("chat", "Chat", "✓", "success", "4/4"),
    Verdict("json", "JSON", "✓", "success", "4/4 repaired"),
    Verdict("xml", "XML", "✗", "error", "line 12: & not escaped", matters=True),
    Verdict("baml", "BAML", "·", "", "no reply yet"),
)

WHOLE = "Chat ✓ 4/4   JSON ✓ 4/4 repaired   XML ✗ line 12: & not escaped   BAML · no reply yet   "


@pytest.mark.parametrize(
    ("width", "said"),
    [
        (105, f"{WHOLE} + column alt+c"),
        (100, f"{WHOLE} + "),
        (68, "Chat ✓   JSON ✓   XML ✗ line 12: & not escaped   BAML ·    + "),
        (44, "Chat ✓   JSON ✓   XML ✗   BAML ·    + "),
    ],
)
def test_words_give_way_in_the_order_in_which_they_can_be_spared(width: int, said: str) -> None:
    strip = VerdictStrip()
    strip.show(FOUR, "chat")

    async def act(stage: object, pilot: object) -> None:
        assert strip.render().plain == said
        assert strip.render().cell_length <= strip.size.width
        assert_harmless(strip)

    on_stage(strip, act, size=(width, 3))


def test_the_current_one_of_many_columns_is_in_sight() -> None:
    strip = VerdictStrip()
    many = [Verdict(f"column-{at}", f"column-{at}", "✓", "success", "4/4") for at in range(12)]

    async def act(stage: object, pilot: object) -> None:
        for current, first in ((0, "column-0 "), (3, "column-0 "), (4, "… column-1 "), (11, "… column-8 ")):
            strip.show(many, f"column-{current}")
            assert strip.render().plain.startswith(first) and f"column-{current} ✓" in strip.render().plain
            assert strip.render().cell_length <= strip.size.width

    on_stage(strip, act, size=(64, 3))


def test_errors_that_are_equally_long_share_the_room_evenly() -> None:
    strip = VerdictStrip()
    error = "line 5: score: Input should be a valid integer, got a number with a fraction"
    strip.show([Verdict(one, one, "✗", "error", error, matters=True) for one in ("Chat", "JSON", "XML")], "Chat")

    async def act(stage: object, pilot: object) -> None:
        said = strip.render().plain
        assert said.count("line 5: score: Input shoul") == 3 and said.count("…") == 3

    on_stage(strip, act, size=(120, 3))


@pytest.mark.parametrize("width", [70, 78, 80, 90, 104])
def test_of_a_word_that_is_cut_there_is_more_than_one_letter(width: int) -> None:
    strip = VerdictStrip()
    words = "≠ recorded · old line 12: & not escaped"
    strip.show([Verdict(one, one, "✗", "error", words, matters=True) for one in ("Chat", "JSON", "XML")], "Chat")

    async def act(stage: object, pilot: object) -> None:
        assert not re.search(r"[ ·].?…", strip.render().plain)

    on_stage(strip, act, size=(width, 3))


@pytest.mark.parametrize(("width", "said"), [(80, "total: In"), (200, "line 5: total: Input should")])
def test_where_an_error_has_no_room_its_reason_stands_before_its_place(width: int, said: str) -> None:
    strip = VerdictStrip()
    error = "total: Input should be a valid integer"
    columns = ("Chat", "JSON", "XML")
    strip.show([Verdict(one, one, "✗", "error", f"line 5: {error}", True, error) for one in columns], "Chat")

    async def act(stage: object, pilot: object) -> None:
        assert strip.render().plain.count(f"✗ {said}") == len(columns)

    on_stage(strip, act, size=(width, 3))


@pytest.mark.parametrize("width", [60, 75, 100])
def test_what_is_said_of_all_columns_alike_is_said_of_all_or_of_none(width: int) -> None:
    strip = VerdictStrip()
    names = ("Chat", "JSON", "XML", "BAML")
    strip.show([Verdict(one, one, "·", "", "no reply yet") for one in names], "Chat")

    async def act(stage: object, pilot: object) -> None:
        assert strip.render().plain.count("no reply yet") in (0, len(names))

    on_stage(strip, act, size=(width, 3))


def test_names_and_reasons_of_others_do_no_harm() -> None:
    strip = VerdictStrip()

    async def act(stage: object, pilot: object) -> None:
        for text in HOSTILE.values():
            strip.show([Verdict(text, text, "✗", "error", text, matters=True)] * 3, text)
            assert strip.render().cell_length <= strip.size.width
            assert_harmless(strip)

    on_stage(strip, act, size=(80, 3))


def test_what_hinders_every_column_is_named_in_the_room_that_there_is() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("signature")
        await desk.paste_over("question -> answer: nothing_known")
        await desk.until(lambda: "✗ signature: li" in "".join(seen(desk.main.query_one(VerdictStrip))), "for the place")

    at_the_desk(act, size=SMALL)


def test_the_place_in_the_signature_is_named_without_a_cut_where_it_fits() -> None:
    wrong = "the signature: line 1, column 24: unknown name `fintloat`"
    names = ("chat", "json", "xml")
    columns = [short_form(name, RenderedColumn(Column(name, name), error=wrong), None, False) for name in names]
    strip = VerdictStrip()

    async def act(stage: object, pilot: object) -> None:
        strip.show(columns, "chat")
        assert strip.render().plain.count("✗ signature: line 1   ") == 3

    on_stage(strip, act, size=(120, 3))


@pytest.mark.slow
def test_refused_replies_name_their_field_where_three_of_them_share_the_line() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.sent()
        await desk.go_to("signature")
        await desk.paste_over(desk.editor.raw.replace("float", "int"))
        await desk.until(lambda: "Chat ✗ old total: " in "".join(seen(desk.main.query_one(VerdictStrip))), "the field")

    at_the_desk(act, session=examples.load(examples.FIRST), size=SMALL)


def test_a_column_with_its_adapters_name_in_its_own_is_named_once() -> None:
    async def act(desk: Desk) -> None:
        named = [one.strip() for one in seen(desk.main.query_one(VerdictStrip))[0].split("·")]
        assert named[0] == "chat-1" and named[1].endswith("XML other")

    columns = (Column("chat-1", "chat"), Column("other", "xml"))
    at_the_desk(act, session=replace(examples.load("question"), columns=columns), size=SMALL)

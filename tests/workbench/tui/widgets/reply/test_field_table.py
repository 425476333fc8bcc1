"""The table of fields: raw text, every step, the value, and in words what went wrong."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any, Literal, get_args

import pytest
from textual.pilot import Pilot

from adapters.formats.catalog import make
from adapters.formats.chat import ChatAdapter
from adapters.replies.flag import Flag
from adapters.replies.reading import FieldReading, FieldState, NearMiss, Reading
from adapters.signatures.signature import MISSING, Field, Signature
from adapters.values.plain_json import Step
from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Session, SignatureText
from tests.support.hostile import HOSTILE
from tests.support.open_app import MIDDLE, Desk, at_the_desk
from tests.support.screen import Stage, assert_harmless, on_stage, seen
from workbench.output.display import value_text
from workbench.tui.widgets.reply.field_rows import Row, rows_of
from workbench.tui.widgets.reply.field_table import FieldTable

SIGNATURE = Signature.make(
    [
        Field("question", "input"),
        Field("answer", "output", Literal["yes", "no"]),
        Field("score", "output", float),
        Field("note", "output", str, default="none"),
    ],
    "Answer.",
)
CHAT = ChatAdapter()
GOOD = "[[ ## answer ## ]]\nyes\n\n[[ ## score ## ]]\n 0.50\n\n[[ ## note ## ]]\nwarm\n"
BAD = GOOD.replace(" 0.50", "a lot")
View = Stage[FieldTable]


def reading(text: str, flags: tuple[Flag, ...] = (), near_misses: tuple[NearMiss, ...] = ()) -> Reading:
    found = replace(CHAT.read(SIGNATURE, text))
    vars(found).update(flags=flags, near_misses=near_misses)
    return found


def text_of(rows: list[Row]) -> list[str]:
    return ["".join(text for text, _ in row.pieces).rstrip() for row in rows]


def test_the_heading_of_lost_fields_is_whole_in_a_narrow_column() -> None:
    (heading,) = [line for line in text_of(rows_of(reading(BAD), 36)) if line.startswith("parsed, but lost")]
    assert heading == "parsed, but lost with the error ────"


def test_long_names_that_begin_alike_are_told_apart() -> None:
    names = [f"extracted_regulatory_classification_{at:02}" for at in range(3)]
    read = CHAT.read(Signature.make([Field("note", "input"), *[Field(one, "output") for one in names]], ""), "")
    heads = [line.split()[2] for line in text_of(rows_of(read, 36)) if line.startswith("▸")]
    assert heads == ["extracte…cation_00", "extracte…cation_01", "extracte…cation_02"]


@pytest.mark.parametrize("reply", ['[{"verdict": "yes"}]', "The words {x} are in braces, and no output is."])
def test_the_cause_of_a_failed_reply_comes_before_what_is_said_beside_it(reply: str) -> None:
    found = make("json").read(SIGNATURE, reply)
    cause = found.diagnosis[0].message
    lines = text_of(rows_of(found, 400))
    (aside,) = [at for at, one in enumerate(lines) if one.startswith("  ⚠ dspy's error shows only")]
    assert any(cause in one for one in lines[:aside]) and not any(cause in one for one in lines[aside:])


def test_no_fix_uses_an_adapter_whose_column_is_beside() -> None:
    found = make("xml").read(SIGNATURE, GOOD)
    assert found.diagnosis
    fix = "  + Use the adapter `json` for this column."
    assert fix in text_of(rows_of(found, 80)) and fix not in text_of(rows_of(found, 80, beside={"json"}))


def test_a_fix_goes_when_its_adapter_gets_a_column_whatever_the_reply() -> None:
    found = make("xml").read(SIGNATURE, GOOD)
    assert found.diagnosis

    async def act(stage: Stage[FieldTable], pilot: Pilot[None]) -> None:
        stage.widget.show(found)
        await pilot.pause()
        assert "adapter `json`" in " ".join(seen(stage.widget))
        stage.widget.beside = frozenset({"json"})
        stage.widget.show(found)
        await pilot.pause()
        assert "adapter `json`" not in " ".join(seen(stage.widget))

    on_stage(FieldTable(), act, (80, 30))


@pytest.mark.parametrize("state", get_args(FieldState))
def test_every_state_of_a_field_has_a_row(state: FieldState) -> None:
    found = reading(GOOD)
    found = replace(found, fields={"note": FieldReading("note", state, value="warm", error="too cold")})
    for toggled in ({"note"}, set[str]()):
        assert any("note" in row for row in text_of(rows_of(found, 80, toggled)))


def test_a_value_from_beside_the_text_is_shown_as_read() -> None:
    fields = {"note": FieldReading("note", "native", value=["search"])}
    closed = rows_of(replace(reading(GOOD), fields=fields), 80)
    assert text_of(closed)[0].split() == ["▸", "✓", "note", "['search']", "str"]
    opened = text_of(rows_of(replace(reading(GOOD), fields=fields), 80, {"note"}))
    assert opened[1].strip() == "returned by the provider outside the text"


def test_a_closed_field_is_one_row_with_name_value_and_type() -> None:
    rows = text_of(rows_of(reading(GOOD), 80))
    assert [row.split() for row in rows] == [
        ["▸", "✓", "answer", "'yes'", "Literal['yes',", "'no']"],
        ["▸", "✓", "score", "0.5", "float"],
        ["▸", "✓", "note", "'warm'", "str"],
    ]


@pytest.mark.parametrize(
    ("width", "shown"), [(24, "score  0.5   float"), (17, "score  0.5"), (14, "score  0.5"), (11, "score  …")]
)
def test_a_value_is_not_cut_for_the_sake_of_its_type(width: int, shown: str) -> None:
    rows = text_of(rows_of(reading(GOOD), width))
    assert " ".join(rows[1].split()[2:]) == " ".join(shown.split())


def test_a_day_and_an_amount_are_shown_as_people_write_them_and_a_text_in_quotes() -> None:
    outputs = [Field("due", "output", date | None), Field("total", "output", Decimal), Field("said", "output", str)]
    signature = Signature.make([Field("q", "input"), *outputs], "Read.")
    reply = "[[ ## due ## ]]\n2024-11-04\n\n[[ ## total ## ]]\n12.50\n\n[[ ## said ## ]]\n2024-11-04"
    rows = text_of(rows_of(CHAT.read(signature, reply), 60))[:3]
    assert [row.split()[1:] for row in rows] == [
        ["✓", "due", "2024-11-04", "date", "|", "None"],
        ["✓", "total", "12.5", "Decimal"],
        ["✓", "said", "'2024-11-04'", "str"],
    ]


def test_beside_its_type_a_model_is_shown_by_what_it_holds() -> None:
    import pydantic

    class Invoice(pydantic.BaseModel):
        number: str
        total: float

    signature = Signature.make([Field("q", "input"), Field("invoice", "output", Invoice)], "Read.")
    row = text_of(rows_of(CHAT.read(signature, '[[ ## invoice ## ]]\n{"number": "A-1", "total": 2}'), 60))[0]
    assert row.split()[1:] == ["✓", "invoice", "number='A-1',", "total=2.0", "Invoice"]


def test_the_reply_of_a_second_model_stands_line_by_line() -> None:
    second = CHAT.read(SIGNATURE, "[[ ## answer ## ]]\nyes\n\n" + "more\n" * 60)
    rows = text_of(rows_of(replace(reading(GOOD), extraction=second), 60))
    shown = [row.strip() for row in rows[rows.index(next(row for row in rows if "second model" in row)) + 1 :]]
    assert shown[:4] == ["[[ ## answer ## ]]", "yes", "", "more"]
    assert "… and 23 more lines" in shown and not any("↵" in row for row in shown)


def test_an_open_field_shows_raw_text_each_step_and_what_came_of_it() -> None:
    rows = text_of(rows_of(reading(GOOD), 80, {"score"}))
    start = next(number for number, row in enumerate(rows) if "score" in row)
    opened = [" ".join(row.split()) for row in rows[start : start + 6]]
    assert opened[0].startswith("▾ ✓ score 0.5")
    assert "in the reply" in opened[1]
    assert any("→" in row and "0.5" in row for row in opened[1:])
    assert any("validated and converted by pydantic" in row for row in opened)


def test_a_value_of_another_type_than_declared_is_called_by_its_own() -> None:
    rows = text_of(rows_of(reading(GOOD), 80, {"answer"}))
    assert "= str" in [row.strip() for row in rows]


def test_a_failed_reading_says_where_and_keeps_salvage_apart() -> None:
    found = reading(BAD)
    assert not found.ok
    rows = text_of(rows_of(found, 80))
    assert "line 5, column 1" in rows[0]
    assert any("dspy raises AdapterParseError" in row for row in rows[1:3])
    heading = next(number for number, row in enumerate(rows) if row.startswith("parsed, but lost"))
    assert any("✗ score  failed" in row for row in rows[:heading])
    assert any("answer" in row and "'yes'" in row for row in rows[heading:])
    assert not any("answer  'yes'" in row for row in rows[:heading])


def test_missing_and_defaulted_fields_are_told_in_words() -> None:
    rows = text_of(rows_of(reading("[[ ## answer ## ]]\nyes\n"), 80, {"note", "score"}))
    assert any("score  missing" in row for row in rows)
    assert sum("missing" in row for row in rows) == 1, "the row of the field says it once"
    assert any("not in the reply: default used" in row for row in rows)


def test_flags_open_their_field_and_stand_below_it() -> None:
    flag = Flag("first-of-two", "the reply answers twice; the first answer counts", "answer")
    whole = Flag("prose", "there is prose around the answer")
    rows = text_of(rows_of(reading(GOOD, (flag, whole)), 80))
    assert "▾" in rows[0]
    assert "⚠" in rows[0]
    assert any(row.strip() == f"⚠ {flag.message}" for row in rows)
    assert any(row.strip() == f"⚠ {whole.message}" for row in rows)


def test_near_misses_say_what_was_probably_meant_and_what_it_would_read() -> None:
    miss = NearMiss("probably meant: [[ ## score ## ]]", GOOD, reading(GOOD))
    rows = " ".join(" ".join(text_of(rows_of(reading(BAD, near_misses=(miss,)), 80))).split())
    assert "? probably meant: [[ ## score ## ]] → with this fix it parses as answer = 'yes', score = 0.5" in rows


@pytest.mark.parametrize(
    "broken", [GOOD.replace(" 0.50", "0.50 points"), f"```\n{GOOD}```", GOOD.replace("yes", "Yes")]
)
def test_a_near_miss_of_the_engine_says_once_how_it_parses(broken: str) -> None:
    found = CHAT.read(SIGNATURE, broken)
    assert found.near_misses or found.ok
    rows = " ".join(" ".join(text_of(rows_of(reading(broken, near_misses=found.near_misses), 100))).split())
    assert rows.count("parses as") == len(found.near_misses) and "with this fix" not in rows


def test_a_note_and_a_path_of_a_step_are_shown() -> None:
    found = reading(GOOD)
    step = Step("json", '{"score": 0.5}', 0.5, path="$.score", note="only the first counts")
    fields = {"score": FieldReading("score", "read", value=0.5, coercions=(step,))}
    rows = " ".join(" ".join(text_of(rows_of(replace(found, fields=fields), 90, {"score"}))).split())
    assert "read as JSON ($.score)" in rows
    assert "only the first counts" in rows


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    "value",
    [None, MISSING, 1e300, float("nan"), "x" * 10_000_000, list(range(10_000)), {"a": {"b": [1]}}, Unprintable()],
)
def test_any_value_has_a_short_text(value: Any) -> None:
    assert 0 < len(value_text(value)) < 5_000


@pytest.mark.slow
@pytest.mark.parametrize("width", [12, 40])
def test_hostile_text_in_every_cell(width: int) -> None:
    async def act(stage: View, pilot: Pilot[None]) -> None:
        for text in HOSTILE.values():
            flags = (Flag(text, text, "answer"), Flag(text, text))
            misses = (NearMiss(text, text, reading(BAD)),)
            step = Step(text[:99], text, text, path=text, note=text)
            fields = {text[:99]: FieldReading(text[:99], "failed", text, (0, len(text)), text, None, (step,), text)}
            hostile = replace(reading(GOOD), fields=fields)
            vars(hostile).update(flags=flags, near_misses=misses)
            stage.widget.show(hostile, error=text[:5_000])
            assert_harmless(stage.widget)
            stage.widget.action_open_all()
            stage.widget.action_row(50)
            await pilot.pause()
            assert_harmless(stage.widget)

    on_stage(FieldTable(), act, (width, 30))


def test_fields_open_and_close_by_key_and_by_click() -> None:
    async def act(stage: View, pilot: Pilot[None]) -> None:
        widget = stage.widget
        widget.show(reading(GOOD))
        await pilot.pause()
        closed = seen(widget)
        await pilot.press("down", "enter")
        assert "▾" in seen(widget)[1]
        await pilot.press("enter")
        assert [row[1:] for row in seen(widget)] == [row[1:] for row in closed]
        await pilot.click(FieldTable, (5, 0))
        assert "▾" in seen(widget)[0]
        await pilot.press("e", "e")
        assert sum("▾" in row for row in seen(widget)) == 3

    on_stage(FieldTable(), act, (60, 30))


def test_all_rows_can_be_reached_by_key() -> None:
    async def act(stage: View, pilot: Pilot[None]) -> None:
        stage.widget.show(reading(BAD))
        await pilot.press("end")
        assert "warm" in seen(stage.widget)[-1]
        await pilot.press("home")
        assert "line 5" in seen(stage.widget)[0]

    on_stage(FieldTable(), act, (50, 5))


def test_what_was_opened_stays_open_while_the_reply_is_edited() -> None:
    async def act(stage: View, pilot: Pilot[None]) -> None:
        stage.widget.show(reading(GOOD))
        await pilot.press("down", "enter")
        stage.widget.show(reading(GOOD.replace("0.50", "0.75")))
        await pilot.pause()
        assert "▾" in seen(stage.widget)[1]
        assert "0.75" in seen(stage.widget)[1]

    on_stage(FieldTable(), act, (60, 30))


def test_near_misses_are_looked_for_in_a_pause_and_shown_when_found() -> None:
    cut = GOOD.replace("[[ ## answer ## ]]", "[[ ## Answer ## ]]")
    found = CHAT.read(SIGNATURE, cut)

    async def act(stage: View, pilot: Pilot[None]) -> None:
        stage.widget.show(found)
        assert "near_misses" not in vars(found)
        for _ in range(500):
            if "near_misses" in vars(found):
                break
            await pilot.pause(0.01)
        assert not any("Answer" in one.description for one in stage.workers)  # a long reply would be written anew
        await stage.workers.wait_for_complete()
        await pilot.pause()
        shown = " ".join(" ".join(seen(stage.widget)).split())
        assert [" ".join(miss.message.split())[:20] in shown for miss in found.near_misses] == [True]

    on_stage(FieldTable(), act, size=(80, 40))


@pytest.mark.parametrize(("adapter", "who"), [("markdown", "MarkdownAdapter"), ("json", "dspy")])
def test_it_is_said_whose_error_it_is(adapter: str, who: str) -> None:
    reading = make(adapter).read(SIGNATURE, "no JSON at all")
    assert any(f"{who} raises" in row for row in text_of(rows_of(reading, 80)))


@pytest.mark.parametrize(
    ("reply", "said", "start"),
    [
        ("{{{{", "the JSON object breaks here: expecting property name enclosed in double quotes", 1),
        ('{\n"",a{', "the JSON object breaks here: expecting ':' delimiter", 4),
        ('{""', "the JSON object is not closed: the reply ends in the middle of it", 3),
        ("nothing at all", "no JSON object in the reply", 0),
    ],
)
def test_a_reply_that_begins_as_json_says_where_it_breaks(reply: str, said: str, start: int) -> None:
    error = make("json").read(SIGNATURE, reply).error
    assert error is not None and (error.message, error.start) == (said, start)


PADDED = "a line of no use\n" * 40
PAID = "[[ ## answer ## ]]\nyes\n\n[[ ## score ## ]]\n 0.50\n\n[[ ## note ## ]]\n" + PADDED + "\n[[ ## completed ## ]]"


def at_replies(act: Callable[[Desk], Awaitable[None]], **replies: str) -> None:
    source = "answer: Literal['yes', 'no'], score: float, note: str"
    columns = tuple(Column(one, one) for one in ("chat", "json"))
    case = Case("one", {"question": "?"}, replies={name: Reply(text) for name, text in replies.items()})
    at_the_desk(act, Session(SignatureText(f"question -> {source}"), columns=columns, cases=(case,)), size=MIDDLE)


def test_the_row_under_the_cursor_brings_its_text_into_sight() -> None:
    text = PAID.replace("[[ ## answer", PADDED + "[[ ## answer", 1)

    async def act(desk: Desk) -> None:
        column = desk.main.columns.column("chat")
        assert column is not None
        await desk.press("f4", "tab")
        assert column.fields.has_focus
        await desk.press("down")
        await desk.until(lambda: any("0.50" in row for row in seen(column.reply)), "for the score")

    at_replies(act, chat=text)


def test_a_key_selects_the_value_in_the_reply_so_that_the_next_word_replaces_it() -> None:
    async def act(desk: Desk) -> None:
        column = desk.main.columns.column("chat")
        assert column is not None
        await desk.press("f4", "tab", "down", "r")
        assert desk.editor is column.reply
        assert column.reply.selected_text == "0.50"
        await desk.type("2")
        assert "## ]]\n 2\n" in desk.reply("chat")
        assert column.fields.reading is not None and column.fields.reading.values["score"] == 2.0

    at_replies(act, chat=PAID)


def test_a_value_in_json_is_selected_with_its_quotes() -> None:
    async def act(desk: Desk) -> None:
        column = desk.main.columns.column("json")
        assert column is not None
        column.fields.focus()
        await desk.press("r")
        assert column.reply.has_focus and column.reply.selected_text == '"yes"'

    at_replies(act, json='{"answer": "yes", "score": 0.5, "note": "warm"}')


@pytest.mark.slow
def test_of_a_value_that_the_reply_does_not_have_nothing_is_selected() -> None:
    async def act(desk: Desk) -> None:
        column = desk.main.columns.column("json")
        assert column is not None
        column.fields.focus()
        await desk.settle()
        assert column.fields.reading is not None and column.fields.reading.fields["note"].state == "missing"
        for _ in range(8):
            await desk.press("r")
            if column.reply.has_focus:
                assert column.reply.selected_text in ('"yes"', "0.5"), "those that are there"
                column.fields.focus()
                await desk.settle()
            await desk.press("down")

    at_replies(act, json='{"answer": "yes", "score": 0.5}')

"""Inputs and demos are edited as people write them; JSON stays a key away, and a skeleton is offered."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest
from textual import events
from textual.widget import Widget

from sessions import examples
from sessions.model.session import Case, Demo, Session, SignatureText
from tests.support.open_app import SIZES, TICKETS, Desk, at_the_desk
from tests.support.screen import seen
from workbench.tui.widgets.field_form import FieldEditor, FieldForm
from workbench.tui.widgets.text.editor import Editor

ORDER = """import dspy
from pydantic import BaseModel


class Line(BaseModel):
    item: str
    price: float


class Bill(dspy.Signature):
    lines: list[Line] = dspy.InputField()
    total: float = dspy.OutputField()
"""


def field_editor(desk: Desk) -> FieldEditor:
    parent = desk.editor.parent
    assert isinstance(parent, FieldEditor)
    return parent


@pytest.mark.slow
def test_a_list_is_edited_row_by_row() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("input", "tags")
        assert desk.editor.raw == "- export"
        await desk.press("ctrl+end")
        await desk.type("\nempty file")
        assert desk.document.state.case.inputs["tags"] == ["export", "empty file"]
        assert desk.editor.raw == "- export\n- empty file"
        assert "empty file" in desk.prompt("chat")

    at_the_desk(act)


@pytest.mark.slow
def test_a_long_text_gets_what_the_other_fields_leave_in_every_room_and_never_less_than_a_few_rows() -> None:
    long = {**TICKETS.cases[0].inputs, "ticket": "\n".join(map(str, range(90)))}

    async def act(desk: Desk) -> None:
        await desk.go_to("input", "ticket")
        form, fields = desk.main.editors.inputs.query_one(FieldForm), 3
        heights: set[int] = set()
        for key, size in (("f10", (160, 60)), ("f10", (160, 45)), ("f10", (120, 50)), ("f10", (160, 70))):
            await desk.pilot.resize_terminal(*size)
            await desk.press(key)
            heights |= {desk.editor.size.height}
            assert desk.editor.size.height == max(8, (form.size.height - 3 * fields) // fields)
            assert desk.editor.show_vertical_scrollbar
        assert min(heights) == 8 and len(heights) > 1

    at_the_desk(act, replace(TICKETS, cases=(Case("long", long),)))


def test_json_is_a_key_away_and_may_be_typed_all_the_same() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("input", "tags")
        before = desk.document.state
        await desk.press("alt+v")
        assert desk.editor.raw == '["export"]' and desk.document.state is before
        await desk.press("alt+v")
        assert desk.editor.raw == "- export"
        await desk.paste_over('["a", {"b": 1}]')
        assert desk.document.state.case.inputs["tags"] == ["a", {"b": 1}]
        assert desk.editor.raw == '["a", {"b": 1}]', "as it was typed"

    at_the_desk(act)


def test_alt_and_a_letter_from_a_terminal_that_sends_escape_first_is_a_key_and_no_text() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("input", "tags")
        desk.app.post_message(events.Key("alt+v", "v"))
        await desk.until(lambda: desk.editor.raw == '["export"]', "for the value as JSON")

    at_the_desk(act)


@pytest.mark.slow
def test_an_empty_value_begins_with_what_it_is_made_of() -> None:
    session = Session(SignatureText(ORDER), columns=TICKETS.columns, cases=(Case("one", {}),))

    async def act(desk: Desk) -> None:
        await desk.go_to("input", "lines")
        assert "^space inserts a template" in str(desk.editor.placeholder)
        await desk.press("ctrl+@")
        assert desk.editor.raw == "- item: \n  price: "
        await desk.type("Cake")
        await desk.press("down", "end")
        await desk.type("12.5")
        assert desk.document.state.case.inputs["lines"] == [{"item": "Cake", "price": 12.5}]
        await desk.press("ctrl+z")
        assert desk.app.is_running

    at_the_desk(act, session=session)


def test_a_list_says_how_items_are_separated_and_that_commas_do_not() -> None:
    session = Session(SignatureText("tags: list[str] -> answer"), columns=TICKETS.columns, cases=(Case("one", {}),))

    async def act(desk: Desk) -> None:
        await desk.go_to("input", "tags")
        assert "one item per line" in str(desk.editor.placeholder)
        said = field_editor(desk).query_one(".field-error")
        for typed, is_told in (("a, b", True), ("- a\n- b", False), ("- a, b", True), ("", False)):
            await desk.paste_over(typed)
            assert said.display is is_told, typed
            assert not is_told or "begin each item with - on a line of its own" in str(said.render())

    at_the_desk(act, session=session)


def test_what_is_wrong_is_said_at_its_place_and_the_last_value_stays() -> None:
    session = Session(
        SignatureText(ORDER),
        columns=TICKETS.columns,
        cases=(Case("one", {"lines": [{"item": "Cake", "price": 3}]}),),
    )

    async def act(desk: Desk) -> None:
        await desk.go_to("input", "lines")
        await desk.paste_over("- item: Cake\n  price: dear")
        assert desk.document.state.case.inputs["lines"] == [{"item": "Cake", "price": 3}]
        error = field_editor(desk).query_one(".field-error")
        assert "line 2, column 10" in str(error.render()) and "a number" in str(error.render())

    at_the_desk(act, session=session)


@pytest.mark.slow
def test_demos_of_models_stand_as_fields_and_hostile_ones_as_they_are() -> None:
    invoice = examples.load("invoice")
    hostile = Demo({"document": "[/x]\x1b[2J", "invoice": {"number": "\x1b]0;x\x07", "[/y]": ["\ud800"]}})
    session = replace(invoice, demos=(invoice.demos[0], hostile))

    async def act(desk: Desk) -> None:
        await desk.go_to("demo", "invoice", 0)
        assert desk.editor.raw.startswith("number: ") and "\n  - " in desk.editor.raw
        await desk.go_to("demo", "invoice", 1)
        assert '"[/y]":' in desk.editor.raw and "\x1b" not in desk.editor.text
        assert desk.document.session.demos[1] == hostile

    at_the_desk(act, session=session)


@pytest.mark.slow
def test_tools_and_variants_keep_their_json() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("tool", row=0)
        await desk.press("ctrl+n")
        for editor in desk.main.editors.tools.query(Editor):
            assert "inserts a template" not in str(editor.placeholder)

    at_the_desk(act)


@pytest.mark.slow
def test_a_description_typed_beside_the_inputs_is_followed_by_their_label_and_lays_out_nothing() -> None:
    said = "as the customer wrote it"

    async def act(desk: Desk) -> None:
        await desk.go_to("signature")
        before = desk.editor.raw.partition(said)[0] + said
        desk.editor.go_to(before.count("\n") + 1, len(before) - before.rfind("\n"))
        form = desk.main.editors.inputs.query_one(FieldForm)
        editors = list(form.query(FieldEditor))
        assert editors and form.size.height, "the inputs stand below the signature"
        await desk.stands_still(form)
        with patch.object(Widget, "refresh", autospec=True, side_effect=Widget.refresh) as refreshed:
            await desk.type(", at once")
        assert "customer wrote it, at once" in desk.prompt("chat")
        assert str(editors[0].query_one(".field-label").render()).endswith(f"{said}, at once")
        assert list(form.query(FieldEditor)) == editors
        calls = [one for one in refreshed.call_args_list if one.args[0] in (form, *form.walk_children())]
        assert calls and not any(one.kwargs.get("layout") for one in calls)

    at_the_desk(act)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_the_key_that_begins_a_value_is_not_cut_off(size: tuple[int, int]) -> None:
    session = Session(SignatureText(ORDER), columns=TICKETS.columns, cases=(Case("one", {}),), demos=(Demo({}),))

    async def act(desk: Desk) -> None:
        for kind, row in (("input", -1), ("demo", 0)):
            await desk.go_to(kind, "lines", row)
            await desk.until(lambda: "^space inserts a template" in " ".join(seen(desk.editor)), "for the offer")

    at_the_desk(act, session=session, size=size)


def test_a_file_is_attached_by_a_dropped_path_and_by_a_key(tmp_path: Path) -> None:
    (tmp_path / "rain drops.png").write_bytes(b"\x89PNG" * 1000)
    (tmp_path / "notes.txt").write_text("no picture")
    asked = Session(SignatureText("picture: dspy.Image, note -> answer"), cases=(Case("one", {}),))

    async def act(desk: Desk) -> None:
        await desk.go_to("input", "picture")
        assert "attaches a file" in str(desk.editor.placeholder)
        desk.app.post_message(events.Paste(str(tmp_path / "rain drops.png").replace(" ", "\\ ")))
        await desk.until(lambda: "picture" in desk.document.state.case.inputs)
        await desk.until(lambda: desk.editor.raw == "image/png · 4.0 kB")
        assert desk.editor.read_only and desk.document.state.case.inputs["picture"]["url"].startswith("data:image/png")
        await desk.press("alt+v")
        assert "base64" in desk.editor.raw and not desk.editor.read_only
        await desk.press("alt+v", "alt+a")
        await desk.fill_in(str(tmp_path / "notes.txt"))
        await desk.press("enter")
        await desk.until(lambda: any("Image takes a picture" in one.message for one in desk.app._notifications))
        await desk.press("alt+a")
        await desk.fill_in("~nobody-of-this-name/p.png")
        await desk.press("enter")
        gone = "~nobody-of-this-name/p.png: no such file or directory"
        await desk.until(lambda: gone in [one.message for one in desk.app._notifications])
        assert desk.editor.raw == "image/png · 4.0 kB", "what was attached stays"
        desk.main.editors.clear_field()
        await desk.until(lambda: desk.editor.raw == "" and not desk.editor.read_only)
        await desk.go_to("input", "note")
        desk.app.post_message(events.Paste(str(tmp_path / "notes.txt")))
        await desk.until(lambda: desk.editor.raw == str(tmp_path / "notes.txt"))

    at_the_desk(act, session=asked)


@pytest.mark.parametrize(
    ("inputs", "said"), [({"question": ""}, "empty text"), ({}, "no value: left out of the prompt")]
)
def test_an_empty_text_is_in_the_prompt_and_no_value_is_not(inputs: dict[str, str], said: str) -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("input", "question")
        assert said in " ".join(" ".join(seen(desk.editor)).split())
        assert desk.prompt("chat").count("[[ ## question ## ]]") == 1 + len(inputs)
        await desk.type("Why?")
        await desk.press("ctrl+z", "ctrl+z")
        assert said in " ".join(" ".join(seen(desk.editor)).split())

    cases = (Case("one", inputs),)
    at_the_desk(act, session=Session(SignatureText("question, n: int -> answer"), columns=TICKETS.columns, cases=cases))

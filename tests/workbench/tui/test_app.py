"""The app as a person uses it: edit, see, send, read, keep."""

from __future__ import annotations

import json
import re
import signal
from dataclasses import replace
from pathlib import Path

import pytest

import workbench.tui
from sessions.file import store
from sessions.model.session import Column, Session, SignatureText
from tests.support.open_app import CLASSIFY, MIDDLE, SIZES, SMALL, TICKETS, WIDE, Desk, at_the_desk
from tests.support.screen import seen
from workbench.state.document import Place
from workbench.tui import app as app_module
from workbench.tui.app import WorkbenchApp
from workbench.tui.widgets.row_list import RowList
from workbench.tui.widgets.text.text_view import TextView


def test_every_keystroke_in_the_signature_changes_every_column() -> None:
    async def act(desk: Desk) -> None:
        desk.main.editors.signature.go_to(Place("signature"), 6, 8)
        await desk.type("Always ")
        for column in ("chat", "json", "xml"):
            assert "Always Classify the ticket." in desk.prompt(column)

    at_the_desk(act)


@pytest.mark.slow
def test_a_broken_signature_leaves_the_last_good_columns_and_says_where() -> None:
    async def act(desk: Desk) -> None:
        before = desk.prompt("json")
        await desk.go_to("signature")
        await desk.paste_over(CLASSIFY.replace("urgency: int", "urgency: imt"))
        assert desk.prompt("json") == before
        for column in desk.main.columns.all:
            assert column.rendered is not None and column.rendered.stale
        error = desk.main.engine.signature.error
        assert error is not None and error.line == 12
        assert f"line {error.line}, column {error.column}" in str(desk.main.query_one("#signature-error").render())
        await desk.press("ctrl+z")
        assert all(column.rendered is not None and not column.rendered.stale for column in desk.main.columns.all)

    at_the_desk(act)


def test_f5_puts_a_parsed_reply_under_every_column() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.sent()
        for column in desk.main.columns.all:
            assert column.rendered is not None and column.rendered.reading is not None
            assert column.rendered.reading.ok, column.rendered.reading.error
            assert "✓" in desk.verdict(column.column_id)
        assert desk.document.dirty

    at_the_desk(act)


@pytest.mark.slow
def test_ctrl_j_sends_too_and_f8_sends_one_column_alone() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f3", "f3", "f8")
        await desk.sent()
        assert list(desk.document.state.case.replies) == ["json"]
        await desk.press("ctrl+j")
        await desk.sent()
        assert set(desk.document.state.case.replies) == {"chat", "json", "xml"}

    at_the_desk(act)


@pytest.mark.slow
def test_an_edited_reply_is_read_again_at_every_key() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f4")
        await desk.paste_over("[[ ## label ## ]]\nbug\n\n[[ ## urgency ## ]]\n")
        assert "✗" in desk.verdict("chat")
        desk.editor.move_cursor(desk.editor.document.end)
        await desk.type("4")
        assert "✓" in desk.verdict("chat")
        reply = desk.document.state.case.replies["chat"]
        assert reply.text == "[[ ## label ## ]]\nbug\n\n[[ ## urgency ## ]]\n4"
        assert reply.source in ("edited", "pasted")

    at_the_desk(act)


def test_typing_faster_than_the_screen_loses_no_key_of_a_reply() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f4")
        editor = desk.editor
        for character in "{'label': 1}" * 20:
            editor.type_over(character, *editor.selection)
        await desk.settle()
        assert desk.reply("chat") == "{'label': 1}" * 20
        assert desk.document.state.case.replies["chat"].text == desk.reply("chat")

    at_the_desk(act)


@pytest.mark.slow
def test_undo_takes_back_changes_in_the_order_they_were_made_wherever_they_were() -> None:
    async def act(desk: Desk) -> None:
        start = desk.document.session
        await desk.go_to("input", "ticket")
        await desk.paste_over("New text")
        await desk.go_to("demo", "ticket", 0)
        await desk.paste_over("New demo")
        await desk.press("ctrl+z")
        assert desk.document.session.demos[0].values["ticket"] == "It crashes."
        assert desk.document.state.case.inputs["ticket"] == "New text"
        await desk.press("ctrl+z")
        assert desk.document.session is start and not desk.document.dirty
        await desk.press("ctrl+y", "ctrl+y")
        assert desk.document.session.demos[0].values["ticket"] == "New demo"
        assert desk.editor.raw == "New demo"

    at_the_desk(act)


@pytest.mark.slow
def test_a_value_that_is_no_json_says_where_and_the_last_value_stays() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("input", "tags")
        await desk.paste_over('["export", ')
        assert desk.document.state.case.inputs["tags"] == ["export"]
        shown = [str(one.render()) for one in desk.main.editors.inputs.query(".field-error") if one.display]
        assert any("line 1" in text and "column" in text for text in shown)
        await desk.paste_over('["export", "csv"]')
        assert desk.document.state.case.inputs["tags"] == ["export", "csv"]
        assert not desk.document.state.drafts
        assert "csv" in desk.prompt("chat")

    at_the_desk(act)


def test_a_choice_is_made_with_an_arrow_key() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("input", "channel")
        await desk.press("left")
        assert desk.document.state.case.inputs["channel"] == "mail"

    at_the_desk(act)


def test_demos_are_added_copied_moved_switched_off_and_deleted() -> None:
    def tickets(desk: Desk) -> list[object]:
        return [one.values.get("ticket") for one in desk.document.session.demos]

    async def act(desk: Desk) -> None:
        await desk.go_to("demo", row=0)
        await desk.press("d")
        assert tickets(desk) == ["It crashes.", "It crashes.", "Dark mode, please.", None]
        await desk.press("x")
        assert tickets(desk) == ["It crashes.", "Dark mode, please.", None]
        await desk.press("J")
        assert tickets(desk) == ["Dark mode, please.", "It crashes.", None]
        await desk.press("space")
        assert not desk.document.session.demos[1].enabled
        assert "It crashes." not in desk.prompt("chat")
        await desk.press("ctrl+n")
        assert len(desk.document.session.demos) == 4
        await desk.type("hi")
        assert desk.document.session.demos[3].values == {"ticket": "hi"}, "a new demo is the last"

    at_the_desk(act)


def test_dropped_and_incomplete_demos_are_named() -> None:
    async def act(desk: Desk) -> None:
        notes = desk.main.query_one("#notes", TextView).plain_text
        assert "demo 2 has no urgency: it is sent before the complete demos, with a sentence instead" in notes
        assert "demo 3 is dropped" in notes

    at_the_desk(act)


def test_another_case_brings_its_own_inputs_and_replies() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.sent()
        await desk.press("ctrl+t", "down", "enter")
        assert desk.document.state.case.name == "second"
        assert "A shorter menu?" in desk.prompt("xml")
        assert desk.reply("xml") == ""
        await desk.press("ctrl+t", "up", "enter")
        assert desk.reply("xml") != ""

    at_the_desk(act)


def test_cases_are_added_copied_renamed_and_deleted() -> None:
    def names(desk: Desk) -> list[str]:
        return [one.name for one in desk.document.session.cases]

    async def act(desk: Desk) -> None:
        await desk.press("ctrl+t", "d")
        assert names(desk) == ["first", "first 2", "second"]
        await desk.press("ctrl+t", "r")
        await desk.fill_in("second")
        await desk.press("enter")
        assert "already" in str(desk.app.screen.query_one("#ask-error").render())
        await desk.fill_in("other")
        await desk.press("enter")
        assert names(desk) == ["first", "other", "second"]
        await desk.press("ctrl+t", "x")
        assert names(desk) == ["first", "second"]
        await desk.press("ctrl+z")
        assert names(desk) == ["first", "other", "second"]

    at_the_desk(act)


def test_saving_asks_for_a_file_once_and_leaving_asks_about_unsaved_work(tmp_path: Path) -> None:
    target = tmp_path / "tickets.json"

    async def act(desk: Desk) -> None:
        await desk.go_to("input", "ticket")
        await desk.paste_over("Changed")
        await desk.press("ctrl+s")
        await desk.fill_in(str(target))
        await desk.press("enter")
        await desk.until(target.exists)
        assert not desk.document.dirty
        await desk.paste_over("Changed again")
        await desk.press("ctrl+q")
        assert desk.app.is_running
        await desk.press("c")
        assert desk.app.is_running
        await desk.press("ctrl+s")
        await desk.until(lambda: not desk.document.dirty)

    at_the_desk(act)
    assert store.load(target).cases[0].inputs["ticket"] == "Changed again"


def test_a_file_that_cannot_be_opened_leaves_what_was_open(tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text('{"signature": ')

    async def act(desk: Desk) -> None:
        before = desk.document.session
        await desk.press("ctrl+o")
        await desk.fill_in(str(bad))
        await desk.press("end", "enter")
        assert desk.document.session is before

    at_the_desk(act)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_all_panes_can_be_reached_by_keys_at_every_size(size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        main = desk.main
        await desk.press("f3")
        assert main.columns.all[0].prompt.has_focus and main.columns.all[0].prompt.size.height >= 4
        await desk.press("f3")
        assert main.columns.all[1].prompt.has_focus
        await desk.press("f4", "f4")
        assert main.columns.all[2].reply.has_focus
        for tab in ("signature", "inputs", "demos", "history"):
            await desk.press("f2")
            if main.editors.tab != tab:
                await desk.press("f2")
            assert main.editors.tab == tab
            assert main.editors.panes[tab].region.height > (3 if size == SMALL else 8)
        for column in main.columns.all:
            assert column.outer_size.width >= 32 or not column.display

    at_the_desk(act, size=size)


def test_the_palette_offers_everything_and_a_hostile_case_name_does_no_harm() -> None:
    hostile = replace(TICKETS, cases=(replace(TICKETS.cases[0], name="[/x] [@click=app.exit]case"),))

    async def act(desk: Desk) -> None:
        await desk.press("ctrl+p")
        await desk.type("case")
        await desk.until(lambda: len(desk.app.screen_stack) > 1)
        await desk.press("escape")
        await desk.press("ctrl+t", "escape")

    at_the_desk(act, session=hostile)


def test_recording_and_checking_without_leaving_the_app() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.sent()
        await desk.press("f3", "ctrl+r")
        assert list(desk.document.state.case.recordings) == ["chat"]
        await desk.press("f9")
        assert any("the recording matches" in one.title for one in desk.app._notifications)

    at_the_desk(act)


def test_help_and_back() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f1")
        assert len(desk.app.screen_stack) == 2
        await desk.press("escape")

    at_the_desk(act)


@pytest.mark.slow
@pytest.mark.parametrize("size", [WIDE, SMALL])
def test_f10_shows_the_pane_with_the_focus_alone_and_follows_it(size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        left, columns = desk.main.editors, desk.main.columns
        await desk.press("f10")
        assert left.size.width > size[0] - 4 and not columns.region
        await desk.press("f4")
        assert columns.all[0].reply.size.width > size[0] - 6 and not columns.all[0].prompt.region
        await desk.press("f3", "f3")
        assert columns.all[1].prompt.size.height > size[1] - 6 and not columns.all[0].region
        await desk.press("escape")
        assert not desk.main.is_alone
        current = columns.current
        assert current is not None and current.region and left.region
        assert all(one.region for one in columns.all) == (size == WIDE)

    at_the_desk(act, size=size)


def test_a_class_that_is_broken_for_a_moment_stays_a_class_on_screen() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("signature")
        await desk.press("ctrl+home")
        await desk.type("x x\n")
        assert desk.main.engine.signature.error is not None
        assert not desk.main.editors.signature.has_class("-short")
        assert not desk.main.query_one("#instructions-editor").display

    at_the_desk(act)


@pytest.mark.slow
def test_ctrl_home_and_ctrl_end_lead_to_the_ends_of_a_text() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("input", "ticket")
        await desk.press("ctrl+home")
        await desk.type("So: ")
        await desk.press("ctrl+end")
        await desk.type(" Why?")
        assert desk.document.state.case.inputs["ticket"] == "So: The export is empty. Why?"

    at_the_desk(act)


def test_json_typed_key_by_key_is_a_value_and_stays_as_it_was_typed() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("input", "tags")
        for typed in ("[{}]", '{"a": [1]}', '[ "x",1 ]'):
            await desk.paste_over("")
            await desk.type(typed)
            assert desk.document.state.case.inputs["tags"] == json.loads(typed)
            assert desk.editor.raw == typed
            assert "invalid value" not in desk.main.query_one("#notes", TextView).plain_text
            assert not [one for one in desk.main.editors.inputs.query(".field-error") if one.display]
            assert "✗" not in str(desk.main.query_one("#tabs").render())

    at_the_desk(act)


def test_whoever_leaves_the_notes_types_where_they_went() -> None:
    async def act(desk: Desk) -> None:
        for go in (lambda: desk.main.editors.focus_on("signature"), None):
            desk.main.editors.notes.lines.focus()
            await desk.settle()
            if go is not None:
                go()
            else:
                await desk.press("f2")
            await desk.settle()
            assert desk.main.editors.tab == "signature"
            assert desk.editor.id == "signature-editor"

    at_the_desk(act)


@pytest.mark.slow
def test_a_click_on_a_tab_puts_the_focus_into_its_editor() -> None:
    async def act(desk: Desk) -> None:
        tabs = desk.main.query_one("#tabs")
        at = str(tabs.render()).index("Inputs")
        await desk.pilot.click("#tabs", offset=(at + 1, 0))
        await desk.settle()
        assert desk.main.editors.tab == "inputs"
        await desk.type("typed ")
        assert "typed " in desk.document.state.case.inputs["ticket"]

    at_the_desk(act)


def test_a_session_that_is_only_just_begun_has_nothing_wrong_with_it() -> None:
    async def act(desk: Desk) -> None:
        def said() -> str:
            return " ".join(strip.text for strip in desk.app.screen._compositor.render_strips())

        assert "✗" not in said()
        assert said().count("->") == 1, "what is written there, in its place and in no complaint"
        assert "appears here as soon as there is a signature" in said()
        await desk.go_to("signature")
        await desk.type("question")
        assert "no `->` between inputs and outputs" in said()
        assert "the last good one" not in said()
        await desk.type(" -> answer")
        assert "✗" not in said() and "question" in desk.prompt("chat")
        await desk.paste_over("")
        assert "stale" in said() and "question" in desk.prompt("chat")

    at_the_desk(act, Session(SignatureText(""), columns=(Column("chat", "chat"),)))


def test_undoing_the_first_text_of_a_signature_leaves_nothing_wrong_and_no_prompt() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("signature")
        await desk.paste_over("question -> answer")
        assert "question" in desk.prompt("chat")
        await desk.press("ctrl+z")
        said = " ".join(strip.text for strip in desk.app.screen._compositor.render_strips())
        assert "appears here as soon as there is a signature" in said
        assert "✗" not in said and "stale" not in said
        await desk.press("ctrl+y")
        assert "question" in desk.prompt("chat")

    at_the_desk(act, Session(SignatureText(""), columns=(Column("chat", "chat"),)))


def test_a_list_is_typed_with_enter_between_its_items() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("input", "tags")
        await desk.paste_over("")
        await desk.type("- crash\nexport\n\n")
        assert desk.document.state.case.inputs["tags"] == ["crash", "export"]
        assert not desk.document.state.drafts

    at_the_desk(act)


def test_a_double_click_selects_the_word_and_a_triple_click_the_line() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f2")
        await desk.click("urgency: int", times=2)
        assert desk.editor.selected_text == "urgency"
        assert not desk.main.selections
        await desk.type("x")
        assert "    x: int = dspy.OutputField()" in desk.document.session.signature.text
        await desk.click("tags: list", times=3)
        assert desk.editor.selected_text == "    tags: list[str] = dspy.InputField()"

    at_the_desk(act)


def test_an_invalid_value_marks_its_demo_and_the_note_that_leads_to_it() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("demo", "tags", 0)
        await desk.paste_over('["unfinished')
        assert "✗ invalid" in seen(desk.main.editors.demos.query_one(RowList))[0]
        assert "demo 1, tags: invalid value" in desk.main.query_one("#notes", TextView).plain_text
        await desk.paste_over('["finished"]')
        assert "✗ invalid" not in seen(desk.main.editors.demos.query_one(RowList))[0]

    at_the_desk(act)


def test_a_click_on_the_hint_adds_a_row() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("demo")
        await desk.click("^n adds one")
        assert len(desk.document.session.demos) == 1

    at_the_desk(act, replace(TICKETS, demos=()))


def test_help_explains_the_tab_in_front_wherever_the_focus_is() -> None:
    async def act(desk: Desk) -> None:
        desk.main.editors.open("demos")
        desk.main.set_focus(None)
        await desk.press("f1")
        painted = "\n".join(strip.text for strip in desk.app.screen._compositor.render_strips())
        assert "Demos" in painted and "complete" in painted

    at_the_desk(act)


def test_no_handler_calls_that_of_its_base_which_textual_calls_itself() -> None:
    """Else a handler runs twice: the offer of unsaved work appeared twice in a class."""
    files = [(one, one.read_text("utf-8")) for one in Path(workbench.tui.__file__).parent.rglob("*.py")]
    assert not [str(one) for one, text in files if re.search(r"super\(\)\.on_(?!event\b|meta\b)", text)]


def test_another_session_begins_at_the_first_column_which_says_how_one_is_added() -> None:
    async def act(desk: Desk) -> None:
        columns = desk.main.columns
        columns.turn_to(columns.all[-1].column_id)
        await desk.settle()
        assert columns.scroll_x > 0
        assert "alt+c adds a column" in str(columns.all[-1].border_subtitle)
        await desk.press("ctrl+n")
        await desk.until(lambda: columns.scroll_x == 0, "for the first column")
        assert columns.current is columns.all[0]

    at_the_desk(act, size=MIDDLE)


def test_an_app_that_has_ended_leaves_ctrl_c_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WorkbenchApp, "is_headless", False)
    monkeypatch.setattr(app_module, "interrupt_keys_less", lambda: None)
    before = signal.getsignal(signal.SIGINT)

    async def act(desk: Desk) -> None:
        assert "WorkbenchApp.on_mount" in repr(signal.getsignal(signal.SIGINT))

    at_the_desk(act)
    assert signal.getsignal(signal.SIGINT) is before

"""Exports from the palette: to a file or the clipboard, with what is left out said before."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from open_app import TICKETS, Desk, at_the_desk

from sessions.model.session import Column
from workbench.exporting import forms
from workbench.exporting.forms import FORMS
from workbench.tui.actions import exporting
from workbench.tui.dialogs.ask import ConfirmScreen
from workbench.tui.palette import commands_of
from workbench.tui.widgets.text.plain import PlainStatic


@pytest.mark.slow
def test_every_form_is_in_the_palette_and_goes_to_a_file_or_the_clipboard(tmp_path: Path) -> None:
    target = tmp_path / "out.json"

    async def act(desk: Desk) -> None:
        names = [command.name for command in commands_of(desk.app, desk.app.screen)]
        assert {f"Export as {form.title}" for form in FORMS.values()} <= set(names)

        desk.app.ask(exporting.export(desk.app, "template"))
        await desk.until(lambda: isinstance(desk.app.screen, ConfirmScreen), "for the question")
        said = str(desk.app.screen.query_one(".dialog-text", PlainStatic).render())
        assert "the column chat, case first" in said and "left out: the other cases: second" in said
        await desk.press("f")
        await desk.until(lambda: not isinstance(desk.app.screen, ConfirmScreen), "for the file's name")
        await desk.fill_in(str(tmp_path / "no" / "folder.json"))
        await desk.press("enter")
        assert len(desk.app.screen_stack) > 1
        await desk.fill_in(str(target))
        await desk.press("enter")
        await desk.until(target.exists, "for the file")
        await desk.until(lambda: len(desk.app.screen_stack) == 1, "for the main screen")

        desk.app.ask(exporting.export(desk.app, "messages"))
        await desk.until(lambda: isinstance(desk.app.screen, ConfirmScreen), "for the question")
        await desk.press("c")
        await desk.until(lambda: desk.app.clipboard != "", "for the clipboard")
        request = desk.main.columns.column("chat")
        assert request is not None
        assert json.loads(desk.app.clipboard)[0]["role"] == "system"

    at_the_desk(act)
    assert set(json.loads(target.read_text(encoding="utf-8"))["placeholders"]) == {"ticket", "channel", "tags"}


@pytest.mark.slow
def test_what_a_form_cannot_hold_is_said_and_nothing_is_asked(tmp_path: Path) -> None:
    async def act(desk: Desk) -> None:
        desk.app.ask(exporting.export(desk.app, "curl"))  # an offline model is nowhere to be asked
        await desk.until(lambda: desk.app._notifications, "for the refusal")
        assert len(desk.app.screen_stack) == 1

    at_the_desk(act, replace(TICKETS, model="offline/exact"))


def test_a_refusal_says_what_to_do_here_and_not_on_the_command_line() -> None:
    async def act(desk: Desk) -> None:
        desk.app.ask(exporting.export(desk.app, "dspy"))
        await desk.until(lambda: desk.app._notifications, "for the refusal")
        (said,) = desk.app._notifications
        assert "choose a column of chat, json, xml, baml, twostep" in said.message
        assert "--" not in said.message

    at_the_desk(act, replace(TICKETS, columns=(Column("markdown", "markdown"),)))


def test_a_form_that_takes_its_time_is_said_to_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, make = Event(), forms.export

    def slowly(*arguments: Any, **options: Any) -> Any:
        assert begun.wait(60)
        return make(*arguments, **options)

    monkeypatch.setattr(forms, "export", slowly)

    async def act(desk: Desk) -> None:
        desk.app.ask(exporting.export(desk.app, "messages"))
        await desk.until(lambda: "making " in desk.main.status.render().plain, "for a word about it")
        begun.set()
        await desk.until(lambda: isinstance(desk.app.screen, ConfirmScreen), "for the question")

    at_the_desk(act)

"""What is copied is what the column shows, in the form that was asked for."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest

from tests.support.open_app import Desk, at_the_desk
from workbench.tui.actions import exporting
from workbench.tui.host import Ended


def test_every_form_of_a_column_can_be_copied() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.sent()
        await desk.press("f3", "f3", "end")
        copied: dict[str, str] = {}
        for answer in exporting.COPIES:
            with suppress(Ended):  # an offline model has no curl command
                await exporting.copy(desk.app, answer.value)
            copied[answer.value] = desk.app.clipboard
        pane = desk.main.columns.current
        assert pane is not None and pane.rendered is not None and pane.rendered.request is not None
        assert pane.column_id == "json"
        request = pane.rendered.request
        assert copied["prompt"] == desk.prompt("json")
        assert copied["message"] == request.prompt.messages[-1].text and copied["message"] in copied["prompt"]
        assert json.loads(copied["messages"]) == request.prompt.as_dicts()
        assert json.loads(copied["request"]) == request.as_dict()
        assert copied["reply"] == desk.reply("json")
        assert json.loads(copied["values"]) == {"label": "bug", "urgency": json.loads(copied["reply"])["urgency"]}

    at_the_desk(act)


@pytest.mark.slow
def test_what_an_offline_model_is_asked_is_no_curl_command_and_that_is_said() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f3", "ctrl+g", "c")
        assert desk.app.clipboard == ""
        (said,) = desk.app._notifications
        assert said.title == "Not copied" and "--" not in said.message, "the screen has no options of a command"

    at_the_desk(act)

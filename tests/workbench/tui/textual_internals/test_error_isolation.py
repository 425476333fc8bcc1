"""Whatever raises in the app is said and logged, the work is kept, and the app goes on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.app import RenderResult
from textual.geometry import Region
from textual.widgets import Input, Label, OptionList, Static

from tests.support.open_app import Desk, at_the_desk


class BreaksAtKeys(Input):
    """An ordinary widget of Textual's whose own handler has a mistake."""

    def on_key(self, event: events.Key) -> None:
        if event.key == "b":
            raise ZeroDivisionError("b")


class BreaksAtPainting(Label):
    def render(self) -> RenderResult:
        raise LookupError("no such colour")


class BreaksAtMount(Static):
    def on_mount(self) -> None:
        raise RuntimeError("not today")


class BreaksInLines(OptionList):
    def render_line(self, y: int) -> Any:
        raise IndexError(y)


def toasts(desk: Desk) -> list[str]:
    return [str(one.message) for one in desk.app._notifications]


def test_a_widget_that_raises_at_a_key_is_reported_and_takes_the_next_key() -> None:
    async def act(desk: Desk) -> None:
        field = BreaksAtKeys()
        await desk.main.editors.mount(field)
        field.focus()
        await desk.type("abc")
        assert field.value == "ac"
        assert any("ZeroDivisionError: b" in one and "Details: " in one for one in toasts(desk))
        logs = list((Path(os.environ["XDG_STATE_HOME"])).rglob("error-*.log"))
        assert logs and "ZeroDivisionError" in logs[0].read_text()

    at_the_desk(act, mistakes=1)


@pytest.mark.slow
@pytest.mark.parametrize("broken", [BreaksAtPainting, BreaksInLines])
def test_a_widget_that_cannot_be_painted_says_so_in_one_line_and_the_rest_is_painted(broken: type[Static]) -> None:
    async def act(desk: Desk) -> None:
        widget = broken()
        widget.styles.height = 3
        await desk.main.editors.mount(widget)
        await desk.settle()
        rows = [strip.text for strip in widget.render_lines(Region(0, 0, *widget.outer_size))]
        assert f"{broken.__name__} cannot be shown" in rows[0]
        await desk.go_to("input", "ticket")
        await desk.paste_over("Still here")
        assert "Still here" in desk.prompt("xml")

    app = at_the_desk(act, mistakes=None)
    assert {type(error) for _, error in app.mistakes.seen} <= {LookupError, IndexError}
    assert app.mistakes.seen


def test_a_widget_that_raises_while_it_is_mounted_takes_nothing_with_it() -> None:
    async def act(desk: Desk) -> None:
        await desk.main.editors.mount(BreaksAtMount("x"))
        await desk.go_to("input", "ticket")
        await desk.paste_over("Still here")
        assert "Still here" in desk.prompt("chat")

    at_the_desk(act, mistakes=1)


def test_a_worker_and_a_timer_that_raise_are_reported_and_end_nothing() -> None:
    async def act(desk: Desk) -> None:
        async def work() -> None:
            raise OSError("a worker")

        def tick() -> None:
            raise OSError("a timer")

        desk.app.run_worker(work(), exit_on_error=False)
        desk.main.set_timer(0.001, tick)
        await desk.until(lambda: len(desk.app.mistakes.seen) == 2)
        assert [str(error) for _, error in desk.app.mistakes.seen] == ["a worker", "a timer"]

    at_the_desk(act, mistakes=2)


@pytest.mark.slow
def test_after_a_mistake_a_copy_of_the_work_is_kept() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("input", "ticket")
        await desk.paste_over("Worth keeping")
        desk.app.report_mistake(ValueError("anything"))
        folder = Path(os.environ["XDG_STATE_HOME"])
        await desk.until(lambda: any("Worth keeping" in one.read_text() for one in folder.rglob("*.json")))

    at_the_desk(act, mistakes=1)


@pytest.mark.slow
def test_letters_after_a_key_that_is_a_binding_stay_where_they_were_typed() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("input", "ticket")
        await desk.paste_over("old")
        for key, character in (("ctrl+u", None), ("n", "n"), ("e", "e"), ("w", "w"), ("tab", "\t"), ("right", None)):
            desk.app.post_message(events.Key(key, character))
        await desk.settle()
        assert desk.document.state.case.inputs["ticket"] == "new"
        assert desk.document.state.case.inputs["channel"] == "mail"

    at_the_desk(act)


@pytest.mark.slow
def test_a_key_with_priority_does_not_overtake_the_letters_before_it(tmp_path: Path) -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("input", "ticket")
        for key in ("a", "b", "c"):
            desk.app.post_message(events.Key(key, key))
        desk.app.post_message(events.Key("ctrl+z", None))
        await desk.settle()
        assert desk.document.state.case.inputs["ticket"] == "The export is empty."

    at_the_desk(act)

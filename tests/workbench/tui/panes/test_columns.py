"""Columns out of sight follow those in sight, and nobody who asks about them gets an old answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from textual._compositor import Compositor
from textual.geometry import Size
from textual.widget import Widget

from sessions.model.replies import Reply
from sessions.model.session import Column, SignatureText
from tests.support.open_app import MIDDLE, TICKETS, Desk, at_the_desk
from tests.support.screen import lower_edge, seen
from workbench.tui.panes.column import ColumnPane
from workbench.tui.panes.height_shares import HeightShares, Held
from workbench.tui.panes.status import StatusLine, said_beyond
from workbench.tui.screens.main import MainScreen

FIVE = replace(TICKETS, columns=tuple([Column(one, one) for one in ("chat", "json", "xml", "baml", "twostep")]))


def field_named(desk: Desk) -> list[bool]:
    """Of each column, whether what is known of it has the new field."""
    return [
        "zebra" in "".join(one.text for one in rendered.request.messages) for rendered in desk.main.columns.rendered
    ]  # type: ignore[union-attr]


def test_what_is_known_of_a_column_does_not_wait_until_it_is_painted() -> None:
    async def act(desk: Desk) -> None:
        editor = desk.main.editors.signature._editor
        changed = desk.document.session.signature.text.replace("urgency", "zebra")
        editor.focus()
        editor.select_all()
        editor.type_over(changed, *editor.selection)
        await desk.pilot.pause()
        desk.main.show()
        assert field_named(desk) == [True] * 5
        assert list(desk.main.columns._waiting) == ["baml", "twostep"]

    at_the_desk(act, session=FIVE)


def test_a_start_paints_the_prompts_in_sight_before_it_makes_what_nobody_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[tuple[list[str], bool]] = []
    complete = MainScreen._complete_hidden

    async def watched(screen: MainScreen) -> None:
        painted = [one.column_id for one in screen.columns._columns.values() if one.prompt.row_width]
        held.append((painted, screen.editors.demos.is_attached))
        await complete(screen)

    monkeypatch.setattr(MainScreen, "_complete_hidden", watched)

    async def act(desk: Desk) -> None:
        await desk.until(desk.main.complete.is_set)
        assert held == [(["chat", "json", "xml"], False)]
        await desk.until(lambda: not desk.main.columns._waiting, "for the columns out of sight")

    at_the_desk(act, session=FIVE)


def test_the_first_layout_gives_the_columns_their_widths(monkeypatch: pytest.MonkeyPatch) -> None:
    widths: list[list[str]] = []
    reflow = Compositor.reflow

    def laid_out(compositor: Compositor, parent: Widget, size: Size) -> Any:
        widths.append([str(one.styles.width) for one in parent.query(ColumnPane)])
        return reflow(compositor, parent, size)

    monkeypatch.setattr(Compositor, "reflow", laid_out)

    async def act(desk: Desk) -> None:
        assert widths[0] == [str(one.outer_size.width) for one in desk.main.columns.all] == ["39", "39", "39"]

    at_the_desk(act, size=MIDDLE)


def test_a_start_with_all_columns_in_sight_divides_the_heights_once(monkeypatch: pytest.MonkeyPatch) -> None:
    moved: list[bool] = []
    take = HeightShares.take

    def note(self: HeightShares, rows: dict[str, Held]) -> bool:
        moved.append(take(self, rows))
        return moved[-1]

    monkeypatch.setattr(HeightShares, "take", note)

    async def act(desk: Desk) -> None:
        await desk.settle()
        assert moved.count(True) == 1

    at_the_desk(act)


def test_a_title_shows_the_line_break_of_a_name_and_what_comes_after_it() -> None:
    async def act(desk: Desk) -> None:
        pane = desk.main.columns.column("json · one\ntwo")
        assert pane is not None
        await desk.until(lambda: "one↵two" in seen(pane)[0] and "~" in seen(pane)[0])

    at_the_desk(act, session=replace(TICKETS, columns=(Column("json · one\ntwo", "json"),)))


@pytest.mark.slow
def test_a_column_that_waited_is_painted_when_it_is_asked_for_or_scrolled_to() -> None:
    async def act(desk: Desk) -> None:
        editor = desk.main.editors.signature._editor
        editor.focus()
        editor.select_all()
        changed = desk.document.session.signature.text.replace("urgency", "zebra")
        editor.type_over(changed, *editor.selection)
        await desk.pilot.pause()
        desk.main.show()
        assert "zebra" in desk.prompt("baml")
        desk.main.columns.scroll_to(x=200, animate=False)
        await desk.until(lambda: not desk.main.columns._waiting)
        (pane,) = [one for one in desk.main.columns.query("ColumnPane") if one.column_id == "twostep"]  # type: ignore[attr-defined]
        assert "zebra" in pane.prompt.plain_text()  # type: ignore[attr-defined]

    at_the_desk(act, session=FIVE)


def test_the_line_between_prompt_and_reply_is_level_whatever_the_field_tables_hold() -> None:
    replies = {
        "chat": Reply("[[ ## urgency ## ]]\nhigh\n\n[[ ## reason ## ]]\nwhy\n\n[[ ## completed ## ]]"),
        "json": Reply("no JSON at all"),
    }
    session = replace(TICKETS, cases=(replace(TICKETS.cases[0], replies=replies),))

    async def act(desk: Desk) -> None:
        await desk.until(lambda: len({one.fields.region.height for one in desk.main.columns.all}) > 1)
        for share in (-1.0, 0.4, 1.0):
            desk.main.columns.resize_prompts(share)
            await desk.pilot.pause()
            columns = desk.main.columns.all
            assert len({one.splitter.region.y for one in columns}) == 1
            assert all(one.reply.region.height >= 1 and one.prompt.region.height >= 1 for one in columns)

    at_the_desk(act, session=session)


def test_a_reply_without_text_does_not_look_like_one_that_has_not_come() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    (case,) = TICKETS.cases[:1]
    came = replace(case, replies={"chat": Reply("", tool_calls=(call,))})

    async def act(desk: Desk) -> None:
        came, other = [str(one.reply.placeholder) for one in desk.main.columns.all]
        assert came.startswith("The reply has no text.")
        assert "Send, or paste a reply here" in other

    at_the_desk(act, session=replace(TICKETS, cases=(came,), columns=TICKETS.columns[:2]))


def test_a_prompt_with_twenty_outputs_has_at_least_half_of_its_column_before_the_reply() -> None:
    outputs = ", ".join(f"output_number_{n}: list[str]" for n in range(20))

    async def act(desk: Desk) -> None:
        for one in desk.main.columns.all[:2]:
            assert one.prompt.region.height >= one.reply.region.height
            assert "output_number_0 list[str]" in str(one.reply.placeholder)
            assert ", and 14 more\nSend, or paste a reply here" in str(one.reply.placeholder)

    at_the_desk(act, session=replace(TICKETS, signature=SignatureText(f"question -> {outputs}")), size=MIDDLE)


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ((3, 3, 0, 0), ""),
        ((3, 6, 0, 99), "  3 of 6 columns ▸ F4"),
        ((3, 6, 20, 79), "◂ 3 of 6 columns ▸ F4"),
        ((3, 6, 99, 0), "◂ 3 of 6 columns   F4"),
    ],
)
def test_columns_out_of_sight_are_told_in_as_many_cells_wherever_one_scrolls(
    place: tuple[int, int, int, int], said: str
) -> None:
    assert said_beyond(*place, "F4") == said


@pytest.mark.slow
def test_the_last_line_tells_of_columns_out_of_sight_while_there_are_any() -> None:
    async def act(desk: Desk) -> None:
        (status,) = desk.main.query(StatusLine)
        assert "  3 of 5 columns ▸" in seen(status)[0]
        before = seen(status)[0]
        desk.main.columns.scroll_to(x=200, animate=False)
        await desk.until(lambda: "◂ 3 of 5 columns  " in seen(status)[0])
        assert seen(status)[0] == before.replace("  3 of 5 columns ▸", "◂ 3 of 5 columns  ")
        await desk.press("f2", "f10")
        assert "columns" not in seen(status)[0]
        await desk.press("f10", "f3", "f10")
        assert "columns" not in seen(status)[0]
        await desk.press("f10")
        assert "3 of 5 columns" in seen(status)[0]

    at_the_desk(act, session=FIVE)


@pytest.mark.slow
def test_the_part_of_a_column_with_the_focus_names_its_keys_at_the_lower_edge() -> None:
    def edge(desk: Desk, column: str) -> str:
        pane = desk.main.columns.column(column)
        assert pane is not None
        return lower_edge(pane)

    async def act(desk: Desk) -> None:
        assert "as dspy" in edge(desk, "chat")
        await desk.press("f3")
        assert "enter edit" in edge(desk, "chat") and "enter edit" not in edge(desk, "json")
        await desk.press("f4")
        assert "tab" not in edge(desk, "chat"), "there is nothing yet to go through"
        await desk.paste_over("[[ ## label ## ]]\nbug\n\n[[ ## urgency ## ]]\n3")
        await desk.press("f4", "f4", "f4")
        assert "tab values" in edge(desk, "chat")
        await desk.press("tab")
        assert "r edit" in edge(desk, "chat")
        await desk.press("f2")
        assert "as dspy" in edge(desk, "chat") and "r edit" not in edge(desk, "chat")

    at_the_desk(act, size=MIDDLE)


@pytest.mark.parametrize("before", [("json", "xml"), ("chat", "json", "xml")])
def test_another_session_begins_at_its_first_column(before: tuple[str, ...]) -> None:
    async def act(desk: Desk) -> None:
        await desk.press(*["f4"] * len(before))
        desk.app.load(replace(TICKETS, columns=FIVE.columns), None)
        await desk.press("f4")
        assert desk.main.columns.current is desk.main.columns.column("chat")

    at_the_desk(act, session=replace(TICKETS, columns=tuple([Column(one, one) for one in before])))

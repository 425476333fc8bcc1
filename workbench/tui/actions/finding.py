"""What ctrl+f searches, and how what it found is brought into sight."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from workbench.editing import field_values
from workbench.output.display import one_line
from workbench.state.document import Place, State
from workbench.state.finding import Hit, Searched, find
from workbench.tui.dialogs.find import FindScreen
from workbench.tui.widgets.prompt.prompt_section import pieces_of, title
from workbench.tui.widgets.prompt.prompt_view import PromptView
from workbench.tui.widgets.text.editor import Editor

if TYPE_CHECKING:
    from workbench.tui.host import Host


async def find_anywhere(host: Host) -> None:
    """Goes to what is typed while it is typed; escape goes back to where the focus was."""
    main = host.main
    before, tab = main.focused, main.editors.tab
    texts = list(texts_of(host))
    search = partial(find, texts)
    stays = await host.app.push_screen_wait(FindScreen(search, partial(_show, host)))
    for column in main.columns.all:
        column.prompt.mark_text("")
    if not stays:
        main.editors.open(tab)
        if before is not None and before.is_attached:
            before.focus()


def texts_of(host: Host) -> Iterator[Searched]:
    """What is on screen first: the signature, the prompts and replies, then inputs, demos and history."""
    state, main = host.document.state, host.main
    yield Searched("signature", state.session.signature.text, Place("signature"))
    if state.session.signature.instructions is not None:
        yield Searched("instructions", state.session.signature.instructions, Place("instructions"))
    for column in main.columns.all:
        prompt = column.prompt.prompt
        for number, message in enumerate(prompt.messages if prompt is not None else ()):
            text = "".join(text for text, _, _ in pieces_of(message))
            yield Searched(f"{column.column_id} · {title(message)}", text, None, column.column_id, number)
        yield Searched(
            f"reply of {column.column_id}", column.reply.raw, Place("reply", field=column.column_id), column.column_id
        )
    yield from _values(state)


def _values(state: State) -> Iterator[Searched]:
    case = state.case
    for field, value in case.inputs.items():
        place = Place("input", case.name, field=field)
        yield Searched(f"input {one_line(field, 30)}", _text(state, place, value), place)
    for row, demo in enumerate(state.session.demos):
        for field, value in demo.values.items():
            place = Place("demo", "", row, field)
            yield Searched(f"demo {row + 1} {one_line(field, 30)}", _text(state, place, value), place)
    for row, turn in enumerate(case.history):
        for field, value in turn.items():
            place = Place("history", case.name, row, field)
            yield Searched(f"turn {row + 1} {one_line(field, 30)}", _text(state, place, value), place)


def _text(state: State, place: Place, value: object) -> str:
    draft = state.drafts.get(place)
    return draft if draft is not None else field_values.shown(value, "text")


def _show(host: Host, hit: Hit) -> None:
    main = host.main
    wanted = hit.of.text[hit.start : hit.end]
    for column in main.columns.all:
        column.prompt.mark_text(wanted)
    if hit.of.message >= 0:
        found = main.columns.column(hit.of.column)
        if found is not None:
            main.columns.focus_on(found.column_id, PromptView)
            found.prompt.go_to_text(hit.of.message, hit.start)
    elif hit.of.place is not None:
        main.go_to(hit.of.place)
        host.app.call_after_refresh(_select, host, wanted, hit.start)


def _select(host: Host, wanted: str, start: int) -> None:
    """In the editor with the focus: the hit itself, or where its text is written another way the first like it."""
    editor = host.main.focused
    if not isinstance(editor, Editor):
        return
    if editor.raw[start : start + len(wanted)] != wanted:
        start = editor.raw.find(wanted)
    if start >= 0:
        editor.select_text(start, start + len(wanted))

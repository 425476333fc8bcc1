"""Search every pane and show the matches (ctrl+f)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import NamedTuple

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input

from workbench.editing import field_values
from workbench.output.display import one_line, safe
from workbench.state.document import Place, State
from workbench.tui.dialogs.ask import Dialog
from workbench.tui.host import Host
from workbench.tui.keys import keys_of, pane_keys
from workbench.tui.widgets.prompt.prompt_section import pieces_of, title
from workbench.tui.widgets.prompt.prompt_view import PromptView
from workbench.tui.widgets.text.editor import Editor
from workbench.tui.widgets.text.plain import QUIET, PlainStatic, lines

MOST_HITS = 999
CONTEXT = 60
"""Characters shown on either side of a hit."""


class Searched(NamedTuple):
    """A searchable text: its name, where it is edited or shown, and for a prompt the number of the message."""

    name: str
    text: str
    place: Place | None = None
    column: str = ""
    message: int = -1


class Hit(NamedTuple):
    """A hit of a search: characters `start` to `end` of the text `of`."""

    of: Searched
    start: int
    end: int

    @property
    def context(self) -> tuple[str, str, str]:
        """Return the text before the hit, the hit, and the text after it, for a single line."""
        text = self.of.text
        before = text[max(0, self.start - CONTEXT) : self.start].rpartition("\n")[2]
        behind = text[self.end : self.end + CONTEXT].partition("\n")[0]
        return (
            safe(before).replace("\t", " "),
            one_line(text[self.start : self.end], CONTEXT),
            one_line(behind, CONTEXT),
        )


def find(texts: Iterable[Searched], wanted: str) -> list[Hit]:
    """Return hits of `wanted`, `MOST_HITS` at most; case matters if `wanted` has a capital letter."""
    texts = [one for one in texts if len(one.text) >= len(wanted)]
    if not wanted or not texts:  # compiling a pasted page takes seconds
        return []
    pattern = re.compile(re.escape(wanted), 0 if wanted != wanted.lower() else re.IGNORECASE)
    found = (Hit(searched, *match.span()) for searched in texts for match in pattern.finditer(searched.text))
    return list(islice(found, MOST_HITS))


class FindScreen(Dialog[bool | None]):
    """Search while the user types; returns whether to stay at the match.

    `search` finds hits of a text, `show` goes to a hit.
    """

    BINDINGS = pane_keys(
        "Find",
        ("escape", "dismiss(False)", "Close", "find.close", "Return to where you were"),
        ("enter", "stay", "Go there", "find.stay", "Go to this match", True),
        ("down,ctrl+f,ctrl+n", "step(1)", "Next", "find.next", "Show the next match", True),
        ("up", "step(-1)", "Before", "find.before", "Show the previous match", True),
    )

    def __init__(self, search: Callable[[str], list[Hit]], show: Callable[[Hit], None]) -> None:
        super().__init__("", "")
        self._search = search
        self._show_hit = show
        self._hits: list[Hit] = []
        self._at = 0

    def compose(self) -> ComposeResult:
        with Horizontal(id="find-line"):
            yield PlainStatic(lines(("find ", QUIET)), classes="find-word")
            yield Input(compact=True, placeholder="search every pane")
            yield PlainStatic(id="find-where")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._hits = self._search(event.value)
        self._at = 0
        self._say()

    def action_step(self, by: int) -> None:
        if self._hits:
            self._at = (self._at + by) % len(self._hits)
            self._say()

    def action_stay(self) -> None:
        self.dismiss(bool(self._hits))

    @on(events.Mount)
    def _say(self) -> None:
        """Describe the match, if any, and go to it."""
        keys = keys_of(self.app)
        if not self.query_one(Input).value:
            hint = "{find.next|↓}{find.before|↑} matches   {find.stay|enter} stay there   {find.close|esc} go back"
            said = lines((keys(hint), QUIET))
        elif not self._hits:
            said = lines(("no match   ", "$text-warning"), (keys("{find.close|esc} go back"), QUIET))
        else:
            hit = self._hits[self._at]
            before, found, behind = hit.context
            more = "+" if len(self._hits) == MOST_HITS else ""
            count = f"{self._at + 1} of {len(self._hits)}{more}"
            said = lines(
                (f"{count} ", "bold"),
                (keys("{find.next|↓}{find.before|↑}  {find.stay|enter} stay   "), QUIET),
                (f"{hit.of.name}  ", "$text-accent"),
                (before[-20:], QUIET),
                (found, "reverse"),
                (behind, QUIET),
            )
            self._show_hit(hit)
        self.query_one("#find-where", PlainStatic).show(said)


async def find_anywhere(host: Host) -> None:
    """Search while the user types; escape returns the focus to where it was."""
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
    """Yield the searchable texts: signature, prompts and replies first, then inputs, demos and history."""
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
    """Select the match in the focused editor, or the first equal text if the editor formats it differently."""
    editor = host.main.focused
    if not isinstance(editor, Editor):
        return
    if editor.raw[start : start + len(wanted)] != wanted:
        start = editor.raw.find(wanted)
    if start >= 0:
        editor.select_text(start, start + len(wanted))

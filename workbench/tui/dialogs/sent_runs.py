"""Search all sent runs as the user types, and compare two of them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import Any

from textual import events, on, work
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from sessions.errors import SessionError, counted
from sessions.file.json_values import JSON
from sessions.text_diff import line_diff
from workbench.output.display import cell_width, cut, one_line
from workbench.sending.sent_runs import Found, PastRun, SentRuns, Wanted, plain_words, wanted_of
from workbench.tui.dialogs.ask import Dialog
from workbench.tui.keys import pane_keys
from workbench.tui.pages.drifts import blocks_of_lines
from workbench.tui.runs.run_history import LiveCalls
from workbench.tui.widgets.row_list import RowList
from workbench.tui.widgets.text.plain import QUIET, content, lines
from workbench.tui.widgets.text.text_view import EMPTY, Block, Piece, TextView, block

SIGNS = {"done": ("✓", "ok"), "failed": ("✗", "error"), "cancelled": ("■", "warning")}
LONGEST_VALUE = 300


def head_of(run: PastRun) -> tuple[Piece, ...]:
    """Show a run's outcome, time, column, model and duration in a line."""
    sign, style = SIGNS.get(run.phase, ("?", "note"))
    return (
        Piece(f"{sign} ", style),
        Piece(run.time, "title"),
        Piece(f"  {one_line(run.title, 30)} · {one_line(run.case, 30)} · {one_line(run.column, 30)}", "text"),
        Piece(f"  {one_line(run.model, 40)}", "accent"),
        Piece(f"  {run.seconds:.1f}\u00a0s" if run.seconds else "", "note"),
    )


def one_run(run: PastRun) -> list[Block]:
    """Show everything stored about a run."""
    blocks = [Block(head_of(run))]
    if run.error:
        blocks.append(block(run.error, "error", indent=2))
    for name, value in run.values.items():
        blocks.append(Block((Piece(_short(value), "data"),), 2, "", Piece(f"{one_line(name, 20)}  ", "heading")))
    blocks += [EMPTY, block(run.text or "(no reply)", "text")]
    for role, text in run.messages:
        blocks += [EMPTY, block(one_line(role, 20), "heading"), block(text, "note")]
    return blocks


def two_runs(before: PastRun, after: PastRun) -> list[Block]:
    """Compare the values and replies of two runs."""
    blocks = [Block((Piece("− ", "error"), *head_of(before))), Block((Piece("+ ", "ok"), *head_of(after))), EMPTY]
    names = dict.fromkeys([*before.values, *after.values])
    # compared as JSON, because 1, 1.0 and true are equal in Python
    values = [{name: json.dumps(value) for name, value in run.values.items()} for run in (before, after)]
    differing = [name for name in names if values[0].get(name) != values[1].get(name)]
    if names and not differing:
        blocks.append(Block((Piece("✓ ", "ok"), Piece("the same values"))))
    for name in differing:
        blocks.append(block(one_line(name, 40), "heading"))
        blocks += [
            Block(
                (Piece(_short(run.values[name]) if name in run.values else "(none)", style),), 2, "", Piece(sign, style)
            )
            for run, sign, style in ((before, "- ", "error"), (after, "+ ", "data"))
        ]
    if before.text == after.text:
        return [*blocks, EMPTY, Block((Piece("✓ ", "ok"), Piece("the same reply, character by character")))]
    diff = line_diff(before.text.split("\n"), after.text.split("\n"))
    return [*blocks, EMPTY, block("reply", "heading"), *blocks_of_lines(diff)]


def _short(value: JSON) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return cut(text, LONGEST_VALUE, " …")


COLOURS = {"ok": "$text-success", "error": "$text-error", "warning": "$text-warning", "note": QUIET}
PROGRAM = "this program"
LOOKS_EVERY_S = 0.5
"""Seconds between two looks for further calls of a running program."""
MOST_ROWS = 10
HINT = "{runs.next_scope|alt+w} where   {runs.search|/} search   {runs.close|esc} close"
HINT_OF_SEARCH = (
    "↑↓ {runs.take|enter} open as it was   "
    "tab to the list: {runs.reply|r} its reply alone, {runs.mark|space} compare   "
    "{runs.next_scope|alt+w} where   {runs.close|esc} close"
)
"""The keys while the search line has the focus, where letters and blanks are typed."""
HINT_OF_A_RUN = (
    f"{{runs.take|enter}} open as it was   {{runs.reply|r}} its reply alone   {{runs.mark|space}} compare   {HINT}"
)

Ask = Callable[[Callable[[SentRuns], Any]], Awaitable[Any]]


class RunHistoryScreen(Dialog[tuple[PastRun, bool] | None]):
    """Search sent runs; returns the chosen run and whether only its reply is wanted, None after escape.

    `ask` queries the store in its thread; results of outdated searches are dropped. `scopes` are the search scopes by
    name. The search line has the focus at first, except in the scope `this case`. In the scope `this program` the list
    grows while the program of `live` runs; the chosen run stays chosen.
    """

    classes_of_frame = "-large"
    BINDINGS = pane_keys(
        "Runs",
        ("escape", "dismiss(None)", "Close", "runs.close", "Close the list"),
        ("space", "mark", "Compare", "runs.mark", "Mark this run and compare it with others"),
        ("enter", "take", "Open", "runs.take", "Open this run as it was"),
        ("r", "take(True)", "Reply", "runs.reply", "Show this reply under its column as it is now"),
        ("slash", "search", "Search", "runs.search", "Search for words, or model:… adapter:… is:failed since:…"),
        ("alt+w", "next_scope", "Where", "runs.next_scope", "Search another scope: case, session, folder, everywhere"),
        ("down", "step(1)", "Down", "runs.down", "Go to the run below", True),
        ("up", "step(-1)", "Up", "runs.up", "Go to the run above", True),
    )

    def __init__(self, ask: Ask, scopes: Mapping[str, Wanted], scope: str, live: LiveCalls | None = None) -> None:
        super().__init__("", HINT_OF_A_RUN)
        self._ask = ask
        self._live = live
        self._seen: tuple[int, str] | None = None
        self._scopes = scopes
        self._scope = scope
        self._found = Found((), 0)
        self._room_of_where = 0
        self._current = 0
        self._marked: int | None = None
        self._list = RowList(self._line)
        self._text = TextView(id="runs-text")
        self._words = Input(placeholder="words   model:gpt   adapter:json   is:failed   since:2026-11-01", compact=True)

    def contents(self) -> Iterable[Widget]:
        return self._words, self._list, self._text

    def on_mount(self) -> None:
        self._list.styles.height = 1
        (self._list if self._scope in ("this case", PROGRAM) else self._words).focus()
        self._search()
        if self._live is not None:
            self.set_interval(LOOKS_EVERY_S, self._look_again)

    @on(Input.Changed)
    @work(group="search", exclusive=True, exit_on_error=False)
    async def _search(self) -> None:
        await self._show_found()

    def _look_again(self) -> None:
        if self.is_of_program:
            self._show_further()

    @work(group="search", exclusive=True, exit_on_error=False)
    async def _show_further(self) -> None:
        """Search again if the program has called or ended since; the chosen and the marked run are kept."""
        seen = await self._ask(SentRuns.version), self._live.about() if self._live is not None else ""
        if seen != self._seen:
            self._seen = seen
            await self._show_found(is_kept=True)

    @on(Input.Submitted)
    def _enter(self) -> None:
        self.action_take()

    def action_take(self, is_reply_alone: bool = False) -> None:
        if self._found.runs:
            self.dismiss((self._found.runs[self._current], is_reply_alone))

    @property
    def is_of_program(self) -> bool:
        """Tell whether the calls of the running program are searched."""
        return self._scope == PROGRAM

    @property
    def is_here(self) -> bool:
        """Tell whether only the open session is searched."""
        return self._scope in ("this case", "this session")

    def action_search(self) -> None:
        self._words.focus()

    def action_step(self, by: int) -> None:
        self._list.action_step(by)

    def action_next_scope(self) -> None:
        names = list(self._scopes)
        self._scope = names[(names.index(self._scope) + 1) % len(names)]
        self._search()

    def action_mark(self) -> None:
        if not self._found.runs:
            return
        self._marked = None if self._marked == self._current else self._current
        self._list.show(len(self._found.runs), self._current)
        self._look()

    @on(RowList.Moved)
    def _moved(self, event: RowList.Moved) -> None:
        self._current = event.index
        self._look()

    async def _show_found(self, is_kept: bool = False) -> None:
        wanted = wanted_of(self._words.value, self._scopes[self._scope])
        try:
            found = await self._ask(lambda kept: kept.search(wanted))
        except (OSError, SessionError, sqlite3.Error) as error:
            self._found, self._current, self._marked = Found((), 0), 0, None
            self._list.show(0, 0)
            self._text.show([block(plain_words(error), "error")])
            return
        chosen = self._id_of(self._current or None), self._id_of(self._marked)  # maybe moved during the search
        self._found = found
        self._room_of_where = max([cell_width(self._where(run)) for run in found.runs], default=0)
        places = {run.id: place for place, run in enumerate(found.runs)} if is_kept else {}
        self._current, self._marked = places.get(chosen[0] or 0, 0), places.get(chosen[1] or 0)
        count = len(self._found.runs)
        self._list.styles.height = min(MOST_ROWS, count)
        self._list.show(count, self._current)
        self._show_keys()
        about = f" · {one_line(self._live.about(), 60)}" if self._live is not None and self.is_of_program else ""
        dialog = self.query_one(".dialog")
        dialog.border_title = content(f" Sent · {self._scope}{about} · {counted(self._found.count, 'run')} ")
        if not places or chosen[0] is None or self._current == 0:
            self._look()

    @on(events.DescendantFocus)
    def _show_keys(self) -> None:
        self._hint = HINT_OF_SEARCH if self._words.has_focus else HINT_OF_A_RUN
        self._hint = self._hint if self._found.runs else HINT
        self.show_last_line()

    def _id_of(self, place: int | None) -> int | None:
        return None if place is None else self._found.runs[place].id

    @work(group="look", exclusive=True, exit_on_error=False)
    async def _look(self) -> None:
        runs = self._found.runs
        if not runs:
            live = self._live if self.is_of_program else None
            nothing = "Nothing was sent here yet." if live is None else "No dspy calls yet."
            said = block(live.output() if live is not None else "", "text")
            self._text.show([block("No run matches." if self._words.value else nothing, "note"), EMPTY, said])
            return
        marked = self._current if self._marked is None else self._marked
        numbers = sorted({marked, self._current}, reverse=True)
        whole = [await self._ask(partial(SentRuns.whole, id=runs[one].id)) or runs[one] for one in numbers]
        self._text.show(one_run(whole[0]) if len(whole) == 1 else two_runs(*whole))

    def _where(self, run: PastRun) -> str:
        return "" if self._scope == "this case" else f"{one_line(run.title, 16)} · {one_line(run.case, 12)}  "

    def _line(self, index: int) -> Content:
        run = self._found.runs[index]
        sign, style = SIGNS.get(run.phase, ("?", "note"))
        mark = "◆ " if index == self._marked else "  "
        said = run.error or " ".join(run.text.split())
        where = self._where(run)
        return lines(
            (mark, "$text-accent bold"),
            (f"{sign} ", COLOURS[style]),
            (f"{run.time[5:]}  ", QUIET),
            where + " " * (self._room_of_where - cell_width(where)),
            (f"{one_line(run.column, 16):<10}", "bold"),
            (f" {one_line(run.model, 24):<16} ", "$text-accent"),
            (f"{run.seconds:.1f} s  " if run.seconds else "  ", QUIET),
            one_line(said, 80),
        )

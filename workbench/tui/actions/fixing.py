"""Show fixes for a reply and its prompt, apply one, and report after the next run whether it helped."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from functools import partial

from textual import on
from textual.content import Content
from textual.widget import Widget

from sessions.running import repeats
from workbench.editing import fixes
from workbench.editing.fixes import Effect, FixError
from workbench.output.display import one_line
from workbench.state.document import Place, RenderedColumn, State
from workbench.tui.dialogs.ask import Dialog
from workbench.tui.host import Ended, Host, answer_to, ends_on, focused_column
from workbench.tui.keys import pane_keys
from workbench.tui.pages.prompt_pages import section_blocks
from workbench.tui.panes.verdicts import rejected_in
from workbench.tui.runs.runs import AppliedFix, ColumnRun
from workbench.tui.widgets.row_list import RowList
from workbench.tui.widgets.text.plain import QUIET, PlainStatic, content, lines, plain_notify
from workbench.tui.widgets.text.text_view import EMPTY, Block, TextView, block

MOST_ROWS = 8
LONGEST_CAUSE = 400
LONGEST_ROW = 90
"""Maximum characters of a fix in the list; a longer one is repeated in full above its changes."""


class FixesScreen(Dialog[Effect | None]):
    """Choose a fix; returns None after escape.

    `causes` are the messages of the diagnosis.
    """

    classes_of_frame = "-large"
    BINDINGS = pane_keys(
        "Fixes",
        ("escape", "dismiss(None)", "Close", "fixes.close", "Close without a change"),
        ("enter", "take", "Apply", "fixes.take", "Apply this fix; undo reverts it"),
    )

    def __init__(self, column: str, causes: Sequence[str], effects: Sequence[Effect]) -> None:
        hint = "↑↓ choose   {fixes.take|enter} apply   {fixes.close|esc} close   tab scroll the changes"
        super().__init__(f"Fixes for {one_line(column, 40)}", hint)
        self._causes = tuple(causes)
        self._effects = tuple(effects)
        self._list = RowList(self._line)
        self._text = TextView(id="fixes-text")

    def contents(self) -> Iterable[Widget]:
        shown = self._causes[: max(1, self.app.size.height // 16)]
        told = [f"✗ {one_line(cause, LONGEST_CAUSE)}" for cause in shown]
        if len(shown) < len(self._causes):
            told[-1] += f"  (+{len(self._causes) - len(shown)} more)"
        if told:
            yield PlainStatic(content("\n".join(told), "$text-error"), classes="fixes-cause")
        yield self._list
        yield self._text

    def on_mount(self) -> None:
        self._list.styles.height = min(MOST_ROWS, len(self._effects), max(3, self.app.size.height // 5))
        self._list.show(len(self._effects), 0)
        self._list.focus()
        self._look()

    def action_take(self) -> None:
        effect = self._effects[self._list.current]
        if effect.after is not None:
            self.dismiss(effect)

    @on(RowList.Moved)
    def _look(self) -> None:
        effect = self._effects[self._list.current]
        is_cut = len(effect.fix.message) > min(LONGEST_ROW, self.app.size.width - 18)
        self._text.show([block(effect.fix.message)] * is_cut + blocks_of(effect))

    def _line(self, index: int) -> Content:
        effect = self._effects[index]
        if effect.parses:
            sign, style = "✓ ", "$text-success"
        else:
            sign, style = ("✗ ", "$text-error") if effect.problem else ("· ", QUIET)
        return lines((sign, style), (one_line(effect.fix.message, LONGEST_ROW), "bold"))


def blocks_of(effect: Effect) -> list[Block]:
    """Return blocks that show how a fix changes the prompt."""
    blocks = [block(f"{effect.verdict[:1].upper()}{effect.verdict[1:]}.", "ok" if effect.parses else "note")]
    if effect.after is not None and not effect.prompt:
        return [*blocks, EMPTY, block("The prompt stays the same.", "note")]
    for section in effect.prompt:
        blocks += section_blocks(section)
    return blocks


async def choose(host: Host) -> None:
    """Show fixes for the focused column and apply the chosen fix; undo reverts it."""
    rendered = focused_column(host)
    run = host.main.runs.of(host.document.state.case.name, rendered.column.id)
    failed = run if run is not None and run.phase == "failed" else None
    rejected = rejected_in(failed.payload) if failed is not None else ""
    effects = await asyncio.to_thread(effects_of, host.document.state, rendered, rejected)
    if not effects:
        says = "This reply and its prompt need no fix." if rendered.reading else "There is no reply to fix yet."
        raise Ended(says, "No fixes", "information")
    causes = [one.message for one in rendered.reading.diagnosis] if rendered.reading is not None else []
    causes += [failed.error] if failed is not None and rejected else []
    _apply(host, rendered, await answer_to(host, FixesScreen(rendered.column.id, causes, effects)))


def effects_of(state: State, rendered: RenderedColumn, rejected: str = "") -> tuple[Effect, ...]:
    """Preview the fixes of a column, and those of the part of its request that the server `rejected`."""
    request = None if rendered.error else rendered.request
    also = fixes.rejection_fixes(rendered.column, request, rejected) if rejected and request is not None else ()
    return fixes.effects_of(state, rendered.column, rendered.reading, rendered.reply, request, also)


def _apply(host: Host, rendered: RenderedColumn, effect: Effect) -> None:
    document = host.document
    fix = effect.fix
    if "reply" in fix.change:
        host.main.replies.type_over(rendered.column.id, fix.change["reply"])
        host.main.status.say(
            host.key_words("The reply was edited; the prompt is unchanged. {app.undo|ctrl+z} reverts it")
        )
        return
    at = document.session.columns.index(rendered.column)
    with ends_on(FixError, severity="warning", lead="Not applied: "):
        change = partial(fixes.apply, column_id=rendered.column.id, fix=fix)
        host.main.edit(change, Place("column", field=rendered.column.id), fix.message)
    reading = rendered.reading
    before = "no reply" if reading is None else "parsed" if reading.ok else "parse error"
    after = document.session.columns[at].id
    source = rendered.reply.source if rendered.reply is not None else ""
    host.sending.fixed[after] = AppliedFix(fix.message, before, source)
    if effect.is_unfinished:
        demos, outputs = document.session.demos, document.session.signature.read().output_fields
        host.main.go_to(Place("demo", row=len(demos) - 1, field=next(iter(outputs), "")))
    host.main.status.say(host.key_words("applied: {app.send_column|F8} sends it again, {app.undo|ctrl+z} reverts it"))


def say_whether_it_helped(host: Host, ended: ColumnRun) -> None:
    """After the first run with a fix that was not undone, report the outcome before and after it."""
    if ended.run is None:
        return
    applied = host.sending.fixed.pop(ended.column, None)
    if applied is None or not host.document.can_undo(applied.message):
        return
    message, before, source = applied
    sent, copied = ended.sent, 0
    if ended.run.ok and sent is not None:
        copied = repeats.copied_demo(sent.session, sent.case, ended.run.values)
    said = f"{message} Before: {before}. Now: {'parsed' if ended.run.ok else 'parse error'}."
    hint = ""
    if source == "sent":
        hint = host.key_words("{app.past_runs|shift+F7} shows both replies, {runs.mark|space} compares them.")
    elif source:  # the list of runs does not hold it
        hint = host.key_words("{app.undo|ctrl+z} shows the earlier reply, {app.redo|ctrl+y} this one.")
    if copied:
        said += f" But the reply repeats the values of demo {copied}, for other inputs."
        plain_notify(host.app, f"{said} {hint}", title="It parses, but copies a demo", severity="warning")
    elif ended.run.ok:
        plain_notify(host.app, f"{said} {hint}", title="It helped")
    else:
        plain_notify(host.app, f"{said} {hint}", title="Not fixed yet", severity="warning")

"""Ask a model to rewrite a text, show the rewrite as a diff, and keep it as a variant if accepted."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import partial
from threading import Event

from textual.widget import Widget

from adapters.errors import SignatureError
from adapters.lm import ProviderError
from adapters.lm.secrets import Scrubber
from sessions.checking.expectations import ExpectationError
from sessions.errors import counted
from sessions.imports.merging import unused
from sessions.model import variants
from sessions.model.session import Session
from workbench.editing import column_edits
from workbench.output.display import one_line
from workbench.output.measures import cost, token_counts
from workbench.output.prompt_diff import SectionDiff
from workbench.sending import suggesting
from workbench.state.document import Place
from workbench.tui.actions import sending
from workbench.tui.dialogs.ask import Answer, AskScreen, ConfirmScreen, Dialog
from workbench.tui.dialogs.choose import ChooseScreen, Entry, ModelScreen
from workbench.tui.host import Ended, Host, answer_to, ends_on
from workbench.tui.keys import pane_keys
from workbench.tui.pages.prompt_pages import section_blocks
from workbench.tui.widgets.text.plain import QUIET, PlainStatic, lines
from workbench.tui.widgets.text.text_view import TextView


class SuggestionScreen(Dialog[bool]):
    """Show a suggestion; returns whether it is accepted.

    `head` names model, tokens and cost; `diff` is the change.
    """

    classes_of_frame = "-large"
    BINDINGS = pane_keys(
        "This suggestion",
        ("t", "dismiss(True)", "Accept", "suggestion.take", "Keep it as a variant"),
        ("escape,l", "dismiss(False)", "Reject", "suggestion.leave", "Discard it; nothing changes"),
    )

    def __init__(self, head: str, diff: SectionDiff) -> None:
        hint = "{suggestion.take|t} accept, as a variant   {suggestion.leave|esc} reject   ↑↓ scroll"
        super().__init__("A suggestion", hint)
        self._head = head
        self._diff = diff
        self._text = TextView(id="suggestion-text")

    def contents(self) -> Iterable[Widget]:
        return PlainStatic(lines((self._head, QUIET))), self._text

    def on_mount(self) -> None:
        self._text.show(section_blocks(self._diff))
        self._text.focus()


STOP = (Answer("stop", "s", "Stop", "discard the answer"),)
ARRIVED = "arrived"


async def suggest(host: Host, of: str) -> None:
    """Ask for the text, the model and a wish, then call the model; accepting the rewrite can be undone."""
    document = host.document
    session = document.session
    with ends_on(SignatureError, ExpectationError, severity="warning", lead="Fix this first: "):
        signature = session.signature.read()
        failures = await asyncio.to_thread(suggesting.failing, session)  # repairing a reply can take long
    entries = [Entry(one, one, variants.original_of(signature, one) or "") for one in variants.targets(signature)]
    chosen = await answer_to(host, ChooseScreen("Rewrite which text?", entries, current=of))
    who = ModelScreen("Who rewrites it?", session.model, only=host.confinement.offered_models)
    model = await answer_to(host, who)
    count = counted(len(failures), "reply that", "replies that") + " went wrong"
    hint = f"{count} will be shown to the model   enter ask, with or without a wish   {{ask.close|esc}} close"
    wish = await answer_to(host, AskScreen("What should it do better?", "", lambda _: "", hint))
    made = await _ask(host, session, chosen, model, wish)
    took = made.run.attempts[-1]
    head = f"by {one_line(model, 60)} · {token_counts(took)}, {cost(took.cost)}"
    diff = SectionDiff(made.of, made.before, made.text, made.lines)
    if not await host.app.push_screen_wait(SuggestionScreen(head, diff)):
        host.main.status.say("rejected; nothing was kept")
        return
    tag = unused(suggesting.TAG, variants.tags(document.session), "{}-{}")
    change = partial(column_edits.take, tag=tag, of=made.of, text=made.text)
    row = len(document.session.variants)
    host.main.edit(change, Place("variant", row=row), f"variant {tag}, suggested")
    host.main.go_to(Place("variant", row=row, field="text"))


async def _ask(host: Host, session: Session, of: str, model: str, wish: str) -> suggesting.Suggestion:
    """Return the rewrite, unless it is stopped or fails."""
    try:
        scratch = suggesting.scratch(session, of, model)
        (column,) = scratch.columns
        hosts, path = host.sending.hosts, host.document.path
        await sending.settle(host, hosts.questions(scratch, column, path))
        may = hosts.allowed(scratch, column, path)
    except (ProviderError, variants.VariantError) as error:
        raise Ended(Scrubber().scrubbed(str(error)), severity="error") from error
    cancel = Event()
    waiting = ConfirmScreen("Waiting for the rewrite", f"{one_line(model, 60)} rewrites {of}.", STOP)
    call = partial(suggesting.ask, cancel=cancel, allowed=may, confinement=host.confinement)
    asked = asyncio.create_task(asyncio.to_thread(call, session, of, model, wish))
    asked.add_done_callback(lambda _: waiting.dismiss(ARRIVED) if waiting.is_current else None)
    if await host.app.push_screen_wait(waiting) != ARRIVED and not asked.done():
        cancel.set()
        asked.add_done_callback(lambda one: one.cancelled() or one.exception())  # nobody waits for its result
        host.main.status.say("stopped; nothing was kept")
        raise Ended
    try:
        return asked.result()
    except suggesting.SuggestionError as error:
        raise Ended(f"No suggestion: {Scrubber().scrubbed(str(error))}") from error

"""Inspect a column (F7), on the pages of `PAGES`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from textual import on, work
from textual.app import ComposeResult
from textual.content import Content

from adapters.formats import catalog
from adapters.lm import ProviderError
from workbench.output.display import one_line
from workbench.output.exit_codes import CommandError
from workbench.state.document import Place, RenderedColumn
from workbench.tui.keys import ON_A_PAGE, pane_keys
from workbench.tui.pages import prompt_pages, reply_pages, request_pages
from workbench.tui.pages.page import LookedAt, paragraph
from workbench.tui.textual_internals.row_compositor import OneLayout
from workbench.tui.widgets.heading import Heading
from workbench.tui.widgets.tab_line import TabLine, TabName
from workbench.tui.widgets.text.plain import QUIET, PlainStatic, key_hints, lines, plain_notify, teacher_button
from workbench.tui.widgets.text.text_view import Block, TextView, block


class PageName(NamedTuple):
    """A page's tab, its own key hints, and a shorter tab for narrow screens."""

    tab: str
    hint: str = ""
    short: str = ""


PAGES: Mapping[str, PageName] = {
    "card": PageName("Card"),
    "request": PageName(
        "Request",
        "{pages.view|v} as JSON   {pages.copy|y} copy   {pages.copy_json|Y} JSON   {pages.copy_curl|u} curl",
    ),
    "runs": PageName("Calls", "{pages.view|v} raw   {pages.copy|y} copy"),
    "parsers": PageName("Reply × parser", "{text.choose|enter} go to the reply", "Parsers"),
    "diff": PageName("Differences", "{pages.other|o} compare with another   {pages.copy|y} copy", "Diff"),
    "lints": PageName("Lint", "{text.choose|enter} go to its place"),
    "repeats": PageName("Repeats"),
    "tokens": PageName("Tokens", "{pages.copy|y} copy"),
    "stream": PageName("Stream", "{pages.view|v} cut again   {pages.copy|y} copy"),
}


class PagesScreen(OneLayout[Place | None]):
    """The pages of a column; returns a place to go to.

    `looked_at(step)` returns the column `step` columns after the one that was inspected first.
    """

    APP_ACTIONS = ON_A_PAGE
    BINDING_GROUP_TITLE = "Inspect"
    BINDINGS = pane_keys(
        "This page",
        *[
            (str(number), f"page('{id}')", name.tab, f"pages.{id}", f"Show the page {name.tab}")
            for number, (id, name) in enumerate(PAGES.items(), 1)
        ],
        ("right,l", "turn(1)", "Next page", "pages.next", "Show the next page", True),
        ("left,h", "turn(-1)", "Page before", "pages.before", "Show the previous page", True),
        ("c,tab", "column(1)", "Next column", "pages.column", "Show this page for the next column"),
        ("shift+tab", "column(-1)", "Column before", "pages.column_before", "Show this page for the previous column"),
        ("v", "view", "Raw", "pages.view", "Toggle the request as JSON, or a call's raw payload; cut a reply again"),
        ("o", "other", "Compare with", "pages.other", "Compare with another column or the recording"),
        ("y", "copy('text')", "Copy", "pages.copy", "Copy the text of this page"),
        ("Y", "copy('json')", "Copy JSON", "pages.copy_json", "Copy the request as JSON"),
        ("u", "copy('curl')", "Copy curl", "pages.copy_curl", "Copy the request as a curl command"),
        ("escape,q", "dismiss(None)", "Close", "pages.close", "Return to the prompts"),
    )

    def __init__(self, looked_at: Callable[[int], LookedAt], page: str = "card") -> None:
        super().__init__()
        self._looked_at = looked_at
        self.page = page
        """The open page, a key of `PAGES`."""
        self._step = 0
        self._raw = False
        self._cut = 0
        self._other = 0
        self._leads_on = False
        """True if enter on a line of the page goes to a place."""
        self.at = looked_at(0)
        self._made_late: dict[str, tuple[RenderedColumn, list[Block]]] = {}
        """Parts of pages made in a thread, by name, each with its column."""
        self._seen = self._teacher = ""
        self._head = PlainStatic(id="pages-head")
        self._heading = Heading(id="pages-heading")
        self._tabs = TabLine(id="pages-tabs")
        self.text = TextView(id="pages-text")
        self._hint = PlainStatic(id="pages-hint")

    def compose(self) -> ComposeResult:
        return self._head, self._heading, self._tabs, self.text, self._hint

    def on_mount(self) -> None:
        self._tabs.can_focus = False
        self.text.focus()
        self._show()
        self.set_interval(0.3, self._look_again)

    @property
    def column_shown(self) -> RenderedColumn:
        """The column that the app's keys act on while this page is in front."""
        return self.at.rendered

    def turn_to(self, column_id: str, keep_place: bool = False) -> None:
        """Show this page for the column with this id, if it exists."""
        ids = [one.column.id for one in self.at.columns]
        if column_id in ids and column_id != self.at.column.id:
            self.action_column(ids.index(column_id) - ids.index(self.at.column.id), keep_place)

    @property
    def wants_token_counts(self) -> bool:
        """Tell whether exact token counts are needed now."""
        return self.page == "tokens"

    # -- what is shown

    def _look_again(self) -> None:
        """Update the page after changes by keys such as send and undo."""
        now = self._looked_at(self._step)
        if now.rendered is not self.at.rendered or _ending(now) != self._seen:
            self.at = now
            self._show(keep_place=True)

    def _show(self, keep_place: bool = False) -> None:
        self._seen = _ending(self.at)
        try:
            blocks = self._blocks()
        except Exception as error:  # e.g. of a user's adapter; the other pages still work
            blocks = [block(f"This page failed: {type(error).__name__}: {error}", "error")]
        self._leads_on = any(one.target for one in blocks)
        current = reply_pages.target_of(self.at.column.id) if self.page == "parsers" else ""
        self.text.show(blocks, keep_place=keep_place, current=current)
        adapter = self.at.column.adapter
        is_named = self.at.column.id not in (adapter, catalog.title(adapter))
        where = f" · {one_line(self.at.column.id, 30)}" if is_named else ""
        title = one_line(catalog.title(adapter), 40)
        about = f"{where} · {one_line(self.at.case.plain_words, 40)} · {one_line(self.at.model, 40)}"
        self._head.show(lines((f" {title}", "$text-accent bold"), (about, QUIET)))
        self._heading.show(PAGES[self.page].tab, None, lines((title, "bold"), (about, "$foreground 70%")))
        tabs = [
            TabName(id, f"{number} {name.tab}", short=f"{number} {name.short}" if name.short else "")
            for number, (id, name) in enumerate(PAGES.items(), 1)
        ]
        self._tabs.show(tabs, self.page)
        self._show_hint()

    def show_teacher(self, sign: str) -> None:
        """Show in the last line whether the teacher is followed."""
        self._teacher = sign
        if self.is_mounted:
            self._show_hint()

    def _show_hint(self) -> None:
        hints = ("{pages.before|←}{pages.next|→} pages", "{pages.column|c} next column", "{pages.close|esc} close")
        own = PAGES[self.page].hint
        if own.startswith("{text.choose") and not self._leads_on:
            own = ""
        said = "   ".join([one for one in (*hints, own) if one])
        self._hint.show(Content.assemble(" ", teacher_button(self._teacher), key_hints(self.app, said)))

    def _blocks(self) -> list[Block]:
        if self.page == "request":
            others = written = None
            release = catalog.parse_release(self.at.column.adapter)
            if release is not None and not self._raw:
                others = self._late("other models", request_pages.other_models, f"asking dspy {release.version} …")
            if request_pages.is_by_litellm(self.at):
                make = partial(request_pages.written_by_litellm, json_text_of=self._raw)
                written = self._late(f"request {self._raw}", make, "asking litellm, which sends nothing …")
            return request_pages.request_blocks(self.at, self._raw, others, written)
        if self.page == "diff":
            compared = prompt_pages.others_of(self.at)
            return prompt_pages.difference_blocks(self.at, compared[self._other % len(compared)] if compared else None)
        make_page: Mapping[str, Callable[[LookedAt], list[Block]]] = {
            "card": request_pages.card_blocks,
            "runs": partial(reply_pages.call_blocks, raw=self._raw),
            "parsers": reply_pages.parser_blocks,
            "lints": prompt_pages.lint_blocks,
            "repeats": reply_pages.repeat_blocks,
            "tokens": prompt_pages.token_blocks,
            "stream": partial(reply_pages.stream_blocks, seed=self._cut),
        }
        return make_page[self.page](self.at)

    def _late(self, name: str, make: Callable[[LookedAt], list[Block]], meanwhile: str) -> list[Block]:
        """Return what `make` returned for this column in a thread; until then, show the text `meanwhile`."""
        rendered, found = self._made_late.get(name, (None, []))
        if rendered is self.at.rendered:
            return found
        at = self.at

        async def make_late() -> None:
            self._made_late[name] = (at.rendered, await asyncio.to_thread(make, at))  # may wait for another process
            if self.page == "request" and self.at.rendered is at.rendered:
                self._show(keep_place=True)

        self.run_worker(make_late(), group=name, exclusive=True, exit_on_error=False)
        return paragraph(meanwhile, "note")

    # -- keys

    def action_page(self, page: str) -> None:
        if page != self.page:
            self.page, self._raw, self._cut = page, False, 0
            self._show()

    def action_turn(self, by: int) -> None:
        pages = list(PAGES)
        self.action_page(pages[(pages.index(self.page) + by) % len(pages)])

    def action_column(self, by: int, keep_place: bool = False) -> None:
        self._step += by
        self._other = 0
        self.at = self._looked_at(self._step)
        self._show(keep_place)

    def action_view(self) -> None:
        if self.page in ("request", "runs"):
            self._raw = not self._raw
            self._show()
        elif self.page == "stream":
            self._cut += 1
            self._show()

    def action_other(self) -> None:
        if self.page == "diff":
            self._other += 1
            self._show()

    @work(group="copy", exclusive=True, exit_on_error=False)
    async def action_copy(self, form: str) -> None:
        text = self.text.plain_text
        if self.page == "request" and form != "text":
            request = self.at.rendered.request
            if request is None:
                return
            try:
                text = (
                    await asyncio.to_thread(request_pages.json_of, self.at, request)
                    if form == "json"
                    else await request_pages.curl_of(self.at.session, self.at.column, self.at.case)
                )
            except (CommandError, ProviderError) as error:
                plain_notify(self.app, str(error), severity="warning")
                return
        self.app.copy_to_clipboard(text)
        plain_notify(self.app, f"Copied {len(text):,} characters.", timeout=3)

    @on(TabLine.Chosen)
    def _tab_chosen(self, event: TabLine.Chosen) -> None:
        self.action_page(event.tab)

    @on(TextView.Moved)
    def _moved(self, event: TextView.Moved) -> None:
        """Inspect the column whose reply is at the cursor."""
        if self.page == "parsers":
            self.turn_to(event.target.removeprefix("reply "), keep_place=True)

    @on(TextView.Chosen)
    def _chosen(self, event: TextView.Chosen) -> None:
        kind, _, rest = event.target.partition(" ")
        if kind == "reply":
            self.dismiss(Place("reply", self.at.case.name, field=rest))
        elif kind == "lint":
            self.dismiss(prompt_pages.place_of(self.at, prompt_pages.lints_of(self.at)[int(rest)]))


def _ending(at: LookedAt) -> str:
    """Return a text that changes with the run, its phase and the token counts."""
    run = f"{at.run.number} {at.run.phase}" if at.run is not None else ""
    return f"{run} {[id(ledger) for _, ledger in at.counted.values()]}"

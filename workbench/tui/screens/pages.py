"""A closer look at one column: its adapter's card, true request, runs, other parsers, differences, lints and tokens."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from adapters.formats import catalog
from sessions.running import rendering
from workbench.output.display import one_line
from workbench.output.exit_codes import CommandError
from workbench.state.derived import RenderedColumn
from workbench.state.document import Place
from workbench.tui.keys.bindings import ON_A_PAGE
from workbench.tui.keys.key_words import keys_of
from workbench.tui.pages import attempts, card, differences, lints, parsers, repeats, tokens, true_request
from workbench.tui.pages.looked_at import LookedAt
from workbench.tui.pages.writing import as_json, paragraph
from workbench.tui.textual_internals import row_compositor
from workbench.tui.widgets.heading import Heading
from workbench.tui.widgets.tab_line import TabLine, TabName
from workbench.tui.widgets.text.plain import PlainStatic, lines, plain_notify
from workbench.tui.widgets.text.text_view import Block, TextView, block

_GROUP = Binding.Group("This page")


class PageName(NamedTuple):
    """The page's tab, what else its keys can do, and the tab where there is little room."""

    tab: str
    hint: str = ""
    short: str = ""


PAGES: Mapping[str, PageName] = {
    "card": PageName("Card"),
    "request": PageName(
        "Request",
        "{pages.view|v} as JSON   {pages.copy|y} copy text   {pages.copy_json|Y} copy JSON   "
        "{pages.copy_curl|u} copy curl",
    ),
    "runs": PageName("Calls", "{pages.view|v} raw   {pages.copy|y} copy"),
    "parsers": PageName("Reply × parser", "{text.choose|enter} to the reply", "Parsers"),
    "diff": PageName("Differences", "{pages.other|o} compare with another   {pages.copy|y} copy"),
    "lints": PageName("Lint", "{text.choose|enter} to its place"),
    "repeats": PageName("Repeats"),
    "tokens": PageName("Tokens", "{pages.copy|y} copy"),
}

LOOK_AGAIN_SECONDS = 0.3


class PagesScreen(Screen[Place | None]):
    """`look` gives the column with this id as it is now, or the next or previous one. Returns a place to go to."""

    HELP = """\
## A closer look

**Card**: what the adapter is, when to use it, and its last run as five steps. **Request**: what goes out beside the
messages, and what other models would get. **Calls**: every call of the last run, hidden ones too. **Reply × parser**:
which parser reads which column's reply. **Differences**: this prompt against another's, or against what was recorded.
**Lint**: what does not reach the model as one would think; `{text.choose|enter}` leads to its place. **Repeats**:
several runs of the same request, equal values counted. **Tokens**: where those of the request go, and their price.
"""
    APP_ACTIONS: ClassVar[frozenset[str]] = ON_A_PAGE
    BINDING_GROUP_TITLE = "A closer look"
    BINDINGS: ClassVar[list[BindingType]] = [
        *[
            Binding(
                str(number),
                f"page('{id}')",
                name.tab,
                show=False,
                id=f"pages.{id}",
                tooltip=f"The page {name.tab}",
                group=_GROUP,
            )
            for number, (id, name) in enumerate(PAGES.items(), 1)
        ],
        Binding("right,l", "turn(1)", "Next page", id="pages.next", tooltip="The page to the right", group=_GROUP),
        Binding("left,h", "turn(-1)", "Page before", id="pages.before", tooltip="The page to the left", group=_GROUP),
        Binding(
            "c,tab",
            "column(1)",
            "Next column",
            id="pages.column",
            tooltip="The same page of the next column",
            group=_GROUP,
        ),
        Binding(
            "shift+tab",
            "column(-1)",
            "Column before",
            id="pages.column_before",
            tooltip="The column before",
            group=_GROUP,
        ),
        Binding(
            "v",
            "view",
            "Raw",
            id="pages.view",
            tooltip="The request as JSON, or a run's raw payload; and back",
            group=_GROUP,
        ),
        Binding(
            "o",
            "other",
            "Compare with",
            id="pages.other",
            tooltip="Compare with another column or the recording",
            group=_GROUP,
        ),
        Binding("y", "copy('text')", "Copy", id="pages.copy", tooltip="Copy the text of this page", group=_GROUP),
        Binding(
            "Y", "copy('json')", "Copy JSON", id="pages.copy_json", tooltip="Copy the request as JSON", group=_GROUP
        ),
        Binding(
            "u",
            "copy('curl')",
            "Copy curl",
            id="pages.copy_curl",
            tooltip="Copy the request as a curl command",
            group=_GROUP,
        ),
        Binding("escape,q", "dismiss(None)", "Close", id="pages.close", tooltip="Back to the prompts", group=_GROUP),
    ]

    def __init__(self, looked_at: Callable[[int], LookedAt], page: str = "card") -> None:
        super().__init__()
        row_compositor.paint_by_rows(self)
        self._looked_at = looked_at
        self._page = page
        self._step = 0
        self._raw = False
        self._other = 0
        self.at = looked_at(0)
        self._by_release: tuple[RenderedColumn | None, list[Block]] = (None, [])
        """A column of another release, and what it sends to other models."""
        self._seen = self._teacher = ""
        self._head = PlainStatic(id="pages-head")
        self._heading = Heading(id="pages-heading")
        self._tabs = TabLine(id="pages-tabs")
        self._text = TextView(id="pages-text")
        self._hint = PlainStatic(id="pages-hint")

    def compose(self) -> ComposeResult:
        yield self._head
        yield self._heading
        yield self._tabs
        yield self._text
        yield self._hint

    def on_mount(self) -> None:
        self._tabs.can_focus = False
        self._text.focus()
        self._show()
        self.set_interval(LOOK_AGAIN_SECONDS, self._look_again)

    @property
    def column_shown(self) -> RenderedColumn:
        """The column that keys about one column mean while this page is in front."""
        return self.at.rendered

    @property
    def page(self) -> str:
        """Which of `PAGES` is open."""
        return self._page

    @property
    def text(self) -> TextView:
        """What is scrolled."""
        return self._text

    def turn_to(self, column_id: str) -> None:
        """The same page of this column, if there is one with this id."""
        ids = [one.column.id for one in self.at.columns]
        if column_id in ids and column_id != self.at.column.id:
            self.action_column(ids.index(column_id) - ids.index(self.at.column.id))

    @property
    def wants_token_counts(self) -> bool:
        """Whether somebody looks at where the tokens go, which the app asks of what is in front."""
        return self._page == "tokens"

    # -- what is shown

    def _look_again(self) -> None:
        """Keys that work everywhere (send, undo) change what the page is about while it is open."""
        now = self._looked_at(self._step)
        if now.rendered is not self.at.rendered or _ending(now) != self._seen:
            self.at = now
            self._show(keep_place=True)

    def _show(self, keep_place: bool = False) -> None:
        self._seen = _ending(self.at)
        try:
            blocks = self._blocks()
        except Exception as error:  # e.g. a user's own adapter: the page says so, and the others still open
            blocks = [block(f"This page cannot be made: {type(error).__name__}: {error}", "error")]
        current = parsers.target_of(self.at.column.id) if self._page == "parsers" else ""
        self._text.show(blocks, keep_place=keep_place, current=current)
        adapter = self.at.column.adapter
        where = (
            f" · {one_line(self.at.column.id, 30)}"
            if self.at.column.id not in (adapter, catalog.title(adapter))
            else ""
        )
        title = one_line(catalog.title(adapter), 40)
        about = f"{where} · {one_line(self.at.case.in_words, 40)} · {one_line(self.at.model, 40)}"
        self._head.show(lines((f" {title}", "$text-accent bold"), (about, "$foreground 60%")))
        self._heading.show(PAGES[self._page].tab, None, lines((title, "bold"), (about, "$foreground 70%")))
        tabs = [
            TabName(id, f"{number} {name.tab}", short=f"{number} {name.short}" if name.short else "")
            for number, (id, name) in enumerate(PAGES.items(), 1)
        ]
        self._tabs.show(tabs, self._page)
        self._show_hint()

    def show_teacher(self, sign: str) -> None:
        """Whether the teacher of a class is followed, in the last line."""
        self._teacher = sign
        if self.is_mounted:
            self._show_hint()

    def _show_hint(self) -> None:
        own = f"   {PAGES[self._page].hint}" if PAGES[self._page].hint else ""
        hint = f" ←→ pages   {{pages.column|c}} next column{own}   {{pages.close|esc}} closes"
        following = f" {self._teacher}  " if self._teacher else ""
        self._hint.show(lines((following, "$text-accent bold"), (keys_of(self.app)(hint), "$foreground 60%")))

    def _blocks(self) -> list[Block]:
        if self._page == "request":
            return true_request.blocks_of(self.at, self._raw, self._others_by_release())
        if self._page == "runs":
            return attempts.blocks_of(self.at, self._raw)
        if self._page == "repeats":
            return repeats.blocks_of(self.at)
        if self._page == "tokens":
            return tokens.blocks_of(self.at)
        if self._page == "parsers":
            return parsers.blocks_of(self.at)
        if self._page == "diff":
            others = differences.others_of(self.at)
            return differences.blocks_of(self.at, others[self._other % len(others)] if others else None)
        return lints.blocks_of(self.at) if self._page == "lints" else card.blocks_of(self.at)

    def _others_by_release(self) -> list[Block] | None:
        """What a column of another release sends to other models, or that it is asked; None for a column of ours."""
        release = catalog.of_release(self.at.column.adapter)
        if release is None:
            return None
        rendered, found = self._by_release
        if rendered is self.at.rendered:
            return found
        if not self._raw:
            self.run_worker(self._ask_for_others(self.at), group="other models", exclusive=True, exit_on_error=False)
        return paragraph(f"dspy {release.version} is asked …", "note")

    async def _ask_for_others(self, at: LookedAt) -> None:
        """Away from the keys: its process may be starting, or stuck."""
        found = await asyncio.to_thread(true_request.other_models, at)
        self._by_release = (at.rendered, found)
        if self._page == "request" and self.at.rendered is at.rendered:
            self._show(keep_place=True)

    # -- keys

    def action_page(self, page: str) -> None:
        if page != self._page:
            self._page, self._raw = page, False
            self._show()

    def action_turn(self, by: int) -> None:
        pages = list(PAGES)
        self.action_page(pages[(pages.index(self._page) + by) % len(pages)])

    def action_column(self, by: int) -> None:
        self._step += by
        self._other = 0
        self.at = self._looked_at(self._step)
        self._show()

    def action_view(self) -> None:
        if self._page in ("request", "runs"):
            self._raw = not self._raw
            self._show()

    def action_other(self) -> None:
        if self._page == "diff":
            self._other += 1
            self._show()

    def action_copy(self, form: str) -> None:
        self.run_worker(self._copy(form), group="copy", exclusive=True, exit_on_error=False)

    async def _copy(self, form: str) -> None:
        text = self._text.plain_text
        if self._page == "request" and form != "text":
            request = self.at.rendered.request
            if request is None:
                return
            try:
                text = (
                    as_json(rendering.body_of(self.at.session, self.at.column, request))
                    if form == "json"
                    else await true_request.curl_of(self.at.session, self.at.column, self.at.case)
                )
            except CommandError as error:
                plain_notify(self.app, str(error), severity="warning")
                return
        self.app.copy_to_clipboard(text)
        plain_notify(self.app, f"Copied {len(text):,} characters.", timeout=3)

    @on(TabLine.Chosen)
    def _tab_chosen(self, event: TabLine.Chosen) -> None:
        self.action_page(event.tab)

    @on(TextView.Moved)
    def _moved(self, event: TextView.Moved) -> None:
        """The page of replies is about the column whose reply the cursor is on."""
        if self._page != "parsers":
            return
        ids = [one.column.id for one in self.at.columns]
        wanted = next((id for id in ids if parsers.target_of(id) == event.target), None)
        if wanted is not None and wanted != self.at.column.id:
            self._step += ids.index(wanted) - ids.index(self.at.column.id)
            self.at = self._looked_at(self._step)
            self._show(keep_place=True)

    @on(TextView.Chosen)
    def _chosen(self, event: TextView.Chosen) -> None:
        kind, _, rest = event.target.partition(" ")
        if kind == "reply":
            self.dismiss(Place("reply", self.at.case.name, field=rest))
        elif kind == "lint":
            self.dismiss(lints.place_of(self.at, lints.lints_of(self.at)[int(rest)]))


def _ending(at: LookedAt) -> str:
    """Which run of the column is meant, how far it is, and which counts of tokens have come."""
    run = f"{at.run.number} {at.run.phase}" if at.run is not None else ""
    return f"{run} {[id(ledger) for _, ledger in at.counted.values()]}"

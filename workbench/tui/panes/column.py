"""A column: an adapter's prompt, with the reply and its parse result below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from textual import events, on
from textual.containers import Vertical
from textual.content import Content
from textual.timer import Timer

from adapters.formats import catalog
from adapters.requests.token_estimates import Estimates
from adapters.signatures.type_names import written
from sessions.model.session import Column
from workbench.output.display import one_line
from workbench.state.document import RenderedColumn
from workbench.tui.keys import keys_of
from workbench.tui.panes.verdicts import Verdict, adds_step, has_come, is_of_before, says_why, short_form, verdict
from workbench.tui.runs import replies
from workbench.tui.runs.late_work import told_by_provider
from workbench.tui.runs.runs import ColumnRun
from workbench.tui.textual_internals.access import put_border_title
from workbench.tui.widgets.prompt.prompt_section import Origin
from workbench.tui.widgets.prompt.prompt_view import PromptView
from workbench.tui.widgets.reply.field_table import FieldTable, ReplyAndValues
from workbench.tui.widgets.reply.reply_view import ReplyView
from workbench.tui.widgets.splitter import Splitter
from workbench.tui.widgets.text.plain import QUIET, content, key_hints, lines, press_button

if TYPE_CHECKING:
    from adapters.requests.request import Request
    from adapters.requests.token_ledger import Ledger
    from adapters.signatures.signature import Signature

WIDTH_OF_WORDS = 40
LONGEST_NAME = 120
MOST_EXPECTED = 6
"""Fields named where a reply will appear; more of them would take the rows of the prompt."""
ROWS_OF_SPLITTER = 1
NO_PROMPT = "The prompt appears here as soon as there is a signature."
DRIFTED = "≠ recorded"
AS_DSPY = "as dspy 3.4.1"
"""The mark of adapters that reproduce dspy, with the release they reproduce."""
NOT_TRACED = "not traced"
"""The origin shown for text from another release."""
ASKED_FOR = "asking its dspy release …"
LONG_WAIT_S = 0.15
"""Seconds after which a waiting column is dimmed.

Its title shows the wait at once; repainting all rows would delay other columns.
"""

PROMPT_KEYS = "{prompt.choose|enter} edit  {prompt.quiet|o} fold  {prompt.form|v} raw"
REPLY_KEYS = "edit to parse again  tab values"
FIELDS_KEYS = "{fields.open|enter} steps  {fields.in_reply|r} edit"


class ColumnPane(Vertical):
    BINDING_GROUP_TITLE = "Column"

    def __init__(self, column_id: str) -> None:
        super().__init__(classes="column")
        self.column_id = column_id
        self._shown: tuple[RenderedColumn, ColumnRun | None] | None = None
        self._model: str | None = None
        self._expected: tuple[Signature | None, bool] | None = None
        self._was_running = False
        self._streamed: tuple[int, int, int, bool] | None = None
        self._has_drifted = False
        self._whose = self._adds = ""
        self._title = Content("")
        self.prompt = PromptView(column_id)
        self.splitter = Splitter("horizontal")
        self.reply = ReplyView(column_id)
        self.fields = FieldTable()
        self.answer = ReplyAndValues(self.reply, self.fields)
        self._percent_of_prompt = 50.0
        self._tokens = Estimates()
        self.counted: tuple[Request, Ledger] | None = None
        """The last counted request, with its tokens by origin."""
        self._wait: Timer | None = None
        self._has_waited_long = False
        self._prompt_shown: tuple[object, ...] = ()

    def frame(self, column: Column) -> None:
        """Show only the title; the first `show` mounts the contents."""
        put_border_title(self, self._title_of(RenderedColumn(column), None))

    def show(self, rendered: RenderedColumn, run: ColumnRun | None, model: str | None) -> None:
        """Show the column; `model` is the column's own model, if any."""
        if not self.children:
            self.mount_all([self.prompt, self.splitter, self.answer])
        self._shown = (rendered, run)
        # Dim the prompt after a noticeable wait for another process
        is_waiting = rendered.late is not None
        if is_waiting and self._wait is None:
            self._wait = self.set_timer(LONG_WAIT_S, self._dim)
        elif not is_waiting and self._wait is not None:
            self._wait.stop()
            self._wait, self._has_waited_long = None, False
        self._show_prompt(rendered)
        self._model = model
        self._show_title()
        if run is None or run.phase != "running":
            self.reply.remove_class("-thinking")
            self.reply.show(rendered.text, rendered.reading)
            signature = rendered.request.signature if rendered.request is not None else None
            expected = signature, rendered.reply is not None
            if not rendered.text and expected != self._expected:
                self._expected = expected
                self.reply.placeholder = _expected(*expected)
            reading = None if is_of_before(rendered, run) else rendered.reading
            self.fields.show(reading, error=self._error(rendered, run))
            self._arrange_answer()
            if run is not None and self._was_running:
                self.reply.move_cursor((0, 0))
                self.call_after_refresh(self.reply.scroll_home, animate=False)
        self._was_running = run is not None and run.phase == "running"
        self.show_verdict(0.0)

    def _show_prompt(self, rendered: RenderedColumn) -> None:
        is_dim = rendered.stale and (rendered.late is None or self._has_waited_long)
        self.set_class(is_dim, "-stale")
        shown = (rendered.request, rendered.error, is_dim, rendered.late is None)
        if shown == self._prompt_shown:
            return
        self._prompt_shown = shown
        prompt = rendered.request.prompt if rendered.request is not None else None
        hint = "" if prompt is not None or rendered.error else ASKED_FOR if rendered.late else NO_PROMPT
        self.prompt.show(prompt, stale=is_dim, error=rendered.error, hint=hint)

    def _dim(self) -> None:
        self._has_waited_long = True
        if self._shown is not None:
            self._show_prompt(self._shown[0])

    def can_wait(self, rendered: RenderedColumn, run: ColumnRun | None) -> bool:
        """Return whether the update changes only the prompt and parse result, so that it can be delayed."""
        if self._was_running or (run is not None and run.phase == "running"):
            return False
        if self._shown is None:  # only the title is there yet
            return run is None
        before, last_run = self._shown
        return run is last_run and rendered.reply is before.reply and rendered.column is before.column

    def stream(self) -> None:
        """Show the reply received so far; before its first word, show the model's reasoning, dimmed."""
        run = self._shown[1] if self._shown is not None else None
        if run is None or run.phase != "running":
            return
        arrived = run.text or run.progress.reasoning
        if not arrived:
            return
        call = (run.number, run.progress.number, run.progress.shown, bool(run.text))
        if call != self._streamed:
            self._streamed = call
            self.reply.set_class(not run.text, "-thinking")
            request = self._shown[0].request if self._shown is not None and run.text else None
            fields = () if request is None else tuple(request.signature.output_fields)
            self.reply.begin_stream(catalog.profile(self._adapter).reply if fields else "own", fields)
            self.fields.show(None)
        new = arrived[len(self.reply.raw) :]
        if new:
            self.reply.append(new)

    @on(FieldTable.Pointed)
    def _bring_into_sight(self, event: FieldTable.Pointed) -> None:
        """Scroll the reply to the field at the table's cursor; if chosen, select its text for editing."""
        event.stop()
        place = self.reply.place_of(event.field)
        if place is None or self.reply.read_only:
            return
        self.reply.select_text(place[0], place[1] if event.chosen else place[0])
        if event.chosen:
            self.reply.focus()

    def show_verdict(self, now: float) -> None:
        """Show the verdict between prompt and reply; `now` is the clock of active runs."""
        if self._shown is None:
            return
        keys = keys_of(self.app)
        line = verdict(*self._shown, now, keys)
        run = self._shown[1]
        if run is None or run.phase != "running":
            if self.reply.is_old:
                again = keys(" · {app.send_all|F5} again")
                line = lines(("old ", "$text-warning"), line, (again, QUIET))
            else:
                line = lines(line, (adds_step(self._shown[0], keys), QUIET))
        self.splitter.show(line + replies.rating_words(self._shown[0].reply))

    def say_whose(self, is_first_of_dspys: bool, is_last: bool) -> None:
        """Show the adapter's release on the lower edge, and in the last column the key that adds one."""
        release = catalog.parse_release(self._adapter)
        said = "" if catalog.dspy_class(self._adapter) is not None else "not an adapter of dspy's"
        said = AS_DSPY if is_first_of_dspys else said
        self._whose = said if release is None else f"by dspy {release.version} itself"
        self._adds = "{app.add_column|alt+c} adds a column" if is_last else ""
        self._show_edge()

    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def _show_edge(self) -> None:
        """Show the focused part's keys on the lower edge, and the release if there is room."""
        parts = {self.prompt: PROMPT_KEYS, self.reply: REPLY_KEYS, self.fields: FIELDS_KEYS}
        shown = next((said for part, said in parts.items() if part.has_focus), "")
        if shown is REPLY_KEYS and not self.reply.raw:
            shown = ""
        edge = content("")
        for one in (shown, self._whose, self._adds):
            part = key_hints(self.app, one, "")
            if one and (not edge or edge.cell_length + part.cell_length + 8 < self.size.width):
                edge = Content(" ── ").join([edge, part]) if edge else part
        put_border_title(self, edge, is_below=True)

    def on_click(self, event: events.Click) -> None:
        press_button(self, event)

    def mark_outdated(self, is_outdated: bool) -> None:
        """Mark that the prompt changed since the reply; `F7`, `5` shows the difference."""
        if is_outdated != self.reply.is_old:
            self.reply.is_old = is_outdated
            self.show_verdict(0.0)
            self._show_title()

    def mark_drifted(self, has_drifted: bool) -> None:
        """Mark that the prompt or parse result differs from the recording; `F9` shows the difference."""
        if has_drifted != self._has_drifted:
            self._has_drifted = has_drifted
            self._show_title()

    def show_count(self, request: Request, ledger: Ledger) -> None:
        """Show the exact token count of a request."""
        self.counted = (request, ledger)
        self._show_title()

    def name_origin(self, key: Origin | None) -> None:
        """Show the origin at the pointer in the title; None restores the title."""
        if key is None:
            put_border_title(self, self._title)
            return
        kind, field, turn = key
        if kind == "custom" and catalog.parse_release(self._adapter) is not None:
            kind = NOT_TRACED
        adapter = catalog.title(self._adapter)
        origin = " · ".join(part for part in (kind, field, turn) if part)
        put_border_title(self, lines((f"{adapter} ▸ ", "bold"), (origin, "$text-accent")))

    @on(events.Resize)
    def _show_title(self) -> None:
        title = self._title_of(self._shown[0], self._model) if self._shown is not None else self._title
        if not title.is_same(self._title):
            self._title = title
            put_border_title(self, title)

    def split(self, share: float) -> None:
        """Set the prompt's share of the height; reply and table get the rest."""
        self._percent_of_prompt = round(share * 100 + 0.001, 3)  # slightly more, so that rounding loses no row
        self.prompt.styles.height = f"{self._percent_of_prompt}%" if self.answer.display else "1fr"
        self._arrange_answer()

    def _arrange_answer(self) -> None:
        height = self.content_size.height
        of_prompt = int(height * self._percent_of_prompt / 100) if self.prompt.display else 0
        self.answer.place(height - of_prompt - ROWS_OF_SPLITTER)

    def show_part(self, part: Literal["prompt", "reply"] | None) -> None:
        """Show only the prompt, or only the reply with its table; None shows both."""
        self.prompt.display = part != "reply"
        # Textual does not notify widgets that their container was hidden.
        self.splitter.display = self.answer.display = part != "prompt"
        self.reply.display = self.fields.display = part != "prompt"

    def verdict_of(self, newer: tuple[RenderedColumn, ColumnRun | None] | None = None) -> Verdict:
        """Return a short verdict on the shown reply, or on a `newer` reply."""
        rendered, run = newer or self._shown or (RenderedColumn(Column(self.column_id, self._adapter)), None)
        title, own = catalog.title(rendered.column.adapter), _own_name(rendered.column)
        name = own if own.lower().startswith(title.lower()) else f"{title} {own}".strip()
        said = short_form(name, rendered, run, self.reply.is_old)
        if not self._has_drifted:
            return said
        # drift comes first, because words are cut at the end
        tone = "warning" if said.tone == "success" else said.tone
        brief = f"{DRIFTED} · {said.brief}" if said.brief else ""
        return said._replace(words=f"{DRIFTED} · {said.words}", brief=brief, tone=tone, matters=True)

    @property
    def rendered(self) -> RenderedColumn | None:
        return self._shown[0] if self._shown is not None else None

    @property
    def _adapter(self) -> str:
        return self._shown[0].column.adapter if self._shown is not None else self.column_id

    def _title_of(self, rendered: RenderedColumn, model: str | None) -> Content:
        adapter = rendered.column.adapter
        is_known = adapter in catalog.OURS or catalog.parse_release(adapter) is not None
        known = catalog.title(adapter) if is_known else None
        own = _own_name(rendered.column)
        parts: list[tuple[str, str] | str] = [(known or adapter, "bold")]
        if known and own:
            parts.append((f" · {own}" if own != rendered.column.id else f" {own}", ""))
        if rendered.stale:
            parts.append((" · stale", "$text-warning bold"))
        if self._has_drifted:
            parts.append((f" · {DRIFTED}", "$text-warning bold"))
        if rendered.left_out:
            parts.append((" · ⚠ stale variant", "$text-warning bold"))
        if model and not own.endswith(model):
            parts.append((f" · {model}", QUIET))
        if (request := rendered.request) is not None:
            # the exact count of this prompt, from tokenizer or provider, else an estimate marked `~`
            counted, ledger = self.counted or (None, None)
            run = self._shown[1] if self._shown is not None else None
            told = told_by_provider(run)
            if counted is not None and ledger is not None and ledger.exact and counted.counts_the_same(request):
                tokens = _short(ledger.tokens)
            elif told is not None and run is not None and run.model == request.model and not self.reply.is_old:
                tokens = _short(told)
            else:
                tokens = f"~{_short(self._tokens.total(request.messages, request.params))}"
            count = f" · {tokens}"
            worded = f"{count} tok" if self.size.width >= WIDTH_OF_WORDS else count
            room = self.size.width - 4 - lines(*parts).cell_length
            # a cut count would be another number
            parts += [(one, QUIET) for one in (worded, count) if len(one) <= room][:1]
        return lines(*parts)

    def _error(self, rendered: RenderedColumn, run: ColumnRun | None) -> str:
        if run is None or not says_why(rendered, run):
            return rendered.reading_error
        said = [run.error]
        if has_come(run.payload):
            said.append(keys_of(self.app)("{app.look|F7}, {pages.runs|3}, {pages.view|v}: the provider's payload"))
        if is_of_before(rendered, run) and rendered.reply is not None:
            of = rendered.reply.model
            said.append(f"The reply above is an earlier reply{f' of {one_line(str(of), 40)}' if of else ''}.")
        return "\n".join(said)


def _own_name(column: Column) -> str:
    """Return the column's name without its adapter, such as `mini` for `json · mini`, or ""."""
    if column.id in (column.adapter, catalog.title(column.adapter)):
        return ""
    return one_line(column.id.removeprefix(f"{column.adapter} · "), LONGEST_NAME)


def _expected(signature: Signature | None, is_empty: bool) -> Content:
    """List the fields expected in a reply; `is_empty`: a reply has come, and has no text."""
    if signature is None or is_empty:
        return content("The reply has no text. Send again, or paste a reply here." if is_empty else "", QUIET)
    said: list[tuple[str, str] | str] = [("Extracted values: ", QUIET)]
    outputs = list(signature.output_fields.values())
    for place, one in enumerate(outputs[:MOST_EXPECTED]):
        kind = one_line(written(one.annotation), 40)
        said += [(", ", QUIET)] if place else []
        said += [(one.name, "$text-primary bold"), (f" {kind}", QUIET)]
    more = len(outputs) - MOST_EXPECTED
    said += [(f", and {more} more", QUIET)] if more > 0 else []
    return lines(*said, ("\nSend, or paste a reply here: it is parsed as you type, without a call", QUIET))


def _short(count: int) -> str:
    return str(count) if count < 1000 else f"{count / 1000:.1f}k"

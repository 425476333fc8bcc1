"""Show the lesson (F6): how a prompt is built, then how its reply is parsed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.style import Style

from adapters.formats import catalog
from adapters.prompts.text import DataPart, Prompt
from sessions.running import rendering
from workbench.lessons import lesson, reply_lesson
from workbench.lessons.reply_lesson import ReplyStep
from workbench.output import json_shapes, measures
from workbench.output.display import one_line
from workbench.state.document import RenderedColumn
from workbench.tui.keys import ON_A_LESSON, keys_of, pane_keys
from workbench.tui.screens import FrontScreen
from workbench.tui.widgets.heading import Heading, Mark
from workbench.tui.widgets.text.plain import QUIET, PlainStatic, key_hints, lines, plain_notify, teacher_button
from workbench.tui.widgets.text.text_view import EMPTY, Block, Light, Piece, TextView, block

BESIDE = 100
"""The width in cells from which the explanation is to the right of the text, else below it."""
LONGEST_FACT = 400
MOST_FACTS = 30
NEIGHBOURS = 9
"""The number of listed steps, with the current step in the middle."""

NO_REPLY = (
    "No parsed reply yet. Close the lesson and send ({app.send_all|F5}); opened again, it explains the reply, too."
)

DONE, NOW, TO_COME = ("•", "$foreground 75%"), ("▶", "$text-accent bold"), ("·", "$foreground 45%")
SIGNS = {"⚠": "$text-warning bold", "✗": "$text-error bold"}

Step = lesson.LessonStep | ReplyStep


class LessonScreen(FrontScreen[None]):
    """A lesson on `columns`, starting at step `at` of the column at `index` (both 0-based)."""

    APP_ACTIONS = ON_A_LESSON
    BINDING_GROUP_TITLE = "Lesson"
    BINDINGS = pane_keys(
        "Lesson",
        ("right,space,n,l", "step(1)", "Next", "lesson.next", "Show the next piece", True),
        ("left,backspace,p,h", "step(-1)", "Back", "lesson.back", "Show the previous piece", True),
        ("home", "step(-1000000)", "Start", "lesson.first", "Show the first piece", True),
        ("end", "step(1000000)", "End", "lesson.last", "Show the last piece", True),
        ("r", "reply", "Reply", "lesson.reply", "Go to the reply, or back to the prompt"),
        ("c,tab", "column(1)", "Next adapter", "lesson.column", "Explain the next column"),
        ("shift+tab", "column(-1)", "Adapter before", "lesson.column_before", "Explain the previous column"),
        ("shift+down,J", "words(3)", "Words down", "lesson.down", "Scroll the explanation"),
        ("shift+up,K", "words(-3)", "Words up", "lesson.up", "Scroll the explanation back"),
        ("escape,q,f6", "dismiss(None)", "Close", "lesson.close", "Close the lesson"),
    )

    class Stepped(Message):
        """The user went to another step or column."""

    def __init__(self, columns: Sequence[RenderedColumn], index: int = 0, at: int = 0) -> None:
        super().__init__()
        self.HORIZONTAL_BREAKPOINTS = [(0, "-under"), (BESIDE, "-beside")]
        self._columns = tuple(columns)
        self._index = index
        self.at = at
        """The current step (0-based)."""
        self._teacher = ""
        self._prompt_steps: tuple[lesson.LessonStep, ...] = ()
        self._reply_steps: tuple[ReplyStep, ...] = ()
        self._head = PlainStatic(id="lesson-head")
        self._heading = Heading(id="lesson-heading")
        self.text = TextView(id="lesson-text")
        self._title = PlainStatic(id="lesson-title")
        self._words = PlainStatic(id="lesson-words")
        self._list = PlainStatic(id="lesson-list")
        self._hint = PlainStatic(id="lesson-hint")

    def compose(self) -> ComposeResult:
        yield self._head
        yield self._heading
        with Horizontal(id="lesson-body"):
            yield self.text
            with Vertical(id="lesson-aside"):
                with VerticalScroll(id="lesson-scroll", can_focus=False):
                    yield self._title
                    yield self._words
                yield self._list
        yield self._hint

    def on_mount(self) -> None:
        self.text.focus()
        self._take_column()

    # -- the current step

    @property
    def rendered(self) -> RenderedColumn:
        return self._columns[self._index]

    @property
    def is_at_reply(self) -> bool:
        return self.at >= len(self._prompt_steps) > 0

    def has_reply(self, column_id: str) -> bool:
        """Return whether the lesson explains the reply of a column; True for a column that it does not have."""
        return all(one.reading is not None for one in self._columns if one.column.id == column_id)

    def go_to(self, column_id: str, step: int) -> None:
        """Show a step (0-based) of a column; an unknown id keeps the current column."""
        ids = [one.column.id for one in self._columns]
        if column_id in ids and column_id != self.rendered.column.id:
            self._index = ids.index(column_id)
            self._take_column()
        self._go(step)

    @property
    def steps(self) -> tuple[Step, ...]:
        return (*self._prompt_steps, *self._reply_steps)

    def _take_column(self) -> None:
        rendered = self.rendered
        self._prompt_steps = ()
        if rendered.request is not None:
            self._prompt_steps = lesson.steps_of(
                rendering.adapter_of(rendered.column, allow_code=True), rendered.request
            )
        self._reply_steps = reply_lesson.steps_of(rendered.reading) if rendered.reading is not None else ()
        self.at = min(self.at, max(0, len(self.steps) - 1))
        self._show()

    def _show(self) -> None:
        steps = self.steps
        if not steps:
            self._words.show(lines(("Nothing to explain yet: this column has no prompt.", "$text-warning")))
            return
        step = steps[self.at]
        if isinstance(step, ReplyStep):
            self.text.show(reply_with(step))
        elif self.rendered.request is not None:
            self.text.show(prompt_so_far(self.rendered.request.prompt, self._prompt_steps, self.at))
        self.text.show_lit()
        self._head.show(self._header(step))
        self._heading.show(step.title, Mark("", f"{self.at + 1}/{len(steps)}", ""), self._header(step))
        self._title.show(lines(step.title))
        words: list[tuple[str, str] | str] = [(step.explanation, "")]
        if isinstance(step, ReplyStep) and step.facts:
            words.append("\n")
            for label, text in step.facts[:MOST_FACTS]:
                words += [(f"\n{label}  ", SIGNS.get(label, "$text-primary bold")), one_line(text, LONGEST_FACT)]
        if self.at + 1 == len(steps) and not self._reply_steps:
            words.append((f"\n\n{keys_of(self.app)(NO_REPLY)}", QUIET))
        self._words.show(lines(*words))
        self.query_one("#lesson-scroll", VerticalScroll).scroll_home(animate=False)
        first = max(0, min(self.at - NEIGHBOURS // 2, len(steps) - NEIGHBOURS))
        parts: list[Content] = []
        for index, one in list(enumerate(steps))[first : first + NEIGHBOURS]:
            if index == len(self._prompt_steps):
                parts.append(lines(("── the reply\n", "$foreground 40%")))
            sign, style = DONE if index < self.at else NOW if index == self.at else TO_COME
            title = lines((f"{sign} {one_line(one.title, 34)}\n", style))
            parts.append(title.stylize(Style.from_meta({"step": index})))
        self._list.show(Content.assemble(*parts))
        self._hint.show(self._hints())

    def _header(self, step: Step) -> Content:
        name = catalog.title(self.rendered.column.adapter)
        part = "reply" if isinstance(step, ReplyStep) else "prompt"
        count, place = len(self.steps), self.at + 1
        width = max(8, min(40, self.size.width - 60))
        done = round(width * place / count)
        bar = lines(("━" * done, "$text-accent"), ("─" * (width - done), "$foreground 25%"))
        for index in range(count):  # a click on it goes to the step, even if the list is hidden
            start, end = round(width * index / count), round(width * (index + 1) / count)
            bar = bar.stylize(Style.from_meta({"step": index}), start, end)
        return lines(
            (" Lesson ", "$text-accent bold"),
            (f" {one_line(name, 30)}", "bold"),
            (f" · its {part}", "$foreground 70%"),
            (f"   {place} of {count}  ", "$foreground 70%"),
            bar,
        )

    def on_click(self, event: events.Click) -> None:
        step = event.style.meta.get("step")
        if isinstance(step, int):
            self.action_step(step - self.at)

    def show_teacher(self, sign: str) -> None:
        """Show in the last line whether the teacher is followed."""
        self._teacher = sign
        if self.is_mounted:
            self._hint.show(self._hints())

    def _hints(self) -> Content:
        other = "prompt" if self.at >= len(self._prompt_steps) else "reply" if self._reply_steps else ""
        other = f"{{lesson.reply|r}} {other}" if other else ""
        more = "{lesson.column|c} next adapter" if len(self._columns) > 1 else ""
        next = "{lesson.next|→} next" if self.at + 1 < len(self.steps) else ""
        back = "{lesson.back|←} back" if self.at else ""
        shown = Content.assemble(" ", teacher_button(self._teacher))
        for hint in filter(None, (next, back, "{lesson.close|esc} close", other, more, "↑↓ scroll", "⇧↑↓ explanation")):
            longer = Content.assemble(shown, key_hints(self.app, hint), "   ")
            if longer.cell_length - 3 > self.size.width - self._hint.gutter.width:
                break  # a hint cut in the middle says nothing
            shown = longer
        return shown.rstrip()

    # -- keys

    def action_step(self, by: int) -> None:
        self._go(self.at + by)
        self.post_message(self.Stepped())

    def action_reply(self) -> None:
        """Go to the start of the reply, or back to the start of the prompt."""
        start = len(self._prompt_steps)
        if self._reply_steps:
            self.action_step((start if self.at < start else 0) - self.at)
        else:
            plain_notify(self.app, keys_of(self.app)(NO_REPLY), severity="warning")

    def action_words(self, by: int) -> None:
        self.query_one("#lesson-scroll", VerticalScroll).scroll_relative(y=by, animate=False, force=True)

    def action_column(self, by: int) -> None:
        self._index = (self._index + by) % len(self._columns)
        self._take_column()
        self.post_message(self.Stepped())

    def _go(self, to: int) -> None:
        to = max(0, min(to, len(self.steps) - 1))
        if to != self.at:
            self.at = to
            self._show()


EARLIER_STEPS = 60
"""The number of earlier steps shown, limited so that long prompts stay fast."""
LONGEST_EXTRA = 600


def prompt_so_far(prompt: Prompt, steps: Sequence[lesson.LessonStep], at: int) -> list[Block]:
    """Show the prompt up to step `at`, with the pieces of that step highlighted."""
    first = max(0, at - EARLIER_STEPS)
    blocks: list[Block] = []
    last: int | None = None
    if first:
        blocks += [block(f"… {first} steps before", "note"), EMPTY]
    for number in range(first, at + 1):
        light: Light = "lit" if number == at else "faint"
        for piece in steps[number].pieces:
            message = prompt.messages[piece.message]
            continues = piece.message == last
            if not continues:
                blocks += [EMPTY] if blocks else []
                turn = "" if message.turn == message.role else f" · {message.turn}"
                title = Piece(message.role + turn, "heading", "" if number == at else "faint")
                blocks.append(Block((title,)))
                if message.extra:
                    extra = one_line(json_shapes.dumps(dict(message.extra), indent=None), LONGEST_EXTRA)
                    blocks.append(Block((Piece(extra, "data", light),)))
            blocks.append(_piece_block(piece, light, continues))
            last = piece.message
    return blocks


def reply_with(step: ReplyStep) -> list[Block]:
    """Show the step's reply (its own or the second model's) with the step's pieces highlighted."""
    reading = step.reading
    text = reading.completion
    if not step.spans:
        return [
            Block(tuple([Piece(text[one.start : one.end]) for one in reading.spans]) or (Piece("(empty)", "note"),))
        ]
    edges = sorted({0, len(text), *[at for span in (*step.spans, *reading.spans) for at in (span.start, span.end)]})
    starts = iter(reading.spans)
    kind_of = next(starts, None)
    pieces: list[Piece] = []
    for start, end in pairwise(edges):
        while kind_of is not None and kind_of.end <= start:
            kind_of = next(starts, None)
        is_lit = any(span.start <= start and end <= span.end for span in step.spans)
        kind = kind_of.kind if kind_of is not None else "ignored"
        pieces.append(Piece(text[start:end], kind if is_lit else "text", "lit" if is_lit else "faint"))
    return [Block(tuple(pieces))]


def _piece_block(piece: lesson.Piece, light: Light, continues: bool) -> Block:
    content = piece.content
    if content is None:
        return Block((Piece("(no text)", "note", light),))
    if isinstance(content, DataPart):
        return Block((Piece(measures.summary(content.payload), "data", light),))
    segments = content.segments
    if continues and segments and segments[0].text.startswith("\n"):
        # a block ends its line already, so the line break would add an empty line
        segments = (segments[0]._replace(text=segments[0].text[1:]), *segments[1:])
    return Block(tuple([Piece(one.text, one.kind, light) for one in segments]))

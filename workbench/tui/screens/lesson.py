"""Lesson mode: a prompt revealed piece by piece in the order it is built, then its reply as the parser read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import Screen

from adapters.formats import catalog
from sessions.running import rendering
from workbench.lessons import lesson, reply_lesson
from workbench.lessons.lesson import LessonStep
from workbench.lessons.reply_lesson import ReplyStep
from workbench.output.display import one_line
from workbench.state.derived import RenderedColumn
from workbench.tui.keys.bindings import ON_A_LESSON
from workbench.tui.keys.key_words import keys_of
from workbench.tui.pages.lesson_view import prompt_so_far, reply_with
from workbench.tui.textual_internals import row_compositor
from workbench.tui.widgets.heading import Heading, Mark
from workbench.tui.widgets.text.plain import PlainStatic, lines
from workbench.tui.widgets.text.text_view import TextView

_GROUP = Binding.Group("Lesson")

BESIDE = 100
"""Columns from which the words stand beside the text; below, they stand under it."""
LONGEST_FACT = 400
MOST_FACTS = 30
NEIGHBOURS = 9
"""Steps that the list shows before and after the one of now."""

DONE, NOW, TO_COME = ("•", "$foreground 75%"), ("▶", "$text-accent bold"), ("·", "$foreground 45%")
SIGNS = {"⚠": "$text-warning bold", "✗": "$text-error bold"}

Step = LessonStep | ReplyStep


class LessonScreen(Screen[None]):
    """`columns` can be looked at; the lesson starts with the one at `index`, at its step `at` (from 0)."""

    APP_ACTIONS: ClassVar[frozenset[str]] = ON_A_LESSON
    BINDING_GROUP_TITLE = "Lesson"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "right,space,n,l",
            "step(1)",
            "Next",
            priority=True,
            id="lesson.next",
            tooltip="The next piece",
            group=_GROUP,
        ),
        Binding(
            "left,backspace,p,h",
            "step(-1)",
            "Back",
            priority=True,
            id="lesson.back",
            tooltip="The piece before",
            group=_GROUP,
        ),
        Binding(
            "home", "first", "Start", priority=True, id="lesson.first", tooltip="Back to the first piece", group=_GROUP
        ),
        Binding(
            "end",
            "last",
            "End",
            priority=True,
            id="lesson.last",
            tooltip="The whole of it, and the last piece",
            group=_GROUP,
        ),
        Binding("r", "reply", "Reply", id="lesson.reply", tooltip="To the reply, or back to the prompt", group=_GROUP),
        Binding(
            "c,tab",
            "column(1)",
            "Next adapter",
            id="lesson.column",
            tooltip="The same of the next column",
            group=_GROUP,
        ),
        Binding(
            "shift+tab",
            "column(-1)",
            "Adapter before",
            id="lesson.column_before",
            tooltip="The column before",
            group=_GROUP,
        ),
        Binding(
            "shift+down,J",
            "words(3)",
            "Words down",
            show=False,
            id="lesson.down",
            tooltip="Scroll the explanation",
            group=_GROUP,
        ),
        Binding(
            "shift+up,K",
            "words(-3)",
            "Words up",
            show=False,
            id="lesson.up",
            tooltip="Scroll the explanation back",
            group=_GROUP,
        ),
        Binding("escape,q,f6", "dismiss(None)", "Close", id="lesson.close", tooltip="Close the lesson", group=_GROUP),
    ]

    def __init__(self, columns: Sequence[RenderedColumn], index: int = 0, at: int = 0) -> None:
        super().__init__()
        row_compositor.paint_by_rows(self)
        self.HORIZONTAL_BREAKPOINTS = [(0, "-under"), (BESIDE, "-beside")]
        self._columns = tuple(columns)
        self._index = index
        self._at = at
        self._teacher = ""
        self._prompt_steps: tuple[LessonStep, ...] = ()
        self._reply_steps: tuple[ReplyStep, ...] = ()
        self._head = PlainStatic(id="lesson-head")
        self._heading = Heading(id="lesson-heading")
        self._text = TextView(id="lesson-text")
        self._title = PlainStatic(id="lesson-title")
        self._words = PlainStatic(id="lesson-words")
        self._list = PlainStatic(id="lesson-list")
        self._hint = PlainStatic(id="lesson-hint")

    def compose(self) -> ComposeResult:
        yield self._head
        yield self._heading
        with Horizontal(id="lesson-body"):
            yield self._text
            with Vertical(id="lesson-aside"):
                with VerticalScroll(id="lesson-scroll", can_focus=False):
                    yield self._title
                    yield self._words
                yield self._list
        yield self._hint

    def on_mount(self) -> None:
        self._text.focus()
        self._take_column()

    def on_resize(self) -> None:
        self.call_after_refresh(self._show)

    # -- what is looked at

    @property
    def rendered(self) -> RenderedColumn:
        return self._columns[self._index]

    @property
    def at(self) -> int:
        """The step, from 0."""
        return self._at

    @property
    def text(self) -> TextView:
        """What is scrolled."""
        return self._text

    def go_to(self, column_id: str, step: int) -> None:
        """A step (from 0) of a column, which stays the one of now if there is none with this id."""
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
        self._at = min(self._at, max(0, len(self.steps) - 1))
        self._show()

    def _show(self) -> None:
        steps = self.steps
        if not steps:
            self._words.show(lines(("There is nothing to explain yet: this column has no prompt.", "$text-warning")))
            return
        step = steps[self._at]
        if isinstance(step, ReplyStep):
            self._text.show(reply_with(step))
        elif self.rendered.request is not None:
            self._text.show(prompt_so_far(self.rendered.request.prompt, self._prompt_steps, self._at))
        self._text.show_lit()
        self._head.show(self._header(step))
        count, place = self._place
        self._heading.show(step.title, Mark("", f"{place}/{count}", ""), self._header(step))
        self._title.show(lines(step.title))
        self._words.show(_words(step))
        self.query_one("#lesson-scroll", VerticalScroll).scroll_home(animate=False)
        self._list.show(self._list_of_steps())
        self._hint.show(self._hints())

    def _header(self, step: Step) -> Content:
        name = catalog.title(self.rendered.column.adapter)
        part = "reply" if isinstance(step, ReplyStep) else "prompt"
        count, place = self._place
        width = max(8, min(40, self.size.width - 60))
        done = round(width * place / count)
        return lines(
            (" Lesson ", "$text-accent bold"),
            (f" {one_line(name, 30)}", "bold"),
            (f" · its {part}", "$foreground 70%"),
            (f"   {place} of {count}  ", "$foreground 70%"),
            ("━" * done, "$text-accent"),
            ("─" * (width - done), "$foreground 25%"),
        )

    @property
    def _place(self) -> tuple[int, int]:
        """How many steps the prompt or the reply has, and which of them is shown, from 1."""
        of_prompt = len(self._prompt_steps)
        if self._at < of_prompt:
            return of_prompt, self._at + 1
        return len(self._reply_steps), self._at - of_prompt + 1

    def _list_of_steps(self) -> Content:
        first = max(0, min(self._at - NEIGHBOURS // 2, len(self.steps) - NEIGHBOURS))
        shown = list(enumerate(self.steps))[first : first + NEIGHBOURS]
        parts: list[tuple[str, str] | str] = []
        for index, step in shown:
            if index == len(self._prompt_steps):
                parts.append(("── the reply\n", "$foreground 40%"))
            sign, style = DONE if index < self._at else NOW if index == self._at else TO_COME
            parts.append((f"{sign} {one_line(step.title, 34)}\n", style))
        return lines(*parts)

    def show_teacher(self, sign: str) -> None:
        """Whether the teacher of a class is followed, in the last line."""
        self._teacher = sign
        if self.is_mounted:
            self._hint.show(self._hints())

    def _hints(self) -> Content:
        other = "prompt" if self._at >= len(self._prompt_steps) else "reply" if self._reply_steps else ""
        other = f"{{lesson.reply|r}} {other}" if other else ""
        more = "{lesson.column|c} next adapter" if len(self._columns) > 1 else ""
        next, back = "{lesson.next|→} next", "{lesson.back|←} back"
        hints = (next, back, "↑↓ scroll (⇧ the words)", other, more, "{lesson.close|esc} closes")
        said = " " + "   ".join([one for one in hints if one])
        following = f" {self._teacher}  " if self._teacher else ""
        return lines((following, "$text-accent bold"), (keys_of(self.app)(said), "$foreground 60%"))

    # -- keys

    def action_step(self, by: int) -> None:
        self._go(self._at + by)

    def action_first(self) -> None:
        self._go(0)

    def action_last(self) -> None:
        self._go(len(self.steps) - 1)

    def action_reply(self) -> None:
        """To the first step of the reply, or back to the first of the prompt."""
        start = len(self._prompt_steps)
        if self._reply_steps:
            self._go(start if self._at < start else 0)
        else:
            said = "There is no reply yet: {app.send_all|F5} sends, on the main screen."
            self.notify(keys_of(self.app)(said), severity="warning", markup=False)

    def action_words(self, by: int) -> None:
        self.query_one("#lesson-scroll", VerticalScroll).scroll_relative(y=by, animate=False, force=True)

    def action_column(self, by: int) -> None:
        self._index = (self._index + by) % len(self._columns)
        self._take_column()

    def _go(self, to: int) -> None:
        to = max(0, min(to, len(self.steps) - 1))
        if to != self._at:
            self._at = to
            self._show()


def _words(step: Step) -> Content:
    parts: list[tuple[str, str] | str] = [(step.explanation, "")]
    if isinstance(step, ReplyStep) and step.facts:
        parts.append("\n")
        for label, text in step.facts[:MOST_FACTS]:
            parts += [(f"\n{label}  ", SIGNS.get(label, "$text-primary bold")), one_line(text, LONGEST_FACT)]
    return lines(*parts)

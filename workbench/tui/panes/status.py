"""The last line: file, case, model and the main keys."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import Reactive, reactive
from textual.style import Style
from textual.widget import Widget

from sessions.model.session import Case
from workbench.output.display import cell_width, one_line
from workbench.state.document import Document
from workbench.tui.keys import keys_of
from workbench.tui.widgets.text.plain import QUIET, button, content, press_button, teacher_button

KEYS: tuple[tuple[str, str, str, int], ...] = (
    ("{app.help|F1}", "help", "help", 2),
    ("{app.focus_editors|F2}", "edit", "focus_editors", 5),
    ("{app.focus_prompts|F3}", "prompt", "focus_prompts", 6),
    ("{app.focus_replies|F4}", "reply", "focus_replies", 7),
    ("{app.send_all|F5}", "send", "send_all", 0),
    ("{app.lesson|F6}", "lesson", "lesson", 8),
    ("{app.look|F7}", "inspect", "look", 9),
    ("{app.check|F9}", "check", "check", 12),
    ("{app.save|^s}", "save", "save", 4),
    ("{app.copy_menu|^g}", "copy", "copy_menu", 10),
    ("{app.record|^r}", "record", "record", 11),
    ("{app.command_palette|^p}", "commands", "command_palette", 1),
    ("{app.leave|^q}", "quit", "leave", 3),
)
"""Key, label and action in display order, with a priority: keys with lower numbers are shown first.

Only keys that fit are shown.
"""

SEND = "send_all"
ROOM_OF_KEYS, LEAST_OF_A_NAME = 42, 10
"""Cells that file, case and model leave to the most important keys, and the minimum cells of each name."""
KEYS_BESIDE_A_MESSAGE = 58
"""Cells of the keys up to edit and save, for which a message shortens the file's name."""
ACTIVITY_SECONDS = 3
"""Seconds that a message stays."""


def said_beyond(in_sight: int, count: int, left: float, right: float, key: str) -> str:
    """Return how many columns are visible, with arrows and the key towards hidden ones; "" if all fit.

    The text has the same width at every scroll position.
    """
    if in_sight >= count:
        return ""
    return f"{'◂' if left > 0 else ' '} {in_sight} of {count} columns {'▸' if right > 0 else ' '} {key}"


class StatusLine(Widget):
    """The last line, with two rows on narrow terminals; a click on a name or key runs its action."""

    class Further(Message):
        """The user clicked on the number of visible columns."""

    beyond: Reactive[str] = reactive("")
    """The columns that are hidden (`said_beyond`)."""
    differs_from_program: Reactive[bool] = reactive(False)
    """True if the linked program differs from the session."""
    teacher: Reactive[str] = reactive("")
    """The note on following the teacher, "" without a teacher; a click toggles following."""

    def __init__(self, document: Document) -> None:
        super().__init__(id="status-line")
        self._document = document
        self._file = self._case = self._model = ""
        self._dirty = False
        self._activity = ""
        self._times = self._number = 0
        """Repetitions of the current message, and the number of messages so far."""

    def say(self, activity: str, seconds: float = ACTIVITY_SECONDS) -> int:
        """Show a message for a few seconds, counting repetitions; return its number, for `hush`."""
        self._times = self._times + 1 if activity == self._activity else 1
        self._activity = activity
        self._number += 1
        self.refresh()
        self.show()
        self.set_timer(seconds, partial(self.hush, self._number))
        return self._number

    def hush(self, number: int) -> None:
        """Remove a message, unless another has replaced it."""
        if self._number == number:
            self._activity = ""
            self.refresh()

    def show(self) -> None:
        """Show the current document."""
        session = self._document.session
        path = self._document.path
        file = path.name if path is not None else session.name or "untitled"
        if path is None and not file.lower().startswith("new"):
            file = f"new: {file}"
        case = self._document.state.case.name if len(session.cases) > 1 else ""
        own = {one.model for one in session.columns} if session.columns else {None}
        model = session.model if None in own else " ".join(map(str, own)) if len(own) == 1 else "per column"
        shown = (file, self._document.dirty, case, model)
        if shown != (self._file, self._dirty, self._case, self._model):
            self._file, self._dirty, self._case, self._model = shown
            self.refresh()

    def render(self) -> Content:
        width = self.size.width
        left = self._left(width)
        room = width - left.cell_length - 4 if self.size.height < 2 else width - 1
        words = keys_of(self.app)
        fitting: set[str] = set()
        for named, name, action, _ in sorted(KEYS, key=lambda one: one[3]):
            room -= cell_width(words(named)) + cell_width(name) + 3
            if room < 0:
                break
            fitting.add(action)
        shown = [(words(named), name, action) for named, name, action, _ in KEYS if action in fitting]
        parts: list[Content] = []
        for (key, name, action), after in pairwise([*shown, ("", "", "")]):
            if action == SEND:  # filled, so that it is noticed first
                label = Content.assemble((f" {key} {name} ", "$text-accent bold reverse"), " ")
            else:
                blank = " " if after[2] == SEND else "  "
                label = Content.assemble((key, "$text-accent bold"), " ", (name, "$foreground 80%"), blank)
            parts.append(_does(action, label))
        keys = Content.assemble(*parts)
        if self.size.height < 2:
            gap = max(1, width - left.cell_length - keys.cell_length - 1)
            if gap > 1:  # the keys leave room for more of the names
                left = self._left(width, spare=gap - 1)
                gap = max(1, width - left.cell_length - keys.cell_length - 1)
            return Content.assemble(left, " " * gap, keys)
        return Content.assemble(left.truncate(width, ellipsis=True), "\n", " ", keys)  # keys stay in sight on a phone

    def on_click(self, event: events.Click) -> None:
        if event.style.meta.get("further"):
            self.post_message(self.Further())
        press_button(self, event)

    def _left(self, width: int, spare: int = 0) -> Content:
        """Return file, case and model, with `spare` cells for what is cut, or the latest message instead."""
        if self._activity:
            return self._doing(width)
        others = bool(self._case)
        is_high = self.size.height > 1  # the keys have their own row
        beyond = self.beyond
        program = content("")
        if self.differs_from_program:
            label = content(keys_of(self.app)("≠ program {app.program|shift+F11}"), "$text-warning")
            program = Content.assemble(_does("program", label), "   ")
        program += teacher_button(self.teacher)
        taken = (12 if is_high and beyond else 23) + len(beyond) + program.cell_length
        taken += 10 * others + (0 if is_high else ROOM_OF_KEYS)
        room = max(LEAST_OF_A_NAME, min(40, (width - taken) // (2 + others)))
        left = width - taken - min(room, cell_width(self._model)) - others * min(room, 24, cell_width(self._case))
        names: list[str] = []
        for name, most in ((self._model, room), (self._file, max(room, min(40, left))), (self._case, min(room, 24))):
            more = min(spare, max(0, cell_width(name) - most))
            spare -= more
            names.append(one_line(name, most + more))
        model_name, file, case = names
        parts = [content(" "), _does("open", content(file, "bold"))]
        parts.append(content(" ● " if self._dirty else "   ", "$text-accent bold"))
        parts.append(program)
        if self._case:
            parts += [
                _does("cases", content(case_word(self._case), QUIET)),
                _does("cases", content(case)),
                content("   "),
            ]
        model = Content.assemble(content("model ", QUIET), content(model_name, "$text-accent"))
        parts.append(_does("choose_model", model))
        if beyond:
            parts += [content("  "), content(beyond, QUIET).stylize(Style.from_meta({"further": True}))]
        return Content.assemble(*parts)

    def _doing(self, width: int) -> Content:
        """Return the file and the latest message."""
        times = f" ×{self._times}" if self._times > 1 else ""
        said = one_line(self._activity, max(20, width - 16) - len(times)) + times
        room = width - KEYS_BESIDE_A_MESSAGE if self.size.height < 2 else width
        spare = room - cell_width(said)
        file = one_line(self._file, max(8, min(40, spare - 8)))
        changed = " ● " if self._dirty else "   "
        if 0 <= spare < 16:  # the main keys fit only without the name
            file, changed = "", changed.lstrip()
        marked = content(changed, "$text-accent bold")
        left = Content.assemble(" ", _does("open", content(file, "bold")), marked, content(said, "$text-accent"))
        if self.beyond and self.size.height < 2 and left.cell_length + len(self.beyond) + 2 <= room:
            left = left + content("  " + self.beyond, QUIET)
        return left


def case_word(name: str) -> str:
    """Return the word before a case's name; "" if the name includes it, as in `case 1`."""
    return Case(name).plain_words.removesuffix(name)


def _does(action: str, label: Content) -> Content:
    return button(label, f"app.{action}")

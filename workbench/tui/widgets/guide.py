"""Show a guide: steps that are ticked off as they are done; escape closes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.style import Style
from textual.widget import Widget

from sessions import examples
from sessions.model.session import Session
from workbench.output.display import one_line
from workbench.state.document import RenderedColumn
from workbench.tui.keys import KeyWords, keys_of
from workbench.tui.widgets.text.plain import QUIET, content, lines
from workbench.tui.widgets.text.wrapping import rows as wrapped

AROUND = 3
"""Cells of the pane to the left and right of the text: a bar and blanks."""
SHARE, SHARE_BESIDE_LONG, SHARE_BESIDE_FORM = 60, 36, 25
"""The guide's maximum height in percent of the pane: usually, beside a long signature, and while fields are added."""
LONG = 600
"""Characters of signature and instructions above which they get most of the pane."""
NARROW = 100
"""Cells of screen width below which only the next step is shown."""
SAID = "$foreground 85%"
OPENING = "Edit here. To the right: the prompt each adapter sends, and below it the reply."
"""An explanation of the panes for new users."""
FOOT = "{app.command_palette|^p} commands  {app.leave|^q} quits  {app.cancel|esc} hides"
FOOT_OF_DONE = "{app.open|^o} opens it again, {app.new_session|^n} another of your own  {app.cancel|esc} hides"
FOOT_OF_NOTES = "{app.new_session|^n} your own session  {app.leave|^q} quits  {app.cancel|esc} hides"


class Seen(NamedTuple):
    """The state that decides which steps are done.

    `actions` are the names of all actions so far; `is_saved` says whether the session has a file.
    """

    session: Session
    columns: Sequence[RenderedColumn]
    actions: tuple[str, ...]
    is_saved: bool = False


LOADED = "another session was loaded"
"""Reported like an action once another session replaces the open one."""
FEW = 3
"""Replies to visit before that step is ticked off."""


class Step(NamedTuple):
    """A step of a guide.

    `is_done` is None if only a click ticks the step off; `short` names the step once done. `editor` is the editor it
    happens in, `example` the example that it opens.
    """

    text: str
    is_done: Callable[[Seen], bool] | None = None
    short: str = ""
    editor: str = ""
    example: str = ""

    @property
    def first_sentence(self) -> str:
        """The instruction, without the explanation after it."""
        return self.text.partition(". ")[0].removesuffix(".") + "."


def _sent(seen: Seen) -> bool:
    return bool(seen.columns) and all(one.text for one in seen.columns)


def _escaped(seen: Seen) -> bool:
    """Return whether every reply parses now, and the user wrote `&amp;` in at least one."""
    replies = [one.reply for one in seen.columns if one.reply is not None and one.reply.source != "sent"]
    parse = all(one.reading is not None and one.reading.ok for one in seen.columns)
    return parse and any("&amp;" in one.text for one in replies)


_AN_INT = re.compile(r"\btotal\s*:\s*int\b")
"""The edit that the step about types asks for, in either notation of the signature."""

FIRST: tuple[Step, ...] = (
    Step(
        "{app.send_all|F5} sends all columns to two built-in models, one reliable, one careless.",
        _sent,
        "{app.send_all|F5}",
    ),
    Step(
        "Press {app.focus_replies|F4} three times to see the replies: parsed, repaired, failed.",
        lambda seen: _sent(seen) and seen.actions.count("focus_replies") >= min(len(seen.columns), FEW),
        "{app.focus_replies|F4}",
    ),
    Step(
        "In the failing XML reply write &amp; for &, or let {app.fixes|alt+x} do it.",
        _escaped,
        "&amp;",
    ),
    Step(
        "{app.focus_editors|F2} back to the signature: make `total: float` an `int`. Every prompt follows at once.",
        lambda seen: _AN_INT.search(seen.session.signature.text) is not None,
        "{app.focus_editors|F2}",
        "signature",
    ),
    Step(
        "{app.lesson|F6} explains every piece. Why red? 12.5 is not an `int`.",
        lambda seen: "lesson" in seen.actions,
        "{app.lesson|F6}",
    ),
    Step(
        "{app.open|^o} opens the next example, {app.new_session|^n} a session of your own.",
        lambda seen: LOADED in seen.actions,
        "{app.open|^o}",
        example=examples.SECOND,
    ),
)
"""The steps of the first example."""


def _inputs_and_outputs(seen: Seen) -> bool:
    """Return whether every column has a prompt with an input and an output."""
    requests = [column.request for column in seen.columns if not column.error]
    return bool(requests) and all(
        one is not None and one.signature.input_fields and one.signature.output_fields for one in requests
    )


OWN: tuple[Step, ...] = (
    Step(
        "Name each input and output and choose its type, such as `list[str]`. {rows.add|^n} adds a field.",
        _inputs_and_outputs,
        "fields",
        "signature",
    ),
    Step(
        "In the inputs ({app.focus_editors|F2}) type a value, then {app.send_all|F5} sends it. The model "
        "`offline/exact` needs no API key.",
        lambda seen: _inputs_and_outputs(seen) and _sent(seen),
        "{app.send_all|F5}",
        "inputs",
    ),
    Step(
        "In Demos ({app.focus_editors|F2}) {rows.add|^n} adds a demo. Fill it in: every prompt then has it.",
        lambda seen: any(
            use.use == "complete" for one in seen.columns if one.request is not None for use in one.request.prompt.demos
        ),
        "demo",
        "demos",
    ),
    Step("{app.save|^s} saves it all in one file.", lambda seen: seen.is_saved, "{app.save|^s}"),
)
"""The steps for a user's first own session."""

LIVE: tuple[Step, ...] = (
    Step(
        "In another terminal, start your program with `workbench capture -o FOLDER -- python program.py`, using the "
        "folder of this app. {app.everything_sent|alt+h} lists its calls as they arrive."
    ),
    Step("Choose a call there (failed ones come first): it opens here, with its prompt and reply."),
    Step("Fix its signature, then {app.program|shift+F11} writes it back into the program."),
)
"""The steps beside the calls of running programs."""

Kind = Literal["first", "own", "notes", "live"]
"""The kind of guide: for the first example or own session, from an example's notes, or for a program's calls."""
GUIDES: Mapping[Kind, tuple[str, str, tuple[Step, ...]]] = {
    "first": ("Welcome", OPENING, FIRST),
    "own": ("Your own session", "", OWN),
    "notes": ("What to look at", "", ()),
    "live": ("Calls of your programs", "", LIVE),
}
"""The title, opening text and steps of each kind; the steps of `notes` are the points of the session's notes."""


class Guide(Widget, can_focus=False):
    """A guide in the left pane, shown until it is closed."""

    DEFAULT_CSS = """
    Guide {
        /* no margin at the sides: it would make the panes beside it narrower, too */
        height: auto; margin-top: 1; padding: 0 1; background: $panel; border-left: outer $accent;
        overflow-y: auto; scrollbar-size: 1 1;
    }
    """

    def __init__(self, session: Session, kind: Kind) -> None:
        super().__init__(classes=f"-{kind}")
        self._share = 0
        self._title, self._opening, self.steps = GUIDES[kind]
        self._foot = FOOT_OF_NOTES if kind == "notes" else FOOT
        if kind == "notes":
            self.steps = tuple([Step(" ".join(one.split())) for one in session.notes.split("\n- ")[1:]])
        self.done: set[int] = set()
        self._make_room(session)

    def look(self, seen: Seen) -> None:
        """Tick off the steps that are done now; they stay ticked."""
        fresh = {
            place
            for place, step in enumerate(self.steps)
            if place not in self.done and step.is_done is not None and step.is_done(seen)
        }
        if fresh:
            self.done |= fresh
            self.refresh(layout=True)
        self._make_room(seen.session)

    def _make_room(self, session: Session) -> None:
        """Set the maximum height, leaving most of the pane to a long signature or to fields being added."""
        written = len(session.signature.text) + len(session.signature.instructions or "")
        share = SHARE_BESIDE_LONG if written > LONG else SHARE
        if self.steps is OWN and written and not self.done:
            share = SHARE_BESIDE_FORM
        if share != self._share:
            self._share = share
            self.styles.max_height = f"{share}%"

    @property
    def _room(self) -> Size:
        """The cells and rows of the pane available to the guide."""
        pane = self.parent.size if isinstance(self.parent, Widget) else self.size
        return Size(max(8, pane.width - AROUND), pane.height * self._share // 100)

    @property
    def next_step(self) -> int | None:
        """The first step that is not done, or None."""
        return next((place for place in range(len(self.steps)) if place not in self.done), None)

    @property
    def editor(self) -> str:
        """The editor named by the next open step, or ""."""
        left = [step.editor for place, step in enumerate(self.steps) if place not in self.done]
        return next(filter(None, left), "")

    def render(self) -> Content:
        keys = keys_of(self.app)
        following, count = self.next_step, len(self.steps)
        is_saved = self.steps is OWN and following is None
        head = lines((f"{self._title}. ", "bold"), (f"{len(self.done)} of {count} done", QUIET))
        if self.app.size.width < NARROW:
            over = "All steps done." + (" {app.open|^o} opens it again." if is_saved else "")
            text = keys(self.steps[following].first_sentence if following is not None else over)
            title = "" if self.size.height == 1 else f"{self._title}. "  # the step itself is whole
            return lines((title, "bold"), (text, SAID)).stylize(Style.from_meta({"step": following or 0}))
        rows, foot = self._steps(following, keys), [lines((keys(FOOT_OF_DONE if is_saved else self._foot), QUIET))]
        if self._opening and not self.done:
            opening = lines((f"{self._title}. ", "bold"), (f"{self._opening} {count} steps:", SAID))
            spare = self._room.height - self._height_of([opening, *rows]) if len(rows) == count else -1
            if spare >= 0:  # prefer the explanation to the keys, which the status line also shows
                head, foot = opening, foot[:spare]
        return Content("\n").join([head, *rows, *foot])

    def _steps(self, following: int | None, keys: KeyWords) -> list[Content]:
        """Return the steps that fit; done steps are shortened."""
        width, room = self._room.width, self._room.height - 2  # head and foot
        told = [self.steps[place] for place in sorted(self.done) if self.steps[place].is_done is not None]
        rows = []
        if told:
            sign = ("✓ ", "$text-success bold")
            rows.append(lines(*[part for one in told for part in (sign, (f"{keys(one.short)}   ", QUIET))]))
        for place in sorted(self.done):
            if self.steps[place].is_done is None:
                ticked = lines(("✓ ", "$text-success bold"), (one_line(keys(self.steps[place].text), width - 2), QUIET))
                rows.append(ticked.stylize(Style.from_meta({"step": place})))
        left = [place for place in range(len(self.steps)) if place not in self.done]
        for number, place in enumerate(left):
            mark = ("▸ ", "$text-accent bold") if place == following else ("· ", QUIET)
            shown = lines(mark, (keys(self.steps[place].text), SAID if place == following else QUIET))
            is_last = number == len(left) - 1
            if place != following and self._height_of([*rows, shown]) + (not is_last) > room:
                rows.append(content(f"· {len(left) - number} more", QUIET))
                break
            rows.append(shown.stylize(Style.from_meta({"step": place})))
        return rows

    def _height_of(self, rows: Sequence[Content]) -> int:
        width = self._room.width
        return sum(len(wrapped(one.plain, width)) for one in rows)

    def on_click(self, event: events.Click) -> None:
        """Tick or untick a step that only a click can complete."""
        place = event.style.meta.get("step")
        if isinstance(place, int) and self.steps[place].is_done is None:
            self.done ^= {place}
            self.refresh(layout=True)

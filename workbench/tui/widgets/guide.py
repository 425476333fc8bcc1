"""What to do first with an example, step by step, each ticked off as it is done. Escape puts it away."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.style import Style
from textual.widget import Widget

from sessions.model.session import Session
from workbench.output.display import one_line
from workbench.state.derived import RenderedColumn
from workbench.tui.keys.key_words import KeyWords, keys_of
from workbench.tui.widgets.text.plain import content, lines
from workbench.tui.widgets.text.wrapping import rows as wrapped

AROUND = 3
"""Cells of the pane beside the text: a bar and blanks."""
SHARE, SHARE_BESIDE_LONG = 60, 36
"""Per cent of the pane's rows that it takes at most, and that it takes beside a long signature."""
LONG = 600
"""Characters of signature and instructions from which on they need most of the pane themselves."""
NARROW = 100
"""Cells of the screen below which the next step alone is shown."""
SAID, QUIET = "$foreground 85%", "$foreground 60%"
OPENING = "Here you write; beside it is what each adapter sends, below that what came back."
"""What the panes are, for someone who has done nothing yet."""
FOOT = "{app.command_palette|^p} commands  {app.leave|^q} quits  {app.cancel|esc} hides"


class Seen(NamedTuple):
    """What a step can tell by that it is done: the session, its columns, and what keys have called of the app."""

    session: Session
    columns: Sequence[RenderedColumn]
    actions: tuple[str, ...]


FEW = 3
"""Replies that are gone through before that is ticked off."""


class Step(NamedTuple):
    """`is_done` is None for a step that only a person can tick off, with a click; `short` names one that is done;
    `editor` is where it says that the key to the editors goes."""

    text: str
    is_done: Callable[[Seen], bool] | None = None
    short: str = ""
    editor: str = ""

    @property
    def first_sentence(self) -> str:
        """What to do; what follows tells why."""
        return self.text.partition(". ")[0].removesuffix(".") + "."


def _sent(seen: Seen) -> bool:
    return bool(seen.columns) and all(one.text for one in seen.columns)


def _mended(seen: Seen) -> bool:
    """Whether a reply that a person has edited is read."""
    return any(
        one.reading is not None and one.reading.ok and one.reply is not None and one.reply.source == "edited"
        for one in seen.columns
    )


_AN_INT = re.compile(r"\btotal\s*:\s*int\b")
"""What the step about types asks for, in either notation of the signature."""

FIRST: tuple[Step, ...] = (
    Step(
        "{app.send_all|F5} sends it to three built-in models: one good, two careless.",
        _sent,
        "{app.send_all|F5}",
    ),
    Step(
        "{app.focus_replies|F4} goes from reply to reply: read, repaired, refused. "
        "The table says how each value came about.",
        lambda seen: _sent(seen) and seen.actions.count("focus_replies") >= min(len(seen.columns), FEW),
        "{app.focus_replies|F4}",
    ),
    Step("In the refused one (XML) write &amp; for &. It is read anew at every key.", _mended, "&amp;"),
    Step(
        "{app.focus_editors|F2} back to the signature: make `total: float` an `int`. Every prompt follows at once.",
        lambda seen: _AN_INT.search(seen.session.signature.text) is not None,
        "{app.focus_editors|F2}",
        "signature",
    ),
    Step(
        "{app.lesson|F6} explains all of it, piece by piece.", lambda seen: "lesson" in seen.actions, "{app.lesson|F6}"
    ),
    Step(
        "{app.open|^o} opens the next example, from a service desk.",
        lambda seen: "open" in seen.actions,
        "{app.open|^o}",
    ),
)
"""The steps of the first example."""


def steps_of(session: Session, is_first: bool) -> tuple[Step, ...]:
    """The steps of an example: for the first its own, for another the points of its notes."""
    if is_first:
        return FIRST
    points = session.notes.split("\n- ")[1:]
    return tuple([Step(" ".join(one.split())) for one in points])


class Guide(Widget, can_focus=False):
    """Stands in the left pane until it is put away."""

    DEFAULT_CSS = """
    Guide {
        /* no margin at the sides: it would make the panes beside it narrower, too */
        height: auto; margin-top: 1; padding: 0 1; background: $panel; border-left: outer $accent;
        overflow-y: auto; scrollbar-size: 1 1;
    }
    """

    def __init__(self, session: Session, is_first: bool) -> None:
        super().__init__()
        self._share = 0
        self._make_room(session)
        self._title, self._opening = ("Welcome", OPENING) if is_first else ("What to look at", "")
        self.steps = steps_of(session, is_first)
        self.done: set[int] = set()

    def look(self, session: Session, columns: Sequence[RenderedColumn], actions: tuple[str, ...]) -> None:
        """Ticks off what is done by now; what was done once stays ticked."""
        self._make_room(session)
        seen = Seen(session, columns, actions)
        fresh = {
            place
            for place, step in enumerate(self.steps)
            if place not in self.done and step.is_done is not None and step.is_done(seen)
        }
        if fresh:
            self.done |= fresh
            self.refresh(layout=True)

    def _make_room(self, session: Session) -> None:
        """Leaves a long signature most of the pane, also one that was pasted over the example's."""
        written = len(session.signature.text) + len(session.signature.instructions or "")
        share = SHARE_BESIDE_LONG if written > LONG else SHARE
        if share != self._share:
            self._share = share
            self.styles.max_height = f"{share}%"

    @property
    def _room(self) -> Size:
        """The cells and rows that the pane has for it."""
        pane = self.parent.size if isinstance(self.parent, Widget) else self.size
        return Size(max(8, pane.width - AROUND), pane.height * self._share // 100)

    @property
    def next_step(self) -> int | None:
        """The first step that is not done; None when all are."""
        return next((place for place in range(len(self.steps)) if place not in self.done), None)

    @property
    def editor(self) -> str:
        """Where the key to the editors goes, as a step says that is not done; "" where none says so."""
        left = [step.editor for place, step in enumerate(self.steps) if place not in self.done]
        return next(filter(None, left), "")

    def render(self) -> Content:
        keys = keys_of(self.app)
        following, count = self.next_step, len(self.steps)
        head = lines((f"{self._title}. ", "bold"), (f"{len(self.done)} of {count} done", QUIET))
        if self.app.size.width < NARROW:
            text = keys(self.steps[following].first_sentence) if following is not None else "That was all of it."
            return Content.assemble(lines((f"{self._title}. ", "bold")), self._line(following or 0, text, SAID))
        rows, foot = self._steps(following, keys), [lines((keys(FOOT), QUIET))]
        if self._opening and not self.done:
            opening = lines((f"{self._title}. ", "bold"), (f"{self._opening} {count} steps:", SAID))
            spare = self._room.height - self._height_of([opening, *rows]) if len(rows) == count else -1
            if spare >= 0:  # what the panes are is worth more than keys that the last line has too
                head, foot = opening, foot[:spare]
        return Content("\n").join([head, *rows, *foot])

    def _steps(self, following: int | None, keys: KeyWords) -> list[Content]:
        """The steps as far as they fit, each whole; what is done is named shortly, or cut to a line."""
        width, room = self._room.width, self._room.height - 2  # head and foot
        told = [self.steps[place] for place in sorted(self.done) if self.steps[place].is_done is not None]
        rows = []
        if told:
            rows.append(lines(*[part for one in told for part in _ticked(keys(one.short))]))
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

    def _line(self, place: int, text: str, style: str) -> Content:
        return lines((text, style)).stylize(Style.from_meta({"step": place}))

    def on_click(self, event: events.Click) -> None:
        """Ticks a step that nothing else can tell to be done, or takes the tick away."""
        place = event.style.meta.get("step")
        if isinstance(place, int) and self.steps[place].is_done is None:
            self.done ^= {place}
            self.refresh(layout=True)


def _ticked(short: str) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("✓ ", "$text-success bold"), (f"{short}   ", QUIET)

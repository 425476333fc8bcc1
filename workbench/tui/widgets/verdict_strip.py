"""Show every column with the outcome of its reply, on a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.style import Style
from textual.widget import Widget

from workbench.output.display import cell_width, one_line
from workbench.tui.keys.bindings import keys_of, pane_keys
from workbench.tui.widgets.text.plain import QUIET, lines

GAP = "   "
SHORTEST_WORDS = 12
"""Cells below which a verdict's words are left out in favour of its sign."""
LONGEST_NAME = 24
LONGEST_WORDS = 200


class Verdict(NamedTuple):
    """The outcome of a column's reply: sign, tone (`success`, `error`, …) and words that may be cut.

    `matters` marks verdicts with words that users need; the words of others are dropped first. `brief` replaces words
    that would be cut.
    """

    id: str
    name: str
    sign: str
    tone: str
    words: str
    matters: bool = False
    brief: str = ""


class VerdictStrip(Widget, can_focus=True):
    """A line of verdicts; `Chosen` names the column to go to."""

    BINDING_GROUP_TITLE = "Verdicts"
    HELP = """\
## Verdicts

Every column with the outcome of its reply. `←` `→` choose a column, `{strip.choose|enter}` goes to its reply.
`{app.add_column|alt+c}` adds a column for another adapter, model or variant.
"""
    BINDINGS: ClassVar[list[BindingType]] = pane_keys(
        "Verdicts",
        ("right,down", "step(1)", "Next", "strip.next", "Go to the next column"),
        ("left,up", "step(-1)", "Previous", "strip.before", "Go to the previous column"),
        ("enter", "choose", "Go there", "strip.choose", "Go to the reply of this column"),
    )
    DEFAULT_CSS = """
    VerdictStrip {
        height: 1;
        padding: 0 1;
        background: $surface;
        color: $foreground;
        &:focus { background: $accent 15%; }
    }
    """

    @dataclass
    class Chosen(Message):
        """The user chose this column; with `to_reply`, its reply gets the focus."""

        column_id: str
        to_reply: bool

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._verdicts: tuple[Verdict, ...] = ()
        self._current = ""

    def show(self, verdicts: Sequence[Verdict], current: str) -> None:
        """Show these verdicts; `current` is the visible column."""
        shown = tuple(
            [
                one._replace(words=one_line(one.words, LONGEST_WORDS), brief=one_line(one.brief, LONGEST_WORDS))
                for one in verdicts
            ]
        )
        if (shown, current) != (self._verdicts, self._current):
            self._verdicts, self._current = shown, current
            self.refresh()

    def render(self) -> Content:
        key = keys_of(self.app)("column {app.add_column|alt+c}")
        room = self.size.width - len(" + ")
        if self._bare + sum(cell_width(one.words) for one in self._verdicts) + len(key) <= room:
            room -= len(key)
        else:
            key = ""  # the verdicts need the room
        add = lines((" + ", "$text-accent bold"), (key, QUIET))
        add = add.stylize(Style.from_meta({"action": "add_column"}))
        shown = [self._drawn(one, words) for one, words in zip(self._verdicts, self._words(room), strict=True)]
        gap = Content(GAP)
        line = Content.assemble(*[part for one in shown for part in (one, gap)])
        return Content.assemble(line.truncate(max(0, room), ellipsis=True), add)

    @property
    def _bare(self) -> int:
        """Cells that all names, signs and gaps take."""
        return sum(cell_width(one_line(one.name, LONGEST_NAME)) + 3 + len(GAP) for one in self._verdicts)

    def _words(self, room: int) -> list[str]:
        """Return the words of each verdict, cut to fit together; those that matter are cut last."""
        words = [one.words for one in self._verdicts]

        def excess() -> int:
            return self._bare + sum(map(cell_width, words)) - room

        for matters in (False, True):
            those = [place for place, one in enumerate(self._verdicts) if one.matters == matters and words[place]]
            if matters:
                even = _even_length([cell_width(words[place]) for place in those], excess())
                for place in those:
                    most = max(SHORTEST_WORDS, even)
                    is_cut = cell_width(words[place]) > most
                    words[place] = _cut((is_cut and self._verdicts[place].brief) or words[place], most)
            # if even short words do not fit, drop whole words, longest first
            while those and excess() > 0:
                is_alike = len(those) > 1 and len({words[place] for place in those}) == 1
                longest = max(those, key=lambda place: cell_width(words[place]))
                # equal words are dropped together: shown for some columns only, they would mislead
                for place in those if is_alike and not matters else [longest]:
                    words[place] = ""
                those = [place for place in those if words[place]]
        return words

    def _drawn(self, one: Verdict, words: str) -> Content:
        name_style = "$text-accent bold underline" if one.id == self._current else "bold"
        tone = f"$text-{one.tone}" if one.tone else QUIET
        said = f" {one.sign} {words}" if words else f" {one.sign}"
        drawn = lines((one_line(one.name, LONGEST_NAME), name_style), (said, tone))
        return drawn.stylize(Style.from_meta({"column": one.id}))

    def on_click(self, event: events.Click) -> None:
        column, action = event.style.meta.get("column"), event.style.meta.get("action")
        if isinstance(column, str):
            self.post_message(self.Chosen(column, to_reply=False))
        elif isinstance(action, str):
            self.call_later(self.app.run_action, action)

    def action_step(self, by: int) -> None:
        ids = [one.id for one in self._verdicts]
        if ids:
            place = ids.index(self._current) if self._current in ids else 0
            self.post_message(self.Chosen(ids[(place + by) % len(ids)], to_reply=False))

    def action_choose(self) -> None:
        if self._current:
            self.post_message(self.Chosen(self._current, to_reply=True))


def _cut(words: str, width: int) -> str:
    """Cut words to `width` cells, without leaving a single letter or part of a number at the end."""
    cut = one_line(words, width)
    if cut == words:
        return words
    kept = cut[:-1].rstrip(" ·")
    while kept[-2:-1] == " ":
        kept = kept[:-1].rstrip(" ·")
    return f"{kept}…"


def _even_length(lengths: Sequence[int], excess: int) -> int:
    """Return the maximum length that cuts `excess` cells from the longer of `lengths`; 0 if none does."""
    room = sum(lengths) - excess
    return next(
        (most for most in range(max(lengths, default=0), 0, -1) if sum(min(one, most) for one in lengths) <= room), 0
    )

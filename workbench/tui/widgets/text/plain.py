"""Make strings safe for Textual: widgets, toasts and the palette get their text from here.

Textual parses markup in most strings and passes control bytes on; `[/x]` in a plain string ends an app.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, cast

from textual import events
from textual.app import App
from textual.command import DiscoveryHit, Hit
from textual.content import Content, Span
from textual.css.styles import RulesMap
from textual.fuzzy import Matcher
from textual.notifications import SeverityLevel
from textual.style import Style
from textual.types import IgnoreReturnCallbackType
from textual.widget import Widget
from textual.widgets import Static

from adapters.display import as_text
from adapters.display import blocks as shown
from workbench.output.display import one_line, safe
from workbench.tui.keys import NAMED_KEY, keys_of
from workbench.tui.textual_internals.access import NeverScrolls, own_bindings
from workbench.tui.widgets.text.text_view import Block, block

LONGEST_TOAST = 600
MOST_TOASTED = 10
"""The most lines of a toast, whose text may come from a file: more would cover the screen."""
QUIET = "$foreground 60%"
"""The style of text that matters less."""
SHORTEST_WORD = 4
"""Shortest word to search in descriptions; shorter words would match half of the palette."""
DESCRIBED = 0.01
"""Score of palette entries that match by description, below all that match by name."""
LONGEST_NAME = 80
LONGEST_QUERY = 2 * LONGEST_NAME
"""Longer typed texts match no palette entry."""
END_OF_A_HINT = re.compile(r" {2}|\n|[.,;:] | · |\{|$")
"""The end of the words that belong to a named key: for `{rows.add|^n} adds one. `, the button ends at the full stop."""
DOES = "does"
"""The key in a style's meta data for the binding id of a button."""


def content(text: str, style: str = "", spans: Iterable[tuple[int, int, str]] = ()) -> Content:
    """Return `text` as content without markup; `spans` are (start, end, style) over its code points.

    Styles (`"$text-success bold"`) must be constants, never a user's text.
    """
    shown = safe(text)
    styled = [Span(0, len(shown), style)] if style and shown else []
    styled += [Span(start, end, one) for start, end, one in spans]
    return Content(shown, styled, strip_control_codes=False)


def lines(*parts: tuple[str, str] | str | Content) -> Content:
    """Join parts, each a text, content or (text, style), into one content."""
    return Content("", strip_control_codes=False).join(
        [content(one) if isinstance(one, str) else one if isinstance(one, Content) else content(*one) for one in parts]
    )


def in_rows(pieces: Iterable[Content], gap: str, width: int) -> Content:
    """Join pieces in rows of at most `width` cells, a gap between two; only a piece longer than that is split."""
    rows = [Content()]
    for piece in pieces:
        longer = Content.assemble(rows[-1], gap, piece) if rows[-1] else piece
        if not rows[-1] or longer.cell_length <= width or piece.cell_length > width:
            rows[-1] = longer
        else:
            rows.append(piece)
    return Content("\n").join(rows)


def button(label: Content, binding_id: str) -> Content:
    """Turn a label into a button that runs the binding with this id."""
    return label.stylize(Style.from_meta({DOES: binding_id}))


def key_hints(app: App[Any], text: str, style: str = QUIET) -> Content:
    """Show text that names keys as `{id|usual}`, each a button that includes the words after it.

    The text must be the app's own, never a user's.
    """
    keys, at = keys_of(app), 0
    parts: list[Content] = []
    for found in NAMED_KEY.finditer(text):
        end = END_OF_A_HINT.search(text, found.end())
        stop = end.start() if end is not None else len(text)
        parts += [
            content(text[at : found.start()], style),
            button(content(keys(text[found.start() : stop]), style), found[1]),
        ]
        at = stop
    return Content.assemble(*parts, content(text[at:], style))


def teacher_button(sign: str) -> Content:
    """Return a button that shows whether the teacher is followed and toggles that; empty without a teacher."""
    return (
        Content.assemble(button(content(sign, "$text-accent bold"), "app.follow_teacher"), "   ")
        if sign
        else content("")
    )


def press_button(widget: Widget, event: events.Click) -> bool:
    """Run the binding of a clicked button, and return whether one was clicked.

    The binding is looked up on `widget` and its ancestors, then on the focused widget and its ancestors.
    """
    wanted = event.style.meta.get(DOES)
    if not isinstance(wanted, str):
        return False
    focused = widget.screen.focused
    for node in (*widget.ancestors_with_self, *(focused.ancestors_with_self if focused is not None else ())):
        for binding in own_bindings(node):
            if binding.id == wanted:
                event.stop()
                widget.call_later(widget.app.run_action, binding.action, node)
                return True
    return False


class PlainStatic(Static, NeverScrolls):
    """A Static that shows strings without markup; a click on a button in it runs its binding."""

    def on_click(self, event: events.Click) -> None:
        press_button(self, event)

    def __init__(self, text: str | Content = "", *, id: str | None = None, classes: str | None = None) -> None:
        self._text = text if isinstance(text, Content) else content(text)
        super().__init__(self._text, id=id, classes=classes, markup=False)

    def show(self, text: str | Content) -> None:
        """Replace the text; the screen is laid out again only if the size changes."""
        shown = text if isinstance(text, Content) else content(text)
        if not shown.is_same(self._text):
            before, self._text = self._text, shown
            width = self.content_size.width
            rules = cast(RulesMap, self.styles)  # a mapping of rules, as Textual passes it itself
            is_fixed = width and not self.styles.is_auto_width
            is_same = is_fixed and before.get_height(rules, width) == shown.get_height(rules, width)
            self.update(shown, layout=not is_same)


class KeyRows(PlainStatic):
    """Key hints, a `gap` apart, in rows that end between two hints."""

    def __init__(self, keys: str | Content, gap: str, *, classes: str) -> None:
        super().__init__(keys, classes=classes)
        self._keys, self._gap = self._text, gap

    def show(self, text: str | Content) -> None:
        self._keys = text if isinstance(text, Content) else content(text)
        self.on_resize()

    def on_resize(self) -> None:
        width = self.content_size.width
        rows = [in_rows(one.split(self._gap), self._gap, width) for one in self._keys.split("\n")] if width else ()
        super().show(Content("\n").join(rows) if rows else self._keys)


def plain_notify(
    app: App[Any],
    message: str,
    *,
    title: str = "",
    severity: SeverityLevel = "information",
    timeout: float | None = None,
) -> None:
    """Call `App.notify` with any text: made safe, without markup, shortened to fit a toast."""
    rows = safe(message[:LONGEST_TOAST]).split("\n")
    shown = "\n".join(rows[:MOST_TOASTED])
    if len(shown) < len(message):
        shown += "…"
    app.notify(shown, title=one_line(title, LONGEST_NAME), severity=severity, timeout=timeout, markup=False)


def palette_discovery(text: str, command: IgnoreReturnCallbackType, help: str = "") -> DiscoveryHit:
    """Return a palette entry that is shown before anything is typed."""
    shown = one_line(text, LONGEST_NAME)
    return DiscoveryHit(content(shown), command, text=shown, help=_help(help))


def palette_hit(matcher: Matcher, text: str, command: IgnoreReturnCallbackType, help: str = "") -> Hit | None:
    """Return a palette entry for the typed text with matching letters marked, or None without a match.

    Entries with every typed word in their name come first, then those with the words in their description, then those
    with the letters anywhere in their name, in this order.
    """
    if len(matcher.query) > LONGEST_QUERY:
        return None
    shown = one_line(text, LONGEST_NAME)
    score, offsets = _letters(matcher, shown)
    words = matcher.query.lower().split()
    if not (score and _has_all(words, shown)):
        is_described = max(map(len, words), default=0) >= SHORTEST_WORD and _has_all(words, help)
        if not is_described and not score:
            return None
        score = DESCRIBED if is_described else DESCRIBED * score / (1 + score)
    marked = content(shown, spans=[(offset, offset + 1, "bold underline") for offset in offsets])
    return Hit(score, marked, command, text=shown, help=_help(help))


def _letters(matcher: Matcher, name: str) -> tuple[float, Sequence[int]]:
    """Return the score and the places of the typed letters; Textual would try all combinations, for minutes."""
    wanted, lower = matcher.query.lower(), name.lower()
    if wanted in lower:
        return matcher.fuzzy_search.match(wanted, name)
    found: list[list[int]] = []
    for places in sorted(matcher.fuzzy_search.get_first_letters(name)), range(len(name)):
        left = iter(places)
        found.append([next((at for at in left if lower[at] == letter), -1) for letter in wanted])
    return max([(matcher.fuzzy_search.score(name, at), at) for at in found if -1 not in at], default=(0, []))


def _has_all(words: Sequence[str], text: str) -> bool:
    lower = text.lower()
    return all(word in lower for word in words)


def _help(text: str) -> str | None:
    # the palette always parses its help line as markup
    return one_line(text, LONGEST_NAME).replace("[", "(").replace("]", ")") or None


STYLES: dict[shown.Tone, str] = {
    "": "text",
    "strong": "heading",
    "good": "ok",
    "warning": "warning",
    "bad": "error",
    "worst": "error",
    "dim": "note",
}


def text_blocks(made: Iterable[shown.Block]) -> tuple[Block, ...]:
    found: list[Block] = []
    for one in made:
        for number, (line, tone) in enumerate(as_text.toned_lines(shown.Shown("", (one,)))):
            target = one.target if isinstance(one, shown.Heading) and number == 1 else ""
            found.append(block(line, STYLES[tone], target=target))
    return tuple(found)

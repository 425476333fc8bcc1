"""Plain text for Textual: every string on its way to a widget, toast or palette goes through here.

Textual reads markup in most strings it is handed and passes control bytes on; `[/x]` in a plain string ends an app.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from textual.app import App
from textual.command import DiscoveryHit, Hit
from textual.content import Content, Span
from textual.css.styles import RulesMap
from textual.fuzzy import Matcher
from textual.notifications import SeverityLevel
from textual.types import IgnoreReturnCallbackType
from textual.widgets import Static

from workbench.output.display import one_line, safe
from workbench.tui.textual_internals.scrolling import NeverScrolls

LONGEST_TOAST = 600
SHORTEST_WORD = 4
"""Letters of a word that is looked for in descriptions: fewer would find half of the palette."""
DESCRIBED = 0.01
"""The score of a palette entry that is found by its description: below that of any whose name has the words."""
LONGEST_NAME = 80


def content(text: str, style: str = "", spans: Iterable[tuple[int, int, str]] = ()) -> Content:
    """`text` as it stands, without markup; `spans` are (start, end, style) over the code points of `text`.

    Styles are the author's (`"$text-success bold"`), never a user's.
    """
    shown = safe(text)
    styled = [Span(0, len(shown), style)] if style and shown else []
    styled += [Span(start, end, one) for start, end, one in spans]
    return Content(shown, styled, strip_control_codes=False)


def lines(*parts: tuple[str, str] | str) -> Content:
    """Parts, each text or (text, style), joined into one content."""
    return Content("", strip_control_codes=False).join(
        [content(part) if isinstance(part, str) else content(*part) for part in parts]
    )


def name(text: str, width: int = LONGEST_NAME) -> Content:
    """A name for a title, tab or list entry: one line of at most `width` cells."""
    return Content(one_line(text, width), strip_control_codes=False)


def same(one: Content, other: Content) -> bool:
    """Whether both look the same."""
    return one.plain == other.plain and one.spans == other.spans


class PlainStatic(Static, NeverScrolls):
    """A Static whose strings are text, never markup."""

    def __init__(self, text: str | Content = "", *, id: str | None = None, classes: str | None = None) -> None:
        self._text = text if isinstance(text, Content) else content(text)
        super().__init__(self._text, id=id, classes=classes, markup=False)

    def show(self, text: str | Content) -> None:
        """Replace what is shown; the screen is laid out anew only if that takes other room."""
        shown = text if isinstance(text, Content) else content(text)
        if not same(shown, self._text):
            before, self._text = self._text, shown
            self.update(shown, layout=not self._take_the_same_room(before, shown))

    def _take_the_same_room(self, one: Content, other: Content) -> bool:
        width = self.content_size.width
        if not width or self.styles.is_auto_width:
            return False
        rules = cast(RulesMap, self.styles)  # a mapping of rules, as Textual hands it on itself
        return one.get_height(rules, width) == other.get_height(rules, width)


def plain_notify(
    app: App[Any],
    message: str,
    *,
    title: str = "",
    severity: SeverityLevel = "information",
    timeout: float | None = None,
) -> None:
    """`App.notify` for any text: gated, without markup, shortened to fit a toast."""
    shown = safe(message[: LONGEST_TOAST + 1])
    if len(message) > LONGEST_TOAST:
        shown = shown[:LONGEST_TOAST] + "…"
    app.notify(shown, title=one_line(title, LONGEST_NAME), severity=severity, timeout=timeout, markup=False)


def palette_discovery(text: str, command: IgnoreReturnCallbackType, help: str = "") -> DiscoveryHit:
    """A palette entry shown before anything is typed."""
    return DiscoveryHit(name(text), command, text=one_line(text, LONGEST_NAME), help=_help(help))


def palette_hit(matcher: Matcher, text: str, command: IgnoreReturnCallbackType, help: str = "") -> Hit | None:
    """A palette entry for what was typed, with the matching letters marked; None when nothing matches.

    First stand those whose name has every word that was typed, then those whose description has, then those whose name
    has the letters somewhere, in this order.
    """
    shown = one_line(text, LONGEST_NAME)
    score, offsets = matcher.fuzzy_search.match(matcher.query, shown)
    words = matcher.query.lower().split()
    if not (score and _has_all(words, shown)):
        is_described = max(map(len, words), default=0) >= SHORTEST_WORD and _has_all(words, help)
        if not is_described and not score:
            return None
        score = DESCRIBED if is_described else DESCRIBED * score / (1 + score)
    return Hit(score, _marked(shown, offsets), command, text=shown, help=_help(help))


def _has_all(words: Sequence[str], text: str) -> bool:
    lower = text.lower()
    return all(word in lower for word in words)


def _help(text: str) -> str | None:
    # the palette reads its help line as markup, whatever it is handed
    return one_line(text, LONGEST_NAME).replace("[", "(").replace("]", ")") or None


def _marked(shown: str, offsets: Sequence[int]) -> Content:
    return content(shown, spans=[(offset, offset + 1, "bold underline") for offset in offsets])

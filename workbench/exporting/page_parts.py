"""Small parts of a session's page: switches, the lesson's panel, texts for keyboard navigation."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from adapters.display.as_html import Element, tag
from adapters.display.blocks import Passage, Piece
from adapters.signatures.signature import Field, Signature
from adapters.signatures.type_names import name_of
from sessions.exports import exported
from workbench.lessons.reply_lesson import ReplyStep

LONGEST_NAME = 1_000


def radios(name: str, title: str, options: Sequence[str]) -> Element:
    """Make radio buttons, for which browsers support the arrow keys."""
    choices = []
    for place, option in enumerate(options):
        is_first = {"checked": ""} if place == 0 else {}
        box = tag("input", {"type": "radio", "name": name, "value": str(place), **is_first})
        choices.append(tag("label", {}, box, tag("span", {}, short(option))))
    return tag("fieldset", {"class": "tabs"}, tag("legend", {}, title), *choices)


def field_row(signature: Signature, field: Field) -> list[Element | str]:
    button = tag("button", {"type": "button", "class": "field", "data-light": field.name}, field.name)
    role = "input" if field.name in signature.input_fields else "output"
    return [button, role, name_of(field.annotation), short(field.description or "")]


def step_button(title: str) -> Element:
    return tag("button", {"type": "button", "class": "step"}, title)


def panel(begins: bool = False) -> Element:
    """Make the lesson's panel and the line that names the highlight; with `begins` the page opens on the lesson."""
    back, on, end = [
        tag("button", {"type": "button", "id": name}, words)
        for name, words in (("back", "← Back"), ("next", "Next →"), ("end", "End"))
    ]
    told = (
        tag("h2", {"id": "step-title", "tabindex": "-1"}, "Step by step"),
        tag("p", {"id": "step-words"}, ""),
        tag("div", {"id": "step-facts"}, ""),
    )
    about = tag("p", {"id": "step-place", "class": "dim"}, "")
    panel = tag(
        "aside",
        {"id": "panel", "hidden": "", "aria-label": "Step by step", **({"data-begins": ""} if begins else {})},
        tag("div", {"class": "told"}, about, *told),
        tag("p", {"class": "buttons"}, back, on, end),
    )
    named = tag("p", {"id": "named", "hidden": "", "aria-hidden": "true"}, "")
    return tag("div", {}, panel, named, tag("p", {"id": "said", "role": "status", "class": "unseen"}, ""))


def hint() -> Element:
    return tag(
        "p",
        {"class": "dim screen"},
        "Point at a piece of a prompt, or focus a prompt and press ← and →: the page names the piece and highlights "
        "its origin in every column. Choose a field's name above to highlight everything about that field.",
    )


def focusable(name: str) -> dict[str, str]:
    """Return the attributes of a text that can be scrolled with the keyboard."""
    return {"tabindex": "0", "role": "group", "aria-label": short(name)}


def walked(name: str) -> dict[str, str]:
    """Return the attributes of a text whose pieces can be visited with the keyboard."""
    return {**focusable(name), "class": "pieces"}


def plain(value: object) -> Passage:
    text = value if isinstance(value, str) else exported.readable(value)
    return Passage("", (Piece(text, "value"),))


def touched(step: ReplyStep) -> list[int]:
    """Find the spans of the parse result that a step concerns. Spans are ordered and have no gaps."""
    starts, ends = [one.start for one in step.reading.spans], [one.end for one in step.reading.spans]
    return sorted(
        {place for one in step.spans for place in range(bisect_right(ends, one.start), bisect_left(starts, one.end))}
    )


def lines(lines: Sequence[str]) -> Element:
    return tag("ul", {}, *[tag("li", {}, short(one)) for one in lines])


def short(text: str) -> str:
    """Cut a name or sentence to at most LONGEST_NAME characters."""
    return (
        text if len(text) <= LONGEST_NAME else f"{text[:LONGEST_NAME]}… ({len(text) - LONGEST_NAME:,} more characters)"
    )

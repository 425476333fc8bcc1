"""Show a prompt in three forms: sections with long values folded, raw text, and JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Literal

from adapters.prompts.text import DataPart, Message
from workbench.output.display import safe
from workbench.tui.widgets.prompt import prompt_section
from workbench.tui.widgets.prompt.prompt_section import (
    LONGEST_SHOWN,
    FoldedSection,
    Given,
    IsUnfolded,
    Origin,
    Piece,
    Section,
    pieces_of,
)

PromptForm = Literal["sections", "raw", "json"]
AFTER: dict[PromptForm, PromptForm] = {"sections": "raw", "raw": "json", "json": "sections"}
"""The form that the key switches to from each form."""

LINE_END, TAB, BLANK, OTHER_BLANK = "↵", "→", "·", "⍽"
"""Signs shown in raw text for the end of a line, a tab, a trailing space and any other blank."""
_LAST_BLANKS = re.compile(r" +(?=\n|\Z)")
_OTHER_BLANKS = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
JSON_FRAME = 4
"""Rows of a message's JSON in addition to its content."""


class RawSection(Section):
    """A message's exact text: unfolded, without colours by kind, with visible blanks, and with data parts as JSON."""

    form = "raw"

    def _lay_out(self, given: list[Given], is_unfolded: IsUnfolded) -> None:
        parts = iter([part for part in self.message.parts if isinstance(part, DataPart)])
        texts: list[tuple[str, str]] = []
        for text, kind, _ in given:
            part = next(parts, None) if kind == "data" else None
            texts.append((text if part is None else _json_form(part.payload) + "\n", kind))
        # Make tabs, unusual blanks and trailing spaces visible without changing any offset
        shown = safe("".join([text for text, _ in texts])).replace("\t", TAB)
        shown = _LAST_BLANKS.sub(lambda found: BLANK * len(found[0]), shown)
        shown = _OTHER_BLANKS.sub(OTHER_BLANK, shown)
        start = 0
        for index, (text, kind) in enumerate(texts):
            mine = shown[start : start + len(text)]
            start += len(text)
            cut = mine[:LONGEST_SHOWN].replace("\n", f"{LINE_END}\n")
            self.pieces.append(Piece(cut, "data" if kind == "data" else "value", index))
            self._add_rest(len(mine), index)

    def shown_offset(self, number: int, offset: int) -> int:
        text = pieces_of(self.message)[number][0]
        return offset + text.count("\n", 0, offset)


class JsonSection(Section):
    """A message as the JSON that is sent; every piece still has its origin."""

    form = "json"

    def _lay_out(self, given: list[Given], is_unfolded: IsUnfolded) -> None:
        for text, kind, number in json_pieces(self.message):
            self.pieces.append(Piece(text[:LONGEST_SHOWN], kind, number))
            self._add_rest(len(text), number)

    def shown_offset(self, number: int, offset: int) -> int:
        return len(_json_form(pieces_of(self.message)[number][0][:offset])) - 2


def section_of(
    message: Message,
    width: int,
    form: PromptForm,
    is_unfolded: IsUnfolded,
    is_quiet: bool = False,
    excerpt: int = 0,
) -> Section:
    """Lay out a message at a width in one of the forms.

    `is_unfolded`, `is_quiet` and `excerpt` (the rows of folded text to show) apply only to the form `sections`.
    """
    may_fold = form == "sections" and is_quiet and prompt_section.is_foldable(message)
    if may_fold and not is_unfolded(Origin("fold", None, message.turn)):
        return FoldedSection(message, width, is_unfolded, excerpt)
    made = {"sections": Section, "raw": RawSection, "json": JsonSection}[form]
    return made(message, width, is_unfolded)


def height_of(message: Message, width: int, form: PromptForm) -> int:
    """Estimate the rows of a message without laying it out."""
    length = lines = folded = 0
    for text, kind, _ in message.segments:
        length += len(text)
        lines += text.count("\n")
        fold, count = prompt_section.fold_of(kind), text.count("\n") + len(text) // max(1, width)
        folded += fold.shown if count > fold.above else count
    if form == "sections":
        return 2 + folded
    return 2 + length // max(1, width) + (JSON_FRAME if form == "json" else lines)


def text_of(message: Message, form: PromptForm) -> str:
    """Return the text to copy for a message shown in `form`."""
    return "".join([text for text, _, _ in json_pieces(message)]) if form == "json" else str(message.text)


def heading_of(section: Section) -> str:
    """Return the title of a message, followed by its form unless that is `sections`."""
    mark = f"{prompt_section.FOLDED} " if section.is_title_alone else ""
    return mark + prompt_section.title(section.message) + {"raw": " · raw", "json": " · JSON"}.get(section.form, "")


def json_pieces(message: Message) -> Iterator[tuple[str, str, int]]:
    """Yield a message's JSON in pieces of (text, kind, number as in `pieces_of`, or -1 for the JSON around them)."""
    count = sum(len(part.segments) if not isinstance(part, DataPart) else 1 for part in message.parts)
    extras = {key: count + place for place, key in enumerate(message.extra)}
    yield "{", "boilerplate", -1
    for place, key in enumerate(message.as_dict()):
        yield f"{',' if place else ''}\n  {json.dumps(key, ensure_ascii=False)}: ", "boilerplate", -1
        if key in extras:
            yield _json_form(message.extra[key], "  "), "data", extras[key]
        elif key == "content":
            yield from _content(message)
        else:
            yield _json_form(message.role), "boilerplate", -1
    yield "\n}", "boilerplate", -1


def _content(message: Message) -> Iterator[tuple[str, str, int]]:
    if not message.parts:
        yield "null", "boilerplate", -1
        return
    is_list = isinstance(message.content, list)
    number = 0
    for place, part in enumerate(message.parts):
        if is_list:
            yield ("[" if place == 0 else ",") + "\n    ", "boilerplate", -1
        if isinstance(part, DataPart):
            yield _json_form(part.payload, "    "), "data", number
            number += 1
            continue
        yield '{"type": "text", "text": "' if is_list else '"', "boilerplate", -1
        for text, kind, _ in part.segments:
            yield _json_form(text)[1:-1], kind, number
            number += 1
        yield '"}' if is_list else '"', "boilerplate", -1
    if is_list:
        yield "\n  ]", "boilerplate", -1


def _json_form(value: Any, indent: str = "") -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=_plain).replace("\n", f"\n{indent}")


def _plain(value: Any) -> Any:
    return dict(value) if hasattr(value, "keys") else repr(value)

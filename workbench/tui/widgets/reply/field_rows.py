"""Describe a parse result as rows for each field: raw text, each step, value."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from rich.cells import cell_len

from adapters.replies.flag import MISSING, Flag
from adapters.replies.reading import MOST_FIXES, FieldReading, FieldState, NearMiss, Reading
from adapters.signatures.type_names import written
from workbench.output.display import one_line, safe, short_name, value_text
from workbench.output.reading_text import raised_by, would_parse_as
from workbench.tui.widgets.text.wrapping import rows as wrapped

LOOKS: Mapping[FieldState, tuple[str, str, str]] = {
    "read": ("✓", "ok", ""),
    "native": ("✓", "ok", "returned by the provider outside the text"),
    "default": ("○", "warning", "not in the reply: default used"),
    "missing": ("✗", "error", ""),
    "failed": ("✗", "error", "found, but does not match the type"),
    "unread": ("–", "note", "found, but the parser had already stopped"),
}
"""The sign of each state, the style of the sign, and an explanation."""
SHORTEST_TYPE = 12
"""Cells below which a truncated type is left out."""
SHORTEST_VALUE = 12
"""Cells below which a truncated value gets the room of its type."""
MOST_NEAR_MISSES = 5
LOST = "fields-lost-with-the-error"
"""The flag that is the heading of the fields that could be parsed."""
MOST_LINES = 40
"""Maximum lines shown of a second model's reply."""
MOST_ROWS_OF_WORDS = 6


class Row(NamedTuple):
    """A row: pieces of `safe` text with the names of their styles, its field, if any, and whether it is a fix."""

    pieces: tuple[tuple[str, str], ...]
    field: str | None = None
    is_fix: bool = False


def rows_of(
    reading: Reading, width: int, toggled: Collection[str] = frozenset(), beside: Collection[str] = frozenset()
) -> list[Row]:
    """Return all rows at a width in cells; `toggled` fields are open instead of closed, or vice versa.

    Fixes that use an adapter that has a column, one of `beside`, are left out.
    """
    flags = reading.flags
    found = list(_verdict(reading, width))
    # near misses are searched during a pause, because each guess is parsed; until then there are none
    near_misses: tuple[NearMiss, ...] = vars(reading).get("near_misses", ())[:MOST_NEAR_MISSES]
    verdict_fields: list[FieldReading] = []
    others: list[FieldReading] = []
    for field in reading.fields.values():
        is_salvage = not reading.ok and field.state in ("read", "default")
        (others if is_salvage else verdict_fields).append(field)
    for field in verdict_fields:
        found += _field(reading, field, flags, width, toggled)
    # the heading of the others says that they are lost
    general = [one for one in flags if one.field is None and not (one.name == LOST and others)]
    is_diagnosed = not reading.ok and "diagnosis" in vars(reading)
    causes = tuple([one.message.removesuffix(".") for one in reading.diagnosis]) if is_diagnosed else ()
    for flag in [one for one in general if one.message.startswith(causes)]:
        found += _message("⚠", flag.message, "warning", width)
    if is_diagnosed:
        found += _diagnosis(reading, near_misses, width, beside)
    for flag in [one for one in general if not one.message.startswith(causes)]:
        found += _message("⚠", flag.message, "warning", width)
    for miss in near_misses:
        found += [*_message("?", miss.message, "warning", width), *_message(" →", would_parse_as(miss), "note", width)]
    if others:
        found += _heading("parsed, but lost with the error", width)
        for field in others:
            found += _field(reading, field, flags, width, toggled)
    if reading.extraction is not None:
        found += _heading("reply of the second model", width)
        lines = reading.extraction.completion.strip().split("\n")
        for line in lines[:MOST_LINES]:
            found += _message("", line, "note", width) or [Row(())]
        if len(lines) > MOST_LINES:
            found += _message("", f"… and {len(lines) - MOST_LINES:,} more lines", "note", width)
        found += _verdict(reading.extraction, width)
    return found


def _diagnosis(reading: Reading, near_misses: Iterable[NearMiss], width: int, beside: Collection[str]) -> Iterable[Row]:
    """Describe the causes that no flag or near miss mentions, and the best fixes."""
    said = [*(one.message for one in reading.flags), *(one.message for one in near_misses)]
    for cause in reading.diagnosis:
        if cause.cause == MISSING and reading.error is not None and reading.error.start is None:
            continue  # the verdict and the field's row name the field
        if not any(one.startswith(cause.message.removesuffix(".")) for one in said):
            yield from _message("✗", cause.message, "warning", width)
    fixes = [one for cause in reading.diagnosis for one in cause.fixes if one.change.get("adapter") not in beside]
    for message in list(dict.fromkeys(one.message for one in fixes))[:MOST_FIXES]:
        yield from [row._replace(is_fix=True) for row in _message("+", message, "note", width)]


def _verdict(reading: Reading, width: int) -> Iterable[Row]:
    error = reading.error
    if error is None:
        return []
    place = ""
    if error.start is not None:
        line, column = reading.line_and_column(error.start)
        place = f"line {line}, column {column}: "
    return [
        *_message("✗", f"{place}{_sentence(error.message)}", "problem", width),
        *_message("", f"{raised_by(reading)} raises {error.type}", "note", width),
    ]


def _field(
    reading: Reading, field: FieldReading, flags: tuple[Flag, ...], width: int, toggled: Collection[str]
) -> list[Row]:
    own_flags = [flag for flag in flags if flag.field == field.name]
    starts_open = field.state == "failed" or bool(own_flags)
    is_open = starts_open != (field.name in toggled)
    found = [_head(reading, field, own_flags, is_open, width)]
    if not is_open:
        return found
    _, _, words = LOOKS[field.state]
    if words:
        found += _message("", words, "note", width)
    from adapters.values.coercion import RULE_WORDS

    if field.raw is not None:
        probability = reading.probability(field.name)
        told = "" if probability is None else f", probability {probability:.3g}"
        found += _link("", field.raw, f"in the reply{told}", width)
    for step in field.steps:
        place = f" ({step.path})" if step.path else ""
        found += _link("→", step.after, RULE_WORDS.get(step.rule, step.rule) + place, width)
        if step.note:
            found += _message("", step.note, "note", width)
    declared = reading.signature.output_fields.get(field.name)
    is_told = declared is not None and written(declared.annotation) == type(field.value).__name__
    if field.steps and field.state in ("read", "default") and not is_told:
        found.append(_row([("    = ", "note"), (type(field.value).__name__, "type")]))
    if field.error and (reading.error is None or reading.error.field != field.name):
        found += _message("✗", _sentence(field.error), "problem", width)
    for flag in own_flags:
        found += _message("⚠", flag.message, "warning", width)
    return [row._replace(field=field.name) for row in found]


def _head(reading: Reading, field: FieldReading, flags: list[Flag], is_open: bool, width: int) -> Row:
    declared = reading.signature.output_fields.get(field.name)
    annotation = safe(written(declared.annotation)) if declared is not None else ""
    sign, style, _ = LOOKS[field.state]
    pieces = [
        ("▾ " if is_open else "▸ ", "note"),
        (f"{sign} ", style),
        (short_name(field.name, max(4, width // 2)), "name"),
        ("  ", "value"),
    ]
    is_read = field.state in ("read", "default", "native")
    room = max(1, width - sum(cell_len(text) for text, _ in pieces) - 2 * bool(flags))
    told = one_line(_untyped_value(field.value, annotation) if is_read else field.state, room + 1)
    shown_type = _type_beside(annotation, cell_len(told), room)
    middle = one_line(told, max(1, room - (cell_len(shown_type) + 2 if shown_type else 0)))
    gap = " " * max(1, room - cell_len(middle) - cell_len(shown_type))
    tail = [(gap, "value"), *([("⚠ ", "warning")] if flags else []), (shown_type, "type")]
    return _row([*pieces, (middle, "value" if is_read else style), *tail])._replace(field=field.name)


def _type_beside(annotation: str, told: int, room: int) -> str:
    """Fit a type into `room` cells after a value of `told` cells.

    A value that fits without the type is never cut for it. Any other value leaves a third of the room to the type, if
    that is enough to recognise it.
    """
    if told + 2 + cell_len(annotation) <= room:
        return annotation
    shown = one_line(annotation, room // 3)
    if shown.endswith("…") and cell_len(shown) < SHORTEST_TYPE:  # a few letters of it say nothing
        return ""
    needed = told if told <= room else SHORTEST_VALUE
    return shown if room - 2 - cell_len(shown) >= needed else ""


def _untyped_value(value: Any, annotation: str) -> str:
    """Write a value without its type's name, which the row already shows."""
    if type(value) in (datetime.date, datetime.datetime, datetime.time, decimal.Decimal):
        return str(value)  # a string would be in quotes
    said, named = value_text(value), f"{annotation}("
    return said[len(named) : -1] if said.startswith(named) and said.endswith(")") else said


def _link(arrow: str, value: Any, words: str, width: int) -> list[Row]:
    """Return the rows of a step: the value, with its rule on the same row or below it."""
    lead = f"    {arrow:<2}"
    shown = one_line(value_text(value), max(4, width - len(lead)))
    room = width - len(lead) - cell_len(shown) - 2
    if len(words) <= room and cell_len(one_line(words, room)) <= room:
        return [_row([(lead, "note"), (shown, "value"), ("  " + one_line(words, room), "note")])]
    return [
        _row([(lead, "note"), (shown, "value")]),
        *[Row(((f"        {line}", "note"),)) for line in _wrap(words, width - 8)],
    ]


def _heading(words: str, width: int) -> list[Row]:
    rule = "─" * max(0, width - cell_len(words) - 1)
    return [Row(()), _row([(words, "heading"), (" " + rule, "rule")])]


def _message(mark: str, text: str, style: str, width: int) -> list[Row]:
    lead = f"  {mark:<{max(2, len(mark) + 1)}}"
    words = "message" if style == "warning" else style
    return [
        Row(((" " * len(lead) if number else lead, style), (line, words)))
        for number, line in enumerate(_wrap(text, width - len(lead)))
    ]


def _sentence(message: str) -> str:
    """Return an error message on a single line, without pydantic's link to its documentation."""
    kept = [line.strip() for line in message.splitlines()]
    return " ".join([line for line in kept if line and not line.startswith("For further information visit")])


def _wrap(text: str, width: int) -> list[str]:
    shown = one_line(text, MOST_ROWS_OF_WORDS * max(8, width))
    return [shown[start:end] for start, end in wrapped(shown, max(8, width))][:MOST_ROWS_OF_WORDS]


def _row(pieces: Iterable[tuple[str, str]]) -> Row:
    return Row(tuple([(text, style) for text, style in pieces if text]))

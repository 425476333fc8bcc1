"""How ChatAdapter reads a reply: sections under `[[ ## field ## ]]` markers, the first of each field taken.

Rule: `dspy.adapters.chat_adapter.ChatAdapter.parse`, of which two things surprise: every kind of line break becomes
`\\n`, and the rest of an indented marker's line starts as many characters too early as the marker is indented.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from adapters.replies.reading import Extract, Reading, Span, SpanKind
from adapters.replies.reading_builder import Findings, partition, reason
from adapters.signatures.signature import Signature
from adapters.values.coercion import RULES

MARKER = re.compile(r"\[\[ ## (\w+) ## \]\]")
BREAK = re.compile("\r\n|[\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")
UNUSUAL_BREAKS = "\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
BREAKS = frozenset("\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")


class Section(NamedTuple):
    """One marker with what follows: `name`, where marker and value stand, and the value's text as dspy has it.

    `on_marker_line` says that the value begins on the marker's own line; `is_plain` that `text` is the reply's own.
    """

    name: str
    marker_start: int
    marker_end: int
    start: int
    end: int
    text: str
    on_marker_line: bool
    is_plain: bool


def read_chat(signature: Signature, completion: str, adapter: str) -> Reading:
    """The reading of a reply under the Chat format."""
    outputs = signature.output_fields
    found = Findings(adapter, signature, completion)
    spans: list[Span] = []
    for section in sections(completion):
        name = section.name
        if name not in outputs:
            spans.extend(_unread_spans(section, None))
            continue
        if name in found.fields:
            spans.extend(_unread_spans(section, name))
            continue
        spans.append(Span(section.marker_start, min(section.marker_end, section.start), "marker", name))
        spans.append(Span(section.start, section.end, "value", name))
        place = (section.start, section.end)
        joined = None
        if not section.is_plain and completion[section.start : section.end] != section.text:
            rule = "join_marker_line" if section.on_marker_line else "join_lines"
            joined = Extract(rule, *place, section.text)
        error = found.coerce(name, section.text, place, [], joined)
        if isinstance(error, ValueError):
            message = (
                f"Failed to parse field {name} with value {section.text} from the LM response. Error message: {error}"
            )
            found.fail(found.parse_error(message, adapter_name="ChatAdapter"), name, place, f"{name}: {reason(error)}")
        elif error is not None:
            found.fail(error, name, place)
    found.complete("ChatAdapter")
    return found.reading(partition(spans, len(completion)))


def sections(completion: str) -> list[Section]:
    """Every marker that begins a line, with the text up to the next."""
    unusual = any(character in completion for character in UNUSUAL_BREAKS)
    heads: list[tuple[str, int, int, int]] = []
    for match in MARKER.finditer(completion):
        line_start = _line_start(completion, match.start())
        if line_start >= 0:
            heads.append((match.group(1), line_start, match.start(), match.end()))
    found: list[Section] = []
    for index, (name, line_start, marker_start, marker_end) in enumerate(heads):
        section_end = heads[index + 1][1] if index + 1 < len(heads) else len(completion)
        line_end, body_start = _line_end(completion, marker_end, unusual)
        rest_start = line_start + (marker_end - marker_start)
        found.append(
            _section(
                completion, name, (marker_start, marker_end), (rest_start, line_end), (body_start, section_end), unusual
            )
        )
    return found


def _section(
    completion: str, name: str, marker: tuple[int, int], rest: tuple[int, int], body: tuple[int, int], unusual: bool
) -> Section:
    rest_text = completion[rest[0] : rest[1]]
    remainder = rest_text.strip()
    body_text = completion[body[0] : body[1]]
    if remainder:
        start = rest[0] + len(rest_text) - len(rest_text.lstrip())
        kept = body_text.rstrip()
        end = body[0] + len(kept) if kept else start + len(remainder)
        raw = completion[start:end]
        return Section(
            name, *marker, start, end, RULES["join_marker_line"](raw, None) if kept else remainder, True, False
        )
    stripped = body_text.strip()
    start = body[0] + len(body_text) - len(body_text.lstrip()) if stripped else max(marker[1], body[0])
    text = "\n".join(stripped.splitlines()) if unusual else stripped
    return Section(name, *marker, start, start + len(stripped), text, False, not unusual)


def _line_start(completion: str, position: int) -> int:
    """Where the line of the marker at `position` begins; -1 when more than white space stands before it."""
    start = position
    while start > 0:
        character = completion[start - 1]
        if character in BREAKS:
            return start
        if not character.isspace():
            return -1
        start -= 1
    return 0


def _line_end(completion: str, position: int, unusual: bool) -> tuple[int, int]:
    """Where the line ends, and where the next one begins."""
    if not unusual:
        end = completion.find("\n", position)
        return (end, end + 1) if end >= 0 else (len(completion), len(completion))
    match = BREAK.search(completion, position)
    return match.span() if match else (len(completion), len(completion))


def _unread_spans(section: Section, name: str | None) -> list[Span]:
    """A section that is not taken: a second one for a field, the end marker, or one for no field at all."""
    if name is None and section.name == "completed":
        return [Span(section.marker_start, section.marker_end, "marker")]
    kind: SpanKind = "unknown" if name is None else "duplicate"
    end = max(section.marker_end, section.end)
    return [Span(section.marker_start, end, kind, name)]

"""How ChatAdapter reads a reply: the sections under its markers, the first of each field taken.

Rule: `dspy.adapters.chat_adapter.ChatAdapter.parse`.
"""

from __future__ import annotations

from adapters.replies.reading import Extract, Reading, Span, SpanKind
from adapters.replies.reading_builder import Findings, partition, reason
from adapters.replies.sections import Section, sections
from adapters.signatures.signature import Signature


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


def _unread_spans(section: Section, name: str | None) -> list[Span]:
    """A section that is not taken: a second one for a field, the end marker, or one for no field at all."""
    if name is None and section.name == "completed":
        return [Span(section.marker_start, section.marker_end, "marker")]
    kind: SpanKind = "unknown" if name is None else "duplicate"
    end = max(section.marker_end, section.end)
    return [Span(section.marker_start, end, kind, name)]

"""Export a request, or its messages, as OpenAI's chat completions write them."""

from __future__ import annotations

from sessions.exports import json_text
from sessions.exports.exported import Exported, Source, beside


def messages(source: Source) -> Exported:
    """`[{"role", "content"}, …]`, as the adapter's `format` returns them."""
    view = source.first
    request = view.request
    others = [name for name in request.params if name not in view.session.params_of(view.column)]
    left = (f"what goes out beside the messages: {', '.join(others)} (the export as request has it)",) if others else ()
    text = json_text.pretty(request.prompt.as_dicts())
    return Exported(text + "\n", (*left, *beside(view)))


def request(source: Source) -> Exported:
    """`{"model", "messages", …parameters}`."""
    view = source.first
    left = beside(view)
    return Exported(json_text.pretty(view.request.as_dict()) + "\n", left)

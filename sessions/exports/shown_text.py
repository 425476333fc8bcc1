"""Messages as people read them: a title, the pieces of the text, and parts that are no text in a few words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from adapters.prompts.prompt import Message
from adapters.prompts.text import Segment, Text
from sessions.model.recording import as_json

LONGEST_DATA = 120
"""Characters of one text in data (an image, a file) which are shown."""
DATA = "data"


def title(message: Message) -> str:
    """`system`, `user · demo 1`, `assistant · history 2`, `user`."""
    return message.role if message.turn in ("inputs", message.role) else f"{message.role} · {message.turn}"


def pieces(message: Message) -> Iterator[tuple[str, str]]:
    """What the message shows, as (text, kind): kinds of segments, and `data` for a line about what is no text."""
    for part in message.parts:
        if isinstance(part, Text):
            yield from ((segment.text, segment.kind) for segment in part.segments if isinstance(segment, Segment))
        else:
            yield f"\n{data(part.payload)}\n", DATA
    for call in message.extra.get("tool_calls") or ():
        yield f"\n{data(call)}\n", DATA


def has_data(message: Message) -> bool:
    return any(not isinstance(part, Text) for part in message.parts)


def data(payload: Any) -> str:
    """The JSON of a part on one line, its long texts cut to a beginning and their length."""
    return json.dumps(without_bytes(as_json(payload)), ensure_ascii=False)


def without_bytes(value: Any) -> Any:
    """The same JSON with texts that are no words (long and without a blank) cut to a beginning and their length."""
    if isinstance(value, str) and len(value) > LONGEST_DATA and not any(map(str.isspace, value)):
        return f"{value[:40]}… ({len(value):,} characters)"
    if isinstance(value, Mapping):
        return {key: without_bytes(one) for key, one in value.items()}
    return [without_bytes(one) for one in value] if isinstance(value, list) else value


def visible(text: str, keep: str = "\n") -> str:
    """`text` with every sign that does not print (but those of `keep`) as one that does: ␛ for ESC, ⟨U+202E⟩."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in keep else _picture(one) for one in text)


def _picture(sign: str) -> str:
    if sign == "\t":
        return "    "
    if sign < " ":
        return chr(0x2400 + ord(sign))
    return "␡" if sign == "\x7f" else f"⟨U+{ord(sign):04X}⟩"

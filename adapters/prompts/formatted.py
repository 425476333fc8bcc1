"""Reads the messages that an adapter's `format` returns: a list, or an object with `system` and `messages`.

The list is dspy's up to 3.4; the object is the shape of its `dspy.lm15.Request`, with which dspy 3.5 means to call
models. dspy is not imported: objects are recognised by their attributes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

RETURNS = "`format` returns a list of messages, or an object with `system` and `messages`"


def message_dicts(formatted: Any) -> list[Mapping[str, object]]:
    """`[{"role", "content", …}]`, the system message first. Raises TypeError for what is neither shape."""
    messages = _of(formatted, "messages")
    if messages is None:
        if not _is_list(formatted):
            raise TypeError(f"{RETURNS}, not {type(formatted).__name__}")
        return [_message(one) for one in formatted]
    if not _is_list(messages):
        raise TypeError(f"{RETURNS}; its `messages` are a {type(messages).__name__}")
    system = _of(formatted, "system")
    head = [] if system is None else [{"role": "system", "content": _content(system)}]
    return [*head, *[_message(one) for one in messages]]


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _of(value: object, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _message(message: object) -> Mapping[str, object]:
    if isinstance(message, Mapping) and "parts" not in message:
        return message
    role, parts = _of(message, "role"), _of(message, "parts")
    if not isinstance(role, str) or (parts is None and not hasattr(message, "content")):
        raise TypeError(f"a message has a `role` and its `content` or `parts`; {type(message).__name__} has not")
    return {"role": role, "content": _content(_of(message, "content") if parts is None else parts)}


def _content(content: Any) -> object:
    """Text where all is text, as dspy writes its history (`lm15_boundary.history_messages`); else a list of parts."""
    if not _is_list(content):
        return content
    texts = [_of(part, "text") if _of(part, "type") == "text" else None for part in content]
    said = [one for one in texts if isinstance(one, str)]
    if said and len(said) == len(texts) and not isinstance(content[0], Mapping):
        return "\n".join(said)
    return [_part(part) for part in content]


def _part(part: object) -> Mapping[str, object]:
    """Convert a part to the form of the providers' chat APIs; unknown parts keep their type and content."""
    if isinstance(part, Mapping):
        return part
    kind, url, data = _of(part, "type"), _of(part, "url"), _of(part, "data")
    if kind == "image" and (url or data):
        return {"type": "image_url", "image_url": {"url": url or f"data:{_of(part, 'media_type')};base64,{data}"}}
    if kind == "text":
        return {"type": "text", "text": _of(part, "text")}
    slots = getattr(type(part), "__slots__", ())
    names = (slots,) if isinstance(slots, str) else tuple(slots)
    members = vars(part) if hasattr(part, "__dict__") else {name: _of(part, name) for name in names}
    return {"type": str(kind), **{name: value for name, value in members.items() if name != "type" and value}}

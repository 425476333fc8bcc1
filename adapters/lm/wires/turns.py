"""Read the messages of a chat request as turns, for APIs with message formats of their own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from adapters.lm.wires.dspys_client import EMBEDDED, NotTakenError, call_of, role_of


class Words(NamedTuple):
    """A part that is text."""

    text: str


class Data(NamedTuple):
    """An embedded image or file; `kind` is `image` or `document`."""

    kind: str
    media_type: str
    base64: str


class Link(NamedTuple):
    """An image by address."""

    url: str


class Call(NamedTuple):
    """A tool call; `arguments` are a JSON object."""

    id: str
    name: str
    arguments: Mapping[str, Any]


class Result(NamedTuple):
    """The result of the tool call `id`; `name` is "" if unknown."""

    id: str
    name: str
    text: str


Part = Words | Data | Link | Call | Result


class Turn(NamedTuple):
    """A turn of `user`, `assistant` or `tool`."""

    role: str
    parts: list[Part]


_KINDS = {"image_url": ("image", "url"), "file": ("document", "file_data")}


def turns_of(messages: Sequence[Mapping[str, Any]]) -> tuple[str, list[Turn]]:
    """Return the system message and the turns; consecutive tool results share a turn. Raises NotTakenError.

    Rule: `dspy._vendor.lm15.providers.openai_chat._ingest_messages`.
    """
    system = ""
    turns: list[Turn] = []
    names: dict[str, str] = {}
    for number, one in enumerate(messages):
        role, content, calls = role_of(one), one.get("content"), [call_of(call) for call in one.get("tool_calls") or []]
        if role in ("system", "developer") and isinstance(content, str):
            if number == 0:
                system = content
            else:
                turns.append(Turn("user", [Words(f"[developer]\n{content}")]))
        elif role == "user":
            turns.append(Turn("user", _parts(content)))
        elif role == "assistant":
            names |= {id: name for id, name, _ in calls}
            parts = [] if content is None and calls else _parts(content)
            made = [Call(id, name, json.loads(arguments)) for id, name, arguments in calls]
            turns.append(Turn("assistant", [*parts, *made]))
        elif role == "tool" and isinstance(content, str):
            id = one["tool_call_id"]
            result = Result(id, one.get("name") or names.get(id, ""), content)
            if turns and turns[-1].role == "tool":
                turns[-1].parts.append(result)
            else:
                turns.append(Turn("tool", [result]))
        else:
            raise NotTakenError(f"a message of the role {role!r}")
    if not turns:
        raise NotTakenError("no message but the system's")
    return system, turns


def _parts(content: object) -> list[Part]:
    if isinstance(content, str):
        return [Words(content)]
    if not isinstance(content, list) or not content:
        raise NotTakenError("a message without content")
    return [_part(one) for one in content]


def _part(block: Mapping[str, Any]) -> Part:
    kind = block.get("type")
    inner = block.get(str(kind))
    if set(block) == {"type", kind}:
        if kind == "text" and isinstance(inner, str):
            return Words(inner)
        made, key = _KINDS.get(str(kind), ("", ""))
        if isinstance(inner, Mapping) and set(inner) == {key} and isinstance(inner[key], str):
            embedded = EMBEDDED.fullmatch(inner[key])
            if embedded is not None:
                return Data(made, embedded[1], embedded[2])
            if made == "image" and inner[key] and not inner[key].startswith("data:"):
                return Link(inner[key])
    raise NotTakenError(f"a part of the type {kind}")

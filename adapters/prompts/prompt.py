"""The messages an adapter makes, with the origin of every character."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from adapters.prompts.text import Segment, Text
from adapters.shown import as_text
from adapters.shown.blocks import Note, Passage, Piece, Shown
from adapters.shown.colours import DATA
from adapters.shown.itself import ShowsItself
from adapters.values.plain_json import plain

NOTHING: Mapping[str, Any] = MappingProxyType({})


def nothing() -> Mapping[str, Any]:
    """`NOTHING` as a default: dataclasses of Python 3.11 refuse a mapping proxy itself."""
    return NOTHING


@dataclass(frozen=True, slots=True)
class DataPart:
    """A content part that is not text (an image, a file, …): the provider's JSON object, and the field it came from."""

    payload: Mapping[str, Any]
    field: str | None = None

    @property
    def piece(self) -> Piece:
        """The line that stands for it where only text is shown."""
        return Piece(f"\n{as_text.data_line(plain(self.payload))}\n", DATA, self.field or "", self.field or "")


@dataclass(frozen=True, slots=True)
class Message(ShowsItself):
    """One chat message.

    `turn` is `system`, `demo N`, `history N` or `inputs`, N the 1-based place in what was given to the adapter.
    `parts` is one `Text` for plain content; with `is_list` the content goes out as a list of parts; no parts is
    content `None`. `extra` holds what a message carries beside role and content (`tool_calls`, `tool_call_id`, `name`).
    """

    role: str
    turn: str
    parts: tuple[Text | DataPart, ...]
    is_list: bool = False
    extra: Mapping[str, Any] = field(default_factory=nothing)

    @property
    def content(self) -> str | list[dict[str, Any]] | None:
        """The content as it goes out: a string, a list of parts, or None."""
        if self.is_list:
            return [
                {"type": "text", "text": str(part)} if isinstance(part, Text) else dict(part.payload)
                for part in self.parts
            ]
        if not self.parts:
            return None
        (only,) = self.parts
        return only if isinstance(only, Text) else [dict(only.payload)]

    @property
    def text(self) -> Text:
        """The text parts joined."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Text):
            return self.parts[0]
        return Text(self.segments)

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The segments of the text parts, in order."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Text):
            return self.parts[0].segments
        return tuple(segment for part in self.parts if isinstance(part, Text) for segment in part.segments)

    @property
    def title(self) -> str:
        """`system`, `user · demo 1`, `assistant · history 2`, `user`."""
        return self.role if self.turn in ("inputs", self.role) else f"{self.role} · {self.turn}"

    @property
    def has_data(self) -> bool:
        """Whether a part of it is no text."""
        return any(not isinstance(part, Text) for part in self.parts)

    @property
    def passage(self) -> Passage:
        """The message as people read it: every piece with its kind and field, a line for what is no text."""
        pieces: list[Piece] = []
        for part in self.parts:
            pieces += map(piece_of, part.segments) if isinstance(part, Text) else [part.piece]
        return Passage(self.title, (*pieces, *self.calls))

    @property
    def calls(self) -> tuple[Piece, ...]:
        """A line for each call of a tool that stands beside the content."""
        calls = self.extra.get("tool_calls") or ()
        return tuple([Piece(f"\n{as_text.data_line(plain(call))}\n", DATA, "a call of a tool") for call in calls])

    def shown(self) -> Shown:
        return Shown("", (self.passage,))

    def as_dict(self) -> dict[str, Any]:
        """The message as dspy and the providers' APIs write it."""
        if self.role == "tool":
            return {"role": self.role, **self.extra, "content": self.content}
        return {"role": self.role, "content": self.content, **self.extra}


def piece_of(segment: Segment) -> Piece:
    """A segment as people read it."""
    says = f"{segment.kind} of {segment.field}" if segment.field else segment.kind
    return Piece(segment.text, segment.kind, says, segment.field or "")


@dataclass(frozen=True, slots=True)
class DemoUse:
    """What `format_demos` did with the demo at 1-based `number`; `missing` names the fields it lacks or has as None."""

    number: int
    use: Literal["complete", "incomplete", "dropped"]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Prompt(ShowsItself):
    """Every message of one request, in order, and how each demo was used."""

    messages: tuple[Message, ...]
    demos: tuple[DemoUse, ...] = ()
    notes: tuple[str, ...] = ()
    """What the adapter left out or could not hold, in words."""
    reusable: Any = field(default=None, repr=False, compare=False)
    """What `Adapter.render(..., reuse=prompt)` takes over."""

    def as_dicts(self) -> list[dict[str, Any]]:
        """The messages as `format` returns them."""
        return [message.as_dict() for message in self.messages]

    def shown(self) -> Shown:
        return Shown("", (*[message.passage for message in self.messages], *[Note(note) for note in self.notes]))

"""The messages of an adapter, made of text that records the origin of each character.

A `Text` is a `str`, equal to the plain string of dspy's adapter. Its `segments` partition it: joined, they are the
string, without gaps or overlaps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, SupportsIndex, get_args

from adapters.display import as_text
from adapters.display.as_text import ShowsItself
from adapters.display.blocks import DATA, Note, Passage, Piece, Shown
from adapters.late_dataclasses import dataclass, field
from adapters.values.plain_json import plain

Kind = Literal[
    "instructions",
    "name",
    "type",
    "description",
    "constraint",
    "schema",
    "value",
    "marker",
    "reminder",
    "filler",
    "boilerplate",
    "custom",
]
"""Kind of a piece of a prompt; `custom` is text of unknown origin."""

KINDS: tuple[Kind, ...] = get_args(Kind)


class Segment(NamedTuple):
    """A piece of text, its kind, and the signature field of its origin, or None."""

    text: str
    kind: Kind
    field: str | None = None


_new_str = str.__new__
_new_segment = tuple.__new__


def value_segment(text: str, field: str) -> Segment:
    """Return `Segment(text, "value", field)`, faster: a prompt of 1,000 demos has ten thousand of these."""
    return _new_segment(Segment, (text, "value", field))


class Text(str):
    """A string with `segments`; `strip`, `slice` and `+` keep them, other methods return a plain `str`."""

    __slots__ = ("__weakref__", "segments")
    segments: tuple[Segment, ...]

    def __new__(cls, segments: Iterable[Segment] = ()) -> Text:
        kept = tuple(segments)
        texts = [segment[0] for segment in kept]
        if "" in texts:
            kept = tuple([segment for segment in kept if segment[0]])
        self = _new_str(cls, "".join(texts))
        self.segments = kept
        return self

    @classmethod
    def of(cls, text: str, kind: Kind = "custom", field: str | None = None) -> Text:
        """Convert `text` to a Text with a single segment of `kind`; return it unchanged if it is a Text."""
        return text if isinstance(text, Text) else cls((Segment(text, kind, field),))

    def slice(self, start: int, end: int) -> Text:
        """Return the characters from `start` to `end` (0 ≤ start ≤ end ≤ length), with their origins."""
        if start == 0 and end == len(self):
            return self
        pieces: list[Segment] = []
        position = 0
        for segment in self.segments:
            text = segment[0]
            following = position + len(text)
            if following > start:
                if position >= end:
                    break
                if position < start or following > end:
                    text = text[max(0, start - position) : end - position]
                    segment = _new_segment(Segment, (text, segment[1], segment[2]))
                pieces.append(segment)
            position = following
        return Text(pieces)

    def strip(self, chars: str | None = None, /) -> Text:
        if chars is None and self and not self[0].isspace() and not self[-1].isspace():
            return self
        end = len(str.rstrip(self, chars))
        if end == 0:
            return Text()
        return self.slice(len(self) - len(str.lstrip(self, chars)), end)

    def __add__(self, other: str) -> Text:
        return Text((*self.segments, *Text.of(other).segments))

    def __radd__(self, other: str) -> Text:
        return Text((*Text.of(other).segments, *self.segments))

    def __mul__(self, count: SupportsIndex) -> str:
        return str(self) * count

    def __str__(self) -> str:
        return str.__str__(self)

    def __reduce__(self) -> tuple[object, ...]:
        return (Text, (self.segments,))


def join(separator: str, parts: Sequence[str], kind: Kind = "boilerplate") -> Text:
    """Return `separator.join(parts)` with the origins of `parts`; separators have the kind `kind`."""
    self = _new_str(Text, separator.join(parts))
    between = Segment(separator, kind)
    segments: list[Segment] = []
    for index, part in enumerate(parts):
        if index and separator:
            segments.append(between)
        if isinstance(part, Text):
            segments.extend(part.segments)
        elif part:
            segments.append(Segment(part, "custom"))
    self.segments = tuple(segments)
    return self


Values = Mapping[str, object]
"""Values by field name: inputs, outputs, a demo or a turn."""
Demos = Sequence[Values]

NOTHING: Values = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class DataPart:
    """A content part that is not text, such as an image.

    `payload` is the provider's JSON object, `field` the field of its origin.
    """

    payload: Mapping[str, object]
    field: str | None = None

    @property
    def piece(self) -> Piece:
        """A line of text that represents the part on text-only displays."""
        return Piece(f"\n{as_text.data_line(plain(self.payload))}\n", DATA, self.field or "", self.field or "")


@dataclass(frozen=True, slots=True)
class Message(ShowsItself):
    """A chat message.

    `turn` is `system`, `demo N`, `history N` or `inputs`, with the 1-based number of the demo or turn passed to the
    adapter. `parts` is a single `Text` for plain content, empty for content `None`; with `is_list`, the content is sent
    as a list of parts. `extra` contains further keys of the message (`tool_calls`, `tool_call_id`, `name`).
    """

    role: str
    turn: str
    parts: tuple[Text | DataPart, ...]
    is_list: bool = False
    # A factory, as dataclasses of Python 3.11 reject a mapping proxy as a default.
    extra: Mapping[str, Any] = field(default_factory=lambda: NOTHING)

    def __reduce__(self) -> tuple[Any, ...]:
        return Message, (self.role, self.turn, self.parts, self.is_list, dict(self.extra))  # a proxy is not pickled

    @property
    def content(self) -> str | list[dict[str, object]] | None:
        """The content as sent: a string, a list of parts, or None."""
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
        """The title of the message: `system`, `user · demo 1`, `assistant · history 2`, `user`."""
        return self.role if self.turn in ("inputs", self.role) else f"{self.role} · {self.turn}"

    @property
    def passage(self) -> Passage:
        """The message for display: each segment with its kind and field, and a line for each other part."""
        pieces: list[Piece] = []
        for part in self.parts:
            pieces += map(piece_of, part.segments) if isinstance(part, Text) else [part.piece]
        return Passage(self.title, (*pieces, *self.calls))

    @property
    def calls(self) -> tuple[Piece, ...]:
        """A line for each tool call of the message."""
        calls = self.extra.get("tool_calls") or ()
        return tuple([Piece(f"\n{as_text.data_line(plain(call))}\n", DATA, "a call of a tool") for call in calls])

    def shown(self) -> Shown:
        return Shown("", (self.passage,))

    def as_dict(self) -> dict[str, object]:
        """Convert the message to the shape of dspy and the providers' APIs."""
        if self.role == "tool":
            return {"role": self.role, **self.extra, "content": self.content}
        return {"role": self.role, "content": self.content, **self.extra}


def piece_of(segment: Segment) -> Piece:
    """Describe a segment for display."""
    says = f"{segment.kind} of {segment.field}" if segment.field else segment.kind
    return Piece(segment.text, segment.kind, says, segment.field or "")


@dataclass(frozen=True, slots=True)
class DemoUse:
    """The use of the demo at 1-based `number`; `missing` lists fields that are absent or None."""

    number: int
    use: Literal["complete", "incomplete", "dropped"]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Prompt(ShowsItself):
    """The messages of a request, in order, and the use of each demo."""

    messages: tuple[Message, ...]
    demos: tuple[DemoUse, ...] = ()
    notes: tuple[str, ...] = ()
    """Notes on parts that the adapter left out."""
    reusable: object = field(default=None, repr=False, compare=False)
    """Rendered demos for `Adapter.render(..., reuse=prompt)`."""

    def as_dicts(self) -> list[dict[str, object]]:
        """Convert the messages to the shape that `format` returns."""
        return [message.as_dict() for message in self.messages]

    def shown(self) -> Shown:
        return Shown("", (*[message.passage for message in self.messages], *[Note(note) for note in self.notes]))


def content_parts(content: object) -> tuple[tuple[Text | DataPart, ...], bool]:
    """Convert content returned by an adapter's method (text, a list or None) to `parts` and `is_list`."""
    if isinstance(content, str):
        return (Text.of(content),), False
    if not isinstance(content, list):
        return (), False
    parts: list[Text | DataPart] = []
    for part in content:
        if not isinstance(part, Mapping):
            parts.append(DataPart({"type": "text", "text": str(part)}))
        elif part.get("type") == "text" and isinstance(part.get("text"), str):
            parts.append(Text.of(part["text"]))
        else:
            parts.append(DataPart(part))
    return tuple(parts), True


def message_of(role: str, turn: str, content: object) -> Message:
    """Make a message from content returned by an adapter's method."""
    if isinstance(content, Text):
        return Message(role, turn, (content,), False, NOTHING)
    return Message(role, turn, *content_parts(content))


def prompt_of_dicts(messages: Sequence[Mapping[str, object]], turn: str | None = None) -> Prompt:
    """Make a `Prompt` from plain dicts; its text has the kind `custom`, as its origin is unknown.

    `turn` is the kind of turn, such as `history`; without it, turns are guessed from the roles.
    """
    made: list[Message] = []
    last_user = max((index for index, one in enumerate(messages) if one.get("role") == "user"), default=-1)
    for index, message in enumerate(messages):
        role = str(message.get("role", "user"))
        if turn:
            where = f"{turn} {index // 2 + 1}"
        elif role == "system":
            where = "system"
        else:
            where = "inputs" if index >= last_user else f"demo {(index + 1) // 2}"
        extra = {key: value for key, value in message.items() if key not in ("role", "content")}
        made.append(Message(role, where, *content_parts(message.get("content")), extra))
    return Prompt(tuple(made))


RETURNS = "`format` returns a list of messages, or an object with `system` and `messages`"


def message_dicts(formatted: Any) -> list[Mapping[str, object]]:
    """Convert the result of `format` to `[{"role", "content", …}]`, the system message first.

    Raises TypeError if it is neither a list of messages nor an object with `system` and `messages`.
    """
    messages = member_of(formatted, "messages")
    if messages is None:
        if not _is_list(formatted):
            raise TypeError(f"{RETURNS}, not {type(formatted).__name__}")
        return [_message(one) for one in formatted]
    if not _is_list(messages):
        raise TypeError(f"{RETURNS}; its `messages` are a {type(messages).__name__}")
    system = member_of(formatted, "system")
    head = [] if system is None else [{"role": "system", "content": _content(system)}]
    return [*head, *[_message(one) for one in messages]]


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def member_of(value: object, name: str) -> Any:
    """Return a member of a JSON object, or of an object with such attributes; None without it."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _message(message: object) -> Mapping[str, object]:
    if isinstance(message, Mapping) and "parts" not in message:
        return message
    role, parts = member_of(message, "role"), member_of(message, "parts")
    if not isinstance(role, str) or (parts is None and not hasattr(message, "content")):
        raise TypeError(f"a message has a `role` and its `content` or `parts`; {type(message).__name__} has not")
    return {"role": role, "content": _content(member_of(message, "content") if parts is None else parts)}


def _content(content: Any) -> object:
    """Convert content to text if all parts are text (dspy's `lm15_boundary.history_messages`), else to dicts."""
    if not _is_list(content):
        return content
    texts = [member_of(part, "text") if member_of(part, "type") == "text" else None for part in content]
    said = [one for one in texts if isinstance(one, str)]
    if said and len(said) == len(texts) and not isinstance(content[0], Mapping):
        return "\n".join(said)
    return [_part_dict(part) for part in content]


def _part_dict(part: object) -> Mapping[str, object]:
    """Convert a part to the form of the providers' chat APIs; unknown parts keep their type and content."""
    if isinstance(part, Mapping):
        return part
    kind, url, data = member_of(part, "type"), member_of(part, "url"), member_of(part, "data")
    if kind == "image" and (url or data):
        return {"type": "image_url", "image_url": {"url": url or f"data:{member_of(part, 'media_type')};base64,{data}"}}
    if kind == "text":
        return {"type": "text", "text": member_of(part, "text")}
    slots = getattr(type(part), "__slots__", ())
    names = (slots,) if isinstance(slots, str) else tuple(slots)
    members = vars(part) if hasattr(part, "__dict__") else {name: member_of(part, name) for name in names}
    return {"type": str(kind), **{name: value for name, value in members.items() if name != "type" and value}}

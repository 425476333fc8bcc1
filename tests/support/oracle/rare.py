"""Types and values that hardly anyone uses in a signature, and someone does."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import ipaddress
import pathlib
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Generic, Literal, NewType, NotRequired, TypeVar

import dspy
import pydantic
from pydantic import AliasChoices, Field
from typing_extensions import TypedDict

from oracle import vocabulary as words

Item = TypeVar("Item")


class Day(enum.StrEnum):
    MON = "monday"
    MONDAY = "monday"
    TUE = "tuesday"


class Bits(enum.IntFlag):
    ONE = 1
    TWO = 2


class Coordinates(enum.Enum):
    HERE = (1, 2)
    THERE = [3, 4]  # noqa: RUF012


class Box(pydantic.BaseModel, Generic[Item]):
    """A generic box."""

    content: Item
    label: str = "box"


class Serialised(pydantic.BaseModel):
    secret: str = Field(exclude=True, default="hidden")
    when: datetime.datetime | None = None
    amount: float = Field(default=1.0, serialization_alias="sum", validation_alias=AliasChoices("amount", "total"))

    @pydantic.field_serializer("amount")
    def shown(self, value: float) -> str:
        return f"{value:.2f} EUR"

    @pydantic.computed_field  # type: ignore[prop-decorator]
    @property
    def doubled(self) -> float:
        return self.amount * 2


class Camel(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(alias_generator=lambda name: name.title().replace("_", ""), title="A Title")
    first_name: str
    last_name: str = Field(default="", json_schema_extra={"hint": "x"}, examples=["Doe"], deprecated=True)


class Failing(pydantic.BaseModel):
    """Raises what is no ValueError."""

    x: int = 0

    @pydantic.model_validator(mode="before")
    @classmethod
    def check(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("x") == "boom":
            raise KeyError("boom")
        return data


class WithFormat(pydantic.BaseModel):
    """No custom type, though it has the methods of one."""

    text: str = "t"

    def format(self) -> list[dict[str, Any]]:
        return [{"type": "text", "text": "never"}]

    @classmethod
    def description(cls) -> str:
        return "never shown"


class Gallery(pydantic.BaseModel):
    cover: dspy.Image
    others: list[dspy.Image] = []


class Strange(dspy.Type):  # type: ignore[misc]
    """A custom type with a validator of its own and content parts of several kinds."""

    text: str

    def format(self) -> list[dict[str, Any]]:
        return [
            {"type": "text", "text": self.text},
            {"type": "input_audio", "input_audio": {"data": "", "format": "wav"}},
        ]

    @pydantic.model_validator(mode="before")
    @classmethod
    def from_text(cls, data: Any) -> Any:
        return {"text": data} if isinstance(data, str) else data


class Native(dspy.Type):  # type: ignore[misc]
    """A custom type that a model may give natively."""

    text: str

    def format(self) -> str:
        return self.text

    @classmethod
    def adapt_to_native_lm_feature(cls, signature: Any, field_name: str, lm: Any, lm_kwargs: dict[str, Any]) -> Any:
        lm_kwargs["native_text"] = lm.model
        return signature.delete(field_name)

    @classmethod
    def parse_lm_response(cls, response: Any) -> Any:
        return cls(text=response["text"]) if isinstance(response, dict) and response.get("text") else None


class Partial(TypedDict, total=False):
    name: str
    size: NotRequired[int]


@dataclasses.dataclass
class Nested:
    point: words.Point
    tags: list[str] = dataclasses.field(default_factory=list)


@pydantic.dataclasses.dataclass
class Checked:
    size: Annotated[int, Field(gt=0)]


UserId = NewType("UserId", int)

TYPES: tuple[Any, ...] = (
    Day,
    Bits,
    Coordinates,
    Box[int],
    Box[list[words.Address]],
    Box,
    Serialised,
    Camel,
    Failing,
    WithFormat,
    Gallery,
    Strange,
    Native,
    Partial,
    Nested,
    Checked,
    UserId,
    pathlib.Path,
    ipaddress.IPv4Address,
    fractions.Fraction,
    re.Pattern,
    pydantic.SecretStr,
    pydantic.Json,
    pydantic.StrictInt,
    pydantic.NaiveDatetime,
    pydantic.ByteSize,
    pydantic.conlist(int, min_length=1),
    collections.OrderedDict[str, int],
    collections.deque[int],
    collections.Counter[str],
    collections.defaultdict[str, list[int]],
    Mapping[str, int],
    Sequence[words.Color],
    Iterable[int],
    type[int],
    typing.Tuple[()],  # noqa: UP006
    tuple[int, int] | None,
    list[Literal[1, "1", True]],
    Literal[words.Color.RED, "red", 1],
    dict[words.Color, int],
    dict[tuple[int, int], str],
    set[words.Level],
    list[list[list[int]]],
    list[str | None],
    str | int | bool | None,
    dict[str, str | None] | list[str] | None,
    Annotated[Annotated[str, Field(max_length=5)], Field(description="twice")],
    Annotated[words.Event | None, "note"],
    dict[str, list[words.Event]],
    dspy.Image | str,
    list[dspy.Image] | None,
    dspy.Code["python"] | None,
    Callable[[int], str],
    datetime.datetime | datetime.date | str,
    decimal.Decimal | None,
)


class LoudText(str):
    """A subclass of str that prints as something else."""

    __slots__ = ()

    def __str__(self) -> str:
        return "LOUD"


class OddInt(int):
    def __str__(self) -> str:
        return "odd"


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("no text")

    def __repr__(self) -> str:
        return "<unprintable>"


class Sized(list[Any]):
    """A subclass of list."""


def _deep(depth: int) -> list[Any]:
    made: list[Any] = []
    for _ in range(depth):
        made = [made]
    return made


VALUES: tuple[Any, ...] = (
    LoudText("quiet"),
    OddInt(3),
    Unprintable(),
    Sized([1, "a"]),
    [LoudText("quiet")],
    {"k": OddInt(1)},
    collections.OrderedDict(b=1, a=2),
    collections.defaultdict(list, a=[1]),
    collections.Counter("aab"),
    types.MappingProxyType({"a": 1}),
    types.SimpleNamespace(a=1),
    dspy.Example(a=1, b="x"),
    dspy.Prediction(answer="x"),
    pathlib.Path("/tmp/x"),
    ipaddress.IPv4Address("127.0.0.1"),
    fractions.Fraction(1, 3),
    re.compile("a+"),
    pydantic.SecretStr("s3cret"),
    ValueError("an error"),
    int,
    len,
    ...,
    NotImplemented,
    range(3),
    memoryview(b"abc"),
    bytearray(b"abc"),
    frozenset({1}),
    {None: 1, (1, 2): 2, 1.5: 3, True: 4},
    {words.Color.RED: words.Color.GREEN},
    {"\ud800": "\udfff"},
    ["\ud800"],
    "\ud800",
    decimal.Decimal("NaN"),
    datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=5, minutes=30))),
    datetime.timedelta(days=-1, microseconds=1),
    10**400,
    -0.0,
    1e22,
    _deep(50),
    Serialised(when=datetime.datetime(2024, 1, 1)),
    Camel.model_validate({"FirstName": "A"}),
    Box[int](content=1),
    WithFormat(),
    Gallery(cover=dspy.Image(url="https://example.com/c.png")),
    [dspy.Image(url="https://example.com/1.png"), dspy.Image(url="https://example.com/2.png")],
    {"pictures": [dspy.Image(url="https://example.com/3.png")], "n": 1},
    [words.Event(event_name="one"), words.Blocks(url="https://example.com/b.png")],
    Strange(text='quotes " and \\ and \n'),
    Native(text="native"),
    dspy.History(messages=[{"q": "x"}]),
    Nested(words.Point(1)),
    Coordinates.HERE,
    Bits.ONE | Bits.TWO,
    words.Access.READ | words.Access.WRITE,
    Day.MON,
)

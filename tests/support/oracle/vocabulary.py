"""What generated cases are made of: names, types, models, enums, texts."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import typing
import uuid
from typing import Annotated, Any, Literal, Optional, Union

import dspy
import pydantic
from dspy.adapters.types.citation import Citations
from dspy.adapters.types.document import Document
from dspy.adapters.types.reasoning import Reasoning
from dspy.adapters.types.tool import ToolCalls
from pydantic import Field
from typing_extensions import TypedDict

INPUT_NAMES = (
    "question",
    "context",
    "q",
    "text2",
    "documentTitle",
    "naïve",
    "日本語",
    "user_input",
    "x",
    "type_",
    "item",
    "Ω",
)
OUTPUT_NAMES = (
    "answer",
    "reasoning",
    "score",
    "completed",
    "label2",
    "isValid",
    "ñandú",
    "entry",
    "item",
    "结果",
    "a",
    "b",
    "c",
    "long_name_of_a_field",
    "tool_calls",
    "value",
)

DESCRIPTIONS = (
    None,
    "",
    "what it is",
    "${answer}",
    "${score}",
    "Two\nlines",
    "  spaces around  ",
    "braces {x} and {{y}} and [[ ## z ## ]]",
    "éè日本 😀 <b>&amp;</b>",
    "ends with newline\n",
    "\x0bvertical\u2028separator",
    "quotes \"double\" 'single' `back`",
    "%s %(x)s \\n \\u0041",
)

INSTRUCTIONS = (
    None,
    "Answer the question.",
    "",
    "  Indented.\n    More.\n  Back.",
    "One line\n\nAfter a gap\n\tTab",
    "Line\u2028separator and \x0b and \x0c and \x85 end",
    "Trailing newline\n",
    "Braces {question} ${answer} [[ ## answer ## ]] <answer>",
    "日本語で答えて 😀",
    "A\r\nB\rC",
)


class Color(enum.Enum):
    RED = "red"
    GREEN = "green"
    DEEP_BLUE = "deep blue"


class Level(enum.IntEnum):
    LOW = 1
    MID = 2
    HIGH = 3


class Shape(str, enum.Enum):  # noqa: UP042
    SQUARE = "square"
    CIRCLE = "circle"
    quoted = '"q"'


class Auto(enum.Enum):
    ONE = enum.auto()
    TWO = enum.auto()


class Crossed(enum.Enum):
    """Values that are other members' names."""

    a = "b"
    b = "a"
    none = None
    yes = True


class Access(enum.Flag):
    READ = 1
    WRITE = 2


class Address(pydantic.BaseModel):
    """A place."""

    street: str = Field(description="street and number")
    city: str
    country: Literal["US", "CA"] | None = None


class Person(pydantic.BaseModel):
    name: str
    age: int = Field(ge=0, le=150)
    address: Address
    tags: list[str] = []


class Aliased(pydantic.BaseModel):
    postal_code: str = Field(alias="postal code")
    country_code: str = Field(alias="country-code", description="ISO code")
    plain: int = 3


class Linked(pydantic.BaseModel):
    value: int
    next: Linked | None = None


class Tree(pydantic.BaseModel):
    name: str
    children: list[Tree] = []


class Shapes(pydantic.BaseModel):
    color: Color
    levels: list[Level]
    by_name: dict[str, float]
    either: int | str
    when: datetime.date | None = None


class Strict(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(strict=True, extra="forbid")
    a: int
    b: str = Field(min_length=1, max_length=8, pattern="^[a-z ]*$")


class Open(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")
    known: int = 0


class Empty(pydantic.BaseModel):
    pass


class Numbers(pydantic.RootModel[list[int]]):
    pass


class Money(pydantic.BaseModel):
    amount: decimal.Decimal
    currency: str = "EUR"

    @pydantic.field_validator("currency")
    @classmethod
    def upper(cls, value: str) -> str:
        if len(value) != 3:
            raise ValueError("three letters, please")
        return value.upper()


class Cat(pydantic.BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(pydantic.BaseModel):
    kind: Literal["dog"]
    tricks: list[str]


class Order(TypedDict):
    order_id: int
    labels: list[str]


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.0


class Pair(typing.NamedTuple):
    left: str
    right: int = 0


class Event(dspy.Type):  # type: ignore[misc]
    """A custom type of a user."""

    event_name: str
    place: str | None = None

    def format(self) -> str:
        return f"EVENT<{self.event_name}>"

    @classmethod
    def description(cls) -> str:
        return "An event with a name."


class Blocks(dspy.Type):  # type: ignore[misc]
    """A custom type that formats to content parts."""

    url: str

    def format(self) -> list[dict[str, Any]]:
        return [{"type": "image_url", "image_url": {"url": self.url}}]


ATOMS: tuple[Any, ...] = (
    str,
    str,
    str,
    str,
    int,
    float,
    bool,
    Any,
    list,
    dict,
    tuple,
    set,
    bytes,
    complex,
    type(None),
    object,
    datetime.date,
    datetime.datetime,
    datetime.time,
    datetime.timedelta,
    decimal.Decimal,
    uuid.UUID,
    pydantic.HttpUrl,
    pydantic.PositiveInt,
)
NAMED: tuple[Any, ...] = (
    Color,
    Level,
    Shape,
    Auto,
    Crossed,
    Access,
    Address,
    Person,
    Aliased,
    Linked,
    Tree,
    Shapes,
    Strict,
    Open,
    Empty,
    Numbers,
    Money,
    Cat | Dog,
    Order,
    Point,
    Pair,
)
LITERALS: tuple[Any, ...] = (
    Literal["yes", "no"],
    Literal["positive", "negative", "neutral"],
    Literal[1, 2, 3],
    Literal[True, False],
    Literal["yes", 1, True, None],
    Literal["she's here", 'say "hi"', 'it\'s "both"'],
    Literal["", " a ", "Literal[x]"],
    Literal["日本語", "é"],
    Literal["multi\nline", "tab\t"],
    Literal[Color.RED, Color.GREEN],
    Literal[b"bytes", "text"],
)
CUSTOM: tuple[Any, ...] = (
    dspy.Image,
    dspy.Audio,
    dspy.File,
    dspy.Code,
    dspy.Code["java"],
    Reasoning,
    ToolCalls,
    Citations,
    Document,
    Event,
    Blocks,
    dspy.Tool,
    dspy.History,
)
CONSTRAINED: tuple[Any, ...] = (
    Annotated[int, Field(ge=1, le=5)],
    Annotated[str, Field(min_length=2)],
    Annotated[str, "only a note"],
    Annotated[list[int], Field(max_length=2)],
    Annotated[float | None, Field(gt=0)],
    Annotated[Cat | Dog, Field(discriminator="kind")],
    Annotated[Event, "note"],
)
UNIONS: tuple[Any, ...] = (
    Optional[str],  # noqa: UP045
    Union[int, str, None],  # noqa: UP007
    int | str,
    str | None,
    Union[int, float],  # noqa: UP007
    Union[str, list[str]],  # noqa: UP007
)

FIELD_CONSTRAINTS: tuple[dict[str, Any], ...] = (
    {},
    {},
    {},
    {},
    {"ge": 1, "le": 5},
    {"gt": 0.5},
    {"min_length": 1, "max_length": 20},
    {"multiple_of": 2},
    {"pattern": "^[a-z]+$"},
    {"title": "A title"},
    {"description": "pydantic's own"},
    {"prefix": "Prefix:"},
    {"examples": ["x"]},
    {"alias": "other name"},
)

TEXTS = (
    "",
    " ",
    "x",
    "Paris",
    'First we add 2, then "quote" {x} [1].',
    "a\nb\n\nc",
    "tabs\tand  spaces ",
    "é日本😀",
    "<b>&amp; & </b>",
    "]]>",
    "[[ ## answer ## ]]\n42",
    "[[ ## completed ## ]]",
    '```json\n{"a": 1}\n```',
    '{"content": "x"}',
    "None",
    "null",
    "true",
    "42",
    "-1.5e3",
    "NaN",
    "[1, 2",
    "«guillemets»",
    "back\\slash \\n",
    "\x1b[31mred\x1b[0m",
    "a\x00b",
    "\u2028\u2029\x85",
    "\r\n\r",
    "zero\u200bwidth",
    "\ufeffbom",
    "\ud800",
    '<<CUSTOM-TYPE-START-IDENTIFIER>>[{"type": "text", "text": "t"}]<<CUSTOM-TYPE-END-IDENTIFIER>>',
    "<<CUSTOM-TYPE-START-IDENTIFIER>>x",
    "reasoning_content",
    "'single'",
    '"double"',
    "a, b, c",
    "- item\n- item",
    "| a | b |\n|---|---|",
    "yes",
    "red",
    "RED",
    "1",
    "2024-02-29",
    "12:30",
    "lorem ipsum dolor sit amet, " * 12,
)

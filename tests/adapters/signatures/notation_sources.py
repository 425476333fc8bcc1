"""Source files as people write them: name of the signature → text. Every one of them also runs as it stands."""

from __future__ import annotations

SOURCES: dict[str, str] = {
    "Plain": '''
import dspy

class Plain(dspy.Signature):
    """Answer the question."""

    question: str = dspy.InputField()
    answer: str = dspy.OutputField()
''',
    "Decided": """
import dspy
import dspy.experimental
from typing import Annotated, Literal
from dspy.experimental import Choice, Noul, Score

LEVELS = ("poor", "fair", {"level": "good"})

class Decided(dspy.Signature):
    ticket: str = dspy.InputField()
    blocked: Noul = dspy.OutputField(desc="Is it blocked?")
    told: dspy.experimental.Noul[(True, "blocked"), (False, {"why": ["usable"]})] = dspy.OutputField(desc="Why?")
    half: Noul[True, "blocked"] = dspy.OutputField(desc="Why?")
    flag: Annotated[bool, Noul[(True, "blocked")]] = dspy.OutputField(desc="Is it?")
    quality: Score["poor", "fair"] = dspy.OutputField(desc="How good?")
    level: Score[LEVELS] = dspy.OutputField(desc="How good?")
    topic: Choice[("billing", "Payment issue"), (1, None), (None, "")] = dspy.OutputField(desc="Of what?")
    kind: Annotated[Literal["bug", "wish"], Choice] = dspy.OutputField(desc="Of what?")
    inner: list[Choice[("a", "x"), ("b", "y")]] = dspy.OutputField()
    bare: list[Score] = dspy.OutputField()
""",
    "Undocumented": """
import dspy

class Undocumented(dspy.Signature):
    question = dspy.InputField()
    context: list[str] = dspy.InputField(desc="facts")
    answer = dspy.OutputField(desc="short")
    score: float = dspy.OutputField()
""",
    "EmptyDoc": """
import dspy

class EmptyDoc(dspy.Signature):
    ""
    question: str = dspy.InputField()
    answer: str = dspy.OutputField()
""",
    "Indented": '''
import dspy

class Indented(dspy.Signature):
    """
    Read the report.

        Indented example:
            deeper "quoted" \\\\ backslash

    Last line.
    """
    report: str = dspy.InputField()
    summary: str = dspy.OutputField()
''',
    "OutputsFirst": """
import dspy

class OutputsFirst(dspy.Signature):
    answer: str = dspy.OutputField()
    question: str = dspy.InputField()
    score: int = dspy.OutputField()
    context: str = dspy.InputField()
""",
    "Aliased": """
import dspy as d
import typing as t
from pydantic import Field as F

class Aliased(d.Signature):
    question: t.Optional[str] = d.InputField()
    answer: t.Annotated[int, F(le=5, description="unused")] = d.OutputField(desc="used")
""",
    "FromImports": """
from dspy import Signature, InputField, OutputField, Image
from dspy.adapters.types import History

class FromImports(Signature):
    picture: Image = InputField()
    history: History = InputField()
    caption: str = OutputField()
""",
    "DottedImports": """
import dspy.signatures
import datetime as dt
import collections.abc

class DottedImports(dspy.signatures.Signature):
    day: dt.date = dspy.signatures.InputField()
    words: collections.abc.Sequence[str] = dspy.InputField()
    moment: dt.datetime = dspy.OutputField()
""",
    "FieldArguments": """
import dspy

class FieldArguments(dspy.Signature):
    a: int = dspy.InputField(gt=0, le=10, desc="a number", prefix="Number:")
    b: str = dspy.InputField(min_length=1, max_length=9, pattern="^x")
    c: float = dspy.OutputField(ge=0.5, lt=1e3, multiple_of=0.5, allow_inf_nan=False)
    d: list[int] = dspy.OutputField(max_length=3, description="from description")
    e: int = dspy.OutputField(description="not this", desc="this", title="T", examples=[1, 2])
    f: str = dspy.OutputField(desc="")
""",
    "Defaults": """
import dspy
from decimal import Decimal
from datetime import date, timedelta

class Defaults(dspy.Signature):
    a: int = dspy.InputField(default=3)
    b: list[str] = dspy.InputField(default_factory=list)
    c: str | None = dspy.OutputField(default=None)
    d: dict[str, int] = dspy.OutputField(default_factory=lambda: {"a": 1, "b": -2})
    e: Decimal = dspy.OutputField(default=Decimal("1.50"))
    f: date = dspy.OutputField(default=date(2024, 2, 29))
    g: tuple[int, ...] = dspy.OutputField(default=(1, 2))
    h: set[str] = dspy.OutputField(default_factory=set)
    i: timedelta = dspy.OutputField(default=timedelta(days=2))
    j: float = dspy.OutputField(default=-1.5)
    k: str = dspy.OutputField(default_factory=str)
    l: list[int] = dspy.OutputField(default=[1, 2])
    m: int = dspy.OutputField(default=...)
""",
    "Constants": """
import dspy
from typing import Literal

DESC = "The note, " "as received" + " by post."
LIMIT = 60 * 60
MEMBERS = ("open", "closed")
Status = Literal["open", "closed"]
Other = Literal[MEMBERS]
PREFIX = f"Note{1}:"

class Constants(dspy.Signature):
    note: str = dspy.InputField(desc=DESC, max_length=LIMIT, prefix=PREFIX)
    status: Status = dspy.OutputField()
    other: Other = dspy.OutputField(desc=f"one of them")
""".replace(
        'dspy.OutputField(default=MEMBERS[0] if False else "open") if False else dspy.OutputField()',
        "dspy.OutputField()",
    ),
    "Enums": '''
import dspy
import enum
from enum import Enum, IntEnum, StrEnum, auto, unique

class Color(Enum):
    """The colours."""
    RED = "red"
    GREEN = "green"
    CRIMSON = "red"

@unique
class Size(str, Enum):
    SMALL = "s"
    LARGE = "l"
    @property
    def shown(self):
        return self.value.upper()

class Level(IntEnum):
    LOW = 1
    HIGH = LOW + 1

class Kind(StrEnum):
    A = auto()
    B = auto()

class Number(enum.Enum):
    ONE = auto()
    TWO = auto()
    THREE = 3.5
    FOUR = (1, 2)

class Perm(enum.IntFlag):
    R = 4
    W = 2
    RW = R | W

class Enums(dspy.Signature):
    a: Color = dspy.InputField()
    b: Size = dspy.OutputField(default=Size.SMALL)
    c: list[Level] = dspy.OutputField()
    d: Kind | None = dspy.OutputField()
    e: Number = dspy.OutputField()
    f: Perm = dspy.OutputField()
''',
    "Models": '''
import dspy
from typing import Optional
from pydantic import BaseModel, Field

class Address(BaseModel):
    street: str
    zip_code: str = Field(alias="zip", pattern=r"^\\d{5}$")
    country: str = "NL"

class Person(BaseModel):
    """A person.

    With a second paragraph.
    """
    name: str = Field(description="full name", min_length=1, examples=["Ada"], title="Name of person")
    age: Optional[int] = Field(default=None, ge=0, lt=150)
    addresses: list[Address] = Field(default_factory=list, max_length=3)
    tags: dict[str, list[str]] = {}
    scores: list[float] = [1.0, 2]
    nickname: str | None = None
    kind: "str" = Field("x", deprecated=True)

class Models(dspy.Signature):
    text: str = dspy.InputField()
    person: Person = dspy.OutputField()
    people: list[Person] = dspy.OutputField()
    maybe: Optional[Address] = dspy.OutputField()
''',
    "Recursive": """
from __future__ import annotations
import dspy
from pydantic import BaseModel, Field

class Node(BaseModel):
    value: int
    children: list[Node] = Field(default_factory=list)
    parent: Node | None = None

class Recursive(dspy.Signature):
    text: str = dspy.InputField()
    tree: Node = dspy.OutputField()
    trees: list[Node] | None = dspy.OutputField()
""",
    "Mutual": """
import dspy
from typing import Optional
from pydantic import BaseModel

class Author(BaseModel):
    name: str
    books: list["Book"] = []

class Book(BaseModel):
    title: str
    author: Optional["Author"] = None
    shelf: "Shelf"

class Shelf(BaseModel):
    books: "list[Book]"

class Mutual(dspy.Signature):
    text: str = dspy.InputField()
    book: Book = dspy.OutputField()
    author: Author = dspy.OutputField()
""",
    "Configured": """
import dspy
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", title="Strictly", frozen=True)
    a_field: int

class Camel(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)
    first_name: str
    last_name: str = Field(validation_alias="surname", serialization_alias="family")

class Old(BaseModel):
    x: int
    class Config:
        extra = "forbid"
        json_schema_extra = {"examples": [{"x": 1}]}

class Keyworded(BaseModel, extra="allow", str_strip_whitespace=True):
    y: str

class Dicted(BaseModel):
    model_config = {"use_attribute_docstrings": False, "json_schema_extra": {"k": "v"}}
    z: int = Field(1, json_schema_extra={"unit": "m"})

class Configured(dspy.Signature):
    a: Strict = dspy.OutputField()
    b: Camel = dspy.OutputField()
    c: Old = dspy.OutputField()
    d: Keyworded = dspy.OutputField()
    e: Dicted = dspy.OutputField()
    q: str = dspy.InputField()
""",
    "InheritedModels": '''
import dspy
from pydantic import BaseModel, Field

class Base(BaseModel):
    """Base doc."""
    id: int
    name: str = "n"

class Mixin(BaseModel):
    created: str = ""

class Child(Base, Mixin):
    name: str = Field("child", max_length=5)
    extra: float

class Grandchild(Child):
    """Own doc."""
    id: str

class InheritedModels(dspy.Signature):
    q: str = dspy.InputField()
    child: Child = dspy.OutputField()
    grandchild: Grandchild = dspy.OutputField()
''',
    "InheritedSignature": '''
import dspy

class BaseQA(dspy.Signature):
    """Answer well."""
    question: str = dspy.InputField(desc="the question")
    answer: str = dspy.OutputField()

class Middle(BaseQA):
    context: list[str] = dspy.InputField()

class InheritedSignature(Middle):
    answer: int = dspy.OutputField(desc="a number")
    why = dspy.OutputField()
''',
    "InheritedDefaultDoc": """
import dspy

class Base(dspy.Signature):
    question: str = dspy.InputField()
    answer: str = dspy.OutputField()

class InheritedDefaultDoc(Base):
    more: str = dspy.OutputField()
""",
    "InheritedEmptyDoc": '''
import dspy

class Base(dspy.Signature):
    """"""
    question: str = dspy.InputField()
    answer: str = dspy.OutputField()

class InheritedEmptyDoc(Base):
    more: str = dspy.OutputField()
''',
    "TwoParents": '''
import dspy

class A(dspy.Signature):
    """Doc A."""
    x: str = dspy.InputField()
    y: str = dspy.OutputField(desc="of A")

class B(dspy.Signature):
    """Doc B."""
    z: str = dspy.InputField()
    y: str = dspy.OutputField(desc="of B")

class TwoParents(A, B):
    pass
''',
    "TypedDicts": '''
import dspy
from typing_extensions import TypedDict, Required, NotRequired
from typing import Annotated
from pydantic import Field

class Point(TypedDict):
    """A point."""
    x: int
    y: Annotated[int, Field(ge=0, description="up")]

class Loose(TypedDict, total=False):
    a: str
    b: Required[list[Point]]

class Mixed(Point):
    label: NotRequired[str]

class TypedDicts(dspy.Signature):
    q: Point = dspy.InputField()
    a: Loose = dspy.OutputField()
    b: list[Mixed] = dspy.OutputField()
''',
    "Dataclasses": '''
import dspy
import dataclasses
from dataclasses import dataclass, field
from pydantic.dataclasses import dataclass as pydantic_dataclass
from pydantic import Field

@dataclass
class Item:
    """An item."""
    name: str
    price: float = 0.0
    tags: list[str] = field(default_factory=list)

@dataclasses.dataclass(frozen=True, kw_only=True)
class Frozen:
    a: int = 1
    b: str
    item: Item

@pydantic_dataclass
class Checked:
    n: int = Field(ge=1, description="count")

class Dataclasses(dspy.Signature):
    q: str = dspy.InputField()
    item: Item = dspy.OutputField()
    frozen: Frozen = dspy.OutputField()
    checked: Checked = dspy.OutputField()
''',
    "NamedTuples": '''
import dspy
from typing import NamedTuple

class Pair(NamedTuple):
    """A pair."""
    left: int
    right: str = "r"

class NamedTuples(dspy.Signature):
    q: str = dspy.InputField()
    pair: Pair = dspy.OutputField()
    pairs: dict[str, Pair] = dspy.OutputField()
''',
    "Aliases": """
import dspy
from typing import Annotated, Literal, NewType, Optional, TypeAlias, Union
from pydantic import BaseModel, Field

Status = Literal["open", "closed"]
Names: TypeAlias = list[str]
MaybeStatus = Optional[Status]
Short = Annotated[str, Field(max_length=10)]
Key = str | int
UserId = NewType("UserId", int)
Alias = Status

class M(BaseModel):
    status: Status = "open"
    key: Key
    short: Short
    user: UserId

class Aliases(dspy.Signature):
    q: Names = dspy.InputField()
    a: MaybeStatus = dspy.OutputField()
    b: Short = dspy.OutputField()
    c: Union[Key, None] = dspy.OutputField()
    d: M = dspy.OutputField()
    e: UserId = dspy.OutputField()
    f: list[Alias] = dspy.OutputField()
""",
    "DspyTypes": """
import dspy
from typing import Optional
from dspy.experimental import Citations, Document

class DspyTypes(dspy.Signature):
    image: dspy.Image = dspy.InputField()
    images: list[dspy.Image] = dspy.InputField()
    audio: Optional[dspy.Audio] = dspy.InputField()
    file: dspy.File = dspy.InputField()
    history: dspy.History = dspy.InputField()
    tools: list[dspy.Tool] = dspy.InputField()
    documents: list[Document] = dspy.InputField()
    code: dspy.Code["java"] = dspy.OutputField()
    python: dspy.Code = dspy.OutputField()
    reasoning: dspy.Reasoning = dspy.OutputField()
    calls: dspy.ToolCalls = dspy.OutputField()
    citations: Citations = dspy.OutputField()
""",
    "Negative": """
import dspy
from typing import Literal

class Negative(dspy.Signature):
    q: str = dspy.InputField()
    a: Literal[-1, 0, 1] = dspy.OutputField()
    b: Literal["x", -2, None, True] = dspy.OutputField()
    c: int = dspy.OutputField(ge=-5, le=+5)
""",
    "EnumLiterals": """
import dspy
from enum import Enum
from typing import Literal

class Color(Enum):
    RED = "r"
    BLUE = "b"

class EnumLiterals(dspy.Signature):
    q: str = dspy.InputField()
    a: Literal[Color.RED] = dspy.OutputField()
    b: Color = dspy.OutputField(default=Color.BLUE)
    c: str = dspy.OutputField(default=Color.RED.value)
""",
    "RealFile": '''
"""A module docstring -> with an arrow."""
from __future__ import annotations
import asyncio, logging, os
import numpy as np
from typing import TYPE_CHECKING, Any, Literal
import dspy
from pydantic import BaseModel, field_validator, model_validator, computed_field
if TYPE_CHECKING:
    from somewhere import Something

logger = logging.getLogger(__name__)
KEY = os.environ.get("KEY", "none")
lm = None

def helper(x: int) -> str:
    return str(x)

class Unused(dict):
    def method(self):
        return self

class Ticket(BaseModel):
    title: str
    priority: Literal["low", "high"] = "low"
    _cache: Any = None

    @field_validator("title")
    @classmethod
    def check(cls, value: str) -> str:
        return value.strip()

    @computed_field
    @property
    def shout(self) -> str:
        return self.title.upper()

    def plain(self) -> str:
        return self.title

class RealFile(dspy.Signature):
    """Classify the ticket."""
    text: str = dspy.InputField()
    ticket: Ticket = dspy.OutputField()

class Program(dspy.Module):
    def __init__(self):
        super().__init__()
        self.predict = dspy.Predict(RealFile)

    def forward(self, text):
        return self.predict(text=text)

async def main():
    pass

if __name__ == "__main__":
    asyncio.run(main())
'''.replace("import numpy as np\n", "import json as np\n"),
    "AnnotatedField": """
import dspy
from typing import Annotated
from pydantic import Field

class AnnotatedField(dspy.Signature):
    q: Annotated[str, dspy.InputField(desc="inside")]
    a: Annotated[int, Field(ge=1), dspy.OutputField(desc="also")]
    b: Annotated[list[int], Field(max_length=2)] = dspy.OutputField()
""",
    "OldTyping": """
import dspy
from typing import Any, Dict, FrozenSet, List, Mapping, Sequence, Set, Tuple, Union

class OldTyping(dspy.Signature):
    a: List[Dict[str, Any]] = dspy.InputField()
    b: Tuple[int, ...] = dspy.OutputField()
    c: Union[int, str, None] = dspy.OutputField()
    d: Mapping[str, Set[int]] = dspy.OutputField()
    e: Sequence[FrozenSet[str]] = dspy.OutputField()
    f: Tuple[int, str] = dspy.OutputField()
    g: List = dspy.OutputField()
    h: dict = dspy.OutputField()
""",
    "NoneTyped": """
import dspy
from typing import Optional

class NoneTyped(dspy.Signature):
    a: None = dspy.InputField()
    b: None = dspy.OutputField()
    c: Optional[None] = dspy.OutputField()
    d: object = dspy.OutputField()
    e: "list[int] | None" = dspy.OutputField()
""",
    "Standard": """
import dspy
import datetime, decimal, uuid, pathlib, ipaddress, fractions
from datetime import datetime as when
from collections import OrderedDict, deque, defaultdict

class Standard(dspy.Signature):
    a: datetime.date = dspy.InputField()
    b: when = dspy.InputField()
    c: decimal.Decimal = dspy.OutputField(gt=decimal.Decimal("0.5"))
    d: uuid.UUID = dspy.OutputField()
    e: pathlib.Path = dspy.OutputField()
    f: ipaddress.IPv4Address = dspy.OutputField()
    g: OrderedDict[str, int] = dspy.OutputField()
    h: deque[int] = dspy.OutputField()
    i: defaultdict[str, list[int]] = dspy.OutputField()
    j: datetime.timedelta = dspy.OutputField()
    k: bytes = dspy.OutputField()
    l: complex = dspy.OutputField()
""",
    "PydanticTypes": """
import dspy, pydantic
from pydantic import AnyUrl, HttpUrl, PositiveInt, SecretStr, Json, StringConstraints, conint, conlist, JsonValue
from typing import Annotated
import annotated_types

class PydanticTypes(dspy.Signature):
    a: HttpUrl = dspy.InputField()
    b: PositiveInt = dspy.OutputField()
    c: list[pydantic.NonNegativeFloat] = dspy.OutputField()
    d: SecretStr = dspy.OutputField()
    e: Annotated[str, StringConstraints(min_length=2, strip_whitespace=True)] = dspy.OutputField()
    f: conint(ge=1, le=3) = dspy.OutputField()
    g: conlist(int, min_length=1) = dspy.OutputField()
    h: list[Annotated[int, annotated_types.Gt(3)]] = dspy.OutputField()
    i: Json[list[int]] = dspy.OutputField()
    j: JsonValue = dspy.OutputField()
    k: AnyUrl | None = dspy.OutputField()
""",
    "RootModels": """
import dspy
from pydantic import BaseModel, RootModel

class Tags(RootModel[list[str]]):
    pass

class Holder(BaseModel):
    tags: Tags
    numbers: RootModel[dict[str, int]]

class RootModels(dspy.Signature):
    q: str = dspy.InputField()
    tags: Tags = dspy.OutputField()
    holder: Holder = dspy.OutputField()
""",
    "Discriminated": """
import dspy
from typing import Annotated, Literal, Union
from pydantic import BaseModel, Field, Discriminator

class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9

class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    good: bool = True

class Owner(BaseModel):
    pet: Union[Cat, Dog] = Field(discriminator="kind")

class Discriminated(dspy.Signature):
    q: str = dspy.InputField()
    pets: list[Annotated[Cat | Dog, Discriminator("kind")]] = dspy.OutputField()
    owner: Owner = dspy.OutputField()
""",
    "Nested": """
import dspy
from pydantic import BaseModel
from enum import Enum

class Outer(BaseModel):
    class Inner(BaseModel):
        class Deep(str, Enum):
            A = "a"
        x: int
        deep: Deep
    inner: Inner

class Nested(dspy.Signature):
    class Local(BaseModel):
        y: str
    q: str = dspy.InputField()
    local: Local = dspy.OutputField()
    inner: Outer.Inner = dspy.OutputField()
    outer: Outer = dspy.OutputField()
""",
    "Shadowing": """
import dspy
from pydantic import BaseModel

class Document(BaseModel):
    body: str

class Tool(BaseModel):
    name: str

class Shadowing(dspy.Signature):
    document: Document = dspy.InputField()
    tool: Tool = dspy.OutputField()
    copy: str = dspy.OutputField()
""",
    "Redefined": """
import dspy
from typing import Literal

Status = Literal["old"]
Status = Literal["new"]

class Redefined(dspy.Signature):
    q: str = dspy.InputField()
    a: Status = dspy.OutputField()

Status = Literal["later"]
""",
    "Guarded": """
import sys
import dspy
try:
    from typing import Literal
except ImportError:
    from typing_extensions import Literal
if sys.version_info >= (3, 8):
    LEVELS = Literal["a", "b"]
else:
    LEVELS = str

class Guarded(dspy.Signature):
    q: str = dspy.InputField()
    a: LEVELS = dspy.OutputField()
""",
    "Unicode": '''
import dspy
from typing import Literal

class Unicode(dspy.Signature):
    """Übersetze “genau” — 日本語 🙂.\\n\\tTab."""
    größe: str = dspy.InputField(desc="Maß: é")
    名前: Literal["はい", 'いいえ', "it's", 'a "b"'] = dspy.OutputField()
''',
    "ByCall": """
import dspy

ByCall = dspy.Signature("question, context: list[str] -> answer: int", "Answer with a number.")
""",
    "Decorated": """
import dspy
from typing import final, ClassVar

@final
class Decorated(dspy.Signature):
    VERSION: ClassVar[int] = 3
    _private: int = 4
    q: str = dspy.InputField()
    a: str = dspy.OutputField()

    def method(self):
        return 1

    @property
    def also(self):
        return 2
""",
    "Limited": """
import dspy
from typing import ClassVar

class Limited(dspy.Signature):
    LIMIT: "ClassVar[int]" = 3
    q: str = dspy.InputField()
    a: str = dspy.OutputField()
""",
    "Shared": """
import dspy

QUESTION = dspy.InputField(desc="asked")

class Shared(dspy.Signature):
    question: str = QUESTION
    answer: str = dspy.OutputField()
""",
    "SelfDataclass": """
from __future__ import annotations
import dspy
from dataclasses import dataclass, field
from typing_extensions import TypedDict
from pydantic import BaseModel

@dataclass
class Tree:
    value: int
    children: list[Tree] = field(default_factory=list)

class Linked(TypedDict):
    value: int
    next: Linked | None

class Uses(BaseModel):
    tree: Tree
    linked: Linked

class SelfDataclass(dspy.Signature):
    q: str = dspy.InputField()
    tree: Tree = dspy.OutputField()
    linked: Linked = dspy.OutputField()
    uses: Uses = dspy.OutputField()
""",
    "ModelDefaults": """
import dspy
from pydantic import BaseModel, Field
from enum import Enum
from datetime import datetime
from uuid import UUID, uuid4

class Mode(str, Enum):
    FAST = "fast"

class Point(BaseModel):
    x: int = 0

class Settings(BaseModel):
    mode: Mode = Mode.FAST
    origin: Point = Point(x=3)
    points: list[Point] = Field(default_factory=lambda: [Point(x=1)])
    other: Point = Field(default_factory=Point)
    id: UUID = Field(default_factory=uuid4)
    at: datetime = Field(default_factory=datetime.now)

class ModelDefaults(dspy.Signature):
    q: str = dspy.InputField()
    settings: Settings = dspy.OutputField()
    point: Point = dspy.OutputField(default=Point(x=7))
""",
    "AliasCycle": """
import dspy
from typing import Optional
from pydantic import BaseModel

Children = list["Branch"]
MaybeBranch = Optional["Branch"]

class Branch(BaseModel):
    children: Children = []
    parent: MaybeBranch = None

class AliasCycle(dspy.Signature):
    q: str = dspy.InputField()
    a: Branch = dspy.OutputField()
""",
    "InheritedRecursive": """
import dspy
from typing import Optional
from pydantic import BaseModel

class Base(BaseModel):
    child: Optional["Derived"] = None

class Derived(Base):
    sibling: "list[Base]" = []

class InheritedRecursive(dspy.Signature):
    q: str = dspy.InputField()
    a: Derived = dspy.OutputField()
    b: Base = dspy.OutputField()
""",
    "Functional": """
import dspy
from enum import Enum, IntEnum
from typing import Literal
from typing_extensions import TypedDict, TypeAliasType

Color = Enum("Color", ["RED", "BLUE"])
Level = IntEnum("Level", "LOW HIGH", start=5)
Point = TypedDict("Point", {"x": int, "in": str}, total=False)
Named = TypeAliasType("Named", dict[str, Literal["a"]])
MORE = ["x", "y"]
Spread = Literal[*MORE, "z"]

class Functional(dspy.Signature):
    q: Point = dspy.InputField()
    a: Color = dspy.OutputField()
    b: Level = dspy.OutputField()
    c: Named = dspy.OutputField()
    d: list[Named] = dspy.OutputField()
    e: Spread = dspy.OutputField()
""",
    "Assigned": '''
import dspy
import textwrap, inspect

class Assigned(dspy.Signature):
    __doc__ = textwrap.dedent("""
        Read it.
          Twice.
    """)
    q: str = dspy.InputField(desc="  stripped ".strip(), description="x")
    a: str = dspy.OutputField(desc=inspect.cleandoc("""one
        two"""))
''',
    "Starred": """
from dspy import *
from typing import *
from pydantic import *
import dspy

class Starred(dspy.Signature):
    q: Optional[str] = dspy.InputField()
    a: Annotated[int, Field(ge=1)] = dspy.OutputField()
""",
    "Validated": """
import dspy
from typing import Annotated
from pydantic import AfterValidator, BaseModel, BeforeValidator, PlainSerializer

def double(value):
    return value * 2

Even = Annotated[int, AfterValidator(double)]

class Holder(BaseModel):
    even: Even = 2
    text: Annotated[str, BeforeValidator(str), PlainSerializer(lambda value: value)]

class Validated(dspy.Signature):
    q: str = dspy.InputField()
    a: Even = dspy.OutputField()
    c: Holder = dspy.OutputField()
""",
    "NestedTyping": """
import dspy
from collections.abc import Mapping, Sequence
from typing import Any, Literal

class NestedTyping(dspy.Signature):
    q: Mapping[str, Sequence[tuple[int, Literal["x"] | None]]] = dspy.InputField()
    a: dict[str, Any] = dspy.OutputField()
    b: list[dict[str, list[int | None]]] | None = dspy.OutputField()
    c: tuple[()] = dspy.OutputField()
    d: frozenset[str] = dspy.OutputField()
    e: type[int] = dspy.OutputField()
""",
    "ByDict": """
import dspy

ByDict = dspy.Signature(
    {
        "question": (str, dspy.InputField(desc="asked")),
        "n": dspy.InputField(),
        "answer": (list[int], dspy.OutputField()),
    },
    instructions="Count.",
    signature_name="ByDict",
)
""",
}

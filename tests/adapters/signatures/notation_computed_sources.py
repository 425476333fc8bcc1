"""Source files in which signatures and their texts are computed from constants: name of the signature → text.

Every one of them also runs as it stands.
"""

from __future__ import annotations

COMPUTED: dict[str, str] = {
    "Texts": '''
import dspy
from enum import Enum

class Color(Enum):
    RED = "red"
    BLUE = "blue"

LABELS = ["spam", "ham", "eggs"]
LIMIT = 3
RULE = "-" * 10
NUMBERED = "\\n".join(f"{number}. {label}" for number, label in [(1, "one"), (2, "two")])

class Texts(dspy.Signature):
    __doc__ = f"""Choose one of {', '.join(LABELS)} in at most {LIMIT:>3d} words.
    {RULE} {'%s or %d' % ('this', LIMIT)} {"{0} and {name!r}".format(LABELS[0], name="x")}
    """
    q: str = dspy.InputField(desc="one of %s" % ", ".join(LABELS))
    n: str = dspy.InputField(desc=NUMBERED)
    c: str = dspy.OutputField(desc=", ".join([color.value for color in Color if color.value != "blue"]))
    d: str = dspy.OutputField(desc="Colors: {}".format("/".join(color.name for color in Color)).upper().strip())
    e: int = dspy.OutputField(desc=f"{2 ** 10} {7 % 4} {len(LABELS)} {max(1, LIMIT)} {LIMIT!r} {1.5:.2f}")
    f: int = dspy.OutputField(desc='a' if LIMIT > 2 and not LABELS == [] else 'b')
''',
    "Indexed": '''
import dspy

WORDS = {"short": "in one word", "long": ["at", "length"]}

class Indexed(dspy.Signature):
    """Answer."""
    q: str = dspy.InputField(desc=WORDS["short"])
    a: str = dspy.OutputField(desc=" ".join(WORDS["long"][:2]) + WORDS["long"][-1])
''',
    "Boxed": '''
from typing import Generic, Optional, TypeVar
import dspy
from pydantic import BaseModel, Field

T = TypeVar("T")
K = TypeVar("K", bound=BaseModel)

class Box(BaseModel, Generic[T]):
    """A box."""
    content: T
    more: list[T] = Field(default_factory=list)

class Line(BaseModel):
    price: float

class Shelf(Box[Line], Generic[K]):
    extra: Optional[K] = None

class Boxed(dspy.Signature):
    """Unpack."""
    q: Box[str] = dspy.InputField()
    a: Box[Line] = dspy.OutputField()
    b: list[Box[int]] = dspy.OutputField()
    c: Shelf[Line] = dspy.OutputField()
    d: Box = dspy.OutputField()
''',
    "NoneAndNested": '''
from typing import Literal, TypeVar, Union
import dspy

A = Literal["a", "b"]
T = TypeVar("T")

class NoneAndNested(dspy.Signature):
    """Choose."""
    q: Union[str, type(None)] = dspy.InputField()
    a: Literal[A, "c", Literal["d"]] = dspy.OutputField()
    b: int | type(None) = dspy.OutputField()
''',
    "Busy": '''
import dspy
from pydantic import BaseModel

class Model(BaseModel):
    """A model."""
    x: int
    assert True
    print
    y: "list[str]" = []

class Busy(dspy.Signature):
    """Answer."""
    import datetime
    q: str = dspy.InputField()
    assert 1 + 1 == 2, "sums"
    day: datetime.date = dspy.OutputField()
    m: Model = dspy.OutputField()
    len("nothing")
    del datetime
''',
    "Documented": '''
import dspy

class Documented(dspy.Signature):
    """Before."""
    q: str = dspy.InputField()
    a: str = dspy.OutputField()

Documented.__doc__ = """
    After, %s.
""" % "all of it"
''',
    "Instructed": """
import dspy

class Instructed(dspy.Signature):
    q: str = dspy.InputField()
    a: str = dspy.OutputField()

Instructed.instructions = "Answer in French."
""",
    "OfTheFile": """
import dspy
from typing import Literal
from pydantic import BaseModel

Kind = Literal["x", "y"]

class Foo(BaseModel):
    x: int

OfTheFile = dspy.Signature("q, kind: Kind -> a: Foo, b: list[str]", "Find it.")
""",
    "Made": """
import dspy
from dspy.signatures.signature import make_signature
from pydantic import BaseModel

class Foo(BaseModel):
    x: int

Made = make_signature("q: str, n: int -> a: float", "Do it.", "Made")
""",
    "MadeOfFields": """
import dspy

MadeOfFields = dspy.make_signature({"q": (str, dspy.InputField(desc="asked")), "a": (int, dspy.OutputField())})
""",
    "Changed": '''
import dspy
from pydantic import BaseModel

class Foo(BaseModel):
    x: int

class Base(dspy.Signature):
    """
    Do the base thing.
    """
    q: str = dspy.InputField(desc="asked")
    a: str = dspy.OutputField()

Told = Base.with_instructions("Do " + "it.")
Longer = Told.append("foo", dspy.OutputField(desc="a foo"), type_=Foo).prepend("context", dspy.InputField(), list[str])
Changed = Longer.with_updated_fields("a", desc="short", type_=int).delete("q").insert(0, "r", dspy.InputField(), str)
''',
    "Appended": """
import dspy

Appended = dspy.Signature("q -> a").append_instructions("Be brief.").append("why", dspy.OutputField(desc="because"))
""",
    "Again": '''
import dspy

class Again(dspy.Signature):
    """Before."""
    q: str = dspy.InputField()
    a: str = dspy.OutputField()

Again = Again.with_instructions("After.").append("b", dspy.OutputField(), int)
''',
    "Typed": '''
import dspy

NOUN = "event"

class Event(dspy.Type):
    """Something that happens."""
    name: str
    days: int = 1

    def format(self):
        return f"<{self.name}>"

    @classmethod
    def description(cls) -> str:
        """What the prompt says."""
        return f"An {NOUN}, " + "with its name."

class Bare(dspy.Type):
    text: str

    def format(self):
        return self.text

class Typed(dspy.Signature):
    """Sort them."""
    q: Event = dspy.InputField()
    more: list[Bare] = dspy.InputField()
    a: Event = dspy.OutputField()
    b: dict[str, Event] = dspy.OutputField(desc="by name")
''',
    "Conditional": '''
import dspy

SHORT = True
KINDS = {"b": 1, "a": 2}

class Conditional(dspy.Signature):
    """One branch of two."""
    q: str = dspy.InputField(desc=", ".join(KINDS.keys()))
    if SHORT and len(KINDS) == 2:
        a: str = dspy.OutputField(desc=", ".join(sorted(KINDS.keys())))
        if not SHORT:
            never: int = dspy.OutputField()
        elif KINDS["a"] > 1:
            b: int = dspy.OutputField()
    else:
        c: str = dspy.OutputField()
''',
    "ByCustomTypes": """
import dspy
from pydantic import BaseModel

class Foo(BaseModel):
    x: int

ByCustomTypes = dspy.Signature("q: list[Bar], List: List -> a: Bar", custom_types={"Bar": Foo, "List": Foo})
""",
    "OfOwnNames": '''
import dspy
from pydantic import BaseModel

class Document(BaseModel):
    """Not dspy's."""
    title: str

OfOwnNames = dspy.Signature("q: Document, more: list[Document] -> a: Document", "Read.")
''',
    "Ensured": """
import dspy

Ensured = dspy.ensure_signature("q -> a: int", "Count.")
""",
    "Cleared": '''
import dspy

class Base(dspy.Signature):
    """Something."""
    q: str = dspy.InputField()
    a: str = dspy.OutputField()

Cleared = Base.with_instructions("")
''',
}

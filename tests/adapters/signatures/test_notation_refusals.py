"""What is refused, with line, column and what would work; and that none of it runs or breaks anything."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.errors import SignatureError
from adapters.signatures import notation
from tests.adapters.signatures.notation_sources import SOURCES as EXAMPLES
from tests.support.pace import LOOPS_A_SECOND, loops

HEAD = "import dspy\nfrom pydantic import BaseModel\n"


def signature(field: str, before: str = "") -> str:
    """A source with one field, which stands in line 4, or further down by the lines of `before`."""
    return f"{HEAD}{before}class S(dspy.Signature):\n    {field}\n"


STRINGS = [
    ("a: lsit[int] -> b", 1, 4, "unknown name `lsit`", "list"),
    ("a -> b: Datetime", 1, 9, "unknown name `Datetime`", "datetime"),
    ("a,\n  b: Foo -> c", 2, 6, "unknown name `Foo`", "Python notation"),
    ("größe: int, 名前: Itme -> c", 1, 17, "unknown name `Itme`", "did you mean"),
    ("a -> b: one", 1, 9, "unknown name `one`", "your own types"),
    ("a -> 🙂: int", 1, 6, "not valid Python", ""),
    ("a: dspy.Imge -> b", 1, 4, "unknown name `dspy.Imge`", "Image"),
    (
        "note -> total: float, paid bool",
        1,
        28,
        "`paid bool` is not a field",
        "`paid: bool`, `paid, bool` or `paid_bool`",
    ),
    ("first name -> b", 1, 7, "`first name` is not a field", "`first_name`"),
    ("a -> is b", 1, 6, "not valid Python", ""),
    ("a: fintloat -> b", 1, 4, "unknown name `fintloat`", "did you mean float or FiniteFloat?"),
    ("a = 3 -> b", 1, 5, "no defaults", "dspy.InputField(default=...)"),
    ("a: int = 3, b -> c", 1, 10, "no defaults", "Python class"),
    ("a -> b: str = 'x'", 1, 15, "no defaults", "Python class"),
    ("a, b, a -> c", 1, 7, "`a` is named twice", "unique name"),
    ("a -> b, c,\nb", 2, 1, "`b` is named twice", "unique name"),
    ("a -> a", 1, 6, "`a` is an input already", "distinct names"),
    ("a, *rest -> b", 1, 5, "`*rest` is not a field", "rest: list[str]"),
    ("a, **rest -> b", 1, 6, "`**rest` is not a field", "rest: dict[str, Any]"),
    ("a -> b: conint(ge=1)", 1, 9, "does not accept calls", "Python class"),
    ('a -> b: list[Code["java"]]', 1, 14, "does not accept Code", "Python class"),
    ("a, *, b -> c", 1, 7, "would be dropped", "leave out the `*`"),
    ("a, /, b -> c", 1, 1, "would be dropped", "leave out the `/`"),
    ("_a -> b", 1, 1, "cannot start with an underscore", "a"),
    ("a -> instructions", 1, 6, "`instructions` cannot be a field", "instructions_"),
    ("model_dump -> a", 1, 1, "pydantic's models use that name", ""),
    ("class -> b", 1, 1, "`class` is a Python keyword", "class_"),
    ("from, to -> b", 1, 1, "`from` is a Python keyword", "from_"),
    ("a -> b: Literal[-1]", 1, 17, "not accept negative numbers", "Python class"),
    ("a -> b: Literal[good, bad]", 1, 17, "unknown name `good`", 'write the words of a Literal in quotes: "good"'),
    ("a -> total: fina", 1, 13, "unknown name `fina`", "did you mean Final?"),
    ("a -> b: Literal['x', itn]", 1, 22, "unknown name `itn`", "did you mean int?"),
    ("a -> b: 5", 1, 9, "5 is not a type", "Literal[5]"),
    ("a -> b: 'int'", 1, 9, "not accept quoted types", "int"),
    ("a -> b: list['Foo']", 1, 14, "unknown name `Foo`", ""),
    ("a -> b: (int, str)", 1, 9, "is not a type", "tuple[int, str]"),
    ("a -> b: List", 1, 9, "List is not a type", "list"),
    ("a -> b: dict[str]", 1, 9, "needs a type for keys and one for values", "dict[str, int]"),
    ("a -> b: Iterator[int]", 1, 6, "field `b`: Unable to generate pydantic-core schema", "dspy refuses"),
    ("a -> b: dspy.Score['x', 'y']", 1, 9, "not accept decision criteria", "Python class"),
    ("a -> b: list[Noul[(True, 'x')]]", 1, 14, "not accept decision criteria", "Python class"),
    ("a -> b: ImportString", 1, 9, "pydantic.ImportString is not supported", "str"),
    ("a -> b: Field(le=5)", 1, 9, "Field(...) is not a type", "Annotated[int, Field(le=5)]"),
    ("a: [int -> b", 1, 4, "'[' was never closed", ""),
    ("a) -> b", 1, 2, "unmatched ')'", ""),
    ("x): pass # -> b", 1, 2, "unmatched ')'", ""),
    ("a -> b -> c", 1, 8, "more than one `->`", "once"),
    ("question, answer", 1, 17, "no `->`", "question -> answer"),
    ("", 1, 1, "no `->`", "question -> answer"),
    ('"a -> b"', 1, 1, "quotes around the signature", "leave them out"),
    ("a\0 -> b", 1, 2, "a NUL character", "delete"),
    ("a ->\n b: \ud800", 2, 5, "an unpaired surrogate, U+D800", "escape"),
    ("a: __import__('os').system('touch pwned') -> b", 1, 4, "is not supported", "use names"),
    ("a: Annotated[int, Field(default=open('pwned', 'w'))] -> b", 1, 33, "unknown name `open`", ""),
    ("a: os.system -> b", 1, 4, "unknown name `os`", ""),
    ("a: " + "[" * 10_000 + "]" * 10_000 + " -> b", 1, 104, "more than 100 nested brackets", ""),
    ("a" * 1_000_001, 1, 1, "the limit is 1,000,000", ""),
    ("a: x" + ".a" * 10_000 + " -> b", 1, 1, "nested too deeply", ""),
    ("a: " + "-" * 10_000 + "1 -> b", 1, 1, "nested too deeply", ""),
    ("a: int" + " | int" * 20_000 + " -> b", 1, 1, "nested too deeply", ""),
]

ITEM = "class Item(BaseModel):\n    x: int\n"
SOURCES = [
    (signature("a: str = dspy.InputField('text')"), 4, 30, "only named arguments", 'desc="..."'),
    (
        signature("a: str = dspy.InputField(**more)"),
        4,
        32,
        "`**` arguments are not supported",
        "write the arguments out",
    ),
    (signature("a: str = dspy.InputField(prefix=5)"), 4, 37, "prefix must be a text, not int", "Name:"),
    (
        signature("a: str = dspy.InputField(desc=M)", "class M(BaseModel): x: int\n"),
        5,
        35,
        "desc must be a text",
        "desc",
    ),
    (
        signature("a: dspy.Citations = dspy.OutputField()"),
        4,
        8,
        "among its experiments",
        "from dspy.experimental import Citations",
    ),
    (
        "from dspy import Document\n" + signature("a: Document = dspy.InputField()"),
        *(5, 8, "dspy.Document is not supported", "from dspy.experimental import Document"),
    ),
    (signature("a: str"), 4, 5, "must be declared with InputField or OutputField", "dspy.InputField()"),
    (signature("a: str = 'x'"), 4, 5, "must be declared with InputField or OutputField", "dspy.InputField()"),
    (signature("_a: str = dspy.InputField()"), 4, 5, "cannot start with an underscore", "a"),
    (signature("fields: str = dspy.InputField()"), 4, 5, "`fields` cannot be a field", "fields_"),
    (signature("größe: Itme = dspy.InputField()", ITEM), 6, 12, "unknown name `Itme`", "Item"),
    (signature("a: 'list[Itme]' = dspy.InputField()", ITEM), 6, 8, "unknown name `Itme`", "Item"),
    (
        signature("a: M = dspy.InputField()", "from .m import M\n"),
        5,
        8,
        "imported from .m, and other files are not read",
        "this text",
    ),
    (signature("a: np.ndarray = dspy.InputField()", "import numpy as np\n"), 5, 8, "imported from numpy", "this text"),
    (signature("a: f = dspy.InputField()", "def f(): pass\n"), 5, 8, "`f` is a function", ""),
    (signature("a: str = dspy.InputField(desc=D)", "D = 'a'\nD += 'b'\n"), 6, 35, "`D` is computed", "literal"),
    (signature("a: str = dspy.InputField(desc=D)", "D = 'a'.join(open('b'))\n"), 3, 14, "unknown name `open`", ""),
    (signature("a: str = dspy.InputField(desc=D)", "D = 'a'.encode()\n"), 3, 5, "is not", ""),
    (
        signature("a: str = dspy.InputField(desc=D)", "D = '%999999999d' % 1\n"),
        3,
        5,
        "this format is not supported",
        "",
    ),
    (signature("a: str = dspy.InputField(desc=D)", "D = '{:>999999999}'.format(1)\n"), 3, 5, "is not supported", ""),
    (signature("a: str = dspy.InputField(desc=D)", "D = '{0.__class__}'.format(1)\n"), 3, 5, "is not supported", ""),
    (signature("a: str = dspy.InputField(desc=D)", "D = ', '.join('a' for a in range(10**6))\n"), 3, 28, "range", ""),
    (
        signature("a: str = dspy.InputField(desc=D)", "D = [a for a in range(999) for b in range(999)]\n"),
        *(3, 5, "more than 10,000 rounds", ""),
    ),
    (signature("a: int = dspy.InputField(desc=D)", "D = str(2 ** 99999)\n"), 3, 9, "2 ** 99999", "literals"),
    (signature("a: str = dspy.InputField(desc=f'{1:>300}')"), 4, 35, "f-string", "write the text out"),
    (signature("a: str = dspy.InputField(default_factory=lambda x: x)"), 4, 46, "takes no arguments", "lambda: []"),
    (
        signature("a: str = dspy.InputField(default_factory=lambda: str(uuid.uuid4()))", "import uuid\n"),
        *(5, 58, "never run", "uuid.uuid4"),
    ),
    (signature("a: str = dspy.InputField(default_factory=f)", "def f(): pass\n"), 5, 46, "`f` is a function", ""),
    (signature("a: bool = dspy.InputField()\n    for i in range(3): pass"), 5, 5, "never run", ""),
    (
        signature("a: T = dspy.InputField()", "class T(dspy.Type):\n    def parse_lm_response(self): pass\n"),
        *(3, 9, "custom dspy type whose parse_lm_response is code", "module:Class"),
    ),
    (
        signature("a: T = dspy.InputField()", "class T(dspy.Type):\n    def description(cls): return told()\n"),
        *(4, 34, "unknown name `told`", ""),
    ),
    (signature("a: T = dspy.InputField()", "class T:\n    x: int\n"), 3, 1, "neither a pydantic model", "BaseModel"),
    (signature("a: T = dspy.InputField()", "@register\nclass T(BaseModel):\n    x: int\n"), 3, 2, "decorator", ""),
    (signature("a: T = dspy.InputField()", "class T(BaseModel):\n    x: int = f()\n"), 4, 14, "unknown name `f`", ""),
    (signature("a: T = dspy.InputField()", "class T(BaseModel):\n    x = 3\n"), 3, 1, "non-annotated", ""),
    (signature("a: T = dspy.InputField()", "class T(BaseModel):\n    if 1: x: int\n"), 4, 5, "never run", ""),
    (signature("a: T = dspy.InputField()", "T = T\n"), 3, 5, "unknown name `T`", ""),
    (signature("a: T = dspy.InputField()", "T = list['T']\n"), 3, 10, "unknown name `T`", ""),
    (
        signature("a: T = dspy.InputField()", "from typing import *\nX = TypeVar('X')\nclass T(Generic[X]): x: X\n"),
        *(5, 1, "neither a pydantic model", "BaseModel"),
    ),
    (
        signature("a: T = dspy.InputField()", "from enum import Enum\nclass T(Enum):\n    A = 1\n    A = 2\n"),
        *(6, 5, "`A` is a member of T already", ""),
    ),
    (f"{HEAD}class S(dspy.Signature)\n    a: str\n", 3, 24, "expected ':'", ""),
    (
        f"{HEAD}class A(dspy.Signature): pass\n\nclass B(dspy.Signature): pass\n",
        5,
        1,
        "several signatures: A, B",
        "name",
    ),
    (f"{HEAD}class A(BaseModel): pass\n", 3, 1, "no class of this text is a dspy.Signature", "dspy.Signature"),
    (f"{HEAD}from lib import Base\nclass A(Base): pass\n", 4, 9, "`Base` is imported from lib", "this text"),
    (f"{HEAD}class A(dspy.Signature): pass\nA = improved(A)\n", 4, 1, "`A` is computed here", ""),
    (f"{HEAD}A = dspy.Signature('q -> a').append('q')\n", 3, 5, "`q` must be declared", ""),
    (f"{HEAD}A = dspy.Signature('q -> a').insert(9, 'x', dspy.InputField())\n", 3, 5, "index 9", ""),
    (f"{HEAD}A = dspy.Signature('q -> a').with_updated_fields('z', desc='x')\n", 3, 5, "no field `z`", "q, a"),
    ("import os\nprint(1)\n", 1, 1, "no signature in this text", "dspy.Signature"),
    ("X = dspy.Signature('a -> b: Foo')\n", 1, 20, "unknown name `Foo`", ""),
    ("import dspy\n\nX = dspy.Signature(make())\n", 3, 20, "unknown name `make`", ""),
    (signature("a: str = dspy.InputField(desc='x' * 10**9)"), 4, 41, "100,000 characters", ""),
    (signature("a: int = dspy.InputField(default=0x" + "f" * 5000 + ")"), 4, 38, "1,200 digits", ""),
    (
        signature("a: str = dspy.InputField()\n    b: int = dspy.InputField(default=" + "[" * 10_000),
        5,
        137,
        "100 nested brackets",
        "",
    ),
]


@pytest.mark.parametrize(("text", "line", "column", "message", "hint"), [*STRINGS, *SOURCES], ids=lambda x: str(x)[:50])
def test_a_refusal_names_the_place_and_what_would_work(
    text: str, line: int, column: int, message: str, hint: str
) -> None:
    with pytest.raises(SignatureError) as raised:
        notation.read(text)
    error = raised.value
    assert (error.line, error.column) == (line, column), str(error)
    assert message in error.message
    assert hint in error.hint
    str(error).encode()


@pytest.mark.parametrize(
    "value",
    [
        "list(ipaddress.IPv4Network('0.0.0.0/0'))",
        "fractions.Fraction('1e999999999')",
        "bytes(1000000000)",
        "'a' * 1000000000",
        "[0] * 1000000000",
        "2 ** 1000000000",
        "1 << 1000000000",
        "f'{1:1000000000}'",
        "int('9' * 5000)",
    ],
)
def test_a_value_that_would_take_for_ever_is_refused(value: str) -> None:
    with pytest.raises(SignatureError):
        notation.read(signature(f"a: str = dspy.InputField(default={value})"))


SOURCES_THAT_READ = [*EXAMPLES.values(), "question, context: list[str] -> answer: Literal['yes', 'no'], score: float"]

PWNED = '__import__("os").system("touch pwned")'
EVIL = [
    f"a: {PWNED} -> b",
    f"a: Literal[{PWNED}] -> b",
    f"a: Annotated[int, {PWNED}] -> b",
    f"a={PWNED} -> b",
    f"a: '{PWNED}' -> b",
    signature(f"a: {PWNED} = dspy.InputField()"),
    signature(f"a: '{PWNED}' = dspy.InputField()"),
    signature(f"a: str = dspy.InputField(desc={PWNED})"),
    signature(f"a: str = dspy.InputField(default={PWNED})"),
    signature(f"a: str = dspy.InputField(default_factory=lambda: {PWNED})"),
    signature(f"a: str = dspy.InputField(format=lambda x: {PWNED})"),
    signature("a: M = dspy.InputField()", f"class M(BaseModel):\n    x: int = {PWNED}\n"),
    signature("a: M = dspy.InputField()", f"class M(BaseModel):\n    x: int\n    def __init__(self): {PWNED}\n"),
    signature("a: M = dspy.InputField()", f"from enum import Enum\nclass M(Enum):\n    X = {PWNED}\n"),
    signature("a: M = dspy.InputField()", f"M = {PWNED}\n"),
    signature("a: str = dspy.InputField()", f"{PWNED}\n"),
    signature("a: str = dspy.InputField()", f"class Other(dspy.Type):\n    x = {PWNED}\n"),
    f"{HEAD}class S(dspy.Signature, metaclass={PWNED}):\n    a: str = dspy.InputField()\n",
    f"{HEAD}@{PWNED}\nclass S(dspy.Signature):\n    a: str = dspy.InputField()\n",
    f"X = dspy.Signature('a -> b', {PWNED})\n",
]


@pytest.mark.parametrize("text", EVIL)
def test_nothing_that_a_text_says_is_run(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        read = notation.read(text)
    except SignatureError:
        pass
    else:
        for field in read.fields_in_order:
            field.fallback()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text",
    [
        "class S(dspy.Signature):\n    a: str = dspy.InputField()\n" + "# filler\n" * 110_000,
        "import dspy\nX = " + " + ".join(["'a'"] * 100_000) + "\n",
        "import dspy\n" + "type X = int\n" * 70_000,
        "import dspy\n" + "type X = int\n" * 300_000,
        "(" * 1_000_000,
        '"' * 999_999,
        "\\" * 999_999,
        "class A(" * 5_000,
        "f'{" * 500 + "import x",
        "import x\n" + "lambda: " * 50_000,
        "import x\n" + "if x:\n " * 5_000,
        "a: " + "list[" * 99 + "int" + "]" * 99 + " -> b",
        "a: Annotated[int, " + "[" * 98 + "]" * 98 + "] -> b",
        "\x1b[31m -> \x9b",
        "[/x] -> [bold]",
        "\ufeff",
        "\r" * 1000 + "a -> ",
    ],
    ids=lambda one: one[:20].encode("unicode_escape").decode(),
)
def test_hostile_text_ends_in_a_signature_or_a_clear_error(text: str) -> None:
    refusal = SignatureError("")

    def read() -> None:
        nonlocal refusal
        try:
            notation.read(text)
        except SignatureError as error:
            refusal = error

    assert loops(read, tries=1) < 20 * LOOPS_A_SECOND
    assert len(str(refusal)) < 500
    assert min(refusal.line, refusal.column) >= 1


@pytest.mark.parametrize(
    "page", ["'" + "a->" * 10_000, " " * 100_000 + "a", "'->" * 30_000, "```\n" * 10_000], ids=lambda page: page[:4]
)
def test_a_copied_page_of_whatever_text_is_searched_at_once(page: str) -> None:
    assert loops(lambda: list(notation.sources_in(page)), tries=1) < LOOPS_A_SECOND / 2


def test_the_indentation_of_a_copied_page_is_that_of_its_first_line_with_text() -> None:
    page = "  \n    class A:\n        a: str\n"
    assert [one.lstrip() for one in notation.sources_in(page)] == ["class A:\n    a: str"]


PIECES = sorted({piece for text in SOURCES_THAT_READ for piece in re.findall(r"\w+|[^\w\s]", text)})


@pytest.mark.slow
@given(
    st.sampled_from(SOURCES_THAT_READ),
    st.lists(st.tuples(st.integers(0, 9999), st.sampled_from(PIECES), st.sampled_from("riDd")), min_size=1, max_size=4),
)
@settings(max_examples=3 * settings().max_examples, deadline=None)
def test_a_slip_of_the_pen_ends_in_a_signature_or_a_clear_error(text: str, slips: list[tuple[int, str, str]]) -> None:
    pieces = re.findall(r"\w+|\s+|[^\w\s]", text)
    for place, piece, what in slips:
        at = place % len(pieces)
        pieces[at : at + (what != "i")] = [piece] * {"r": 1, "i": 1, "D": 2, "d": 0}[what]
        pieces = pieces or [" "]
    try:
        names = notation.class_names("".join(pieces))
        for name in names or [None]:
            notation.read("".join(pieces), name)
    except SignatureError as error:
        refusal = error
    else:
        refusal = SignatureError("")
    assert min(refusal.line, refusal.column) >= 1


def test_a_byte_order_mark_is_passed_over() -> None:
    assert notation.read("\ufeff" + signature("a: str = dspy.InputField()")).name == "S"


def test_the_same_text_gives_the_same_signature() -> None:
    assert notation.read("question -> answer") is notation.read("question -> answer", None)


def test_a_class_is_chosen_by_its_name() -> None:
    text = f"{HEAD}class A(dspy.Signature):\n    a = dspy.InputField()\nclass B(A): pass\nC = dspy.Signature('x -> y')"
    assert notation.class_names(text) == ("A", "B", "C")
    assert notation.read(text, "B").name == "B"
    assert list(notation.read(text, "C").fields) == ["x", "y"]
    with pytest.raises(SignatureError, match="no signature `D`"):
        notation.read(text, "D")


def test_the_string_notation_has_no_classes() -> None:
    assert notation.class_names("question -> answer") == ()
    with pytest.raises(SignatureError, match="no class A"):
        notation.read("question -> answer", "A")


def test_a_field_says_what_of_its_model_is_not_run() -> None:
    before = (
        "from pydantic import field_validator\n"
        "class Part(BaseModel):\n    x: int\n    @field_validator('x')\n    def check(cls, v): raise SystemExit\n"
        "class Whole(BaseModel):\n    parts: list[Part]\n"
    )
    field = notation.read(signature("a: dict[str, Whole] = dspy.OutputField()", before)).fields["a"]
    assert field.notes == ("Part: field_validator `check` is not run",)
    assert field.annotation.__args__[1](parts=[{"x": 1}]).parts[0].x == 1


def test_strings_behind_the_fields_of_a_model_describe_them_when_it_says_so() -> None:
    before = (
        "class M(BaseModel):\n    model_config = {'use_attribute_docstrings': True}\n"
        "    a: int\n    'The a.'\n    b: str = 'x'\n    'The b.'\n    c: int = 1\n"
    )
    annotation = notation.read(signature("a: M = dspy.OutputField()", before)).fields["a"].annotation
    shown = annotation.model_json_schema()["properties"]
    assert [shown[name].get("description") for name in "abc"] == ["The a.", "The b.", None]


def test_an_argument_without_effect_is_noted() -> None:
    field = notation.read(signature("a: str = dspy.InputField(dsc='x', format=str.upper)")).fields["a"]
    assert field.notes == ("`dsc` has no effect in dspy; did you mean desc?", "`format` has no effect in dspy")


def test_a_field_of_type_none_in_a_string_is_a_text_and_says_so() -> None:
    field = notation.read("a -> b: None").fields["b"]
    assert field.annotation is str
    assert "None as str" in field.notes[0]


def test_type_statements_are_read_by_every_python() -> None:
    text = "import dspy\ntype Status = list[int]\n\nclass S(dspy.Signature):\n    a: Status = dspy.OutputField()\n"
    annotation = notation.read(text).fields["a"].annotation
    assert annotation.__name__ == "Status"
    assert annotation.__value__ == list[int]

"""Every signature is read as dspy 3.4.1 reads it: names, types, schemas, descriptions, defaults, instructions."""

from __future__ import annotations

import importlib
from datetime import date
from pathlib import Path

import dspy.experimental
import pytest
from dspy import Image
from dspy.adapters.utils import get_annotation_name
from pydantic import PositiveInt

from adapters.errors import AdapterParseError, SignatureError
from adapters.formats.chat import ChatAdapter
from adapters.signatures import notation
from adapters.signatures.type_names import name_of
from tests.adapters.signatures.dspy_signatures import face, face_of_dspy, of_source, of_string, schema
from tests.adapters.signatures.notation_computed_sources import COMPUTED
from tests.adapters.signatures.notation_sources import SOURCES as WRITTEN
from tests.adapters.signatures.notation_strings import STRINGS

SOURCES = {**WRITTEN, **COMPUTED}

# Read here and refused there, or the other way round, on purpose: why.
DELIBERATE = {
    "a: re.Pattern -> b": "dspy takes `re` for `typing.re`",
    "x) : pass # -> b": "dspy forgets the rest of the line",
}


def test_there_are_enough_signatures_to_compare() -> None:
    assert len(STRINGS) > 150
    assert len(SOURCES) > 40


@pytest.mark.parametrize("text", [one for one in STRINGS if one not in DELIBERATE])
def test_a_string_is_read_as_dspy_reads_it(text: str) -> None:
    try:
        expected = face_of_dspy(of_string(text))
    except Exception:
        with pytest.raises(SignatureError):
            notation.read(text)
    else:
        assert face(notation.read(text)) == expected


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_is_read_as_python_runs_it(name: str) -> None:
    assert face(notation.read(SOURCES[name], name)) == face_of_dspy(of_source(SOURCES[name], name))


BOXED = {
    "boxes": '[{"x": "a", "more": [null, "b"]}]',
    "labelled": '{"x": 1, "more": ["2"], "label": "l"}',
    "numbers": '{"x": "1", "more": [], "unit": "m"}',
    "loose": '{"first": "f", "pairs": {"a": 1}}',
    "pair": '["1", 2]',
    "held": '{"it": {"x": "yes", "more": [false]}}',
}
GENERIC = """
import dataclasses
import dspy
from typing import Generic, NamedTuple, Optional, TypeVar
from typing_extensions import Required, TypedDict

T = TypeVar("T")
U = TypeVar("U")

class Box(TypedDict, Generic[T]):
    x: T
    more: list[T]

class Labelled(Box[T], Generic[T, U]):
    label: U

class OfNumbers(Box[int]):
    unit: str

class Loose(Generic[T, U], TypedDict, total=False):
    pairs: dict[T, U]
    first: Required[T]

class Pair(NamedTuple, Generic[T]):
    left: T
    right: Optional[T] = None

@dataclasses.dataclass
class Held(Generic[T]):
    it: T

class Boxed(dspy.Signature):
    box: Box[int] = dspy.InputField()
    bare: Box = dspy.InputField()
    boxes: list[Box[Optional[str]]] = dspy.OutputField()
    labelled: Labelled[int, str] = dspy.OutputField()
    numbers: OfNumbers = dspy.OutputField()
    loose: Loose[str, float] = dspy.OutputField()
    pair: Pair[int] = dspy.OutputField()
    held: Held[Box[bool]] = dspy.OutputField()
"""


def test_generic_typed_dicts_named_tuples_and_dataclasses_are_read_as_python_runs_them() -> None:
    live, read = of_source(GENERIC, "Boxed"), notation.read(GENERIC, "Boxed")
    assert face(read) == face_of_dspy(live)
    reply = "\n".join(f"[[ ## {name} ## ]]\n{value}" for name, value in BOXED.items())
    assert repr(ChatAdapter().parse(read, reply)) == repr(dspy.ChatAdapter().parse(live, reply))
    wrong = reply.replace('"x": "a"', '"x": [1]')
    with pytest.raises(AdapterParseError):
        ChatAdapter().parse(read, wrong)
    with pytest.raises(dspy.utils.exceptions.AdapterParseError):
        dspy.ChatAdapter().parse(live, wrong)


DSPY = Path(dspy.__file__).parent
WITH_IMPORTED_MODELS = {"predict/avatar/signatures.py:Actor", "teleprompt/avatar_optimizer.py:Comparator"}


def signatures_of_dspy() -> list[str]:
    """Every signature class in dspy's own files, as `path:Class`."""
    found: list[str] = []
    for path in sorted(DSPY.rglob("*.py")):
        text = path.read_text("utf-8")
        if "Signature" in text:  # reading every file takes seconds whenever tests are collected
            found += [f"{path.relative_to(DSPY)}:{name}" for name in notation.class_names(text)]
    return [one for one in found if one not in WITH_IMPORTED_MODELS]


def test_dspy_has_signatures_of_its_own_to_read() -> None:
    assert len(signatures_of_dspy()) > 15


@pytest.mark.parametrize("place", signatures_of_dspy())
def test_the_signatures_in_dspys_own_files_are_read_as_they_are(place: str) -> None:
    path, name = place.split(":")
    module = importlib.import_module("dspy." + path.removesuffix(".py").replace("/", "."))
    assert face(notation.read((DSPY / path).read_text("utf-8"), name)) == face_of_dspy(getattr(module, name))


@pytest.mark.parametrize(
    ("text", "as_if"),
    [
        ("a: Image, b: Audio -> c: Code", "a: dspy.Image, b: dspy.Audio -> c: dspy.Code"),
        ("a: File, h: History -> r: Reasoning", "a: dspy.File, h: dspy.History -> r: dspy.Reasoning"),
        ("t: list[Tool] -> c: ToolCalls", "t: list[dspy.Tool] -> c: dspy.ToolCalls"),
        ("t: ToolCallResults -> c", "t: dspy.ToolCallResults -> c"),
        ("d: list[Document] -> c: Citations", "d: list[dspy.experimental.Document] -> c: dspy.experimental.Citations"),
        ("d: dspy.Document -> c: dspy.Citations", "d: dspy.experimental.Document -> c: dspy.experimental.Citations"),
        ("a: date, b: time -> c: timedelta", "a: datetime.date, b: datetime.time -> c: datetime.timedelta"),
        ("a: datetime -> b: datetime.datetime", "a: datetime.datetime -> b: datetime.datetime"),
        ("a: Decimal -> b: UUID", "a: decimal.Decimal -> b: uuid.UUID"),
        ("a: HttpUrl -> b: PositiveInt", "a: pydantic.HttpUrl -> b: pydantic.PositiveInt"),
        ("a: t.List[int] -> b: t.Optional[str]", "a: typing.List[int] -> b: typing.Optional[str]"),
    ],
)
def test_bare_names_are_read_as_if_imported(text: str, as_if: str) -> None:
    assert face(notation.read(text)) == face_of_dspy(of_string(as_if))


def test_code_takes_a_language_in_a_class() -> None:
    live = dspy.Code["java"]
    fields = 'a: str = dspy.InputField()\n    b: dspy.Code["java"] = dspy.OutputField()'
    text = f"import dspy\nclass S(dspy.Signature):\n    {fields}\n"
    annotation = notation.read(text).fields["b"].annotation
    assert (name_of(annotation), annotation.description(), schema(annotation)) == (
        get_annotation_name(live),
        live.description(),
        schema(live),
    )


def test_code_with_a_language_is_refused_in_a_string_of_which_dspy_makes_no_prompt() -> None:
    with pytest.raises(AttributeError, match="'tuple' object has no attribute 'lower'"):
        dspy.ChatAdapter().format(of_string('a -> b: dspy.Code["java"]'), [], {"a": "?"})
    with pytest.raises(SignatureError, match=r"does not accept Code with a language .*as a Python class"):
        notation.read('a -> b: dspy.Code["java"]')


CALLERS_NAMES = (Image, date, PositiveInt)
"""dspy looks for them in the code around the call, which is this file."""
FOUND = (
    *("a: Image -> b: date", "a: list[dspy.Image] -> b: dict[str, datetime.date]", "a: Image -> b: list[Image]"),
    *("a: Optional[int] -> b: Literal['x']", "a: dspy.experimental.Document -> b", "a: uuid.UUID | None -> b"),
)
UNFOUND = {
    "a: list[Image] -> b": "`Image`",
    "a -> b: dict[str, Optional[date]]": "`date`",
    "a -> b: str | PositiveInt": "`PositiveInt`",
    "a -> b: dspy.Citations": "`dspy.Citations`",
    "a: list[dspy.Document] -> b": "`dspy.Document`",
}


@pytest.mark.parametrize("text", [*FOUND, *UNFOUND])
def test_a_name_that_dspys_strings_do_not_find_is_noted(text: str) -> None:
    """dspy looks for a name in the calling code where it stands right behind a colon, and nowhere else."""
    notes = [note for field in notation.read(text).fields.values() for note in field.notes]
    if text in UNFOUND:
        assert [UNFOUND[text] in note and "custom_types" in note for note in notes] == [True]
        with pytest.raises(ValueError, match="Unknown"):
            dspy.Signature(text)
    else:
        assert notes == []
        dspy.Signature(text)

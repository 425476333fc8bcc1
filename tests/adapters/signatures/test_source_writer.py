"""A signature written as source reads back to an equal signature, by us and by Python with dspy."""

from __future__ import annotations

import datetime
import decimal
import enum
import keyword
from typing import Any, Literal, Optional, Union

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, create_model

from adapters.errors import SignatureError
from adapters.signatures import notation
from adapters.signatures.read.fields import TAKEN_NAMES
from adapters.signatures.signature import MISSING, Signature, constraint_text
from adapters.signatures.signature import Field as SignatureField
from adapters.signatures.source_writer import write_source
from tests.adapters.signatures.dspy_signatures import face, face_of_dspy, of_source
from tests.adapters.signatures.notation_sources import SOURCES
from tests.adapters.signatures.notation_strings import STRINGS


def equal_face(signature: Signature) -> dict[str, Any]:
    """All but the metadata that pydantic keeps beside a type, which dspy shows to nobody."""
    shown = face(signature)
    for field in shown["fields"].values():
        del field["shown"]
    return shown


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_written_again_reads_back(name: str) -> None:
    signature = notation.read(SOURCES[name], name)
    assert equal_face(notation.read(write_source(signature))) == equal_face(signature)


@pytest.mark.parametrize("name", SOURCES)
def test_what_is_written_runs_with_dspy(name: str) -> None:
    signature = notation.read(SOURCES[name], name)
    live = face_of_dspy(of_source(write_source(signature), signature.name))
    for field in live["fields"].values():
        del field["shown"]
    assert live == equal_face(signature)


@pytest.mark.parametrize("name", SOURCES)
def test_a_live_signature_can_be_written(name: str) -> None:
    live = Signature.from_dspy(of_source(SOURCES[name], name))
    written = notation.read(write_source(live))
    assert list(written.fields) == list(live.fields)
    assert written.instructions == live.instructions
    for ours, theirs in zip(written.fields.values(), live.fields.values(), strict=True):
        assert (ours.role, ours.description, ours.constraints) == (theirs.role, theirs.description, theirs.constraints)


def _readable(text: str) -> bool:
    try:
        notation.read(text)
    except SignatureError:
        return False
    return True


@pytest.mark.parametrize("text", [one for one in STRINGS if _readable(one) and "Self" not in one])
def test_a_string_signature_written_as_source_reads_back(text: str) -> None:
    signature = notation.read(text)
    assert equal_face(notation.read(write_source(signature))) == equal_face(signature)


class Colour(enum.Enum):
    RED = "red"
    BLUE = 2


class Part(BaseModel):
    """A part of it."""

    label: str = Field(min_length=1, description="what it's called")
    colour: Colour | None = None


class Whole(BaseModel):
    parts: list[Part] = []
    more: dict[str, Whole] = Field(default_factory=dict)


LEAVES: list[Any] = [str, int, float, bool, bytes, Any, datetime.date, decimal.Decimal, Colour, Part, Whole, list, dict]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
LITERALS = st.lists(st.one_of(TEXTS, st.integers(-9, 9), st.booleans(), st.none()), min_size=1, max_size=4)


def _wrapped(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        inner.map(lambda one: list[one]),  # type: ignore[valid-type]
        inner.map(lambda one: dict[str, one]),  # type: ignore[valid-type]
        inner.map(lambda one: tuple[one, ...]),  # type: ignore[valid-type]
        inner.map(lambda one: Optional[one]),  # noqa: UP045
        st.tuples(inner, inner).map(lambda pair: Union[pair]),  # noqa: UP007
        st.tuples(inner, inner).map(lambda pair: tuple[pair]),  # type: ignore[valid-type]
    )


ANNOTATIONS = st.recursive(
    st.one_of(st.sampled_from(LEAVES), LITERALS.map(lambda members: Literal[tuple(members)])), _wrapped, max_leaves=4
)
NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True).filter(
    lambda name: not keyword.iskeyword(name) and name not in TAKEN_NAMES
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(TEXTS, st.integers(), st.booleans(), st.none(), st.floats(allow_nan=False), st.sampled_from(Colour)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=5,
)


@st.composite
def fields(draw: st.DrawFn, name: str) -> SignatureField:
    annotation = draw(ANNOTATIONS)
    numbers = {"ge": draw(st.integers(-99, 99)), "lt": draw(st.floats(-9, 9))} if annotation in (int, float) else {}
    return SignatureField(
        name=name,
        role=draw(st.sampled_from(["input", "output"])),
        annotation=annotation,
        desc=draw(st.one_of(st.none(), TEXTS)),
        prefix=draw(st.one_of(st.none(), TEXTS)),
        constraints=constraint_text(numbers) if draw(st.booleans()) else None,
        default=draw(st.one_of(st.just(MISSING), VALUES)),
    )


@st.composite
def signatures(draw: st.DrawFn) -> Signature:
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    doc = draw(st.one_of(st.none(), st.text(st.sampled_from("ab \n\"'\\\té{}#"), max_size=60), TEXTS))
    return Signature.make([draw(fields(name)) for name in names], doc, "Generated")


@pytest.mark.slow
@given(signatures())
@settings(max_examples=100, deadline=None)
def test_every_signature_written_as_source_reads_back(signature: Signature) -> None:
    text = write_source(signature)
    assert equal_face_of(notation.read(text)) == equal_face_of(signature)
    live = face_of_dspy(of_source(text, "Generated"))
    for field in live["fields"].values():
        del field["shown"]
    assert live == equal_face_of(signature)


def equal_face_of(signature: Signature) -> dict[str, Any]:
    fields_only = Signature(
        tuple(SignatureField(**{**vars(one), "given_info": one}) for one in signature.fields_in_order),
        signature.instructions,
        signature.name,
    )
    return equal_face(fields_only)


@pytest.mark.parametrize(
    "doc",
    [
        "",
        'Say "hi".',
        'ends in "quote"',
        '"""triple"""',
        "back\\slash \\n",
        "two\nlines",
        "first\n  deeper\n    deepest\nback",
        "\n    indented first\nthen not",
        "bell \a, escape \x1b, return \r",
        "lone \ud800 surrogate",
        "trailing spaces   \n   ",
    ],
)
def test_instructions_survive(doc: str) -> None:
    signature = Signature.make([SignatureField("a", "input"), SignatureField("b", "output")], doc, "S")
    assert notation.read(write_source(signature)).instructions == signature.instructions


def test_the_source_is_what_a_person_would_write() -> None:
    text = write_source(notation.read("question, context: list[str] -> answer: Literal['yes', 'no']"))
    assert text == (
        "import dspy\n"
        "from typing import Literal\n"
        "\n"
        "\n"
        "class StringSignature(dspy.Signature):\n"
        "    question = dspy.InputField()\n"
        "    context: list[str] = dspy.InputField()\n"
        '    answer: Literal["yes", "no"] = dspy.OutputField()\n'
    )


def test_two_classes_of_one_name_are_refused() -> None:
    other = create_model("Part", x=(int, ...))
    signature = Signature.make([SignatureField("a", "input", Part), SignatureField("b", "output", other)])
    with pytest.raises(SignatureError, match="two different classes are called Part"):
        write_source(signature)


def test_a_default_that_is_no_literal_is_refused() -> None:
    with pytest.raises(SignatureError, match="cannot be written as source"):
        write_source(Signature.make([SignatureField("a", "input", default=object())]))

"""A few lines that stand for millions of parts end in one line, at once, wherever they come from."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.errors import SignatureError
from adapters.formats.catalog import make
from adapters.lm.offline import OfflineLM
from adapters.lm.protocol import ProviderError
from adapters.requests.request import prepare
from adapters.signatures.notation import read
from adapters.tools.arguments import ArgumentsError, validate

LEVELS = 40


def source(lines: list[str], annotation: str, default: str = "") -> str:
    field = f"    a: {annotation} = dspy.OutputField()\n    b: str = dspy.InputField({default})\n"
    return "\n".join(["import dspy, pydantic, typing", *lines, "class A(dspy.Signature):", field])


def doubled(first: str, step: str, name: str = "X") -> list[str]:
    return [f"{name}0 = {first}", *(f"{name}{i + 1} = " + step.replace("X", f"{name}{i}") for i in range(LEVELS))]


def models(levels: int) -> list[str]:
    """Each model has two fields of the one before: `2 ** levels` fields when they are written out."""
    lines = ["class M0(pydantic.BaseModel):", "    a: int", "    b: int"]
    for level in range(levels):
        lines += [f"class M{level + 1}(pydantic.BaseModel):", f"    a: M{level}", f"    b: M{level}"]
    return lines


@pytest.mark.parametrize(
    "step",
    [
        "dict[X, X]",
        "tuple[X, X]",
        "X | list[X]",
        "typing.Union[X, list[X]]",
        "typing.Optional[tuple[X, X]]",
        "typing.Dict[X, X]",
        "typing.Annotated[tuple[X, X], pydantic.Field(le=3)]",
    ],
)
def test_a_type_of_aliases_that_double_is_refused_with_its_line(step: str) -> None:
    lines = doubled("list[int]", step)
    with pytest.raises(SignatureError, match="is a type of more than 10,000 parts") as caught:
        read(source(lines, f"X{LEVELS}"))
    assert step.replace("X", "")[:4] in lines[caught.value.line - 2]


def test_a_type_within_the_limit_is_read_and_rendered() -> None:
    lines = doubled("list[int]", "dict[str, tuple[X, X]]")[:10]
    signature = read(source(lines, "X9"))
    assert len(make("chat").format(signature, [], {"b": "x"})) == 2


def test_long_literals_count_by_their_text() -> None:
    text = "typing.Literal['" + "x" * 50_000 + "']"
    with pytest.raises(SignatureError, match="more than 10,000 parts"):
        read(source([f"X = {text}"], "tuple[X, X, X, X, X]"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "step"),
    [
        ("'ab'", "X + X"),
        ("'ab'", "f'{X}{X}'"),
        ("(1, 2)", "(*X, *X)"),
        ("[1]", "[X, X]"),
        ("(1,)", "(X, X)"),
        ("[1]", "X + X"),
        ("{'a': 1}", "{'a': X, 'b': X}"),
    ],
)
def test_a_constant_of_constants_that_double_is_refused_with_its_line(first: str, step: str) -> None:
    with pytest.raises(SignatureError, match="is larger than 1,000,000 items or characters"):
        read(source(doubled(first, step, "C"), "str", f"default=C{LEVELS}"))


def test_xml_says_which_output_has_too_many_tags_and_the_others_describe_each_model_once() -> None:
    signature = read(source(models(LEVELS), f"M{LEVELS}"))
    with pytest.raises(ValueError, match="nested models, and `a` has more than 10,000, which is the limit; Chat and"):
        make("xml").format(signature, [], {"b": "x"})
    for adapter in ("chat", "json"):
        assert len(str(make(adapter).format(signature, [], {"b": "x"}))) < 20_000


DEEP = (models(LEVELS), f"M{LEVELS}")
LONG = (["class M(pydantic.BaseModel):", "    x: pydantic.conlist(int, min_length=1_000_000_000)"], "M")
INNER = "X = pydantic.conlist(int, min_length=1000)"
LONG_OF_LONG = ([INNER, "class M(pydantic.BaseModel):", "    x: pydantic.conlist(X, min_length=1000)"], "M")


@pytest.mark.parametrize(
    ("adapter", "lines", "annotation"),
    [("chat", *DEEP), ("json", *DEEP), ("markdown", *DEEP), ("json", *LONG), ("markdown", *LONG_OF_LONG)],
)
def test_an_offline_model_says_that_the_type_asks_for_too_much(adapter: str, lines: list[str], annotation: str) -> None:
    made = make(adapter)
    request = prepare(made, read(source(lines, annotation)), [], {"b": "x"})
    model = OfflineLM("offline/exact", 0).asked_by(made, request)
    with pytest.raises(ProviderError, match="no reply of more than 10,000 values, and the type of `a` asks for that"):
        list(model.stream(request.as_dict()))


@pytest.mark.slow
def test_alternatives_of_a_tools_schema_that_double_end_in_an_error() -> None:
    levels: dict[str, Any] = {"L0": {"type": "null"}}
    for level in range(LEVELS):
        both = [{"$ref": f"#/$defs/L{level}"}, {"$ref": f"#/$defs/L{level}"}]
        levels[f"L{level + 1}"] = {"anyOf": both}
    schema = {"properties": {"q": {"$ref": f"#/$defs/L{LEVELS}"}}, "$defs": levels}
    with pytest.raises(ArgumentsError, match="too many alternatives"):
        validate(schema, {"q": "x"})

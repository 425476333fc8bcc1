"""Plain fields of the string notation are read like all others, without Python's parser and pydantic's fields."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from adapters.signatures.read import plain_strings
from adapters.signatures.read.fields import make_fields
from adapters.signatures.read.plain_strings import plain_half, read_plain
from adapters.signatures.read.strings import StringNames, _half
from adapters.signatures.signature import Field, Role

PLAIN = ("a", " a ", "a:str", "a : int", "A_1: float", "a: bool", "type: list[str]", "str: str", "a: list[bool] ")
OTHERS = (
    *("", " ", "a b", "a:", "a: None", "a: dict", "a: list", "a: list[str, int]", "a: dict[str, int]", "a: 'str'"),
    *("a: list[ str ]", "a\t: str", "a: str\n", "_a", "1a", "ä", "a: Image", "a: Literal['x']", "a: str | None"),
    *("a: str = 'x'", "class", "None", "fields", "copy", "model_config", "model_dump", "a # b", "*a", "a: List[str]"),
)


def faces(field: Field) -> dict[str, Any]:
    """All that a field holds, with its `FieldInfo` as dspy prints it."""
    held = {one.name: getattr(field, one.name) for one in dataclasses.fields(field)}
    return {**held, "given_info": None, "text": str(field), "metadata": list(field.metadata)}


@pytest.mark.parametrize("role", ["input", "output"])
@pytest.mark.parametrize("piece", PLAIN)
def test_a_plain_field_equals_the_one_of_the_whole_reader(piece: str, role: Role) -> None:
    (mine,) = plain_half(piece, role)
    (whole,) = make_fields(_half(piece, 0, piece, role, StringNames(None, None), set()), "StringSignature")
    assert faces(mine) == faces(whole)
    assert mine.info is mine.info


@pytest.mark.parametrize("piece", OTHERS)
def test_other_fields_are_left_to_the_whole_reader(piece: str) -> None:
    assert plain_half(piece, "input") == []
    assert plain_half(f"b, {piece}", "output") == []
    assert read_plain(f"b -> {piece}") is None


@pytest.mark.parametrize("text", ["", "a", "a, b", "a -> b -> c", "a -> a", "a, a -> b", "a, -> b", "-> b", "a ->"])
def test_a_text_with_errors_is_left_to_the_whole_reader(text: str) -> None:
    assert read_plain(text) is None


def test_a_long_text_is_left_to_the_whole_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_strings, "_LONGEST", 20)
    assert read_plain("inputs_1, inputs_2 -> outputs") is None
    assert plain_half("a, b, c, d, e, f, g, h", "input") == []

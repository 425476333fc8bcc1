"""What is called a plain field is one that pydantic makes of a model, just so."""

from __future__ import annotations

from typing import Any, Literal

import pydantic
import pytest

from adapters.signatures import notation
from adapters.signatures.read.annotations import applied
from adapters.signatures.read.fields import is_plain, is_plain_field

PLAIN: list[Any] = [
    str,
    bool,
    list[int],
    list[list[str]],
    dict[str, list[float]],
    int | None,
    Literal["a", 1, True, None],
    list[Literal["x"] | int],
]
NOT_PLAIN: list[Any] = [Any, bytes, list, dict, tuple[int, str], set[str], complex, Literal["\ud800"], len]


@pytest.mark.parametrize("annotation", PLAIN, ids=str)
def test_a_plain_field_is_as_a_model_has_it(annotation: Any) -> None:
    info: Any = pydantic.Field(default=None, description="what it is", json_schema_extra={"desc": "d"})
    model = pydantic.create_model("Made", one=(annotation, info))
    assert is_plain_field("one", annotation, info)
    made = pydantic.fields.FieldInfo.from_annotated_attribute(annotation, info)
    assert repr(made) == repr(model.model_fields["one"])


@pytest.mark.parametrize("annotation", NOT_PLAIN, ids=ascii)
def test_any_other_type_is_left_to_pydantic(annotation: Any) -> None:
    assert not is_plain(annotation)


@pytest.mark.parametrize("name", ["model_dump", "copy", "json", "schema"])
def test_a_name_that_pydantic_uses_is_left_to_it(name: str) -> None:
    assert not is_plain_field(name, str, pydantic.Field())


def test_constraints_are_left_to_pydantic() -> None:
    assert not is_plain_field("one", str, pydantic.Field(gt=1))


def test_a_type_as_deep_as_a_reply_may_be_is_left_to_pydantic() -> None:
    annotation: Any = str
    for _ in range(500):
        annotation = list[annotation]
    assert not is_plain(annotation)


def test_common_types_are_one_object_in_all_signatures_and_others_stay_apart() -> None:
    first = notation.read("a: list[str] -> b: dict[str, int], c: list[int | str]")
    second = notation.read("d: list[str] -> e: dict[str, int], f: list[str | int]")
    assert first.fields["a"].annotation is second.fields["d"].annotation
    assert first.fields["b"].annotation is second.fields["e"].annotation
    assert first.fields["c"].annotation is not second.fields["f"].annotation
    assert applied(list, [int]) == list[[int]]  # type: ignore[misc]

"""Types as the prompt names them, and as source that reads back."""

from __future__ import annotations

import typing
from typing import Annotated, Any, Literal, Optional, Union

import pytest
from dspy.adapters.utils import get_annotation_name
from pydantic import Field

from adapters.signatures import notation
from adapters.signatures.signature import Field as SignatureField
from adapters.signatures.signature import Signature
from adapters.signatures.source_writer import write_source
from adapters.signatures.type_names import name_of, quoted_literal, written

ANNOTATIONS = [
    int,
    Any,
    list[str],
    dict[str, list[int]],
    tuple[int, ...],
    tuple[()],
    typing.List[int],  # noqa: UP006
    typing.Dict[str, Any],  # noqa: UP006
    Optional[int],  # noqa: UP045
    Union[int, str, None],  # noqa: UP007
    int | None,
    list[int | str],
    Literal["a", 'b"', "c'", "d'\""],
    Literal[1, True, None, -2],
    list[Annotated[int, Field(ge=1)]],
]


def test_a_screen_writes_a_type_as_people_do() -> None:
    types = [Optional[int], list[str | None], tuple[int, ...], dict[str, list[int]], Literal["a", "b"]]  # noqa: UP045
    said = ["int | None", "list[str | None]", "tuple[int, ...]", "dict[str, list[int]]", "Literal['a', 'b']"]
    assert [written(one) for one in types] == said


@pytest.mark.parametrize("annotation", ANNOTATIONS, ids=str)
def test_a_type_has_the_name_that_dspy_gives_it(annotation: Any) -> None:
    assert name_of(annotation) == get_annotation_name(annotation)


@pytest.mark.parametrize("annotation", ANNOTATIONS, ids=str)
def test_a_type_written_as_source_reads_back(annotation: Any) -> None:
    source = write_source(Signature.make([SignatureField("a", "output", annotation)]))
    assert repr(notation.read(source).fields["a"].annotation) == repr(annotation)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [("a", "'a'"), ("it's", '"it\'s"'), ('say "x"', "'say \"x\"'"), ("'\"", "'\\'\"'")],
)
def test_a_literal_is_quoted_as_dspy_quotes_it(text: str, quoted: str) -> None:
    assert quoted_literal(text) == quoted

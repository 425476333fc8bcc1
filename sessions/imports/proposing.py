"""Propose a signature for values without types or roles, or a ChainOfThought for values with a `reasoning`."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterable, Mapping, Sequence
from types import GenericAlias
from typing import Any

from adapters.errors import SignatureError
from adapters.late_dataclasses import replace
from adapters.signatures.class_writer import is_name
from adapters.signatures.signature import Field, Signature
from adapters.signatures.source_writer import write_source
from sessions.errors import SessionError
from sessions.imports.reading import GIVE_SIGNATURE
from sessions.model.session import Predictor, SignatureText

MANY = 1000
"""The number of values inspected to infer a field's type."""


def type_of(values: Iterable[object]) -> Any:
    """Return the common type of JSON values (ints and floats: float); str for mixed types or no values."""
    found = {_type(value) for value, _ in zip(values, range(MANY), strict=False)} - {None}
    if found == {int, float}:
        return float
    return found.pop() if len(found) == 1 else str


def _type(value: object) -> Any:
    if value is None or isinstance(value, str):
        return None if value is None else str
    if isinstance(value, bool | int | float):
        return type(value)
    if isinstance(value, list):
        return GenericAlias(list, (type_of(value),))
    return dict[str, Any]


def values_by_key(rows: Iterable[Mapping[str, object]]) -> dict[str, list[Any]]:
    """Group the values of all rows by key, in order of first appearance."""
    found: dict[str, list[Any]] = {}
    for row in rows:
        for key, value in row.items():
            found.setdefault(key, []).append(value)
    return found


def signature_text(fields: Sequence[Field], instructions: str | None, name: str = "Imported") -> SignatureText:
    """Write a signature in string notation if possible, else as Python source.

    Raises SignatureError for an invalid field name.
    """
    for field in fields:
        if not is_name(field.name):
            raise SignatureError(f"{field.name!r} cannot be the name of a field")
    signature = Signature.make(fields, instructions or None, name)
    plain = all(one.desc is None and one.prefix is None and one.constraints is None for one in fields)
    if plain and all(one.annotation is str for one in fields):
        own = Signature.make(fields, None, name).instructions
        given = None if signature.instructions == own else before_cleaning(signature.instructions)
        return SignatureText(signature.signature, instructions=given)
    return in_source(signature)


def proposed(fields: Sequence[Field], instructions: str | None, path: str, place: str = "") -> SignatureText:
    """Write a signature for the file `path`. Raises SessionError for fields that no text can express."""
    try:
        return signature_text(fields, instructions)
    except ValueError as error:
        said = error.message if isinstance(error, SignatureError) else str(error)
        raise SessionError(path, place, said, GIVE_SIGNATURE) from None


def in_source(signature: Signature) -> SignatureText:
    """Write a signature as Python source, with separate instructions if a docstring cannot hold them."""
    try:
        return SignatureText(write_source(signature), signature.name)
    except SignatureError:
        bare = Signature.make(signature.fields_in_order, None, signature.name)
        return SignatureText(write_source(bare), signature.name, instructions=before_cleaning(signature.instructions))


def before_cleaning(instructions: str) -> str:
    """Return a text that a signature's `inspect.cleandoc` converts to these instructions."""
    return instructions if inspect.cleandoc(instructions) == instructions else f"\n{instructions}"


COT: Predictor = "ChainOfThought"
REASONING = "reasoning"
"""The output that `dspy.ChainOfThought.__init__` prepends."""

SAID = "it was run as a ChainOfThought: `reasoning` precedes the signature's outputs"


def fitting(given: SignatureText, names: Sequence[str]) -> SignatureText:
    """Return `given`, as a ChainOfThought if the imported fields call for it.

    They do if `names`, the imported fields in order, have `reasoning` directly before the first output of `given`, and
    `given` has no such field.
    """
    signature = given.read()
    outputs = list(signature.output_fields)
    if given.predictor == COT or REASONING in signature.fields or not outputs:
        return given
    return replace(given, predictor=COT) if (REASONING, outputs[0]) in itertools.pairwise(names) else given

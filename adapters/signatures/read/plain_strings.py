"""Read signatures in the string notation whose types are str, numbers, bool and lists of them.

Most signatures are like this. Loading pydantic's fields and the modules for all others takes a quarter of a start.
"""

from __future__ import annotations

import keyword
import re
from functools import lru_cache, partial
from typing import Any

from pydantic import BaseModel

from adapters.signatures.signature import Field, Role, Signature, infer_prefix

TAKEN_NAMES = frozenset({"fields", "signature", "instructions", "input_fields", "output_fields", "model_config"})
"""Property names of dspy's class; a field with such a name fails in dspy too."""

_PIECE = re.compile(r"([A-Za-z][A-Za-z0-9_]*) *(?:: *([a-z]+(?:\[[a-z]+\])?))?")
_SCALARS = (str, int, float, bool)
_TYPES: dict[str | None, Any] = {
    None: str,
    **{one.__name__: one for one in _SCALARS},
    **{f"list[{one.__name__}]": list[one] for one in _SCALARS},  # type: ignore[valid-type]
}
_LONGEST = 10_000
"""Characters of a text that is read here."""


@lru_cache(maxsize=256)
def read_plain(text: str, instructions: str | None = None) -> Signature | None:
    """Read a signature; None for a text that needs `notation.read`. Without `instructions` it has the default ones."""
    inputs, arrow, outputs = text.partition("->")
    if not arrow or len(text) > _LONGEST:
        return None
    fields = (*plain_half(inputs, "input"), *plain_half(outputs, "output"))
    is_plain = len({one.name for one in fields}) == text.count(",") + 2
    return Signature.make(fields, instructions or None) if is_plain else None


def plain_half(part: str, role: Role) -> list[Field]:
    """Read the fields on one side of the arrow; [] unless all are plain and their names differ."""
    fields = [_plain_field(piece.strip(" "), role) for piece in part.split(",")] if len(part) <= _LONGEST else []
    known = [one for one in fields if one is not None]
    return known if len({one.name for one in known}) == len(fields) else []


@lru_cache(maxsize=4096)
def _plain_field(piece: str, role: Role) -> Field | None:
    """Read a field such as `context: list[str]`; a team's signatures have many in common."""
    found = _PIECE.fullmatch(piece)
    if found is None or found[2] not in _TYPES:
        return None
    name, annotation = found[1], _TYPES[found[2]]
    if keyword.iskeyword(name) or name in TAKEN_NAMES or hasattr(BaseModel, name):
        return None
    was_given = found[2] is not None or role == "output"
    make = partial(_info, name, role, annotation, was_given)
    return Field(name, role, annotation, type_was_given=was_given, given_info=make)


@lru_cache(maxsize=4096)
def _info(name: str, role: Role, annotation: Any, was_given: bool) -> object:
    """Make the `FieldInfo` of dspy's signature, its texts in dspy's order."""
    from pydantic import fields  # takes long to load

    undefined: dict[str, Any] = {"IS_TYPE_UNDEFINED": not was_given} if role == "input" else {}
    shown = {"prefix": infer_prefix(name) + ":", "desc": f"${{{name}}}"}
    extra = {**undefined, "__dspy_field_type": role, **shown}
    return fields.FieldInfo.from_annotated_attribute(annotation, fields.Field(json_schema_extra=extra))

"""Cache pydantic's `TypeAdapter` and JSON schema of each type.

In dspy, most of the cost of formatting and parsing is building `TypeAdapter`s. The cache keys are identities of types,
because `list[int | str] == list[str | int]` although the two coerce differently.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter

Result = TypeVar("Result")
LIMIT = 4096


class ByIdentity(Generic[Result]):
    """A cache of `make(key)` by the key's identity, cleared when full; exceptions are not cached."""

    def __init__(self, make: Callable[[Any], Result]) -> None:
        self._make = make
        self._made: dict[int, tuple[object, Result]] = {}

    def __call__(self, key: object) -> Result:
        found = self._made.get(id(key))
        if found is not None:
            return found[1]
        made = self._make(key)
        if len(self._made) >= LIMIT:
            self._made.clear()
        self._made[id(key)] = (key, made)
        return made


type_adapter: ByIdentity[TypeAdapter[object]] = ByIdentity(TypeAdapter)
"""The `TypeAdapter` of an annotation. Raises what pydantic raises for unsupported types."""


def _type_first(node: object) -> Any:
    if isinstance(node, Mapping):
        return {
            key: _type_first(child)
            for key, child in sorted(node.items(), key=lambda item: (item[0] != "type", item[0]))
        }
    if isinstance(node, list):
        return [_type_first(child) for child in node]
    return node


json_schema: ByIdentity[dict[str, object]] = ByIdentity(
    lambda annotation: _type_first(type_adapter(annotation).json_schema())
)
"""The JSON schema as in dspy's prompts: `type` first, other keys sorted (`dspy.adapters.utils._get_json_schema`)."""

schema_by_name: ByIdentity[dict[str, Any]] = ByIdentity(
    lambda annotation: type_adapter(annotation).json_schema(by_alias=False)
)
"""The JSON schema with field names instead of aliases, as in dspy's XMLAdapter."""

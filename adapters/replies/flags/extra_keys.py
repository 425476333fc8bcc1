"""Find JSON keys that a type lacks and pydantic silently drops."""

from __future__ import annotations

import dataclasses
import types
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import AliasChoices, AliasPath, BaseModel
from typing_extensions import is_typeddict

from adapters.types.recognition import ByIdentity, is_custom_type

MOST_VALUES = 10_000
MOST_KEYS = 100


def extra_keys(annotation: object, value: object, by_name: bool = False) -> list[str]:
    """Return the keys dropped when validating `value` as `annotation`, each once, in order."""
    found: dict[str, None] = {}
    waiting: list[tuple[Any, Any]] = [(annotation, value)]
    for number, (kind, one) in enumerate(waiting):
        if number >= MOST_VALUES or len(found) >= MOST_KEYS:
            break
        if isinstance(one, dict | list):
            waiting.extend(_inside(kind, one, found, by_name))
    return list(found)


def _inside(annotation: Any, value: Any, found: dict[str, None], by_name: bool) -> list[tuple[Any, Any]]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return [(arguments[0], value)]
    if origin in (Union, types.UnionType):
        members = [one for one in arguments if one is not type(None)]
        return [(members[0], value)] if len(members) == 1 else []
    if isinstance(value, list):
        item = arguments[0] if origin in (list, set, frozenset, tuple) and arguments else None
        return [] if item is None else [(item, one) for one in value[:MOST_VALUES]]
    if origin is dict and len(arguments) == 2:
        return [(arguments[1], one) for one in list(value.values())[:MOST_VALUES]]
    known = (known_keys_and_names if by_name else known_keys)(annotation)
    if known is None:
        return []
    inner: list[tuple[Any, Any]] = []
    for key, one in value.items():
        if key in known:
            inner.append((known[key], one))
        else:
            found.setdefault(str(key), None)
    return inner


def _known_keys(annotation: object, by_name: bool) -> dict[str, Any] | None:
    if not isinstance(annotation, type):
        return None
    if issubclass(annotation, BaseModel):
        if is_custom_type(annotation) or annotation.model_config.get("extra", "ignore") != "ignore":
            return None
        config = annotation.model_config
        names_too = by_name or config.get("populate_by_name") or config.get("validate_by_name")
        known: dict[str, Any] = {}
        for name, info in annotation.model_fields.items():
            aliases = _aliases(info.validation_alias or info.alias)
            if not aliases or names_too:
                known[name] = info.annotation
            known.update(dict.fromkeys(aliases, info.annotation))
        return known
    if is_typeddict(annotation) or dataclasses.is_dataclass(annotation):
        return dict(getattr(annotation, "__annotations__", {}))
    return None


known_keys: ByIdentity[dict[str, Any] | None] = ByIdentity(lambda annotation: _known_keys(annotation, by_name=False))
"""The keys that a class reads, with their types.

None for custom types, for models that keep or reject other keys, and for types that are not such classes.
"""
known_keys_and_names: ByIdentity[dict[str, Any] | None] = ByIdentity(
    lambda annotation: _known_keys(annotation, by_name=True)
)
"""The same where field names count beside their aliases."""


def _aliases(alias: object) -> list[str]:
    if isinstance(alias, str):
        return [alias]
    if isinstance(alias, AliasPath):
        return [str(alias.path[0])]
    if isinstance(alias, AliasChoices):
        return [name for choice in alias.choices for name in _aliases(choice)]
    return []

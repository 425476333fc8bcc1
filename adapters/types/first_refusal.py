"""Validators that stop at the first wrong item of each list or dict, for values of millions of items.

pydantic makes an object of every error: of ten megabytes of `{}` for a list of models, for half a minute.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import CoreConfig, SchemaValidator

CONTAINERS = frozenset(("list", "tuple", "set", "frozenset", "deque", "dict", "frozendict", "ordered-dict", "counter"))
"""Kinds of pydantic's schemas that can stop at an error; older releases go on in dicts."""
ONE_INSIDE = (
    *("schema", "items_schema", "keys_schema", "values_schema", "extras_schema"),
    *("lax_schema", "strict_schema", "json_schema", "python_schema"),
)
SEVERAL_INSIDE = ("items_schema", "choices", "fields", "definitions", "steps")
"""Keys of a schema that hold another one, or a list or mapping of others."""
KNOWN_CODE = ("pydantic.", "pydantic_core.", "adapters.types.", "dspy.")
"""Modules whose validators raise nothing but ValueError for a wrong value, and do not count errors."""


class OwnCodeError(Exception):
    """A type calls a user's code, which may raise other errors for later items, or count the errors inside."""


def _codes_of(schema: dict[str, Any]) -> Iterator[Any]:
    """Yield what validation with a core schema calls, without the schemas inside."""
    function = schema.get("function")
    yield function.get("function") if isinstance(function, dict) else function
    yield from (schema.get("missing"), schema.get("discriminator"))
    factory = schema.get("default_factory")
    if factory not in (list, dict, set):
        yield factory
    if schema.get("post_init"):
        yield getattr(schema["cls"], schema["post_init"])


def _is_known(code: Any) -> bool:
    while isinstance(code, partial):
        code = code.func
    return not callable(code) or f"{getattr(code, '__module__', '')}.".startswith(KNOWN_CODE)


def _stopping(schema: Any) -> Any:
    """Return a core schema of which every container stops at its first wrong item. Raises OwnCodeError."""
    if isinstance(schema, tuple):  # a choice with its label
        return (_stopping(schema[0]), *schema[1:])
    if not isinstance(schema, dict):
        return schema
    if schema.get("custom_init") or not all(map(_is_known, _codes_of(schema))):
        raise OwnCodeError
    made = dict(schema)
    for key in ONE_INSIDE:
        if isinstance(schema.get(key), dict):
            made[key] = _stopping(schema[key])
    for key in SEVERAL_INSIDE:
        inside = schema.get(key)
        if isinstance(inside, list):
            made[key] = [_stopping(one) for one in inside]
        elif isinstance(inside, dict) and key in ("choices", "fields"):
            made[key] = {name: _stopping(one) for name, one in inside.items()}
    if schema.get("type") in CONTAINERS:
        made["fail_fast"] = True
    return made


def stopping(whole: TypeAdapter[object]) -> SchemaValidator | None:
    """Make the validator that stops at the first wrong item of each container.

    None if the type calls a user's code, or this release of pydantic makes none.
    """
    try:
        config = CoreConfig(title=whole.validator.title)
        # The validators of the classes inside, made before, would not stop.
        return SchemaValidator(_stopping(whole.core_schema), config, _use_prebuilt=False)
    except Exception:  # whatever another release of pydantic says of such a schema or argument
        return None

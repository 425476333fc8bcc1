"""Validators that stop at the first wrong item of each list or dict, for values of millions of items.

pydantic makes an object of every error: of ten megabytes of `{}` for a list of models, for half a minute.
"""

from __future__ import annotations

from typing import Any

from pydantic_core import SchemaValidator

CONTAINERS = frozenset(("list", "tuple", "set", "frozenset", "deque", "dict", "frozendict", "ordered-dict", "counter"))
"""Kinds of pydantic's schemas that can stop at an error; older releases go on in dicts."""
ONE_INSIDE = (
    *("schema", "items_schema", "keys_schema", "values_schema", "extras_schema"),
    *("lax_schema", "strict_schema", "json_schema", "python_schema"),
)
SEVERAL_INSIDE = ("items_schema", "choices", "fields", "definitions", "steps")
"""Keys of a schema that hold another one, or a list or mapping of others."""


def _stopping(schema: Any) -> Any:
    """Return a core schema of which every container stops at its first wrong item."""
    if isinstance(schema, tuple):  # a choice with its label
        return (_stopping(schema[0]), *schema[1:])
    if not isinstance(schema, dict) or schema.get("type") == "function-wrap":  # its function may count the errors
        return schema
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


def stopping(schema: Any) -> SchemaValidator | None:
    """Make the validator that stops at the first wrong item of each container; None if this pydantic makes none."""
    try:
        # The validators of the classes inside, made before, would not stop.
        return SchemaValidator(_stopping(schema), _use_prebuilt=False)
    except Exception:  # whatever another release of pydantic says of such a schema or argument
        return None

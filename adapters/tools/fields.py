"""Fields that describe tools to a model, as in `dspy.ReActV2`: `tools` in, `tool_calls` out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, get_args, get_origin

from adapters.signatures.signature import InputField, OutputField, Signature
from adapters.tools.tools import RunTool, described
from adapters.types.recognition import is_named

CALLS_DESCRIPTION = "the tools to call now; an empty list once the other outputs are final"


@lru_cache(maxsize=1024)
def tool_input_field(signature: Signature) -> str | None:
    """Return the first input annotated Tool or list[Tool]."""
    for name, field in signature.input_fields.items():
        inner = get_args(field.annotation)[:1] if get_origin(field.annotation) is list else (field.annotation,)
        if any(is_named(one, "Tool") for one in inner):
            return name
    return None


@lru_cache(maxsize=1024)
def tool_output_field(signature: Signature) -> str | None:
    """Return the first output annotated ToolCalls."""
    return next((name for name, one in signature.output_fields.items() if is_named(one.annotation, "ToolCalls")), None)


@lru_cache(maxsize=256)
def add_tool_fields(signature: Signature) -> tuple[Signature, tuple[str, ...]]:
    """Add the two fields to the signature if missing; also return the added names."""
    from adapters.types.tools import Tool, ToolCalls

    added: list[str] = []
    asked = signature
    if tool_input_field(asked) is None:
        added.append(_free_name("tools", asked))
        asked = asked.append(added[-1], InputField(), list[Tool])
    if tool_output_field(asked) is None:
        added.append(_free_name("tool_calls", asked))
        asked = asked.append(added[-1], OutputField(desc=CALLS_DESCRIPTION), ToolCalls)
    return asked, tuple(added)


@lru_cache(maxsize=256)
def add_calls_output(signature: Signature, name: str, annotation: object = None) -> Signature:
    """Append an output `name` for the calls, unless the signature has it."""
    from adapters.types.tools import ToolCalls

    if name in signature.output_fields:
        return signature
    return signature.append(name, OutputField(desc=CALLS_DESCRIPTION), annotation or ToolCalls)


def set_tool_input(signature: Signature, inputs: Mapping[str, Any], tools: Sequence[RunTool]) -> dict[str, Any]:
    """Put `tools` into the signature's tool input, unless it has a value."""
    name = tool_input_field(signature)
    values = dict(inputs)
    if name is not None and not values.get(name):
        made = [described(one) for one in tools]
        is_list = get_origin(signature.input_fields[name].annotation) is list
        values[name] = made if is_list else made[0]
    return values


@lru_cache(maxsize=256)
def without(signature: Signature, names: tuple[str, ...]) -> Signature:
    """Remove those of `names` that the signature has."""
    for name in names:
        if name in signature.fields:
            signature = signature.without(name)
    return signature


def _free_name(name: str, signature: Signature) -> str:
    while name in signature.fields:
        name = f"session_{name}"
    return name

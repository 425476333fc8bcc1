"""Whether an adapter reads its own demos back: what a model that copies a demo would get."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pydantic

from adapters.formats.base import Adapter
from adapters.formats.two_step import TwoStepAdapter
from adapters.lint.lint import Lint, Place
from adapters.replies.flag import shown
from adapters.requests.decisions import has_decisions
from adapters.signatures.signature import Signature
from adapters.types.pydantic_schema import type_adapter
from adapters.values.value_text import serialize_for_json

SHOWN = 160


def round_trip(
    adapter: Adapter, signature: Signature, demos: Sequence[Mapping[str, Any]], numbers: Sequence[int] = ()
) -> tuple[Lint, ...]:
    """The demos, complete in their outputs, whose answer does not read back as the values it was made of.

    `numbers` are those by which the prompt names them, else they are counted from 1.

    Formats and reads every demo once, so its cost is that of as many replies. TwoStep's prose is read by a model and
    is left out, and so are decisions, whose demos are examples in the instructions. Never raises.
    """
    if isinstance(adapter, TwoStepAdapter) or has_decisions(signature):
        return ()
    found: list[Lint] = []
    for number, demo in zip(numbers or range(1, len(demos) + 1), demos, strict=True):
        outputs = {name: demo[name] for name in signature.output_fields if demo.get(name) is not None}
        if len(outputs) < len(signature.output_fields):
            continue
        try:
            found.extend(_lints(adapter, signature, outputs, number))
        except Exception:  # values of users may raise in their own hooks; what that would tell is left out
            continue
    return tuple(found)


def _lints(adapter: Adapter, signature: Signature, outputs: Mapping[str, Any], number: int) -> Iterator[Lint]:
    text = str(adapter.format_assistant_message_content(signature, outputs))
    reading = adapter.read(signature, text)
    if reading.error is not None:
        yield Lint(
            "demo-does-not-read-back",
            f"The answer of demo {number} cannot be read back: {_short(reading.error.message)}",
            Place("demo", number, reading.error.field),
        )
        return
    for name, given in outputs.items():
        read = reading.values.get(name)
        if serialize_for_json(read) != serialize_for_json(_validated(signature.output_fields[name].annotation, given)):
            yield Lint(
                "demo-reads-back-otherwise",
                f"`{name}` of demo {number} is {shown(given)}, and its answer reads back as {shown(read)}.",
                Place("demo", number, name),
            )


def _validated(annotation: Any, value: Any) -> Any:
    try:
        return type_adapter(annotation).validate_python(value)
    except pydantic.ValidationError:
        return value


def _short(text: str) -> str:
    line = text.strip().partition("\n")[0]
    return line if len(line) <= SHOWN else line[:SHOWN] + "…"

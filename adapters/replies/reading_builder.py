"""The last part of every reading: defaults, completeness, and the error dspy would raise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pydantic

from adapters.errors import AdapterParseError
from adapters.json_text.repair_limits import repair_steps
from adapters.replies.reading import Extract, FieldReading, Reader, Reading, ReadingError, ReplyForm, Span
from adapters.signatures.signature import MISSING, Field, Signature
from adapters.values.coercion import coerce
from adapters.values.steps import Step


@dataclass
class Findings:
    """Collect an adapter's findings in a reply; `reading` makes the parse result of them.

    `values` are those that dspy would have at this point, in its order; the first `fail` is the verdict, and
    fields read after it are salvage.
    """

    adapter: str
    signature: Signature
    completion: str
    form: ReplyForm
    reader: Reader
    steps_left: int
    """Steps of json_repair that are left as the reading begins."""
    values: dict[str, Any] = field(default_factory=dict)
    fields: dict[str, FieldReading] = field(default_factory=dict)
    error: ReadingError | None = None
    exception: Exception | None = None

    def coerce(
        self,
        name: str,
        value: Any,
        place: tuple[int, int] | None,
        steps: list[Step],
        extract: Extract | None = None,
    ) -> Exception | None:
        """Coerces the value found for an output field and keeps the outcome; gives back what was raised, if anything.

        `extract` or `steps` lead up to the value. The caller turns a first error into the verdict with `fail`.
        """
        try:
            typed = coerce(value, self.signature.output_fields[name].annotation, steps)
        except Exception as error:  # dspy leaks TypeError, RecursionError and MemoryError here; all are verdicts
            self.keep_failure(name, place, steps, error, extract)
            return error
        self.keep(name, typed, place, steps, extract)
        return None

    def keep(
        self,
        name: str,
        value: Any,
        place: tuple[int, int] | None,
        steps: Sequence[Step],
        extract: Extract | None = None,
    ) -> None:
        """A field that was read; after a failure its value is salvage only."""
        if self.error is None:
            self.values[name] = value
        self.fields[name] = FieldReading(name, "read", self.completion, place, value, extract, tuple(steps))

    def keep_failure(
        self,
        name: str,
        place: tuple[int, int] | None,
        steps: Sequence[Step],
        error: Exception,
        extract: Extract | None = None,
    ) -> None:
        """A field that was found and could not be coerced."""
        self.fields[name] = FieldReading(
            name, "failed", self.completion, place, None, extract, tuple(steps), str(error)
        )

    def fail(
        self, exception: Exception, name: str | None = None, place: tuple[int, int] | None = None, message: str = ""
    ) -> None:
        """Make `exception` the verdict, unless a verdict is set. `message` is the line a person reads."""
        if self.error is not None:
            return
        start, end = place if place is not None else (None, None)
        self.exception = exception
        self.error = ReadingError(type(exception).__name__, message or reason(exception), name, start, end)

    def parse_error(
        self,
        message: str | None = None,
        searched: tuple[int, int] | None = None,
        parsed: Mapping[str, Any] | None = None,
        adapter_name: str = "",
    ) -> AdapterParseError:
        """dspy's error for this reply, of which it shows the part that was `searched`."""
        response = self.completion if searched is None else self.completion[searched[0] : searched[1]]
        return AdapterParseError(adapter_name, self.signature, response, message, parsed)

    def reading(
        self, adapter_name: str, spans: Sequence[Span] = (), searched: tuple[int, int] | None = None
    ) -> Reading:
        """Make the parse result; `spans` are in order. dspy's error names the adapter and shows what was `searched`."""
        self._complete(adapter_name, searched)
        outputs = self.signature.output_fields
        ordered = {name: self.fields.get(name) or FieldReading(name, "missing") for name in outputs}
        values = self.values if self.error is None else {}
        return Reading(
            self.adapter,
            self.signature,
            self.completion,
            values,
            tuple(_partition(spans, len(self.completion))),
            ordered,
            self.error,
            self.exception,
            form=self.form,
            reader=self.reader,
            repair_steps=self.steps_left - repair_steps().left,
        )

    def _complete(self, adapter_name: str, searched: tuple[int, int] | None) -> None:
        """Fills defaults and checks that every output has a value (dspy's `apply_output_field_defaults`).

        A refused reply has no defaults: dspy does not get so far, and a factory may do anything.
        """
        if self.error is not None:
            return
        outputs = self.signature.output_fields
        completed: dict[str, Any] = {}
        for name, one in outputs.items():
            if name in self.values:
                completed[name] = self.values[name]
                continue
            try:
                self._fill(name, one, completed)
            except Exception as error:  # a factory's own error is what dspy lets through: the verdict
                self.fields[name] = FieldReading(name, "failed", error=str(error))
                self.fail(error, name, None, f"the default of {name}: {reason(error)}")
                return
        self.values = completed
        missing = [name for name in outputs if name not in completed]
        if missing:
            self.fail(
                self.parse_error(None, searched, completed, adapter_name),
                missing[0],
                None,
                f"the reply has no {'field' if len(missing) == 1 else 'fields'} {', '.join(missing)}",
            )

    def _fill(self, name: str, one: Field, completed: dict[str, Any]) -> None:
        fallback = one.fallback()
        if fallback is MISSING:
            self.fields[name] = FieldReading(name, "missing")
            return
        completed[name] = fallback
        step = Step("default", fallback, fallback)
        self.fields[name] = FieldReading(name, "default", value=fallback, coercions=(step,))


def reason(error: BaseException) -> str:
    """Why, in a line; of a pydantic error its first complaint, with the path inside the value."""
    if isinstance(error, pydantic.ValidationError):
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        path = ".".join(str(part) for part in first["loc"])
        more = error.error_count() - 1
        return f"{path}: {first['msg']}".removeprefix(": ") + (f" (and {more} more)" if more else "")
    if isinstance(error, RecursionError):
        return "too large to read: nested more deeply than Python's recursion limit"
    if isinstance(error, MemoryError):
        return "too large to read: more than Python's parser can hold"
    text = str(error).strip()
    return text.split("\n", 1)[0] if text else type(error).__name__


def _partition(spans: Sequence[Span], length: int) -> list[Span]:
    """Spans in order, gaps filled with `ignored`: they then cover 0 to `length` without gap or overlap."""
    whole: list[Span] = []
    position = 0
    for span in spans:
        start, end, _, _ = span
        if start > position:
            whole.append(Span(position, start, "ignored"))
        if end > start:
            whole.append(span)
        if end > position:
            position = end
    if position < length:
        whole.append(Span(position, length, "ignored"))
    return whole

"""Complete parse results: defaults, missing outputs, and the error dspy would raise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeGuard

import pydantic
import pydantic_core

from adapters.errors import AdapterParseError, Pieces
from adapters.json_text.repair_limits import repair_steps
from adapters.late_dataclasses import dataclass, field
from adapters.replies.reading import Extract, FieldReading, Reader, Reading, ReadingError, ReplyForm, Span
from adapters.replies.sections import Section
from adapters.signatures.signature import MISSING, Field, Signature
from adapters.types.recognition import BEGINNING, Validator, first_errors, stopping_validator, type_adapter
from adapters.values.coercion import coerce
from adapters.values.plain_json import Step

MOST_LINES = 10_000
"""Errors in a field that are all told; of more, which take pydantic seconds to write, only the number."""
COUNTED_LENGTH = 1_000_000
"""Characters of a reply up to which the errors in a field are counted: pydantic takes half a minute for 10 MB of them.

Models write less than half of this. The verdict of a longer reply is the same, with the first error of each list, and
its text, which lists all as in dspy, is made when it is read."""
NOT_COUNTED = f" (replies over {COUNTED_LENGTH:,} characters show only the first error)"


Place = tuple[int, int]
"""Start and end in the reply."""


@dataclass(eq=False)
class AllErrors:
    """Write all errors with which a type refuses a value, once the text is read."""

    _annotation: object
    _value: object
    _by_name: bool | None

    def __str__(self) -> str:
        try:
            if self._by_name:
                type_adapter(self._annotation).validate_python(self._value, by_name=True)
            else:
                coerce(self._value, self._annotation)
        except ValueError as error:
            return str(error)
        return ""


@dataclass
class Findings:
    """Collect an adapter's findings in a reply; `reading` builds the parse result.

    `values` equal dspy's at this point, in its order. The first `fail` is the verdict; fields parsed after it are
    salvage.
    """

    adapter: str
    signature: Signature
    completion: str
    form: ReplyForm
    reader: Reader
    steps_left: int
    """json_repair steps left when the parse begins."""
    values: dict[str, Any] = field(default_factory=dict)
    fields: dict[str, FieldReading] = field(default_factory=dict)
    error: ReadingError | None = None
    exception: Exception | None = None
    sections: Sequence[Section] = ()
    refused: dict[str, object] = field(default_factory=dict)
    """The values that were refused, by field, as the adapter found them."""

    @property
    def validator_of(self) -> Callable[[object], Validator]:
        """Return the function that makes the validator of a type for this reply."""
        return type_adapter if len(self.completion) <= COUNTED_LENGTH else stopping_validator

    def coerce(
        self, name: str, value: object, place: Place | None, steps: list[Step], extract: Extract | None = None
    ) -> Exception | None:
        """Coerce the value found for an output field and record the outcome; return any exception.

        `extract` or `steps` lead to the value. The caller turns a first exception into the verdict with `fail`.
        """
        try:
            typed = coerce(value, self.signature.output_fields[name].annotation, steps, self.validator_of)
        except Exception as error:  # dspy leaks TypeError, RecursionError and MemoryError here; all are verdicts
            self.refused[name] = value
            self.keep_failure(name, place, steps, error, extract)
            return error
        self.keep(name, typed, place, steps, extract)
        return None

    def keep(
        self, name: str, value: object, place: Place | None, steps: Sequence[Step], extract: Extract | None = None
    ) -> None:
        """Record a parsed field; after a failure its value is salvage only."""
        if self.error is None:
            self.values[name] = value
        self.fields[name] = FieldReading(name, "read", self.completion, place, value, extract, tuple(steps))

    def keep_failure(
        self, name: str, place: Place | None, steps: Sequence[Step], error: Exception, extract: Extract | None
    ) -> None:
        """Record a field that was found but could not be coerced."""
        if isinstance(error, pydantic.ValidationError) and error.error_count() > MOST_LINES:
            text = f"{error.error_count()} validation errors for {error.title}"
        else:
            text = str(error)
        if self._is_first(error):
            after_first_line = text.partition("\n")[2]
            text = f"validation errors for {error.title}{NOT_COUNTED}\n{after_first_line}".strip()
        self.fields[name] = FieldReading(name, "failed", self.completion, place, None, extract, tuple(steps), text)

    def why(self, name: str, error: Exception, by_name: bool | None = None) -> str:
        """Summarize in a line why the value found for an output field was refused."""
        if self._is_first(error):
            return f"{name}: {_first(error)}{NOT_COUNTED}"
        one = self.fields[name]
        given = one.coercions[-1].after if one.coercions else one.extract and one.extract.after
        annotation = self.signature.output_fields[name].annotation
        if isinstance(error, pydantic.ValidationError) and error.error_count() > BEGINNING:
            first = first_errors(annotation, given, 1, by_name)
            if first:
                return f"{name}: {_summary(error, _line(first[0]))}"
        return f"{name}: {reason(error)}"

    def told(self, name: str, error: Exception, by_name: bool | None = None) -> object:
        """Return a piece of dspy's message: the error, or the text of all errors where they are not counted."""
        if self._is_first(error):
            return AllErrors(self.signature.output_fields[name].annotation, self.refused[name], by_name)
        return error

    def _is_first(self, error: Exception) -> TypeGuard[pydantic.ValidationError]:
        """Return whether there may be more errors than those in `error`."""
        return len(self.completion) > COUNTED_LENGTH and isinstance(error, pydantic.ValidationError)

    def fail(
        self, exception: Exception, name: str | None = None, place: Place | None = None, message: str = ""
    ) -> None:
        """Make `exception` the verdict, unless there is one; `message` is the line for people."""
        if self.error is not None:
            return
        start, end = place if place is not None else (None, None)
        self.exception = exception
        self.error = ReadingError(type(exception).__name__, message or reason(exception), name, start, end)

    def parse_error(
        self,
        adapter_name: str,
        message: str | Pieces | None,
        searched: Place | None = None,
        parsed: Mapping[str, Any] | None = None,
    ) -> AdapterParseError:
        """Create dspy's error for this reply, which shows only the `searched` part, if given."""
        response = self.completion if searched is None else self.completion[searched[0] : searched[1]]
        return AdapterParseError(adapter_name, self.signature, response, message, parsed)

    def reading(self, adapter_name: str, spans: Sequence[Span] = (), searched: Place | None = None) -> Reading:
        """Build the parse result from ordered `spans`.

        dspy's error names `adapter_name` and shows the `searched` part.
        """
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
            sections=self.sections,
        )

    def _complete(self, adapter_name: str, searched: Place | None) -> None:
        """Fill in defaults and check that every output has a value (dspy's `apply_output_field_defaults`).

        A rejected reply gets no defaults: dspy does not get that far, and a factory may do anything.
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
            except Exception as error:  # dspy lets a factory's own error through: it is the verdict
                self.fields[name] = FieldReading(name, "failed", error=str(error))
                self.fail(error, name, None, f"the default of {name}: {reason(error)}")
                return
        self.values = completed
        missing = [name for name in outputs if name not in completed]
        if missing:
            self.fail(
                self.parse_error(adapter_name, None, searched, completed),
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
    """Summarize an error in a line; for pydantic, its first message with path."""
    if isinstance(error, pydantic.ValidationError):
        return _summary(error, _first(error))
    if isinstance(error, RecursionError):
        return "too large to read: nested more deeply than Python's recursion limit"
    if isinstance(error, MemoryError):
        return "too large to read: more than Python's parser can process"
    text = str(error).strip()
    return text.split("\n", 1)[0] if text else type(error).__name__


def _summary(error: pydantic.ValidationError, first: str) -> str:
    more = error.error_count() - 1
    return first + (f" (and {more} more)" if more else "")


def _first(error: pydantic.ValidationError) -> str:
    return _line(error.errors(include_url=False, include_context=False, include_input=False)[0])


def _line(problem: pydantic_core.ErrorDetails) -> str:
    path = ".".join(str(part) for part in problem["loc"])
    return f"{path}: {problem['msg']}".removeprefix(": ")


def _partition(spans: Sequence[Span], length: int) -> list[Span]:
    """Fill gaps between ordered spans with `ignored`, to cover 0 to `length`."""
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

"""The errors this package raises on purpose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, Protocol

Phase = Literal["request", "response", "tool"]


def reason_of(error: OSError) -> str:
    """Return the system's message about a file, such as `permission denied`."""
    return (error.strerror or str(error) or type(error).__name__).lower()


class HasOutputs(Protocol):
    """The part of a signature (`adapters.signatures.signature.Signature`, or dspy's) that error messages need."""

    @property
    def output_fields(self) -> Mapping[str, object]: ...


class Pieces(tuple[object, ...]):
    """Pieces of a message that are joined when it is read: an error of pydantic may have a million lines."""

    def __str__(self) -> str:
        return "".join(map(str, self))


class AdapterParseError(Exception):
    """A reply that an adapter cannot parse, with dspy's attributes and message (`dspy.utils.exceptions`)."""

    def __init__(
        self,
        adapter_name: str,
        signature: HasOutputs,
        lm_response: str,
        message: str | Pieces | None = None,
        parsed_result: Mapping[str, object] | None = None,
    ) -> None:
        self.adapter_name = adapter_name
        self.signature = signature
        self.lm_response = lm_response
        self.parsed_result = parsed_result
        self._message = message
        self._args: tuple[object, ...] | None = None

    def __str__(self) -> str:
        if self._args is not None:
            return str(Exception(*self._args))
        head = f"{self._message}\n\n" if self._message else ""
        text = (
            f"{head}Adapter {self.adapter_name} failed to parse the LM response. \n\n"
            f"LM Response: {self.lm_response} \n\n"
            f"Expected to find output fields in the LM response: [{', '.join(self.signature.output_fields)}] \n\n"
        )
        if self.parsed_result is not None:
            text += f"Actual output fields parsed from the LM response: [{', '.join(self.parsed_result)}] \n\n"
        return text

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.args))})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Send the message as text, and values whose classes were read from text as JSON."""
        parsed = self.parsed_result
        if parsed is not None and getattr(self.signature, "has_types_of_text", False):
            from pydantic_core import to_jsonable_python

            parsed = to_jsonable_python(dict(parsed), fallback=str)
        message = None if self._message is None else str(self._message)
        made_of = self.adapter_name, self.signature, self.lm_response, message, parsed
        return type(self), made_of, {**vars(self), "_message": message, "parsed_result": parsed}

    @property
    def args(self) -> tuple[object, ...]:
        return (str(self),) if self._args is None else self._args

    @args.setter
    def args(self, args: Iterable[object]) -> None:
        self._args = tuple(args)


class NeedsExtraction(Exception):  # noqa: N818
    """A TwoStep reply whose fields still need to be extracted by the second model; not a parse error."""


class SignatureError(ValueError):
    """An invalid signature: the problem, its 1-based line and column, and a hint."""

    def __init__(self, message: str, line: int = 1, column: int = 1, hint: str = "") -> None:
        self.message = message
        self.line = line
        self.column = column
        self.hint = hint
        self.with_hint = f"{message} ({hint})" if hint else message
        super().__init__(f"line {line}, column {column}: {self.with_hint}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.line, self.column, self.hint), vars(self)


class RunError(Exception):
    """A failed run: its phase, the 1-based attempt, and the provider's payload.

    request: before or during the call · response: the reply could not be parsed · tool: a tool turn.
    """

    def __init__(self, message: str, phase: Phase, attempt: int = 1, payload: object = None) -> None:
        self.message = message
        self.phase = phase
        self.attempt = attempt
        self.payload = payload
        super().__init__(message)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.phase, self.attempt, self.payload), vars(self)


class PromptNotMadeError(RunError):
    """A run whose adapter raised an exception instead of making a prompt."""


def type_name(given: object) -> str:
    """Name what was given instead: `str`, `dspy.LM`, `the class ChatAdapter`."""
    if isinstance(given, type):
        return f"the class {given.__name__}"
    package = type(given).__module__.partition(".")[0]
    name = type(given).__name__
    return name if package in ("builtins", "adapters", "__main__") else f"{package}.{name}"

"""The base class of all adapters.

An adapter converts a signature, demos and inputs to messages, and a reply to values. `render` and `read` return the
prompt and the parse result with origins and spans. `format` and `parse` return the same in dspy's exact shapes, with
dspy's errors. A user's adapter may override any method of dspy's (`format`, `parse`, `format_field_description`, …) and
return plain strings.
"""

from __future__ import annotations

import functools
import gc
import importlib
import inspect
import uuid
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from adapters.formats.conversation import RenderedDemos, expanded, history_messages, render_demos
from adapters.formats.profile import CUSTOM, Profile
from adapters.json_text.repair_limits import one_reading, repair_steps
from adapters.late_dataclasses import replace
from adapters.prompts.text import Demos, Message, Prompt, Values, join, message_dicts, message_of, prompt_of_dicts
from adapters.replies.flag import Diagnosis, Flag
from adapters.replies.reading import FieldReading, NearMiss, Reading, ReadingError, Span
from adapters.replies.reading_builder import Findings
from adapters.requests.capabilities import Capabilities
from adapters.signatures.signature import Signature

if TYPE_CHECKING:
    from adapters.requests.calls import WholeCall

Method = TypeVar("Method", bound=Callable[..., Any])
Result = TypeVar("Result")
late_module = functools.cache(importlib.import_module)
"""Import a module on first use: an import statement in a function takes a microsecond each time."""


class Callback:
    """Base of callbacks that observe an adapter, with dspy's method names (`dspy.utils.callback.BaseCallback`).

    Errors in callbacks are logged and otherwise ignored.
    """

    def on_adapter_format_start(self, call_id: str, instance: object, inputs: dict[str, object]) -> None: ...

    def on_adapter_format_end(self, call_id: str, outputs: object, exception: BaseException | None = None) -> None: ...

    def on_adapter_parse_start(self, call_id: str, instance: object, inputs: dict[str, object]) -> None: ...

    def on_adapter_parse_end(self, call_id: str, outputs: object, exception: BaseException | None = None) -> None: ...


def announced(method: Method) -> Method:
    """Wrap `format` or `parse` to notify the adapter's callbacks."""
    name = method.__name__
    parameters = inspect.signature(method)

    @functools.wraps(method)
    def wrapper(self: Any, *args: object, **kwargs: object) -> object:
        if not getattr(self, "callbacks", ()):  # a user's adapter may not have called `__init__`
            return method(self, *args, **kwargs)
        inputs = dict(parameters.bind(self, *args, **kwargs).arguments)
        inputs.pop("self", None)
        return _observed(self, name, inputs, lambda: method(self, *args, **kwargs), lambda result: (result, None))

    return wrapper  # type: ignore[return-value]


def observed_reading(
    adapter: Adapter, signature: Signature, completion: str, read: Callable[[Signature, str], Reading]
) -> Reading:
    """Parse a reply with `read`, and notify the adapter's callbacks as its `parse` does."""

    def told(reading: Reading) -> Told:
        return (dict(reading.values) if reading.exception is None else None), reading.exception

    inputs: dict[str, object] = {"signature": signature, "completion": completion}
    return _observed(adapter, "parse", inputs, lambda: read(signature, completion), told)


Told = tuple[object, BaseException | None]
"""The outputs and the exception that a callback receives."""


def _observed(
    adapter: Adapter,
    event: str,
    inputs: dict[str, object],
    call: Callable[[], Result],
    told: Callable[[Result], Told],
) -> Result:
    callbacks = tuple(getattr(adapter, "callbacks", ()) or ())  # those of the start are told of the end, too
    if not callbacks:
        return call()
    call_id = uuid.uuid4().hex
    _tell(callbacks, f"on_adapter_{event}_start", call_id=call_id, instance=adapter, inputs=inputs)
    try:
        result = call()
    except BaseException as error:  # passed to the callbacks, and raised again
        _tell(callbacks, f"on_adapter_{event}_end", call_id=call_id, outputs=None, exception=error)
        raise
    outputs, exception = told(result)
    _tell(callbacks, f"on_adapter_{event}_end", call_id=call_id, outputs=outputs, exception=exception)
    return result


def _tell(callbacks: Sequence[object], event: str, **arguments: object) -> None:
    for callback in callbacks:
        try:
            getattr(callback, event)(**arguments)
        except Exception as error:  # an error in a callback must not fail the run
            import logging

            logging.getLogger(__name__).warning("callback %r failed in %s: %s", callback, event, error)


LONG_REPLY = 10_000
"""Characters of a reply from which garbage collection is paused while it is parsed.

Parsed values contain no cyclic garbage, and for 1 MB of models collection would take two thirds of the time.
"""


class Adapter:
    """Base of all adapters; `docs/adapters.md` explains how to write an adapter.

    `format`, `parse` and a call take a live `dspy.Signature` class, too. `native_response_types` are output types that
    are read from the response instead of its text; None means Citations and Reasoning, as in dspy.
    """

    name: ClassVar[str] = "custom"
    profile: ClassVar[Profile] = CUSTOM
    whole_call: WholeCall | None = None
    demo_forms: ClassVar[tuple[str, str] | None] = None
    """The forms of demos' inputs and outputs if they depend only on `Signature.field_faces`; adapters share demos of
    the same forms. Must be set on each class, as it is not inherited."""

    def __init__(
        self,
        callbacks: Sequence[Callback] | None = None,
        use_native_function_calling: bool = False,
        native_response_types: Sequence[type] | None = None,
        parallel_tool_calls: bool | None = None,
    ) -> None:
        self.callbacks = list(callbacks or ())
        self.use_native_function_calling = use_native_function_calling
        self.native_response_types = tuple(native_response_types) if native_response_types else None
        self.parallel_tool_calls = parallel_tool_calls

    def __init_subclass__(cls, **arguments: object) -> None:
        super().__init_subclass__(**arguments)
        for name in ("format", "parse"):
            if name in cls.__dict__:
                setattr(cls, name, announced(cls.__dict__[name]))

    # The engine

    def render(self, signature: Signature, demos: Demos, inputs: Values, reuse: Prompt | None = None) -> Prompt:
        """Render the messages with their origins. Raises what `format` raises.

        `reuse` is an earlier prompt of this adapter, or `Prompt(())`: rendered demos are reused for the same demo
        objects, those of other adapters too if they write them alike.
        """
        signature = Signature.of(signature)
        if not is_own(self.format, Adapter.format):
            return prompt_of_dicts(message_dicts(self.format(signature, list(demos), dict(inputs))))
        given: dict[str, object] = {"signature": signature, "demos": demos, "inputs": inputs}
        return _observed(
            self,
            "format",
            given,
            lambda: self._render(signature, demos, inputs, reuse),
            lambda prompt: (prompt.as_dicts(), None),
        )

    def read(self, signature: Signature, completion: str) -> Reading:
        """Parse a reply, with spans, steps and flags. Never raises for an invalid reply."""
        signature = Signature.of(signature)
        if not is_own(self.parse, Adapter.parse) or not isinstance(completion, str):
            return replace(reading_of_parse(self.name, signature, completion, self.parse), reader=self)
        return self._read_text(signature, completion)

    def flags_of(self, reading: Reading) -> tuple[Flag, ...]:
        """Find what is surprising about a parse result of this adapter (`Reading.flags`)."""
        found: tuple[Flag, ...] = late_module("adapters.replies.flags.explaining").explain(reading)
        return found

    def near_misses_of(self, reading: Reading) -> tuple[NearMiss, ...]:
        """Find likely intended replies that this adapter does not parse (`Reading.near_misses`)."""
        found: tuple[NearMiss, ...] = late_module("adapters.replies.near_misses").find(reading)
        return found

    def diagnosis_of(self, reading: Reading) -> tuple[Diagnosis, ...]:
        """Diagnose the causes of a parse result (`Reading.diagnosis`)."""
        found: tuple[Diagnosis, ...] = late_module("adapters.replies.diagnosis").diagnose(reading)
        return found

    def response_format(self, signature: Signature, capabilities: Capabilities) -> dict[str, object] | None:
        """Return the `response_format` to request from a model with these capabilities, or None."""
        return None

    def demo_key(self, signature: Signature) -> Hashable:
        """Return the part of a signature that determines demos, by default the whole signature.

        Prompts with equal keys share rendered demos.
        """
        return signature.field_faces if "demo_forms" in type(self).__dict__ else signature

    def fallback_adapter(self) -> Adapter | None:
        """Return the adapter for a second call after a parse error, or None."""
        return None

    def read_with_calls(self, signature: Signature, completion: str) -> Reading:
        """Parse a reply like `read` and notify the callbacks; calls a model if parsing requires that (TwoStep)."""
        if not is_own(self.parse, Adapter.parse):  # which notifies them itself
            return self.read(signature, completion)
        return observed_reading(self, signature, completion, self.read)

    def _render(self, signature: Signature, demos: Demos, inputs: Values, reuse: Prompt | None) -> Prompt:
        values = dict(inputs)
        current = signature
        history: tuple[Message, ...] = ()
        history_field = signature.history_field
        if history_field is not None:
            current = _without(signature, history_field)
            if is_own(self.format_conversation_history, Adapter.format_conversation_history):
                messages = history_messages(self, current, history_field, values)
            else:
                given = self.format_conversation_history(current, history_field, values)
                messages = prompt_of_dicts(given, "history").messages
            history = tuple([expanded(one) for one in messages])
        system = message_of("system", "system", self.format_system_message(signature))
        shown_demos = self._demos(signature, demos, reuse)
        content = self.format_user_message_content(current, values, main_request=True)
        last = (expanded(message_of("user", "inputs", content)),) if content else ()
        return Prompt((system, *shown_demos.messages, *history, *last), shown_demos.uses, reusable=shown_demos)

    def _findings(self, signature: Signature, completion: str) -> Findings:
        """Make the object that collects this adapter's parse result."""
        return Findings(self.name, signature, completion, self.profile.reply, self, repair_steps().left)

    def _read_text(self, signature: Signature, completion: str) -> Reading:
        is_paused = len(completion) >= LONG_REPLY and gc.isenabled()
        if is_paused:
            gc.disable()
        try:
            with one_reading():
                return self._read(signature, completion)
        finally:
            if is_paused:
                gc.enable()

    def _read(self, signature: Signature, completion: str) -> Reading:
        raise NotImplementedError(f"{type(self).__name__} must override parse()")

    def _demos(self, signature: Signature, demos: Demos, reuse: Prompt | None, expand: bool = True) -> RenderedDemos:
        if is_own(self.format_demos, Adapter.format_demos):
            return render_demos(self, self.demo_key(signature), signature, demos, reuse, expand)
        prompt = prompt_of_dicts(self.format_demos(signature, list(demos)), "demo")
        messages = tuple([expanded(one) if expand else one for one in prompt.messages])
        return RenderedDemos(self, object(), {}, (), messages, ())

    # dspy's public methods

    @announced
    def format(self, signature: Signature, demos: Demos, inputs: Values) -> list[dict[str, Any]]:
        """Render the messages in the shape of dspy's adapters: `[{"role", "content"}, …]`."""
        return self._render(Signature.of(signature), demos, inputs, None).as_dicts()

    @announced
    def parse(self, signature: Signature, completion: str) -> dict[str, Any]:
        """Parse the output values, by field name. Raises the error that dspy raises for this reply."""
        signature = Signature.of(signature)
        if not isinstance(completion, str):
            return self._parse_other(signature, completion)
        reading = self._read_text(signature, completion)
        if reading.exception is not None:
            raise reading.exception
        return dict(reading.values)

    def _parse_other(self, signature: Signature, completion: object) -> dict[str, object]:
        """Handle a reply that is not text as dspy's parser does, mostly with an error raised by Python."""
        raise TypeError(f"a reply is a text, not {type(completion).__name__}")

    def format_system_message(self, signature: Signature) -> str:
        """Join field description, structure and task with line breaks."""
        parts = (
            self.format_field_description(signature),
            self.format_field_structure(signature),
            self.format_task_description(signature),
        )
        return join("\n", [part if isinstance(part, str) else f"{part}" for part in parts])

    def format_field_description(self, signature: Signature) -> str:
        raise NotImplementedError

    def format_field_structure(self, signature: Signature) -> str:
        raise NotImplementedError

    def format_task_description(self, signature: Signature) -> str:
        raise NotImplementedError

    def format_user_message_content(
        self, signature: Signature, inputs: Values, prefix: str = "", suffix: str = "", main_request: bool = False
    ) -> str:
        """Write the inputs of a turn; `main_request` adds the reminder of the output format."""
        raise NotImplementedError

    def format_assistant_message_content(
        self, signature: Signature, outputs: Values, missing_field_message: str | None = None
    ) -> str:
        """Write the outputs of a turn; `missing_field_message` replaces missing values."""
        raise NotImplementedError

    def format_demos(self, signature: Signature, demos: Demos) -> list[dict[str, object]]:
        """Render incomplete, then complete demos, each as a user and an assistant message; drop others."""
        rendered = render_demos(self, self.demo_key(signature), signature, demos, None, expand=False)
        return [message.as_dict() for message in rendered.messages]

    def format_conversation_history(
        self, signature: Signature, history_field_name: str, inputs: dict[str, object]
    ) -> list[dict[str, object]]:
        """Render the turns of the History input and remove it from `inputs`, as dspy does."""
        return [message.as_dict() for message in history_messages(self, signature, history_field_name, inputs)]

    def format_finetune_data(
        self, signature: Signature, demos: Demos, inputs: Values, outputs: Values
    ) -> dict[str, list[object]]:
        """Return `{"messages": […]}` with the outputs as last assistant message (OpenAI's fine-tuning format).

        Unlike ours, dspy's JSONAdapter raises NotImplementedError.
        """
        signature = Signature.of(signature)
        messages = message_dicts(self.format(signature, demos, inputs))
        content: object = self.format_assistant_message_content(signature, outputs)
        answer = str(content) if isinstance(content, str) else content
        return {"messages": [*messages, {"role": "assistant", "content": answer}]}

    def __call__(
        self, lm: object, lm_kwargs: dict[str, object], signature: Signature, demos: Demos, inputs: Values
    ) -> list[dict[str, Any]]:
        """Call an LM with the interface of dspy 3.4 or 3.5 (`formats.calling`); return values per completion."""
        # loads modules for requests, tools and decisions
        from adapters.formats import calling

        return calling.call(self, lm, lm_kwargs, (Signature.of(signature), demos, inputs))

    async def acall(
        self, lm: object, lm_kwargs: dict[str, object], signature: Signature, demos: Demos, inputs: Values
    ) -> list[dict[str, Any]]:
        """Call an LM like `__call__`, through `lm.acall`."""
        from adapters.formats import calling

        return await calling.acall(self, lm, lm_kwargs, (Signature.of(signature), demos, inputs))


@lru_cache(maxsize=512)
def _without(signature: Signature, name: str) -> Signature:
    return signature.delete(name)


def is_own(method: Callable[..., object], own: Callable[..., object]) -> bool:
    """Test whether an adapter's `method` is `own`, not overridden in a subclass or on the object."""
    return getattr(method, "__func__", None) is own


def reading_of_parse(
    adapter: str, signature: Signature, completion: str, parse: Callable[[Signature, str], Mapping[str, object]]
) -> Reading:
    """Convert the values or error of a user's `parse` to a `Reading`, with the whole reply as an `ignored` span.

    A reply that is not text has no spans.
    """
    reply, completion = completion, completion if isinstance(completion, str) else ""
    spans = (Span(0, len(completion), "ignored"),) if completion else ()
    try:
        found = parse(signature, reply)
        if not hasattr(found, "keys"):
            raise TypeError(f"`parse` returns a dict of the outputs, not {type(found).__name__}")
        values = dict(found)
    except Exception as error:  # any error of a user's parser is the verdict
        fields = {name: FieldReading(name, "unread") for name in signature.output_fields}
        verdict = ReadingError(type(error).__name__, str(error))
        return Reading(adapter, signature, completion, {}, spans, fields, verdict, error)
    read = {
        name: FieldReading(name, "read" if name in values else "missing", value=values.get(name))
        for name in signature.output_fields
    }
    return Reading(adapter, signature, completion, values, spans, read)

"""The base class of every adapter: signature, demos and inputs to messages, a reply to values.

`render` and `read` are the engine: they give the prompt and the reading with all they know of origins and spans.
`format` and `parse` are views of them with dspy's exact shapes and errors. An adapter of a user may override any
method by dspy's name (`format`, `parse`, `format_field_description`, …) and return plain strings.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import is_
from typing import TYPE_CHECKING, Any, ClassVar

from adapters.formats.callbacks import announced
from adapters.formats.conversation import history_messages
from adapters.formats.profile import CUSTOM, Profile
from adapters.json_text.repair_limits import one_reading, repair_steps
from adapters.prompts import content_markers as markers
from adapters.prompts.formatted import message_dicts
from adapters.prompts.prompt import DemoUse, Message, Prompt, message_of, prompt_of_dicts
from adapters.prompts.text import Text, join
from adapters.replies.flag import Flag
from adapters.replies.reading import FieldReading, NearMiss, Reading, ReadingError, Span
from adapters.replies.reading_builder import Findings
from adapters.requests.capabilities import Capabilities
from adapters.signatures.signature import Signature

if TYPE_CHECKING:
    from adapters.formats.callbacks import Callback
    from adapters.requests.calls import WholeCall

INCOMPLETE_DEMO = Text.of(
    "This is an example of the task, though some input or output fields are not supplied.", "filler"
)
NOT_SUPPLIED = Text.of("Not supplied for this particular example. ", "filler")
NOT_SUPPLIED_IN_HISTORY = Text.of("Not supplied for this conversation history message. ", "filler")


@dataclass(frozen=True, slots=True)
class RenderedDemo:
    """A demo's messages, kept so that the next prompt can take them over."""

    demo: Mapping[str, object]
    use: DemoUse
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class RenderedDemos:
    """The rendered demos of a prompt, by identity, with their adapter and `Adapter.demo_key`."""

    adapter: Adapter
    key: Hashable
    by_id: Mapping[int, RenderedDemo]
    demos: tuple[Mapping[str, object], ...]
    messages: tuple[Message, ...]
    uses: tuple[DemoUse, ...]


class Adapter:
    """Base of all adapters; see `docs/adapters.md` for writing one.

    `native_response_types` are the output types that come from the response and not from its text; None means
    Citations and Reasoning, as in dspy.
    """

    name: ClassVar[str] = "custom"
    profile: ClassVar[Profile] = CUSTOM
    whole_call: WholeCall | None = None

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

    def render(
        self,
        signature: Signature,
        demos: Sequence[Mapping[str, object]],
        inputs: Mapping[str, object],
        reuse: Prompt | None = None,
    ) -> Prompt:
        """Render the messages with their origins. Raises what `format` raises.

        `reuse` is an earlier prompt of this adapter: demos that are the same objects and were not changed since are
        taken over from it.
        """
        if not is_own(self.format, Adapter.format):
            return prompt_of_dicts(message_dicts(self.format(signature, list(demos), dict(inputs))))
        return self._render(signature, demos, inputs, reuse)

    def read(self, signature: Signature, completion: str) -> Reading:
        """Parse a reply, with spans, steps and flags. Never raises for a bad reply."""
        if not is_own(self.parse, Adapter.parse) or not isinstance(completion, str):
            return replace(reading_of_parse(self.name, signature, completion, self.parse), reader=self)
        with one_reading():
            return self._read(signature, completion)

    def flags_of(self, reading: Reading) -> tuple[Flag, ...]:
        """Find what should surprise a person about a parse result of this adapter (`Reading.flags`)."""
        from adapters.replies.flags.explaining import explain

        return explain(reading)

    def near_misses_of(self, reading: Reading) -> tuple[NearMiss, ...]:
        """Find what was probably meant where this adapter saw nothing (`Reading.near_misses`)."""
        from adapters.replies.near_misses import find

        return find(reading)

    def response_format(self, signature: Signature, capabilities: Capabilities) -> dict[str, object] | None:
        """The `response_format` this adapter asks a model of these capabilities for, or None."""
        return None

    def demo_key(self, signature: Signature) -> Hashable:
        """The part of a signature that determines a demo's messages: prompts with equal keys share rendered demos.

        The signature itself, unless an adapter knows better.
        """
        return signature

    def fallback_adapter(self) -> Adapter | None:
        """The adapter that asks again after a reply that does not parse, or None."""
        return None

    def read_with_calls(self, signature: Signature, completion: str) -> Reading:
        """As `read`, but an adapter whose parsing calls a model (TwoStep) may do so."""
        return self.read(signature, completion)

    def _render(
        self,
        signature: Signature,
        demos: Sequence[Mapping[str, object]],
        inputs: Mapping[str, object],
        reuse: Prompt | None,
    ) -> Prompt:
        values = dict(inputs)
        current = signature
        history: tuple[Message, ...] = ()
        history_field = signature.history_field
        if history_field is not None:
            current = _without(signature, history_field)
            history = self._history_messages(current, history_field, values)
        system = message_of("system", "system", self.format_system_message(signature))
        demo_messages, uses, reusable = self._demo_messages(signature, demos, reuse)
        content = self.format_user_message_content(current, values, main_request=True)
        last = (_expanded(message_of("user", "inputs", content)),) if content else ()
        return Prompt((system, *demo_messages, *history, *last), uses, reusable=reusable)

    def _findings(self, signature: Signature, completion: str) -> Findings:
        """Make the collector for this adapter's parser."""
        return Findings(self.name, signature, completion, self.profile.reply, self, repair_steps().left)

    def _read(self, signature: Signature, completion: str) -> Reading:
        raise NotImplementedError(f"{type(self).__name__} must override parse()")

    def _demo_messages(
        self, signature: Signature, demos: Sequence[Mapping[str, object]], reuse: Prompt | None, expand: bool = True
    ) -> tuple[list[Message], tuple[DemoUse, ...], RenderedDemos | None]:
        if is_own(self.format_demos, Adapter.format_demos):
            return self._own_demo_messages(signature, demos, reuse, expand)
        prompt = prompt_of_dicts(self.format_demos(signature, list(demos)), "demo")
        return [_expanded(one) if expand else one for one in prompt.messages], (), None

    def _own_demo_messages(
        self, signature: Signature, demos: Sequence[Mapping[str, object]], reuse: Prompt | None, expand: bool
    ) -> tuple[list[Message], tuple[DemoUse, ...], RenderedDemos | None]:
        known = self._known_demos(signature, reuse)
        if known is not None and len(demos) == len(known.demos) and all(map(is_, demos, known.demos)):
            return list(known.messages), known.uses, known
        rendered: dict[int, RenderedDemo] = {}
        pending: list[tuple[Mapping[str, object], DemoUse]] = []
        uses: list[DemoUse] = []
        for number, demo in enumerate(demos, 1):
            entry = known.by_id.get(id(demo)) if known is not None else None
            if entry is None:
                use = _demo_use(signature, demo, number)
                pending.append((demo, use))
            else:
                entry = entry if entry.use.number == number else _renumbered(entry, number)
                use = entry.use
                rendered[id(demo)] = entry
            uses.append(use)
        for wanted in ("incomplete", "complete", "dropped"):
            for demo, use in pending:
                if use.use == wanted:
                    rendered[id(demo)] = self._render_demo(signature, demo, use, expand)
        messages: list[Message] = []
        for wanted in ("incomplete", "complete"):
            for demo, use in zip(demos, uses, strict=True):
                if use.use == wanted:
                    entry = rendered[id(demo)]
                    messages.extend(entry.messages if entry.use is use else _renumbered(entry, use.number).messages)
        every = tuple(uses)
        held = RenderedDemos(self, self.demo_key(signature), rendered, tuple(demos), tuple(messages), every)
        return messages, every, held

    def _known_demos(self, signature: Signature, reuse: Prompt | None) -> RenderedDemos | None:
        held = reuse.reusable if reuse is not None else None
        if isinstance(held, RenderedDemos) and held.adapter is self and held.key == self.demo_key(signature):
            return held
        return None

    def _render_demo(
        self, signature: Signature, demo: Mapping[str, object], use: DemoUse, expand: bool
    ) -> RenderedDemo:
        if use.use == "dropped":
            return RenderedDemo(demo, use, ())
        turn = f"demo {use.number}"
        if use.use == "complete":
            user = self.format_user_message_content(signature, demo)
            answer = self.format_assistant_message_content(
                signature, demo, missing_field_message=NOT_SUPPLIED_IN_HISTORY
            )
        else:
            user = self.format_user_message_content(signature, demo, prefix=INCOMPLETE_DEMO)
            answer = self.format_assistant_message_content(signature, demo, missing_field_message=NOT_SUPPLIED)
        asked = message_of("user", turn, user)
        answered = message_of("assistant", turn, answer)
        return RenderedDemo(demo, use, (_expanded(asked) if expand else asked, answered))

    def _history_messages(self, signature: Signature, field: str, inputs: dict[str, object]) -> tuple[Message, ...]:
        if not is_own(self.format_conversation_history, Adapter.format_conversation_history):
            prompt = prompt_of_dicts(self.format_conversation_history(signature, field, inputs), "history")
            return tuple([_expanded(one) for one in prompt.messages])
        return tuple([_expanded(one) for one in history_messages(self, signature, field, inputs)])

    # dspy's public methods

    @announced
    def format(
        self, signature: Signature, demos: Sequence[Mapping[str, object]], inputs: Mapping[str, object]
    ) -> list[dict[str, Any]]:
        """Render the messages as dspy's adapters return them: `[{"role", "content"}, …]`."""
        return self._render(signature, demos, inputs, None).as_dicts()

    @announced
    def parse(self, signature: Signature, completion: str) -> dict[str, Any]:
        """Parse the output values, by field name. Raises the error that dspy raises for this reply."""
        if not isinstance(completion, str):
            return self._parse_other(signature, completion)
        with one_reading():
            reading = self._read(signature, completion)
        if reading.exception is not None:
            raise reading.exception
        return dict(reading.values)

    def _parse_other(self, signature: Signature, completion: object) -> dict[str, object]:
        """Fail as dspy's parser does for a reply that is not text: mostly with Python's own error."""
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
        self,
        signature: Signature,
        inputs: Mapping[str, object],
        prefix: str = "",
        suffix: str = "",
        main_request: bool = False,
    ) -> str:
        """Write the inputs of a turn; `main_request` adds the reminder of the output format."""
        raise NotImplementedError

    def format_assistant_message_content(
        self, signature: Signature, outputs: Mapping[str, object], missing_field_message: str | None = None
    ) -> str:
        """Write the outputs of a turn; `missing_field_message` replaces missing values."""
        raise NotImplementedError

    def format_demos(self, signature: Signature, demos: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
        """Incomplete demos first, then complete ones, each a user and an assistant message; others are dropped."""
        messages, _, _ = self._own_demo_messages(signature, demos, None, expand=False)
        return [message.as_dict() for message in messages]

    def format_conversation_history(
        self, signature: Signature, history_field_name: str, inputs: dict[str, object]
    ) -> list[dict[str, object]]:
        """Render the turns of the History input; removes the history from `inputs`, as dspy does."""
        return [message.as_dict() for message in history_messages(self, signature, history_field_name, inputs)]

    def format_finetune_data(
        self,
        signature: Signature,
        demos: Sequence[Mapping[str, object]],
        inputs: Mapping[str, object],
        outputs: Mapping[str, object],
    ) -> dict[str, list[object]]:
        """`{"messages": […]}` with the outputs as the last assistant message (OpenAI's fine-tuning format).

        dspy's JSONAdapter raises NotImplementedError here; ours does not.
        """
        messages = message_dicts(self.format(signature, demos, inputs))
        content: object = self.format_assistant_message_content(signature, outputs)
        answer = str(content) if isinstance(content, str) else content
        return {"messages": [*messages, {"role": "assistant", "content": answer}]}

    def __call__(
        self,
        lm: object,
        lm_kwargs: dict[str, object],
        signature: Signature,
        demos: Sequence[Mapping[str, object]],
        inputs: Mapping[str, object],
    ) -> list[dict[str, Any]]:
        """Call an LM with the interface of dspy 3.4 or 3.5 (`formats.calling`); returns values per completion."""
        from adapters.formats import calling  # what only a call needs: requests, tools, decisions

        return calling.call(self, lm, lm_kwargs, signature, demos, inputs)

    async def acall(
        self,
        lm: object,
        lm_kwargs: dict[str, object],
        signature: Signature,
        demos: Sequence[Mapping[str, object]],
        inputs: Mapping[str, object],
    ) -> list[dict[str, Any]]:
        """Call an LM as `__call__` does, through `lm.acall`."""
        from adapters.formats import calling

        return await calling.acall(self, lm, lm_kwargs, signature, demos, inputs)


@lru_cache(maxsize=512)
def _without(signature: Signature, name: str) -> Signature:
    return signature.delete(name)


def _expanded(message: Message) -> Message:
    """A user message with the custom types marked in its text made into content parts; any other as it is."""
    text = message.parts[0] if message.role == "user" and not message.is_list and message.parts else None
    if not isinstance(text, Text) or markers.START not in text:
        return message
    parts, is_list = markers.expand(text)
    return Message("user", message.turn, parts, is_list, message.extra)


def _demo_use(signature: Signature, demo: Mapping[str, object], number: int) -> DemoUse:
    missing = tuple([name for name in signature.fields if name not in demo or demo[name] is None])
    if not missing:
        return DemoUse(number, "complete")
    has_both = any(name in demo for name in signature.input_fields) and any(
        name in demo for name in signature.output_fields
    )
    return DemoUse(number, "incomplete" if has_both else "dropped", missing)


def _renumbered(entry: RenderedDemo, number: int) -> RenderedDemo:
    turn = f"demo {number}"
    messages = tuple([Message(one.role, turn, one.parts, one.is_list, one.extra) for one in entry.messages])
    return RenderedDemo(entry.demo, DemoUse(number, entry.use.use, entry.use.missing), messages)


def is_own(method: Callable[..., object], own: Callable[..., object]) -> bool:
    """Test whether an adapter's `method` is this package's `own`, not overridden by a class or on the object."""
    return getattr(method, "__func__", None) is own


def reading_of_parse(
    adapter: str, signature: Signature, completion: str, parse: Callable[[Signature, str], Mapping[str, object]]
) -> Reading:
    """Wrap the values or the error of a user's `parse`; the whole reply is an `ignored` span.

    A reply that is not text has no spans.
    """
    reply, completion = completion, completion if isinstance(completion, str) else ""
    spans = (Span(0, len(completion), "ignored"),) if completion else ()
    try:
        values = dict(parse(signature, reply))
    except Exception as error:  # any error of a user's parser is its verdict
        fields = {name: FieldReading(name, "unread") for name in signature.output_fields}
        verdict = ReadingError(type(error).__name__, str(error))
        return Reading(adapter, signature, completion, {}, spans, fields, verdict, error)
    read = {
        name: FieldReading(name, "read" if name in values else "missing", value=values.get(name))
        for name in signature.output_fields
    }
    return Reading(adapter, signature, completion, values, spans, read)

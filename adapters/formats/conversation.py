"""Render the messages before the inputs: demos, and the turns of a History input.

Rules: `dspy.adapters.base.Adapter.format_demos` and `format_conversation_history`.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from functools import lru_cache
from operator import is_
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from adapters.late_dataclasses import dataclass
from adapters.prompts import content_markers as markers
from adapters.prompts.text import Demos, DemoUse, Message, Prompt, Text, Values, message_of
from adapters.signatures.signature import Field, Signature
from adapters.types.recognition import is_named
from adapters.values.value_text import serialize_for_json

if TYPE_CHECKING:
    from adapters.requests.calls import RequestedAdapter

INCOMPLETE_DEMO = Text.of(
    "This is an example of the task, though some input or output fields are not supplied.", "filler"
)
NOT_SUPPLIED = Text.of("Not supplied for this particular example. ", "filler")
NOT_SUPPLIED_IN_HISTORY = Text.of("Not supplied for this conversation history message. ", "filler")

JSON_TYPES = frozenset((str, int, float, bool, list, dict, type(None)))
"""Types of values that all adapters with the same form of inputs write alike."""


@lru_cache(maxsize=1)
def tool_results_signature() -> Signature:
    """Make the signature of a message with tool results only."""
    from adapters.types.tools import ToolCallResults

    return Signature.make((Field("tool_call_results", "input", ToolCallResults),))


@dataclass(frozen=True, slots=True)
class RenderedDemo:
    """A demo's messages, stored for reuse by later prompts."""

    demo: Values
    use: DemoUse
    messages: tuple[Message, ...]


@dataclass(frozen=True)
class RenderedDemos:
    """A prompt's rendered demos by identity, with their `Adapter.demo_key`.

    `writer` is what else they depend on: `Adapter.demo_forms`, or the adapter.
    """

    writer: object
    key: Hashable
    by_id: Mapping[int, RenderedDemo]
    demos: tuple[Values, ...]
    messages: tuple[Message, ...]
    uses: tuple[DemoUse, ...]


_in_use: WeakValueDictionary[Hashable, RenderedDemos] = WeakValueDictionary()
"""The latest demos in use by their form of inputs and `demo_key`, for all adapters with this form."""


def expanded(message: Message) -> Message:
    """Convert marked custom types in a user message to content parts; return other messages unchanged."""
    text = message.parts[0] if message.role == "user" and not message.is_list and message.parts else None
    if not isinstance(text, Text) or markers.START not in text:
        return message
    parts, is_list = markers.expand(text)
    return Message("user", message.turn, parts, is_list, message.extra)


def demo_use(signature: Signature, demo: Values, number: int) -> DemoUse:
    """Return the use that adapters make of the demo at 1-based `number`."""
    missing = tuple([name for name in signature.fields if name not in demo or demo[name] is None])
    if not missing:
        return DemoUse(number, "complete")
    has_both = any(name in demo for name in signature.input_fields) and any(
        name in demo for name in signature.output_fields
    )
    return DemoUse(number, "incomplete" if has_both else "dropped", missing)


def render_demos(
    adapter: RequestedAdapter, key: Hashable, signature: Signature, demos: Demos, reuse: Prompt | None, expand: bool
) -> RenderedDemos:
    """Render the demos, incomplete ones first, reusing those of `reuse` and of other adapters with the same forms.

    Without `reuse`, nothing is reused. `expand` converts marked custom types in their texts to content parts.
    """
    # None if the adapter's class does not set them, or the object has methods of its own
    own = any(map(callable, vars(adapter).values()))
    forms: tuple[str, str] | None = None if own else vars(type(adapter)).get("demo_forms")
    held = reuse.reusable if reuse is not None else None
    known = held if isinstance(held, RenderedDemos) and held.key == key and held.writer in (adapter, forms) else None
    alike = _in_use.get((forms[0], key)) if reuse is not None and forms is not None else None
    if known is None and alike is not None and alike.writer == forms:
        known = alike
    if known is not None and len(demos) == len(known.demos) and all(map(is_, demos, known.demos)):
        return known
    rendered: dict[int, RenderedDemo] = {}
    pending: list[tuple[Values, DemoUse]] = []
    uses: list[DemoUse] = []
    for number, demo in enumerate(demos, 1):
        entry = known.by_id.get(id(demo)) if known is not None else None
        if entry is None:
            use = demo_use(signature, demo, number)
            pending.append((demo, use))
        else:
            entry = entry if entry.use.number == number else _renumbered(entry, number)
            use = entry.use
            rendered[id(demo)] = entry
        uses.append(use)
    for wanted in ("incomplete", "complete", "dropped"):
        for demo, use in pending:
            if use.use == wanted:
                other = alike.by_id.get(id(demo)) if alike is not None else None
                asked = other.messages[0] if other is not None and other.messages and other.use == use else None
                rendered[id(demo)] = _render_demo(adapter, signature, demo, use, expand, asked)
    messages: list[Message] = []
    for wanted in ("incomplete", "complete"):
        for demo, use in zip(demos, uses, strict=True):
            if use.use == wanted:
                entry = rendered[id(demo)]
                messages.extend(entry.messages if entry.use is use else _renumbered(entry, use.number).messages)
    is_alone = known is not None and known.writer is adapter
    if is_alone or not all(JSON_TYPES.issuperset(map(type, demo.values())) for demo, _ in pending):
        forms = None
    made = RenderedDemos(forms or adapter, key, rendered, tuple(demos), tuple(messages), tuple(uses))
    if reuse is not None and forms is not None:
        _in_use[forms[0], key] = made
    return made


def _render_demo(
    adapter: RequestedAdapter, signature: Signature, demo: Values, use: DemoUse, expand: bool, asked: Message | None
) -> RenderedDemo:
    """Render a demo's messages; `asked` is the first if another adapter made it."""
    if use.use == "dropped":
        return RenderedDemo(demo, use, ())
    turn = f"demo {use.number}"
    is_complete = use.use == "complete"
    if asked is None:
        user = (
            adapter.format_user_message_content(signature, demo)
            if is_complete
            else adapter.format_user_message_content(signature, demo, prefix=INCOMPLETE_DEMO)
        )
        asked = message_of("user", turn, user)
        asked = expanded(asked) if expand else asked
    missing = NOT_SUPPLIED_IN_HISTORY if is_complete else NOT_SUPPLIED
    answer = adapter.format_assistant_message_content(signature, demo, missing_field_message=missing)
    return RenderedDemo(demo, use, (asked, message_of("assistant", turn, answer)))


def _renumbered(entry: RenderedDemo, number: int) -> RenderedDemo:
    turn = f"demo {number}"
    messages = tuple([Message(one.role, turn, one.parts, one.is_list, one.extra) for one in entry.messages])
    return RenderedDemo(entry.demo, DemoUse(number, entry.use.use, entry.use.missing), messages)


def history_messages(
    adapter: RequestedAdapter, signature: Signature, field: str, inputs: dict[str, Any]
) -> tuple[Message, ...]:
    """Render a user and an assistant message per turn, with tool calls; remove `field` from `inputs`.

    `signature` must not contain the history field. A turn with an input includes the reminder of the output format, so
    that a provider's prompt cache recognises the original request.
    """
    turns = inputs[field].messages if field in inputs else None
    if turns is None:
        return ()
    messages: list[Message] = []
    for number, turn in enumerate(turns, 1):
        messages.extend(_turn_messages(adapter, signature, turn, f"history {number}"))
    del inputs[field]
    return tuple(messages)


def _turn_messages(adapter: RequestedAdapter, signature: Signature, values: Values, turn: str) -> list[Message]:
    calls_field: str | None = None
    calls: Any = None
    for name, value in values.items():
        if is_named(type(value), "ToolCalls"):
            calls_field, calls = name, value
            break
        if isinstance(value, dict) and "tool_calls" in value:
            from adapters.types.tools import ToolCalls

            calls_field, calls = name, ToolCalls.model_validate(value)
            break
    results = None if calls is None else calls.tool_call_results
    if results is not None and not is_named(type(results), "ToolCallResults"):
        from adapters.types.tools import ToolCallResults

        results = ToolCallResults.model_validate(results)
    messages: list[Message] = []
    has_input = any(name in values for name in signature.input_fields)
    asked = adapter.format_user_message_content(signature, values, main_request=has_input)
    if asked:
        messages.append(message_of("user", turn, asked))
    if adapter.use_native_function_calling and calls is not None:
        return messages + _native_messages(adapter, signature, values, turn, calls, results)
    answers = values
    if calls_field is not None and calls is not None and results is not None:
        answers = {**values, calls_field: calls.model_copy(update={"tool_call_results": None})}
    answer = adapter.format_assistant_message_content(signature, answers)
    if answer:
        messages.append(message_of("assistant", turn, answer))
    if results is not None:
        given = adapter.format_user_message_content(tool_results_signature(), {"tool_call_results": results})
        messages.append(message_of("user", turn, given))
    return messages


def _native_messages(
    adapter: RequestedAdapter, signature: Signature, values: Values, turn: str, calls: Any, results: Any
) -> list[Message]:
    shown = signature
    for name, field in signature.output_fields.items():
        if is_named(field.annotation, "ToolCalls") or values.get(name) is None:
            shown = shown.delete(name)
    content = adapter.format_assistant_message_content(shown, values) if shown.output_fields else ""
    if results is not None:
        call_ids = [call.id for call in calls.tool_calls]
        if call_ids != [result.call_id for result in results.tool_call_results] or not all(call_ids):
            results = None
    messages: list[Message] = []
    if content or results is not None:
        asked = []
        for call in calls.tool_calls if results is not None else ():
            arguments = json.dumps(serialize_for_json(call.args), ensure_ascii=False)
            asked.append({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
        extra: dict[str, Any] = {} if results is None else {"tool_calls": asked}
        messages.append(Message("assistant", turn, (Text.of(content),) if content else (), False, extra))
    if results is not None:
        for result in results.tool_call_results:
            said = result.value
            said = said if isinstance(said, str) else json.dumps(serialize_for_json(said), ensure_ascii=False)
            extra = {"tool_call_id": result.call_id, "name": result.name}
            messages.append(Message("tool", turn, (Text.of(said, "value"),), False, extra))
    return messages

"""TwoStepAdapter as in dspy 3.4.1: prose for the main model, then extraction by a second model through Chat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar

from adapters.errors import AdapterParseError, NeedsExtraction, Pieces
from adapters.formats.base import Adapter, Callback, is_own, reading_of_parse
from adapters.formats.calling import ask_async
from adapters.formats.chat import ChatAdapter
from adapters.formats.json import JSONAdapter
from adapters.formats.profile import EXTRACTION_OPTION, SHARED_OPTIONS, Card, Opening, Profile
from adapters.json_text.json_loading import load_json
from adapters.late_dataclasses import replace
from adapters.prompts.field_descriptions import described, joined
from adapters.prompts.text import Demos, Prompt, Segment, Text, Values, join, message_dicts, message_of, value_segment
from adapters.replies.reading import FieldReading, Reading, ReadingError, Span
from adapters.signatures.signature import Field, Signature
from adapters.tools.tools import tool_output_field

NEEDS_EXTRACTION = "needs extraction: a second model has yet to take the fields out of this text"


PROFILE = Profile(
    about="prose first; a second call takes the values out of it",
    card=Card(
        "Two models: the first answers in prose, the second takes the fields out of it.",
        "A plain description of inputs and outputs; no markers and no examples of a form.",
        "Nothing by itself: a second call, through Chat, extracts the fields from the prose.",
        ("with models that reason well and format badly", "where a form in the prompt makes the answers worse"),
        ("where latency or cost matters: every answer is two calls", "where the values must be verbatim"),
    ),
    inputs="prose",
    reply="prose",
    options=(*SHARED_OPTIONS, EXTRACTION_OPTION),
    history="printed",
    quirks=frozenset(("demos-show-field-names",)),
    openings=(
        Opening(
            "You are a helpful assistant",
            "The opening",
            "The first of two models is only asked to think and to write: in its own words, in any form. No markers, "
            "no JSON. That suits models which reason well and format badly.",
        ),
        Opening(
            "As input, you will",
            "The inputs",
            "What the model will be given: every input of the signature by name, with its type and description.",
        ),
        Opening(
            "Your outputs must contain",
            "The outputs",
            "What must be found in the answer, somewhere: every output by name, with its type and description.",
        ),
        Opening(
            "You should lay out",
            "The hand-over",
            "A second, cheaper model will read the answer and take the fields out of it, so it must be clear.",
        ),
        Opening(
            "Specific instructions",
            "The objective",
            "The task itself: the docstring of the signature, word for word.",
        ),
    ),
)


class TwoStepAdapter(Adapter):
    """An adapter with a second model for extraction; `parse` calls it, `read` gets its reply as an argument."""

    name: ClassVar[str] = "twostep"
    profile: ClassVar[Profile] = PROFILE
    demo_forms: ClassVar[tuple[str, str] | None] = ("prose", "prose")

    def __init__(
        self,
        extraction_model: object = None,
        callbacks: Sequence[Callback] | None = None,
        use_native_function_calling: bool = False,
        native_response_types: Sequence[type] | None = None,
        parallel_tool_calls: bool | None = None,
    ) -> None:
        super().__init__(callbacks, use_native_function_calling, native_response_types, parallel_tool_calls)
        self.extraction_model = extraction_model

    def _render(self, signature: Signature, demos: Demos, inputs: Values, reuse: Prompt | None) -> Prompt:
        system = message_of("system", "system", self.format_task_description(signature))
        shown_demos = self._demos(signature, demos, reuse, expand=False)
        last = message_of("user", "inputs", self.format_user_message_content(signature, inputs))
        return Prompt((system, *shown_demos.messages, last), shown_demos.uses, reusable=shown_demos)

    def read(
        self, signature: Signature, completion: str, extraction: str | None = None, extracted_by: str = ChatAdapter.name
    ) -> Reading:
        """Parse the main reply by its `extraction` reply; without one, the verdict is `NeedsExtraction`.

        `extracted_by` is the adapter that requested the extraction: `chat`, or `json` after the fallback.
        """
        signature = Signature.of(signature)
        if not is_own(self.parse, TwoStepAdapter.parse):
            return super().read(signature, completion)
        if not isinstance(completion, str):
            return replace(reading_of_parse(self.name, signature, completion, self._parse_other), reader=self)
        spans = (Span(0, len(completion), "prose"),) if completion else ()
        if extraction is None:
            waiting = NeedsExtraction(NEEDS_EXTRACTION)
            verdict = ReadingError("NeedsExtraction", NEEDS_EXTRACTION)
            fields = {name: FieldReading(name, "unread") for name in signature.output_fields}
            return Reading(
                self.name, signature, completion, {}, spans, fields, verdict, waiting, form="prose", reader=self
            )
        inner = extraction_adapter(extracted_by).read(extraction_signature(signature), extraction)
        return self.reading_of(signature, completion, inner)

    def reading_of(self, signature: Signature, completion: str, inner: Reading) -> Reading:
        """Make the parse result of the main reply, with the values and verdict of the extraction `inner`."""
        spans = (Span(0, len(completion), "prose"),) if completion else ()
        exception = inner.exception
        error = inner.error
        if isinstance(exception, AdapterParseError):
            exception = _failure(signature, completion, exception)
            exception.__cause__ = inner.exception
        if error is not None:
            error = replace(error, start=None, end=None)
        return Reading(
            self.name,
            signature,
            completion,
            inner.values,
            spans,
            inner.fields,
            error,
            exception,
            inner,
            form="prose",
            reader=self,
        )

    def read_with_calls(self, signature: Signature, completion: str) -> Reading:
        return replace(reading_of_parse(self.name, signature, completion, self.parse), form="prose", reader=self)

    def parse(self, signature: Signature, completion: str) -> dict[str, object]:
        """Call `extraction_model` through ChatAdapter, including its JSON fallback, as dspy does."""
        signature = Signature.of(signature)
        try:
            inner = extraction_signature(signature).made_by_a_call()
            return ChatAdapter()(self.extraction_model, {}, inner, [], {"text": completion})[0]
        except AdapterParseError as error:
            raise _failure(signature, completion, error) from error

    async def acall(
        self, lm: object, lm_kwargs: dict[str, object], signature: Signature, demos: Demos, inputs: Values
    ) -> list[dict[str, object]]:
        """Await both models. As in dspy, does not prepare a request or fill in defaults, unlike `__call__`.

        Rule: `dspy.adapters.two_step_adapter.TwoStepAdapter.acall`.
        """
        signature = Signature.of(signature)
        outputs = await ask_async(lm, message_dicts(self.format(signature, demos, inputs)), lm_kwargs)
        asked, calls_field = extraction_signature(signature).made_by_a_call(), tool_output_field(signature)
        found: list[dict[str, object]] = []
        for output in outputs:
            given: Mapping[str, Any] = output if isinstance(output, dict) else {"text": output}
            try:
                extracted = await ChatAdapter().acall(self.extraction_model, {}, asked, [], {"text": given["text"]})
            except AdapterParseError as error:
                raise _failure(signature, str(output), error) from error
            values = extracted[0]
            if given.get("tool_calls") and calls_field:
                calls = [
                    {"name": call["function"]["name"], "args": load_json(call["function"]["arguments"])}
                    for call in given["tool_calls"]
                ]
                values[calls_field] = signature.output_fields[calls_field].annotation.from_dict_list(calls)
            if given.get("logprobs") is not None:
                values["logprobs"] = given["logprobs"]
            found.append(values)
        return found

    def format_task_description(self, signature: Signature) -> str:
        return _task(signature)

    def format_user_message_content(
        self, signature: Signature, inputs: Values, prefix: str = "", suffix: str = "", main_request: bool = False
    ) -> str:
        lines = _lines(signature.input_fields, inputs)
        if not prefix and not suffix:
            return lines.strip()
        return joined((prefix, lines, suffix) if lines else (prefix, suffix))

    def format_assistant_message_content(
        self, signature: Signature, outputs: Values, missing_field_message: str | None = None
    ) -> str:
        return _lines(signature.output_fields, outputs).strip()


def _failure(signature: Signature, completion: str, error: AdapterParseError) -> AdapterParseError:
    message = Pieces(("Failed to parse response from the original completion: ", error))
    return AdapterParseError("TwoStepAdapter", signature, completion, message)


def _lines(fields: Mapping[str, Field], values: Values) -> Text:
    segments: list[Segment] = []
    add = segments.append
    for name in fields:
        if name in values:
            first, following = _names(name)
            add(following if segments else first)
            add(value_segment(f"{values[name]}", name))
    return Text(segments)


@lru_cache(maxsize=4096)
def _names(name: str) -> tuple[Segment, Segment]:
    return Segment(f"{name}: ", "name", name), Segment(f"\n\n{name}: ", "name", name)


@lru_cache(maxsize=512)
def _task(signature: Signature) -> Text:
    parts = [
        Text.of("You are a helpful assistant that can solve tasks based on user input.", "boilerplate"),
        Text.of("As input, you will be provided with:\n", "boilerplate") + described(signature.inputs_only),
        Text.of("Your outputs must contain:\n", "boilerplate") + described(signature.outputs_only),
        Text.of(
            "You should lay out your outputs in detail so that your answer can be understood by another agent",
            "boilerplate",
        ),
    ]
    if signature.instructions:
        specific = Segment("Specific instructions: ", "boilerplate")
        parts.append(Text((specific, Segment(signature.instructions, "instructions"))))
    return join("\n", parts)


def extraction_adapter(name: str) -> Adapter:
    """Make the adapter that parses an extraction: Chat, or JSON after the fallback."""
    return JSONAdapter() if name == JSONAdapter.name else ChatAdapter()


_TEXT = Field("text", "input")
"""The input of an extraction: one object, by which texts about the fields are cached."""


@lru_cache(maxsize=512)
def extraction_signature(signature: Signature) -> Signature:
    """Make the signature with input `text` and the outputs, with dspy's instructions for the extraction."""
    outputs = ", ".join([f"`{name}`" for name in signature.output_fields])
    instructions = (
        f"The input is a text that should contain all the necessary information to produce the fields {outputs}. "
        + " " * 12
        + "Your job is to extract the fields from the text verbatim. Extract precisely the appropriate value (content) "
        "for each field."
    )
    # As in dspy, an output named `text` replaces the input.
    fields = {"text": _TEXT, **signature.output_fields}
    return Signature.make(fields.values(), instructions)

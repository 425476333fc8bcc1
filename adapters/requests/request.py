"""Prepare the exact request before any call, and convert its reply to values."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from operator import is_
from typing import Any, NamedTuple

from adapters.errors import AdapterParseError
from adapters.json_text.json_loading import load_json
from adapters.late_dataclasses import replace
from adapters.prompts.text import Prompt, member_of
from adapters.replies.reading import FieldReading, Reading, ReadingError, Span
from adapters.replies.tokens import tokens_of
from adapters.requests.calls import Outcome, Output, Request, RequestedAdapter
from adapters.requests.capabilities import NONE, Capabilities
from adapters.requests.decisions import Decisions, decisions_of
from adapters.signatures.signature import MISSING, Signature
from adapters.tools.tools import (
    RunTool,
    add_calls_output,
    add_tool_fields,
    request_tools,
    set_tool_input,
    tool_input_field,
    tool_output_field,
    without,
)
from adapters.types.recognition import is_custom_type, is_named
from adapters.values.plain_json import Step

TOOL_PARAMS = ("tools", "tool_choice", "parallel_tool_calls")

__all__ = ["Capabilities", "Outcome", "Request", "postprocess", "prepare", "read_reply"]


Read = Callable[[Signature, str], Reading]
"""The parser of a reply's text."""


class ModelFacts(NamedTuple):
    """Model facts for `adapt_to_native_lm_feature` of custom types, under dspy's attribute names."""

    model: str
    model_type: str
    kwargs: Mapping[str, Any]
    supports_function_calling: bool
    supports_reasoning: bool
    supports_response_schema: bool
    supported_params: frozenset[str]


def prepare(
    adapter: RequestedAdapter,
    signature: Signature,
    demos: Sequence[Mapping[str, Any]],
    inputs: Mapping[str, Any],
    capabilities: Capabilities = NONE,
    *,
    model: str | None = None,
    params: Mapping[str, Any] | None = None,
    model_params: Mapping[str, Any] | None = None,
    model_type: str = "chat",
    reuse: Prompt | None = None,
    tools: Sequence[RunTool] = (),
    held: bool = False,
) -> Request:
    """Prepare the request for a call, without calling anything.

    `params` are the call's (`config` of `dspy.Predict`); if `held`, they are those of `dspy.LM(…)`, and no adapter
    removes any. `model_params` are consulted but not sent: a model adds its own. `tools` are the run's: native if
    adapter and model support it, else in an input field, with an output field for `dspy.ToolCalls`.

    Raises dspy's errors for tools without inputs and during formatting, and ValueError for decisions with invalid
    settings or without a description. Rule: `dspy.adapters.base.Adapter._call_preprocess` and JSONAdapter's tiers of
    `response_format`.
    """
    if adapter.whole_call is not None:
        return adapter.whole_call.request(capabilities, model, reuse)
    decisions = decisions_of(signature)
    if decisions is not None:
        signature, demos = decisions.with_examples(demos), ()
    sent: dict[str, Any] = dict(params or {})
    of_the_model = {name: sent.pop(name) for name in TOOL_PARAMS if held and name in sent}
    facts = ModelFacts(
        model or "",
        model_type,
        dict(model_params or {}),
        capabilities.function_calling,
        capabilities.reasoning,
        capabilities.response_schema,
        capabilities.params,
    )
    asked, added = add_tool_fields(signature) if tools else (signature, ())
    # A strict schema of only the signature's outputs would forbid the tool calls that the prompt asks for as text.
    natively = adapter.use_native_function_calling and capabilities.function_calling
    is_text = not natively and tool_output_field(asked) in added
    chosen = adapter.response_format(
        signature, replace(capabilities, response_schema=False) if is_text else capabilities
    )
    if chosen is not None:
        sent["response_format"] = chosen
    values = set_tool_input(asked, inputs, tools) if tools else inputs
    processed = _add_native_tools(adapter, asked, values, facts, sent)
    for name, annotation in _native_outputs(adapter, processed):
        processed = annotation.adapt_to_native_lm_feature(processed, name, facts, sent)
    calls_field = tool_output_field(processed) if tools else None
    if tools and "tools" in sent:
        # The whole schema of each tool, of which dspy's description keeps only the arguments.
        whole = {one["function"]["name"]: one for one in request_tools(tools)}
        sent["tools"] = [whole.get(one["function"]["name"], one) for one in sent["tools"]]
    prompt = adapter.render(processed, demos, values, reuse)
    if sent.get("parallel_tool_calls") is not None:
        sent.setdefault("tool_choice", "auto")
    removed = tuple([name for name in signature.fields if name not in processed.fields])
    return Request(prompt, {**of_the_model, **sent}, without(processed, added), removed, model, calls_field, decisions)


def _add_native_tools(
    adapter: RequestedAdapter, signature: Signature, inputs: Mapping[str, Any], facts: ModelFacts, sent: dict[str, Any]
) -> Signature:
    """Move the tools from the prompt to the request; without native tools, drop their parameters."""
    if adapter.use_native_function_calling:
        given, wanted = tool_input_field(signature), tool_output_field(signature)
        if wanted is None:
            return signature
        if given is None:
            raise ValueError(
                f"You provided an output field {wanted} to receive the tool calls information, but did not provide any "
                "tools as the input. Please provide a list of tools as the input by adding an input field with type "
                "`list[dspy.Tool]`."
            )
        if facts.supports_function_calling:
            tools = inputs[given] if isinstance(inputs[given], list) else [inputs[given]]
            sent["tools"] = [one.format_as_litellm_function_call() for one in tools]
            if adapter.parallel_tool_calls is not None and sent.get("parallel_tool_calls") is None:
                sent["parallel_tool_calls"] = adapter.parallel_tool_calls
            return signature.delete(wanted).delete(given)
    for key in TOOL_PARAMS:
        sent.pop(key, None)
    return signature


def _native_outputs(adapter: RequestedAdapter, signature: Signature) -> list[tuple[str, Any]]:
    """Return names and types of the outputs that come from the response itself, if provided."""
    custom, wanted = _custom_outputs(signature.outputs_only), adapter.native_response_types
    if wanted is not None:
        return [one for one in custom if one[1] in wanted]
    return [one for one in custom if is_named(one[1], "Citations") or is_named(one[1], "Reasoning")]


@lru_cache(maxsize=512)
def _custom_outputs(half: Signature) -> tuple[tuple[str, Any], ...]:
    return tuple([(name, one.annotation) for name, one in half.fields.items() if is_custom_type(one.annotation)])


def read_reply(adapter: RequestedAdapter, request: Request, text: str) -> Reading:
    """Parse a text reply to `request`; tool calls become a field, but no value.

    Calls of the session's tools never change the verdict: a reply with no or invalid calls parses as it would without
    tools.
    """
    if request.whole_call is not None:
        return request.whole_call.outcome(request, request.signature, text).reading
    name = request.calls_field
    if name is None or name in request.signature.output_fields:
        return adapter.read(request.signature, text)
    reading = adapter.read(request.asked, text)
    calls = reading.fields.get(name)
    if calls is not None and calls.state == "failed":
        reading = adapter.read(add_calls_output(request.signature, name, Any), text)
    elif calls is None or calls.state != "read":
        return adapter.read(request.signature, text)
    if reading.error is not None and reading.error.field == name:
        return adapter.read(request.signature, text)
    values = {one: value for one, value in reading.values.items() if one != name}
    return replace(reading, signature=request.asked, values=values, fields={**reading.fields, name: calls})


def postprocess(
    adapter: RequestedAdapter, request: Request, signature: Signature, output: Output, read: Read | None = None
) -> Outcome:
    """Convert a completion to values: parse, fill defaults, add native results, decide.

    Native results are tool calls, reasoning and citations. `output` is the text, or dspy's dict (`text`, `tool_calls`,
    `reasoning_content`, `citations`, `logprobs`). Never raises: failures are in the parse result. Rules:
    `dspy.adapters.base.Adapter._call_postprocess`, and `dspy.adapters.decision.DecisionAdapter._decode` if the request
    asked for evidence.
    """
    if request.whole_call is not None:
        return request.whole_call.outcome(request, signature, output)
    decisions = request.decisions
    outcome = _postprocessed(adapter, request, signature if decisions is None else decisions.asked, output, read)
    if decisions is not None:
        outcome = _decided(decisions, outcome)
    tokens = tokens_of(outcome.reading.completion, output.get("logprobs")) if isinstance(output, Mapping) else ()
    return replace(outcome, reading=replace(outcome.reading, tokens=tokens)) if tokens else outcome


def first_failure(outcomes: Sequence[Outcome]) -> Reading | None:
    """Return the parse result that fails several completions: parse errors before undecided ones."""
    failed = [one for one in outcomes if not one.reading.ok]
    return min(failed, key=lambda one: one.is_undecided).reading if failed else None


def _decided(decisions: Decisions, outcome: Outcome) -> Outcome:
    reading = outcome.reading
    if not reading.ok:
        return outcome
    values, decided, fields = dict(outcome.values), dict(reading.values), dict(reading.fields)
    for name, decision in decisions.by_name.items():
        try:
            values[name] = decided[name] = decision.value_of(outcome.values[name])
        except Exception as error:  # as in dspy, evidence that decides nothing raises any error
            wrong = ReadingError(type(error).__name__, str(error), name)
            return Outcome({}, replace(reading, values={}, error=wrong, exception=error), is_undecided=True)
        note = f"{decision.parameter} {json.dumps(decision.settings[decision.parameter])}"
        step = Step(decision.parameter, outcome.values[name], values[name], note=note)
        fields[name] = fields[name]._replace(value=values[name], coercions=(*fields[name].coercions, step))
    return Outcome(values, replace(reading, values=decided, fields=fields))


def _postprocessed(
    adapter: RequestedAdapter, request: Request, signature: Signature, output: Output, read: Read | None
) -> Outcome:
    text = output.get("text") if isinstance(output, Mapping) else output
    tool_calls = output.get("tool_calls") if isinstance(output, Mapping) else None
    tools_field = tool_output_field(signature)
    natively = bool(tool_calls and tools_field)
    if not text and not natively:
        message = "The LM returned an empty or null response."
        error = AdapterParseError(type(adapter).__name__, signature, str(output), message)
        called = tuple(str(provider_tool_call(one)["name"]) for one in member_of(output, "tool_calls") or ())
        unread = _unread(adapter, signature, output if isinstance(output, str) else "")
        wrong = ReadingError("AdapterParseError", message)
        return Outcome({}, replace(unread, error=wrong, exception=error, called=called))
    if natively and not (text and request.signature.output_fields):
        reading = _unread(adapter, request.signature, text or "")
    else:
        reading = read_reply(adapter, request, text or "") if read is None else read(request.signature, text or "")
    if natively and isinstance(reading.exception, AdapterParseError):
        reading = replace(reading, values={}, error=None, exception=None)
    if reading.exception is not None:
        return Outcome({}, reading)
    try:
        values = _all_outputs(adapter, signature, reading.values, output, tool_calls if natively else None)
    except Exception as error:  # e.g. dspy's TypeError for a text that mentions `reasoning_content`: it is the verdict
        wrong = ReadingError(type(error).__name__, str(error))
        return Outcome({}, replace(reading, values={}, error=wrong, exception=error))
    native = {
        name: FieldReading(name, "native", value=values[name])
        for name in signature.output_fields
        if name not in request.signature.output_fields
    }
    if not native and list(values) == list(reading.values) and all(map(is_, values.values(), reading.values.values())):
        return Outcome(values, reading)
    outputs = {key: value for key, value in values.items() if key in signature.output_fields}
    return Outcome(values, replace(reading, values=outputs, fields={**reading.fields, **native}))


def _all_outputs(
    adapter: RequestedAdapter,
    signature: Signature,
    read: Mapping[str, Any],
    output: object,
    tool_calls: Sequence[Any] | None,
) -> dict[str, Any]:
    outputs = signature.output_fields
    found = {name: read[name] if name in read else field.fallback() for name, field in outputs.items()}
    values = {name: value for name, value in found.items() if value is not MISSING}
    for name in outputs if len(values) < len(outputs) else ():
        values.setdefault(name, None)
    tools_field = tool_output_field(signature)
    if tool_calls and tools_field:
        calls = [provider_tool_call(one) for one in tool_calls]
        annotation = signature.output_fields[tools_field].annotation
        values[tools_field] = annotation.from_dict_list(calls)
    for name, kind in _native_outputs(adapter, signature):
        native = kind.parse_lm_response(output)
        if native is not None:
            values[name] = native
    if isinstance(output, Mapping) and output.get("logprobs"):
        values["logprobs"] = output["logprobs"]
    return values


def provider_tool_call(call: object) -> dict[str, Any]:
    """Convert a provider's tool call to dspy's `{"id", "name", "args"}`; json_repair parses arguments in text."""
    function = member_of(call, "function") or {}
    arguments = member_of(function, "arguments") or member_of(call, "arguments")
    if isinstance(arguments, str):
        arguments = load_json(arguments)
    elif not isinstance(arguments, dict):
        arguments = {}
    name = member_of(function, "name") or member_of(call, "name")
    return {"id": member_of(call, "call_id") or member_of(call, "id"), "name": name, "args": arguments}


def _unread(adapter: RequestedAdapter, signature: Signature, text: str) -> Reading:
    """Return a parse result for text beside a native tool call, which is ignored."""
    fields = {name: FieldReading(name, "missing") for name in signature.output_fields}
    spans = (Span(0, len(text), "ignored"),) if text else ()
    return Reading(adapter.name, signature, text, {}, spans, fields, reader=adapter)

"""Read the model calls in exported traces: OpenTelemetry, OpenInference, MLflow, Langfuse, LangSmith.

Spans are recognised by their own keys, in any wrapper: OTLP as JSON (spans, and the log records in which older GenAI
conventions put messages), spans of OpenTelemetry's Python SDK and of Phoenix, MLflow's traces, Langfuse's
observations, LangSmith's runs. Only messages, replies, models and parameters are imported; headers, resources and other
spans are not.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypedDict

from adapters.late_dataclasses import dataclass, field
from sessions.imports.reading import decoded, dict_in, list_in, objects_in
from sessions.imports.trace_messages import DEEPEST, messages_in, messages_of, reply_message, text_in, tool_calls_in

SPANS_BELOW = (
    *("resourceSpans", "scopeSpans", "spans", "resourceLogs", "scopeLogs", "logRecords"),
    *("data", "traces", "observations", "runs", "child_runs"),
)
"""Keys under which files nest spans."""
PARAMETERS = ("temperature", "top_p", "max_tokens", "seed", "frequency_penalty", "presence_penalty", "stop", "tools")
MESSAGE_EVENT = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message")
CHOICE_EVENT = "gen_ai.choice"
ERRORS = (2, "ERROR", "STATUS_CODE_ERROR")
PREDICTOR = re.compile(r"\w+\((\w+)\)\.(?:forward|__call__)")
"""The name that OpenInference gives the span of a predictor: `Predict(Sort).forward`."""
PROVIDERS = {
    **{name: name for name in ("anthropic", "cohere", "deepseek", "groq", "openai", "perplexity")},
    "aws.bedrock": "bedrock",
    "azure.ai.openai": "azure",
    "gcp.gemini": "gemini",
    "gcp.vertex_ai": "vertex_ai",
    "google_genai": "gemini",
    "mistral_ai": "mistral",
    "x_ai": "xai",
}
"""The prefix of a model's name for each provider in GenAI's conventions and LangSmith."""
PARENTS = ("parentSpanId", "parent_span_id", "parent_id", "parentObservationId", "parent_run_id")
STARTS = ("startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime")


class HistoryEntry(TypedDict):
    """A call in the shape of an entry of dspy's `lm.history`."""

    messages: list[dict[str, Any]]
    outputs: list[Any]
    model: str | None
    kwargs: dict[str, Any]


@dataclass(frozen=True)
class TracedCall:
    """A model call found in a trace."""

    entry: HistoryEntry
    predictor: str = ""
    """The signature's name, if the trace has it."""
    failure: str = ""
    """The error of the call, or of the step whose last call it was; empty without an error."""


@dataclass(frozen=True)
class _Span:
    id: str
    parent: str
    name: str
    start: str
    failure: str
    own: Mapping[str, Any]
    attributes: Mapping[str, Any]
    """Nested by the dots of their names: `llm.model_name` is `model_name` in `llm`."""


@dataclass
class _Found:
    """The spans of a file, and the messages in its log records by span id."""

    spans: dict[str, _Span] = field(default_factory=dict)
    messages: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    replies: dict[str, object] = field(default_factory=dict)


def is_trace(data: object) -> bool:
    """Return whether JSON is a span or contains spans."""
    return next(_records(data), None) is not None


def calls_in(documents: Iterable[object]) -> list[TracedCall]:
    """Return the model calls of all documents by start time. Each line of JSON Lines is a document."""
    found = _Found()
    for data in documents:
        for record in _records(data):
            _gather(record, found)
    entries = {
        span.id: entry
        for span in sorted(found.spans.values(), key=lambda one: one.start)
        if (entry := _entry(span, found)) is not None
    }
    failures: dict[str, str] = {}
    last_below: dict[str, str] = {}
    for id in entries:
        failing = next((one for one in _line(id, found.spans) if one.failure), None)
        if failing is not None:
            failures.pop(last_below.get(failing.id, ""), None)
            last_below[failing.id] = id
            failures[id] = failing.failure
    calls: list[TracedCall] = []
    for id, entry in entries.items():
        named = (PREDICTOR.fullmatch(one.name) for one in _line(id, found.spans))
        predictor = next((one[1] for one in named if one is not None and one[1] != "StringSignature"), "")
        calls.append(TracedCall(entry, predictor, failures.get(id, "")))
    return calls


def _records(data: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """Yield the spans and log records in JSON."""
    if depth > DEEPEST:
        return
    if isinstance(data, list):
        for one in data:
            yield from _records(one, depth + 1)
    elif isinstance(data, dict):
        if "context.span_id" in data:  # a row of Phoenix's table of spans
            data = _nested(data)
        if _id_of(data):
            yield data
        for key in SPANS_BELOW:
            if isinstance(data.get(key), list | dict):
                yield from _records(data[key], depth + 1)


def _id_of(record: Mapping[str, Any]) -> str:
    """Return the span id of a span or log record; "" for other JSON."""
    is_observation = "traceId" in record and isinstance(record.get("type"), str)
    named = record.get("id") if is_observation or "run_type" in record else None
    ids = (record.get("spanId"), record.get("span_id"), dict_in(record.get("context")).get("span_id"), named)
    return next((one for one in ids if isinstance(one, str)), "")


def _gather(record: Mapping[str, Any], found: _Found) -> None:
    id, attributes = _id_of(record), _attributes(record.get("attributes"))
    event = record.get("eventName") or record.get("event_name") or attributes.get("event.name")
    events = [(event, _plain(record.get("body")))] if isinstance(event, str) else []
    if not events:
        own = objects_in(record.get("events"))
        events = [(str(one.get("name")), _attributes(one.get("attributes"))) for one in own]
        parent = next((record[key] for key in PARENTS if isinstance(record.get(key), str)), "")
        start = next((str(record[key]) for key in STARTS if record.get(key)), "")
        nested = _nested(attributes)
        found.spans[id] = _Span(
            id, parent, str(record.get("name") or ""), start, _failure(record, events), record, nested
        )
    for name, body in events:
        if not isinstance(body, dict):
            continue
        if role := MESSAGE_EVENT.fullmatch(name):
            found.messages[id] += messages_of({"role": role[1], "content": "", **body})
        elif name == CHOICE_EVENT:
            found.replies[id] = body.get("message")


def _failure(record: Mapping[str, Any], events: Sequence[tuple[str, Any]]) -> str:
    """Return the first line of a span's error, or ""."""
    status = dict_in(record.get("status")) or {
        "code": record.get("status_code"),
        "message": record.get("status_message"),
    }
    told = [body.get("exception.message") for name, body in events if name == "exception" and isinstance(body, dict)]
    marked = {**_attributes(record.get("attributes")), **record}
    is_failed = status.get("code", status.get("status_code")) in ERRORS
    is_failed = is_failed or "ERROR" in (marked.get("level"), marked.get("langfuse.observation.level"))
    told += [status.get("message"), status.get("description"), marked.get("statusMessage")]
    told.append(marked.get("langfuse.observation.status_message"))
    if isinstance(record.get("error"), str) and record["error"]:
        is_failed, told = True, [record["error"], *told]
    said = next((one for one in told if isinstance(one, str) and one.strip()), "it failed")
    return said.strip().splitlines()[0] if is_failed else ""


def _line(id: str, spans: Mapping[str, _Span]) -> Iterator[_Span]:
    """Yield a span and its ancestors, innermost first."""
    for _ in range(DEEPEST):
        if id not in spans:
            return
        yield spans[id]
        id = spans[id].parent


def _entry(span: _Span, found: _Found) -> HistoryEntry | None:
    """Return the model call in a span; None for other spans, or without messages or a reply."""
    for read in (_openinference, _mlflow, _genai, _langfuse, _langsmith):
        said = read(span)
        if said is None:
            continue
        messages = said.messages or found.messages[span.id]
        reply = said.reply or found.replies.get(span.id)
        text, calls = text_in(reply), tool_calls_in(reply_message(reply))
        if messages and (text or calls):
            params = {key: value for key, value in said.params.items() if key in PARAMETERS and value is not None}
            output = {"text": text, "tool_calls": calls} if calls else text
            return HistoryEntry(messages=messages, outputs=[output], model=said.model or None, kwargs=params)
    return None


@dataclass(frozen=True)
class _Said:
    messages: list[dict[str, Any]]
    reply: object
    """As the trace has it: a text, a message, or a response."""
    model: str
    params: Mapping[str, Any]


def _openinference(span: _Span) -> _Said | None:
    """Read OpenInference's attributes, as Phoenix and its instrumentation of dspy write them.

    That instrumentation leaves tool calls out of the messages, but not out of the call's own arguments and outputs.
    """
    llm = dict_in(span.attributes.get("llm"))
    if "input_messages" not in llm:
        return None
    called, told = (decoded(dict_in(span.attributes.get(key)).get("value")) for key in ("input", "output"))
    inputs, reply = ([_inner(one) for one in list_in(llm.get(key))] for key in ("input_messages", "output_messages"))
    tools = [decoded(dict_in(dict_in(one).get("tool")).get("json_schema")) for one in list_in(llm.get("tools"))]
    params = {**dict_in(decoded(llm.get("invocation_parameters"))), **({"tools": tools} if tools else {})}
    name = _model(llm.get("provider") or llm.get("system"), llm.get("model_name"))
    if isinstance(called, dict) and "kwargs" in called and isinstance(called.get("messages"), list):
        return _Said(messages_in(called["messages"]), told, name, params)
    return _Said(messages_in(inputs), reply, name, params)


def _inner(message: object) -> object:
    """Unwrap OpenInference's message and convert its parts to OpenAI's form."""
    inner = message.get("message", message) if isinstance(message, dict) else message
    if not isinstance(inner, dict) or "contents" not in inner:
        return inner
    return {**inner, "content": [one.get("message_content") for one in objects_in(inner["contents"])]}


def _mlflow(span: _Span) -> _Said | None:
    """Read MLflow's attributes, whose values are JSON."""
    mlflow = dict_in(span.attributes.get("mlflow"))
    inputs = dict_in(decoded(mlflow.get("spanInputs")))
    if "messages" not in inputs:
        return None
    named = [dict_in(mlflow.get("llm")).get("model"), span.attributes.get("model"), inputs.get("model")]
    model = next((one for one in map(decoded, named) if isinstance(one, str)), "")
    params = {key: decoded(value) for key, value in {**inputs, **span.attributes}.items()}
    return _Said(messages_in(inputs["messages"]), decoded(mlflow.get("spanOutputs")), model, params)


def _genai(span: _Span) -> _Said | None:
    """Read the attributes of OpenTelemetry's GenAI conventions, and OpenLLMetry's earlier ones."""
    genai = dict_in(span.attributes.get("gen_ai"))
    if not genai:
        return None
    request, asked, told = (dict_in(genai.get(key)) for key in ("request", "input", "output"))
    messages = messages_in(decoded(asked.get("messages")) if asked else genai.get("prompt"))
    instructions = text_in(decoded(genai.get("system_instructions")))
    if instructions:
        messages.insert(0, {"role": "system", "content": instructions})
    reply = decoded(told.get("messages")) if told else genai.get("completion")
    named = dict_in(genai.get("provider")).get("name") or genai.get("system")
    tools = decoded(dict_in(genai.get("tool")).get("definitions"))
    return _Said(messages, reply, _model(named, request.get("model")), {"tools": tools, **request})


def _langfuse(span: _Span) -> _Said | None:
    """Read a Langfuse observation of type GENERATION, or the span that its SDK sends for it."""
    own = {**span.own, **dict_in(dict_in(span.attributes.get("langfuse")).get("observation"))}
    if str(own.get("type")).upper() != "GENERATION":
        return None
    asked = decoded(own.get("input"))
    messages = asked.get("messages") if isinstance(asked, dict) else asked
    named = dict_in(own.get("model"))  # of the SDK: its name and parameters
    given = decoded(named.get("parameters") or own.get("modelParameters"))
    params = {"tools": dict_in(asked).get("tools"), **dict_in(given)}
    model = str(named.get("name") or (not named and own.get("model")) or own.get("providedModelName") or "")
    return _Said(messages_in(messages), decoded(own.get("output")), model, params)


def _langsmith(span: _Span) -> _Said | None:
    """Read a LangSmith run of type llm."""
    own = span.own
    inputs, extra = dict_in(own.get("inputs")), dict_in(own.get("extra"))
    if own.get("run_type") != "llm" or not inputs:
        return None
    metadata, invocation = (dict_in(extra.get(key)) for key in ("metadata", "invocation_params"))
    model = _model(
        metadata.get("ls_provider"), metadata.get("ls_model_name") or invocation.get("model") or inputs.get("model")
    )
    return _Said(messages_in(inputs.get("messages")), own.get("outputs"), model, {**inputs, **invocation})


def _model(provider: object, name: object) -> str:
    prefix = PROVIDERS.get(str(provider), "")
    return f"{prefix}/{name}" if prefix and isinstance(name, str) and "/" not in name else str(name or "")


def _attributes(value: object) -> dict[str, Any]:
    """Return attributes by name, from a dict or OTLP's list."""
    if isinstance(value, list):
        return {str(one["key"]): _plain(one.get("value")) for one in objects_in(value) if "key" in one}
    return dict_in(value)


def _plain(value: object) -> Any:
    """Unwrap OTLP's `AnyValue`."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    ((kind, inside),) = value.items()
    if kind == "intValue":
        return int(inside) if str(inside).lstrip("-").isdecimal() else inside
    if kind == "arrayValue":
        return [_plain(one) for one in list_in(dict_in(inside).get("values"))]
    if kind == "kvlistValue":
        return _attributes(dict_in(inside).get("values"))
    return inside if kind in ("stringValue", "boolValue", "doubleValue", "bytesValue") else value


def _nested(value: object) -> Any:
    """Nest attributes by the dots in their names; numeric parts become list indexes."""
    if isinstance(value, list):
        return [_nested(one) for one in value]
    if not isinstance(value, dict):
        return value
    root: dict[str, Any] = {}
    for name, one in value.items():
        *folders, last = str(name).split(".")[:DEEPEST]
        place = root
        for folder in folders:
            if not isinstance(place.get(folder), dict):
                place[folder] = {}
            place = place[folder]
        inner = _nested(one)
        known = place.get(last)
        place[last] = {**known, **inner} if isinstance(known, dict) and isinstance(inner, dict) else inner
    return _listed(root)


def _listed(value: object) -> Any:
    if not isinstance(value, dict):
        return value
    inner = {key: _listed(one) for key, one in value.items()}
    if inner and all(key.isdecimal() for key in inner):
        return [inner[key] for key in sorted(inner, key=int)]
    return inner

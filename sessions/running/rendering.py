"""Render a case of a session for an adapter: inputs, demos and the whole request."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from adapters.formats import catalog
from adapters.formats.base import Adapter
from adapters.late_dataclasses import replace
from adapters.lm.capabilities import TOOL_PARAMS, Known, by_other_table, known_of
from adapters.lm.lm_settings import LMSettings, ModelType
from adapters.lm.protocol import HttpRequest
from adapters.lm.wires.dspys_wire import Sent, is_ollama, own_body, sent, text_of
from adapters.prompts.text import Message, Prompt
from adapters.requests.calls import predict_call
from adapters.requests.capabilities import Capabilities
from adapters.requests.request import Request, prepare
from adapters.signatures.agents import NO_STEPS, TRAJECTORY, takes_steps
from adapters.signatures.signature import MISSING, Field, Signature
from adapters.types.recognition import asks_for_types
from adapters.values.custom_types import BuildError, build_inputs
from adapters.values.value_text import write_value
from sessions.errors import SessionError
from sessions.model import variants
from sessions.model.parameters import CONNECTION, check_parameters
from sessions.model.session import Case, Column, Demo, Session
from sessions.releases import adapter as release_adapter
from sessions.releases.adapter import ReleaseAdapter
from sessions.running.tools import described_tools

DEMO_LIMIT = 4096
NO_PROMPT = Prompt(())
"""Passed as `reuse`, it lets adapters share rendered demos: a session's never change."""
TURN_PLACE = re.compile(r"messages\[(\d{1,9})\]")


def inputs_of(signature: Signature, case: Case, adapter: Adapter | None = None) -> dict[str, Any]:
    """Return the inputs that `dspy.Predict` passes to the adapter: the case's, with defaults and history.

    Inputs that Predict itself consumes are left out, and custom types are built. The steps of an agent become a text
    written by `adapter` (None: Chat, as in dspy); they keep their numbers. Raises `adapters.types.BuildError`.
    """
    values = predict_call(signature, case.inputs).inputs
    history = signature.history_field
    if history is not None and case.turns:
        values[history] = {"messages": [dict(turn) for turn in case.turns.values()]}
    elif case.turns and not values.get(TRAJECTORY) and takes_steps(signature):
        steps = {f"{name}_{number - 1}": value for number, turn in case.turns.items() for name, value in turn.items()}
        if signature.input_fields[TRAJECTORY].default == NO_STEPS:
            values[TRAJECTORY] = write_value(str, steps)
        else:  # `dspy.ReAct._format_trajectory`
            own = catalog.make("chat", {}) if adapter is None or isinstance(adapter, ReleaseAdapter) else adapter
            given = Signature.make([*(Field(name, "input", str) for name in steps), Field("x", "output", str)])
            values[TRAJECTORY] = own.format_user_message_content(given, steps)
    for name, field in signature.input_fields.items():
        if name not in values and field.default is not MISSING:
            values[name] = field.default
    if not _has_custom_types(signature):
        return values
    try:
        return build_inputs(signature, values)
    except BuildError as error:
        # Renumber the turn in the path to count disabled turns, too
        found = TURN_PLACE.match(error.path) if error.field == history and case.turns_off else None
        places = [number - 1 for number in case.turns]
        if found is None or int(found[1]) >= len(places):
            raise
        path = f"messages[{places[int(found[1])]}]{error.path[found.end() :]}"
        raise BuildError(error.message, error.hint, error.field, path) from error


def demos_of(session: Session, case: Case | None = None) -> tuple[Mapping[str, Any], ...]:
    """Return the enabled demos for the adapter; the same `Demo` and signature always give the same objects.

    If the `case` has an input `demos`, which dspy.Predict consumes, that replaces them. Raises
    `adapters.errors.SignatureError` and `adapters.types.BuildError`.
    """
    signature = session.signature.read()
    given = predict_call(signature, case.inputs).demos if case is not None and "demos" in case.inputs else None
    if given is not None:
        return tuple([build_inputs(signature, one) for one in given])
    if not _has_custom_types(signature):
        return tuple([one.values for one in session.demos if one.enabled])
    found: list[Mapping[str, Any]] = []
    for one in [one for one in session.demos if one.enabled]:
        key = (id(one), id(signature))
        if key not in _built:
            if len(_built) >= DEMO_LIMIT:
                _built.clear()
            _built[key] = (one, signature, build_inputs(signature, one.values))
        found.append(_built[key][2])
    return tuple(found)


def adapter_of(column: Column, *, allow_code: bool = False) -> Adapter:
    """Return the column's adapter; the same name and options give the same object.

    Raises `adapters.formats.catalog.UnknownAdapterError`, also for options that are not plain values.
    """
    if catalog.parse_release(column.adapter) is not None:
        return release_adapter.make(column)
    try:
        return catalog.make(column.adapter, column.options, allow_code=allow_code)
    except TypeError as error:
        raise catalog.UnknownAdapterError(f"the options of the adapter {column.adapter!r}: {error}") from error


def bound(adapter: Adapter, session: Session, column: Column, case: Case) -> Adapter:
    """Bind an adapter of another dspy release to the case; other adapters need no case."""
    if not isinstance(adapter, ReleaseAdapter):
        return adapter

    def ours(beside: Column, capabilities: Capabilities) -> Sequence[Message]:
        return request_of(session, beside, case, capabilities=capabilities).messages

    return adapter.bound(session, case, column, ours)


def params_of(session: Session, column: Column, case: Case | None = None) -> dict[str, Any]:
    """Return the parameters of `dspy.LM(…)`, without those of the connection (`connection_of`).

    Rule: `dspy.Predict._forward_preprocess` sets a temperature of 0.7 for several completions if the temperature is
    unset or at most 0.15. Inputs of a `case` that Predict consumes as parameters take precedence. Raises
    `adapters.types.BuildError` for inputs that set parameters a session may not set.
    """
    params = {name: value for name, value in session.params_of(column).items() if name not in CONNECTION}
    if case is not None and ("config" in case.inputs or "prediction" in case.inputs):
        given = predict_call(session.signature.read(), case.inputs).params
        try:
            check_parameters(given, "config")
        except SessionError as error:
            raise BuildError(str(error), field="config") from error
        if connection := sorted(CONNECTION & given.keys()):
            raise BuildError(f"an input may not set {connection[0]}", "set it as a parameter of the session", "config")
        params |= given
    temperature, count = params.get("temperature"), params.get("n") or 1
    if count > 1 and (not temperature or temperature <= 0.15):
        params["temperature"] = 0.7
    return params


def capabilities_for(session: Session, column: Column) -> Known:
    """Return the capabilities of the column's model and their source; manual settings take precedence.

    Setting `response_schema` to true implies `response_format`, so it suffices to send a schema to a server.
    """
    settings = session.params_of(column)
    return _set_by_hand(settings, known_of(session.model_of(column), *_api_and_connection(settings)))


def other_request(session: Session, column: Column, case: Case, request: Request, *, waits: bool) -> str:
    """Say that another table of models, fetched or packaged, would change the request; "" without such a change.

    Says nothing for columns of another dspy release, nor, unless it `waits`, where litellm has to be asked first.
    Raises whatever dspy raises while formatting.
    """
    settings = session.params_of(column)
    found = by_other_table(session.model_of(column), *_api_and_connection(settings), waits)
    adapter = adapter_of(column, allow_code=True)
    if found is None or isinstance(adapter, ReleaseAdapter):
        return ""
    can = _set_by_hand(settings, found).capabilities
    if can == capabilities_for(session, column).capabilities:
        return ""
    other = request_of(session, column, case, request.prompt, capabilities=can, adapter=adapter).as_dict()
    mine = request.as_dict()
    changed = ", ".join(sorted([name for name in {**mine, **other} if mine.get(name) != other.get(name)]))
    return f"With {found.said_by}, dspy's request would differ in: {changed}." if changed else ""


def _api_and_connection(settings: Mapping[str, Any]) -> tuple[ModelType, list[str]]:
    """Return the model's API and the names of the settings of the connection in use."""
    used = [name for name in ("api_base", "api_version", "timeout") if settings.get(name) is not None]
    if settings.get("header_variables"):
        used.append("extra_headers")
    return _model_type_in(settings), used


def _set_by_hand(settings: Mapping[str, Any], known: Known) -> Known:
    by_hand = settings.get("capabilities")
    if not by_hand:
        return known
    params = set(known.capabilities.params)
    if by_hand.get("response_format", by_hand.get("response_schema")) is True:
        params.add("response_format")
    elif by_hand.get("response_format") is False:
        params.discard("response_format")
    for name, added in (("function_calling", TOOL_PARAMS), ("reasoning", frozenset({"reasoning_effort"}))):
        if name in by_hand:
            params = params | added if by_hand[name] else params - added
    flags = {name: value for name, value in by_hand.items() if name != "response_format"}
    return Known(replace(known.capabilities, **flags, params=frozenset(params)), "set by hand")


def lm_settings_of(session: Session, column: Column) -> LMSettings:
    """Return the arguments of `dspy.LM` other than the model's name and the parameters."""
    settings = session.params_of(column)
    return LMSettings(
        _model_type_in(settings),
        settings.get("use_developer_role") is True,
        settings.get("header_variables") or {},
    )


def _model_type_in(settings: Mapping[str, Any]) -> ModelType:
    found: ModelType = settings.get("model_type") or "chat"
    return found


def connection_of(session: Session, column: Column) -> dict[str, Any]:
    """Return the parameters of the connection (`api_base`, `timeout`, …), which are not part of the request."""
    return {name: value for name, value in session.params_of(column).items() if name in CONNECTION}


def request_of(
    session: Session,
    column: Column,
    case: Case,
    reuse: Prompt | None = None,
    *,
    capabilities: Capabilities | None = None,
    adapter: Adapter | None = None,
) -> Request:
    """Build the request for sending `case` in `column`, without calling a model.

    `capabilities` replace those of `capabilities_for`; `adapter` replaces the column's; `reuse` is the prompt of an
    earlier request of this column, whose unchanged demos are reused. Demos and turns are numbered as in the session.
    Raises SignatureError, UnknownAdapterError, BuildError, whatever dspy raises while formatting, and ValueError for
    messages with non-text content if the model type is `text`.
    """
    used = bound(adapter or adapter_of(column), session, column, case)
    if column.variant is not None:
        session = variants.session_of(session, column)
    signature = session.signature.read()
    model, model_type = session.model_of(column), _model_type_in(session.params_of(column))
    request = prepare(
        used,
        signature,
        demos_of(session, case),
        inputs_of(signature, case, used),
        capabilities_for(session, column).capabilities if capabilities is None else capabilities,
        model=model,
        params=params_of(session, column, case),
        model_type=model_type,
        reuse=reuse or NO_PROMPT,
        tools=described_tools(session),
        held=True,
    )
    if model_type == "text" and not model.startswith("offline/"):
        text_of(request.as_dict())
    return request if used.whole_call is not None else numbered_as_in(session, case, request)


def own_messages(
    session: Session, column: Column, case: Case, capabilities: Capabilities | None
) -> tuple[Message, ...]:
    """Return our adapter's messages, which have origins; empty if it cannot make them."""
    try:
        return request_of(session, column, case, capabilities=capabilities).messages
    except Exception:  # formatting raises whatever dspy's does; the verdict `render` and the engines report it
        return ()


def body_of(session: Session, column: Column, request: Request) -> dict[str, Any]:
    """Return the body of a request, with parameter names for the column's model (`max_completion_tokens`).

    If litellm writes the body (`is_by_litellm`), return the arguments for litellm.
    """
    body, own = request.as_dict(), _own_body(session, column, request)
    head = {"model": body.pop("model")} if "model" in body else {}
    return {**head, **({name: one for name, one in body.items() if one is not None} if own is None else own)}


def is_by_litellm(session: Session, column: Column, request: Request) -> bool:
    """Return whether litellm writes the request in its provider's format, so that only litellm can show it."""
    return _own_body(session, column, request) is None


def is_shown_by_litellm(session: Session, column: Column, request: Request) -> bool:
    """Return whether litellm shows the request: if litellm writes it, or its model is Ollama's."""
    return is_ollama(session.model_of(column)) or is_by_litellm(session, column, request)


def _own_body(session: Session, column: Column, request: Request) -> Mapping[str, Any] | None:
    model, body = session.model_of(column), request.as_dict()
    body.pop("model", None)
    if model.startswith("offline/"):
        return body
    return own_body(model, body, settings_used(session, column), lm_settings_of(session, column))


def http_request(
    session: Session, column: Column, request: Request, address: str | None, *, trusted: bool
) -> HttpRequest:
    """Return the HTTP request that litellm would send for dspy; waits for litellm, and sends nothing.

    Secrets go to an `address` other than the provider's only if it is `trusted`. Raises `ProviderError`.
    """
    from adapters.lm.litellm_client import LitellmLM  # rendering does not need it

    model = LitellmLM(
        session.model_of(column),
        capabilities_for(session, column).capabilities,
        api_base=address,
        api_version=connection_of(session, column).get("api_version"),
        trusted=trusted,
        settings=lm_settings_of(session, column) if trusted else LMSettings(_model_type_in(session.params_of(column))),
    )
    return model.http_request({name: value for name, value in request.as_dict().items() if name != "model"})


def handed_over(session: Session, column: Column, request: Request) -> Sent:
    """Return litellm's arguments for a request."""
    body = {name: value for name, value in request.as_dict().items() if name != "model"}
    model, used = session.model_of(column), settings_used(session, column)
    return sent(model, body, used, lm_settings_of(session, column))


def settings_used(session: Session, column: Column) -> frozenset[str]:
    """Return the names of connection settings in use by which dspy chooses its client."""
    given = connection_of(session, column)
    used = {name for name in ("api_base", "api_version") if given.get(name)}
    return frozenset({*used, "extra_headers"} if given.get("header_variables") else used)


def numbered_as_in(session: Session, case: Case, request: Request) -> Request:
    """Renumber the demos and turns of a request as in the session, counting disabled ones."""
    if ("demos" in case.inputs and "demos" in session.signature.read().input_fields) or (
        not case.turns_off and all(demo.enabled for demo in session.demos)
    ):
        return request
    places = [index for index, demo in enumerate(session.demos, 1) if demo.enabled]
    turns = {f"demo {number}": f"demo {place}" for number, place in enumerate(places, 1)}
    turns |= {f"history {number}": f"history {place}" for number, place in enumerate(case.turns, 1)}
    uses = tuple([replace(use, number=places[use.number - 1]) for use in request.prompt.demos])
    messages = []
    for one in request.prompt.messages:
        turn = turns.get(one.turn, one.turn)
        messages.append(one if turn == one.turn else replace(one, turn=turn))
    return replace(request, prompt=replace(request.prompt, messages=tuple(messages), demos=uses))


_built: dict[tuple[int, int], tuple[Demo, Signature, Mapping[str, Any]]] = {}


@lru_cache(maxsize=256)
def _has_custom_types(signature: Signature) -> bool:
    return any(asks_for_types(field.annotation) for field in signature.fields.values())

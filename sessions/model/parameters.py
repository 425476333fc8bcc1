"""The closed list of parameters that a session may set, and checks against secrets.

Sessions come from strangers and are committed by teams. So only listed parameters are sent to a provider, and anything
that looks like a credential is rejected on load and save. Messages name the place and never repeat the secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from adapters.lm.lm_settings import MODEL_TYPES, why_no_header
from sessions.errors import SessionError, step_into

NUMBER = "a number"
WHOLE = "a whole number"
MOST_COMPLETIONS = 128
"""The most completions of a call, as for OpenAI. All are shown and kept; dspy and `adapters` have no limit."""
COMPLETIONS = f"a whole number up to {MOST_COMPLETIONS}"
FEW = "a whole number from 0 to 5"
TEXT = "a text"
YES_OR_NO = "true or false"
OBJECT = "an object"
OBJECTS = "a list of objects"
TEXTS = "a text or a list of texts"
TEXT_OR_OBJECT = "a text or an object"
ABILITIES = "an object of function_calling, reasoning, response_schema and response_format, each true or false"
"""The kind of manually set capabilities; missing ones come from the tables."""
ABILITY_NAMES = frozenset({"function_calling", "reasoning", "response_schema", "response_format"})

MODEL_TYPE = "chat, responses or text"
"""The kind of the API that is used to call the model."""
HEADERS = "an object of headers, each with the name of the environment variable that holds its value"

_BY_KIND: Mapping[str, str] = {
    NUMBER: """
        temperature top_p min_p presence_penalty frequency_penalty timeout top_a typical_p
        repetition_penalty repeat_penalty length_penalty
    """,
    WHOLE: "top_k max_tokens max_completion_tokens seed top_logprobs num_retries min_tokens num_ctx num_predict",
    COMPLETIONS: "n",
    TEXTS: "stop modalities stop_sequences",
    OBJECT: "logit_bias thinking response_format prediction audio web_search_options reasoning",
    YES_OR_NO: "logprobs parallel_tool_calls stream enable_thinking include_reasoning use_developer_role",
    TEXT_OR_OBJECT: "reasoning_effort tool_choice",
    TEXT: "verbosity api_base api_version service_tier user prompt_cache_key safety_identifier reasoning_format",
    OBJECTS: "cache_control_injection_points",
    ABILITIES: "capabilities",
    MODEL_TYPE: "model_type",
    HEADERS: "header_variables",
    FEW: "ask_again",
}
PARAMETERS: Mapping[str, str] = {name: kind for kind, names in _BY_KIND.items() for name in names.split()}
"""Every parameter that a session may set, with the kind of its value (`adapters.lm` may send all but the connection's).

Adapters add parameters to requests; `adapters.lm.lm_settings` lists everything that may be sent.
"""

OF_THE_LM = frozenset({"model_type", "use_developer_role"})
"""Arguments of `dspy.LM` that are not request parameters: the API to call, and the role of system messages."""

CONNECTION = OF_THE_LM | {
    *("api_base", "api_version", "capabilities", "header_variables", "num_retries", "stream", "timeout", "ask_again")
}
"""Parameters of the connection and the model's kind, which are not part of a request."""

_SECRET_NAME = re.compile(
    r"api_?key|secret|passw|authori[sz]ation|credential|cookie|bearer|(access|private|auth|session|subscription)_?key"
    r"|(^|_)(token|auth|key|headers)$"
)
_SECRET_VALUE = re.compile(
    r"(?<![A-Za-z0-9])(sk|gsk|xai|pplx|hf|ghp|gho|glpat|r8|rk|pk)[-_][A-Za-z0-9_-]{6,}"
    r"|(?<![A-Za-z0-9])sk-\S"
    r"|AIza[0-9A-Za-z_-]{20,}"
    r"|(?<![A-Z0-9])A(KIA|SIA)[0-9A-Z]{12,}"
    r"|\bBearer\s+[A-Za-z0-9._~+/=-]{16,}"
    r"|\beyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]+"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY"
)
USE_A_VARIABLE = 'for example {"OpenAI-Organization": "OPENAI_ORG"}: the value itself stays in the environment'
USE_THE_ENVIRONMENT = (
    "a session cannot contain secrets: set the provider's key in the environment, such as OPENAI_API_KEY"
)


def check_parameters(params: Mapping[str, object], place: str, path: str | None = None) -> None:
    """Raise `SessionError` for an unknown parameter, a value of the wrong kind, or a likely secret."""
    for name, value in params.items():
        where = step_into(place, name)
        if name not in PARAMETERS:
            if looks_like_secret_name(name):
                raise SessionError(path, where, "looks like a secret", USE_THE_ENVIRONMENT)
            raise SessionError(path, where, "is not a parameter that a session may set", _nearest(name))
        if name != "header_variables":
            check_no_secret(value, where, path)
        if name == "capabilities" and isinstance(value, Mapping):
            for ability, given in value.items():
                if ability not in ABILITY_NAMES:
                    said = "is not an ability of a model"
                    raise SessionError(path, step_into(where, ability), said, f"expected {ABILITIES}")
                if not isinstance(given, bool):
                    said = f"expected true or false, got {kind_of(given)}"
                    raise SessionError(path, step_into(where, ability), said, ABILITIES)
        if name == "header_variables" and isinstance(value, Mapping):
            for header, variable in value.items():
                check_no_secret(variable, step_into(where, header), path)
                said = why_no_header(header, variable if isinstance(variable, str) else "")
                if said:
                    raise SessionError(path, step_into(where, header), said, USE_A_VARIABLE)
        if value is not None and not _FITTING[PARAMETERS[name]](value):
            if PARAMETERS[name] == COMPLETIONS and _is_number(value, int):
                raise SessionError(path, where, f"expected {COMPLETIONS}, got more", "send several times for more")
            raise SessionError(path, where, f"expected {PARAMETERS[name]}, got {kind_of(value)}")
        if name == "api_base":
            _check_address(value, where, path)


def check_no_secret(value: object, place: str, path: str | None = None) -> None:
    """Raise `SessionError` if a text anywhere in `value`, or an entry's name, looks like a credential."""
    if isinstance(value, str):
        if _SECRET_VALUE.search(value):
            raise SessionError(path, place, "looks like a secret", USE_THE_ENVIRONMENT)
    elif type(value) is dict or isinstance(value, Mapping):  # the first is quicker
        for key, item in value.items():
            if not isinstance(item, str):
                check_no_secret(item, step_into(place, str(key)), path)
            elif looks_like_secret_name(str(key)) or _SECRET_VALUE.search(item):
                raise SessionError(path, step_into(place, str(key)), "looks like a secret", USE_THE_ENVIRONMENT)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            check_no_secret(item, step_into(place, index), path)


@lru_cache(maxsize=1024)
def looks_like_secret_name(name: str) -> bool:
    return _SECRET_NAME.search(name.lower().replace("-", "_")) is not None


def kind_of(value: object) -> str:
    """Name the kind of a value in JSON's terms."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "a text"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, Mapping):
        return "an object"
    return "a list" if isinstance(value, list | tuple) else f"a {type(value).__qualname__}"


def _is_number(value: object, *kinds: type) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)


_FITTING: Mapping[str, Callable[[Any], bool]] = {
    NUMBER: lambda value: _is_number(value, int, float),
    WHOLE: lambda value: _is_number(value, int),
    COMPLETIONS: lambda value: _is_number(value, int) and value <= MOST_COMPLETIONS,
    FEW: lambda value: _is_number(value, int) and 0 <= value <= 5,
    YES_OR_NO: lambda value: isinstance(value, bool),
    MODEL_TYPE: lambda value: value in MODEL_TYPES,
    **dict.fromkeys((OBJECT, ABILITIES, HEADERS), lambda value: isinstance(value, Mapping)),
    TEXT: lambda value: isinstance(value, str),
    TEXT_OR_OBJECT: lambda value: isinstance(value, str | Mapping),
    TEXTS: lambda value: isinstance(value, str) or _is_list_of(str, value),
    OBJECTS: lambda value: _is_list_of(Mapping, value),
}
"""Tests of a value, by the kind that a parameter takes."""


def _is_list_of(kind: type, value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, kind) for item in value)


def _check_address(value: Any, place: str, path: str | None) -> None:
    try:
        parts = urlsplit(value or "")
        holds_credentials = "@" in parts.netloc or bool(parts.query)
    except ValueError as error:
        raise SessionError(path, place, f"is not an address: {error}", "for example http://localhost:8000/v1") from None
    if holds_credentials:
        hint = f"write the address alone; {USE_THE_ENVIRONMENT}"
        raise SessionError(path, place, "an address with a user, password or query may contain a secret", hint)
    if value and parts.scheme not in ("http", "https"):
        raise SessionError(path, place, "is not an http or https address", "for example http://localhost:8000/v1")


def _nearest(name: str) -> str:
    import difflib  # only for the hint

    near = difflib.get_close_matches(name, PARAMETERS, n=1)
    return f"did you mean {near[0]}?" if near else f"known: {', '.join(PARAMETERS)}"

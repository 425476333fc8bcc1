"""Inputs that dspy.Predict takes for itself: the request is the one that dspy sends, or the error that it raises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dspy
import pytest

from adapters.requests.calls import TAKEN
from adapters.requests.request import Request
from adapters.values.custom_types import BuildError
from sessions.model.session import Case, Column, Demo, Session, SignatureText
from sessions.running import linting, rendering


class SentError(Exception):
    def __init__(self, messages: list[dict[str, Any]], params: Mapping[str, Any]) -> None:
        self.messages, self.params = messages, params


class Silent(dspy.BaseLM):  # type: ignore[misc]
    def forward(self, prompt: Any = None, messages: Any = None, **params: Any) -> Any:
        raise SentError(messages, params)


def sent_by_dspy(signature: str, inputs: Mapping[str, Any]) -> SentError | Exception:
    adapter = dspy.ChatAdapter(use_json_adapter_fallback=False)
    with dspy.context(lm=Silent("openai/test"), adapter=adapter):
        predict = dspy.Predict(signature)
        predict.demos = [{"q": "1", "a": "2"}]
        try:
            predict(**inputs)
        except Exception as error:
            return error
    raise AssertionError("nothing was sent")


def session_of(signature: str, inputs: Mapping[str, Any]) -> tuple[Session, Column, Case]:
    column, case = Column("chat", "chat"), Case("one", dict(inputs))
    demos = (Demo({"q": "off", "a": "off"}, enabled=False), Demo({"q": "1", "a": "2"}))
    made = Session(SignatureText(signature), columns=(column,), cases=(case,), demos=demos, model="openai/test")
    return made, column, case


def request_of(signature: str, inputs: Mapping[str, Any]) -> Request:
    return rendering.request_of(*session_of(signature, inputs))


@pytest.mark.parametrize(
    ("signature", "value"),
    [
        ("q, demos -> a", "abc"),
        ("q, demos: list[str] -> a", ["x y z"]),
        ("q, demos: list[dict] -> a", [{"note": "no field of it"}]),
        ("q, demos: list[dict] -> a", [{"q": "3", "a": "4"}]),
        ("q, config: dict -> a", {}),
        ("q, config: dict -> a", {"max_tokens": 3}),
        ("q, lm -> a", ""),
        ("q, prediction -> a", "a text"),
        ("q, prediction: dict -> a", {"type": "other"}),
        ("q, prediction: dict -> a", {"type": "content", "content": "x"}),
    ],
)
def test_the_request_is_the_one_that_dspy_sends(signature: str, value: Any) -> None:
    name = signature.split(", ")[1].split(":")[0].split(" ")[0]
    inputs = {"q": "Q", name: value}
    theirs = sent_by_dspy(signature, inputs)
    assert isinstance(theirs, SentError), theirs
    ours = request_of(signature, inputs)
    assert [one.as_dict() for one in ours.messages] == theirs.messages
    assert {name: ours.params[name] for name in theirs.params} == dict(theirs.params)


@pytest.mark.parametrize(
    ("signature", "value"),
    [
        ("q, demos: int -> a", 3),
        ("q, demos: int -> a", None),
        ("q, config -> a", "abc"),
        ("q, config: list -> a", []),
        ("q, lm -> a", "openai/x"),
        ("q, new_signature -> a", "x"),
        ("q, instance -> a", "x"),
    ],
)
def test_where_dspy_raises_the_column_says_so_and_sends_nothing(signature: str, value: Any) -> None:
    name = signature.split(", ")[1].split(":")[0].split(" ")[0]
    inputs = {"q": "Q", name: value}
    theirs = sent_by_dspy(signature, inputs)
    assert not isinstance(theirs, SentError)
    with pytest.raises(BuildError, match=f"{name}.*{type(theirs).__name__}.*rename the field"):
        request_of(signature, inputs)


@pytest.mark.parametrize("params", [{"api_base": "http://example.org"}, {"api_key": "sk-abcdefgh"}, {"nonsense": 1}])
def test_an_input_sets_no_parameter_that_a_session_may_not(params: dict[str, Any]) -> None:
    with pytest.raises(BuildError, match="config"):
        request_of("q, config: dict -> a", {"q": "Q", "config": params})


@pytest.mark.parametrize("name", sorted(TAKEN.keys() - {"self", "signature"}))
def test_every_such_name_has_a_lint(name: str) -> None:
    kind = ": dict[str, Any]" if name == "prediction" else ""  # taken as an object alone
    session, column, case = session_of(f"q, {name}{kind} -> a", {"q": "Q"})
    request = rendering.request_of(session, column, case)
    (one,) = [one for one in linting.lints_of(session, column, case, request) if one.name == "input-taken-by-predict"]
    assert (one.severity, one.place.field) == ("error", name)


def test_a_prediction_that_is_a_text_is_sent_and_has_no_lint() -> None:
    inputs = {"question": "Q", "prediction": "It is Paris."}
    session, column, case = session_of("question, prediction -> judgement", inputs)
    request = rendering.request_of(session, column, case)
    assert "It is Paris." in request.messages[-1].text
    assert "input-taken-by-predict" not in [one.name for one in linting.lints_of(session, column, case, request)]


def test_a_value_of_no_field_is_not_taken() -> None:
    assert (
        request_of("q -> a", {"q": "Q", "lm": "x", "config": "y"}).messages == request_of("q -> a", {"q": "Q"}).messages
    )

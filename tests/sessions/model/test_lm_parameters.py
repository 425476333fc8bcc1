"""What a session may say of the LM itself: the API, the developer's role, headers by name of variable."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.lm.lm_settings import LMSettings
from sessions.errors import SessionError
from sessions.imports.dspy_program import language_model
from sessions.model.parameters import check_parameters
from sessions.model.session import Case, Column, Session, SignatureText
from sessions.running import rendering

COLUMN = Column("chat", "chat")


def session(**params: Any) -> Session:
    text = SignatureText(
        "import dspy\nclass A(dspy.Signature):\n    q: str = dspy.InputField()\n    "
        "reasoning: dspy.Reasoning = dspy.OutputField()\n    a: str = dspy.OutputField()"
    )
    return Session(text, (), (COLUMN,), (Case("c", {"q": "x"}),), "openai/gpt-5-mini", params)


def test_they_are_taken_and_are_no_parameter_of_the_request() -> None:
    given = {"model_type": "responses", "use_developer_role": True, "header_variables": {"Authorization": "OUR_TOKEN"}}
    check_parameters(given, "params")
    one = session(**given)
    assert rendering.lm_settings_of(one, COLUMN) == LMSettings("responses", True, {"Authorization": "OUR_TOKEN"})
    assert rendering.params_of(one, COLUMN) == {}


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"model_type": "completion"}, "expected chat, responses or text"),
        ({"model_type": ["chat"]}, "expected chat, responses or text"),
        ({"use_developer_role": "yes"}, "true or false"),
        ({"header_variables": {"X-Key": "sk-abcdefghijk"}}, "secret"),
        ({"header_variables": {"X-Key": "some value"}}, "name of an environment variable"),
        ({"header_variables": {"X-Key": {"value": "x"}}}, "name of an environment variable"),
        ({"header_variables": {"a\r\nb": "A"}}, "letters"),
        ({"header_variables": {"Host": "A"}}, "set by who sends"),
        ({"header_variables": "A"}, "an object of headers"),
    ],
)
def test_what_is_none_is_refused_with_the_place(params: dict[str, Any], said: str) -> None:
    with pytest.raises(SessionError, match=said) as error:
        check_parameters(params, "params")
    assert next(iter(params)) in str(error.value)


def test_reasoning_is_native_for_gpt_5_over_the_responses_api_alone() -> None:
    taken = [
        rendering.request_of(one, COLUMN, one.cases[0]).removed_fields
        for one in (session(), session(model_type="responses"))
    ]
    assert taken == [(), ("reasoning",)]


def test_a_saved_program_brings_them_unless_they_are_as_usual() -> None:
    model, params, _ = language_model({"model": "openai/m", "model_type": "responses", "use_developer_role": True})
    assert (model, params) == ("openai/m", {"model_type": "responses", "use_developer_role": True})
    assert language_model({"model": "openai/m", "model_type": "chat", "use_developer_role": False})[1] == {}


def test_a_prompt_that_is_not_all_text_is_refused_before_a_call_of_text_completions() -> None:
    image = Session(
        SignatureText("picture: dspy.Image -> a"),
        (),
        (COLUMN,),
        (Case("c", {"picture": {"url": "data:image/png;base64,AA"}}),),
        "openai/gpt-3.5-turbo-instruct",
        {"model_type": "text"},
    )
    with pytest.raises(ValueError, match="message 2 is not only text"):
        rendering.request_of(image, COLUMN, image.cases[0])

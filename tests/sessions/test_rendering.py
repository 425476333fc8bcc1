"""A case reaches the adapter as `dspy.Predict` would hand it over."""

from __future__ import annotations

import dspy
import pytest

from adapters.chat import ChatAdapter
from sessions import rendering
from sessions.session import Case, Column, Demo, Session, SignatureText

CHAT = Column("chat", "chat")
SOURCE = """
class Reply(dspy.Signature):
    history: dspy.History = dspy.InputField()
    question: str = dspy.InputField()
    tone: str = dspy.InputField(default="calm")
    answer: str = dspy.OutputField()
"""


class Reply(dspy.Signature):
    history: dspy.History = dspy.InputField()
    question: str = dspy.InputField()
    tone: str = dspy.InputField(default="calm")
    answer: str = dspy.OutputField()


class Listening(dspy.LM):  # type: ignore[misc]
    """Keeps what dspy sends."""

    def __init__(self, **kwargs: object) -> None:
        super().__init__("openai/any", **kwargs)
        self.sent: dict[str, object] = {}

    def __call__(self, messages: object = None, **kwargs: object) -> list[str]:
        self.sent = {"messages": messages, **kwargs}
        return ["[[ ## answer ## ]]\nyes"] * int(str(kwargs.get("n", 1)))


def session(**changes: object) -> Session:
    base = {"signature": SignatureText(SOURCE), "columns": (CHAT,), "model": "openai/any"}
    return Session(**{**base, **changes})  # type: ignore[arg-type]


def test_defaults_and_history_are_rendered_as_predict_renders_them() -> None:
    turns = ({"question": "Is it raining?", "answer": "yes"}, {"question": "And now?", "tone": "short", "answer": "no"})
    case = Case("c", inputs={"question": "Why?"}, history=turns)
    model = Listening()
    predict = dspy.Predict(Reply)
    with dspy.context(lm=model, adapter=dspy.ChatAdapter()):
        predict(question="Why?", history=dspy.History(messages=[dict(turn) for turn in turns]))
    request = rendering.request_of(session(cases=(case,)), CHAT, case)
    assert request.prompt.as_dicts() == model.sent["messages"]
    assert [message.turn for message in request.messages][1:] == ["history 1"] * 2 + ["history 2"] * 2 + ["inputs"]


@pytest.mark.parametrize("params", [{"n": 3}, {"n": 3, "temperature": 0.1}, {"n": 3, "temperature": 0.5}, {"n": 1}])
def test_several_completions_get_the_temperature_that_predict_gives_them(params: dict[str, float]) -> None:
    model = Listening()
    with dspy.context(lm=model, adapter=dspy.ChatAdapter()):
        dspy.Predict("question -> answer", **params)(question="q")
    sent = {key: value for key, value in model.sent.items() if key != "messages"}
    assert rendering.params_of(session(params=params), CHAT) == sent


def test_what_concerns_the_connection_is_no_part_of_the_request() -> None:
    with_address = session(params={"api_base": "http://localhost:1/v1", "timeout": 3, "seed": 1})
    assert rendering.params_of(with_address, CHAT) == {"seed": 1}
    assert rendering.connection_of(with_address, CHAT) == {"api_base": "http://localhost:1/v1", "timeout": 3}


def test_demo_turns_are_numbered_by_their_place_in_the_session() -> None:
    demos = tuple(Demo({"question": f"q{n}", "answer": "a"}, enabled=n != 1) for n in (1, 2, 3))
    plain = session(signature=SignatureText("question -> answer"), demos=demos)
    request = rendering.request_of(plain, CHAT, Case("c", inputs={"question": "q"}))
    assert [message.turn for message in request.messages] == ["system", *["demo 2"] * 2, *["demo 3"] * 2, "inputs"]
    assert [use.number for use in request.prompt.demos] == [2, 3]


def test_a_prompt_made_with_an_earlier_one_at_hand_is_the_same() -> None:
    demos = tuple(Demo({"question": f"q{n}", "answer": "a"}, enabled=n != 1) for n in range(5))
    plain = session(signature=SignatureText("question -> answer"), demos=demos)
    first = rendering.request_of(plain, CHAT, Case("c", inputs={"question": "q"}))
    other = Case("d", inputs={"question": "r"})
    again = rendering.request_of(plain, CHAT, other, first.prompt)
    assert again.prompt.as_dicts() == rendering.request_of(plain, CHAT, other).prompt.as_dicts()
    assert [one.turn for one in again.messages] == [one.turn for one in first.messages]


def test_demos_are_the_same_objects_for_the_same_demo_also_where_custom_types_are_built() -> None:
    demo = Demo({"picture": {"url": "https://example.com/a.png"}, "answer": "a"})
    with_image = session(signature=SignatureText("picture: dspy.Image -> answer"), demos=(demo,))
    (built,) = rendering.demos_of(with_image)
    assert rendering.demos_of(with_image)[0] is built
    assert built["picture"].url == "https://example.com/a.png"
    assert rendering.adapter_of(CHAT) is rendering.adapter_of(Column("other", "chat"))
    assert isinstance(rendering.adapter_of(CHAT), ChatAdapter)

"""A case reaches the adapter as `dspy.Predict` would hand it over."""

from __future__ import annotations

import dspy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.formats.chat import ChatAdapter
from adapters.values.custom_types import BuildError
from sessions.file import store
from sessions.model.session import Case, Column, Demo, Session, SignatureText
from sessions.running import rendering

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


OFF_TURNS = (
    {"question": "Is it raining?", "answer": "kept away"},
    {"question": "And now?", "answer": "no"},
    {"question": "kept away too"},
    {"question": "Sure?"},
)


def test_turns_that_are_off_are_in_no_prompt_and_the_others_keep_their_numbers() -> None:
    case = Case("c", inputs={"question": "Why?"}, history=OFF_TURNS, turns_off=frozenset({0, 2}))
    request = rendering.request_of(session(cases=(case,)), CHAT, case)
    without = Case("c", inputs={"question": "Why?"}, history=(OFF_TURNS[1], OFF_TURNS[3]))
    assert request.prompt.as_dicts() == rendering.request_of(session(), CHAT, without).prompt.as_dicts()
    turns = [message.turn for message in request.messages if message.turn.startswith("history")]
    assert list(dict.fromkeys(turns)) == ["history 2", "history 4"]


def test_a_history_of_turns_that_are_all_off_is_none() -> None:
    case = Case("c", inputs={"question": "Why?"}, history=OFF_TURNS, turns_off=frozenset(range(4)))
    request = rendering.request_of(session(), CHAT, case)
    assert request.messages == rendering.request_of(session(), CHAT, Case("c", inputs=case.inputs)).messages


def test_what_cannot_be_built_is_said_of_the_turn_by_its_place_in_the_case() -> None:
    source = SOURCE.replace("question: str", "question: dspy.Image")
    turns = ({"question": 3}, {"question": "https://example.com/a.png"}, {"question": 4})
    case = Case("c", history=turns, turns_off=frozenset({0}))
    with pytest.raises(BuildError) as raised:
        rendering.inputs_of(SignatureText(source).read(), case)
    assert raised.value.path.startswith("messages[2]")


turn_values = st.dictionaries(st.sampled_from(["question", "answer", "tone"]), st.text(max_size=9), max_size=3)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(turn_values, st.booleans()), max_size=5), st.sampled_from(["chat", "json", "xml", "markdown"])
)
def test_turns_that_are_off_never_reach_a_prompt_and_survive_the_file(
    turns: list[tuple[dict[str, str], bool]], adapter: str
) -> None:
    off = frozenset(place for place, (_, is_on) in enumerate(turns) if not is_on)
    case = Case("c", {"question": "Why?"}, tuple(one for one, _ in turns), turns_off=off)
    made = session(cases=(case,), columns=(Column(adapter, adapter),))
    opened = store.loads(store.dumps(made))
    assert opened == made
    bare = Case("c", {"question": "Why?"}, tuple(one for one, is_on in turns if is_on))
    sent, wanted = (rendering.request_of(opened, opened.columns[0], one) for one in (opened.cases[0], bare))
    assert sent.prompt.as_dicts() == wanted.prompt.as_dicts()

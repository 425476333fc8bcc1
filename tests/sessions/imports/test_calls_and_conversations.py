"""A recorded call becomes the session that makes its messages again; a conversation becomes a history."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dspy
import pytest

from sessions.errors import SessionError
from sessions.file import store
from sessions.imports import lm_call, proposing, sources
from sessions.imports.reading import KEPT
from sessions.model.session import SignatureText
from sessions.running import rendering


class Answer(dspy.Signature):
    """Answer the question.

    Be brief.
    """

    question: str = dspy.InputField(desc="what is asked")
    context: list[str] = dspy.InputField()
    answer: str = dspy.OutputField()
    score: float = dspy.OutputField(ge=0)


DEMO = {"question": "Why?", "context": ["a", "b"], "answer": "So.", "score": 0.5}
INPUTS = {"question": "What?\n\n[in two lines]", "context": ["c"]}


def entry(adapter: Any, signature: Any = Answer, **more: Any) -> dict[str, Any]:
    demo = {"reasoning": "Because."} | DEMO if "reasoning" in signature.fields else DEMO
    messages = adapter.format(signature, [demo], INPUTS)
    return {
        "prompt": None,
        "messages": messages,
        "kwargs": {"temperature": 0.3, "api_key": "sk-canary-1234567", "unknown": 1},
        "outputs": ["a reply\x1b[31m"],
        "usage": {"total_tokens": 3},
        "cost": None,
        "model": "openai/gpt-6-luna",
        **more,
    }


def write(folder: Path, data: Any) -> str:
    (folder / "call.json").write_text(json.dumps(data))
    return str(folder / "call.json")


@pytest.mark.parametrize(
    "adapter", [dspy.ChatAdapter(), dspy.JSONAdapter(), dspy.XMLAdapter()], ids=lambda one: type(one).__name__
)
def test_a_call_becomes_the_session_that_makes_its_messages_again(adapter: Any, tmp_path: Path) -> None:
    data = entry(adapter)
    made = sources.load(write(tmp_path, data))
    assert made.questions == ()
    session = made.session
    request = rendering.request_of(session, session.columns[0], session.cases[0])
    assert request.as_dict()["messages"] == data["messages"]
    assert [dict(one.values) for one in session.demos] == [DEMO]
    assert session.cases[0].inputs == INPUTS
    assert session.cases[0].replies[session.columns[0].id].text == "a reply\x1b[31m"
    assert (session.model, dict(session.params)) == ("openai/gpt-6-luna", {"temperature": 0.3})


@pytest.mark.parametrize("adapter", [dspy.ChatAdapter(), dspy.JSONAdapter()], ids=lambda one: type(one).__name__)
def test_a_call_of_a_chain_of_thought_is_read_with_the_signature_that_was_given_to_it(
    adapter: Any, tmp_path: Path
) -> None:
    data = entry(adapter, dspy.ChainOfThought("question, context: list[str] -> answer, score: float").predict.signature)
    given = SignatureText("question, context: list[str] -> answer, score: float")
    made = sources.load(write(tmp_path, data), given=given)
    assert made.questions == ()
    assert proposing.SAID in made.notes
    assert made.session.signature.predictor == "ChainOfThought"


def test_nothing_of_an_entry_is_lost_but_its_secrets(tmp_path: Path) -> None:
    made = sources.load(write(tmp_path, [entry(dspy.ChatAdapter()), entry(dspy.ChatAdapter(), cost=0.25)]))
    kept = made.session.cases[1].extra[KEPT]
    assert kept["cost"] == 0.25 and kept["usage"] == {"total_tokens": 3} and kept["kwargs"]["unknown"] == 1
    assert "canary" not in store.dumps(made.session)
    assert made.notes[0] == "2 of 2 calls become cases"


def test_every_call_of_a_history_is_a_case_and_those_of_another_signature_are_counted(tmp_path: Path) -> None:
    chat = dspy.ChatAdapter()
    other = entry(chat, dspy.Signature("question -> answer"))
    asked = [entry(chat), entry(chat), entry(dspy.JSONAdapter())]
    for number, one in enumerate(asked):
        one["messages"][-1]["content"] = one["messages"][-1]["content"].replace("in two lines", f"number {number}")
        one["outputs"] = [f"reply {number}"]
    made = sources.load(write(tmp_path, [asked[0], other, *asked[1:]]), case="call")
    cases = made.session.cases
    assert [one.name for one in cases] == ["call", "call (2)", "call (3)"]
    assert [str(one.inputs["question"]).split("[")[1] for one in cases] == ["number 0]", "number 1]", "number 2]"]
    assert [next(iter(one.replies.values())).text for one in cases] == ["reply 0", "reply 1", "reply 2"]
    assert [one.id for one in made.session.columns] == ["chat", "json"]
    assert made.notes[0] == "3 of 4 calls become cases"
    assert "1 calls have another signature or other demos: import them separately" in made.notes


def test_the_response_of_a_logged_call_is_its_reply(tmp_path: Path) -> None:
    data = entry(dspy.ChatAdapter())
    del data["outputs"]
    data["response"] = {"choices": [{"message": {"role": "assistant", "content": "from the log"}}]}
    made = sources.load(write(tmp_path, data))
    assert made.questions == ()
    assert made.session.cases[0].replies["chat"].text == "from the log"

    plain = {"model": "openai/gpt-4o", "messages": CHAT, "response": data["response"]}
    made = sources.load(write(tmp_path, plain), given=SignatureText("history: dspy.History, message -> reply"))
    shown = made.session.cases[0].replies["chat"]
    assert (shown.text, shown.model) == ("from the log", "openai/gpt-4o")
    assert "its response is the reply under `chat`" in made.notes


@pytest.mark.parametrize("system", ["Be kind.", [{"type": "text", "text": "Be "}, {"type": "text", "text": "kind."}]])
def test_the_system_text_that_anthropic_has_beside_the_messages_is_kept(system: Any, tmp_path: Path) -> None:
    given = SignatureText("history: dspy.History, message -> reply")
    made = sources.load(write(tmp_path, {"system": system, "messages": CHAT[1:]}), given=given)
    assert made.session.cases[0].extra == {KEPT: {"system": ["Be kind."]}}
    assert any("system message" in one for one in made.notes)


def test_a_type_of_the_users_own_is_asked(tmp_path: Path) -> None:
    data = entry(dspy.ChatAdapter())
    data["messages"][0]["content"] = data["messages"][0]["content"].replace("(float)", "(Invoice)")
    questions = sources.load(write(tmp_path, data)).questions
    assert any("the type of `score` is Invoice" in one for one in questions)
    assert any("the messages differ" in one for one in questions)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"messages": [{"role": "system", "content": "You are kind."}, {"role": "user", "content": "Hi"}]},
            "--signature",
        ),
        ({"messages": 3}, "expected a list of messages"),
        ({"outputs": []}, "no text of a reply"),
        ({"outputs": [{"reasoning": "x"}]}, "no text of a reply"),
    ],
)
def test_what_is_no_call_of_dspy_is_told(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    with pytest.raises(SessionError, match=said):
        sources.load(write(tmp_path, entry(dspy.ChatAdapter(), **change)), "call")


def test_a_calls_reasoning_and_tool_calls_come_along(tmp_path: Path) -> None:
    called = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    output = {"text": None, "reasoning_content": "So.", "tool_calls": [called]}
    made = sources.load(write(tmp_path, entry(dspy.ChatAdapter(), outputs=[output])), "call").session
    (reply,) = made.cases[0].replies.values()
    assert (reply.text, reply.reasoning, reply.tool_calls) == ("", "So.", (called,))


CHAT = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Hello"},
    {"role": "assistant", "content": "Hi!"},
    {"role": "user", "content": [{"type": "text", "text": "How "}, {"type": "text", "text": "are you?"}]},
]


def test_messages_become_the_history_of_a_case_and_its_inputs(tmp_path: Path) -> None:
    given = SignatureText("history: dspy.History, message -> reply")
    made = sources.load(write(tmp_path, CHAT), given=given, case="long")
    case = made.session.case("long")
    assert case.history == ({"message": "Hello", "reply": "Hi!"},)
    assert case.inputs == {"message": "How are you?"}
    assert case.extra == {KEPT: {"system": ["Be kind."]}}
    assert made.questions == ()


def test_without_a_signature_question_and_answer_are_proposed(tmp_path: Path) -> None:
    made = sources.load(write(tmp_path, {"messages": CHAT}))
    assert made.session.cases[0].history == ({"question": "Hello", "answer": "Hi!"},)
    assert len(made.questions) == 1


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([{"role": "assistant", "content": "Hi"}], r"messages\[0\]: a reply without a user message"),
        ([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}], r"messages\[1\]: two user messages"),
        ([{"role": "tool", "content": "a"}], r"messages\[0\]\.role: a message of the role 'tool'"),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}], r"messages\[0\]\.content\[0\]"),
        ([{"role": "user", "content": 3}], "expected a text or a list of parts"),
    ],
)
def test_what_is_no_turn_names_its_message(tmp_path: Path, messages: Any, said: str) -> None:
    with pytest.raises(SessionError, match=said):
        sources.load(write(tmp_path, messages), "history")


def test_a_message_for_several_fields_needs_markers(tmp_path: Path) -> None:
    given = SignatureText("history: dspy.History, a, b -> c")
    with pytest.raises(SessionError, match="one of several inputs: `a`, `b`"):
        sources.load(write(tmp_path, CHAT), given=given)
    reminder = "Respond with the corresponding output fields, starting with the field `c`."
    marked = [{"role": "user", "content": f"[[ ## a ## ]]\nx\n\n[[ ## b ## ]]\ny\n\n{reminder}"}]
    assert sources.load(write(tmp_path, marked), given=given).session.cases[0].inputs == {"a": "x", "b": "y"}


def test_a_logged_call_whose_response_only_calls_tools_is_read() -> None:
    signature = dspy.Signature("question, tools: list[dspy.Tool] -> answer, tool_calls: dspy.ToolCalls")
    system = dspy.ChatAdapter().format(signature, [], {"question": "Why?", "tools": []})
    called = {"id": "c", "type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}}
    data = {"messages": system, "response": {"choices": [{"message": {"content": None, "tool_calls": [called]}}]}}
    assert lm_call.is_call(data)
    session = lm_call.from_call(data, "call.json").session
    (reply,) = session.cases[0].replies.values()
    assert (reply.text, reply.tool_calls, session.tools[0].name) == ("", (called,), "look")
    data["response"] = {"choices": [{"message": {"content": None}}]}
    with pytest.raises(SessionError, match="response: there is no text of a reply in it"):
        lm_call.from_call(data, "call.json")


def conversation(tmp_path: Path, signature: str, **reply: Any) -> Any:
    path = tmp_path / "messages.json"
    asked = {"role": "user", "content": "Why?"}
    path.write_text(json.dumps([asked, {"role": "assistant", "content": "So.", **reply}]))
    return sources.load(str(path), "history", SignatureText(signature))


def test_a_conversations_tool_calls_are_said_to_be_left_out(tmp_path: Path) -> None:
    called = [{"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]
    imported = conversation(tmp_path, "history: dspy.History, question -> answer", tool_calls=called)
    assert imported.session.cases[0].history == ({"question": "Why?", "answer": "So."},)
    assert "messages[1]: its tool calls are not imported" in imported.notes


def test_a_conversation_for_a_signature_without_history_is_a_question(tmp_path: Path) -> None:
    (question,) = conversation(tmp_path, "question -> answer").questions
    assert question == "the signature has no dspy.History field, so the history will not be in any prompt"


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"role": "developer"}, "message 1 has the role system instead of developer"),
        (
            {"tool_calls": [{"id": "1", "function": {"name": "f"}}]},
            "message 1 has the tool calls [None] instead of [('1', ",
        ),
    ],
)
def test_messages_that_render_otherwise_are_told_apart_by_role_and_tool_calls(message: Any, said: str) -> None:
    session = lm_call.from_call(entry(dspy.ChatAdapter()), "call.json").session
    messages = entry(dspy.ChatAdapter())["messages"]
    (told, *_) = lm_call.differences(session, [{**messages[0], **message}, *messages[1:]])
    assert told.startswith(said)

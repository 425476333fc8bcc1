"""What cannot be recorded is said with the place to mend; what was recorded is read as it was."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from adapters.errors import AdapterParseError
from adapters.formats.chat import ChatAdapter
from adapters.formats.json import JSONAdapter
from adapters.formats.two_step import TwoStepAdapter, extraction_signature
from adapters.lm import open as open_model
from adapters.lm.protocol import Completion
from adapters.requests.request import prepare
from adapters.running import runner
from adapters.running.runs import Attempt, Run
from adapters.signatures.read.strings import read_string
from sessions.errors import SessionError
from sessions.model.replies import Answer, Extraction, Measured, RecordedAttempt, RecordedCompletion, Reply
from sessions.model.session import Case, Column, Demo, Recording, Session, SignatureText
from sessions.running.recording import copied, read_completion, record, reply_of_run

CHAT = Column("chat", "chat")
SEEN = """class Seen(dspy.Signature):
    history: dspy.History = dspy.InputField()
    picture: dspy.Image = dspy.InputField()
    answer: str = dspy.OutputField()
"""
GOOD, BAD = "https://example.com/a.png", 4


@pytest.mark.parametrize(
    ("picture", "demo", "turn", "mend"),
    [
        (BAD, GOOD, GOOD, "fix the input `picture`"),
        (GOOD, BAD, GOOD, "fix the field `picture` of demo 3"),
        (GOOD, GOOD, BAD, "fix `picture` in turn 2 of the history"),
    ],
)
def test_where_no_prompt_can_be_made_the_field_to_mend_is_named(picture: Any, demo: Any, turn: Any, mend: str) -> None:
    demos = (Demo({"picture": BAD}, enabled=False), Demo({"picture": GOOD}), Demo({"picture": demo, "answer": "a"}))
    turns = ({"picture": BAD}, {"picture": turn, "answer": "a"})
    case = Case("c", {"picture": picture}, turns, replies={"chat": Reply("x")}, turns_off=frozenset({0}))
    session = Session(SignatureText(SEEN), demos, (CHAT,), (case,))
    with pytest.raises(SessionError, match="no prompt can be made: BuildError: field") as raised:
        record(session, case, CHAT)
    assert raised.value.hint == mend


@pytest.mark.parametrize("extracted_by", ["chat", "json"])
@pytest.mark.parametrize("answer", ["junk", '{"answer": "x"}', "[[ ## answer ## ]]\nx", '{"answer": 3}', "[1"])
def test_a_kept_extraction_is_read_as_twostep_reads_it_whoever_asked_for_it(extracted_by: str, answer: str) -> None:
    signature = read_string("question -> answer: int")
    adapter = TwoStepAdapter()
    request = prepare(adapter, signature, [], {"question": "?"})
    kept = Reply("Three, I think.", extraction=Extraction(extracted_by, answer))
    reading = read_completion(adapter, request, signature, kept)
    inner = {"chat": ChatAdapter, "json": JSONAdapter}[extracted_by]().read(extraction_signature(signature), answer)
    assert reading.extraction == inner
    assert reading.values == inner.values
    assert reading.completion == "Three, I think."
    if inner.error is not None:
        assert reading.error is not None
        assert (reading.error.start, reading.error.end) == (None, None)
        assert isinstance(reading.exception, AdapterParseError)
        assert reading.exception.adapter_name == "TwoStepAdapter"
        assert reading.exception.lm_response == "Three, I think."


def test_the_reply_kept_of_a_run_of_two_step_is_read_as_the_run_was() -> None:
    signature, inputs = read_string("question -> answer: int"), {"question": "How many? 3."}
    adapter, lm = TwoStepAdapter(), open_model("offline/exact", chunk_seconds=0)
    run = runner.run(adapter, lm, signature, [], inputs, fallback=False)
    kept = reply_of_run(run, "offline/exact")
    assert kept is not None and kept.extraction is not None
    reading = read_completion(adapter, prepare(adapter, signature, [], inputs), signature, copied(Answer, kept))
    assert reading.ok
    assert dict(reading.values) == run.values


def test_the_reply_kept_of_a_run_has_every_part_that_the_call_gave() -> None:
    said = {
        "reasoning": "Let me see.",
        "tool_calls": ({"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}},),
        "finish_reason": "tool_calls",
        "refusal": "No.",
        "logprobs": {"content": [{"token": "x", "logprob": -0.5}]},
        "citations": ({"type": "char_location", "cited_text": "It pours."},),
    }
    completion = Completion("x", **said)  # type: ignore[arg-type]
    kept = reply_of_run(Run(True, {}, (), (Attempt(1, "chat", "m", {}, (completion,)),)), "m")
    assert {name: getattr(kept, name) for name in said} == said


RECORDED = Recording(
    messages=(),
    request={},
    attempts=(
        RecordedAttempt(
            "chat", "main", completions=(RecordedCompletion("[[ ## answer ## ]]\nyes", finish_reason="stop"),)
        ),
    ),
    versions={},
    source="sent",
)
MEASURED = (Measured({"total_tokens": 3}, 0.1, 5.0),)


@pytest.mark.parametrize(
    ("reply", "is_kept"),
    [
        (Reply("[[ ## answer ## ]]\nyes"), True),
        (Reply("[[ ## answer ## ]]\nno"), False),
        (Reply("[[ ## answer ## ]]\nyes", source="pasted"), False),
    ],
)
def test_a_reply_recorded_again_keeps_what_its_call_said_and_took(reply: Reply, is_kept: bool) -> None:
    case = Case("c", {"question": "q"}, recordings={"chat": RECORDED}, replies={"chat": reply})
    case = replace(case, measured={"chat": MEASURED})
    session = Session(SignatureText("question -> answer", instructions="changed since"), (), (CHAT,), (case,))
    made = record(session, case, CHAT).case("c")
    completion = made.recordings["chat"].attempts[0].completions[0]
    assert (completion.finish_reason, made.measured) == (("stop", {"chat": MEASURED}) if is_kept else (None, {}))
    assert "changed since" in str(made.recordings["chat"].messages)


def test_what_is_recorded_stands_in_the_order_of_the_columns_whichever_was_first() -> None:
    reply = Reply("[[ ## answer ## ]]\nyes")
    case = Case("c", {"question": "?"}, replies={"gone": reply, "later": reply, "chat": reply})
    columns = (CHAT, Column("later", "chat"))
    session = Session(SignatureText("question -> answer"), columns=columns, cases=(case,))
    for column in reversed(columns):
        session = record(session, session.case("c"), column)
    assert list(session.case("c").recordings) == ["chat", "later"]
    assert list(session.sort_by_column(case.replies)) == ["chat", "later", "gone"]

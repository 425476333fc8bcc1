"""A fixture drifts exactly when the prompt, the request or the reading does, and says what made the difference."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from adapters import lm
from adapters.requests.capabilities import Capabilities
from adapters.running import runner
from sessions.causes.finding import causes_of
from sessions.checking import checking, reports
from sessions.checking.verdicts import NOT_PARSED, NOT_RECORDED, OLD_REPLY, FixtureResult, totals
from sessions.errors import SessionError
from sessions.file import store
from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Demo, Session, SignatureText
from sessions.running import recording, rendering
from workbench.output import json_shapes

INSTRUCTIONS = "Answer the question.\nBe brief.\nNever guess."
COLUMNS = (Column("chat", "chat"), Column("json", "json"), Column("xml", "xml"))
REPLIES = {
    "chat": "[[ ## answer ## ]]\nyes\n\n[[ ## score ## ]]\n0.5\n\n[[ ## completed ## ]]",
    "json": '{"answer": "yes", "score": 0.5}',
    "xml": "<answer>yes</answer>\n<score>0.5</score>",
}


def recorded(**changes: Any) -> Session:
    """A session of three columns with a pasted reply recorded under each."""
    case = Case(
        "rain",
        inputs={"question": "Is it raining?"},
        replies={id: Reply(text, source="pasted") for id, text in REPLIES.items()},
    )
    session = Session(
        SignatureText("question -> answer, score: float", instructions=INSTRUCTIONS),
        demos=(Demo({"question": "Snow?", "answer": "no", "score": 1}), Demo({"question": "Hail?", "answer": "no"})),
        columns=COLUMNS,
        cases=(replace(case, **changes),),
    )
    for column in COLUMNS:
        session = recording.record(session, session.cases[0], column)
    return store.loads(store.dumps(session))


def words(results: list[FixtureResult]) -> set[tuple[str, str, str]]:
    return {(one.verdicts["render"], one.verdicts["parse"], one.verdicts["expect"]) for one in results}


def test_what_was_recorded_passes_and_expectations_are_judged_apart() -> None:
    assert words(checking.check(recorded())) == {("pass", "pass", "empty")}
    assert words(checking.check(recorded(expect={"reply": "parses"}))) == {("pass", "pass", "pass")}
    results = checking.check(recorded(expect={"fields": {"answer": {"equals": "no"}}}))
    assert words(results) == {("pass", "pass", "fail")}
    assert totals(results) == {"passed": 0, "failed": 3, "unasked": 0, "empty": 0}


def test_another_model_is_rendered_by_its_own_capabilities_and_accepted_as_what_was_never_sent() -> None:
    session = replace(recorded(), model="openai/gpt-6-luna")
    old = session.cases[0].recordings["json"]
    assert old.capabilities["response_schema"] is False
    sent = replace(session.cases[0], recordings={"json": replace(old, source="sent")})
    session = replace(session.replace_case(sent), columns=session.columns[1:2])
    (result,) = checking.check(session)
    assert any(one.place == "request.response_format" for one in result.drift)
    made = checking.update(session)
    kept = made.cases[0].recordings["json"]
    fresh = rendering.request_of(made, made.columns[0], made.cases[0])
    assert recording.as_json(fresh.as_dict()) == {"messages": list(kept.messages), **kept.request}
    assert kept.capabilities["response_schema"] is True
    assert kept.source == "accepted"
    assert store.loads(store.dumps(made)).cases[0].recordings["json"].source == "accepted"
    assert words(checking.check(made)) == {("pass", "pass", "empty")}


def test_a_recording_deleted_beside_an_expectation_is_told() -> None:
    session = recorded(expect={"reply": "parses"})
    case = session.cases[0]
    shown = session.replace_case(replace(case, recordings={}))
    assert {one.notes for one in checking.check(shown)} == {(NOT_RECORDED,)}
    ran = session.replace_case(replace(case, recordings={}, measured={"chat": ({"usage": None},)}))
    found = {one.column: one for one in checking.check(ran)}
    assert found["chat"].verdicts == {"render": "error", "parse": "empty", "expect": "pass"}
    assert [one.message for one in found["chat"].drift] == [checking.GONE]
    assert [one.kind for one in causes_of(found["chat"])] == ["error"]
    assert not found["xml"].failed


def test_a_reply_edited_away_from_its_recording_is_told_and_the_recorded_one_judged() -> None:
    session = recorded(expect={"fields": {"answer": {"equals": "yes"}}})
    case = session.cases[0]
    edited = Reply(case.replies["json"].text.replace("yes", "no"), source="edited")
    session = session.replace_case(replace(case, replies={**case.replies, "json": edited}))
    found = {one.column: one for one in checking.check(session)}
    assert found["json"].passed and found["chat"].notes == ()
    (said,) = found["json"].notes
    assert said.startswith("the recorded reply was judged, not the one shown (edited)")


def test_nothing_recorded_and_nothing_expected_is_empty_and_never_a_pass() -> None:
    session = recorded()
    bare = session.replace_case(replace(session.cases[0], recordings={}))
    results = checking.check(bare)
    assert words(results) == {("empty", "empty", "empty")}
    assert totals(results) == {"passed": 0, "failed": 0, "unasked": 0, "empty": 3}
    assert not any(one.passed for one in results)


def test_a_recording_whose_column_is_gone_fails_rather_than_being_passed_over() -> None:
    session = recorded()
    results = checking.check(replace(session, columns=session.columns[:2]))
    assert [(one.column, one.failed) for one in results] == [("chat", False), ("json", False), ("xml", True)]


def test_an_expectation_without_any_reply_is_an_error_that_says_what_to_do() -> None:
    session = recorded(expect={"reply": "parses"})
    shown = session.replace_case(replace(session.cases[0], recordings={}))
    assert words(checking.check(shown)) == {("empty", "empty", "pass")}
    none = session.replace_case(replace(session.cases[0], recordings={}, replies={}))
    results = checking.check(none)
    assert words(results) == {("empty", "empty", "error")}
    assert all("workbench send SESSION --save" in one.drift[0].message for one in results)


def test_one_changed_word_of_the_instructions_is_a_diff_of_just_that() -> None:
    session = recorded()
    changed = replace(
        session, signature=replace(session.signature, instructions=INSTRUCTIONS.replace("brief", "short"))
    )
    results = checking.check(changed)
    assert words(results) == {("drift", "pass", "empty")}
    for result in results:
        (drift,) = result.drift
        assert drift.place == "messages[0]"
        assert drift.message == "the instructions of the system message changed"
        assert [(one.turn, one.kind, one.field) for one in drift.origins] == [("system", "instructions", None)]
        assert [line.split() for line in drift.diff if line[0] in "-+"] == [
            ["-", "Be", "brief."],
            ["+", "Be", "short."],
        ]


def test_a_changed_description_a_demo_and_an_input_are_named_by_their_origin() -> None:
    session = recorded()
    asked = session.replace_case(replace(session.cases[0], inputs={"question": "Is it snowing?"}))
    assert origins(asked) == {"inputs · value of `question`"}
    demo = replace(session, demos=(replace(session.demos[0], values={"question": "Snow?", "answer": "yes", "score": 1}),
                                   session.demos[1]))  # fmt: skip
    assert origins(demo) == {"demo 1 · value of `answer`"}
    source = (
        "class S(dspy.Signature):\n    question: str = dspy.InputField(desc='{}')\n    answer: str = dspy.OutputField()"
    )
    before = replace(session, signature=SignatureText(source.format("the question")))
    before = recording.record(before, before.cases[0], COLUMNS[0])
    after = replace(before, signature=SignatureText(source.format("a question")))
    assert origins(after) == {"system · description of `question`"}


def origins(session: Session) -> set[str]:
    (result,) = checking.check(session, columns=["chat"])
    found = [origin for drift in result.drift if drift.part == "render" for origin in drift.origins]
    return {f"{one.turn} · {one.kind}" + (f" of `{one.field}`" if one.field is not None else "") for one in found}


def test_a_demo_taken_away_and_one_added_are_told_as_messages() -> None:
    session = recorded()
    fewer = replace(session, demos=session.demos[:1])
    (result,) = checking.check(fewer, columns=["chat"])
    assert [drift.message for drift in result.drift] == [
        "the recorded message 2 (user) is gone",
        "the recorded message 3 (assistant) is gone",
    ]
    more = replace(session, demos=(*session.demos, Demo({"question": "Fog?", "answer": "no", "score": 2})))
    (result,) = checking.check(more, columns=["chat"])
    assert [drift.message for drift in result.drift] == [
        "demo 3: the user message is new",
        "demo 3: the assistant message is new",
    ]


def test_a_changed_parameter_and_a_changed_model_are_drift_of_the_request() -> None:
    session = recorded()
    (result,) = checking.check(replace(session, params={"temperature": 1.0}), columns=["chat"])
    assert [(one.place, one.diff) for one in result.drift] == [("request.temperature", ("+1.0",))]
    (result,) = checking.check(replace(session, model="openai/gpt-6-luna"), columns=["chat"])
    assert [(one.place, one.diff) for one in result.drift] == [
        ("request.model", ("-offline/exact", "+openai/gpt-6-luna"))
    ]


def test_the_recorded_capabilities_are_used_and_not_those_of_today() -> None:
    session = recorded()
    able = Capabilities(response_schema=True, params=frozenset({"response_format"}))
    session = recording.record(session, session.cases[0], COLUMNS[1], capabilities=able)
    again = store.loads(store.dumps(session))
    assert "response_format" in again.cases[0].recordings["json"].request
    (result,) = checking.check(again, columns=["json"])
    assert result.passed


def test_a_reply_that_is_read_otherwise_is_drift_of_the_reading_with_its_type() -> None:
    data = json.loads(store.dumps(recorded()))
    reading = data["cases"][0]["recordings"]["chat"]["attempts"][0]["completions"][0]["reading"]
    assert reading == {"ok": True, "values": {"answer": "yes", "score": 0.5}, "error": None}
    reading["values"]["score"] = "0.5"
    results = checking.check(store.loads(json.dumps(data)), columns=["chat"])
    assert words(results) == {("pass", "drift", "empty")}
    (drift,) = results[0].drift
    assert (drift.place, drift.before, drift.after) == ("attempts[0].completions[0].values.score", "0.5", 0.5)
    reading["ok"] = False
    (result,) = checking.check(store.loads(json.dumps(data)), columns=["chat"])
    assert "the reply parses now" in [one.message for one in result.drift]


@pytest.mark.parametrize(("before", "after"), [(1, 1.0), (1, True), (0.0, -0.0)])
def test_numbers_that_python_calls_equal_are_told_apart(before: Any, after: Any) -> None:
    signature = SignatureText("question -> value: Any")
    case = Case("c", inputs={"question": "q"}, replies={"json": Reply(json.dumps({"value": before}))})
    session = recording.record(Session(signature, columns=COLUMNS[1:2], cases=(case,)), case, COLUMNS[1])
    text = store.dumps(session)
    data = json.loads(text)
    data["cases"][0]["recordings"]["json"]["attempts"][0]["completions"][0]["reading"]["values"]["value"] = after
    assert checking.check(store.loads(text))[0].passed
    assert checking.check(store.loads(json.dumps(data)))[0].verdicts["parse"] == "drift"


def test_a_reply_recorded_as_unreadable_passes_as_long_as_it_is() -> None:
    session = recorded(replies={id: Reply("no idea", source="edited") for id in REPLIES})
    assert words(checking.check(session)) == {("pass", "pass", "empty")}
    assert session.cases[0].recordings["chat"].source == "edited"
    assert session.cases[0].recordings["json"].attempts[0].completions[0].reading.error.type


def test_a_pass_that_is_a_recorded_parse_error_is_said_unless_it_is_expected() -> None:
    replies = {id: Reply("no idea" if id == "json" else text) for id, text in REPLIES.items()}
    session = recorded(replies=replies)
    assert {one.column: one.notes for one in checking.check(session)}["json"] == (NOT_PARSED,)
    expected = {"columns": {"json": {"reply": "does_not_parse"}}}
    case = replace(session.cases[0], expect=expected)
    assert not any(one.notes for one in checking.check(replace(session, cases=(case,))) if one.column == "json")
    assert not any(one.notes for one in checking.check(recorded()))


def test_versions_that_have_changed_are_said_with_the_drift_and_are_no_drift_themselves() -> None:
    session = recorded()
    case = session.cases[0]
    old = {id: replace(one, versions={**one.versions, "json_repair": "0.1"}) for id, one in case.recordings.items()}
    session = session.replace_case(replace(case, recordings=old))
    assert words(checking.check(session)) == {("pass", "pass", "empty")}
    changed = replace(session, signature=replace(session.signature, instructions="Answer."))
    now = recording.versions()["json_repair"]
    assert {one.drift[0].versions for one in checking.check(changed)} == {f"json_repair 0.1 then, {now} now"}


def test_a_signature_or_an_adapter_that_cannot_be_read_is_an_error_and_no_crash() -> None:
    session = recorded()
    broken = replace(session, signature=SignatureText("question -> answer: nonsense[["))
    assert words(checking.check(broken)) == {("error", "error", "error")}
    column = replace(COLUMNS[0], adapter="os:system")
    (result,) = checking.check(replace(session, columns=(column,)), columns=["chat"])
    assert "Python code" in result.drift[0].message
    unreadable = recorded()
    unreadable = replace(unreadable, signature=SignatureText("question: dspy.Image -> answer, score: float"),
                         cases=(replace(unreadable.cases[0], inputs={"question": 3}),))  # fmt: skip
    assert {one.verdicts["render"] for one in checking.check(unreadable)} == {"error"}


def test_update_accepts_each_verdict_apart_and_only_what_has_drifted() -> None:
    session = recorded()
    assert checking.update(session) is session
    changed = replace(session, signature=replace(session.signature, instructions="Answer."))
    accepted = checking.update(changed, parts=["render"])
    assert words(checking.check(accepted)) == {("pass", "pass", "empty")}
    assert accepted.cases[0].recordings["chat"].attempts == session.cases[0].recordings["chat"].attempts
    assert checking.update(changed, parts=["parse"]) is changed
    one = checking.update(changed, columns=["xml"])
    assert [result.failed for result in checking.check(one)] == [True, True, False]
    with pytest.raises(ValueError, match="not expect"):
        checking.update(session, parts=["expect"])


def test_every_attempt_of_a_run_with_a_fallback_is_rendered_and_read_again() -> None:
    class Mute:
        model = "offline/exact"
        capabilities = Capabilities()
        replies = iter(["no idea", '{"answer": "yes", "score": 1}'])

        def stream(self, request: Any, cancel: Any = None) -> Any:
            yield lm.Chunk(text=next(self.replies), finish_reason="stop")

    session = recorded()
    case, column = session.cases[0], COLUMNS[0]
    signature = session.signature.read()
    demos, inputs = rendering.demos_of(session), rendering.inputs_of(signature, case)
    run = runner.run(rendering.adapter_of(column), Mute(), signature, demos, inputs, fallback=True)
    assert [attempt.adapter for attempt in run.attempts] == ["chat", "json"]
    session = store.loads(store.dumps(recording.record(session, case, column, run)))
    attempts = session.cases[0].recordings["chat"].attempts
    assert [attempt.role for attempt in attempts] == ["main", "fallback"]
    (result,) = checking.check(session, columns=["chat"])
    assert result.passed
    changed = replace(session, signature=replace(session.signature, instructions="Answer."))
    (result,) = checking.check(changed, columns=["chat"])
    assert [one.place for one in result.drift] == ["messages[0]", "attempts[1].messages[0]"]


def test_two_step_is_checked_with_its_extraction() -> None:
    column = Column("twostep", "twostep")
    session = replace(recorded(), columns=(column,))
    signature = session.signature.read()
    model = lm.open("offline/exact", chunk_seconds=0)
    inputs = rendering.inputs_of(signature, session.cases[0])
    adapter = rendering.adapter_of(column)
    run = runner.run(adapter, model, signature, rendering.demos_of(session), inputs, fallback=False)
    session = store.loads(store.dumps(recording.record(session, session.cases[0], column, run)))
    attempts = session.cases[0].recordings["twostep"].attempts
    assert [attempt.role for attempt in attempts][:2] == ["main", "extraction"]
    assert words(checking.check(session, columns=["twostep"])) == {("pass", "pass", "empty")}


def test_a_run_that_broke_off_is_not_recorded() -> None:
    class Refusing:
        model = "offline/exact"
        capabilities = Capabilities()

        def stream(self, request: Any, cancel: Any = None) -> Any:
            raise lm.ProviderError("401: no key", "refused")

    session = recorded()
    case, signature = session.cases[0], session.signature.read()
    inputs = rendering.inputs_of(signature, case)
    run = runner.run(rendering.adapter_of(COLUMNS[0]), Refusing(), signature, (), inputs, fallback=False)
    with pytest.raises(SessionError, match="no complete reply to record: 401: no key"):
        recording.record(session, case, COLUMNS[0], run)
    with pytest.raises(SessionError, match="no reply to record"):
        recording.record(session, replace(case, replies={}), COLUMNS[0])


def test_hostile_recordings_give_verdicts() -> None:
    session = recorded()
    case = session.cases[0]
    text = "[[ ## answer ## ]]\n" + "\ud800[/x]\x1b[31m" * 10_000 + "[" * 10_000
    hostile = session.replace_case(replace(case, replies={"chat": Reply(text)}))
    hostile = recording.record(hostile, hostile.cases[0], COLUMNS[0])
    assert checking.check(store.loads(store.dumps(hostile)), columns=["chat"])[0].passed
    messages = ({"role": 3, "content": [None, {"type": "text"}]}, {})
    noise = replace(case.recordings["chat"], messages=messages, attempts=())
    odd = session.replace_case(replace(case, recordings={"chat": noise}))
    verdicts = checking.check(odd, columns=["chat"])[0].verdicts
    assert (verdicts["render"], verdicts["parse"]) == ("drift", "empty")


def test_the_report_names_fixture_verdict_origin_and_lines() -> None:
    session = recorded(expect={"fields": {"answer": {"equals": "no"}}})
    changed = replace(session, signature=replace(session.signature, instructions="Answer."))
    (result,) = checking.check(changed, "rain.json", columns=["chat"])
    assert result.verdicts == {"render": "drift", "parse": "pass", "expect": "fail"}
    text = reports.details(result)
    assert "render: the instructions of the system message lost text  [messages[0]]" in text
    assert 'expected: "no"' in text
    assert 'found:    "yes"' in text
    assert reports.summary(totals([result])) == "0 passed, 1 failed"
    assert json.dumps(json_shapes.fixture(result), allow_nan=False)
    assert set(json_shapes.fixture(result)) == {
        *("path", "case", "column", "verdicts", "drift", "notes", "verdict_changes")
    }


@pytest.mark.parametrize(("digest", "is_told"), [(None, False), ("of another prompt", True)])
def test_an_expectation_that_an_old_reply_meets_says_so(digest: str | None, is_told: bool) -> None:
    reply = Reply("[[ ## answer ## ]]\nYes.\n\n[[ ## completed ## ]]", source="pasted", request_digest=digest)
    case = Case("c", {"question": "q"}, expect={"reply": "parses"}, replies={"chat": reply})
    session = Session(SignatureText("question -> answer"), columns=(Column("chat", "chat"),), cases=(case,))
    (result,) = checking.check(session)
    assert result.verdicts["expect"] == "pass"
    assert (OLD_REPLY in result.notes) is is_told

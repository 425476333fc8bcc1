"""A column of another release: made and read by that release, and told of as far as that is certain.

The dspy beside the tests stands for the other release: what it makes is known, since ours makes the same.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adapters.formats import catalog
from adapters.formats.catalog import UnknownAdapterError
from adapters.json_text.repair_limits import one_reading
from adapters.prompts.text import Kind, Message, Prompt, Segment, Text
from adapters.replies.reading import Span
from sessions import examples
from sessions.causes.finding import Causes
from sessions.checking import checking, reports
from sessions.file import store
from sessions.file.typed_values import read_back, typed
from sessions.model.replies import Extraction, Reply
from sessions.model.session import Case, Column, Session, SignatureText
from sessions.releases import adapter, environments
from sessions.releases.engine import Call, Question, ReleaseError
from sessions.running import recording, rendering
from tests.support.scripted_lm import ScriptedLM
from workbench.sending import sending

HERE = recording.DSPY


@pytest.fixture(scope="module", autouse=True)
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The dspy of the tests, as a release that was added."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        environments.use(sys.executable)
        yield
        environments.end()
        environments.begin()


def session_of(signature: str, adapter: str, **inputs: Any) -> Session:
    columns = (Column(f"{adapter}@{HERE}", f"{adapter}@{HERE}"), Column(adapter, adapter))
    return Session(SignatureText(signature), columns=columns, cases=(Case("one", inputs),))


def test_messages_that_stay_as_they_were_are_the_same_objects() -> None:
    session = examples.load(examples.FIRST)
    column, case = Column("there", f"chat@{HERE}"), session.cases[0]
    before = rendering.request_of(session, column, case).prompt
    other = replace(session, signature=replace(session.signature, instructions="Other words."))
    after = rendering.request_of(other, column, case, reuse=before).prompt
    assert after.messages == rendering.request_of(other, column, case).prompt.messages
    same = [one is another for one, another in zip(after.messages, before.messages, strict=True)]
    assert same == [False] + [True] * (len(same) - 1) and len(same) > 1


def test_a_message_whose_pieces_come_from_elsewhere_is_not_the_one_before() -> None:
    def prompt(kind: Kind) -> Prompt:
        return Prompt((Message("user", "inputs", (Text((Segment("the same words", kind),)),)),))

    before, after = prompt("value"), prompt("custom")
    assert before.messages == after.messages
    assert adapter.kept(after, before).messages[0] is after.messages[0]
    assert adapter.kept(prompt("value"), before).messages[0] is before.messages[0]


@pytest.mark.parametrize("adapter", ["chat", "json", "xml", "baml", "twostep"])
def test_the_request_is_that_releases_and_its_pieces_are_traced_to_ours(adapter: str) -> None:
    session = examples.load(examples.FIRST)
    case = session.cases[0]
    theirs = rendering.request_of(session, Column("there", f"{adapter}@{HERE}"), case)
    ours = rendering.request_of(session, Column("here", adapter), case)
    assert theirs.prompt.as_dicts() == ours.prompt.as_dicts()
    assert theirs.prompt.messages == ours.prompt.messages
    assert recording.as_json(dict(theirs.params)) == recording.as_json(dict(ours.params))
    assert theirs.signature == ours.signature


def test_a_reply_is_read_there_and_placed_as_ours_places_the_same_values() -> None:
    session = session_of("question -> answer, score: float, tags: list[str], again", "chat", question="Why?")
    text = "[[ ## answer ## ]]\nOnce\n\n[[ ## score ## ]]\n0.25\n\n[[ ## tags ## ]]\n['a']\n\n[[ ## again ## ]]\nI"
    spans: list[tuple[Span, ...]] = []
    for column in session.columns:
        request = rendering.request_of(session, column, session.cases[0])
        reading = recording.read_completion(
            rendering.adapter_of(column), request, session.signature.read(), Reply(text)
        )
        assert reading.ok
        assert dict(reading.values) == {"answer": "Once", "score": 0.25, "tags": ["a"], "again": "I"}
        assert "".join([text[one.start : one.end] for one in reading.spans]) == text
        assert reading.fields["answer"].raw == "Once" and reading.fields["tags"].raw == "['a']"
        spans.append(reading.spans)
    assert spans[0] == spans[1] and {one.kind for one in spans[0]} >= {"marker", "value"}


def test_values_that_ours_does_not_take_are_placed_where_their_text_stands_once() -> None:
    text = "[[ ## answer ## ]]\nOnce\n\n[[ ## score ## ]]\n0.25\n\n[[ ## tags ## ]]\n['a']"
    signature = SignatureText("question -> answer, score: float, tags: list[str]").read()
    ours = catalog.make("chat").read(signature, text)
    same = {name: typed(value) for name, value in ours.values.items()}
    assert adapter.spans_of(text, same, ours) == ours.spans
    spans = adapter.spans_of(text, {**same, "tags": ["a", "b"]}, ours)
    assert {one.field: text[one.start : one.end] for one in spans if one.kind == "value"} == {
        "answer": "Once",
        "score": "0.25",
    }
    assert {one.kind for one in spans} == {"value", "untraced"}
    assert "".join([text[one.start : one.end] for one in spans]) == text


def test_a_value_of_another_type_is_not_the_one_that_ours_takes() -> None:
    text = "[[ ## sure ## ]]\nTrue"
    ours = catalog.make("chat").read(SignatureText("question -> sure: bool").read(), text)
    assert adapter.spans_of(text, {"sure": True}, ours) == ours.spans
    for other in (1, 1.0, "true"):
        assert {one.kind for one in adapter.spans_of(text, {"sure": other}, ours)} == {"untraced"}


def test_of_a_field_that_is_answered_twice_nobody_says_which_answer_was_taken() -> None:
    text = "[[ ## answer ## ]]\nOnce\n\n[[ ## answer ## ]]\nOnce"
    ours = catalog.make("chat").read(SignatureText("question -> answer").read(), text)
    assert ours.ok and "duplicate" in {one.kind for one in ours.spans}
    assert adapter.spans_of(text, {"answer": "Once"}, ours) == (Span(0, len(text), "untraced"),)


@pytest.mark.parametrize("adapter", ["chat", "json"])
def test_who_reads_within_steps_asks_a_release_of_no_reply_that_ours_does_not_finish_within_them(
    monkeypatch: pytest.MonkeyPatch, adapter: str
) -> None:
    session = session_of("question -> answer: list[int]", adapter, question="Why?")
    column, signature = session.columns[0], session.signature.read()
    request = rendering.request_of(session, column, session.cases[0])
    release = environments.release_of(HERE)
    asked: list[str] = []
    call = release.call

    def count(question: Question) -> Call:
        asked.extend([one.text for one in question.answers])
        return call(question)

    monkeypatch.setattr(release, "call", count)
    head = "[[ ## answer ## ]]\n" if adapter == "chat" else ""
    for text in (head + "{" * 20_000, head + ("[1]" if head else '{"answer": [1]}')):
        with one_reading():
            reading = recording.read_completion(rendering.adapter_of(column), request, signature, Reply(text))
        if "{" * 20_000 in text:
            assert asked == [] and reading.error is not None and reading.error.type == "ReleaseError"
            assert f"dspy {HERE} is not asked: our {adapter} adapter" in reading.error.message
            assert "".join([text[one.start : one.end] for one in reading.spans]) == text
        else:
            assert asked == [text] and reading.values == {"answer": [1]}


def test_a_reply_that_is_refused_there_is_refused_with_its_words() -> None:
    session = session_of("question -> answer: int", "json", question="Why?")
    for column in session.columns:
        request = rendering.request_of(session, column, session.cases[0])
        adapter, signature = rendering.adapter_of(column), session.signature.read()
        reading = recording.read_completion(adapter, request, signature, Reply("no JSON \x1b[31m"))
        assert not reading.ok and reading.error is not None
        assert (reading.error.type, reading.values) == ("AdapterParseError", {})
        if "@" in column.adapter:
            assert "cannot be serialized to a JSON object" in reading.error.message


def test_a_run_goes_through_our_runner_and_its_recording_names_the_release(tmp_path: Path) -> None:
    source = """
import enum
import pydantic
class Mood(enum.Enum):
    GOOD = "good"
class Point(pydantic.BaseModel):
    x: float
class Rate(dspy.Signature):
    question: str = dspy.InputField()
    mood: Mood = dspy.OutputField()
    point: Point = dspy.OutputField()
"""
    session = replace(session_of(source, "json", question="Why?"), model="scripted/model")
    reply = '{"mood": "good", "point": {"x": 1}}'
    for column in session.columns:
        run = sending.send(session, column, session.cases[0], model=ScriptedLM(reply))
        assert run.ok, run.error
        session = sending.keep(session, "one", column, run)
    theirs, ours = [session.cases[0].recordings[column.id] for column in session.columns]
    assert theirs.messages == ours.messages and theirs.attempts[0].adapter == f"json@{HERE}"
    assert theirs.versions == ours.versions
    (there,), (here,) = theirs.attempts[0].completions, ours.attempts[0].completions
    assert there.reading == here.reading and there.reading is not None
    assert there.reading.values["mood"] == {"$type": "enum", "name": "Mood.GOOD", "value": "good"}
    store.save(session, tmp_path / "rate.session.json")
    again = store.load(tmp_path / "rate.session.json")
    for result in checking.check(again):
        assert (result.verdicts["render"], result.verdicts["parse"]) == ("pass", "pass"), result


def test_the_json_of_that_release_asks_again_where_its_chat_was_not_answered() -> None:
    session = replace(session_of("question -> answer: int", "chat", question="Why?"), fallback=True)
    model = ScriptedLM("nonsense", '{"answer": 3}')
    run = sending.send(session, session.columns[0], session.cases[0], model=model)
    assert run.ok and run.values == {"answer": 3}
    assert [one.adapter for one in run.attempts] == [f"chat@{HERE}", f"json@{HERE}"]


def test_a_recording_of_a_release_that_was_not_added_is_an_error_and_says_how_to_add_it() -> None:
    session = session_of("question -> answer", "chat", question="Why?")
    column = session.columns[0]
    run = sending.send(session, column, session.cases[0], model=ScriptedLM("[[ ## answer ## ]]\nyes"))
    session = sending.keep(session, "one", column, run)
    elsewhere = store.loads(store.dumps(session).replace(f"chat@{HERE}", "chat@9.9.9"))
    (result, unrecorded) = checking.check(elsewhere)
    assert set(result.verdicts.values()) == {"error"} and unrecorded.is_empty
    (line,) = reports.details(result).split("\n")
    assert line.startswith("  render, parse, expect: dspy 9.9.9 is not added here")
    causes = Causes()
    causes.add([result])
    (cause,) = causes.found()
    assert cause.words == "error: dspy 9.9.9 is not added here: `workbench dspy add 9.9.9` adds it"
    assert checking.update(elsewhere) is elsewhere
    with pytest.raises(ReleaseError, match=r"workbench dspy add 9\.9\.9"):
        rendering.request_of(elsewhere, elsewhere.columns[0], elsewhere.cases[0])


def test_a_release_that_cannot_be_asked_is_an_error_of_its_fixture_and_of_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = replace(session_of("question -> answer", "chat", question="Why?"), model="scripted/model")
    for column in session.columns:
        run = sending.send(session, column, session.cases[0], model=ScriptedLM("[[ ## answer ## ]]\nyes"))
        session = sending.keep(session, "one", column, run)

    def gone(version: str) -> None:
        raise ReleaseError("missing", "", f"dspy {version} has become another")

    monkeypatch.setattr(environments, "release_of", gone)
    there, here = checking.check(session)
    assert {there.verdicts[part] for part in ("render", "parse")} == {"error"}
    assert all("has become another" in one.message for one in there.drift)
    assert {here.verdicts[part] for part in ("render", "parse")} == {"pass"}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (f"markdown@{HERE}", "no dspy has an adapter 'markdown'"),
        (f"@{HERE}", "no dspy has an adapter ''"),
        ("chat@", "there is no adapter 'chat@'"),
        ("chat@newest", "there is no adapter 'chat@newest'"),
        ("chat@../3.0", "there is no adapter"),
        (f"a:B@{HERE}", "is Python code"),
    ],
)
def test_a_name_that_no_release_has_is_one_line(name: str, said: str) -> None:
    with pytest.raises(UnknownAdapterError, match=said):
        rendering.adapter_of(Column("c", name))


def test_two_step_of_a_release_reads_a_reply_with_what_the_second_model_said() -> None:
    session = session_of("question -> answer, score: float", "twostep", question="Why?")
    extraction = Extraction("chat", "[[ ## answer ## ]]\nOnce\n\n[[ ## score ## ]]\n0.25\n\n[[ ## completed ## ]]")
    reply = Reply("It was once, I would say.", extraction=extraction)
    for column in session.columns:
        request = rendering.request_of(session, column, session.cases[0])
        reading = recording.read_completion(rendering.adapter_of(column), request, session.signature.read(), reply)
        assert dict(reading.values) == {"answer": "Once", "score": 0.25}, reading.error


def test_two_step_of_a_release_is_rendered_and_not_sent() -> None:
    session = session_of("question -> answer", "twostep", question="Why?")
    with pytest.raises(UnknownAdapterError, match=r"^it cannot be sent: .*; send `twostep`"):
        sending.send(session, session.columns[0], session.cases[0], model=ScriptedLM())


def test_the_title_names_the_release() -> None:
    assert catalog.title("chat@3.0.4") == "Chat · dspy 3.0.4"
    assert catalog.profile("chat@3.0.4").can_fall_back
    assert catalog.parse_release("chat") is None and catalog.parse_release("a:B@3.0.4") is None


def a_prompt(*texts: str) -> Prompt:
    return Prompt(tuple([Message("user", "inputs", (Text.of(text),)) for text in texts]))


def test_lines_are_traced_where_a_line_of_them_stands_once_in_both_and_all_else_is_not() -> None:
    own = Text((Segment("head\n", "boilerplate"), Segment("Why?\n", "value", "question"), Segment("\nend", "reminder")))
    theirs = a_prompt("HEAD\nWhy?\n\nend.")
    (message,) = adapter.traced(theirs, (Message("user", "inputs", (own,)),)).messages
    assert message.segments == (
        Segment("HEAD\n", "custom"),
        Segment("Why?\n", "value", "question"),
        Segment("\n", "reminder"),
        Segment("end.", "custom"),
    )
    twice = a_prompt("Why?\nWhy?\nelse")
    (message,) = adapter.traced(twice, (Message("user", "inputs", (own,)),)).messages
    assert message.segments == (Segment("Why?\nWhy?\nelse", "custom"),)


def test_a_message_of_a_hundred_thousand_blank_lines_is_traced_as_far_as_time_allows() -> None:
    blank = "\n" * 100_000
    own = Text((Segment("Why?\n", "value", "question"), Segment(f"ours{blank}theirs", "reminder")))
    (message,) = adapter.traced(a_prompt(f"Why?\nhere{blank}there"), (Message("user", "inputs", (own,)),)).messages
    assert message.segments[0] == Segment("Why?\n", "value", "question")
    assert str(message.text) == f"Why?\nhere{blank}there"


def test_nothing_is_traced_where_the_messages_are_others() -> None:
    theirs = a_prompt("one", "two")
    assert adapter.traced(theirs, a_prompt("one").messages) is theirs
    assert adapter.traced(theirs, ()) is theirs


@pytest.mark.parametrize("reply", ["", "x", "aa a", "\ud800 <&> [/red] \x1b[0m", "3.5 and 3.5", "true"])
def test_spans_partition_whatever_the_values(reply: str) -> None:
    values = {"a": "a", "b": 3.5, "c": True, "d": None, "e": "aa", "f": "", "g": {"$type": "x", "value": "x"}}
    spans = adapter.spans_of(reply, values)
    assert "".join([reply[one.start : one.end] for one in spans]) == reply
    assert all(one.end > one.start for one in spans)


def test_a_value_that_stands_in_another_is_not_placed() -> None:
    assert adapter.spans_of("an answer", {"a": "an answer", "b": "answer"}) == (Span(0, 9, "untraced"),)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ({"$type": "enum", "name": "Mood.GOOD", "value": "good"}, "good"),
        ({"$type": "enum", "name": "Level.LOW", "value": 1}, 1),
        ({"$type": "model", "name": "P", "value": {"x": {"$type": "float", "value": "NaN"}}}, {"x": "NaN"}),
        ([{"$type": "tuple", "value": [1, 2.5]}], [[1, 2.5]]),
        ({"$type": "enum", "name": "N.NO", "value": None}, "None"),
        ({"a": [1, None, True, 2.0]}, {"a": [1, None, True, 2.0]}),
        ("plain", "plain"),
    ],
)
def test_a_value_of_another_release_is_written_as_it_was_and_shown_without_its_types(written: Any, shown: Any) -> None:
    value = read_back(written)
    assert value == shown
    assert typed(value) == written

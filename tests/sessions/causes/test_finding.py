"""Drifts of one cause are one cause, whatever the adapter and the place in which they show."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from sessions.causes.cause import ACCEPTABLE, Cause, Key
from sessions.causes.finding import Causes, causes_of, plain_words
from sessions.checking import checking
from sessions.checking.verdicts import Drift, Edit, FixtureResult, Origin, verdict_changes
from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Demo, Session, SignatureText
from sessions.running import recording
from workbench.output import json_shapes

SOURCE = '''import dspy
from pydantic import BaseModel, Field
class Invoice(BaseModel):
    total: float = Field(description="what is owed")
class Read(dspy.Signature):
    """Read the note."""
    note: str = dspy.InputField(desc="what was written")
    invoice: Invoice = dspy.OutputField()
    score: float = dspy.OutputField(desc="0 to 1")
'''
REPLIES = {
    "chat": '[[ ## invoice ## ]]\n{"total": 3}\n\n[[ ## score ## ]]\n0.5\n\n[[ ## completed ## ]]',
    "json": '{"invoice": {"total": 3}, "score": 0.5}',
    "xml": '<invoice>{"total": 3}</invoice>\n<score>0.5</score>',
    "baml": '{"invoice": {"total": 3}, "score": 0.5}',
}


def model(name: str, **values: Any) -> Any:
    return {"$type": "model", "name": name, "value": values}


def recorded() -> Session:
    replies = {id: Reply(text, source="pasted") for id, text in REPLIES.items()}
    session = Session(
        SignatureText(SOURCE, "Read"),
        columns=tuple(Column(id, id) for id in REPLIES),
        cases=(Case("rain", inputs={"note": "x"}, replies=replies),),
        demos=(Demo({"note": "d", "invoice": {"total": 1}, "score": 0.1}),),
    )
    for column in session.columns:
        session = recording.record(session, session.cases[0], column)
    return session


def causes(*sessions: Session) -> tuple[Cause, ...]:
    found = Causes()
    for number, one in enumerate(sessions):
        found.add(checking.check(one, f"{number}.json"))
    return found.found()


def not_of_replies(*sessions: Session) -> tuple[Cause, ...]:
    """The causes but replies that parse differently, which come first."""
    found = causes(*sessions)
    others = tuple(one for one in found if not one.changes_verdict)
    assert found[len(found) - len(others) :] == others
    return others


def edited(before: str, after: str) -> Session:
    session = recorded()
    assert before in SOURCE
    return replace(session, signature=replace(session.signature, text=SOURCE.replace(before, after)))


@pytest.mark.parametrize(
    ("before", "after", "kind", "name", "said"),
    [
        ("Read the note.", "Read the letter.", "instructions", "", "“note” → “letter”"),
        ("0 to 1", "0 to 10", "description", "score", "`score` changed: “1” → “10”"),
        ("was written", "was said", "description", "note", "“written” → “said”"),
        ("what is owed", "what is due", "schema", "", "“owed” → “due”"),
        ('Field(description="what is owed")', "Field()", "schema", "", "“what is owed” → nothing"),
        ("score: float", "score: int", "type", "score", "“float” → “int”"),
        ('    score: float = dspy.OutputField(desc="0 to 1")\n', "", "fields", "", "gone score"),
        ("score:", "rating:", "fields", "", "`score` is now `rating`"),
        ("what is owed", "what is due", "schema", "", "the description of `Invoice.total` has changed: “owed” → “due”"),
        ("    total:", "    sum:", "schema", "", "`Invoice.total` is now `sum`"),
    ],
)
def test_one_edit_of_the_signature_is_one_cause_of_all_its_columns(
    before: str, after: str, kind: str, name: str, said: str
) -> None:
    (cause,) = not_of_replies(edited(before, after), edited(before, after))
    assert (cause.key.kind, cause.key.name) == (kind, name)
    assert said in cause.words
    drifted = [one for one in checking.check(edited(before, after)) if one.failed]
    assert len(cause.fixtures) == 2 * len(drifted) >= 6
    assert cause.is_acceptable
    assert f"({2 * len(drifted)} fixtures in 2 files)" in cause.heading()


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('"bug", "other", "question"', '"bug", "other"', "the type of `kind` changed: “, 'question'” → nothing"),
        ('"bug", "other", "question"', '"bug", "other", "question", "idea"', "nothing → “, 'idea'”"),
        ("score: float", "score: int", "the type of `score` changed: “float” → “int”"),
        ('desc="which, of three"', 'desc="which"', "the description of `kind` changed: “, of three” → nothing"),
    ],
)
def test_text_removed_at_the_end_of_a_piece_blames_no_adapter(before: str, after: str, said: str) -> None:
    """The adapter's text behind it, and its notes on a type, follow from the signature."""
    text = """import dspy
from typing import Literal
class Sort(dspy.Signature):
    note: str = dspy.InputField()
    kind: Literal["bug", "other", "question"] = dspy.OutputField(desc="which, of three")
    score: float = dspy.OutputField()
"""
    assert before in text
    columns = tuple(Column(id, id) for id in ("chat", "json", "xml", "baml"))
    values = '{"kind": "question", "score": 0.5}'
    replies = {
        "chat": "[[ ## kind ## ]]\nquestion\n\n[[ ## score ## ]]\n0.5\n\n[[ ## completed ## ]]",
        **dict.fromkeys(("json", "baml"), values),
        "xml": "<kind>question</kind><score>0.5</score>",
    }
    case = Case("one", {"note": "x"}, replies={id: Reply(one, source="pasted") for id, one in replies.items()})
    session = Session(SignatureText(text, "Sort"), columns=columns, cases=(case,))
    for column in columns:
        session = recording.record(session, session.cases[0], column)
    changed = replace(session, signature=replace(session.signature, text=text.replace(before, after)))
    (cause,) = not_of_replies(changed)
    assert said in cause.words and len(cause.fixtures) == 4


@pytest.mark.parametrize("other", [('desc="0 to 1"', 'desc="0 to 10"'), ('desc="what was written"', "")])
def test_a_sentence_that_is_new_is_one_cause_wherever_else_the_prompt_changed(other: tuple[str, str]) -> None:
    """The full stop before it and its own are the same character: which of them is new must not hang on the rest."""
    alone = edited("Read the note.", "Read the note. Answer in English.")
    both = replace(alone, signature=replace(alone.signature, text=alone.signature.text.replace(*other)))
    (written,) = [one for one in causes(alone, both) if one.key.kind == "instructions"]
    assert "nothing → “Answer in English.”" in written.words


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ("note -> seller, paid: bool, currency", "the fields changed: new currency"),
        ("note -> seller", "the fields changed: gone paid"),
        ("note, letter -> seller, paid: bool", "the fields changed: new letter"),
    ],
)
def test_instructions_that_nobody_wrote_name_the_fields_and_are_no_cause_beside_them(after: str, said: str) -> None:
    replies = {"chat": Reply(CHAT_REPLY, source="pasted"), "json": Reply('{"seller": "x", "paid": true}')}
    columns = tuple(Column(id, id) for id in replies)
    session = Session(SignatureText("note -> seller, paid: bool"), columns=columns, cases=(Case("1", {"note": "x"}),))
    session = replace(session, cases=(replace(session.cases[0], replies=replies),))
    for column in columns:
        session = recording.record(session, session.cases[0], column)
    (cause,) = not_of_replies(replace(session, signature=SignatureText(after)))
    assert cause.words == said and len(cause.fixtures) == 2
    own = replace(session, signature=SignatureText(after, instructions="Read it well."))
    assert {one.key.kind for one in not_of_replies(own)} == {"fields", "instructions"}, "what somebody wrote is a cause"


def test_a_history_that_is_gone_is_named_and_not_quoted_whole() -> None:
    turns = tuple([{"question": f"The question {number}?", "answer": "A"} for number in range(200)])
    signature = SignatureText("history: dspy.History, question -> answer")
    case = Case("c", {"question": "Q"}, turns, replies={"twostep": Reply("A", source="pasted")})
    session = Session(signature, columns=(Column("twostep", "twostep"),), cases=(case,))
    session = recording.record(session, session.cases[0], session.columns[0])
    (cause,) = causes(replace(session, cases=(replace(session.cases[0], history=()),)))
    begins = "the fields changed: gone history: messages=[{'question': 'The question 0?'"
    assert cause.words.startswith(begins) and cause.words.endswith("…") and len(cause.words) < 100


CHAT_REPLY = "[[ ## seller ## ]]\nx\n\n[[ ## paid ## ]]\nTrue\n\n[[ ## completed ## ]]"


@pytest.mark.parametrize(
    ("changes", "kind", "said"),
    [
        ({"model": "openai/gpt-6-luna"}, "model", "offline/exact"),
        ({"params": {"temperature": 0.5}}, "parameter", "`temperature` changed: nothing → “0.5”"),
        ({"demos": ()}, "demo", "messages that were recorded are gone"),
        ({"demos": (Demo({"note": "e", "invoice": {"total": 1}, "score": 0.1}),)}, "demo", "“d” → “e”"),
        ({"inputs": {"note": "y"}}, "input", "the input `note` changed: “x” → “y”"),
    ],
)
def test_what_else_goes_into_a_prompt_is_a_cause_of_its_own(changes: dict[str, Any], kind: str, said: str) -> None:
    session = recorded()
    if "inputs" in changes:
        changes = {"cases": (replace(session.cases[0], **changes),)}
    (cause,) = causes(replace(session, **changes))
    assert cause.key.kind == kind and len(cause.fixtures) == 4
    assert said in cause.words


def test_a_second_cause_mixed_in_is_seen_apart() -> None:
    one = edited("Read the note.", "Read the letter.")
    text = one.signature.text.replace("was written", "was said")
    found = causes(one, replace(one, signature=replace(one.signature, text=text)))
    assert [(one.key.kind, len(one.fixtures)) for one in found] == [("instructions", 8), ("description", 4)]


def test_a_cause_has_the_same_id_in_every_run_and_another_where_another_thing_changed() -> None:
    first, again = causes(edited("0 to 1", "0 to 9")), causes(edited("0 to 1", "0 to 9"))
    assert first[0].id == again[0].id and len(first[0].id) == 10
    assert causes(edited("0 to 1", "0 to 8"))[0].id != first[0].id


def test_what_another_release_does_is_named_as_that() -> None:
    session = recorded()
    case = session.cases[0]
    made = case.recordings["chat"]
    system = str(made.messages[0]["content"]).replace("All interactions will be", "All of them are")
    old = replace(made, messages=({**made.messages[0], "content": system}, *made.messages[1:]))
    for versions, kind in (
        ({**made.versions, "dspy": "3.3.0"}, "dspy release"),
        (made.versions, "adapter or its options"),
    ):
        recordings = {**case.recordings, "chat": replace(old, versions=versions)}
        (cause,) = causes(session.replace_case(replace(case, recordings=recordings)))
        assert cause.key.kind == kind


def test_every_drift_belongs_to_a_cause_and_an_expectation_is_not_to_be_accepted() -> None:
    session = edited("Read the note.", "Read the letter.")
    case = replace(session.cases[0], expect={"fields": {"score": {"equals": 9.0}}})
    for result in checking.check(session.replace_case(case)):
        found = causes_of(result)
        assert {key.kind for key in found} == {"instructions", "expectation"}
        assert set(map(id, result.drift)) == {id(one) for drifts in found.values() for one in drifts}
    assert "expectation" not in ACCEPTABLE and "source" not in ACCEPTABLE


def test_a_report_is_bounded_and_its_shape_plain_json() -> None:
    session = recorded()
    hostile = replace(session, signature=replace(session.signature, instructions="[red]\x1b[31m" + "x" * 10_000))
    (cause,) = causes(*[hostile] * 20)
    assert len(cause.heading()) < 300 and "80 fixtures in 20 files" in cause.heading()
    assert len(list(cause.lines())) < 60
    assert json.loads(json.dumps(json_shapes.cause(cause)))["fixtures"][0] == {
        "path": "0.json",
        "case": "rain",
        "column": "chat",
    }


def test_what_another_release_wrote_is_said_as_an_upgrade_says_it() -> None:
    reminder, marker = Origin("history 1", "reminder"), Origin("history 1", "marker", "answer")
    edits = (Edit(reminder, "", "Respond with the field"), Edit(marker, "", "`[[ ## answer ## ]]`"))
    drift = Drift("render", "messages[1]", "the reminder was added", versions="dspy 3.0.4 then, 3.4.1 now", edits=edits)
    found = Causes()
    found.add([FixtureResult("s.json", "one", "chat", {"render": "drift"}, (drift,))])
    assert [one.words for one in found.found()] == ["another dspy release: history turns gained the reminder"]


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        (model("Invoice", total=3), model("Invoice", total=3.0), [("Invoice.total", "3", "3.0")]),
        (model("Invoice", total=3), model("Bill", total=3), []),
        (model("Invoice", a=1, b=2), model("Invoice", b=2, a=1), []),
        (model("Invoice", total=3), model("Invoice", total=3, tax=0), [("Invoice.tax", "no value", "0")]),
        ([model("A", x=True)] * 9, [model("A", x=1)] * 9, [("A.x", "true", "1")]),
        (model("R", of=[model("A", x=1)]), model("R", of=[model("A", x=2)]), [("A.x", "1", "2")]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, [("invoice", '{"a": 1, "b": 2}', '{"b": 2, "a": 1}')]),
        ([1, 2, 3, 4, 5], [0, 0, 0, 0, 0], [("invoice", "[1, 2, 3, 4, 5]", "[0, 0, 0, 0, 0]")]),
        ([1, 2], [1], [("invoice", "[1, 2]", "[1]")]),
    ],
)
def test_a_changed_value_is_named_by_the_innermost_class_and_field(
    before: Any, after: Any, changes: list[tuple[str, str, str]]
) -> None:
    drift = Drift(
        "parse", "attempts[0].completions[0].values.invoice", "value `invoice` has changed", (), (), before, after
    )
    result = FixtureResult("a.json", "rain", "chat", {"parse": "drift"}, (drift,))
    assert [one[:3] for one in verdict_changes(result)] == changes
    assert len(causes_of(result)) == max(1, len(changes)), "every drift belongs to a cause"


def test_a_value_nested_without_end_is_compared() -> None:
    deep: Any = 1
    for _ in range(60):
        deep = [deep]
    drift = Drift("parse", "attempts[0].completions[0].values.x", "value `x` has changed", (), (), deep, [deep])
    (change,) = verdict_changes(FixtureResult("a.json", "rain", "chat", {"parse": "drift"}, (drift,)))
    assert change.field.startswith("x[]")


def test_chain_of_thought_in_the_place_of_predict_is_named() -> None:
    session = recorded()
    (cause,) = not_of_replies(replace(session, signature=replace(session.signature, predictor="ChainOfThought")))
    assert cause.words == "`reasoning` is new, as where ChainOfThought takes the place of Predict"
    gone = Key("fields", "", "reasoning", "")
    assert plain_words(gone) == "`reasoning` is gone, as where Predict takes the place of ChainOfThought"


@pytest.mark.parametrize("adapter", ["chat", "json", "xml", "baml", "markdown", "twostep"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Literal['x', 'y'] | None", "Literal['x', 'y']"),
        ("Literal['x, y', 'y z', 'q']", "Literal['x, y', 'q']"),
        ("str", "list[str]"),
        ("int", "bool"),
        ("dict[str, int]", "Literal['x']"),
        ("str", "int"),
    ],
)
def test_a_changed_type_is_one_cause_and_blames_neither_adapter_nor_schema(
    adapter: str, before: str, after: str
) -> None:
    column = Column(adapter, adapter)
    case = Case("one", {"q": "x"}, replies={adapter: Reply("It is said.", source="pasted")})
    session = Session(SignatureText(f"q -> a: {before}"), columns=(column,), cases=(case,))
    session = recording.record(session, case, column)
    (cause,) = not_of_replies(replace(session, signature=SignatureText(f"q -> a: {after}")))
    assert (cause.key.kind, cause.key.name) == ("type", "a")
    assert "schema" not in cause.words and "match" not in cause.words

"""Fixes applied: each kind of change, its effect on prompt and reply, and nothing lost on the way."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from adapters.replies.flag import Fix
from adapters.replies.flag import describe_field as describe
from adapters.replies.flag import retype_field as retype
from adapters.replies.flag import use_adapter as use
from sessions.model.replies import Extraction, Reply
from sessions.model.session import Case, Column, Demo, Session, SignatureText
from sessions.running import linting
from workbench.editing import fixes
from workbench.editing.fixes import Effect, FixError
from workbench.state.document import State

SOURCE = '''import dspy
from typing import Literal

class Sort(dspy.Signature):
    """Sort a ticket."""
    ticket: str = dspy.InputField()
    label: Literal["bug", "billing"] = dspy.OutputField(desc="its kind")
'''
MIXED = "[[ ## label ## ]]\nrefund\n\n[[ ## completed ## ]]"


def session(text: str = SOURCE, **more: Any) -> Session:
    columns = (Column("chat", "chat"), Column("xml", "xml"))
    return Session(SignatureText(text), columns=columns, cases=(Case("c", {"ticket": "T"}),), **more)


def effects(written: Session, column: str, reply: str | None) -> tuple[Effect, ...]:
    kept = None if reply is None else Reply(reply, source="pasted")
    return fixes.effects_for(written, written.column(column), written.cases[0], kept)


def test_a_literal_with_the_missing_word_lets_the_reply_parse_and_shows_the_changed_prompt() -> None:
    best = effects(session(), "chat", MIXED)[0]
    assert best.fix.message == "Allow 'refund' in `label`."
    assert best.parses
    assert best.verdict == "this reply would parse"
    assert any("+" in line and "refund" in line for one in best.prompt for line in one.lines)
    assert best.after is not None
    assert best.after.session.signature.text == SOURCE.replace('"billing"]', '"billing", "refund"]')


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('Literal["bug", "it\'s"]', """Literal["bug", "it's", 'refund']"""),
        (
            "Literal['bug',  # broken\n        'cost',\n    ]",
            "Literal['bug',  # broken\n        'cost', 'refund',\n    ]",
        ),
        ('list[ Literal["bug"] ]', 'list[ Literal["bug", "refund"] ]'),
        ('t.Literal["bug"]', "Literal['bug', 'refund']"),
    ],
)
def test_a_word_is_added_to_a_literal_that_is_written_as_it_was(before: str, after: str) -> None:
    text = SOURCE.replace("from typing import Literal", "import typing as t\nfrom typing import Literal")
    text = text.replace('Literal["bug", "billing"]', before)
    is_list = before.startswith("list")
    best = effects(session(text), "chat", MIXED.replace("refund", '["refund"]') if is_list else MIXED)[0]
    assert best.fix.message == "Allow 'refund' in `label`." and best.parses and best.after is not None
    assert best.after.session.signature.text == text.replace(before, after)


def test_a_sentence_is_added_to_the_description_once() -> None:
    state = State(session())
    once = fixes.apply(state, "chat", describe("label", "Only the values listed."))
    assert 'desc="its kind. Only the values listed."' in once.session.signature.text
    assert fixes.apply(once, "chat", describe("label", "Only the values listed.")) is once
    described = next(one for one in effects(session(), "chat", MIXED) if one.fix.kind == "description")
    assert (described.parses, described.verdict) == (None, "the next reply decides"), "it changes the prompt alone"


def test_a_demo_that_the_prompt_never_had_changes_no_reply() -> None:
    written = session(demos=(Demo({"note": "of no field"}), Demo({"ticket": "t", "label": "bug"})))
    disabled = {one.fix.change["demo"]: one for one in effects(written, "chat", MIXED) if "demo" in one.fix.change}
    assert (disabled[1].prompt, disabled[1].parses) == ((), None)
    assert disabled[1].verdict == "the prompt has no part of this demo, so the replies stay the same"


def test_a_type_with_a_description_is_decided_by_the_next_reply() -> None:
    best = effects(session("ticket -> n: int"), "chat", "[[ ## n ## ]]\nNot mentioned")[0]
    assert best.fix.message == "Give `n` the type int | None, and describe it: null if there is none."
    assert (best.parses, best.verdict) == (False, "the next reply decides")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Its kind.", "Its kind. Digits only."),
        ("Its kind:", "Its kind: Digits only."),
        ("(Its kind.)", "(Its kind.) Digits only."),
        ("Its kind (a or b)", "Its kind (a or b). Digits only."),
        ("", "Digits only."),
    ],
)
def test_a_sentence_is_added_after_the_end_of_the_one_before(before: str, after: str) -> None:
    field = f'label: str = dspy.OutputField(desc="{before}")'
    source = f"import dspy\n\nclass Sort(dspy.Signature):\n    ticket: str = dspy.InputField()\n    {field}\n"
    changed = fixes.apply(State(session(source)), "chat", describe("label", "Digits only."))
    assert f'label: str = dspy.OutputField(desc="{after}")' in changed.session.signature.text


def test_the_string_notation_changes_its_type_in_place() -> None:
    state = State(session("ticket -> n: int"))
    assert fixes.apply(state, "chat", retype("n", "int | None")).session.signature.text == "ticket -> n: int | None"


def test_another_adapter_takes_the_replies_of_its_column_along() -> None:
    written = session()
    case = Case("c", {"ticket": "T"}, replies={"xml": Reply("<label>a & b</label>", source="pasted")})
    made = fixes.apply(State(written.replace_case(case)), "xml", use("json")).session
    assert [(one.id, one.adapter) for one in made.columns] == [("chat", "chat"), ("json", "json")]
    assert made.cases[0].replies["json"].text == "<label>a & b</label>"


def test_no_reply_of_a_removed_column_is_overwritten() -> None:
    replies = {"xml": Reply("new", source="pasted"), "json": Reply("old", source="pasted")}
    written = session().replace_case(Case("c", {"ticket": "T"}, replies=replies))
    made = fixes.apply(State(written), "xml", use("json")).session
    assert {id: one.text for id, one in made.cases[0].replies.items()} == {"xml": "new", "json": "old"}


@pytest.mark.parametrize(
    ("fix", "changed"),
    [
        (
            Fix("max_tokens", "", {"params": {"max_tokens": 4000}}),
            lambda s: s.columns[0].params == {"max_tokens": 4000},
        ),
        (
            Fix("native", "", {"options": {"use_native_function_calling": True}}),
            lambda s: s.columns[0].options == {"use_native_function_calling": True},
        ),
        (Fix("fallback", "", {"fallback": True}), lambda s: s.fallback),
        (Fix("predictor", "", {"predictor": "ChainOfThought"}), lambda s: s.signature.predictor == "ChainOfThought"),
        (Fix("demo", "", {"demo": 1, "enabled": False}), lambda s: not s.demos[0].enabled),
        (
            Fix("name", "", {"field": "ticket", "name": "ticket_"}),
            lambda s: s.cases[0].inputs == {"ticket_": "T"} and "ticket_: str" in s.signature.text,
        ),
    ],
)
def test_every_kind_changes_what_it_says(fix: Fix, changed: Any) -> None:
    written = session(demos=(Demo({"ticket": "t", "label": "bug"}),))
    assert changed(fixes.apply(State(written), "chat", fix).session)


@pytest.mark.parametrize(
    ("fix", "says"),
    [
        (retype("nowhere", "str"), "nowhere is not written in the signature"),
        (Fix("demo", "", {"demo": 9, "enabled": False}), "no demo 9"),
        (Fix("native", "", {"options": {"nonsense": True}}), "no option nonsense"),
    ],
)
def test_a_fix_that_cannot_be_applied_says_why(fix: Fix, says: str) -> None:
    with pytest.raises(FixError, match=says):
        fixes.apply(State(session()), "chat", fix)


def test_an_adapter_is_offered_although_this_reply_is_in_the_old_format() -> None:
    written, reply = session(), "<label>\na < b\n</label>"
    found = effects(replace(written, columns=(written.column("xml"),)), "xml", reply)
    assert [one.fix.change for one in found[:2]] == [{"adapter": "chat"}, {"adapter": "json"}]
    assert found[2].fix.kind == "ask again"
    assert [one.section for one in found[2].prompt] == ["ask again · assistant", "ask again · user"]
    assert any("could not be parsed" in line for line in found[2].prompt[1].lines)
    assert found[0].verdict == "this reply is in the old format; the next decides"
    beside = [one.fix.change.get("adapter") for one in effects(written, "xml", reply)]
    assert beside == ["json", None, "chat"], "the session has a column chat already"


def test_two_wrong_outputs_are_fixed_one_after_the_other() -> None:
    written = session("ticket -> label: Literal['a', 'b'], n: int")
    reply = "[[ ## label ## ]]\nc\n\n[[ ## n ## ]]\n$1\n\n[[ ## completed ## ]]"
    best = effects(written, "chat", reply)[0]
    assert best.after is not None
    assert len(best.wrong) == 1
    assert best.verdict.startswith("this reply would still not parse: ")
    assert effects(best.after.session, "chat", reply)[0].parses


def test_lints_offer_their_fixes_without_a_reply() -> None:
    found = effects(session("ticket -> code: str"), "xml", None)
    assert {"adapter": "chat"} in [one.fix.change for one in found]
    assert found[0].verdict == "the next reply decides"


@pytest.mark.parametrize("reply", ["[/x] \x1b[31m \x00", "{" * 3000, "\ud800", "[[ ## label ## ]]\n[bold]\x07"])
def test_a_hostile_reply_raises_nothing(reply: str) -> None:
    for column in ("chat", "xml"):
        assert all(isinstance(one.verdict, str) for one in effects(session(), column, reply))


def test_a_fix_is_chosen_by_number_kind_or_change() -> None:
    found = effects(session(), "chat", MIXED)
    assert fixes.chosen(found, "1") is found[0]
    assert fixes.chosen(found, "description").fix.kind == "description"
    assert fixes.chosen(found, '{"field": "label", "type": "Literal[\'bug\', \'billing\', \'refund\']"}') is found[0]
    with pytest.raises(FixError, match="no fix '99'; there are: 1 Allow"):
        fixes.chosen(found, "99")
    with pytest.raises(FixError, match="need no fix"):
        fixes.chosen((), "1")


MISSPELT = "[[ label ]]\nbug"
DOUBLE = "x\n[[ label ]]\nbug"


@pytest.mark.parametrize(
    ("column", "reply", "corrected"),
    [
        ("chat", "[[ label ]]\nbug", "[[ ## label ## ]]\nbug"),
        ("chat", "[[[ label ### ]]]\nbug", "[[ ## label ## ]]\nbug"),
        ("chat", "[[ ## label ## ]]\nBug", "[[ ## label ## ]]\nbug"),
        ("xml", "<Label>bug</Label>", "<label>bug</label>"),
        ("xml", "<label>bug", "<label>bug</label>"),
    ],
)
def test_a_reply_whose_correction_is_known_is_corrected_by_the_first_fix(
    column: str, reply: str, corrected: str
) -> None:
    first = effects(session(), column, reply)[0]
    assert first.fix.kind == "reply"
    assert first.fix.change == {"reply": corrected}
    assert first.parses and "prompt and model stay the same" in first.verdict
    assert [one.section for one in first.prompt] == ["reply"]
    assert any(line.startswith("+") for line in first.prompt[0].lines)
    assert first.after is not None
    assert first.after.case.replies[column].text == corrected


def test_the_correction_of_a_reply_is_told_in_a_whole_sentence() -> None:
    first = effects(session("q -> label"), "xml", "<label>Tim & Sons</label>")[0]
    assert first.fix.message == "Edit this reply: with & in the text escaped it parses."


def test_a_corrected_reply_is_offered_as_a_demo_that_shows_the_format() -> None:
    found = effects(session(), "chat", MISSPELT)
    demo = next(one for one in found if "new_demo" in one.fix.change)
    assert (demo.fix.kind, demo.parses) == ("demo", None)
    assert demo.after is not None
    assert demo.after.session.demos == (Demo({"ticket": "T", "label": "bug"}),)
    assert any("[[ ## label ## ]]" in line for one in demo.prompt for line in one.lines)
    assert not any("new_demo" in one.fix.change for one in effects(demo.after.session, "chat", MISSPELT))


def test_a_demo_of_the_format_is_made_of_a_reply_that_parses() -> None:
    good = Reply("[[ ## label ## ]]\nbug", source="pasted")
    other = Case("d", {"ticket": "U"}, replies={"chat": good})
    written = replace(session(), cases=(Case("c", {"ticket": "T"}), other))
    demo = effects(written, "chat", "It is a bug, I think, as the page is white.")[0]
    assert demo.fix.message == "Add the reply of case d in column chat as a demo of the format."
    assert demo.fix.change == {"new_demo": {"ticket": "U", "label": "bug"}}
    assert any("[[ ## label ## ]]" in line for one in demo.prompt for line in one.lines)


def test_without_a_reply_that_parses_the_outputs_of_the_demo_are_filled_in_by_a_person() -> None:
    prose = "It is a bug, I think, as the page is white."
    demo = effects(session(), "chat", prose)[0]
    assert (demo.fix.message, demo.fix.change) == (fixes.FILL_IN, {"new_demo": {"ticket": "T"}})
    assert demo.is_unfinished and demo.verdict == "the demo is sent once its outputs are filled in"
    assert not any(one.is_unfinished for one in effects(session(), "chat", MIXED)), "its format is right"
    shown = session(demos=(Demo({"ticket": "U", "label": "bug"}),))
    assert not any(one.fix.kind == "demo" for one in effects(shown, "chat", prose)), "a demo shows the format already"


def test_a_changed_type_is_shown_in_the_signature_and_in_the_prompt() -> None:
    best = effects(session(), "chat", MIXED)[0]
    assert [one.section for one in best.prompt] == ["signature", "system", "inputs · user"]
    assert '+    label: Literal["bug", "billing", "refund"] = dspy.OutputField(desc="its kind")' in best.prompt[0].lines


def test_an_adapter_of_another_column_is_said_to_be_there() -> None:
    written = replace(session(), columns=(Column("chat", "chat"), Column("strict", "json")))
    told = [one.fix.message for one in effects(written, "chat", "It is a bug, I think, as the page is white.")]
    assert "Use the adapter `json` for this column, as column strict does." in told
    assert "Use the adapter `twostep` for this column." in told


def test_of_the_adapters_of_other_columns_the_one_that_reads_its_own_reply_comes_first() -> None:
    columns = tuple(Column(one, one) for one in ("chat", "twostep", "json"))
    case = Case("c", {"ticket": "T"}, replies={"json": Reply('{"label": "bug"}'), "twostep": Reply("a bug")})
    written = replace(session(), columns=columns, cases=(case,))
    told = [one.fix for one in effects(written, "chat", "[[ label ]]: it is a bug, as the page is white")]
    others = [(one.change["adapter"], one.message.partition(", ")[2]) for one in told if "adapter" in one.change]
    assert others == [
        ("json", "as column json does: its reply parses."),
        ("twostep", "as column twostep does."),
    ]


def test_an_adapter_whose_column_reads_its_reply_comes_before_one_without_a_column() -> None:
    columns = (Column("chat", "chat"), Column("json", "json"))
    case = Case("c", {"ticket": "T"}, replies={"json": Reply('{"label": "bug"}')})
    found = effects(replace(session(), columns=columns, cases=(case,)), "chat", "It is a bug, I think, of the page.")
    assert [one.fix.change["adapter"] for one in found if "adapter" in one.fix.change] == ["json", "twostep"]


def test_an_adapter_that_another_column_proves_comes_before_a_demo_that_may_help() -> None:
    columns = (Column("chat", "chat"), Column("json", "json"))
    case = Case("c", {"ticket": "T"}, replies={"json": Reply('{"label": "bug"}')})
    found = effects(replace(session(), columns=columns, cases=(case,)), "chat", "It is a bug, I think, of the page.")
    first, *others = [one.fix for one in found]
    assert first.message.endswith("as column json does: its reply parses.")
    assert "demo" in [one.kind for one in others]


def test_neither_the_adapter_of_a_failing_column_nor_the_fallback_to_it_is_offered() -> None:
    columns = (Column("chat", "chat"), Column("json", "json"))
    case = Case("c", {"ticket": "T"}, replies={"json": Reply('{"label": "neither"}')})
    found = effects(replace(session(), columns=columns, cases=(case,)), "chat", "It is a bug, I think, of the page.")
    assert [one.fix.change.get("adapter") for one in found if one.fix.kind in ("adapter", "fallback")] == ["twostep"]


def test_a_demo_is_offered_first_for_a_value_copied_from_an_input() -> None:
    case = Case("c", {"ticket": "The page is white today."})
    written = replace(session(), cases=(case,))
    found = effects(written, "chat", "[[ ## label ## ]]\nThe page is white\n\n[[ ## completed ## ]]")
    assert [one.fix.kind for one in found[:2]] == ["demo", "description"]


def test_the_sentences_of_all_places_are_offered_together_and_not_again_one_by_one() -> None:
    written = session("ticket -> label: Literal['bug', 'billing'], n: int")
    found = effects(written, "xml", "<label>neither of these</label><n>many</n>")
    described = [one.fix.change for one in found if one.fix.kind == "description"]
    assert [sorted(one) for one in described] == [["fields"]]


def test_no_demo_is_offered_for_the_second_call_of_two_step() -> None:
    written = replace(session(), columns=(Column("twostep", "twostep"),))
    reply = Reply("It is a bug.", source="pasted", extraction=Extraction(text="A bug, I would say."))
    found = fixes.effects_for(written, written.columns[0], written.cases[0], reply)
    assert found and not any(one.fix.kind == "demo" for one in found)


MODELS = '''import dspy
from typing import Literal
from pydantic import BaseModel

class Finding(BaseModel):
    confidence: float
    tags: str
    kind: Literal["a", "b"]

class Find(dspy.Signature):
    """Find."""
    text: str = dspy.InputField()
    findings: list[Finding] = dspy.OutputField()
'''


@pytest.mark.parametrize(
    ("given", "change"),
    [
        ({"confidence": "high"}, {"class": "Finding", "field": "confidence", "type": "str"}),
        ({"tags": ["x", "y"]}, {"class": "Finding", "field": "tags", "type": "list[str]"}),
        ({"kind": "c"}, {"class": "Finding", "field": "kind", "type": "Literal['a', 'b', 'c']"}),
        ({"kind": 0.5}, {"class": "Finding", "field": "kind", "type": "float"}),
    ],
)
def test_a_wrong_value_inside_a_model_is_fixed_in_its_own_class(given: Any, change: Any) -> None:
    good = {"confidence": 0.5, "tags": "x", "kind": "a"}
    reply = json.dumps({"findings": [{**good, **given}]})
    written = Session(SignatureText(MODELS), columns=(Column("json", "json"),), cases=(Case("c", {"text": "T"}),))
    best = effects(written, "json", reply)[0]
    assert best.fix.change == change
    assert best.parses
    described = next(one for one in effects(written, "json", reply) if one.fix.kind == "description")
    assert described.fix.change["class"] == "Finding"
    assert described.prompt, "the description reaches the prompt"


def test_all_words_of_a_reply_are_allowed_at_once() -> None:
    rows = [{"confidence": 0.5, "tags": "x", "kind": word} for word in ("see", "a", "do")]
    written = Session(SignatureText(MODELS), columns=(Column("json", "json"),), cases=(Case("c", {"text": "T"}),))
    best = effects(written, "json", json.dumps({"findings": rows}))[0]
    assert best.fix.message == "Allow 'see', 'do' in `Finding.kind`."
    assert best.parses


def test_an_adapter_with_the_same_values_is_no_better_than_a_sentence() -> None:
    text = MODELS.replace("confidence: float", "confidence_level: float | None = None")
    written = Session(SignatureText(text), columns=(Column("json", "json"),), cases=(Case("c", {"text": "T"}),))
    found = effects(written, "json", '{"findings": [{"confidence": 0.5, "tags": "x", "kind": "a"}]}')
    assert found[0].fix.kind == "description"


def test_a_correction_that_leaves_a_marker_in_a_value_is_not_offered_beside_a_better_one() -> None:
    found = [
        one.fix.change["reply"] for one in effects(session("q -> label"), "chat", DOUBLE) if one.fix.kind == "reply"
    ]
    assert found == ["x\n[[ ## label ## ]]\nbug"]


def test_a_sentence_is_added_to_an_output_without_a_type() -> None:
    found = effects(session("ticket -> answer"), "chat", '{"name": "search", "arguments": {"x": 1}}')
    best = next(one for one in found if one.fix.kind == "description")
    assert not best.problem and best.after is not None
    text = best.after.session.signature.text
    assert 'answer: str = dspy.OutputField(desc="Answer directly; call no tool.")' in text


def test_a_fix_that_a_lint_offers_too_keeps_its_first_place() -> None:
    only = replace(session("task -> code: str"), columns=(Column("xml", "xml"),))
    found = effects(only, "xml", '<code>\nif len(page) < 20:\n    print("R&B")\n</code>')
    assert [one.fix.change.get("adapter", one.fix.kind) for one in found] == [
        *("reply", "demo", "chat", "json", "ask again"),
    ]


def test_the_edit_of_a_reply_names_the_signs_that_it_escapes() -> None:
    first = effects(session("q -> label"), "xml", "<label>a ]]> b</label>")[0]
    assert first.fix.message == "Edit this reply: with ]]> in the text escaped it parses."
    assert first.fix.change == {"reply": "<label>a ]]&gt; b</label>"}


ENUM = """import dspy
from enum import Enum

class Kind(Enum):
    ONE = "one"
    TWO = "two"

class Sort(dspy.Signature):
    ticket: str = dspy.InputField()
    kinds: list[Kind] = dspy.OutputField()
"""


@pytest.mark.parametrize("word", ["three", "half-done", "1st"])
def test_missing_words_are_added_to_an_enum(word: str) -> None:
    written = replace(session(ENUM), columns=(Column("json", "json"),))
    best = effects(written, "json", json.dumps({"kinds": [word, "one", "four"]}))[0]
    assert best.fix.message == f"Allow {word!r}, 'four' in `Kind`."
    assert best.fix.change == {"class": "Kind", "values": [word, "four"]}
    assert best.parses and best.after is not None
    assert [one.value for one in best.after.session.signature.read().output_fields["kinds"].annotation.__args__[0]] == [
        *("one", "two", word, "four"),
    ]
    assert "signature" in [one.section for one in best.prompt]


def test_words_in_the_place_of_a_number_are_allowed_beside_it() -> None:
    rows = [{"confidence": given, "tags": "x", "kind": "a"} for given in ("high", "0.8", "medium")]
    written = Session(SignatureText(MODELS), columns=(Column("json", "json"),), cases=(Case("c", {"text": "T"}),))
    best = effects(written, "json", json.dumps({"findings": rows}))[0]
    assert best.fix.message == "Give `Finding.confidence` the type float | Literal['high', 'medium']."
    assert best.parses


@pytest.mark.parametrize(
    ("column", "reply", "edited"),
    [
        ("json", r'{"label": "a\u0000b\\u0000"}', r'{"label": "ab\\u0000"}'),
        ("chat", "[[ ## label ## ]]\na\0b", "[[ ## label ## ]]\nab"),
    ],
)
def test_the_character_nul_is_taken_out_of_a_reply(column: str, reply: str, edited: str) -> None:
    written = replace(session("q -> label"), columns=(Column(column, column),))
    best = effects(written, column, reply)[0]
    assert best.fix.message == "Edit this reply: without U+0000 it parses."
    assert best.fix.change == {"reply": edited}


def test_a_loop_is_stopped_before_anything_else() -> None:
    loop = '{"label": [' + '{"term": "bug"},\n' * 80
    kinds = [one.fix.kind for one in effects(replace(session(), columns=(Column("json", "json"),)), "json", loop)]
    assert kinds == ["sampling", "adapter", "ask again"]


def test_the_model_is_not_asked_again_when_the_lm_returned_a_text() -> None:
    assert effects(session("q -> label"), "chat", "{") == ()


@pytest.mark.parametrize("reply", ["{}", '["a", "b"]'])
def test_the_model_is_asked_again_before_another_adapter_is_tried(reply: str) -> None:
    written = replace(session("q -> a, b"), columns=(Column("json", "json"),), cases=(Case("c", {}),))
    assert [one.fix.kind for one in effects(written, "json", reply)][:2] == ["ask again", "adapter"]


def test_the_sentences_of_all_wrong_places_are_one_fix() -> None:
    written = Session(SignatureText(MODELS), columns=(Column("json", "json"),), cases=(Case("c", {"text": "T"}),))
    reply = json.dumps({"findings": [{"confidence": "$5", "tag": "x", "kind": "a"}] * 2})
    best = next(one for one in effects(written, "json", reply) if one.fix.kind == "description")
    told = "Add to the descriptions of `Finding.tags`: Its name in the reply is exactly `tags`; "
    assert best.fix.message == f"{told}`Finding.confidence`: Digits only, as a plain decimal number."
    assert best.after is not None and best.verdict == "the next reply decides"
    assert best.after.session.signature.text.count("Field(description=") == 2
    assert "signature" in [one.section for one in best.prompt]


def test_a_word_in_the_place_of_a_number_becomes_null_by_type_and_sentence() -> None:
    written = replace(session("ticket -> n: int"), columns=(Column("json", "json"),))
    change = {"field": "n", "type": "int | None", "description": "null if there is none."}
    best = next(one for one in effects(written, "json", '{"n": "Not mentioned"}') if one.fix.kind == "type")
    assert best.fix.change == change and best.after is not None
    assert 'n: int | None = dspy.OutputField(desc="null if there is none.")' in best.after.session.signature.text


def test_prose_is_read_by_a_second_call() -> None:
    found = effects(replace(session("q -> a, b"), cases=(Case("c", {}),)), "chat", "It is a bug, I think, of the page.")
    assert found[0].fix.change == {"adapter": "twostep"}


@pytest.mark.parametrize(
    ("text", "predictor", "message"),
    [
        ("ticket -> label", "ChainOfThought", "Use Predict, without an output `reasoning`."),
        ("ticket -> reasoning, label", "Predict", "Give `reasoning` the type dspy.Reasoning."),
    ],
)
def test_the_fix_for_reasoning_asked_twice_resolves_it(text: str, predictor: str, message: str) -> None:
    written = session(text, model="openai/o3", params={"capabilities": {"reasoning": True}})
    written = replace(written, signature=replace(written.signature, predictor=predictor))

    def found(one: Session) -> list[Any]:
        return [lint for lint in linting.lints_of_session(one, one.columns[:1], one.cases) if "twice" in lint.lint.name]

    (lint,) = found(written)
    (fix,) = lint.lint.fixes
    assert fix.message == message
    fixed = fixes.apply(State(written), "chat", fix).session
    fixed.signature.read()
    assert found(fixed) == []


@pytest.mark.parametrize("reply", ["It is a bug, I think, as the page is white.", '{"label": "Bug"}'])
def test_no_demo_is_offered_to_an_adapter_that_leaves_demos_out(reply: str) -> None:
    found = effects(replace(session(), columns=(Column("m", "markdown"),)), "m", reply)
    assert found
    assert not any("new_demo" in one.fix.change for one in found)

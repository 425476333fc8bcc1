"""What another release does to a prompt is said in one sentence, the same under every adapter and in every fixture."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from sessions.causes import writing
from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Session, SignatureText
from sessions.releases.engine import Call, ReleaseReading
from sessions.running import rendering
from sessions.running.recording import record
from sessions.upgrades.report import Upgrade

Compare = Callable[..., Upgrade]


def words(found: Upgrade) -> list[str]:
    return [one.words for one in found.found]


def test_nothing_changes_where_both_write_the_same(changed: Compare) -> None:
    found = changed()
    assert found.found == () and found.changed == ()
    assert len(found.compared) == 3


def test_a_piece_that_came_into_turns_is_named_with_the_adapters_that_have_it(changed: Compare) -> None:
    def without_reminder(role: str, text: str) -> str:
        return re.sub(r"\n\nRespond with [^\n]*$", "", text) if "Tea?" in text else text

    (only,) = changed(without_reminder).found
    assert only.words == "history turns gained the reminder"
    assert only.adapters == ("chat", "json", "xml")
    assert len(only.fixtures) == 3


def test_a_reminder_in_another_place_has_moved(changed: Compare, session: Session) -> None:
    only_json = replace(session, columns=(Column("json", "json"),))
    (asked,) = [rendering.request_of(only_json, one, session.cases[0]) for one in only_json.columns]
    reminder = str(asked.messages[-1].content).split("\n\n")[-1]
    assert reminder.startswith("Respond with")

    def in_the_system_message(role: str, text: str) -> str:
        if role == "system":
            return f"{text}\n\n{reminder}"
        return text.replace(f"\n\n{reminder}", "") if "Bread?" in text else text

    found = changed(in_the_system_message, of=only_json)
    assert words(found) == ["the reminder moved from the system message into the last message"]


def test_marks_that_end_an_answer_are_quoted(changed: Compare) -> None:
    def unmarked(role: str, text: str) -> str:
        return text.replace("\n\n[[ ## completed ## ]]\n", "\n") if role == "assistant" and "Käse" in text else text

    assert words(changed(unmarked)) == ["demos gained “[[ ## completed ## ]]”"]


def test_another_mark_of_fields_is_one_change_however_many_fields_have_it(changed: Compare) -> None:
    def as_chat(role: str, text: str) -> str:
        return re.sub(r"<(question|hint)>\n(.*?)\n</\1>", r"[[ ## \1 ## ]]\n\2", text) if role == "user" else text

    assert words(changed(as_chat)) == ["fields are marked `<field> </field>`, no longer `[[ ## field ## ]]`"]


@pytest.mark.parametrize(
    ("now", "then", "sentence"),
    [
        ("Union[str, NoneType]", "UnionType[str, NoneType]", "types are written `Union[…]`, no longer `UnionType[…]`"),
        ("Union[str, NoneType]", "Optional", "types are written `Union[…]`, no longer `Optional`"),
        (
            "Literal['a', 'b']):",
            "Literal):",
            "types are written with their item types, `list[…]` and no longer `list`",
        ),
        (": What is asked", ":", "the description of a field came into the prompt"),
    ],
)
def test_what_changed_in_a_piece_of_a_field(changed: Compare, now: str, then: str, sentence: str) -> None:
    def older(role: str, text: str) -> str:
        assert role != "system" or now in text
        return text.replace(now, then) if role == "system" else text

    assert words(changed(older)) == [sentence]


def test_keywords_of_schemas_are_named(changed: Compare) -> None:
    def titled(role: str, text: str) -> str:
        return re.sub(r'(\\?")title(\\?": \\?"Name)', r"\1x-name\2", text)

    assert "JSON schemas lost `x-name` and gained `title`" in words(changed(titled))


def test_letters_as_escapes_are_no_matter_of_the_values(changed: Compare) -> None:
    def escaped(role: str, text: str) -> str:
        return text.replace("Käse", "K\\u00e4se") if role == "assistant" else text

    assert words(changed(escaped)) == ["letters beyond ASCII in values are written as they are, no longer as `\\u…`"]


def test_a_prompt_that_only_has_other_blanks_says_so(changed: Compare) -> None:
    assert words(changed(lambda role, text: text.replace(":\n", ": \n"))) == ["only blanks or line breaks differ"]


def test_what_goes_out_beside_the_messages_is_named(changed: Compare) -> None:
    def with_format(call: Call) -> Call:
        return replace(call, request={**call.request, "response_format": {"type": "json_object"}})

    assert words(changed(call=with_format)) == ["`response_format` is no longer sent (was json_object)"]


def test_a_native_feature_is_one_change_and_not_a_dozen(changed: Compare) -> None:
    def native(call: Call) -> Call:
        return replace(call, removed_fields=("label",))

    def without_label(role: str, text: str) -> str:
        return "\n".join([line for line in text.split("\n") if "label" not in line])

    found = changed(without_label, call=native)
    assert words(found) == ["a field came into the prompt, whose place a native feature of the model took"]


REPLY = "[[ ## answer ## ]]\n4\n\n[[ ## completed ## ]]"


def with_reply(text: str = REPLY) -> Session:
    case = Case("sum", {"question": "2+2?"}, replies={"chat": Reply(text)})
    text = "question: str -> answer: int, note: str | None"
    return Session(SignatureText(text), columns=(Column("chat", "chat"),), cases=(case,))


def reading(found: ReleaseReading) -> Callable[[Call], Call]:
    return lambda call: replace(call, readings=(found,))


@pytest.mark.parametrize(
    ("before", "sentence", "count"),
    [
        (
            ReleaseReading(False, {}, "AdapterParseError", "Adapter ChatAdapter failed to parse the LM response."),
            "replies that were refused (AdapterParseError) are read, and a field that they lack is None",
            "read_now",
        ),
        (
            ReleaseReading(True, {"answer": "4", "note": None}),
            "a value is read as an int, no longer as a text",
            "read_otherwise",
        ),
        (ReleaseReading(True, {"answer": 4}), "a field that a reply lacks is read as None", "read_otherwise"),
        (ReleaseReading(True, {"answer": 5, "note": None}), "a value is read as 4, no longer as 5", "read_otherwise"),
    ],
)
def test_how_replies_are_read_is_told_and_counted(
    changed: Compare, before: ReleaseReading, sentence: str, count: str
) -> None:
    found = changed(call=reading(before), of=with_reply())
    assert words(found) == [sentence]
    told = {key: found.counts[key] for key in ("replies", "no_longer_read", "read_now", "read_otherwise")}
    assert told == {"replies": 1, "no_longer_read": 0, "read_now": 0, "read_otherwise": 0, count: 1}


def test_values_that_differ_in_spaces_alone_differ_in_their_cause(changed: Compare) -> None:
    case = Case(
        "sum", {"question": "2+2?"}, replies={"chat": Reply("[[ ## answer ## ]]\na b\n\n[[ ## completed ## ]]")}
    )
    of = Session(SignatureText("question -> answer"), columns=(Column("chat", "chat"),), cases=(case,))
    found = changed(call=reading(ReleaseReading(True, {"answer": "a  b"})), of=of)
    (only,) = found.found
    assert (only.key.before, only.key.after) == ('"a  b"', '"a b"')


def test_two_fallbacks_to_the_same_adapter_count_as_two_replies(changed: Compare) -> None:
    of = with_reply()
    of = record(of, of.cases[0], of.columns[0])
    recorded = of.cases[0].recordings["chat"]
    (main,) = recorded.attempts
    fallback = replace(main, adapter="json", role="fallback", request={"messages": []})
    recorded = replace(recorded, attempts=(main, fallback, fallback))
    of = replace(of, cases=(replace(of.cases[0], recordings={"chat": recorded}),))
    another = ReleaseReading(True, {"answer": 5, "note": None})
    found = changed(call=lambda call: replace(call, readings=(another,) * len(call.readings)), of=of)
    assert found.counts["replies"] == 3
    assert found.counts["read_otherwise"] + found.counts["no_longer_read"] == 3


def test_a_reply_that_is_no_longer_read_stands_first_with_its_reason(changed: Compare) -> None:
    before = ReleaseReading(True, {"answer": 4, "note": None})
    found = changed(
        lambda role, text: text.replace("Your input", "The input"), call=reading(before), of=with_reply("four")
    )
    assert words(found)[0].startswith("replies that were read are refused: AdapterParseError")
    assert [one.is_reading for one in found.found] == [True, False]
    assert found.counts["no_longer_read"] == 1


def test_a_reply_without_text_leaves_the_reason_as_it_is(changed: Compare) -> None:
    before = ReleaseReading(True, {"answer": 4, "note": None})
    (told,) = words(changed(call=reading(before), of=with_reply("")))
    assert told.startswith("replies that were read are refused: AdapterParseError") and "…" not in told


def test_hostile_text_is_told_as_it_is(changed: Compare) -> None:
    found = changed(lambda role, text: f"[red]\x1b[2J</b>`{text}\ud800" if role == "system" else text)
    assert found.found != ()
    assert json.loads(json.dumps(found.as_dict()))["counts"]["changed"] == 3


def test_a_megabyte_that_changed_is_told_in_a_line(changed: Compare) -> None:
    found = changed(lambda role, text: text + "x" * 1_000_000 if role == "system" else text)
    assert found.found != ()
    assert all(len(one.words) < 400 for one in found.found)


@pytest.mark.parametrize("hostile", ["<a ", '[{"":', '{"a": [', "</a", "<a/> "])
def test_a_megabyte_of_what_never_ends_is_made_a_key_in_one_pass(hostile: str) -> None:
    assert len(writing.abstract(hostile * 250_000, ["a"])) <= writing.LONGEST
    assert writing.schemas_in(hostile * 250_000) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("say <a>x</a> and <b>y</b> or <c/>", "say <…> or <…>"),
        ("say <c/> and </a> and <b>", "say <…> and <b>"),
        ("</a> first <b", "</a> first <b"),
        ('as {"type": "object"} there', "as {…} there"),
    ],
)
def test_elements_and_objects_are_put_aside(text: str, said: str) -> None:
    assert writing.abstract(text, ()) == said


def test_the_same_change_has_the_same_id_in_every_report(changed: Compare) -> None:
    def older(role: str, text: str) -> str:
        return text.replace("Union[str, NoneType]", "Optional")

    one, other = changed(older), changed(older)
    assert [each.key.id for each in one.found] == [each.key.id for each in other.found] != []
    shapes: list[Any] = one.as_dict()["fixtures"]
    assert all(each["changes"] == [one.found[0].key.id] for each in shapes)


def test_a_column_of_another_release_is_compared_by_its_adapter(changed: Compare, session: Session) -> None:
    found = changed(of=replace(session, columns=(Column("old", "chat@3.0.4"),)))
    assert [(one.adapter, one.why_not) for one in found.fixtures] == [("chat", "")]

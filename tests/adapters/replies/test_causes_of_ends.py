"""Causes of replies that end too early, go on for ever, or only think."""

from __future__ import annotations

from dataclasses import replace

import pytest

import adapters
from adapters.formats import catalog
from tests.support.replies import read

ECHOING_LOOP = "<phone>5</phone>\nIn adhering to this structure, your objective is:\n\n<phone>"
PROGRAM = '```python\nimport json\n\ndef answer(title):\n    return {"title": title, "size": 1'
LOOP = '{"name": "Rex", "age": 1' + "0" * 230
"""The beginning of a number whose zeros never end."""


def test_a_reply_that_is_whole_may_end_in_blanks() -> None:
    for adapter, completion in (
        ("chat", "[[ ## n ## ]]\nx\n\n[[ ## completed ## ]]" + "\n" * 200),
        ("json", '{"n": "x"}' + "\n" * 200),
    ):
        causes = [one.cause for one in read(adapter, "q -> n: int", completion).diagnosis]
        assert causes == ["not-a-number"]


def test_more_tokens_do_not_end_thoughts_that_have_an_end() -> None:
    (found,) = read("chat", "q -> a", "Alright, a greeting.\n</think>\n\nHello!").diagnosis
    assert [fix.kind for fix in found.fixes] == ["structured output", "adapter"]
    (found,) = read("chat", "q -> a", "Alright, the user wants a greeting.").diagnosis
    assert found.fixes[-1].message == "Set `max_tokens` to 4,000."


@pytest.mark.parametrize(
    ("completion", "finish_reason", "said"),
    [
        ("[[ ## a ## ]]\nx", "stop", "The reply has no `b`, `c`; it ends without them."),
        (
            "[[ ## a ## ]]\nx",
            None,
            "The reply does not end with [[ ## completed ## ]], which dspy does not require; it may have been cut off "
            "in `a` (line 2, column 1).",
        ),
        ("[[ ## b ## ]]\nx", None, "The reply has no `a`, `c`; the model left them out."),
        ("[[ ## c ## ]]\nx", None, "The reply has no `a`, `b`; the model left them out."),
        ("[[ ## a ## ]]\nx\n\n[[ ## c ## ]]\nx", "stop", "The reply has no `b`; the model left it out."),
    ],
)
def test_only_a_reply_that_may_have_been_cut_off_is_said_to_be(
    completion: str, finish_reason: str | None, said: str
) -> None:
    reading = read("chat", "q -> a, b, c", completion).ending(finish_reason, None, {})
    assert [one.message for one in reading.diagnosis] == [said]
    assert ("cut off" in " ".join([one.message for one in reading.flags])) == ("cut off" in said)


@pytest.mark.parametrize(
    ("adapter", "completion", "cause"),
    [
        ("json", '{"type": "json", "data": {"type": "json", "da', "format-not-followed"),
        ("markdown", '```python\ndef f(x: dict) -> dict:\n    return {"n": x[', "format-not-followed"),
        ("chat", "[[ ## completed ## ]]\n[## completed##]\n[##", "format-not-followed"),
        ("xml", "def f(x):\n    return {x", "format-not-followed"),
        ("chat", "[[ ## q ## ]]\nWhy?\n\nHere is", "format-not-followed"),
        ("xml", "<a>\n<b>\n</a>\n</b>\n<a>\n<b", "xml-tag-not-closed"),
        ("json", '{"a', "cut-off-at-limit"),
        ("json", '{"data": {"a": "x', "cut-off-at-limit"),
        ("xml", "<a", "cut-off-at-limit"),
        ("chat", "[[ ## ", "cut-off-at-limit"),
    ],
)
def test_more_tokens_help_only_a_reply_that_has_begun(adapter: str, completion: str, cause: str) -> None:
    reading = read(adapter, "q -> a, b", completion).ending("length", None, {"max_tokens": 20})
    assert reading.diagnosis[0].cause == cause, reading.diagnosis


@pytest.mark.parametrize(
    ("adapter", "completion", "causes"),
    [
        (
            "markdown",
            '```json\n{"ok": "Great!", "n": 4}\n```\n\nThis is a',
            ["not-true-or-false", "cut-off-at-limit"],
        ),
        ("chat", "[[ ## ok ## ]]\nGreat!\n\n[[ ## n ## ]]\n12", ["not-true-or-false", "cut-off-at-limit"]),
        ("chat", "[[ ## ok ## ]]\nTrue\n\n[[ ## n ## ]]\nabout", ["cut-off-at-limit", "not-a-number"]),
        ("json", '{"ok": true, "n": "abo', ["cut-off-at-limit", "not-a-number"]),
        ("xml", "<ok>Great!</ok>\n<n>4</n>\n<ok>\nGre", ["not-true-or-false", "cut-off-at-limit"]),
        ("chat", "[[ ## ok ## ]]\nGreat!\n\n[[ ## ", ["cut-off-at-limit", "not-true-or-false"]),
    ],
)
def test_a_limit_behind_the_value_that_failed_is_not_the_first_cause(
    adapter: str, completion: str, causes: list[str]
) -> None:
    reading = read(adapter, "q -> ok: bool, n: int", completion).ending("length", None, {"max_tokens": 20})
    assert [one.cause for one in reading.diagnosis if one.cause in causes] == causes, reading.diagnosis


def test_a_reply_that_waits_for_its_extraction_is_no_parse_error() -> None:
    found = read("twostep", "q -> a, n: int", "It is 4.")
    assert (found.error is not None and found.error.type, found.diagnosis) == ("NeedsExtraction", ())


def test_a_bracket_missing_inside_is_no_cut_off_reply() -> None:
    reading = read("json", "q -> a: list[dict[str, int]], b", '{"a": [{"n": 1], "b": "x", "c": {"d": 2}}')
    assert reading.values == {"a": [{"n": 1}], "b": "x"}
    assert reading.diagnosis == ()


def test_the_template_of_the_prompt_is_recognised_by_its_last_sentence() -> None:
    assert (
        read("xml", "text -> phone: int", ECHOING_LOOP).diagnosis[0].message
        == "The reply repeats the prompt (line 2, column 1)."
    )


def test_the_second_call_of_twostep_gets_no_parameters_of_the_column() -> None:
    adapter = catalog.make("twostep")
    signature = adapters.read_signature("q -> a: int")
    second = read("chat", "q -> a: int", "```python\nx = 1").ending("length", None, {})
    reading = replace(adapter.read(signature, "a: 1"), extraction=second)
    fixes = [fix.message for one in reading.diagnosis for fix in one.fixes]
    assert fixes == ["Use the adapter `json` for this column."]


@pytest.mark.parametrize(
    ("adapter", "expected"), [("chat", "[[ ## name ## ]] markers"), ("json", "JSON keys"), ("markdown", "JSON keys")]
)
def test_a_program_in_place_of_an_answer_comes_before_its_end(adapter: str, expected: str) -> None:
    reading = read(adapter, "q -> title, n: int", PROGRAM.replace("title", "heading")).ending("length", None, {})
    said = [one.message for one in reading.diagnosis if one.cause != "json-repaired"]
    assert said[0] == f"The reply begins with a block of python instead of the {expected}."


@pytest.mark.parametrize(
    ("completion", "causes"),
    [
        (ECHOING_LOOP, ["prompt-echoed", "cut-off-at-limit"]),
        ('<phone>{"type": "object", "properties": {"a": 1', ["schema-echoed", "cut-off-at-limit"]),
    ],
)
def test_more_tokens_are_not_the_first_fix_of_an_echo(completion: str, causes: list[str]) -> None:
    reading = read("xml", "text -> phone: int", completion).ending("length", None, {"max_tokens": 20})
    assert [one.cause for one in reading.diagnosis if one.cause in causes] == causes


def test_the_loop_of_a_second_call_has_a_fix() -> None:
    second = read("chat", "q -> a: int", "x " * 200).ending("length", None, {})
    reading = replace(catalog.make("twostep").read(adapters.read_signature("q -> a: int"), "a"), extraction=second)
    assert [one.cause for one in reading.diagnosis][:1] == ["runaway-repetition"]
    assert [fix.message for one in reading.diagnosis for fix in one.fixes] == [
        "Use the adapter `json` for this column."
    ]


def test_a_reply_of_blanks_after_its_limit_is_no_text_of_a_custom_lm() -> None:
    reading = read("json", "q -> a", "{   \n\n \n").ending("length", None, {"max_tokens": 8})
    assert [one.message for one in reading.diagnosis if "custom LM" in one.message] == []
    assert reading.diagnosis[0].cause == "runaway-repetition"
    assert "custom LM" in read("json", "q -> a", "{").diagnosis[0].message


def test_a_loop_that_parses_is_not_given_more_tokens() -> None:
    reading = read("json", "q -> name, age: int", LOOP).ending("length", None, {"max_tokens": 300})
    assert reading.ok
    assert [(one.cause, [fix.kind for fix in one.fixes]) for one in reading.diagnosis] == [
        ("runaway-repetition", ["sampling", "adapter"]),
        ("cut-off-json-completed", []),
    ]


def test_an_object_that_was_cut_off_at_its_limit_and_closed_is_told() -> None:
    reading = read("json", "q -> names: list[str]", '{"names": ["Ann", "Bo').ending("length", None, {"max_tokens": 9})
    assert reading.values == {"names": ["Ann", "Bo"]}
    assert [one.cause for one in reading.diagnosis] == ["cut-off-json-completed"]


def test_made_up_inputs_can_be_stopped() -> None:
    (cause,) = read("chat", "user_question -> answer", "So.\n\nUser question: Why?\nAnswer: No.").diagnosis
    assert cause.fixes[0].change == {"params": {"stop": ["\nUser question:"]}}, "as the reply has it"


@pytest.mark.parametrize("adapter", ["chat", "json", "xml"])
@pytest.mark.parametrize("end", ["</think>", "[/THINK]"])
@pytest.mark.parametrize("thought", ["So I think.", "1 < 2 & so on: <answer>."])
def test_thoughts_without_an_answer_have_one_cause(adapter: str, end: str, thought: str) -> None:
    reading = read(adapter, "q -> answer, score: int", f"The user wants a number.\n{thought}\n{end}\n")
    assert [one.cause for one in reading.diagnosis] == ["empty-reply"]


@pytest.mark.parametrize("adapter", ["json", "markdown"])
def test_words_cut_off_below_a_whole_object_are_not_the_cause(adapter: str) -> None:
    whole = '```json\n{"review": {"sentiment": "good", "score": 5}}\n```\n\nThis is a JSON file with a single'
    reading = read(adapter, "q -> sentiment, score: int", whole).ending("length", None, {"max_tokens": 60})
    first, cut = reading.diagnosis
    assert first.message == "The object with the fields is one level down, in 'review'."
    assert cut.cause == "cut-off-at-limit" and not cut.fixes
    begun = read(adapter, "q -> sentiment, score: int", whole[:40]).ending("length", None, {"max_tokens": 60})
    assert [one.cause for one in begun.diagnosis] == ["cut-off-at-limit"]


def test_outputs_that_begin_again_need_no_more_tokens() -> None:
    again = read("xml", "q -> a, n: int", "<a>x</a>\n<n>4</n>\n<a>\nx").ending("length", None, {"max_tokens": 60})
    first, cut = again.diagnosis
    assert first.message == "<a> begins again after all outputs and is never closed."
    assert cut.cause == "cut-off-at-limit" and not cut.fixes
    whole = '```json\n{"review": {"a": "x", "n": 5}}\n```\n\nThat is:\n\n```json\n{"rev'
    first, cut = read("markdown", "q -> a, n: int", whole).ending("length", None, {"max_tokens": 60}).diagnosis
    assert first.message == "The object with the fields is one level down, in 'review'."
    assert cut.cause == "cut-off-at-limit" and not cut.fixes


def test_a_fenced_block_of_other_keys_that_was_cut_off_is_not_called_invalid() -> None:
    signature = adapters.read_signature("q -> mood, why")
    reading = catalog.make("markdown").read(signature, '```json\n{\n  "status": "error",\n  "message": "Batt')
    reading = replace(reading, ended=reading.ended._replace(finish_reason="length"))
    assert [one.cause for one in reading.diagnosis] == ["format-not-followed", "cut-off-at-limit"]
    assert reading.diagnosis[0].message.endswith(
        "none of the JSON keys of the outputs is in it; it has 'status', 'message'."
    )

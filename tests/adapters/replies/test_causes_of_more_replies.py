"""Causes and fixes of further replies that failed in public, or were written by a small model, in whole sentences."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import adapters
from adapters.formats import catalog
from adapters.replies.reading import Reading

LAYOUT = "The reply has the layout of ReAct agents ({}), not that of the prompt."
NESTED = """
from typing import Any
from pydantic import BaseModel
class Query(BaseModel):
    filters: dict[str, Any]
    range: dict[str, str]
class Ask(dspy.Signature):
    q: str = dspy.InputField()
    query: Query = dspy.OutputField()
"""


def read(adapter: str, signature: str, completion: str) -> Reading:
    return catalog.make(adapter).read(adapters.read_signature(signature), completion)


@pytest.mark.parametrize(
    ("adapter", "signature", "completion", "said"),
    [
        (
            "chat",
            "q -> thought, action",
            "Thought\nThe user wants to verify it.\nAction\nVideo Tool\nAction Input:\n{}",
            LAYOUT.format("Thought, Action, Action Input"),
        ),
        (
            "chat",
            "q -> thought, action",
            "Thought 1: I look.\n\nAction 1: tool[x]\n\nObservation 1: y",
            LAYOUT.format("Thought, Action, Observation"),
        ),
        (
            "json",
            "q -> label: Literal['GOOD', 'BAD']",
            '{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "string", "enum": ["GOOD"]}',
            "The reply repeats the JSON schema (line 1, column 2): values belong directly under their keys.",
        ),
        (
            "json",
            "q -> response",
            "\"{'response': \\\"It is 'it'.\\\"}\"",
            "The whole reply is one JSON string: the object is written as text inside it.",
        ),
        (
            "json",
            "q -> note",
            '{"note": ["a", "b"]}',
            "`note` is a text, so the JSON list became Python notation: \"['a', 'b']\".",
        ),
        (
            "markdown",
            "q -> thought, action",
            "## thought:\nI look.\n\n## action:\n<action>\n<tool>search</tool>\n</action>",
            "The reply has the fields under headings or labels.",
        ),
        (
            "markdown",
            "country -> capital",
            '```json\n{"country": "France", "capital": "Paris"}\n```',
            "The object has JSON keys other than the output fields, which this adapter rejects: `country`.",
        ),
        (
            "json",
            NESTED,
            '{"query": {"filters": {"groups": [{"field": "a"}, "range": {"from": "now"}\n}}}',
            "A } appears where ] is expected (line 2, column 1): json_repair guessed where the list or object ends.",
        ),
    ],
)
def test_the_first_cause_is_true(adapter: str, signature: str, completion: str, said: str) -> None:
    assert read(adapter, signature, completion).diagnosis[0].message == said


def test_a_bracket_missing_inside_is_no_cut_off_reply() -> None:
    reading = read("json", "q -> a: list[dict[str, int]], b", '{"a": [{"n": 1], "b": "x", "c": {"d": 2}}')
    assert reading.values == {"a": [{"n": 1}], "b": "x"}
    assert reading.diagnosis == ()


def test_a_list_that_became_a_text_can_be_given_its_type() -> None:
    (cause,) = read("json", "q -> note", '{"note": ["a", "b"]}').diagnosis
    assert [fix.message for fix in cause.fixes] == [
        "Give `note` the type list[str].",
        "Add to the description of `note`: A text, not a list or object.",
    ]


def test_rejected_json_keys_can_be_accepted() -> None:
    signature = adapters.read_signature("country -> capital")
    completion = 'x {"country": "France", "capital": "Paris"}'
    (cause,) = catalog.make("markdown").read(signature, completion).diagnosis
    assert (cause.cause, cause.fixes[0].message) == (
        "extra-keys-refused",
        "Accept and ignore other JSON keys in this column.",
    )
    assert catalog.make("markdown", cause.fixes[0].change["options"]).read(signature, completion).ok


def test_words_below_a_value_are_no_prose_with_brackets() -> None:
    reading = read("chat", "q -> a: list[int]", "[[ ## a ## ]]\n[1, 2]\n\nNote: no more.\n\n[[ ## completed ## ]]")
    assert [flag.message for flag in reading.flags] == [
        "The text after the value of `a` was dropped: 'Note: no more.'."
    ]
    assert reading.diagnosis == ()
    reading = read("chat", "q -> a: list[int]", "[[ ## a ## ]]\n[1, 2] and\nso on\n\n[[ ## completed ## ]]")
    assert [one.cause for one in reading.diagnosis] == ["brackets-in-prose-taken"]


EVENT = """
class Event(BaseModel):
    title: str
    day: Literal['Mon', 'Tue']
class S(dspy.Signature):
    note: str = dspy.InputField()
    event: Event = dspy.OutputField()
"""
LOOP = "<phone>5</phone>\nIn adhering to this structure, your objective is:\n\n<phone>"


@pytest.mark.parametrize(
    ("adapter", "signature", "completion", "said"),
    [
        (
            "json",
            "text -> price: float",
            '{"price": {"text": "12.50"}}',
            ["`price` is an object in the reply; its value is one level too deep, under 'text'."],
        ),
        (
            "json",
            "text -> price: float",
            '{"price": {"text": "x", "value": "y"}}',
            ["`price` is {'text': 'x', 'value': 'y'}: input should be a valid number."],
        ),
        (
            "xml",
            "text -> price: float",
            "<price>\n12.50\n</price>\n\n<price>\n12.50\n</price>",
            ["`price` is a list in the reply, ['12.50', '12.50']; a single value is expected."],
        ),
        (
            "xml",
            EVENT,
            "<event><title>Lunch</title><day>Lunch</day></event>",
            ["`event.day` is 'Lunch', but only 'Mon' or 'Tue' is allowed."],
        ),
        (
            "xml",
            "text -> counts: dict[str, int]",
            "<counts><label>two</label></counts>",
            ["`counts.label` is 'two', which is not a plain number: it is in words."],
        ),
    ],
)
def test_all_causes_of_a_small_models_reply_are_true(
    adapter: str, signature: str, completion: str, said: list[str]
) -> None:
    assert [one.message for one in read(adapter, signature, completion).diagnosis][: len(said)] == said
    assert "tags-read-as-object" not in [one.cause for one in read(adapter, signature, completion).diagnosis]


def test_the_template_of_the_prompt_is_recognised_by_its_last_sentence() -> None:
    assert (
        read("xml", "text -> phone: int", LOOP).diagnosis[0].message
        == "The reply repeats the prompt (line 2, column 1)."
    )


def test_a_number_is_described_as_a_text_in_quotes() -> None:
    (cause,) = read("json", "text -> phone: Optional[str]", '{"phone": 555}').diagnosis
    assert cause.message == "`phone` is 555, where a text is expected."
    assert [fix.message for fix in cause.fixes] == ["Add to the description of `phone`: A text in quotes."]


def test_the_second_call_of_twostep_gets_no_parameters_of_the_column() -> None:
    adapter = catalog.make("twostep")
    signature = adapters.read_signature("q -> a: int")
    second = read("chat", "q -> a: int", "```python\nx = 1").ending("length", None, {})
    reading = replace(adapter.read(signature, "a: 1"), extraction=second)
    fixes = [fix.message for one in reading.diagnosis for fix in one.fixes]
    assert fixes == ["Use the adapter `json` for this column."]


@pytest.mark.parametrize("adapter", ["json", "xml"])
def test_a_marker_quoted_inside_a_line_is_not_of_another_prompt(adapter: str) -> None:
    for text, causes in (
        ("Use `[[ ## answer ## ]]` to begin.", []),
        ("Written as [[ ## a ## ]] in the docs.", []),
        ("Done.\n[[ ## completed ## ]]", ["marker-of-another-prompt"]),
        ("Done. [[ ## completed ## ]]", ["marker-of-another-prompt"]),
        ("[[ ## next_thought ## ]]\nDone.", ["marker-of-another-prompt"]),
    ):
        completion = f"<a>{text}</a>" if adapter == "xml" else json.dumps({"a": text})
        assert [one.cause for one in read(adapter, "q -> a", completion).diagnosis] == causes, text


PROGRAM = '```python\nimport json\n\ndef answer(title):\n    return {"title": title, "size": 1'


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
        (LOOP, ["prompt-echoed", "cut-off-at-limit"]),
        ('<phone>{"type": "object", "properties": {"a": 1', ["schema-echoed", "cut-off-at-limit"]),
    ],
)
def test_more_tokens_are_not_the_first_fix_of_an_echo(completion: str, causes: list[str]) -> None:
    reading = read("xml", "text -> phone: int", completion).ending("length", None, {"max_tokens": 20})
    assert [one.cause for one in reading.diagnosis if one.cause in causes] == causes


def test_true_in_quotes_can_be_one_level_too_deep() -> None:
    reading = read("json", "q -> ok: bool", '{"ok": {"ok": "True"}}')
    assert [one.message for one in reading.diagnosis][:1] == [
        "`ok` is an object in the reply; its value is one level too deep, under 'ok'."
    ]


def test_the_loop_of_a_second_call_has_a_fix() -> None:
    second = read("chat", "q -> a: int", "x " * 200).ending("length", None, {})
    reading = replace(catalog.make("twostep").read(adapters.read_signature("q -> a: int"), "a"), extraction=second)
    assert [one.cause for one in reading.diagnosis][:1] == ["runaway-repetition"]
    assert [fix.message for one in reading.diagnosis for fix in one.fixes] == [
        "Use the adapter `json` for this column."
    ]


CUSTOMER = """
class Address(BaseModel):
    town: str
class Customer(BaseModel):
    address: Address
class S(dspy.Signature):
    q: str = dspy.InputField()
    customer: Customer = dspy.OutputField()
"""


def test_a_text_for_a_class_inside_a_class_has_its_cause() -> None:
    (cause,) = read("json", CUSTOMER, '{"customer": {"address": "5 Mill Lane"}}').diagnosis
    assert cause.message == "`customer.address` is '5 Mill Lane', where an object is expected."


@pytest.mark.parametrize(
    ("signature", "completion", "said"),
    [
        (
            "q -> name, age: int",
            '{"name": "old man "}", "age": 14}',
            "The JSON key `age` (line 1, column 24) was not read: a quote inside a text lets the object end before it "
            "(line 1, column 20).",
        ),
        (
            "q -> a, b",
            '{"a": "say "b": no"}',
            "The JSON key `b` (line 1, column 12) was not read: an unescaped quote in `a` makes it part of that text.",
        ),
        (
            "q -> a, b",
            '{"a": """x "b": y"""}',
            "The JSON key `b` (line 1, column 12) was not read, because the JSON is not valid: it has triple quotes, a "
            "missing comma.",
        ),
        (
            "q -> a: dict[str, int], b",
            '{"a": {"b": 1}}',
            "The JSON key `b` (line 1, column 8) is inside `a`.",
        ),
        (
            "q -> a: dict[str, int], b",
            '{"a": {"b": 1},}',
            "The JSON key `b` (line 1, column 8) was read as a part of `a`.",
        ),
        (
            "q -> b, c: float",
            '{"b": "a \\"b\\": c"\n } "c": 1.5}',
            "The JSON key `c` (line 2, column 4) was not read: the object ends before it (line 2, column 2).",
        ),
        (
            "q -> a, b",
            '{\n}"a": "x", "b": "y"}',
            "The JSON key `a` (line 2, column 2) was not read: the object ends before it (line 2, column 1).",
        ),
        (
            "q -> a, b",
            'With {q} filled in: {"a": "x',
            "The JSON key `a` (line 1, column 22) was not read: the parser takes the first {…}, which is '{q}' "
            "(line 1, column 6).",
        ),
        ("q -> a, b", '{"a": "x"}\nNote: "b": unknown', "The reply has no `b`; it ends without it."),
        ("q -> a, b", '{"a": {"x": 1, "b": 2}}', "The JSON key `b` (line 1, column 16) is inside `a`."),
        ("q -> a, b", '{"a": "x", "c": {"b": 1}}', "The JSON key `b` (line 1, column 18) is inside another object."),
        ("q -> a, b", '{"a": "x", "c": {"b": 1},}', "The reply has no `b`; it ends without it."),
        (
            "q -> a: int, b",
            '{"x": {"x": {"x": {"x": {"x": {"a": 1}}}}}, oops: ',
            "The JSON key `a` was not read: its object is not valid, or inside another value, or after other braces.",
        ),
        ("q -> a, b", '{"a": "{\\"b\\": 1}"}', "The object is written as text inside the JSON key 'a'."),
        (
            "q -> brand, model",
            '{"br o": "Ford"',
            "The reply does not follow the format: none of the JSON keys of the outputs is in it; it has 'br o'.",
        ),
        (
            "q -> brand, model",
            "{'x\": 1,\n'y\": 2}",
            "The reply does not follow the format: none of the JSON keys of the outputs is in it.",
        ),
    ],
)
def test_a_json_key_that_was_not_read_is_not_called_left_out(signature: str, completion: str, said: str) -> None:
    assert read("json", signature, completion).diagnosis[0].message == said


@pytest.mark.parametrize(
    ("response", "where"),
    [
        ('{"model": "m", "choices": [{"text": "Paris"}]}', "choices[0].text"),
        ('{"model": "m", "message": {"role": "assistant", "content": "Paris"}, "done": true}', "message.content"),
        ('{"content": [{"type": "text", "text": "Paris"}], "stop_reason": "end_turn"}', "content[0].text"),
        ('{"candidates": [{"content": {"parts": []}}], "usageMetadata": {}}', "candidates[0].content"),
    ],
)
def test_a_providers_whole_response_is_recognised(response: str, where: str) -> None:
    cause = read("chat", "q -> a, b", response).diagnosis[0]
    assert cause.message == (
        f"The reply is the server's whole response; the model's text is at {where} inside it. A custom LM or proxy "
        "must return that text alone."
    )
    assert "whole-response" not in [
        one.cause for one in read("json", "q -> options: int", '{"choices": [{"text": "A"}]}').diagnosis
    ]


def test_an_object_in_the_text_of_a_response_is_offered_as_the_reply() -> None:
    inner = json.dumps({"a": "Paris", "n": 2})
    whole = json.dumps({"model": "m", "choices": [{"message": {"role": "assistant", "content": inner}}]})
    (near, *_) = read("json", "q -> a, n: int", whole).near_misses
    assert near.reading.values == {"a": "Paris", "n": 2}


def test_an_output_named_as_a_wrapper_is_no_wrapper() -> None:
    completion = "<tool_call><name>search</name></tool_call>"
    assert read("xml", "q -> tool_call: dict[str, str]", completion).flags == ()


def test_a_quote_before_a_json_key_is_no_quote_inside_a_text() -> None:
    reading = read("markdown", "q -> reasoning, n: int", '```json\n{""reasoning": "So", "n": 1}\n```')
    assert [one.message for one in reading.diagnosis] == ["The fenced block is not valid JSON."]


def test_the_cause_is_at_the_output_whose_json_key_was_not_read() -> None:
    (cause,) = read("json", "q -> a, b", '{"a\\": "x", "b": "y"}').diagnosis
    assert (cause.cause, cause.field) == ("key-not-read", "b")

"""Causes of JSON whose keys, quotes or braces are not where the parser looks for them."""

from __future__ import annotations

import json

import pytest

import adapters
from adapters.formats import catalog
from tests.support.replies import read

TITLE = "q -> title, rating: int, slug"
UNION = """
from pydantic import BaseModel
class Done(BaseModel):
    done: str
class Click(BaseModel):
    click: int
    double: bool
class Drag(BaseModel):
    click: int
class Act(dspy.Signature):
    q: str = dspy.InputField()
    action: list[Done | Click | Drag] = dspy.OutputField()
"""


def test_a_text_is_closed_before_the_key_that_follows() -> None:
    (miss, *_) = read("json", TITLE, '{"title": "a man who search"rating": 4, "slug": "the end"}').near_misses
    assert miss.message == "A text lacks its closing quote; with it the reply parses as"
    assert miss.reading.values == {"title": "a man who search", "rating": 4, "slug": "the end"}


@pytest.mark.parametrize(
    "completion",
    [
        '{"title": "x", "slug": "s"}',
        '{"title": "x", "meta": {"rating": 4}, "slug": "s",',
        '{"title": "x", "rating\n": 4, "slug": "s"',
        '{"title": "{\\"rating\\": 4}", "slug": s}',
    ],
)
def test_a_key_that_is_missing_or_elsewhere_is_inside_no_text(completion: str) -> None:
    assert "key-inside-a-text" not in [flag.name for flag in read("json", TITLE, completion).flags]


def test_a_fence_around_the_object_is_not_what_makes_it_invalid() -> None:
    reading = read("json", "q -> a, n: int", '```json\n{"a": "\\(K\\)", "n": 7}\n```')
    (repaired,) = [flag for flag in reading.flags if flag.name == "json-repaired"]
    assert repaired.message == (
        "The reply is not valid JSON (invalid \\escape, line 2, column 8); json_repair rewrote it before it was parsed."
    )


def test_rejected_json_keys_can_be_accepted() -> None:
    signature = adapters.read_signature("country -> capital")
    completion = 'x {"country": "France", "capital": "Paris"}'
    (cause,) = catalog.make("markdown").read(signature, completion).diagnosis
    assert (cause.cause, cause.fixes[0].message) == (
        "extra-keys-refused",
        "Accept and ignore other JSON keys in this column.",
    )
    assert catalog.make("markdown", cause.fixes[0].change["options"]).read(signature, completion).ok


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
            "missing comma. As JSON, the reply breaks at line 1, column 9: a comma or the end of the object or list is "
            "expected there, not '\"x \"'.",
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
        (
            "q -> a, b",
            '{"a": "x"}\nNote: "b": unknown',
            "`b` was not read: the reply writes `b` as '\"b\":' (line 2, column 7).",
        ),
        ("q -> a, b", '{"a": {"x": 1, "b": 2}}', "The JSON key `b` (line 1, column 16) is inside `a`."),
        ("q -> a, b", '{"a": "x", "c": {"b": 1}}', "The JSON key `b` (line 1, column 18) is inside another object."),
        (
            "q -> a, b",
            '{"a": "x", "c": {"b": 1},}',
            "`b` was not read: the reply writes `b` as '\"b\":' (line 1, column 18). As JSON, the reply breaks at "
            "line 1, column 26: a JSON key in double quotes is expected there, not '}'.",
        ),
        (
            "q -> a: int, b",
            '{"x": {"x": {"x": {"x": {"x": {"a": 1}}}}}, oops: ',
            "As JSON, the reply breaks at line 1, column 45: a JSON key in double quotes is expected there, not "
            "'oops:'. It writes `a` as '\"a\":' (line 1, column 32).",
        ),
        ("q -> a, b", '{"a": "{\\"b\\": 1}"}', "The object is written as text inside the JSON key 'a'."),
        (
            "q -> brand, model",
            '{"br o": "Ford"',
            "The reply does not follow the format: none of the JSON keys of the outputs is in it; it has 'br o'. As "
            "JSON, the reply breaks at line 1, column 16: a comma or the end of the object or list is expected there, "
            "and nothing follows.",
        ),
        (
            "q -> brand, model",
            "{'x\": 1,\n'y\": 2}",
            "The reply does not follow the format: none of the JSON keys of the outputs is in it. As JSON, the reply "
            'breaks at line 1, column 2: a JSON key in double quotes is expected there, not "\'".',
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


def test_a_quote_before_a_json_key_is_no_quote_inside_a_text() -> None:
    reading = read("markdown", "q -> reasoning, n: int", '```json\n{""reasoning": "So", "n": 1}\n```')
    assert [one.message for one in reading.diagnosis] == [
        "As JSON, the reply breaks at line 2, column 4: a : after the JSON key is expected there, not 'reasoning'. It "
        "writes `reasoning` as '\"reasoning\":' (line 2, column 3), `n` as '\"n\":' (line 2, column 22)."
    ]


def test_the_cause_is_at_the_output_whose_json_key_was_not_read() -> None:
    (cause,) = read("json", "q -> a, b", '{"a\\": "x", "b": "y"}').diagnosis
    assert (cause.cause, cause.field) == ("key-not-read", "b")


def test_a_misspelt_key_of_a_union_is_still_called_so() -> None:
    reading = read("json", UNION, '{"action": [{"clicks": 3, "double": true}]}')
    assert "key-nearly-right" in [one.cause for one in reading.diagnosis], reading.diagnosis


def test_a_wrapper_with_other_members_has_no_items() -> None:
    for completion in (
        '{"result": {"found": []}, "meta": {"found": []}}',
        '{"result": {"n": 1}, "meta": {"m": 1}}',
        '{"result": {"n": 1}, "ok": true}',
    ):
        reading = read("json", "q -> found: list[str]", completion)
        assert "other-keys" not in [one.cause for one in reading.diagnosis], completion


def test_the_braces_that_the_parser_took_are_shown_whole() -> None:
    (cause,) = read("json", "q -> nodes: list[str]", 'With {a: {b}, c}:\n{"nodes": ["x", "y}').diagnosis
    assert "which is '{a: {b}, c}' (line 1, column 6)" in cause.message


@pytest.mark.parametrize(
    ("completion", "is_flat"), [('{"answer": "x"}', True), ('{"answer": "{x}"}', False), ('{"answer": "x"} y', False)]
)
def test_an_object_is_flat_with_one_brace_alone(completion: str, is_flat: bool) -> None:
    assert read("json", "q -> answer", completion).is_flat_object is is_flat


@pytest.mark.parametrize(
    ("signature", "block", "said"),
    [
        ("q -> a, b", '{"a": "x", "c": {"b": 1}}', "The JSON key `b` (line 3, column 18) is inside another object."),
        ("q -> a: dict, b", '{"a": {"b": "y"}}', "The JSON key `b` (line 3, column 8) is inside `a`."),
        ("q -> a, b", '{"a": "x"}', "The reply has no `b`; it ends without it."),
    ],
)
def test_an_output_inside_another_object_of_a_fenced_block_has_its_place(signature: str, block: str, said: str) -> None:
    (cause,) = read("markdown", signature, f"Use {{b}}.\n```json\n{block}\n```\nHere `b` is what was asked.").diagnosis
    assert (cause.cause, cause.field, cause.message) == ("output-missing", "b", said)


@pytest.mark.parametrize(
    ("adapter", "signature", "completion"),
    [
        ("json", "q -> l: list[dict[str, str]]", '{"l": [{"n": "1", "n": "1"}, {"n": "2"}]}'),
        ("json", "q -> l: list[dict[str, str]]", '{"l": [{"n": "1",}, {"n": "He said “no”"}]}'),
        ("json", "q -> a, l: list[str]", '{"a": "C:\\\\", "l": ["\\\\"],}'),
        ("json", "q -> valid: bool", '<think>{x}</think>\n{"valid": true}'),
        ("json", "q -> a", 'Use <think> tags: {"a": "x </think> y"}'),
        ("json", "q -> a, n: int", '{"n": 1, "z": 2, "a": "x", "n": 1}'),
        ("json", "q -> a, b", '{"a": "say \\\\"hi\\\\" now", "b": "x"}'),
        ("json", "q -> l: list[str]", '{"l": ["say \\\\"hi\\\\".", "x"]}'),
        ("json", "q -> a, n: int", '{"a": "Hon sade ”ja”", "n": 3,}'),
        ("json", "q -> a, n: int", '{"a": "Powiedział „tak”", "n": 3,}'),
        ("json", "q -> a, n: int", "{'a': 'a screen of 6”', 'n': 3}"),
        ("json", "q -> l: list[str], n: int", '{"l": ["6”", "7”"], "n": 3,}'),
        ("json", "q -> a, b", """{'a': 'say \\\\"hi\\\\" now', 'b': 'x'}"""),
        ("json", "q -> a, b", '{"a": "ok", "b": "x",}\nI escaped \\\\"this\\\\" as told.'),
    ],
)
def test_a_good_reply_that_looks_like_a_damaged_one_has_no_cause(adapter: str, signature: str, completion: str) -> None:
    reading = read(adapter, signature, completion)
    assert reading.ok and not reading.diagnosis


def test_an_output_in_an_object_that_may_have_its_name_is_inside_no_other() -> None:
    signature = (
        "from pydantic import BaseModel\nclass Point(BaseModel):\n    x: int\n    y: int\nclass S(dspy.Signature):\n"
    )
    signature += "    q: str = dspy.InputField()\n    at: Point = dspy.OutputField()\n    x: int = dspy.OutputField()\n"
    (cause,) = read("json", signature, '{"at": {"x": 1}}').diagnosis
    assert (cause.cause, cause.path) == ("key-missing", "at.y")


@pytest.mark.parametrize(("adapter", "reply"), [("json", "{}"), ("markdown", "```json\n{}\n```")])
def test_an_output_with_two_answers_is_a_surprise(adapter: str, reply: str) -> None:
    (cause,) = read(adapter, "q -> a, n: int", reply.replace("{}", '{"n": 1, "a": "x", "n": 2}')).diagnosis
    assert (cause.cause, cause.field) == ("duplicate-key-last-wins", "n")


def test_a_tag_inside_another_output_is_named_once() -> None:
    causes = read("xml", "q -> a: dict[str, int], b", "<a><b>x</b></a>").diagnosis
    assert [one.field for one in causes if one.cause == "field-inside-another"] == ["b"]


def test_xml_that_ends_inside_a_tag_of_its_own_was_cut_off() -> None:
    (cause,) = read("xml", "q -> plan", "<plan>\n<step>Go.</step>").diagnosis
    assert cause.cause == "xml-cut-off"


def test_an_output_that_is_open_while_another_ends_is_not_closed() -> None:
    reply = "<mood>\n<why>\n<mood>It died.</mood>\n</why>\n\n<mood>\n<mood>It di"
    (cause,) = read("xml", "q -> mood, why", reply).diagnosis
    assert cause.message.startswith("<mood> (line 1, column 1) is not closed; ")


def test_a_bracket_that_ends_the_reply_is_a_tag_that_was_cut_off() -> None:
    (cause,) = read("xml", "q -> plan", "<plan>\nGo.\n<").diagnosis
    assert cause.message.startswith("The reply ends within the tag < (line 3, column 1); ")


def test_curly_quotes_are_named_with_their_line() -> None:
    (cause,) = read("json", "q -> key: list[str]", '{\n"key”: [“a”]}').diagnosis
    assert cause.message == "With straight quotes instead of the curly “ ” (from line 2) it parses."


def test_a_time_without_quotes_loses_what_follows_its_hour() -> None:
    (cause,) = read("json", "q -> at, n: int", '{"at": 10:30:00, "n": 3}').diagnosis
    assert cause.message == "json_repair left out a part of `at`: '30:00' of '10:30:00' is not in the value."
    assert (cause.cause, cause.field) == ("text-lost-in-repair", "at")


def test_a_reply_that_ends_within_its_first_key_was_cut_off() -> None:
    (cause,) = read("json", "q -> text", '{"text').diagnosis
    assert cause.message == "The reply ends within its first JSON key ('{\"text')."
    assert cause.fixes[0].kind == "max_tokens"


@pytest.mark.parametrize("gap", [" ", "\n"])
def test_a_backslash_at_the_end_of_a_text_is_no_quote_escaped_twice(gap: str) -> None:
    (cause,) = read("json", "q -> a, b", f'{{"a": "C:\\\\"{gap}"b": "x"}}').diagnosis
    assert cause.cause == "key-not-read"


@pytest.mark.parametrize(
    "text",
    [
        "2024-01-01T10:30:00+02:00",
        "10:30+0200",
        "(555)-123-4567",
        "*4* (good)",
        "5* (2 reviews)",
        "The answer is 12, as 3 * 4",
    ],
)
@pytest.mark.parametrize("reply", ['{"n": "%s", "a": "x"}', '{"n": ["%s"], "a": "x"}'])
def test_only_numbers_with_operators_are_called_a_calculation(reply: str, text: str) -> None:
    kind = "list[float]" if "[" in reply else "float"
    for written, is_one in ((text, False), ("(12 + 3) * 2", True)):
        (cause,) = read("json", f"q -> n: {kind}, a", reply % written).diagnosis
        assert ("it is a calculation" in cause.message) == is_one

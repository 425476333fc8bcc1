"""The diagnosis of a reply: causes with their places and fixes. Replies follow reports in public threads."""

from __future__ import annotations

import gc
import inspect
import json
import re
import weakref
from typing import Any

import pytest

import adapters
from adapters.errors import AdapterParseError
from adapters.formats import catalog
from adapters.formats.chat import ChatAdapter
from adapters.replies.flags import explaining
from adapters.replies.flags.glossary import FLAGS, SECTIONS
from adapters.replies.flags.values_read import values_read
from adapters.replies.patterns import LAST, PATTERNS
from adapters.replies.reading import Reading
from adapters.signatures import notation
from adapters.signatures.signature import Signature
from tests.support.replies import read
from workbench.output import json_shapes

ITEM = """
import dspy, pydantic
class Item(pydantic.BaseModel):
    name: str
    price: float
    qty: int
class S(dspy.Signature):
    text: str = dspy.InputField()
    items: list[Item] = dspy.OutputField()
"""


@pytest.mark.parametrize("completion", ["a mixed review", "[[ ## a ## ]]\nx\n\n[[ ## completed ## ]]"])
def test_naming_the_causes_makes_no_fixes(completion: str) -> None:
    causes = read("chat", "q -> a, b: bool", completion).diagnosis
    assert causes and not any("fixes" in vars(one) for one in causes)
    assert causes[0].fixes and "fixes" in vars(causes[0])


@pytest.mark.parametrize(
    ("adapter", "signature", "completion", "cause"),
    [
        ("json", "q -> a", " ", "empty-reply"),
        ("json", "q -> a", "{", "reply-too-short"),
        ("json", "q -> a", "<!DOCTYPE html><html><body>502</body></html>", "error-page"),
        ("json", "q -> a", '{"error": {"message": "overloaded"}}', "error-body"),
        ("chat", "q -> a", "<think>\nOkay, so", "think-not-closed"),
        ("chat", "q -> a", "I'm sorry, but I can't help.", "refusal"),
        ("json", "q -> a", '<|channel|>final<|message|>{"a": "x"}<|return|>', "harmony-channels"),
        ("json", "q -> a", '{"json": "{\\"a\\": \\"x\\"}\\n</invoke>"}', "tool-call-wrapper"),
        ("json", "q -> a", '{"json": "{\\"a\\": \\"x\\"}"}', "json-in-a-string"),
        ("json", "q -> a", '{"properties": {"a": {"type": "string"}}, "type": "object"}', "schema-echoed"),
        ("chat", "q -> a", "Your input fields are:\n1. `q` (str):", "prompt-echoed"),
        ("json", "q -> a", '{\n{"a": "x"}\n', "doubled-brace"),
        ("json", "q -> a", '{"a": "x\\u0000"}', "nul-in-value"),
        ("json", "q -> a", '{"a": "[[ ## b ## ]]\\ny"}', "marker-of-another-prompt"),
        ("json", "q -> a", "{reason: " + "again and " * 60, "runaway-repetition"),
        ("json", "q -> quantity: int", '{"qty": 3}', "key-nearly-right"),
        ("chat", "q -> seller, n: int", "[[ ## seler ## ]]\nTim\n\n[[ ## n ## ]]\n1\n", "name-nearly-right"),
        ("xml", "q -> seller, n: int", "<seler>Tim</seler><n>1</n>", "name-nearly-right"),
        ("json", "q -> a, b", '{"wrapper": {"a": "x", "b": "y"}}', "likely-reply"),
        ("chat", "q -> r, a", "[[ ## r ## ]]\nbecause", "completed-marker-missing"),
        ("json", "q -> a", "A summary of the table.", "format-not-followed"),
        ("chat", "q -> d: datetime.date", "[[ ## d ## ]]\n31/12/2024\n\n[[ ## completed ## ]]", "date-not-read"),
        ("chat", "q -> b: bool", "[[ ## b ## ]]\nperhaps\n\n[[ ## completed ## ]]", "not-true-or-false"),
        ("json", "q -> n: list[int]", '{"n": [1, null]}', "null-not-allowed"),
        ("json", "q -> n: dict[str, int]", '{"n": [1]}', "another-shape"),
        ("json", "q -> n: list[str]", '{"n": [["x"]]}', "items-are-no-text"),
        ("json", "q -> n: dict[str, str]", '{"n": {"x": ["y"]}}', "text-expected"),
        ("json", "q -> a, b", "{}", "empty-object"),
        ("chat", "q -> a, b", "Let me see.\n</think>\n\nParis.", "thoughts-not-separated"),
        ("xml", "q -> a: int", "Hm.\n</think>\n<a>seven</a>", "thoughts-not-separated"),
        ("chat", "q -> a, b", "Thought: I look.\nAction: search\nAction Input: {}", "agent-layout"),
        ("json", "q -> name, n: int", '{"na"me": "Jack", "n": 1}', "key-broken-by-quote"),
        ("json", "q -> n: list[int]", '{"n": [1, 2,\n ...\n]}', "list-abbreviated"),
        ("chat", "q -> a: list[int]", "[[ ## a ## ]]\n[1, 2, ...]", "list-abbreviated"),
        ("chat", "q -> a", '[[ ## a ## ]]\n{"a": "1"}', "json-in-a-text-field"),
        ("json", "q -> a", '{"a": 1}\n{"a": 2}', "several-objects"),
        ("json", "q -> a, b", '{"type": "function", "name": "get", "parameters": {"x": 1}}', "tool-call-wrapper"),
        ("chat", "q -> a, b", '{"name": "web_search", "arguments": {"x": 1}}', "tool-call-wrapper"),
        ("json", "q -> n: int", '{"n":' + "\n" * 400, "runaway-repetition"),
        ("json", "q -> a", "null", "reply-too-short"),
        ("chat", "q -> a", "<thinking>\nOkay, so", "think-not-closed"),
        ("chat", "q -> a", "I apologize, but I don't feel comfortable with that.", "refusal"),
        ("json", "q -> a", '{"refusal": "I can not assist with that."}', "refusal"),
        ("json", "q -> a", '{"object": "error", "message": "maximum context length", "code": 400}', "error-body"),
        ("json", "q -> a", '{"detail": "Not Found"}', "error-body"),
        ("json", "q -> name, age: int", '{"nombre": "Ana", "edad": 31}', "other-keys"),
        ("chat", "q -> a, b", "Respond with the corresponding output fields, starting with `a`", "prompt-echoed"),
        ("chat", "q -> a", "[[ ## a ## ]]\nParis</s>", "stop-token-in-value"),
        ("chat", "q -> n: int", "[[ ## n ## ]]\nN/A", "null-not-allowed"),
        ("json", "q -> n: int", '{"n": ""}', "null-not-allowed"),
        ("json", "q -> kind: Literal['a', 'b']", '{"kind": "a, b"}', "several-allowed-values"),
        ("json", "q -> a, b", '[TOOL_CALLS] [{"name": "f"}]', "tool-call-wrapper"),
        (
            "json",
            "q -> n: list[dict[str, int]]",
            '{"n": [' + '{"first item": 1},\n {"second item": 2},\n ' * 60 + '{"fi',
            "runaway-repetition",
        ),
    ],
)
def test_the_cause_of_a_reply_is_named_first(adapter: str, signature: str, completion: str, cause: str) -> None:
    found = read(adapter, signature, completion).diagnosis
    assert found[0].cause == cause, found


@pytest.mark.parametrize(
    ("adapter", "signature", "completion", "never"),
    [
        ("json", "q -> a", '{"a": "Harmony writes <|channel|>final<|message|> before it."}', "harmony-channels"),
        ("json", "q -> a: int", '{\n{"a": 1}\n', "cut-off-json-completed"),
        ("json", "q -> a: list[str]", '{"a": ["x", # it isn\'t\n "y"]}', "text-lost-in-repair"),
        ("json", "q -> location", '{"name": "f", "parameters": {"location": "x"}', "key-broken-by-quote"),
        ("json", "q -> a", '<|channel|>analysis<|message|>Write {"a": ...}<|end|>{"a": "x"}', "list-abbreviated"),
        ("chat", "q -> a", '[[ ## a ## ]]\n{"b": "1"}', "json-in-a-text-field"),
        ("chat", "q -> a", "[[ ## a ## ]]\nThought: yes\nAction: none", "agent-layout"),
        ("chat", "q -> a", "[[ ## a ## ]]\nThe tag </think> ends the thoughts.", "thoughts-not-separated"),
        ("json", "q -> a", '{"a": "The tag </think> ends the thoughts."}', "thoughts-not-separated"),
        ("chat", "q -> n: int", "[[ ## n ## ]]\n85%", "words-around-value"),
        ("chat", "q -> n: int", "[[ ## n ## ]]\n1e400", "words-around-value"),
        ("chat", "note -> a, b", "It is so.\nNote: it may change.", "inputs-made-up"),
        ("chat", "question -> answer", "Question: Why?\nAnswer: So.", "inputs-made-up"),
        ("chat", "question -> answer", "Answer: So.\nQuestion: Why?\nAnswer: No.", "inputs-made-up"),
        ("json", "q -> a", '{"a": "ha ha ha' + " ha" * 60 + '"}', "runaway-repetition"),
        ("json", "q -> a", '{"a": "x"}\n' + " " * 200, "runaway-repetition"),
        ("json", "q -> a", "{\"a\": 'd[\\'x\\']', \"b\": [1,]}", "value-holds-the-end"),
        ("json", "q -> a: list[str]", '{"result": {"id": "x"}, "meta": {"n": 1}}', "other-keys"),
        ("xml", "q -> a", "Here it is: <a>Paris", "format-not-followed"),
    ],
)
def test_a_cause_is_not_named_where_it_is_none(adapter: str, signature: str, completion: str, never: str) -> None:
    found = read(adapter, signature, completion)
    assert never not in [one.cause for one in found.diagnosis] + [one.name for one in found.flags]


KIND = "q -> kind: Literal['spam', 'not spam', 'other']"


@pytest.mark.parametrize(
    ("adapter", "signature", "completion", "said"),
    [
        (
            "json",
            KIND,
            '{"kind": "spam, other"}',
            "'spam, other' is more than one of the allowed values; `kind` takes exactly one.",
        ),
        (
            "chat",
            KIND,
            "[[ ## kind ## ]]\nspam or other",
            "'spam or other' is more than one of the allowed values; `kind` takes exactly one.",
        ),
        (
            "chat",
            KIND,
            "[[ ## kind ## ]]\n(not spam)",
            "'(not spam)' is more than the value: `kind` must match exactly, without other words.",
        ),
        (
            "chat",
            KIND,
            "[[ ## kind ## ]]\nspam, not other things",
            "'spam, not other things' is more than the value: `kind` must match exactly, without other words.",
        ),
        ("json", "q -> n: float", '{"n": 0,8}', "`n` is '0,8', which is not a plain number: it has a decimal comma."),
        (
            "chat",
            "q -> n: int",
            "[[ ## n ## ]]\n1.234,5",
            "`n` is '1.234,5', which is not a plain number: it has a decimal comma.",
        ),
        (
            "json",
            "q -> n: list[float]",
            '{"n": ["0,8"]}',
            "`n[0]` is '0,8', which is not a plain number: it has a decimal comma.",
        ),
        (
            "chat",
            "q -> n: int",
            "[[ ## n ## ]]\n1,234",
            "'1,234' groups its digits; `n` must be a plain number (1234).",
        ),
        (
            "json",
            KIND,
            '{"kind": {"value": "spam"}}',
            "`kind` is an object in the reply; its value is one level too deep, under 'value'.",
        ),
        (
            "json",
            "q -> n: list[int]",
            '{"n": {"x": 1, "items": [1]}}',
            "`n` is an object in the reply; its value is one level too deep, under 'items'.",
        ),
        ("json", "q -> n: int", '{"n": [1]}', "`n` is a list in the reply, [1]; a single value is expected."),
        (
            "json",
            KIND,
            '{"kind": ["spam", "other"]}',
            "`kind` is a list in the reply, ['spam', 'other']; a single value is expected.",
        ),
        (
            "xml",
            KIND,
            "<kind>spam</kind><kind>other</kind>",
            "`kind` is a list in the reply, ['spam', 'other']; a single value is expected.",
        ),
        ("json", "q -> n: int", '{"n": {"x": "no"}}', "`n` is {'x': 'no'}: input should be a valid integer."),
        ("xml", "q -> a: int, b", "&lt;a&gt;1&lt;/a&gt;&lt;b&gt;x&lt;/b&gt;", "The tags are written as &lt;name&gt;."),
        (
            "xml",
            "q -> a: int",
            '<a value="1"/>',
            "value=… in the tag of `a` (line 1) was ignored: only the text between the tags is parsed.",
        ),
        ("json", "q -> a, b", '"a": "x", "b": "y"', "The braces of the object are missing."),
        ("json", "q -> a, b", 'Here is {it}: {"a": "x", "b": "y"}', "The reply contains several {…}."),
        (
            "json",
            "q -> a, b",
            "| a | b |\n|---|---|\n| x | y |",
            "The reply has a table instead of the JSON keys; it writes `a` as 'a' (line 1, column 3), `b` as 'b' "
            "(line 1, column 7).",
        ),
    ],
)
def test_the_first_cause_says_what_is_wrong(adapter: str, signature: str, completion: str, said: str) -> None:
    assert read(adapter, signature, completion).diagnosis[0].message == said


@pytest.mark.parametrize(
    ("adapter", "completion", "said"),
    [
        (
            "json",
            '{"answer" => "a", "score" => 1}',
            "As JSON, the reply breaks at line 1, column 11: a : after the JSON key is expected there, not '=>'. It "
            "writes `answer` as '\"answer\" =>' (line 1, column 2), `score` as '\"score\" =>' (line 1, column 19).",
        ),
        (
            "json",
            "{answer: a; score: 2}",
            "`score` was not read: the reply writes `score` as 'score:' (line 1, column 13, inside `answer`). As JSON, "
            "the reply breaks at line 1, column 2: a JSON key in double quotes is expected there, not 'answer:'.",
        ),
        (
            "json",
            "{\n  answer a\n  score 1\n}",
            "The reply does not follow the format: none of the JSON keys of the outputs is in it. As JSON, the reply "
            "breaks at line 2, column 3: a JSON key in double quotes is expected there, not 'answer'.",
        ),
        (
            "json",
            '(answer "a") (score 1)',
            "The reply has no JSON keys of the outputs, but writes `answer` as '(answer' (line 1, column 1), `score` "
            "as '(score' (line 1, column 14).",
        ),
        (
            "json",
            "answer,score\na,1",
            "The reply has no JSON keys of the outputs, but writes `answer` as 'answer,' (line 1, column 1), `score` "
            "as 'score' (line 1, column 8).",
        ),
        (
            "json",
            "Answer\n---\na\n\nScore\n---\n1",
            "The reply has no JSON keys of the outputs, but writes `answer` as 'Answer' (line 1, column 1), `score` "
            "as 'Score' (line 5, column 1).",
        ),
        (
            "json",
            "answer(a)\nscore(1)",
            "The reply has no JSON keys of the outputs, but writes `answer` as 'answer' (line 1, column 1), `score` "
            "as 'score' (line 2, column 1).",
        ),
        (
            "json",
            "{{answer}}: a\n{{score}}: 1",
            "The reply has no JSON keys of the outputs, but writes `answer` as '{{answer}}:' (line 1, column 1), "
            "`score` as '{{score}}:' (line 2, column 1).",
        ),
        ("json", "The answer is a and the score is 1.", "The reply is prose, without any JSON keys."),
        ("json", 'SELECT "a" AS answer, 1 AS score;', "The reply is code, without any JSON keys."),
        ("json", "- one fine day\n- two\n- three days", "The reply is a list, without any JSON keys."),
        (
            "chat",
            "[[ ## answer ## ]]\na\n\nScore = 1",
            "The reply has no marker for `score`, but writes `score` as 'Score =' (line 4, column 1, inside `answer`).",
        ),
        (
            "xml",
            "<answer>a</answer>\nScore: 1",
            "The reply has no tag for `score`, but writes `score` as 'Score:' (line 2, column 1).",
        ),
        (
            "chat",
            "[[ ## answer ## ]]\na\n[[ ## rating ## ]]\n1\n[[ ## completed ## ]]",
            "The reply has no `score`, but 'rating'; it ends without it.",
        ),
        (
            "chat",
            "answer: a; score: 1",
            "The reply has the fields under headings or labels, and writes `score` as 'score:' (line 1, column 12).",
        ),
        (
            "chat",
            "score ## ]]\n1\n\n[[ ## answer ## ]]\na",
            "The reply has no marker for `score`, but writes `score` as 'score ## ]]' (line 1, column 1).",
        ),
        (
            "xml",
            "<answer>a</answer>\n<mark>1</mark>",
            "The reply has no `score`, but 'mark'; it ends without it.",
        ),
        (
            "xml",
            "[answer]a[/answer][score]1[/score]",
            "The reply has no tags of the outputs, but writes `answer` as '[answer]' (line 1, column 1), `score` "
            "as '[score]' (line 1, column 19).",
        ),
        (
            "xml",
            '<out name="answer">a</out><out name="score">1</out>',
            "The reply has no tags of the outputs, but writes `answer` as '\"answer\"' (line 1, column 11), `score` as "
            "'\"score\"' (line 1, column 37).",
        ),
    ],
)
def test_an_output_in_another_layout_is_not_called_absent(adapter: str, completion: str, said: str) -> None:
    assert read(adapter, "question -> answer, score: float", completion).diagnosis[0].message == said


def test_a_number_that_is_none_becomes_a_text_with_a_flag() -> None:
    (flag,) = read("json", "q -> a", '{"a": NaN}').flags
    assert flag.message == "The number NaN became the text 'nan'."
    assert "number-rewritten" not in [one.name for one in read("json", "q -> a", '{"a": 5 // five\n}').flags]


def test_a_marker_with_a_colon_behind_it_is_a_marker() -> None:
    flags = read("chat", "q -> n: int", "[[ ## n ## ]]: 5\n\n[[ ## completed ## ]]").flags
    assert [one.name for one in flags] == ["text-on-the-marker-line", "words-around-value"]


def test_labels_may_be_numbered() -> None:
    (first,) = read("chat", "q -> a, n: int", "1. a: x\n2. n: 3").diagnosis
    assert first.message == "The reply has the fields under headings or labels."


def test_a_list_without_its_bracket_is_not_a_reply_that_was_cut_off() -> None:
    flags = read("json", "q -> tags: list[str], due", '{"tags": ["a", "b",\n "due": "x"}').flags
    assert [one.name for one in flags] == ["wrong-bracket", "json-repaired"]
    assert read("json", "q -> tags: list[str]", '{"tags": ["a", "b"').flags[0].name == "cut-off-json-completed"


def test_a_list_without_its_bracket_is_not_cut_off_where_the_reply_goes_on() -> None:
    flags = read(
        "chat", "q -> tags: list[int], a", "[[ ## tags ## ]]\n[1, 2\n\n[[ ## a ## ]]\nx\n\n[[ ## completed ## ]]"
    ).flags
    assert [one.name for one in flags] == ["json-repaired"]
    ends = read("chat", "q -> a, tags: list[int]", "[[ ## a ## ]]\nx\n\n[[ ## tags ## ]]\n[1, 2").flags
    assert "cut-off-json-completed" in [one.name for one in ends]


def test_the_end_of_a_cut_off_reply_comes_before_the_keys_that_it_lacks() -> None:
    found = read("json", ITEM, '{"items": [{"name": "x", "price": 1').diagnosis
    assert [one.cause for one in found] == ["cut-off-json-completed", "key-missing"]


def test_other_keys_are_named_beside_those_that_are_missing() -> None:
    (first,) = read("json", ITEM, '{"items": [{"name": "x", "cost": 1, "qty": 2}]}').diagnosis
    assert first.message == "`items[0].price` is missing from the object in the reply, which has 'cost' instead."


@pytest.mark.parametrize(
    ("signature", "completion"),
    [
        ("q -> n: float", '{"n": 8e-1,}'),
        ("q -> a: list[str]", '{"a": ["run 1e5 steps", "b"}'),
        ("q -> a, b", '{"a": "12e4", "b": "x",}'),
    ],
)
def test_an_exponent_is_not_lost_in_a_repair(signature: str, completion: str) -> None:
    assert "text-lost-in-repair" not in [one.name for one in read("json", signature, completion).flags]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("int | None", '{"unit": null, "amount": "5 kg"}'),
        ("Literal['x', 'y'] | None", '{"error": null, "label": "z"}'),
        ("dict[str, int]", '{"a": {"b": 1}, "c": 2}'),
        ("bool", '{"nam": "n"}'),
        ("int", '{"a": 1, "b": 2}'),
        ("str | None", '{"name": "x", "age": 1}'),
    ],
)
def test_a_value_is_said_to_be_too_deep_only_where_one_of_its_type_is(kind: str, value: str) -> None:
    found = read("json", f"q -> a: {kind}", f'{{"a": {value}}}').diagnosis
    assert "value-wrapped" not in [one.cause for one in found]


def test_an_empty_allowed_value_is_none_of_several() -> None:
    found = read("chat", "q -> a: Literal['', 'yes', 'no']", "[[ ## a ## ]]\nyes?").diagnosis
    assert found[0].cause == "words-around-value"


def test_keys_that_take_the_place_of_a_missing_one_are_shown_short_and_harmless() -> None:
    long = "".join(map(str, range(40_000)))
    reply = json.dumps({"items": [{"name": "x", "qty": 2, "k\ud800": 1, "two\nlines": 2, long: 3}]})
    (first,) = read("json", ITEM, reply).diagnosis
    assert len(first.message) < 300 and first.message.isprintable()


def test_a_semicolon_where_a_comma_belongs_is_named() -> None:
    (flag,) = read("json", "q -> a, b", '{"a": "x"; "b": "y"}').flags
    assert "it has a semicolon where a comma belongs; json_repair rewrote it" in flag.message


CUT = "<a>\nParis\n</a>\n<b>\nBer"


@pytest.mark.parametrize(
    ("finish_reason", "refusal", "cause", "said"),
    [
        ("length", None, "cut-off-at-limit", "cut off at max_tokens 120 (line 5)"),
        ("content_filter", None, "stopped-by-filter", "content filter"),
        ("stop", "I can't do that.", "refusal", '"I can\'t do that."'),
        ("stop", None, "xml-cut-off", "before <b> (line 4, column 1) is closed"),
    ],
)
def test_what_the_provider_says_of_the_end_is_the_first_cause(
    finish_reason: str, refusal: str | None, cause: str, said: str
) -> None:
    reading = read("xml", "q -> a, b", CUT).ending(finish_reason, refusal, {"max_tokens": 120})
    first = reading.diagnosis[0]
    assert first.cause == cause and said in first.message
    if cause == "cut-off-at-limit":
        assert first.fixes[0].change == {"params": {"max_tokens": 4000}}
        long = read("xml", "q -> a, b", CUT).ending(finish_reason, refusal, {"max_tokens": 5000})
        assert long.diagnosis[0].fixes[0].change == {"params": {"max_tokens": 10_000}}


def test_a_loop_that_reaches_the_limit_is_not_to_be_made_longer() -> None:
    loop = read("chat", "q -> a, b", "positive_" * 60).ending("length", None, {"max_tokens": 120})
    assert loop.diagnosis[0].cause == "runaway-repetition"
    assert not [fix for one in loop.diagnosis for fix in one.fixes if fix.kind == "max_tokens"]


def test_a_cut_off_reply_without_a_trace_of_the_format_does_not_follow_it_first_of_all() -> None:
    code = read("chat", "q -> a, b", "import os\nprint(os.getcwd(), 1)\nfor one in range(10):\n    pass")
    found = code.ending("length", None, {"max_tokens": 20}).diagnosis
    assert [one.cause for one in found] == ["format-not-followed", "cut-off-at-limit"]
    begun = read("json", "q -> a, b", '{"a": "x').ending("length", None, {"max_tokens": 20}).diagnosis
    assert [one.cause for one in begun] == ["cut-off-at-limit"]


@pytest.mark.parametrize(
    ("adapter", "completion"),
    [("chat", "[[ ## a ## ]]\n{a}\n\n[[ ## n ## ]]\n{n"), ("json", '{"a": "{a}", "n": ')],
)
def test_a_copied_placeholder_comes_before_the_limit_that_ended_the_reply(adapter: str, completion: str) -> None:
    reading = read(adapter, "q -> a, n: int", completion)
    assert reading.diagnosis[0].cause == "placeholder-echoed"
    found = reading.ending("length", None, {"max_tokens": 20}).diagnosis
    assert [one.cause for one in found[:2]] == ["placeholder-echoed", "cut-off-at-limit"]


def test_a_slip_of_an_allowed_word_is_not_to_be_allowed() -> None:
    def types(reply: str) -> list[str]:
        found = read("chat", "q -> c: Literal['positive', 'negative']", f"[[ ## c ## ]]\n{reply}").diagnosis
        return [fix.message for one in found for fix in one.fixes if fix.kind == "type"]

    assert types("postive") == [] and types("mixed") == ["Allow 'mixed' in `c`."]


@pytest.mark.parametrize(
    ("declared", "offered"),
    [
        ("price: float", ["str"]),
        ("price: float | None = None", ["str | None"]),
        ("price: float = pydantic.Field(ge=0)", []),  # pydantic raises TypeError for `str` with `ge`
        ("price: float | None = pydantic.Field(None, description='in euros')", ["str | None"]),
    ],
)
def test_a_number_is_offered_as_a_text_unless_it_has_bounds(declared: str, offered: list[str]) -> None:
    signature = ITEM.replace("price: float", declared)
    reading = read("json", signature, '{"items": [{"name": "a", "price": "1.250,00", "qty": 1}]}')
    changes = [fix.change for cause in reading.diagnosis for fix in cause.fixes]
    assert any("description" in one for one in changes)
    assert [one["type"] for one in changes if one.get("type", "").startswith("str")] == offered


def test_a_list_is_described_by_an_example_of_its_own_type() -> None:
    for kind, example in (("list[int]", "[1, 2]"), ("list[str]", '["a", "b"]'), ("list[dict]", "[{…}, {…}]")):
        first = read("chat", f"q -> l: {kind}", "[[ ## l ## ]]\n- x\n- y").diagnosis[0]
        assert first.cause == "list-expected"
        assert first.fixes[0].change["description"] == f"A JSON list, like {example}."


def test_one_object_in_a_list_offers_the_list_as_the_type() -> None:
    source = ITEM.replace("list[Item]", "Item")
    found = read("json", source, '{"items": [{"name": "x", "price": 1, "qty": 2}]}').diagnosis
    assert {"field": "items", "type": "list[Item]"} in [fix.change for one in found for fix in one.fixes]


@pytest.mark.parametrize(
    ("completion", "said"),
    [
        ('{name": "Henry", "age": 25}', "a JSON key without its first quote"),
        ('{"name": Henry the first", "age": 25}', "a value without its first quote"),
        ('{\\"name\\": 1, \\"age\\": 25}', "quotes with backslashes"),
        ('{"name": "Good product”, "age": 4}', "a typographic quote"),
    ],
)
def test_what_is_wrong_with_quotes_is_said(completion: str, said: str) -> None:
    flags = read("json", "q -> name, age: int", completion).flags
    assert any(said in one.message for one in flags if one.name == "json-repaired")


def test_a_whole_sentence_or_placeholder_is_no_word_that_a_literal_should_allow() -> None:
    for text in ("Best headphones I have ever owned!", "{label}"):
        reading = read("xml", "q -> label: Literal['a', 'b']", f"<label>\n{text}\n</label>")
        assert not [fix for one in reading.diagnosis for fix in one.fixes if fix.kind == "type"]
        assert any(f"is '{text}'" in one.message for one in reading.diagnosis if one.cause == "value-not-allowed")


REVIEW = "review -> label: Literal['good', 'bad'], score: int, reason"
"""A signature whose input a small model copies into every output."""
KETTLE = "The kettle boils fast. I would buy it again."


def reply_to(review: str, adapter: str, completion: str, finish_reason: str | None = "stop") -> Reading:
    made, signature = catalog.make(adapter), adapters.read_signature(REVIEW)
    prompt = made.render(signature, [], {"review": review})
    return made.read(signature, completion).ending(finish_reason, None, {"max_tokens": 80}, prompt)


@pytest.mark.parametrize("adapter", ["json", "baml"])
@pytest.mark.parametrize(
    "label", ["The kettle boils fast", "the kettle boils fast and I'd buy it again", "Boils fast."]
)
def test_a_copy_of_an_input_is_named_and_no_value_to_allow(adapter: str, label: str) -> None:
    (cause,) = reply_to(KETTLE, adapter, json.dumps({"label": label, "score": 4, "reason": "x"})).diagnosis
    assert cause.cause == "value-not-allowed"
    assert cause.message.endswith("is allowed. The model copied it from the input `review`.")
    assert [fix.kind for fix in cause.fixes] == ["description"]


@pytest.mark.parametrize("label", ["lukewarm tea", "kettle"])
def test_words_of_its_own_or_a_single_one_are_no_copy(label: str) -> None:
    (cause,) = reply_to(KETTLE, "json", json.dumps({"label": label, "score": 4, "reason": "x"})).diagnosis
    assert cause.message.endswith("is allowed.")
    assert [fix.kind for fix in cause.fixes] == ["type", "description"]


def test_a_number_with_its_unit_is_taken_from_an_input_as_it_should_be() -> None:
    (cause,) = reply_to("It has 4 stars.", "json", '{"label": "good", "score": "4 stars", "reason": "x"}').diagnosis
    assert "copied" not in cause.message


def test_a_copied_text_is_no_number_that_may_be_missing() -> None:
    reading = reply_to(KETTLE, "xml", f"<label>good</label><score>{KETTLE}</score><reason>x</reason>")
    assert [fix.kind for one in reading.diagnosis for fix in one.fixes] == ["description", "structured output"]


def test_a_long_text_with_a_numeral_is_not_a_number_in_words() -> None:
    text = "It lasts three days, and that makes it the best one that I have ever had."
    (cause,) = read("chat", "q -> n: int", f"[[ ## n ## ]]\n{text}").diagnosis
    assert cause.message.endswith("which is not a plain number: it is text.")


def test_values_that_fail_come_before_the_limit_that_cut_a_later_one_off() -> None:
    cut = f"<label>\n{KETTLE}\n</label>\n\n<score>\nmany\n</score>\n\n<reason>\nIt boi"
    found = reply_to(KETTLE, "xml", cut, "length").diagnosis
    assert [one.cause for one in found] == ["not-a-number", "value-not-allowed", "cut-off-at-limit"]
    assert [fix.kind for fix in found[-1].fixes] == ["max_tokens"], "the reason still lacks its end"


def test_more_tokens_are_offered_only_where_they_would_help() -> None:
    whole = '```json\n{"label": "fine", "score": 4, "reason": "x"}\n```\n\nThis JSON is'
    program = "```python\ndef review(text):\n    return"
    template = "<label>{label}</label>\n<score>{score}</score>\n<reason>{reason}</reason>\n<lab"
    for adapter, cut in (("markdown", whole), ("chat", program), ("xml", template)):
        found = reply_to(KETTLE, adapter, cut, "length").diagnosis
        assert found[-1].cause == "cut-off-at-limit"
        assert "max_tokens" not in [fix.kind for one in found for fix in one.fixes], adapter


def test_fewer_repetitions_make_a_loop_if_the_limit_ended_them() -> None:
    loop = "<label>\n<score>\n" * 7
    assert reply_to(KETTLE, "xml", loop, "length").diagnosis[0].cause == "runaway-repetition"
    assert reply_to(KETTLE, "xml", loop, "stop").diagnosis[0].cause != "runaway-repetition"


def test_a_value_that_fails_before_a_loop_has_its_own_fixes() -> None:
    reply = f'{{"label": "{KETTLE}", "score": 4, "reason": "bad {"and too large, the kettle is " * 6}'
    found = reply_to(KETTLE, "json", reply, "length").diagnosis
    assert [one.cause for one in found[:2]] == ["value-not-allowed", "runaway-repetition"]
    assert found[0].fixes and found[1].fixes


def test_the_template_given_back_is_named_where_no_value_was_found() -> None:
    reply = "<label>\n{label}\n</label>\n<score>\n{score}\n</score>\n<reason>\n{reason}\n</reason>\n</review>"
    first = reply_to(KETTLE, "xml", reply).diagnosis[0]
    assert first.cause == "placeholder-echoed"
    assert "({label}, {score}, {reason})" in first.message


def test_a_placeholder_has_the_fixes_of_a_placeholder_alone() -> None:
    reading = read("chat", "q -> n: int, b", "[[ ## n ## ]]\n{n}\n\n[[ ## b ## ]]\nx")
    assert "placeholder-echoed" in [one.cause for one in reading.diagnosis if one.fixes]
    assert "type" not in [fix.kind for one in reading.diagnosis for fix in one.fixes]


@pytest.mark.parametrize(
    ("adapter", "reply"), [("chat", f"[[ ## review ## ]]\n{KETTLE}"), ("xml", f"<review>\n{KETTLE}\n</review>")]
)
def test_an_input_given_back_without_an_output_is_named(adapter: str, reply: str) -> None:
    assert reply_to(KETTLE, adapter, reply).diagnosis[0].message.startswith("The reply repeats the input `review`, and")


def test_an_input_of_a_demo_given_back_is_not_said_to_be_that_of_the_case() -> None:
    made, signature = catalog.make("chat"), adapters.read_signature(REVIEW)
    demos = [
        {"review": f"{word} as a stone, and twice as loud.", "label": "bad", "score": 1, "reason": "x"}
        for word in ("Heavy", "Cold")
    ]
    prompt = made.render(signature, demos, {"review": KETTLE})

    def said(review: str) -> str:
        reading = made.read(signature, f"[[ ## review ## ]]\n{review}").ending("stop", None, {}, prompt)
        return reading.diagnosis[0].message

    assert said(demos[1]["review"]).startswith("The reply repeats the input `review` of demo 2, and none")
    assert said(KETTLE).startswith("The reply repeats the input `review`, and none")
    assert said(f"{demos[0]['review']}\n{KETTLE}").startswith("The reply repeats the input `review`, and none")
    assert said("A text of its own.").startswith("The reply repeats the input `review`, and none")


def test_a_loop_that_never_followed_the_format_has_the_fixes_of_the_format_too() -> None:
    loop = reply_to(KETTLE, "chat", "The kettle is good and " * 20, "length").diagnosis
    assert [one.cause for one in loop if one.fixes] == ["runaway-repetition", "format-not-followed"]
    assert {"adapter": "json"} in [fix.change for one in loop for fix in one.fixes]
    begun = reply_to(KETTLE, "chat", f"[[ ## label ## ]]\n{'good and ' * 60}", "length").diagnosis
    assert "format-not-followed" not in [one.cause for one in begun]


def test_the_second_reply_of_two_step_is_not_to_be_mended_by_two_step() -> None:
    signature = adapters.read_signature("q -> a: int, b")
    reading = catalog.make("twostep").read(signature, "Seven, Paris.", "Seven and Paris, I think.")  # type: ignore[call-arg]
    assert reading.diagnosis[0].message.startswith("Extraction: ")
    changes = [fix.change for one in reading.diagnosis for fix in one.fixes]
    assert {"adapter": "twostep"} not in changes and {"fallback": True} not in changes


def test_text_without_a_number_is_not_said_to_be_a_number_in_words() -> None:
    def said(text: str) -> str:
        return read("chat", "q -> n: int", f"[[ ## n ## ]]\n{text}").diagnosis[0].message

    assert "it is in words" in said("twenty")
    assert "it is text" in said("A sharp knife at a fair price.")


def test_a_nested_object_in_a_broken_one_is_not_said_to_be_one_level_down() -> None:
    reading = read("json", "q -> city, date", '{"f": {"g": {"city": "Sydney", "date": "x"}}')
    assert "inside other objects, in 'g'" in reading.near_misses[0].message
    whole = read("json", "q -> city, date", '{"f": {"g": {"city": "Sydney", "date": "x"}}}')
    assert "two levels down, in 'f.g'" in whole.near_misses[0].message


def test_native_tool_calls_are_offered_only_to_signatures_with_tools() -> None:
    def kinds(signature: str) -> set[str]:
        call = '{"type": "function", "name": "get", "parameters": {"x": 1}}'
        return {fix.kind for one in read("json", signature, call).diagnosis for fix in one.fixes}

    assert "native" not in kinds("q -> a, b")
    assert "native" in kinds("q, tools: list[dspy.Tool] -> outputs: dspy.ToolCalls")


def test_an_optional_key_that_the_reply_nearly_names_is_a_cause_although_it_parses() -> None:
    source = ITEM.replace("qty: int", "qty: int | None = None")
    (found,) = read("json", source, '{"items": [{"name": "x", "price": 1, "quantity": 2}]}').diagnosis
    assert found.cause == "key-nearly-right" and "'quantity'" in found.message and "'qty'" in found.message


def test_every_wrong_place_inside_a_list_of_models_is_named_with_its_value() -> None:
    completion = '{"items": [{"name": "Pen", "price": "$1.50", "quantity": 3}, {"name": "Ink", "price": 2}]}'
    found = {one.path: (one.cause, one.message) for one in read("json", ITEM, completion).diagnosis}
    assert set(found) == {"items[0].qty", "items[0].price", "items[1].qty"}
    assert "'quantity'" in found["items[0].qty"][1]
    assert "'$1.50'" in found["items[0].price"][1] and "currency" in found["items[0].price"][1]
    assert found["items[1].qty"][0] == "key-missing"


def test_a_fix_allows_the_words_that_a_literal_lacks() -> None:
    signature = "items -> answers: list[Literal['yes', 'no']]"
    (first, *_) = read("json", signature, '{"answers": ["yes", "maybe"]}').diagnosis
    fix = first.fixes[0]
    assert (first.cause, first.path) == ("value-not-allowed", "answers[1]")
    assert (fix.kind, fix.change) == ("type", {"field": "answers", "type": "list[Literal['yes', 'no', 'maybe']]"})
    mended = f"items -> answers: {fix.change['type']}"
    assert read("json", mended, '{"answers": ["yes", "maybe"]}').ok


def test_the_json_shape_of_a_diagnosis() -> None:
    (shape,) = json_shapes.reading(read("json", "q -> n: int", '{"n": "$5"}'))["diagnosis"][:1]
    assert set(shape) == {"cause", "message", "place", "fixes"}
    assert (shape["cause"], shape["place"]) == ("not-a-number", "n")
    assert shape["fixes"][-1] == {
        "kind": "type",
        "message": "Give `n` the type int | None.",
        "change": {"field": "n", "type": "int | None"},
    }


def test_a_good_reply_has_no_diagnosis_and_an_error_always_has_one() -> None:
    assert read("chat", "q -> a", "[[ ## a ## ]]\nParis\n\n[[ ## completed ## ]]").diagnosis == ()
    assert read("json", ITEM, '{"items": [{"name": "Pen", "price": 1.5, "qty": 3}]}').diagnosis == ()
    assert read("xml", "q -> a: int", "<a>seven</a>").diagnosis


class OwnAdapter(ChatAdapter):
    """A user's adapter, whose form nobody knows."""

    def parse(self, signature: Signature, completion: str) -> dict[str, Any]:
        raise AdapterParseError("OwnAdapter", signature, completion)


def test_a_parse_error_that_no_pattern_explains_comes_with_the_text_of_a_bug_report() -> None:
    reading = OwnAdapter().read(adapters.read_signature("q -> a: int"), "half a \ud800 surrogate\x1b[2J")
    (only,) = reading.diagnosis
    assert only.cause == "unknown" and "report" in only.message
    report = reading.bug_report
    assert "output a: int" in report and "AdapterParseError" in report and "\\ud800 surrogate\\u001b[2J" in report
    assert json_shapes.reading(reading)["bug_report"] == report
    known = read("chat", "q -> a", "")
    assert known.bug_report == "" and "bug_report" not in json_shapes.reading(known)


def test_a_fence_inside_a_string_of_a_fenced_block_is_a_part_of_it() -> None:
    assert read("markdown", "q -> a", '```json\n{"a": "```py\\nx```"}\n```').values == {"a": "```py\nx```"}
    reading = read("markdown", "q -> a", '```json\n{"a": "```py\nx```"}\n```')
    said = "As JSON, the reply breaks at line 2, column 13: a line break or another control character is inside a text"
    said = f"{said}. It writes `a` as '\"a\":' (line 2, column 2)."
    assert reading.diagnosis[0].message == said


def test_nothing_is_computed_before_it_is_requested() -> None:
    reading = read("json", "q -> a", "{")
    assert "diagnosis" not in vars(reading) and "flags" not in vars(reading)


def test_the_cause_of_a_refused_field_is_sought_without_the_values_that_parsed() -> None:
    reply = '{"a": null, "b": "about 2", "c": [1.5]}'
    causes, flags = [read("json", "q -> a, b: float, c: list[float]", reply) for _ in range(2)]
    assert causes.diagnosis[0].cause == "words-around-value"
    assert values_read not in causes.detected and values_read not in flags.detected
    assert "null-became-text" in [flag.name for flag in flags.flags]
    assert causes.flags == flags.flags and causes.diagnosis == flags.diagnosis


BOUNDED = """
import dspy
class S(dspy.Signature):
    q: str = dspy.InputField()
    a: str | None = dspy.OutputField()
    b: float = dspy.OutputField(ge=0)
    c: str | None = dspy.OutputField()
"""


def test_flags_found_before_an_error_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.replies.flags.values_read.constraint_flags", lambda *_: 1 / 0)
    reading = read("json", BOUNDED, '{"a": "None", "b": NaN, "c": "None"}')
    assert [(flag.name, flag.field) for flag in reading.flags] == [
        ("none-stays-text", "a"),
        ("not-a-finite-number", "b"),
    ]


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "-1e999", "-1"])
def test_a_number_that_is_compared_with_a_limit_ends_no_flags(number: str) -> None:
    found = {flag.name for flag in read("json", BOUNDED, f'{{"a": "x", "b": {number}, "c": "None"}}').flags}
    assert ("constraint-not-enforced" in found, "none-stays-text" in found) == (number != "NaN", True)


def test_a_diagnosed_reply_is_freed_with_its_last_reference() -> None:
    reading = read("chat", "q -> a, b: list[int]", "[[ ## a ## ]]\nx")
    causes, known = reading.diagnosis, weakref.ref(reading)
    gc.disable()
    try:
        del reading
        assert known() is None
    finally:
        gc.enable()
    assert causes[0].fixes


@pytest.mark.parametrize(
    ("reply", "is_plain"),
    [
        ('{"a": "x"}', True),
        ('{\n  "a": "{",\n  "a": "y"\n}\n', True),
        ('{"a": "I say \\"x\\" to {y}"}', True),
        ('{"a": "{\\n \\"b\\": 1}"}', False),
        ('{"a": "x", "c": 1}', False),
        ('{"a": "x"} {"b": 1}', False),
        ('{"a": "x",}', False),
        ("{}", False),
        ("", False),
    ],
)
def test_a_plain_object_has_outputs_alone_and_none_in_a_text(reply: str, is_plain: bool) -> None:
    assert read("json", "q -> a, b", reply).is_plain_object is is_plain


def test_the_table_is_made_of_flags() -> None:
    names = [one.name for one in PATTERNS]
    assert len(set(names)) == len(names)
    assert set(names) <= set(FLAGS)
    assert set(names).isdisjoint(LAST)


def test_every_flag_that_only_an_error_raises_is_a_cause() -> None:
    """Without its row in the table, another cause and its fixes are named beside the flag."""
    source = "".join(map(inspect.getsource, (explaining.no_answer, explaining._ended, explaining._without_fields)))
    of_no_answer = set(re.findall(r'Flag\(\s*"([a-z-]+)"', source))
    assert {"empty-reply", "think-not-closed", "refusal", "cut-off-at-limit", "too-large-to-read"} <= of_no_answer
    assert list(SECTIONS)[-1] == "Values that were refused"
    names = list(FLAGS)
    of_values = set(names[names.index(SECTIONS["Values that were refused"]) :])
    assert sorted((of_no_answer | of_values) - {one.name for one in PATTERNS}) == []


def test_a_value_that_its_type_rejects_otherwise_is_quoted() -> None:
    (first, *_) = read("json", "q -> n: list[uuid.UUID]", '{"n": ["not one"]}').diagnosis
    assert first.cause == "value-rejected" and "'not one'" in first.message


@pytest.mark.parametrize(
    ("reply", "missing"),
    [
        ("[[ ## b ## ]]\n2\n\n[[ ## completed ## ]]", "a"),
        ("[[ ## b ## ]]\n2", "a"),
        ("[[ ## a ## ]]\n1\n\n[[ ## completed ## ]]", "b"),
    ],
)
def test_an_output_that_was_left_out_is_the_cause_and_not_a_cut_off(reply: str, missing: str) -> None:
    found = catalog.make("chat").read(notation.read("q -> a, b"), reply).diagnosis
    assert [(one.cause, one.field) for one in found] == [("output-missing", missing)]
    assert f"has no `{missing}`" in found[0].message
    assert found[0].fixes


@pytest.mark.parametrize(
    ("finish_reason", "refusal", "is_offered"),
    [
        ("length", "", True),
        ("content_filter", "", False),
        ("stop", "I cannot.", False),
        ("stop", "", False),
        (None, None, True),
    ],
)
def test_a_higher_limit_is_offered_only_where_the_limit_may_have_ended_the_reply(
    finish_reason: str | None, refusal: str | None, is_offered: bool
) -> None:
    reading = read("chat", "a -> b", "").ending(finish_reason, refusal, {})
    assert any("max_tokens" in one for one in reading.fix_messages) is is_offered


@pytest.mark.parametrize(
    ("adapter", "signature", "completion", "said"),
    [
        ("json", "q -> n: list[str]", '{"n": ["x", "y', "The JSON ends in the middle (line 1, column 14): json_repair"),
        ("json", "q -> a: dspy.ToolCalls", '{"name": "f", "parameters": {}}', "(line 1, column 1) instead of as `a`."),
        (
            "json",
            "q -> a",
            "{reason: " + "\nagain and " * 60,
            "a loop: 'again and' is repeated 60 times, from line 2, column 1",
        ),
        ("chat", "q -> a: Literal['high', 'low']", "[[ ## a ## ]]\n**high**", "'**high**' is not 'high': `a` must"),
        ("json", "q -> a: Literal['1', '2']", '{"a": 1}', "1 is not '1': `a` must match exactly."),
        ("json", "q -> a: Literal['True', 'No']", '{"a": true}', "True is not 'True'"),
    ],
)
def test_a_sentence_says_only_what_the_reply_shows(adapter: str, signature: str, completion: str, said: str) -> None:
    assert any(said in flag.message for flag in read(adapter, signature, completion).flags)


def test_a_key_one_level_too_deep_is_not_said_to_be_missing() -> None:
    source = (
        "from pydantic import BaseModel\nclass Story(BaseModel):\n    verb: str\n"
        "class S(dspy.Signature):\n    q: str = dspy.InputField()\n    story: Story = dspy.OutputField()\n"
    )
    found = read("json", source, '{"story": {"properties": {"verb": "Click"}}}').diagnosis
    assert "`story.verb` is one level too deep in the reply, under 'properties'." in [one.message for one in found]
    source = source.replace("verb: str", "verb: str\n    teller: Teller")
    source = source.replace("class Story", "class Teller(BaseModel):\n    verb: str\nclass Story")
    (flag, *_) = read("json", source, '{"story": {"teller": {"verb": "Click"}}}').flags
    assert flag.message == "`story.verb` is missing from the object in the reply.", "`teller` has a `verb` of its own"


def test_a_guess_shows_the_value_as_it_is_in_the_reply() -> None:
    for reply, said in (('{"a": 1}', "1 probably means '1'"), ('{"a": "\\"1\\"."}', "'\"1\".' probably means '1'")):
        (miss,) = read("json", "q -> a: Literal['1', '2']", reply).near_misses
        assert miss.message.startswith(said)


def test_an_enum_of_numbers_is_not_extended_by_words() -> None:
    source = (
        "from enum import IntEnum\nclass Level(IntEnum):\n    LOW = 1\n"
        "class S(dspy.Signature):\n    q: str = dspy.InputField()\n    level: Level = dspy.OutputField()\n"
    )
    (found,) = read("json", source, '{"level": "medium"}').diagnosis
    assert (found.cause, [fix.kind for fix in found.fixes]) == ("value-not-allowed", ["description"])


def test_a_likely_reply_with_a_wrong_value_brings_the_sentence_for_that_value() -> None:
    (found,) = read("chat", "q -> reasoning, answer: float", "Reasoning: two dice.\nAnswer: 1/36").diagnosis
    assert found.cause == "likely-reply" and "but then `answer` is '1/36'" in found.message
    assert [fix.kind for fix in found.fixes][:3] == ["structured output", "description", "adapter"]


@pytest.mark.parametrize("value", ['["2024"]', '{"year": 2024}', "[[]]", "true"])
def test_a_date_that_is_no_text_has_a_cause(value: str) -> None:
    source = (
        "import datetime\nclass S(dspy.Signature):\n    q: str = dspy.InputField()\n"
        "    day: datetime.date = dspy.OutputField()\n"
    )
    (found,) = read("json", source, f'{{"day": {value}}}').diagnosis
    assert found.cause == "date-not-read"
    assert [fix.kind for fix in found.fixes] == ["description", "type"]


@pytest.mark.parametrize("completion", ["", "</think>", "{", "Sure."])
def test_a_signature_without_outputs_has_a_diagnosis_too(completion: str) -> None:
    signature = adapters.read_signature("class S(dspy.Signature):\n    q: str = dspy.InputField()")
    for adapter in ("chat", "json", "xml", "baml", "markdown"):
        reading = catalog.make(adapter).read(signature, completion)
        assert reading.ok or reading.diagnosis, adapter
        assert "placeholder-echoed" not in [one.cause for one in reading.diagnosis], adapter


@pytest.mark.parametrize("given", ["\u212a5", "5\nTO\n10"])
def test_a_text_that_only_resembles_a_number_has_a_cause(given: str) -> None:
    (cause,) = read("json", "q -> n: list[int]", json.dumps({"n": [given]})).diagnosis
    assert cause.message.endswith("which is not a plain number: it is text.")


def test_the_providers_own_words_are_quoted_with_their_quotes() -> None:
    raw = json.dumps({"error": {"message": 'The value of "tools" is empty'}})
    body = json.dumps({"error": {"message": "Provider returned error", "metadata": {"raw": raw}}})
    (cause,) = read("json", "q -> a", body).diagnosis
    assert 'The value of "tools" is empty' in cause.message

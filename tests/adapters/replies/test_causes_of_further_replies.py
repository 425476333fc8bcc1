"""Causes of replies that trackers of other libraries quote: the first one, in whole sentences."""

from __future__ import annotations

import pytest

import adapters
from adapters.formats import catalog
from adapters.replies.reading import Reading

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
WHOLE = "; the whole reply is one XML document, so all of it was refused."
WRAPPER = "The reply has the wrapper of a provider's tool call ({}, line 1, column {})."
LOOP = '{"name": "Rex", "age": 1' + "0" * 230
"""The beginning of a number whose zeros never end."""


def read(adapter: str, signature: str, completion: str) -> Reading:
    return catalog.make(adapter).read(adapters.read_signature(signature), completion)


@pytest.mark.parametrize(
    ("adapter", "signature", "completion", "said"),
    [
        (
            "json",
            "q -> name",
            '{"type": "message", "model": "m", "content": [{"type": "thinking", "thinking": "Hm."}, '
            '{"type": "text", "text": "{\\"name\\": \\"Ann\\"}"}]}',
            "The reply is the server's whole response; the model's text is at content[1].text inside it. A custom LM "
            "or proxy must return that text alone.",
        ),
        (
            "json",
            "q -> name",
            '{"error": {"message": "Provider returned error", '
            '"metadata": {"raw": "{\\"message\\": \\"No system role\\"}"}}}',
            "The reply is a server's error, not an answer: 'No system role'.",
        ),
        (
            "json",
            "q -> name, age: int",
            '{"name</think>": "Ann", "age": 30}',
            "</think>, the end of thoughts, is inside the object (line 1, column 7): the server did not separate the "
            "thoughts from the answer. Start it with its reasoning parser.",
        ),
        (
            "json",
            "q -> names: list[str]",
            "<think>\n</think>\n\n",
            "The reply ends with its thoughts: no answer follows them.",
        ),
        (
            "json",
            "q -> facts: list[str]",
            "{\"facts\" : [\\'She works\\']}",
            "json_repair took the end of the JSON into `facts`, \"She works']}\": a quote is not JSON's, or is "
            "missing.",
        ),
        (
            "json",
            "q -> found: list[dict[str, str]]",
            '{"CVE-1": {"why": "unused"}, "CVE-2": {"why": "old"}}',
            "The reply has an object for each item, under JSON keys of their own ('CVE-1', 'CVE-2'), instead of the "
            "list `found`.",
        ),
        (
            "json",
            UNION,
            '{"action": [{"done": "x"}, {"scroll": 3}]}',
            "`action[1]` is {'scroll': 3}, which is none of its types: Done needs `done`; Click needs `click`, "
            "`double`; Drag needs `click`.",
        ),
        (
            "json",
            "q -> nodes: list[str]",
            'Here is the result for {project}:\n{"nodes": ["a"],}',
            "The JSON key `nodes` (line 2, column 2) was not read: the parser takes the first {…}, which is "
            "'{project}' (line 1, column 24).",
        ),
        ("json", "q -> a", '"MATCH (m) RETURN m"', "The reply is one JSON string, without any JSON keys."),
        (
            "json",
            "q -> names: list[str]",
            "```yaml\n- name: Order\n- name: Item\n```",
            "The reply begins with a block of yaml instead of the JSON keys.",
        ),
        (
            "json",
            "q -> name, age: int",
            LOOP,
            "The reply ends in a loop: '0' is repeated 230 times, from line 1, column 25 until the end.",
        ),
        (
            "xml",
            "q -> code",
            "<code>\nprint('</code>')\n</code>",
            "The text of <code> contains </code> (line 2, column 8), which ends it; so </code> (line 3, column 1) "
            f"closes nothing{WHOLE}",
        ),
        (
            "xml",
            "q -> plan",
            '<plan>\n<step name="a"/>\n',
            f"The reply ends (line 3, column 1) before <plan> (line 1, column 1) is closed{WHOLE}",
        ),
        (
            "xml",
            "q -> plan",
            "To plan, we do this:\n1. Begin with a <plan> element.\n2. Add steps.",
            "The reply is prose that mentions tags inside sentences, without any field in tags.",
        ),
        (
            "xml",
            "q -> tool",
            "<tool>look</tool>\n<seen>64</seen>\n<tool>go</tool>",
            "<tool> occurs 2 times; as `tool` is a text, the value is a Python list as text: \"['look', 'go']\".",
        ),
        ("chat", "q -> plan", '<|open|>toolscall tool="Replace"<|sep|>', WRAPPER.format("<|open|>", 1)),
        (
            "chat",
            "q -> plan",
            "<function=task>\nx",
            WRAPPER.format("<function=task", 1),
        ),
        ("chat", "q -> a", "Lie:default_api:pick{names:[]}", WRAPPER.format("default_api:pick", 5)),
        (
            "chat",
            "question -> answer",
            "Messi\n\nQuestion: How heavy is a heart?\nAnswer: 400 pounds\n",
            "After an answer, the reply goes on with a 'Question' of its own (line 3, column 1): the model continues "
            "the prompt, as base models do.",
        ),
    ],
)
def test_the_first_cause_is_true(adapter: str, signature: str, completion: str, said: str) -> None:
    assert read(adapter, signature, completion).diagnosis[0].message == said


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


@pytest.mark.parametrize("adapter", ["chat", "json"])
@pytest.mark.parametrize("end", ["</think>", "[/THINK]"])
def test_thoughts_without_an_answer_have_one_cause(adapter: str, end: str) -> None:
    reading = read(adapter, "q -> answer, score: int", f"The user wants a number.\nSo I think.\n{end}\n")
    assert [one.cause for one in reading.diagnosis] == ["empty-reply"]


@pytest.mark.parametrize(("begin", "end"), [("<mm:think>", "</mm:think>"), ("[THINK]", "[/THINK]")])
def test_thoughts_in_prose_before_marked_ones_are_named(begin: str, end: str) -> None:
    reading = read("chat", "q -> score: int", f"Okay, the user asks for a number. {begin}Why?{end}")
    assert [one.cause for one in reading.diagnosis] == ["thoughts-not-separated"]


def test_a_tool_call_in_the_text_of_a_flat_object_is_named() -> None:
    reading = read("json", "q -> answer: int", '{"answer": "<|python_tag|>search(q)"}')
    assert [one.cause for one in reading.diagnosis] == ["tool-call-wrapper", "not-a-number"]


@pytest.mark.parametrize(
    ("completion", "name"),
    [
        ("[[ ## review ## ]]\nGood.\n\n[[ ## label ## ]]\nfine\n\n[[ ## completed ## ]]", "reasoning"),
        ("[[ ## reasoning ## ]]\nGood.\n\n[[ ## review ## ]]\nfine\n\n[[ ## completed ## ]]", "label"),
    ],
)
def test_the_name_of_an_input_in_place_of_an_output_is_told(completion: str, name: str) -> None:
    (cause,) = read("chat", "review -> reasoning, label", completion).diagnosis
    said = f"The reply has no `{name}`; the model wrote the name of the input `review` instead."
    assert (cause.cause, cause.message) == ("output-missing", said)


def test_an_input_repeated_after_a_later_output_is_not_in_place_of_an_earlier_one() -> None:
    completion = "[[ ## label ## ]]\nfine\n\n[[ ## review ## ]]\nGood.\n\n[[ ## completed ## ]]"
    (cause,) = read("chat", "review -> reasoning, label", completion).diagnosis
    assert cause.message == "The reply has no `reasoning`; the model left it out."


def test_an_input_repeated_before_the_outputs_is_not_in_place_of_one() -> None:
    completion = "[[ ## review ## ]]\nfine\n\n[[ ## reasoning ## ]]\nGood.\n\n[[ ## completed ## ]]"
    (cause,) = read("chat", "review -> reasoning, label", completion).diagnosis
    assert cause.message == "The reply has no `label`; it ends without it."


def test_the_braces_that_the_parser_took_are_shown_whole() -> None:
    (cause,) = read("json", "q -> nodes: list[str]", 'With {a: {b}, c}:\n{"nodes": ["x", "y}').diagnosis
    assert "which is '{a: {b}, c}' (line 1, column 6)" in cause.message


def test_only_markers_are_told_from_signs_of_other_formats() -> None:
    plain = "[[ ## answer ## ]]\nYes, (1).\n\n[[ ## completed ## ]]"
    assert read("chat", "q -> answer", plain).has_only_markers
    for sign in ("[1]", "<b>", "{x}", "`x`", "\\n", "\0"):
        assert not read("chat", "q -> answer", plain.replace("(1)", sign)).has_only_markers, sign
    assert not read("json", "q -> answer", plain).has_only_markers


@pytest.mark.parametrize(
    ("completion", "is_flat"), [('{"answer": "x"}', True), ('{"answer": "{x}"}', False), ('{"answer": "x"} y', False)]
)
def test_an_object_is_flat_with_one_brace_alone(completion: str, is_flat: bool) -> None:
    assert read("json", "q -> answer", completion).is_flat_object is is_flat

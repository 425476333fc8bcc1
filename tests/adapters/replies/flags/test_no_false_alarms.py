"""Good replies raise no flag: awkward but right values, each written by the adapter that reads it."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

import pytest

import adapters
from adapters.formats import catalog

SIGNATURES: dict[str, Callable[[str], dict[str, Any]]] = {
    "q -> a": lambda text: {"a": text},
    "q -> r, a, ok: bool": lambda text: {"r": text, "a": "Fine.", "ok": True},
    "q -> items: list[str], n: int": lambda text: {"items": [text, "second"], "n": 2},
    "q -> m: dict[str, str], x: float": lambda text: {"m": {"k": text}, "x": 0.5},
}

VALUES = (
    "I'm sorry to hear that your parcel is late. We will refund the postage today.",
    "I cannot recommend the first option, because it costs twice as much; take the second.",
    "As an AI model, the classifier reaches 92 % on the test set.",
    "Save it to C:\\new\\table.txt and run notes.bat",
    "The formula is \\frac{a}{b} \\times \\theta with \\nabla f = 0.",
    'He said "no", then left; the sign read "Exit".',
    "Use <think> to mark thoughts, e.g. <think>why?</think> before the answer.",
    "The tag `<think>` opens the thoughts; some models never close it.",
    "Put {name} and {date} into the template; doubled braces {{ }} escape.",
    "Answer: 42. Reasoning: 6 × 7.",
    "# Heading\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    "```python\ndef f(x):\n    return {'a': x, 'b': None}\n```",
    '{"city": "Paris"}',
    "[1] Smith 2020; [2] Jones 2021",
    "null",
    "1.234,50 €",
    "12/03/2024",
    "ha ha ha ha ha ha ha ha ha ha ha ha ha ha",
    "- item 1: done\n- item 2: done\n- item 3: done\n- item 4: done\n- item 5: done\n- item 6: done",
    "The list goes on: a, b, c, ...",
    "日本語の答えです。「はい」",
    "See https://example.org/a?b=1&c=2#d for R&D",
    "if a < b and c > d: pass",
    "SELECT * FROM t WHERE a <> 'x' -- comment",
    "// not a comment\n/* nor this */",
    "The field `a` is described in the docs; [[ wiki link ]] works too.",
    "## Result\nIt works.",
    'The tool_calls list was empty; call <invoke name="x"> next time.',
    'Error 404: page not found. {"error": "not found"} is the body.',
    "<!DOCTYPE html><html><body>Hi</body></html>",
    "“Quoted” text — with dashes",
    '{"type": "object", "properties": {"a": {"type": "string"}}}',
    "Yes. Yes. Yes. Yes. Yes. Yes. Yes. Yes. Yes. Yes. Yes. Yes.",
    "tab\there\nline, ends with a backslash \\",
    "The Harmony format uses <|channel|>final<|message|> before the answer.",
    "Tuple[int, ...] is a tuple of any length; def f(x: int) -> None: ... has no body.",
    "[1, 2, ...]",
    "The tag </think> ends the thoughts.",
    "Claude may write <thinking>why?</thinking> before its answer.",
    'Set <parameter name="q">1</parameter>\n<parameter name="a">2</parameter> in the file.',
    "The result is \\boxed{4}; the next steps are:",
    'Set <parameter name="q">1</parameter>',
    'Claude writes <invoke name="f"><parameter name="a">1</parameter></invoke>',
    "Thought: I look it up.\nAction: search\nAction Input: x",
    '{"name": "get_weather", "arguments": {"city": "Rome"}}',
    "{}",
    "\n".join(["The line is long enough to be a loop, and it is meant."] * 12),
    "typographic quotes: “a”, ‘b’, „c“, and ellipsis …",
)


@pytest.mark.parametrize("name", ["chat", "json", "xml", "baml"])
@pytest.mark.parametrize("signature", SIGNATURES)
def test_good_replies_raise_no_flag(name: str, signature: str) -> None:
    read, adapter = adapters.read_signature(signature), catalog.make(name)
    for text in VALUES:
        values = SIGNATURES[signature](html.escape(text, quote=False) if name == "xml" else text)
        reading = adapter.read(read, str(adapter.format_assistant_message_content(read, values)))
        assert reading.ok, (text, reading.error)
        assert not reading.flags and not reading.diagnosis, (text, reading.flags)


@pytest.mark.parametrize("thoughts", ["Perhaps {this} or [that].", 'Perhaps {"a": "a draft"}.'])
def test_an_answer_taken_from_below_the_thoughts_is_no_draft(thoughts: str) -> None:
    reading = adapters.JSONAdapter().read(
        adapters.read_signature("q -> a"), f'<think>\n{thoughts}\n</think>\n\n{{"a": "x"}}'
    )
    assert reading.values == {"a": "x"} and not reading.diagnosis
    assert not {"object-inside-think", "several-objects"}.intersection(flag.name for flag in reading.flags)


@pytest.mark.parametrize("text", ["全角：コロン、読点。", "数は3，000です。", "“a”： b"])
def test_full_width_signs_in_a_text_are_not_the_jsons_own(text: str) -> None:
    reading = adapters.JSONAdapter().read(adapters.read_signature("q -> a, b"), f'答え：\n{{"a": "{text}"}}')
    assert not reading.ok
    assert "full-width-punctuation" not in [flag.name for flag in reading.flags]


def test_a_drawn_line_at_the_end_of_a_closed_reply_is_no_loop() -> None:
    completion = '```json\n{"a": "```\n' + "\\u2501" * 60 + '"}\n```'
    reading = catalog.make("markdown").read(adapters.read_signature("q -> a"), completion)
    assert [one.cause for one in reading.diagnosis] == ["format-not-followed"]


def test_a_tag_that_is_no_xml_is_named_instead_of_missing_tags() -> None:
    reading = adapters.XMLAdapter().read(
        adapters.read_signature("q -> a: dict"), "<a><effort_[1-5]>3</effort_[1-5]></a>"
    )
    assert "none of the tags" not in reading.diagnosis[0].message
    assert "(line 1, column 12)" in reading.diagnosis[0].message


def test_an_answer_below_braces_in_the_thoughts_is_not_called_cut_off() -> None:
    reading = adapters.JSONAdapter().read(
        adapters.read_signature("q -> a, b"), '<think>By {ACME} x.</think>{"a": "x", "b": "y"}'
    )
    assert "cut-off-json-completed" not in [flag.name for flag in reading.flags]
    repaired = next(flag for flag in reading.flags if flag.name == "json-repaired")
    assert repaired.message.startswith("The answer is valid JSON, but braces in the thoughts")


@pytest.mark.parametrize("given", ['{"a": "x"}', "{'a': 'x'}", 'Here:\n{"a": "x",}'])
def test_a_line_drawn_below_an_object_is_no_loop(given: str) -> None:
    reading = adapters.JSONAdapter().read(adapters.read_signature("q -> a"), f"{given}\n\nI hope it helps!\n{'-' * 80}")
    assert reading.ok
    assert "runaway-repetition" not in [flag.name for flag in reading.flags]


def test_comparisons_in_prose_are_no_tags() -> None:
    reading = adapters.XMLAdapter().read(adapters.read_signature("q -> a"), "It is so, because 5 < 6 & 7 > 6.")
    assert reading.diagnosis[0].message == "The reply is prose, without any tags."


def test_a_tag_before_its_text_is_used_not_mentioned() -> None:
    reading = adapters.XMLAdapter().read(adapters.read_signature("q -> a"), "The capital is <a>Paris")
    assert reading.diagnosis[0].cause == "xml-cut-off"


def test_an_answer_before_thoughts_is_not_said_to_be_missing() -> None:
    reading = adapters.ChatAdapter().read(adapters.read_signature("q -> a"), "Paris. <think>Is it?</think>")
    assert "empty-reply" not in [one.cause for one in reading.diagnosis]


def test_an_end_of_thoughts_inside_a_text_is_not_taken_for_thoughts_above() -> None:
    completion = '{"a": "</think> ends it", "b": {"x": 1}, c: 2}'
    reading = adapters.JSONAdapter().read(adapters.read_signature("q -> a, b: dict[str, int]"), completion)
    assert "json-repaired" in [flag.name for flag in reading.flags]
    assert "braces in the thoughts" not in " ".join(flag.message for flag in reading.flags)


@pytest.mark.parametrize("adapter", [adapters.ChatAdapter(), adapters.XMLAdapter()], ids=lambda one: one.name)
def test_code_in_the_object_of_its_type_is_not_called_evaluated(adapter: Any) -> None:
    signature = adapters.read_signature("q -> a: dspy.Code")
    reply = str(adapter.format_assistant_message_content(signature, {"a": {"code": "print(1)"}}))
    reading = adapter.read(signature, reply)
    assert reading.values["a"].code == "print(1)"
    assert reading.flags == reading.diagnosis == ()

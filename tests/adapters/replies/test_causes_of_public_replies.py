"""Causes and fixes of replies that failed in public, in whole sentences. The threads are in `patterns.py`."""

from __future__ import annotations

import pytest

import adapters
from adapters.formats import catalog
from adapters.replies.reading import Reading

TITLE = "q -> title, rating: int, slug"
CUT = "; the whole reply is one XML document, so all of it was refused."


def read(adapter: str, signature: str, completion: str) -> Reading:
    return catalog.make(adapter).read(adapters.read_signature(signature), completion)


@pytest.mark.parametrize(
    ("adapter", "signature", "completion", "said"),
    [
        (
            "json",
            TITLE,
            '{\n"title": "a man who search"rating": 4,\n"slug": "s"}',
            "The text before the JSON key `rating` has no closing quote (line 2, column 27), so the key was not read.",
        ),
        (
            "chat",
            "q -> answer: int",
            "[THINK]17x20 is 340, plus 51.[/THINK]391",
            "After its thoughts, the reply is bare: '391', without any [[ ## name ## ]] markers.",
        ),
        (
            "json",
            "q -> answer: int",
            '[THINK]It asks for {"answer": …}.[/THINK]{"answer": 391}',
            "The first {…} (line 1, column 20) is inside [THINK], and the parser takes it: the server did not separate "
            "the thoughts from the answer. Start it with its reasoning parser.",
        ),
        (
            "chat",
            "q -> reasoning, answer: int",
            "[[ # reasoning # ]]\nSix times seven.\n\n[[ ## Answer ## ]]\n42",
            "[[ # reasoning # ]] (line 1, column 1) is not a marker: a marker begins a line and is written exactly "
            "[[ ## reasoning ## ]]. It was dropped with the text before the first marker.",
        ),
        ("chat", "q -> a", "[THINK]So", "The reply has [THINK] without [/THINK]: the model's thoughts, and no answer."),
        (
            "chat",
            "q -> a",
            '<|START_ACTION|>[{"tool_name": "search", "parameters": {}}]<|END_ACTION|>',
            "The reply has the wrapper of a provider's tool call (<|START_ACTION|>, line 1, column 1).",
        ),
        (
            "chat",
            "q -> a",
            'I search.\n<｜DSML｜function_calls>\n<｜DSML｜invoke name="search">',
            "The reply has the wrapper of a provider's tool call (<｜DSML｜function_calls, line 2, column 1).",
        ),
        (
            "json",
            "q -> a",
            "[{'type': 'thinking', 'thinking': 'Hm'}, {'type': 'text', 'text': '{\"a\": \"4\"}'}]",
            "The reply is a list of content parts; the model's answer is in those of type text. A custom LM or proxy "
            "must return that text alone.",
        ),
        (
            "json",
            "q -> offset: int, path",
            '{"offset: 600, "path": "a.py"}',
            "The JSON key `offset` has no closing quote (line 1, column 2).",
        ),
        (
            "json",
            "q -> scores: dict[str, float], total: float",
            '{"criteria_scores": {"style": 1.0}, "score": 0.9}',
            "The reply does not follow the format: none of the JSON keys of the outputs is in it; it has "
            "'criteria_scores', 'style', 'score'.",
        ),
        (
            "json",
            "q -> tags: list[str]",
            "['a', 'b']",
            "The reply is a Python list; the parser expects an object {…} with the output fields as its JSON keys, and "
            "looks at most at the first {…} inside the list. It is probably `tags` itself.",
        ),
        (
            "chat",
            "q -> a",
            "[1.1]" + "\n" * 300,
            "The reply ends in 300 spaces and line breaks (from line 1, column 6): the model wrote them until its "
            "token limit.",
        ),
        ("json", "q -> n", 'It has 3 "r", so s.count("r") -> 3.', "The reply is prose, without any JSON keys."),
        ("json", "q -> a, b", "Look at [1, 2] first.", "The reply is prose, without any JSON keys."),
        ("chat", "q -> ok: bool", "[[ ## ok ## ]]\nyes|no", "'yes|no' is both true and false; `ok` takes one of them."),
        ("json", "q -> ok: bool", '{"ok": "No or yes"}', "'No or yes' is both true and false; `ok` takes one of them."),
        (
            "chat",
            "q -> ok: bool",
            "[[ ## ok ## ]]\nYes, no doubt about it",
            "'Yes, no doubt about it' is more than True or False alone: text is not searched for a value.",
        ),
        (
            "chat",
            "q -> score: float",
            "[[ ## score ## ]]\nI cannot evaluate this",
            "`score` is 'I cannot evaluate this', words for no value, where a number is expected.",
        ),
        (
            "xml",
            "q -> actor",
            "<movi>\n<actor>Tom</actor></movie>",
            "<movi> (line 1, column 1) is not closed before </movie> (line 2, column 19)" + CUT,
        ),
        (
            "xml",
            "q -> actor",
            "<actor>a<br>b<i>c</i><hr/></actor>",
            "<br> (line 1, column 9) is not closed before </actor> (line 1, column 27)" + CUT,
        ),
        ("xml", "q -> actor", "<actor>a</actor></b>", "</b> (line 1, column 17) closes no open tag" + CUT),
        (
            "xml",
            "q -> actor",
            "<actor><![CDATA[<x>]]></actr>",
            "A tag is opened and not closed, or closed in another order (line 1, column 25)" + CUT,
        ),
    ],
)
def test_the_cause_says_what_is_wrong_and_where(adapter: str, signature: str, completion: str, said: str) -> None:
    assert read(adapter, signature, completion).diagnosis[0].message == said


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


def test_a_reply_that_is_whole_may_end_in_blanks() -> None:
    for adapter, completion in (
        ("chat", "[[ ## n ## ]]\nx\n\n[[ ## completed ## ]]" + "\n" * 200),
        ("json", '{"n": "x"}' + "\n" * 200),
    ):
        causes = [one.cause for one in read(adapter, "q -> n: int", completion).diagnosis]
        assert causes == ["not-a-number"]


def test_both_truth_values_are_no_guess_at_one() -> None:
    assert read("chat", "q -> ok: bool", "[[ ## ok ## ]]\nyes|no").near_misses == ()
    (miss,) = read(
        "chat", "q -> ok: bool", "[[ ## ok ## ]]\nYes, the context is about the very same question"
    ).near_misses
    assert miss.message == "'Yes, the context is about the very same …' probably means True, which parses as"


def test_a_number_that_was_not_to_be_had_may_be_null() -> None:
    (found,) = read("chat", "q -> n: float", "[[ ## n ## ]]\nUnable to determine the score").diagnosis
    assert (found.cause, found.fixes[0].message) == (
        "null-not-allowed",
        "Give `n` the type float | None, and describe it: null if there is none.",
    )
    (found,) = read("chat", "q -> n: int", "[[ ## n ## ]]\nI cannot give more than 5").diagnosis
    assert found.cause == "words-around-value"


def test_more_tokens_do_not_end_thoughts_that_have_an_end() -> None:
    (found,) = read("chat", "q -> a", "Alright, a greeting.\n</think>\n\nHello!").diagnosis
    assert [fix.kind for fix in found.fixes] == ["structured output", "adapter"]
    (found,) = read("chat", "q -> a", "Alright, the user wants a greeting.").diagnosis
    assert found.fixes[-1].message == "Set `max_tokens` to 4,000."


def test_a_fence_around_the_object_is_not_what_makes_it_invalid() -> None:
    reading = read("json", "q -> a, n: int", '```json\n{"a": "\\(K\\)", "n": 7}\n```')
    (repaired,) = [flag for flag in reading.flags if flag.name == "json-repaired"]
    assert repaired.message == (
        "The reply is not valid JSON (invalid \\escape, line 2, column 8); json_repair rewrote it before it was parsed."
    )


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


def test_the_markers_of_a_custom_type_are_no_prose() -> None:
    citations = '<<CUSTOM-TYPE-START-IDENTIFIER>>[{"cited_text": "x"}]<<CUSTOM-TYPE-END-IDENTIFIER>>'
    reading = read("chat", "q -> c: dspy.Citations", f"[[ ## c ## ]]\n{citations}\n\n[[ ## completed ## ]]")
    assert "brackets-in-prose-taken" not in [flag.name for flag in reading.flags]
    reading = read("chat", "q -> c: dspy.Citations", f"[[ ## c ## ]]\nSee {citations} here\n\n[[ ## completed ## ]]")
    assert [flag.name for flag in reading.flags].count("brackets-in-prose-taken") == 1


def test_a_text_is_not_said_to_be_nearest_to_itself() -> None:
    source = (
        "from enum import Enum\nclass Color(Enum):\n    RED = 'red'\n"
        "class S(dspy.Signature):\n    q: str = dspy.InputField()\n"
        "    c: list[Literal[Color.RED]] = dspy.OutputField()\n"
    )
    (found,) = read("json", source, '{"c": ["red"]}').diagnosis
    assert found.message == "`c[0]` is 'red', but only <Color.RED: 'red'> is allowed."


@pytest.mark.parametrize(
    ("adapter", "completion", "cause"),
    [
        ("json", '{"type": "json", "data": {"type": "json", "da', "format-not-followed"),
        ("markdown", '```python\ndef f(x: dict) -> dict:\n    return {"n": x[', "format-not-followed"),
        ("chat", "[[ ## completed ## ]]\n[## completed##]\n[##", "format-not-followed"),
        ("xml", "def f(x):\n    return {x", "format-not-followed"),
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
        ("chat", "[[ ## ok ## ]]\nGreat!\n\n[[ ## ", ["cut-off-at-limit", "not-true-or-false"]),
    ],
)
def test_a_limit_behind_the_value_that_failed_is_not_the_first_cause(
    adapter: str, completion: str, causes: list[str]
) -> None:
    reading = read(adapter, "q -> ok: bool, n: int", completion).ending("length", None, {"max_tokens": 20})
    assert [one.cause for one in reading.diagnosis if one.cause in causes] == causes, reading.diagnosis


def test_a_sentence_is_not_offered_as_an_allowed_value() -> None:
    for value, kinds in (("Great service!", ["description"]), ("quite fine", ["type", "description"])):
        (found,) = read("json", "q -> mood: Literal['good', 'bad']", f'{{"mood": "{value}"}}').diagnosis
        assert (found.cause, [fix.kind for fix in found.fixes]) == ("value-not-allowed", kinds), value


def test_a_reply_that_waits_for_its_extraction_is_no_parse_error() -> None:
    found = read("twostep", "q -> a, n: int", "It is 4.")
    assert (found.error is not None and found.error.type, found.diagnosis) == ("NeedsExtraction", ())


@pytest.mark.parametrize(
    ("given", "offered"),
    [("{stars}", False), ("It broke, so I sent it back.", False), ("1/5", True), ("three", True)],
)
def test_a_number_becomes_text_only_where_text_holds_one(given: str, offered: bool) -> None:
    found = read("xml", "review -> stars: int", f"<stars>{given}</stars>").diagnosis
    kinds = [fix.change.get("type") for cause in found for fix in cause.fixes]
    assert ("str" in kinds) == offered


def test_what_the_type_says_against_a_value_is_offered_as_its_description() -> None:
    signature = """
from pydantic import BaseModel, Field
class Title(BaseModel):
    emoji: str = Field(max_length=1)
class Name(dspy.Signature):
    q: str = dspy.InputField()
    title: Title = dspy.OutputField()
"""
    (cause,) = read("json", signature, '{"title": {"emoji": "!🚀"}}').diagnosis
    assert cause.fixes[0].change == {
        "field": "emoji",
        "class": "Title",
        "description": "String should have at most 1 character.",
    }

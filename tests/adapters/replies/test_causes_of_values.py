"""Causes and fixes of values that do not fit their types."""

from __future__ import annotations

import pytest

from tests.support.replies import read

EVENT = """
class Event(BaseModel):
    title: str
    day: Literal['Mon', 'Tue']
class S(dspy.Signature):
    note: str = dspy.InputField()
    event: Event = dspy.OutputField()
"""
CUSTOMER = """
class Address(BaseModel):
    town: str
class Customer(BaseModel):
    address: Address
class S(dspy.Signature):
    q: str = dspy.InputField()
    customer: Customer = dspy.OutputField()
"""


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


def test_a_text_is_not_said_to_be_nearest_to_itself() -> None:
    source = (
        "from enum import Enum\nclass Color(Enum):\n    RED = 'red'\n"
        "class S(dspy.Signature):\n    q: str = dspy.InputField()\n"
        "    c: list[Literal[Color.RED]] = dspy.OutputField()\n"
    )
    (found,) = read("json", source, '{"c": ["red"]}').diagnosis
    assert found.message == "`c[0]` is 'red', but only <Color.RED: 'red'> is allowed."


def test_a_sentence_is_not_offered_as_an_allowed_value() -> None:
    for value, kinds in (("Great service!", ["description"]), ("quite fine", ["type", "description"])):
        (found,) = read("json", "q -> mood: Literal['good', 'bad']", f'{{"mood": "{value}"}}').diagnosis
        assert (found.cause, [fix.kind for fix in found.fixes]) == ("value-not-allowed", kinds), value


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


def test_a_list_that_became_a_text_can_be_given_its_type() -> None:
    (cause,) = read("json", "q -> note", '{"note": ["a", "b"]}').diagnosis
    assert [fix.message for fix in cause.fixes] == [
        "Give `note` the type list[str].",
        "Add to the description of `note`: A text, not a list or object.",
    ]


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


def test_a_number_is_described_as_a_text_in_quotes() -> None:
    (cause,) = read("json", "text -> phone: Optional[str]", '{"phone": 555}').diagnosis
    assert cause.message == "`phone` is 555, where a text is expected."
    assert [fix.message for fix in cause.fixes] == ["Add to the description of `phone`: A text in quotes."]


def test_true_in_quotes_can_be_one_level_too_deep() -> None:
    reading = read("json", "q -> ok: bool", '{"ok": {"ok": "True"}}')
    assert [one.message for one in reading.diagnosis][:1] == [
        "`ok` is an object in the reply; its value is one level too deep, under 'ok'."
    ]


def test_a_text_for_a_class_inside_a_class_has_its_cause() -> None:
    (cause,) = read("json", CUSTOMER, '{"customer": {"address": "5 Mill Lane"}}').diagnosis
    assert cause.message == "`customer.address` is '5 Mill Lane', where an object is expected."


@pytest.mark.parametrize(("begin", "end"), [("<mm:think>", "</mm:think>"), ("[THINK]", "[/THINK]")])
def test_thoughts_in_prose_before_marked_ones_are_named(begin: str, end: str) -> None:
    reading = read("chat", "q -> score: int", f"Okay, the user asks for a number. {begin}Why?{end}")
    assert [one.cause for one in reading.diagnosis] == ["thoughts-not-separated"]


def test_a_tool_call_in_the_text_of_a_flat_object_is_named() -> None:
    reading = read("json", "q -> answer: int", '{"answer": "<|python_tag|>search(q)"}')
    assert [one.cause for one in reading.diagnosis] == ["tool-call-wrapper", "not-a-number"]

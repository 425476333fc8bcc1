"""The catalogue: named habits, each a pure function that breaks a good reply the same way every time."""

from __future__ import annotations

import pytest

from adapters.formats import catalog
from adapters.mutations import CATALOGUE
from adapters.mutations.mutation import GoodReply
from sessions import examples
from sessions.model.session import Case, Column, Demo, Session, SignatureText
from sessions.stress import grid

LONGEST_NAME = 36
"""Characters that fit before six columns in a terminal of 80."""


def good_reply(example: str, adapter: str, case: int = 0) -> GoodReply:
    session = examples.load(example)
    return find(session, session.cases[case], adapter)


def find(session: Session, case: Case, adapter: str) -> GoodReply:
    return grid.find(session, case, Column(adapter, adapter), catalog.make(adapter))


@pytest.fixture(scope="module")
def every_good_reply() -> list[GoodReply]:
    """Of each example under each adapter, but for the invoice under BAML: dspy's BAML takes its models for recursive.

    And of a session with what no example has: a number of four digits, an output without a value, a list of one.
    """
    pairs = [(example, adapter) for example in examples.ALL for adapter in catalog.NAMES]
    found = [good_reply(*pair) for pair in pairs if pair != ("invoice", "baml")]
    values = {"q": "?", "answer": "yes", "total": 1234.5, "due": None, "tags": ["new"]}
    signature = SignatureText("q -> answer, total: float, due: Optional[float], tags: list[str]")
    session = Session(signature, (Demo(values),), cases=(Case("case 1", {"q": "?"}),))
    return [*found, *[find(session, session.cases[0], name) for name in catalog.NAMES]]


def test_there_are_forty_and_more_each_with_a_name_and_the_habit_that_it_imitates() -> None:
    assert len(CATALOGUE) >= 40
    for name, one in CATALOGUE.items():
        assert one.name == name and 0 < len(name) <= LONGEST_NAME
        assert one.imitates and one.group


def test_every_habit_that_people_named_is_there() -> None:
    wanted = (
        *("fenced", "a sentence before", "a sentence after", "a thought before", "all on one line"),
        *("markers indented", "names capitalised", "a marker in a text", "single quotes", "trailing commas"),
        *("a comment in JSON", "Python's words in JSON", "numbers in quotes", "numbers with a unit"),
        *("thousands separators", "null for a text", "the first field missing", "a field too many"),
        *("in another order", "a field twice", "quotes in a text", "smart quotes in JSON"),
        *("HTML's entities in a text", "CDATA", "a self-closed tag", "the same tag inside", "a byte order mark"),
        *("carriage returns", "a zero-width space in the names", "a refusal", "a tool call as text"),
        *[f"cut off after {eighths}/8" for eighths in range(1, 8)],
    )
    assert [name for name in wanted if name not in CATALOGUE] == []


def test_every_mutation_applies_to_some_reply(every_good_reply: list[GoodReply]) -> None:
    applied = {name for good in every_good_reply for name, one in CATALOGUE.items() if one(good) is not None}
    assert set(CATALOGUE) - applied == set()


def test_a_mutation_changes_the_reply_or_does_not_apply(every_good_reply: list[GoodReply]) -> None:
    for good in every_good_reply:
        for mutation in CATALOGUE.values():
            broken = mutation(good)
            assert broken is None or broken.text != good.text, mutation.name


def test_the_draft_of_a_number_has_no_more_digits_than_the_number() -> None:
    session = Session(SignatureText("q -> score: float"), (Demo({"q": "?", "score": 0.91}),), cases=(Case("1"),))
    draft = CATALOGUE["a draft, then the answer"](find(session, Case("case 1", {"q": "?"}), "json"))
    assert draft is not None and '"score": 1.91\n' in draft.text, draft


def test_a_field_too_many_does_not_apply_where_each_of_its_names_is_a_field() -> None:
    inputs = {"notes": "n", "remark": "r", "comment_of_the_model": "c"}
    signature = SignatureText("notes, remark, comment_of_the_model -> answer")
    session = Session(signature, (Demo({**inputs, "answer": "yes"}),), cases=(Case("case 1", inputs),))
    assert CATALOGUE["a field too many"](find(session, session.cases[0], "chat")) is None


def test_the_same_reply_is_broken_in_the_same_way_every_time() -> None:
    first, second = good_reply("triage", "json"), good_reply("triage", "json")
    assert first.text == second.text
    for mutation in CATALOGUE.values():
        assert mutation(first) == mutation(second), mutation.name


def test_all_but_what_is_put_into_a_text_means_the_values_of_the_good_reply(every_good_reply: list[GoodReply]) -> None:
    for good in every_good_reply:
        for mutation in CATALOGUE.values():
            broken = mutation(good)
            if broken is not None and broken.meant != good.values:
                assert mutation.name.endswith("in a text"), mutation.name
                changed = grid.different(broken.meant, good.values)
                assert len(changed) == 1 and isinstance(broken.meant[changed[0]], str)


def test_what_belongs_to_one_form_does_not_apply_to_another() -> None:
    chat, xml, json = [good_reply("question", name) for name in ("chat", "xml", "json")]
    assert [CATALOGUE["CDATA"](one) is None for one in (chat, xml, json)] == [True, False, True]
    assert [CATALOGUE["markers indented"](one) is None for one in (chat, xml, json)] == [False, True, True]
    assert [CATALOGUE["no fence"](one) is None for one in (chat, xml, json)] == [True, True, True]
    # The list of sections is JSON within Chat's markers too.
    assert [CATALOGUE["trailing commas"](one) is None for one in (chat, xml, json)] == [False, True, False]


BROKEN = {
    ("fenced", "json"): '```json\n{\n  "seller": "Tim & Sons",\n  "total": 12.5,\n  "paid": true\n}\n```',
    ("cut off after 4/8", "json"): '{\n  "seller": "Tim & Sons",\n  ',
    ("values on the marker's line", "chat"): "[[ ## seller ## ]] Tim & Sons\n\n[[ ## total ## ]] 12.5\n\n"
    "[[ ## paid ## ]] True\n\n[[ ## completed ## ]]\n",
    ("in another order", "json"): '{\n  "paid": true,\n  "total": 12.5,\n  "seller": "Tim & Sons"\n}',
    ("single quotes", "json"): "{\n  'seller': 'Tim & Sons',\n  'total': 12.5,\n  'paid': true\n}",
    ("trailing commas", "json"): '{\n  "seller": "Tim & Sons",\n  "total": 12.5,\n  "paid": true,\n}',
    ("a comment in JSON", "json"): "{\n  // the fields that were asked for\n"
    '  "seller": "Tim & Sons",\n  "total": 12.5,\n  "paid": true\n}',
    ("numbers with a unit", "json"): '{\n  "seller": "Tim & Sons",\n  "total": "12.5 EUR",\n  "paid": true\n}',
    ("null for a text", "json"): '{\n  "seller": null,\n  "total": 12.5,\n  "paid": true\n}',
    ("quotes in a text", "json"): '{\n  "seller": ""Tim" & Sons",\n  "total": 12.5,\n  "paid": true\n}',
    (
        "a decimal comma",
        "xml",
    ): "<seller>\nTim &amp; Sons\n</seller>\n\n<total>\n12,5\n</total>\n\n<paid>\nTrue\n</paid>",
    ("CDATA", "xml"): "<seller>\n<![CDATA[Tim & Sons]]>\n</seller>\n\n<total>\n12.5\n</total>\n\n<paid>\nTrue\n</paid>",
}


@pytest.mark.parametrize(("name", "adapter"), BROKEN)
def test_a_broken_reply_is_what_its_name_says(name: str, adapter: str) -> None:
    broken = CATALOGUE[name](good_reply("receipt", adapter))
    assert broken is not None
    assert broken.text == BROKEN[name, adapter]


@pytest.mark.parametrize(
    ("name", "adapter", "cause"),
    [
        ("the schema given back", "json", "schema-echoed"),
        ("JSON in a string", "json", "json-in-a-string"),
        ("harmony channels", "chat", "harmony-channels"),
        ("one character", "json", "reply-too-short"),
        ("a tool wrapper", "json", "tool-call-wrapper"),
        ("an inner line break lost", "chat", "marker-in-value"),
    ],
)
def test_damage_that_was_reported_in_public_is_diagnosed(name: str, adapter: str, cause: str) -> None:
    good = good_reply("triage", adapter)
    broken = CATALOGUE[name](good)
    assert broken is not None
    reading = good.parser.read(good.signature, broken.text)
    assert not reading.ok
    assert cause in [one.cause for one in reading.diagnosis]

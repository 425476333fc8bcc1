"""A good reply is looked into only where a surprise may be."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

import adapters
from adapters.formats import catalog
from adapters.replies import near_misses, repairs
from adapters.replies.flag import Flag
from adapters.replies.flags import (
    explaining,
    json_flags,
    json_repaired,
    strange_replies,
    values_read,
    wrong_places,
)
from adapters.replies.flags.explaining import detectors_of
from adapters.replies.flags.values_refused import values_refused
from adapters.replies.reading import Reading
from adapters.types import recognition

SIGNATURE = adapters.read_signature("question -> answer, names: list[str], sure: bool, scores: list[float]")
REPLY = '{"answer": "yes", "names": ["a", "b"], "sure": true, "scores": [NaN]}'
SAID = "`scores` contains nan: nan, inf and numbers too large for a float are accepted."


@pytest.mark.parametrize("name", ["extra_keys", "_text", "_validated", "_code"])
def test_values_taken_as_they_are_are_not_walked_again(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.delattr(values_read, name)  # an error in a detector ends its flags
    assert [one.message for one in catalog.make("json").read(SIGNATURE, REPLY).flags] == [SAID]


@pytest.mark.parametrize("sure", ["true", '"maybe"'])
def test_a_diagnosis_does_not_word_flags_that_are_no_causes(monkeypatch: pytest.MonkeyPatch, sure: str) -> None:
    why, worded = json_repaired._why, list[str]()
    monkeypatch.setattr(json_repaired, "_why", lambda reading, json: worded.append(json.text) or why(reading, json))
    reply = REPLY.replace("true", sure).replace("}", ",}")
    reading = catalog.make("json").read(SIGNATURE, reply)
    assert [one.cause for one in reading.diagnosis] == ([] if reading.ok else ["not-true-or-false"])
    assert worded == []
    assert "json-repaired" in [flag.name for flag in reading.flags]
    assert worded == [reply]


def test_only_replies_that_fail_are_searched_for_values_that_failed() -> None:
    json = catalog.make("json")
    assert values_refused not in detectors_of(json.read(SIGNATURE, REPLY))
    assert values_refused in detectors_of(json.read(SIGNATURE, REPLY.replace("true", '"maybe"')))


@pytest.mark.parametrize("name", ["chat", "json", "baml", "markdown"])
def test_a_refused_value_is_not_validated_again(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    adapter = catalog.make(name)
    values = {"answer": "yes", "names": ["a"], "sure": True, "scores": [1.5, "cheap"]}
    reply = str(adapter.format_assistant_message_content(SIGNATURE, values))
    monkeypatch.delattr(recognition, "_errors_of_part")
    [cause] = adapter.read(SIGNATURE, reply).diagnosis
    assert (cause.cause, cause.path) == ("not-a-number", "scores[1]")


def test_a_valid_object_without_outputs_is_not_decoded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = catalog.make("json").read(SIGNATURE, '{"Answer": "yes", "who": {"name": "x"}}')
    monkeypatch.delattr(json_flags, "valid_object_at")  # an error in a detector ends its flags
    assert "key-in-another-case" in {flag.name for flag in reading.flags}


@pytest.mark.parametrize("name", catalog.NAMES)
@pytest.mark.parametrize("text", ["The chair is fine, and it was paid.", "I think so: yes", ""])
def test_prose_is_not_searched_for_other_formats(monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    monkeypatch.setattr(near_misses, "_other_formats", lambda reading: pytest.fail("searched"))
    monkeypatch.setattr(near_misses, "_misspelt", lambda reading: pytest.fail("searched"))
    reading = catalog.make(name).read(SIGNATURE, text)
    assert reading.ok or name == "twostep" or reading.diagnosis


def test_names_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    nearest, compared = wrong_places._nearest, list[str]()
    monkeypatch.setattr(wrong_places, "_nearest", lambda name, others: compared.append(name) or nearest(name, others))
    [cause] = catalog.make("json").read(SIGNATURE, '{"thoughts": "x", "verdict": "y"}').diagnosis
    assert (cause.cause, sorted(compared)) == ("format-not-followed", ["answer", "names", "scores", "sure"])


def facts(name: str, text: str) -> object:
    """Everything that is said about a reply."""
    reading = catalog.make(name).read(SIGNATURE, text)
    guesses = [(one.message, one.mended) for one in reading.near_misses]
    return reading.flags, guesses, [(one, one.fixes) for one in reading.diagnosis]


PROSE = st.text(st.sampled_from("aAn w:;'*-=()/.,!?\n\t1%é€“：_&"), max_size=40)
WORDS = st.sampled_from(
    ["answer", "Names", "the sure", "I'm sorry", "Action: x", "Thought", "error", "x", 'a"b', "{", "…"]
)
VALUES = st.recursive(
    WORDS | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
)


@given(st.sampled_from(["chat", "json", "xml", "baml", "markdown"]), PROSE | st.lists(WORDS, max_size=4).map(" ".join))
def test_prose_is_explained_the_same_if_all_is_searched(name: str, text: str) -> None:
    found = facts(name, text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Reading, "is_prose", False)
        assert facts(name, text) == found


@given(st.sampled_from(["json", "baml"]), st.dictionaries(WORDS, VALUES, max_size=4).map(json.dumps))
def test_an_object_of_other_keys_is_explained_the_same_if_all_is_searched(name: str, text: str) -> None:
    found = facts(name, text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Reading, "is_other_object", False)
        assert facts(name, text) == found


LABELS = ["Answer:", "**Names:**", "## sure", "1. scores:", "- an-swer: x", "__answer__:", "_Sure_ ", "the answer: no"]
LINES = st.lists(st.sampled_from([*LABELS, "", " ", "\t", "text", "# ", "> ", "(a) answer:", "ANSWER", "scores.", ":"]))


@given(st.lists(LINES.map("".join), max_size=6).map("\n".join))
def test_labels_are_the_same_if_every_line_is_searched(text: str) -> None:
    found = repairs.under_labels(text, SIGNATURE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repairs, "_label_begins", lambda signature: repairs.LINE_BEGINS)
        assert repairs.under_labels(text, SIGNATURE) == found


@pytest.mark.parametrize("length", [1, 2, 5, 6, 7, 29, 100, strange_replies.LONGEST_PERIOD])
def test_a_loop_is_found_from_the_shortest_to_the_longest_piece(length: int) -> None:
    piece = "".join([chr(ord("a") + number * number % 26) for number in range(length - 1)]) + "."
    times = max(strange_replies.REPEATS, 60 // length)
    reply = f"[[ ## answer ## ]]\n{'-' * 31}{piece * (times + 1)}"
    flags = catalog.make("chat").read(SIGNATURE, reply).flags
    assert "runaway-repetition" in {flag.name for flag in flags}


@pytest.mark.parametrize("word", "frac beta theta tau times rho right nabla begin forall text textbf".split())
def test_every_formula_with_the_letter_of_an_escape_is_found(word: str) -> None:
    reply = f'{{"answer": "so\\n{{\\{word}}} holds", "names": [], "sure": true, "scores": []}}'
    flags = catalog.make("json").read(SIGNATURE, reply).flags
    assert [(flag.name, flag.field) for flag in flags] == [("backslash-is-an-escape", "answer")]


def test_flags_are_known_once_all_of_a_detector_are() -> None:
    reading = catalog.make("json").read(SIGNATURE, REPLY)
    seen: list[object] = []

    def detect(reading: Reading) -> Iterator[Flag]:
        yield Flag("refusal", "first")
        seen.append(reading.detected.get(detect))
        yield Flag("reply-too-short", "second")

    assert [one.message for one in explaining._found(reading, [detect])] == ["first", "second"]
    assert seen == [None]

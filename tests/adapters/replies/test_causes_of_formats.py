"""Causes of markers, tags and labels that are not those of the prompt."""

from __future__ import annotations

import json

import pytest

from tests.support.replies import read


def test_the_markers_of_a_custom_type_are_no_prose() -> None:
    citations = '<<CUSTOM-TYPE-START-IDENTIFIER>>[{"cited_text": "x"}]<<CUSTOM-TYPE-END-IDENTIFIER>>'
    reading = read("chat", "q -> c: dspy.Citations", f"[[ ## c ## ]]\n{citations}\n\n[[ ## completed ## ]]")
    assert "brackets-in-prose-taken" not in [flag.name for flag in reading.flags]
    reading = read("chat", "q -> c: dspy.Citations", f"[[ ## c ## ]]\nSee {citations} here\n\n[[ ## completed ## ]]")
    assert [flag.name for flag in reading.flags].count("brackets-in-prose-taken") == 1


def test_words_below_a_value_are_no_prose_with_brackets() -> None:
    reading = read("chat", "q -> a: list[int]", "[[ ## a ## ]]\n[1, 2]\n\nNote: no more.\n\n[[ ## completed ## ]]")
    assert [flag.message for flag in reading.flags] == [
        "The text after the value of `a` was dropped: 'Note: no more.'."
    ]
    assert reading.diagnosis == ()
    reading = read("chat", "q -> a: list[int]", "[[ ## a ## ]]\n[1, 2] and\nso on\n\n[[ ## completed ## ]]")
    assert [one.cause for one in reading.diagnosis] == ["brackets-in-prose-taken"]


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


def test_an_output_named_as_a_wrapper_is_no_wrapper() -> None:
    completion = "<tool_call><name>search</name></tool_call>"
    assert read("xml", "q -> tool_call: dict[str, str]", completion).flags == ()


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


def test_only_markers_are_told_from_signs_of_other_formats() -> None:
    plain = "[[ ## answer ## ]]\nYes, (1).\n\n[[ ## completed ## ]]"
    assert read("chat", "q -> answer", plain).has_only_markers
    assert read("chat", "q -> answer", plain.replace("(1)", '["a", "b"], []')).has_only_markers
    for sign in ("[1]", "[[1]]", "[THINK]", "<b>", "{x}", "`x`", "\\n", "\0"):
        assert not read("chat", "q -> answer", plain.replace("(1)", sign)).has_only_markers, sign
    assert not read("json", "q -> answer", plain).has_only_markers


@pytest.mark.parametrize(
    ("adapter", "completion", "first"),
    [
        ("xml", "[[ ## a ## ]]\nParis\n\n[[ ## completed ## ]]", "chat"),
        ("chat", "<a>Paris</a>", "xml"),
        ("json", "<a>Paris</a>", "xml"),
        ("chat", '{"a": "Paris"}', "json"),
    ],
)
def test_of_a_reply_in_another_format_its_adapter_is_offered_first(adapter: str, completion: str, first: str) -> None:
    (cause,) = read(adapter, "q -> a", completion).diagnosis
    offered = [fix.change.get("adapter") for fix in cause.fixes]
    assert offered[0] == first and adapter not in offered and len(set(offered)) == len(offered)

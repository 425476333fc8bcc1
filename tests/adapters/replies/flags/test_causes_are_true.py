"""A stated cause is the true cause: where a rule cannot know it, the flag says less."""

from __future__ import annotations

import json
from typing import Literal

import pytest

from adapters.formats.catalog import make
from adapters.json_text.json_document import APART, LONG_ROW, place_in_row
from adapters.replies.flags import json_flags
from adapters.replies.flags.json_flags import json_structure
from adapters.replies.flags.json_text import JsonText, with_escapes
from adapters.replies.forms import FORMS
from adapters.replies.reading import Reading
from adapters.signatures.signature import Field, Signature
from tests.support.pace import LOOPS_A_SECOND, loops

SIGNATURE = Signature.make([Field("q", "input"), Field("discussion", "output"), Field("advice", "output")])


def read(adapter: str, text: str) -> Reading:
    return make(adapter).read(SIGNATURE, text)


def sentences(reading: Reading) -> str:
    return "\n".join([flag.message for flag in reading.flags] + [miss.message for miss in reading.near_misses])


@pytest.mark.parametrize(
    ("wrapper", "said"),
    [
        ('{"type": "function", "name": "json_tool_call", "parameters": %s}', "is one level down, in 'parameters'"),
        ('{"a": {"b": %s}}', "is two levels down, in 'a.b'"),
        ('{"choices": [{"message": %s}]}', "is three levels down, in 'choices[0].message'"),
    ],
)
def test_the_path_to_a_nested_object_is_named(wrapper: str, said: str) -> None:
    reading = read("json", wrapper % '{"discussion": "a", "advice": "b"}')
    assert said in reading.near_misses[0].message
    assert reading.near_misses[0].reading.values == {"discussion": "a", "advice": "b"}


@pytest.mark.parametrize(
    "text",
    ['{"discussion": "a 1/2" wrench, new", "advice": "b"}', '{"discussion": "the "big" one", "advice": "b"}'],
)
def test_an_unescaped_quote_is_neither_an_end_nor_a_missing_comma(text: str) -> None:
    reading = read("json", text)
    (repaired,) = [flag for flag in reading.flags if flag.name == "json-repaired"]
    assert "without a backslash" in repaired.message or "without backslashes" in repaired.message
    assert f"column {text.index(chr(34), 16) + 1 if '1/2' in text else text.index('big')}" in repaired.message
    assert "missing comma" not in sentences(reading) and "ends in the middle" not in sentences(reading)
    assert json.loads(with_escapes(text, JsonText(text).unescaped_quotes))["advice"] == "b"


@pytest.mark.parametrize("text", ['{"discussion": "a", "advice": "b', '{"discussion": "a", "advice": "b"'])
def test_json_that_is_cut_off_is_called_so(text: str) -> None:
    assert "cut-off-json-completed" in {flag.name for flag in read("json", text).flags}


@pytest.mark.parametrize(
    "text", ['{"a": "b"}', "", "{", '"""', '{"a": "\\""}', '["x", "y"]', '{"a": "b" c}', '{"a": ' + '"' * 501 + "}"]
)
def test_quotes_are_only_escaped_where_that_makes_the_text_valid(text: str) -> None:
    assert JsonText(text).unescaped_quotes == []


def test_looking_for_unescaped_quotes_is_linear() -> None:
    text = '{"a": "' + 'x" y ' * 40_000 + '"}'
    assert loops(lambda: JsonText(text).unescaped_quotes) < LOOPS_A_SECOND


def test_a_marker_at_the_beginning_is_no_json_list() -> None:
    reading = read("json", "[[ ## discussion ## ]]\na\n\n[[ ## advice ## ]]\nb")
    assert "JSON list" not in sentences(reading)
    assert "the format of the Chat adapter" in reading.near_misses[0].message
    assert "list-at-the-root" in {flag.name for flag in read("json", '[["a"], ["b"]]').flags}
    assert "list-at-the-root" in {flag.name for flag in read("json", "[[1, 2], [3]]").flags}


@pytest.mark.parametrize(
    "text",
    [
        "a\n\n[[ ## advice ## ]]\nb",
        "[[ ## advice ## ]]\nb",
        "[[ ## discussion ## ]]\na\n\n[[ advice ]]\nb",
        "[[ ## discussion ## ]]\na\n\n[[[ advice ### ]]]\nb",
    ],
)
def test_a_missing_first_field_or_a_misspelt_marker_is_not_a_cut_off_reply(text: str) -> None:
    reading = read("chat", text)
    assert not reading.ok
    assert "cut off" not in sentences(reading)


def test_a_reply_that_stops_after_a_field_may_be_cut_off() -> None:
    assert "may have been cut off in `discussion` (line 2, column 1)." in sentences(
        read("chat", "[[ ## discussion ## ]]\na")
    )
    assert "may have been cut off" in sentences(read("chat", "[[ ## discussion ## ]]\na\n\n[[ ## advice ## ]]\nb"))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("[[[ discussion ### ]]]", "[[[ advice ### ]]]"),
        ("[[ discussion ]]", "[[ advice ]]"),
        ("**[[ Discussion ]]**", "[[ADVICE]]"),
        ("[[ ## discussion ## ]]", "[[ advice ]]"),
    ],
)
def test_misspelt_markers_are_near_misses(first: str, second: str) -> None:
    reading = read("chat", f"{first}\na\n\n{second}\nb")
    assert not reading.ok
    assert reading.near_misses[0].reading.values == {"discussion": "a", "advice": "b"}


def test_a_link_or_a_footnote_inside_a_line_is_not_a_marker() -> None:
    reading = read(
        "chat", "[[ ## discussion ## ]]\nsee [[advice]] and [1]\n\n[[ ## advice ## ]]\nb [x]\n\n[[ ## completed ## ]]"
    )
    assert reading.ok and reading.flags == () and reading.near_misses == ()


def test_text_before_the_first_marker_may_be_the_first_field() -> None:
    (miss,) = read("chat", "a\n\n[[ ## advice ## ]]\nb").near_misses
    assert miss.reading.values == {"discussion": "a", "advice": "b"}
    assert "no marker for `discussion`" in miss.message


@pytest.mark.parametrize(
    ("adapter", "text"),
    [
        ("chat", "[[ ## discussion ## ]]\n{discussion}\n\n[[ ## advice ## ]]\n{advice}\n\n[[ ## completed ## ]]"),
        ("json", '{"discussion": "{discussion}", "advice": "{advice}"}'),
        ("xml", "<discussion>\n{discussion}\n</discussion>\n<advice>\n{advice}\n</advice>"),
        ("baml", '{"discussion": "{discussion}", "advice": "{advice}"}'),
    ],
)
def test_a_repeated_template_is_flagged_although_it_parses(adapter: str, text: str) -> None:
    reading = read(adapter, text)
    assert reading.ok
    assert [flag.field for flag in reading.flags if flag.name == "placeholder-echoed"] == ["discussion", "advice"]


def test_a_repeated_type_note_and_a_repeated_filler_are_flagged() -> None:
    signature = Signature.make([Field("q", "input"), Field("score", "output", float), Field("advice", "output")])
    note = "{score}        # note: the value you produce must be a single float value"
    filler = "Not supplied for this particular example."
    reading = make("chat").read(signature, f"[[ ## score ## ]]\n{note}\n\n[[ ## advice ## ]]\n{filler}\n")
    assert {("placeholder-echoed", "score"), ("filler-echoed", "advice")} <= {
        (one.name, one.field) for one in reading.flags
    }
    plain = "[[ ## score ## ]]\n1.0\n\n[[ ## advice ## ]]\nWrite {advice} in braces.\n\n[[ ## completed ## ]]"
    assert make("chat").read(signature, plain).flags == ()


@pytest.mark.parametrize("adapter", ["chat", "json", "xml", "baml", "markdown"])
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("", "empty-reply"),
        (" \n", "empty-reply"),
        ("{", "reply-too-short"),
        ("null", "reply-too-short"),
        ("<think>\nLet me see", "think-not-closed"),
        ("I'm sorry, but I can't help with that.", "refusal"),
        ("I cannot assist with this request.", "refusal"),
    ],
)
def test_a_reply_without_any_answer_has_its_cause(adapter: str, text: str, name: str) -> None:
    assert name in {flag.name for flag in read(adapter, text).flags}


@pytest.mark.parametrize("adapter", ["chat", "json", "xml"])
def test_a_reply_that_parses_or_answers_in_part_is_no_refusal(adapter: str) -> None:
    names = {"empty-reply", "reply-too-short", "think-not-closed", "refusal"}
    sorry = {"discussion": "I'm sorry for the delay.", "advice": "I cannot help but smile."}
    for values in (sorry, {"discussion": "I'm sorry."}):
        text = FORMS[make(adapter).profile.reply].write_values(values)
        assert not names & {flag.name for flag in read(adapter, text).flags}
    assert "refusal" not in {flag.name for flag in read(adapter, "The answer is that I am sorry.").flags}


def test_looking_for_what_resembles_a_marker_is_fast() -> None:
    text = "[[ ## discussion ## ]]\n" + "See [[x]] and [[y]] and [1].\n" * 10_000 + "\n[[ ## advice ## ]]\nb"
    reading = read("chat", text)
    assert loops(lambda: make("chat").read(SIGNATURE, text).flags) < LOOPS_A_SECOND
    assert "marker-in-value" not in {flag.name for flag in reading.flags}


def test_quotes_without_an_end_are_searched_once() -> None:
    reading = read("json", 'Réponse : {"discussion": "' + '\\"' * 20_000)
    assert loops(lambda: list(json_structure(reading))) < LOOPS_A_SECOND


@pytest.mark.parametrize("adapter", ["chat", "json", "xml"])
@pytest.mark.parametrize("text", ["refund [/x]", "refund {a}", "a, [b], c", "[refund]", "{refund}"])
@pytest.mark.parametrize("kind", [Literal["bug", "billing"], int, bool, dict[str, int]])
def test_a_list_that_json_repair_made_up_is_not_shown_as_the_value(adapter: str, text: str, kind: object) -> None:
    if kind == dict[str, int] and text == "[refund]":
        pytest.skip("a list in brackets is what the reply gives")
    signature = Signature.make([Field("q", "input"), Field("label", "output", kind)])
    form = {"chat": "markers", "json": "json", "xml": "xml"}[adapter]
    reading = make(adapter).read(signature, FORMS[form].write_values({"label": text}))  # type: ignore[index]
    (cause,) = [one for one in reading.diagnosis if one.message.startswith("`label` is")]
    assert cause.message.startswith(f"`label` is {text!r}, ")
    fixes = [fix.change["type"] for fix in cause.fixes if fix.message.startswith("Allow")]
    assert fixes in ([], [f"Literal['bug', 'billing', {text!r}]"])


@pytest.mark.parametrize("keys", [("firstName", "lastName"), ("First Name", "Last Name"), ("first", "lastName")])
def test_keys_that_are_nearly_right_are_not_called_translated(keys: tuple[str, str]) -> None:
    signature = Signature.make([Field("q", "input"), Field("first_name", "output"), Field("last_name", "output")])
    reading = make("json").read(signature, json.dumps(dict.fromkeys(keys, "a")))
    assert reading.diagnosis[0].cause == "key-nearly-right"
    assert "instead of" not in sentences(reading)


def test_a_backslash_is_shown_as_the_reply_has_it() -> None:
    signature = Signature.make([Field("q", "input"), Field("latex", "output")])
    (cause,) = make("json").read(signature, r'{"latex": "\frac{1}{2}"}').diagnosis
    assert cause.message.startswith(r"'\frac' in `latex`")


def test_a_list_in_the_reply_is_shown_by_its_wrong_item() -> None:
    signature = Signature.make([Field("q", "input"), Field("label", "output", list[Literal["bug", "billing"]])])
    reading = make("chat").read(signature, '[[ ## label ## ]]\nHere it is: ["refund"]\n')
    assert "`label[0]` is 'refund'" in sentences(reading)


def test_a_marker_with_backticks_or_backslashes_is_nearly_right() -> None:
    for marker in ("[[ ## `advice` ## ]]", r"\[\[ ## advice ## \]\]", '[[ ## "advice" ## ]]'):
        reading = read("chat", f"[[ ## discussion ## ]]\na\n\n{marker}\nb")
        assert dict(reading.near_misses[0].reading.values) == {"discussion": "a", "advice": "b"}, marker
        assert reading.near_misses[0].message.startswith(f"'{marker}' was probably meant")


@pytest.mark.parametrize("adapter", ["chat", "xml"])
def test_quotes_with_backslashes_are_a_cause_with_a_corrected_reply(adapter: str) -> None:
    reading = read(adapter, r"{\"discussion\": \"a\", \"advice\": \"b\"}")
    assert "JSON adapter, its quotes with backslashes" in reading.diagnosis[0].message
    assert dict(reading.near_misses[0].reading.values) == {"discussion": "a", "advice": "b"}


def test_brackets_after_the_object_are_named() -> None:
    (flag,) = read("json", '{"discussion": "a", "advice": "b"}\n]}').flags
    assert flag.message == "The text after the JSON object was dropped: ']}'."


def test_the_example_of_a_list_has_items_of_its_type() -> None:
    signature = Signature.make([Field("q", "input"), Field("l", "output", list[int])])
    (cause,) = make("json").read(signature, '{"l": "- 1\\n- 2"}').diagnosis
    assert cause.message.startswith("`l` must be a JSON list like [1, 2];")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("NA", "is 'NA', a word for no value"),
        ("n/a", "is 'n/a', a word for no value"),
        ("Not mentioned.", "is 'Not mentioned.', words for no value"),
        ("none found", "is 'none found', words for no value"),
        ("", "is empty"),
    ],
)
def test_a_word_for_no_value_is_an_empty_list(given: str, said: str) -> None:
    signature = Signature.make([Field("q", "input"), Field("l", "output", list[str])])
    reading = make("json").read(signature, json.dumps({"l": given}))
    (cause,) = reading.diagnosis
    assert cause.message == f"`l` {said}, where a list is expected; an empty list is []."
    assert cause.fixes[0].change["description"] == "A JSON list, or [] if there is none."
    assert [dict(one.reading.values) for one in reading.near_misses] == [{"l": []}]


def test_a_single_character_is_not_blamed_on_the_token_limit() -> None:
    assert not any(fix.kind == "max_tokens" for one in read("json", "{").diagnosis for fix in one.fixes)


@pytest.mark.parametrize("item", ["total: 5", "total:", "total: 5 \\n ", 'total: \\"5\\", "x'])
def test_a_text_that_begins_like_a_missing_key_is_no_broken_key(item: str) -> None:
    signature = Signature.make([Field("q", "input"), Field("a", "output", list[str]), Field("total", "output", int)])
    reading = make("json").read(signature, f'Sure: {{"a": ["x", "{item}"]}}')
    assert [one.cause for one in reading.diagnosis] == ["output-missing"]


def test_the_line_of_a_repeated_key_is_right_for_a_key_with_escapes() -> None:
    signature = Signature.make([Field("q", "input"), Field("v", "output", str)])
    reading = make("json").read(signature, '{"\\u0076": "a",\n"x": 1,\n"v": "b",\n"y": 2}')
    (flag,) = [one for one in reading.flags if one.name == "duplicate-key-last-wins"]
    assert flag.message == "The key \"v\" occurs more than once; the last value counts ('b'), that on line 1 does not."


def test_a_key_in_another_case_is_looked_for_once_in_a_long_row(monkeypatch: pytest.MonkeyPatch) -> None:
    signature = Signature.make([Field("q", "input"), Field("v", "output", str)])
    looked: list[str] = []

    def place(text: str, start: int, key: str) -> int:
        looked.append(key)
        return place_in_row(text, start, key)

    monkeypatch.setattr(json_flags, "place_in_row", place)
    keys = [f"k{number}" for number in range(2 * APART)] + [
        f"{' ' * (number % 100)}V" for number in range(2 * LONG_ROW)
    ]
    flags = make("json").read(signature, "{" + ", ".join([f'"{key}": 1' for key in keys]) + "}").flags
    assert "The key 'V' (line 1) is not `v`: keys must match letter by letter." in [one.message for one in flags]
    assert looked == ["V"]

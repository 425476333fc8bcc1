"""json_repair's own answer, and where it found what it took whole."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from importlib.metadata import version

import json_repair
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.json_text import repaired_json
from adapters.json_text.json_loading import load_json
from adapters.json_text.repair_limits import one_reading
from adapters.json_text.repaired_json import repair_object, strings_are_known

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner))
OBJECTS = st.dictionaries(st.text(max_size=8), VALUES, max_size=5)
AROUND = st.sampled_from(
    ["", "Sure:\n", "```json\n", "\n```", "Hope it helps", ",", " } ", "{", "[1] ", "// no", "# x\n", '"', "(", "{}"]
) | st.text(max_size=10)

known_strings_only = pytest.mark.skipif(not strings_are_known(), reason="another json_repair is asked itself")


@given(before=AROUND, value=OBJECTS, after=AROUND, ascii=st.booleans(), indent=st.sampled_from([None, 2]))
def test_the_answer_is_json_repairs_and_each_place_holds_its_value(
    before: str, value: object, after: str, ascii: bool, indent: int | None
) -> None:
    text = before + json.dumps(value, ensure_ascii=ascii, indent=indent) + after
    expected = json_repair.loads(text, skip_json_loads=True)
    found, members = repair_object(text)
    assert (type(found), repr(found)) == (type(expected), repr(expected))
    for one in members or ():
        assert json.loads(text[one.start : one.end]) == one.value
        assert json.loads(text[one.key_start : one.key_end]) == one.key


FLAT = st.dictionaries(st.sampled_from("abc") | st.text(max_size=4), LEAVES | st.lists(LEAVES, max_size=3), max_size=4)


@given(
    items=st.lists(FLAT | LEAVES, min_size=1, max_size=4),
    compact=st.booleans(),
    indent=st.sampled_from([None, 2]),
    place=st.floats(0, 1),
    damage=st.sampled_from(['"', "{", "}", "[", "]", ",", ":", "\\", " ", "\n", "'", "//", "#", "a", "...", ""]),
)
def test_objects_that_are_taken_whole_are_json_repairs(
    items: list[object], compact: bool, indent: int | None, place: float, damage: str
) -> None:
    whole = json.dumps({"items": items}, indent=indent, separators=(",", ":") if compact else None)
    whole = whole.replace('"c"', '"b"')  # a key given twice
    at = int(place * len(whole))
    text = whole[:at] + damage + whole[at + (not damage) :] + ",]"
    expected = json_repair.loads(text, skip_json_loads=True)
    assert repr(repair_object(text)[0]) == repr(expected)


def test_a_long_list_costs_few_looks_per_object() -> None:
    text = "[" + '{"name": "a chair", "price": 1.5, "tags": ["x", "y"]},\n' * 500 + "]"
    with one_reading() as steps:
        assert len(repair_object(text)[0]) == 500
    assert steps.allowed - steps.left < len(text) / 4


WORDS = st.lists(
    st.sampled_from(
        [
            "a",
            "don't ",
            ", ",
            ", b: 1",
            ": ",
            "\n",
            "\t",
            '\\"',
            "\\n",
            "\\\\",
            "\\/",
            "\\u00e9",
            "“x”",
            "„",
            "`",
            "]",
            "[x]",
            "{",
            "}",
        ]
    ),
    max_size=8,
).map("".join)


@given(
    strings=st.lists(WORDS, min_size=1, max_size=4),
    keys=st.lists(st.sampled_from(["a", "b", ": c", ",", "}"]), min_size=4, max_size=4),
    space=st.sampled_from(["", " ", "\n  "]),
    is_list=st.booleans(),
    after=st.sampled_from(["", "}", "]", " ok", ', "x": 1}', "\n```"]),
)
def test_strings_with_raw_line_breaks_are_json_repairs(
    strings: list[str], keys: list[str], space: str, is_list: bool, after: str
) -> None:
    members = [f'"{one}"' if is_list else f'"{key}":{space}"{one}"' for key, one in zip(keys, strings, strict=False)]
    joined = f"{space},{space}".join([*members, '"c\n"' if is_list else '"c": "d\n"'])
    text = ('{"list": [' + joined + "]}" if is_list else "{" + joined + "}") + after
    expected = json_repair.loads(text, skip_json_loads=True)
    assert repr(repair_object(text)[0]) == repr(expected)


@known_strings_only
def test_a_string_with_raw_line_breaks_costs_few_looks() -> None:
    line = 'The chairs, it\'s said, were paid \\"in full\\".\n'
    text = '{"answer": "' + line * 200 + '", "list": ["' + line * 200 + '"]}'
    with one_reading() as steps:
        found, _ = repair_object(text)
    assert found == json_repair.loads(text) != json.loads(text, strict=False), "json_repair strips the last line break"
    assert steps.allowed - steps.left < len(text) / 4


class Searches:
    """A pattern that counts its searches."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.pattern = pattern
        self.count = 0

    def search(self, text: str) -> re.Match[str] | None:
        self.count += 1
        return self.pattern.search(text)


@known_strings_only
@pytest.mark.parametrize("end", ["", "x': 1"])
def test_a_text_is_searched_once_for_quotes_before_colons(monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    searches = Searches(repaired_json._QUOTED_COLON)
    monkeypatch.setattr(repaired_json, "_QUOTED_COLON", searches)
    text = '{"list": [' + '"a,\'\n", ' * 100 + "], " + end
    assert repair_object(text)[0] == json_repair.loads(text)
    assert searches.count == 1, "a search takes the whole text"


@pytest.mark.skipif(version("json_repair") != "0.64.5", reason="its strings are known of 0.64.5")
def test_the_installed_json_repair_reads_strings_as_is_known() -> None:
    assert strings_are_known(), "this release reads strings in another way: look at json_repair.parse_string"


def test_strings_of_another_json_repair_are_left_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repaired_json, "_KNOWN_SOURCE", 0)
    strings_are_known.cache_clear()
    try:
        assert not strings_are_known()
        assert repair_object('{"a": "b,\nc"}')[0] == {"a": "b,\nc"}
    finally:
        strings_are_known.cache_clear()


def test_an_object_in_a_fence_after_prose_is_placed() -> None:
    text = 'Sure:\n```json\n{"a": 1, "b": "x"}\n```'
    value, members = repair_object(text)
    assert members is not None
    assert value == {"a": 1, "b": "x"}
    assert [text[one.start : one.end] for one in members] == ["1", '"x"']


@pytest.mark.parametrize("text", ["{'a': 1}", 'x {"a": 1,}', '{"a": 1},', '{"a": 1} {"b": 2}', "[1, 2", ""])
def test_what_had_to_be_rewritten_has_no_place(text: str) -> None:
    assert repair_object(text)[1] is None


def test_a_json_repair_without_a_place_to_ask_is_asked_for_the_value_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repaired_json, "_CAN_PLACE", False)
    assert repair_object('see {"a": 1} there') == ({"a": 1}, None)


def test_nesting_that_json_repair_refuses_is_refused_in_its_words() -> None:
    text = "x " + '{"a":' * 1_500
    with pytest.raises(ValueError) as theirs:
        json_repair.loads(text, skip_json_loads=True)
    with pytest.raises(ValueError) as ours:
        repair_object(text)
    assert str(ours.value) == str(theirs.value)


def test_valid_json_is_not_repaired() -> None:
    assert load_json('{"a": [1, 2]}') == {"a": [1, 2]}


def test_older_releases_of_json_repair_have_other_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "json_repair.utils.json_context", None)
    spec = importlib.util.spec_from_file_location("loaded_again", repaired_json.__file__)
    assert spec is not None
    assert spec.loader is not None
    again = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(again)
    assert again.repair_json('{"a": "b,\nc') == {"a": "b,\nc"}

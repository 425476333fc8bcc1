"""Long JSON is read as json reads it, and its members are where a scanner finds them."""

from __future__ import annotations

import json
from random import Random

import pytest

from adapters.json_text import json_document
from adapters.json_text.json_document import (
    LONG,
    LONG_STRING,
    NOT_JSON,
    load_long_json,
    load_valid_json,
    members,
)

ODD = (
    *("NaN", "-Infinity", "-0", "-0.0", "1e999", "1e-999", "01", "1.", "+1", "9" * 4_301, "1" + "0" * 400),
    *(r'"\ud83d\ude00"', r'"\ud800"', '"\ud800"', '"\x01"', '"\x7f"', r'"\/\f"', r'"\x"', '{"a": 1, "a": 2}', "[1,]"),
    *("[" * 300 + "]" * 300, "\ufeff1", "1\u00a0", "2.2250738585072011e-308", "9007199254740993", "0.1" + "0" * 400),
)


def of_json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return NOT_JSON


@pytest.mark.parametrize("odd", ODD)
def test_odd_values_in_a_long_text_are_those_of_json(odd: str) -> None:
    text = f'[{odd}, "{"x" * LONG}"]'
    assert repr(load_valid_json(text)) == repr(of_json(text))


def test_long_numbers_are_those_of_json() -> None:
    rng = Random(1)
    written = [f"{rng.randrange(10**17)}.{rng.randrange(10**17)}e{rng.randrange(-330, 310)}" for _ in range(2_000)]
    text = f"[{', '.join(written)}]"
    assert load_long_json(text) == json.loads(text)


LISTS = {"a": [{"a": "x", "b": ["a", "b"], "é": '"b":'}] * 200, "b": ["a", '"c":', "b"] * 400, "c": {"a": [1] * 900}}
TEXTS = [
    json.dumps(LISTS),
    json.dumps(LISTS, indent=2, ensure_ascii=False),
    json.dumps(LISTS, separators=(" ,", " : ")),
    json.dumps(LISTS) + " ",
    json.dumps(LISTS).replace('"b": ["a"', '"b": [1], "b": ["a"'),
    json.dumps(LISTS)[:-1] + ', "c": 1}',
    json.dumps(LISTS)[:-1] + ', "d": "}"}',
    json.dumps(LISTS)[:-1] + ",}",
    json.dumps(LISTS) + "}",
    json.dumps(LISTS).replace("[1, 1", "[[1, 1"),
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("expected", ["abc", "acb", "b", "xabc"])
def test_expected_keys_change_no_member(text: str, expected: str) -> None:
    assert members(text, tuple(expected)) == members(text)


ESCAPES = (
    *(r"\"", "\\\\", r"\n", r"\u0041", r"\ud83d\ude00", r"\ud800", r"\"b\":", r"\\\""),
    *("}", "é", "\x01", r"\x", "\ud800"),
)


@pytest.mark.parametrize("number", range(60))
def test_long_strings_are_those_of_json_and_end_where_they_end(number: int) -> None:
    rng = Random(number)
    pieces = ["word ", *rng.sample(ESCAPES, rng.randint(1, 4))]
    written = "".join(rng.choices(pieces, k=LONG_STRING // 3))
    last = rng.choice([*ESCAPES, '", "a": "', "\\" * LONG_STRING]) * 9
    text = f'{{"a": "{written}{last}", "b": {rng.randint(0, 9)}, "c": "{written}"}}'
    found = members(text, ("a", "b", "c"))
    assert found == members(text)
    values = of_json(text)
    assert (NOT_JSON if found is None else {one.key: one.value for one in found}) == values


def test_only_the_last_part_of_a_long_string_is_read_by_the_slow_scanner(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"a": 'said \\ "so"\n' * LONG_STRING, "b": "short", "c": "as \\" * LONG_STRING}
    scanned: list[int] = []
    scan, scanstring = json_document._scan, json_document.scanstring

    def value_at(text: str, start: int) -> tuple[object, int]:
        value, end = scan(text, start)
        scanned.append(end - start)
        return value, end

    def string_at(text: str, start: int, strict: bool) -> tuple[str, int]:
        value, end = scanstring(text, start, strict)
        scanned.append(end - start)
        return value, end

    monkeypatch.setattr(json_document, "_scan", value_at)
    monkeypatch.setattr(json_document, "scanstring", string_at)
    found = members(json.dumps(values), ("a", "b", "c"))
    assert found is not None and {one.key: one.value for one in found} == values
    assert max(scanned) <= LONG_STRING


def test_a_repeated_key_is_searched_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def counted(text: str) -> object:
        parsed.append(text)
        return load_long_json(text)

    monkeypatch.setattr(json_document, "load_long_json", counted)
    text = "{" + '"a": [1], ' * 1_000 + '"b": 1}'
    assert members(text, ("a", "b")) == members(text)
    assert len(parsed) == 1, "each time it takes the rest of the text"


@pytest.mark.parametrize("end", ["}", ",", "} x"])
def test_a_text_of_very_many_members_is_parsed_as_a_whole_once(monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    parsed: list[str] = []

    def counted(text: str) -> object:
        parsed.append(text)
        return load_valid_json(text)

    monkeypatch.setattr(json_document, "load_valid_json", counted)
    monkeypatch.setattr(json_document, "MOST_UNCHECKED", 1_000)
    text = "{" + ", ".join([r'"k\n": 1'] * 3_000) + end
    found = members(text, ("a", "b"))
    assert (found is not None) is (end == "}")
    assert parsed == [text]
    assert members("{" + '"a": 1, ' * 300 + '"b": 1}', ("a", "b")) is not None and len(parsed) == 1

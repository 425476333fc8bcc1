"""json_repair finds the same, told faster where the next quote or bracket stands."""

from __future__ import annotations

from random import Random

import pytest
from json_repair.json_parser import JSONParser

from adapters.json_text import repaired_json
from adapters.json_text.repair_limits import TooLargeError, quick_reading
from adapters.json_text.repaired_json import first_unescaped, walk_is_known

PIECES = (
    *('"', '"', '"', "'", "\\", "\\\\", '\\"', "]", "[", "{", "}", ",", ":", " ", "a", "b", "\n", "\u201c", "\u201d"),
    *("\u201e", "1", "null", '"a"', '": ', '", "', '"]', "//", "#", "/*", "```", "(", ")", "true", '{"a": ["'),
)
BEGINNINGS = ("", '["', '{"a": ["', "['", '{"a": "', "{", "{'a': ['")
ENDS = ("", '"]', '"]}', "}")


def drawn(rng: Random, most: int) -> str:
    middle = "".join(rng.choice(PIECES) for _ in range(rng.randint(1, most)))
    return rng.choice(BEGINNINGS) + middle + rng.choice(ENDS)


def made(parser: JSONParser) -> object:
    try:
        return repr(parser.parse())
    except (RecursionError, ValueError) as error:
        return type(error)


def compare(count: int, most: int) -> None:
    rng = Random(most)
    for _ in range(count):
        text = drawn(rng, most)
        assert made(repaired_json._BoundedParser(text)) == made(JSONParser(text, None, False)), text


def test_any_broken_text_becomes_what_json_repair_makes_of_it() -> None:
    compare(500, 30)


@pytest.mark.slow
@pytest.mark.parametrize("most", [10, 60, 300])
def test_any_broken_text_of_any_length_does(most: int) -> None:
    compare(20_000 if most < 100 else 2_000, most)


def test_the_installed_json_repair_walks_as_is_known() -> None:
    assert walk_is_known(), "the walk of this release is another: look at json_repair.parse_string"


def test_another_walk_is_gone_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repaired_json, "WALK", "no such walk")
    walk_is_known.cache_clear()
    try:
        assert not walk_is_known()
        compare(100, 30)
    finally:
        walk_is_known.cache_clear()


@pytest.mark.parametrize("text", ['a\\"b"', '\\\\"', "\\", "", 'a\\\\\\"', '"'])
def test_what_a_backslash_escapes_is_passed_by(text: str) -> None:
    parser = JSONParser(text, None, False)
    for start in range(len(text) + 1):
        assert first_unescaped(text, '"', start) == parser.skip_to_character('"', start)


REWRITTEN = '{"b": 1 "b": ["x "y", "z" w"]} '
"""A key twice, at which json_repair rewrites the text, and quotes in a list behind it."""


@pytest.mark.parametrize("count", [20, 200])
def test_a_text_that_is_rewritten_again_and_again_is_not_looked_through_each_time(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    searches = 0

    def counted(text: str, targets: str, start: int) -> int:
        nonlocal searches
        searches += 1
        return first_unescaped(text, targets, start)

    monkeypatch.setattr(repaired_json, "first_unescaped", counted)
    text = "[" + REWRITTEN * count + "]"
    assert made(repaired_json._BoundedParser(text)) == made(JSONParser(text, None, False))
    assert 0 < searches < len(text)


def test_one_whose_quotes_go_on_without_a_bracket_is_broken_off() -> None:
    text = "[" + '{"b": 1 "b": ["x "y", "z" w" } ' * 100 + '"q" ' * 2_000
    with quick_reading() as steps, pytest.raises(TooLargeError, match="looks at a character"):
        repaired_json.repair_json(text)
    assert steps.ran_out

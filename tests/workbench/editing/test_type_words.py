"""Types for people who write no Python."""

import pytest

from workbench.editing.completion import matching, type_said


@pytest.mark.parametrize(
    ("words", "type"),
    [
        ("one of bug, wish", 'Literal["bug", "wish"]'),
        ('one of "a b" or c', 'Literal["a b", "c"]'),
        ("list of Line", "list[Line]"),
        ("optional list of number", "Optional[list[float]]"),
        ("several one of [/x], \x1b", 'list[Literal["[/x]", "\\u001b"]]'),
        ("Text", "str"),
        (" dict[str, Any] ", "dict[str, Any]"),
        ("one of", "one of"),
        ("calm, angry, sad", 'Literal["calm", "angry", "sad"]'),
        ("list of calm, very angry", 'list[Literal["calm", "very angry"]]'),
        ("tuple[int, str]", "tuple[int, str]"),
    ],
)
def test_words_are_a_type(words: str, type: str) -> None:
    assert type_said(words) == type


def test_types_are_found_by_their_words() -> None:
    assert [one.text for one in matching("whole", [])][:1] == ["int"]
    assert [one.text for one in matching("list of Li", ["Line"])][:2] == ["list of Line", "list of list[Line]"]
    assert matching("one of a, b", []) == ()
    assert [one.text for one in matching("calm, sad", ["Kind"])] == ["one of calm, sad"]
    assert [one.text for one in matching("", ["Kind"])][4:6] == ["Kind", "list[Kind]"]

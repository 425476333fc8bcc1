"""Where a teacher is: what is told is read again, and nothing else is a place."""

import json
from dataclasses import asdict, fields, replace
from typing import Any

import pytest

from workbench.serving.teachers_place import LONGEST_NAME, MOST_OF_A_PLACE, WHOLE, NoPlaceError, TeachersPlace, read

THERE = TeachersPlace("a.session.json", "case 2", "json", "demos", "panes", "prompt", kind="field", scrolled=500)
NAMES = [one.name for one in fields(TeachersPlace) if isinstance(one.default, str)]


@pytest.mark.parametrize(
    "place",
    [
        TeachersPlace(),
        THERE,
        TeachersPlace("example:triage", screen="lesson", step=12),
        TeachersPlace(case="[/x]\x1b[31m\n\ud800", column="日本 \N{GRINNING FACE}", screen="pages", page="lints"),
    ],
)
def test_what_is_told_is_read_again(place: TeachersPlace) -> None:
    assert read(place.as_text()) == place
    assert read(json.loads(json.dumps({"place": place.as_text()}))["place"]) == place, "as the pipe carries it"


def test_the_longest_place_is_read_and_a_longer_name_is_left_out_of_it() -> None:
    most = TeachersPlace(**{name: "\0" * LONGEST_NAME for name in NAMES if name not in ("session", "screen", "part")})
    assert read(most.as_text()) == most
    longer = replace(most, case="x" * (LONGEST_NAME + 1), step=10**9, scrolled=-3)
    assert read(longer.as_text()) == replace(most, case="", step=WHOLE, scrolled=0)


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "null",
        "[]",
        "{}",
        "{" * 100_000,
        "[" * (MOST_OF_A_PLACE - 1),
        "x" * 10_000_000,
        json.dumps(asdict(THERE) | {"run": "rm -rf /"}),
        json.dumps({name: value for name, value in asdict(THERE).items() if name != "step"}),
    ],
)
def test_what_does_not_have_its_parts_is_no_place(wrong: str) -> None:
    with pytest.raises(NoPlaceError):
        read(wrong)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("step", "1", "step is no int"),
        ("step", True, "step is no int"),
        ("step", 1.5, "step is no int"),
        ("step", -1, "step is not between"),
        ("scrolled", 1001, "scrolled is not between"),
        ("case", None, "case is no str"),
        ("case", ["a"], "case is no str"),
        ("column", "x" * 201, "column is longer"),
        ("screen", "palette", "no screen or part"),
        ("part", "shell", "no screen or part"),
        ("session", "../other.json", "not the name of a file"),
        ("session", "/etc/passwd", "not the name of a file"),
        ("session", "..", "not the name of a file"),
        ("session", "a\\b", "not the name of a file"),
        ("session", "a\0", "not the name of a file"),
    ],
)
def test_a_part_that_is_not_as_it_must_be_is_named(name: str, value: Any, said: str) -> None:
    with pytest.raises(NoPlaceError, match=said):
        read(json.dumps(asdict(THERE) | {name: value}))

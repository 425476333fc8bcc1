"""Each message between a page, the server and a program is read strictly: what is written is read, all else refused."""

from __future__ import annotations

import json
from dataclasses import asdict, fields, replace
from typing import Any

import pytest

from workbench.serving import messages
from workbench.serving.messages import (
    LONGEST_NAME,
    WHOLE,
    Controls,
    MessageError,
    TeachersPlace,
    as_text,
    read,
    read_packet,
)


@pytest.mark.parametrize(
    ("message", "packet"),
    [
        (["stdin", "ä\x1b[15~"], "ä\x1b[15~".encode()),
        (["stdin", "\ud800"], b"?"),
        (["resize", {"width": 120, "height": 35}], {"type": "resize", "width": 120, "height": 35}),
        (["resize", {"width": 10**9, "height": -4}], {"type": "resize", "width": messages.MOST_COLUMNS, "height": 1}),
        (["ping", "1700"], "1700"),
        (["focus"], {"type": "focus"}),
        (["blur"], {"type": "blur"}),
        (["press", "next", 0], {"type": "press", "button": "next", "step": 0}),
        (["press", "step", 3], {"type": "press", "button": "step", "step": 3}),
    ],
)
def test_every_message_of_the_page_is_read(message: list[object], packet: messages.Packet) -> None:
    assert read_packet(json.dumps(message)) == packet


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "nul",
        '["stdin"]',
        '["stdin", {"a": 1}]',
        '["stdin", ["a"]]',
        '["resize", {"width": "a", "height": 3}]',
        '["resize", null]',
        '["resize", {"width": 80, "height": 24, "more": []}]',
        '["focus", []]',
        '["blur", []]',
        '["deliver_chunk_request", {"key": "../../x"}]',
        '["quit"]',
        '["press", "shell", 0]',
        '["press", "step", -1]',
        '["press", "step", 60]',
        '["press", "step", 1.5]',
        '["press", "step"]',
        '"stdin"',
        "[" * 100_000,
        '["resize", {"width": 1e400, "height": 3}]',
        '["stdin", ' + "9" * 5_000 + "]",
    ],
)
def test_anything_else_is_none(text: str) -> None:
    with pytest.raises(MessageError):
        read_packet(text)


@pytest.mark.parametrize(
    ("asked", "given"),
    [(("120", "35"), (120, 35)), (("", ""), (80, 24)), (("x", "-5"), (80, 24)), (("99999", "²"), (500, 24))],
)
def test_the_size_that_is_asked_for_is_one_that_a_terminal_can_have(
    asked: tuple[str, str], given: tuple[int, int]
) -> None:
    assert messages.size_asked(*asked) == given


SHOWN = Controls(("The structure", "The reply"), 1, "○ follow the teacher")


def test_the_buttons_of_a_page_are_read_again_and_bounded() -> None:
    assert read(Controls, as_text(SHOWN)) == SHOWN
    assert read(Controls, as_text(Controls())) == Controls()
    long = Controls(tuple("x" * 1000 for _ in range(100)), 5, "t" * 1000)
    assert read(Controls, as_text(long)) == Controls(("",) * messages.MOST_STEPS, 5)


@pytest.mark.parametrize(
    "change",
    [
        {"steps": "abc"},
        {"steps": [1]},
        {"steps": [["x"]]},
        {"steps": ["x" * (LONGEST_NAME + 1)]},
        {"steps": ["x"] * 61},
        {"step": 2},
        {"step": -1},
        {"step": "1"},
        {"teacher": None},
        {"teacher": "x" * (LONGEST_NAME + 1)},
        {"run": "x"},
    ],
)
def test_what_is_not_as_buttons_must_be_changes_nothing(change: dict[str, Any]) -> None:
    with pytest.raises(MessageError):
        read(Controls, json.dumps(asdict(SHOWN) | change))


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
    assert read(TeachersPlace, as_text(place)) == place
    assert read(TeachersPlace, json.loads(json.dumps({"place": as_text(place)}))["place"]) == place, (
        "as the pipe carries it"
    )


def test_the_longest_place_is_read_and_a_longer_name_is_left_out_of_it() -> None:
    most = TeachersPlace(**{name: "\0" * LONGEST_NAME for name in NAMES if name not in ("session", "screen", "part")})
    assert read(TeachersPlace, as_text(most)) == most
    longer = replace(most, case="x" * (LONGEST_NAME + 1), step=10**9, scrolled=-3)
    assert read(TeachersPlace, as_text(longer)) == replace(most, case="", step=WHOLE, scrolled=0)


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "null",
        "[]",
        "{}",
        "{" * 100_000,
        "[" * 16_000,
        "x" * 10_000_000,
        json.dumps(asdict(THERE) | {"run": "rm -rf /"}),
        json.dumps({name: value for name, value in asdict(THERE).items() if name != "step"}),
    ],
)
def test_what_does_not_have_its_parts_is_no_place(wrong: str) -> None:
    with pytest.raises(MessageError):
        read(TeachersPlace, wrong)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("step", "1", "step has the wrong type or size"),
        ("step", True, "step has the wrong type or size"),
        ("step", 1.5, "step has the wrong type or size"),
        ("step", -1, "step has the wrong type or size"),
        ("scrolled", 1001, "scrolled has the wrong type or size"),
        ("case", None, "case has the wrong type or size"),
        ("case", ["a"], "case has the wrong type or size"),
        ("column", "x" * 201, "column has the wrong type or size"),
        ("screen", "palette", "screen or part has an impossible value"),
        ("part", "shell", "screen or part has an impossible value"),
        ("session", "../other.json", "session has an impossible value"),
        ("session", "/etc/passwd", "session has an impossible value"),
        ("session", "..", "session has an impossible value"),
        ("session", "a\\b", "session has an impossible value"),
        ("session", "a\0", "session has an impossible value"),
    ],
)
def test_a_part_that_is_not_as_it_must_be_is_named(name: str, value: Any, said: str) -> None:
    with pytest.raises(MessageError, match=said):
        read(TeachersPlace, json.dumps(asdict(THERE) | {name: value}))

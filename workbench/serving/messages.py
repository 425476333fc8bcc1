"""Messages between a page, the server and a participant's program; each end reads them strictly.

A page sends packets: keys, sizes, presses of its buttons. A program tells its page which buttons to show (`Controls`),
and the teacher's program tells the server where the teacher is (`TeachersPlace`), which the server passes on to all
others. Only data is passed: names, numbers, words; anything else is rejected.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any

MOST_COLUMNS, MOST_ROWS = 500, 200
"""A larger window is painted as this, and costs no more."""
MOST_STEPS = 60
BUTTONS = ("back", "next", "step", "lesson", "follow")


class MessageError(ValueError):
    """A message that is none of those that are sent here."""


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise MessageError("not valid JSON") from None


# -- what a page sends


@dataclass(frozen=True)
class Keys:
    """Typed, pasted or mouse input, as a terminal sends it."""

    data: bytes


@dataclass(frozen=True)
class Resize:
    width: int
    height: int


@dataclass(frozen=True)
class Ping:
    """`said` is returned with the answer."""

    said: str


@dataclass(frozen=True)
class Focus:
    is_there: bool


@dataclass(frozen=True)
class Press:
    """A button of the page, one of `BUTTONS`; `step` (from 0) is that of the lesson to go to."""

    button: str
    step: int = 0

    def as_text(self) -> str:
        """Write it for the program, as the page sends it."""
        return json.dumps([PRESS, self.button, self.step])


Packet = Keys | Resize | Ping | Focus | Press


def read_packet(text: str) -> Packet:
    """Read a message of the page: a JSON list of its kind and its content. Raises `MessageError`."""
    match _decoded(text):
        case ["stdin", str(typed)]:
            return Keys(typed.encode("utf-8", "replace"))
        case ["resize", {"width": int(width), "height": int(height)}]:
            return Resize(*terminal_size(width, height))
        case ["ping", str() | int() | float() | None as said]:
            return Ping(str(said)[:100])
        case ["focus", *_]:
            return Focus(True)
        case ["blur", *_]:
            return Focus(False)
        case ["press", str(button), int(step)] if button in BUTTONS and 0 <= step < MOST_STEPS:
            return Press(button, step)
    raise MessageError("not a message of this page")


def terminal_size(width: int, height: int) -> tuple[int, int]:
    """Bound a size to what a terminal can have."""
    return max(1, min(MOST_COLUMNS, width)), max(1, min(MOST_ROWS, height))


def size_asked(width: str, height: str) -> tuple[int, int]:
    """Read the size in the address of a connection; 80 by 24 for what is not a number."""
    columns, rows = [int(one) if one.isascii() and one.isdecimal() and len(one) < 6 else 0 for one in (width, height)]
    return terminal_size(columns or 80, rows or 24)


# -- which buttons a page shows

CONTROLS, PRESS = "controls", "press"
"""The kinds of the messages that have `Controls` (from the program) and a `Press` (to it)."""
LONGEST_TITLE = 60
FOLLOWING = "◉"
"""The first sign of `Controls.teacher` while the teacher is followed."""


@dataclass(frozen=True)
class Controls:
    """`steps` are the titles of the open lesson's steps, of which `step` (from 0) is shown; none: no lesson is open.

    `teacher` is how the last line of the app says whether the teacher is followed ("": there is none).
    """

    steps: tuple[str, ...] = ()
    step: int = 0
    teacher: str = ""

    @property
    def follows(self) -> bool:
        return self.teacher.startswith(FOLLOWING)

    def as_data(self) -> dict[str, object]:
        steps = [one[:LONGEST_TITLE] for one in self.steps[:MOST_STEPS]]
        return {"steps": steps, "step": min(self.step, max(0, len(steps) - 1)), "teacher": self.teacher[:LONGEST_TITLE]}


def read_controls(given: object) -> Controls:
    """Read what `as_data` gave, after JSON. Raises `MessageError`."""
    match given:
        case {"steps": [*steps], "step": int(step), "teacher": str(teacher), **more} if not more:
            titles = [one for one in steps[:MOST_STEPS] if isinstance(one, str) and len(one) <= LONGEST_TITLE]
            if len(titles) == len(steps) and len(teacher) <= LONGEST_TITLE and 0 <= step < max(1, len(titles)):
                return Controls(tuple(titles), step, teacher)
    raise MessageError("not the buttons of a page")


# -- where the teacher is

PLACE = "teachers_place"
"""The kind of the message that has a `TeachersPlace`, or null once the teacher has left."""
LONGEST_NAME = 200
MOST_OF_A_PLACE = 16_000
"""Characters; all the names at their longest, each sign written in six by JSON, take no more."""
WHOLE = 1_000
"""`scrolled` is a part of this."""
SCREENS = ("panes", "lesson", "pages")
PARTS = ("editors", "prompt", "reply")
EXAMPLE = "example:"
"""In front of the name of an example, where there is no file."""


@dataclass(frozen=True)
class TeachersPlace:
    """The teacher's position, told to all participants.

    `session` is the name of a file, or `EXAMPLE` and a name; "" is a session that nobody else has. `case` and
    `column` are its, `tab` is one of the editors.

    `screen` is one of `SCREENS`; `part`, one of `PARTS`, has the focus of the panes; `page` is open of the pages, and
    `step` of the lesson, from 0. `kind`, `field` and `turn` are the origin under the cursor of a prompt ("": none).
    `scrolled` is how far down that is, from 0 to `WHOLE`.
    """

    session: str = ""
    case: str = ""
    column: str = ""
    tab: str = "signature"
    screen: str = "panes"
    part: str = "editors"
    page: str = ""
    step: int = 0
    kind: str = ""
    field: str = ""
    turn: str = ""
    scrolled: int = 0

    def as_text(self) -> str:
        """Write it for the pipe, without names that are too long for `read_place`, and with numbers that fit."""
        found: dict[str, Any] = {}
        for name, value in asdict(self).items():
            if isinstance(value, str):
                found[name] = value if len(value) <= LONGEST_NAME else ""
            else:
                found[name] = max(0, min(WHOLE, value))
        return json.dumps(found, ensure_ascii=False)


def read_place(text: str) -> TeachersPlace:
    """Read what `as_text` wrote. Raises `MessageError` for anything else."""
    if len(text) > MOST_OF_A_PLACE:
        raise MessageError(f"too long for a place: {len(text)} characters")
    given = _decoded(text)
    known = {one.name: type(one.default) for one in fields(TeachersPlace)}
    if not isinstance(given, dict) or given.keys() != known.keys():
        raise MessageError("not the parts of a place")
    for name, kind in known.items():
        value = given[name]
        if type(value) is not kind:
            raise MessageError(f"{name} is not of type {kind.__name__}")
        if isinstance(value, str) and len(value) > LONGEST_NAME:
            raise MessageError(f"{name} is longer than {LONGEST_NAME} characters")
        if isinstance(value, int) and not 0 <= value <= WHOLE:
            raise MessageError(f"{name} is not between 0 and {WHOLE}")
    place = TeachersPlace(**given)
    if place.screen not in SCREENS or place.part not in PARTS:
        raise MessageError("not a screen or part of the app")
    if set(place.session) & set("/\\\0") or place.session.startswith("."):
        raise MessageError("session is not the name of a file alone")
    return place

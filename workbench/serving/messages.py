"""Define and parse the messages between a page, the server and a participant's program.

A page sends packets: keys, sizes, presses of its buttons. A program sends its page the buttons to show (`Controls`),
and the teacher's program sends the server the teacher's position (`TeachersPlace`), which the server forwards to all
participants. Messages contain names, numbers and texts; anything else is rejected.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any

MOST_COLUMNS, MOST_ROWS = 500, 200
"""The largest terminal size; larger windows get this size, so that they cost no more."""
MOST_STEPS = 60
BUTTONS = ("back", "next", "step", "lesson", "follow")


class MessageError(ValueError):
    """A message that is invalid or of an unknown kind."""


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise MessageError("not valid JSON") from None


# -- what a page sends


@dataclass(frozen=True)
class Press:
    """A press of a page's button, one of `BUTTONS`; `step` (0-based) is the lesson's step for the button `step`."""

    button: str
    step: int = 0


Packet = bytes | str | dict[str, str | int | bool | None]
"""Typed, pasted or mouse input as a terminal sends it; the text of a ping; or a message for the program."""


def read_packet(text: str) -> Packet:
    """Read a page's message, a JSON list of kind and content. Raises `MessageError`."""
    match _decoded(text):
        case ["stdin", str(typed)]:
            return typed.encode("utf-8", "replace")
        case ["resize", {"width": int(width), "height": int(height), **more}] if not more:
            columns, rows = terminal_size(width, height)
            return {"type": "resize", "width": columns, "height": rows}
        case ["ping", str() | int() | float() | None as said]:
            return str(said)[:100]
        case ["focus" | "blur" as kind]:
            return {"type": kind}
        case ["press", str(button), int(step)] if button in BUTTONS and 0 <= step < MOST_STEPS:
            return {"type": PRESS, **asdict(Press(button, step))}
    raise MessageError("not a message of this page")


def terminal_size(width: int, height: int) -> tuple[int, int]:
    """Clamp a size to 1..`MOST_COLUMNS` columns and 1..`MOST_ROWS` rows."""
    return max(1, min(MOST_COLUMNS, width)), max(1, min(MOST_ROWS, height))


def size_asked(width: str, height: str) -> tuple[int, int]:
    """Read the terminal size from the URL of a connection; invalid numbers become 80 columns and 24 rows."""
    columns, rows = [int(one) if one.isascii() and one.isdecimal() and len(one) < 6 else 0 for one in (width, height)]
    return terminal_size(columns or 80, rows or 24)


# -- which buttons a page shows

CONTROLS, PRESS = "controls", "press"
"""The kinds of messages with `Controls` (from the program) and with a `Press` (to the program)."""
LONGEST_TITLE = 60
FOLLOWING = "◉"
"""The first character of `Controls.teacher` while the teacher is followed."""


@dataclass(frozen=True)
class Controls:
    """The buttons that a page shows.

    `steps` are the titles of the open lesson's steps, empty without a lesson; `step` (0-based) is the current step.
    `teacher` is the app's note on whether the teacher is followed, "" without a teacher.
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
    """Read the output of `as_data`, as decoded from JSON. Raises `MessageError`."""
    match given:
        case {"steps": [*steps], "step": int(step), "teacher": str(teacher), **more} if not more:
            titles = [one for one in steps[:MOST_STEPS] if isinstance(one, str) and len(one) <= LONGEST_TITLE]
            if len(titles) == len(steps) and len(teacher) <= LONGEST_TITLE and 0 <= step < max(1, len(titles)):
                return Controls(tuple(titles), step, teacher)
    raise MessageError("not the buttons of a page")


# -- where the teacher is

PLACE = "teachers_place"
"""The kind of messages with a `TeachersPlace`, or null once the teacher has left."""
LONGEST_NAME = 200
MOST_OF_A_PLACE = 16_000
"""The size limit of a place in characters: room for all names at full length, with six characters per JSON escape."""
WHOLE = 1_000
"""The value of `scrolled` at the end of a text."""
SCREENS = ("panes", "lesson", "pages")
PARTS = ("editors", "prompt", "reply")
EXAMPLE = "example:"
"""The prefix of an example's name in `TeachersPlace.session`."""


@dataclass(frozen=True)
class TeachersPlace:
    """The teacher's position, sent to all participants.

    `session` is a file name, or `EXAMPLE` and an example's name; "" for a session that participants do not have. `case`
    and `column` are names in that session; `tab` is the open editor.

    `screen` is one of `SCREENS`. `part`, one of `PARTS`, is the focused part of the panes; `page` is the open page, and
    `step` the lesson's step (0-based). `kind`, `field` and `turn` are the origin at the cursor of a prompt, "" without
    one. `scrolled` is the scroll position from 0 to `WHOLE`.
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
        """Write the place as JSON that `read_place` accepts: longer names become "", numbers are clamped."""
        found: dict[str, Any] = {}
        for name, value in asdict(self).items():
            if isinstance(value, str):
                found[name] = value if len(value) <= LONGEST_NAME else ""
            else:
                found[name] = max(0, min(WHOLE, value))
        return json.dumps(found, ensure_ascii=False)


def read_place(text: str) -> TeachersPlace:
    """Read the output of `TeachersPlace.as_text`. Raises `MessageError` for anything else."""
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

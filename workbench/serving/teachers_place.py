"""Where the teacher of a class is: what his program tells the server, and the server every visitor's program.

Data and nothing else: names of what everybody has, a step, how far down. What does not look like one of these is none,
wherever it comes from; a name that a visitor's session does not have leads nowhere.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any

KIND = "teachers_place"
"""What a message is that has one, or null once the teacher has left."""
LONGEST_NAME = 200
MOST_OF_A_PLACE = 16_000
"""Characters; all the names at their longest, of signs that JSON writes in six, take no more."""
WHOLE = 1_000
"""What `scrolled` is a part of."""
SCREENS = ("panes", "lesson", "pages")
PARTS = ("editors", "prompt", "reply")
EXAMPLE = "example:"
"""In front of the name of an example, where there is no file."""


class NoPlaceError(ValueError):
    """What was told is no place of a teacher."""


@dataclass(frozen=True)
class TeachersPlace:
    """`session` is the name of a file, or `EXAMPLE` and a name; "" is one that nobody else has. `case` and `column` are
    its, `tab` is one of the editors.

    `screen` is one of `SCREENS`; `part`, one of `PARTS`, has the focus of the panes; `page` is open of the pages, and
    `step` of the lesson, from 0. `kind`, `field` and `turn` are the origin of what the cursor of a prompt is on ("":
    none). `scrolled` is how far down that is, from 0 to `WHOLE`.
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
        """For the pipe. A name that is too long for `read` is left out, and so is what does not fit a number."""
        found: dict[str, Any] = {}
        for name, value in asdict(self).items():
            if isinstance(value, str):
                found[name] = value if len(value) <= LONGEST_NAME else ""
            else:
                found[name] = max(0, min(WHOLE, value))
        return json.dumps(found, ensure_ascii=False)


def read(text: str) -> TeachersPlace:
    """What `as_text` wrote. Raises `NoPlaceError` for all else."""
    if len(text) > MOST_OF_A_PLACE:
        raise NoPlaceError(f"{len(text)} characters are no place")
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        raise NoPlaceError("no JSON") from None
    known = {one.name: type(one.default) for one in fields(TeachersPlace)}
    if not isinstance(given, dict) or given.keys() != known.keys():
        raise NoPlaceError("not the parts of a place")
    for name, kind in known.items():
        value = given[name]
        if type(value) is not kind:
            raise NoPlaceError(f"{name} is no {kind.__name__}")
        if isinstance(value, str) and len(value) > LONGEST_NAME:
            raise NoPlaceError(f"{name} is longer than {LONGEST_NAME} characters")
        if isinstance(value, int) and not 0 <= value <= WHOLE:
            raise NoPlaceError(f"{name} is not between 0 and {WHOLE}")
    place = TeachersPlace(**given)
    if place.screen not in SCREENS or place.part not in PARTS:
        raise NoPlaceError("no screen or part of the app")
    if set(place.session) & set("/\\\0") or place.session.startswith("."):
        raise NoPlaceError("session is not the name of a file alone")
    return place

"""Define and parse the messages between a page, the server and a participant's program.

A page sends packets: keys, sizes, presses of its buttons. A program sends its page the buttons to show (`Controls`),
and the teacher's program sends the server the teacher's position (`TeachersPlace`), which the server forwards to all
participants. Messages contain names, numbers and texts; anything else is rejected.

The server gives a seat's program its orders at the start: its folder, environment, limits and session.
"""

from __future__ import annotations

import json
import os
import site
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from adapters.late_dataclasses import asdict, dataclass, fields
from adapters.lm import addresses
from adapters.lm.capabilities import split_model

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


# -- what programs and server send each other

PRESS, CONTROLS, PLACE = "press", "controls", "teachers_place"
"""The kinds of messages with a `Press`, with `Controls`, and with a `TeachersPlace`, null once the teacher has left."""
FOLLOWING = "◉"
"""The first character of `Controls.teacher` while the teacher is followed."""
LONGEST_NAME = 200
WHOLE = 1_000
"""The largest number, and the value of `scrolled` at the end of a text."""
SCREENS = ("panes", "lesson", "pages")
PARTS = ("editors", "prompt", "reply")
EXAMPLE = "example:"
"""The prefix of an example's name in `TeachersPlace.session`."""


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

    @property
    def wrong(self) -> str:
        """The name of a part with an impossible value, or ""."""
        return "" if self.step < max(1, len(self.steps)) else "step"


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

    @property
    def wrong(self) -> str:
        """The name of a part with an impossible value, or ""; `session` must be the name of a file alone."""
        if set(self.session) & set("/\\\0") or self.session.startswith("."):
            return "session"
        return "" if self.screen in SCREENS and self.part in PARTS else "screen or part"


Message = TypeVar("Message", Controls, TeachersPlace)


def as_text(message: Controls | TeachersPlace) -> str:
    """Write a message for `read`: longer names become "", numbers and lists are limited."""
    return json.dumps({name: _limited(value) for name, value in asdict(message).items()}, ensure_ascii=False)


def _limited(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= LONGEST_NAME else ""
    return max(0, min(WHOLE, value)) if isinstance(value, int) else [_limited(one) for one in value[:MOST_STEPS]]


def read(kind: type[Message], text: str) -> Message:
    """Read the output of `as_text`. Raises `MessageError` for anything else."""
    given = _decoded(text)
    known = {one.name: type(one.default) for one in fields(kind)}
    if not isinstance(given, dict) or given.keys() != known.keys():
        raise MessageError(f"not the parts of {kind.__name__}")
    parts: dict[str, Any] = {}
    for name, expected in known.items():
        value = tuple(given[name]) if isinstance(given[name], list) else given[name]
        is_typed = type(value) is expected and {str}.issuperset(map(type, value if isinstance(value, tuple) else ()))
        if not is_typed or _limited(value) != given[name]:
            raise MessageError(f"{name} has the wrong type or size")
        parts[name] = value
    message = kind(**parts)
    if message.wrong:
        raise MessageError(f"{message.wrong} has an impossible value")
    return message


FILES, HOME = "files", "home"
"""Folders of a seat: the participant's files, and the program's own files (state, settings, log)."""
PASSED_ON = ("LANG", "LC_ALL", "LC_CTYPE", "TZ")
"""Environment variables of the server that a seat's process inherits: locale and time zone."""
PATHS = ("PYTHONPATH", "LD_LIBRARY_PATH")
"""Variables that it inherits with absolute folders: a relative one would mean the participant's own folder, whose files
would be imported before the walls stand."""
DISK_MB = 100
PROGRAM = "workbench.tui.launch_visitor"


@dataclass(frozen=True)
class Orders:
    """The options of a seat's program.

    `session` is the name of a file in `files`, None for the first example; `lesson` is the lesson's step (1-based) to
    start in. `models` may be called in addition to the offline models; `disk_mb` limits the size of the folder.
    `leads` is true for the teacher's program; `is_projected` starts it in projector mode.
    """

    folder: str
    session: str | None = None
    lesson: int | None = None
    models: tuple[str, ...] = ()
    disk_mb: int = DISK_MB
    leads: bool = False
    is_projected: bool = False

    @property
    def files(self) -> Path:
        return Path(self.folder) / FILES

    @property
    def home(self) -> Path:
        return Path(self.folder) / HOME

    @property
    def runs_mb(self) -> int:
        """The share of `disk_mb` for stored runs: SQLite limits that file, `serving.walls` all others."""
        return self.disk_mb // 10

    def as_text(self) -> str:
        """Write the orders for the program's command line."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> Orders:
        """Read the output of `as_text`."""
        given = json.loads(text)
        return cls(**{**given, "models": tuple(given["models"])})

    def environment(self, size: tuple[int, int], ours: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of the process; `ours` is the server's.

        Only `PASSED_ON`, `PATHS` and the API keys for `models` are taken from `ours`.
        """
        home = str(self.home)
        passed = {name: ours[name] for name in (*PASSED_ON, *key_variables(self.models)) if ours.get(name)}
        for name in PATHS:
            folders = [os.path.abspath(one) for one in ours.get(name, "").split(os.pathsep) if one]
            if folders:
                passed[name] = os.pathsep.join(folders)
        return {
            **passed,
            "HOME": home,
            "XDG_CONFIG_HOME": os.path.join(home, "config"),
            "XDG_STATE_HOME": os.path.join(home, "state"),
            "XDG_DATA_HOME": os.path.join(home, "data"),
            "XDG_CACHE_HOME": os.path.join(home, "cache"),
            "TMPDIR": os.path.join(home, "tmp"),
            "PYTHONUSERBASE": site.getuserbase(),
            "PYTHONUTF8": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "TEXTUAL_DRIVER": "workbench.tui.textual_internals.visitor_driver:VisitorDriver",
            "TEXTUAL_COLOR_SYSTEM": "truecolor",
            "TEXTUAL_FPS": "60",
            "COLUMNS": str(size[0]),
            "ROWS": str(size[1]),
        }


def key_variables(models: tuple[str, ...]) -> tuple[str, ...]:
    """Return the environment variables of the API keys for these models, without duplicates."""
    return tuple(dict.fromkeys(name for one in models for name in addresses.key_variables(split_model(one)[0])))

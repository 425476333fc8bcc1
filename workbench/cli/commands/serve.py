"""`workbench serve`: serve the app to a class in the browser, with a seat for each participant.

Serve the app to a class in the browser: one address for all, and for each
participant a session and a folder of their own. Participants cannot reach your
files, programs or API keys; the offline models answer. The address stops
working when the class is full. A participant who closes the page leaves no
process, and the folder is deleted with the seat. Each participant takes 65 to
90 MB of memory. A second address is the teacher's: participants can follow the
teacher's page.

examples:
  workbench serve                                 on this machine, with the first example
  workbench serve receipt.session.json --lesson 3     everybody starts in the lesson
  workbench serve triage.session.json --projector     the room looks at your page
  workbench serve *.session.json --host 0.0.0.0 --max 20 --keep handed-in/
  workbench serve --public-url https://class.example.org   behind a proxy that speaks TLS
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from adapters.errors import reason_of
from workbench.cli import arguments
from workbench.output import console, exit_codes
from workbench.output.exit_codes import CommandError

if TYPE_CHECKING:
    from workbench.serving.class_room import ClassRoom, Setup


MOST_PARTICIPANTS = 200


minutes = arguments.value("a number of minutes above 0", float, lambda number: 0 < number < 1e5)


def add_arguments(parser: arguments.Parser) -> None:
    parser.add_argument(
        "sessions",
        nargs="*",
        metavar="SESSION",
        help="copy these to each participant and open the first (default: the first example)",
    )
    parser.option("--host", "HOST", "listen on this address (default: only this machine can join)", default="127.0.0.1")
    port, seats = arguments.whole_number(0, 65_535), arguments.whole_number(1, MOST_PARTICIPANTS)
    parser.option("--port", "PORT", "listen on this port; 0: any free port (default 8000)", type=port, default=8000)
    parser.option("--public-url", "URL", "the address for browsers, behind a proxy")
    parser.option("--max", "N", "number of seats (default 30)", dest="most", type=seats, default=30)
    parser.option(
        "--idle",
        "MINUTES",
        "close a page after this time without a key, and free an abandoned seat (default 60)",
        type=minutes,
        default=60.0,
    )
    parser.option("--keep", "DIR", "keep the folders of all seats in DIR")
    parser.one_or_more(
        "--allow-models",
        "M",
        "allow these models too; the process of every seat then holds the API keys of their providers",
        dest="models",
        type=arguments.model,
    )
    parser.flag("--projector", "prepare the teacher's page for a room: large headings, letters of 24 px")
    parser.option(
        "--lesson", "N", "start at step N of the lesson, following the teacher", type=arguments.whole_number(1, 1000)
    )
    parser.option(
        "--per-address",
        "N",
        "allow N seats for each network address; 0: any number (default 1; not counted behind a proxy)",
        type=arguments.whole_number(0, MOST_PARTICIPANTS),
        default=1,
    )


def run(options: arguments.Options) -> int:
    if sys.platform == "win32":
        raise CommandError("serve needs a system with POSIX processes: Linux, macOS, or WSL on Windows")
    from workbench.serving import class_room

    try:
        with ExitStack() as kept:
            setup = setup_of(options, kept)
            for line in _warnings(setup):
                console.problem(line)
            say, opened = (console.message, _opened_in_json) if options.json else (_say, _opened)
            # Only a foreground terminal is read: reading would stop a server in the background.
            is_typed = sys.stdin.isatty() and os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
            asyncio.run(class_room.hold(setup, say, opened, typed=sys.stdin if is_typed else None))
    except OSError as error:
        why = reason_of(error).rpartition("): ")[2]  # asyncio repeats the address in parentheses
        raise CommandError(f"{options.host}:{options.port}: {why}") from error
    return exit_codes.OK


def setup_of(options: arguments.Options, kept: ExitStack) -> Setup:
    """Return the setup of the class from the options; `kept` deletes a temporary folder at its end.

    Raises `CommandError`, and `sessions.errors.SessionError` for a session that cannot be opened.
    """
    from workbench.serving import seats
    from workbench.serving.class_room import Setup

    public_url = None if options.public_url is None else _public_url(options.public_url)
    # The session files after opening each.
    from sessions.file import store

    found: dict[str, Path] = {}
    for one in options.sessions:
        path = Path(one)
        if path.name in found:
            raise CommandError(f"{one}: {found[path.name]} has the same name; a seat has all sessions in one folder")
        store.load(path)
        found[path.name] = path
    sessions = tuple(found.values())
    if options.keep is None:
        for line in seats.abandoned(time.time()):
            console.problem(line)
        top = kept.enter_context(seats.class_folder())
    else:
        top = Path(options.keep)
        try:
            top.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CommandError(f"--keep {top}: {reason_of(error)}") from error
    return Setup(
        sessions=sessions,
        top=Path(os.path.realpath(top)),
        keeps=options.keep is not None,
        host=options.host,
        port=options.port,
        public_url=public_url,
        most=options.most,
        idle_s=options.idle * 60,
        lesson=options.lesson,
        models=tuple(options.models),
        is_projected=options.projector,
        per_address=options.per_address,
    )


def _public_url(given: str) -> str:
    """Normalise the address to what browsers send: without a path, in lower case. Raises `CommandError`."""
    try:
        parts = urlsplit(given)
        port = parts.port
    except ValueError:  # an unclosed bracket, or an invalid port
        parts, port = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise CommandError(
            f"--public-url {given}: give the address that browsers use, such as https://class.example.org"
        )
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise CommandError(f"--public-url {given}: leave out the path, as in https://class.example.org")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    is_usual = port is None or port == {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host}" if is_usual else f"{parts.scheme}://{host}:{port}"


def _warnings(setup: Setup) -> list[str]:
    """Return warnings for the teacher before anybody joins."""
    found: list[str] = []
    if not setup.is_loopback and not (setup.public_url or "").startswith("https:"):
        found.append(
            f"{setup.host} can be reached from other machines, and nothing is encrypted: anybody in the network can "
            "read the address of the class and what participants type. Outside of a trusted room put a TLS proxy in "
            "front (see docs/serve.md) and give its address as --public-url"
        )
    if setup.models:
        from workbench.serving.messages import key_variables

        names = [one for one in key_variables(setup.models) if os.environ.get(one)]
        held = f"; the process of every seat holds {', '.join(names)}" if names else ""
        found.append(f"participants can call {', '.join(setup.models)} on your account{held}")
    return found


def _opened(room: ClassRoom) -> None:
    orders = ""
    if console.is_terminal(sys.stdout):
        from workbench.serving import board

        orders = f"\n\n{board.ORDERS}"
        _say(f"\n{board.qr_lines(room.address)}")  # above the addresses, which a small terminal must keep in view
    _say(
        f"\n  {room.address}\n\nis for the class (or {room.setup.url(room.port)} and the code {room.seats.code}); "
        f"ctrl+c ends it.\n\n  {room.teachers_address}\n\n"
        f"is for you alone, and works once: participants can follow your page.{orders}"
    )


def _opened_in_json(room: ClassRoom) -> None:
    setup = room.setup
    console.json(
        {
            "address": room.address,
            "code": room.seats.code,
            "teacher": room.teachers_address,
            "url": setup.url(room.port),
            "port": room.port,
            "max": setup.most,
            "folder": str(setup.top),
        }
    )
    console.flush()


def _say(line: str) -> None:
    console.text(line)
    console.flush()

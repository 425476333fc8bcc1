"""`workbench pull`: update the signatures of sessions from their linked programs.

Update the signatures of sessions from the program they are linked to (workbench
new FILE.py:Class). The program is read, never run. Recordings stay, so changed
prompts drift and can be decided by cause (workbench review). Demos and inputs
whose field is gone, or changed its type, are named and kept aside; they return
with their field. Sessions edited since the last pull are skipped: push writes
those edits into the program, --over-edits discards them.

Exits with 1 when a session could not be pulled.

examples:
  workbench pull prompts/answer.session.json
  workbench pull prompts/                      all linked sessions below
  workbench pull prompts/ --dry-run            show the changes only
"""

from __future__ import annotations

import shlex
from pathlib import Path

from sessions.errors import SessionError
from sessions.file import saving, store
from sessions.source.linking import Follower
from sessions.source.project import SourceError
from sessions.source.pull_push import Pulled, pulled, refuse_to_lose_edits
from workbench.checks import fixture_files
from workbench.cli.arguments import Options, Parser
from workbench.output import console, exit_codes

NO_LINK = "it has no link to a program; `workbench import FILE.py:Class --into {}` makes one"


def add_arguments(parser: Parser) -> None:
    parser.add_argument("paths", nargs="+", metavar="SESSION", help="a session file, or a folder of them")
    parser.flag("--dry-run", "show the changes without writing")
    parser.flag("--over-edits", "discard edits made in the session")


def run(options: Options) -> int:
    files = fixture_files.find(options.paths)
    follower = Follower()
    named = {Path(one) for one in options.paths}
    shapes = []
    codes = []
    for path in files:
        made, code, error = None, exit_codes.DIFFERENT, ""
        try:
            made, error = _pull(path, follower, options, path in named)
        except SourceError as refused:
            error = f"{path}: {refused}"
        except SessionError as failed:
            code, error = exit_codes.USAGE, str(failed)
        codes.append(code if error else exit_codes.OK)
        if made is None and not error:
            continue
        changes, notes = (made.changes, made.notes) if made is not None else ((), ())
        shapes.append({"path": str(path), "changes": list(changes), "notes": list(notes), "error": error or None})
        if error:
            console.problem(error)
        elif made is not None and not options.json:
            console.text(f"{path}: {'; '.join(changes) if changes else 'already equals its program'}")
            for note in notes:
                console.text(f"  {note}")
    if options.json:
        is_written = not options.dry_run and any(one["error"] is None for one in shapes)
        console.json({"sessions": shapes, "written": is_written})
    if not shapes:
        console.message("no session is linked to a program")
    return exit_codes.worst(codes)


def _pull(path: Path, follower: Follower, options: Options, is_named: bool) -> tuple[Pulled | None, str]:
    """Pull into a session file; return the result, or why nothing was pulled.

    Sessions without a link are skipped silently unless the file is named. Raises `SourceError` for a program that
    cannot be followed, `SessionError` for a file that cannot be read or written.
    """
    opened = store.open_file(path)
    if opened.session.signature.source is None:
        return None, f"{path}: {NO_LINK.format(shlex.quote(str(path)))}" if is_named else ""
    if not options.over_edits:
        refuse_to_lose_edits(opened.session, path.parent, follower)
    made = pulled(opened.session, path.parent, follower)
    if made.changes and not options.dry_run:
        saving.keep_restore_point(path)
        store.save(made.session, path, over=opened.fingerprint)
    return made, ""

"""`workbench push`: write a session's signature back to its linked program.

Write a session's edited class back into its program: the lines of the class and
its models, and nothing else, in the file's own encoding. Shows the change and
the other sessions that it changes, and asks first; --yes skips the question.
Comments and layout that the program gained since stay. If the class itself
changed there, nothing is written: pull first.

Exits with 1 when something differs and nothing was written.

examples:
  workbench push prompts/answer.session.json
  workbench push prompts/answer.session.json --yes
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from adapters.errors import SignatureError
from sessions.errors import counted
from sessions.file import saving, store
from sessions.source.project import SourceError
from sessions.source.pull_push import others_changed, pushed
from workbench.checks import fixture_files
from workbench.cli.arguments import Options, Parser
from workbench.output import console, exit_codes

MOST_NAMED = 4


def add_arguments(parser: Parser) -> None:
    parser.add_argument("session", metavar="SESSION", help="a session file")
    parser.flag("--yes", "write without asking")


def run(options: Options) -> int:
    path = Path(options.session)
    try:
        opened = store.open_file(path)
        push = pushed(opened.session, path.parent)
        others = others_changed(push, path, fixture_files.below(push.project.top)) if push.files else {}
        if push.files and not options.json:
            console.diff_lines(push.diff())
            if others:
                paths, fixtures = [os.path.relpath(one) for one in others], sum(others.values())
                named = f"{shlex.join(paths[:MOST_NAMED])}{' …' * (len(paths) > MOST_NAMED)}"
                said = f"{counted(fixtures, 'fixture')} of {counted(len(paths), 'other session')} will differ"
                console.text(f"{said}; then `workbench pull {named}`")
        is_meant = bool(push.files) and options.yes
        can_ask = console.is_terminal(sys.stdin) and console.is_terminal(sys.stderr)
        if push.files and can_ask and not (options.yes or options.json):
            sys.stderr.write("Write it? [y/N] ")
            sys.stderr.flush()
            is_meant = sys.stdin.readline().strip().lower() in ("y", "yes")
        if is_meant:
            push.write()
            saving.keep_restore_point(path)
            store.save(push.session, path, over=opened.fingerprint)
    except SourceError as error:
        raise exit_codes.CommandError(f"{path}: {error}", exit_codes.DIFFERENT) from error
    except SignatureError as error:
        raise exit_codes.CommandError(f"{path}: the signature, {error}") from error
    names = [push.project.name(file) for file in push.files]
    if options.json:
        shape = {"path": str(path), "files": names, "diff": push.diff(), "written": is_meant}
        console.json({**shape, "others": {os.path.relpath(one): count for one, count in others.items()}})
    elif not names:
        console.message(f"{path}: already equals its program")
    else:
        console.message(f"{', '.join(names)}: {'written' if is_meant else 'not written; --yes writes it'}")
    return exit_codes.OK if is_meant or not push.files else exit_codes.DIFFERENT

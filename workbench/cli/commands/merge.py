"""`workbench merge`: two changes of one session in one file, as git asks a merge driver for it."""

from __future__ import annotations

import argparse

from sessions.errors import SessionError
from sessions.file import both_changes, store
from sessions.file.both_changes import CollisionError
from workbench.cli import arguments
from workbench.output import command_output, exit_codes

DESCRIPTION = """\
Puts two changes of one session together and writes the result over OURS: what
either side changed of BASE, case by case and column by column, by their names.
Where both changed the same, nothing is written and the places are named (exit
code 1, which git shows as a conflict).

As a merge driver of git, once in a repository:
  git config merge.workbench.driver "workbench merge %O %A %B --name %P"
  echo '*.session.json merge=workbench' >> .gitattributes"""
EXAMPLES = """\
  workbench merge base.json ours.json theirs.json
  git config merge.workbench.driver "workbench merge %O %A %B --name %P\""""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("base", metavar="BASE", help="what both began with")
    parser.add_argument("ours", metavar="OURS", help="one change; the result is written here")
    parser.add_argument("theirs", metavar="THEIRS", help="the other change")
    parser.add_argument("--name", metavar="NAME", help="what messages call the file (git's %%P)")
    arguments.add_json(parser)


def run(options: argparse.Namespace) -> int:
    name = options.name or options.ours
    places: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    error = ""
    try:
        base, theirs = store.load(options.base), store.load(options.theirs)
        ours = store.open_file(options.ours)
        merged = both_changes.merge(base, ours.session, theirs)
        taken = merged.taken
        store.save(merged.session, options.ours, over=ours.fingerprint)
    except CollisionError as collision:
        places = collision.places
        error = f"{name}: both sides changed {', '.join(places[:8])}{' …' if len(places) > 8 else ''}"
    except SessionError as failed:
        error = f"{name}: {failed}"
    if options.json:
        shape = {"path": name, "written": not error, "taken": list(taken), "collisions": list(places)}
        command_output.json({**shape, "error": error or None})
    elif not error:
        command_output.message(f"{name}: merged" + (f", with {len(taken)} changes of the other side" if taken else ""))
    if error:
        command_output.message(f"workbench: {error}")
    return exit_codes.DIFFERENT if error else exit_codes.OK

"""`workbench merge`: merge two versions of a session in a file, as a git merge driver.

Merge two versions of a session into OURS: the changes of either side to BASE,
case by case and column by column, by name. If both changed the same place,
nothing is written and the places are named (exit code 1, which git shows as a
conflict).

To set it up as a git merge driver, once a repository:
  git config merge.workbench.driver "workbench merge %O %A %B --name %P"
  echo '*.session.json merge=workbench' >> .gitattributes

examples:
  workbench merge base.json ours.json theirs.json
  git config merge.workbench.driver "workbench merge %O %A %B --name %P"
"""

from __future__ import annotations

from sessions.errors import SessionError, counted
from sessions.file import both_changes, store
from workbench.cli.arguments import Options, Parser
from workbench.output import console, exit_codes


def add_arguments(parser: Parser) -> None:
    parser.add_argument("base", metavar="BASE", help="the common ancestor")
    parser.add_argument("ours", metavar="OURS", help="one version; receives the result")
    parser.add_argument("theirs", metavar="THEIRS", help="the other version")
    parser.option("--name", "NAME", "name of the file in messages (git's %%P)")


def run(options: Options) -> int:
    name = options.name or options.ours
    places: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    error, code = "", exit_codes.OK
    try:
        base, theirs = store.load(options.base), store.load(options.theirs)
        ours = store.open_file(options.ours)
        merged = both_changes.merge(base, ours.session, theirs)
        taken = merged.taken
        store.save(merged.session, options.ours, over=ours.fingerprint)
    except both_changes.CollisionError as collision:
        places, code = collision.places, exit_codes.DIFFERENT
        error = f"{name}: both sides changed {', '.join(places[:8])}{' …' if len(places) > 8 else ''}"
    except SessionError as failed:
        error, code = f"{name}: {failed}" if options.name else str(failed), exit_codes.USAGE
    if options.json:
        shape = {"path": name, "written": not error, "taken": list(taken), "collisions": list(places)}
        console.json({**shape, "error": error or None})
    elif not error:
        changes = f", with {counted(len(taken), 'change')} of the other side" if taken else ""
        console.message(f"{name}: merged{changes}")
    if error:
        console.problem(error)
    return code

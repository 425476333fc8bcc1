"""Open the app or run a command of `workbench`. Modules that a command does not need are not imported."""

from __future__ import annotations

import sys

try:
    import atexit
    import errno
    import gc
    import os
    import shlex
    from collections.abc import Sequence
    from contextlib import nullcontext
    from functools import partial
    from pathlib import Path
    from typing import TYPE_CHECKING, Any

    from workbench import __version__
    from workbench.cli.arguments import Parser, require_reports, settle_session, write_output
    from workbench.cli.commands import SUMMARIES, load, parser_of
    from workbench.config import user_code
    from workbench.output import console, exit_codes
    from workbench.output.exit_codes import CommandError, nearest
except KeyboardInterrupt:  # before `main` could report it
    sys.stderr.write("workbench: interrupted\n")
    sys.exit(130)

if TYPE_CHECKING:
    from workbench.sending.tool_answers import NamedHandler

OBJECTS_OF_A_COMMAND = 50_000
"""New objects between two garbage collections. Imports create no garbage; collecting would take 10 % of a start."""

OBJECTS_OF_A_START = 500_000
"""New objects before the first garbage collection of the app: high enough for none before the first frame.

It would take a fifth of that time and find nothing. After the first frame the app sets its own threshold.
"""

FAULTS_OF_THE_SYSTEM = frozenset(
    (errno.ENAMETOOLONG, errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.ELOOP)
)
"""File system errors reported as usage errors; any other exception that gets this far is a bug."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line (`sys.argv` by default) and return its exit code (`workbench.output.exit_codes`)."""
    if arguments is None:  # run as a program: skip the useless garbage collection at exit
        gc.set_threshold(OBJECTS_OF_A_COMMAND)
        atexit.register(gc.freeze)
    console.prepare()
    try:
        code = _run(list(sys.argv[1:] if arguments is None else arguments))
        console.flush()
        return code
    except CommandError as error:
        console.problem(error)
        return error.code
    except KeyboardInterrupt:
        console.problem("interrupted")
        return exit_codes.INTERRUPTED
    except BrokenPipeError:
        console.give_up()
        return exit_codes.BROKEN_PIPE
    except console.CannotWriteError as error:
        console.give_up()
        console.problem(f"standard output cannot be written: {error}")
        return exit_codes.USAGE
    except Exception as error:  # a wrong file, a file system error, or a bug, which is logged: print one line
        from adapters.errors import SignatureError
        from adapters.lm.config_file import ConfigError
        from adapters.lm.servers import ServersError
        from sessions.errors import SessionError
        from sessions.file import whole_files
        from sessions.model.variants import VariantError
        from sessions.source.project import SourceError
        from workbench.output import crash_log

        if isinstance(error, SessionError | VariantError | ConfigError | ServersError | SourceError):
            console.problem(error)
            return exit_codes.USAGE
        if isinstance(error, SignatureError):
            console.problem(f"the signature, {error}")
            return exit_codes.USAGE
        if isinstance(error, OSError) and error.filename and error.errno in FAULTS_OF_THE_SYSTEM:
            reason, hint = whole_files.explain(error)
            console.problem(f"{error.filename}: {reason}" + (f" ({hint})" if hint else ""))
            return exit_codes.USAGE

        log = crash_log.write(error)
        console.problem(f"internal error ({type(error).__name__}); please send us {log}")
        return exit_codes.INTERNAL


def _run(arguments: list[str]) -> int:
    if arguments and arguments[0] == "help":
        arguments = [*arguments[1:2], "--help"]
    if arguments and arguments[0] in SUMMARIES:
        name = arguments[0]
        try:
            options = parser_of(name).parse_args(arguments[1:])
        except SystemExit as end:  # --help
            return int(end.code or 0)
        _require_folder()
        if "session" in options:
            settle_session(options)
        require_reports(options)
        from adapters.lm.litellm_answers import asking

        with asking(), console.results_alone() if user_code.is_named_in(options) else nullcontext():
            code: int = load(name).run(options, *SCREENS.get(name, ()))
        return code
    if len(arguments) > 1 and not arguments[0].startswith("-"):
        _require_session(arguments[0])
    return _open_app(arguments)


def _show(screen: str, *arguments: Any) -> Any:
    """Show a screen of `workbench.tui.launch_screens`; commands do not import the app themselves."""
    from adapters.lm.litellm_answers import asking
    from workbench.tui import launch_screens

    with asking(waits=False):  # no key waits
        return getattr(launch_screens, screen)(*arguments)


SCREENS = {"review": (partial(_show, "run_review"),), "capture": (partial(_show, "show_calls"),)}
"""The functions that show a command's screen, by the command's name."""


def _open_app(arguments: list[str]) -> int:
    parser = _program_parser()
    try:
        options = parser.parse_args(arguments)
    except SystemExit as end:  # --help, --version
        return int(end.code or 0)
    _require_folder()
    if options.session is not None:
        _require_session(options.session)
    width, _, height = options.size.lower().partition("x")
    if not (width.isdecimal() and height.isdecimal() and 20 <= int(width) <= 1000 and 5 <= int(height) <= 1000):
        raise CommandError(f"--size {options.size}: give columns x rows between 20x5 and 1000x1000, e.g. 160x45")
    size = (int(width), int(height))
    if options.screenshot is None and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise CommandError("the app needs a terminal; in a script use a command, as in `workbench render SESSION`")
    gc.set_threshold(OBJECTS_OF_A_START)
    path, session = options.session, None
    if path is not None and (path.endswith(".py") or ".py:" in path) and Path(path).suffix != ".json":
        from workbench.cli.commands.new import program_session

        session, path = program_session(path), None
    if options.screenshot is not None:
        from workbench.tui import launch

        handlers = _handlers(path, options.handlers)
        picture = launch.take(path, size, tool_handlers=handlers, session=session, is_projected=options.projector)
        write_output(options.screenshot, picture)
        return exit_codes.OK
    from workbench.tui.launch import run_app

    return run_app(path, session, tool_handlers=_handlers(path, options.handlers), is_projected=options.projector)


def _handlers(session: str | None, named: Sequence[str]) -> dict[str, NamedHandler]:
    """Load the functions that answer the session's tools. Raises `CommandError` and `SessionError`."""
    if not named:
        return {}
    from sessions.file import store
    from workbench.sending import tool_answers

    if session is None:
        raise CommandError(
            f"--tool {named[0]}: of which session? Give its file in front, as in `workbench agent.session.json`"
        )
    return tool_answers.handlers(store.load(session), named)


def _program_parser() -> Parser:
    commands = "\n".join(f"  {name:<11} {summary}" for name, summary in SUMMARIES.items())
    parser = Parser(
        "workbench",
        "See every adapter's prompt, send it, see what the parser did with the reply,\n"
        "save it as a regression test. Without a command: opens the app on SESSION, by\n"
        "default on an example that needs no API key or network.\n\n"
        f"commands (`workbench COMMAND --help` teaches each):\n{commands}",
        "  workbench                                  the app, on an example\n"
        "  workbench app/qa.py:Answer                 the app, on a class of your program\n"
        "  workbench new 'question -> answer' -o q.session.json --input question='Is it raining?'\n"
        "  workbench render q.session.json                    the messages of chat, json and xml\n"
        "  workbench send q.session.json --save               run it, and record it\n"
        "  workbench check .                          has any prompt or parse result changed?\n\n"
        "exit codes: 0 fine · 1 drift, failed expectation or parse error ·\n"
        "  2 usage or invalid file · 3 provider error · 4 nothing found ·\n"
        "  130 interrupted · 70 internal error",
    )
    parser.add_argument("session", nargs="?", metavar="SESSION", help="a session to open, or FILE.py:Class")
    parser.option("--screenshot", "OUT.svg", "write a screenshot of the app as SVG and exit")
    parser.option("--size", "WxH", "size of the screenshot in cells (default 160x45)", default="160x45")
    parser.flag("--projector", "start in projector mode: large headings, one column at a time")
    parser.shared("tool")
    parser.add_argument("--version", action="version", version=f"adapter-workbench {__version__}")
    return parser


def _require_folder() -> None:
    """Raise `CommandError` if the current folder was deleted; most libraries fail with an obscure error."""
    try:
        os.getcwd()
    except FileNotFoundError:
        raise CommandError("the current folder no longer exists; go to one that does, as in `cd ~`") from None


def _require_session(name: str) -> None:
    """Raise `CommandError` unless `name` is a file or can become one: this catches mistyped commands."""
    program, _, class_name = name.rpartition(":")
    path = Path(program if program.endswith(".py") and class_name.isidentifier() else name)
    if path.exists():
        return
    near = nearest(name, SUMMARIES)
    if near is not None and "." not in name and os.sep not in name:
        raise CommandError(f"no command and no file {name!r}; did you mean `workbench {near}`?")
    if path.suffix == ".py" or name.endswith(os.sep):
        raise CommandError(f"{path}: no such file")
    raise CommandError(f"{name}: no such file; `workbench new SIGNATURE -o {shlex.quote(name)}` makes one")


if __name__ == "__main__":
    sys.exit(main())

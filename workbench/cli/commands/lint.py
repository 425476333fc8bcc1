"""`workbench lint`: find known problems of a session before sending it.

Report what reaches the model in an unexpected form, and what its reply is known
to fail on: by signature, values, adapter and model. Calls no model. An error
means that the call fails or a value is not sent, a warning that the model sees
or returns something other than given, an info that the form may surprise.
SESSION is a session file, or a folder of them. Exits 0; with --strict 1 if
there is an error or a warning.

examples:
  workbench lint q.session.json
  workbench lint q.session.json --model openai/gpt-6-luna     as if sent to this model
  workbench lint prompts/ --strict                            for CI
  workbench lint q.session.json --json | jq '.lints[] | {name, place, fixes}'
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from adapters.errors import SignatureError
from sessions.errors import SessionError, counted
from sessions.file.json_values import JSON
from sessions.running import linting
from workbench.checks import fixture_files
from workbench.cli import arguments, selection
from workbench.output import console, exit_codes, json_shapes
from workbench.output.display import LONGEST_NAME, one_line

Linted = list[tuple[Path, tuple[linting.Found, ...]]]
"""Session files with their lints."""
Problems = dict[Path, exit_codes.CommandError | SessionError | SignatureError]
"""Why files could not be linted."""
COLOURS = {"error": "red", "warning": "yellow", "info": "blue"}


def add_arguments(parser: arguments.Parser) -> None:
    parser.add_argument("sessions", nargs="+", metavar="SESSION", help="session files, or folders of them")
    arguments.add_columns(parser, default_case="every case")
    parser.shared("model")
    parser.flag("--strict", "exit 1 if there is an error or a warning")


def run(options: arguments.Options) -> int:
    files = fixture_files.find(options.sessions)
    linted, problems = lints_of_files(files, options.adapters, options.case, options.model)
    if problems and len(files) == 1:
        raise problems[files[0]]
    codes = tell_of_problems(problems)
    if options.json:
        console.json(shape_of(linted) | {"errors": errors_of(problems)})
    elif linted:
        write(linted)
        counts = Counter[str]([one.lint.severity for _, found in linted for one in found])
        told = [counted(counts[name], name) for name in linting.SEVERITIES if counts[name]]
        told = told or ["no lints"]
        if problems:
            told.append(f"{counted(len(problems), 'file')} not linted")
        console.text(", ".join(told))
    if options.strict:
        codes.append(strict_code(linted))
    return exit_codes.worst(codes)


def lints_of_files(
    files: Sequence[Path], adapters: Sequence[str] = (), case: str | None = None, model: str | None = None
) -> tuple[Linted, Problems]:
    """Find the lints of session files, in every case unless one is named, and why files have none."""
    linted: Linted = []
    problems: Problems = {}
    for file in files:
        try:
            chosen = selection.select(str(file), adapters, case, model, every_case=True)
            cases = chosen.session.cases if case is None else (chosen.case,)
            found = linting.lints_of_session(chosen.session, chosen.columns, cases, chosen.allow_code)
        except (exit_codes.CommandError, SessionError, SignatureError) as error:
            problems[file] = error
        else:
            linted.append((file, found))
    return linted, problems


def errors_of(problems: Problems) -> list[JSON]:
    """Return the documented JSON of why files could not be linted."""
    return [{"path": str(file), "message": str(error)} for file, error in problems.items()]


def tell_of_problems(problems: Problems) -> list[int]:
    """Report why files could not be linted; return an exit code for each."""
    for file, error in problems.items():
        named = str(error) if isinstance(error, SessionError) else f"{file}: {error}"
        console.problem(named)
    return [one.code if isinstance(one, exit_codes.CommandError) else exit_codes.USAGE for one in problems.values()]


def strict_code(linted: Linted) -> int:
    """Return the exit code with which any error or warning fails."""
    is_clean = all(one.lint.severity == "info" for _, found in linted for one in found)
    return exit_codes.OK if is_clean else exit_codes.DIFFERENT


def shape_of(linted: Linted) -> dict[str, JSON]:
    """Shape `lint --json`, which `check --lint --json` includes."""
    shapes: list[JSON] = []
    for file, found in linted:
        for one in found:
            columns, cases = list[JSON](one.columns), list[JSON](one.cases)
            shapes.append({"session": str(file), **json_shapes.lint(one.lint), "columns": columns, "cases": cases})
    return {"lints": shapes}


def write(linted: Linted) -> None:
    """Print each lint with its place, its columns and its fixes."""
    for file, found in linted:
        if found:
            console.heading(str(file), "bold")
        for lint, ids, names in found:
            cases = [*names] if len(names) == 1 and lint.place.part in ("input", "history") else []
            where = ", ".join([one_line(one, LONGEST_NAME) for one in (*ids, *cases)])
            told = f"{lint.severity}: {lint.name} at {lint.place}  ({where})"
            console.heading(f"  {told}", COLOURS[lint.severity])
            console.text(f"    {lint.message}")
            for fix in lint.fixes:
                console.text(f"    fix: {fix.message}")

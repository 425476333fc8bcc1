"""`workbench dspy`: manage other releases of dspy in separate environments, for columns and checks.

Keeps releases of dspy beside the workbench, each in a separate environment in
your data folder. Use an added release as a column: chat@3.0.4 is the Chat
adapter of that very dspy, which renders and parses in a separate process.

add VERSION     install it with uv if available, else with venv and pip; uses
                the index and constraints of your pip configuration
use PYTHON      use the dspy of your own environment, which stays unchanged
use project     use the dspy of the environment of the project in this folder
list            show the added releases, and the dspy of the project
remove VERSION  delete it; your own environment is only forgotten

Exits 0; 2 if the release or Python cannot be used; 3 without a network.

examples:
  workbench dspy add 3.0.4
  workbench dspy add 2.6.27 --python python3.12
  workbench dspy use ../old/.venv/bin/python
  workbench dspy use project
  workbench dspy list --json | jq -r .releases[].version
  workbench render q.session.json --adapter chat chat@3.0.4
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

from sessions.releases import environments, project
from sessions.releases.installing import CannotAddError
from workbench.cli.arguments import Options, Parser, cleaned_up
from workbench.output import console, display, exit_codes
from workbench.output.exit_codes import CommandError

ACTIONS = ("list", "add", "use", "remove")
PROJECT = "project"


def add_arguments(parser: Parser) -> None:
    parser.add_argument("action", choices=ACTIONS, nargs="?", default="list", help="what to do")
    parser.add_argument("name", nargs="?", metavar="NAME", help="a release, as 3.0.4; of use, a Python")
    parser.option("--python", "PYTHON", "of add: the Python to make the environment from")


def run(options: Options) -> int:
    action, name = options.action, options.name
    if options.python is not None and action != "add":
        raise CommandError("--python goes with add; `workbench dspy use PYTHON` uses the dspy of your own environment")
    if action == "list":
        if name is not None:
            raise CommandError("list takes no name; `workbench dspy add 3.0.4` adds a release")
        return _list(options)
    if name is None:
        raise CommandError(f"{action} needs {'a Python' if action == 'use' else 'a release, such as 3.0.4'}")
    try:
        if action == "remove":
            if not environments.remove(name):
                there = ", ".join([one.version for one in environments.added()]) or "none"
                raise CommandError(f"no dspy {display.one_line(name, 40)} was added; there is {there}")
            console.result(options.json, {"removed": name}, f"removed dspy {name}")
            return exit_codes.OK
        if action == "add":
            line = console.StatusLine()
            try:
                with cleaned_up():
                    found = environments.add(name, partial(_tell, line), options.python or sys.executable)
            finally:
                line.clear()
        else:
            found = environments.use(_project_python() if name == PROJECT else name)
    except CannotAddError as error:
        raise CommandError(
            str(error), exit_codes.PROVIDER if error.reason == "network" else exit_codes.USAGE
        ) from error
    said = f"added dspy {found.version}: use it as a column, chat@{found.version}"
    console.result(options.json, _shape(found), said)
    return exit_codes.OK


def _project_python() -> str:
    """Return the Python of the project's environment. Raises CommandError if there is none."""
    found = project.find(Path.cwd())
    if found is None:
        raise CommandError(
            f"no environment, lock file or requirements here names a dspy; searched from {Path.cwd()} up"
        )
    if found.python is None:
        add = f"`workbench dspy add {found.version}` adds it"
        raise CommandError(
            f"{os.path.relpath(found.source)} names dspy {found.version}, but no environment here has it; {add}"
        )
    return found.python


def _list(options: Options) -> int:
    found, own = environments.added(), project.find(Path.cwd())
    if options.json:
        shape = own and {"version": own.version, "source": os.path.relpath(own.source), "python": own.python}
        console.json({"releases": [_shape(one) for one in found], "project": shape})
        return exit_codes.OK
    if own is not None:
        there = environments.find(own.version)
        if there is not None and there.is_there:
            fix = f"use it as a column, chat@{own.version}"
        else:
            fix = f"`workbench dspy {'use project' if own.python else f'add {own.version}'}` makes it a column"
        console.message(f"this project has dspy {own.version} ({os.path.relpath(own.source)}); {fix}")
    if not found:
        console.message("no release of dspy was added; `workbench dspy add 3.0.4` adds one")
    for one in found:
        whose = "made here" if one.is_own else "yours"
        gone = "" if one.is_there else f"  not found: `workbench dspy add {one.version}` adds it"
        console.text(f"{one.version:<10} {whose:<10} {one.python}{gone}")
    return exit_codes.OK


def _shape(one: environments.Environment) -> dict[str, object]:
    return {"version": one.version, "python": one.python, "own": one.is_own, "is_there": one.is_there}


def _tell(line: console.StatusLine, step: str) -> None:
    """Show a step of the installation; without a terminal only the steps that matter."""
    if console.is_terminal(sys.stderr):
        line.show(step)
    elif not step.startswith((" ", "Collecting", "Downloading")):
        console.message(display.one_line(step, 76))

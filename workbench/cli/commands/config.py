"""`workbench config`: show the current settings and where each comes from.

Prints every setting, its value, and whether that is the default, the config
file's (with the line) or a variable's. Names each mistake in the file with its
line, including the keys of the app.

examples:
  workbench config
  workbench config --example > ~/.config/adapter-workbench/config.toml
  workbench config --keys | grep -i send
  workbench config --json | jq .settings.theme
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from workbench.cli.arguments import Options, Parser
from workbench.config import settings
from workbench.output import console, exit_codes

BEFORE = "servers.json"
"""The former name of the config file, which held only servers."""


def add_arguments(parser: Parser) -> None:
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--example", action="store_true", help="a config file with every setting, commented out")
    what.add_argument("--keys", action="store_true", help="every key of the app, with the id that [keymap] takes")


def run(options: Options) -> int:
    if options.example:
        text = settings.example()
        console.result(options.json, {"example": text}, text, end="")
        return exit_codes.OK
    found = settings.load()
    known = _keys_of_app(found) if options.keys or found.settings.keymap else {"problems": [], "keys": []}
    problems = [f"{_place(found, said)}: keymap: {said}" for said in known["problems"]]
    if options.keys and options.json:
        console.json({"keys": known["keys"], "problems": problems})
    elif options.keys:
        for one in known["keys"]:
            console.text(f"{one['id']:<28} {one['keys']:<24} {one['about']}")
    elif options.json:
        origins = {
            name: {"value": getattr(found.settings, name), "source": one.source, "place": one.place or None}
            for name, one in found.origins.items()
        }
        shape = {"path": found.file.path and str(found.file.path), "exists": found.file.exists, "settings": origins}
        console.json({**shape, "problems": problems})
    else:
        path = found.file.path
        if path is None:
            console.message("there is no home folder to have a config file in")
        elif not found.file.exists:
            console.message(f"{path}: not there; `workbench config --example` prints one to begin with")
        else:
            console.message(f"config file: {path}")
        if path is not None and path.with_name(BEFORE).is_file():
            console.message(
                f"{path.with_name(BEFORE)} is no longer read: its servers belong in [servers] of {path.name}"
            )
        for name, origin in found.origins.items():
            value = settings.shown(getattr(found.settings, name))
            places = {"environment": f"${origin.place}", "file": f"config.toml:{origin.place.rpartition(':')[2]}"}
            console.text(f"{name:<16} {value:<32} {places.get(origin.source, 'default')}")
    for one in problems:
        console.problem(one)
    return exit_codes.USAGE if problems else exit_codes.OK


def _keys_of_app(found: settings.InForce) -> dict[str, Any]:
    """Ask a child process for the app's keys and problems with the user's."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "workbench.tui.keys"],
        input=json.dumps(dict(found.settings.keymap)),
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise exit_codes.CommandError(f"the keys of the app could not be listed: {done.stderr.strip()[-300:]}")
    known: dict[str, Any] = json.loads(done.stdout)
    return known


def _place(found: settings.InForce, said: str) -> str:
    id = next((one for one in found.settings.keymap if one in said), None)
    quoted = found.file.data.get("keymap", {})
    keys = () if id is None else (id,) if id in quoted else tuple(id.split("."))
    return found.file.place_of("keymap", *keys)

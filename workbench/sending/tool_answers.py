"""Answer tool calls with functions named on the command line, or by asking the user at the terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from adapters.late_dataclasses import dataclass
from sessions.model.session import Session, Tool
from workbench.config import user_code
from workbench.output import console
from workbench.output.exit_codes import CommandError, no_such


@dataclass(frozen=True)
class NamedHandler:
    """A user's function; `place` is its `module:function` name."""

    place: str
    function: Callable[..., Any]

    def __call__(self, /, **arguments: Any) -> Any:
        return self.function(**arguments)


def handlers(session: Session, named: Iterable[str]) -> dict[str, NamedHandler]:
    """Import the functions of `--tool NAME=module:function`; return them by tool. Raises `CommandError`.

    Functions are imported only from the command line, never because a session names them.
    """
    found: dict[str, NamedHandler] = {}
    names = [tool.name for tool in session.tools]
    for given in named:
        name, _, place = given.partition("=")
        module, _, function = place.partition(":")
        if not (name and module and function):
            raise CommandError(f"--tool {given}: write NAME=module:function, e.g. search=my_tools:search")
        if name not in names:
            raise CommandError(f"--tool {given}: {no_such('tool', name, names)}")
        found[name] = NamedHandler(place, user_code.function(place, f"--tool {given}", "my_tools:search"))
    return found


def ask(tool: Tool, arguments: Mapping[str, Any]) -> Any:
    """Ask at the terminal for the result of a call, as JSON or plain text."""
    shown = json.dumps(dict(arguments), ensure_ascii=False, default=str)
    console.message(f"\nthe model calls {tool.name}({shown}); type the result (JSON or text):")
    line = sys.stdin.readline()
    if not line:
        raise LookupError("nobody answered")
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return line.rstrip("\n")

"""The commands, one module each with a docstring, `add_arguments(parser)` and `run(options)`.

The docstring, below its first line, is the text of `--help`; the examples follow a line `examples:`. Where Python drops
docstrings (`-OO`), the summary stands for it. `--json` comes last in every command.
"""

from __future__ import annotations

import importlib
import keyword
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from workbench.cli.arguments import Parser

SUMMARIES: Mapping[str, str] = MappingProxyType(
    {
        "new": "make a session from a signature string or a .py file",
        "render": "print each adapter's messages, without a call",
        "lint": "find known problems before sending",
        "send": "send to the model and show parsed replies; --save records",
        "bench": "run every case in every column and compare with statistics",
        "record": "record prompt, last reply and parse result for check",
        "parse": "parse a reply: verdict, values, spans, steps, flags",
        "stress": "stress-test parsers with damaged replies",
        "check": "check whether a recorded prompt or parse result changed",
        "upgrade": "preview the effects of another dspy, model or adapter",
        "review": "review drift by cause; accept or reject",
        "pull": "update sessions from the linked program",
        "push": "write a session's signature back to the program",
        "merge": "merge two versions of a session (git merge driver)",
        "runs": "search everything that was sent, or clear it",
        "suggest": "ask a model to rewrite a text; --take saves a variant",
        "diff": "compare two sessions, or one session under two adapters",
        "capture": "run a program and save its dspy calls as sessions",
        "import": "import demos, dspy programs, calls and conversations",
        "export": "export a page, dspy source, curl and more",
        "config": "show settings and where each comes from",
        "completions": "print a completion script for bash, zsh or fish",
        "dspy": "install other releases of dspy to use as columns",
        "serve": "serve the app in the browser, for a class",
        "models": "list models and the API key each needs",
    }
)
"""Every command with its summary, in the order of work. The module is `workbench.cli.commands.NAME`."""


def load(name: str) -> Any:
    """Import the module of a command. `import` is a Python keyword, so its module is `import_`."""
    return importlib.import_module(f"workbench.cli.commands.{name}{'_' * keyword.iskeyword(name)}")


def parser_of(name: str) -> Parser:
    """Make the parser of a command, which has `--json`."""
    module = load(name)
    text = (module.__doc__ or f"\n\n{SUMMARIES[name]}").partition("\n\n")[2].rstrip()
    description, _, examples = text.partition("\n\nexamples:\n")
    parser = Parser(f"workbench {name}", description, examples)
    module.add_arguments(parser)
    if name != "capture":  # its option of this name takes a file
        parser.shared("json")
    return parser

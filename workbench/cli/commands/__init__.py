"""The command line, one file a command: `DESCRIPTION`, `EXAMPLES`, `add_arguments(parser)` and `run(options)`."""

from __future__ import annotations

import importlib
import keyword
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

SUMMARIES: Mapping[str, str] = MappingProxyType(
    {
        "new": "make a session from a signature string or a .py file",
        "render": "the messages each adapter makes; calls nothing",
        "send": "run it, and show what the parser did; --save keeps it",
        "bench": "every case under every column: which one wins, and is it certain?",
        "record": "freeze prompt, last reply and its reading, for check",
        "parse": "read a reply: verdict, values, spans, steps, flags",
        "stress": "break good replies; which parser survives them?",
        "check": "has any recorded prompt or reading changed?",
        "upgrade": "what another dspy, model or adapter would change",
        "review": "what drifted by its cause; accept one, or all",
        "pull": "the program's text of a signature into its sessions",
        "push": "a session's signature back into its program",
        "merge": "two changes of a session in one, for git",
        "suggest": "ask a model for another wording; kept as a variant if taken",
        "diff": "compare two sessions, or one under two adapters",
        "capture": "run a program; its calls through dspy become sessions",
        "import": "demos, dspy programs, calls and conversations as a session",
        "export": "one page that opens from disk; dspy source, curl and more",
        "config": "what is set, and from where",
        "completions": "a script for bash, zsh or fish",
        "dspy": "other releases of dspy, installed beside, as columns",
        "serve": "the app in the browser, for a class",
        "models": "what can be chosen as --model, and which key it needs",
    }
)
"""Every command and what it does, in the order of work. `workbench.cli.commands.NAME` holds each."""


def load(name: str) -> Any:
    """The module of a command. `import` is a word of Python's, so its module has an underscore behind the name."""
    return importlib.import_module(f"workbench.cli.commands.{name}{'_' * keyword.iskeyword(name)}")

"""The docstrings of dspy's types, which reach the model as descriptions in JSON schemas and in BAML's comments.

They are kept as data (with dspy's MIT licence) so that the prompt is dspy's to the byte, while what this project says
about its own code stays in its own words.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType

NOTICE = "Experimental: "
"""What dspy's decorator `experimental` puts, when a module is run, before a docstring that is compiled by then."""


def compiled_docstring(docstring: str) -> str:
    """A docstring as Python 3.13 and later keep it: tabs as spaces, and without the lines' common indentation."""
    first, *rest = docstring.expandtabs().split("\n")
    margin = min((len(line) - len(line.lstrip(" ")) for line in rest if line.strip(" ")), default=0)
    return "\n".join([first.lstrip(" "), *(line[margin:] for line in rest)])


def _docstring_here(text: str) -> str:
    if sys.version_info < (3, 13):
        return text
    if text.lstrip(" ").startswith(NOTICE):
        notice, _, docstring = text.partition("\n\n")
        return f"{notice.lstrip(' ')}\n\n{compiled_docstring(docstring)}"
    return compiled_docstring(text)


def _load() -> dict[str, str]:
    data = json.loads(files("adapters.types").joinpath("schema_texts.json").read_text(encoding="utf-8"))
    return {name: _docstring_here("\n".join(lines)) for name, lines in data["texts"].items()}


SCHEMA_TEXTS: Mapping[str, str] = MappingProxyType(_load())
"""The `__doc__` of each of dspy 3.4.1's types that has one, by qualified name, as dspy has it under this Python."""

"""Read the parts of a system message that describe fields, as dspy's adapters write them."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from adapters.prompts.field_descriptions import NOTE

INPUTS = "Your input fields are:\n"
OUTPUTS = "Your output fields are:\n"
OBJECTIVE = "In adhering to this structure, your objective is: "
_ENDS = ("Your output fields are:", "Your outputs must contain:", "All interactions will be")


class ListedField(NamedTuple):
    """An item of the numbered list of fields; `description` may have several lines, the last ones its constraints."""

    name: str
    type_text: str
    description: str


def listed_fields(system: str, heading: str) -> list[ListedField]:
    """Find the fields in the numbered list under `heading`."""
    start = system.find(heading)
    if start < 0:
        return []
    found: list[ListedField] = []
    for line in system[start + len(heading) :].split("\n"):
        item = re.match(rf"{len(found) + 1}\. `(\w+)` \(", line)
        if item:
            type_text, rest = _closed(line[item.end() :])
            found.append(ListedField(item.group(1), type_text, rest.removeprefix(":").removeprefix(" ")))
        elif line.startswith(_ENDS):
            break
        elif found and not line.startswith("You should lay out your outputs"):
            found[-1] = found[-1]._replace(description=f"{found[-1].description}\n{line}")
        elif found:
            break
    return found


def _closed(text: str) -> tuple[str, str]:
    """Split the text at the bracket that closes an already open one; quotes are respected."""
    depth, quote = 1, ""
    for place, char in enumerate(text):
        if quote:
            quote = "" if char == quote and text[place - 1] != "\\" else quote
        elif char in "'\"":
            quote = char
        elif char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
            if depth == 0:
                return text[:place], text[place + 1 :]
    return text.partition(")")[0], text.partition(")")[2]


def type_note(name: str, system: str) -> str | None:
    """Find the note on an output's type in the structure section, in plain text or inside its JSON object."""
    mark = f"{{{name}}}{NOTE}"
    start = system.rfind(mark)
    if start < 0:
        return None
    line = system[start:].split("\n", 1)[0]
    if system[start - 1 : start] == '"':
        try:
            line = json.JSONDecoder().raw_decode(system[start - 1 :])[0]
        except ValueError:
            return None
    return line[len(mark) :]


def simplified_type(name: str, system: str) -> str | None:
    """Find an output's type as the BAML adapter writes it."""
    end = r"(?=\n\n\[\[ ## \w+ ## \]\]|\nIn adhering to this|\Z)"
    found = re.search(rf"Output field `{re.escape(name)}` should be of type: (.*?){end}", system, re.DOTALL)
    return found.group(1) if found else None

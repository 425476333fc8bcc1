"""The slips of small models, in each format. Which of them a reply has depends on its messages alone."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from adapters.lm.offline.replies import unescaped
from adapters.lm.offline.source import choose
from adapters.lm.offline.task import Task
from adapters.lm.offline.writing import Outputs, as_json, inside, plain, write

Slip = Callable[[Task, Outputs], str]


def malformed(task: Task, outputs: Outputs, seed: str) -> str:
    """The reply with one slip of its format."""
    slips = _SLIPS.get(task.format, _PROSE)
    return slips[choose(seed, len(slips))](task, outputs)


def single_quotes(task: Task, outputs: Outputs) -> str:
    return repr(_plain_python(inside(task, outputs)))


def trailing_comma(task: Task, outputs: Outputs) -> str:
    return re.sub(r"(?<=[\w\"\]}])\n(\s*[}\]])", r",\n\1", as_json(inside(task, outputs)))


def bare_keys(task: Task, outputs: Outputs) -> str:
    return re.sub(r'^(\s*)"([A-Za-z_]\w*)":', r"\1\2:", as_json(inside(task, outputs)), flags=re.MULTILINE)


def comments(task: Task, outputs: Outputs) -> str:
    return as_json(inside(task, outputs)).replace("{\n", "{\n  // the fields that were asked for\n", 1)


def unclosed(task: Task, outputs: Outputs) -> str:
    return as_json(inside(task, outputs)).removesuffix("}").removesuffix("]").rstrip()


def quoted_choices(task: Task, outputs: Outputs) -> str:
    """Strings in quotes, lists as Python prints them."""
    return write(task, {name: _quoted(value) for name, value in outputs.items()})


def lower_booleans(task: Task, outputs: Outputs) -> str:
    """JSON's true and null where Python's True and None were shown, and choices in capitals."""
    chosen = {one.name for one in task.wanted if "enum" in one.schema}

    def slip(name: str, value: Any) -> Any:
        if isinstance(value, bool) or value is None:
            return json.dumps(value)
        return value.capitalize() if name in chosen and isinstance(value, str) else value

    return write(task, {name: slip(name, value) for name, value in outputs.items()})


def no_last_marker(task: Task, outputs: Outputs) -> str:
    """No `completed`, so that a closing remark becomes part of the last value."""
    text = write(task, outputs).replace("[[ ## completed ## ]]", "").rstrip()
    return f"{text}\n\nThat should cover it."


def bare_ampersand(task: Task, outputs: Outputs) -> str:
    text = write(task, outputs)
    bare = unescaped(text)
    if bare == text:
        bare = text.replace(" and ", " & ", 1)
    return bare if bare != text else f"{text}\nQ & A complete."


def unclosed_tag(task: Task, outputs: Outputs) -> str:
    return re.sub(r"\n?</\w+>\Z", "", write(task, outputs).rstrip())


def run_on(task: Task, outputs: Outputs) -> str:
    """Everything in one paragraph, the names in passing."""
    return " ".join(f"The {name.replace('_', ' ')} is {plain(value)}." for name, value in outputs.items())


_PROSE: Sequence[Slip] = (run_on,)
_SLIPS: dict[str, Sequence[Slip]] = {
    "json": (single_quotes, trailing_comma, bare_keys, comments, unclosed),
    "block": (single_quotes, trailing_comma, bare_keys, unclosed),
    "chat": (quoted_choices, lower_booleans, no_last_marker),
    "xml": (bare_ampersand, unclosed_tag, quoted_choices),
}


def _quoted(value: Any) -> Any:
    if isinstance(value, str):
        return f'"{value}"'
    return repr(_plain_python(value)) if isinstance(value, list | dict) else value


def _plain_python(value: Any) -> Any:
    """Subclasses of str print like str."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, dict):
        return {str(key): _plain_python(one) for key, one in value.items()}
    return [_plain_python(one) for one in value] if isinstance(value, list) else value

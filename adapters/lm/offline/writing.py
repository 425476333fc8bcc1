"""Outputs written as the prompt asks for them, or with a slip of small models, which the messages alone decide."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adapters.lm.offline.replies import unescaped
from adapters.lm.offline.source import choose
from adapters.lm.offline.task import Task, WantedOutput


class Raw(str):
    """Text that stands in the reply as it is: it comes from an example in the same format."""


Outputs = Mapping[str, Any]


def write(task: Task, outputs: Outputs) -> str:
    """The reply that gives `outputs`, in the task's format and in its order."""
    if task.format == "chat":
        return chat(task, outputs)
    if task.format == "json":
        return as_json(dict(outputs))
    if task.format == "xml":
        return xml(task, outputs)
    if task.format == "block":
        return f"```json\n{as_json(inside(task, outputs))}\n```"
    if task.format == "prose":
        return "\n\n".join(f"{name}: {value}" for name, value in outputs.items())
    return "\n\n".join(str(value) for value in outputs.values())


def inside(task: Task, outputs: Outputs) -> Any:
    """What stands in the JSON: the outputs by name, or the one output itself."""
    return next(iter(outputs.values()), None) if task.as_array else dict(outputs)


def chat(task: Task, outputs: Outputs) -> str:
    sections = [f"[[ ## {name} ## ]]\n{plain(value)}" for name, value in outputs.items()]
    return "\n\n".join([*sections, "[[ ## completed ## ]]"]) + "\n"


def xml(task: Task, outputs: Outputs) -> str:
    by_name = {one.name: one for one in task.wanted}
    return "\n\n".join(_xml_field(name, value, by_name.get(name)) for name, value in outputs.items())


def _xml_field(name: str, value: Any, wanted: WantedOutput | None) -> str:
    if isinstance(value, Raw) and value.startswith(f"<{name}"):
        return str(value)
    if wanted is not None and wanted.template is not None and isinstance(value, dict | list):
        from adapters.formats.xml import value_to_xml  # loads pydantic: none of the first picture

        return value_to_xml(value, name)
    return f"<{name}>\n{_escaped(plain(value))}\n</{name}>"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def as_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def plain(value: Any) -> str:
    """A value as the text of a field: strings bare, True and None as Python has them, the rest as JSON."""
    if isinstance(value, str):
        return str(value)
    if value is None or isinstance(value, bool | int | float):
        return str(value)
    return json.dumps(value, ensure_ascii=False)


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

"""Outputs written as the prompt asks for them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

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

"""Outputs written as the prompt asks for them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from adapters.lm.offline.task import Task, Wanted


class Raw(str):
    """Text that stands in the reply as it is: it comes from an example in the same format."""


Outputs = Mapping[str, Any]


def write(task: Task, outputs: Outputs) -> str:
    """The reply that gives `outputs`, in the task's format and in its order."""
    if task.format == "chat":
        return chat(task, outputs)
    if task.format == "json":
        return json.dumps(dict(outputs), indent=2, ensure_ascii=False)
    if task.format == "xml":
        return xml(task, outputs)
    if task.format == "block":
        return f"```json\n{json.dumps(inside(task, outputs), indent=2, ensure_ascii=False)}\n```"
    if task.format == "prose":
        return "\n\n".join(f"{name}: {prose(value)}" for name, value in outputs.items())
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


def _xml_field(name: str, value: Any, wanted: Wanted | None) -> str:
    if isinstance(value, Raw) and value.startswith(f"<{name}"):
        return str(value)
    if wanted is not None and wanted.template is not None and isinstance(value, dict | list):
        return element(name, value)
    return f"<{name}>\n{escaped(plain(value))}\n</{name}>"


def element(tag: str, value: Any, key: str | None = None) -> str:
    """A value as nested elements; keys that are no names go into `<entry key="…">`."""
    attribute = ""
    if key is not None:
        from xml.sax.saxutils import (
            quoteattr,
        )  # loads what asks over HTTP: none of the first picture

        attribute = f" key={quoteattr(key)}"
    if isinstance(value, list):
        inner = "".join(element("item", one) for one in value)
    elif isinstance(value, dict):
        inner = "".join(
            element(name, one) if str(name).isidentifier() else element("entry", one, str(name))
            for name, one in value.items()
        )
    elif value is None:
        return f"<{tag}{attribute} />"
    else:
        inner = escaped(plain(value))
    return f"<{tag}{attribute}>{inner}</{tag}>"


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def plain(value: Any) -> str:
    """A value as the text of a field: strings bare, True and None as Python has them, the rest as JSON."""
    if isinstance(value, str):
        return str(value)
    if value is None or isinstance(value, bool | int | float):
        return str(value)
    return json.dumps(value, ensure_ascii=False)


def prose(value: Any) -> str:
    """A value laid out for another reader."""
    return str(value) if not isinstance(value, str) else value

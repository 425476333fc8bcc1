"""Plain JSON values as nested XML tags, as dspy's XMLAdapter writes them."""

from __future__ import annotations

from functools import lru_cache


def value_to_xml(value: object, tag: str, key: str | None = None) -> str:
    """Write a JSON value as nested tags; keys that are not valid tag names become `<entry key=…>`."""
    attributes = ""
    if key is not None:
        from xml.sax.saxutils import (
            quoteattr,
        )  # loads what asks over HTTP: none of the first picture

        attributes = f" key={quoteattr(key)}"
    if isinstance(value, list):
        children = "".join([value_to_xml(one, "item") for one in value])
        return f"<{tag}{attributes}>{children}</{tag}>" if children else f"<{tag}{attributes} />"
    if isinstance(value, dict):
        parts = []
        for name, child in value.items():
            text = str(name)
            parts.append(value_to_xml(child, text) if _is_tag(text) else value_to_xml(child, "entry", text))
        return f"<{tag}{attributes}>{''.join(parts)}</{tag}>"
    if value is None:
        return f"<{tag}{attributes} />"
    return f"<{tag}{attributes}>{str(value).replace('&', '&amp;').replace('<', '&lt;')}</{tag}>"


@lru_cache(maxsize=4096)
def _is_tag(name: str) -> bool:
    return (name[:1] + name[1:].replace("-", "_").replace(".", "_")).isidentifier()

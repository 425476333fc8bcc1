"""HTML as a tree of elements. Writing it escapes text, so no text can become markup.

    tag("td", {"class": "good"}, "1 < 2", tag("b", {}, name))

There is no way to hand over markup as text: what is not an `Element` is text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_NAME = re.compile(r"[a-z][a-z0-9-]*")
_EMPTY = frozenset({"br", "hr", "col", "meta", "input"})
"""Elements that have no end."""
_ATTRIBUTES = frozenset(
    {
        *("class", "id", "title", "lang", "dir", "scope", "colspan", "open", "href", "name", "content", "hidden"),
        *("type", "value", "checked", "selected", "for", "role", "tabindex"),
    }
)
"""What elements may say of themselves: nothing that runs, and no style of their own."""

# What HTML cannot hold or browsers replace; shown instead of hidden.
_IMPOSSIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
# Characters that turn the direction of what follows, or show nothing at all.
_TURNING = re.compile("[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


@dataclass(frozen=True)
class Element:
    """An element with its attributes and children."""

    name: str
    attributes: Mapping[str, str]
    children: tuple[Element | str, ...]


def tag(name: str, attributes: Mapping[str, str], *children: Element | str) -> Element:
    """An element. Raises ValueError for a name that is none, an attribute that is not known, and an address that is not
    a place on the same page."""
    if _NAME.fullmatch(name) is None or name in ("script", "style", "iframe", "object", "embed", "base", "link"):
        raise ValueError(f"{name!r} is no element of a page's body")
    for key, value in attributes.items():
        if key not in _ATTRIBUTES and not re.fullmatch(r"aria-[a-z]+|data-[a-z]+", key):
            raise ValueError(f"{key!r} is no attribute that an element may have")
        if key == "href" and not value.startswith("#"):
            raise ValueError("an address may only be a place on the same page, #…")
    return Element(name, attributes, children)


def escaped(content: str) -> str:
    """Escape text of others character by character: nothing in it is markup, hidden, or reversed."""
    shown = _IMPOSSIBLE.sub(lambda match: _visible(match[0]), content)
    shown = _TURNING.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", shown)
    return shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _visible(character: str) -> str:
    code = ord(character)
    return chr(0x2400 + code) if code < 0x20 else f"⟨U+{code:04X}⟩"


def written(element: Element | str) -> str:
    """The tree as HTML."""
    return "".join(_pieces(element))


def _pieces(element: Element | str) -> Iterator[str]:
    if isinstance(element, str):
        yield escaped(element)
        return
    said = "".join(f' {key}="{_attribute(value)}"' for key, value in element.attributes.items())
    yield f"<{element.name}{said}>"
    if element.name in _EMPTY:
        return
    if element.name == "pre":
        yield "\n"  # the parser drops one line break there: ours, not the text's
    for child in element.children:
        yield from _pieces(child)
    yield f"</{element.name}>"


def _attribute(value: str) -> str:
    return escaped(value).replace('"', "&quot;").replace("\n", "&#10;")

"""One guess at what a reply was meant to be, and how names that were written otherwise are recognised."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from adapters.signatures.signature import Signature


class Guess(NamedTuple):
    """What was probably meant, in words, and the reply so mended."""

    message: str
    mended: str


def names_by_sound(signature: Signature) -> dict[str, str]:
    """The output fields by their names without case, spaces, hyphens and underscores."""
    return {sound(name): name for name in signature.output_fields}


def sound(name: str) -> str:
    return re.sub(r"[\s_\-]+", "", name).casefold()


def as_text(value: Any) -> str:
    """A JSON value as the text of a section."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def as_json(values: Mapping[str, Any]) -> str:
    return json.dumps(dict(values), ensure_ascii=False, indent=2)


def as_sections(values: Mapping[str, Any]) -> str:
    """A reply in Chat's format."""
    return "".join(f"[[ ## {name} ## ]]\n{as_text(value)}\n\n" for name, value in values.items()) + (
        "[[ ## completed ## ]]\n"
    )


def as_tags(values: Mapping[str, Any]) -> str:
    """A reply in XML's format, its values as escaped text."""
    return "\n\n".join(f"<{name}>\n{escaped(as_text(value))}\n</{name}>" for name, value in values.items())


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("]]>", "]]&gt;")

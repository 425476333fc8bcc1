"""Reads a signature in either notation, the string `"question -> answer"` or Python source. Neither is run."""

from __future__ import annotations

import re
from functools import lru_cache

from adapters.errors import SignatureError
from adapters.signatures.read.source import SourceModule
from adapters.signatures.read.source_text import SourceText, check_size
from adapters.signatures.read.strings import read_string
from adapters.signatures.signature import Signature
from adapters.signatures.write.source_writer import to_source

_SOURCE_LINE = re.compile(
    r"^[ \t]*(?:class[ \t]+\w+[ \t]*[(:\[]|import[ \t]+\w|from[ \t]+[\w.]+[ \t]+import\b"
    r"|(?:async[ \t]+)?def[ \t]+\w+[ \t]*\(|@\w|type[ \t]+\w+[ \t]*=|(?:if|try|with|for)\b[^\n]*:[ \t]*$)",
    re.MULTILINE,
)
_SIGNATURE_CALL = re.compile(r"\bSignature[ \t]*\(")


def is_source(text: str) -> bool:
    """Test whether `text` is meant as Python source rather than as the string notation."""
    return bool(_SOURCE_LINE.search(text) or _SIGNATURE_CALL.search(text)) or (
        "->" not in text and "\n" in text.strip()
    )


def read(text: str, class_name: str | None = None) -> Signature:
    """Read a signature in either notation; returns the same object for the same arguments.

    `class_name` chooses among the signatures of a source; without it there must be exactly one. Raises SignatureError
    with the line and column of the error, never anything else.
    """
    return _read(text, class_name)


@lru_cache(maxsize=256)
def _read(text: str, class_name: str | None) -> Signature:
    try:
        if not is_source(text):
            if class_name is not None:
                raise SignatureError(f"there is no class {class_name} in the string notation")
            return read_string(text)
        return SourceModule(_parsed(text)).signature(class_name)
    except RecursionError:
        raise SignatureError("nested too deeply") from None


@lru_cache(maxsize=256)
def class_names(text: str) -> tuple[str, ...]:
    """The signatures in a Python source, by name and in order; none for the string notation. Raises SignatureError."""
    if not is_source(text):
        return ()
    try:
        return SourceModule(_parsed(text)).signature_names()
    except RecursionError:
        raise SignatureError("nested too deeply") from None


def _parsed(text: str) -> SourceText:
    check_size(text)
    return SourceText.of(text.removeprefix("\ufeff"))


__all__ = ["class_names", "is_source", "read", "to_source"]

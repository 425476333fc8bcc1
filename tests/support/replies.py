"""A parse result in one line, for tests of what replies are said to lack."""

from __future__ import annotations

import adapters
from adapters.formats import catalog
from adapters.replies.reading import Reading


def read(adapter: str, signature: str, completion: str) -> Reading:
    """Parse a reply with an adapter, by its name, and a signature, as a string or a class."""
    return catalog.make(adapter).read(adapters.read_signature(signature), completion)

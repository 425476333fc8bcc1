"""The bindings that a widget has itself, whether they can be used now or not."""

from __future__ import annotations

from collections.abc import Iterator

from textual.binding import Binding
from textual.dom import DOMNode


def own_bindings(node: DOMNode) -> Iterator[Binding]:
    """One for each key, with the keys of the config file in force."""
    for _, one in node._bindings:
        yield one

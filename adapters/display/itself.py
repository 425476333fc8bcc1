"""Show objects in notebooks, by the methods that Jupyter, marimo and IPython call."""

from __future__ import annotations

from typing import Protocol

from adapters.display.blocks import Shown


class Pretty(Protocol):
    """The part of IPython's printer that is used."""

    def text(self, text: str) -> None: ...


class ShowsItself:
    """Show an object in Jupyter, marimo and IPython: in colour where there is HTML, as plain text elsewhere."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._repr_pretty_ = ShowsItself._repr_pretty_  # type: ignore[method-assign]  # IPython prefers a class's own repr

    def shown(self) -> Shown:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        from adapters.display import as_html

        return as_html.cell(self.shown())

    def _repr_pretty_(self, printer: Pretty, cycle: bool) -> None:
        from adapters.display import as_text

        printer.text("…" if cycle else "\n".join(as_text.lines(self.shown())))

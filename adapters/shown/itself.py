"""How an object shows itself to a notebook, by the methods that Jupyter, marimo and IPython ask for."""

from __future__ import annotations

from typing import Protocol

from adapters.shown.blocks import Shown


class Pretty(Protocol):
    """The printer of IPython, as far as it is needed."""

    def text(self, text: str) -> None: ...


class ShowsItself:
    """An object that Jupyter, marimo and IPython show: in colour where there is HTML, as plain text elsewhere."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._repr_pretty_ = ShowsItself._repr_pretty_  # type: ignore[method-assign]  # IPython prefers a class's own repr

    def shown(self) -> Shown:
        """What is shown of it."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        from adapters.shown import as_html

        return as_html.cell(self.shown())

    def _repr_pretty_(self, printer: Pretty, cycle: bool) -> None:
        from adapters.shown import as_text

        printer.text("…" if cycle else "\n".join(as_text.lines(self.shown())))

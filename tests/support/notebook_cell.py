"""What a notebook shows of an object, as a browser and as a terminal see it."""

from __future__ import annotations

from html.parser import HTMLParser

from adapters.display.as_text import ShowsItself

HOSTILE = "<script>alert(1)</script></pre></div>{{ x }} [/b] \x1b[2J \ud800 \u202e & \"'"
STEERS = frozenset("\x1b\ud800\u202e\x07\x9b")
"""Signs of others that neither a terminal nor a page may get."""


class Cell(HTMLParser):
    """Names of the elements, their attributes, and the text outside of styles. Fails for HTML that is not whole."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[list[tuple[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes.append(attrs)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data


class Printer:
    """Collects what IPython would print."""

    said = ""

    def text(self, text: str) -> None:
        self.said += text


def cell_of(one: ShowsItself) -> Cell:
    return Cell(one._repr_html_())


def plain_of(one: ShowsItself) -> str:
    printer = Printer()
    one._repr_pretty_(printer, False)
    return printer.said

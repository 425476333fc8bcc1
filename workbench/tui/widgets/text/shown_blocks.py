"""Write display blocks for a `TextView`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from adapters.display import as_text
from adapters.display import blocks as shown
from workbench.tui.widgets.text.text_view import Block, block

STYLES: dict[shown.Tone, str] = {
    "": "text",
    "strong": "heading",
    "good": "ok",
    "warning": "warning",
    "bad": "error",
    "worst": "error",
    "dim": "note",
}


def text_blocks(made: Iterable[shown.Block]) -> tuple[Block, ...]:
    return tuple(_blocks(made))


def _blocks(made: Iterable[shown.Block], target: str = "") -> Iterator[Block]:
    for one in made:
        if isinstance(one, shown.Heading):
            target = one.target
        for number, (line, tone) in enumerate(as_text.toned_lines(shown.Shown("", (one,)))):
            is_first = isinstance(one, shown.Heading) and number == 1
            yield block(line, STYLES[tone], target=target if is_first else "")

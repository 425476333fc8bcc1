"""A page as a browser's parser makes it: a tree, of which only what is not hidden is seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

WITHOUT_END = ("meta", "br", "hr", "col", "input")


@dataclass
class Node:
    """An element; `children` are elements and texts."""

    name: str
    attributes: dict[str, str | None]
    children: list[Node | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text in it; of a `pre` without the line break that a browser drops."""
        said = "".join([one if isinstance(one, str) else one.text for one in self.children])
        return said.removeprefix("\n") if self.name == "pre" else said

    def all(self, name: str = "", **attributes: str) -> Iterator[Node]:
        """The elements below it, in order; `class_` stands for class, and `_` for `-`."""
        wanted = {key.rstrip("_").replace("_", "-"): one for key, one in attributes.items()}
        for one in self.children:
            if isinstance(one, Node):
                if name in ("", one.name) and all(one.attributes.get(key) == value for key, value in wanted.items()):
                    yield one
                yield from one.all(name, **attributes)

    def one(self, name: str = "", **attributes: str) -> Node:
        """The first of them. Raises StopIteration where there is none."""
        return next(self.all(name, **attributes))

    def where(self, **switches: int) -> Node:
        """Without what is not shown at these places of the page's switches (`case=1, reply=2`)."""
        kept: list[Node | str] = []
        for one in self.children:
            if isinstance(one, str):
                kept.append(one)
            elif all(
                str(place) in (one.attributes[f"data-{name}"] or "").split(" ")
                for name, place in switches.items()
                if f"data-{name}" in one.attributes
            ):
                kept.append(one.where(**switches))
        return Node(self.name, self.attributes, kept)


class _Tree(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open = [Node("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        made = Node(tag, dict(attrs))
        self.open[-1].children.append(made)
        if tag not in WITHOUT_END:
            self.open.append(made)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().name == tag

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def seen(html: str) -> Node:
    """The tree of a page. Fails for one whose elements do not end in their order."""
    tree = _Tree()
    tree.feed(html)
    tree.close()
    assert len(tree.open) == 1
    return tree.open[0]

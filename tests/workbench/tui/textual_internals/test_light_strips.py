"""Painted rows without caches behave as Textual's."""

from __future__ import annotations

import importlib
from collections.abc import Callable

import pytest
import textual.strip
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from workbench.tui.textual_internals.light_strips import use_light_strips

PIECES = [Segment("one "), Segment("日本 ", Style(bold=True)), Segment("three")]
WAYS: list[Callable[[Strip], object]] = [
    lambda one: one.cell_length,
    lambda one: one.crop(2, 9),
    lambda one: one.crop_extend(1, 30, Style(italic=True)),
    lambda one: one.adjust_cell_length(40),
    lambda one: one.apply_style(Style(underline=True)),
    lambda one: one.apply_offsets(3, 4),
    lambda one: one.divide([2, 5, 13]),
    lambda one: one.index_to_cell_position(5),
    lambda one: one.text,
    lambda one: one.link_ids,
    lambda one: one.cell_count,
    repr,
]


@pytest.fixture
def textuals() -> type[Strip]:
    """Textual's class as it was written."""
    spec = importlib.util.find_spec("textual.strip")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Strip


@pytest.mark.parametrize("way", WAYS)
def test_a_light_strip_gives_what_textuals_gives(way: Callable[[Strip], object], textuals: type[Strip]) -> None:
    use_light_strips()
    for _ in range(2):  # the second time from its cache
        assert str(way(Strip(PIECES))) == str(way(textuals(PIECES)))


def test_a_light_strip_has_every_attribute_and_makes_its_caches_one_by_one() -> None:
    use_light_strips()
    strip = Strip(PIECES)
    assert not [name for name in vars(textual.strip.Strip) if name == "__dict__"]
    unmade = [name for name in Strip.__slots__ if name.endswith("_cache") and name != "_render_cache"]
    assert len(unmade) == 7
    strip.crop(1, 3)
    assert strip.crop(1, 3) is strip.crop(1, 3)
    for name in Strip.__slots__:
        getattr(strip, name)
    with pytest.raises(AttributeError):
        strip.unknown  # type: ignore[attr-defined]  # noqa: B018

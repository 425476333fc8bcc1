"""Every theme of Textual's and ours can be read, and without colour too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest
from textual.color import Color
from textual.strip import Strip
from textual.theme import Theme

from tests.support.open_app import MIDDLE, WIDE, Desk, at_the_desk
from workbench.tui import themes

FAINTEST = 2.0
"""The contrast below which nothing may be, in the quietest of Textual's themes; in ours:"""
FAINTEST_OF_OURS = 3.8


def contrast(one: Color, other: Color) -> float:
    """The ratio of WCAG 2."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(color: Color) -> float:
    parts = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in color.normalized]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrasts(strips: Iterable[Strip]) -> Iterator[tuple[float, str]]:
    """The contrast of every piece of text that has colours of its own."""
    for strip in strips:
        for text, style, _ in strip:
            if style is None or style.color is None or style.bgcolor is None:
                continue
            if any(one.isalnum() for one in text) and style.color.triplet and style.bgcolor.triplet:
                yield contrast(Color.from_rich_color(style.color), Color.from_rich_color(style.bgcolor)), text.strip()


def faintest(desk: Desk) -> tuple[float, str]:
    return min(contrasts(desk.app.screen._compositor.render_strips()), default=(21.0, ""))


async def look_everywhere(desk: Desk, least: float) -> None:
    for keys in (("f3",), ("f2", "f2"), ("f7",), ("5",), ("escape",)):
        await desk.press(*keys)
        assert faintest(desk)[0] >= least, (desk.app.theme, keys, faintest(desk))


def test_no_frame_is_as_black_as_a_terminal_of_sixteen_colours() -> None:
    async def act(desk: Desk) -> None:
        desk.app.theme = themes.OF_THE_TERMINAL
        await desk.settle()
        drawn = [
            style.color
            for strip in desk.app.screen._compositor.render_strips()
            for text, style, _ in strip
            if style is not None and any(0x2500 <= ord(one) <= 0x259F for one in text)
        ]
        assert drawn and not [one for one in drawn if one is not None and one.number == 0]

    at_the_desk(act)


@pytest.mark.parametrize("theme", themes.OURS, ids=[one.name for one in themes.OURS])
def test_quiet_words_can_be_read_on_every_ground(theme: Theme) -> None:
    for ground in (theme.background, theme.surface, theme.panel):
        assert ground is not None and theme.foreground is not None
        quiet = Color.parse(ground).blend(Color.parse(theme.foreground), 0.6)
        assert contrast(quiet, Color.parse(ground)) >= 4.5, ground


XTERM = ("000", "cd0000", "00cd00", "cdcd00", "0000ee", "cd00cd", "00cdcd", "e5e5e5")
BRIGHT = ("7f7f7f", "ff0000", "00ff00", "ffff00", "5c5cff", "ff00ff", "00ffff", "ffffff")
"""The sixteen colours as xterm has them."""


def test_help_opens_in_the_colours_of_a_terminal_of_sixteen() -> None:
    async def act(desk: Desk) -> None:
        desk.app.theme = themes.OF_THE_TERMINAL
        await desk.press("f1")
        strips = desk.app.screen._compositor.render_strips()
        heading = next(style for strip in strips for text, style, _ in strip if text == "The workbench")
        assert heading is not None and heading.bold and heading.color is not None and heading.color.number is not None

    at_the_desk(act, size=WIDE)


@pytest.mark.slow
def test_on_black_every_word_in_sixteen_colours_can_be_read() -> None:
    async def act(desk: Desk) -> None:
        desk.app.theme = themes.OF_THE_TERMINAL
        await desk.press("f5")
        await desk.sent()
        black, palette = Color.parse("black"), [Color.parse(f"#{one}") for one in (*XTERM, *BRIGHT)]
        faintest = min(
            (contrast(palette[style.color.number], black), text)
            for strip in desk.app.screen._compositor.render_strips()
            for text, style, _ in strip
            if style is not None and style.color is not None and style.color.number is not None
            if any(map(str.isalnum, text)) and (style.bgcolor is None or style.bgcolor.is_default) and not style.reverse
        )
        assert faintest[0] >= 4.0, faintest

    at_the_desk(act, size=MIDDLE)


@pytest.mark.slow
@pytest.mark.parametrize("theme", [one.name for one in themes.OURS])
def test_nothing_is_too_faint_in_our_own_themes(theme: str) -> None:
    async def act(desk: Desk) -> None:
        desk.app.theme = theme
        await desk.settle()
        assert faintest(desk)[0] >= FAINTEST_OF_OURS, ("before a reply", faintest(desk))
        await desk.press("f5")
        await desk.sent()
        await look_everywhere(desk, FAINTEST_OF_OURS)

    at_the_desk(act)


@pytest.mark.slow
def test_every_theme_can_be_read() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.sent()
        for theme in sorted(desk.app.available_themes):
            desk.app.theme = theme
            await look_everywhere(desk, FAINTEST)

    at_the_desk(act)


def test_help_that_is_open_takes_the_colours_of_another_theme() -> None:
    async def act(desk: Desk) -> None:
        desk.app.theme = "workbench-dark"
        await desk.press("f1")
        for theme in ("workbench-light", "workbench-dark"):
            desk.app.theme = theme
            await desk.settle()
            accent = Color.parse(desk.app.theme_variables["text-accent"])
            shown = {
                Color.from_rich_color(style.color)
                for strip in desk.app.screen._compositor.render_strips()
                for text, style, _ in strip
                if style is not None and style.color is not None and style.bold and "The workbench" in text
            }
            assert shown == {Color(*accent.rgb)}, theme

    at_the_desk(act)


def test_without_colour_nothing_is_black_on_black_in_the_terminals_own_colours() -> None:
    async def act(desk: Desk) -> None:
        desk.app.theme = themes.OF_THE_TERMINAL
        await desk.press("alt+u")
        for strip in desk.app.screen._compositor.render_strips():
            for text, style, _ in strip:
                colours = {style.color, style.bgcolor} - {None} if style is not None else set()
                assert all(one.is_default for one in colours), (text, style)

    at_the_desk(act, size=MIDDLE, terminal={"NO_COLOR": "1"})


@pytest.mark.parametrize(
    ("keys", "chosen"),
    [
        (("alt+u",), "Model"),
        (("ctrl+p",), "Send   F5"),
        (("ctrl+t", "down"), "second"),
    ],
)
def test_without_colour_the_chosen_row_of_a_list_is_reversed(keys: tuple[str, ...], chosen: str) -> None:
    async def act(desk: Desk) -> None:
        desk.app.theme = themes.OF_THE_TERMINAL
        await desk.press(*keys)
        await desk.settle()
        shown = [
            "".join([text for text, style, _ in strip if style is not None and style.reverse])
            for strip in desk.app.screen._compositor.render_strips()
        ]
        rows = [one for one in shown if chosen in one]
        assert len(rows) == 1, shown

    at_the_desk(act, size=MIDDLE, terminal={"NO_COLOR": "1"})

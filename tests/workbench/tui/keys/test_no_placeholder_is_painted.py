"""No text on the screen shows a placeholder of a key: told by what is painted, wherever a person can get to."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

import pytest

from tests.support.open_app import SIZES, WIDE, Desk, at_the_desk
from workbench.tui.panes.editors import EDITORS
from workbench.tui.screens.pages import PAGES

PLACEHOLDER = re.compile(r"\{[a-z_]+\.|[a-z_]+\|[^ }]+\}")

DIALOGS: dict[str, tuple[str, ...]] = {
    "cases": ("ctrl+t",),
    "rename a case": ("ctrl+t", "r"),
    "models": ("ctrl+l",),
    "models, one typed": ("ctrl+l", "z", "z"),
    "copy": ("ctrl+g",),
    "save as": ("f12",),
    "open": ("ctrl+o",),
    "send otherwise": ("shift+f5",),
    "column": ("shift+f8",),
    "find": ("ctrl+f", "a"),
    "jump": ("ctrl+right_square_bracket",),
    "help": ("f1",),
    "lesson": ("f6", "right"),
    "past runs": ("f5", "shift+f7"),
    "leave": ("f5", "ctrl+q"),
    "form, a field": ("f11", "enter"),
    "form, a new field": ("f11", "ctrl+n"),
    "form, a model": ("f11", "m"),
    "form, an enum": ("f11", "e"),
    "commands": ("ctrl+p",),
    "record": ("f5", "f3", "ctrl+r"),
    "check": ("f9",),
    "alone": ("f10",),
}
ALWAYS = ("models", "copy", "help", "form, a field")
EACH = [pytest.param(keys, id=of, marks=() if of in ALWAYS else pytest.mark.slow) for of, keys in DIALOGS.items()]


def painted(desk: Desk) -> str:
    """The screen in one line, and the toasts."""
    rows = [strip.text for strip in desk.app.screen._compositor.render_strips()]
    said = [f"{one.title} {one.message}" for one in desk.app._notifications]
    return re.sub(r"\s+", " ", " ".join([*rows, *said]))


def check(act: Callable[[Desk], Awaitable[None]], size: tuple[int, int]) -> None:
    async def look(desk: Desk) -> None:
        await act(desk)
        found = PLACEHOLDER.search(painted(desk))
        assert found is None, painted(desk)[max(0, found.start() - 60) : found.end() + 20]

    at_the_desk(look, size=size)


def test_what_is_looked_for_is_found() -> None:
    for text in ("{choose.close|esc} closes", "press {app.send_all|F5}", "choose.close|esc} clo", "{pages."):
        assert PLACEHOLDER.search(text), text
    for text in ("{question}", '{"a": [1]}', "a | b } c", "Literal['a'|'b']"):
        assert not PLACEHOLDER.search(text), text


@pytest.mark.slow
@pytest.mark.parametrize("keys", EACH)
def test_no_dialog_paints_the_placeholder_of_a_key(keys: tuple[str, ...]) -> None:
    async def act(desk: Desk) -> None:
        for key in keys:
            await desk.press(key)
            await desk.sent()

    check(act, WIDE)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_no_pane_and_no_page_paints_the_placeholder_of_a_key(size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        for tab in EDITORS:
            desk.main.editors.open(tab)
            await desk.settle()
            assert not PLACEHOLDER.search(painted(desk)), tab
        await desk.press("f4")
        for page in PAGES:
            desk.app.action_look(page)
            await desk.settle()
            assert not PLACEHOLDER.search(painted(desk)), page
        await desk.press("escape")

    check(act, size)

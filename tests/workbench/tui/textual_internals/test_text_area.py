"""A key repaints the rows that changed; so whatever happens, the screen must show what a full repaint would."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from textual.geometry import Region
from textual.pilot import Pilot

from tests.support.screen import Stage, assert_harmless, on_stage, painted, painted_anew
from workbench.tui.widgets.text.editor import LOOKS, Editor, Mark

SOURCE = 'class Ask(dspy.Signature):\n    """Say it."""\n    answer: list[str] = dspy.OutputField(desc="(a)")\n' * 4
NUMBERS = " ".join(map(str, range(150)))
PIECES = [NUMBERS, "x", "\n", '"""', "(", ")", "\t", "日本", "word " * 30, "\x1b[2J", "a\nb\nc\n", "\u2028", "# "]
KEYS = ["up", "down", "left", "right", "home", "end", "pageup", "pagedown", "enter", "backspace", "delete", "shift+up"]


def assert_as_repainted(editor: Editor) -> None:
    shown = painted(editor)
    assert_harmless(editor)
    assert painted_anew(editor) == shown


def test_a_letter_repaints_its_own_row_alone() -> None:
    async def act(stage: Stage[Editor], pilot: Pilot[None]) -> None:
        await pilot.press("down", "end")
        await pilot.pause()
        painted: list[Region] = []
        refresh = stage.widget.refresh

        def heard(*regions: Region, **options: bool) -> Editor:
            painted.extend(regions or [stage.widget.size.region])
            return refresh(*regions, **options)

        stage.widget.refresh = heard  # type: ignore[method-assign]
        await pilot.press("x")
        assert {(one.y, one.height) for one in painted} == {(1, 1)}

    on_stage(Editor(SOURCE, syntax="python"), act)


def test_a_cursor_that_was_scrolled_leaves_its_row_when_it_moves() -> None:
    async def act(stage: Stage[Editor], pilot: Pilot[None]) -> None:
        stage.widget.move_cursor((5, 0))
        await pilot.pause()
        stage.widget.scroll_to(y=2, animate=False, force=True)
        await pilot.pause()
        await pilot.press("down")
        await pilot.pause()
        assert_as_repainted(stage.widget)

    on_stage(Editor("the same line\n" * 60), act)


@pytest.mark.parametrize("seed", [1, *[pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 20)]])
@pytest.mark.parametrize("syntax", ["python", "text"])
def test_after_any_sequence_of_edits_keys_and_scrolls_the_screen_is_right(seed: int, syntax: str) -> None:
    chance = random.Random(seed)

    async def act(stage: Stage[Editor], pilot: Pilot[None]) -> None:
        editor = stage.widget
        editor.cursor_blink = False

        def types() -> None:
            start, end = sorted(chance.choices(range(editor.document.line_count), k=2))
            column = chance.randint(0, len(editor.document.get_line(end)))
            editor.replace(chance.choice(PIECES), (end if chance.random() < 0.8 else start, 0), (end, column))

        def scrolls_and_types() -> None:
            editor.scroll_to(y=chance.randint(0, max(1, editor.max_scroll_y)), animate=False, force=True)
            editor.insert(chance.choice(PIECES))

        def marks() -> None:
            editor.mark(Mark(chance.randint(0, 12), 0, chance.randint(0, 9), chance.choice([*LOOKS])) for _ in "ab")

        changes: list[Callable[[], object]] = [
            types,
            types,
            scrolls_and_types,
            marks,
            lambda: editor.show(chance.choice([SOURCE, "", SOURCE + "x", NUMBERS * 20, NUMBERS, "((\n(\n)))"])),
            lambda: editor.select_text(chance.randint(0, 40), chance.randint(0, 200)),
            lambda: editor.scroll_to(y=chance.randint(0, max(1, editor.max_scroll_y)), animate=False, force=True),
        ]
        for _ in range(40):
            if chance.random() < 0.1:
                await pilot.resize_terminal(chance.randint(12, 70), chance.randint(4, 30))
            elif chance.random() < 0.4:
                await pilot.press(chance.choice(KEYS))
            else:
                chance.choice(changes)()
            await pilot.pause()
            assert_as_repainted(editor)

    on_stage(Editor(SOURCE, syntax=syntax), act)  # type: ignore[arg-type]

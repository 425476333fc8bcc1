"""Only changed rows are repainted; so whatever happens, the screen must show what a full repaint would."""

from __future__ import annotations

import random

import pytest
from textual.pilot import Pilot

from adapters.prompts.text import KINDS, Message, Prompt, Segment, Text
from tests.support.screen import Stage, assert_harmless, on_stage
from workbench.tui.widgets.prompt.prompt_section import Origin
from workbench.tui.widgets.prompt.prompt_view import PromptView

WORDS = ["a", "word ", "日本 ", "\n", "line\n" * 20, "long " * 90, "\t", "\x1b[2J", "x" * 300]
FIELDS = [None, "question", "answer"]
TURNS = ["system", "demo 1", "demo 2", "history 1", "inputs"]


def some_message(chance: random.Random) -> Message:
    segments = [
        Segment("".join(chance.choices(WORDS, k=chance.randint(0, 4))), chance.choice(KINDS), chance.choice(FIELDS))
        for _ in range(chance.randint(0, 5))
    ]
    return Message(chance.choice(["user", "assistant"]), chance.choice(TURNS), (Text(segments),))


def some_change(messages: list[Message], chance: random.Random) -> list[Message]:
    changed = list(messages)
    for _ in range(chance.randint(0, 2)):
        where = chance.randint(0, len(changed))
        changed[where : where + chance.randint(0, 2)] = [some_message(chance) for _ in range(chance.randint(0, 2))]
    return changed


@pytest.mark.parametrize("seed", [1, *[pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 20)]])
def test_after_any_sequence_of_changes_keys_and_scrolls_the_screen_is_right(seed: int) -> None:
    chance = random.Random(seed)

    async def act(stage: Stage[PromptView], pilot: Pilot[None]) -> None:
        widget = stage.widget
        messages: list[Message] = []

        async def step() -> None:
            nonlocal messages
            match chance.randint(0, 9):
                case 0 | 1 | 2:
                    messages = some_change(messages, chance)
                    stale = chance.random() < 0.2
                    widget.show(Prompt(tuple(messages)), stale=stale, error=chance.choice(["", "", "an error " * 9]))
                case 3:
                    widget.highlight(
                        chance.choice([None, Origin(chance.choice(KINDS), chance.choice(FIELDS), "demo 1")])
                    )
                case 4:
                    widget.action_row(chance.choice([-1, 1]))
                case 5:
                    widget.action_piece(chance.choice([-1, 1]))
                case 6:
                    chance.choice([widget.action_fold, widget.action_choose, lambda: widget.action_page(1)])()
                case 7:
                    widget.scroll_to(y=chance.randint(0, max(1, widget.max_scroll_y)), animate=False)
                case 8:
                    await pilot.resize_terminal(chance.randint(12, 70), chance.randint(4, 30))
                case 9:
                    chance.choice([lambda: widget.action_edge(True), lambda: widget.action_message(-1)])()

        for _ in range(50):
            await step()
            await pilot.pause()
            shown = widget.render_lines(widget.size.region)
            assert_harmless(widget)
            widget.refresh()
            widget.forget_strips()
            assert widget.render_lines(widget.size.region) == shown
            assert 0 <= widget.scroll_y <= max(0, widget.max_scroll_y)

    on_stage(PromptView("chat"), act)

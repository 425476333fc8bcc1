"""The tab of variants: written beside the original, tried as a column, marked when the original changes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions.model.session import Case, Column, Session, SignatureText, Variant
from tests.support.open_app import MIDDLE, SMALL, Desk, at_the_desk
from tests.support.screen import seen

SESSION = Session(
    SignatureText("question -> answer", instructions="Answer the question."),
    columns=(Column("chat", "chat"),),
    cases=(Case("c", {"question": "Does it rain?"}),),
)


def notes(desk: Desk) -> str:
    return desk.main.query_one("#notes").plain_text  # type: ignore[attr-defined, no-any-return]


def note(desk: Desk) -> str:
    return str(desk.main.editors.variants._note.render())


@pytest.mark.slow
def test_a_variant_is_written_tried_in_a_column_and_left_out_once_its_original_has_changed() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("variant")
        desk.main.editors.open("variants")
        desk.main.editors.variants._list.focus()
        await desk.press("ctrl+n")
        await desk.go_to("variant", "text", 0)
        await desk.paste_over("Answer in [/x] one word.")
        assert "replaces: Answer the question." in note(desk) and "no column" in note(desk)
        desk.main.editors.variants._list.focus()
        await desk.press("c")
        assert [one.id for one in desk.document.session.columns] == ["chat", "chat · v1"]
        assert "one word" in desk.prompt("chat · v1") and "one word" not in desk.prompt("chat")
        assert "used by chat · v1" in note(desk)

        await desk.go_to("instructions")
        await desk.paste_over("Answer in full.")
        assert "one word" not in desk.prompt("chat · v1")
        assert "variant v1: instructions is left out: its original has changed" in notes(desk)
        titles = [str(one.border_title) for one in desk.main.columns.all]
        assert "stale variant" not in titles[0] and "stale variant" in titles[1]
        await desk.go_to("variant", "", 0)
        assert "stale" in note(desk)
        await desk.press("r")
        assert "one word" in desk.prompt("chat · v1") and "left out" not in notes(desk)

    at_the_desk(act, session=SESSION)


def test_the_rows_of_keys_end_between_two_hints() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("variant")
        pane = desk.main.editors.variants
        assert [one.split() for one in seen(pane._note)[:2]] == [
            ["^n", "add", "esc", "rows:", "d", "copy", "x", "delete"],
            ["r", "renew", "c", "column", "s", "suggest"],
        ]
        desk.main.widen_editors(9)
        await desk.settle()
        assert seen(pane._note)[1].split()[:2] == ["c", "column"]

    at_the_desk(act, replace(SESSION, variants=(Variant("v1", "instructions", "Answer."),)), size=MIDDLE)


def test_a_column_whose_tag_has_no_variant_says_so_and_stays() -> None:
    session = replace(
        SESSION,
        columns=(Column("chat", "chat", variant="v1"),),
        variants=(Variant("v1", "instructions", "Briefly."),),
    )

    async def act(desk: Desk) -> None:
        await desk.go_to("variant", "", 0)
        await desk.press("x")
        assert "there are" in notes(desk) and "no variant has the tag 'v1'" in notes(desk)
        await desk.press("ctrl+z")
        assert "Briefly." in desk.prompt("chat")

    at_the_desk(act, session=session)


def test_a_note_of_whole_sentences_is_read_to_its_end_on_a_small_screen() -> None:
    async def act(desk: Desk) -> None:
        for pane in (desk.main.editors.demos, desk.main.editors.variants):
            await desk.go_to(pane.KIND)
            assert seen(pane._note)[-1].rstrip().endswith(".")

    at_the_desk(act, replace(SESSION, variants=()), size=SMALL)

"""The first minute: what to do is on the screen, and is ticked off as it is done."""

from __future__ import annotations

from contextlib import chdir
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sessions import examples
from sessions.file import saving, store
from sessions.model.session import Demo, Session, SignatureText
from tests.support.open_app import MIDDLE, SMALL, TICKETS, WIDE, Desk, at_the_desk
from tests.support.screen import seen
from workbench.editing import row_edits
from workbench.state.document import Place
from workbench.tui.dialogs.ask import ConfirmScreen
from workbench.tui.keys import keys_of
from workbench.tui.widgets.guide import FIRST, OPENING, OWN, Guide, Kind


def guide(desk: Desk) -> Guide:
    return desk.app.screen.query_one(Guide)


async def change(desk: Desk, place: Place, **parts: Any) -> None:
    """Changes parts of the session, as its pane does."""
    desk.main.edit(lambda state: replace(state, session=replace(state.session, **parts)), place, "change")
    await desk.settle()


@pytest.mark.slow
def test_every_step_of_the_first_example_is_ticked_off_when_it_is_done() -> None:
    async def act(desk: Desk) -> None:
        desk.app.guidance.show("first")
        await desk.settle()
        assert guide(desk).next_step == 0
        await desk.press("f5")
        await desk.sent()
        await desk.until(lambda: guide(desk).done == {0}, "for the replies")
        assert desk.verdict("chat").startswith("reply ✓") and desk.verdict("xml").startswith("reply ✗ line 2")
        await desk.press("f4", "f4")
        await desk.paste_over(desk.reply("json") + " ")
        await desk.press("f4")
        await desk.until(lambda: guide(desk).done == {0, 1})
        await desk.paste_over(desk.reply("xml").replace("&", "and"))
        await desk.until(lambda: desk.verdict("xml").startswith("reply ✓"), "for a reply without the sign")
        assert guide(desk).done == {0, 1}, "what is to be written is not there"
        await desk.paste_over(desk.reply("xml").replace("and", "&amp;"))
        await desk.until(lambda: guide(desk).done == {0, 1, 2}, "for the reply that was mended")
        await desk.press("f2")
        assert guide(desk).done == {0, 1, 2}, "going there alone changes nothing"
        await desk.paste_over(desk.editor.raw.replace("float", "int"))
        await desk.until(lambda: guide(desk).done == {0, 1, 2, 3}, "for the signature that was changed")
        await desk.press("f6", "escape")
        await desk.until(lambda: guide(desk).done == {0, 1, 2, 3, 4})
        await desk.press("ctrl+z")
        assert 3 in guide(desk).done, "what was done once stays ticked"
        await desk.press("f3", "escape")
        assert not desk.app.screen.query(Guide)

    at_the_desk(act, session=examples.load(examples.FIRST), size=MIDDLE)


@pytest.mark.slow
def test_a_step_is_ticked_off_by_what_it_says_and_by_nothing_like_it() -> None:
    async def act(desk: Desk) -> None:
        desk.app.guidance.show("first")
        await desk.go_to("signature")
        written = desk.editor.raw
        await desk.paste_over(written.replace("paid", "settled"))
        await desk.until(lambda: "settled" in desk.app.document.session.signature.text)
        assert guide(desk).done == set(), "another field was renamed"
        await desk.paste_over(written.replace("float", "int"))
        await desk.until(lambda: guide(desk).done == {3}, "for the type that the step names")
        await desk.press("f5")
        await desk.sent()
        await desk.press("f4", "tab", "enter")
        assert 5 not in guide(desk).done, "enter opened the steps of a value, and no session"
        await desk.press("ctrl+o", "escape")
        assert 5 not in guide(desk).done, "no session was opened"

    at_the_desk(act, session=examples.load(examples.FIRST), size=MIDDLE)


@pytest.mark.slow
@pytest.mark.parametrize("size", [MIDDLE, SMALL])
def test_f2_goes_back_to_the_signature_as_the_guide_says_wherever_one_was_before(size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        desk.app.guidance.show("first")
        await desk.go_to("signature")
        await desk.press("f2")
        assert desk.main.editors.signature.has_focus_within, "a newcomer tries it where he is"
        assert "you are in the signature; F2 again: the next tab" in desk.main.status.render().plain
        await desk.press("f2")
        assert desk.main.editors.inputs.has_focus_within
        await desk.press("f5")
        await desk.sent()
        await desk.press("f4", "f2")
        assert desk.main.editors.signature.has_focus_within, "it was left for the inputs"
        await desk.paste_over(desk.editor.raw.replace("float", "int"))
        await desk.until(lambda: 3 in guide(desk).done, "for the step")
        await desk.press("f2")
        assert desk.main.editors.inputs.has_focus_within
        await desk.press("f4", "f2")
        assert desk.main.editors.inputs.has_focus_within, "done once, the key is as it always is"

    at_the_desk(act, session=examples.load(examples.FIRST), size=size)


@pytest.mark.slow
def test_without_the_guide_f2_goes_to_the_editor_that_was_left() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("signature")
        await desk.press("f2")
        assert desk.main.editors.inputs.has_focus_within
        await desk.press("f3", "f2")
        assert desk.main.editors.inputs.has_focus_within

    at_the_desk(act, session=examples.load(examples.FIRST), size=MIDDLE)


@pytest.mark.slow
def test_the_points_of_another_examples_notes_are_its_steps_and_a_click_ticks_them() -> None:
    session = examples.load("invoice")
    steps = Guide(session, "notes").steps
    assert len(steps) == session.notes.count("\n- ") and all(one.is_done is None for one in steps)
    hostile = replace(examples.load(examples.FIRST), notes="\n- [/x] [@click=app.exit]first\x1b[2J\n- second")

    async def act(desk: Desk) -> None:
        desk.app.guidance.show()
        await desk.settle()
        shown = guide(desk).render().plain
        assert "[/x] [@click=app.exit]first" in shown and "\x1b" not in shown
        await desk.pilot.click(Guide, offset=(4, 1))
        await desk.settle()
        assert guide(desk).done == {0} and guide(desk).next_step == 1

    at_the_desk(act, session=hostile)


@pytest.mark.slow
def test_where_there_is_little_room_the_next_step_stands_alone() -> None:
    async def act(desk: Desk) -> None:
        desk.app.guidance.show("first")
        await desk.settle()
        assert guide(desk).size.height <= 2
        assert desk.main.editors.signature.size.height >= 3, "the editor is still there"
        assert FIRST[1].text[-20:] not in guide(desk).render().plain

    at_the_desk(act, session=examples.load(examples.FIRST), size=SMALL)


@pytest.mark.parametrize("size", [MIDDLE, *[pytest.param(one, marks=pytest.mark.slow) for one in ((100, 30), WIDE)]])
def test_no_step_is_cut_and_those_that_do_not_fit_are_counted(size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        desk.app.guidance.show("first")
        await desk.settle()
        shown = guide(desk).render().plain
        assert "…" not in shown and (FOOT_KEYS in shown or OPENING in shown)
        assert (OPENING in shown) == (size != (100, 30))
        assert guide(desk).max_scroll_y == 0, "all of it is in sight"
        count = sum(row.startswith(("▸", "·")) and not row.endswith("more") for row in shown.split("\n"))
        assert f"· {len(FIRST) - count} more" in shown if count < len(FIRST) else "more" not in shown
        guide(desk).done |= {0, 1, 2}
        guide(desk).refresh(layout=True)
        await desk.settle()
        assert "✓ F5   ✓ F4   ✓ &amp;" in guide(desk).render().plain

    at_the_desk(act, session=examples.load(examples.FIRST), size=size)


def test_a_long_signature_keeps_most_of_its_pane() -> None:
    first = examples.load(examples.FIRST)
    long = replace(first, signature=replace(first.signature, instructions="Read the receipt.\n" * 40))

    async def act(desk: Desk) -> None:
        desk.app.guidance.show("first")
        await desk.settle()
        pane = desk.main.query_one("#left").size.height
        assert guide(desk).size.height > pane * 36 // 100, "there is nothing else to show"
        await desk.go_to("instructions")
        await desk.paste_over(long.signature.instructions or "")
        assert guide(desk).size.height <= pane * 36 // 100
        assert "more" in guide(desk).render().plain and guide(desk).max_scroll_y == 0

    at_the_desk(act, session=first, size=MIDDLE)


@pytest.mark.slow
def test_the_guide_goes_when_work_on_another_session_is_taken_up() -> None:
    async def act(desk: Desk) -> None:
        desk.app.guidance.show("first")
        await desk.settle()
        desk.app.restore(desk.document.session)
        await desk.settle()
        assert desk.app.screen.query(Guide), "it is about this session"
        desk.app.restore(examples.load("question"))
        await desk.until(lambda: not desk.app.screen.query(Guide), "for the guide to go")

    at_the_desk(act, session=examples.load(examples.FIRST), size=MIDDLE)


@pytest.mark.parametrize("size", [MIDDLE, pytest.param(SMALL, marks=pytest.mark.slow)])
def test_the_guide_goes_on_with_the_first_own_session_until_it_is_saved(size: tuple[int, int], tmp_path: Path) -> None:
    async def act(desk: Desk) -> None:
        desk.app.guidance.show("first")
        await desk.press("ctrl+n")
        await desk.until(lambda: desk.app.screen.query(Guide) and guide(desk).steps == OWN, "for the next guide")
        assert (guide(desk).done, guide(desk).editor) == (set(), "signature")
        assert desk.main.editors.signature.view == "form"
        for step in OWN:
            assert step.is_done is not None
        only_input = "class Extract(dspy.Signature):\n    topic: str = dspy.InputField()\n"
        await change(desk, Place("signature"), signature=SignatureText(only_input))
        await desk.until(lambda: desk.verdict("chat"), "for the prompts")
        assert guide(desk).done == set(), "a signature without an output is only begun"
        await change(desk, Place("signature"), signature=SignatureText("topic -> points: list[str]"))
        await desk.until(lambda: guide(desk).done == {0}, "for the fields")
        await desk.press("f2")
        assert desk.main.editors.inputs.has_focus_within
        await change(desk, Place("model"), model="offline/exact")
        await desk.go_to("input", "topic")
        await desk.type("Tea")
        await desk.press("f5")
        await desk.sent()
        await desk.until(lambda: guide(desk).done == {0, 1}, "for the replies")
        await desk.press("f2")
        assert desk.main.editors.tab == "demos"
        await desk.press("ctrl+n")
        assert guide(desk).done == {0, 1}, "an empty demo is in no prompt"
        await change(desk, Place("demo", row=0), demos=(Demo({"topic": "Rain"}),))
        assert guide(desk).done == {0, 1}, "an incomplete demo is only begun"
        await change(desk, Place("demo", row=0), demos=(Demo({"topic": "Rain", "points": ["wet"]}),))
        await desk.until(lambda: guide(desk).done == {0, 1, 2}, "for the demo")
        path = tmp_path / "tea.session.json"
        desk.document.mark_saved(path)
        desk.app.guidance.look()
        assert guide(desk).done == {0, 1, 2, 3}
        assert "^o opens it again" in guide(desk).render().plain
        assert guide(desk).max_scroll_y == 0
        assert not desk.app.preferences.wants_guides, "the next start begins without a guide"

    at_the_desk(act, session=examples.load(examples.FIRST), size=size, home=tmp_path)


def test_the_step_is_whole_where_the_guide_has_one_row() -> None:
    async def act(desk: Desk) -> None:
        desk.app.guidance.show("own")
        desk.main.editors.signature.show_as("form")
        await desk.press("f3")
        assert guide(desk).size.height == 1
        assert "such as `list[str]`." in seen(guide(desk))[0]

    only_input = 'class Extract(dspy.Signature):\n    """Read."""\n    topic: str = dspy.InputField()\n'
    at_the_desk(act, session=Session(SignatureText(only_input), columns=TICKETS.columns), size=SMALL)


def test_a_step_is_true_in_every_editor() -> None:
    """F2 does not go to the inputs from the inputs, nor from the history to the demos."""

    async def act(desk: Desk) -> None:
        desk.app.guidance.show("own")
        for done, tab, said in (
            (0, "inputs", "In the inputs (F2) type a value, then F5 sends it."),
            (1, "demos", "In Demos (F2) ^n adds a demo."),
            (1, "history", "In Demos (F2) ^n adds a demo."),
        ):
            guide(desk).done |= {done}
            desk.main.editors.focus_on(tab)
            await desk.settle()
            assert guide(desk).render().plain.removeprefix("Your own session. ") == said

    at_the_desk(act, session=examples.load(examples.FIRST), size=SMALL)


@pytest.mark.parametrize("kind", ["own", "first", "notes"])
def test_a_short_step_is_in_sight_beside_values_in_a_small_terminal(kind: Kind) -> None:
    async def act(desk: Desk) -> None:
        desk.app.guidance.show(kind)
        for tab in ("inputs", "demos") if kind == "own" else ("inputs",):
            desk.main.editors.focus_on(tab)
            await desk.settle()
            assert guide(desk).display == (kind != "notes")
            if kind != "notes":
                step = guide(desk).steps[guide(desk).next_step or 0]
                assert keys_of(desk.app)(step.first_sentence) in seen(guide(desk))[0]

    at_the_desk(act, session=examples.load(examples.FIRST), size=SMALL)


def test_an_invalid_value_in_the_first_example_is_asked_about_because_no_restore_point_keeps_it() -> None:
    async def act(desk: Desk) -> None:
        desk.app.guidance.show("first")
        await desk.paste_over(desk.editor.raw.replace("paid", "settled"))
        desk.main.edit(
            partial(row_edits.drafted, place=Place("input", desk.document.state.case.name, field="x"), text="["),
            Place("input"),
            "type",
        )
        await desk.press("ctrl+o", "enter")
        await desk.until(lambda: isinstance(desk.app.screen, ConfirmScreen), "for the question")

    at_the_desk(act, session=examples.load(examples.FIRST), size=MIDDLE)


def test_who_has_dismissed_the_guide_begins_without_it(tmp_path: Path) -> None:
    async def act(desk: Desk) -> None:
        desk.app.guidance.show("first")
        desk.app.guidance.put_away()
        await desk.press("ctrl+n")
        await desk.until(lambda: not desk.document.session.signature.text, "for the empty session")
        assert not desk.app.screen.query(Guide)

    at_the_desk(act, session=examples.load(examples.FIRST), size=MIDDLE, home=tmp_path)


def test_the_list_of_sessions_opens_on_the_example_that_the_guide_names_and_what_was_changed_is_kept(
    tmp_path: Path,
) -> None:
    async def act(desk: Desk) -> None:
        desk.app.guidance.show("first")
        await desk.paste_over(desk.editor.raw.replace("paid", "settled"))
        await desk.press("ctrl+o", "enter")
        await desk.until(lambda: desk.document.session == examples.load(examples.SECOND), "for the example, unasked")
        assert 5 in desk.app.preferences.toured, "another session was opened"
        kept = [store.load(one.place).signature.text for one in saving.restore_points(None)]
        assert [one for one in kept if "settled" in one]

    at_the_desk(act, session=examples.load(examples.FIRST), size=MIDDLE, home=tmp_path)


FOOT_KEYS = "quits  esc hides"


@pytest.mark.slow
def test_the_guide_goes_on_where_it_was_and_the_list_opens_on_the_latest_file(tmp_path: Path) -> None:
    mine = tmp_path / "mine.session.json"
    store.save(replace(examples.load("question"), name="mine"), mine)

    async def begin(desk: Desk) -> None:
        desk.app.guidance.show("first")
        await desk.press("f5")
        await desk.sent()
        await desk.until(lambda: guide(desk).done == {0}, "for the replies")

    async def go_on(desk: Desk) -> None:
        desk.app.guidance.show("first")
        await desk.settle()
        assert guide(desk).done == {0}
        desk.app.guidance.look("open")
        guide(desk).done |= {1, 2, 3, 4, 5}
        desk.app.guidance.look()
        await desk.press("ctrl+o", "enter")
        await desk.until(lambda: desk.document.session.name == "mine", "for the file")

    async def end(desk: Desk) -> None:
        desk.app.guidance.show("first")
        await desk.settle()
        assert not desk.app.screen.query(Guide), "all its steps are done"

    at_the_desk(begin, session=examples.load(examples.FIRST), size=MIDDLE, home=tmp_path)
    with chdir(tmp_path):
        at_the_desk(go_on, session=examples.load(examples.FIRST), size=MIDDLE, home=tmp_path)
    at_the_desk(end, session=examples.load(examples.FIRST), size=MIDDLE, home=tmp_path)

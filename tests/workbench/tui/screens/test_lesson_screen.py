from __future__ import annotations

from dataclasses import replace

import pytest

from adapters.formats import catalog
from sessions import examples
from sessions.model.replies import Extraction, Reply
from sessions.model.session import Case, Column, Session, SignatureText
from tests.support.hostile import HOSTILE
from tests.support.open_app import SIZES, SMALL, Desk, at_the_desk
from tests.support.screen import seen
from tests.workbench.tui.test_hostile_screen import assert_harmless, session_of
from workbench.serving.messages import TeachersPlace
from workbench.tui.palette import commands_of
from workbench.tui.screens.lesson import LessonScreen
from workbench.tui.teacher import Teacher
from workbench.tui.widgets.text.text_view import TextView


def example(name: str) -> Session:
    return replace(examples.load(name), columns=tuple([Column(one, one) for one in catalog.NAMES]))


def lesson(desk: Desk) -> LessonScreen:
    assert isinstance(desk.app.screen, LessonScreen)
    return desk.app.screen


def words(desk: Desk) -> str:
    """Everything the lesson says on its side of the screen."""
    return "\n".join([str(desk.app.screen.query_one(part).render()) for part in ("#lesson-title", "#lesson-words")])


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_the_arrows_reveal_the_prompt_piece_by_piece(size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f6")
        assert "The fields" in words(desk)
        text = desk.app.screen.query_one(TextView)
        assert "Your input fields are" in text.plain_text
        assert "your objective is" not in text.plain_text
        await desk.press("right", "right")
        assert "The objective" in words(desk)
        assert "your objective is" in text.plain_text
        await desk.press("left")
        assert "The structure" in words(desk)
        await desk.press("escape")
        assert desk.app.screen is desk.main

    at_the_desk(act, session=example("question"), size=size)


@pytest.mark.slow
def test_the_last_step_of_a_prompt_shows_all_of_it() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f6", "end")
        shown = desk.app.screen.query_one(TextView).plain_text
        prompt = desk.main.columns.all[0].prompt.prompt
        assert prompt is not None
        for message in prompt.messages:
            assert all(line in shown for line in message.text.splitlines())

    at_the_desk(act, session=example("question"))


@pytest.mark.slow
def test_a_reply_is_explained_after_the_prompt() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f6", "r")
        assert "The reply" in words(desk)
        await desk.press("right")
        assert "Found: the structure" in words(desk)
        await desk.press("end")
        assert "✓ Parsed" in words(desk)
        count = len(lesson(desk).steps)
        assert f" {count} of {count} " in str(lesson(desk)._head.render())
        await desk.press("r")
        assert "The fields" in words(desk)

    at_the_desk(act, session=session_of({"plain": "plain"}))


def hints(desk: Desk) -> str:
    return " ".join(seen(desk.app.screen.query_one("#lesson-hint"))).strip()


@pytest.mark.parametrize(
    ("width", "first", "last"),
    [
        (
            80,
            "→ next   esc close   c next adapter   ↑↓ scroll   ⇧↑↓ explanation",
            "← back   esc close   c next adapter   ↑↓ scroll   ⇧↑↓ explanation",
        ),
        pytest.param(
            67,
            "→ next   esc close   c next adapter   ↑↓ scroll",
            "← back   esc close   c next adapter   ↑↓ scroll",
            marks=pytest.mark.slow,
        ),
        (42, "→ next   esc close   c next adapter", "← back   esc close   c next adapter"),
    ],
)
def test_the_keys_in_the_last_line_do_something_and_are_whole(width: int, first: str, last: str) -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f6")
        assert hints(desk) == first
        await desk.press("end")
        assert hints(desk) == last

    at_the_desk(act, session=example("question"), size=(width, 30))


@pytest.mark.parametrize("size", [(46, 26), (60, 22)])
def test_the_text_of_each_step_is_in_sight_however_long_its_explanation_is(size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f6")
        screen = lesson(desk)
        for step in [*range(len(screen.steps)), *reversed(range(len(screen.steps)))]:
            screen.go_to(screen.rendered.column.id, step)
            await desk.settle()
            text = screen.text
            lit = [y for y, row in enumerate(text.rows) if any(piece.light == "lit" for piece in row.pieces)]
            first = round(text.scroll_y)
            shown = range(first, first + text.page_height)
            wanted = lit if len(lit) <= text.page_height else lit[:1]
            assert all(y in shown for y in wanted), (step, lit, shown)

    at_the_desk(act, session=examples.load("receipt"), size=size)


@pytest.mark.parametrize("kept", ["none", "raw", "parsed"])
def test_the_last_step_says_that_a_reply_is_explained_once_there_is_one(kept: str) -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f6", "end")
        shown = " ".join(words(desk).split())
        said = "No parsed reply yet. Close the lesson and send (F5); opened again, it explains the reply, too."
        assert shown.endswith(said) == (kept != "parsed")
        await desk.press("left")
        assert "No parsed reply yet" not in words(desk)

    replied = session_of({"plain": "plain"})
    raw = replace(replied, cases=tuple(replace(one, replies=as_raw(one)) for one in replied.cases))
    at_the_desk(act, session={"none": example("question"), "raw": raw, "parsed": replied}[kept])


def as_raw(case: Case) -> dict[str, Reply]:
    return {column: replace(reply, raw=True) for column, reply in case.replies.items()}


@pytest.mark.slow
def test_what_a_second_model_said_is_explained_in_its_own_reply() -> None:
    extraction = Extraction("chat", "[[ ## answer ## ]]\nbecause\n\n[[ ## completed ## ]]")
    case = Case("one", {"question": "why?"}, replies={"twostep": Reply("It is so.", extraction=extraction)})
    session = Session(SignatureText("question -> answer"), columns=(Column("twostep", "twostep"),), cases=(case,))

    async def act(desk: Desk) -> None:
        await desk.press("f6", "r")
        assert desk.app.screen.query_one(TextView).plain_text.strip() == "It is so."
        await desk.press("end")
        assert desk.app.screen.query_one(TextView).plain_text.strip() == extraction.text

    at_the_desk(act, session=session)


@pytest.mark.slow
def test_every_step_of_every_adapter_can_be_looked_at() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f6")
        for _ in catalog.NAMES:
            await desk.press("home")
            for _ in range(len(lesson(desk).steps)):
                assert_harmless(desk)
                await desk.press("right")
            await desk.press("c")

    at_the_desk(act, session=example("triage"), size=SMALL)


@pytest.mark.slow
def test_hostile_texts_are_text_in_a_lesson() -> None:
    session = session_of({name: text for name, text in HOSTILE.items() if len(text) < 1_000})

    async def act(desk: Desk) -> None:
        for index in range(0, len(session.cases), 2):
            desk.main.show_case(index)
            await desk.settle()
            await desk.press("f6", "end")
            assert_harmless(desk)
            await desk.press("left", "left", "home", "right", "escape")

    at_the_desk(act, session=session)


@pytest.mark.parametrize("size", SIZES)
def test_a_click_goes_on_back_to_a_step_to_the_reply_and_out(size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f6")
        await desk.click("→ next")
        assert lesson(desk).at == 1
        await desk.click("← back")
        assert lesson(desk).at == 0
        if size != SMALL:
            await desk.click("· The objective")
            assert "your objective is" in desk.app.screen.query_one(TextView).plain_text
        await desk.click("r reply")
        assert "The reply" in words(desk)
        await desk.click("esc close")
        assert desk.app.screen is desk.main

    at_the_desk(act, session=session_of({"plain": "plain"}), size=size)


@pytest.mark.parametrize("key", [None, "alt+f"])
def test_the_teacher_is_followed_by_a_click_or_a_key_in_the_lesson(key: str | None) -> None:
    async def act(desk: Desk) -> None:
        def show() -> None:
            lesson(desk).show_teacher(teacher.sign)

        teacher = desk.app.teacher = Teacher(desk.app, lambda place, before: "", show)
        await desk.press("f6")
        teacher.told(TeachersPlace())
        if key is None:
            await desk.click("○ follow the teacher")
        else:
            await desk.press(key)
        assert teacher.is_followed

    at_the_desk(act, session=example("question"))


def test_the_palette_of_a_lesson_offers_its_steps_first_and_quit_last() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f6")
        offered = [one.name.partition("   ")[0] for one in commands_of(desk.app, desk.app.screen)]
        assert (offered[0], offered[-1]) == ("Next", "Quit")
        assert not any(one.startswith(("Theme", "Send", "Compact")) for one in offered)

    at_the_desk(act, session=example("question"))

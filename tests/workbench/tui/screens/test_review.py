"""The review on the screen: one cause at a time, its fixtures, old and new; nothing is decided but by a key."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sessions.causes.cause import FixtureName
from sessions.file import store
from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Session, SignatureText
from sessions.running.recording import record
from sessions.source.linking import linked
from tests.support.hostile import HOSTILE, NAMES
from tests.support.open_app import MIDDLE, SIZES, SMALL, WIDE, Desk, at_the_desk
from tests.workbench.tui.test_hostile_screen import assert_harmless
from workbench.checks import reviewing
from workbench.checks.checking import Plan
from workbench.checks.decisions import Decisions, KeptDecisions
from workbench.checks.reviewing import FilesLook
from workbench.tui.actions.looking import HelpScreen
from workbench.tui.screens.review import Left, ReviewScreen
from workbench.tui.widgets.text.text_view import TextView

COLUMNS = (Column("chat", "chat"), Column("json", "json"))


def fixture_session(instructions: str = "Say whether it rains.") -> Session:
    signature = SignatureText("question -> answer", instructions=instructions)
    replies = {
        "chat": Reply("[[ ## answer ## ]]\nyes\n\n[[ ## completed ## ]]", source="pasted"),
        "json": Reply('{"answer": "yes"}', source="pasted"),
    }
    session = Session(signature, columns=COLUMNS, cases=(Case("one", {"question": "Rain?"}, replies=replies),))
    for column in COLUMNS:
        session = record(session, session.cases[0], column)
    return session


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two sessions: the instructions of both have changed, and a parameter of the second."""
    first = fixture_session()
    signature = replace(first.signature, instructions="Say whether it snows.")
    store.save(replace(first, signature=signature), tmp_path / "a.session.json")
    store.save(replace(first, signature=signature, params={"temperature": 0.5}), tmp_path / "b.session.json")
    return tmp_path


class Screen:
    """The review in front, and what it was left with."""

    def __init__(self, desk: Desk, review: ReviewScreen) -> None:
        self.desk = desk
        self.review = review
        self.left: list[Left | None] = []

    async def press(self, *keys: str) -> None:
        await self.desk.press(*keys)
        await self.desk.app.workers.wait_for_complete([one for one in self.desk.app.workers if one.group == "review"])
        await self.desk.settle()

    @property
    def painted(self) -> str:
        return "\n".join([strip.text for strip in self.desk.app.screen._compositor.render_strips()])


def reviewed(folder: Path, act: Callable[[Screen], Awaitable[None]], size: tuple[int, int] = MIDDLE) -> None:
    async def at(desk: Desk) -> None:
        found = reviewing.review(sorted(folder.glob("*.json")), Plan())
        review = ReviewScreen(Decisions(found.causes), FilesLook(Plan()), "prompts", "writes", KeptDecisions("prompts"))
        screen = Screen(desk, review)
        desk.app.push_screen(review, screen.left.append)
        await desk.settle()
        await screen.press()
        await act(screen)

    at_the_desk(at, size=size)


@pytest.mark.parametrize("size", SIZES)
def test_a_cause_says_what_changed_where_and_in_how_many_fixtures(folder: Path, size: tuple[int, int]) -> None:
    async def act(screen: Screen) -> None:
        words = " ".join((screen.painted + screen.review.text).split())
        assert "2 causes, 2 to decide" in words
        assert "in the instructions of the system message" in words
        assert "4 fixtures in 2 files" in screen.desk.app.screen.query_one("#review-list", TextView).plain_text
        assert "1 of 4" in words and "a.session.json · one · chat" in words
        assert "Say whether it rains." in words and "Say whether it snows." in words
        assert "a accept" in words and "esc close" in words and "closes" not in words

    reviewed(folder, act, size)


def test_few_causes_stand_above_and_below_them_the_fixtures_beside_the_one_at_hand(folder: Path) -> None:
    async def act(screen: Screen) -> None:
        listed, text = screen.review.query_one("#review-list"), screen.review.query_one("#review-text")
        fixtures = screen.review.query_one("#review-fixtures", TextView)
        assert listed.region.bottom <= fixtures.region.y == text.region.y
        assert fixtures.region.right == text.region.x and text.region.right == screen.review.size.width
        assert fixtures.plain_text.count("one · chat") == fixtures.plain_text.count("one · json") == 2
        assert "▸ one · chat" in screen.painted and "fixture 1 of 4" in screen.painted
        assert "a accept the change; all 4 are recorded again" in " ".join(fixtures.plain_text.split())
        await screen.press("right")
        assert "▸ one · json" in screen.painted and "fixture 2 of 4" in screen.painted
        last = max(y for y, row in enumerate(screen.painted.splitlines()) if row.startswith("    one · json"))
        await screen.desk.pilot.click(offset=(6, last))
        await screen.press()
        assert "fixture 4 of 4" in screen.painted, "a click goes there"
        await screen.press("down")
        assert "fixture 1 of 2" in screen.painted
        assert "it rains" not in screen.review.text.split("system message")[0], "nothing of another cause stays"

    reviewed(folder, act)


def test_the_whole_prompt_stands_below_as_it_was_beside_as_it_is_and_the_reply_that_stays(folder: Path) -> None:
    async def act(screen: Screen) -> None:
        rows = screen.painted.splitlines()
        side_by_side = [row for row in rows if row.count("Your input fields are:") == 2]
        assert side_by_side, "lines that have not changed too"
        fixtures = screen.review.query_one("#review-fixtures", TextView).plain_text
        assert "[[ ## answer ## ]]\nyes" in fixtures and 'answer  "yes"' in fixtures
        assert any("J more" in row for row in rows) == (screen.review.query_one("#review-text").max_scroll_y > 0)

    reviewed(folder, act, WIDE)


def test_a_screen_that_holds_no_whole_prompt_shows_what_it_holds_and_a_key_shows_all(tmp_path: Path) -> None:
    notes = "\n".join(f"Rule {number}: say it as it is." for number in range(60))
    first = fixture_session(f"{notes}\nSay whether it rains.")
    signature = replace(first.signature, instructions=f"{notes}\nSay whether it snows.")
    store.save(replace(first, signature=signature), tmp_path / "a.session.json")

    async def act(screen: Screen) -> None:
        text = screen.review.query_one("#review-text", TextView)
        assert text.max_scroll_y == 0
        assert "rains" in screen.painted and "snows" in screen.painted and "answer  " in screen.painted
        assert "Rule 3:" not in screen.review.text and "J more" in screen.painted
        await screen.press("J")
        assert "Rule 3:" in screen.review.text and text.scroll_y == 0, "all of it, from where one reads"
        await screen.press("J")
        assert text.scroll_y > 0
        await screen.press("right")
        assert "Rule 3:" not in screen.review.text, "the next fixture as short again"

    reviewed(tmp_path, act)


def test_where_even_the_shortest_form_is_too_long_a_key_goes_down_in_it_before_it_shows_all(folder: Path) -> None:
    async def act(screen: Screen) -> None:
        text = screen.review.query_one("#review-text", TextView)
        assert text.max_scroll_y > 0 and "lines are as recorded" in screen.review.text
        await screen.press("J")
        assert text.scroll_y == text.max_scroll_y > 0 and "answer  " in screen.painted
        await screen.press("J")
        assert text.scroll_y == 0 and "Your input fields are:" in screen.painted

    reviewed(folder, act, SMALL)


def test_where_it_is_low_the_reply_stands_below_the_prompt(folder: Path) -> None:
    async def act(screen: Screen) -> None:
        assert not screen.review.query_one("#review-fixtures").display
        assert 'answer  "yes"' in screen.review.text and "[[ ## answer ## ]]" in screen.review.text

    reviewed(folder, act, SMALL)


def test_leaving_says_how_many_fixtures_are_recorded_and_not_how_many_causes(folder: Path) -> None:
    async def act(screen: Screen) -> None:
        await screen.press("a")
        assert len(screen.review.decisions.accepted) == 1
        assert "esc writes 2" in screen.painted.splitlines()[-1], "two of its four wait for the parameter"
        await screen.press("s")
        assert "esc writes 2" in screen.painted.splitlines()[-1]
        await screen.press("u", "a")
        assert "esc writes 4" in screen.painted.splitlines()[-1]

    reviewed(folder, act, WIDE)


def test_of_a_message_that_is_shown_by_its_change_alone_it_is_said_how_much_is_as_recorded(folder: Path) -> None:
    async def act(screen: Screen) -> None:
        assert screen.review._is_shortened
        shown = screen.review.text
        assert "Your input fields are:" not in shown
        (said,) = [line for line in shown.splitlines() if "lines are as recorded" in line]
        message = record_of(folder, "chat")
        assert f"{len(message) - 1} of {len(message)} lines are as recorded" in said
        await screen.press("J")
        assert "Your input fields are:" in screen.review.text
        assert "lines are as recorded" not in screen.review.text

    reviewed(folder, act, (100, 30))


def record_of(folder: Path, column: str) -> list[str]:
    """The lines of the first message that is recorded for a column of the first session."""
    session = store.load(folder / "a.session.json")
    return str(session.cases[0].recordings[column].messages[0]["content"]).split("\n")


def test_leaving_says_that_nothing_is_recorded_where_all_that_was_accepted_waits(tmp_path: Path) -> None:
    first = fixture_session()
    signature = replace(first.signature, instructions="Say whether it snows.")
    store.save(replace(first, signature=signature, params={"temperature": 0.5}), tmp_path / "b.session.json")

    async def act(screen: Screen) -> None:
        await screen.press("a", "s")
        assert len(screen.review.decisions.accepted) == 1
        assert "esc writes 0" in screen.painted.splitlines()[-1]

    reviewed(tmp_path, act, WIDE)


@pytest.mark.slow
@pytest.mark.parametrize("size", [WIDE, (100, 30), SMALL])
def test_no_key_is_cut_off_at_the_edge_whatever_can_be_done(folder: Path, size: tuple[int, int]) -> None:
    def last_line(screen: Screen) -> str:
        return screen.painted.splitlines()[-1]

    whole = {
        "a accept",
        "s reject",
        "A/S all",
        "u undo",
        "esc close",
        "←→ fixtures",
        "v view",
        "o open",
        "↑↓ causes",
        "J more",
    }

    async def act(screen: Screen) -> None:
        for keys in ((), ("a",), ("A",), ("u",)):
            await screen.press(*keys)
            hints = {one for one in last_line(screen).strip().split("  ") if one}
            assert {one for one in hints if not one.startswith("esc writes")} <= whole, hints
            assert {"a accept", "s reject", "A/S all", "v view", "o open"} <= hints
            if size == WIDE:
                assert "↑↓ causes" in hints

    reviewed(folder, act, size)


def test_accepting_goes_to_the_next_cause_and_leaving_tells_what_was_decided(folder: Path) -> None:
    async def act(screen: Screen) -> None:
        await screen.press("a")
        assert "temperature" in screen.review.cause.words
        await screen.press("s", "escape")
        (left,) = screen.left
        assert left is not None and left.go_to is None
        instructions, parameter = left.decisions.causes
        assert left.decisions.accepted == {instructions.id} and left.decisions.of(parameter) == "leave"

    reviewed(folder, act)


@pytest.mark.slow
def test_capitals_are_for_all_that_remain_and_undo_takes_back_step_by_step(folder: Path) -> None:
    async def act(screen: Screen) -> None:
        await screen.press("s", "A")
        first, second = screen.review.decisions.causes
        assert screen.review.decisions.of(first) == "leave" and screen.review.decisions.of(second) == "accept"
        await screen.press("u")
        assert screen.review.cause is second and screen.review.decisions.of(second) is None
        await screen.press("ctrl+z", "S")
        assert screen.review.decisions.accepted == frozenset() and not screen.review.decisions.open
        await screen.press("u", "u", "escape")
        assert screen.left[0] is not None and not screen.left[0].decisions.can_be_undone

    reviewed(folder, act)


@pytest.mark.slow
def test_the_key_for_the_view_shows_both_side_by_side_and_each_alone(folder: Path) -> None:
    async def act(screen: Screen) -> None:
        old, new = "Say whether it rains.", "Say whether it snows."
        assert old in screen.review.text and new in screen.review.text
        await screen.press("v")
        row = next(line for line in screen.painted.splitlines() if old in line)
        assert row.index(old) < row.index("│", row.index(old)) < row.index(new)
        await screen.press("v")
        assert old in screen.review.text and new not in screen.review.text
        await screen.press("v")
        assert old not in screen.review.text and new in screen.review.text
        await screen.press("v")
        assert old in screen.review.text and new in screen.review.text

    reviewed(folder, act)


def test_walking_through_the_fixtures_shows_each_as_its_own_file_has_it(folder: Path) -> None:
    async def act(screen: Screen) -> None:
        await screen.press("right", "n")
        assert screen.review.fixture == FixtureName(str(folder / "b.session.json"), "one", "chat")
        assert "depends on another cause" in screen.review.text and "temperature" in screen.review.text
        assert "Say whether it snows." in screen.review.text
        await screen.press("left", "left", "p")
        assert screen.review.fixture.path.endswith("b.session.json") and screen.review.fixture.column == "json"

    reviewed(folder, act)


def test_a_fixture_whose_file_is_another_by_now_says_so(folder: Path) -> None:
    async def act(screen: Screen) -> None:
        (folder / "b.session.json").unlink()
        await screen.press("right", "right")
        assert "no longer shows it" in screen.review.text

    reviewed(folder, act)


def test_o_leaves_for_the_fixture_on_screen_with_the_decisions_so_far(folder: Path) -> None:
    async def act(screen: Screen) -> None:
        cause = screen.review.cause
        await screen.press("a", "up", "right", "o")
        (left,) = screen.left
        assert left is not None and left.go_to == (cause, cause.fixtures[1])
        assert left.decisions.accepted == {cause.id}

    reviewed(folder, act)


def test_what_recording_does_not_settle_is_not_accepted_and_says_why(folder: Path) -> None:
    path = folder / "a.session.json"
    first = fixture_session()
    store.save(first.replace_case(replace(first.cases[0], expect={"fields": {"answer": {"equals": "no"}}})), path)
    (folder / "b.session.json").unlink()

    async def act(screen: Screen) -> None:
        assert "not settled by recording again" in screen.review.text
        await screen.press("a")
        assert not screen.review.decisions.can_be_undone
        assert any("not settled" in one.message for one in screen.desk.app._notifications)
        await screen.press("A")
        assert any("No undecided cause left" in one.message for one in screen.desk.app._notifications)

    reviewed(folder, act)


@pytest.mark.slow
def test_a_click_on_a_cause_shows_it_and_help_names_its_keys(folder: Path) -> None:
    async def act(screen: Screen) -> None:
        await screen.desk.pilot.click("#review-list", offset=(6, 1))
        await screen.press()
        assert "temperature" in screen.review.cause.words
        await screen.press("f1")
        assert isinstance(screen.desk.app.screen, HelpScreen)
        listed = str(screen.desk.app.screen.query_one(".dialog-text").render())
        assert "review.accept" in listed and "→ n" in listed and "← p" in listed
        await screen.press("escape", "f5", "ctrl+s", "ctrl+p")
        assert screen.desk.app.screen is screen.review

    reviewed(folder, act)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_hostile_texts_of_a_session_stay_text(tmp_path: Path, name: str) -> None:
    hostile = HOSTILE[name][:2000].encode("utf-8", "replace").decode()  # no file holds a lone surrogate
    session = fixture_session(f"Say it. {hostile}")
    signature = replace(session.signature, instructions=f"Tell it. {hostile}")
    store.save(replace(session, signature=signature), tmp_path / "a.session.json")

    async def act(screen: Screen) -> None:
        for _ in range(4):
            assert_harmless(screen.desk)
            await screen.press("v")

    reviewed(tmp_path, act, SMALL)


def test_a_program_that_says_otherwise_shows_what_pulling_would_change_in_the_prompt(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    program = tmp_path / "qa.py"
    program.write_text('import dspy\nclass A(dspy.Signature):\n    """Read."""\n    question: str = dspy.InputField()\n'
                       "    answer: str = dspy.OutputField()\n")  # fmt: skip
    session = replace(fixture_session(), signature=linked(program, "A", tmp_path))
    for column in COLUMNS:
        session = record(session, session.cases[0], column)
    store.save(session, tmp_path / "a.session.json")
    program.write_text(program.read_text().replace("Read.", "Listen."))

    async def act(screen: Screen) -> None:
        assert screen.review.cause.key.kind == "source"
        await screen.desk.until(lambda: "once pulled, messages[0]" in screen.review.text, "for what pulling changes")
        assert "Listen." in screen.review.text.partition("once pulled")[2]
        await screen.press("a", "escape")
        assert screen.left[0] is not None and screen.left[0].decisions.accepted

    reviewed(tmp_path, act)

"""The grid of a bench on the screen: by colour and sign, sorted, filtered, and what is behind each cell."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sessions.bench import results
from sessions.bench.grid import latest
from sessions.bench.results import BenchRun, ResultsFile
from sessions.file import store
from sessions.model.replies import Answer, Measured
from sessions.model.session import Case, Column, Session, SignatureText
from sessions.running import rendering
from tests.support.bench_lines import results_of
from tests.support.hostile import HOSTILE, NAMES
from tests.support.open_app import MIDDLE, SIZES, Desk, at_the_desk
from tests.workbench.tui.test_hostile_screen import assert_harmless
from workbench.state.document import Place
from workbench.tui.actions import benching
from workbench.tui.dialogs.choose import ChooseScreen
from workbench.tui.screens.bench import BenchScreen, BenchTextScreen
from workbench.tui.widgets.heat_map import HeatMap, head_of

REPLY = "[[ ## answer ## ]]\n{}\n\n[[ ## completed ## ]]"
CASES = ("calm", "flips", "differs", "fails")
APART = ("fails", "flips", "differs", "calm")
"""By disagreement, the order in which the grid opens, with the cursor on the cell that is worst."""


def session_of(cases: tuple[str, ...] = CASES) -> Session:
    return Session(
        SignatureText("question -> answer"),
        columns=(Column("chat", "chat"), Column("json", "json")),
        cases=tuple([Case(name, {"question": "Is it?"}) for name in cases]),
    )


def run_of(case: str, column: str, number: int, good: bool, value: str = "yes") -> BenchRun:
    return BenchRun(
        case=case,
        column=column,
        number=number,
        outcome="parsed" if good else "refused",
        request="sha256:1",
        model="offline/exact",
        adapter=column,
        reply=Answer(text=REPLY.format(value)),
        values={"answer": value} if good else {},
        error=None if good else "the reply could not be read",
        tokens=10,
        measured=(Measured(duration_ms=5.0),),
    )


def usual_runs() -> list[BenchRun]:
    """Two runs each: one case flips under chat, one has other values, one fails under json."""
    found = []
    for number in (1, 2):
        for case in CASES:
            for column in ("chat", "json"):
                good = not (case == "flips" and column == "chat" and number == 2) and not (
                    case == "fails" and column == "json"
                )
                value = "no" if case == "differs" and column == "json" else "yes"
                found.append(run_of(case, column, number, good, value))
    return found


class Seen:
    """The grid in front of the app."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    @property
    def painted(self) -> str:
        return "\n".join([strip.text for strip in self.desk.app.screen._compositor.render_strips()])

    @property
    def rows(self) -> list[str]:
        """The cases in sight, in their order."""
        words = [line.split() for line in self.painted.split("\n")]
        return [one[0] for one in words if len(one) > 1 and one[0] in CASES and one[1] in ("✓", "◐", "✗", "!")]

    async def press(self, *keys: str) -> None:
        await self.desk.press(*keys)


def looked_at(
    tmp_path: Path,
    act: Callable[[Seen], Awaitable[None]],
    runs: list[BenchRun] | None = None,
    size: tuple[int, int] = MIDDLE,
    session: Session | None = None,
) -> None:
    path = tmp_path / "q.session.json"
    store.save(session or session_of(), path)
    with ResultsFile(results.path_beside(path)) as file:
        for one in usual_runs() if runs is None else runs:
            file.append(one)

    async def at(desk: Desk) -> None:
        desk.app.ask(benching.look_at_bench(desk.app))
        await desk.until(lambda: isinstance(desk.app.screen, BenchScreen), "for the grid")
        await act(Seen(desk))

    at_the_desk(at, store.load(path), path, size=size)


@pytest.mark.parametrize("size", SIZES)
def test_each_cell_says_by_sign_and_number_how_its_runs_ended(tmp_path: Path, size: tuple[int, int]) -> None:
    async def act(seen: Seen) -> None:
        assert seen.rows == list(APART)
        assert "✓ 2/2" in seen.painted
        assert "◐ 1/2~" in seen.painted
        assert "✗ 0/2" in seen.painted
        assert "4 cases × 2 columns" in seen.painted
        assert "whole column: parsed 6 of 8" in seen.painted
        await seen.press("left")
        assert "whole column: parsed 7 of 8 (39–99 %)" in seen.painted
        assert "best: none yet · not told apart: chat, json · 4 cases" in seen.painted.split("\n")[0]
        assert "esc" in seen.painted.split("\n")[-1]

    looked_at(tmp_path, act, size=size)


def test_the_cursor_says_what_its_cell_came_to(tmp_path: Path) -> None:
    async def act(seen: Seen) -> None:
        assert "fails · json" in seen.painted
        assert "parsed 0 of 2" in seen.painted
        await seen.press("down", "left")
        assert "flips · chat" in seen.painted
        assert "flaky: parsed 1 of 2" in seen.painted

    looked_at(tmp_path, act)


@pytest.mark.slow
def test_a_key_leaves_the_cases_that_differ_failed_or_flip(tmp_path: Path) -> None:
    async def act(seen: Seen) -> None:
        found = []
        for _ in range(3):
            await seen.press("f")
            found.append(seen.rows)
        assert found == [["fails", "flips", "differs"], ["fails", "flips"], ["flips"]]
        assert "flaky cases" in seen.painted
        await seen.press("f")
        assert seen.rows == list(APART)

    looked_at(tmp_path, act)


def test_where_a_filter_leaves_nothing_that_is_said_and_no_key_breaks_it(tmp_path: Path) -> None:
    runs = [run_of("calm", column, 1, True) for column in ("chat", "json")]

    async def act(seen: Seen) -> None:
        await seen.press("f")
        assert "No case matches the filter" in seen.painted
        await seen.press("enter", "o", "t", "s", "down", "right", "end", "enter")
        assert isinstance(seen.desk.app.screen, BenchScreen)

    looked_at(tmp_path, act, runs)


def test_a_key_sorts_as_in_the_session_and_by_the_worst(tmp_path: Path) -> None:
    async def act(seen: Seen) -> None:
        await seen.press("s")
        assert seen.rows == list(CASES)
        await seen.press("s")
        assert seen.rows == ["fails", "flips", "calm", "differs"]
        await seen.press("s")
        assert seen.rows == list(APART)

    looked_at(tmp_path, act)


def test_a_case_that_nothing_is_known_of_is_not_among_the_worst(tmp_path: Path) -> None:
    async def act(seen: Seen) -> None:
        await seen.press("s", "s")
        assert seen.rows == ["fails", "flips", "differs", "calm"]

    runs = [replace(one, outcome="failed") if one.case == "calm" else one for one in usual_runs()]
    looked_at(tmp_path, act, runs)


@pytest.mark.slow
def test_enter_shows_the_runs_of_the_cell_and_escape_leads_back(tmp_path: Path) -> None:
    async def act(seen: Seen) -> None:
        await seen.press("down", "left", "enter")
        assert isinstance(seen.desk.app.screen, BenchTextScreen)
        assert "run 1: parsed" in seen.painted
        assert 'answer "yes"' in seen.painted
        assert "the reply could not be read" in seen.painted
        await seen.press("escape")
        assert isinstance(seen.desk.app.screen, BenchScreen)
        await seen.press("p")
        assert "chat and json are not told apart" in " ".join(seen.painted.split())

    looked_at(tmp_path, act)


@pytest.mark.slow
def test_a_run_comes_on_screen_with_its_reading_and_undo_takes_it_back(tmp_path: Path) -> None:
    async def act(seen: Seen) -> None:
        desk = seen.desk
        await seen.press("down", "down", "enter", "down", "o")
        await desk.until(lambda: desk.app.screen is desk.main, "for the panes")
        assert desk.document.state.case.name == "differs"
        assert desk.reply("json") == REPLY.format("no")
        await seen.press("ctrl+z")
        assert desk.reply("json") == ""

    looked_at(tmp_path, act)


def test_one_key_makes_the_case_the_one_on_screen(tmp_path: Path) -> None:
    async def act(seen: Seen) -> None:
        desk = seen.desk
        await seen.press("down", "down", "left", "o")
        await desk.until(lambda: desk.app.screen is desk.main, "for the panes")
        assert desk.document.state.case.name == "differs"
        assert desk.reply("chat") == REPLY.format("yes")

    looked_at(tmp_path, act)


def test_without_runs_it_says_how_they_are_made(tmp_path: Path) -> None:
    path = tmp_path / "q.session.json"
    store.save(session_of(), path)

    async def act(desk: Desk) -> None:
        desk.app.ask(benching.look_at_bench(desk.app))
        await desk.until(lambda: desk.app._notifications, "for a word")
        assert any("workbench bench q.session.json" in one.message for one in desk.app._notifications)

    at_the_desk(act, store.load(path), path)


def test_what_is_gone_from_the_session_is_said_and_nothing_breaks(tmp_path: Path) -> None:
    async def act(seen: Seen) -> None:
        desk = seen.desk
        await seen.press("o")
        await desk.until(lambda: desk.app.screen is desk.main, "for the panes")
        assert any("The case gone no longer exists" in one.message for one in desk.app._notifications)

    looked_at(tmp_path, act, [run_of("gone", "chat", 1, True)])


def test_above_each_column_are_its_share_cost_time_and_tokens(tmp_path: Path) -> None:
    async def act(seen: Seen) -> None:
        heads = [line for line in seen.painted.split("\n") if "88 %" in line or "75 %" in line]
        assert len(heads) == 1
        assert "88 % (39–99)" in heads[0]
        for word in ("free", "p50 5 ms", "10 tokens"):
            assert word in seen.painted
        assert "✗ 0/2  the reply could not be read" in seen.painted

    looked_at(tmp_path, act)


def test_one_key_keeps_the_cases_that_this_column_failed_and_another_passed(tmp_path: Path) -> None:
    async def act(seen: Seen) -> None:
        await seen.press("v")
        assert seen.rows == ["fails"]
        assert "json failed, chat passed" in seen.painted
        await seen.press("v")
        assert seen.rows == list(APART)
        await seen.press("left", "v")
        assert seen.rows == ["flips"]
        assert "chat failed, json passed" in seen.painted
        await seen.press("f")
        assert seen.rows == list(APART)

    looked_at(tmp_path, act)


def test_misses_are_grouped_by_cause_and_lead_to_their_cells(tmp_path: Path) -> None:
    runs = [replace(one, cause="xml-tag-not-closed") if one.outcome == "refused" else one for one in usual_runs()]

    async def act(seen: Seen) -> None:
        desk = seen.desk
        await seen.press("g")
        await desk.until(lambda: isinstance(desk.app.screen, ChooseScreen), "for the groups")
        assert "json: 2 × A tag is not closed" in seen.painted
        await seen.press("down", "enter")
        await desk.until(lambda: isinstance(desk.app.screen, BenchScreen), "for the grid")
        assert seen.rows == ["fails"]
        assert "2 × A tag is not closed" in seen.painted
        assert "fails · json" in seen.painted

    looked_at(tmp_path, act, runs)


def test_a_run_is_kept_as_a_fixture(tmp_path: Path) -> None:
    async def act(seen: Seen) -> None:
        desk = seen.desk
        await seen.press("down", "down", "enter", "r")
        await desk.until(lambda: "json" in desk.document.state.case.recordings, "for the recording")
        assert desk.document.state.case.name == "differs"

    looked_at(tmp_path, act)


@pytest.mark.parametrize("is_old", [False, True])
def test_a_run_of_an_earlier_prompt_is_said_to_be_and_shown_as_an_old_reply(tmp_path: Path, is_old: bool) -> None:
    session = session_of()
    asked = rendering.request_of(session, session.columns[1], session.cases[2])
    request = "sha256:1" if is_old else results.request_digest(session.columns[1], asked)

    async def act(seen: Seen) -> None:
        desk = seen.desk
        assert ("of an earlier prompt" in seen.painted) is is_old
        await seen.press("o")
        await desk.until(lambda: desk.app.screen is desk.main and bool(desk.reply("json")), "for the reply")
        desk.main.go_to(Place("column", "differs", field="json"))
        shown = desk.main.shown_column()
        assert shown is not None
        assert desk.main.replies.is_outdated(desk.document.state, shown) is is_old

    looked_at(tmp_path, act, [replace(run_of("differs", "json", 1, False), request=request)])


def test_a_run_becomes_a_demo_with_the_outputs_that_its_case_expects(tmp_path: Path) -> None:
    cases = tuple(
        [Case(name, {"question": "Is it?"}, expect={"fields": {"answer": {"equals": "42"}}}) for name in CASES]
    )

    async def act(seen: Seen) -> None:
        desk = seen.desk
        await seen.press("enter", "d")
        await desk.until(lambda: desk.document.session.demos, "for the demo")
        assert desk.document.session.demos[0].values == {"question": "Is it?", "answer": "42"}
        await seen.press("ctrl+z")
        assert not desk.document.session.demos

    looked_at(tmp_path, act, session=replace(session_of(), cases=cases))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_hostile_names_replies_and_errors_are_text(tmp_path: Path, name: str) -> None:
    text = HOSTILE[name]
    run = replace(run_of(text, "chat", 1, False), error=text, failures=(text,), flags=(text,), reply=Answer(text=text))
    good = replace(run_of(text, text, 1, True), values={text: text})

    async def act(seen: Seen) -> None:
        assert_harmless(seen.desk)
        await seen.press("enter")
        assert_harmless(seen.desk)
        await seen.press("escape", "t", "down", "enter")
        assert_harmless(seen.desk)
        await seen.press("escape", "p")
        assert_harmless(seen.desk)

    looked_at(tmp_path, act, [run, good])


@pytest.mark.slow
def test_thousands_of_cases_are_walked_through_without_making_them_all(tmp_path: Path) -> None:
    runs = [run_of(f"case {number}", column, 1, True) for number in range(1500) for column in ("chat", "json")]

    async def act(seen: Seen) -> None:
        await seen.press("end")
        assert "case 1499" in seen.painted
        assert "of 1500" in seen.painted
        assert seen.desk.app.screen.query_one(HeatMap).row == 1499

    looked_at(tmp_path, act, runs)


def test_columns_stand_in_the_sessions_order_whichever_run_ended_first(tmp_path: Path) -> None:
    names = ("json · b", "chat · b", "xml · a", "json · a", "chat · a")
    found = results_of(tmp_path / "q.bench.jsonl", [run_of("one", name, 1, True) for name in names])
    grid = latest(found, ["one"], ["chat", "json"])
    assert [one.column for one in grid.columns] == ["chat · b", "chat · a", "json · b", "json · a", "xml · a"]


def test_only_the_last_prompt_of_a_cell_counts(tmp_path: Path) -> None:
    old = run_of("one", "chat", 1, False)
    runs = [old, replace(run_of("one", "chat", 1, True), request="sha256:2")]
    grid = latest(results_of(tmp_path / "q.bench.jsonl", runs))
    assert [(one.parsed, one.many) for one in grid.columns] == [(1, 1)]


def test_a_head_has_two_parts() -> None:
    assert head_of("chat · openai/gpt-6-luna") == ("chat", "gpt-6-luna")
    assert head_of("chat") == ("", "chat")


def test_a_high_screen_shows_the_facts_of_a_cell_whole(tmp_path: Path) -> None:
    async def act(seen: Seen) -> None:
        about = " ".join(" ".join(seen.painted.split("\n")[-6:-1]).split())
        assert about.count("ms (p95) 5 (5)") == 2 and "…" not in about, about

    looked_at(tmp_path, act, size=(60, 40))

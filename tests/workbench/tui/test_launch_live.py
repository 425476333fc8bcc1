"""Calls of a running program appear in the app as they arrive; one is chosen, fixed and written back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from adapters.lm import litellm_answers
from sessions.captured.folder import CallFilter, CapturedFolder
from sessions.file import autosave, store
from tests.sessions.captured.test_folder import DEFINITION, call
from tests.support.open_app import Desk
from workbench.__main__ import SCREENS
from workbench.capture.sessions_writer import CallFiles, attached, teller
from workbench.editing import edits
from workbench.sending.sent_runs import SentRuns, Wanted
from workbench.state.document import Place
from workbench.tui import launch_screens
from workbench.tui.dialogs.sent_runs import RunHistoryScreen
from workbench.tui.launch_screens import LiveApp
from workbench.tui.runs.run_history import LiveCalls
from workbench.tui.widgets.row_list import RowList

PROGRAM = '''import dspy


class QA(dspy.Signature):
    """Answer."""

    question: str = dspy.InputField()  # as asked
    answer: str = dspy.OutputField()
'''
HOSTILE = "\x1b[31m[bold]no[/bold] \udc00" + " and on" * 100


class Side:
    """The process that writes the sessions, in this one."""

    def __init__(self, folder: Path) -> None:
        (folder / "pyproject.toml").touch()
        self.program = folder / "program.py"
        self.program.write_text(PROGRAM)
        self.prompts = folder / "prompts"
        self._app = attached(self.prompts)
        self.calls = self._app.__enter__()
        self.is_running = True
        self.output = "Traceback: [/x] no module named app"
        self.captured = CapturedFolder(self.prompts, CallFilter(cases=2), tell=teller(self.prompts))
        home = {"file": str(self.program), "class": "QA"}
        self.captured.take({"define": "s", "signature": {**DEFINITION, "of": home, "as_written": True}})

    def call(self, question: str, reply: str = "", fails: bool = False) -> None:
        data: dict[str, Any] = call(question, "chat", **({"text": reply} if reply else {}))
        if fails:
            data["values"], data["error"] = [], {"type": "AdapterParseError", "message": reply}
            data["attempts"][0]["readings"] = [{"error": "AdapterParseError"}]
        self.captured.take(data)
        self.captured.save()

    def close(self) -> None:
        self._app.__exit__(None, None, None)


@pytest.fixture
def side(tmp_path: Path) -> Iterator[Side]:
    made = Side(tmp_path)
    yield made
    made.close()


def live(side: Side, act: Callable[[LiveApp, Desk, RunHistoryScreen], Awaitable[None]]) -> None:
    async def run() -> None:
        about = lambda: "program.py is running" if side.is_running else "program.py ended with -9"  # noqa: E731
        app = LiveApp(LiveCalls(side.calls, about, lambda: side.output))
        async with app.run_test(size=(120, 35), notifications=True) as pilot:
            desk = Desk(app, pilot)
            await desk.until(lambda: isinstance(app.screen, RunHistoryScreen), "for the list")
            screen = app.screen
            assert isinstance(screen, RunHistoryScreen)
            await act(app, desk, screen)
        autosave.discard(app.document.path)
        assert not app.mistakes.seen

    asyncio.run(run())


async def listed(desk: Desk, screen: RunHistoryScreen, *cases: str) -> None:
    await desk.until(lambda: [one.case for one in screen._found.runs] == list(cases), f"for {cases}")


def text(screen: RunHistoryScreen) -> str:
    return "\n".join(screen._text.row(y, 90).text for y in range(12))


def test_calls_appear_as_they_arrive_failed_ones_first_and_the_chosen_one_stays(side: Side) -> None:
    async def act(app: LiveApp, desk: Desk, screen: RunHistoryScreen) -> None:
        await desk.until(lambda: "no module named app" in text(screen), "for the program's errors")
        side.call("first")
        await listed(desk, screen, "first")
        await desk.until(lambda: "yes" in text(screen), "for its reply")
        side.call("second", HOSTILE, fails=True)
        await listed(desk, screen, "second", "first")
        await desk.press("down", "space")
        side.call("third")
        await listed(desk, screen, "second", "third", "first")  # also one beyond `--cases`
        assert (screen._current, screen._marked) == (2, 2)
        side.is_running = False
        title = lambda: str(screen.query_one(".dialog").border_title)  # noqa: E731
        await desk.until(lambda: "ended with -9" in title(), "for the program's end")

    live(side, act)


def test_a_call_chosen_while_the_list_is_read_again_stays_chosen(side: Side) -> None:
    async def act(app: LiveApp, desk: Desk, screen: RunHistoryScreen) -> None:
        side.call("first")
        side.call("second")
        await listed(desk, screen, "second", "first")
        ask = screen._ask

        async def slowly(what: Any) -> Any:
            found = await ask(what)
            if what is not SentRuns.version:
                screen._ask = ask
                screen._moved(RowList.Moved(1))
            return found

        screen._ask = slowly  # type: ignore[assignment]
        side.call("third")
        await listed(desk, screen, "third", "second", "first")
        assert screen._found.runs[screen._current].case == "first"

    live(side, act)


def test_with_no_call_yet_the_guide_says_how_calls_arrive(side: Side) -> None:
    async def act(app: LiveApp, desk: Desk, screen: RunHistoryScreen) -> None:
        await desk.press("escape")
        app.guidance.show(app.GUIDE)
        assert app.main.guide is not None
        said = app.main.guide.render().plain
        assert "workbench capture -o FOLDER" in said and "alt+h" in said and "F5 sends" not in said

    live(side, act)


def test_unsaved_work_is_offered_over_the_list(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(autosave, "why_not", lambda: "the disk is full")

    async def act(app: LiveApp, desk: Desk, screen: RunHistoryScreen) -> None:
        await desk.until(lambda: "the disk is full" in [one.message for one in app._notifications], "for the warning")

    live(side, act)


def test_a_chosen_call_opens_in_its_session_and_its_fix_is_written_into_the_program(side: Side) -> None:
    side.call("first")
    side.call("second", HOSTILE, fails=True)

    async def act(app: LiveApp, desk: Desk, screen: RunHistoryScreen) -> None:
        await listed(desk, screen, "second", "first")
        await desk.press("enter")
        path = side.prompts / "QA.session.json"
        await desk.until(lambda: desk.document.path == path, "for the session")
        assert desk.document.state.case.name == "second" and desk.reply("chat") == HOSTILE
        assert not desk.document.dirty
        text = desk.document.session.signature.text.replace("OutputField()", 'OutputField(desc="yes or no")')
        desk.main.edit(partial(edits.set_signature, text=text), Place("signature"), "fix")
        await desk.press("shift+f11", "w")
        wanted = PROGRAM.replace("OutputField()", 'OutputField(desc="yes or no")')
        await desk.until(lambda: side.program.read_text() == wanted, "for the program's file")
        await desk.press("ctrl+s")
        side.call("first", "again, and not like before", fails=True)  # its session has another reply for these inputs
        await desk.press("alt+h")
        again = app.screen
        assert isinstance(again, RunHistoryScreen)
        await listed(desk, again, "first", "second", "first")
        await desk.press("enter")
        await desk.until(lambda: desk.document.state.case.name == "first", "for the other call")
        assert desk.reply("chat") == "again, and not like before"
        assert "yes or no" in desk.document.session.signature.text
        await desk.press("ctrl+z")
        assert desk.document.state.case.name == "second"

    live(side, act)
    assert "yes or no" in store.load(side.prompts / "QA.session.json").signature.text


def test_the_program_quits_from_the_list_without_an_escape_first(side: Side) -> None:
    async def act(app: LiveApp, desk: Desk, screen: RunHistoryScreen) -> None:
        side.call("first")
        await listed(desk, screen, "first")
        await desk.press("ctrl+q")
        await desk.until(lambda: app._exit, "for the end")

    live(side, act)


def test_garbage_in_a_file_of_calls_is_counted_as_lost(side: Side, tmp_path: Path) -> None:
    (tmp_path / "1.000000.calls").write_bytes(b'{"versions": {}}\n[1]\n{"a\n\xff\n' + b"[" * 100_000 + b"\n{")
    CallFiles(tmp_path).read(side.captured)
    assert (side.captured.calls, side.captured.lost) == (0, 4)


def test_every_attached_app_gets_the_calls_until_it_ends_and_a_killed_one_leaves_nothing(side: Side) -> None:
    killed = side.prompts / ".live-killed"
    killed.mkdir()
    (killed / "held").touch()
    (killed / "calls.sqlite").write_text("no database")
    with attached(side.prompts) as second:
        side.call("first")
        assert not killed.exists()
        seen = SentRuns(second, 1)
        assert [one.case for one in seen.search(Wanted()).runs] == ["first"]
        seen.close()
    side.call("second", HOSTILE, fails=True)
    assert not second.exists() and not second.parent.exists()
    seen = SentRuns(side.calls, 1)
    assert seen.search(Wanted()).count == 2
    seen.close()
    assert not side.captured.problems and len(store.load(side.prompts / "QA.session.json").cases) == 2


def test_an_app_that_is_about_to_lock_its_file_is_not_taken_for_a_killed_one(side: Side) -> None:
    starting = side.prompts / ".live-starting"
    starting.mkdir()
    (starting / "held").touch()
    side.call("first")
    assert starting.exists() and not side.captured.problems


def test_an_app_that_saw_no_call_leaves_no_folder(tmp_path: Path) -> None:
    with attached(tmp_path / "new"):
        assert (tmp_path / "new").is_dir()
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("name", "screen"), [("capture", (launch_screens, "show_calls")), ("review", (launch_screens, "run_review"))]
)
def test_the_screen_of_a_command_does_not_wait_for_litellm(
    name: str, screen: tuple[Any, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(litellm_answers, "ask", asked.append)
    monkeypatch.setattr(*screen, lambda *_: litellm_answers.answer_of("nobody/knows-it"))
    with litellm_answers.asking():
        SCREENS[name][0](*[None] * (5 if name == "review" else 3))
        assert asked == []
        litellm_answers.answer_of("nobody/knows-it")
    assert asked == [["nobody/knows-it"]]

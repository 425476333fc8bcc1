"""A column of another release of dspy on screen: it follows what is typed, and what befalls its process is its own.

The dspy beside the tests stands for the other release.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sessions.model.replies import Reply
from sessions.model.session import Column, Session
from sessions.releases import environments, project, release
from sessions.releases.engine import Call, Question
from sessions.releases.release import Release
from sessions.running import recording
from tests.support.open_app import TICKETS, Desk, at_the_desk
from workbench.state.document import Place, State
from workbench.tui.actions import columns
from workbench.tui.dialogs.choose import ChooseScreen
from workbench.tui.panes.column import ColumnPane
from workbench.tui.screens.pages import PagesScreen
from workbench.tui.textual_internals.access import EntryList
from workbench.tui.widgets.text.text_view import TextView

HERE = recording.DSPY
THERE = f"chat@{HERE}"
ANSWER = "[[ ## label ## ]]\nbug\n\n[[ ## urgency ## ]]\n3"


@pytest.fixture(autouse=True)
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The dspy of the tests, as a release that was added."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    environments.use(sys.executable)
    yield
    environments.end()
    environments.begin()


def tickets(*names: str) -> Session:
    return replace(TICKETS, columns=tuple([Column(name, name) for name in names]))


async def patiently(desk: Desk, condition: Callable[[], object], what: str) -> None:
    """As `Desk.until`, for what waits for a process to start, which takes a while on a machine with much to do."""
    for _ in range(20_000):
        if condition():
            await desk.settle()
            return
        await desk.pilot.pause(0.01)
    raise AssertionError(f"waited in vain {what}")


def pane(desk: Desk, id: str) -> ColumnPane:
    return next(one for one in desk.app.main.columns.all if one.column_id == id)


def has_followed(desk: Desk, text: str = "") -> bool:
    """Whether the other release's column shows a prompt of what stands in the document, with this text."""
    rendered = pane(desk, THERE).rendered
    return (
        rendered is not None
        and rendered.late is None
        and rendered.request is not None
        and text in str(rendered.request.messages[0].content)
    )


def say(desk: Desk, text: str) -> None:
    """Puts the task in other words."""

    def change(state: State) -> State:
        signature = state.session.signature
        changed = replace(signature, text=signature.text.replace('"""', f'"""{text}. ', 1))
        return replace(state, session=replace(state.session, signature=changed))

    desk.app.main.edit(change, Place("signature"), "say")


@pytest.mark.slow
def test_it_follows_what_is_typed_beside_ours_and_its_reply_is_read_there() -> None:
    reply = {"chat": Reply(ANSWER), THERE: Reply(ANSWER)}
    session = tickets("chat", THERE)
    session = replace(session, cases=(replace(session.cases[0], replies=reply),))

    async def act(desk: Desk) -> None:
        await patiently(desk, lambda: has_followed(desk), "for the first prompt")
        say(desk, "Be kind")
        await patiently(desk, lambda: has_followed(desk, "Be kind"), "for the prompt of what was typed")
        theirs, ours = pane(desk, THERE).rendered, pane(desk, "chat").rendered
        assert theirs is not None and ours is not None and theirs.request is not None and ours.request is not None
        assert theirs.request.prompt.as_dicts() == ours.request.prompt.as_dicts()
        assert theirs.reading is not None and ours.reading is not None
        assert theirs.reading.values == ours.reading.values
        assert f"Chat · dspy {HERE}" in str(pane(desk, THERE).border_title)
        assert f"by dspy {HERE} itself" in str(pane(desk, THERE).border_subtitle)

    at_the_desk(act, session)


@pytest.mark.slow
def test_what_it_showed_stays_and_is_stale_while_it_works() -> None:
    async def act(desk: Desk) -> None:
        await patiently(desk, lambda: has_followed(desk), "for the first prompt")
        say(desk, "Be kind")
        desk.app.main.show()
        rendered = pane(desk, THERE).rendered
        assert rendered is not None and rendered.stale and rendered.late is not None
        assert rendered.request is not None and "Be kind" not in str(rendered.request.messages[0].content)
        assert "stale" in str(pane(desk, THERE).border_title)
        ours = pane(desk, "chat").rendered
        assert ours is not None and ours.request is not None and not ours.stale
        assert "Be kind" in str(ours.request.messages[0].content)
        await patiently(desk, lambda: has_followed(desk, "Be kind"), "for the prompt of what was typed")
        assert "stale" not in str(pane(desk, THERE).border_title)

    at_the_desk(act, tickets("chat", THERE))


@pytest.mark.slow
def test_it_is_dimmed_when_the_wait_is_long_and_not_at_each_key() -> None:
    async def act(desk: Desk) -> None:
        await patiently(desk, lambda: has_followed(desk), "for the first prompt")
        column = pane(desk, THERE)
        before = column.prompt.prompt
        assert before is not None and not column.has_class("-stale")
        say(desk, "Be kind")
        desk.app.main.show()
        assert "stale" in str(column.border_title) and not column.has_class("-stale")
        await patiently(desk, lambda: has_followed(desk, "Be kind"), "for the prompt of what was typed")
        assert column.prompt.prompt is not None
        assert column.prompt.prompt.messages[-1] is before.messages[-1], "what stays is not painted anew"
        child = environments.release_of(HERE)._child
        assert child is not None
        os.kill(child._process.pid, signal.SIGSTOP)
        try:
            say(desk, "Be brief")
            await patiently(desk, lambda: column.has_class("-stale"), "for the column to be dimmed")
        finally:
            os.kill(child._process.pid, signal.SIGCONT)
        await patiently(desk, lambda: has_followed(desk, "Be brief"), "for the prompt of what was typed")
        await patiently(desk, lambda: not column.has_class("-stale"), "for the column to be as bright as others")

    at_the_desk(act, tickets("chat", THERE))


@pytest.mark.slow
def test_a_killed_process_is_started_anew_by_the_next_key() -> None:
    async def act(desk: Desk) -> None:
        await patiently(desk, lambda: has_followed(desk), "for the first prompt")
        child = environments.release_of(HERE)._child
        assert child is not None
        child._process.kill()
        child._process.wait()
        say(desk, "Be kind")
        await patiently(desk, lambda: has_followed(desk, "Be kind"), "for a new process")
        assert environments.release_of(HERE)._child is not child

    at_the_desk(act, tickets("chat", THERE))


@pytest.mark.slow
def test_no_key_waits_for_another_release_to_record_or_to_check_its_column() -> None:
    session = tickets(THERE)
    session = replace(session, cases=(replace(session.cases[0], replies={THERE: Reply(ANSWER)}),))

    async def act(desk: Desk) -> None:
        await patiently(desk, lambda: has_followed(desk), "for the first prompt")
        child = environments.release_of(HERE)._child
        assert child is not None
        for key, is_done in (
            ("ctrl+r", lambda: desk.document.state.case.recordings),
            ("f9", lambda: [one for one in desk.app._notifications if one.title == "✓ the recording matches"]),
        ):
            os.kill(child._process.pid, signal.SIGSTOP)
            await desk.press("f3", key, "f2")
            assert not is_done()
            os.kill(child._process.pid, signal.SIGCONT)
            await patiently(desk, is_done, f"for what {key} does")

    at_the_desk(act, session)


@pytest.mark.slow
def test_no_page_waits_for_another_release_on_the_thread_of_the_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    asked_on: set[threading.Thread] = set()
    own = Release.call

    def call(release: Release, question: Question) -> Call:
        asked_on.add(threading.current_thread())
        return own(release, question)

    monkeypatch.setattr(Release, "call", call)
    session = tickets(THERE, "chat")
    session = replace(
        session, cases=(replace(session.cases[0], replies={THERE: Reply(ANSWER), "chat": Reply(ANSWER)}),)
    )

    async def act(desk: Desk) -> None:
        await patiently(desk, lambda: has_followed(desk), "for the first prompt")
        child = environments.release_of(HERE)._child
        assert child is not None
        os.kill(child._process.pid, signal.SIGSTOP)
        try:
            await desk.press("f7", *"1345678", "2")
            page = desk.app.screen
            assert isinstance(page, PagesScreen)
            text = page.query_one(TextView)
            assert f"asking dspy {HERE}" in text.plain_text and "Parameters beside the messages" in text.plain_text
        finally:
            os.kill(child._process.pid, signal.SIGCONT)
        await patiently(desk, lambda: "● offline/exact" in text.plain_text, "for what other models get")
        assert "asking dspy" not in text.plain_text and "openai/gpt-6-luna" in text.plain_text
        await desk.press("u", "v", "v", "o", "escape", "ctrl+g", "c")
        assert asked_on and threading.main_thread() not in asked_on

    at_the_desk(act, session)


@pytest.mark.slow
def test_who_quits_while_another_release_is_asked_waits_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check has more questions: none of them may start a process anew."""
    session = tickets(THERE)
    reply = {THERE: Reply(ANSWER)}
    session = replace(session, cases=tuple([replace(session.cases[0], name=name, replies=reply) for name in "abc"]))
    for name in "abc":
        case = next(one for one in session.cases if one.name == name)
        session = recording.record(session, case, session.columns[0])
    started: list[release._Child] = []

    async def act(desk: Desk) -> None:
        await patiently(desk, lambda: has_followed(desk), "for the first prompt")
        engine = environments.release_of(HERE)
        child, start = engine._child, release._Child.__init__
        assert child is not None

        def starts(self: release._Child, python: str, hint: str) -> None:
            start(self, python, hint)
            started.append(self)

        monkeypatch.setattr(release._Child, "__init__", starts)
        os.kill(child._process.pid, signal.SIGSTOP)
        await desk.press("f3", "f9")
        await patiently(desk, engine._lock.locked, "for the check to ask")

    at_the_desk(act, session)
    assert started == [] and release._children == set()


@pytest.mark.slow
def test_a_process_that_ends_on_the_way_is_that_columns_error_alone(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\necho '{{\"dspy\": \"{HERE}\"}}'\nread question\necho 'no memory left' >&2\n")
    python.chmod(0o755)
    environments.use(str(python))

    async def act(desk: Desk) -> None:
        def has_failed() -> bool:
            rendered = pane(desk, THERE).rendered
            return rendered is not None and "ended: no memory left" in rendered.error

        await patiently(desk, has_failed, "for the error of the column")
        assert (
            "the next request starts it again"
            in desk.app.main.engine.column(desk.app.document.state, desk.app.document.session.columns[1]).error
        )
        ours = pane(desk, "chat").rendered
        assert ours is not None and ours.request is not None and not ours.error

    at_the_desk(act, tickets("chat", THERE))


@pytest.mark.slow
def test_a_release_that_is_not_there_says_how_to_add_it() -> None:
    async def act(desk: Desk) -> None:
        def says_how() -> bool:
            rendered = pane(desk, "chat@9.9.9").rendered
            return rendered is not None and "workbench dspy add 9.9.9" in rendered.error

        await patiently(desk, says_how, "for the error of the column")

    at_the_desk(act, tickets("chat", "chat@9.9.9"))


@pytest.mark.slow
def test_only_the_adapters_that_a_release_has_are_offered(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho \'{"dspy": "2.6.27", "adapters": ["chat", "json", "twostep"]}\'\n')
    python.chmod(0o755)
    environments.use(str(python))
    assert environments.added()[0].adapters == ("chat", "json", "twostep")
    assert [one for one in columns.release_adapters() if one.endswith("@2.6.27")] == [
        "chat@2.6.27",
        "json@2.6.27",
        "twostep@2.6.27",
    ]


@pytest.mark.slow
def test_it_is_added_as_any_other_column() -> None:
    async def act(desk: Desk) -> None:
        assert set(columns.release_adapters()) == {
            f"{one}@{HERE}" for one in ("chat", "json", "xml", "baml", "twostep")
        }
        columns.show(desk.app, THERE)
        await patiently(desk, lambda: THERE in [one.column_id for one in desk.app.main.columns.all], "for the column")
        await patiently(desk, lambda: has_followed(desk), "for its prompt")

    at_the_desk(act, tickets("chat"))


@pytest.mark.slow
def test_another_case_is_asked_for_too() -> None:
    session = tickets(THERE)

    async def act(desk: Desk) -> None:
        await patiently(desk, lambda: has_followed(desk), "for the first prompt")
        desk.document.look_at_case(1)
        desk.app.main.show_soon()

        def shows_second() -> bool:
            rendered = pane(desk, THERE).rendered
            request = rendered.request if rendered is not None else None
            return request is not None and "A shorter menu?" in str(request.messages[-1].content)

        await patiently(desk, shows_second, "for the prompt of the second case")

    at_the_desk(act, session)


def make_project(folder: Path, version: str) -> None:
    """An environment in `folder` with that dspy, which is the one of the tests."""
    (folder / f".venv/lib/python3/site-packages/dspy-{version}.dist-info").mkdir(parents=True)
    (folder / ".venv/pyvenv.cfg").touch()
    (folder / ".venv/bin").mkdir()
    (folder / ".venv/bin/python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (folder / ".venv/bin/python").chmod(0o755)


@pytest.mark.slow
def test_every_column_follows_the_dspy_of_the_project_and_undo_takes_it_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_project(tmp_path, HERE)
    monkeypatch.chdir(tmp_path)
    environments.remove(HERE)

    async def act(desk: Desk) -> None:
        def ids() -> list[str]:
            return [one.id for one in desk.document.session.columns]

        own = project.find(tmp_path)
        assert own is not None and environments.find(HERE) is None
        desk.app.ask(columns.follow_project(desk.app, own))
        await patiently(desk, lambda: ids() == [f"chat@{HERE}", f"json@{HERE}", "markdown"], "for the columns")
        assert environments.find(HERE) is not None
        await patiently(desk, lambda: has_followed(desk), "for its prompt")
        desk.document.undo()
        assert ids() == ["chat", "json", "markdown"]

    at_the_desk(act, tickets("chat", "json", "markdown"))


def test_the_start_says_that_the_project_has_another_dspy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_project(tmp_path, "9.9.9")
    monkeypatch.chdir(tmp_path)

    async def act(desk: Desk) -> None:
        said = "this project has dspy 9.9.9; alt+c offers it"
        await desk.until(lambda: said in desk.main.status.render().plain, "for the sentence")

    at_the_desk(act, tickets("chat"))


@pytest.mark.slow
def test_the_dspy_of_the_project_is_offered_among_the_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_project(tmp_path, "9.9.9")
    monkeypatch.chdir(tmp_path)

    async def act(desk: Desk) -> None:
        desk.app.ask(columns.add(desk.app))
        await desk.until(lambda: isinstance(desk.app.screen, ChooseScreen), "for the dialog")
        options = [one.text for one in desk.app.screen.query_one(EntryList).entries]
        assert [one for one in options if "dspy 9.9.9" in one and "this project's own (.venv)" in one]

    at_the_desk(act, tickets("chat"))

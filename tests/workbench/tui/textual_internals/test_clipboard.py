"""What is copied reaches the clipboard outside of tmux too, whichever tmux that is."""

from pathlib import Path

import pytest
from textual import events

from tests.support.open_app import Desk, at_the_desk
from workbench.tui.textual_internals import terminal

TMUX = """#!/bin/sh
[ "$1" = load-buffer ] || exit 1
[ "$2" = -w ] && {refuses} && exit 1
echo "$@" > "$HOME/asked"
cat > "$HOME/copied"
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("TMUX", "/tmp/tmux-0/default,1,0")
    return tmp_path


def install(home: Path, refuses: bool) -> None:
    program = home / "tmux"
    program.write_text(TMUX.format(refuses="true" if refuses else "false"))
    program.chmod(0o755)


@pytest.mark.parametrize(("is_old", "asked"), [(False, "load-buffer -w -"), (True, "load-buffer -")])
def test_tmux_is_asked_to_hand_it_on_and_an_old_one_to_keep_it(is_old: bool, asked: str, home: Path) -> None:
    install(home, refuses=is_old)
    text = "-w \x1b]52;c;x\x07 „ü“\n" + "x" * 200_000
    assert terminal.copy_to_tmux(text)
    assert (home / "asked").read_text().strip() == asked
    assert (home / "copied").read_text(encoding="utf-8") == text


def test_outside_of_tmux_and_without_its_program_nothing_is_asked(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(home))
    assert not terminal.copy_to_tmux("a")
    install(home, refuses=False)
    monkeypatch.delenv("TMUX")
    assert not terminal.copy_to_tmux("a")
    assert not (home / "copied").exists()


def test_what_is_pasted_where_nothing_takes_a_text_is_said_not_to_be() -> None:
    async def act(desk: Desk) -> None:
        before = desk.document.state
        for focus in (desk.main.columns.all[0].prompt, None):
            desk.app.clear_notifications()
            desk.main.set_focus(focus)
            desk.app.post_message(events.Paste("a text"))
            await desk.until(lambda: desk.app._notifications, "for what is said of it")
            (said,) = desk.app._notifications
            assert "F2" in said.message and "F4" in said.message
        desk.app.clear_notifications()
        await desk.press("f4")
        desk.app.post_message(events.Paste("a reply"))
        await desk.until(lambda: "a reply" in desk.reply("chat"), "for the reply")
        assert not desk.app._notifications
        assert desk.document.session.signature == before.session.signature

    at_the_desk(act)

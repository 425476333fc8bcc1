from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from terminal import Terminal

from workbench.cli.commands import SUMMARIES

Run = Callable[..., Any]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_and_option_is_completed_and_the_shell_understands(shell: str, run: Run) -> None:
    script = run("completions", shell).out
    assert all(name in script for name in SUMMARIES)
    assert "junit" in script
    if shutil.which(shell):
        Path("script").write_text(script)
        subprocess.run([shell, "-n", "script"], check=True)


INTERACTIVE = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], 'workbench() { echo "RAN $* END"; }; source ./script'),
    "zsh": (
        ["zsh", "-f", "-i"],
        'workbench() { echo "RAN $* END" }; autoload -Uz compinit; compinit -u -D; source ./script',
    ),
    "fish": (["fish", "--no-config"], 'function workbench; echo "RAN $argv END"; end; source ./script'),
}
"""How a shell is started without its user's files, and what makes `workbench` say how it was called."""
TYPED = {
    "workbench chec\t": "RAN check END",
    "workbench check --jun\t": "RAN check --junit END",
    "workbench check --adapter twos\t": "RAN check --adapter twostep END",
    "workbench completions zs\t": "RAN completions zsh END",
    "workbench render q.ses\t": "RAN render q.session.json END",
}


@pytest.mark.parametrize("shell", INTERACTIVE)
def test_a_shell_completes_what_is_typed(shell: str, run: Run, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell}")
    words, setting_up = INTERACTIVE[shell]
    Path("script").write_text(run("completions", shell).out)
    Path("q.session.json").touch()
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    with Terminal(words, tmp_path, (160, 45), home) as terminal:
        terminal.press(setting_up + "; echo REA''DY\r")
        terminal.wait_for("READY")
        for typed, called in TYPED.items():
            terminal.press(typed)
            terminal.wait_for_byte()
            terminal.press("\r")
            terminal.wait_for(called)


def test_a_mistyped_command_is_told_the_right_one_with_and_without_arguments(run: Run) -> None:
    for arguments in (["chek"], ["chek", "q.json"], ["chek", "q.json", "--json"]):
        done = run(*arguments)
        assert done.code == 2
        assert "did you mean `workbench check`?" in done.err

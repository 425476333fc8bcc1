from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.commands import SUMMARIES

Run = Callable[..., Any]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_and_option_is_completed_and_the_shell_understands(shell: str, run: Run) -> None:
    script = run("completions", shell).out
    assert all(name in script for name in SUMMARIES)
    assert "junit" in script
    if shutil.which(shell):
        Path("script").write_text(script)
        subprocess.run([shell, "-n", "script"], check=True)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("words", "expected"),
    [(["chec"], "check"), (["check", "--jun"], "--junit"), (["check", "--adapter", "twos"], "twostep")],
)
def test_bash_completes(words: list[str], expected: str, run: Run) -> None:
    Path("script").write_text(run("completions", "bash").out)
    typed = " ".join(["workbench", *words])
    line = f"source ./script; COMP_WORDS=({typed}); COMP_CWORD={len(words)}; _workbench; echo ${{COMPREPLY[@]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [expected]


def test_a_mistyped_command_is_told_the_right_one_with_and_without_arguments(run: Run) -> None:
    for arguments in (["chek"], ["chek", "q.json"], ["chek", "q.json", "--json"]):
        done = run(*arguments)
        assert done.code == 2
        assert "did you mean `workbench check`?" in done.err

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import textual._wait

from workbench.__main__ import main

# Textual looks every 20 ms whether an app under test has come to rest; a third of the tests' time would be that wait.
# The app paints every 8 ms at most, so that a look finds it done.
textual._wait.SLEEP_GRANULARITY = 0.01


@dataclass(frozen=True)
class Done:
    """What one command line did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.out.isascii()
        return json.loads(self.out, parse_constant=_refuse)


def _refuse(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


Run = Callable[..., Done]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs `workbench` with these words in a new folder; `stdin` is text or bytes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    def run_words(*words: str, stdin: str | bytes = b"") -> Done:
        data = stdin.encode("utf-8", "surrogatepass") if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        capsys.readouterr()
        code = main(list(words))
        captured = capsys.readouterr()
        return Done(code, captured.out, captured.err)

    return run_words


RAIN = "question, context: list[str] -> answer: Literal['yes', 'no'], score: float"


@pytest.fixture
def rain(run: Run) -> str:
    """The issue's session, in the file `q.json`."""
    done = run(
        *("new", RAIN, "-o", "q.json", "--input", "question=Is it raining?"),
        *("--input", 'context=["It pours.", "Umbrellas\\nare out."]'),
    )
    assert done.code == 0, done.err
    return "q.json"

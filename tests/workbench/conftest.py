from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, process_time
from typing import Any

import pytest
import textual._wait
import textual.app

from workbench.__main__ import main

# Textual looks every 20 ms whether an app under test has come to rest; a third of the tests' time would be that wait.
# The app paints every 8 ms at most, so that a look finds it done.
textual._wait.SLEEP_GRANULARITY = 0.01


class AtRest:
    """Waits as Textual does for an app under test to rest, but not again where it has done nothing since it last did.

    Textual waits twice for each key, the second time for the end of animations that there mostly are not.
    """

    def __init__(self) -> None:
        self._worked = -1.0
        """The time that the process had worked when it was last at rest; negative while it is not known to rest."""

    async def __call__(self, min_sleep: float = 0, max_sleep: float = 1) -> None:
        if 0 <= self._worked and process_time() - self._worked < textual._wait.SLEEP_IDLE / 2:
            return
        started = monotonic()
        await textual._wait.wait_for_idle(min_sleep, max_sleep)
        self._worked = process_time() if monotonic() - started < max_sleep else -1.0


textual.app.wait_for_idle = AtRest()  # type: ignore[assignment]


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

"""What a program that has the workbench installed says to capture its own calls."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from workbench.capture.in_your_process import attaching
from workbench.capture.in_your_process.listening import Listener
from workbench.capture.in_your_process.outlet import Outlet

WRITER = "workbench.capture.sessions_writer"


class Capture(Listener):
    """A callback for dspy that makes sessions of a program's calls in a folder.

    `cases`: how many distinct inputs of a predictor at most; `only` "failures": calls alone that failed, were refused
    or fell back; `sample`: a share of the inputs between 0 and 1; `redact`: fields whose values are taken out.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        cases: int | None = None,
        only: str = "all",
        sample: float = 1.0,
        redact: Sequence[str] = (),
    ) -> None:
        options = options_of(folder, cases=cases, only=only, sample=sample, redact=redact)
        super().__init__(Outlet(command(), variables(), options))

    def close(self) -> None:
        """Waits until the sessions are written, which the end of the program does too."""
        self.outlet.close()


@contextmanager
def capture(folder: str | os.PathLike[str], **options: Any) -> Iterator[Capture]:
    """Captures what dspy is called for within the `with`, in every thread, and has it written at its end."""
    listener = Capture(folder, **options)
    attaching.attach(listener)
    try:
        yield listener
    finally:
        attaching.detach(listener)
        listener.close()


def options_of(
    folder: str | os.PathLike[str],
    *,
    cases: int | None = None,
    only: str = "all",
    sample: float = 1.0,
    redact: Sequence[str] = (),
    report: str | None = None,
) -> dict[str, Any]:
    """What the child process is told first. Raises ValueError for what cannot be meant."""
    if only not in ("all", "failures"):
        raise ValueError(f"only={only!r}: 'all' or 'failures'")
    if not 0 < sample <= 1:
        raise ValueError(f"sample={sample!r}: a share above 0, up to 1")
    if cases is not None and cases < 1:
        raise ValueError(f"cases={cases!r}: at least 1")
    if isinstance(redact, str):
        raise ValueError(f"redact={redact!r}: a list of names of fields")
    return {
        "folder": os.path.abspath(os.fspath(folder)),
        "cases": cases,
        "only": only,
        "sample": sample,
        "redact": list(redact),
        "report": report,
    }


def command() -> list[str]:
    """What runs the child: this Python, which never finds packages of the caller's project (`-P`)."""
    return [sys.executable, "-P", "-m", WRITER]


def variables() -> dict[str, str]:
    """Where our packages are, when they are installed in a folder of their own (an editable install)."""
    home = Path(__file__).parents[2]
    return {} if home.name in ("site-packages", "dist-packages") else {"PYTHONPATH": str(home)}

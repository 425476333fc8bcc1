"""Implement `--workbench-capture DIR`: save a test suite's dspy calls as sessions.

Runs in the process of other people's test suites, so it imports neither `adapters` nor `sessions`.
"""

from __future__ import annotations

from typing import Any

import pytest

from workbench.capture import capturing
from workbench.capture.capturing import plain_words
from workbench.capture.in_your_process import attaching
from workbench.capture.in_your_process.listening import Listener
from workbench.capture.in_your_process.outlet import Outlet, Writer
from workbench.output import display

_FOR_THE_CONTROLLER = "workbench_captured"


class CapturedCalls:
    """Captures calls during a test run, and reports them at its end.

    The child that writes sessions shares its standard error with pytest; it therefore reports through a file. With
    pytest-xdist, each worker captures for itself, and the controller reports for all.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._folder = str(config.invocation_params.dir / config.getoption("workbench_capture"))
        options = capturing.options_of(self._folder, report=True)
        self._writer = Writer(capturing.command(), capturing.variables(), options)
        self._listener = Listener(Outlet(self._writer))
        self._reports: list[dict[str, Any]] = []
        self._missing = 0
        attaching.attach(self._listener)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        attaching.detach(self._listener)
        self._listener.outlet.close()
        found, made = self._writer.report()
        self._reports += found
        self._missing = max(0, made - sum(one["calls"] + one["lost"] for one in found))
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[_FOR_THE_CONTROLLER] = self._reports, self._missing

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Collect the reports of a finished pytest-xdist worker."""
        reports, missing = getattr(node, "workeroutput", {}).get(_FOR_THE_CONTROLLER, ((), 0))
        self._reports += reports
        self._missing += missing

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Report the captured calls."""
        for line in plain_words(self._reports, self._folder, self._missing):
            terminalreporter.write_line(display.safe(line))

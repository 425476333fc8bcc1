"""The pytest plugin: recorded sessions as tests, `invoice.session.json::case 1::chat::render`.

It runs in the process of other people's test suites, which may have their own packages called `adapters` and
`sessions`. It therefore imports neither of ours: a child process runs the checks (`check_child`) when a test needs
them. Until a session file is collected, only this module is loaded.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FOLDERS = "workbench_folders"
NAME = ".session.json"
"""The ending of session names that are collected in any folder."""
MOST_NAMED = 10
_BEGINNING = 65_536
_PASSED_OVER = pytest.StashKey[set[str]]()
"""The paths of sessions that pytest saw but that were not collected."""
_FOR_THE_CONTROLLER = "workbench_passed_over"
_CAPTURED = "workbench_captured"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("workbench", "adapter workbench")
    group.addoption(
        "--workbench-update",
        action="store_true",
        help="record today's prompts and readings for the chosen session tests where they drifted",
    )
    group.addoption(
        "--workbench-dspy",
        action="store_true",
        help="compare the sessions with the installed dspy too (tests called `upstream`)",
    )
    group.addoption(
        "--workbench-lint",
        action="store_true",
        help="also lint the sessions (tests called `lint`, which fail from severity warning on)",
    )
    group.addoption(
        "--workbench-capture",
        metavar="DIR",
        help="make sessions in DIR of what the tests ask models through dspy",
    )
    parser.addini(FOLDERS, "folders in which every session is a test, whatever its name", type="paths", default=[])


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("workbench_capture"):
        config.pluginmanager.register(CapturedCalls(config), "workbench-captured-calls")


@pytest.fixture
def workbench_capture() -> Any:
    """Return `workbench.capture.capture`, for `with workbench_capture("prompts/"):`."""
    from workbench.capture import capture

    return capture


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix != ".json":
        return None
    if not file_path.name.endswith(NAME):  # such a file is a session by its content, and only in configured folders
        if not _looks_like_session(file_path):
            return None
        if not any(file_path.is_relative_to(folder) for folder in parent.config.getini(FOLDERS)):
            _passed_over(parent.config).add(str(file_path))
            return None
    from workbench.pytest_plugin.session_tests import SessionFile

    collector: pytest.Collector = SessionFile.from_parent(parent, path=file_path)
    return collector


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Match `-k` with names of cases, columns and verdicts. Pytest would also search file names."""
    expression = str(config.option.keyword or "")
    sessions = sys.modules.get("workbench.pytest_plugin.session_tests")
    if not expression.strip() or sessions is None:
        return (yield)
    before = list(items)
    meant, others = sessions.chosen(before, expression)
    items[:] = [one for one in before if not isinstance(one, sessions.SessionTest)]
    result = yield
    left = list(items)
    items[:] = sessions.merge_order(before, left, meant)
    config.hook.pytest_deselected(items=others)
    return result


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the sessions that an xdist worker did not collect to the controller, which reports them."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_FOR_THE_CONTROLLER] = sorted(_passed_over(session.config))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over the uncollected sessions of a finished pytest-xdist worker."""
    told = getattr(node, "workeroutput", {}).get(_FOR_THE_CONTROLLER, ())
    _passed_over(node.config).update(told)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """List the sessions that look like fixtures but were not collected, which would otherwise go unnoticed."""
    passed_over = sorted(_passed_over(config))
    if not passed_over:
        return
    from pathlib import Path

    from workbench.output import display

    count = len(passed_over)
    sessions = "1 session was" if count == 1 else f"{count} sessions were"
    names = [Path(one) for one in passed_over[:MOST_NAMED]]
    root = config.rootpath
    shown = [str(one.relative_to(root) if one.is_relative_to(root) else one) for one in names]
    more = f" and {count - MOST_NAMED} more" if count > MOST_NAMED else ""
    how = f"give it a name that ends in {NAME}, or name its folder in `{FOLDERS}`"
    terminalreporter.write_line(f"workbench: {sessions} not collected: {display.safe(', '.join(shown))}{more} ({how})")


def _passed_over(config: pytest.Config) -> set[str]:
    return config.stash.setdefault(_PASSED_OVER, set())


def _looks_like_session(file: Path) -> bool:
    """Return whether a file looks like a session, as in `check`.

    The quick test for one word avoids loading more of the workbench.
    """
    try:
        with file.open("rb") as opened:
            if b'"signature"' not in opened.read(_BEGINNING):
                return False
    except OSError:
        return False
    from workbench.checks.fixture_files import looks_like_session

    return looks_like_session(file)


class CapturedCalls:
    """Captures a test run's calls for `--workbench-capture DIR`, and reports them.

    The child that writes sessions shares its standard error with pytest; it therefore reports through a file. With
    pytest-xdist, each worker captures for itself, and the controller reports for all.
    """

    def __init__(self, config: pytest.Config) -> None:
        from workbench.capture import capturing
        from workbench.capture.in_your_process import attaching, listening, outlet

        self._folder = str(config.invocation_params.dir / config.getoption("workbench_capture"))
        options = capturing.options_of(self._folder, report=True)
        self._writer = capturing.writer(options)
        self._listener = listening.Listener(outlet.Outlet(self._writer))
        self._reports: list[dict[str, Any]] = []
        self._missing = 0
        attaching.attach(self._listener)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        from workbench.capture.in_your_process import attaching

        attaching.detach(self._listener)
        self._listener.outlet.close()
        found, made = self._writer.report()
        self._reports += found
        self._missing = max(0, made - sum(one["calls"] + one["lost"] for one in found))
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[_CAPTURED] = self._reports, self._missing

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Collect the reports of a finished pytest-xdist worker."""
        reports, missing = getattr(node, "workeroutput", {}).get(_CAPTURED, ((), 0))
        self._reports += reports
        self._missing += missing

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Report the captured calls."""
        from workbench.capture.capturing import plain_words
        from workbench.output import display

        for line in plain_words(self._reports, self._folder, self._missing):
            terminalreporter.write_line(display.safe(line))

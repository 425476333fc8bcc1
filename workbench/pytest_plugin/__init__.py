"""The pytest plugin: recorded sessions as tests, `invoice.session.json::case 1::chat::render`.

It runs in the process of somebody's test suite, which may have packages called `adapters` and `sessions` of its own. It
therefore imports neither of ours: a child process checks (`check_child`), only when a test needs it.
Until a session file turns up nothing beyond this module is loaded.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FOLDERS = "workbench_folders"


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
    parser.addini(FOLDERS, "folders in which every session is a test, whatever its name", type="paths", default=[])


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix != ".json" or not _is_session(file_path, parent.config):
        return None
    from workbench.pytest_plugin.session_tests import SessionFile

    collector: pytest.Collector = SessionFile.from_parent(parent, path=file_path)
    return collector


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """`-k` means the names of cases, columns and verdicts; pytest itself would look into the names of files too."""
    expression = str(config.option.keyword or "")
    sessions = sys.modules.get("workbench.pytest_plugin.session_tests")
    if not expression.strip() or sessions is None:
        return (yield)
    before = list(items)
    meant, others = sessions.chosen(before, expression)
    items[:] = [one for one in before if not isinstance(one, sessions.SessionTest)]
    result = yield
    left = list(items)
    items[:] = sessions.in_order(before, left, meant)
    config.hook.pytest_deselected(items=others)
    return result


def _is_session(file: Path, config: pytest.Config) -> bool:
    """By its name anywhere, and by its beginning in a configured folder."""
    if file.name.endswith(".session.json"):
        return True
    if not any(file.is_relative_to(folder) for folder in config.getini(FOLDERS)):
        return False
    from workbench.checks.fixture_files import looks_like_session

    return looks_like_session(file)

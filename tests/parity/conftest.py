"""Counts what the parity tests compared, and says so at the end of the run."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback_server import CANARY, LoopbackServer
from oracle.tally import COMPARED, NOT_COMPARABLE, Record


@pytest.fixture
def record(record_property: Record) -> Record:
    """Where a `Tally` reports to."""
    return record_property


@pytest.fixture(autouse=True)
def litellm_is_asked() -> Iterator[None]:
    """What a model can do is asked of the installed litellm, as commands do."""
    from adapters.lm.litellm_answers import asking

    with asking():
        yield


@pytest.fixture(autouse=True)
def quiet_dspy() -> Iterator[None]:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.fixture
def no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that names no server, and litellm without its gateway: dspy would find that `mcp` is missing."""
    from adapters.lm.worker import litellm_setup

    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    for name in list(os.environ):
        if name.endswith(("_API_BASE", "_BASE_URL")) or name.startswith("AWS_"):
            monkeypatch.delenv(name)
    litellm_setup._leave_gateway_out()


@pytest.fixture
def server(no_address: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackServer]:
    """A server on this machine that dspy and we send to, in an environment that names no other."""
    from oracle.write_model_facts import nobody_logged_in
    from wire_bodies import OTHERS, PROVIDERS

    monkeypatch.setenv("AZURE_API_VERSION", "2024-10-21")
    for provider in (*PROVIDERS, "togetherai", "perplexityai", "azure", *(name.partition("/")[0] for name in OTHERS)):
        monkeypatch.setenv(f"{provider.upper()}_API_KEY", CANARY)
    with LoopbackServer("no reply that can be read") as one, nobody_logged_in():
        yield one


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--parity-figures", metavar="FILE", help="write what was compared to this file (docs/parity.py)")


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    reports = [one for group in ("passed", "failed") for one in terminalreporter.stats.get(group, [])]
    properties = [pair for report in reports if report.when == "call" for pair in report.user_properties]
    counts: Counter[str] = Counter()
    for name, value in properties:
        if name == COMPARED:
            counts[value[0]] += value[1]
    file = config.getoption("--parity-figures", default=None)
    if file:
        tests = len([one for one in terminalreporter.stats.get("passed", []) if one.when == "call"])
        explained = [list(value) for name, value in properties if name == NOT_COMPARABLE]
        figures = {"tests": tests, "compared": dict(sorted(counts.items())), "explained": explained}
        Path(file).write_text(json.dumps(figures), "utf-8")
    if not counts:
        return
    terminalreporter.write_sep("=", "compared with dspy 3.4.1")
    for what, count in sorted(counts.items()):
        terminalreporter.write_line(f"{count:8,}  {what}")
    terminalreporter.write_line(f"{sum(counts.values()):8,}  in all")
    for name, value in properties:
        if name == NOT_COMPARABLE:
            terminalreporter.write_line(f"  not comparable: {value[0]} {value[1]}: {value[2]}")

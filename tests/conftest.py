"""No test may wait for ever: what hangs fails, with the place where it stood. Nor does one wait for the network,
nor reads or writes what is kept in the home of whoever runs them.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# litellm, which dspy imports, would look for its table of models in the network first.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

# Else every worker of every run compiles all tests anew where a container's environment says so.
sys.dont_write_bytecode = False

# Beside dspy, hypothesis and an app a test, Python's usual pace of looking for garbage takes a third of the time.
gc.set_threshold(50_000, 20, 10)

# How long an example takes says how busy the machine is. In CI the rest is of hypothesis's own profile.
for name, examples in (("few examples", 20), ("many examples", 100)):
    settings.register_profile(
        name,
        settings.default,
        max_examples=examples,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )

LONGEST_S = 20 * 60
"""Seconds for a slow test, on a machine that is busy with others; `timeout` in pyproject.toml is for the rest."""


def runs_slow_tests(config: pytest.Config) -> bool:
    return "not slow" not in config.option.markexpr


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("many examples" if runs_slow_tests(config) else "few examples")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item], config: pytest.Config) -> None:
    """The slow run tries every property with many examples, also those that the plain run tries with few."""
    for item in items:
        is_property = getattr(getattr(item, "function", None), "is_hypothesis_test", False)
        if is_property and runs_slow_tests(config):
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(LONGEST_S))


def pytest_collection_finish() -> None:
    """What is imported by now stays: nobody looks for garbage in it again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def a_home_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Kept copies and settings are the tests' own. XDG_DATA_HOME stays, for added releases of dspy are used."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(home / "state"))
        patch.setenv("XDG_CONFIG_HOME", str(home / "config"))
        yield

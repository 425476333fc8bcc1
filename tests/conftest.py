"""No test may wait for ever: what hangs fails, with the place where it stood. Nor does one wait for the network,
nor reads or writes what is kept in the home of whoever runs them.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# litellm, which dspy imports, would look for its table of models in the network first.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

# Beside dspy, hypothesis and an app a test, Python's usual pace of looking for garbage takes a third of the time.
gc.set_threshold(50_000, 20, 10)

# How long an example takes says how busy the machine is. In CI the rest is of hypothesis's own profile.
settings.register_profile(
    "on a busy machine", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("on a busy machine")

LONGEST_S = 20 * 60
"""Seconds for a slow test, on a machine that is busy with others; `timeout` in pyproject.toml is for the rest."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
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

"""A place for captured sessions, and a dspy that each test sets up for itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dspy
import pytest
from scripted_dspy import Scripted, chat


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "prompts"


@pytest.fixture(autouse=True)
def dspys_settings() -> Iterator[None]:
    """Each test configures dspy for itself."""
    with dspy.context(lm=Scripted(lambda text: chat(answer="fine")), adapter=None):
        yield

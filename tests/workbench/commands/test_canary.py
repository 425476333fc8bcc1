"""A key of the environment gets into no file, whatever is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
CANARY = "sk-canary-0123456789abcdef"


def test_no_command_writes_a_key_of_the_environment(
    rain: str, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "SOME_TOKEN"):
        monkeypatch.setenv(name, CANARY)
    said = ""
    for words in (
        ("send", rain, "--save"),
        ("record", rain),
        ("check", rain, "--update", "--dspy", "--live", "offline/sloppy", "--junit", "report.xml", "--json"),
        ("export", rain, "--adapter", "chat", "--to", "curl", "--model", "openai/gpt-4o", "-o", "ask.sh"),
        ("send", rain, "--replay", "--json"),
        ("diff", rain, "--adapter", "chat", "json"),
    ):
        done = run(*words)
        said += done.out + done.err
    assert CANARY not in said
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any("restore" in path.parts for path in written)
    assert any(path.name == "ask.sh" for path in written)
    assert not [path for path in written if CANARY.encode() in path.read_bytes()]

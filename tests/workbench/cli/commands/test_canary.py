"""A key of the environment gets into no file, whatever is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessions.file import store

Run = Callable[..., Any]
CANARY = "sk-canary-0123456789abcdef"


def test_no_command_writes_a_key_of_the_environment(
    rain: str, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "SOME_TOKEN"):
        monkeypatch.setenv(name, CANARY)
    Path("demos.jsonl").write_text('{"question": "q", "context": ["c"], "answer": "yes", "score": 1}\n')
    said = ""
    for words in (
        ("new", "question -> answer", "-o", "other.json"),
        ("import", "demos.jsonl", "--into", rain),
        ("render", rain, "--request", "--model", "openai/gpt-4o"),
        ("models", "--json"),
        ("completions", "bash"),
        ("send", rain, "--save"),
        ("record", rain),
        ("check", rain, "--update", "--dspy", "--live", "offline/sloppy", "--junit", "report.xml", "--json"),
        ("export", rain, "--adapter", "chat", "--to", "curl", "--model", "openai/gpt-4o", "-o", "ask.sh"),
        ("send", rain, "--replay", "--json"),
        ("diff", rain, "--adapter", "chat", "json"),
        ("send", rain, "--model", "openai/gpt-4o", "--adapter", "module:Class", "--save"),
    ):
        done = run(*words)
        said += done.out + done.err
    assert CANARY not in said
    assert store.load(rain).demos
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any("restore" in path.parts for path in written)
    assert any(path.name == "ask.sh" for path in written)
    assert not [path for path in written if CANARY.encode() in path.read_bytes()]

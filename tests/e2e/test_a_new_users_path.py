"""Somebody who writes no Python: a signature by its form, demos, two models compared, a fixture, and a dspy program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sessions.file import store
from tests.support.terminal import Terminal

ROOT = str(Path(__file__).parents[2])
WORKBENCH = (sys.executable, "-m", "workbench")
F11, SHIFT_F7, PASTE = "\x1b[23~", "\x1b[18;2~", "\x1b[200~{}\x1b[201~"
ROWS = """text,lines,total,kind
One lamp 20 EUR,"[{""name"": ""lamp"", ""price"": 20}]",20,bill
Second reminder: a desk 300 EUR,"[{""name"": ""desk"", ""price"": 300}]",300,reminder
Three pens at 1 EUR,"[{""name"": ""pen"", ""price"": 1}]",3,bill
"""
AS_DSPY = """
import json, sys
import dspy, program

class Seen(dspy.LM):
    def forward(self, prompt=None, messages=None, **options):
        json.dump(messages, sys.stdout)
        sys.stdout.flush()
        raise SystemExit(0)

program.run(Seen("openai/none", api_key="none"))
"""


@pytest.mark.slow
@pytest.mark.parametrize("size", [(160, 45), (80, 24)])
def test_from_nothing_to_a_program_that_dspy_runs(tmp_path: Path, size: tuple[int, int]) -> None:
    environment = {"PYTHONPATH": ROOT, "XDG_STATE_HOME": str(tmp_path / "state"), "HOME": str(tmp_path)}
    with Terminal([*WORKBENCH], tmp_path, size, environment) as terminal:
        terminal.wait_for("Welcome")
        terminal.press("escape", "ctrl+p")
        terminal.wait_for("Search for commands")
        terminal.press("new session")
        terminal.wait_for("Create an empty")
        terminal.press("enter")
        terminal.wait_for("begin a signature")
        terminal.press("enter")
        terminal.wait_for("A new signature")
        terminal.press("ctrl+u", "ExtractInvoice", "enter")
        terminal.wait_for("ExtractInvoice.text")
        terminal.press("enter")  # the name of its first input stays
        terminal.wait_for("add an output")  # the form again: the name stood in the dialog already
        terminal.press("m")
        terminal.wait_for("A new model")
        terminal.press("LineItem", "enter")
        terminal.wait_for("LineItem")
        terminal.press("ctrl+n")
        terminal.wait_for("A new field of LineItem")
        _fill(terminal, "price", "number")
        terminal.wait_for("price")
        # to the way to add an output: behind the signature's name, its input and the way to add one
        for name, type in (("lines", "list of LineItem"), ("total", "number"), ("kind", "one of bill, reminder")):
            terminal.press(
                "\x1b[H", "down", "down", "down", *["down"] * {"lines": 0, "total": 1, "kind": 2}[name], "enter"
            )
            terminal.wait_for("A new field of ExtractInvoice")
            _fill(terminal, name, type)
            terminal.wait_for(name)
        terminal.press("f2")
        terminal.wait_for("text")
        terminal.press("Two chairs at 40 EUR each, 80 EUR in all.")
        terminal.wait_for("in all.")
        terminal.press("f2")
        terminal.wait_for("No demos yet")
        terminal.press(PASTE.format(ROWS))
        terminal.wait_for("Second reminder")
        terminal.press("f4")
        for model, sign in (("offline/sloppy", "'name': 'Two"), ("offline/exact", '"name": "Two')):
            terminal.press("ctrl+l")
            terminal.wait_for("Model of the session")
            terminal.press(model)
            terminal.wait_for(model)
            terminal.press("enter", "f5")
            terminal.wait_for(sign)
        terminal.press(SHIFT_F7)
        terminal.wait_for("Sent · this case")
        terminal.press(" ", "\x1b[F")
        terminal.wait_for("offline/sloppy")
        terminal.press("escape", "f3")
        terminal.press_until("ctrl+r", "recorded chat")  # not before its reply has come
        terminal.press("ctrl+s")
        terminal.wait_for("Save as")
        terminal.press("enter")
        terminal.wait_for("saved")
        terminal.press("f9")
        terminal.wait_for("chat: render pass")
        terminal.press("ctrl+p")
        terminal.wait_for("Search for commands")
        terminal.press("export as dspy source")
        terminal.wait_for("for dspy")
        terminal.press("enter")
        terminal.wait_for("To a file")
        terminal.press("f")
        terminal.wait_for("program.py")
        terminal.press("enter", "ctrl+q")
        assert terminal.wait_for_end() == 0
    (file,) = tmp_path.glob("*.json")
    assert set(store.load(file).cases[0].recordings) == {"chat"}
    assert _run([*WORKBENCH, "check", file.name], tmp_path, environment).startswith("1 passed")
    rendered = json.loads(_run([*WORKBENCH, "render", file.name, "--adapter", "chat", "--json"], tmp_path, environment))
    (tmp_path / "seen.py").write_text(AS_DSPY)
    sent = json.loads(_run([sys.executable, "seen.py"], tmp_path, environment))
    assert [_plain(one) for one in sent] == [_plain(one) for one in _messages(rendered)]


def _fill(terminal: Terminal, name: str, type: str) -> None:
    """The field dialog: a name, and below it the type in words."""
    terminal.press(name)
    terminal.press("\t", "ctrl+u", type, "enter")


def _run(words: list[str], folder: Path, environment: dict[str, str]) -> str:

    done = subprocess.run(
        words, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    return done.stdout


def _messages(found: Any) -> list[dict[str, Any]]:
    """The messages of the first request in the command's JSON."""
    if isinstance(found, dict):
        if "messages" in found:
            return list(found["messages"])
        found = list(found.values())
    return next((inner for one in found if isinstance(one, (dict, list)) for inner in [_messages(one)] if inner), [])


def _plain(message: dict[str, Any]) -> tuple[str, Any]:
    return message["role"], message["content"]

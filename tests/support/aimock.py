"""aimock, a fake of the providers that others have written from their documents and keep in step with them (npm)."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

PACKAGE = "@copilotkit/aimock@1.43.0"

SERVE = """
import { LLMock } from "@copilotkit/aimock";
const mock = new LLMock({ port: 0, chunkSize: 7 });
for (const [message, response] of Object.entries(JSON.parse(process.argv[2]))) mock.onMessage(message, response);
await mock.start();
console.log(mock.url);
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
"""
"""Says where it listens, and ends when its input does."""


class NoAimockError(Exception):
    """It cannot be installed here; the message says why."""


def installed(folder: Path) -> Path:
    """`folder`, with the package in it. Raises `NoAimockError`."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        raise NoAimockError("no npm on this machine")
    (folder / "package.json").write_text('{"private": true, "type": "module"}')
    done = subprocess.run(
        [npm, "install", "--no-audit", "--no-fund", PACKAGE], cwd=folder, capture_output=True, text=True, timeout=300
    )
    if done.returncode:
        raise NoAimockError(f"npm install {PACKAGE}: {done.stderr.strip()[-200:]}")
    (folder / "serve.js").write_text(SERVE)
    return folder


class Aimock:
    """Runs while the block is entered, at `url`; `answers` are its responses by what a user message has in it."""

    def __init__(self, folder: Path, answers: Mapping[str, Mapping[str, Any]]) -> None:
        self._folder = folder
        self._answers = json.dumps(answers)
        self.url = ""

    def __enter__(self) -> Aimock:
        self._process = subprocess.Popen(
            ["node", "serve.js", self._answers],
            cwd=self._folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        if not self.url:
            raise NoAimockError(self._process.communicate()[1][-500:])
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.communicate()

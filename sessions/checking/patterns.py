"""Search untrusted regular expressions within a time limit.

A pattern such as `(a+)+$` can run practically forever, and Python cannot interrupt it. Patterns with repetition are
therefore searched in a child process, which is killed on timeout. It starts on first use.
"""

from __future__ import annotations

import atexit
import json
import re
import sys
import threading
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

SECONDS = 2.0
WORKER = Path(__file__).with_name("pattern_worker.py")
TEXT_LIMIT = 100_000
"""The maximum length of a searched text."""
PATTERN_LIMIT = 1_000

_REPEATS = frozenset("*+{?")


class PatternError(ValueError):
    """Raised for a pattern that is invalid, too long or too slow. The message says which."""


def matches(pattern: str, text: str) -> bool:
    """Return whether `pattern` is found in `text`. Raises `PatternError`."""
    if len(pattern) > PATTERN_LIMIT:
        raise PatternError(f"the pattern has {len(pattern):,} characters; the limit is {PATTERN_LIMIT:,}")
    if len(text) > TEXT_LIMIT:
        raise PatternError(f"the text has {len(text):,} characters; the limit for a pattern is {TEXT_LIMIT:,}")
    if _REPEATS.isdisjoint(pattern):
        return _compiled(pattern).search(text) is not None
    return _WORKER.search(pattern, text)


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise PatternError(f"the pattern is not valid: {error}") from None


class _Worker:
    """The child process, which handles one search at a time."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def search(self, pattern: str, text: str) -> bool:
        with self._lock:
            process = self._process
            if process is None or process.poll() is not None:
                process = self._process = self._start()
            assert process.stdin is not None
            assert process.stdout is not None
            timer = threading.Timer(SECONDS, process.kill)
            timer.daemon = True
            timer.start()
            try:
                process.stdin.write(json.dumps({"pattern": pattern, "text": text}) + "\n")
                process.stdin.flush()
                line = process.stdout.readline()
            except OSError:
                line = ""
            finally:
                timer.cancel()
        if not line:
            self.stop()
            raise PatternError(f"the pattern took more than {SECONDS:g} seconds; write it without nested repeats")
        answer = json.loads(line)
        if "error" in answer:
            raise PatternError(f"the pattern is not valid: {answer['error']}")
        return bool(answer["found"])

    def stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    @staticmethod
    def _start() -> subprocess.Popen[str]:
        import subprocess

        return subprocess.Popen(
            [sys.executable, "-I", "-S", "-X", "utf8", str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="ascii",
        )


_WORKER = _Worker()
atexit.register(_WORKER.stop)

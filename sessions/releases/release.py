"""Run any dspy in a warm child process of its own Python.

Its version and its import time do not affect ours.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from adapters.errors import reason_of
from adapters.formats import catalog
from adapters.late_dataclasses import replace
from sessions.file import store
from sessions.file.json_values import WrittenParts
from sessions.model import variants
from sessions.model.session import Case, Column, Session
from sessions.releases.engine import Call, Failure, Question, ReleaseError, ReleaseReading

START_SECONDS = 120.0
ANSWER_SECONDS = 60.0
REPLIES_AT_ONCE = 40
WORKER = Path(__file__).with_name("dspy_worker.py")
OURS = Path(__file__).parents[2]
"""The folder of our packages, which the child imports with its own Python."""


_children: set[subprocess.Popen[str]] = set()
"""The running processes."""
no_more_children = threading.Event()
"""Set while no process may start: an orphaned process would keep the program from exiting."""


def end_every_child() -> None:
    """Kill all release processes, also those still starting, and start none until `no_more_children` is cleared.

    Pending and new questions raise an error.
    """
    no_more_children.set()
    for process in list(_children):
        _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    """Kill a process and its children: the Python behind a wrapper script holds the pipes that we read."""
    if os.name == "nt":
        process.kill()
    elif process.poll() is None:  # otherwise another process may have its id by now
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


class Release(AbstractContextManager["Release"]):
    """The dspy of a Python. Answers one question at a time; threads wait. Use as a context manager.

    `hint` tells users how to fix a Python without dspy.
    """

    def __init__(
        self,
        python: str,
        *,
        hint: str = "install dspy there, or name another Python with --dspy-python",
        answer_seconds: float = ANSWER_SECONDS,
    ) -> None:
        """Start the process. Raises `ReleaseError` if the Python cannot be run or has no usable dspy."""
        # The child runs in its own folder, so the path must be absolute. Links are kept: Python finds its venv by them.
        self._python = os.path.abspath(python) if os.path.dirname(python) else python
        self._hint = hint
        self._answer_seconds = answer_seconds
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._written = WrittenParts()
        self._child: _Child | None = _Child(self._python, hint)
        self.version = self._child.version
        self.adapters = self._child.adapters
        """The names of the adapters in this dspy."""

    @property
    def versions(self) -> Mapping[str, str]:
        """Return the versions of `dspy`, `json_repair` and `pydantic`; empty when closed."""
        child = self._child
        return {} if child is None else child.versions

    @property
    def name(self) -> str:
        return f"dspy {self.version}"

    def __exit__(self, *details: object) -> None:
        self.close()

    def close(self) -> None:
        """End the child; a pending question raises an error."""
        child, self._child = self._child, None
        if child is not None:
            child.close()

    def call(self, question: Question) -> Call:
        """Return what dspy sends for the question's case, and how it parses the answers. Raises `ReleaseError`."""
        why_not = self.why_not(question.session, question.column)
        if why_not:
            raise ReleaseError("unsupported", question.column.id, f"{self.name} cannot run this: {why_not}")
        asked = {
            "session": self._text_of(question.session, question.case, question.column),
            "adapter": question.adapter,
            "capabilities": None if question.capabilities is None else question.capabilities.as_json(),
            "answers": [
                {**one.as_output(), "extraction": None if one.extraction is None else one.extraction.text}
                for one in question.answers
            ],
        }
        found = self._ask(asked, question.column)
        return Call(
            tuple(found["messages"]),
            found["request"],
            tuple([_reading(one) for one in found["readings"]]),
            tuple(found["removed"]),
        )

    def readings(self, session: Session, column: Column, replies: Sequence[str]) -> list[ReleaseReading]:
        """Parse `replies` with the column's adapter and its variant of the signature.

        Runs only the parser, without native parts or a prompt. Raises `ReleaseError`.
        """
        varied = variants.session_of(session, column)
        text = self._text_of(varied, varied.cases[0], column)
        found: list[ReleaseReading] = []
        for start in range(0, len(replies), REPLIES_AT_ONCE):
            some = list(replies[start : start + REPLIES_AT_ONCE])
            answer = self._ask({"session": text, "replies": some}, column)
            found += [_reading(one) for one in answer["readings"]]
        return found

    def why_not(self, session: Session, column: Column) -> str:
        """Return why dspy cannot run a column, as a clause; empty if it can."""
        if session.offered_tools:
            return "the session has its own tools; in dspy, agents take tools and adapters do not"
        named = catalog.parse_release(column.adapter)
        if named is not None:
            compared = f"`workbench upgrade --from {named.version}` compares the two"
            return f"`{column.adapter}` is asked of dspy {named.version} itself; {compared}"
        if catalog.dspy_class(column.adapter) is None:
            return f"it has no adapter `{column.adapter}`"
        return ""

    def _text_of(self, session: Session, case: Case, column: Column) -> str:
        """Return the session as JSON, with only what determines the prompt: this case and column."""
        bare = Case(case.name, case.inputs, case.history, turns_off=case.turns_off)
        asked = replace(session, cases=(bare,), columns=(column,), notes="")
        with self._writing:
            text = store.dumps(asked, self._written)
            self._written.evict_unused()
        return text

    def _ask(self, question: Mapping[str, object], column: Column) -> dict[str, Any]:
        with self._lock:
            child = self._child  # another thread may close it meanwhile
            if child is None or child.has_ended:
                self.close()
                child = self._child = _Child(self._python, self._hint)
                self.version = child.version
            answer = child.ask(question, self._answer_seconds)
        if "error" in answer:
            kind: Failure = "unsupported" if answer.get("kind") == "unsupported" else "raised"
            raise ReleaseError(kind, column.id, f"{self.name}: {answer['error']}")
        if answer:
            return answer
        child.close()
        if child.was_too_slow:
            message = f"{self.name} did not answer within {self._answer_seconds:g} seconds, and was ended"
            raise ReleaseError("too slow", column.id, message, "the next request starts it again")
        said = f": {child.last_words}" if child.last_words else ""
        message = f"the process of {self.name} ended{said}"
        raise ReleaseError("ended", column.id, message, "the next request starts it again")


class _Child:
    """A child process; `version` is the version of its dspy."""

    def __init__(self, python: str, hint: str) -> None:
        if no_more_children.is_set():
            raise ReleaseError("ended", python, "is asked no more: the program ends")
        self.was_too_slow = False
        self._said: list[str] = []
        self._folder = tempfile.TemporaryDirectory(prefix="workbench-dspy-")
        variables = {
            "DSPY_CACHEDIR": self._folder.name,
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "PYTHONWARNINGS": "ignore",
        }
        try:
            self._process = subprocess.Popen(
                [python, "-I", "-X", "utf8", "-W", "ignore", str(WORKER), str(OURS)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
                env={**os.environ, **variables},
                cwd=self._folder.name,
                start_new_session=True,
            )
        except OSError as error:
            self._folder.cleanup()
            raise ReleaseError("missing", python, f"cannot be run: {reason_of(error)}", hint) from error
        _children.add(self._process)
        if no_more_children.is_set():
            _end(self._process)
        self._listener = threading.Thread(target=self._listen, daemon=True, name="dspy-child-stderr")
        self._listener.start()
        try:
            hello = self._read(START_SECONDS)
        except BaseException:  # ctrl+c reaches only this process
            self.close()
            raise
        if "dspy" not in hello:
            self.close()
            said = hello.get("error") or self.last_words or "it exited without a message"
            raise ReleaseError("missing", python, f"has no dspy that can be used: {said}", hint)
        self.version = str(hello["dspy"])
        named = hello.pop("adapters", None)
        self.adapters = tuple(map(str, named)) if isinstance(named, list) else ()
        self.versions = {name: str(found) for name, found in hello.items() if found}

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    @property
    def last_words(self) -> str:
        """The last line of its standard error; empty if there is none."""
        return next((line.strip() for line in reversed(self._said) if line.strip()), "")

    def close(self) -> None:
        _end(self._process)
        self._process.wait()
        _children.discard(self._process)
        self._listener.join(1.0)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):  # it ended before reading all its input
                    pipe.close()
        self._folder.cleanup()

    def ask(self, question: Mapping[str, object], seconds: float) -> dict[str, Any]:
        """Return the answer of the process; empty if it ended, or was killed after `seconds` (`was_too_slow`)."""
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
        except (OSError, ValueError):  # it has ended, or was closed meanwhile
            return {}
        return self._read(seconds)

    def _read(self, seconds: float) -> dict[str, Any]:
        assert self._process.stdout is not None
        timer = threading.Timer(seconds, self._end_as_too_slow)
        timer.daemon = True
        timer.start()
        try:
            line = self._process.stdout.readline()
            answer = json.loads(line) if line else {}
        except (OSError, ValueError):
            answer = {}
        finally:
            timer.cancel()
        return answer if isinstance(answer, dict) else {}

    def _end_as_too_slow(self) -> None:
        self.was_too_slow = True
        _end(self._process)

    def _listen(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._said.append(line)
            del self._said[:-50]


def _reading(found: Mapping[str, Any]) -> ReleaseReading:
    return ReleaseReading(found["ok"], found["values"], found.get("error") or "", found.get("message") or "")

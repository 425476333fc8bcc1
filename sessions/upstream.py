"""The fifth verdict, `upstream`: does the dspy installed in an environment render and read a fixture as recorded?

That dspy runs in a child process of its own Python, so that neither its version nor its price is ours.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from adapters.prompt import Message
from sessions import differences, recording, rendering, store
from sessions.errors import SessionError
from sessions.recording import as_json
from sessions.session import Case, Column, Recording, Session
from sessions.typed_values import same
from sessions.verdicts import Drift, Word

START_SECONDS = 120.0
ANSWER_SECONDS = 60.0
DSPYS_ADAPTERS = ("chat", "json", "xml", "baml", "twostep")


class Upstream:
    """A child process with a dspy. `name` is "dspy 3.3.1", as it is installed there. Use as a context manager."""

    def __init__(self, python: str) -> None:
        """Raises `SessionError` when that Python cannot be run, or has no dspy."""
        self._python = python
        self._folder = tempfile.TemporaryDirectory(prefix="workbench-dspy-")
        self._session: Session | None = None
        root = Path(__file__).parents[1]
        worker = Path(__file__).with_name("upstream_worker.py")
        variables = {
            "DSPY_CACHEDIR": self._folder.name,
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "PYTHONWARNINGS": "ignore",
        }
        try:
            self._process = subprocess.Popen(
                [python, "-I", "-X", "utf8", "-W", "ignore", str(worker), str(root)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
                env={**os.environ, **variables},
                cwd=self._folder.name,
            )
        except OSError as error:
            self._folder.cleanup()
            message = f"cannot be run: {error.strerror or error}"
            raise SessionError(None, python, message, "name a Python that has dspy with --dspy-python") from error
        self._said: list[str] = []
        threading.Thread(target=self._listen, daemon=True, name="dspy-child-stderr").start()
        hello = self._read(START_SECONDS)
        if "dspy" not in hello:
            self.close()
            last = next((line for line in reversed(self._said) if line.strip()), "it ended without a word")
            hint = "install dspy there, or name another Python with --dspy-python"
            raise SessionError(None, python, f"has no dspy that can be used: {last.strip()}", hint)
        self.name = f"dspy {hello['dspy']}"

    def __enter__(self) -> Upstream:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._folder.cleanup()

    def check(self, session: Session, case: Case, column: Column) -> tuple[Word, tuple[Drift, ...]]:
        """The verdict on one column of one case of `session`; `empty` where there is a reason `why_not`."""
        recorded = case.recordings.get(column.id)
        if recorded is None or self.why_not(session, case, column):
            return "empty", ()
        if session is not self._session:
            self._write({"session": store.dumps(session)})
            self._session = session
        self._write({"case": case.name, "column": column.id})
        answer = self._read(ANSWER_SECONDS)
        if "attempts" not in answer:
            said = answer.get("error", "it ended, or took too long")
            return "error", (Drift("upstream", "upstream", f"{self.name}: {said}"),)
        drift = [*self._prompts(session, case, column, recorded, answer), *self._readings(recorded, answer)]
        return ("drift" if drift else "pass"), tuple(drift)

    def why_not(self, session: Session, case: Case, column: Column) -> str:
        """Why this fixture cannot be shown to a dspy, as a sentence; empty where it can."""
        if column.id not in case.recordings:
            why = "nothing is recorded"
        elif session.tools:
            why = "the session has tools of its own, which in dspy are its agents' and no adapter's"
        elif column.adapter not in DSPYS_ADAPTERS:
            why = f"it has no adapter `{column.adapter}`"
        else:
            return ""
        return f"{self.name} was not asked: {why}"

    def _prompts(
        self, session: Session, case: Case, column: Column, recorded: Recording, answer: Mapping[str, Any]
    ) -> list[Drift]:
        drift: list[Drift] = []
        for index, attempt in enumerate(answer["attempts"]):
            own = _attempts(recorded)[index].get("request") if recorded.attempts else None
            before = [dict(one) for one in (recorded.messages if own is None else own["messages"])]
            drift.extend(self._parameters(recorded.request if own is None else own, attempt["request"]))
            if same(before, attempt["messages"]):
                continue
            ours = _today(session, case, column, recorded) if index == 0 else ()
            if not same(before, as_json([one.as_dict() for one in ours])):
                ours = tuple([_without_origins(one) for one in before])
            found = differences.of_upstream(ours, before, attempt["messages"], self.name)
            drift.extend(found or [Drift("upstream", "messages", f"{self.name} makes other messages")])
        return drift

    def _parameters(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Drift]:
        """What else goes out: `response_format`, tools, reasoning effort, the user's own parameters."""
        old = {name: before[name] for name in sorted(before) if name not in ("messages", "model")}
        new = {name: after[name] for name in sorted(after)}
        return differences.of_values("upstream", "request", old, new, f"{self.name}: parameter")

    def _readings(self, recorded: Recording, answer: Mapping[str, Any]) -> list[Drift]:
        drift: list[Drift] = []
        for number, (attempt, theirs) in enumerate(zip(_attempts(recorded), answer["attempts"], strict=False)):
            for index, (completion, after) in enumerate(
                zip(attempt.get("completions") or (), theirs["readings"], strict=False)
            ):
                before = completion.get("reading")
                if before is None or after is None:
                    continue
                place = f"attempts[{number}].completions[{index}]"
                if before.get("ok") is not after["ok"]:
                    said = "reads the reply" if after["ok"] else f"does not parse the reply ({after['error']})"
                    drift.append(Drift("upstream", place, f"{self.name} {said}", (), (), before.get("ok"), after["ok"]))
                elif after["ok"]:
                    found = differences.of_values(
                        "upstream",
                        f"{place}.values",
                        before.get("values") or {},
                        after["values"],
                        f"{self.name}: value",
                    )
                    drift.extend(found)
        return drift

    def _write(self, question: Mapping[str, Any]) -> None:
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
        except OSError:  # it has ended; the answer that does not come tells so
            return

    def _read(self, seconds: float) -> dict[str, Any]:
        assert self._process.stdout is not None
        timer = threading.Timer(seconds, self._process.kill)
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

    def _listen(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._said.append(line)
            del self._said[:-50]


def _attempts(recorded: Recording) -> Sequence[Mapping[str, Any]]:
    return [one for one in recorded.attempts if one.get("role") != "extraction"]


def _today(session: Session, case: Case, column: Column, recorded: Recording) -> tuple[Message, ...]:
    """Our messages, which know their origins."""
    capabilities = recording.capabilities_in_force(recorded, session.model_of(column))
    try:
        return rendering.request_of(session, column, case, capabilities=capabilities).messages
    except Exception:  # the render verdict tells it
        return ()


def _without_origins(message: Mapping[str, Any]) -> Message:
    """A recorded message that we would make otherwise today: what made its pieces is not known."""
    from adapters.text import Segment, Text

    content = message.get("content")
    parts = (Text((Segment(content, "custom"),)),) if isinstance(content, str) else ()
    return Message(str(message.get("role")), "the recorded prompt", parts)

"""Give our adapters the interface of dspy releases, so that both can be compared."""

from __future__ import annotations

import os
import sys
from dataclasses import replace

from adapters.replies.reading import Reading
from sessions.model import variants
from sessions.releases import environments
from sessions.releases.engine import Call, Engine, Question, ReleaseError, ReleaseReading
from sessions.releases.release import Release
from sessions.running import recording, rendering


class Ours:
    """The adapters of this project, which reproduce `sessions.running.recording.DSPY`. Keeps nothing open."""

    name = f"ours, as dspy {recording.DSPY}"
    version = recording.DSPY

    def call(self, question: Question) -> Call:
        """Make a whole call, as `Engine.call`; formatting errors become a `ReleaseError` of kind `raised`."""
        session, case, column = question.session, question.case, question.column
        if question.adapter:
            column = replace(column, adapter=question.adapter, options={})
        try:
            adapter = rendering.adapter_of(column)
            signature = variants.session_of(session, column).signature.read()
            made = rendering.request_of(session, column, case, capabilities=question.capabilities, adapter=adapter)
            readings = tuple(
                [recording.read_completion(adapter, made, signature, answer) for answer in question.answers]
            )
        except Exception as error:  # whatever dspy's format raises for this signature and these values
            message = f"{self.name}: it makes no prompt: {type(error).__name__}: {error}"
            raise ReleaseError("raised", question.column.id, message) from error
        body = {name: value for name, value in made.as_dict().items() if name not in ("messages", "model")}
        return Call(
            tuple(recording.as_json(made.prompt.as_dicts())),
            recording.as_json(body),
            tuple([_reading(one) for one in readings]),
            made.removed_fields,
        )

    def close(self) -> None:
        """Do nothing: nothing is open."""


def _reading(reading: Reading) -> ReleaseReading:
    made, error = recording.recorded_reading(reading), reading.error
    return ReleaseReading(made.ok, made.values, *(("", "") if error is None else (error.type, error.message)))


def open_engine(name: str) -> Engine:
    """Start the engine of a name. `installed` is the dspy in the workbench's own environment.

    Raises `ReleaseError`; if a release was not added, with how to add it.
    """
    if name == "ours":
        return Ours()
    if name == "installed":
        return Release(sys.executable, hint="install dspy beside the workbench, or name a release as `3.0.4`")
    if environments.VERSION.fullmatch(name):
        return environments.open_release(name)
    if os.sep in name or name.startswith("python"):
        return Release(name, hint="install dspy there, or name another Python")
    message = f"`{name[:80]}` names no engine"
    raise ReleaseError("missing", "", message, "there are `ours`, `installed`, a release as `3.0.4`, a Python's path")

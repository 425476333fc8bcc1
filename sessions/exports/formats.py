"""The export formats of a session. A format's module is imported on first use."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, Unpack

from adapters.late_dataclasses import dataclass
from sessions.exports.exported import Exported, Source, SourceOptions, source_of
from sessions.model.session import Case, Column, Session

Scope = Literal["one", "columns", "cases", "all"]
"""The contents of a file: a column of a case, all columns of a case, a column of all cases, or all of both."""


@dataclass(frozen=True)
class Format:
    """An export format: `home` is `module:function`, or the common name of both."""

    name: str
    title: str
    about: str
    file: str
    scope: Scope
    home: str

    @property
    def make(self) -> Callable[[Source], Exported]:
        """The export function, which raises `ExportError`, `SignatureError` and `variants.VariantError`."""
        module, _, name = self.home.partition(":")
        found: Callable[[Source], Exported] = getattr(importlib.import_module(module, __package__), name or module[1:])
        return found

    def export(
        self, session: Session, columns: Sequence[Column], cases: Sequence[Case], **options: Unpack[SourceOptions]
    ) -> Exported:
        """Export the session; formats for a single column or case use the first. Raises the errors of `make`."""
        shown = columns if self.wants_every_column else columns[:1]
        meant = cases if self.wants_every_case else cases[:1]
        return self.make(source_of(session, shown, meant, **options))

    @property
    def wants_every_case(self) -> bool:
        return self.scope in ("cases", "all")

    @property
    def wants_every_column(self) -> bool:
        return self.scope in ("columns", "all")


_FORMATS = (
    Format("messages", "messages JSON", "role and content, as sent", "messages.json", "one", ".requests_out:messages"),
    Format("request", "request JSON", "model, messages and parameters", "request.json", "one", ".requests_out:request"),
    Format("curl", "curl command", "a shell command; the key by its variable", "ask.sh", "one", ".requests_out:curl"),
    Format(
        "python", "Python script", "calls litellm; the key from the environment", "ask.py", "one", ".litellm_script"
    ),
    Format(
        "dspy", "dspy source", "signature, demos, adapter and a call, for dspy", "program.py", "one", ".dspy_source"
    ),
    Format(
        "program", "dspy program.json", "what `load` of a dspy program reads", "program.json", "one", ".dspy_program"
    ),
    Format(
        "template",
        "prompt template",
        "placeholders that occur nowhere else in the text",
        "template.json",
        "one",
        ".template",
    ),
    Format(
        "finetune",
        "fine-tuning JSONL",
        "demos and answered cases, in OpenAI's chat format",
        "finetune.jsonl",
        "cases",
        ".requests_out:finetune",
    ),
    Format(
        "batch",
        "batch JSONL",
        "every case and column, for OpenAI's batch API",
        "batch.jsonl",
        "all",
        ".requests_out:batch",
    ),
    Format(
        "promptfoo",
        "promptfoo config",
        "prompts, providers and a test for each case",
        "promptfooconfig.yaml",
        "all",
        ".promptfoo",
    ),
    Format(
        "markdown", "Markdown", "for a lesson: prompts, replies, what was read", "lesson.md", "columns", ".markdown"
    ),
)
FORMATS: Mapping[str, Format] = MappingProxyType({one.name: one for one in _FORMATS})
"""The formats by name, in the order of menus."""

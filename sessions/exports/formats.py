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
    """An export format: `home` is `module:function`, or their common name; by default a function of `requests_out`."""

    name: str
    title: str
    about: str
    file: str
    scope: Scope = "one"
    home: str = ""

    @property
    def make(self) -> Callable[[Source], Exported]:
        """The export function, which raises `ExportError`, `SignatureError` and `variants.VariantError`."""
        module, _, name = (self.home or f".requests_out:{self.name}").partition(":")
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
    Format("messages", "messages JSON", "role and content, as sent", "messages.json"),
    Format("request", "request JSON", "model, messages and parameters", "request.json"),
    Format("curl", "curl command", "a shell command; the API key stays a variable", "ask.sh"),
    Format(
        "python", "Python script", "calls litellm; the API key from the environment", "ask.py", home=".litellm_script"
    ),
    Format("dspy", "dspy source", "signature, demos, adapter and a call, for dspy", "program.py", home=".dspy_source"),
    Format("program", "dspy program.json", "what `load` of a dspy program reads", "program.json", home=".dspy_program"),
    Format(
        "template",
        "prompt template",
        "placeholders that occur nowhere else in the text",
        "template.json",
        home=".template",
    ),
    Format(
        "finetune", "fine-tuning JSONL", "demos and answered cases, in OpenAI's chat format", "finetune.jsonl", "cases"
    ),
    Format("batch", "batch JSONL", "every case and column, for OpenAI's batch API", "batch.jsonl", "all"),
    Format(
        "promptfoo",
        "promptfoo config",
        "prompts, providers and a test for each case",
        "promptfooconfig.yaml",
        "all",
        ".promptfoo",
    ),
    Format(
        "markdown", "Markdown", "for a lesson: prompts, replies, parse results", "lesson.md", "columns", ".markdown"
    ),
)
FORMATS: Mapping[str, Format] = MappingProxyType({one.name: one for one in _FORMATS})
"""The formats by name, in the order of menus."""

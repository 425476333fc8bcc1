"""All export formats of a session. The module of a format is imported when it is first used."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, Unpack

from sessions.exports.exported import Exported, Source, SourceOptions, source_of
from sessions.model.session import Case, Column, Session

Scope = Literal["one", "columns", "cases", "all"]
"""What goes into one file: one column of one case, each column of one, one column of each, or each of each."""


@dataclass(frozen=True)
class Format:
    """`home` is the `module:function` that makes it; `file` what a file of it is usually called."""

    name: str
    title: str
    about: str
    file: str
    scope: Scope
    home: str

    @property
    def make(self) -> Callable[[Source], Exported]:
        """The export. Raises `exported.ExportError`, `adapters.errors.SignatureError` and `variants.VariantError`."""
        module, _, name = self.home.partition(":")
        found: Callable[[Source], Exported] = getattr(importlib.import_module(module), name)
        return found

    def export(
        self, session: Session, columns: Sequence[Column], cases: Sequence[Case], **options: Unpack[SourceOptions]
    ) -> Exported:
        """The session in this form; a form of a single column or case takes the first. Raises as `make`."""
        shown = columns if self.wants_every_column else columns[:1]
        meant = cases if self.wants_every_case else cases[:1]
        return self.make(source_of(session, shown, meant, **options))

    @property
    def wants_every_case(self) -> bool:
        return self.scope in ("cases", "all")

    @property
    def wants_every_column(self) -> bool:
        return self.scope in ("columns", "all")


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        one.name: one
        for one in (
            Format(
                "messages",
                "messages JSON",
                "role and content, as they go out",
                "messages.json",
                "one",
                "sessions.exports.requests_out:messages",
            ),
            Format(
                "request",
                "request JSON",
                "model, messages and parameters",
                "request.json",
                "one",
                "sessions.exports.requests_out:request",
            ),
            Format(
                "curl",
                "curl command",
                "a shell command; the key by its variable",
                "ask.sh",
                "one",
                "sessions.exports.requests_out:curl",
            ),
            Format(
                "python",
                "Python script",
                "calls litellm; the key from the environment",
                "ask.py",
                "one",
                "sessions.exports.litellm_script:litellm_script",
            ),
            Format(
                "dspy",
                "dspy source",
                "signature, demos, adapter and a call, for dspy",
                "program.py",
                "one",
                "sessions.exports.dspy_source:dspy_source",
            ),
            Format(
                "program",
                "dspy program.json",
                "what `load` of a dspy program reads",
                "program.json",
                "one",
                "sessions.exports.dspy_program:dspy_program",
            ),
            Format(
                "template",
                "prompt template",
                "placeholders that occur nowhere else in the text",
                "template.json",
                "one",
                "sessions.exports.template:template",
            ),
            Format(
                "finetune",
                "fine-tuning JSONL",
                "demos and answered cases, in OpenAI's chat format",
                "finetune.jsonl",
                "cases",
                "sessions.exports.jsonl:finetune",
            ),
            Format(
                "batch",
                "batch JSONL",
                "every case and column, for OpenAI's batch API",
                "batch.jsonl",
                "all",
                "sessions.exports.jsonl:batch",
            ),
            Format(
                "promptfoo",
                "promptfoo config",
                "prompts, providers and a test for each case",
                "promptfooconfig.yaml",
                "all",
                "sessions.exports.promptfoo:promptfoo",
            ),
            Format(
                "markdown",
                "Markdown",
                "for a lesson: prompts, replies, what was read",
                "lesson.md",
                "columns",
                "sessions.exports.markdown:markdown",
            ),
        )
    }
)
"""In the order of menus."""

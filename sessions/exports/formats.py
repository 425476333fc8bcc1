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
    """An export format: `file` is the usual file name, `home` the module, by default named as the format.

    The function in the module has the name of the format, else that of the module.
    """

    name: str
    title: str
    about: str
    file: str
    scope: Scope
    home: str = ""

    @property
    def make(self) -> Callable[[Source], Exported]:
        """The export function, which raises `ExportError`, `SignatureError` and `variants.VariantError`."""
        home = self.home or self.name
        module = importlib.import_module(f"sessions.exports.{home}")
        found: Callable[[Source], Exported] = getattr(module, self.name, None) or getattr(module, home)
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


_IN_ORDER = (
    Format("messages", "messages JSON", "role and content, as they go out", "messages.json", "one", "requests_out"),
    Format("request", "request JSON", "model, messages and parameters", "request.json", "one", "requests_out"),
    Format("curl", "curl command", "a shell command; the key by its variable", "ask.sh", "one", "requests_out"),
    Format("python", "Python script", "calls litellm; the key from the environment", "ask.py", "one", "litellm_script"),
    Format("dspy", "dspy source", "signature, demos, adapter and a call, for dspy", "program.py", "one", "dspy_source"),
    Format(
        "program", "dspy program.json", "what `load` of a dspy program reads", "program.json", "one", "dspy_program"
    ),
    Format("template", "prompt template", "placeholders that occur nowhere else in the text", "template.json", "one"),
    Format(
        "finetune",
        "fine-tuning JSONL",
        "demos and answered cases, in OpenAI's chat format",
        "finetune.jsonl",
        "cases",
        "requests_out",
    ),
    Format(
        "batch", "batch JSONL", "every case and column, for OpenAI's batch API", "batch.jsonl", "all", "requests_out"
    ),
    Format(
        "promptfoo", "promptfoo config", "prompts, providers and a test for each case", "promptfooconfig.yaml", "all"
    ),
    Format("markdown", "Markdown", "for a lesson: prompts, replies, what was read", "lesson.md", "columns"),
)
FORMATS: Mapping[str, Format] = MappingProxyType({one.name: one for one in _IN_ORDER})
"""The formats by name, in the order of menus."""

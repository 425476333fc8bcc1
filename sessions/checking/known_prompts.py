"""Share prompts and demos between fixtures, since a team's sessions often have them in common.

The engine reuses rendered demos only if they are the same objects. Equal demos of other files are therefore replaced by
the objects of the first.
"""

from __future__ import annotations

import json
from collections.abc import Hashable

from adapters.formats.base import Adapter
from adapters.late_dataclasses import replace
from adapters.prompts.text import Prompt
from sessions.model.session import Demo, Session

PromptKey = tuple[Adapter, Hashable]
"""An adapter and its `demo_key` for a signature."""
MOST_DEMOS = 4_000
"""The limit on remembered demos, and on demos in remembered prompts; beyond it the cache is cleared."""


class KnownPrompts:
    """Prompts and demos shared within a run of checks, bounded for any number of files."""

    def __init__(self) -> None:
        self._demos: dict[str, Demo] = {}
        self._prompts: dict[PromptKey, Prompt] = {}
        self._weight = 0

    def share_demos(self, session: Session) -> Session:
        """Replace the session's demos with equal ones of earlier sessions."""
        if not session.demos or len(session.demos) > MOST_DEMOS // 10:
            return session
        return replace(session, demos=tuple([self._known(demo) for demo in session.demos]))

    def _known(self, demo: Demo) -> Demo:
        if demo.extra:
            return demo
        content = json.dumps([demo.enabled, demo.values])
        if len(self._demos) >= MOST_DEMOS:
            self._demos.clear()
        return self._demos.setdefault(content, demo)

    def get(self, key: PromptKey) -> Prompt | None:
        """Return a prompt whose rendered demos can be reused."""
        return self._prompts.get(key)

    def keep(self, key: PromptKey, prompt: Prompt) -> None:
        self._weight += 1 + len(prompt.demos)
        if self._weight > MOST_DEMOS:
            self._prompts.clear()
            self._weight = 1 + len(prompt.demos)
        self._prompts[key] = prompt

"""Prompts of the fixtures that were checked before, since those of a team mostly share their signature and demos.

The engine takes over the messages of demos that are the same objects. Demos of other files with the same content are
therefore made the same objects here.
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import replace

from adapters.formats.base import Adapter
from adapters.prompts.prompt import Prompt
from adapters.signatures.signature import Signature
from sessions.model.session import Demo, Session

MOST_DEMOS = 4_000
"""Demos that are remembered, and demos in the prompts that are; beyond that everything is forgotten."""


class KnownPrompts:
    """Prompts and demos shared within a run of checks; bounded, however many files are checked."""

    def __init__(self) -> None:
        self._demos: dict[str, Demo] = {}
        self._prompts: dict[tuple[Adapter, Hashable], Prompt] = {}
        self._weight = 0

    def with_known_demos(self, session: Session) -> Session:
        """The session with the demos of an earlier one in the place of equal ones."""
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

    def get(self, adapter: Adapter, signature: Signature) -> Prompt | None:
        """A prompt whose demos can be taken over."""
        return self._prompts.get((adapter, adapter.demo_key(signature)))

    def keep(self, adapter: Adapter, signature: Signature, prompt: Prompt) -> None:
        self._weight += 1 + len(prompt.demos)
        if self._weight > MOST_DEMOS:
            self._prompts.clear()
            self._weight = 1 + len(prompt.demos)
        self._prompts[adapter, adapter.demo_key(signature)] = prompt

"""Keeps API keys out of everything that is shown or stored."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

MINIMUM_LENGTH = 8
"""Shorter values are words like `local` or `none`, which would be cut out of ordinary sentences."""

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$", re.IGNORECASE)
_LOOKS_SECRET = re.compile(
    r"\b(sk|pk|gsk|xai|AIza)[-_][A-Za-z0-9_\-]{12,}|\bAIza[A-Za-z0-9_\-]{20,}|(?<=Bearer )[^\s\"',]{8,}"
)


def is_secret_name(name: str) -> bool:
    """Whether an environment variable of this name holds a secret."""
    return _SECRET_NAME.search(name) is not None


class Scrubber:
    """Replaces secrets of an environment by the names of their variables, and what merely looks like one by `[key]`."""

    def __init__(self, environment: Mapping[str, str] | None = None, also: tuple[str, ...] = ()) -> None:
        known = {
            value: f"[{name}]"
            for name, value in (os.environ if environment is None else environment).items()
            if is_secret_name(name) and len(value) >= MINIMUM_LENGTH
        }
        known.update({value: "[key]" for value in also if len(value) >= MINIMUM_LENGTH})
        self._known = sorted(known.items(), key=lambda pair: -len(pair[0]))

    def text(self, text: str) -> str:
        for secret, name in self._known:
            if secret in text:
                text = text.replace(secret, name)
        return _LOOKS_SECRET.sub("[key]", text)

    def json(self, value: Any) -> Any:
        """`value`, plain JSON, with every string and key of it scrubbed."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.json(one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [self.json(one) for one in value]
        return value

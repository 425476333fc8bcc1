"""One step of the way from raw text to a value."""

from __future__ import annotations

from typing import Any, NamedTuple


class Step(NamedTuple):
    """One step from raw text to value. Each step's `before` is the `after` of the one in front of it.

    `rule` is a name that `adapters.values.coercion.apply` replays, but for `threshold`, `cuts` and `weights`, which go
    by a decision's settings (`adapters.requests.decisions`). `path` places `before` inside the whole document when the
    step's `after` is only a part of it (JSON: the key taken); `note` says what a person should know.
    """

    rule: str
    before: Any
    after: Any
    path: str = ""
    note: str = ""

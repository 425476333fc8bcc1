"""The steps from raw text to a value."""

from __future__ import annotations

from typing import Any, NamedTuple


class Step(NamedTuple):
    """A step from raw text to value. Its `before` is the `after` of the previous step.

    `rule` is a name that `adapters.values.coercion.apply` replays, but for `threshold`, `cuts` and `weights`, which go
    by a decision's settings (`adapters.requests.decisions`). `path` places `before` inside the whole document when the
    step's `after` is only a part of it (JSON: the key taken); `note` says what a person should know.
    """

    rule: str
    before: Any
    after: object
    path: str = ""
    note: str = ""

"""The steps from raw text to a value."""

from __future__ import annotations

from typing import Any, NamedTuple


class Step(NamedTuple):
    """A step from raw text to value. Its `before` is the `after` of the previous step.

    `adapters.values.coercion.apply` replays `rule`, except `threshold`, `cuts` and `weights`, which depend on a
    decision's settings (`adapters.requests.decisions`). If `after` is only a part of the whole document, `path` locates
    it (in JSON, the key). `note` is an explanation for people.
    """

    rule: str
    before: Any
    after: object
    path: str = ""
    note: str = ""

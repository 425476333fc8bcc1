"""A good reply is looked into only where a surprise may be."""

from __future__ import annotations

import pytest

import adapters
from adapters.formats import catalog
from adapters.replies.flags import values_read
from adapters.replies.flags.explaining import detectors_of
from adapters.replies.flags.values_refused import values_refused

SIGNATURE = adapters.read_signature("question -> answer, names: list[str], sure: bool, scores: list[float]")
REPLY = '{"answer": "yes", "names": ["a", "b"], "sure": true, "scores": [NaN]}'
SAID = "`scores` contains nan: nan, inf and numbers too large for a float are accepted."


@pytest.mark.parametrize("name", ["extra_keys", "_text", "_validated", "_code"])
def test_values_taken_as_they_are_are_not_walked_again(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.delattr(values_read, name)  # an error in a detector ends its flags
    assert [one.message for one in catalog.make("json").read(SIGNATURE, REPLY).flags] == [SAID]


def test_only_replies_that_fail_are_searched_for_values_that_failed() -> None:
    json = catalog.make("json")
    assert values_refused not in detectors_of(json.read(SIGNATURE, REPLY))
    assert values_refused in detectors_of(json.read(SIGNATURE, REPLY.replace("true", '"maybe"')))

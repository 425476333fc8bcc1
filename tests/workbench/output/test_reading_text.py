"""Who is said to have refused a reply."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adapters.formats import catalog
from adapters.json_text import repair_limits
from adapters.replies.reading import FieldReading
from adapters.signatures import notation
from workbench.output import reading_text
from workbench.output.reading_text import raised_by


@pytest.mark.parametrize(
    ("reply", "who"),
    [("no JSON at all", "dspy"), ('["' + 'a"b' * 6_000 + '"]', "this project")],
    ids=["dspy's own error", "past a limit that dspy does not have"],
)
def test_a_limit_of_ours_is_no_error_of_dspys(reply: str, who: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repair_limits, "REPAIR_STEPS", 10_000)
    reading = catalog.make("json").read(notation.read("question -> tags: list[str]"), reply)
    assert not reading.ok
    assert raised_by(reading) == who


def test_a_value_from_beside_the_text_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    reading = catalog.make("json").read(notation.read("question -> thought"), '{"thought": "x"}')
    native = replace(reading, fields={"thought": FieldReading("thought", "native", value="It rains.")})
    reading_text.write("json", native)
    assert '  thought = "It rains." (native)' in capsys.readouterr().out.splitlines()

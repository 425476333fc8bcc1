"""A custom type read from source: described as it says, its values given as the text that its `format` makes."""

from __future__ import annotations

import dspy
import pytest

from adapters.formats.catalog import make
from adapters.signatures import notation
from adapters.values.custom_types import BuildError, build_inputs
from tests.adapters.signatures.dspy_signatures import of_source
from tests.adapters.signatures.notation_computed_sources import COMPUTED

INPUTS = {"q": "<party>", "more": ["a", "b"]}
REPLY = '{"a": {"name": "x"}, "b": {"y": {"name": "y", "days": 2}}}'


@pytest.mark.parametrize("name", ["chat", "json", "xml"])
def test_its_description_and_schema_stand_in_the_prompt_as_dspy_writes_them(name: str) -> None:
    theirs = {"chat": dspy.ChatAdapter, "json": dspy.JSONAdapter, "xml": dspy.XMLAdapter}[name]()
    signature = notation.read(COMPUTED["Typed"], "Typed")
    live = of_source(COMPUTED["Typed"], "Typed")
    ours = make(name).format(signature, [], build_inputs(signature, INPUTS))
    assert [(one["role"], str(one["content"])) for one in ours] == [
        (one["role"], one["content"]) for one in theirs.format(live, [], INPUTS)
    ]
    assert "An event, with its name." in ours[0]["content"]


def test_a_value_is_read_as_its_fields() -> None:
    reading = make("json").read(notation.read(COMPUTED["Typed"], "Typed"), REPLY)
    assert reading.ok
    assert (reading.values["a"].name, reading.values["b"]["y"].days) == ("x", 2)


def test_a_value_that_its_format_would_have_to_write_is_refused_with_what_works() -> None:
    signature = notation.read(COMPUTED["Typed"], "Typed")
    with pytest.raises(BuildError, match="never run; give the text that it makes") as raised:
        build_inputs(signature, {"q": {"name": "party"}})
    assert raised.value.field == "q"

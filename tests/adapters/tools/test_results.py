"""The text of a tool's result that goes to the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from adapters.tools.tools import ToolResult, text_of


@dataclass
class Payload:
    answer: str
    note: str | None = None


class Rendering:
    def render(self) -> str:
        return "as it likes"


@pytest.mark.parametrize(
    ("message", "value", "text"),
    [
        ("completed", Payload("R:policies"), 'completed\n\n{"answer": "R:policies"}'),
        ("", {"answer": None}, '{"answer": null}'),
        ("", [Payload("a"), Payload("b", "c")], '[{"answer": "a"}, {"answer": "b", "note": "c"}]'),
        ("", ["a", 1], "a\n\n1"),
        ("", [], "[]"),
        ("", b"caf\xc3\xa9 \xff", "café \ufffd"),
        ("", 3.5, "3.5"),
        ("said", None, "said"),
        ("", Rendering(), "as it likes"),
    ],
)
def test_message_and_value(message: str, value: Any, text: str) -> None:
    assert text_of(ToolResult(message, value)) == text


def test_a_value_that_is_excluded_stays_out() -> None:
    assert text_of(ToolResult("done", {"secret": 1}, exclude_value_from_context=True)) == "done"

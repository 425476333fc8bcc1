"""Fields whose texts are taken out of a captured call."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest

from sessions.captured.recordings import LiveCall, call_from, redacted
from sessions.errors import SessionError


def call(patient: Any, reply: str = "", **more: Any) -> LiveCall:
    attempt = {
        "adapter": {"classes": ["dspy.adapters.chat_adapter:ChatAdapter"], "options": {}},
        "is_extraction": False,
        "messages": [{"role": "user", "content": f"[[ ## patient ## ]]\n{patient}"}],
        "params": {},
        "model": None,
        "outputs": [reply],
        "error": None,
        "readings": [],
    }
    return call_from(
        {
            "signature": "s",
            "name": "n",
            "inputs": {"patient": patient, "question": "Why?", **more},
            "demos": [{"patient": "Demo Person", "answer": "no"}],
            "config": {},
            "attempts": [attempt],
            "values": [{"answer": reply}],
            "error": None,
        }
    )


def test_the_text_is_gone_wherever_it_stands() -> None:
    reply = json.dumps({"answer": 'Ann "A" Lee & Co is well'})
    history = {"messages": [{"patient": "Earlier Person", "answer": "of Earlier Person"}]}
    done = redacted(call('Ann "A" Lee & Co', reply, history=history), ["patient"])
    text = json.dumps(asdict(done))
    assert not any(name in text for name in ("Ann", "Demo Person", "Earlier Person"))
    assert done.inputs["question"] == "Why?"
    assert done.attempts[0].outputs[0] == '{"answer": "(redacted) is well"}'


def test_other_fields_stay_as_they_are() -> None:
    given = call("Ann Lee", "fine")
    assert redacted(given, []) is given
    assert redacted(given, ["nothing of that name"]) is given


def test_every_text_of_a_nested_value_is_taken_out() -> None:
    done = redacted(call({"first": "Annabel", "more": ["Leonora", None, True]}, "Annabel, Leonora"), ["patient"])
    assert "Annabel" not in json.dumps(asdict(done)) and "Leonora" not in json.dumps(asdict(done))


@pytest.mark.parametrize("value", [12345, 1.5, "Ann", {"age": 41}])
def test_what_cannot_be_told_apart_from_other_words_leaves_the_call_out(value: Any) -> None:
    with pytest.raises(SessionError, match="the call is skipped"):
        redacted(call(value), ["patient"])

"""Asking again: the error goes back to the model in further messages, each a call of its own, after dspy's outcome."""

from __future__ import annotations

import pytest
from scripted_lm import ScriptedLM

from adapters.formats import catalog
from adapters.running import events, runner
from adapters.running.runs import Run
from adapters.signatures import notation
from sessions.model.session import Case, Column, Session, SignatureText
from sessions.running import recording, repeats

SIGNATURE = notation.read("ticket -> label: Literal['bug', 'billing']")
GOOD = "[[ ## label ## ]]\nbug\n\n[[ ## completed ## ]]"
WRONG = GOOD.replace("bug", "refund [/x]")


def run(model: ScriptedLM, times: int, adapter: str = "chat", fallback: bool = False) -> Run:
    made = catalog.make(adapter)
    return runner.run(made, model, SIGNATURE, [], {"ticket": "T"}, fallback=fallback, ask_again=times)


def test_the_second_call_has_the_reply_and_its_error_behind_the_prompt() -> None:
    model = ScriptedLM(WRONG, GOOD)
    done = run(model, 1)
    assert done.ok and done.values == {"label": "bug"}
    assert [one.purpose for one in done.attempts] == ["first", "again"]
    first, second = [one["messages"] for one in model.requests]
    assert second[: len(first)] == first
    replied, told = second[len(first) :]
    assert replied == {"role": "assistant", "content": WRONG}
    assert told["role"] == "user"
    assert "`label` is" in told["content"]
    assert told["content"].endswith("the marker for `[[ ## completed ## ]]`.")


def test_the_messages_are_told_before_they_are_sent() -> None:
    done = run(ScriptedLM(WRONG, GOOD), 1)
    kinds = [event.kind for event in done.events]
    asked = next(one for one in done.events if isinstance(one, events.AskedAgain))
    assert asked.messages[-1]["role"] == "user"
    assert kinds.index("AskedAgain") < len(kinds) - 1 - kinds[::-1].index("RequestSent")


@pytest.mark.parametrize(("times", "calls", "ok"), [(0, 1, False), (1, 2, False), (2, 3, True)])
def test_it_is_asked_as_often_as_allowed(times: int, calls: int, ok: bool) -> None:
    model = ScriptedLM(WRONG, WRONG, GOOD)
    assert (run(model, times).ok, len(model.requests)) == (ok, calls)


def test_the_fallback_of_dspy_comes_first() -> None:
    done = run(ScriptedLM(WRONG, "no JSON", '{"label": "bug"}'), 1, fallback=True)
    assert [one.purpose for one in done.attempts] == ["first", "fallback", "again"]
    assert done.ok


def test_the_first_model_of_two_step_is_not_told_of_the_format_of_the_second() -> None:
    model = ScriptedLM("It is a bug.", "no marker at all", "A bug.", GOOD)
    made = catalog.make("twostep")
    done = runner.run(made, model, SIGNATURE, [], {"ticket": "T"}, fallback=False, ask_again=1)
    told = model.requests[2]["messages"][-1]["content"]
    assert done.ok
    assert "- No value for `label` could be taken out of it." in told
    assert "marker" not in told and "Extraction" not in told


def test_an_empty_reply_is_not_returned() -> None:
    model = ScriptedLM("", GOOD)
    assert run(model, 1).ok
    assert [one["role"] for one in model.requests[1]["messages"]][-2:] == ["user", "user"]


def test_a_long_reply_is_returned_in_part() -> None:
    model = ScriptedLM(WRONG + "x" * 100_000, GOOD)
    run(model, 1)
    assert len(model.requests[1]["messages"][-2]["content"]) == 20_000


def test_a_recording_has_the_calls_of_dspy_alone() -> None:
    session = Session(
        SignatureText("ticket -> label: Literal['bug', 'billing']"),
        columns=(Column("chat", "chat"),),
        cases=(Case("c", {"ticket": "T"}),),
    )
    done = run(ScriptedLM(WRONG, GOOD), 1)
    kept = recording.record(session, session.cases[0], session.columns[0], done).cases[0]
    assert [one.role for one in kept.recordings["chat"].attempts] == ["main"]
    assert len(kept.measured["chat"]) == 1
    assert len(recording.measured_of_run(done)) == 2
    assert not repeats.is_misread(done)

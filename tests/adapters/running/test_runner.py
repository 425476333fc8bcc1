"""The one way to call a model: its events, attempts, fallbacks, deadlines, and what is left when it fails."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from scripted_lm import Clock, DeafLM, HangingLM, ScriptedLM

import adapters
from adapters.formats.catalog import make
from adapters.lm import interruption
from adapters.lm.protocol import Chunk, ProviderError, ToolCallPart
from adapters.requests.capabilities import Capabilities
from adapters.running import events
from adapters.running.runner import run as run_prompt
from adapters.running.runs import Run
from adapters.signatures.notation import read

QA = read("question -> answer, score: int")
INPUTS = {"question": "Is it raining?"}
CHAT = "[[ ## answer ## ]]\nyes\n\n[[ ## score ## ]]\n7\n\n[[ ## completed ## ]]\n"
JSON = '{"answer": "yes", "score": 7}'
PROSE = "I think it rains."
VALUES = {"answer": "yes", "score": 7}

AT_ONCE = 10
"""Readings of a run's clock: it is read at every look, and a few times more to tell of the end."""

PATIENCE_S = 60


def run(lm: Any, adapter: str = "chat", *, fallback: bool = False, signature: Any = QA, **options: Any) -> Run:
    return run_prompt(make(adapter), lm, signature, [], INPUTS, fallback=fallback, **options)


def kinds(result: Run) -> list[str]:
    return [event.kind for event in result.events]


def message(result: Run) -> str:
    assert result.error is not None
    return result.error.message


def test_a_run_tells_every_step_from_the_prompt_to_the_values() -> None:
    result = run(ScriptedLM([CHAT[:20], CHAT[20:]]))
    assert result.ok
    assert result.values == VALUES
    assert kinds(result) == [
        "PromptRendered",
        "RequestSent",
        "ChunkReceived",
        "ChunkReceived",
        "ResponseReceived",
        "ReplyRead",
        "PromptExecuted",
    ]
    assert {event.attempt for event in result.events} == {1}
    times = [event.at for event in result.events]
    assert times == sorted(times)


def test_the_request_in_the_events_is_the_request_the_model_got() -> None:
    lm = ScriptedLM(CHAT)
    result = run(lm, params={"temperature": 0.5})
    sent = next(event for event in result.events if isinstance(event, events.RequestSent))
    assert lm.requests == [sent.request]
    assert sent.request["temperature"] == 0.5
    assert sent.request["model"] == "scripted/model"
    assert result.attempts[0].request == sent.request


def test_an_attempt_keeps_the_reply_its_reading_and_what_it_took() -> None:
    clock = Clock()
    lm = ScriptedLM([lambda: clock.jump(1.5), CHAT, Chunk(usage={"total_tokens": 9}, cost=0.25)])
    (attempt,) = run(lm, clock=clock).attempts
    (completion,) = attempt.completions
    assert completion.text == CHAT
    assert completion.reading is not None
    assert completion.reading.values == VALUES
    assert completion.finish_reason == "stop"
    assert (attempt.number, attempt.adapter, attempt.error) == (1, "chat", None)
    assert (attempt.usage, attempt.cost, attempt.duration_ms) == ({"total_tokens": 9}, 0.25, 1500)


def test_what_is_unknown_is_none_and_never_zero() -> None:
    (attempt,) = run(ScriptedLM(CHAT)).attempts
    assert (attempt.usage, attempt.cost) == (None, None)


def test_a_reply_that_cannot_be_read_fails_in_phase_response_with_its_reading() -> None:
    result = run(ScriptedLM(PROSE))
    assert result.error is not None
    assert (result.error.phase, result.error.attempt) == ("response", 1)
    assert "\n" not in message(result)
    (attempt,) = result.attempts
    assert attempt.completions[0].reading is not None
    assert not attempt.completions[0].reading.ok
    assert attempt.error is not None
    assert kinds(result)[-2:] == ["ReplyRead", "Failed"]


def test_an_empty_reply_is_dspys_error() -> None:
    result = run(ScriptedLM(""))
    assert "The LM returned an empty or null response." in message(result)
    assert result.attempts[0].completions[0].reading is not None


@pytest.mark.parametrize("adapter", ["chat", "xml"])
def test_the_fallback_to_json_is_an_attempt_of_its_own(adapter: str) -> None:
    lm = ScriptedLM(PROSE, JSON)
    result = run(lm, adapter, fallback=True)
    assert result.values == VALUES
    assert [(one.number, one.adapter) for one in result.attempts] == [(1, adapter), (2, "json")]
    assert result.attempts[0].error is not None
    assert "Respond with a JSON object" in lm.requests[1]["messages"][-1]["content"]
    started = next(event for event in result.events if isinstance(event, events.FallbackStarted))
    assert (started.attempt, started.adapter) == (2, "json")
    assert [event.attempt for event in result.events if event.kind == "ReplyRead"] == [1, 2]


def test_without_fallback_the_first_failure_is_the_result() -> None:
    lm = ScriptedLM(PROSE, JSON)
    assert not run(lm, fallback=False).ok
    assert len(lm.requests) == 1


def test_json_has_nothing_to_fall_back_to() -> None:
    lm = ScriptedLM(PROSE, JSON)
    assert not run(lm, "json", fallback=True).ok
    assert len(lm.requests) == 1


def test_a_provider_error_starts_no_fallback() -> None:
    lm = ScriptedLM([ProviderError("Out of order.", "server")], JSON)
    result = run(lm, fallback=True)
    assert message(result) == "Out of order."
    assert len(lm.requests) == 1


def test_a_fallback_that_fails_too_is_what_the_run_reports() -> None:
    result = run(ScriptedLM(PROSE, "nothing"), fallback=True)
    assert result.error is not None
    assert result.error.attempt == 2
    assert "as json" in message(result)


def test_two_step_asks_a_second_model_in_an_attempt_of_its_own() -> None:
    first, second = ScriptedLM(PROSE, model="big"), ScriptedLM(CHAT, model="small")
    result = run(first, "twostep", extraction_lm=second)
    assert result.values == VALUES
    assert [(one.adapter, one.model) for one in result.attempts] == [("twostep", "big"), ("chat", "small")]
    assert PROSE in second.requests[0]["messages"][-1]["content"]
    reading = result.attempts[0].completions[0].reading
    assert reading is not None
    assert reading.extraction is not None
    assert reading.extraction.completion == CHAT
    assert [event.attempt for event in result.events if event.kind == "ReplyRead"] == [2, 1]


def test_two_steps_extraction_falls_back_to_json() -> None:
    result = run(ScriptedLM(PROSE, "what?", JSON), "twostep", fallback=True)
    assert result.values == VALUES
    assert [one.adapter for one in result.attempts] == ["twostep", "chat", "json"]
    reading = result.attempts[0].completions[0].reading
    assert reading is not None
    assert reading.ok


def test_a_failing_extraction_fails_the_run_with_the_main_reading() -> None:
    result = run(ScriptedLM(PROSE, "what?"), "twostep")
    assert "as twostep" in message(result)
    assert result.attempts[0].completions[0].reading is not None


def test_an_extraction_that_cannot_be_called_fails_in_phase_request() -> None:
    result = run(ScriptedLM(PROSE, [ProviderError("No key.", "key")]), "twostep")
    assert result.error is not None
    assert (result.error.phase, result.error.attempt) == ("request", 2)
    assert result.attempts[0].completions[0].text == PROSE


def test_an_extraction_that_dspy_cannot_make_is_never_called_and_fails_the_run() -> None:
    signature = adapters.read_signature(
        "class S(dspy.Signature):\n    q: str = dspy.InputField()\n    a: List = dspy.OutputField()"
    )
    lm = ScriptedLM(PROSE, "never asked")
    result = adapters.run(signature, {"q": "?"}, model=lm, adapter="twostep")
    assert result.error is not None and len(lm.requests) == 1
    assert result.error.phase == "response" and "Field types must be types" in result.error.message


def test_several_completions_are_all_read() -> None:
    lm = ScriptedLM([Chunk(text=CHAT, choice=0), Chunk(text=CHAT.replace("7", "8"), choice=1)])
    result = run(lm, n=2)
    assert lm.requests[0]["n"] == 2
    assert [values["score"] for values in result.all_values] == [7, 8]
    assert result.values["score"] == 7
    assert [event.choice for event in result.events if isinstance(event, events.ReplyRead)] == [0, 1]


def test_one_unreadable_completion_fails_the_run_but_all_are_read() -> None:
    result = run(ScriptedLM([Chunk(text=PROSE, choice=0), Chunk(text=CHAT, choice=1)]), n=2)
    assert not result.ok
    readings = [one.reading for one in result.attempts[0].completions]
    assert [reading is not None and reading.ok for reading in readings] == [False, True]


def test_reasoning_tool_calls_and_logprobs_are_kept() -> None:
    logprobs = {"content": [{"token": "a"}]}
    lm = ScriptedLM(
        [
            Chunk(reasoning="Hm. "),
            Chunk(reasoning="Yes."),
            Chunk(text=CHAT, logprobs=logprobs),
            Chunk(tool_calls=(ToolCallPart(0, "c1", "look", '{"a"'),)),
            Chunk(tool_calls=(ToolCallPart(0, arguments=": 1}"),), logprobs=logprobs),
        ]
    )
    result = run(lm)
    (completion,) = result.attempts[0].completions
    assert completion.reasoning == "Hm. Yes."
    assert completion.tool_calls == (
        {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"a": 1}'}},
    )
    assert len(completion.logprobs["content"]) == 2
    assert result.values["logprobs"] == completion.logprobs


def test_a_raw_send_keeps_the_text_and_reads_nothing() -> None:
    result = run(ScriptedLM(PROSE), raw=True)
    assert result.ok
    assert result.attempts[0].completions[0].text == PROSE
    assert result.attempts[0].completions[0].reading is None
    assert "ReplyRead" not in kinds(result)


def test_capabilities_decide_the_request_before_the_call() -> None:
    able = Capabilities(response_schema=True, params=frozenset({"response_format"}))
    lm = ScriptedLM(JSON, capabilities=able)
    run(lm, "json")
    assert lm.requests[0]["response_format"]["type"] == "json_schema"
    lm = ScriptedLM(JSON, capabilities=able)
    run(lm, "json", capabilities=Capabilities())
    assert "response_format" not in lm.requests[0]


def test_a_prompt_that_cannot_be_made_fails_in_phase_request_without_a_call() -> None:
    lm = ScriptedLM(CHAT)
    recursive = read(
        "import dspy\nfrom pydantic import BaseModel\nclass Tree(BaseModel):\n    children: list['Tree']\n"
        "class S(dspy.Signature):\n    question: str = dspy.InputField()\n    tree: Tree = dspy.OutputField()\n"
    )
    result = run(lm, "baml", signature=recursive)
    assert result.error is not None
    assert result.error.phase == "request"
    assert message(result).startswith("The prompt cannot be made: ValueError: ")
    assert not lm.requests
    assert kinds(result) == ["Failed"]


def test_a_call_that_breaks_off_keeps_what_had_arrived() -> None:
    broken = ProviderError("It broke off.", "interrupted", payload={"status": 500})
    result = run(ScriptedLM([CHAT[:30], broken]))
    assert result.error is not None
    payload = {"kind": "interrupted", "status": 500}
    assert (result.error.phase, result.error.payload) == ("request", payload)
    (attempt,) = result.attempts
    assert attempt.completions[0].text == CHAT[:30]
    assert attempt.completions[0].reading is None
    assert (attempt.error, attempt.payload) == ("It broke off.", payload)
    assert kinds(result) == ["PromptRendered", "RequestSent", "ChunkReceived", "Failed"]


def test_a_model_that_crashes_is_a_failed_request() -> None:
    result = run(ScriptedLM([ZeroDivisionError("of all things")]))
    assert message(result) == "The model could not be called: ZeroDivisionError: of all things"


@pytest.mark.parametrize(
    ("chunk", "says"),
    [
        ("some text", "`stream` must yield adapters.Chunk(text=…), not str"),
        (None, "`stream` must yield adapters.Chunk(text=…), not NoneType"),
        (
            Chunk(tool_calls=None),  # type: ignore[arg-type]
            "the `tool_calls` of an adapters.Chunk must be a tuple of ToolCallPart, not NoneType",
        ),
        (Chunk(text=5), "the `text` of an adapters.Chunk must be a str, not int"),  # type: ignore[arg-type]
        (Chunk(tool_calls=({"name": "x"},)), "the `tool_calls` of an adapters.Chunk must be of ToolCallPart, not dict"),  # type: ignore[arg-type]
    ],
)
def test_a_model_that_yields_something_else_is_told_what_to_yield(chunk: Any, says: str) -> None:
    class Wrong(ScriptedLM):
        def stream(self, request: Mapping[str, Any], cancel: threading.Event | None = None) -> Any:
            yield chunk

    assert message(run(Wrong([]))) == f"The model could not be called: TypeError: {says}"


@pytest.mark.parametrize("error", [SystemExit("out"), asyncio.CancelledError("out"), KeyboardInterrupt("out")])
def test_a_model_that_raises_what_is_no_exception_ends_the_run_and_nothing_else(error: BaseException) -> None:
    class Leaving(ScriptedLM):
        def stream(self, request: Mapping[str, Any], cancel: threading.Event | None = None) -> Any:
            raise error

    result = run(Leaving([]), deadline_s=PATIENCE_S)
    assert message(result) == f"The model could not be called: RuntimeError: {type(error).__name__}: out"


def test_a_call_that_fails_without_a_word_is_no_successful_attempt() -> None:
    result = run(ScriptedLM([ProviderError("", "network")]))
    assert not result.ok
    assert [one.error for one in result.attempts] == [""]


def test_listeners_hear_every_event_in_order() -> None:
    heard: list[events.Event] = []
    result = run(ScriptedLM(CHAT), listeners=[heard.append])
    assert tuple(heard) == result.events


def test_a_listener_that_fails_changes_nothing_and_is_told_of() -> None:
    def fail(event: events.Event) -> None:
        raise RuntimeError(event.kind)

    heard: list[events.Event] = []
    result = run(ScriptedLM(CHAT), listeners=[fail, heard.append])
    assert result.values == VALUES
    assert [str(error) for error in result.listener_errors] == kinds(result)
    assert tuple(heard) == result.events


def test_a_deadline_that_has_passed_at_the_start_calls_nothing() -> None:
    lm = ScriptedLM(CHAT)
    result = run(lm, deadline_s=0)
    assert result.error is not None
    assert (result.error.phase, result.error.payload) == ("request", {"deadline_seconds": 0})
    assert not lm.requests
    assert kinds(result) == ["Failed"]


def test_a_deadline_is_checked_before_the_call() -> None:
    clock, lm = Clock(), ScriptedLM(CHAT)
    result = run(lm, deadline_s=5, clock=clock, listeners=[lambda event: clock.jump()])
    assert message(result) == "Deadline expired before provider request."
    assert not lm.requests
    assert kinds(result) == ["PromptRendered", "Failed"]


def test_a_reply_that_came_whole_but_late_fails_in_phase_response() -> None:
    clock = Clock()
    result = run(ScriptedLM([clock.jump, CHAT]), deadline_s=5, clock=clock)
    assert result.error is not None
    assert result.error.phase == "response"
    assert message(result) == "Deadline expired while finalizing provider response."
    assert result.attempts[0].completions[0].text == CHAT


def test_a_deadline_is_one_instant_for_all_attempts() -> None:
    clock = Clock()
    lm = ScriptedLM(PROSE, JSON)

    def late(event: events.Event) -> None:
        if isinstance(event, events.FallbackStarted):
            clock.jump()

    result = run(lm, fallback=True, deadline_s=5, clock=clock, listeners=[late])
    assert result.error is not None
    assert (result.error.phase, result.error.attempt) == ("request", 2)
    assert len(lm.requests) == 1


def at_the_first_text(do: Callable[[], None]) -> events.Listener:
    done: list[events.Event] = []

    def listen(event: events.Event) -> None:
        if isinstance(event, events.ChunkReceived) and not done:
            done.append(event)
            do()

    return listen


def test_a_deadline_cuts_off_a_call_that_hangs() -> None:
    clock, lm = Clock(), HangingLM(CHAT[:30])
    result = run(lm, deadline_s=5, clock=clock, listeners=[at_the_first_text(clock.jump)])
    assert result.error is not None
    assert result.error.phase == "request"
    assert message(result) == "Deadline expired while the model was answering."
    assert result.attempts[0].completions[0].text == CHAT[:30]
    assert clock.readings_since_jump < AT_ONCE
    assert lm.stopped.wait(PATIENCE_S)


class LoadingLM(ScriptedLM):
    """Has to be loaded before its first call, which takes ten seconds of `clock`."""

    def __init__(self, clock: Clock, *replies: Any) -> None:
        super().__init__(*replies)
        self._clock = clock
        self.is_loaded = False

    def has_to_load(self, request: Mapping[str, Any]) -> bool:
        return not self.is_loaded

    def wait_until_loaded(self, cancel: threading.Event | None = None) -> None:
        self._clock.jump(10)
        self.is_loaded = True


def test_loading_is_neither_the_models_time_nor_the_deadlines() -> None:
    clock = Clock()
    result = run(LoadingLM(clock, CHAT), deadline_s=5, clock=clock)
    assert result.values == VALUES
    assert kinds(result)[:3] == ["PromptRendered", "ModelLoading", "RequestSent"]
    assert result.attempts[0].duration_ms == 0


def test_the_models_time_begins_when_the_request_goes_out() -> None:
    clock = Clock()
    reply = [lambda: clock.jump(4), Chunk(prepared_s=4), CHAT]
    result = run(ScriptedLM(reply), deadline_s=5, clock=clock, listeners=[at_the_first_text(lambda: clock.jump(3))])
    assert result.values == VALUES
    assert result.attempts[0].duration_ms == 3000
    assert [one.text for one in result.attempts[0].completions] == [CHAT]


def test_the_time_of_a_call_is_its_own_and_not_that_of_a_busy_reader() -> None:
    clock = Clock()
    reply = [Chunk(prepared_s=0), CHAT, lambda: clock.jump(4), Chunk(took_s=0.25)]
    result = run(ScriptedLM(reply), clock=clock)
    assert result.attempts[0].duration_ms == 250
    assert [one.text for one in result.attempts[0].completions] == [CHAT]


def test_a_run_that_is_cancelled_while_its_model_is_loaded_sends_nothing() -> None:
    clock, cancel = Clock(), threading.Event()
    lm = LoadingLM(clock, CHAT)
    result = run(lm, cancel=cancel, clock=clock, listeners=[lambda event: cancel.set()])
    assert (result.cancelled, lm.requests) == (True, [])


def test_a_deadline_cuts_off_a_stream_that_drips_without_end() -> None:
    clock, lm = Clock(), ScriptedLM(itertools.repeat("drop "))
    result = run(lm, deadline_s=5, clock=clock, listeners=[at_the_first_text(clock.jump)])
    assert result.error is not None
    assert result.error.phase == "request"
    assert message(result) == "Deadline expired while the model was answering."
    assert lm.stopped.wait(PATIENCE_S)


def test_cancelling_ends_a_hanging_call_at_the_next_look() -> None:
    cancel, clock = threading.Event(), Clock()

    def cancelled() -> None:
        cancel.set()
        clock.jump()

    lm = HangingLM(CHAT[:30])
    result = run(lm, cancel=cancel, clock=clock, listeners=[at_the_first_text(cancelled)])
    assert result.cancelled
    assert message(result) == "Cancelled."
    assert result.attempts[0].completions[0].text == CHAT[:30]
    assert clock.readings_since_jump < AT_ONCE
    assert lm.stopped.wait(PATIENCE_S)


def test_a_run_looks_ten_times_in_a_fifth_of_a_second_whether_it_should_end() -> None:
    assert interruption.POLL_SECONDS <= 0.02
    assert interruption.RETURN_SECONDS <= 0.05


@pytest.mark.parametrize("reason", ["cancelled", "deadline"])
def test_nobody_waits_for_a_model_that_does_not_listen(reason: str) -> None:
    cancel, clock, lm = threading.Event(), Clock(), DeafLM(CHAT[:30])
    end = cancel.set if reason == "cancelled" else clock.jump
    result = run(lm, cancel=cancel, deadline_s=5, clock=clock, listeners=[at_the_first_text(end)])
    assert not result.ok
    assert result.cancelled is (reason == "cancelled")
    assert result.attempts[0].completions[0].text == CHAT[:30]
    lm.released.set()


def test_a_run_cancelled_before_it_starts_calls_nothing() -> None:
    cancel = threading.Event()
    cancel.set()
    lm = ScriptedLM(CHAT)
    assert run(lm, cancel=cancel).cancelled
    assert not lm.requests


def test_several_runs_can_go_on_at_once() -> None:
    results: list[Run] = []
    threads = [threading.Thread(target=lambda: results.append(run(ScriptedLM(CHAT)))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [result.values for result in results] == [VALUES] * 8


def test_an_event_is_a_plain_mapping_when_asked_for() -> None:
    first = events.as_dict(run(ScriptedLM(CHAT)).events[0])
    assert (first["kind"], first["attempt"], first["adapter"]) == ("PromptRendered", 1, "chat")


def passing(kind: Any, retry_after: float | None = 0.0) -> list[Any]:
    return ["half", ProviderError("Too many requests.", kind, retry_after=retry_after)]


def test_retries_are_off_by_default() -> None:
    result = run(ScriptedLM(passing("rate limit"), CHAT))
    assert (result.ok, len(result.attempts)) == (False, 1)


@pytest.mark.parametrize("kind", ["rate limit", "overloaded", "server", "network", "timeout", "interrupted", "child"])
def test_a_retry_is_an_attempt_that_is_seen(kind: str) -> None:
    lm = ScriptedLM(passing(kind), CHAT)
    result = run(lm, retries=2)
    assert result.values == VALUES
    first, second = result.attempts
    assert (first.number, first.purpose, first.error, first.completions[0].text) == (
        1,
        "first",
        "Too many requests.",
        "half",
    )
    assert (second.number, second.purpose, second.error) == (2, "retry", None)
    assert lm.requests[0] == lm.requests[1]
    (again,) = (event for event in result.events if isinstance(event, events.RetryStarted))
    assert (again.attempt, again.reason, again.delay_s) == (2, "Too many requests.", 0.0)


@pytest.mark.parametrize("kind", ["key", "model", "context", "request", "refused", "quota", "setup", "malformed"])
def test_what_will_fail_again_is_not_tried_again(kind: str) -> None:
    result = run(ScriptedLM(passing(kind), CHAT), retries=2)
    assert (result.ok, len(result.attempts)) == (False, 1)


def test_a_server_that_asks_for_a_wait_of_minutes_is_not_asked_again() -> None:
    result = run(ScriptedLM(passing("rate limit", 61.0), CHAT), retries=2)
    assert (message(result), len(result.attempts)) == ("Too many requests.", 1)


def test_retries_come_to_an_end() -> None:
    result = run(ScriptedLM(*[passing("server")] * 3), retries=2)
    assert (message(result), len(result.attempts)) == ("Too many requests.", 3)
    assert result.attempts[-1].purpose == "retry"


def test_the_wait_before_a_retry_ends_with_the_deadline() -> None:
    clock, lm = Clock(), ScriptedLM(passing("rate limit", 30.0))

    def while_waiting(event: events.Event) -> None:
        if isinstance(event, events.RetryStarted):
            clock.jump(after_readings=3)

    result = run(lm, retries=1, deadline_s=5, clock=clock, listeners=[while_waiting])
    assert message(result) == "Deadline expired before provider request."
    assert clock.readings_since_jump < AT_ONCE


@pytest.mark.parametrize(
    ("arrived", "kind", "cost"),
    [([], "rate limit", 0.0), ([], "timeout", None), ([], "refused", None), (["half"], "rate limit", None)],
)
def test_a_call_that_no_model_worked_on_is_billed_nothing(arrived: list[str], kind: Any, cost: float | None) -> None:
    result = run(ScriptedLM([*arrived, ProviderError("No.", kind)]))
    assert result.attempts[0].cost == cost

"""What a run under way shows: the column's own reply alone, and what it waits for."""

from __future__ import annotations

from adapters.running.events import (
    ChunkReceived,
    Event,
    ExtractionStarted,
    FallbackStarted,
    ModelLoading,
    RequestSent,
    RetryStarted,
    ToolInvoked,
)
from adapters.tools.tools import ToolResult
from workbench.tui.runs.runs import Progress, RunRepeated, ToolWaits


def chunk(text: str, attempt: int = 1, choice: int = 0) -> Event:
    return ChunkReceived(at=0.0, attempt=attempt, text=text, choice=choice)


def test_the_text_is_that_of_the_last_call_for_the_columns_own_reply() -> None:
    progress = Progress()
    progress.hear([chunk("calls "), chunk("a tool")])
    assert (progress.text, (progress.number, progress.shown)) == ("calls a tool", (1, 1))
    invoked = ToolInvoked(
        at=0.0, attempt=1, name="search", call_id="1", arguments={}, result=ToolResult(), rendered_output=""
    )
    progress.hear([invoked])
    assert (progress.text, progress.doing) == ("calls a tool", "search answered")
    progress.hear([chunk("the ", 2)])
    progress.hear([chunk("answer", 2), chunk("other", 2, choice=1)])
    assert (progress.text, (progress.number, progress.shown), progress.attempt, progress.doing) == (
        "the answer",
        (1, 2),
        2,
        "",
    )


def test_the_text_of_a_fallback_and_of_an_extraction_is_not_the_columns_own() -> None:
    for started in (
        FallbackStarted(at=0.0, attempt=2, adapter="json", reason="no marker"),
        ExtractionStarted(at=0.0, attempt=2, adapter="chat", model="offline/exact"),
    ):
        progress = Progress()
        progress.hear([chunk("prose"), started, chunk("{}", 2)])
        assert (progress.text, progress.attempt) == ("prose", 2)
        assert progress.doing in ("falls back to json", "offline/exact extracts")


def test_waiting_is_said_in_words_until_something_comes() -> None:
    progress = Progress()
    for event, said in (
        (ModelLoading(at=0.0, attempt=1), "loading litellm"),
        (ToolWaits(at=0.0, attempt=1, name="search"), "search waits for you"),
        (RetryStarted(at=0.0, attempt=2, reason="busy", delay_s=7.0), "again in 7 s"),
    ):
        progress.hear([event])
        assert progress.doing == said
    progress.hear([chunk("x", 2)])
    assert progress.doing == ""


def test_each_of_several_runs_starts_with_an_empty_reply() -> None:
    progress = Progress()
    progress.hear([chunk("first"), FallbackStarted(at=0.0, attempt=2, adapter="json", reason="")])
    progress.hear([RunRepeated(at=0.0, attempt=1, number=2), chunk("second")])
    assert (progress.text, (progress.number, progress.shown), progress.attempt) == ("second", (2, 1), 1)


def test_the_seconds_of_loading_are_counted_apart() -> None:
    progress = Progress()
    progress.hear([ModelLoading(at=0.5, attempt=1)])
    assert (progress.doing, progress.loading_s) == ("loading litellm", 0.0)
    progress.hear([RequestSent(at=4.5, attempt=1, model="m", request={})])
    assert (progress.doing, progress.loading_s) == ("", 4.0)
    progress.hear([RequestSent(at=6.0, attempt=2, model="m", request={})])
    assert progress.loading_s == 4.0


def test_what_the_model_thinks_is_kept_apart_until_the_reply_comes() -> None:
    progress = Progress()
    thoughts = [ChunkReceived(at=0.0, attempt=1, reasoning=one) for one in ("Let me ", "think.")]
    progress.hear(thoughts)
    assert (progress.reasoning, progress.text, progress.doing) == ("Let me think.", "", "thinking")
    progress.hear([chunk("yes")])
    assert (progress.reasoning, progress.text, progress.doing) == ("Let me think.", "yes", "")
    progress.hear([ChunkReceived(at=0.0, attempt=2, reasoning="Again.")])
    assert (progress.reasoning, progress.text, (progress.number, progress.shown)) == ("Again.", "", (1, 2))

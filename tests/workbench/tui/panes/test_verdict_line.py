"""The line above a reply: what is being done, what it took and cost, and what went wrong."""

from __future__ import annotations

from typing import Any, Literal

from adapters.formats.catalog import make
from adapters.lm.protocol import Completion
from adapters.running.events import ModelLoading, ToolInvoked
from adapters.running.runs import Attempt, Purpose, Run
from adapters.signatures.signature import Field, Signature
from adapters.tools.tools import ToolResult
from sessions.model.replies import Reply
from sessions.model.session import Column
from sessions.running.repeats import collapse
from workbench.state.document import RenderedColumn
from workbench.tui.panes.verdicts import short_form, verdict
from workbench.tui.runs.runs import ColumnRun, Progress, RunRepeated

CHAT = RenderedColumn(Column("chat", "chat"), reply=Reply("x"))


def attempt(number: int, adapter: str, model: str, cost: float | None, purpose: Purpose = "first") -> Attempt:
    return Attempt(number, adapter, model, {}, (Completion("x"),), cost=cost, purpose=purpose)


def ended(*attempts: Attempt, ok: bool = True) -> ColumnRun:
    run = Run(ok, {}, (), attempts)
    phase = "done" if ok else "failed"
    return ColumnRun(1, "c", "chat", "m", 0.0, phase=phase, attempts=len(attempts), run=run, seconds=0.5)  # type: ignore[arg-type]


def test_the_cost_of_all_calls_is_said_and_that_nobody_knows_it() -> None:
    priced = attempt(1, "chat", "openai/a", 0.25)
    assert "500 ms · $0.25" in verdict(CHAT, ended(priced)).plain
    assert "· cost unknown" in verdict(CHAT, ended(priced, attempt(2, "chat", "openai/b", None))).plain
    assert "$" not in verdict(CHAT, ended(attempt(1, "chat", "offline/exact", None))).plain


def test_what_was_never_sent_has_no_cost() -> None:
    run = ended(attempt(1, "chat", "openai/a", None), ok=False)
    run.error, run.payload = "request: openai/a needs an API key", {"kind": "key"}
    assert "cost" not in verdict(CHAT, run).plain
    run.payload = {"kind": "rate limit", "status": 429, "body": "later"}
    assert "cost unknown" in verdict(CHAT, run).plain


def test_the_adapter_that_answered_in_the_columns_place_is_named() -> None:
    calls = (attempt(1, "chat", "offline/exact", None), attempt(2, "json", "offline/exact", None, "fallback"))
    assert "2 calls · JSON parsed it" in verdict(CHAT, ended(*calls)).plain
    assert "JSON failed too" in verdict(CHAT, ended(*calls, ok=False)).plain


def test_loading_and_the_number_of_the_run_are_said_while_it_is_under_way() -> None:
    progress = Progress()
    run = ColumnRun(1, "c", "chat", "m", 0.0, times=5, progress=progress)
    progress.hear([RunRepeated(at=0.0, attempt=1, number=2), ModelLoading(at=0.0, attempt=1)])
    assert "◌ loading litellm 2/5" in verdict(CHAT, run).plain


def test_several_runs_say_how_many_could_not_be_read() -> None:
    run = ended(attempt(1, "chat", "m", None))
    assert run.run is not None
    run.repeats = collapse([run.run, Run(False, {}, (), run.run.attempts)])
    assert "2 runs, 1 parse error (50%)" in verdict(CHAT, run).plain


def test_a_reply_after_a_failed_tool_is_no_plain_success() -> None:
    """Such a reply rests on the tool's error: it parses, and yet is not simply green."""
    signature = Signature((Field("total", "output", float),), "Sum it.")
    column = Column("chat", "chat")
    text = "[[ ## total ## ]]\n12.5\n\n[[ ## completed ## ]]"
    rendered = RenderedColumn(column, reply=Reply(text), reading=make("chat").read(signature, text))
    run = ended(attempt(1, "chat", "offline/exact", None), attempt(2, "chat", "offline/exact", None, "tools"))
    assert verdict(rendered, run).plain == "reply ✓ 500 ms · 2 calls"
    assert short_form("Chat", rendered, run, False)[2:5] == ("✓", "success", "1/1")
    failed = ToolResult.failed("nobody answered")
    event = ToolInvoked(
        at=0.0, attempt=1, name="search", call_id="1", arguments={}, result=failed, rendered_output=failed.message
    )
    assert run.run is not None
    run.run = Run(True, {}, (event, event), run.run.attempts)
    line = verdict(rendered, run)
    assert line.plain == "reply ✓ tool search failed · 500 ms · 2 calls"
    assert not any("success" in str(span.style) for span in line.spans)
    said = short_form("Chat", rendered, run, False)
    assert (said.tone, said.words, said.matters) == ("warning", "1/1, tool search failed", True)


def test_an_edited_reply_says_that_no_model_wrote_it() -> None:
    signature = Signature((Field("total", "output", float),), "Sum it.")
    for text, said in (("[[ ## total ## ]]\n12.5", "reply ✓ edited"), ("[[ ## total ## ]]\nx", " · edited")):
        reading = make("chat").read(signature, text)
        rendered = RenderedColumn(Column("chat", "chat"), reply=Reply(text, source="edited"), reading=reading)
        assert said in verdict(rendered, None).plain
        sent = RenderedColumn(Column("chat", "chat"), reply=Reply(text), reading=reading)
        assert "edited" not in verdict(sent, None).plain


def test_a_raw_reply_is_said_to_be_unread() -> None:
    raw = RenderedColumn(Column("chat", "chat"), reply=Reply("x", raw=True))
    assert "raw, not parsed" in verdict(raw, None).plain


def test_a_failed_call_is_told_in_few_words_and_then_its_phase() -> None:
    sentence = "request: The server at http://127.0.0.1:1234/v1 rate limit reached (429)."
    run = ColumnRun(1, "c", "chat", "m", 0.0, phase="failed", seconds=0.1, error=sentence)
    nothing = RenderedColumn(Column("chat", "chat"))
    assert verdict(nothing, run).plain == f"reply ✗ {sentence} 100 ms"
    run.payload = {"kind": "rate limit", "status": 429}
    assert verdict(nothing, run).plain == "reply ✗ 429 · rate limit · request 100 ms"


def test_why_a_reply_ended_is_said_before_its_verdict() -> None:
    for kept, said in (
        ({"finish_reason": "length"}, "reply ■ cut off at its token limit  ✗ not parsed"),
        ({"finish_reason": "content_filter"}, "reply ■ stopped by a content filter  ✗ not parsed"),
        ({"finish_reason": "stop", "refusal": "I cannot\nhelp."}, "reply ■ refused: I cannot help.  ✗ not parsed"),
        ({"finish_reason": "stop"}, "reply ✗ not parsed"),
    ):
        rendered = RenderedColumn(Column("chat", "chat"), reply=Reply("x", **kept))
        assert verdict(rendered, None).plain.startswith(said)


def test_a_reply_of_nothing_but_a_refusal_is_no_empty_column() -> None:
    rendered = RenderedColumn(Column("chat", "chat"), reply=Reply("", refusal="I cannot."))
    assert verdict(rendered, None).plain.startswith("reply ■ refused: I cannot.")


def test_the_strip_calls_a_cancelled_reply_cancelled_though_it_parses() -> None:
    run = ColumnRun(1, "c", "chat", "m", 0.0, phase="cancelled", seconds=1.25)
    found = short_form("Chat", CHAT, run, False)
    assert (found.sign, found.words) == ("■", "cancelled")


def test_what_arrived_of_a_cancelled_reply_is_never_said_to_be_whole() -> None:
    run = ColumnRun(1, "c", "chat", "m", 0.0, phase="cancelled", seconds=1.25)
    assert verdict(CHAT, run).plain.startswith("reply ■ cancelled after 1250 ms  ✗")


def test_the_key_for_fixes_is_before_what_a_narrow_column_cuts() -> None:
    def said(adapter: str, text: str, **outputs: Any) -> str:
        fields = [Field("mail", "input"), *(Field(name, "output", kind) for name, kind in outputs.items())]
        reading = make(adapter).read(Signature.make(fields), text)
        return verdict(RenderedColumn(Column("c", adapter), reading=reading, reply=Reply(text)), None).plain

    mistyped = '{"team": "I would say sales"}'
    assert said("json", mistyped, team=Literal["sales", "repair"]) == "reply ✗ line 1 · alt+x fixes · team · 1 ⚑"
    assert said("chat", "", team=str) == "reply ✗ team · alt+x fixes · 1 ⚑"

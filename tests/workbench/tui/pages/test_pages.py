"""What the pages say, without an app."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from adapters.formats import catalog
from adapters.lm.protocol import Completion
from adapters.replies.reading import Reading
from adapters.running.events import ResponseReceived
from adapters.running.runs import Attempt, Run
from sessions import examples
from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Demo, Session, SignatureText
from sessions.running import recording
from tests.support.hostile import HOSTILE
from workbench.sending import sending
from workbench.state.document import State
from workbench.state.engine import Engine
from workbench.tui.pages import prompt_pages, reply_pages, request_pages
from workbench.tui.pages.page import LookedAt
from workbench.tui.runs.runs import ColumnRun
from workbench.tui.widgets.text.text_view import Block

SIGNATURE = "question, hint: str -> answer: Literal['yes', 'no'], score: float"


def session(model: str = "offline/exact", **options: Any) -> Session:
    columns = tuple([Column(name, name) for name in catalog.NAMES])
    case = Case("rain", {"question": "Is it raining?", "hint": "It pours."})
    return Session(SignatureText(SIGNATURE), columns=columns, cases=(case,), model=model, **options)


def looked_at(of: Session, id: str = "chat", run: ColumnRun | None = None) -> LookedAt:
    state, rendered = State(of), Engine()
    columns = tuple([rendered.column(state, one) for one in of.columns])
    chosen = next(one for one in columns if one.column.id == id)
    return LookedAt(of, state.case, chosen, columns, {id: run} if run is not None else {})


def with_reply(of: Session, id: str, text: str) -> Session:
    case = replace(of.cases[0], replies={**of.cases[0].replies, id: Reply(text, source="pasted")})
    return of.replace_case(case)


def text_of(blocks: list[Block]) -> str:
    return "\n".join([(one.lead.text if one.lead else "") + "".join([p.text for p in one.pieces]) for one in blocks])


CHAT_REPLY = "[[ ## answer ## ]]\nyes\n\n[[ ## score ## ]]\n0.9\n\n[[ ## completed ## ]]\n"


@pytest.mark.parametrize(("model", "price"), [("offline/exact", "free"), ("hosted_vllm/mine", "cost unknown")])
def test_only_an_offline_model_is_called_free(model: str, price: str) -> None:
    call = Attempt(1, "chat", model, {}, (Completion(CHAT_REPLY),), duration_ms=253.0)
    came = ResponseReceived(
        at=0.3, attempt=1, texts=(CHAT_REPLY,), finish_reason="stop", usage=None, cost=None, duration_ms=253.0
    )
    run = ColumnRun(1, "chat", "chat", model, 0.0, run=Run(True, {}, (came,), (call,)), phase="done")
    of = looked_at(with_reply(session(model), "chat", CHAT_REPLY), run=run)
    said = text_of(reply_pages.call_blocks(of))
    assert f"1 call, 253 ms, {price}" in said and f"253 ms · ~3 + ~18 tokens · {price}" in said
    assert said.count("cost unknown") == (0 if price == "free" else 2)
    assert f"{model} · 253 ms · ~3 + ~18 tokens · {price}" in text_of(request_pages.card_blocks(of))


@pytest.mark.parametrize("adapter", catalog.NAMES)
def test_every_adapter_has_a_card_with_five_steps(adapter: str) -> None:
    said = text_of(request_pages.card_blocks(looked_at(session(), adapter)))
    assert f"{catalog.title(adapter)}Adapter" in said
    for step in ("1 preprocess", "2 format", "3 call", "4 postprocess", "5 parse"):
        assert step in said


def test_a_card_says_what_the_last_reply_became() -> None:
    said = text_of(request_pages.card_blocks(looked_at(with_reply(session(), "chat", CHAT_REPLY))))
    assert "✓ 2 values" in said
    refused = text_of(request_pages.card_blocks(looked_at(with_reply(session(), "chat", "no idea"))))
    assert "✗ AdapterParseError" in refused


def test_the_request_says_what_other_models_would_get() -> None:
    said = text_of(request_pages.request_blocks(looked_at(session(), "json")))
    row = next(line for line in said.splitlines() if "gpt-6-luna" in line)
    assert "json_schema" in row
    assert "offline/exact" in said and "Is it raining?" in said


def test_the_request_says_what_the_model_can_do_who_says_so_and_that_it_leaves() -> None:
    said = text_of(request_pages.request_blocks(looked_at(session("openai/o4-mini"), "json")))
    assert "can: tools, reasoning, schema (dspy 3.4.1's table)" in said
    assert "openai/o4-mini left its API on 2026-10-23" in said
    said = text_of(request_pages.request_blocks(looked_at(session("nowhere/asked-by-this-test-alone"), "json")))
    assert "can: nothing special (nothing assumed until litellm " in said


@pytest.mark.parametrize(
    ("model", "address"),
    [
        ("offline/exact", ""),
        ("openai/gpt-6-luna", ""),
        ("together_ai/any", "/v1/chat/completions"),
        ("mistral/any", "https://api.mistral.ai/v1/chat/completions"),
        ("gemini/gemini-3.8-flash", ":generateContent"),
        ("ollama_chat/llama3.2", "http://localhost:11434/v1/chat/completions"),
    ],
)
def test_the_request_is_shown_as_it_arrives_whoever_writes_it(model: str, address: str) -> None:
    at = looked_at(session(model), "json")
    assert request_pages.is_by_litellm(at) == bool(address)
    written = request_pages.written_by_litellm(at) if address else None
    said = text_of(request_pages.request_blocks(at, written=written))
    assert ("Parameters beside the messages, as they arrive" in said) == (not address)
    if address:
        assert "POST" in said and address in said and ("_API_KEY" in said) == (not model.startswith("ollama"))
        assert request_pages.json_of(at, at.rendered.request) in text_of(request_pages.written_by_litellm(at, True))


def test_the_request_as_json_is_the_request() -> None:
    at = looked_at(session("openai/gpt-6-luna"), "json")
    said = text_of(request_pages.request_blocks(at, json_text_of=True))
    assert '"response_format"' in said and '"model": "openai/gpt-6-luna"' in said


def test_native_tool_calls_take_fields_out_of_the_prompt() -> None:
    of = Session(
        SignatureText("question, tools: list[dspy.Tool] -> calls: dspy.ToolCalls, answer"),
        columns=(Column("chat", "chat", {"use_native_function_calling": True}),),
        cases=(Case("one", {"question": "?", "tools": []}),),
        model="openai/gpt-6-luna",
    )
    assert "calls (output)" in text_of(request_pages.request_blocks(looked_at(of)))


def test_the_ladder_shows_the_hidden_fallback() -> None:
    of = session("offline/wrongcase", fallback=True)
    run = ColumnRun(1, "rain", "chat", of.model, 0.0)
    run.run = sending.send(of, of.columns[0], of.cases[0], cancel=run.cancel)
    said = text_of(reply_pages.call_blocks(looked_at(of, "chat", run)))
    assert len(run.run.attempts) == 2
    assert "1  Chat → offline/wrongcase" in said and "2  JSON → offline/wrongcase" in said
    assert "a fallback" in said and "RequestSent" in said
    assert "Sent, call 2" in text_of(reply_pages.call_blocks(looked_at(of, "chat", run), raw=True))


def test_the_matrix_reads_every_reply_with_every_parser() -> None:
    of = with_reply(with_reply(session(), "chat", CHAT_REPLY), "json", '{"answer": "no", "score": 1}')
    at = looked_at(of)
    said = text_of(reply_pages.parser_blocks(at))
    rows = [line.split() for line in said.splitlines() if line.startswith(("chat", "json"))]
    assert [row[0] for row in rows] == ["chat", "json"]
    assert "✓ 2/2 own" in said
    other = reply_pages.reading_by(next(one for one in at.columns if one.column.id == "json"), "baml")
    assert isinstance(other, Reading) and other.values == {"answer": "no", "score": 1.0}


def test_columns_are_compared_by_section() -> None:
    at = looked_at(session())
    others = prompt_pages.others_of(at)
    assert "column json" in others and prompt_pages.RECORDED not in others
    said = text_of(prompt_pages.difference_blocks(at, "column json"))
    assert "sections differ" in said and "system" in said and "inputs · user" in said


def test_what_a_change_changed_since_the_last_send_comes_first_and_by_word() -> None:
    before = looked_at(session())
    sent = {"chat": before.rendered.request} if before.rendered.request is not None else {}
    unchanged = replace(before, requests=sent)
    assert prompt_pages.others_of(unchanged)[-1] == prompt_pages.SENT
    assert "the same, byte for byte" in text_of(prompt_pages.difference_blocks(unchanged, prompt_pages.SENT))
    case = replace(session().cases[0], inputs={"question": "Is it snowing?", "hint": "It pours."})
    at = replace(looked_at(session().replace_case(case)), requests=sent)
    assert prompt_pages.others_of(at)[0] == prompt_pages.SENT
    blocks = prompt_pages.difference_blocks(at, prompt_pages.SENT)
    styles = {piece.style: piece.text for one in blocks for piece in one.pieces}
    assert "1 of 3 sections differ" in text_of(blocks)
    assert styles["removed"] == "raining" and styles["added"] == "snowing"


def test_a_demo_that_only_got_another_number_was_sent_as_it_is_now() -> None:
    shown = Demo({"question": "Fog?", "hint": "Grey.", "answer": "no", "score": 0.5})
    before = looked_at(session(demos=(Demo({"question": "off"}, enabled=False), shown)))
    now = looked_at(session(demos=(shown,)))
    assert before.rendered.request is not None and now.rendered.request is not None
    assert before.rendered.request.messages != now.rendered.request.messages
    assert before.rendered.request.asks_the_same(now.rendered.request)
    at = replace(now, requests={"chat": before.rendered.request})
    assert prompt_pages.others_of(at)[-1] == prompt_pages.SENT
    assert "the same, byte for byte" in text_of(prompt_pages.difference_blocks(at, prompt_pages.SENT))


def test_now_is_compared_with_what_was_recorded() -> None:
    of = with_reply(session(), "chat", CHAT_REPLY)
    recorded = recording.record(of, of.cases[0], of.columns[0])
    at = looked_at(recorded)
    assert "the same, byte for byte" in text_of(prompt_pages.difference_blocks(at, prompt_pages.RECORDED))
    case = replace(recorded.cases[0], inputs={**recorded.cases[0].inputs, "question": "Does it snow?"})
    said = text_of(prompt_pages.difference_blocks(looked_at(recorded.replace_case(case)), prompt_pages.RECORDED))
    assert "1 of 3 sections differ" in said
    assert "- Is it raining?" in said and "+ Does it snow?" in said


def test_every_lint_leads_to_its_place() -> None:
    at = looked_at(examples.load("triage"), examples.load("triage").columns[0].id)
    found = prompt_pages.lints_of(at)
    blocks = [one for one in prompt_pages.lint_blocks(at) if one.target]
    assert found and [one.target for one in blocks] == [f"lint {index}" for index in range(len(found))]
    assert {prompt_pages.place_of(at, one).kind for one in found} <= {
        "demo",
        "history",
        "input",
        "signature",
        "instructions",
    }


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_pages_can_be_made_of_anything(text: str) -> None:
    case = Case(text[:40] or "x", {"question": text, "hint": text})
    of = with_reply(replace(session(), cases=(case,)), "chat", text)
    at = looked_at(of)
    for make in (
        request_pages.card_blocks,
        request_pages.request_blocks,
        reply_pages.call_blocks,
        reply_pages.parser_blocks,
        prompt_pages.lint_blocks,
    ):
        assert make(at)
    for other in prompt_pages.others_of(at):
        assert prompt_pages.difference_blocks(at, other)


def test_a_signature_that_can_not_be_read_leaves_every_page_standing() -> None:
    at = looked_at(replace(session(), signature=SignatureText("question ->")))
    for make in (
        request_pages.card_blocks,
        request_pages.request_blocks,
        reply_pages.call_blocks,
        reply_pages.parser_blocks,
        prompt_pages.lint_blocks,
    ):
        assert make(at)
    assert prompt_pages.difference_blocks(at, None)


def test_pages_of_a_prompt_say_that_it_is_out_of_date_and_compare_no_models_then() -> None:
    of = looked_at(with_reply(session(), "chat", CHAT_REPLY))
    of = replace(of, rendered=replace(of.rendered, error="the signature: line 1, column 8: unknown name `flaot`"))
    json_column = f"column {of.columns[1].column.id}"
    for blocks in (
        request_pages.request_blocks(of),
        prompt_pages.lint_blocks(of),
        prompt_pages.token_blocks(of),
        prompt_pages.difference_blocks(of, json_column),
    ):
        assert "Out of date, because of the signature: line 1" in text_of(blocks)
    assert "other models" not in text_of(request_pages.request_blocks(of))


def test_calls_of_a_reply_that_was_edited_are_not_said_to_be_unsent() -> None:
    of = looked_at(with_reply(session(), "chat", CHAT_REPLY))
    assert of.rendered.request is not None
    sent = replace(of, requests={"chat": of.rendered.request})
    assert "Nothing was sent" in text_of(reply_pages.call_blocks(of))
    assert "edited or pasted after the last call" in text_of(reply_pages.call_blocks(sent))

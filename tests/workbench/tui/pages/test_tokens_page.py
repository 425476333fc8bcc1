"""The page of tokens: an estimate at once, the tokenizer's own count as soon as it has come, and the price."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from adapters.lm import child
from adapters.lm.litellm_client import LitellmLM
from adapters.lm.worker.questions import counts_of
from adapters.requests.token_ledger import ledger_of, pieces_of
from sessions.model.session import Case, Column, Demo, Session, SignatureText
from sessions.running import rendering
from tests.support.hostile import HOSTILE
from tests.support.open_app import SIZES, Desk, at_the_desk
from tests.support.screen import seen
from tests.workbench.tui.test_hostile_screen import assert_harmless
from workbench.state.document import RenderedColumn
from workbench.tui.pages import prompt_pages
from workbench.tui.pages.page import LookedAt
from workbench.tui.widgets.text.text_view import TextView

CHAT, JSON = Column("chat", "chat"), Column("json", "json")
CASE = Case("c", {"question": "Does it rain?"})
SESSION = Session(
    SignatureText("question -> answer"),
    columns=(CHAT, JSON),
    cases=(CASE,),
    demos=(Demo({"question": "1 + 1", "answer": "2"}),),
    model="openai/gpt-4o-mini",
)


def page(session: Session = SESSION, counted: bool = False) -> str:
    rendered = tuple(
        RenderedColumn(one, rendering.request_of(session, one, session.cases[0])) for one in session.columns
    )
    counts = {}
    for one in rendered if counted else ():
        assert one.request is not None
        counts[one.column.id] = (one.request, ledger_of(one.request, counts_of("gpt-4o-mini", pieces_of(one.request))))
    blocks = prompt_pages.token_blocks(LookedAt(session, session.cases[0], rendered[0], rendered, counted=counts))
    return "\n".join(
        (one.lead.text if one.lead else "") + "".join(piece.text for piece in one.pieces) for one in blocks
    )


def test_an_estimate_stands_there_until_the_count_has_come() -> None:
    before, after = page(), page(counted=True)
    assert "estimated" in before and "~ is an estimate" in before
    assert "counted by o200k_base" in after and "~ is an estimate" not in after
    for shown in (before, after):
        assert all(name in shown for name in ("instructions", "descriptions", "markers", "demo 1", "inputs", "█"))
        assert "a thousand" in shown and "By field" in shown and "Every column" in shown


def test_a_count_of_another_prompt_is_not_shown() -> None:
    rendered = RenderedColumn(CHAT, rendering.request_of(SESSION, CHAT, CASE))
    other = rendering.request_of(SESSION, CHAT, Case("d", {"question": "Something else"}))
    old = ledger_of(other, counts_of("gpt-4o-mini", pieces_of(other)))
    blocks = prompt_pages.token_blocks(LookedAt(SESSION, CASE, rendered, (rendered,), counted={"chat": (other, old)}))
    assert any("estimated" in piece.text for one in blocks for piece in one.pieces)


def test_a_model_that_no_table_lists_has_no_price_and_an_offline_one_is_free() -> None:
    assert "cost unknown" in page(replace(SESSION, model="hosted_vllm/mine"))
    assert "free" in page(replace(SESSION, model="offline/exact"))


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_whoever_opens_the_page_gets_the_count_and_every_bar_beside_its_number(
    size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = threading.Event()

    def count(self: LitellmLM, texts: list[list[str]]) -> tuple[str, list[list[int]]] | None:
        asked.set()
        return counts_of("gpt-4o-mini", texts)

    monkeypatch.setattr(LitellmLM, "count_tokens", count)
    monkeypatch.setattr(child, "is_running", lambda: False)

    async def act(desk: Desk) -> None:
        assert not asked.is_set(), "nothing is loaded for a count that nobody looks at"
        await desk.press("f7", "8")
        view = desk.app.screen.query_one(TextView)
        await desk.until(lambda: "counted by o200k_base" in view.plain_text, "for the count on the page")
        assert "~" not in view.plain_text.split("Every column")[0]
        shown = [line for line in seen(view) if "█" in line]
        assert shown and all(any(letter.isdigit() for letter in line) for line in shown)

    at_the_desk(act, session=SESSION, size=size)


@pytest.mark.slow
def test_names_of_others_are_text_on_the_page() -> None:
    texts = [text for text in HOSTILE.values() if len(text) < 1_000]
    session = replace(SESSION, columns=tuple(Column(f"{n} {text}", "chat") for n, text in enumerate(texts[:8])))

    async def act(desk: Desk) -> None:
        await desk.press("f7", "8")
        assert_harmless(desk)

    at_the_desk(act, session=session)


@pytest.mark.slow
def test_while_the_app_ends_nobody_looks_at_numbers() -> None:
    async def act(desk: Desk) -> None:
        assert not desk.app._wants_counts

    app = at_the_desk(act)
    assert app.screen_stack == [] and not app._wants_counts

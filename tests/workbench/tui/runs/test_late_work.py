"""Models that the installed litellm has not answered for are asked about away from the keys."""

from __future__ import annotations

import threading
from collections.abc import Iterable

import pytest

from adapters.lm import litellm_answers
from adapters.requests.capabilities import Capabilities
from sessions.model.session import Case, Column, Session, SignatureText
from tests.support.open_app import Desk, at_the_desk

MODEL = "nowhere/of-our-own-2031"
SESSION = Session(
    SignatureText("question -> tags: list[str]"),
    columns=(Column("json", "json"),),
    cases=(Case("c", {"question": "?"}),),
    model=MODEL,
)


def test_a_column_is_rendered_again_once_litellm_has_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    may_answer, asked = threading.Event(), []

    def ask(models: Iterable[str]) -> None:
        asked.extend(models)
        assert may_answer.wait(60)
        can = Capabilities(params=frozenset({"response_format"}))
        release = litellm_answers.installed()
        litellm_answers._known.missed.clear()
        litellm_answers._known.of_release(release)[MODEL] = litellm_answers.Answer(can, release, True)

    monkeypatch.setattr(litellm_answers, "_known", litellm_answers._Known())
    monkeypatch.setattr(litellm_answers, "ask", ask)

    async def act(desk: Desk) -> None:
        def params() -> object:
            column = desk.main.columns.column("json")
            assert column is not None and column.rendered is not None and column.rendered.request is not None
            return column.rendered.request.params.get("response_format")

        assert params() is None
        may_answer.set()
        await desk.until(lambda: params() == {"type": "json_object"})
        assert asked == [MODEL]

    at_the_desk(act, session=SESSION)

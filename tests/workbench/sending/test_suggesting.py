"""Where a model is asked for a rewrite."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from adapters.lm.addresses import environment_base
from sessions.model.session import Case, Column, Session, SignatureText
from workbench.sending import sending, suggesting

OURS = {"api_base": "http://models.our.company:8000/v1", "timeout": 3.0}
MODEL = "openai/gpt-6-sol"


@pytest.fixture(autouse=True)
def no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_BASE", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    assert environment_base("openai") is None


def session(params: Mapping[str, Any], *columns: Column) -> Session:
    signature = SignatureText("question -> answer")
    return Session(signature, columns=columns, cases=(Case("one", {"question": "?"}),), params=params)


@pytest.mark.parametrize(
    "asked",
    [
        session(OURS, Column("chat", "chat", model=MODEL)),
        session(OURS, Column("chat", "chat", model="openai/another")),
        session({}, Column("chat", "chat", model=MODEL, params=OURS)),
        session({}, Column("chat", "chat", model="openai/another", params=OURS)),
        session({}, Column("chat", "chat", model="gpt-6-luna", params=OURS)),
    ],
    ids=["a column's model", "another model", "a column's own", "of the same provider", "its name alone"],
)
def test_a_rewrite_is_asked_for_at_the_address_of_the_session(asked: Session) -> None:
    scratch = suggesting.scratch(asked, "instructions", MODEL)
    route = sending.route_of(scratch, scratch.columns[0])
    assert (route.address, route.named_by) == (OURS["api_base"], "session")
    assert scratch.columns[0].params["timeout"] == 3.0


def test_an_address_of_one_provider_is_not_used_for_another() -> None:
    asked = session({}, Column("chat", "chat", model="openai/another", params=OURS))
    scratch = suggesting.scratch(asked, "instructions", "anthropic/claude-sonnet-5-5")
    assert sending.route_of(scratch, scratch.columns[0]).address is None


def test_what_a_model_can_do_is_not_claimed_of_another() -> None:
    able = {**OURS, "capabilities": {"response_schema": True}}
    asked = session({}, Column("chat", "chat", model="openai/another", params=able))
    assert "capabilities" not in suggesting.scratch(asked, "instructions", MODEL).columns[0].params

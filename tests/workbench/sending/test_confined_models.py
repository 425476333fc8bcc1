"""What a visitor may call: the offline models, and those that the teacher named, at their providers' own addresses."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters import lm
from adapters.lm import ProviderError
from adapters.lm.litellm_client import LitellmLM
from adapters.lm.offline import OfflineLM
from sessions.model.session import Case, Column, Session, SignatureText
from workbench.config.confinement import FREE, Confinement
from workbench.sending import sending


def session(model: str, **params: object) -> Session:
    columns = (Column("chat", "chat", params=params),)
    return Session(SignatureText("question -> answer"), columns=columns, cases=(Case("one", {}),), model=model)


def opened(asked: Session, confinement: Confinement, extraction_model: str | None = None) -> type[lm.LM]:
    """The kind of model that is opened; it is not called."""
    return type(sending.open_model(asked, asked.columns[0], extraction_model, confinement=confinement))


@pytest.fixture
def confinement(tmp_path: Path) -> Confinement:
    return Confinement(tmp_path, ("openai/gpt-6-luna",))


def test_the_offline_models_and_those_that_are_named_are_opened(confinement: Confinement) -> None:
    assert opened(session("offline/sloppy"), confinement) is OfflineLM
    assert opened(session("openai/gpt-6-luna"), confinement) is LitellmLM


@pytest.mark.parametrize("model", ["openai/gpt-6-sol", "ollama/llama", "hosted_vllm/x", "gpt-6-luna"])
def test_every_other_model_is_refused_with_what_would_work(confinement: Confinement, model: str) -> None:
    with pytest.raises(ProviderError, match="in this class the offline models and openai/gpt-6-luna answer"):
        opened(session(model), confinement)
    assert opened(session(model), FREE) is LitellmLM


def test_a_second_model_is_refused_too(confinement: Confinement) -> None:
    with pytest.raises(ProviderError, match="offline models"):
        opened(session("offline/exact"), confinement, "openai/gpt-6-sol")


def test_an_address_that_a_session_names_is_never_called(confinement: Confinement) -> None:
    with pytest.raises(ProviderError, match="its provider's own address only"):
        opened(session("openai/gpt-6-luna", api_base="http://127.0.0.1:9/v1"), confinement)


def test_a_project_of_the_visitors_names_no_address_either(
    confinement: Confinement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text("OPENAI_BASE_URL=http://127.0.0.1:9/v1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_BASE", raising=False)
    with pytest.raises(ProviderError, match="its provider's own address only"):
        opened(session("openai/gpt-6-luna"), confinement)


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "link/x", "a\0b"])
def test_files_stay_in_the_folder_after_links_are_resolved(tmp_path: Path, path: str) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "link").symlink_to(tmp_path)
    assert Confinement(own).why_no_file(own / path)
    assert Confinement(own).why_no_file(own / "mine.session.json") == ""
    assert FREE.why_no_file(Path(path)) == ""

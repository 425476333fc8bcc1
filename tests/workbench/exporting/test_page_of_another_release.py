"""A page with columns of another release is made in the time of a page without, whatever replies the session has."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from sessions.exports.exported import source_of
from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Session, SignatureText
from sessions.releases import environments
from sessions.releases.engine import Call, Question
from sessions.running import recording
from workbench.exporting import session_page

THERE = f"json@{recording.DSPY}"


@pytest.fixture
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """The replies that the dspy of the tests is asked of, as a release that was added."""
    texts: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        environments.use(sys.executable)
        release = environments.release_of(recording.DSPY)
        call = release.call

        def count(question: Question) -> Call:
            texts.extend([one.text for one in question.answers])
            return call(question)

        patch.setattr(release, "call", count)
        yield texts
        environments.end()
        environments.begin()


def test_a_reply_of_open_braces_is_not_waited_for_and_stands_there_with_the_reason(asked: list[str]) -> None:
    braces = "{" * 20_000
    session = Session(
        SignatureText("question -> answer: list[int]"),
        columns=(Column(THERE, THERE),),
        cases=(Case("one", {"question": "why?"}, replies={THERE: Reply(braces, source="pasted")}),),
    )
    page = session_page.page_of(source_of(session, session.columns, session.cases)).text
    assert asked and braces not in asked, "the replies of the offline models it reads"
    assert braces in page and f"dspy {recording.DSPY} is not asked" in page

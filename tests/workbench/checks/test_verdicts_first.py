"""A reply that parses differently is shown first everywhere, and is never accepted along with harmless changes."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from page_seen import seen

from sessions.file import store
from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Session, SignatureText
from sessions.running.recording import record
from tests.support.open_app import MIDDLE
from tests.workbench.tui.screens.test_review import Screen, reviewed
from workbench.output import exit_codes
from workbench.tui.pages import drifts

Run = Callable[..., Any]
SOURCE = '''from typing import Literal
import dspy
class Triage(dspy.Signature):
    """Triage the report carefully."""
    report: str = dspy.InputField(desc="what was reported")
    kind: Literal["bug", "feature", "question"] = dspy.OutputField(desc="the kind")
    score: float = dspy.OutputField(desc="how sure")
'''
CASES, HIDDEN = 12, 7
NAME = f"report number {HIDDEN}"
CHANGE = '`kind` no longer parses: "question" → parse error'


def triage() -> Session:
    """A session of which one reply uses the value that goes."""
    cases = []
    for number in range(CASES):
        kind = "question" if number == HIDDEN else "bug"
        text = f"[[ ## kind ## ]]\n{kind}\n\n[[ ## score ## ]]\n0.5\n\n[[ ## completed ## ]]"
        report = f"report number {number}"
        cases.append(Case(report, {"report": report}, replies={"chat": Reply(text, source="pasted")}))
    column = Column("chat", "chat")
    session = Session(SignatureText(SOURCE, "Triage"), columns=(column,), cases=tuple(cases))
    for case in session.cases:
        session = record(session, case, column)
    return session


def with_text(session: Session, *changes: tuple[str, str]) -> Session:
    text = session.signature.text
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    return replace(session, signature=replace(session.signature, text=text))


@pytest.fixture
def prompts(run: Run) -> str:
    """A harmless change in every fixture, and one reply that it hides."""
    Path("prompts").mkdir()
    changed = with_text(triage(), ("what was reported", "what has been reported"), (', "question"]', "]"))
    store.save(changed, "prompts/triage.session.json")
    return "prompts"


def failing(run: Run, prompts: str) -> list[str]:
    return [one["case"] for one in run("check", prompts, "--json").json["fixtures"] if one["drift"]]


def test_check_names_it_first_and_last_in_text(prompts: str, run: Run) -> None:
    lines = run("check", prompts).out.splitlines()
    assert CHANGE in lines[0] and "(1 fixture)" in lines[0]
    assert any("the reply no longer parses" in line for line in lines)
    assert lines[-4] == "1 fixture with a changed verdict or value:"
    assert NAME in lines[-3] and CHANGE in lines[-3] and lines[-2] == "0 passed, 12 failed"


def test_json_has_it_first_and_of_its_fixture(prompts: str, run: Run) -> None:
    found = run("check", prompts, "--json").json
    change = {"field": "kind", "before": '"question"', "after": "parse error"}
    path = f"{prompts}/triage.session.json"
    assert found["verdict_changes"] == [{"path": path, "case": NAME, "column": "chat", **change}]
    assert next(iter(found)) == "verdict_changes"
    assert (found["causes"][0]["kind"], len(found["causes"][0]["fixtures"])) == ("verdict", 1)
    assert [one["verdict_changes"] for one in found["fixtures"] if one["verdict_changes"]] == [[change]]
    assert run("review", prompts, "--json").json["causes"] == found["causes"]


@pytest.mark.parametrize("by", ["cause", "case"])
def test_review_lists_it(by: str, prompts: str, run: Run) -> None:
    lines = run("review", prompts, "--by", by).out.splitlines()
    assert CHANGE in lines[0 if by == "cause" else 1]


def test_reports_for_ci_have_it_first(prompts: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    run("check", prompts, "--junit", "j.xml", "--markdown", "m.md", "--html", "h.html")
    cases = list(ElementTree.parse("j.xml").iter("testcase"))
    first = next(one for one in cases if one.find("failure") is not None and str(one.get("name")).endswith("::parse"))
    assert cases.index(first) < 3 and NAME in str(first.get("name"))
    assert '`kind`: "question" → parse error' in str(first.find("failure").get("message"))  # type: ignore[union-attr]
    for name in ("m.md", "summary.md"):
        head = Path(name).read_text(encoding="utf-8").partition("###")[0]
        assert "**1 fixture with a changed verdict or value:**" in head and NAME in head and CHANGE in head
    page = seen(Path("h.html").read_text(encoding="utf-8"))
    assert page.one("div", class_="note worst").text == "1 fixture with a changed verdict or value:"
    assert NAME in page.one("ul").text and CHANGE in page.one("ul").text
    assert CHANGE in next(iter(page.all("summary"))).text


def test_pytest_says_it(prompts: str, run: Run) -> None:
    words = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-k", "number and 7 and parse", prompts)
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and '`kind`: "question" → parse error' in done.stdout


def test_accept_all_leaves_it_out_and_says_so(prompts: str, run: Run) -> None:
    done = run("review", prompts, "--accept-all")
    assert done.code == exit_codes.DIFFERENT
    assert "1 fixture with a changed verdict or value:" in done.err and NAME in done.err and CHANGE in done.err
    assert "11 recorded again, 1 wait for another cause" in done.out
    assert failing(run, prompts) == [NAME] and run("check", prompts).code == exit_codes.DIFFERENT
    done = run("review", prompts, "--accept-all", "--json")
    (id,) = done.json["left_out"]
    assert done.code == exit_codes.DIFFERENT and done.json["causes"][0]["id"] == id
    ids = [one["id"] for one in done.json["causes"]]
    assert run("review", prompts, *[word for one in ids for word in ("--accept", one)]).code == 0
    assert run("check", prompts).code == 0


def test_update_leaves_it_out_until_parse_is_named(prompts: str, run: Run) -> None:
    done = run("check", prompts, "--update")
    assert done.code == exit_codes.DIFFERENT and "--update left them out" in done.err
    assert "11 passed, 1 failed" in done.out and NAME in done.out
    assert failing(run, prompts) == [NAME]
    assert run("check", prompts, "--update", "render").code == exit_codes.DIFFERENT
    assert failing(run, prompts) == [NAME]
    assert run("check", prompts, "--update", "parse").code == 0 and run("check", prompts).code == 0


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("score: float", "score: str", 'the value of `score` changed: 0.5 → "0.5"'),
        ("score: float", "score: int", "`score` no longer parses: 0.5 → parse error"),
    ],
)
def test_a_changed_value_is_a_cause_of_its_own(before: str, after: str, said: str, run: Run) -> None:
    store.save(with_text(triage(), (before, after)), "x.session.json")
    found = run("check", "x.session.json", "--json").json
    first, *others = found["causes"]
    assert first["words"] == said and [one["kind"] for one in others] == ["type"]
    assert run("review", "x.session.json", "--accept-all").code == exit_codes.DIFFERENT
    assert len(failing(run, "x.session.json")) == CASES


def test_a_reply_that_parses_again_is_left_out_too(run: Run) -> None:
    """The error was recorded as correct; that it is gone may be wanted, and is looked at all the same."""
    narrow = with_text(triage(), (', "question"]', "]"))
    (column,) = narrow.columns
    narrow = record(narrow, narrow.case(NAME), column)
    store.save(with_text(narrow, ('"feature"]', '"feature", "question"]')), "x.session.json")
    first = run("check", "x.session.json", "--json").json["causes"][0]
    assert first["words"] == '`kind` parses now: parse error → "question"'
    assert run("review", "x.session.json", "--accept-all").code == exit_codes.DIFFERENT


def test_a_field_that_was_taken_out_changes_no_verdict(run: Run) -> None:
    field = '    score: float = dspy.OutputField(desc="how sure")\n'
    store.save(with_text(triage(), (field, "")), "x.session.json")
    found = run("check", "x.session.json", "--json").json
    assert [one["words"] for one in found["causes"]] == ["the fields changed: gone score"]
    assert found["verdict_changes"] == [] and run("review", "x.session.json", "--accept-all").code == 0


def test_the_screen_opens_on_it_with_its_reply_and_accepting_all_leaves_it(prompts: str, run: Run) -> None:
    async def act(screen: Screen) -> None:
        assert screen.review.fixture.case == NAME and screen.review.cause.changes_verdict
        assert CHANGE in screen.painted and "[[ ## kind ## ]]" in screen.painted
        assert screen.review.decisions.others_of(screen.review.cause, screen.review.fixture)
        entries = [one.pieces[0].style for one in screen.review._list._blocks]
        assert entries == ["error", "text", "text"], "a failure is in the colour of failures"
        assert screen.review._whole is not None
        pieces = [one for block in drifts.reply_of(screen.review._whole) for one in block.pieces]
        assert [one.style for one in pieces if one.text == "missing" or "parse error" in one.text] == ["error"] * 3
        await screen.press("down", "A")
        decisions = screen.review.decisions
        assert [decisions.of(one) for one in decisions.causes] == [None, "accept", "accept"]
        assert screen.review.cause.changes_verdict, "back on what was left out"
        assert "Not accepted with all" in screen.painted and "1 to decide" in screen.painted
        await screen.press("a")
        assert not screen.review.decisions.open

    reviewed(Path(prompts), act, MIDDLE)

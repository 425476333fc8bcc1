"""`workbench lint`: lints of sessions before anything is sent, with an exit code for CI."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessions.file import store
from sessions.model.session import Case, Column, Session, SignatureText
from workbench.output import exit_codes

Run = Callable[..., Any]


@pytest.fixture
def session(tmp_path: Path, run: Run) -> str:
    path = str(tmp_path / "q.session.json")
    run("new", "question -> code", "-o", path, "--input", "question=Q")
    return path


def test_a_lint_names_its_place_its_columns_and_a_fix(session: str, run: Run) -> None:
    done = run("lint", session, "--json")
    assert done.code == exit_codes.OK
    (found,) = [one for one in done.json["lints"] if one["name"] == "code-as-xml"]
    assert found["place"] == "field `code`"
    assert found["severity"] == "warning"
    assert found["session"] == session
    assert (found["columns"], found["cases"]) == (["xml"], ["case 1"])
    assert found["fixes"][0] == {
        "kind": "adapter",
        "message": "Use the adapter `chat` for this column.",
        "change": {"adapter": "chat"},
    }


def test_strict_exits_with_1_from_a_warning_on(session: str, run: Run) -> None:
    assert run("lint", session, "--strict").code == exit_codes.DIFFERENT
    assert run("lint", session, "--strict", "--adapter", "chat").code == exit_codes.OK


def test_text_tells_the_same(session: str, run: Run) -> None:
    out = run("lint", session).out
    assert "warning: code-as-xml at field `code`  (xml)" in out
    assert "fix: Use the adapter `chat`" in out
    assert out.rstrip().endswith("1 warning")


def test_a_file_that_could_not_be_read_is_counted_beside_the_lints(session: str, run: Run) -> None:
    Path("broken.session.json").write_text("{")
    done = run("lint", session, "broken.session.json")
    assert done.code == exit_codes.USAGE and "broken.session.json" in done.err
    assert done.out.splitlines()[-1].endswith("1 file not linted")
    assert run("lint", session).out.splitlines()[-1] == done.out.splitlines()[-1].rpartition(",")[0]


def test_names_with_line_breaks_stay_on_the_line_of_the_lint(session: str, run: Run) -> None:
    columns = (Column("x\nml", "xml"),)
    store.save(Session(SignatureText("question -> code"), columns=columns, cases=(Case("a\tb\nc", {}),)), session)
    out = run("lint", session).out
    assert "warning: code-as-xml at field `code`  (x↵ml)\n" in out
    assert "warning: missing-input at input `question`  (x↵ml, a b↵c)\n" in out


def test_a_model_is_linted_as_if_sent_to(session: str, run: Run) -> None:
    names = [
        one["name"]
        for one in run("lint", session, "--adapter", "json", "--model", "nobody/at-all", "--json").json["lints"]
    ]
    assert "no-response-format" in names


def test_a_column_without_a_prompt_is_an_error(tmp_path: Path, run: Run) -> None:
    path = str(tmp_path / "b.session.json")
    source = tmp_path / "s.py"
    source.write_text(
        "import dspy\nfrom pydantic import BaseModel\nclass N(BaseModel):\n    next: 'N | None'\n"
        "class S(dspy.Signature):\n    q: str = dspy.InputField()\n    n: N = dspy.OutputField()\n"
    )
    run("new", str(source), "-o", path, "--input", "q=Q")
    done = run("lint", path, "--adapter", "baml", "--strict", "--json")
    assert done.code == exit_codes.DIFFERENT
    assert "no-prompt" in [one["name"] for one in done.json["lints"] if one["severity"] == "error"]


def test_a_folder_without_a_session_is_exit_4(tmp_path: Path, run: Run) -> None:
    assert run("lint", str(tmp_path)).code == exit_codes.NOTHING


def test_check_asks_for_lints(session: str, run: Run) -> None:
    run("send", session, "--save", "--adapter", "chat")
    assert run("check", session).code == exit_codes.OK
    done = run("check", session, "--lint", "--json")
    assert done.code == exit_codes.DIFFERENT
    assert "code-as-xml" in [one["name"] for one in done.json["lints"]]
    assert "code-as-xml" in run("check", session, "--lint").out

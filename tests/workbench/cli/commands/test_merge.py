"""`merge`: what two branches did to one session, put together as git's merge driver."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sessions.file import store
from sessions.model.session import Case
from workbench.output import exit_codes

Run = Callable[..., Any]


def changed(path: str, to: str, *more: Case, **inputs: str) -> None:
    session = store.load(path)
    first = replace(session.cases[0], inputs={**session.cases[0].inputs, **inputs})
    store.save(replace(session, cases=(first, *session.cases[1:], *more)), to)


def test_what_each_side_changed_is_in_the_result(rain: str, run: Run) -> None:
    changed(rain, "ours.json", Case("of ours"))
    changed(rain, "theirs.json", Case("of theirs"), question="Is it snowing?")
    done = run("merge", rain, "ours.json", "theirs.json")
    assert done.code == 0, done.err
    merged = store.load("ours.json")
    assert {one.name for one in merged.cases} == {"case 1", "of ours", "of theirs"}
    assert merged.cases[0].inputs["question"] == "Is it snowing?"


def test_where_both_changed_the_same_nothing_is_written_and_the_place_named(rain: str, run: Run) -> None:
    changed(rain, "ours.json", question="Ours?")
    changed(rain, "theirs.json", question="Theirs?")
    before = Path("ours.json").read_bytes()
    done = run("merge", rain, "ours.json", "theirs.json", "--name", "prompts/q.json")
    assert done.code == exit_codes.DIFFERENT
    assert "prompts/q.json: both sides changed cases · case 1 · inputs · question" in done.err
    assert Path("ours.json").read_bytes() == before
    Path("theirs.json").write_text("{")
    assert run("merge", rain, "ours.json", "theirs.json").code == exit_codes.USAGE


def test_git_merges_two_branches_with_it(rain: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_AUTHOR", "GIT_COMMITTER"):
        monkeypatch.setenv(f"{name}_NAME", "a")
        monkeypatch.setenv(f"{name}_EMAIL", "a@example.org")

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout

    Path(rain).rename("q.session.json")
    git("init", "-q", "-b", "main")
    git("config", "merge.workbench.driver", f"{sys.executable} -m workbench merge %O %A %B --name %P")
    Path(".gitattributes").write_text("*.session.json merge=workbench\n")
    git("add", ".gitattributes", "q.session.json")
    git("commit", "-qm", "one")
    git("checkout", "-qb", "other")
    changed("q.session.json", "q.session.json", Case("theirs"))
    git("commit", "-qam", "two")
    git("checkout", "-q", "main")
    changed("q.session.json", "q.session.json", Case("ours"))
    git("commit", "-qam", "three")
    git("merge", "-q", "other", "-m", "four")
    assert {one.name for one in store.load("q.session.json").cases} == {"case 1", "ours", "theirs"}


PROGRAM = '''import dspy


class A(dspy.Signature):
    """Review it."""

    code: str = dspy.InputField(desc="the code")

    verdict: str = dspy.OutputField(desc="in a word")
'''


@pytest.mark.parametrize(
    ("ours", "theirs", "both"),
    [
        ({"Review": "Read"}, {"in a word": "briefly"}, {"Review": "Read", "in a word": "briefly"}),
        ({"Review": "Read"}, {"Review": "Read", "in a word": "briefly"}, {"Review": "Read", "in a word": "briefly"}),
        ({"Review it.": "Read it.\n\n    Twice."}, {"    verdict": "    why: str = dspy.OutputField()\n    verdict"},
         {"Review it.": "Read it.\n\n    Twice.", "    verdict": "    why: str = dspy.OutputField()\n    verdict"}),
        ({"Review": "Read"}, {"Review": "Look at"}, None),
        ({"in a word": "short"}, {"    verdict": "    why: str = dspy.OutputField()\n    verdict"}, None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("are_pulled", [True, False])
def test_texts_of_the_signature_are_merged_by_lines(
    ours: dict[str, str], theirs: dict[str, str], both: dict[str, str] | None, are_pulled: bool, run: Run
) -> None:
    """Edits of sessions stay edits; texts that both sides pulled from the program are as pulled."""

    def changed_by(changes: dict[str, str]) -> str:
        text = PROGRAM
        for old, new in changes.items():
            text = text.replace(old, new)
        return text

    Path("a.py").write_text(PROGRAM)
    assert run("new", "a.py:A", "-o", "base.json").code == 0
    base = store.load("base.json")
    for name, changes in (("ours", ours), ("theirs", theirs)):
        store.save(base, f"{name}.json")
        if are_pulled:
            Path("a.py").write_text(changed_by(changes))
            assert run("pull", f"{name}.json").code == 0
        else:
            edited = replace(base.signature, text=changed_by(changes))
            store.save(replace(base, signature=edited), f"{name}.json")
    done = run("merge", "base.json", "ours.json", "theirs.json")
    if both is None:
        assert done.code == exit_codes.DIFFERENT and "both sides changed signature · text" in done.err
        return
    assert done.code == 0, done.err
    merged = store.load("ours.json").signature
    assert merged.text == changed_by(both) and merged.is_as_taken is are_pulled
    Path("a.py").write_text(changed_by(both))
    assert run("pull", "ours.json").code == 0

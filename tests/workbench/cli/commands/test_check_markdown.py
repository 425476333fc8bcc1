"""The report for a pull request: by cause, bounded, and inert whatever a session holds."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sessions.file import store
from workbench.output.markdown import SIZE_LIMIT, code, fenced

Run = Callable[..., Any]
HOSTILE = "@everyone <img src=x onerror=alert(1)> [a](http://evil) ```` \x1b[31m | # h"


def drifted(run: Run, path: str, instructions: str) -> None:
    assert run("send", path, "--save").code == 0
    session = store.load(path)
    store.save(replace(session, signature=replace(session.signature, instructions=instructions)), path)


def test_causes_are_sections_with_a_diff_and_their_fixtures(rain: str, run: Run) -> None:
    drifted(run, rain, "Say yes or no.")
    assert run("check", rain, "--markdown", "report.md").code == 1
    text = Path("report.md").read_text()
    assert text.startswith("## 3 fixtures fail\n")
    assert len(re.findall("^### ", text, re.MULTILINE)) == 1
    assert "```diff\n" in text and "\n+        Say yes or no." in text
    assert "q.json::case 1::xml" in text


def test_a_step_of_github_gets_it_behind_what_stands_in_its_summary(
    rain: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("send", rain, "--save").code == 0
    Path("summary.md").write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    assert run("check", rain).code == 0
    assert Path("summary.md").read_text() == "before\n## All fixtures match\n\n3 passed\n"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "/nowhere/summary.md")
    done = run("check", rain)
    assert done.code == 0 and "the summary is not written" in done.err


def test_hostile_text_is_text_within_code(rain: str, run: Run) -> None:
    drifted(run, rain, HOSTILE)
    run("check", rain, "--markdown", "report.md")
    text = Path("report.md").read_text()
    assert "\x1b" not in text
    outside = re.sub(r"(?ms)^(`{3,})[a-z]*\n.*?\n\1$", "", text)
    outside = re.sub(r"(`+) ?.*?[^`] ?\1(?!`)", "", outside)
    assert "@everyone" not in outside and "<img" not in outside and "evil" not in outside


def test_files_that_cannot_be_read_are_counted_in_the_title(rain: str, run: Run) -> None:
    run("send", rain, "--save")
    Path("bad.session.json").write_text("{")
    run("check", rain, "bad.session.json", "--markdown", "report.md")
    assert Path("report.md").read_text().startswith("## 1 file cannot be read\n")


def test_its_size_is_bounded(rain: str, run: Run) -> None:
    drifted(run, rain, "\n".join(f"line {number} " + "x" * 1_000 for number in range(2_000)))
    run("check", rain, "--markdown", "report.md")
    assert len(Path("report.md").read_text()) < SIZE_LIMIT


def test_a_fence_is_longer_than_any_in_the_text() -> None:
    assert code("a`b``c") == "```a`b``c```"
    assert code("`a`") == "`` `a` ``"
    assert fenced("````\nx", "diff") == "`````diff\n````\nx\n`````\n"

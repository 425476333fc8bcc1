"""A check as a page: by cause with an example, every fixture with its verdicts, whatever a session holds as text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from page_seen import Node, seen

from sessions.file import store

Run = Callable[..., Any]
HOSTILE = "</pre><script>alert(1)</script> <img src=x onerror=alert(1)> \x1b[31m \u202e"


def drifted(run: Run, path: str, instructions: str) -> Node:
    """The page of a session whose instructions changed after it was recorded."""
    assert run("send", path, "--save").code == 0
    session = store.load(path)
    store.save(replace(session, signature=replace(session.signature, instructions=instructions)), path)
    assert run("check", path, "--html", "check.html").code == 1
    return seen(Path("check.html").read_text(encoding="utf-8"))


def test_a_cause_stands_once_with_its_difference_and_every_fixture_with_its_verdicts(rain: str, run: Run) -> None:
    page = drifted(run, rain, "Say yes or no.")
    assert page.one("h1").text == "3 fixtures fail"
    assert len(list(page.all("details", open=""))) == 1
    assert any("Say yes or no." in one.text for one in page.all("span", class_="good"))
    rows = [row.text for row in page.one("tbody").all("tr")]
    assert len(rows) == 3 and all("drift" in row and "pass" in row for row in rows)
    assert "q.json::case 1::xml" in rows[2]


def test_what_a_difference_is_of_stands_above_its_lines(rain: str, run: Run) -> None:
    page = drifted(run, rain, "Say yes or no.")
    lines = next(iter(page.all("pre"))).text.splitlines()
    assert lines[0].startswith("render: ")
    assert all(line[:1] in ("+", "-", " ", "…") for line in lines[1:] if line)


def test_prompts_that_are_as_recorded_say_so(rain: str, run: Run) -> None:
    assert run("send", rain, "--save").code == 0
    assert run("check", rain, "--html", "check.html").code == 0
    page = seen(Path("check.html").read_text(encoding="utf-8"))
    assert page.one("h1").text == "All fixtures match"
    assert not list(page.all("details"))


def test_text_of_a_session_is_only_text(rain: str, run: Run) -> None:
    page = drifted(run, rain, HOSTILE)
    assert not {one.name for one in page.all()} & {"script", "img"}
    assert "<script>alert(1)</script>" in page.text and "\x1b" not in page.text and "\u202e" not in page.text


def test_a_large_difference_is_cut_and_says_so(rain: str, run: Run) -> None:
    page = drifted(run, rain, "\n".join([f"line {number} " + "x" * 5_000 for number in range(2_000)]))
    assert "more lines" in page.text
    assert len(Path("check.html").read_text(encoding="utf-8")) < 1_000_000


def test_a_file_that_is_no_session_is_named_and_a_page_that_cannot_be_written_is_refused(rain: str, run: Run) -> None:
    Path("broken.json").write_text("{")
    run("check", rain, "broken.json", "--html", "check.html")
    assert "broken.json" in Path("check.html").read_text(encoding="utf-8")
    done = run("check", rain, "--html", "no/such/check.html")
    assert done.code == 2 and "no/such/check.html" in done.err


def test_a_single_fixture_is_a_row_of_its_verdicts(rain: str, run: Run) -> None:
    assert run("send", rain, "--save").code == 0
    session = store.load(rain)
    store.save(replace(session, columns=session.columns[:1]), rain)
    run("check", rain, "--html", "check.html", "--adapter", session.columns[0].id)
    page = seen(Path("check.html").read_text(encoding="utf-8"))
    head, row = [one.text for one in page.all("tr")]
    assert head.startswith("fixture") and "render" in head and "parse" in head
    assert row.startswith("q.json::case 1::") and row.count("pass") == 2

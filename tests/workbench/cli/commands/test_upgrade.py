"""`workbench upgrade`: what another dspy, model or adapter would change, on the command line."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from sessions import examples
from sessions.causes.cause import Key
from sessions.file import store
from sessions.model.session import Case, Column, Session, SignatureText
from sessions.releases.engine import Call, Engine, Failure, Question, ReleaseError
from sessions.upgrades import sides
from sessions.upgrades.comparing import Difference
from sessions.upgrades.report import upgrade as build
from sessions.upgrades.sides import Change, Compared, Ours, Side
from tests.support.scripted_lm import ScriptedLM
from workbench.cli.commands import upgrade
from workbench.output import exit_codes, report_blocks
from workbench.pages import report_pages
from workbench.sending import sending

Run = Callable[..., Any]


class Older(Ours):
    """A release that marked fields in XML as Chat does."""

    name = "dspy 3.0.4"

    def call(self, question: Question) -> Call:
        made = super().call(question)
        texts = [{**one, "content": _older(one["content"])} for one in made.messages]
        return replace(made, messages=tuple(texts))


def _older(text: str) -> str:
    return text.replace("Your input fields are:", "The input fields are:")


@pytest.fixture(autouse=True)
def older(monkeypatch: pytest.MonkeyPatch) -> None:
    """`3.0.4` is there, without an environment of its own; every other name is what it is."""
    there = upgrade.open_engine

    def engine(name: str) -> Engine:
        return Older() if name == "3.0.4" else there(name)

    monkeypatch.setattr(upgrade, "open_engine", engine)


@pytest.fixture
def receipt(run: Run) -> str:
    Path("receipt.json").write_text(examples.text("receipt"), encoding="utf-8")
    return "receipt.json"


def test_the_same_engine_changes_nothing(receipt: str, run: Run) -> None:
    done = run("upgrade", receipt, "--from", "ours", "--to", "3.4.1")
    assert done.code == exit_codes.OK
    assert "0 of 3 fixtures change" in done.out


def test_each_change_is_one_sentence_with_an_example(receipt: str, run: Run) -> None:
    done = run("upgrade", receipt, "--from", "3.0.4", "--to", "ours")
    assert done.code == exit_codes.DIFFERENT
    lines = done.out.splitlines()
    assert lines[0] == "dspy 3.0.4 → ours, as dspy 3.4.1: 3 of 3 fixtures change"
    assert "1. in the system message, “The” became “Your”" in lines
    assert "     -The input fields are:" in lines and "     +Your input fields are:" in lines
    assert all(len(line) <= 100 for line in lines)


def test_the_json_has_every_change_and_every_fixture(receipt: str, run: Run) -> None:
    found = run("upgrade", receipt, "--from", "3.0.4", "--to", "ours", "--json").json
    (change,) = found["changes"]
    assert [one["changes"] for one in found["fixtures"]] == [[change["id"]]] * 3
    assert found["counts"]["prompts"] == 3
    assert change["example"]["diff"] == ["-The input fields are:", "+Your input fields are:"]


def test_markdown_and_page_hold_the_sentence_and_no_markup_of_others(receipt: str, run: Run) -> None:
    text = Path(receipt).read_text("utf-8").replace('"bakery"', '"<script>bakery</script>"')
    Path(receipt).write_text(text, "utf-8")
    done = run("upgrade", receipt, "--from", "3.0.4", "--to", "ours", "--markdown", "--html", "up.html")
    assert "### 1. `in the system message, “The” became “Your”`" in done.out
    page = Path("up.html").read_text("utf-8")
    tags = _Tags()
    tags.feed(page)
    assert "script" not in tags.names and "&lt;script&gt;bakery" in page
    assert "in the system message, “The” became “Your”" in page


def test_the_report_for_a_pull_request_fits_into_a_comment() -> None:
    lines = tuple([f"-{number} " + "x" * 100 for number in range(8)])
    differences = tuple(
        [
            Difference("render", "messages[0]", Key("dspy release", f"the thing {number}", "", "new"), lines)
            for number in range(200)
        ]
    )
    compared = [Compared("s.json", "one", "chat", "chat", differences)]
    compared += [Compared("s.json", f"{number}", "chat", "chat", why_not=f"reason {number}") for number in range(200)]
    told = report_blocks.upgrade_markdown(build("before", "after", compared))
    assert len(told) < 65_536
    assert "### 1. `the thing 0 gained “new”`" in told
    last = told.splitlines()[-1]
    assert last.startswith("… and ") and last.endswith("`--json` and `--html` have every one.")
    left = 200 + 200 - told.count("### ") - told.count("- `reason")
    assert f" {left} more" in last


def test_a_page_counts_the_lines_of_a_difference_that_it_leaves_out() -> None:
    lines = tuple([f"-line {number}" for number in range(1_000)])
    compared = Compared("s.json", "one", "chat", "chat", (Difference("render", "messages[0]", ADDED, lines),))
    page = report_pages.upgrade_page(build("before", "after", [compared]))
    left = 1_000 - page.count("-line ")
    assert left > 700 and f"… {left} more lines" in page and page.count("more lines") == 1


def test_a_cell_of_the_page_links_to_each_of_its_changes() -> None:
    keys = [Key("dspy release", f"the thing {number}", "", "new") for number in range(3)]
    compared = []
    for case, own in (("one", keys[:2]), ("two", keys[1:]), ("three", keys[1:2])):
        changes = tuple([Difference("render", "messages[0]", key, ("-a", "+b")) for key in own])
        compared.append(Compared("s.json", case, "chat", "chat", changes))
    page = report_pages.upgrade_page(build("before", "after", compared))
    links = re.findall(r'href="#(change-\d)"', page)
    assert sorted(links) == ["change-1"] * 3 + ["change-2", "change-3"]
    assert all(f'id="{one}"' in page for one in links)
    assert '>≠ <a href="#change-1">1</a> <a href="#change-2">2</a></td>' in page


def test_a_very_long_line_is_cut_on_the_terminal_and_whole_in_json(receipt: str, run: Run) -> None:
    session = store.load(Path(receipt))
    long = "A very long line " * 1_000 + "ends"
    case = replace(session.cases[0], inputs={**session.cases[0].inputs, "note": long})
    store.save(replace(session, cases=(case,)), Path(receipt))
    asked = ("upgrade", receipt, "--from-adapter", "chat", "--to-adapter", "markdown")
    lines = run(*asked).out.splitlines()
    assert max(map(len, lines)) < 500 and any(line.endswith("… (17,005 characters)") for line in lines)
    examples = [line for change in run(*asked, "--json").json["changes"] for line in change["example"]["diff"]]
    assert f"+{long}" in examples


ADDED = Key("dspy release", "the thing", "", "new")


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.names.add(tag)


def test_a_release_that_is_not_added_is_one_line_that_says_how_to_add_it(receipt: str, run: Run) -> None:
    done = run("upgrade", receipt, "--from", "2.5.99")
    assert (done.code, done.out) == (exit_codes.USAGE, "")
    assert done.err.count("\n") == 1 and "workbench dspy add 2.5.99" in done.err


def test_an_adapter_in_the_place_of_another(receipt: str, run: Run) -> None:
    done = run("upgrade", receipt, "--from-adapter", "chat", "--to-adapter", "xml")
    assert done.code == exit_codes.DIFFERENT
    assert "fields are marked `<field> </field>`, no longer `[[ ## field ## ]]`" in done.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "what changes?"),
        (["--from", "ours", "--to-adapter", "xml"], "change one thing at a time"),
        (["--to-adapter", "xlm"], "did you mean 'xml'?"),
        (["--from-model", "offline/exact"], "--to-model"),
        (["--to", "newest"], "`newest` names no engine"),
    ],
)
def test_what_cannot_be_meant_is_one_clear_line(receipt: str, run: Run, arguments: list[str], said: str) -> None:
    done = run("upgrade", receipt, *arguments)
    assert done.code == exit_codes.USAGE and done.out == ""
    assert said in done.err and done.err.count("\n") == 1


def test_a_folder_without_sessions_and_a_file_that_is_none(run: Run) -> None:
    Path("empty").mkdir()
    assert run("upgrade", "empty", "--from", "ours", "--to", "ours").code == exit_codes.NOTHING
    Path("bad.json").write_text("{", "utf-8")
    done = run("upgrade", "bad.json", "--from", "ours", "--to", "ours")
    assert done.code == exit_codes.USAGE and "bad.json" in done.err
    assert done.out == "", "there is nothing to report below the error"


def test_an_engine_that_ends_is_told_and_no_pass(receipt: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(Ours):
        name = "dspy 3.1.0"

        def call(self, question: Question) -> Call:
            raise ReleaseError("ended", question.column.id, "dspy 3.1.0 ended")

    monkeypatch.setattr(upgrade, "open_engine", lambda name: Broken())
    done = run("upgrade", receipt, "--from", "3.1.0", "--to", "ours")
    assert done.code == exit_codes.PROVIDER
    assert "not compared" in done.out and "dspy 3.1.0 ended" in done.out
    run("upgrade", receipt, "--from", "3.1.0", "--to", "ours", "--html", "page.html")
    assert "Nothing changes" not in Path("page.html").read_text(encoding="utf-8")


def without_fallback(kind: Failure) -> Compared:
    """Compare a case whose fallback fails in the older dspy."""

    class EndsLater(Ours):
        def call(self, question: Question) -> Call:
            if question.adapter:
                raise ReleaseError(kind, "", "dspy 3.1.0 ended")
            return super().call(question)

    session = replace(examples.load("receipt"), fallback=True)
    column, case = session.columns[0], session.cases[0]
    run = sending.send(session, column, case, model=ScriptedLM("nonsense", "none either"))
    session = sending.keep(session, case.name, column, run)
    change = Change(Side("dspy 3.1.0", EndsLater()), Side("ours", Ours()), "dspy release")
    return sides.compare(change, session, "", session.cases[0], column)


def test_a_fallback_that_no_engine_answered_is_no_pass() -> None:
    found = without_fallback("ended")
    assert found.is_broken and found.why_not == "dspy 3.1.0 ended"


def test_a_fallback_that_only_one_side_can_render_is_a_change() -> None:
    found = without_fallback("raised")
    assert [(one.place, one.diff) for one in found.differences] == [("json: prompt", ("-dspy 3.1.0 ended",))]
    assert found.is_compared and not without_fallback("unsupported").differences


TOOLS = """class Ask(dspy.Signature):
    question: str = dspy.InputField()
    tools: list[dspy.Tool] = dspy.InputField()
    why: dspy.Reasoning = dspy.OutputField()
    calls: dspy.ToolCalls = dspy.OutputField()
"""


@pytest.fixture
def ask(run: Run) -> str:
    """A signature with tools and reasoning, for a model that has tools natively and no reasoning."""
    tool = {"name": "find", "desc": "Find it", "args": {"q": {"type": "string"}}}
    case = Case("one", {"question": "Where?", "tools": [tool]})
    columns = (Column("chat", "chat"), Column("json", "json"))
    session = Session(SignatureText(TOOLS), (), columns, (case,), "openai/gpt-4o-mini", {"max_tokens": 500})
    Path("ask.json").write_text(store.dumps(session), encoding="utf-8")
    return "ask.json"


def test_another_model_is_told_by_what_goes_out_its_price_its_context_and_its_end(ask: str, run: Run) -> None:
    done = run("upgrade", ask, "--to-model", "openai/gpt-6-sol", "--json")
    assert done.code == exit_codes.DIFFERENT
    words = [one["words"] for one in done.json["changes"]]
    assert "a field left the prompt: a native feature of the model takes its place" in words
    assert '`reasoning_effort` is sent too: "low"' in words
    notes = "\n".join(done.json["notes"])
    leaving = run("upgrade", ask, "--to-model", "anthropic/claude-sonnet-4-5", "--json").json["notes"]
    assert "anthropic/claude-sonnet-4-5 le" in "\n".join(leaving) and "its API on 2026-11-30 (litellm" in "\n".join(
        leaving
    )
    assert "openai/gpt-4o-mini → openai/gpt-6-sol: $0.15 → $" in notes and "tokens of context" in notes


def test_a_model_that_nobody_lists_is_named_and_parameters_are_as_its_provider_gets_them(ask: str, run: Run) -> None:
    done = run("upgrade", ask, "--from-model", "openai/gpt-4o-mini", "--to-model", "nobody/knows")
    assert done.code == exit_codes.DIFFERENT
    assert "no table lists nobody/knows:" in done.out
    assert "`max_completion_tokens` is no longer sent (was 500)" in done.out
    assert "`tools` is no longer sent (was 1 tool)" in done.out


def test_the_same_model_changes_nothing(ask: str, run: Run) -> None:
    assert run("upgrade", ask, "--to-model", "openai/gpt-4o-mini").code == exit_codes.OK


def test_live_judges_both_and_says_what_so_few_can_not_tell(receipt: str, run: Run) -> None:
    models = ("--from-model", "offline/exact", "--to-model", "offline/empty")
    done = run("upgrade", receipt, *models, "--adapter", "chat", "--live", "--repeat", "2", "--json")
    (told,) = done.json["live"]
    assert told["before"] == [[2, 2]] and told["after"] == [[0, 2]]
    assert not told["certain"]
    assert told["words"].startswith("chat under offline/exact and chat under offline/empty are not told apart")


def test_live_without_a_reply_is_a_providers_error_and_no_conclusion(receipt: str, run: Run) -> None:
    done = run("upgrade", receipt, "--to-model", "offline/none-such", "--adapter", "chat", "--live")
    assert done.code == exit_codes.PROVIDER
    assert "no offline model 'none-such'" in done.err
    assert "no case in common that both answered" in done.out


def test_repeats_without_live_are_refused(receipt: str, run: Run) -> None:
    done = run("upgrade", receipt, "--to-model", "offline/exact", "--repeat", "3")
    assert done.code == exit_codes.USAGE and "--live" in done.err


def test_a_file_that_cannot_be_read_is_counted_in_the_report(receipt: str, run: Run) -> None:
    Path("bad.session.json").write_text("{")
    done = run("upgrade", receipt, "bad.session.json", "--from", "ours", "--to", "ours")
    assert done.code == exit_codes.USAGE and "bad.session.json" in done.err
    assert "1 file could not be read" in done.out
    same = run("upgrade", receipt, "--from", "ours", "--to", "ours", "--json")
    assert same.code == 0 and same.json["notes"] == []

"""`workbench stress`: which parser survives a bad reply, on the command line."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adapters.formats import catalog
from adapters.mutations import CATALOGUE
from sessions import examples
from tests.support.hostile import HOSTILE
from workbench.output import exit_codes

Run = Callable[..., Any]
VERDICTS = {"same", "refused", "flagged", "silently_wrong"}


@pytest.fixture
def receipt(run: Run) -> str:
    """The first example, in the file `receipt.json`."""
    Path("receipt.json").write_text(examples.text("receipt"), encoding="utf-8")
    return "receipt.json"


def test_the_json_is_the_documented_shape(receipt: str, run: Run) -> None:
    done = run("stress", receipt, "--json")
    assert done.code == exit_codes.OK and done.err == ""
    found = done.json
    assert len(found["mutations"]) >= 40
    assert all(one["name"] in CATALOGUE and one["imitates"] for one in found["mutations"])
    assert list(found["grid"]) == list(found["counts"]) == list(catalog.NAMES)
    names = {one["name"] for one in found["mutations"]}
    for adapter, cells in found["grid"].items():
        assert set(cells) <= names and set(cells.values()) <= VERDICTS
        counts = found["counts"][adapter]
        assert counts == {verdict: list(cells.values()).count(verdict) for verdict in counts}
        assert set(counts) == VERDICTS
    assert "CDATA" in found["grid"]["xml"] and "CDATA" not in found["grid"]["chat"]
    bold = found["cells"]["chat"]["texts in bold"]
    assert (bold["wrong"], bold["flags"], bold["error"]) == (["seller"], [], None)
    assert bold["values"]["seller"] == "**Tim & Sons**"
    assert found["good"]["chat"]["values"]["seller"] == "Tim & Sons"


def test_the_same_session_gives_the_same_grid(receipt: str, run: Run) -> None:
    assert run("stress", receipt, "--json").out == run("stress", receipt, "--json").out


def test_for_people_what_is_silently_wrong_comes_first_and_fits_eighty_columns(receipt: str, run: Run) -> None:
    done = run("stress", receipt)
    assert done.code == exit_codes.OK
    lines = done.out.splitlines()
    assert lines[0].startswith("receipt.json · bakery: ") and "× 6 adapters" in lines[0]
    assert " damaged replies, " in lines[0]
    assert [line for line in lines if len(line) > 80] == []
    assert lines[1] == "  the good reply: the answer of offline/exact"
    heads = next(line.split() for line in lines if line.split()[:1] == ["chat"])
    assert heads == list(catalog.NAMES)
    assert lines.index("silently wrong") < lines.index("around the answer") < lines.index("XML")
    (fenced,) = [line for line in lines if line.startswith("  fenced  ")]
    assert fenced.split()[1:] == ["✓", "✓", "✓", "✓", "✓", "·"]
    assert "      seller: 'Tim & Sons' → '**Tim & Sons**'" in lines


def test_the_end_ranks_the_columns_by_the_damage_that_applies_to_all_of_them(receipt: str, run: Run) -> None:
    shape = run("stress", receipt, "--adapter", "chat", "json", "--json").json
    chat, found_by_json = shape["grid"]["chat"], shape["grid"]["json"]
    common = [one["name"] for one in shape["mutations"] if one["name"] in chat and one["name"] in found_by_json]
    counts = {name: sum(shape["grid"][name][one] == "same" for one in common) for name in ("chat", "json")}
    best, worst = sorted(counts, key=lambda name: -counts[name])
    lines = run("stress", receipt, "--adapter", "chat", "json").out.splitlines()
    at = lines.index(f"Of {len(common)} kinds of damage that apply to every column, each survives:")
    assert lines[at + 1] == f"  {best} {counts[best]}, {worst} {counts[worst]}"
    lost = [one for one in common if shape["grid"][best][one] == "same" != shape["grid"][worst][one]]
    assert lines[at + 2] == f"{len(shape['mutations']) - len(common)} more kinds apply to some columns only"
    assert lines[at + 3].startswith("Weighted by the public reports of each kind, ")
    closing = " ".join(line.strip() for line in lines[at + 5 :])
    kinds = f"{best} survives {counts[best]} of {len(common)} kinds of damage, {worst} {counts[worst]}"
    assert closing.startswith(f"{kinds}; {worst} loses: ")
    named, fix = closing.partition(" loses: ")[2].split("; the fix: ")
    assert named.startswith('"') and set(re.findall('"([^"]+)"', named)) <= set(lost)
    assert "use the adapter `json` for this column (" in fix
    assert "retry with the JSON adapter after a parse error (" in fix
    assert "each survives" not in run("stress", receipt, "--adapter", "chat").out


def test_adapters_are_chosen_and_a_mutation_is_shown_with_its_readings(receipt: str, run: Run) -> None:
    done = run("stress", receipt, "--adapter", "chat", "xml", "--show", "texts in quotes")
    assert done.code == exit_codes.OK
    assert '[[ ## seller ## ]]\n"Tim & Sons"\n' in done.out
    assert "[chat] ≠ silently wrong" in done.out and "[xml] parsed" in done.out and "[json]" not in done.out
    done = run("stress", receipt, "--adapter", "chat", "--show", "CDATA")
    assert "[chat] not applicable to its reply" in done.out


def test_a_limit_of_silent_errors_is_for_ci(receipt: str, run: Run) -> None:
    silent = run("stress", receipt, "--adapter", "json", "--json").json["counts"]["json"]["silently_wrong"]
    assert silent > 0
    assert run("stress", receipt, "--adapter", "json", "--fail-over", str(silent)).code == exit_codes.OK
    done = run("stress", receipt, "--adapter", "json", "--fail-over", str(silent - 1))
    assert done.code == exit_codes.DIFFERENT
    assert f"json is silently wrong {silent} times, of at most {silent - 1}" in done.err


def test_markdown_is_two_tables(receipt: str, run: Run) -> None:
    lines = run("stress", receipt, "--markdown").out.splitlines()
    assert lines[0] == "| verdict | chat | json | xml | baml | twostep | markdown |"
    assert {line.count(" | ") for line in lines if line} == {6}
    assert any(line.startswith("| texts in bold | ≠ |") for line in lines)


def test_a_reply_that_could_not_be_broken_is_told_once(receipt: str, run: Run) -> None:
    session = json.loads(Path(receipt).read_text(encoding="utf-8"))
    session["cases"][0]["replies"] = {"chat": {"text": "x" * 10_000_000, "source": "pasted", "model": None}}
    Path(receipt).write_text(json.dumps(session), encoding="utf-8")
    done = run("stress", receipt, "--json", "--html", "stress.html")
    said = "the reply under chat has 10,000,000 characters, of at most 50,000"
    assert done.code == exit_codes.OK and done.err == f"not used: {said}\n"
    assert done.json["good"]["chat"]["source"] == "the answer of offline/exact"
    assert done.json["good"]["chat"]["passed_over"] == [said]
    assert f"Not damaged: {said}." in Path("stress.html").read_text(encoding="utf-8")


def test_an_adapter_without_a_good_reply_is_named_and_the_others_are_broken(run: Run) -> None:
    Path("invoice.json").write_text(examples.text("invoice"), encoding="utf-8")
    done = run("stress", "invoice.json", "--json")
    assert done.code == exit_codes.OK
    assert "workbench: baml: no prompt can be made" in done.err
    assert list(done.json["problems"]) == ["baml"] and "baml" not in done.json["grid"]
    assert run("stress", "invoice.json", "--fail-over", "200").code == exit_codes.OK
    named = run("stress", "invoice.json", "--adapter", "chat", "baml", "--fail-over", "200")
    assert named.code == run("stress", "invoice.json", "--adapter", "baml").code == exit_codes.NOTHING


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--show", "fence"], "no mutation 'fence'; did you mean 'fenced'?"),
        (["--adapter", "jsn"], "no column or adapter 'jsn'; did you mean 'json'?"),
        (["--case", "backery"], "no case 'backery'; did you mean 'bakery'?"),
        (["--fail-over", "few"], "argument --fail-over: 'few': expected a number from 0 to 1000"),
        (
            ["--html", "no/such/folder.html"],
            "no/such/folder.html: cannot be written: no such file or directory (the folder does not exist)",
        ),
    ],
)
def test_a_wrong_word_is_one_line_that_says_what_would_work(
    words: list[str], message: str, receipt: str, run: Run
) -> None:
    done = run("stress", receipt, *words)
    assert done.code == exit_codes.USAGE
    assert message in done.err and done.err.strip().count("\n") == 0 and done.out == ""


def test_a_page_has_the_grid_and_every_reply_that_is_not_the_same(receipt: str, run: Run) -> None:
    done = run("stress", receipt, "--json", "--html", "stress.html")
    page = Path("stress.html").read_text(encoding="utf-8")
    names = set(re.findall(r'<div id="([^"]+)">', page))
    linked = set(re.findall(r'href="#([^"]+)"', page))
    assert linked == names
    assert len(names) == sum(len(cells) for cells in done.json["cells"].values())
    assert "Content-Security-Policy" in page and "<script" not in page


def test_hostile_texts_reach_no_terminal_and_no_page_as_more_than_text(
    receipt: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = json.loads(Path(receipt).read_text(encoding="utf-8"))
    nasty = f"<script>x</script>[bold]{HOSTILE['escape sequence']}{HOSTILE['right to left']}"
    demo = {"note": "n", "seller": nasty, "total": 1.5, "paid": True}
    session["demos"] = [{"enabled": True, "values": demo}]
    session["cases"][0]["name"] = nasty
    Path(receipt).write_text(json.dumps(session), encoding="utf-8")
    monkeypatch.setattr("workbench.output.console.is_terminal", lambda stream: True)
    monkeypatch.setenv("NO_COLOR", "1")
    done = run("stress", receipt, "--html", "stress.html")
    assert done.code == exit_codes.OK
    assert "\x1b" not in done.out and "\u202e" not in done.out
    page = Path("stress.html").read_text(encoding="utf-8")
    assert "\x1b" not in page and "\u202e" not in page and "<script" not in page


def test_lone_surrogates_are_broken_and_written_like_others(receipt: str, run: Run) -> None:
    session = json.loads(Path(receipt).read_text(encoding="utf-8"))
    session["demos"] = [{"enabled": True, "values": {"note": "n", "seller": "a\ud83d z", "total": 1.5, "paid": True}}]
    Path(receipt).write_text(json.dumps(session), encoding="utf-8")
    found = run("stress", receipt, "--json", "--html", "stress.html").json
    assert found["good"]["chat"]["values"]["seller"] == "a\ud83d z"
    assert "xml" in found["grid"] or "xml" in found["problems"]
    assert Path("stress.html").stat().st_size > 10_000


def test_the_parsers_of_another_dspy_stand_beside_ours(receipt: str, run: Run) -> None:
    done = run("stress", receipt, "--adapter", "chat", "markdown", "--dspy-python", sys.executable, "--json")
    assert done.code == exit_codes.OK
    assert list(done.json["grid"]) == ["chat", "chat@3.4.1", "markdown"]
    ours, theirs = done.json["grid"]["chat"], done.json["grid"]["chat@3.4.1"]
    assert theirs == {name: "silently_wrong" if one == "flagged" else one for name, one in ours.items()}


def test_a_python_without_dspy_is_one_line(receipt: str, run: Run) -> None:
    done = run("stress", receipt, "--dspy-python", "/nowhere/python")
    assert done.code == exit_codes.USAGE
    assert "/nowhere/python: cannot be run" in done.err and "--dspy-python" in done.err


def test_the_two_columns_that_together_survive_most_are_named(receipt: str, run: Run) -> None:
    out = run("stress", receipt).out
    assert re.search(r"\w+ and \w+ together survive the most: \d+ of \d+ reports", out)

"""A session that is tied to a program: made from it, held against it, taken over and written back."""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sessions.file import store
from sessions.model.session import Demo
from workbench.checks import github_annotations
from workbench.output import exit_codes

Run = Callable[..., Any]
MODELS = """import os
from pydantic import BaseModel

class Invoice(BaseModel):
    total: float
    currency: str

class Unused(BaseModel):
    secret: str
"""
QA = '''import dspy
from .models import Invoice

print("never run")

class Answer(dspy.Signature):
    """Read the note."""
    note: str = dspy.InputField(desc="what was written")
    invoice: Invoice = dspy.OutputField()
    sure: bool = dspy.OutputField()

# Nothing below belongs to it.
def program() -> None:
    raise SystemExit("never run")
'''
PATH = "prompts/answer.session.json"


@pytest.fixture
def project(run: Run, tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").touch()
    for folder in ("app", "prompts"):
        (tmp_path / folder).mkdir()
    (tmp_path / "app" / "__init__.py").touch()
    (tmp_path / "app" / "models.py").write_text(MODELS)
    (tmp_path / "app" / "qa.py").write_text(QA)
    done = run("new", "app/qa.py:Answer", "-o", PATH, "--input", "note=12 EUR")
    assert done.code == 0, done.err
    assert "linked to ../app/qa.py:Answer" in done.err
    assert run("send", PATH, "--save", "--adapter", "chat").code == 0
    assert run("check", PATH, "--adapter", "chat").code == 0
    return tmp_path


def edit(file: Path, before: str, after: str) -> None:
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))


def verdict(run: Run, *words: str) -> tuple[int, str, list[str]]:
    done = run("check", PATH, "--adapter", "chat", "--json", *words)
    (fixture,) = done.json["fixtures"]
    said = [one["text"] for one in fixture["drift"] if one["verdict"] == "source"]
    return done.code, fixture["verdicts"].get("source", ""), said


def test_new_writes_the_class_with_what_it_needs_and_where_it_is_from(project: Path) -> None:
    signature = json.loads((project / PATH).read_text())["signature"]
    text = "\n".join(signature["text"])
    assert "class Invoice" in text and "class Answer" in text
    assert "Unused" not in text and "program" not in text and "import os" not in text
    assert signature["source"]["file"] == "../app/qa.py"
    assert signature["source"]["class"] == "Answer"
    assert signature["source"]["digest"].startswith("sha256:")
    assert store.load(PATH).signature.source is not None


def test_a_changed_word_of_the_docstring_fails_the_check_and_is_named(project: Path, run: Run) -> None:
    assert verdict(run) == (0, "pass", [])
    edit(project / "app" / "qa.py", "# Nothing below belongs to it.", "# A comment of elsewhere.")
    assert verdict(run) == (0, "pass", [])
    edit(project / "app" / "qa.py", "Read the note.", "Read the letter.")
    code, word, (said,) = verdict(run)
    assert (code, word) == (exit_codes.DIFFERENT, "drift")
    assert "the instructions have changed" in said
    assert "-Read the note." in said and "+Read the letter." in said
    assert verdict(run, "--no-source") == (0, "", [])


def test_instructions_that_the_class_does_not_have_are_reported_as_followed_by_nothing(project: Path, run: Run) -> None:
    """As `Answer.with_instructions("…")` is captured: its fields follow the class, its instructions nothing."""
    session = store.load(PATH)
    store.save(replace(session, signature=replace(session.signature, instructions="Read it twice.")), PATH)
    assert "its instructions are its own, so they are not compared" in run("check", PATH).out
    assert verdict(run)[1:] == ("empty", [])
    edit(project / "app" / "qa.py", "sure: bool", "sure: float")
    assert verdict(run)[1] == "drift"


def test_sessions_that_follow_no_source_are_counted_and_can_fail_the_check(project: Path, run: Run) -> None:
    assert "no source" not in run("check", PATH).out and run("check", PATH, "--require-source").code == 0
    session = store.load(PATH)
    store.save(replace(session, signature=replace(session.signature, source=None)), "prompts/free.session.json")
    own = replace(session.signature, instructions="Read it twice.")
    store.save(replace(session, signature=own), "prompts/own.session.json")
    done = run("check", "prompts/free.session.json", "prompts/own.session.json", PATH)
    named = "prompts/free.session.json, prompts/own.session.json (instructions of its own)"
    assert done.out.splitlines()[-1] == f"2 of 3 sessions follow no source: {named}"
    found = run("check", "prompts", "--json").json["unlinked"]
    assert [one["path"] for one in found] == ["prompts/free.session.json", "prompts/own.session.json"]
    assert found[0]["why"] == "no link to a program"
    assert run("check", "prompts/free.session.json", "--case", "case 1").code == 0
    assert (
        run("check", "prompts/free.session.json", "--case", "case 1", "--require-source").code == exit_codes.DIFFERENT
    )
    assert run("check", "prompts", "--no-source", "--json").json["unlinked"] == []
    assert run("check", "prompts", "--no-source", "--require-source").code == exit_codes.USAGE


def test_a_type_a_field_and_a_model_of_another_module_are_named_as_what_they_are(project: Path, run: Run) -> None:
    edit(project / "app" / "qa.py", "sure: bool", "sure: float")
    (said,) = verdict(run)[2]
    assert "the type of `sure` has changed" in said and "-bool" in said and "+float" in said
    edit(project / "app" / "qa.py", "    sure: float = dspy.OutputField()\n", "")
    assert "the output field `sure` is gone" in verdict(run)[2][0]
    edit(project / "app" / "models.py", "currency: str", "currency: str\n    vat: float")
    assert any("`Invoice.vat` is new" in one for one in verdict(run)[2])


def test_a_renamed_class_and_a_file_that_is_gone_are_named_with_the_nearest(project: Path, run: Run) -> None:
    edit(project / "app" / "qa.py", "class Answer", "class Answers")
    code, word, (said,) = verdict(run)
    assert (code, word) == (exit_codes.DIFFERENT, "gone")
    assert "app/qa.py has no class Answer (did you mean Answers?)" in said
    (project / "app" / "qa.py").rename(project / "app" / "qas.py")
    assert verdict(run)[1] == "gone"
    assert "app/qa.py: no such file (did you mean app/qas.py?)" in verdict(run)[2][0]


@pytest.mark.parametrize("file", ["/etc/passwd", "../../outside.py", "link.py", "fifo.py", "huge.py", "../app/qa.txt"])
def test_a_strangers_link_is_refused_in_one_line_and_nothing_is_read_or_run(project: Path, run: Run, file: str) -> None:
    (project.parent / "outside.py").write_text("raise SystemExit")
    (project / "prompts" / "link.py").symlink_to(project.parent / "outside.py")
    os.mkfifo(project / "prompts" / "fifo.py")
    with (project / "prompts" / "huge.py").open("wb") as huge:
        huge.truncate(1_000_000_000)
    data = json.loads((project / PATH).read_text())
    data["signature"]["source"]["file"] = file
    (project / PATH).write_text(json.dumps(data))
    code, word, (said,) = verdict(run)
    assert (code, word) == (exit_codes.DIFFERENT, "refused")
    assert "\n" not in said
    done = run("check", PATH)
    assert "workbench pull" not in done.out + done.err, "which could do nothing here"


def test_a_class_outside_of_the_sessions_project_is_copied_without_a_link(project: Path, run: Run) -> None:
    outside = project.parent / "outside.py"
    outside.write_text(QA.replace("from .models import Invoice", "Invoice = str"))
    done = run("new", f"{outside}:Answer", "-o", "o.json")
    assert done.code == 0, done.err
    signature = store.load("o.json").signature
    assert signature.source is None
    assert "program" not in signature.text and "Invoice = str" in signature.text
    outside.unlink()


def test_a_linked_session_with_nothing_recorded_is_still_no_pass(project: Path, run: Run) -> None:
    assert run("new", "app/qa.py:Answer", "-o", "n.json", "--input", "note=x").code == 0
    assert run("check", "n.json").code == exit_codes.NOTHING


def test_an_import_links_too(project: Path, run: Run) -> None:
    done = run("import", "app/qa.py:Answer", "-o", "prompts/i.session.json")
    assert done.code == 0 and "linked to ../app/qa.py:Answer" in done.err
    edit(project / "app" / "models.py", "class Invoice", "class Bill")
    done = run("import", "app/qa.py:Answer", "-o", "j.json")
    assert done.code == exit_codes.USAGE
    assert "`from .models import Invoice` in app/qa.py, line 2: app/models.py has no Invoice" in done.err


def test_pull_takes_the_programs_text_and_leaves_the_recordings_to_be_decided(project: Path, run: Run) -> None:
    edit(project / "app" / "qa.py", "Read the note.", "Read the letter.")
    before = store.load(PATH)
    done = run("pull", PATH, "--dry-run")
    assert done.code == 0 and "the instructions have changed" in done.out
    assert store.load(PATH) == before
    assert run("pull", "prompts").code == 0
    after = store.load(PATH)
    assert "Read the letter." in after.signature.text
    assert after.cases[0].recordings == before.cases[0].recordings
    assert verdict(run)[:2] == (exit_codes.DIFFERENT, "pass")
    done = run("review", PATH, "--accept-all")
    assert done.code == 0 and "1 recorded again" in done.out
    assert verdict(run) == (0, "pass", [])
    assert "already equals its program" in run("pull", PATH).out


def test_accepting_all_takes_the_programs_text_over_as_accepting_it_by_its_id_does(project: Path, run: Run) -> None:
    edit(project / "app" / "qa.py", "Read the note.", "Read the letter.")
    done = run("review", PATH, "--accept-all")
    assert "1 accepted" in done.err and f"{PATH}: pulled, " in done.out
    assert verdict(run)[:2] == (exit_codes.DIFFERENT, "pass")
    assert run("review", PATH, "--accept-all").code == 0
    assert verdict(run) == (0, "pass", [])


def test_a_program_that_is_gone_is_not_accepted_and_keeps_no_other_cause_from_it(project: Path, run: Run) -> None:
    session = store.load(PATH)
    store.save(replace(session, signature=replace(session.signature, instructions="Say it.")), PATH)
    (project / "app" / "qa.py").unlink()
    done = run("review", PATH, "--accept-all")
    assert done.code == exit_codes.DIFFERENT and "1 recorded again" in done.out
    (cause,) = run("review", PATH, "--json").json["causes"]
    done = run("review", PATH, "--accept", cause["id"])
    assert done.code == exit_codes.USAGE and "fix the link or the program first" in done.err


def test_of_two_changes_of_a_program_neither_is_written_before_both_are_accepted(project: Path, run: Run) -> None:
    edit(project / "app" / "qa.py", "Read the note.", "Read the letter.")
    edit(project / "app" / "qa.py", "what was written", "what was said")
    before = Path(PATH).read_bytes()
    causes = run("review", PATH, "--adapter", "chat", "--json").json["causes"]
    assert [one["kind"] for one in causes] == ["source", "source"]
    for one in causes:
        done = run("review", PATH, "--accept", one["id"])
        assert done.code == exit_codes.DIFFERENT
        assert f"{PATH}: 0 recorded again, the program's text waits for another cause" in done.out
        assert "0 accepted; 2 causes left" in done.err
        assert Path(PATH).read_bytes() == before
    assert "pulled" in run("review", PATH, *[word for one in causes for word in ("--accept", one["id"])]).out
    text = store.load(PATH).signature.text
    assert "Read the letter." in text and "what was said" in text


@pytest.mark.parametrize("program_changes", [False, True])
def test_accepting_all_keeps_the_sessions_own_edits_and_records_what_they_make(
    project: Path, run: Run, program_changes: bool
) -> None:
    edited_session("Read the note.", "Read my note.")
    if program_changes:
        edit(project / "app" / "qa.py", "Read the note.", "Read the letter.")
    done = run("review", PATH, "--accept-all")
    assert done.code == exit_codes.DIFFERENT
    assert "1 recorded again, the program's text is not pulled: the session was edited" in done.out
    assert "1 accepted; " in done.err, "the edit of its own, and nothing of the program's"
    assert "Read my note." in store.load(PATH).signature.text
    assert verdict(run)[:2] == (exit_codes.DIFFERENT, "drift")
    assert {one["kind"] for one in run("review", PATH, "--json").json["causes"]} == {"source"}


def test_a_recording_is_accepted_while_the_programs_text_waits(project: Path, run: Run) -> None:
    session = store.load(PATH)
    store.save(replace(session, signature=replace(session.signature, instructions="Say it.")), PATH)
    edit(project / "app" / "qa.py", "Read the note.", "Read the letter.")
    edit(project / "app" / "qa.py", "what was written", "what was said")
    causes = run("review", PATH, "--json").json["causes"]
    ids = [one["id"] for one in causes if one["kind"] != "source"] + [causes[0]["id"]]
    done = run("review", PATH, *[word for id in ids for word in ("--accept", id)])
    assert "1 recorded again, the program's text waits for another cause" in done.out
    assert store.load(PATH).signature.text == session.signature.text


def test_values_whose_field_is_gone_or_retyped_are_kept_aside_and_come_back(project: Path, run: Run) -> None:
    session = store.load(PATH)
    demo = Demo({"note": "a", "invoice": {"total": 1, "currency": "EUR"}, "sure": True})
    store.save(replace(session, demos=(demo,)), PATH)
    original = (project / "app" / "qa.py").read_text()
    edit(project / "app" / "qa.py", "    sure: bool = dspy.OutputField()\n", "")
    edit(project / "app" / "qa.py", "note: str", "note: list[int]")
    done = run("pull", PATH)
    assert "demo 1: the field `sure` is gone; its value is kept aside" in done.out
    assert "case 1: the value of `note` is not a valid list[int] and is kept aside" in done.out
    pulled = store.load(PATH)
    assert dict(pulled.demos[0].values) == {"invoice": {"total": 1, "currency": "EUR"}}
    assert pulled.demos[0].extra == {"aside": {"sure": True, "note": "a"}}
    assert dict(pulled.cases[0].inputs) == {}
    (project / "app" / "qa.py").write_text(original)
    done = run("pull", PATH)
    assert "demo 1: `sure` has a field again and is back" in done.out
    assert dict(store.load(PATH).demos[0].values) == dict(demo.values)
    assert dict(store.load(PATH).cases[0].inputs) == {"note": "12 EUR"}


def edited_session(before: str, after: str) -> None:
    session = store.load(PATH)
    assert before in session.signature.text
    text = session.signature.text.replace(before, after)
    store.save(replace(session, signature=replace(session.signature, text=text)), PATH)


@pytest.mark.parametrize("is_program_edited", [False, True])
def test_pull_refuses_to_write_over_edits_of_the_session(project: Path, run: Run, is_program_edited: bool) -> None:
    edited_session("what was written", "what was said")
    if is_program_edited:
        edit(project / "app" / "qa.py", "Read the note.", "Read the letter.")
    before = Path(PATH).read_bytes()
    for words in ([PATH], ["prompts"], [PATH, "--dry-run"]):
        done = run("pull", *words)
        assert done.code == exit_codes.DIFFERENT
        assert done.err.startswith(f"workbench: {PATH}: the session was edited") and done.err.count("\n") == 1
        assert "push" in done.err and "--over-edits" in done.err
        assert Path(PATH).read_bytes() == before
    done = run("pull", PATH, "--over-edits")
    assert done.code == 0, done.err
    assert "what was written" in store.load(PATH).signature.text
    assert verdict(run)[1] == "pass"


def test_edits_that_the_program_has_too_are_not_in_the_way_of_a_pull(project: Path, run: Run) -> None:
    edited_session("what was written", "what was said")
    edit(project / "app" / "qa.py", "what was written", "what was said")
    done = run("pull", PATH)
    assert done.code == 0, done.err
    assert "what was said" in store.load(PATH).signature.text


def test_push_writes_the_classes_own_line_and_nothing_else(project: Path, run: Run) -> None:
    assert run("push", PATH).code == 0
    edited_session("what was written", "what was said")
    edited_session("currency: str", "currency: str  # ISO 4217")
    assert "the session was edited since" in verdict(run)[2][-1]
    done = run("push", PATH)
    assert done.code == exit_codes.DIFFERENT and "--yes" in done.err
    assert (project / "app" / "qa.py").read_text() == QA
    assert run("push", PATH, "--yes").code == 0
    assert (project / "app" / "qa.py").read_text() == QA.replace("what was written", "what was said")
    assert (project / "app" / "models.py").read_text() == MODELS.replace("currency: str", "currency: str  # ISO 4217")
    assert verdict(run)[1] == "pass"


def test_push_names_the_other_sessions_that_will_differ(project: Path, run: Run) -> None:
    other = "prompts/other.session.json"
    (project / other).write_bytes((project / PATH).read_bytes())
    edited_session("what was written", "what was said")
    said = f"1 fixture of 1 other session will differ; then `workbench pull {other}`"
    assert said in run("push", PATH).out
    shape = json.loads(run("push", PATH, "--json").out)
    assert (shape["others"], shape["written"]) == ({other: 1}, False)
    assert run("push", PATH, "--yes").code == 0 and verdict(run)[1] == "pass"
    assert run("check", other).code == exit_codes.DIFFERENT


def test_push_needs_no_session_that_a_search_of_the_project_finds(project: Path, run: Run) -> None:
    hidden = project / ".prompts" / "answer.session.json"
    hidden.parent.mkdir()
    (project / PATH).rename(hidden)
    for copy in (project / "state").rglob("*.json"):
        copy.unlink()
    edit(hidden, "what was written", "what was said")
    done = run("push", str(hidden), "--yes")
    assert done.code == 0, done.err
    assert (project / "app" / "qa.py").read_text() == QA.replace("what was written", "what was said")


def test_a_new_model_and_its_import_go_into_the_program_too(project: Path, run: Run) -> None:
    edited_session("sure: bool", "sure: Sure")
    edited_session("class Answer", "Sure = Literal['yes', 'no']\n\n\nclass Answer")
    edited_session("import dspy\n", "import dspy\nfrom typing import Literal\n")
    done = run("push", PATH, "--yes")
    assert done.code == 0, done.err
    text = (project / "app" / "qa.py").read_text()
    assert "from .models import Invoice\nfrom typing import Literal\n" in text
    assert "Sure = Literal['yes', 'no']\n\n\nclass Answer" in text and "sure: Sure" in text
    assert verdict(run)[1] == "pass"


def test_push_is_refused_where_the_program_changed_since(project: Path, run: Run) -> None:
    edited_session("what was written", "what was said")
    edit(project / "app" / "models.py", "total: float", "total: int")
    before = (project / "app" / "qa.py").read_text()
    done = run("push", PATH, "--yes")
    assert done.code == exit_codes.DIFFERENT and "has changed since the session was taken" in done.err
    assert (project / "app" / "qa.py").read_text() == before


def test_push_keeps_the_comments_and_the_layout_that_the_program_got_meanwhile(project: Path, run: Run) -> None:
    """A push compares meanings, as a check does: an added comment is no change of the class."""
    file = project / "app" / "qa.py"
    edit(file, "    sure: bool", "    # how sure it is\n    sure: bool")
    edit(file, "from .models import Invoice\n", "from .models import Invoice\n\nLIMIT = 3  # of another thing\n")
    assert verdict(run) == (0, "pass", [])
    edited_session("what was written", "what was said")
    before = file.read_text()
    done = run("push", PATH, "--yes")
    assert done.code == 0, done.err
    assert file.read_text() == before.replace("what was written", "what was said")
    assert verdict(run)[1] == "pass" and run("push", PATH, "--yes").code == 0
    assert file.read_text() == before.replace("what was written", "what was said"), "a second push does nothing"


def test_push_is_refused_where_it_would_lose_a_comment(project: Path, run: Run) -> None:
    file = project / "app" / "qa.py"
    edited_session("    sure: bool = dspy.OutputField()\n", "")
    edit(file, "    sure: bool = dspy.OutputField()\n", "    sure: bool = dspy.OutputField()  # really\n")
    before = file.read_text()
    assert run("push", PATH, "--yes").code == exit_codes.DIFFERENT and file.read_text() == before


@pytest.mark.parametrize("coding", ["latin-1", "cp1252", "utf-8", "utf-8-sig"])
def test_push_writes_in_the_encoding_that_the_file_declares(coding: str, project: Path, run: Run) -> None:
    file = project / "app" / "qa.py"
    declared = f"# -*- coding: {coding.removesuffix('-sig')} -*-\n# Größe\n"
    file.write_bytes((declared + QA).encode(coding))
    assert run("pull", PATH).code == 0
    edited_session("what was written", "the café")
    done = run("push", PATH, "--yes")
    assert done.code == 0, done.err
    assert file.read_bytes() == (declared + QA.replace("what was written", "the café")).encode(coding)
    assert "'the café'" in ast.dump(ast.parse(file.read_bytes())), "Python reads what the session says"
    assert verdict(run)[1] == "pass"


def test_push_is_refused_for_text_that_the_declared_encoding_lacks(project: Path, run: Run) -> None:
    file = project / "app" / "qa.py"
    file.write_bytes(b"# coding: latin-1\n" + QA.encode())
    assert run("pull", PATH).code == 0
    edited_session("what was written", "costs 5 €")
    before = file.read_bytes()
    done = run("push", PATH, "--yes")
    assert done.code == exit_codes.DIFFERENT and "'€' does not exist in iso-8859-1" in done.err
    assert file.read_bytes() == before
    file.write_bytes(b"# coding: klingon\n" + QA.encode())
    assert verdict(run)[1] == "refused"


def test_line_ends_and_the_mark_in_front_of_a_file_stay(project: Path, run: Run) -> None:
    file = project / "app" / "qa.py"
    windows = b"\xef\xbb\xbf" + QA.replace("\n", "\r\n").encode()
    file.write_bytes(windows)
    assert run("pull", PATH).code == 0
    edited_session("what was written", "what was said")
    done = run("push", PATH, "--yes")
    assert done.code == 0, done.err
    assert file.read_bytes() == windows.replace(b"what was written", b"what was said")


def test_the_app_opens_on_a_class_of_a_program_without_a_file(project: Path, run: Run) -> None:
    assert run("app/qa.py:Answer", "--screenshot", "shot.svg").code == 0
    shown = Path("shot.svg").read_text()
    assert "Answer" in shown and "Invoice" in shown and "stolen" not in shown
    done = run("app/qa.py:Answr", "--screenshot", "shot.svg")
    assert done.code == exit_codes.USAGE and "did you mean Answer?" in done.err
    done = run("app/none.py:Answer", "--screenshot", "shot.svg")
    assert done.code == exit_codes.USAGE and "no such file" in done.err


def test_github_shows_each_cause_at_its_line_of_the_program_or_the_session(
    project: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    edited = QA.replace("sure: bool", "sure: int").replace("Read the note.", "Read: 5%, or ::all\\n ")
    (project / "app" / "qa.py").write_text(edited)
    assert "::error" not in run("check", PATH, "--adapter", "chat").err
    monkeypatch.setenv("GITHUB_ACTIONS", "true")

    def annotated(*paths: str) -> list[str]:
        lines = run("check", *paths, "--adapter", "chat", "--json").err.splitlines()
        return [one for one in lines if one.startswith("::error")]

    def line_of(text: str, wanted: str) -> int:
        return next(number for number, line in enumerate(text.split("\n"), 1) if wanted in line)

    assert {one.partition(",title=")[0] for one in annotated(PATH)} == {
        f"::error file=app/qa.py,line={line_of(edited, 'class Answer')}",
        f"::error file=app/qa.py,line={line_of(edited, 'sure: int')}",
    }
    assert run("pull", PATH).code == 0
    (first, *_) = annotated(PATH)
    assert first.startswith(f"::error file={PATH},line={line_of(Path(PATH).read_text(), 'case 1')},title=")
    Path("broken.json").write_text('{"format": 1, "signature": ')
    assert any(one.startswith("::error file=broken.json,line=1") for one in annotated("broken.json"))


def test_an_annotation_cannot_begin_another_command() -> None:
    assert github_annotations.command("a,b", 1, "x::y\n::error::", "5%\n::stop-commands::") == (
        "::error file=a%2Cb,line=1,title=x%3A%3Ay%0A%3A%3Aerror%3A%3A::5%25%0A::stop-commands::"
    )

"""A session that is tied to a program: made from it, held against it, taken over and written back."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessions.file import store
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


def test_a_type_a_field_and_a_model_of_another_module_are_named_as_what_they_are(project: Path, run: Run) -> None:
    edit(project / "app" / "qa.py", "sure: bool", "sure: float")
    (said,) = verdict(run)[2]
    assert "the type of `sure` has changed" in said and "-bool" in said and "+float" in said
    edit(project / "app" / "qa.py", "    sure: float = dspy.OutputField()\n", "")
    assert "the output field `sure` is gone" in verdict(run)[2][0]
    edit(project / "app" / "models.py", "currency: str", "currency: str\n    vat: float")
    assert any("the type of `invoice`, Invoice, is defined otherwise" in one for one in verdict(run)[2])


def test_a_renamed_class_and_a_file_that_is_gone_are_named_with_the_nearest(project: Path, run: Run) -> None:
    edit(project / "app" / "qa.py", "class Answer", "class Answers")
    code, word, (said,) = verdict(run)
    assert (code, word) == (exit_codes.DIFFERENT, "gone")
    assert "app/qa.py has no class Answer (did you mean Answers?)" in said
    (project / "app" / "qa.py").rename(project / "app" / "qas.py")
    assert verdict(run)[1] == "gone"
    assert "app/qa.py: there is no such file (did you mean app/qas.py?)" in verdict(run)[2][0]


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

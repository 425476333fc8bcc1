"""A link is followed to the project's own Python files only, and nothing of them is run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sessions.source.gathering import gather
from sessions.source.project import BYTES_LIMIT, Project, SourceError, SourceRefusedError, folder_of_project

EVIL = "from pathlib import Path\nPath('ran').write_text('yes')\nraise SystemExit\nclass X: pass\n"


@pytest.fixture
def top(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "prompts").mkdir(parents=True)
    (folder / "pyproject.toml").touch()
    (tmp_path / "outside.py").write_text("import dspy\nclass X(dspy.Signature):\n    pass\n")
    return folder


def test_the_project_is_the_nearest_folder_upwards_with_a_mark(top: Path) -> None:
    assert folder_of_project(top / "prompts") == top
    (top / "prompts" / ".git").mkdir()
    assert folder_of_project(top / "prompts") == top / "prompts"
    (top / "prompts" / ".git").rmdir()
    (top / "pyproject.toml").unlink()
    assert folder_of_project(top / "prompts") == top / "prompts"


def refused(top: Path, file: str) -> str:
    project = Project.of(top / "prompts")
    with pytest.raises(SourceError) as caught:
        gather(project, project.resolved(top / "prompts" / file), "X")
    assert "\n" not in str(caught.value)
    assert not project.texts or list(project.texts) == [top / "prompts" / "evil.py"]
    return str(caught.value)


def test_nothing_outside_of_the_project_is_read(top: Path) -> None:
    assert "outside of the project" in refused(top, "/etc/passwd")
    assert "outside of the project" in refused(top, "../../outside.py")
    (top / "prompts" / "link.py").symlink_to(top.parent / "outside.py")
    assert "link.py leads outside of the project" in refused(top, "link.py")
    (top / "inner").symlink_to(top.parent)
    assert "outside of the project" in refused(top, "../inner/outside.py")
    (top / "prompts" / "notes.txt").write_text("x")
    assert "expected a .py file" in refused(top, "notes.txt")
    (top / "prompts" / "text.py").symlink_to(top / "prompts" / "notes.txt")
    assert "expected a .py file" in refused(top, "text.py")
    (top / "venv" / "site-packages").mkdir(parents=True)
    (top / "venv" / "site-packages" / "x.py").write_text("class X: pass\n")
    assert "a package of others" in refused(top, "../venv/site-packages/x.py")
    assert "is not a valid file name" in refused(top, "a\0.py")


def test_a_link_inside_of_the_project_is_followed(top: Path) -> None:
    (top / "real.py").write_text("import dspy\nclass X(dspy.Signature):\n    a: str = dspy.InputField()\n")
    (top / "prompts" / "link.py").symlink_to(top / "real.py")
    project = Project.of(top / "prompts")
    assert gather(project, project.resolved(top / "prompts" / "link.py"), "X").class_name == "X"


def test_what_is_no_ordinary_file_of_ordinary_size_is_refused_at_once(top: Path) -> None:
    os.mkfifo(top / "prompts" / "fifo.py")
    assert "fifo.py: expected an ordinary file" in refused(top, "fifo.py")
    (top / "prompts" / "folder.py").mkdir()
    assert "folder.py: expected an ordinary file" in refused(top, "folder.py")
    with (top / "prompts" / "huge.py").open("wb") as file:
        file.truncate(1_000_000_000)
    assert f"too large: 1,000,000,000 bytes, of at most {BYTES_LIMIT:,}" in refused(top, "huge.py")
    (top / "prompts" / "bytes.py").write_bytes(b"x = '\xff'")
    assert "byte 5 is not UTF-8" in refused(top, "bytes.py")


def test_code_is_never_run(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(top)
    (top / "prompts" / "evil.py").write_text(EVIL)
    project = Project.of(top / "prompts")
    gather(project, project.resolved(top / "prompts" / "evil.py"), "X")
    assert not (top / "ran").exists()
    (top / "prompts" / "evil.py").write_text("def (:\n")
    assert "prompts/evil.py: line 1, column 5" in refused(top, "evil.py")


def test_an_import_that_leads_out_by_a_symbolic_link_is_refused_by_name(top: Path) -> None:
    (top / "shared.py").symlink_to(top.parent / "outside.py")
    (top / "prompts" / "evil.py").write_text("from shared import X as Y\nclass X(Y):\n    pass\n")
    project = Project.of(top / "prompts")
    with pytest.raises(SourceRefusedError, match=r"an import of shared in prompts/evil.py: shared.py leads outside"):
        gather(project, project.resolved(top / "prompts" / "evil.py"), "X")

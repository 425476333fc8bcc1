"""The library by its one import: what the document shows runs, is typed, and can be found by dir() and help()."""

from __future__ import annotations

import pydoc
import re
import subprocess
import sys
from pathlib import Path

import dspy
import pytest

import adapters

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
EXAMPLES = "\n".join(re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL))
CALLS = ("read_signature", "make_adapter", "open_model", "render", "read", "run")


def test_the_examples_of_the_document_run(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", EXAMPLES], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_examples_of_the_document_are_typed(tmp_path: Path) -> None:
    file = tmp_path / "examples.py"
    file.write_text(EXAMPLES, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", CALLS)
def test_a_call_is_listed_and_described(name: str) -> None:
    assert name in dir(adapters)
    assert name in adapters.__all__
    assert name in pydoc.render_doc(adapters, renderer=pydoc.plaintext)
    assert getattr(adapters, name).__doc__


def test_all_that_is_exported_is_there() -> None:
    assert [name for name in adapters.__all__ if not hasattr(adapters, name)] == []


def test_a_live_signature_of_dspy_is_taken_as_it_is() -> None:
    live = dspy.Signature("question -> answer: float")
    messages = adapters.render(live, {"question": "2+2?"}, adapter="json").as_dicts()
    assert messages == dspy.JSONAdapter().format(live, [], {"question": "2+2?"})
    assert adapters.read(live, "[[ ## answer ## ]]\n4").values == {"answer": 4.0}


def test_a_signature_of_a_text_says_what_to_call() -> None:
    with pytest.raises(TypeError, match=re.escape("adapters.read_signature('question -> answer')")):
        adapters.Signature("question -> answer")  # type: ignore[arg-type]


def test_a_failed_run_is_a_result() -> None:
    run = adapters.run("question -> n: int", {"question": "Why?"}, model="offline/refusal", adapter="json")
    assert run.error is not None
    assert (run.ok, run.error.phase, len(run.attempts)) == (False, "response", 1)
